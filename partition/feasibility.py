"""What cannot be met, said before it is tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InfeasibleError, listing
from .profile import Category
from .units import Component, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Feasibility", "feasibility"]


@dataclass(frozen=True)
class Feasibility:
    """What the units do not allow.

    Parameters
    ----------
    broken : tuple of str
        What breaks the protocol, with the numbers; refused where the user asked to be strict.
    odd : tuple of str
        What is met but should be known.
    """

    broken: tuple[str, ...]
    odd: tuple[str, ...] = ()


def feasibility(
    units: Units,
    categories: Sequence[Category],
    sizes: NDArray[np.int64],
    holders: NDArray[np.int64],
    totals: NDArray[np.int64],
    splits: Sequence[str],
    ratios: Sequence[int],
    cover: int,
) -> Feasibility:
    """Find what no partition of these units can meet.

    Parameters
    ----------
    units : Units
        The units.
    categories : sequence of Category
        The total first.
    sizes : ndarray of int64, shape (n_units,)
        Items of each unit.
    holders, totals : ndarray of int64, shape (n_categories,)
        Units that hold each category, and its items.
    splits : sequence of str
        Names of the splits.
    ratios : sequence of int
        Their proportions.
    cover : int
        Units of every category that every split should hold.

    Returns
    -------
    found : Feasibility

    Raises
    ------
    InfeasibleError
        If there is one unit only, and more than one split.
    """
    kind = "subject" if bool(units.named.any()) else "item"
    if len(units) == 1 and len(splits) > 1:
        raise InfeasibleError(
            f"there is one {kind} only ({units.ids[0].as_py()!r}, {int(sizes[0]):,} items): it cannot be split",
            hint="a partition keeps every unit whole; give more data, or set split.unit to item",
        )
    broken: list[str] = []
    if len(units) < len(splits):
        places: list[int] = np.argsort(-np.array(ratios), kind="stable")[len(units) :].tolist()
        few = [str(splits[at]) for at in places]
        broken.append(
            f"{len(units):,} units ({kind}s) cannot fill {len(splits)} splits: {len(few)} stay empty,"
            f" the smallest first ({listing(few)})"
        )
    broken += _large(units, sizes, splits, ratios)
    scarce = [
        f"{category} ({int(count):,} {kind}{'' if count == 1 else 's'}, {int(total):,} items)"
        for category, count, total in zip(categories, holders, totals, strict=True)
        if category.scored and 0 < count < len(splits) <= len(units)
    ]
    if scarce and cover:
        broken.append(
            f"{len(scarce)} categories are held by fewer {kind}s than there are splits ({len(splits)}),"
            f" so that a split stays without them: {listing(scarce)}"
        )
    thin = [
        f"{category} ({int(count):,})"
        for category, count in zip(categories, holders, strict=True)
        if category.scored and len(splits) <= count < cover * len(splits)
    ]
    if thin:
        broken.append(f"fewer than {cover} {kind}s a split hold: {listing(thin)}; every split gets its even part")
    return Feasibility(tuple(broken))


def _large(units: Units, sizes: NDArray[np.int64], splits: Sequence[str], ratios: Sequence[int]) -> list[str]:
    """Name units that are larger than the largest split should be, and linked ones larger than the smallest."""
    total, whole = int(sizes.sum()), sum(ratios)
    largest = int(np.argmax(np.array(ratios)))
    room = total * ratios[largest]
    found: list[str] = []
    known = {component.unit: component for component in units.components}
    for at in np.flatnonzero(sizes * whole > room).tolist():
        share = f"{int(sizes[at]):,} items, {100 * int(sizes[at]) / total:.1f} % of all"
        held = f"more than split {splits[largest]!r} should hold ({100 * ratios[largest] / whole:.1f} %)"
        found.append(f"{_named(units, at, known)} has {share}: {held}")
    for component in units.components:
        size = int(sizes[component.unit])
        if min(ratios) * total < size * whole <= room:
            small = splits[int(np.argmin(np.array(ratios)))]
            share = f"{size:,} items, {100 * size / total:.1f} % of all"
            found.append(f"{_named(units, component.unit, known)} has {share}: too large for split {small!r}")
    return found


def _named(units: Units, at: int, known: dict[int, Component]) -> str:
    component = known.get(at)
    if component is None:
        return f"unit {units.ids[at].as_py()!r}"
    links = [f"{a}-{b}" for a, b in component.links]
    return (
        f"the unit of {len(component.subjects):,} linked subjects"
        f" ({listing(list(component.subjects), most=4)}; {len(links):,} links: {listing(links, most=4)})"
    )
