"""From a partition and its balance to a manifest."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from ..tabular import pc
from .digest import CANONICAL, Rows, assignment_digest, canonical_rows, items_digest, row_bytes
from .model import FORMAT, Manifest

if TYPE_CHECKING:
    from ..catalog import Items
    from ..partition import Balance, Partition

__all__ = [
    "assignments_entry",
    "build_manifest",
    "csv_pieces",
    "created",
    "environment",
    "expand_rows",
    "shown_rows",
    "split_counts",
]

_ROLES = {"train": "training", "valid": "validation", "test": "test"}


def build_manifest(
    partition: Partition,
    balance: Balance,
    *,
    name: str | None = None,
    version: str = "1.0.0",
    mode: str = "fresh",
    more: Mapping[str, Any] | None = None,
    quoted: bool = False,
) -> Manifest:
    """Make the manifest of a partition.

    Parameters
    ----------
    partition : Partition
        Which split every item goes to.
    balance : Balance
        Its counts, from `partition.balance_of`.
    name : str, optional
        By default dataset, task where it is not the usual one, and protocol.
    version : str
        SemVer; the first one is 1.0.0.
    mode : {"fresh", "extended", "withdrawn", "imported"}
        How the assignment came about.
    more : mapping, optional
        Further keys of the document, such as ``authors``, ``license``, ``derived_from`` or one that begins ``x-``.
    quoted : bool
        Take commas and quotation marks in ids; the line of shell in README.md is then left out.

    Returns
    -------
    manifest : Manifest
        Not written yet.

    Raises
    ------
    InputError
        If an id has no canonical form (`canonical_rows`), or a key of `more` is not of the format.
    """
    items, protocol, solver = partition.items, partition.protocol, partition.solver
    by_item = canonical_rows(partition.table(), quoted=quoted)
    rows = _subject_rows(by_item) if items.card is not None and items.card.rows == "subject" else by_item
    document: dict[str, Any] = {
        "format": FORMAT,
        "name": name or _name(partition),
        "version": version,
        "status": "released",
        "created": created(),
        "replica": items.replica,
        "dataset": _dataset(partition, by_item),
        "columns": _columns(items),
        "protocol": {
            "name": protocol.name,
            "version": protocol.version,
            "digest": protocol.digest,
            "source": protocol.source,
            "unit": partition.unit,
            "splits": [{"name": split, "role": _role(split, partition.splits)} for split in partition.splits],
            "ratios": dict(zip(partition.splits, partition.ratios, strict=True)),
            "stratify": list(partition.stratify),
            "overrides": dict(protocol.overrides),
            "document": dict(protocol.document),
        },
        "solver": {
            "name": solver.name,
            "version": solver.version,
            "seed": solver.seed,
            "mode": mode,
            "objective_pp": _figure(solver.objective),
            "bound_pp": _figure(solver.bound),
            "deviation": _figure(solver.deviation),
            "deviation_bound": _figure(solver.deviation_bound),
            "proven": solver.proven,
        },
        "assignments": assignments_entry(rows, {"mode": "plain"}, quoted=quoted),
        "counts": split_counts(by_item, partition.splits),
        "balance": balance.to_json(),
        "reading": _reading(partition),
        "environment": environment(),
    }
    if partition.drawn:
        document["subset"] = partition.drawn.to_json()
    return Manifest(document | dict(more or {}), shown_rows(rows))


def _name(partition: Partition) -> str:
    items = partition.items
    parts = [items.dataset]
    if items.task and not (items.card and items.card.default_task == items.task):
        parts.append(items.task)
    if items.replica:
        parts.append("replica")
    parts.append(partition.protocol.name)
    if partition.protocol.split and partition.splits != partition.protocol.split.names:
        parts.append(f"{len(partition.splits)}-folds")
    name = re.sub(r"[^a-z0-9._-]+", "-", "-".join(parts).lower()).strip("-._")
    return name[:200] or "manifest"


def _role(split: str, splits: tuple[str, ...]) -> str:
    if split in _ROLES:
        return _ROLES[split]
    if len(splits) == 1:
        return "subset"
    return "fold" if re.fullmatch(r"fold-?\d+", split) else "other"


def _figure(value: float | None) -> float | None:
    return None if value is None else round(value, 9)


def _dataset(partition: Partition, rows: Rows) -> dict[str, Any]:
    items, card = partition.items, partition.items.card
    known = [*items.labels, *(name for name in items.attributes if name in items.table.column_names)]
    columns = dict.fromkeys((*known, *partition.stratify))
    if "subject" in items.table.column_names:
        columns["subject"] = None
    entry: dict[str, Any] = {
        "name": items.dataset,
        "task": items.task,
        "licensed": card.licensed if card else False,
        "sources": [
            {"path": s.path, "role": s.role, "digest": s.digest, "bytes": s.bytes, "rows": s.rows}
            for s in items.sources
        ],
        "items_digest": items_digest(items.table, tuple(columns), rows.order),
    }
    if card:
        texts = ("title", "release", "url", "license", "paper", "unit")
        entry |= {key: getattr(card, key) for key in texts} | {"evaluation_only": card.evaluation_only}
    if partition.accepted_terms:
        entry["accepted_terms"] = partition.accepted_terms
    return entry


def _columns(items: Items) -> dict[str, Any]:
    """Count, for each label and attribute, the values that were manual, automatic, unstated and missing."""
    table: Any = items.table
    found: dict[str, Any] = {}
    automatic = manual = None
    if "annotation" in table.column_names:
        automatic = pc.equal(table["annotation"], "automatic")
        manual = pc.equal(table["annotation"], "manual")
    for name in (*items.labels, *items.attributes):
        if name not in table.column_names:
            continue
        is_label = name in items.labels
        missing = int(table[name].null_count)
        counts = [0, 0]
        if is_label and automatic is not None:
            present = pc.is_valid(table[name])
            counts = [int(pc.sum(pc.and_(mark, present)).as_py() or 0) for mark in (manual, automatic)]
        elif f"{name}_source" in table.column_names:
            said = pc.if_else(pc.is_valid(table[name]), table[f"{name}_source"], pa.scalar(None, pa.string()))
            counts = [int(pc.sum(pc.equal(said, kind)).as_py() or 0) for kind in ("manual", "automatic")]
        entry: dict[str, Any] = {
            "role": "label" if is_label else "attribute",
            "manual": counts[0],
            "automatic": counts[1],
            "missing": missing,
            "unstated": len(table) - missing - sum(counts),
        }
        card = items.card.attributes.get(name) if items.card else None
        if card and card.source:
            entry["source"] = card.source
        found[name] = entry
    return found


def _reading(partition: Partition) -> dict[str, Any]:
    report = partition.items.report
    return {
        "rows_read": report.rows_read,
        "skipped": dict(report.skipped),
        "missing": {column: dict(tokens) for column, tokens in report.missing.items()},
        "left_out": dict(partition.left_out),
        "warnings": [*report.warnings, *partition.warnings],
        "notes": [*report.notes, *partition.notes],
    }


def _subject_rows(rows: Rows) -> Rows:
    """Return one row a subject; the rows as they are where an item has no subject, several, or is torn."""
    subject = rows.table["subject"]
    if pc.any(pc.or_(pc.equal(subject, ""), pc.match_substring(subject, "|"))).as_py():
        return rows
    pairs = rows.table.select(["subject", "split"]).group_by(["subject", "split"]).aggregate([])
    if pc.count_distinct(pairs["subject"]).as_py() < pairs.num_rows:
        return rows
    return canonical_rows(pairs.select(["subject", "split"]))


def shown_rows(rows: Rows) -> pa.Table:
    """Return canonical rows as a manifest holds them: an unknown subject is null."""
    table: Any = rows.table
    columns = {name: table[name].cast(pa.string()) for name in table.column_names}
    if rows.level == "item":
        blank = pc.equal(columns["subject"], "")
        columns["subject"] = pc.if_else(blank, pa.scalar(None, pa.string()), columns["subject"])
    return pa.table(columns)


def expand_rows(assignments: pa.Table) -> pa.Table:
    """Return pairs of one person and a split, each once: several people joined by ``|`` are taken apart.

    Parameters
    ----------
    assignments : pyarrow.Table
        Columns ``subject`` (null or empty where unknown) and ``split``.

    Returns
    -------
    pairs : pyarrow.Table
        Columns ``subject`` and ``split``; in no certain order.
    """
    subject: Any = assignments["subject"]
    named = pc.and_(pc.is_valid(subject), pc.not_equal(pc.fill_null(subject, ""), ""))
    pairs: Any = assignments.select(["subject", "split"]).filter(named).group_by(["subject", "split"]).aggregate([])
    pairs = pairs.select(["subject", "split"]).combine_chunks()
    if pairs.num_rows and pc.any(pc.match_substring(pairs["subject"], "|")).as_py():
        lists = pc.split_pattern(pairs["subject"].combine_chunks(), "|")
        lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) else lists
        split = pairs["split"].take(pc.list_parent_indices(lists))
        flat = pa.table({"subject": pc.list_flatten(lists), "split": split})
        pairs = flat.group_by(["subject", "split"]).aggregate([]).select(["subject", "split"])
    return pairs


def split_counts(rows: Rows, splits: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Return the number of items and of subjects in each split."""
    pairs = expand_rows(rows.table)
    names = pa.array(splits, pa.large_string())

    def tally(column: Any) -> Any:
        places = pc.index_in(column, names).drop_null()
        return np.bincount(np.asarray(places.to_numpy(), np.int64), minlength=len(splits)).tolist()

    items, subjects = tally(rows.table["split"]), tally(pairs["split"])
    return {name: {"items": items[at], "subjects": subjects[at]} for at, name in enumerate(splits)}


def assignments_entry(rows: Rows, identity: Mapping[str, Any], *, quoted: bool = False) -> dict[str, Any]:
    """Return the document's ``assignments`` for canonical rows: digests, columns and the file."""
    import hashlib

    state, size = hashlib.sha256(), 0
    for piece in csv_pieces(rows, quoted=quoted):
        state.update(piece)
        size += len(piece)
    file = {"path": "assignments.csv", "media_type": "text/csv", "bytes": size, "digest": f"sha256:{state.hexdigest()}"}
    entry: dict[str, Any] = {
        "canonical": CANONICAL,
        "digest": assignment_digest(rows),
        "rows": rows.table.num_rows,
        "level": rows.level,
        "columns": rows.table.column_names,
        "identity": dict(identity),
        "files": [file],
    }
    return entry | {"quoted": True} if quoted else entry


def csv_pieces(rows: Rows, *, quoted: bool = False) -> list[Any]:
    """Return ``assignments.csv`` in pieces of bytes: LF, quotation marks only where a value needs them."""
    if quoted:
        columns: dict[str, Any] = {}
        for name in rows.table.column_names:
            column = rows.table[name]
            mark, empty = (pa.scalar(text, pa.large_string()) for text in ('"', ""))
            marked = pc.binary_join_element_wise(mark, pc.replace_substring(column, '"', '""'), mark, empty)
            columns[name] = pc.if_else(pc.match_substring_regex(column, '[",]'), marked, column)
        rows = Rows(pa.table(columns), None)
    header = ",".join(rows.table.column_names) + "\n"
    return [header.encode(), *row_bytes(rows, ",")]


def created() -> str:
    """Return the time for the document, from ``SOURCE_DATE_EPOCH`` where that is set.

    Raises
    ------
    InputError
        If ``SOURCE_DATE_EPOCH`` is no number of seconds.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        moment = datetime.now(UTC)
    else:
        try:
            moment = datetime.fromtimestamp(int(epoch), UTC)
        except (ValueError, OverflowError, OSError):
            raise InputError(
                f"SOURCE_DATE_EPOCH is {epoch!r}", hint="it counts seconds since 1970: unset it, or use date +%s"
            ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def environment() -> dict[str, str]:
    """Return the versions that the partition was computed with."""
    from .. import __version__

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
        "protoctl": __version__,
    }
