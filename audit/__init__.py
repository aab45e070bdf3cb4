"""Findings on a partition, ours or anybody's; scores of predictions; the report."""

from .findings import Audit, Finding, audit_assignments, audit_partition, subjects_in_two_splits

__all__ = ["Audit", "Finding", "audit_assignments", "audit_partition", "subjects_in_two_splits"]
