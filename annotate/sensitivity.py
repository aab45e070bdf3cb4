"""How many labels another policy would change: weights, ties, re-submissions, ground truth, buckets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import VotesError
from ..scales import Scale
from .consensus import Consensus, Labels, settle_labels
from .ledger import Settling
from .votes import Votes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BucketCheck", "Change", "bucket_checks", "bucketed", "label_changes"]


@dataclass(frozen=True)
class Change:
    """What another policy would do to the labels.

    Parameters
    ----------
    policy : str
        Such as ``doubtful votes count in full``.
    changed, gained, lost : int
        Units with another label, with one where there is none, and the reverse.
    by_category : mapping of str to int
        Units that change or lose their label, by that label.
    steps : float or None
        Mean distance that changed labels move on an ordered scale, above 0 towards its end.
    """

    policy: str
    changed: int
    gained: int
    lost: int
    by_category: Mapping[str, int]
    steps: float | None

    def document(self) -> dict[str, Any]:
        """Return the record."""
        return {
            "policy": self.policy,
            "changed": self.changed,
            "gained": self.gained,
            "lost": self.lost,
            "by_category": dict(self.by_category),
            "mean_steps": None if self.steps is None else round(self.steps, 12),
        }


@dataclass(frozen=True)
class BucketCheck:
    """What merging categories before the vote, rather than after, would change.

    Parameters
    ----------
    name : str
        Of the buckets (``light-medium-dark``).
    counts : mapping of str to int
        Units by bucket, merged after the vote.
    changed, gained, lost : int
        Units whose bucket would be another, would be settled, or would be lost, with votes merged first.
    """

    name: str
    counts: Mapping[str, int]
    changed: int
    gained: int
    lost: int

    def document(self) -> dict[str, Any]:
        """Return the record."""
        return {
            "buckets": self.name,
            "counts": dict(self.counts),
            "merged_before_voting": {"changed": self.changed, "gained": self.gained, "lost": self.lost},
        }


def _compare(policy: str, labels: Labels, other: NDArray[np.int64]) -> Change:
    now = labels.label
    moved = (now >= 0) & (other >= 0) & (now != other)
    lost = (now >= 0) & (other < 0)
    touched = np.bincount(now[moved | lost], minlength=len(labels.scale.categories)).tolist()
    steps = float((other - now)[moved].mean()) if labels.scale.ordered and moved.any() else None
    return Change(
        policy,
        int(moved.sum()),
        int(((now < 0) & (other >= 0)).sum()),
        int(lost.sum()),
        {category: count for category, count in zip(labels.scale.categories, touched, strict=True) if count},
        steps,
    )


def label_changes(
    votes: Votes,
    labels: Labels,
    *,
    decisions: Mapping[str, str] | None = None,
    settling: Settling | None = None,
    resettle: Callable[[Settling], Votes] | None = None,
    seed: int = 0,
) -> tuple[Change, ...]:
    """Settle the labels anew under each other policy, one at a time, and count what changes.

    Parameters
    ----------
    votes : Votes
        The votes that count.
    labels : Labels
        Settled from them.
    decisions : mapping of str to str, optional
        Category by unit, decided by hand; kept under every policy.
    settling : Settling, optional
        How annotations became votes.
    resettle : callable, optional
        Gives the votes under another settling; without it those policies are left out.
    seed : int
        As for `labels`.

    Returns
    -------
    changes : tuple of Change
    """
    bare = replace(labels.consensus, stability_replicates=0)

    def under(consensus: Consensus, of: Votes) -> NDArray[np.int64]:
        return settle_labels(of, consensus, decisions=decisions, seed=seed).label

    found: list[Change] = []
    if votes.doubtful.any():
        for policy, weights in (("doubtful votes count in full", (1, 1)), ("doubtful votes do not count", (1, 0))):
            found.append(_compare(policy, labels, under(bare, replace(votes, weights=weights))))
    rules = ("nearest-mean", "nearest-median", "random", "lowest", "highest")
    for rule in rules if votes.scale.ordered else ("random",):
        if labels.consensus.rule == "mode" and labels.consensus.ties != (rule,):
            found.append(_compare(f"ties: {rule}", labels, under(replace(bare, ties=(rule,)), votes)))
    if labels.consensus.ties:
        found.append(_compare("ties stay ties", labels, under(replace(bare, ties=()), votes)))
    other = "agree" if labels.consensus.rule == "mode" else "mode"
    found.append(_compare(f"rule: {other}", labels, under(replace(bare, rule=other), votes)))
    if settling and resettle:
        for policy, choice in _other_settlings(votes, settling):
            try:
                other_labels = under(bare, resettle(choice))
            except VotesError:
                # Under this policy no vote is left, or two of them cannot be ordered: every label is lost.
                other_labels = np.full(len(labels), -1, np.int64)
            found.append(_compare(policy, labels, other_labels))
    return tuple(found)


def _other_settlings(votes: Votes, settling: Settling) -> list[tuple[str, Settling]]:
    """Other policies for what the export really holds: re-submissions, ground truth."""
    ledger = votes.ledger
    found: list[tuple[str, Settling]] = []
    if ledger and ledger.counts["superseded"]:
        other = "first" if settling.duplicates == "last" else "last"
        found.append((f"re-submissions: the {other} counts", replace(settling, duplicates=other)))
    if ledger and ledger.flagged:
        for rule in ("vote", "exclude"):
            if settling.ground_truth != rule:
                found.append((f"ground truth: {rule}", replace(settling, ground_truth=rule)))
    return found


def bucketed(scale: Scale, name: str) -> tuple[Scale, NDArray[np.int64]]:
    """Return the scale of a bucketing, and the bucket of each category.

    Parameters
    ----------
    scale : Scale
        The categories.
    name : str
        One of its bucketings.

    Returns
    -------
    buckets : Scale
        In the order in which the categories bring them up.
    of : ndarray of int, shape (n_categories,)

    Examples
    --------
    >>> from protoctl.scales import FITZPATRICK
    >>> buckets, of = bucketed(FITZPATRICK, "light-medium-dark")
    >>> buckets.categories, of.tolist()
    (('light', 'medium', 'dark'), [0, 0, 1, 1, 2, 2])
    """
    merge = scale.buckets[name]
    names = tuple(dict.fromkeys(merge[category] for category in scale.categories))
    of = np.array([names.index(merge[category]) for category in scale.categories], np.int64)
    return Scale(name, names, scale.ordered), of


def bucket_checks(votes: Votes, labels: Labels, *, seed: int = 0) -> tuple[BucketCheck, ...]:
    """Merge categories after the vote, and count what merging before it would change.

    Three votes for II, two for III and two for IV make II, hence light; merged first they make medium.

    Parameters
    ----------
    votes : Votes
        The votes that count.
    labels : Labels
        Settled from them.
    seed : int
        As for `labels`.

    Returns
    -------
    checks : tuple of BucketCheck
        One a bucketing of the scale.
    """
    found: list[BucketCheck] = []
    for name in votes.scale.buckets:
        scale, of = bucketed(votes.scale, name)
        if len(scale.categories) < 2:
            continue
        after = np.where(labels.label >= 0, of[np.maximum(labels.label, 0)], -1)
        gold = {unit: scale.categories[of[votes.scale.position(category)]] for unit, category in votes.gold.items()}
        merged = replace(votes, scale=scale, category=of[votes.category], gold=gold)
        before = settle_labels(merged, replace(labels.consensus, stability_replicates=0), seed=seed).label
        counts = np.bincount(after[after >= 0], minlength=len(scale.categories)).tolist()
        found.append(
            BucketCheck(
                name,
                dict(zip(scale.categories, counts, strict=True)),
                int(((after >= 0) & (before >= 0) & (after != before)).sum()),
                int(((after < 0) & (before >= 0)).sum()),
                int(((after >= 0) & (before < 0)).sum()),
            )
        )
    return tuple(found)
