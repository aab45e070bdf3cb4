"""What scoring gives: a score, a gap between subgroups, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from .corruption import OddsRatio

__all__ = ["Gap", "Score", "Scores"]

Method = Literal["percentile", "shifted", "wilson"]


def _plain(value: float | None) -> float | None:
    """Return a number that JSON can hold; the note of the record says why it is none."""
    return value if value is not None and isfinite(value) else None


def _record(row: Score | Gap) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in vars(row).items():
        if isinstance(value, float):
            out[name] = _plain(value)
        else:
            out[name] = list(value) if isinstance(value, tuple) else value
    return out


@dataclass(frozen=True)
class Score:
    """One score of one subgroup, or over the subgroups of an attribute.

    Parameters
    ----------
    model, task, score : str
        Whose, of what, which.
    attributes : tuple of str
        Empty where all items are scored together.
    subgroup : tuple of str
        A category of each attribute; empty for all items, and for a score over all subgroups.
    value : float or None
        None where it has no value; ``-inf`` is a value.
    low, high : float or None
        The 95 % interval.
    method : {"percentile", "shifted", "wilson"}
        How the interval was made.
    items, subjects : int
        What it rests on; without subjects every item counts as one.
    small : bool
        Whether fewer than 30 subjects stand behind it (or behind one of its subgroups).
    chance, chance_high : float or None
        Of a score over subgroups: its mean and its 95 % level where membership is permuted over subjects.
    base : float or None
        Of a share of false negatives: the subgroup's share of all fakes.
    note : str
        What else must be said of it.
    """

    model: str
    task: str
    score: str
    attributes: tuple[str, ...]
    subgroup: tuple[str, ...]
    value: float | None
    low: float | None
    high: float | None
    method: Method
    items: int
    subjects: int
    small: bool
    chance: float | None = None
    chance_high: float | None = None
    base: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Gap:
    """The difference between the best and the worst subgroup.

    Parameters
    ----------
    model, task, score : str
        Whose, of what, which.
    attributes : tuple of str
        What was compared.
    within : tuple of str
        An attribute and its category inside which the other was compared; empty if none.
    best, worst : tuple of str
        The two subgroups.
    value : float
        Best minus worst, as an absolute number.
    low, high : float or None
        The 95 % interval of the difference between these two subgroups, from the same replicates.
    extreme_low, extreme_high : float or None
        That of the largest gap, whichever subgroups it is between: replicates shifted to the value.
    chance, chance_high : float or None
        The largest gap where membership is permuted over subjects: mean and 95 % level.
    small : bool
        Whether fewer than 30 subjects stand behind one of the two.
    left_out : tuple of tuple of str
        Subgroups that were not compared: too small, or not scored.
    """

    model: str
    task: str
    score: str
    attributes: tuple[str, ...]
    within: tuple[str, ...]
    best: tuple[str, ...]
    worst: tuple[str, ...]
    value: float
    low: float | None
    high: float | None
    extreme_low: float | None
    extreme_high: float | None
    chance: float | None
    chance_high: float | None
    small: bool
    left_out: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Scores:
    """All that was scored.

    Parameters
    ----------
    rows : tuple of Score
        Scores of all items, of subgroups, and over subgroups.
    gaps : tuple of Gap
        Differences between subgroups.
    curves : tuple of mapping
        ROC curves: model, attributes, subgroup, ``false_positive_rate`` and ``true_positive_rate``.
    odds_ratios : tuple of OddsRatio
        Of corruptions.
    counts : mapping of str to mapping of str to int
        For each model and task, what was left out and why.
    seed, replicates : int
        Of the bootstrap.
    notes : tuple of str
        What the reader must know.
    """

    rows: tuple[Score, ...]
    gaps: tuple[Gap, ...] = ()
    curves: tuple[Mapping[str, Any], ...] = ()
    odds_ratios: tuple[OddsRatio, ...] = ()
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    seed: int = 0
    replicates: int = 0
    notes: tuple[str, ...] = ()

    def of(self, score: str, *subgroup: str, model: str | None = None) -> Score:
        """Return one score: of all items, or of a subgroup.

        Raises
        ------
        KeyError
            If there is no such score.
        """
        for row in self.rows:
            if row.score == score and row.subgroup == subgroup and model in (None, row.model):
                return row
        raise KeyError((score, subgroup, model))

    def to_json(self) -> dict[str, Any]:
        """Return all of it for JSON; a value that is infinite or undefined is null, and its note says so."""
        return {
            "seed": self.seed,
            "replicates": self.replicates,
            "interval": "95 % bootstrap over subjects",
            "scores": [_record(row) for row in self.rows],
            "gaps": [_record(gap) for gap in self.gaps],
            "curves": [dict(curve) for curve in self.curves],
            "odds_ratios": [dict(vars(ratio)) for ratio in self.odds_ratios],
            "left_out": {name: dict(counts) for name, counts in self.counts.items()},
            "notes": list(self.notes),
        }
