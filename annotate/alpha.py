"""Krippendorff's alpha from coincidences, plain or with votes of different weight.

The plain coefficient is computed by `krippendorff` (the one module that imports it is this one); what stands here
serves the bootstrap, which needs it a thousand times over, and the weighted form, which no library has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Metric", "alpha_of", "coincidences", "plain_alpha"]

Metric = Literal["nominal", "ordinal", "interval"]


def coincidences(
    confident: NDArray[np.int64], doubtful: NDArray[np.int64], weights: tuple[int, int] = (2, 1)
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pair up the votes of each unit.

    Parameters
    ----------
    confident, doubtful : ndarray of int, shape (n_units, n_categories)
        Votes each category received.
    weights : tuple of int
        Weight of a confident and of a doubtful vote; only their relation counts.

    Returns
    -------
    pairs : ndarray of shape (n_units, n_categories, n_categories)
        ``m (N_c N_k - [c = k] S_c) / (m^2 - s)``, with N the sum of weights and S of squared weights by category, m
        and s their sums over categories; zero for a unit of fewer than two votes. With equal weights it is
        Krippendorff's o_ck.
    squares : ndarray of shape (n_units,)
        s, zero for a unit of fewer than two votes.

    References
    ----------
    Krippendorff (2011), "Computing Krippendorff's alpha-reliability", for equal weights; the weighted form is
    protoctl's own.

    Examples
    --------
    >>> pairs, squares = coincidences(np.array([[2, 1]]), np.array([[0, 0]]))
    >>> (pairs[0] / 2).tolist(), squares.tolist()
    ([[1.0, 1.0], [1.0, 0.0]], [12.0])
    """
    high, low = weights
    sums = (high * confident + low * doubtful).astype(np.float64)
    squared = (high * high * confident + low * low * doubtful).astype(np.float64)
    total, squares = sums.sum(axis=1), squared.sum(axis=1)
    room = total * total - squares
    paired = room > 0
    factor = np.where(paired, total / np.where(paired, room, 1.0), 0.0)
    pairs = sums[:, :, None] * sums[:, None, :]
    diagonal = np.arange(sums.shape[1])
    pairs[:, diagonal, diagonal] -= squared
    return pairs * factor[:, None, None], np.where(paired, squares, 0.0)


def alpha_of(pairs: NDArray[np.float64], squares: NDArray[np.float64], metric: Metric) -> NDArray[np.float64]:
    """Compute alpha from summed coincidences.

    Parameters
    ----------
    pairs : ndarray of shape (..., n_categories, n_categories)
        Coincidences, summed over units.
    squares : ndarray of shape (...,)
        Squared weights, summed over units.
    metric : {"nominal", "ordinal", "interval"}
        How far two categories are apart; `interval` takes their places on the scale.

    Returns
    -------
    alpha : ndarray of shape (...,)
        At most 1; NaN where only one category is in use, or nothing is paired.

    Examples
    --------
    >>> pairs = np.array([[8.0, 2.0], [2.0, 4.0]])
    >>> float(alpha_of(pairs, pairs.sum(), "nominal").round(6))
    0.5
    """
    held = pairs.sum(axis=-1)
    total = held.sum(axis=-1)
    if metric == "nominal":
        agreed = np.trace(pairs, axis1=-2, axis2=-1)
        observed = total - agreed
        expected = total * total - (held * held).sum(axis=-1)
    else:
        ranks = np.cumsum(held, axis=-1) - held / 2 if metric == "ordinal" else np.arange(held.shape[-1], dtype=float)
        apart = (ranks[..., :, None] - ranks[..., None, :]) ** 2
        observed = (pairs * apart).sum(axis=(-2, -1))
        expected = (held[..., :, None] * held[..., None, :] * apart).sum(axis=(-2, -1))
    defined = (total > 0) & (np.count_nonzero(held > 0, axis=-1) > 1)
    bottom = np.where(defined, expected * total, 1.0)
    return np.where(defined, 1 - observed * (total * total - squares) / bottom, np.nan)


def plain_alpha(counts: NDArray[np.int64], metric: Metric) -> float:
    """Compute alpha with `krippendorff`.

    Parameters
    ----------
    counts : ndarray of int, shape (n_units, n_categories)
        Votes; at least two categories in use, and a unit with two votes.
    metric : {"nominal", "ordinal", "interval"}
        Categories are valued by their places on the scale.

    Returns
    -------
    alpha : float
    """
    # GPL-3.0-or-later, hence imported here alone and only when agreement is asked for.
    import krippendorff

    places = list(range(counts.shape[1]))
    return float(krippendorff.alpha(value_counts=counts, value_domain=places, level_of_measurement=metric))
