"""Everything about the votes of an export: labels, agreement, annotators, and what other policies would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .adjudication import read_decisions
from .agreement import Agreement, measure_agreement
from .annotators import AnnotatorReport, annotator_reports
from .consensus import Consensus, Labels, settle_labels
from .controls import ConfigControl
from .ledger import Settling, settle
from .questions import Question
from .sensitivity import BucketCheck, Change, bucket_checks, label_changes
from .stability import fewer_votes
from .votes import Annotations, Votes

__all__ = ["Aggregation", "ControlResult", "aggregate"]


@dataclass(frozen=True)
class ControlResult:
    """What came of one control.

    Parameters
    ----------
    votes, labels, agreement, annotators : Votes, Labels, Agreement, tuple of AnnotatorReport
        See there.
    fewer : tuple of mapping
        How often fewer votes would have given the same labels (`fewer_votes`).
    changes : tuple of Change
        How many labels other policies would change.
    buckets : tuple of BucketCheck
        Merged categories.
    """

    votes: Votes
    labels: Labels
    agreement: Agreement
    annotators: tuple[AnnotatorReport, ...]
    fewer: tuple[Mapping[str, float | int], ...]
    changes: tuple[Change, ...]
    buckets: tuple[BucketCheck, ...]

    def document(self) -> dict[str, Any]:
        """Return the record of one control."""
        ledger, categories = self.votes.ledger, self.labels.scale.categories
        codes = self.labels.label.tolist()
        return {
            "control": self.votes.control,
            "scale": {
                "name": self.votes.scale.name,
                "categories": list(categories),
                "ordered": self.votes.scale.ordered,
            },
            "unit": self.votes.unit_kind,
            "ledger": asdict(ledger) if ledger else None,
            "statuses": self.labels.counts(),
            "rules": _counted(self.labels.rule),
            "categories": {name: codes.count(place) for place, name in enumerate(categories)},
            "labels": dict(
                zip(self.labels.units, (categories[code] if code >= 0 else None for code in codes), strict=True)
            ),
            "agreement": self.agreement.document(),
            "annotators": [each.document() for each in self.annotators],
            "fewer_votes": [{name: round(value, 12) for name, value in each.items()} for each in self.fewer],
            "other_policies": [each.document() for each in self.changes],
            "buckets": [each.document() for each in self.buckets],
            "warnings": [*self.votes.warnings, *self.labels.warnings],
            "notes": list(self.votes.notes),
        }


def _counted(rules: Sequence[str]) -> dict[str, int]:
    return {rule or "none": rules.count(rule) for rule in sorted(set(rules))}


@dataclass(frozen=True)
class Aggregation:
    """What came of an export.

    Parameters
    ----------
    sources : tuple of str
        Names of the files.
    results : tuple of ControlResult
        One a control asked for.
    settling, consensus, seed : Settling, Consensus, int
        How it was done.
    """

    sources: tuple[str, ...]
    results: tuple[ControlResult, ...]
    settling: Settling
    consensus: Consensus
    seed: int

    def document(self) -> dict[str, Any]:
        """Return the record that ``summary.json`` holds and ``--json`` prints."""
        confident, doubtful = self.settling.weights
        return {
            "sources": list(self.sources),
            "settings": {
                **asdict(self.settling),
                "weights": {"confident": confident, "doubtful": doubtful},
                **asdict(self.consensus),
                "ties": list(self.consensus.ties),
                "seed": self.seed,
            },
            "controls": [result.document() for result in self.results],
        }


def aggregate(
    annotations: Annotations,
    questions: Sequence[Question],
    *,
    config: Mapping[str, ConfigControl] | None = None,
    settling: Settling | None = None,
    consensus: Consensus | None = None,
    decisions: Path | None = None,
    seed: int = 0,
    replicates: int = 1000,
    progress: Callable[[int, int | None, str], None] | None = None,
) -> Aggregation:
    """Turn annotations into labels with known agreement.

    Parameters
    ----------
    annotations : Annotations
        As `read_annotations` gives them.
    questions : sequence of Question
        One a control.
    config : mapping of str to ConfigControl, optional
        From the labelling configuration.
    settling, consensus : Settling, Consensus, optional
        How annotations become votes, and votes labels.
    decisions : pathlib.Path, optional
        A file of units decided by hand.
    seed, replicates : int
        Of all that is drawn; bootstrap replicates of the agreement.
    progress : callable, optional
        Called with what is done, what there is to do, and what is going on.

    Returns
    -------
    aggregation : Aggregation

    Raises
    ------
    VotesError
        If the annotations, a control or the decisions cannot be used.
    """
    settling, consensus = settling or Settling(), consensus or Consensus()

    def votes_under(question: Question, choice: Settling) -> Votes:
        return settle(
            annotations,
            question.scale,
            control=question.control,
            doubt_control=question.doubt_control,
            config=config,
            settling=choice,
        )

    asked = [(question, votes_under(question, settling)) for question in questions]
    decided = read_decisions(decisions, [votes for _, votes in asked]) if decisions else {}
    results: list[ControlResult] = []
    for place, (question, votes) in enumerate(asked):
        if progress:
            progress(place, len(asked), "aggregate")
        own = decided.get(votes.control, {})
        labels = settle_labels(votes, consensus, decisions=own, seed=seed)

        def resettle(choice: Settling, question: Question = question) -> Votes:
            return votes_under(question, choice)

        results.append(
            ControlResult(
                votes,
                labels,
                measure_agreement(votes, seed=seed, replicates=replicates),
                annotator_reports(votes, labels),
                tuple(fewer_votes(votes, seed)),
                label_changes(votes, labels, decisions=own, settling=settling, resettle=resettle, seed=seed),
                bucket_checks(votes, labels, seed=seed),
            )
        )
    return Aggregation(annotations.sources, tuple(results), settling, consensus, seed)
