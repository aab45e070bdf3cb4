"""Gwet's AC1 and AC2, which stay meaningful where one category prevails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from .fleiss import proportions

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["gwet_ac", "partial_agreement"]

Weighting = Literal["none", "linear", "quadratic"]


def partial_agreement(categories: int, weighting: Weighting) -> NDArray[np.float64]:
    """How far two categories agree, by their distance on the full scale.

    Parameters
    ----------
    categories : int
        Categories of the scale, in use or not.
    weighting : {"none", "linear", "quadratic"}
        1 for the same and 0 for all others; or 1 less the distance (or its square) over the longest.

    Returns
    -------
    weights : ndarray of shape (categories, categories)
        In [0, 1].

    Examples
    --------
    >>> partial_agreement(3, "quadratic").tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.75], [0.0, 0.75, 1.0]]
    """
    if weighting == "none":
        return np.eye(categories)
    places = np.arange(categories) / (categories - 1)
    apart = np.abs(places[:, None] - places[None, :])
    return 1 - (apart if weighting == "linear" else apart**2)


def gwet_ac(
    counts: NDArray[np.int64], multiples: NDArray[np.float64], weighting: Weighting = "none"
) -> NDArray[np.float64]:
    """AC1 (no weighting) or AC2; the full scale counts, with the categories that nobody chose.

    Parameters
    ----------
    counts : ndarray of int, shape (n_patterns, n_categories)
        Votes.
    multiples : ndarray of shape (n_rows, n_patterns)
        How many units have each pattern.
    weighting : {"none", "linear", "quadratic"}
        See `partial_agreement`.

    Returns
    -------
    coefficient : ndarray of shape (n_rows,)
        NaN where no unit has two votes.

    References
    ----------
    Gwet (2008), doi:10.1348/000711006X126600; Gwet (2014), Handbook of Inter-Rater Reliability, for AC2.

    Examples
    --------
    >>> float(gwet_ac(np.array([[2, 0], [2, 0], [1, 1]]), np.ones((1, 3))).round(4)[0])
    0.5385
    """
    size = counts.shape[1]
    weights = partial_agreement(size, weighting)
    votes = counts.sum(axis=1)
    shared = (counts * (counts @ weights - 1)).sum(axis=1) / np.maximum(votes * (votes - 1), 1)
    paired = (votes > 1).astype(np.float64)
    units = multiples @ paired
    observed = np.where(units > 0, (multiples @ (shared * paired)) / np.maximum(units, 1), np.nan)
    chosen = proportions(counts, multiples)
    expected = weights.sum() / (size * (size - 1)) * (chosen * (1 - chosen)).sum(axis=-1)
    return (observed - expected) / (1 - expected)
