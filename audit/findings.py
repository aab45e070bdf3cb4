"""Findings on a partition: what was looked at, what was found, what was not looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..tabular import pc
from .crossings import crossing
from .drifts import drift_of_balance, drift_of_partition
from .leakage import leaks_in_names, leaks_in_table
from .model import Audit, Finding, Thresholds

if TYPE_CHECKING:
    from ..catalog import Items
    from ..partition import Balance, Partition
    from .drift import Drift
    from .planes import Plane

__all__ = ["Audit", "Finding", "audit_assignments", "audit_partition", "subjects_in_two_splits"]

Looked = tuple[tuple[Finding, ...], tuple[str, ...]]
"""Findings, and what could not be looked at."""


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
    people = {name for joined in pc.unique(column.drop_null()).to_pylist() for name in joined.split("|")}
    found = f"{len(torn):,} of {len(people):,}"
    if torn:
        found += ": " + ", ".join(torn[:5]) + (" ..." if len(torn) > 5 else "")
    unseen: list[str] = []
    if column.null_count:
        unseen.append(f"subjects of {column.null_count:,} items that name none")
    verdict = "fails" if torn else "holds"
    return [Finding("subjects in two splits", found, len(torn), verdict, tuple(torn[:100]))], unseen


def _coverage(balance: Balance, thresholds: Thresholds) -> list[Finding]:
    empty = [f"{row.name} in {balance.splits[at]}" for row, at in balance.empty]
    missing = [place for place in balance.all_empty if place not in balance.empty]
    unmet = [f"{row.name} in {balance.splits[at]}" for row, at in missing]
    return [
        Finding(
            "categories empty in a split though enough units hold them",
            ", ".join(empty) or "none",
            len(empty),
            "holds" if not empty else "noted" if "empty" in thresholds.allow else "fails",
        ),
        Finding(
            "categories that fewer units hold than there are splits",
            ", ".join(unmet) or "none",
            len(unmet),
            "noted",
        ),
    ]


def _deviations(balance: Balance, thresholds: Thresholds) -> list[Finding]:
    """Hold the deviations against the thresholds that are set."""
    found: list[Finding] = []
    if thresholds.points is not None:
        beyond = [
            f"{row.name} in {balance.splits[at]} by {points:+.2f}"
            for row in balance.counted
            for at, points in enumerate(row.points)
            if abs(points) > thresholds.points
        ]
        found.append(_beyond(f"shares within {thresholds.points:g} points of their targets", beyond))
    if thresholds.items is not None:
        beyond = [
            f"{row.name} in {balance.splits[at]} by {off:+.2f}"
            for row in balance.rows
            if row.scored or row.role == "total"
            for at, off in enumerate(row.items_off)
            if abs(off) > thresholds.items
        ]
        found.append(_beyond(f"counts within {thresholds.items:g} items of their targets", beyond))
    return found


def _beyond(check: str, beyond: list[str]) -> Finding:
    shown = ", ".join(beyond[:5]) + (" ..." if len(beyond) > 5 else "")
    found = f"{len(beyond):,} beyond" + (f": {shown}" if beyond else "")
    return Finding(check, found, len(beyond), "fails" if beyond else "holds", tuple(beyond[:100]))


def _drifted(drifts: Sequence[Drift], thresholds: Thresholds) -> list[Finding]:
    """Say where the splits differ most, beside the level of chance."""
    if not drifts:
        return []
    most = max(drifts, key=lambda each: each.furthest.total_variation)
    pair = most.furthest
    found = (
        f"total variation {pair.total_variation:.3g} at most ({most.attribute}, {pair.one} and {pair.other}); "
        f"chance alone gives {pair.chance_total_variation:.3g}"
    )
    if thresholds.variation is None:
        return [Finding("drift between splits", found, len(drifts), "noted")]
    beyond = [each.attribute for each in drifts if each.furthest.total_variation > thresholds.variation]
    check = f"drift between splits within {thresholds.variation:g}"
    return [Finding(check, found, len(beyond), "fails" if beyond else "holds", tuple(beyond))]


def _crossed(crossings: Mapping[str, Balance]) -> list[Finding]:
    found: list[Finding] = []
    for name, balance in crossings.items():
        empty = [f"{row.value} in {balance.splits[at]}" for row, at in balance.empty]
        worst = balance.worst
        said = f"{len(empty):,} empty of {len(balance.rows) - 1:,}"
        if worst is not None:
            said += f"; worst share {worst[0].points[worst[1]]:+.2f} points ({worst[0].value})"
        found.append(Finding(f"intersections of {name}", said, len(empty), "noted", tuple(empty[:100])))
    return found


_RIGHT = "whether labels and attributes are right"
_FILES = "the images or videos themselves: the same file, or nearly the same, in two splits"


def _all_items(partition: Partition, items: Items | None) -> pa.Table:
    """Return the items with the column ``split``, also those that the protocol leaves out but the release places."""
    kept: Any = partition.table()
    if items is None or "split_released" not in items.table.column_names:
        table: Any = partition.items.table
        return table.append_column("split", kept["split"])
    table = items.table
    place = pc.index_in(table["item"], kept["item"].combine_chunks())
    split = kept["split"].combine_chunks().take(pc.fill_null(place, 0).combine_chunks())
    released = table["split_released"]
    known = pa.table({"raw": released, "split": split}).filter(pc.is_valid(place)).group_by(["raw", "split"])
    names = {row["raw"]: row["split"] for row in known.aggregate([]).to_pylist() if row["raw"] is not None}
    others = pa.array([names.get(raw, raw) for raw in released.to_pylist()], pa.string())
    return table.append_column("split", pc.if_else(pc.is_valid(place), split, others))


def audit_partition(
    partition: Partition,
    balance: Balance,
    *,
    items: Items | None = None,
    thresholds: Thresholds | None = None,
    linked: Sequence[str] = (),
    intersections: Sequence[Sequence[str]] = (),
    files: Looked | None = None,
    compared: Mapping[str, Balance] | None = None,
    planes: Sequence[Plane] = (),
    facts: Mapping[str, str] | None = None,
) -> Audit:
    """Audit a partition in memory, ours or somebody else's.

    Parameters
    ----------
    partition : Partition
        Which split every item goes to.
    balance : Balance
        Its balance.
    items : Items, optional
        The items before the protocol left any out, with the column ``split_released``: a released split may place
        items whose labels nobody made by hand.
    thresholds : Thresholds, optional
        Past what it fails; by default only leaks and avoidably empty categories do.
    linked : sequence of str
        Columns whose equal values must stay in one split.
    intersections : sequence of sequence of str
        Columns whose joint categories are counted.
    files : tuple, optional
        What `leaks_in_files` found.
    compared, planes, facts
        See `Audit`.

    Returns
    -------
    audit : Audit

    Raises
    ------
    InputError
        If a column of `linked` or `intersections` is absent.
    """
    limits = thresholds or Thresholds()
    findings, unseen = _subjects(partition.table())
    leaks, not_leaks = leaks_in_table(_all_items(partition, items), limits, linked=linked)
    drifts = drift_of_partition(partition)
    crossings = {" x ".join(names): crossing(partition, names) for names in intersections}
    seen, not_seen = files or ((), (_FILES,))
    return Audit(
        name=partition.items.dataset,
        replica=partition.items.replica,
        balance=balance,
        findings=(
            *findings,
            *leaks,
            *seen,
            *_coverage(balance, limits),
            *_deviations(balance, limits),
            *_drifted(drifts, limits),
            *_crossed(crossings),
        ),
        unseen=(*unseen, *not_leaks, *not_seen, _RIGHT),
        drift=drifts,
        intersections=crossings,
        compared=compared or {},
        planes=tuple(planes),
        facts=facts or {},
    )


def audit_assignments(
    name: str,
    assignments: pa.Table,
    balance: Balance,
    *,
    replica: bool = False,
    thresholds: Thresholds | None = None,
    files: Looked | None = None,
    facts: Mapping[str, str] | None = None,
) -> Audit:
    """Audit a manifest's rows and the counts that it states, without the dataset's items.

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
    thresholds, files, facts
        See `audit_partition`.
    """
    limits = thresholds or Thresholds()
    findings, unseen = _subjects(assignments)
    names = leaks_in_names(assignments, allowed="names" in limits.allow) if "item" in assignments.column_names else ()
    drifts = drift_of_balance(balance)
    seen, not_seen = files or ((), (_FILES,))
    more = ["the items' attributes and annotation: the counts are those that the manifest states"]
    if drifts and balance.unit != "item":
        more.append("how a subject's items hang together: the level of chance counts them as independent")
    return Audit(
        name=name,
        replica=replica,
        balance=balance,
        findings=(
            *findings,
            *names,
            *seen,
            *_coverage(balance, limits),
            *_deviations(balance, limits),
            *_drifted(drifts, limits),
        ),
        unseen=(*unseen, *not_seen, _RIGHT, *more),
        drift=drifts,
        facts=facts or {},
    )
