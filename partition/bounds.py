"""Bounds: what no partition of the units can go below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .instance import Instance

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Bound", "bound_of", "rounding_floors"]


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


def bound_of(instance: Instance) -> Bound:
    """Return the bound of an instance."""
    totals, whole = instance.totals, sum(instance.ratios)
    floors = rounding_floors(totals, instance.ratios) / (whole * np.maximum(totals, 1))
    counted = instance.counted
    only = counted.copy()
    only[0] = False
    mean = 100 * float(floors[only].sum()) / max(int(only.sum()) * len(instance.ratios), 1)
    return Bound(float(floors[counted].sum()), mean)
