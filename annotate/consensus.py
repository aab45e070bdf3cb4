"""From votes to labels: the weighted mode, ties said and settled by a declared chain, or agreement of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..digests import keyed_digests
from ..errors import VotesError, unknown
from ..scales import Scale
from ..tabular import LABEL_SUFFIXES
from .stability import leave_one_out_flips, vote_stability
from .votes import Patterns, Votes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LABEL_STATUSES", "SUFFIXES", "TIE_RULES", "Consensus", "Labels", "settle_labels", "weighted_modes"]

TieRule = Literal["nearest-mean", "nearest-median", "adjudicated", "random", "lowest", "highest"]
TIE_RULES: tuple[TieRule, ...] = ("nearest-mean", "nearest-median", "adjudicated", "random", "lowest", "highest")

LABEL_STATUSES = ("agreed", "mode", "tie", "disagreement", "adjudicated", "too few")
"""What became of a unit. A tie that a rule settled stays a tie, with a label and the rule."""

SUFFIXES = LABEL_SUFFIXES
"""Columns of ``labels.csv`` beside a control's: ``skin_type_status`` and so on."""


@dataclass(frozen=True)
class Consensus:
    """How votes become labels.

    Parameters
    ----------
    rule : {"mode", "agree"}
        The category of most weight; or the one that all votes name, of two and more.
    ties : tuple of str
        Rules tried in turn where the rule leaves several categories (`TIE_RULES`); none reports ties as ties.
        `nearest-mean` and `nearest-median` keep the tied categories nearest the unit's own mean or median vote,
        and leave a symmetrical tie tied.
    minimum : int
        Votes that a label needs.
    stability_replicates : int
        Of the bootstrap over a unit's votes; 0 leaves stability out.
    """

    rule: Literal["mode", "agree"] = "mode"
    ties: tuple[TieRule, ...] = ()
    minimum: int = 1
    stability_replicates: int = 400

    def __post_init__(self) -> None:
        for rule in self.ties:
            if rule not in TIE_RULES:
                message, hint = unknown("tie rule", rule, TIE_RULES)
                raise VotesError(message, hint=hint)
        if self.minimum < 1:
            raise VotesError(f"a label needs one vote or more, and the minimum is {self.minimum}")


@dataclass(frozen=True)
class Labels:
    """The label of every unit, and how far to trust it.

    Parameters
    ----------
    control : str
        What was asked.
    scale : Scale
        The categories.
    unit_kind : {"item", "subject"}
        What a unit is.
    units : tuple of str
        Sorted; also those without a vote.
    label : ndarray of int, shape (n_units,)
        Position on the scale, -1 for none.
    status : ndarray of int
        Position in `LABEL_STATUSES`.
    rule : tuple of str
        What gave the label: ``mode``, ``agree``, a tie rule, ``decisions``, ``ground-truth``; empty for none.
    candidates : ndarray of bool, shape (n_units, n_categories)
        Categories that share the most weight.
    share, margin : ndarray of float
        Weight of the label (or, without one, of the first category) over all weight; less that of the runner-up.
        NaN without a vote.
    entropy : ndarray of float
        Of the weights, over that of an even spread on the scale: 0 for one category, 1 for all alike.
    stability : ndarray of float
        Share of bootstraps of the unit's votes that give the label, a tie shared out; NaN without a label. It is no
        probability of truth: what all annotators get wrong does not show.
    votes, doubtful, flips : ndarray of int
        Votes, doubtful ones among them, and votes without which the label would be another or none; -1 without a
        label.
    consensus : Consensus
        How they were settled.
    warnings : tuple of str
        Bias of the tie rules, if any.
    """

    control: str
    scale: Scale
    unit_kind: Literal["item", "subject"]
    units: tuple[str, ...]
    label: NDArray[np.int64]
    status: NDArray[np.int64]
    rule: tuple[str, ...]
    candidates: NDArray[np.bool_]
    share: NDArray[np.float64]
    margin: NDArray[np.float64]
    entropy: NDArray[np.float64]
    stability: NDArray[np.float64]
    votes: NDArray[np.int64]
    doubtful: NDArray[np.int64]
    flips: NDArray[np.int64]
    consensus: Consensus = field(default_factory=Consensus)
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.units)

    def of(self, unit: str) -> str | None:
        """Return the label of a unit, or None."""
        place = int(self.label[self.units.index(unit)])
        return self.scale.categories[place] if place >= 0 else None

    def counts(self) -> dict[str, int]:
        """Return the number of units of each status."""
        found = np.bincount(self.status, minlength=len(LABEL_STATUSES)).tolist()
        return dict(zip(LABEL_STATUSES, found, strict=True))


def weighted_modes(patterns: Patterns, weights: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Weigh each pattern's categories, in whole numbers.

    Parameters
    ----------
    patterns : Patterns
        Votes by category.
    weights : tuple of int
        Weight of a confident and of a doubtful vote.

    Returns
    -------
    weight : ndarray of int, shape (n_patterns, n_categories)
        In half-votes, with the weights (2, 1).
    most : ndarray of bool, shape (n_patterns, n_categories)
        Categories of the most weight; none without a vote.

    References
    ----------
    Hazirbas et al. (2021), arXiv:2104.02821, where a vote that is not confident counts half.
    """
    weight = weights[0] * patterns.confident + weights[1] * patterns.doubtful
    top = weight.max(axis=1, keepdims=True)
    return weight, (weight == top) & (top > 0)


def settle_labels(
    votes: Votes,
    consensus: Consensus | None = None,
    *,
    decisions: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Labels:
    """Settle the label of every unit.

    Parameters
    ----------
    votes : Votes
        The votes that count.
    consensus : Consensus, optional
        How; by default the weighted mode, with ties left as ties.
    decisions : mapping of str to str, optional
        Category by unit, decided by hand: it goes before any vote.
    seed : int
        Of the tie rule `random` and of the stability bootstrap.

    Returns
    -------
    labels : Labels

    Examples
    --------
    >>> from protoctl.scales import FITZPATRICK
    >>> from protoctl.annotate.votes import votes_of
    >>> votes = votes_of([("s1", "a", "II", True), ("s1", "b", "III", False), ("s2", "a", "V", True),
    ...                   ("s2", "b", "VI", True)], FITZPATRICK)
    >>> labels = settle_labels(votes)
    >>> labels.of("s1"), labels.of("s2"), labels.counts()["tie"]
    ('II', None, 1)
    """
    consensus = consensus or Consensus()
    patterns = votes.patterns()
    weight, most = weighted_modes(patterns, votes.weights)
    label, status, rule = _by_pattern(votes.scale, consensus, patterns, weight, most)
    unit_label, unit_status = label[patterns.of], status[patterns.of]
    rules = [rule[place] for place in patterns.of.tolist()]
    _by_unit(votes, consensus, seed, most[patterns.of], weight[patterns.of], unit_label, unit_status, rules)
    _decide(votes, decisions or {}, unit_label, unit_status, rules)
    share, margin, entropy = _spread(weight[patterns.of], unit_label)
    stability = vote_stability(patterns, votes.weights, consensus.stability_replicates, seed)[patterns.of]
    flips = leave_one_out_flips(patterns, votes.weights)[patterns.of]
    rows, known = np.arange(len(unit_label)), unit_label >= 0
    place = np.maximum(unit_label, 0)
    return Labels(
        votes.control,
        votes.scale,
        votes.unit_kind,
        votes.units,
        unit_label,
        unit_status,
        tuple(rules),
        most[patterns.of],
        share,
        margin,
        entropy,
        np.where(known, stability[rows, place], np.nan),
        patterns.votes.sum(axis=1)[patterns.of],
        patterns.doubtful.sum(axis=1)[patterns.of],
        np.where(known, flips[rows, place], -1),
        consensus,
        _bias_warnings(votes.scale, rules),
    )


def _by_pattern(
    scale: Scale,
    consensus: Consensus,
    patterns: Patterns,
    weight: NDArray[np.int64],
    most: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """Settle what depends on nothing but the votes a unit received."""
    votes = patterns.votes.sum(axis=1)
    agreed = np.count_nonzero(patterns.votes, axis=1) == 1
    enough = votes >= (max(consensus.minimum, 2) if consensus.rule == "agree" else consensus.minimum)
    single = most.sum(axis=1) == 1
    named = {name: place for place, name in enumerate(LABEL_STATUSES)}
    if consensus.rule == "agree":
        settled, torn = agreed, named["disagreement"]
    else:
        settled, torn = single, named["tie"]
    status = np.where(settled, np.where(agreed, named["agreed"], named["mode"]), torn)
    status = np.where(enough & most.any(axis=1), status, named["too few"])
    label = np.where(settled & (status != named["too few"]), most.argmax(axis=1), -1)
    rule = [consensus.rule if place >= 0 else "" for place in label.tolist()]
    return label, status, rule


def _by_unit(
    votes: Votes,
    consensus: Consensus,
    seed: int,
    most: NDArray[np.bool_],
    weight: NDArray[np.int64],
    label: NDArray[np.int64],
    status: NDArray[np.int64],
    rules: list[str],
) -> None:
    """Apply the chain of tie rules to the units that are still open; writes into the last three arguments."""
    torn = (LABEL_STATUSES.index("tie"), LABEL_STATUSES.index("disagreement"))
    rows = np.flatnonzero(np.isin(status, torn))
    left = most[rows].copy()
    if consensus.rule == "agree":
        left = weight[rows] > 0
    for rule in consensus.ties:
        waiting = np.flatnonzero(label[rows] < 0)
        if not len(waiting):
            return
        at = rows[waiting]
        if rule == "adjudicated":
            gold = [votes.gold.get(votes.units[unit]) for unit in at.tolist()]
            for unit, category in zip(at.tolist(), gold, strict=True):
                if category is not None:
                    label[unit], rules[unit] = votes.scale.position(category), "ground-truth"
                    status[unit] = LABEL_STATUSES.index("adjudicated")
            continue
        left[waiting] = _narrow(rule, votes, seed, at, left[waiting], weight[at])
        sole = left[waiting].sum(axis=1) == 1
        label[at[sole]] = left[waiting][sole].argmax(axis=1)
        for unit in at[sole].tolist():
            rules[unit] = rule


def _narrow(
    rule: TieRule,
    votes: Votes,
    seed: int,
    units: NDArray[np.int64],
    left: NDArray[np.bool_],
    weight: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return the candidates that a tie rule leaves."""
    if rule in ("nearest-mean", "nearest-median") and not votes.scale.ordered:
        raise VotesError(
            f"tie rule {rule}: the categories of {votes.scale.name} have no order",
            hint="use random, adjudicated, or leave ties as ties",
        )
    places = np.arange(left.shape[1])
    if rule == "lowest":
        return left & (places == left.argmax(axis=1)[:, None])
    if rule == "highest":
        return left & (places == left.shape[1] - 1 - left[:, ::-1].argmax(axis=1)[:, None])
    if rule == "random":
        names = [votes.units[unit] for unit in units.tolist()]
        digests = keyed_digests(names, seed, f"annotate/ties/{votes.control}")
        chosen = (digests % left.sum(axis=1).astype(np.uint64)).astype(np.int64) + 1
        return left & (left.cumsum(axis=1) == chosen[:, None])
    total = weight.sum(axis=1)
    if rule == "nearest-mean":
        apart = np.abs(places * total[:, None] - (weight * places).sum(axis=1)[:, None])
    else:
        running = weight.cumsum(axis=1)
        low = (2 * running >= total[:, None]).argmax(axis=1)
        high = (2 * running > total[:, None]).argmax(axis=1)
        apart = np.abs(2 * places - (low + high)[:, None])
    nearest = np.where(left, apart, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    return left & (apart == nearest)


def _decide(
    votes: Votes,
    decisions: Mapping[str, str],
    label: NDArray[np.int64],
    status: NDArray[np.int64],
    rules: list[str],
) -> None:
    place = {unit: at for at, unit in enumerate(votes.units)} if decisions else {}
    for unit, category in decisions.items():
        label[place[unit]] = votes.scale.position(category)
        status[place[unit]] = LABEL_STATUSES.index("adjudicated")
        rules[place[unit]] = "decisions"


def _spread(
    weight: NDArray[np.int64], label: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return share, margin and entropy of each unit; NaN without any weight."""
    total = weight.sum(axis=1)
    voted = total > 0
    own = np.where(label >= 0, label, weight.argmax(axis=1))
    rows = np.arange(len(weight))
    held = weight[rows, own]
    others = weight.copy()
    others[rows, own] = -1
    divisor = np.maximum(total, 1)
    shares = weight / divisor[:, None]
    terms = -shares * np.log(np.where(shares > 0, shares, 1.0))
    entropy = np.abs(terms.sum(axis=1) / np.log(weight.shape[1]))
    return (
        np.where(voted, held / divisor, np.nan),
        np.where(voted, (held - others.max(axis=1)) / divisor, np.nan),
        np.where(voted, entropy, np.nan),
    )


def _bias_warnings(scale: Scale, rules: Sequence[str]) -> tuple[str, ...]:
    """Say how many ties a rule settled that always leans to one end of the scale."""
    found: list[str] = []
    for rule, end in (("lowest", scale.categories[0]), ("highest", scale.categories[-1])):
        count = sum(each == rule for each in rules)
        if count:
            found.append(
                f"tie rule {rule}: {count:,} ties went to the category nearest {end}, which shifts the whole set "
                "that way; nearest-mean, then random, does not"
            )
    return tuple(found)


def label_columns(labels: Labels) -> dict[str, list[Any]]:
    """Return the columns of ``labels.csv`` for one control, without the units."""
    name, categories = labels.control, labels.scale.categories

    def numbers(values: NDArray[np.float64]) -> list[str]:
        return ["" if value != value else f"{value:.4f}" for value in values.tolist()]

    tied = [
        "|".join(categories[place] for place in np.flatnonzero(row).tolist()) if row.sum() > 1 else ""
        for row in labels.candidates
    ]
    return {
        name: ["" if place < 0 else categories[place] for place in labels.label.tolist()],
        f"{name}_status": [LABEL_STATUSES[place] for place in labels.status.tolist()],
        f"{name}_share": numbers(labels.share),
        f"{name}_margin": numbers(labels.margin),
        f"{name}_entropy": numbers(labels.entropy),
        f"{name}_stability": numbers(labels.stability),
        f"{name}_votes": [str(count) for count in labels.votes.tolist()],
        f"{name}_doubtful": [str(count) for count in labels.doubtful.tolist()],
        f"{name}_flips": ["" if count < 0 else str(count) for count in labels.flips.tolist()],
        f"{name}_candidates": tied,
        f"{name}_rule": list(labels.rule),
    }
