"""Units: what a partition moves whole.

A unit is a subject, several subjects that items or explicit links tie together, or an item that names no subject.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..digests import keyed_digests
from ..errors import InputError, listing, unknown
from ..tabular import pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Component", "Units", "connected", "units_of"]

_JOINED = "|"
PIECE = 1 << 20
"""Rows that are worked on at a time where there are millions."""


@dataclass(frozen=True)
class Component:
    """Subjects that links tie into one unit.

    Parameters
    ----------
    unit : int
        Position of the unit.
    subjects : tuple of str
        Its members, sorted.
    links : tuple of (str, str)
        The pairs that hold it together, each once, sorted.
    """

    unit: int
    subjects: tuple[str, ...]
    links: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Units:
    """The units of a table, in an order that does not depend on the order of rows.

    Parameters
    ----------
    of : ndarray of int, shape (n_rows,)
        The unit of each row; ``arange`` where every row stands for itself.
    ids : pyarrow.Array or pyarrow.ChunkedArray of strings, shape (n_units,)
        The first of the unit's subjects in sorted order, or the item's name.
    named : ndarray of bool, shape (n_units,)
        Whether the unit is a subject (or several) rather than an item without one.
    components : tuple of Component
        Units of more than one subject.
    singles : bool
        Whether every unit is one row.
    """

    of: NDArray[np.integer[Any]]
    ids: Any
    named: NDArray[np.bool_]
    components: tuple[Component, ...] = ()
    singles: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    def order(self, seed: int, purpose: str) -> NDArray[np.int64]:
        """Return the units' positions in the order of a keyed digest of their ids; ties by kind and id.

        Parameters
        ----------
        seed : int
            The seed of the run.
        purpose : str
            What the order is for.

        Returns
        -------
        order : ndarray of int64, shape (n_units,)
        """
        return ranked(keyed_digests(self.ids, seed, purpose), self.ids, self.named)


def ranked(digests: NDArray[np.uint64], ids: Any, named: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the order of digests; where two are equal, items before subjects, then the id's bytes decide."""
    order = np.argsort(digests, kind="stable").astype(np.int64)
    ordered = digests[order]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(same) == 0:
        return order
    for low, high in _runs(same):
        part = sorted(order[low:high].tolist(), key=lambda at: (bool(named[at]), ids[at].as_py().encode()))
        order[low:high] = part
    return order


def _runs(same: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the stretches [low, high) of equal neighbours, from the positions that equal their successor."""
    runs: list[tuple[int, int]] = []
    for at in same.tolist():
        if runs and runs[-1][1] == at + 1:
            runs[-1] = (runs[-1][0], at + 2)
        else:
            runs.append((at, at + 2))
    return runs


def units_of(table: pa.Table, unit: str, links: Sequence[tuple[str, str]] = ()) -> Units:
    """Find the units of a table.

    Parameters
    ----------
    table : pyarrow.Table
        Column ``item``; ``subject`` where there are any (null for an item of nobody known, several joined by ``|``);
        ``group`` where subjects come in groups.
    unit : str
        ``item``: every row stands for itself; ``subject``: subjects stay whole, linked ones together; ``group``: the
        subjects of one group are linked too, where there is such a column.
    links : sequence of (str, str)
        Further pairs of subjects that must stay together.

    Returns
    -------
    units : Units

    Raises
    ------
    InputError
        If a link names a subject that no item has.
    """
    rows = table.num_rows
    if unit == "item" or "subject" not in table.column_names or table["subject"].null_count == rows:
        kind = np.int32 if rows < 1 << 31 else np.int64
        return Units(np.arange(rows, dtype=kind), _pieces(table["item"]), np.zeros(rows, np.bool_), singles=True)
    if unit == "group" and "group" in table.column_names:
        links = [*links, *_group_links(table)]
    coded: Any = _flat(table["subject"]).dictionary_encode()
    codes = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    names = coded.dictionary
    if links or pc.any(pc.match_substring(names, _JOINED)).as_py():
        codes, names, components = _linked(codes, names.to_pylist(), links)
    else:
        components = ()
    lacking = codes < 0
    if lacking.any():
        codes = codes.copy()
        codes[lacking] = len(names) + np.arange(int(lacking.sum()))
        items = _flat(table["item"]).filter(pa.array(lacking))
        ids = pa.concat_arrays([names.cast(pa.large_string()), items])
    else:
        ids = names.cast(pa.large_string())
    named = np.arange(len(ids)) < len(names)
    return Units(codes, ids, named, components, len(ids) == rows)


def _group_links(table: pa.Table) -> list[tuple[str, str]]:
    """Return a chain of pairs through the subjects of each group."""
    pairs: Any = table.select(["group", "subject"]).group_by(["group", "subject"]).aggregate([]).drop_null()
    members: dict[str, set[str]] = {}
    for group, subject in zip(pairs["group"].to_pylist(), pairs["subject"].to_pylist(), strict=True):
        members.setdefault(group, set()).update(subject.split(_JOINED))
    return [pair for found in members.values() for pair in pairwise(sorted(found))]


def _pieces(column: Any) -> Any:
    """Return a column in short chunks, so that what is made of one by one needs little memory."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    short = [chunk.slice(low, PIECE) for chunk in chunks for low in range(0, len(chunk), PIECE)]
    return pa.chunked_array(short, column.type)


def _flat(column: Any) -> Any:
    """Return a column as one array of large strings."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = column.cast(pa.large_string())
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _linked(
    codes: NDArray[np.int64], names: list[str], links: Sequence[tuple[str, str]]
) -> tuple[NDArray[np.int64], Any, tuple[Component, ...]]:
    """Join the subjects that items show together, and those that links name, into units."""
    members = [sorted(set(name.split(_JOINED))) for name in names]
    subjects = sorted({subject for group in members for subject in group})
    place = {subject: at for at, subject in enumerate(subjects)}
    pairs = {(group[0], other) for group in members for other in group[1:]}
    for pair in links:
        for subject in pair:
            if subject not in place:
                message, hint = unknown("subject", subject, subjects)
                raise InputError(f"link {listing(list(pair))}: {message}", hint=hint)
        if pair[0] != pair[1]:
            pairs.add((min(pair), max(pair)))
    ordered = sorted(pairs)
    ends = np.array([(place[a], place[b]) for a, b in ordered], np.int64).reshape(-1, 2)
    root = connected(len(subjects), ends)
    roots, unit = np.unique(root, return_inverse=True)
    first = np.array([place[group[0]] for group in members], np.int64)
    of = np.where(codes >= 0, unit[first][codes], -1)
    components = _components(unit, subjects, ordered, ends)
    return of, pa.array([subjects[at] for at in roots.tolist()], pa.large_string()), components


def _components(
    unit: NDArray[np.int64], subjects: list[str], links: list[tuple[str, str]], ends: NDArray[np.int64]
) -> tuple[Component, ...]:
    """Describe the units of several subjects."""
    sizes = np.bincount(unit)
    held: dict[int, list[tuple[str, str]]] = {}
    for link, at in zip(links, unit[ends[:, 0]].tolist() if len(ends) else [], strict=True):
        held.setdefault(at, []).append(link)
    members: dict[int, list[str]] = {}
    for at in np.flatnonzero(sizes[unit] > 1).tolist():
        members.setdefault(int(unit[at]), []).append(subjects[at])
    return tuple(Component(at, tuple(members[at]), tuple(held.get(at, []))) for at in sorted(members))


def connected(count: int, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each of `count` nodes the least node that it is connected with.

    Parameters
    ----------
    count : int
        Number of nodes.
    ends : ndarray of int64, shape (n_links, 2)
        The nodes that each link joins.

    Returns
    -------
    root : ndarray of int64, shape (count,)

    Notes
    -----
    Least labels are passed over the links and the paths then halved, until nothing changes.

    Examples
    --------
    >>> connected(5, np.array([[3, 1], [4, 3]])).tolist()
    [0, 1, 2, 1, 1]
    """
    root = np.arange(count, dtype=np.int64)
    if len(ends) == 0:
        return root
    while True:
        left, right = root[ends[:, 0]], root[ends[:, 1]]
        least = np.minimum(left, right)
        if bool((left == right).all()):
            return root
        np.minimum.at(root, left, least)
        np.minimum.at(root, right, least)
        while not np.array_equal(root[root], root):
            root = root[root]
