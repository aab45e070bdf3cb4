"""Search: units to splits, by a greedy start, best moves and exchanges, and a short memory.

What is minimised is the sum of share deviations, the figure that is reported and bounded; the start is guided by
the design effect. Everything is in whole numbers: they stand in float64 because its additions and absolute values
are the quickest, and stay below 2**53, where they are exact in any order.

References
----------
Tabu search: Glover (1989), doi:10.1287/ijoc.1.3.190. Design effect: Kish (1965), Survey Sampling; the guide is
sum over c, s of d(c,s)^2 / sum over units of a(u,c)^2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from ..digests import SplitMix64
from .instance import Instance

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Found", "greedy", "search"]

Progress = Callable[[int, int | None, str], None]

_BITS = 52
_GUIDE_BITS = 20
_WINDOW = 64
_LONGEST = 3


@dataclass(frozen=True)
class Found:
    """An assignment and what it costs.

    Parameters
    ----------
    assignment : ndarray of int8, shape (n_units,)
        Split of each unit.
    short : int
        Units lacking for coverage, over all categories and splits.
    cost : int
        Sum of weighted share deviations, in the search's whole numbers.
    """

    assignment: NDArray[np.int8]
    short: int
    cost: int


class _Table:
    """An instance in the search's whole numbers: what each unit adds to each deviation.

    Columns of the sum of share deviations have weight 1 (times the attribute's), smaller categories a sixteenth.
    Coverage stands beside them as columns of its own: sum over splits of max(0, needed - held) is
    (sum of |needed - held| + a constant) / 2, so that it needs no other code than a deviation does.
    """

    def __init__(self, instance: Instance, price: int, guarded: NDArray[np.bool_]) -> None:
        ratios = np.array(instance.ratios, np.int64)
        whole, totals = int(ratios.sum()), instance.totals
        weight = 16 * instance.weights * instance.counted
        weight += instance.weights * (instance.scored & ~instance.counted)
        weight[0] = 16
        used = np.flatnonzero((weight > 0) & (totals > 0))
        heads = instance.counts[:, guarded] > 0
        most = int(weight.max())
        span = 2 * int(weight[used].sum()) + 2 * price * most * max(int(heads.sum()), 1)
        self.unit = (1 << _BITS) // max(span, 1) // whole
        scale = [self.unit * int(weight[at]) // int(totals[at]) for at in used.tolist()]
        adds = instance.counts[:, used] * (np.array(scale, np.int64) * whole)
        targets = (np.array(scale, np.int64) * totals[used])[:, None] * ratios
        fine = self.unit * whole * price * most
        self.adds = np.concatenate([adds, heads * fine], axis=1).astype(np.float64)
        floors = np.repeat(instance.needed[guarded][:, None] * fine, len(ratios), axis=1)
        self.targets = np.concatenate([targets, floors], axis=0).astype(np.float64)
        self.columns = np.ascontiguousarray(np.concatenate([self.adds.T, np.zeros((self.adds.shape[1], 1))], axis=1))

    def deviations(self, assignment: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return deviations in whole numbers, shape (n_columns, n_splits)."""
        splits = self.targets.shape[1]
        return np.stack([self.adds[assignment == s].sum(axis=0) for s in range(splits)], axis=1) - self.targets


def _guide(instance: Instance) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return counts divided by their root sum of squares, in whole numbers, and the targets times the denominator."""
    norms = [isqrt(sum(int(x) ** 2 for x in column[column > 0].tolist())) for column in instance.counts.T]
    norm = np.maximum(np.array(norms, np.int64), 1)
    scaled = (instance.counts << _GUIDE_BITS) // norm
    scaled[:, instance.weights == 0] = 0
    targets = scaled.sum(axis=0)[:, None] * np.array(instance.ratios, np.int64)
    return scaled, targets


def greedy(instance: Instance, order: NDArray[np.int64]) -> NDArray[np.int8]:
    """Give each unit, in turn, to the split that lacks most of what it has; what none holds enough of goes first.

    Parameters
    ----------
    instance : Instance
        The units.
    order : ndarray of int64, shape (n_units,)
        The units' order.

    Returns
    -------
    assignment : ndarray of int8, shape (n_units,)
    """
    scaled, targets = _guide(instance)
    scaled = scaled * np.minimum(instance.weights, 16)
    whole = sum(instance.ratios)
    assignment = instance.fixed.copy()
    deviation = -targets
    for split in range(len(instance.ratios)):
        deviation[:, split] += whole * scaled[assignment == split].sum(axis=0)
    free = order[assignment[order] < 0]
    block = max(1, len(free) // 4096)
    for low in range(0, len(free), block):
        units = free[low : low + block]
        split = np.argmin(scaled[units] @ deviation, axis=1)
        assignment[units] = split
        for at in range(len(instance.ratios)):
            deviation[:, at] += whole * scaled[units[split == at]].sum(axis=0)
    return assignment


def _improve(
    table: _Table,
    assignment: NDArray[np.int8],
    free: NDArray[np.int64],
    steps: int,
    random: SplitMix64,
    *,
    patience: int,
) -> tuple[NDArray[np.int8], int]:
    """Take the best move or exchange between two splits at a time; what has just moved may not move back at once."""
    splits = table.targets.shape[1]
    pairs = list(combinations(range(splits), 2))
    now, nobody = assignment.copy(), len(assignment)
    deviation = table.deviations(now)
    sums = np.abs(deviation).sum(axis=0)
    current = best = float(sums.sum())
    kept = now.copy()
    banned = np.zeros((len(now) + 1, splits), np.int64)
    since = 0
    for step in range(steps):
        a, b = pairs[step % len(pairs)]
        left, right = _sides(now, free, a, b, random)
        one, two = np.append(left, nobody), np.append(right, nobody)
        shift = table.columns[:, one][:, :, None] - table.columns[:, two][:, None, :]
        cost = np.abs(deviation[:, a, None, None] - shift).sum(axis=0)
        cost += np.abs(deviation[:, b, None, None] + shift).sum(axis=0)
        change = cost - (sums[a] + sums[b])
        barred = (banned[one, b] > step)[:, None] | (banned[two, a] > step)[None, :]
        barred &= current + change >= best
        barred[-1, -1] = True
        change[barred] = np.inf
        i, j = divmod(int(np.argmin(change)), len(two))
        since += 1
        if change[i, j] < np.inf:
            deviation[:, a] -= shift[:, i, j]
            deviation[:, b] += shift[:, i, j]
            sums = np.abs(deviation).sum(axis=0)
            current = float(sums.sum())
            rest = step + 1 + len(pairs) * (1 + random.below(_LONGEST))
            if i < len(left):
                now[left[i]] = b
                banned[left[i], a] = rest
            if j < len(right):
                now[right[j]] = a
                banned[right[j], b] = rest
            if current < best:
                best, kept, since = current, now.copy(), 0
        if since > patience:
            break
    return kept, int(best)


def _sides(
    now: NDArray[np.int8], free: NDArray[np.int64], a: int, b: int, random: SplitMix64
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return free units of two splits, a drawn window of them where they are many."""
    held = now[free]
    left, right = free[held == a], free[held == b]
    if len(left) > _WINDOW:
        left = left[(random.words(_WINDOW) % np.uint64(len(left))).astype(np.int64)]
    if len(right) > _WINDOW:
        right = right[(random.words(_WINDOW) % np.uint64(len(right))).astype(np.int64)]
    return left, right


def _guarded(instance: Instance) -> NDArray[np.bool_]:
    """Return the categories that may come to lack a split: those that few units hold."""
    holders = (instance.counts > 0).sum(axis=0)
    return (instance.needed > 0) & (holders <= 8 * len(instance.ratios) * instance.needed)


def search(
    instance: Instance,
    seed: int,
    *,
    steps: int | None = None,
    runs: int | None = None,
    progress: Progress | None = None,
) -> Found:
    """Find an assignment of units to splits.

    Parameters
    ----------
    instance : Instance
        The units, in an order that does not depend on rows.
    seed : int
        The seed of the run.
    steps, runs : int, optional
        Steps of a run, and runs from different starts; by default by the number of units.
    progress : callable, optional
        Called with runs done and to do.

    Returns
    -------
    found : Found
        The one with least lacking, then least cost.
    """
    free = np.flatnonzero(instance.fixed < 0).astype(np.int64)
    count = len(free)
    runs = runs or (6 if count <= 50 else 3 if count <= 400 else 1)
    steps = steps or (1000 if count <= 50 else 5000 if count <= 400 else 8000)
    guarded = _guarded(instance)
    price, best = 4, None
    for run in range(runs):
        if progress:
            progress(run, runs, "search")
        random = SplitMix64(seed, f"search/{run}")
        start = _start(instance, run, random)
        for _ in range(4):
            table = _Table(instance, price, guarded)
            assignment, cost = _improve(table, start, free, steps, random, patience=steps)
            lacking = instance.short(assignment)
            if not lacking.any():
                break
            price, guarded, start = price * 4, guarded | lacking.any(axis=1), assignment
        found = Found(assignment, int(lacking.sum()), cost * 4 // price)
        if best is None or (found.short, found.cost) < (best.short, best.cost):
            best = found
    assert best is not None
    return best


def _start(instance: Instance, run: int, random: SplitMix64) -> NDArray[np.int8]:
    """Return where a run starts: the greedy assignment largest first, or in a drawn order for later runs."""
    drawn = np.argsort(random.words(len(instance.counts)), kind="stable").astype(np.int64)
    if run == 0:
        drawn = drawn[np.argsort(-instance.counts[drawn, 0], kind="stable")]
    return greedy(instance, drawn)
