"""Bounds: what no partition of the units can go below.

A category's floor is the least deviation that any assignment can give that category alone, since units are whole.
The floors of all categories add up to a bound of the sum of share deviations, which is printed with every result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .instance import Instance

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Bound", "bound_of", "category_floors", "rounding_bound", "rounding_floors"]

_JOINT = 600_000
_BITS = 40_000_000
_UNITS = 3000


@dataclass(frozen=True)
class Bound:
    """A lower bound.

    Parameters
    ----------
    value : float
        Of the sum of share deviations over the counted categories and the total.
    mean : float
        Of the mean deviation of the counted categories, the total left out, in percentage points.
    proven : bool
        Whether the partition at hand is known to reach the least sum.
    """

    value: float
    mean: float
    proven: bool = False


def rounding_floors(totals: NDArray[np.int64], ratios: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the least sum over splits of |whole count - target|, times the denominator, for whole items.

    Examples
    --------
    >>> rounding_floors(np.array([20, 21]), (11, 3, 6)).tolist()
    [0, 18]
    """
    whole = sum(ratios)
    rest = np.sort(totals[:, None] * np.array(ratios, np.int64) % whole, axis=1)[:, ::-1]
    up = rest.sum(axis=1) // whole
    raised = np.arange(len(ratios))[None, :] < up[:, None]
    return np.where(raised, whole - rest, rest).sum(axis=1)


def category_floors(instance: Instance) -> NDArray[np.int64]:
    """Return for each category the least sum of |denominator x count - ratio x total| over the splits.

    Of few holders every assignment is tried, coverage included; of more, each split's nearest sum of some of the
    units is found; of very many, only rounding counts.

    Parameters
    ----------
    instance : Instance
        The units; what is fixed stays where it is.

    Returns
    -------
    floors : ndarray of int64, shape (n_categories,)
        In units of items divided by the denominator; 0 for categories that are not counted.
    """
    floors = rounding_floors(instance.totals, instance.ratios)
    splits, counted = len(instance.ratios), instance.counted
    floors[~counted] = 0
    for column in np.flatnonzero(counted).tolist():
        amounts = instance.counts[:, column]
        if np.count_nonzero(amounts) > _UNITS + np.count_nonzero(instance.fixed >= 0):
            continue
        free = amounts[(instance.fixed < 0) & (amounts > 0)]
        fixed = np.array([amounts[instance.fixed == split].sum() for split in range(splits)], np.int64)
        heads = np.array([((instance.fixed == split) & (amounts > 0)).sum() for split in range(splits)], np.int64)
        if len(free) < _JOINT.bit_length() and splits ** len(free) <= _JOINT:
            floor = _joint_floor(free, fixed, heads, instance.ratios, int(instance.needed[column]))
        elif len(free) <= _UNITS and len(free) * int(free.sum()) <= _BITS * 8:
            floor = _single_floor(free, fixed, instance.ratios)
        else:
            continue
        floors[column] = max(floor, int(floors[column]))
    return floors


def _joint_floor(
    free: NDArray[np.int64],
    fixed: NDArray[np.int64],
    heads: NDArray[np.int64],
    ratios: tuple[int, ...],
    needed: int,
) -> int:
    """Try every assignment of the holders of a category."""
    splits, whole = len(ratios), sum(ratios)
    sums, units = fixed[None, :], heads[None, :]
    for amount in free.tolist():
        sums = (sums[:, None, :] + amount * np.eye(splits, dtype=np.int64)).reshape(-1, splits)
        units = (units[:, None, :] + np.eye(splits, dtype=np.int64)).reshape(-1, splits)
    target = np.array(ratios, np.int64) * int(sums[0].sum())
    lacking = np.maximum(needed - units, 0).sum(axis=1)
    covered = sums[lacking == lacking.min()]
    return int(np.abs(whole * covered - target).sum(axis=1).min())


def _single_floor(free: NDArray[np.int64], fixed: NDArray[np.int64], ratios: tuple[int, ...]) -> int:
    """Find for each split the sum of some units that comes nearest to its target (bits of one whole number)."""
    reach = 1
    for amount in free.tolist():
        reach |= reach << amount
    whole, total = sum(ratios), int(free.sum() + fixed.sum())
    away: list[int] = []
    for ratio, held in zip(ratios, fixed.tolist(), strict=True):
        wanted = ratio * total - whole * held
        low = max(wanted // whole, -1)
        below = (reach & ((1 << (low + 1)) - 1)).bit_length() - 1 if low >= 0 else -1
        above = reach >> (low + 1)
        options = [wanted - whole * below] if below >= 0 else []
        if above:
            options.append(whole * (low + (above & -above).bit_length()) - wanted)
        away.append(min(options))
    return max(sum(away), 2 * max(away))


def bound_of(instance: Instance) -> Bound:
    """Return the bound that the floors of the categories give.

    Parameters
    ----------
    instance : Instance
        The units.

    Returns
    -------
    bound : Bound
    """
    return _bound(instance, category_floors(instance))


def rounding_bound(instance: Instance) -> Bound:
    """Return the bound of items that stand for themselves: only whole numbers keep a share from its target."""
    floors = rounding_floors(instance.totals, instance.ratios)
    return _bound(instance, np.where(instance.counted, floors, 0))


def _bound(instance: Instance, floors: NDArray[np.int64]) -> Bound:
    shares = floors / (sum(instance.ratios) * np.maximum(instance.totals, 1))
    only = instance.counted.copy()
    only[0] = False
    mean = 100 * float(shares[only].sum()) / max(int(only.sum()) * len(instance.ratios), 1)
    return Bound(float(shares[instance.counted].sum()), mean)
