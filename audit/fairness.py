"""What differs between subgroups: statistical parity, demographic parity difference, the largest gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FAIR", "demographic_parity_difference", "group_mean", "largest_gap", "statistical_parity"]

FAIR = 0.1
"""Hu et al. (FG 2024) call a parity score up to this fair: a convention, and no proof of anything."""


def statistical_parity(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean total variation distance between the predictions of two subgroups.

    Parameters
    ----------
    shares : ndarray of shape (..., n_subgroups, n_categories)
        Share of each category among a subgroup's predictions; a subgroup of NaN has no item and is left out.

    Returns
    -------
    parity : ndarray of shape (...)
        In [0, 1], 0 where all subgroups get the same shares; NaN with fewer than two subgroups.

    References
    ----------
    Hu et al. (FG 2024), SP; the printed formula lacks the half that their code and their range have.

    Examples
    --------
    >>> float(statistical_parity(np.array([[1.0, 0.0], [0.0, 1.0]])))
    1.0
    """
    first, second = np.triu_indices(shares.shape[-2], k=1)
    distances = np.abs(shares[..., first, :] - shares[..., second, :]).sum(axis=-1) / 2
    return group_mean(distances)


def demographic_parity_difference(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over action units of the largest minus the smallest predicted rate of a subgroup.

    Parameters
    ----------
    rates : ndarray of shape (..., n_subgroups, n_units)
        Share of a subgroup's items predicted active; NaN where it has no item.

    Returns
    -------
    difference : ndarray of shape (...)
        In [0, 1].

    References
    ----------
    Hu et al. (FG 2024), DPD, by its prose and reference code.

    Examples
    --------
    >>> float(demographic_parity_difference(np.array([[0.5, 0.2], [0.1, 0.2]])))
    0.2
    """
    return group_mean(largest_gap(np.moveaxis(rates, -1, -2)))


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
