"""Findings on a partition, ours or anybody's; scores of predictions; the report."""

from .comparison import side_by_side
from .drift import Drift
from .files import leaks_in_files
from .findings import audit_assignments, audit_partition, subjects_in_two_splits
from .model import Audit, Finding, Thresholds
from .report import report

__all__ = [
    "Audit",
    "Drift",
    "Finding",
    "Thresholds",
    "audit_assignments",
    "audit_partition",
    "leaks_in_files",
    "report",
    "side_by_side",
    "subjects_in_two_splits",
]
