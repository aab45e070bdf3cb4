"""Findings on a partition: what was looked at, what was found, what was not looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from ..tabular import pc

if TYPE_CHECKING:
    from ..partition import Balance, Partition

__all__ = ["Audit", "Finding", "audit_assignments", "audit_partition", "subjects_in_two_splits"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    check : str
        What was looked at, such as ``subjects in two splits``.
    found : str
        What was found, with its number.
    count : int
        How often.
    verdict : {"holds", "fails", "noted"}
        Whether it is as the protocol asks; ``noted`` where the protocol asks nothing.
    """

    check: str
    found: str
    count: int
    verdict: Literal["holds", "fails", "noted"]


@dataclass(frozen=True)
class Audit:
    """What an audit says of a partition.

    Parameters
    ----------
    name : str
        What was audited.
    replica : bool
        Whether its rows are drawn.
    balance : Balance
        Counts and deviations.
    findings : tuple of Finding
        What was looked at.
    unseen : tuple of str
        What was not looked at, and why.
    """

    name: str
    replica: bool
    balance: Balance
    findings: tuple[Finding, ...]
    unseen: tuple[str, ...]

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that are not as the protocol asks."""
        return tuple(finding for finding in self.findings if finding.verdict == "fails")

    def to_json(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {
            "name": self.name,
            "replica": self.replica,
            "balance": self.balance.to_json(),
            "findings": [dict(vars(finding)) for finding in self.findings],
            "not_looked_at": list(self.unseen),
        }


def subjects_in_two_splits(assignments: pa.Table) -> list[str]:
    """Return the subjects that have items in two splits or more, sorted.

    Parameters
    ----------
    assignments : pyarrow.Table
        Columns ``subject`` (several people joined by ``|``; null where unknown) and ``split``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = {"subject": ["a|b", "b", "c", None], "split": ["train", "test", "test", "test"]}
    >>> subjects_in_two_splits(pa.table(rows))
    ['b']
    """
    pairs: Any = assignments.select(["subject", "split"]).combine_chunks().filter(pc.is_valid(assignments["subject"]))
    pairs = pairs.group_by(["subject", "split"]).aggregate([])
    if pc.any(pc.match_substring(pairs["subject"], "|")).as_py():
        lists = pc.split_pattern(pairs["subject"].combine_chunks(), "|")
        split = pairs["split"].combine_chunks().take(pc.list_parent_indices(lists))
        pairs = (
            pa.table({"subject": pc.list_flatten(lists), "split": split}).group_by(["subject", "split"]).aggregate([])
        )
    counts = pc.value_counts(pairs["subject"])
    return sorted(counts.filter(pc.greater(counts.field("counts"), 1)).field("values").to_pylist())


def _subjects(assignments: pa.Table) -> tuple[list[Finding], list[str]]:
    column: Any = assignments["subject"]
    column = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    assignments = pa.table({"subject": column, "split": assignments["split"]})
    if column.null_count == len(column):
        return [], ["subjects in two splits: the dataset does not say whose an item is"]
    torn = subjects_in_two_splits(assignments)
    found = f"{len(torn):,} of {pc.count_distinct(column).as_py():,}"
    if torn:
        found += ": " + ", ".join(torn[:5]) + (" ..." if len(torn) > 5 else "")
    unseen: list[str] = []
    if column.null_count:
        unseen.append(f"subjects of {column.null_count:,} items that name none")
    return [Finding("subjects in two splits", found, len(torn), "fails" if torn else "holds")], unseen


def _coverage(balance: Balance) -> list[Finding]:
    empty = [f"{row.name} in {balance.splits[at]}" for row, at in balance.empty]
    missing = [place for place in balance.all_empty if place not in balance.empty]
    unmet = [f"{row.name} in {balance.splits[at]}" for row, at in missing]
    return [
        Finding(
            "categories empty in a split though enough units hold them",
            ", ".join(empty) or "none",
            len(empty),
            "fails" if empty else "holds",
        ),
        Finding(
            "categories that fewer units hold than there are splits",
            ", ".join(unmet) or "none",
            len(unmet),
            "noted",
        ),
    ]


_UNSEEN = (
    "the images or videos themselves: the same file, or nearly the same, in two splits",
    "whether labels and attributes are right",
)


def audit_partition(partition: Partition, balance: Balance) -> Audit:
    """Audit a partition in memory, ours or somebody else's."""
    findings, unseen = _subjects(partition.table())
    return Audit(
        name=partition.items.dataset,
        replica=partition.items.replica,
        balance=balance,
        findings=(*findings, *_coverage(balance)),
        unseen=(*unseen, *_UNSEEN),
    )


def audit_assignments(name: str, assignments: pa.Table, balance: Balance, *, replica: bool = False) -> Audit:
    """Audit a manifest's rows and the counts that it states, without the dataset's files.

    Parameters
    ----------
    name : str
        What to call it.
    assignments : pyarrow.Table
        Columns ``subject`` and ``split``, and ``item`` where rows list items.
    balance : Balance
        The balance that the manifest states, which `verify` recomputes.
    replica : bool
        Whether its rows are drawn.
    """
    findings, unseen = _subjects(assignments)
    return Audit(
        name=name,
        replica=replica,
        balance=balance,
        findings=(*findings, *_coverage(balance)),
        unseen=(*unseen, *_UNSEEN, "the items' attributes: the counts are those that the manifest states"),
    )
