"""Manifests that grow and shrink: new items find their place, some leave, and nobody else moves."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..errors import InputError, ProtocolError, listing, unknown
from ..tabular import pc
from .build import assignments_entry, build_manifest, created, environment, shown_rows, split_counts
from .difference import bumped, compare_manifests, refuse_version
from .digest import Rows, canonical_rows
from .files import dump_document, read_manifest
from .folders import AUTHORITY
from .keys import Key, keyed_manifest, tokens
from .model import Manifest
from .readme import render_readme
from .suppression import KEEP_BELOW, frozen_balance, suppressed_balance

if TYPE_CHECKING:
    from ..catalog import Items
    from ..protocols import Protocol

__all__ = ["REASONS", "extended_manifest", "mark_superseded", "ruled", "withdrawn_manifest"]

REASONS = ("data-subject-request", "licence", "duplicate", "corrupt", "label-error", "other")
"""Why items may be withdrawn."""

Progress = Callable[[int, int | None, str], None]


def ruled(manifest: Manifest, protocol: Protocol) -> Protocol:
    """Return the protocol as the manifest used it: the same digest, and what was overridden then.

    Raises
    ------
    ProtocolError
        If it is another protocol than the manifest's.
    """
    from ..protocols import override

    stated = manifest.document["protocol"]
    if protocol.digest != stated["digest"]:
        raise ProtocolError(
            f"protocol {protocol.name} {protocol.version} is not the one that {manifest.title} keeps: "
            f"{stated['name']} {stated['version']} of digest {stated['digest'][:19]}",
            hint="name that protocol's file with --protocol",
        )
    overrides: Mapping[str, Any] = stated["overrides"]
    chosen: dict[str, Any] = {
        key: tuple(overrides[key]) if key != "unit" else overrides[key]
        for key in ("stratify", "require", "unit")
        if key in overrides
    }
    return override(protocol, **chosen) if chosen else protocol


def kept_splits(manifest: Manifest, items: Items, key: Key | None = None) -> dict[str, str]:
    """Return the split of each item that the manifest already has, by name.

    Parameters
    ----------
    manifest : Manifest
        Of items or subjects, with names or tokens.
    items : Items
        The dataset, old items included.
    key : Key, optional
        For a manifest with tokens.

    Raises
    ------
    InputError
        If items or subjects of the manifest are absent.
    """
    column = manifest.level
    if column not in items.table.column_names:
        raise InputError(f"{items.dataset} has no column {column!r}", hint=f"{manifest.title} lists {column}s")
    if manifest.keyed and key is None:
        raise InputError(f"{manifest.title} holds tokens", hint="name the release's file with --key-file")
    here: Any = items.table[column].cast(pa.string())
    ids = tokens(here, column, key) if key is not None and manifest.keyed else here
    rows = manifest.assignments
    absent = pc.invert(pc.is_in(rows[column], ids.combine_chunks() if hasattr(ids, "combine_chunks") else ids))
    lost = int(pc.sum(absent).as_py() or 0)
    if lost:
        raise InputError(
            f"{lost:,} {column}s of {manifest.title} are absent from {items.dataset}: "
            + listing(rows[column].filter(absent).slice(0, 5).to_pylist()),
            hint="name the whole dataset, old items included; take out those that left with protoctl withdraw",
        )
    split = rows["split"].take(pc.index_in(ids, rows[column]))
    known = pc.is_valid(split)
    return dict(zip(items.table["item"].filter(known).to_pylist(), split.filter(known).to_pylist(), strict=True))


def extended_manifest(
    manifest: Manifest,
    items: Items,
    protocol: Protocol,
    *,
    seed: int | None = None,
    version: str | None = None,
    key: Key | None = None,
    progress: Progress | None = None,
) -> Manifest:
    """Add new items and subjects; what the manifest has stays where it is.

    Items of a subject that is there follow it; the partitioner finds the best place for the others.

    Parameters
    ----------
    manifest : Manifest
        The earlier version.
    items : Items
        The dataset with old items and new ones.
    protocol : Protocol
        The manifest's own (see `ruled`).
    seed : int, optional
        By default the earlier one's.
    version : str, optional
        By default the smallest that the rows demand.
    key : Key, optional
        For a manifest with tokens.
    progress : callable, optional
        Called with steps done, steps in all or None, and what is being done.

    Returns
    -------
    manifest : Manifest
        The next version.

    Raises
    ------
    InputError
        If old items are absent, or the version is too small.
    """
    from ..partition import balance_of, split_items

    rules = ruled(manifest, protocol)
    if rules.subset is not None:
        raise InputError(
            f"{manifest.title} draws a subset, which has no place for further items",
            hint="draw it anew from the larger dataset: protoctl split",
        )
    partition = split_items(
        items,
        rules,
        seed=manifest.document["solver"]["seed"] if seed is None else seed,
        keep=kept_splits(manifest, items, key),
        folds=len(manifest.splits) if rules.split and manifest.splits != rules.split.names else None,
        progress=progress,
    )
    _refuse_lost(manifest, partition.items)
    balance = balance_of(partition)
    later = build_manifest(partition, balance, name=manifest.name, mode="extended", more=_carried(manifest))
    if manifest.keyed and key is not None:
        identity = manifest.document["assignments"]["identity"]
        later = keyed_manifest(later, key, subjects=identity["subjects"])
    document = dict(later.document)
    document["balance"] = _next_balance(manifest, later, abs(_rows(later) - _rows(manifest)))
    return _versioned(manifest, replace(later, document=document), version, "extends")


def _refuse_lost(manifest: Manifest, items: Items) -> None:
    """Refuse an extension after which the protocol's selection drops rows that the manifest has."""
    column: Any = items.table[manifest.level]
    if manifest.keyed:
        return
    absent = pc.invert(pc.is_in(manifest.assignments[manifest.level], column.cast(pa.string()).combine_chunks()))
    lost = int(pc.sum(absent).as_py() or 0)
    if lost:
        some = manifest.assignments[manifest.level].filter(absent).slice(0, 5).to_pylist()
        raise InputError(
            f"{lost:,} {manifest.level}s of {manifest.title} no longer pass the protocol's selection: {listing(some)}",
            hint="withdraw them first: protoctl withdraw",
        )


def _rows(manifest: Manifest) -> int:
    return manifest.document["assignments"]["rows"]


def _carried(manifest: Manifest) -> dict[str, Any]:
    """Return what a later version takes over as it stands."""
    keys = ("title", "description", "license", "cite", "authors")
    document = manifest.document
    return {key: value for key, value in document.items() if key in keys or key.startswith("x-")}


def _next_balance(earlier: Manifest, later: Manifest, change: int) -> dict[str, Any]:
    """Return the balance of the next version: suppressed as the earlier one, and frozen over a small change."""
    before, after = earlier.document["balance"], later.document["balance"]
    if "suppress_below" not in before:
        return after
    if change < KEEP_BELOW:
        return frozen_balance(before, earlier.title)
    return suppressed_balance(after, suppress_below=before["suppress_below"], round_to=before["round_to"])


def _versioned(earlier: Manifest, later: Manifest, version: str | None, relation: str) -> Manifest:
    """Give the later manifest its version and where it came from."""
    difference = compare_manifests(earlier, later)
    chosen = version or bumped(earlier.version, difference.bump)
    refuse_version(difference, chosen)
    parent = {
        "name": earlier.name,
        "version": earlier.version,
        "assignments_digest": earlier.digest,
        "relation": relation,
        "delta": {
            what: f"<{KEEP_BELOW}" if relation == "withdraws-from" and 0 < count < KEEP_BELOW else count
            for what, count in difference.delta.items()
        },
    }
    document = {
        **later.document,
        "version": chosen,
        "derived_from": [parent, *earlier.document.get("derived_from", [])],
    }
    return replace(later, document=document)


def withdrawn_manifest(
    manifest: Manifest,
    names: Sequence[str],
    *,
    reason: str,
    by: str = "item",
    version: str | None = None,
    key: Key | None = None,
) -> Manifest:
    """Take items or subjects out; nobody else moves.

    Parameters
    ----------
    manifest : Manifest
        The earlier version.
    names : sequence of str
        Who leaves: names, or tokens of a keyed manifest.
    reason : str
        One of `REASONS`.
    by : {"item", "subject"}
        What the names are.
    version : str, optional
        By default the smallest that the rows demand.
    key : Key, optional
        To find names in a manifest with tokens.

    Returns
    -------
    manifest : Manifest
        Rows vanish; the balance table stays what it was and says of which version it is. The number is not given
        where it is below 10.

    Raises
    ------
    InputError
        If a name is not in the manifest, nobody is left, or the reason is unknown.
    """
    if reason not in REASONS:
        message, hint = unknown("reason", reason, REASONS)
        raise InputError(message, hint=hint)
    if by not in manifest.assignments.column_names:
        raise InputError(f"{manifest.title} lists no {by}s", hint=f"it lists {manifest.level}s")
    gone = _leaving(manifest, names, by, key)
    if not gone.size:
        raise InputError("nobody is named who should leave", hint="name items or subjects, one a line")
    keep = pc.invert(pa.array(gone))
    rows = canonical_rows(manifest.assignments.filter(keep))
    entry = manifest.document["assignments"]
    document: dict[str, Any] = dict(manifest.document)
    document |= {
        "assignments": assignments_entry(rows, entry["identity"], quoted=bool(entry.get("quoted"))),
        "balance": frozen_balance(manifest.document["balance"], manifest.title),
        "created": created(),
        "environment": environment(),
        "solver": {**manifest.document["solver"], "mode": "withdrawn"},
        "status": "released",
    }
    document["counts"] = _recounted(manifest, rows)
    left = int(gone.sum())
    document["withdrawal"] = {
        "reason": reason,
        "date": document["created"][:10],
        "count": f"<{KEEP_BELOW}" if left < KEEP_BELOW else left,
    }
    document.pop("superseded_by", None)
    return _versioned(manifest, Manifest(document, shown_rows(rows)), version, "withdraws-from")


def _recounted(manifest: Manifest, rows: Rows) -> dict[str, Any]:
    """Return the counts of what is left; where rows are subjects, the items of those who left are not known."""
    counts: dict[str, Any] = dict(split_counts(rows, manifest.splits))
    if manifest.level == "subject":
        for split, before in manifest.document["counts"].items():
            same = counts[split]["subjects"] == before["subjects"]
            counts[split] = {**counts[split], "items": before["items"] if same else None}
    return counts


def _leaving(manifest: Manifest, names: Sequence[str], by: str, key: Key | None) -> Any:
    """Mark the rows that leave; refuse names that the manifest has not, and the departure of everybody."""
    wanted = list(dict.fromkeys(names))
    ids = {key.token(by, name) if key is not None else name: name for name in wanted}
    column: Any = manifest.assignments[by]
    if by == "subject":
        lists = pc.split_pattern(pc.fill_null(column, "").combine_chunks(), "|")
        people = pc.list_flatten(lists)
        hit = pc.is_in(people, pa.array(list(ids), pa.string())).to_numpy(zero_copy_only=False)
        gone = np.zeros(len(column), bool)
        gone[pc.list_parent_indices(lists).to_numpy()[hit]] = True
        known = set(people.to_pylist())
    else:
        gone = pc.is_in(column, pa.array(list(ids), pa.string())).to_numpy()
        known = set(column.filter(pa.array(gone)).to_pylist())
    strange = [name for token, name in ids.items() if token not in known]
    if strange:
        raise InputError(
            f"{len(strange):,} of the {by}s are not in {manifest.title}: {listing(strange, most=5)}",
            hint="names are those of assignments.csv" + ("; for names add --key-file" if manifest.keyed else ""),
        )
    if gone.all():
        raise InputError(f"nobody would be left in {manifest.title}", hint="mark it withdrawn instead of emptying it")
    return np.asarray(gone) if wanted else np.zeros(0, bool)


def mark_superseded(folder: Path, later: Manifest) -> None:
    """Mark the manifest in a folder as superseded by a later one; its rows stay as they are.

    Parameters
    ----------
    folder : pathlib.Path
        Of the earlier manifest.
    later : Manifest
        What takes its place.
    """
    earlier = read_manifest(folder)
    document = {**earlier.document, "status": "superseded", "superseded_by": later.title}
    manifest = replace(earlier, document=document)
    for name, text in ((AUTHORITY, dump_document(document)), ("README.md", render_readme(manifest))):
        partial = folder / f".{name}.partial"
        partial.write_text(text, "utf-8", newline="\n")
        os.replace(partial, folder / name)
