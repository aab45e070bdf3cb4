"""Scores of several yes-or-no labels an item, and the thresholds that make them of probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .expression import f1_of_counts
from .fairness import group_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GRID", "best_thresholds", "f1_au", "predicted_rates", "unit_counts"]

GRID = tuple(round(step / 20, 2) for step in range(1, 20))
"""Thresholds that are tried on the validation split: 0.05 to 0.95 by 0.05."""

_KNOWN, _TRUE, _PREDICTED, _BOTH = 0, 1, 2, 3


def unit_counts(truth: NDArray[np.int64], predicted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count what the scores of this module need.

    Parameters
    ----------
    truth : ndarray of int, shape (n_items, n_units)
        1 active, 0 not, -1 unknown: it leaves this action unit's score only.
    predicted : ndarray of int, shape (n_items, n_units)
        1 or 0.

    Returns
    -------
    counts : ndarray of int, shape (n_items, 4 * n_units)
        1 where the label is known; and true; and predicted; and both.
    """
    known = truth >= 0
    true, said = truth == 1, known & (predicted == 1)
    return np.concatenate([known, true, said, true & said], axis=1).astype(np.int64)


def _parts(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(counts, np.float64).reshape(*counts.shape[:-1], 4, -1)


def f1_au(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the binary F1 of each action unit, averaged over those with a known label.

    Parameters
    ----------
    counts : ndarray of shape (..., 4 * n_units)
        Sums of `unit_counts`.

    Examples
    --------
    >>> rows = unit_counts(np.array([[1, 1], [1, -1], [0, 0]]), np.array([[1, 1], [0, 1], [0, 0]]))
    >>> float(f1_au(rows.sum(axis=0)).round(4))
    0.8333
    """
    parts = _parts(counts)
    found = f1_of_counts(parts[..., _TRUE, :], parts[..., _PREDICTED, :], parts[..., _BOTH, :])
    return group_mean(np.where(parts[..., _KNOWN, :] > 0, found, np.nan))


def predicted_rates(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share predicted active among items whose label is known, shape (..., n_units)."""
    parts = _parts(counts)
    known = parts[..., _KNOWN, :]
    return np.where(known > 0, parts[..., _PREDICTED, :] / np.where(known > 0, known, 1.0), np.nan)


def best_thresholds(
    truth: NDArray[np.int64], probabilities: NDArray[np.float64], grid: tuple[float, ...] = GRID
) -> tuple[float, ...]:
    """Choose the threshold of each action unit that gives the highest F1; of equal ones the lowest.

    Parameters
    ----------
    truth : ndarray of int, shape (n_items, n_units)
        Labels of the validation split, -1 unknown. Never those of the test split.
    probabilities : ndarray of float, shape (n_items, n_units)
        An item is predicted active from the threshold on.

    Examples
    --------
    >>> best_thresholds(np.array([[1], [1], [0]]), np.array([[0.9], [0.3], [0.2]]))
    (0.25,)
    """
    scores: list[NDArray[np.float64]] = []
    for threshold in grid:
        parts = _parts(unit_counts(truth, (probabilities >= threshold).astype(np.int64)).sum(axis=0).astype(float))
        scores.append(f1_of_counts(parts[_TRUE], parts[_PREDICTED], parts[_BOTH]))
    best = np.stack(scores).argmax(axis=0)
    return tuple(grid[place] for place in best.tolist())
