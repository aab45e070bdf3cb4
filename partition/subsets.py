"""Subsets: so many items a subject or a cell, or so many in all, drawn by keyed digest.

Which items a cell gives depends on their names, on the seed and on nobody else's items: neither on the order of rows
nor on which other cells there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..catalog import Items
from ..catalog.items import label_kind
from ..digests import keyed_digests
from ..errors import InputError, ProtocolError
from ..protocols import Protocol, Subset
from ..tabular import pc
from .drawn import Cell, CrossTable, Drawn
from .prepare import hidden_rows, in_form
from .units import ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Sample", "draw_subset", "proportional"]

_MISSING = "(missing)"
_ORDER = "subset/draw"
_REST = "subset/rest"


@dataclass(frozen=True)
class Sample:
    """A subset of items.

    Parameters
    ----------
    items : Items
        The items drawn, in the protocol's form.
    columns : tuple of str
        The columns that the subset is counted by.
    drawn : Drawn
        How it was drawn.
    left_out : dict of str to int
        Items that did not take part, by reason.
    warnings, notes : tuple of str
        What could not be met; what was done.
    """

    items: Items
    columns: tuple[str, ...]
    drawn: Drawn
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Cells:
    """The cell of each row, and the categories of each cell (none where a cell is a subject)."""

    of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    values: tuple[tuple[str, ...], ...]


def draw_subset(items: Items, protocol: Protocol, *, seed: int = 0) -> Sample:
    """Draw the subset that a protocol asks for.

    Parameters
    ----------
    items : Items
        As the catalogue gives them.
    protocol : Protocol
        With a ``subset`` section.
    seed : int
        Which items of a cell are drawn.

    Returns
    -------
    sample : Sample

    Raises
    ------
    ProtocolError
        If the protocol has no ``subset`` section, or asks for what the data lack.
    InputError
        If no item is left.
    """
    subset = protocol.subset
    if subset is None:
        raise ProtocolError(f"protocol {protocol.name!r} has no 'subset' section", hint="it makes a split")
    also = tuple(name for name in subset.also if name in items.table.column_names)
    formed, per, left_out, notes = in_form(items, protocol, (*subset.per, *also), "$.subset.per")
    formed = _shown(formed, left_out)
    per = _categorical(per, subset, items)
    alternate = _alternate(formed, subset)
    kept = _without_missing(formed, per, subset, left_out)
    cells = _cells(kept, per)
    order = ranked(keyed_digests(kept.table["item"], seed, _ORDER), kept.table["item"], np.zeros(len(kept), np.bool_))
    turn = _turns(kept, cells, order, alternate)
    place = _places(cells, order, turn)
    if subset.total is None:
        wanted = np.full(len(cells.sizes), subset.at_most or 0, np.int64)
    else:
        wanted = proportional(cells.sizes, subset.total, [" ".join(value) for value in cells.values], seed)
    keep = place < wanted[cells.of]
    by = tuple(name for name in subset.by if name in kept.table.column_names)
    drawn = _drawn(kept, subset, per, cells, keep, alternate, by)
    chosen = replace(kept, table=kept.table.filter(pa.array(keep)))
    columns = dict.fromkeys([name for name in (*per, alternate or "subject", *by) if name != "subject"])
    warnings = ()
    if subset.total is not None and subset.total > len(kept):
        warnings = (f"{subset.total:,} items are asked for and {len(kept):,} take part: all are drawn",)
    return Sample(chosen, tuple(columns), drawn, left_out, warnings, tuple(notes))


def _shown(items: Items, left_out: dict[str, int]) -> Items:
    """Leave out the categories that the task lacks (Contempt of AffectNet's seven expressions)."""
    hidden = hidden_rows(items)
    if hidden is None or not hidden.any():
        return items
    left_out[f"not in task {items.task}"] = int(hidden.sum())
    return replace(items, table=items.table.filter(pa.array(~hidden)))


def _categorical(per: tuple[str, ...], subset: Subset, items: Items) -> tuple[str, ...]:
    """Refuse cells of valence and arousal, and subsets of which nothing is left to make cells of."""
    for name in per:
        if label_kind(name) == "continuous":
            raise ProtocolError(
                f"$.subset.per: {name} is a number and makes no cells", hint="name columns of categories"
            )
    if not per:
        raise ProtocolError(
            f"$.subset.per: {items.dataset} has none of {', '.join(subset.per)}",
            hint="join a column with --attributes FILE, or write a protocol with other columns",
        )
    return per


def _alternate(items: Items, subset: Subset) -> str | None:
    name = subset.alternate
    if name is not None and (name not in items.table.column_names or items.table[name].null_count == len(items)):
        raise ProtocolError(
            f"$.subset.alternate: no item of {items.dataset} has a value in column {name!r}",
            hint="join it with --attributes FILE, or leave 'alternate' out",
        )
    return name


def _unknown(items: Items, name: str) -> str:
    """Return the dataset's answer for "could not be told", empty where it has none."""
    card = items.card.attributes.get(name) if items.card else None
    return card.unknown if card else ""


def _without_missing(items: Items, per: tuple[str, ...], subset: Subset, left_out: dict[str, int]) -> Items:
    """Leave out the items that lack a value, where the protocol says so."""
    if subset.missing == "cell":
        return items
    keep = np.ones(len(items), np.bool_)
    for name in per:
        if _unknown(items, name):
            continue
        lacking = pc.is_null(items.table[name]).to_numpy() & keep
        if lacking.any():
            left_out[f"no {name}"] = left_out.get(f"no {name}", 0) + int(lacking.sum())
            keep &= ~lacking
    if not keep.any():
        raise InputError(
            f"{items.dataset}: every item lacks a value of {', '.join(per)}",
            hint="join values with --attributes FILE, or say 'missing: cell' in the protocol",
        )
    return replace(items, table=items.table.filter(pa.array(keep)))


def _coded(items: Items, name: str) -> tuple[NDArray[np.int64], list[str]]:
    """Return each row's category by position, and the categories: sorted, the missing one last."""
    column: Any = items.table[name]
    values: list[str] = sorted(value for value in pc.unique(column).to_pylist() if value is not None)
    found = pc.fill_null(pc.index_in(column, pa.array(values, pa.string())), len(values))
    codes = np.asarray(found.to_numpy(), np.int64)
    if name == "subject":
        # Items of nobody known are each on their own: two of them need not show the same person.
        alone = codes == len(values)
        codes[alone] = len(values) + np.arange(int(alone.sum()))
        return codes, values
    return codes, [*values, _unknown(items, name) or _MISSING]


def _cells(items: Items, per: tuple[str, ...]) -> _Cells:
    coded = [_coded(items, name) for name in per]
    rows = np.stack([codes for codes, _ in coded], axis=1)
    joint, of, sizes = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    values: tuple[tuple[str, ...], ...] = ()
    if "subject" not in per:
        names = [names for _, names in coded]
        values = tuple(tuple(names[at][code] for at, code in enumerate(row)) for row in joint.tolist())
    return _Cells(of.reshape(-1).astype(np.int64), sizes.astype(np.int64), values)


def _within(groups: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each row among those of its group, in the given order of all rows."""
    grouped = order[np.argsort(groups[order], kind="stable")]
    starts = np.flatnonzero(np.r_[True, np.diff(groups[grouped]) != 0])
    lengths = np.diff(np.r_[starts, len(grouped)])
    place = np.empty(len(grouped), np.int64)
    place[grouped] = np.arange(len(grouped)) - np.repeat(starts, lengths)
    return place


def _turns(items: Items, cells: _Cells, order: NDArray[np.int64], alternate: str | None) -> NDArray[np.int64]:
    """Return in which round a row may be taken: the first of each category, then the second of each, and so on."""
    if alternate is None:
        return np.zeros(len(items), np.int64)
    codes, names = _coded(items, alternate)
    turn = _within(cells.of * len(names) + codes, order)
    # A row that says nothing of the attribute is taken where no other row is left.
    turn[codes == len(names) - 1] += len(items)
    return turn


def _places(cells: _Cells, order: NDArray[np.int64], turn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each row in its cell: by round, then by digest."""
    return _within(cells.of, order[np.argsort(turn[order], kind="stable")])


def proportional(sizes: NDArray[np.int64], total: int, names: Sequence[str], seed: int) -> NDArray[np.int64]:
    """Share a number of items out over cells in proportion to their sizes, by largest remainders.

    Parameters
    ----------
    sizes : ndarray of int64, shape (n_cells,)
        Items in each cell.
    total : int
        Items in all; at most as many as there are.
    names : sequence of str
        The cells' names; equal remainders are told apart by a keyed digest of them.
    seed : int
        The seed.

    Returns
    -------
    wanted : ndarray of int64, shape (n_cells,)
        Each within one item of its exact share.

    Examples
    --------
    >>> proportional(np.array([60, 30, 10]), 7, ["a", "b", "c"], 0).tolist()
    [4, 2, 1]
    """
    whole = int(sizes.sum())
    total = min(total, whole)
    shares = sizes.astype(object) * total
    wanted = np.array([int(share) // whole for share in shares], np.int64)
    rest = np.array([int(share) % whole for share in shares], np.int64)
    if len(names) != len(sizes):
        names = [str(at) for at in range(len(sizes))]
    digests = keyed_digests(list(names), seed, _REST)
    first = np.lexsort((digests, -rest))[: total - int(wanted.sum())]
    wanted[first] += 1
    return wanted


def _drawn(
    items: Items,
    subset: Subset,
    per: tuple[str, ...],
    cells: _Cells,
    keep: NDArray[np.bool_],
    alternate: str | None,
    by: tuple[str, ...],
) -> Drawn:
    number = len(cells.sizes)
    after = np.bincount(cells.of[keep], minlength=number)
    found = Drawn(
        name=subset.name,
        per=per,
        before=len(items),
        after=int(keep.sum()),
        number=number,
        reduced=int((after < cells.sizes).sum()),
        cells=tuple(Cell(values, int(cells.sizes[at]), int(after[at])) for at, values in enumerate(cells.values)),
    )
    if alternate is None:
        return found
    codes, names = _coded(items, alternate)
    held = np.zeros((number, len(names)), np.bool_)
    held[cells.of, codes] = True
    totals = [np.bincount(part, minlength=len(names)).tolist() for part in (codes, codes[keep])]
    shown = [at for at in range(len(names)) if totals[0][at]]
    return replace(
        found,
        alternate=alternate,
        totals=tuple((names[at], totals[0][at], totals[1][at]) for at in shown),
        lacking=tuple((names[at], int((~held[:, at]).sum())) for at in shown),
        tables=tuple(_cross(items, name, codes, names, shown, keep) for name in by),
    )


def _cross(
    items: Items,
    name: str,
    codes: NDArray[np.int64],
    names: list[str],
    shown: list[int],
    keep: NDArray[np.bool_],
) -> CrossTable:
    """Count the attribute taken in turn by another one, before and after."""
    other, values = _coded(items, name)
    cell = other * len(names) + codes
    before, after = (
        np.bincount(part, minlength=len(values) * len(names)).reshape(len(values), len(names))[:, shown]
        for part in (cell, cell[keep])
    )
    rows = tuple(
        (value, tuple(before[at].tolist()), tuple(after[at].tolist()))
        for at, value in enumerate(values)
        if before[at].any()
    )
    return CrossTable(name, tuple(names[at] for at in shown), rows)
