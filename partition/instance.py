"""What a solver is given: units with integer counts, ratios, and what must hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from .profile import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["COUNTED", "Instance", "instance_of", "reduced"]

COUNTED = 50
"""Categories of at least so many items count in the mean, the worst and the bound; where none is, all do."""


@dataclass(frozen=True)
class Instance:
    """Units to be assigned to splits.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_units, n_categories)
        Items; column 0 is the total.
    ratios : tuple of int
        Proportions of the splits, without a common factor.
    scored : ndarray of bool, shape (n_categories,)
        Columns whose shares are reported; the total is not among them.
    weights : ndarray of int64, shape (n_categories,)
        Weight of each column in the search.
    needed : ndarray of int64, shape (n_categories,)
        Units of the category that every split must hold.
    fixed : ndarray of int8, shape (n_units,)
        Split of units that stay where they are, ``-1`` for the others.
    """

    counts: NDArray[np.int64]
    ratios: tuple[int, ...]
    scored: NDArray[np.bool_]
    weights: NDArray[np.int64]
    needed: NDArray[np.int64]
    fixed: NDArray[np.int8]

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """Items of each category, shape (n_categories,)."""
        return self.counts.sum(axis=0)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Columns of the sum of share deviations: scored ones of `COUNTED` items or more (else all), and the total."""
        totals = self.totals
        many = self.scored & (totals >= COUNTED)
        found = many if many.any() else self.scored & (totals > 0)
        return found | (np.arange(len(totals)) == 0)

    def held(self, assignment: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the items of each category in each split, shape (n_categories, n_splits)."""
        return np.stack([self.counts[assignment == split].sum(axis=0) for split in range(len(self.ratios))], axis=1)

    def short(self, assignment: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return how many units each (category, split) pair lacks, shape (n_categories, n_splits)."""
        has = self.counts > 0
        units = np.stack([has[assignment == split].sum(axis=0) for split in range(len(self.ratios))], axis=1)
        return np.maximum(self.needed[:, None] - units, 0)

    def shares_off(self, assignment: NDArray[np.int8]) -> float:
        """Return the sum of share deviations over the counted columns and the splits; 0.01 is one point."""
        held, totals = self.held(assignment)[self.counted], self.totals[self.counted]
        target = np.array(self.ratios) / sum(self.ratios)
        return float(np.abs(held / np.maximum(totals, 1)[:, None] - target).sum())


def reduced(ratios: Sequence[int]) -> tuple[int, ...]:
    """Divide ratios by their greatest common divisor.

    Examples
    --------
    >>> reduced((55, 15, 30))
    (11, 3, 6)
    """
    common = gcd(*ratios)
    return tuple(ratio // common for ratio in ratios)


def instance_of(
    profile: Counts,
    ratios: Sequence[int],
    *,
    cover: int = 1,
    weights: Mapping[str, int] | None = None,
    fixed: NDArray[np.int8] | None = None,
) -> Instance:
    """Make the instance of a profile.

    Parameters
    ----------
    profile : Counts
        Units x categories.
    ratios : sequence of int
        Proportions of the splits.
    cover : int
        Units of every scored category, and of all, that every split must hold where enough units hold it; of a
        category with fewer units than `cover` times the splits, as many as there are for each.
    weights : mapping of str to int, optional
        Weight of an attribute's columns in the search.
    fixed : ndarray of int8, shape (n_units,), optional
        Split of units that stay, ``-1`` for the others.
    """
    scored = np.array([category.scored for category in profile.categories])
    weight = np.array([(weights or {}).get(category.attribute, 1) for category in profile.categories], np.int64)
    attributes = {category.attribute for category in profile.categories if category.role == "category"}
    weight[0] = max(len(attributes), 1)
    units = len(profile.counts)
    return Instance(
        profile.counts,
        reduced(ratios),
        scored,
        weight,
        needs((profile.counts > 0).sum(axis=0), scored, len(ratios), cover),
        np.full(units, -1, np.int8) if fixed is None else fixed,
    )


def needs(holders: NDArray[np.int64], scored: NDArray[np.bool_], splits: int, cover: int) -> NDArray[np.int64]:
    """Return how many units of each category every split must hold; the total counts as a category.

    Examples
    --------
    >>> needs(np.array([9, 2, 7, 4]), np.array([False, True, True, False]), 3, 3).tolist()
    [3, 0, 2, 0]
    """
    wanted = np.minimum(holders // splits, cover)
    wanted[1:][~scored[1:]] = 0
    return wanted
