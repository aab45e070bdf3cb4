"""Intervals: a bootstrap over units, whose draws no library can change.

Items of one subject are alike, so units are drawn and not items. Units whose only item is of one kind in all that
counts are drawn together, as a multinomial number: exact, and quick where there are as many units as items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..annotate.sampling import multinomial
from ..digests import SplitMix64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Interval", "Resampling", "percentile_interval", "permuted", "resampling", "shifted_interval", "wilson"]

_BLOCK = 1 << 21
_LEVEL = 0.95
_NORMAL = 1.959963984540054


@dataclass(frozen=True)
class Interval:
    """The two ends of a 95 % interval; both None where no replicate has a value.

    Parameters
    ----------
    low, high : float or None
        The ends.
    undefined : int
        Replicates in which the score has no value (no item of the subgroup was drawn).
    """

    low: float | None
    high: float | None
    undefined: int = 0


@dataclass(frozen=True)
class Resampling:
    """How units are drawn with replacement.

    Parameters
    ----------
    cells : ndarray of int, shape (n_items,)
        The cell of each item: its unit, or its kind where every unit has one item.
    counts : ndarray of int, shape (n_cells,)
        Units in each cell.
    seed : int
        The seed of the run.
    replicates : int
        How often the whole is drawn.
    """

    cells: NDArray[np.int64]
    counts: NDArray[np.int64]
    seed: int
    replicates: int

    def weights(self) -> Iterator[NDArray[np.float64]]:
        """Yield how often each cell is drawn, some replicates at a time: arrays of shape (n_some, n_cells)."""
        purpose = "bootstrap"
        if bool((self.counts > 1).any()):
            drawn = multinomial(self.counts[None, :], self.replicates, self.seed, f"audit/{purpose}")[0]
            for low in range(0, self.replicates, 100):
                yield drawn[low : low + 100].astype(np.float64)
            return
        units = len(self.counts)
        stream = SplitMix64(self.seed, f"audit/{purpose}")
        step = max(1, _BLOCK // max(units, 1))
        for low in range(0, self.replicates, step):
            rows = min(step, self.replicates - low)
            # 53 bits as a share of one: exact doubles, and a bias below units / 2**53.
            shares = (stream.words(rows * units) >> np.uint64(11)).astype(np.float64) * (units / 2.0**53)
            hit = shares.astype(np.int64).reshape(rows, units) + np.arange(rows)[:, None] * units
            found = np.bincount(hit.reshape(-1), minlength=rows * units).reshape(rows, units)
            yield found.astype(np.float64)

    def sums(self, matrix: Any) -> NDArray[np.float64]:
        """Add up statistics in each replicate.

        Parameters
        ----------
        matrix : scipy.sparse matrix of shape (n_cells, n_columns)
            Sums of each cell over one of its units.

        Returns
        -------
        sums : ndarray of shape (n_replicates, n_columns)
        """
        turned = matrix.T.tocsr()
        return np.concatenate([np.ascontiguousarray((turned @ weights.T).T) for weights in self.weights()])


def resampling(
    units: NDArray[np.int64], seed: int, replicates: int, alike: NDArray[np.int64] | None = None
) -> Resampling:
    """Prepare a bootstrap over units.

    Parameters
    ----------
    units : ndarray of int, shape (n_items,)
        Position of each item's unit, in an order of units that does not depend on the order of rows.
    seed, replicates : int
        The seed of the run; how many replicates.
    alike : ndarray of int, shape (n_items,), optional
        Items of one number are alike in all that counts. Used where every unit has one item.

    Examples
    --------
    >>> draws = resampling(np.array([7, 2, 2]), 0, 3)
    >>> draws.cells.tolist(), [rows.sum(axis=1).tolist() for rows in draws.weights()]
    ([1, 0, 0], [[2.0, 2.0, 2.0]])
    """
    names, cells = np.unique(units, return_inverse=True)
    cells = cells.reshape(-1).astype(np.int64)
    if alike is not None and len(names) == len(cells):
        _, kinds, counts = np.unique(alike, return_inverse=True, return_counts=True)
        if len(counts) < len(names):
            return Resampling(kinds.reshape(-1).astype(np.int64), counts.astype(np.int64), seed, replicates)
    return Resampling(cells, np.ones(len(names), np.int64), seed, replicates)


def percentile_interval(replicates: NDArray[np.float64]) -> Interval:
    """Return the 95 % percentile interval, outer order statistics.

    Parameters
    ----------
    replicates : ndarray of shape (n_replicates,)
        NaN where the score has no value.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.

    Examples
    --------
    >>> percentile_interval(np.arange(1001.0))
    Interval(low=25.0, high=975.0, undefined=0)
    """
    known = replicates[~np.isnan(replicates)]
    undefined = len(replicates) - len(known)
    if len(known) == 0:
        return Interval(None, None, undefined)
    ordered = np.sort(known)
    # Rounded first: 0.025 of 1,000 must be 25 and not 24.999...
    low = int(np.floor(round((1 - _LEVEL) / 2 * (len(known) - 1), 9)))
    high = int(np.ceil(round((1 + _LEVEL) / 2 * (len(known) - 1), 9)))
    return Interval(float(ordered[low]), float(ordered[high]), undefined)


def shifted_interval(value: float, replicates: NDArray[np.float64], *, least: float = 0.0) -> Interval:
    """Return the percentile interval of the replicates, shifted so that their mean is the point value.

    For scores built from absolute differences or extremes, whose replicates lie too high.

    Examples
    --------
    >>> shifted_interval(0.1, np.linspace(0.2, 0.4, 1001))
    Interval(low=0.005, high=0.195, undefined=0)
    """
    known = replicates[~np.isnan(replicates)]
    if len(known) == 0 or np.isnan(value):
        return Interval(None, None, len(replicates) - len(known))
    plain = percentile_interval(replicates - (known.mean() - value))
    low, high = plain.low or 0.0, plain.high or 0.0
    return Interval(round(max(low, least), 12), round(max(high, least), 12), plain.undefined)


def wilson(successes: float, trials: float) -> Interval:
    """Return Wilson's 95 % interval of a proportion of independent trials.

    References
    ----------
    Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> found = wilson(3, 3)
    >>> round(found.low, 4), round(found.high, 4)
    (0.4385, 1.0)
    """
    if trials <= 0:
        return Interval(None, None)
    share, square = successes / trials, _NORMAL**2
    centre = (share + square / (2 * trials)) / (1 + square / trials)
    half = _NORMAL / (1 + square / trials) * sqrt(share * (1 - share) / trials + square / (4 * trials**2))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def permuted(
    codes: NDArray[np.int64], cells: NDArray[np.int64], seed: int, purpose: str, times: int
) -> Iterator[NDArray[np.int64]]:
    """Yield the subgroups of items after membership is permuted over subjects.

    What moves is a unit's items of one subgroup, together; items without a subgroup stay without.

    Parameters
    ----------
    codes : ndarray of int, shape (n_items,)
        Subgroup of each item, -1 where it has none.
    cells : ndarray of int, shape (n_items,)
        Unit of each item.
    seed, purpose : int, str
        The stream.
    times : int
        How many permutations.
    """
    known = codes >= 0
    width = int(codes.max(initial=0)) + 1
    blocks, inverse = np.unique(cells[known] * width + codes[known], return_inverse=True)
    members = blocks % width
    stream = SplitMix64(seed, f"audit/permutation/{purpose}")
    for _ in range(times):
        shuffled = members[np.argsort(stream.words(len(blocks)), kind="stable")]
        out = np.full(len(codes), -1, np.int64)
        out[known] = shuffled[inverse.reshape(-1)]
        yield out
