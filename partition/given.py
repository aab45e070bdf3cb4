"""A partition that somebody else made, taken from the items' own split column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..catalog import Items
from ..errors import InputError, ProtocolError, listing
from ..protocols import Protocol
from ..tabular import map_values, pc
from .model import Partition, Solver
from .prepare import prepare

__all__ = ["given_partition"]

_OTHER_NAMES = {
    "train": ("train", "training", "train_set"),
    "valid": ("valid", "val", "validation", "dev", "val_set"),
    "test": ("test", "testing", "test_set", "eval"),
}


def _known_name(name: str, splits: tuple[str, ...]) -> str | None:
    """Return the protocol's name of a split that goes by many names, or None."""
    lowered = name.lower()
    if lowered in splits:
        return lowered
    return next((split for split in splits if lowered in _OTHER_NAMES.get(split, ())), None)


def given_partition(items: Items, protocol: Protocol) -> Partition:
    """Take the partition that a release or a table states, to hold it against a protocol.

    Parameters
    ----------
    items : Items
        With the column ``split_released``.
    protocol : Protocol
        Whose ratios and stratified columns the partition is held against.

    Returns
    -------
    partition : Partition
        Its solver is ``given``; items without a split are left out and counted.

    Raises
    ------
    ProtocolError
        If the protocol makes no split.
    InputError
        If there is no split column, or no split in it that the protocol knows.
    """
    if protocol.split is None:
        raise ProtocolError(f"protocol {protocol.name} makes no split", hint="name one that does: fair-55-15-30")
    if "split_released" not in items.table.column_names:
        raise InputError(f"{items.dataset} has no split column", hint="name it with --split COLUMN")
    prepared = prepare(items, protocol)
    splits = protocol.split.names
    column: Any = prepared.items.table["split_released"]
    named = map_values(column, lambda name: _known_name(name, splits))
    other = sorted(set(pc.unique(column.filter(pc.is_null(named))).to_pylist()) - {None})
    if named.null_count == len(named):
        raise InputError(
            f"{items.dataset}: none of its splits ({listing(other)}) is one of the protocol's ({listing(splits)})",
            hint="rename them in the file, or write a protocol with their names",
        )
    kept = pc.is_valid(named)
    left_out = dict(prepared.left_out)
    lost = len(named) - int(pc.sum(kept).as_py())
    if prepared.hidden is not None and prepared.hidden.any():
        left_out[f"not in task {items.task}"] = int(prepared.hidden.sum())
        kept = pc.and_(kept, pa.array(~prepared.hidden))
    if lost:
        left_out[f"in no split of the protocol ({listing(other)})" if other else "in no split"] = lost
    position = pc.index_in(named.filter(kept), pa.array(splits, pa.string()))
    return Partition(
        items=replace(prepared.items, table=prepared.items.table.filter(kept)),
        protocol=protocol,
        splits=splits,
        ratios=tuple(protocol.split.ratios.values()),
        assignment=np.asarray(position.to_numpy(), np.int8),
        unit=prepared.unit,
        stratify=tuple(stratum.column for stratum in prepared.strata),
        solver=Solver("given", "1", 0),
        left_out=left_out,
        warnings=prepared.warnings,
        notes=prepared.notes,
    )
