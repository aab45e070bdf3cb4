"""Search: units to splits, by a greedy start, best moves and exchanges, and a short memory.

What is minimised is the sum of share deviations, the figure that is reported and bounded; the start is guided by
the design effect. Everything is in whole numbers: they stand in float64 because its additions and absolute values
are the quickest, and stay below 2**53, where they are exact in any order.

References
----------
Tabu search: Glover (1989), doi:10.1287/ijoc.1.3.190.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..digests import SplitMix64
from .bounds import category_floors
from .guide import greedy
from .instance import Instance
from .weights import FEW, Scale, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Effort", "Found", "effort_for", "resume", "search", "weighed"]

Progress = Callable[[int, int | None, str], None]

_BRIEF_UNITS = 400
_WINDOW = 64
_MANY = 20_000
_LONGEST = 2


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
    worst : int
        The largest of them.
    """

    assignment: NDArray[np.int8]
    short: int
    cost: int
    worst: int

    @property
    def rank(self) -> tuple[int, int, int]:
        """What the better of two has less of; with many units the worst deviation counts beside the sum."""
        many = len(self.assignment) > FEW
        return self.short, self.cost + (2 * self.worst if many else 0), self.worst


class _Walk:
    """A walk from one assignment to the next, by the best move or exchange between two splits at a time."""

    def __init__(self, table: Table, assignment: NDArray[np.int8], free: NDArray[np.int64], random: SplitMix64) -> None:
        self.now, self.free, self.random = assignment.copy(), free, random
        self.columns, self.nobody = table.columns, len(assignment)
        self.deviation = table.deviations(assignment)
        self.pairs = list(combinations(range(self.deviation.shape[1]), 2))
        self.banned = np.zeros((self.nobody + 1, self.deviation.shape[1]), np.int64)
        width = min(len(free), _WINDOW) + 1
        self.buffer = np.empty(len(self.columns) * width * width, self.columns.dtype)
        self.kept = self.now.copy()
        self._weigh()
        self.best = self.current

    def _weigh(self) -> None:
        self.sums = np.abs(self.deviation).sum(axis=0, dtype=np.float64)
        self.current = float(self.sums.sum())

    def changes(self, a: int, b: int, one: NDArray[np.int64], two: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what the cost changes by for every exchange of a unit of split `a` with one of split `b`.

        The last unit on either side is nobody, so that moves stand beside exchanges. Memory is written over and
        over: fresh memory for each step would take five times as long.
        """
        left, right = self.columns[:, one], self.columns[:, two]
        space = self.buffer[: left.size * right.shape[1]].reshape(*left.shape, -1)
        kind = self.columns.dtype
        np.add((self.deviation[:, a, None] - left)[:, :, None], right[:, None, :], out=space)
        np.abs(space, out=space)
        cost = np.add.reduce(space, axis=0, dtype=kind)
        np.subtract((self.deviation[:, b, None] + left)[:, :, None], right[:, None, :], out=space)
        np.abs(space, out=space)
        cost += np.add.reduce(space, axis=0, dtype=kind)
        return cost - (self.sums[a] + self.sums[b])

    def step(self, at: int) -> bool:
        """Take the best step between the pair of splits whose turn it is; tell whether it leads to a new best.

        A unit that has moved may not go back for a few rounds, unless that gives the best so far.
        """
        a, b = self.pairs[at % len(self.pairs)]
        left, right = _sides(self.now, self.free, a, b, self.random)
        one, two = np.append(left, self.nobody), np.append(right, self.nobody)
        change = self.changes(a, b, one, two)
        barred = (self.banned[one, b] > at)[:, None] | (self.banned[two, a] > at)[None, :]
        barred &= self.current + change >= self.best
        barred[-1, -1] = True
        change[barred] = np.inf
        i, j = divmod(int(np.argmin(change)), len(two))
        if change[i, j] == np.inf:
            return False
        shift = self.columns[:, one[i]] - self.columns[:, two[j]]
        self.deviation[:, a] -= shift
        self.deviation[:, b] += shift
        self._weigh()
        rest = at + 1 + len(self.pairs) * (1 + self.random.below(_LONGEST))
        for unit, source, target in ((one[i], a, b), (two[j], b, a)):
            if unit < self.nobody:
                self.now[unit] = target
                self.banned[unit, source] = rest
        if self.current >= self.best:
            return False
        self.best = self.current
        self.kept[:] = self.now
        return True


def _improve(
    table: Table,
    assignment: NDArray[np.int8],
    free: NDArray[np.int64],
    steps: int,
    random: SplitMix64,
    *,
    patience: int,
) -> tuple[NDArray[np.int8], int]:
    """Walk so many steps, or until so many have led to nothing better; return the best assignment and its cost."""
    walk = _Walk(table, assignment, free, random)
    idle = 0
    for at in range(steps):
        idle = 0 if walk.step(at) else idle + 1
        if idle > patience:
            break
    return walk.kept, int(walk.best)


def _sides(
    now: NDArray[np.int8], free: NDArray[np.int64], a: int, b: int, random: SplitMix64
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return free units of two splits, a drawn window of them where they are many."""
    if len(free) > _MANY:
        drawn = free[(random.words(16 * _WINDOW) % np.uint64(len(free))).astype(np.int64)]
        held = now[drawn]
        return drawn[held == a][:_WINDOW], drawn[held == b][:_WINDOW]
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


@dataclass(frozen=True)
class Effort:
    """How long a search goes on, in steps and never in seconds.

    Parameters
    ----------
    runs : int
        Starts from scratch.
    steps : int
        Steps of each.
    crosses : int
        Starts from a mixture of two good assignments.
    after : int
        Steps of each.
    patience : int
        Steps without a new best after which a run ends.
    more : int
        Further starts where a category is still a tenth of a point beyond its floor.
    """

    runs: int
    steps: int
    crosses: int
    after: int
    patience: int
    more: int = 0


def effort_for(units: int) -> Effort:
    """Return the effort for a number of units that are free to move.

    Measured on 27, 96 and 2,001 subjects and on a million: starts find the optimum of few units, mixtures of good
    assignments help in between, and where units are thousands one run is mostly as good as many: where it is not,
    as on Adience's 2,284 people, further ones are made.
    """
    if units <= FEW:
        return Effort(4, 600, 24, 100, 600)
    if units <= _BRIEF_UNITS:
        return Effort(6, 600, 150, 120, 600)
    if units <= _MANY:
        return Effort(2, 6000, 1, 3000, 900, more=12)
    return Effort(1, 6000, 0, 0, 900)


def search(instance: Instance, seed: int, *, effort: Effort | None = None, progress: Progress | None = None) -> Found:
    """Find an assignment of units to splits.

    Parameters
    ----------
    instance : Instance
        The units, in an order that does not depend on rows.
    seed : int
        The seed of the run.
    effort : Effort, optional
        By default by the number of units.
    progress : callable, optional
        Called with runs done and to do.

    Returns
    -------
    found : Found
        The one with least lacking, then least cost.

    References
    ----------
    Mixtures improved by tabu search: Galinier and Hao (1999), doi:10.1023/A:1009823419804.
    """
    effort = effort or effort_for(int((instance.fixed < 0).sum()))
    runner, elite, floors = _Runner(instance), list[Found](), category_floors(instance)
    usual = effort.runs + effort.crosses
    for run in range(usual + effort.more):
        if run >= usual and _near_floor(instance, min(elite, key=lambda found: found.rank), floors):
            break
        if progress:
            progress(run, usual + effort.more, "search")
        random = SplitMix64(seed, f"search/{run}")
        if run < effort.runs or len(elite) < 2 or run >= usual:
            elite.append(runner.run(_start(instance, run, random), effort.steps, effort.patience, random))
            if _at_floor(instance, elite[-1], floors):
                break
            continue
        elite.sort(key=lambda found: found.rank)
        child = runner.run(_mixed(elite, random), effort.after, effort.patience, random)
        if all(child.rank != found.rank for found in elite) and child.rank < elite[-1].rank:
            elite[-1] = child
    return runner.finish(min(elite, key=lambda found: found.rank), SplitMix64(seed, "search/finish"))


def _away(instance: Instance, found: Found) -> NDArray[np.int64]:
    """Return each category's distance from its targets, summed over splits, times the ratios' sum."""
    targets = instance.totals[:, None] * np.array(instance.ratios, np.int64)
    return np.abs(sum(instance.ratios) * instance.held(found.assignment) - targets).sum(axis=1)


def _at_floor(instance: Instance, found: Found, floors: NDArray[np.int64]) -> bool:
    """Tell whether every counted category is at its floor, so that nothing can be better."""
    return found.short == 0 and bool((_away(instance, found) <= floors)[instance.counted].all())


def _near_floor(instance: Instance, found: Found, floors: NDArray[np.int64]) -> bool:
    """Tell whether every counted category is within a tenth of a point of its floor, in two splits at once."""
    beyond = 500 * (_away(instance, found) - floors)
    allowed = sum(instance.ratios) * instance.totals
    return found.short == 0 and bool((beyond <= allowed)[instance.counted].all())


def _mixed(elite: list[Found], random: SplitMix64) -> NDArray[np.int8]:
    """Return an assignment that takes each unit's split from one or the other of two drawn good ones."""
    one, two = random.below(len(elite)), random.below(len(elite) - 1)
    two += two >= one
    first, second = elite[one].assignment, elite[two].assignment
    heads = (random.words(len(first)) >> np.uint64(63)).astype(np.bool_)
    return np.where(heads, first, second)


def resume(instance: Instance, start: NDArray[np.int8], seed: int) -> Found:
    """Go on from an assignment without ever lacking more than it does.

    Parameters
    ----------
    instance : Instance
        The units.
    start : ndarray of int8, shape (n_units,)
        Where to start.
    seed : int
        The seed of the run.
    """
    runner = _Runner(instance)
    runner.guard(instance.needed > 0, 64)
    random = SplitMix64(seed, "search/resumed")
    found = runner.finish(runner.run(start, 2000, 600, random), random)
    return min(weighed(instance, start), found, key=lambda one: one.rank)


class _Runner:
    """Runs walks on one instance, with a price on coverage that rises where it does not hold."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.free = np.flatnonzero(instance.fixed < 0).astype(np.int64)
        self.brief = len(instance.counts) > FEW and len(self.free) <= _BRIEF_UNITS
        self.guard(_guarded(instance), 4)

    def guard(self, guarded: NDArray[np.bool_], price: int) -> None:
        """Set which categories are kept covered, and at what price."""
        self.guarded, self.price = guarded, price
        self.exact = Table(self.instance, price, guarded)
        self.rough = Table(self.instance, price, guarded, brief=True) if self.brief else None

    def run(self, start: NDArray[np.int8], steps: int, patience: int, random: SplitMix64) -> Found:
        """Walk from a start; where a category still lacks a split, guard it at a higher price and go on."""
        assignment, lacking = start, self.instance.short(start)
        for _ in range(4):
            if self.rough is not None:
                assignment, _ = _improve(self.rough, assignment, self.free, steps, random, patience=patience)
            else:
                assignment, _ = _improve(self.exact, assignment, self.free, steps, random, patience=patience)
            lacking = self.instance.short(assignment)
            missed = lacking.any(axis=1) & ~self.guarded
            if not lacking.any() or (self.price >= 64 and not missed.any()):
                break
            self.guard(self.guarded | missed, min(self.price * 4, 64))
        return weighed(self.instance, assignment)

    def finish(self, found: Found, random: SplitMix64) -> Found:
        """Take the last steps in full precision, where the walks were rough."""
        if self.rough is None:
            return found
        steps = 64 * len(self.instance.ratios)
        assignment, _ = _improve(self.exact, found.assignment, self.free, steps, random, patience=steps)
        return min(found, weighed(self.instance, assignment), key=lambda one: one.rank)


def weighed(instance: Instance, assignment: NDArray[np.int8]) -> Found:
    """Return an assignment with what it lacks and costs."""
    scale, held = Scale(instance, 0), instance.held(assignment)
    away = np.abs(held[scale.used] * scale.item[:, None] - scale.targets)
    size = np.abs(held[:1] * scale.size_item - scale.size_targets)
    lacking = int(instance.short(assignment).sum())
    return Found(assignment, lacking, int(away.sum()) + int(size.sum()), int(away.max(initial=0)))


def _start(instance: Instance, run: int, random: SplitMix64) -> NDArray[np.int8]:
    """Return where a run starts: the greedy assignment largest first, or in a drawn order for later runs."""
    drawn = np.argsort(random.words(len(instance.counts)), kind="stable").astype(np.int64)
    if run == 0:
        drawn = drawn[np.argsort(-instance.counts[drawn, 0], kind="stable")]
    return greedy(instance, drawn)
