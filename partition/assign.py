"""A table's rows to splits: which solver, from which counts, with what bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ..errors import InfeasibleError, InputError, listing, unknown
from ..tabular import pc
from .bounds import Bound, bound_of, rounding_bound
from .cells import allocate
from .exhaustive import exhaustive, few
from .feasibility import feasibility
from .instance import Instance, instance_of, needs, reduced
from .model import Solver
from .prepare import Stratum
from .profile import Category, Coded, Counts, coded, count_units
from .rows import drawn, joint
from .search import Found, effort_for, resume, search
from .units import Units, units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["METHODS", "Assigned", "Progress", "Task", "assign"]

VERSION = "1"
METHODS = ("best", "random", "iterative", "group-kfold", "shuffle")
"""Solvers that `split_items` offers: ours, and the baselines that people use."""

Progress = Callable[[int, int | None, str], None]
_FEW_ROWS = 3000


@dataclass(frozen=True)
class Task:
    """What is to be split, and how.

    Parameters
    ----------
    table : pyarrow.Table
        Column ``item`` (unique), ``subject`` where there is one, and the columns of the strata.
    strata : tuple of Stratum
        The balanced columns.
    splits : tuple of str
        Names of the splits.
    ratios : tuple of int
        Their proportions.
    unit : str
        What stays whole.
    cover : int
        Units of every category that every split should hold.
    weights : mapping of str to int
        Weight of a stratified column.
    links : tuple of (str, str)
        Pairs of subjects that must stay together.
    """

    table: pa.Table
    strata: tuple[Stratum, ...]
    splits: tuple[str, ...]
    ratios: tuple[int, ...]
    unit: str = "subject"
    cover: int = 1
    weights: Mapping[str, int] | None = None
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Assigned:
    """A split for every row, and how it was found.

    Parameters
    ----------
    assignment : ndarray of int8, shape (n_rows,)
        Position of the split.
    solver : Solver
        How it was found.
    warnings, notes : tuple of str
        What could not be met; what was done.
    """

    assignment: NDArray[np.int8]
    solver: Solver
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def assign(
    task: Task,
    seed: int,
    *,
    method: str | None = None,
    keep: Mapping[str, str] | None = None,
    prove: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
) -> Assigned:
    """Find a split for every row of a table.

    Parameters
    ----------
    task : Task
        What is to be split, and how.
    seed : int
        The seed: the same one gives the same partition of the same rows, in any order.
    method : str, optional
        One of `METHODS`; ours by default.
    keep : mapping of str to str, optional
        Split of items that stay where they are, by name.
    prove : bool
        Try to prove that nothing better exists, where that can be done.
    strict : bool
        Refuse what cannot be met instead of coming as near as can be.
    progress : callable, optional
        Called with steps done, steps in all or None, and what is being done.

    Raises
    ------
    InfeasibleError
        If there is one unit only; with `strict`, if the units cannot meet the protocol; if kept items tear a unit.
    """
    if method is not None and method not in METHODS:
        message, hint = unknown("method", method, METHODS)
        raise InputError(message, hint=hint)
    columns = coded(task.table, task.strata)
    units = units_of(task.table, task.unit, task.links)
    fixed = _fixed(task, units, keep)
    profile = None if units.singles else count_units(columns, units.of, len(units))
    warnings = _feasible(task, units, columns, profile, strict)
    if method not in (None, "best"):
        return _baseline(task, columns, units, profile, str(method), seed, warnings, fixed is not None)
    assignment, name, bound = np.empty(0, np.int8), "cells", None
    if profile is None:
        assignment = _cells(task, columns, units, fixed, seed)
        if len(units) <= _FEW_ROWS and _misses(columns, assignment, task):
            # A handful of rows whose categories are so entangled that cells alone cannot cover them.
            profile = count_units(columns, units.of, len(units))
    if profile is not None:
        assignment, name, bound, more = _grouped(task, profile, units, fixed, seed, prove, progress)
        warnings += more
    value, mean = _figures(columns, assignment, task.ratios)
    bound = bound or rounding_bound(_rounding(columns, task.ratios))
    solver = Solver(
        name, VERSION, seed, mean, bound.mean, bound.proven or value <= bound.value + 1e-12, value, bound.value
    )
    return Assigned(assignment, solver, warnings)


def _grouped(
    task: Task,
    profile: Counts,
    units: Units,
    fixed: NDArray[np.int8] | None,
    seed: int,
    prove: bool,
    progress: Progress | None,
) -> tuple[NDArray[np.int8], str, Bound, tuple[str, ...]]:
    """Split units of several items: largest first, equal ones in the order of their keyed digests."""
    order = units.order(seed, "units/order")
    order = order[np.argsort(-profile.counts[order, 0], kind="stable")]
    ordered = Counts(profile.categories, profile.counts[order])
    held = None if fixed is None else fixed[order]
    instance = instance_of(ordered, task.ratios, cover=task.cover, weights=task.weights, fixed=held)
    found, name, bound = _searched(instance, seed, prove, progress)
    split = np.empty(len(units), np.int8)
    split[order] = found
    return split[units.of], name, bound, _lacking(instance, found, profile.categories, task.splits)


def _misses(columns: Sequence[Coded], assignment: NDArray[np.int8], task: Task) -> bool:
    """Tell whether a category that enough rows hold lacks a split."""
    held = count_units(columns, assignment.astype(np.int64), len(task.splits))
    scored = np.array([category.scored for category in held.categories])
    wanted = needs(held.counts.sum(axis=0), scored, len(task.splits), task.cover)
    return bool((held.counts < wanted).any())


def _lacking(
    instance: Instance, found: NDArray[np.int8], categories: Sequence[Category], splits: Sequence[str]
) -> tuple[str, ...]:
    """Name the categories that lack units in a split, though enough hold them."""
    short = instance.short(found)
    pairs = [f"{categories[at]} in {splits[split]}" for at, split in np.argwhere(short > 0).tolist()]
    if not pairs:
        return ()
    return (f"coverage is not met, since the units that hold one category hold others too: {listing(pairs)}",)


def _searched(
    instance: Instance, seed: int, prove: bool, progress: Progress | None
) -> tuple[NDArray[np.int8], str, Bound]:
    """Search, and bound what was found."""
    if few(instance):
        found = exhaustive(instance)
        value = instance.shares_off(found)
        plain = bool((instance.weights[instance.counted][1:] == 1).all())
        bound = bound_of(instance)
        return found, "exhaustive", replace(bound, value=value, proven=True) if plain else bound
    effort = effort_for(int((instance.fixed < 0).sum()))
    if prove:
        effort = replace(effort, crosses=4 * effort.crosses)
    best = search(instance, seed, effort=effort, progress=progress)
    if best.short:
        best = _recovered(instance, seed, best)
    bound = bound_of(instance)
    if not prove:
        return best.assignment, "search", bound
    if progress:
        progress(0, None, "proof")
    from .prove import prove as certify

    assignment, bound = certify(instance, best.assignment, bound)
    return assignment, "search", bound


def _recovered(instance: Instance, seed: int, found: Found) -> Found:
    """Ask HiGHS for an assignment that lacks less than the search's, and go on from there."""
    from .prove import cover

    start = cover(instance)
    if start is None or int(instance.short(start).sum()) >= found.short:
        return found
    return resume(instance, start, seed)


def _rounding(columns: Sequence[Coded], ratios: Sequence[int]) -> Instance:
    """Return an instance with one unit an item, of which only the totals matter, for the bound of rounding."""
    rows = len(columns[0].codes) if columns else 0
    profile = count_units(columns, np.zeros(rows, np.int64), 1)
    return replace(instance_of(profile, ratios), needed=profile.counts[0] * 0)


def _figures(columns: Sequence[Coded], assignment: NDArray[np.int8], ratios: Sequence[int]) -> tuple[float, float]:
    """Return the sum of share deviations over the counted categories and the total, and the mean without it."""
    held = count_units(columns, assignment.astype(np.int64), len(ratios))
    instance = instance_of(held, ratios)
    own = np.arange(len(ratios), dtype=np.int8)
    counted = instance.counted
    only = replace(instance, scored=counted & instance.scored)
    value = only.shares_off(own)
    totals = held.counts[:, 0]
    total = float(np.abs(totals / max(int(totals.sum()), 1) - np.array(ratios) / sum(ratios)).sum())
    return value, 100 * (value - total) / max((int(counted.sum()) - 1) * len(ratios), 1)


def _feasible(
    task: Task, units: Units, columns: Sequence[Coded], profile: Counts | None, strict: bool
) -> tuple[str, ...]:
    """Name what cannot be met; refuse it where asked to be strict."""
    if profile is None:
        whole = count_units(columns, np.zeros(task.table.num_rows, np.int64), 1)
        categories, totals = whole.categories, whole.counts[0]
        sizes, holders = np.ones(len(units), np.int64), totals
    else:
        categories, totals = profile.categories, profile.counts.sum(axis=0)
        sizes, holders = profile.counts[:, 0], (profile.counts > 0).sum(axis=0)
    found = feasibility(units, categories, sizes, holders, totals, task.splits, task.ratios, task.cover)
    if strict and found.broken:
        raise InfeasibleError(
            "the protocol cannot be met on these data: " + "; ".join(found.broken),
            hint="without --strict the partition comes as near as can be and says what is missing",
        )
    return found.broken + found.odd


def _cells(
    task: Task, columns: Sequence[Coded], units: Units, fixed: NDArray[np.int8] | None, seed: int
) -> NDArray[np.int8]:
    """Split rows that stand for themselves: counts by cell, then rows by keyed digest."""
    widths = [column.width for column in columns] or [1]
    codes = [column.codes for column in columns] or [np.zeros(len(units), np.int8)]
    cell, members = joint(codes, widths)
    sizes = np.bincount(cell)
    splits = len(task.splits)
    kept = None
    if fixed is not None:
        fixed = fixed[units.of]
        stays = fixed >= 0
        kept = np.bincount(cell[stays] * splits + fixed[stays], minlength=len(sizes) * splits).reshape(-1, splits)
    needed = _needed(columns, splits, task.cover, len(units))
    allocation = allocate(members, sizes, reduced(task.ratios), seed, kept=kept, needed=needed)
    order = units.order(seed, "units/order")
    if units.named.any():
        # Every unit is one row, but not in the rows' order.
        order = np.argsort(units.of, kind="stable")[order]
    if kept is None or fixed is None:
        return drawn(cell, order, allocation.items)
    rest = drawn(cell, order, allocation.items - kept, fixed >= 0)
    return np.where(fixed >= 0, fixed, rest)


def _needed(columns: Sequence[Coded], splits: int, cover: int, rows: int) -> NDArray[np.int64]:
    """Return how many items every split must have of the total and of each category that is scored."""
    parts = [needs(np.array([rows]), np.array([True]), splits, cover)]
    for column in columns:
        held = np.bincount(column.codes, minlength=column.width)
        binary = column.stratum.kind == "binary"
        scored = [at < len(column.values) and (not binary or column.values[at] == "1") for at in range(len(held))]
        wanted = np.where(scored, np.minimum(held // splits, cover), 0)
        parts.append(wanted)
    return np.concatenate(parts)


def _fixed(task: Task, units: Units, keep: Mapping[str, str] | None) -> NDArray[np.int8] | None:
    """Return the split of each unit that stays, ``-1`` for the others; None where nothing stays."""
    if not keep:
        return None
    place = {name: at for at, name in enumerate(task.splits)}
    strange = sorted(set(keep.values()) - set(place))
    if strange:
        message, hint = unknown("split", strange[0], task.splits)
        raise InputError(f"the kept assignments cannot be used: {message}", hint=hint)
    names = pa.array(list(keep), pa.string())
    where = pc.index_in(task.table["item"].cast(pa.string()), names).combine_chunks()
    at = pc.fill_null(where, -1).to_numpy(zero_copy_only=False)
    values = np.array([place[split] for split in keep.values()], np.int8)
    rows = np.flatnonzero(at >= 0)
    fixed = np.full(len(units), -1, np.int8)
    fixed[units.of[rows]] = values[at[rows]]
    torn = rows[fixed[units.of[rows]] != values[at[rows]]]
    if len(torn):
        ids = sorted({units.ids[unit].as_py() for unit in np.unique(units.of[torn]).tolist()})
        raise InfeasibleError(
            f"{len(ids):,} units have kept items in more than one split: {listing(ids)}",
            hint="they must be whole: leave them out of the kept assignments, or withdraw them first",
        )
    return fixed


def _baseline(
    task: Task,
    columns: Sequence[Coded],
    units: Units,
    profile: Counts | None,
    method: str,
    seed: int,
    warnings: tuple[str, ...],
    keeps: bool,
) -> Assigned:
    """Run one of the baselines on the same units."""
    from .baselines import baseline

    if keeps:
        raise InputError(f"method {method!r} cannot keep assignments", hint="leave the method out, or the kept ones")
    if profile is None:
        profile = count_units(columns, units.of, len(units))
    order = units.order(seed, f"baseline/{method}")
    split = np.empty(len(units), np.int8)
    split[order] = baseline(method, Counts(profile.categories, profile.counts[order]), task.ratios, seed)
    value, mean = _figures(columns, split[units.of], task.ratios)
    return Assigned(split[units.of], Solver(method, VERSION, seed, mean, None, False, value), warnings)
