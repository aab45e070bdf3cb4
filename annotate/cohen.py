"""Cohen's kappa of each pair of annotators, plain or weighted, on the full scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .gwet import Weighting, partial_agreement
from .votes import Votes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["cohen_kappa", "pair_tables"]


def pair_tables(votes: Votes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cross the votes of every two annotators on the units they share.

    Parameters
    ----------
    votes : Votes
        Votes of unknown annotators are left out.

    Returns
    -------
    pairs : ndarray of int, shape (n_pairs, 2)
        Positions of the two annotators, the first below the second; pairs that share a unit.
    tables : ndarray of int, shape (n_pairs, n_categories, n_categories)
        Shared units by the category of the first and of the second.
    """
    known = votes.annotator >= 0
    unit, who, said = votes.unit[known], votes.annotator[known], votes.category[known]
    size, many = len(votes.scale.categories), max(len(votes.annotators), 1)
    found: list[NDArray[np.int64]] = []
    for step in range(1, int(np.bincount(unit).max(initial=0)) if len(unit) else 0):
        same = np.flatnonzero(unit[step:] == unit[:-step])
        pair = who[same] * many + who[same + step]
        found.append((pair * size + said[same]) * size + said[same + step])
    cells, counts = np.unique(np.concatenate(found), return_counts=True) if found else (np.empty(0, np.int64),) * 2
    keys, of = np.unique(cells // (size * size), return_inverse=True)
    tables = np.zeros((len(keys), size * size), np.int64)
    tables[of, cells % (size * size)] = counts
    return np.stack([keys // many, keys % many], axis=1), tables.reshape(-1, size, size)


def cohen_kappa(tables: NDArray[np.int64], weighting: Weighting = "none") -> NDArray[np.float64]:
    """Cohen's kappa of cross tables.

    Parameters
    ----------
    tables : ndarray of int, shape (..., n_categories, n_categories)
        Units by the category of one annotator and of the other, on the full scale.
    weighting : {"none", "linear", "quadratic"}
        See `partial_agreement`: distances are those of the full scale, whether or not a category is in use.

    Returns
    -------
    kappa : ndarray of shape (...,)
        NaN where both annotators used one and the same category only, or share no unit.

    References
    ----------
    Cohen (1960), doi:10.1177/001316446002000104; Cohen (1968), doi:10.1037/h0026256, for weights.

    Examples
    --------
    >>> abstractors = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    >>> float(cohen_kappa(abstractors).round(5))
    0.79641
    """
    weights = partial_agreement(tables.shape[-1], weighting)
    total = tables.sum(axis=(-2, -1))
    units = np.maximum(total, 1)
    observed = (tables * weights).sum(axis=(-2, -1)) / units
    one, two = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = ((one @ weights) * two).sum(axis=-1) / (units * units)
    room = 1 - expected
    defined = (total > 0) & (room > 1e-12)
    return np.where(defined, (observed - expected) / np.where(defined, room, 1.0), np.nan)
