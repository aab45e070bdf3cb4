"""How far annotators agree: every coefficient with its interval, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .alpha import Metric, alpha_of, coincidences, plain_alpha
from .cohen import cohen_kappa, pair_tables
from .fleiss import category_kappas, fleiss_kappa, percent_agreement
from .gwet import Weighting, gwet_ac
from .sampling import multinomial
from .votes import Patterns, Votes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Agreement", "CategoryAgreement", "Coefficient", "PairAgreement", "measure_agreement"]

_MOST_UNITS_FOR_LIBRARY = 250_000
_MOST_PAIRS_WITH_INTERVALS = 66
_MOST_UNDEFINED = 0.05
_ONE_CATEGORY = "all votes are of one category: agreement by chance is undefined"
_NO_PAIR = "no unit has two votes"


@dataclass(frozen=True)
class Coefficient:
    """A coefficient and its interval.

    Parameters
    ----------
    name : str
        Such as ``alpha, ordinal``.
    value : float or None
        None where it is undefined; `reason` says why.
    low, high : float or None
        Percentile interval of 95 % over units, widened to hold the value where it would not; None where there is
        none.
    undefined : int
        Bootstrap replicates without a value; above 5 % there is no interval.
    reason : str or None
        Why there is no value, or no interval.
    by : str
        Who computed the value: ``krippendorff`` or ``protoctl``.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    undefined: int
    reason: str | None
    by: str = "protoctl"


@dataclass(frozen=True)
class CategoryAgreement:
    """How far annotators agree on one category against all others.

    Parameters
    ----------
    category : str
        The category.
    votes : int
        Votes it received.
    kappa : Coefficient
        Fleiss' kappa of the category.
    """

    category: str
    votes: int
    kappa: Coefficient


@dataclass(frozen=True)
class PairAgreement:
    """How far two annotators agree.

    Parameters
    ----------
    annotators : tuple of str
        The two.
    units : int
        Units that both voted on.
    kappas : tuple of Coefficient
        Cohen's kappa, without weights, and with linear and quadratic ones on an ordered scale.
    """

    annotators: tuple[str, str]
    units: int
    kappas: tuple[Coefficient, ...]


@dataclass(frozen=True)
class Agreement:
    """Everything measured on the votes on one control.

    Parameters
    ----------
    control, scale : str
        What was asked, on which scale.
    units, paired : int
        Units with a vote, and with two votes or more.
    votes, doubtful, annotators : int
        Votes, doubtful ones among them, and known annotators.
    coefficients : tuple of Coefficient
        The ordinary ones first, then the confidence-weighted alpha, then alpha over confident votes.
    categories : tuple of CategoryAgreement
        In the scale's order.
    pairs : tuple of PairAgreement
        Of known annotators.
    seed, replicates : int
        Of the bootstrap.
    notes : tuple of str
        What to know when reading them.
    """

    control: str
    scale: str
    units: int
    paired: int
    votes: int
    doubtful: int
    annotators: int
    coefficients: tuple[Coefficient, ...]
    categories: tuple[CategoryAgreement, ...]
    pairs: tuple[PairAgreement, ...]
    seed: int
    replicates: int
    notes: tuple[str, ...]

    def coefficient(self, name: str) -> Coefficient:
        """Return a coefficient by its name."""
        return next(each for each in self.coefficients if each.name == name)

    def document(self) -> dict[str, Any]:
        """Return the record that ``agreement.json`` holds; figures are rounded to twelve decimals."""
        return {
            "control": self.control,
            "scale": self.scale,
            "units": self.units,
            "units_with_two_votes": self.paired,
            "votes": self.votes,
            "doubtful_votes": self.doubtful,
            "annotators": self.annotators,
            "bootstrap": {"seed": self.seed, "replicates": self.replicates, "over": "units", "interval": "percentile"},
            "coefficients": [_record(each) for each in self.coefficients],
            "categories": [
                {"category": each.category, "votes": each.votes, **_record(each.kappa)} for each in self.categories
            ],
            "pairs": [
                {"annotators": list(each.annotators), "units": each.units, "kappas": [_record(k) for k in each.kappas]}
                for each in self.pairs
            ],
            "notes": list(self.notes),
        }


def _record(found: Coefficient) -> dict[str, Any]:
    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 12)

    return {
        "name": found.name,
        "value": rounded(found.value),
        "low": rounded(found.low),
        "high": rounded(found.high),
        "undefined_replicates": found.undefined,
        "reason": found.reason,
        "computed_by": found.by,
    }


def _coefficient(
    name: str, values: NDArray[np.float64], reason: str, value: float | None = None, by: str = "protoctl"
) -> Coefficient:
    """Make a coefficient from its value (first) and its replicates; `value` replaces the first where given."""
    point = float(values[0]) if value is None else value
    if np.isnan(point):
        return Coefficient(name, None, None, None, 0, reason, by)
    drawn = values[1:]
    defined = drawn[~np.isnan(drawn)]
    undefined = len(drawn) - len(defined)
    if not len(defined) or undefined > _MOST_UNDEFINED * len(drawn):
        why = f"no interval: {undefined:,} of {len(drawn):,} replicates are undefined" if len(drawn) else None
        return Coefficient(name, point, None, None, undefined, why, by)
    low, high = np.quantile(defined, [0.025, 0.975]).tolist()
    return Coefficient(name, point, min(low, point), max(high, point), undefined, None, by)


def measure_agreement(
    votes: Votes,
    *,
    seed: int = 0,
    replicates: int = 1000,
    progress: Callable[[int, int | None, str], None] | None = None,
) -> Agreement:
    """Measure agreement with every coefficient that fits the scale.

    Parameters
    ----------
    votes : Votes
        The votes that count.
    seed : int
        Of the bootstrap.
    replicates : int
        Of the bootstrap over units; 0 gives no intervals.
    progress : callable, optional
        Called with what is done, what there is to do, and what is going on.

    Returns
    -------
    agreement : Agreement

    Notes
    -----
    Units with the same votes form a pattern, and a bootstrap of units is a multinomial draw of patterns: exact, and a
    million units cost as much as a thousand.
    """
    patterns = votes.patterns()
    multiples = np.concatenate(
        [
            patterns.frequency[None].astype(np.float64),
            multinomial(patterns.frequency[None], replicates, seed, "units")[0].astype(np.float64)
            if replicates
            else np.empty((0, len(patterns.frequency))),
        ]
    )
    counts = patterns.votes
    per_unit = counts.sum(axis=1)
    coefficients = [
        *_count_coefficients(counts, multiples, votes.scale.ordered),
        *_alphas(votes, patterns, multiples),
    ]
    if progress:
        progress(1, 2, "agreement")
    return Agreement(
        votes.control,
        votes.scale.name,
        int(patterns.frequency[per_unit > 0].sum()),
        int(patterns.frequency[per_unit > 1].sum()),
        len(votes),
        int(votes.doubtful.sum()),
        len(votes.annotators),
        tuple(sorted(coefficients, key=lambda each: _ORDER.index(each.name.split(",")[0]))),
        _categories(votes, counts, multiples),
        _pairs(votes, seed, replicates),
        seed,
        replicates,
        _notes(votes, coefficients),
    )


_OURS = "confidence-weighted alpha (protoctl)"
_CONFIDENT = "alpha over confident votes"
_ORDER = ("percent agreement", "alpha", "Fleiss kappa", "Gwet AC1", "Gwet AC2", _OURS, _CONFIDENT)


def _count_coefficients(counts: NDArray[np.int64], multiples: NDArray[np.float64], ordered: bool) -> list[Coefficient]:
    paired = bool((multiples[0] @ (counts.sum(axis=1) > 1)) > 0)
    why = _ONE_CATEGORY if paired else _NO_PAIR
    found = [
        _coefficient("percent agreement", percent_agreement(counts, multiples), _NO_PAIR),
        _coefficient("Fleiss kappa", fleiss_kappa(counts, multiples), why),
        _coefficient("Gwet AC1", gwet_ac(counts, multiples), _NO_PAIR),
    ]
    if ordered:
        found.append(_coefficient("Gwet AC2, quadratic", gwet_ac(counts, multiples, "quadratic"), _NO_PAIR))
    return found


def _alphas(votes: Votes, patterns: Patterns, multiples: NDArray[np.float64]) -> list[Coefficient]:
    """Alpha in three ways: ordinary, with half-weight votes, and over confident votes."""
    metrics: tuple[Metric, ...] = ("nominal", "ordinal", "interval") if votes.scale.ordered else ("nominal",)
    none = np.zeros_like(patterns.confident)
    forms = [("alpha", patterns.votes, none, (1, 1))]
    if votes.doubtful.any():
        forms.append((_OURS, patterns.confident, patterns.doubtful, votes.weights))
        forms.append((_CONFIDENT, patterns.confident, none, (1, 1)))
    found: list[Coefficient] = []
    for name, confident, doubtful, weights in forms:
        pairs, squares = coincidences(confident, doubtful, weights)
        size = confident.shape[1]
        summed = (multiples @ pairs.reshape(len(pairs), -1)).reshape(len(multiples), size, size)
        summed_squares = multiples @ squares
        reason = _ONE_CATEGORY if summed[0].any() else _NO_PAIR
        for metric in metrics:
            values = alpha_of(summed, summed_squares, metric)
            plain = _library_alpha(patterns, metric, float(values[0])) if name == "alpha" else None
            by = "protoctl" if plain is None else "krippendorff"
            found.append(_coefficient(f"{name}, {metric}", values, reason, plain, by))
    return found


def _library_alpha(patterns: Patterns, metric: Metric, ours: float) -> float | None:
    """Have `krippendorff` compute the value; it needs a gigabyte for a million units, which are left to ours."""
    if np.isnan(ours) or patterns.frequency.sum() > _MOST_UNITS_FOR_LIBRARY:
        return None
    theirs = plain_alpha(np.repeat(patterns.votes, patterns.frequency, axis=0), metric)
    if abs(theirs - ours) > 1e-9:
        raise RuntimeError(f"alpha ({metric}): krippendorff gives {theirs!r} and protoctl {ours!r}")
    return theirs


def _categories(
    votes: Votes, counts: NDArray[np.int64], multiples: NDArray[np.float64]
) -> tuple[CategoryAgreement, ...]:
    kappas = category_kappas(counts, multiples)
    received = np.bincount(votes.category, minlength=counts.shape[1]).tolist()
    found: list[CategoryAgreement] = []
    for place, category in enumerate(votes.scale.categories):
        reason = "nobody chose it" if not received[place] else "everybody chose it, or no unit has two votes"
        kappa = _coefficient("Fleiss kappa of the category", kappas[:, place], reason)
        found.append(CategoryAgreement(category, received[place], kappa))
    return tuple(found)


def _pairs(votes: Votes, seed: int, replicates: int) -> tuple[PairAgreement, ...]:
    pairs, tables = pair_tables(votes)
    ways: tuple[Weighting, ...] = ("none", "linear", "quadratic") if votes.scale.ordered else ("none",)
    size = len(votes.scale.categories)
    drawn = replicates if len(pairs) <= _MOST_PAIRS_WITH_INTERVALS else 0
    both = tables[:, None]
    if drawn and len(pairs):
        cells = multinomial(tables.reshape(len(pairs), -1), drawn, seed, "pairs").reshape(len(pairs), drawn, size, size)
        both = np.concatenate([both, cells], axis=1)
    values = {way: cohen_kappa(both, way) for way in ways}
    reason = "both used one and the same category only: agreement by chance is undefined"
    held = {(int(one), int(two)): place for place, (one, two) in enumerate(pairs)}
    found: list[PairAgreement] = []
    many = len(votes.annotators)
    wanted = [(one, two) for one in range(many) for two in range(one + 1, many)] if many <= 12 else list(held)
    for one, two in wanted:
        place = held.get((one, two))
        names = (votes.annotators[one], votes.annotators[two])
        if place is None:
            kappas = tuple(_coefficient(_cohen(way), np.array([np.nan]), "they share no unit") for way in ways)
            found.append(PairAgreement(names, 0, kappas))
            continue
        kappas = tuple(_coefficient(_cohen(way), values[way][place], reason) for way in ways)
        found.append(PairAgreement(names, int(tables[place].sum()), kappas))
    return tuple(found)


def _cohen(way: Weighting) -> str:
    return "Cohen kappa" if way == "none" else f"Cohen kappa, {way}"


def _notes(votes: Votes, coefficients: list[Coefficient]) -> tuple[str, ...]:
    notes = ["an interval is over units: it says nothing about other annotators"]
    if any(each.name.startswith(_OURS) for each in coefficients):
        notes.append("the confidence-weighted alpha is protoctl's own; no literature has it")
    shares = np.bincount(votes.category) / max(len(votes), 1)
    if shares.max(initial=0) >= 0.9:
        notes.append(
            f"one category holds {shares.max():.0%} of the votes: alpha and kappa are then low however rare a "
            "disagreement is; read them beside percent agreement and AC1"
        )
    if len(votes.annotators) * (len(votes.annotators) - 1) // 2 > _MOST_PAIRS_WITH_INTERVALS:
        notes.append(f"pairs have no intervals, since there are more than {_MOST_PAIRS_WITH_INTERVALS}")
    if len(votes.units) > _MOST_UNITS_FOR_LIBRARY:
        notes.append("alpha is computed by protoctl, as krippendorff would need gigabytes; both agree to 1e-9")
    return tuple(notes)
