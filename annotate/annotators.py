"""Each annotator against the others: votes, doubt, bias, agreement, and what the rest would be without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .alpha import Metric, alpha_of, coincidences
from .consensus import Labels
from .votes import Patterns, Votes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AnnotatorReport", "annotator_reports"]


@dataclass(frozen=True)
class AnnotatorReport:
    """What one annotator's votes are like.

    Parameters
    ----------
    annotator : str
        Who.
    votes, doubtful : int
        Votes, and doubtful ones among them.
    shared : int
        Votes on units that others voted on too; all that follows but `same` is about these.
    bias : float or None
        Mean distance of the votes from the mean of the others' on the same unit, in steps of the scale; above 0
        towards its end. None without an order.
    agreement : float or None
        Mean share of the others' votes that are the same.
    same : float or None
        Share of the votes that are the unit's label, where it has one.
    alpha_without : float or None
        Alpha (ordinal on an ordered scale) of the votes without this annotator's.
    seconds : float or None
        Median time a vote took.
    confusion : tuple of tuple of int
        Votes by the unit's label (rows) and the category voted for (columns).
    """

    annotator: str
    votes: int
    doubtful: int
    shared: int
    bias: float | None
    agreement: float | None
    same: float | None
    alpha_without: float | None
    seconds: float | None
    confusion: tuple[tuple[int, ...], ...]

    def document(self) -> dict[str, Any]:
        """Return the record, figures rounded to twelve decimals."""
        record = {name: getattr(self, name) for name in self.__dataclass_fields__}
        rounded = {name: round(value, 12) if isinstance(value, float) else value for name, value in record.items()}
        return {**rounded, "confusion": [list(row) for row in self.confusion]}


def annotator_reports(votes: Votes, labels: Labels) -> tuple[AnnotatorReport, ...]:
    """Report on every known annotator.

    Parameters
    ----------
    votes : Votes
        The votes that count.
    labels : Labels
        The labels settled from them.

    Returns
    -------
    reports : tuple of AnnotatorReport
        In the order of `votes.annotators`; empty where nobody is known.
    """
    if not votes.annotators:
        return ()
    patterns = votes.patterns()
    counts = patterns.votes[patterns.of[votes.unit]]
    others = counts.sum(axis=1) - 1
    shared = others > 0
    width = len(votes.scale.categories)
    positions = (counts @ np.arange(width) - votes.category) / np.maximum(others, 1)
    apart = votes.category - positions
    alike = (counts[np.arange(len(votes)), votes.category] - 1) / np.maximum(others, 1)
    label = labels.label[votes.unit]
    without = _alpha_without(votes, patterns)
    reports: list[AnnotatorReport] = []
    for place, name in enumerate(votes.annotators):
        own = votes.annotator == place
        together, settled = own & shared, own & (label >= 0)
        cells = label[settled] * width + votes.category[settled]
        confusion = np.bincount(cells, minlength=width * width).reshape(width, width)
        seconds = votes.seconds[own] if votes.seconds is not None else np.array([np.nan])
        timed = seconds[~np.isnan(seconds)]
        reports.append(
            AnnotatorReport(
                name,
                int(own.sum()),
                int(votes.doubtful[own].sum()),
                int(together.sum()),
                float(apart[together].mean()) if votes.scale.ordered and together.any() else None,
                float(alike[together].mean()) if together.any() else None,
                float(np.trace(confusion) / settled.sum()) if settled.any() else None,
                without[place],
                float(np.median(timed)) if len(timed) else None,
                tuple(tuple(row) for row in confusion.tolist()),
            )
        )
    return tuple(reports)


def _alpha_without(votes: Votes, patterns: Patterns) -> list[float | None]:
    """Alpha without each annotator: only the units that they voted on change, and few kinds of them differ."""
    width = len(votes.scale.categories)
    metric: Metric = "ordinal" if votes.scale.ordered else "nominal"
    none = np.zeros_like(patterns.votes)
    pairs, squares = coincidences(patterns.votes, none, (1, 1))
    total, total_squares = np.tensordot(patterns.frequency, pairs, 1), patterns.frequency @ squares
    kinds, of = np.unique(patterns.of[votes.unit] * width + votes.category, return_inverse=True)
    fewer = patterns.votes[kinds // width].copy()
    fewer[np.arange(len(kinds)), kinds % width] -= 1
    less, less_squares = coincidences(fewer, np.zeros_like(fewer), (1, 1))
    change = less - pairs[kinds // width]
    change_squares = less_squares - squares[kinds // width]
    found: list[float | None] = []
    for place in range(len(votes.annotators)):
        touched = np.bincount(of[votes.annotator == place], minlength=len(kinds))
        left = _clear(total + np.tensordot(touched, change, 1))
        value = float(alpha_of(left, total_squares + touched @ change_squares, metric))
        found.append(None if np.isnan(value) else value)
    return found


def _clear(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take what is left of a subtraction that ought to be nothing for nothing."""
    return np.where(np.abs(pairs) < 1e-9 * max(float(np.abs(pairs).max()), 1.0), 0.0, pairs)
