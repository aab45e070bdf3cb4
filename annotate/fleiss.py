"""Percent agreement and Fleiss' kappa, overall and by category, for any number of votes a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["category_kappas", "fleiss_kappa", "item_agreement", "percent_agreement", "proportions"]


def item_agreement(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of annotator pairs that agree, by unit.

    Parameters
    ----------
    counts : ndarray of int, shape (n_units, n_categories)
        Votes each category received; votes, not shares.

    Returns
    -------
    agreement : ndarray of shape (n_units,)
        In [0, 1]; 0 for a unit of fewer than two votes, hence no pair.

    References
    ----------
    Fleiss (1971), doi:10.1037/h0031619, where it is P_i.

    Examples
    --------
    >>> item_agreement(np.array([[3, 0], [1, 2]])).round(3).tolist()
    [1.0, 0.333]
    """
    votes = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return agreeing / np.maximum(votes * (votes - 1), 1)


def _mean(multiples: NDArray[np.float64], values: NDArray[np.float64], taken: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean of values over the units taken, for each row of multiples; NaN where there is none."""
    size = multiples @ taken.astype(np.float64)
    shape = (*size.shape, *([1] * (values.ndim - 1)))
    masked = values * taken.reshape(-1, *([1] * (values.ndim - 1)))
    return np.where(size > 0, 1.0, np.nan).reshape(shape) * (multiples @ masked) / np.maximum(size, 1).reshape(shape)


def percent_agreement(counts: NDArray[np.int64], multiples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean share of agreeing pairs over units with two votes and more.

    Parameters
    ----------
    counts : ndarray of int, shape (n_patterns, n_categories)
        Votes.
    multiples : ndarray of shape (n_rows, n_patterns)
        How many units have each pattern: of the data, and of each bootstrap replicate.

    Returns
    -------
    agreement : ndarray of shape (n_rows,)
    """
    return _mean(multiples, item_agreement(counts), counts.sum(axis=1) > 1)


def proportions(counts: NDArray[np.int64], multiples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over units of each category's share of the unit's votes.

    This is the mean of proportions (Gwet), which differs from the pooled share where units have unequal numbers of
    votes.

    Parameters
    ----------
    counts, multiples : ndarray
        As `percent_agreement`.

    Returns
    -------
    shares : ndarray of shape (n_rows, n_categories)
    """
    votes = counts.sum(axis=1)
    return _mean(multiples, counts / np.maximum(votes, 1)[:, None], votes > 0)


def fleiss_kappa(counts: NDArray[np.int64], multiples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fleiss' kappa; units may have unequal numbers of votes.

    Parameters
    ----------
    counts, multiples : ndarray
        As `percent_agreement`.

    Returns
    -------
    kappa : ndarray of shape (n_rows,)
        NaN where one category has all votes.

    References
    ----------
    Fleiss (1971), doi:10.1037/h0031619; Gwet (2014), Handbook of Inter-Rater Reliability, for unequal numbers.

    Examples
    --------
    >>> float(fleiss_kappa(np.array([[3, 0], [0, 3], [2, 1]]), np.ones((1, 3))).round(4)[0])
    0.55
    """
    expected = (proportions(counts, multiples) ** 2).sum(axis=-1)
    return _beyond_chance(percent_agreement(counts, multiples), expected)


def _beyond_chance(observed: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    room = 1 - expected
    defined = room > 1e-12
    return np.where(defined, (observed - expected) / np.where(defined, room, 1.0), np.nan)


def category_kappas(counts: NDArray[np.int64], multiples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fleiss' kappa of each category against all others.

    Parameters
    ----------
    counts, multiples : ndarray
        As `percent_agreement`.

    Returns
    -------
    kappas : ndarray of shape (n_rows, n_categories)
        NaN for a category that nobody chose, or everybody.
    """
    votes = counts.sum(axis=1)
    others = votes[:, None] - counts
    agreeing = counts * (counts - 1) + others * (others - 1)
    shares = agreeing / np.maximum(votes * (votes - 1), 1)[:, None]
    chosen = proportions(counts, multiples)
    return _beyond_chance(_mean(multiples, shares, votes > 1), chosen**2 + (1 - chosen) ** 2)
