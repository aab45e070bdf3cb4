"""What stands between subgroups: the largest gap, and the mean over those that hold an item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["group_mean", "largest_gap"]


def largest_gap(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest minus the smallest value over the last axis; NaN with fewer than two finite values.

    Examples
    --------
    >>> float(largest_gap(np.array([0.5, np.nan, 0.75])))
    0.25
    """
    known = np.isfinite(values)
    high = np.where(known, values, -np.inf).max(axis=-1, initial=-np.inf)
    low = np.where(known, values, np.inf).min(axis=-1, initial=np.inf)
    enough = known.sum(axis=-1) >= 2
    return np.where(enough, np.where(enough, high, 0.0) - np.where(enough, low, 0.0), np.nan)


def group_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the last axis of what is known; NaN where nothing is.

    Examples
    --------
    >>> float(group_mean(np.array([0.5, np.nan, 1.0])))
    0.75
    """
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    return np.where(count > 0, np.where(known, values, 0.0).sum(axis=-1) / np.maximum(count, 1), np.nan)
