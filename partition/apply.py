"""A protocol applied whole: the terms, the subset, the split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..catalog import Items
from ..errors import InputError
from ..protocols import Protocol
from ..tabular import pc
from .assign import Progress
from .model import Partition, Solver
from .split import split_items
from .subsets import Sample, draw_subset
from .terms import refuse_training

__all__ = ["apply_protocol"]


def apply_protocol(
    items: Items,
    protocol: Protocol,
    *,
    seed: int = 0,
    method: str | None = None,
    folds: int | None = None,
    keep: Mapping[str, str] | None = None,
    prove: bool = False,
    strict: bool = False,
    links: Sequence[tuple[str, str]] = (),
    accept_terms: str | None = None,
    progress: Progress | None = None,
) -> Partition:
    """Make the partition that a protocol asks for: a subset, a split, or a split of a subset.

    Parameters
    ----------
    items : Items
        As the catalogue gives them.
    protocol : Protocol
        With a ``subset`` section, a ``split`` section or both.
    seed, method, folds, keep, prove, strict, links, progress
        As of `split_items`; of a subset alone only `seed` counts.
    accept_terms : str, optional
        Why a split to train on is made of a dataset whose terms allow evaluation only.

    Returns
    -------
    partition : Partition
        Of a subset alone: one split, named for it.

    Raises
    ------
    ProtocolError
        If the protocol asks for what the data lack.
    InputError
        If the dataset's terms forbid the split and no reason is given; if `method`, `folds` or `keep` is asked of a
        subset alone.
    InfeasibleError
        As of `split_items`.
    """
    accepted = refuse_training(items, protocol, folds=folds, accept_terms=accept_terms)
    sample = draw_subset(items, protocol, seed=seed) if protocol.subset else None
    if protocol.split is None and sample is not None:
        asked = {"method": method, "folds": folds, "keep": keep, "prove": prove or None}
        for option, value in asked.items():
            if value is not None:
                raise InputError(
                    f"protocol {protocol.name} draws a subset and makes no split, so there is nothing for --{option}",
                    hint=f"leave --{option} out",
                )
        return _subset_partition(sample, protocol, seed)
    partition = split_items(
        items if sample is None else _only(items, sample),
        protocol,
        seed=seed,
        method=method,
        folds=folds,
        keep=keep,
        prove=prove,
        strict=strict,
        links=links,
        progress=progress,
    )
    if sample is None:
        return replace(partition, accepted_terms=accepted)
    rest = f"not drawn into subset {sample.drawn.name}"
    cut = sample.drawn.before - sample.drawn.after
    left_out = {**sample.left_out, **({rest: cut} if cut else {})}
    for reason, count in partition.left_out.items():
        left_out[reason] = left_out.get(reason, 0) + count
    return replace(
        partition,
        left_out=left_out,
        warnings=(*sample.warnings, *partition.warnings),
        notes=tuple(dict.fromkeys((*sample.notes, *partition.notes))),
        drawn=sample.drawn,
        accepted_terms=accepted,
    )


def _only(items: Items, sample: Sample) -> Items:
    """Return the items as they were read, those of the sample only: the split brings them into form itself."""
    chosen = pc.is_in(items.table["item"], sample.items.table["item"].combine_chunks())
    return replace(items, table=items.table.filter(chosen))


def _subset_partition(sample: Sample, protocol: Protocol, seed: int) -> Partition:
    """Make the partition whose one split is a subset; rows that the task hides are left out of it."""
    items, left_out = sample.items, dict(sample.left_out)
    cut = sample.drawn.before - sample.drawn.after
    if cut:
        left_out[f"not drawn into subset {sample.drawn.name}"] = cut
    by_subject = "subject" in sample.drawn.per and items.has_subjects
    return Partition(
        items=items,
        protocol=protocol,
        splits=(sample.drawn.name,),
        ratios=(1,),
        assignment=np.zeros(len(items), np.int8),
        unit="subject" if by_subject else "item",
        stratify=sample.columns,
        solver=Solver("subset", "1", seed, proven=False),
        left_out=left_out,
        warnings=sample.warnings,
        notes=sample.notes,
        drawn=sample.drawn,
    )
