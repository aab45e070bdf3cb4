"""One score of many subgroups at once: the value, its replicates, and what chance gives.

A score is computed from sums over items (`Sums`) or from the order of items (`Ranks`); both give the values of every
subgroup, in the sample, in each bootstrap replicate, and after membership is permuted over subjects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .bootstrap import Resampling, permuted
from .deepfake import curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Estimate", "Grouping", "Ranks", "Sums", "estimates"]

PERMUTATIONS = 200

_Array = Any
_Measure = Callable[[_Array], _Array]


@dataclass(frozen=True)
class Grouping:
    """Which subgroup each item is in.

    Parameters
    ----------
    attributes : tuple of str
        Empty for all items together; two names for an intersection.
    subgroups : tuple of tuple of str
        A category of each attribute.
    codes : ndarray of int, shape (n_items,)
        Position of the subgroup, -1 where a value is missing.
    scored : ndarray of bool, shape (n_subgroups,)
        Whether the subgroup counts in scores over subgroups (``Other`` and ``Unsure`` do not).
    """

    attributes: tuple[str, ...]
    subgroups: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int64]
    scored: NDArray[np.bool_]

    @property
    def name(self) -> str:
        """Such as ``age`` or ``age x gender``."""
        return " x ".join(self.attributes)


@dataclass(frozen=True)
class Estimate:
    """A score of each subgroup (or one number over all of them).

    Parameters
    ----------
    score : str
        Its name.
    grouping : Grouping
        The subgroups.
    over_groups : bool
        Whether it is one number over the subgroups; then the arrays have one column.
    value : ndarray of shape (n_subgroups,)
        In the sample.
    replicates : ndarray of shape (n_replicates, n_subgroups)
        In each bootstrap replicate.
    chance : ndarray of shape (n_permutations, n_subgroups) or None
        After membership is permuted over subjects.
    """

    score: str
    grouping: Grouping
    over_groups: bool
    value: NDArray[np.float64]
    replicates: NDArray[np.float64]
    chance: NDArray[np.float64] | None


@dataclass(frozen=True)
class Sums:
    """Scores of sums over items.

    Parameters
    ----------
    rows, columns, values : ndarray of shape (n_entries,)
        What items add to which sum; an item may add to several.
    shape : tuple of int
        Shape of the sums of one subgroup.
    measures : mapping of str to callable
        From sums (..., *shape) to the score (...).
    over_groups : mapping of str to callable
        From sums (..., n_subgroups, *shape) to one score (...).
    across : mapping of str to callable
        From sums (..., n_subgroups, *shape) to a score of each subgroup (..., n_subgroups) that needs the others.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    shape: tuple[int, ...]
    measures: Mapping[str, _Measure] = field(default_factory=dict[str, _Measure])
    over_groups: Mapping[str, _Measure] = field(default_factory=dict[str, _Measure])
    across: Mapping[str, _Measure] = field(default_factory=dict[str, _Measure])

    @property
    def width(self) -> int:
        """Sums of one subgroup."""
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class Ranks:
    """Scores of the order of items by the probability that they are fake.

    Parameters
    ----------
    fake : ndarray of bool, shape (n_items,)
        The truth.
    probabilities : ndarray of float, shape (n_items,)
        The prediction.
    measures : mapping of str to callable
        From true and false positives, both (n, n_thresholds), to the score (n,).
    """

    fake: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    measures: Mapping[str, Callable[[_Array, _Array], _Array]]


def estimates(
    what: Sums | Ranks,
    groupings: Sequence[Grouping],
    draws: Resampling,
    progress: Callable[[int, int | None, str], None] | None = None,
) -> list[Estimate]:
    """Compute every score of every subgroup.

    Parameters
    ----------
    what : Sums or Ranks
        The scores.
    groupings : sequence of Grouping
        The subgroups; the first is usually all items together.
    draws : Resampling
        How units are drawn.
    progress : callable, optional
        Called with what is done, what there is to do, and what is going on.
    """
    found = _of_sums(what, groupings, draws) if isinstance(what, Sums) else _of_ranks(what, groupings, draws, progress)
    if progress:
        progress(len(groupings), len(groupings), "scores")
    return found


def _of_sums(what: Sums, groupings: Sequence[Grouping], draws: Resampling) -> list[Estimate]:
    from scipy import sparse

    sizes = [len(grouping.subgroups) for grouping in groupings]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows: list[Any] = []
    columns: list[Any] = []
    values: list[Any] = []
    for grouping, start in zip(groupings, starts, strict=False):
        group = grouping.codes[what.rows]
        keep = group >= 0
        rows.append(draws.cells[what.rows[keep]])
        columns.append((start + group[keep]) * what.width + what.columns[keep])
        values.append(what.values[keep])
    shape = (len(draws.counts), int(starts[-1]) * what.width)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    cells = sparse.coo_matrix(entries, shape=shape).tocsr()
    whole = np.asarray(cells.sum(axis=0)).reshape(1, -1)
    # A cell holds units that are alike, so one of them gives the cell's sum divided by their number.
    once = sparse.diags(1.0 / draws.counts) @ cells
    drawn = draws.sums(once)
    out: list[Estimate] = []
    for grouping, start, size in zip(groupings, starts, sizes, strict=False):
        part = slice(int(start) * what.width, int(start + size) * what.width)
        chance = _permuted_sums(what, grouping, draws) if size > 1 else None
        full = (-1, size, *what.shape)
        out += _measured(what, grouping, whole[:, part].reshape(full), drawn[:, part].reshape(full), chance)
    return out


def _permuted_sums(what: Sums, grouping: Grouping, draws: Resampling) -> NDArray[np.float64]:
    size, width = len(grouping.subgroups), what.width
    units = draws.cells if bool((draws.counts == 1).all()) else np.arange(len(draws.cells))
    sums = np.zeros((PERMUTATIONS, size * width))
    shuffles = permuted(grouping.codes, units, draws.seed, grouping.name, PERMUTATIONS)
    for at, codes in enumerate(shuffles):
        group = codes[what.rows]
        keep = group >= 0
        sums[at] = np.bincount(group[keep] * width + what.columns[keep], what.values[keep], minlength=size * width)
    return sums.reshape(-1, size, *what.shape)


def _measured(what: Sums, grouping: Grouping, whole: _Array, drawn: _Array, chance: _Array | None) -> list[Estimate]:
    out = [
        Estimate(name, grouping, False, measure(whole)[0], measure(drawn), None if chance is None else measure(chance))
        for name, measure in (*what.measures.items(), *(what.across.items() if grouping.attributes else ()))
    ]
    scored = grouping.scored
    if int(scored.sum()) < 2:
        return out
    for name, measure in what.over_groups.items():
        level = None if chance is None else measure(chance[:, scored])[:, None]
        out.append(Estimate(name, grouping, True, measure(whole[:, scored]), measure(drawn[:, scored])[:, None], level))
    return out


def _of_ranks(
    what: Ranks,
    groupings: Sequence[Grouping],
    draws: Resampling,
    progress: Callable[[int, int | None, str], None] | None,
) -> list[Estimate]:
    out: list[Estimate] = []
    for done, grouping in enumerate(groupings):
        if progress:
            progress(done, len(groupings), "scores")
        parts = [np.flatnonzero(grouping.codes == place) for place in range(len(grouping.subgroups))]
        ones = np.ones((1, len(what.fake)))
        value = _ranked(what, [ones[:, part] for part in parts], parts)
        blocks = [
            _ranked(what, [weights[:, draws.cells[part]] for part in parts], parts) for weights in draws.weights()
        ]
        chance: dict[str, Any] = {}
        if len(parts) > 1:
            shuffles = permuted(grouping.codes, draws.cells, draws.seed, grouping.name, PERMUTATIONS)
            levels = [
                _ranked(what, [ones[:, :1].repeat(int((codes == place).sum()), 1) for place in range(len(parts))],
                        [np.flatnonzero(codes == place) for place in range(len(parts))])
                for codes in shuffles
            ]  # fmt: skip
            chance = {name: np.concatenate([level[name] for level in levels]) for name in what.measures}
        for name in what.measures:
            replicates = np.concatenate([block[name] for block in blocks])
            out.append(Estimate(name, grouping, False, value[name][0], replicates, chance.get(name)))
    return out


def _ranked(what: Ranks, weights: Sequence[_Array], parts: Sequence[_Array]) -> dict[str, NDArray[np.float64]]:
    """Return each measure of each part, shape (n_draws, n_parts)."""
    columns: dict[str, list[Any]] = {name: [] for name in what.measures}
    for part, drawn in zip(parts, weights, strict=True):
        _, true, false = curve(what.fake[part], what.probabilities[part], drawn)
        for name, measure in what.measures.items():
            columns[name].append(measure(true, false))
    return {name: np.stack(values, axis=1) for name, values in columns.items()}
