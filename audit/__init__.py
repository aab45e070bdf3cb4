"""Findings on a partition, ours or anybody's; scores of predictions; the report."""

from .comparison import side_by_side
from .drift import Drift
from .files import leaks_in_files
from .findings import audit_assignments, audit_partition, subjects_in_two_splits
from .model import Audit, Finding, Thresholds
from .predictions import COLUMNS, Truth
from .report import report
from .scores import Gap, Score, Scores
from .scoring import score_predictions
from .truth import items_of_columns, protocol_of_document, truth_of_items

__all__ = [
    "COLUMNS",
    "Audit",
    "Drift",
    "Finding",
    "Gap",
    "Score",
    "Scores",
    "Thresholds",
    "Truth",
    "audit_assignments",
    "audit_partition",
    "items_of_columns",
    "leaks_in_files",
    "protocol_of_document",
    "report",
    "score_predictions",
    "side_by_side",
    "subjects_in_two_splits",
    "truth_of_items",
]
