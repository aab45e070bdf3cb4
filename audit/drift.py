"""Drift: how far the categories of one split are from those of another, and how far chance alone puts them.

The level of chance is a formula, not a permutation: what splits of these sizes show on average when units are dealt
out at random. Dealing out units of unequal content moves more items at once than dealing out items, so the
formula sums squares over units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Drift", "Pair", "chance_spread", "cramers_v", "drift", "population_stability", "total_variation"]

_HALF = 0.5


@dataclass(frozen=True)
class Pair:
    """Two splits side by side.

    Parameters
    ----------
    one, other : str
        Their names.
    total_variation, population_stability : float
        In [0, 1]; 0 and more.
    chance_total_variation, chance_population_stability : float
        What chance alone gives on average.
    """

    one: str
    other: str
    total_variation: float
    chance_total_variation: float
    population_stability: float
    chance_population_stability: float


@dataclass(frozen=True)
class Drift:
    """How an attribute's categories differ between the splits.

    Parameters
    ----------
    attribute : str
        What was counted.
    cramers_v : float
        Association of category and split over all splits, in [0, 1].
    chance_cramers_v : float
        What chance alone gives, as a root of the mean square.
    pairs : tuple of Pair
        Every two splits.
    by : str
        What chance deals out: ``subject``, ``group``, or ``item`` (where the counts do not say whose items they are,
        the level is too low).
    """

    attribute: str
    cramers_v: float
    chance_cramers_v: float
    pairs: tuple[Pair, ...]
    by: str

    @property
    def furthest(self) -> Pair:
        """The two splits of largest total variation; the first of equals."""
        return max(self.pairs, key=lambda pair: pair.total_variation)

    def to_json(self) -> dict[str, Any]:
        """Return all of it for JSON, rounded to a millionth."""
        return {
            "attribute": self.attribute,
            "cramers_v": round(self.cramers_v, 6),
            "chance_cramers_v": round(self.chance_cramers_v, 6),
            "chance_by": self.by,
            "pairs": [
                {key: value if isinstance(value, str) else round(value, 6) for key, value in vars(pair).items()}
                for pair in self.pairs
            ],
        }


def total_variation(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return half the sum of absolute differences of two splits' shares.

    Parameters
    ----------
    one, other : ndarray of int, shape (n_categories,)
        Items of each category; neither sums to 0.

    Returns
    -------
    distance : float
        In [0, 1].

    Examples
    --------
    >>> round(total_variation(np.array([30, 10]), np.array([10, 10])), 3)
    0.25
    """
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2)


def population_stability(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return the population stability index: the sum of (p - q) ln(p / q) over categories.

    Half an item stands for none in a category that only one of both holds, for else the index is infinite.

    Parameters
    ----------
    one, other : ndarray of int, shape (n_categories,)
        Items of each category; neither sums to 0.

    Returns
    -------
    index : float
        0 and more. Credit scoring calls less than 0.1 stable and more than 0.25 shifted.

    References
    ----------
    Kullback and Leibler (1951), doi:10.1214/aoms/1177729694, where it is the divergence J(1, 2).

    Examples
    --------
    >>> round(population_stability(np.array([30, 10]), np.array([10, 10])), 3)
    0.275
    """
    held = (one + other) > 0
    p = np.maximum(one[held], _HALF) / one.sum()
    q = np.maximum(other[held], _HALF) / other.sum()
    return float(((p - q) * np.log(p / q)).sum())


def cramers_v(counts: NDArray[np.int64]) -> float:
    """Return Cramer's V of categories and splits.

    Parameters
    ----------
    counts : ndarray of int, shape (n_categories, n_splits)
        Items.

    Returns
    -------
    v : float
        In [0, 1]; 0 where fewer than two categories or splits hold items.

    References
    ----------
    Cramer (1946), Mathematical Methods of Statistics, section 21.9: the root of chi-square over n (q - 1).

    Examples
    --------
    >>> round(cramers_v(np.array([[30, 10], [10, 10]])), 4)
    0.25
    """
    held: Any = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    least = min(held.shape)
    if least < 2:
        return 0.0
    total = held.sum()
    expected = np.outer(held.sum(axis=1), held.sum(axis=0)) / total
    return float(np.sqrt(((held - expected) ** 2 / expected).sum() / (total * (least - 1))))


def chance_spread(units: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the squared distance of units from the average unit of their size, summed, per category.

    Parameters
    ----------
    units : ndarray of int, shape (n_units, n_categories)
        Items of each unit in each category.

    Returns
    -------
    spread : ndarray of float, shape (n_categories,)
        With one item a unit it is n p (1 - p).

    Examples
    --------
    >>> chance_spread(np.array([[1, 0], [1, 0], [1, 0], [0, 1]])).tolist()
    [0.75, 0.75]
    """
    share = units.sum(axis=0) / units.sum()
    return ((units - units.sum(axis=1, keepdims=True) * share) ** 2).sum(axis=0)


def drift(
    attribute: str,
    splits: Sequence[str],
    counts: NDArray[np.int64],
    units: NDArray[np.int64] | None = None,
    *,
    by: str = "item",
) -> Drift | None:
    """Measure the drift of one attribute between splits, with the level of chance.

    Parameters
    ----------
    attribute : str
        Its name.
    splits : sequence of str
        Names of the splits.
    counts : ndarray of int, shape (n_categories, n_splits)
        Items.
    units : ndarray of int, shape (n_units, n_categories), optional
        Items of each unit; where absent every item is its own.
    by : str
        What a unit is.

    Returns
    -------
    drift : Drift or None
        None where fewer than two splits hold an item that has the attribute.

    Raises
    ------
    InputError
        If `counts` has another number of columns than there are splits.
    """
    if counts.ndim != 2 or counts.shape[1] != len(splits):
        raise InputError(
            f"{attribute}: counts of shape {counts.shape} for {len(splits)} splits", hint="give a column a split"
        )
    sizes = counts.sum(axis=0)
    filled = np.flatnonzero(sizes)
    if len(filled) < 2:
        return None
    total, held = int(sizes.sum()), counts.sum(axis=1)
    share = held[held > 0] / total
    spread = total * share * (1 - share) if units is None else chance_spread(units)[held > 0]
    pairs: list[Pair] = []
    for one, other in combinations(filled.tolist(), 2):
        variance = spread / total * (1 / sizes[one] + 1 / sizes[other])
        pairs.append(
            Pair(
                splits[one],
                splits[other],
                total_variation(counts[:, one], counts[:, other]),
                float(min(np.sqrt(2 / pi * variance).sum() / 2, 1)),
                population_stability(counts[:, one], counts[:, other]),
                float((variance / share).sum()),
            )
        )
    least = min(len(share), len(filled)) - 1
    chance = (len(filled) - 1) * float((spread / share).sum()) / total
    level = float(min(np.sqrt(chance / (total * least)), 1)) if least else 0.0
    return Drift(attribute, cramers_v(counts), level, tuple(pairs), by)
