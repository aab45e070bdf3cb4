"""Items without subjects: integer allocation per joint cell (controlled rounding).

Every cell of equal rows gets the floor or the ceiling of its share in each split; which of the two is settled so
that every category of every attribute comes within one item of its share too, and then the pairs of attributes as
near as they can. Deviations are kept in integers, as denominator x count - numerator x total.

References
----------
Controlled rounding: Cox (1987), doi:10.1080/01621459.1987.10478456. Weights that grow where a local search is stuck:
Morris (1993), the breakout method, AAAI-93.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

from ..digests import SplitMix64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Allocation", "allocate"]

_WINDOW = 1024
_STEPS = 4096
_LOOKED_AT = 40_000
_WIDE = 200_000
_ROOM = 30_000_000
_TOP = 24
_TRIED = 8
_TURNS = 5
_SINGLE = 16
_PAIR_COLUMNS = 20_000


@dataclass(frozen=True)
class Allocation:
    """How many items of each cell go to each split.

    Parameters
    ----------
    items : ndarray of int64, shape (n_cells, n_splits)
        Counts; rows sum to the cells' sizes.
    within : bool
        Whether every category is within one item of its share.
    """

    items: NDArray[np.int64]
    within: bool


class _Board:
    """The state of an allocation: counts, deviations, and what a move would change."""

    def __init__(
        self,
        members: NDArray[np.int64],
        sizes: NDArray[np.int64],
        ratios: Sequence[int],
        kept: NDArray[np.int64],
        needed: NDArray[np.int64],
    ) -> None:
        self.splits, self.total = len(ratios), sum(ratios)
        self.kept = kept
        self.pairs = list(permutations(range(self.splits), 2))
        shares = sizes[:, None] * np.array(ratios, np.int64)
        floor = shares // self.total
        self.low = np.maximum(floor, kept)
        self.high = np.maximum(-(-shares // self.total), kept)
        self.items = self.low.copy()
        for cell in np.flatnonzero(self.items.sum(axis=1) > sizes).tolist():
            self._yield_to_kept(cell, int(sizes[cell]), kept[cell])
        if kept.any():
            # What stays upsets its cells; the others may then make up for it, each held by a column of its own.
            self.low, self.high = kept.copy(), np.repeat(sizes[:, None], self.splits, axis=1)
        self.where, self.single = _columns(members, each=bool(kept.any()))
        self.paired = self.where
        self.columns = int(self.where.max()) + 1
        self.target = self._targets(sizes, ratios, needed)
        self.deviation = self.total * self._summed(self.items) - self.target
        self.weight = np.zeros(self.columns, np.int64)
        self.weight[: self.single] = _SINGLE
        self.weight[0] = 2 * _SINGLE if not kept.any() else 16 * _SINGLE

    def _yield_to_kept(self, cell: int, size: int, kept: NDArray[np.int64]) -> None:
        """Take items back from splits with room, where kept items fill others past their share."""
        while int(self.items[cell].sum()) > size:
            self.items[cell, int(np.argmax(self.items[cell] - kept))] -= 1
        self.low[cell] = kept

    def _targets(self, sizes: NDArray[np.int64], ratios: Sequence[int], needed: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the wanted counts times the denominator; a small category gives every split what it must have."""
        totals = self._summed(sizes[:, None])[:, 0]
        target = totals[:, None] * np.array(ratios, np.int64)
        for column in np.flatnonzero(needed).tolist():
            floor, size = int(needed[column]) * self.total, int(totals[column]) * self.total
            if size < self.splits * floor or bool((target[column] >= floor).all()):
                continue
            wanted = [floor] * self.splits
            rest, base = size - floor * self.splits, [max(0, int(t) - floor) for t in target[column]]
            for split in range(self.splits):
                wanted[split] += rest * base[split] // max(sum(base), 1)
            wanted[int(np.argmax(base))] += size - sum(wanted)
            target[column] = wanted
        return target

    def _summed(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return counts of cells added up by column; float64 holds them exactly."""
        weights = np.repeat(counts.astype(np.float64), self.where.shape[1], axis=0)
        flat = self.where.ravel()
        held = [np.bincount(flat, weights[:, at], minlength=self.columns) for at in range(counts.shape[1])]
        return np.stack(held, axis=1).astype(np.int64)

    def fill(self, sizes: NDArray[np.int64], order: NDArray[np.int64]) -> None:
        """Hand out what the floors leave, a block of cells at a time, to the splits that lack most."""
        block = max(1, len(order) // 1024)
        for low in range(0, len(order), block):
            cells = order[low : low + block]
            while True:
                cells = cells[self.items[cells].sum(axis=1) < sizes[cells]]
                if len(cells) == 0:
                    break
                pressure = self._pressure(cells)
                room = self.items[cells] < self.high[cells]
                worst = int(pressure.max()) + 1
                split = np.argmin(np.where(room, pressure, worst), axis=1)
                self._add(cells, split, 1)

    def _pressure(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each cell and split the weighted deviation of the cell's categories."""
        weighted = self.deviation * self.weight[:, None]
        return weighted[self.where[cells]].sum(axis=1)

    def _add(self, cells: NDArray[np.int64], split: NDArray[np.int64], step: int) -> None:
        np.add.at(self.items, (cells, split), step)
        columns = self.where[cells]
        np.add.at(self.deviation, (columns, np.broadcast_to(split[:, None], columns.shape)), step * self.total)

    def _open(self, cell: int, source: int, target: int) -> bool:
        items = self.items[cell]
        return bool(items[source] > self.low[cell, source] and items[target] < self.high[cell, target])

    def _move(self, cell: int, source: int, target: int) -> int:
        """Move one item of a cell, within its bounds; return what the weighted squares change by (halved)."""
        columns = self.where[cell]
        away, weight = self.deviation[columns], self.weight[columns]
        change = int((weight * (away[:, target] - away[:, source] + self.total)).sum())
        self.items[cell, source] -= 1
        self.items[cell, target] += 1
        self.deviation[columns, source] -= self.total
        self.deviation[columns, target] += self.total
        return change

    def excess(self) -> NDArray[np.int64]:
        """Return by how much each single category is one item or more away, in units of the denominator."""
        return np.maximum(np.abs(self.deviation[: self.single]).max(axis=1) - self.total + 1, 0)

    def step(self, cells: NDArray[np.int64], *, guarded: bool) -> bool:
        """Make the best moves and exchanges among `cells`, best first; tell whether there was any."""
        pressure = self._pressure(cells)
        weight = self.weight[self.where[cells]].sum(axis=1) * self.total
        open_from = self.items[cells] > self.low[cells]
        open_to = self.items[cells] < self.high[cells]
        best: list[tuple[int, tuple[tuple[int, int, int], ...]]] = []
        tops: dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        for a, b in self.pairs:
            at = np.flatnonzero(open_from[:, a] & open_to[:, b])
            gain = pressure[at, b] - pressure[at, a] + weight[at]
            if len(at) > _TOP:
                near = np.argsort(gain, kind="stable")[:_TOP]
                at, gain = at[near], gain[near]
            tops[a, b] = at, gain
            best += [(int(gain[i]), ((int(cells[at[i]]), a, b),)) for i in np.flatnonzero(gain < 0)[:_TRIED].tolist()]
        for a, b in combinations(range(self.splits), 2):
            best += self._exchanges(cells, tops[a, b], tops[b, a], a, b, guarded=guarded)
        made = False
        for _, moves in sorted(best):
            # An earlier one may have spoilt this one: it is weighed again as things stand.
            if not all(self._open(*move) for move in moves):
                continue
            change = sum([self._move(*move) for move in moves])
            if change < 0 and not (guarded and self.excess().any()):
                made = True
                continue
            for cell, source, target in reversed(moves):
                self._move(cell, target, source)
        return made

    def _exchanges(
        self,
        cells: NDArray[np.int64],
        forth: tuple[NDArray[np.int64], NDArray[np.int64]],
        back: tuple[NDArray[np.int64], NDArray[np.int64]],
        a: int,
        b: int,
        *,
        guarded: bool,
    ) -> list[tuple[int, tuple[tuple[int, int, int], ...]]]:
        """Return the best exchanges of an item in split `a` with one in split `b`."""
        left, right = self.where[cells[forth[0]]], self.where[cells[back[0]]]
        if len(left) == 0 or len(right) == 0:
            return []
        same = left[:, None, :] == right[None, :, :]
        shared = (same * self.weight[left][:, None, :]).sum(axis=2) * self.total
        gain = forth[1][:, None] + back[1][None, :] - 2 * shared
        if guarded:
            # A category that both sides have is left as it is; any other must have room on both sides.
            first = same[:, :, self.where[0] < self.single]
            lost, won = self._roomy(left, a, b)[:, None, :], self._roomy(right, b, a)[None, :, :]
            gain = np.where(((first | lost) & (first | won)).all(axis=2), gain, 0)
        flat = gain.ravel()
        found: list[tuple[int, tuple[tuple[int, int, int], ...]]] = []
        for at in np.argsort(flat, kind="stable")[:_TRIED].tolist():
            if flat[at] < 0:
                i, j = divmod(at, len(right))
                moves = ((int(cells[forth[0][i]]), a, b), (int(cells[back[0][j]]), b, a))
                found.append((int(flat[at]), moves))
        return found

    def _roomy(self, columns: NDArray[np.int64], source: int, target: int) -> NDArray[np.bool_]:
        """Tell which single categories of some cells stay within one item when an item of theirs moves."""
        away = self.deviation[columns[:, self.where[0] < self.single]]
        less, more = np.abs(away[:, :, source] - self.total), np.abs(away[:, :, target] + self.total)
        return (less < self.total) & (more < self.total)

    def descend(self, order: NDArray[np.int64], steps: int, *, guarded: bool = False) -> None:
        """Improve a window of cells at a time until a whole round finds nothing, or for so many steps."""
        window = min(_WINDOW, max(128, _LOOKED_AT // self.where.shape[1]))
        windows = [order[low : low + window] for low in range(0, len(order), window)]
        idle = at = 0
        while steps > 0 and idle < len(windows):
            steps -= 1
            idle = 0 if self.step(windows[at % len(windows)], guarded=guarded) else idle + 1
            at += 1

    def break_out(self, order: NDArray[np.int64], rounds: int, steps: int) -> None:
        """Raise the weight of every single category that is an item or more away, and improve again."""
        start = self.weight.copy()
        for _ in range(rounds):
            excess = self.excess()
            if not excess.any():
                break
            self.weight[: self.single][excess > 0] += start[: self.single][excess > 0]
            self.descend(order, steps)
        self.weight = start

    def leave_pairs(self) -> None:
        """Look at single categories alone from now on, which is much quicker where pairs are many."""
        self.paired, self.where = self.where, self.where[:, : int((self.where[0] < self.single).sum())]

    def take_pairs(self) -> None:
        """Look at pairs again, and bring their deviations up to date."""
        self.where = self.paired
        self.deviation = self.total * self._summed(self.items) - self.target

    def level(self, order: NDArray[np.int64], rounds: int) -> None:
        """Raise the weight of the pairs furthest off, improve, and keep the most level state; singles stay put."""
        best, least = self._state(), self._unevenness()
        for _ in range(rounds):
            if least[0] <= 3 * self.total // 2:
                break
            away = np.abs(self.deviation[self.single :]).max(axis=1)
            self.weight[self.single :][away > max(int(away.max()) * 3 // 4, self.total)] += 1
            self.descend(order, _STEPS // 8, guarded=True)
            now = self._unevenness()
            if now < least:
                best, least = self._state(), now
        self.items, self.deviation = best

    def settle(self, sizes: NDArray[np.int64], order: NDArray[np.int64], needed: NDArray[np.int64]) -> None:
        """Hand out, bring every single category within an item, then the pairs as near as they can."""
        wide = len(sizes) * self.where.shape[1] > _WIDE
        self.weight[self.single :] = 1
        self.fill(sizes, order)
        if wide:
            self.leave_pairs()
        self.descend(order, _STEPS)
        self.break_out(order, 30, 200)
        self.cover(needed)
        if wide:
            self.take_pairs()
        if not self.excess().any() and self.columns > self.single:
            # The guard holds the single categories: their weight need not.
            self.weight[: self.single] = 1
            self.descend(order, 40 if wide else _STEPS, guarded=True)
            self.level(order, 0 if wide else 10)

    def cover(self, needed: NDArray[np.int64]) -> None:
        """Give every split what it must have of each category, beyond floor and ceiling if need be, then settle."""
        columns = np.zeros(self.columns, np.int64)
        columns[: min(len(needed), self.single)] = needed[: self.single]
        for column in np.flatnonzero(columns).tolist():
            for split in range(self.splits):
                while self._held()[column, split] < columns[column]:
                    inside = (self.where == column).any(axis=1)
                    if not self._bring(inside, split, columns):
                        break

    def _held(self) -> NDArray[np.int64]:
        return (self.deviation + self.target) // self.total

    def _bring(self, inside: NDArray[np.bool_], split: int, needed: NDArray[np.int64]) -> bool:
        """Move an item of some cells into a split, and one of the others back; tell whether one could be moved."""
        sources = [source for source in range(self.splits) if source != split]
        found = [self._cheapest(inside, source, split, needed) for source in sources]
        options = sorted((*one, source) for one, source in zip(found, sources, strict=True) if one is not None)
        if not options:
            return False
        _, cell, source = options[0]
        self._move(cell, source, split)
        back = self._cheapest(~inside, split, source, needed)
        if back is not None and back[0] < 0:
            self._move(back[1], split, source)
        return True

    def _cheapest(
        self, cells: NDArray[np.bool_], source: int, target: int, needed: NDArray[np.int64]
    ) -> tuple[int, int] | None:
        """Return the least change and the cell of a move that leaves the source all that it must have."""
        spare = self._held()[:, source] > needed
        at = np.flatnonzero(cells & (self.items[:, source] > self.kept[:, source]))
        at = at[(spare | (needed == 0))[self.where[at]].all(axis=1)]
        if len(at) == 0:
            return None
        weighted = (self.deviation[:, target] - self.deviation[:, source] + self.total) * self.weight
        change = weighted[self.where[at]].sum(axis=1)
        best = int(np.argmin(change))
        return int(change[best]), int(at[best])

    def rank(self) -> tuple[int, int]:
        """Give what the better of two has less of: excess of single categories, then the furthest pair's deviation."""
        return int(self.excess().sum()), self._unevenness()[0]

    def _state(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.items.copy(), self.deviation.copy()

    def _unevenness(self) -> tuple[int, int]:
        away = np.abs(self.deviation[self.single :])
        return int(away.max(initial=0)), int(away.sum())


def _columns(members: NDArray[np.int64], *, each: bool) -> tuple[NDArray[np.int64], int]:
    """Give the total, the categories of each attribute, and the pairs of categories that occur their columns.

    With `each`, every cell has a column of its own beside them. Returns the column of each cell (shape (n_cells,
    n_numbered)) and how many columns are single categories.
    """
    cells, attributes = members.shape
    parts = [np.zeros(cells, np.int64)]
    count = 1
    for at in range(attributes):
        parts.append(members[:, at] + count)
        count += int(members[:, at].max()) + 1
    single = count
    for a, b in combinations(range(attributes), 2):
        key = members[:, a] * (int(members[:, b].max()) + 1) + members[:, b]
        present = np.bincount(key) > 0
        seen, number = np.flatnonzero(present), (np.cumsum(present) - 1)[key]
        if count + len(seen) > _PAIR_COLUMNS or cells * len(parts) > _ROOM:
            break
        parts.append(number + count)
        count += len(seen)
    if each:
        parts.append(np.arange(cells) + count)
    return np.column_stack(parts), single


def allocate(
    members: NDArray[np.int64],
    sizes: NDArray[np.int64],
    ratios: Sequence[int],
    seed: int,
    *,
    kept: NDArray[np.int64] | None = None,
    needed: NDArray[np.int64] | None = None,
) -> Allocation:
    """Settle how many items of each cell go to each split.

    Parameters
    ----------
    members : ndarray of int64, shape (n_cells, n_attributes)
        The category of each cell, by attribute.
    sizes : ndarray of int64, shape (n_cells,)
        Items of each cell.
    ratios : sequence of int
        Proportions of the splits.
    seed : int
        The seed of the run: which of several equally good allocations is taken.
    kept : ndarray of int64, shape (n_cells, n_splits), optional
        Items that are in a split already and stay.
    needed : ndarray of int64, optional
        Items that every split must have, by category: the total, then the categories of each attribute in turn.

    Returns
    -------
    allocation : Allocation
    """
    shape = (len(sizes), len(ratios))
    kept = np.zeros(shape, np.int64) if kept is None else kept
    needed = np.zeros(1, np.int64) if needed is None else needed
    best: _Board | None = None
    for turn in range(_TURNS):
        board = _Board(members, sizes, ratios, kept, needed)
        order = np.argsort(SplitMix64(seed, f"cells/order/{turn}").words(len(sizes)), kind="stable").astype(np.int64)
        board.settle(sizes, order, needed)
        if best is None or board.rank() < best.rank():
            best = board
        if best.rank() <= (0, 11 * board.total // 4) or len(sizes) > _WINDOW:
            break
    return Allocation(best.items, not best.excess().any()) if best else Allocation(kept, True)
