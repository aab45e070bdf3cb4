"""Scores of continuous labels: concordance, correlation, squared error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ccc", "moments", "mse", "pcc", "rmse"]

_WIDTH = 6


def moments(truth: NDArray[np.float64], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the scores of this module need, an item a row.

    Parameters
    ----------
    truth, predicted : ndarray of float, shape (n_items, n_labels)
        Best with the mean of the truth taken off both, which changes no score and saves digits.

    Returns
    -------
    moments : ndarray of shape (n_items, 6 * n_labels)
        For each label 1, x, y, x^2, y^2, x y.
    """
    x, y = truth, predicted
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1).reshape(len(x), -1)


def _central(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Return n, mean difference, both variances and the covariance (divided by n), shapes (..., n_labels)."""
    parts = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, _WIDTH), -1, 0)
    count = np.where(parts[0] > 0, parts[0], np.nan)
    x, y, xx, yy, xy = (part / count for part in parts[1:])
    floor = 1e-15
    var_x, var_y = xx - x * x, yy - y * y
    var_x = np.where(var_x > floor * np.maximum(xx, 1.0), var_x, np.where(np.isnan(var_x), np.nan, 0.0))
    var_y = np.where(var_y > floor * np.maximum(yy, 1.0), var_y, np.where(np.isnan(var_y), np.nan, 0.0))
    covariance = np.where((var_x == 0) | (var_y == 0), 0.0, xy - x * y)
    return count, x - y, var_x, var_y, covariance


def ccc(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the concordance correlation coefficient, averaged over labels.

    Parameters
    ----------
    sums : ndarray of shape (..., 6 * n_labels)
        Sums of `moments`.

    Returns
    -------
    ccc : ndarray of shape (...)
        2 s_xy / (s_x^2 + s_y^2 + (mean_x - mean_y)^2), variances divided by n; a constant prediction gives 0.

    References
    ----------
    Lin (1989), doi:10.2307/2532051.

    Examples
    --------
    Truth 1, 2, 3 and prediction 2, 3, 4: s_xy = s_x^2 = s_y^2 = 2/3, means 1 apart; (4/3) / (4/3 + 1) = 4/7.

    >>> rows = moments(np.array([[1.0], [2.0], [3.0]]), np.array([[2.0], [3.0], [4.0]]))
    >>> float(ccc(rows.sum(axis=0)).round(6)) == round(4 / 7, 6)
    True
    """
    _, apart, var_x, var_y, covariance = _central(sums)
    below = var_x + var_y + apart * apart
    return (2 * covariance / np.where(below == 0, 1.0, below)).mean(axis=-1)


def pcc(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Pearson's correlation, averaged over labels; 0 where either side is constant."""
    _, _, var_x, var_y, covariance = _central(sums)
    below = np.sqrt(var_x * var_y)
    return (covariance / np.where(below == 0, 1.0, below)).mean(axis=-1)


def _squared(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    parts = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, _WIDTH), -1, 0)
    count = np.where(parts[0] > 0, parts[0], np.nan)
    return np.maximum((parts[3] + parts[4] - 2 * parts[5]) / count, 0.0)


def mse(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean squared error, averaged over labels.

    Examples
    --------
    >>> rows = moments(np.array([[1.0], [2.0]]), np.array([[2.0], [4.0]]))
    >>> float(mse(rows.sum(axis=0)))
    2.5
    """
    return _squared(sums).mean(axis=-1)


def rmse(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the root of each label's mean squared error, averaged over labels."""
    return np.sqrt(_squared(sums)).mean(axis=-1)
