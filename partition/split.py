"""From items and a protocol to a partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from ..catalog import Items
from ..errors import InputError, ProtocolError, unknown
from ..protocols import Protocol
from .assign import Assigned, Progress, Task, assign
from .model import Partition
from .prepare import Prepared, Stratum, prepare

__all__ = ["split_items", "split_table"]


def split_items(
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
    progress: Progress | None = None,
) -> Partition:
    """Split items as a protocol says.

    Parameters
    ----------
    items : Items
        As the catalogue gives them.
    protocol : Protocol
        With a ``split`` section.
    seed : int
        Which of several equally good partitions is taken.
    method : str, optional
        One of `METHODS`: ours (``best``) unless a baseline is asked for.
    folds : int, optional
        So many equal folds (``fold-1`` ...) instead of the protocol's splits.
    keep : mapping of str to str, optional
        Split of items that stay where they are, by item.
    prove : bool
        Try to prove that nothing better exists.
    strict : bool
        Refuse what cannot be met (exit 4).
    links : sequence of (str, str)
        Further pairs of subjects that must stay together.
    progress : callable, optional
        Called with steps done, steps in all or None, and what is being done.

    Returns
    -------
    partition : Partition

    Raises
    ------
    ProtocolError
        If the protocol has no ``split`` section or asks for what the data lack.
    InfeasibleError
        If there is one unit only, or, with `strict`, the protocol cannot be met.
    """
    if protocol.split is None:
        raise ProtocolError(
            f"protocol {protocol.name!r} has no 'split' section", hint="it draws a subset; see protoctl protocols"
        )
    if folds is not None and folds < 2:
        raise InputError(f"{folds} folds: there must be 2 or more", hint="name 2 folds or more")
    prepared = prepare(items, protocol)
    names, ratios = protocol.split.names, tuple(protocol.split.ratios.values())
    if folds is not None:
        names, ratios = tuple(f"fold-{at + 1}" for at in range(folds)), (1,) * folds
    task = Task(
        prepared.items.table,
        prepared.strata,
        names,
        ratios,
        prepared.unit,
        protocol.split.cover,
        protocol.split.weights,
        tuple(links),
    )
    assigned = assign(task, seed, method=method, keep=keep, prove=prove, strict=strict, progress=progress)
    return _partition(prepared, protocol, task, assigned)


def _partition(prepared: Prepared, protocol: Protocol, task: Task, assigned: Assigned) -> Partition:
    """Make the partition; rows that take part but are not given out are left out now."""
    items, assignment, left_out = prepared.items, assigned.assignment, dict(prepared.left_out)
    if prepared.hidden is not None and prepared.hidden.any():
        shown = ~prepared.hidden
        reason = f"not in task {items.task}" if items.task else "not in the task"
        left_out[reason] = left_out.get(reason, 0) + int(prepared.hidden.sum())
        items = replace(items, table=items.table.filter(pa.array(shown)))
        assignment = assignment[shown]
    return Partition(
        items,
        protocol,
        task.splits,
        task.ratios,
        assignment,
        task.unit,
        tuple(stratum.column for stratum in task.strata),
        assigned.solver,
        left_out,
        prepared.warnings + assigned.warnings,
        prepared.notes + assigned.notes,
    )


def split_table(
    table: pa.Table,
    ratios: Mapping[str, int],
    stratify: Sequence[str],
    *,
    binary: Sequence[str] = (),
    unit: str = "subject",
    cover: int = 1,
    seed: int = 0,
) -> pa.DictionaryArray:
    """Return the split column of a table in memory, of any size, without items or protocol.

    Parameters
    ----------
    table : pyarrow.Table
        Column ``item`` (unique ids), ``subject`` where there is one, and the balanced columns.
    ratios : mapping of str to int
        Proportions by split.
    stratify : sequence of str
        Columns whose categories are balanced.
    binary : sequence of str
        Those of them of which only active (not ``0``) counts.
    unit : str
        ``subject``: subjects stay whole; ``item``: rows stand for themselves.
    cover : int
        Units of every category that every split should hold.
    seed : int
        The seed.

    Returns
    -------
    split : pyarrow.DictionaryArray, shape (n_rows,)

    Raises
    ------
    InputError
        If a column is missing, or a ratio is not above zero.
    InfeasibleError
        If there is one unit only.
    """
    for name in ("item", *stratify):
        if name not in table.column_names:
            message, hint = unknown("column", name, table.column_names)
            raise InputError(message, hint=hint)
    for name, ratio in ratios.items():
        if ratio <= 0:
            raise InputError(f"ratio of split {name!r} is {ratio}", hint="ratios are whole numbers above 0")
    strata = tuple(Stratum(name, name, "binary" if name in binary else "category") for name in stratify)
    task = Task(table, strata, tuple(ratios), tuple(ratios.values()), unit, cover)
    assigned = assign(task, seed)
    return pa.DictionaryArray.from_arrays(pa.array(assigned.assignment), pa.array(list(ratios), pa.string()))
