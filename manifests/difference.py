"""Two manifests compared: who was added, withdrawn or moved, and which version follows from that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from ..tabular import pc
from .model import Manifest

__all__ = ["Difference", "bumped", "compare_manifests", "least_version", "refuse_version"]

_BUMPS = ("patch", "minor", "major")
_SEMVER = re.compile(r"(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True)
class Difference:
    """What differs between an earlier and a later manifest.

    Parameters
    ----------
    earlier, later : str
        ``name@version`` of both.
    level : str
        What was compared: ``item`` or ``subject``.
    kept : int
        Rows that both have in the same split.
    added, withdrawn : mapping of str to int
        Rows that only the later or the earlier one has, by split.
    moved : mapping of (str, str) to int
        Rows in another split: from, to.
    categories : tuple of (str, str, tuple of int, tuple of int)
        Attribute, category, items by split before and after, where both state them and they differ.
    mean, worst : tuple of float or None
        Mean and worst deviation before and after, percentage points; None where one does not state it, or states
        that of an earlier version.
    bump : {"patch", "minor", "major"}
        The smallest step that the rows demand.
    reasons : tuple of str
        Why.
    scores : str
        Whether scores on the splits that are not for training can be compared.
    least : str
        The smallest version that the later one may have.
    """

    earlier: str
    later: str
    level: str
    kept: int
    added: Mapping[str, int]
    withdrawn: Mapping[str, int]
    moved: Mapping[tuple[str, str], int]
    categories: tuple[tuple[str, str, tuple[int, ...], tuple[int, ...]], ...]
    mean: tuple[float, float] | None
    worst: tuple[float, float] | None
    bump: str
    reasons: tuple[str, ...]
    scores: str
    least: str

    @property
    def same(self) -> bool:
        """Whether every row is the same."""
        return not (self.added or self.withdrawn or self.moved)

    @property
    def delta(self) -> dict[str, int]:
        """Numbers of rows added, withdrawn and moved."""
        return {
            "added": sum(self.added.values()),
            "withdrawn": sum(self.withdrawn.values()),
            "moved": sum(self.moved.values()),
        }

    def to_json(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {
            "earlier": self.earlier,
            "later": self.later,
            "level": self.level,
            "kept": self.kept,
            "added": dict(self.added),
            "withdrawn": dict(self.withdrawn),
            "moved": [{"from": a, "to": b, "rows": count} for (a, b), count in self.moved.items()],
            "categories": [
                {"attribute": attribute, "value": value, "before": list(before), "after": list(after)}
                for attribute, value, before, after in self.categories
            ],
            "mean_pp": self.mean and list(self.mean),
            "worst_pp": self.worst and list(self.worst),
            "bump": self.bump,
            "reasons": list(self.reasons),
            "scores": self.scores,
            "least_version": self.least,
        }


def compare_manifests(earlier: Manifest, later: Manifest) -> Difference:
    """Compare two manifests row by row.

    Parameters
    ----------
    earlier, later : Manifest
        Of the same kind of identities; a manifest of items is compared with one of subjects by subject.

    Returns
    -------
    difference : Difference

    Raises
    ------
    InputError
        If one has names and the other tokens, or tokens of another lineage.
    """
    _refuse_identities(earlier, later)
    column, before, after = _aligned(earlier, later)
    place = pc.index_in(after[column], before[column]).combine_chunks()
    found = pc.fill_null(place, -1).to_numpy(zero_copy_only=False)
    names = pa.array(dict.fromkeys((*earlier.splits, *later.splits)), pa.string())
    old, new = (pc.index_in(table["split"], names).to_numpy() for table in (before, after))
    labels: list[str] = names.to_pylist()
    here = found >= 0
    stays = old[found[here]]
    goes = new[here]
    gone = np.ones(len(old), bool)
    gone[found[here]] = False
    moves, counts = np.unique(np.stack([stays, goes])[:, stays != goes], axis=1, return_counts=True)
    moved = {(labels[a], labels[b]): int(count) for a, b, count in zip(*moves.tolist(), counts.tolist(), strict=True)}
    added, withdrawn = _tally(new[~here], labels), _tally(old[gone], labels)
    bump, reasons = _bump(earlier, later, added, withdrawn, moved)
    return Difference(
        earlier=earlier.title,
        later=later.title,
        level=column,
        kept=int((stays == goes).sum()),
        added=added,
        withdrawn=withdrawn,
        moved=moved,
        categories=_categories(earlier, later),
        mean=_figures(earlier, later, "mean_pp"),
        worst=_figures(earlier, later, "worst_pp"),
        bump=bump,
        reasons=reasons,
        scores=_scores(earlier, later, added, withdrawn, moved),
        least=bumped(earlier.version, bump if bump != "patch" or earlier.version != later.version else ""),
    )


def _tally(codes: Any, labels: list[str]) -> dict[str, int]:
    counts = np.bincount(codes, minlength=len(labels))
    return {label: int(count) for label, count in zip(labels, counts, strict=True) if count}


def _refuse_identities(earlier: Manifest, later: Manifest) -> None:
    one, other = (manifest.document["assignments"]["identity"] for manifest in (earlier, later))
    if one["mode"] != other["mode"]:
        raise InputError(
            f"{earlier.title} and {later.title} cannot be compared: one has names and the other tokens",
            hint="resolve the one with tokens first: protoctl resolve",
        )
    if one["mode"] == "keyed" and one["key_check"] != other["key_check"]:
        raise InputError(
            f"{earlier.title} and {later.title} cannot be compared: their tokens are of different lineages",
            hint="a holder of the release resolves both: protoctl resolve",
        )


def _aligned(earlier: Manifest, later: Manifest) -> tuple[str, Any, Any]:
    """Return what a row is, and both tables with one row for each."""
    if earlier.level == later.level:
        return earlier.level, earlier.assignments, later.assignments
    tables: list[Any] = []
    for manifest in (earlier, later):
        table = manifest.assignments.select(["subject", "split"])
        if manifest.level == "item":
            table = table.group_by(["subject", "split"]).aggregate([]).select(["subject", "split"])
            if table["subject"].null_count or pc.count_distinct(table["subject"]).as_py() < table.num_rows:
                raise InputError(
                    f"{manifest.title} cannot be compared by subject: it has items without one, or torn subjects",
                    hint="compare manifests that both list items",
                )
        tables.append(table)
    return "subject", tables[0], tables[1]


def _training(manifest: Manifest) -> set[str]:
    return {split["name"] for split in manifest.document["protocol"]["splits"] if split["role"] == "training"}


def _bump(
    earlier: Manifest,
    later: Manifest,
    added: Mapping[str, int],
    withdrawn: Mapping[str, int],
    moved: Mapping[tuple[str, str], int],
) -> tuple[str, tuple[str, ...]]:
    """Return the smallest step and why: what was moved, withdrawn or added to a split for evaluation is major."""
    reasons: list[str] = []
    if moved:
        reasons.append(f"{sum(moved.values()):,} moved")
    if withdrawn:
        reasons.append(f"{sum(withdrawn.values()):,} withdrawn")
    elsewhere = {split: count for split, count in added.items() if split not in _training(later)}
    reasons += [f"{count:,} added to {split}" for split, count in elsewhere.items()]
    if set(earlier.splits) != set(later.splits):
        reasons.append(f"splits {', '.join(earlier.splits)} became {', '.join(later.splits)}")
    if _major(earlier) != _major(later):
        one, other = (manifest.document["protocol"] for manifest in (earlier, later))
        reasons.append(f"protocol {one['name']} {one['version']} became {other['name']} {other['version']}")
    if reasons:
        return "major", tuple(reasons)
    if added:
        return "minor", tuple(f"{count:,} added to {split}, for training only" for split, count in added.items())
    return "patch", ("every row is the same",)


def _major(manifest: Manifest) -> tuple[str, str]:
    protocol = manifest.document["protocol"]
    return protocol["name"], protocol["version"].split(".")[0]


def bumped(version: str, step: str) -> str:
    """Return a version after a step; the same where the step is empty.

    Examples
    --------
    >>> bumped("1.2.3", "minor"), bumped("1.2.3-rc.1", "patch"), bumped("1.2.3", "")
    ('1.3.0', '1.2.4', '1.2.3')
    """
    found = _SEMVER.match(version)
    if not step or found is None:
        return version
    major, minor, patch = (int(part) for part in found.groups())
    return {"major": f"{major + 1}.0.0", "minor": f"{major}.{minor + 1}.0", "patch": f"{major}.{minor}.{patch + 1}"}[
        step
    ]


def least_version(earlier: Manifest, difference: Difference) -> str:
    """Return the smallest version that follows an earlier manifest."""
    return bumped(earlier.version, difference.bump)


def _numbers(version: str) -> tuple[int, ...]:
    found = _SEMVER.match(version)
    return tuple(int(part) for part in found.groups()) if found else (0, 0, 0)


def refuse_version(difference: Difference, version: str) -> None:
    """Refuse a version that is smaller than the rows demand.

    Raises
    ------
    InputError
        With the reasons, and the smallest version that will do.
    """
    if _numbers(version) >= _numbers(difference.least):
        return
    raise InputError(
        f"version {version} is too small after {difference.earlier}: {', '.join(difference.reasons)}",
        hint=f"it is a {difference.bump} change: use {difference.least} or later",
    )


def _scores(
    earlier: Manifest,
    later: Manifest,
    added: Mapping[str, int],
    withdrawn: Mapping[str, int],
    moved: Mapping[tuple[str, str], int],
) -> str:
    """Say whether scores on both can be compared, and on what."""
    training = _training(earlier) | _training(later)
    lines: list[str] = []
    for split in (name for name in earlier.splits if name not in training):
        if split not in later.splits:
            lines.append(f"{split} is no more")
            continue
        left = withdrawn.get(split, 0) + sum(count for (a, _), count in moved.items() if a == split)
        came = added.get(split, 0) + sum(count for (_, b), count in moved.items() if b == split)
        whole = _rows(earlier, split)
        if left or came:
            lines.append(
                f"on {split} only over the {whole - left:,} rows that both have ({left:,} left, {came:,} came)"
            )
        else:
            lines.append(f"on {split}: the same {whole:,} rows")
    leaked = sum(count for (a, b), count in moved.items() if a in training and b not in training)
    if leaked:
        lines.append(
            f"what was trained on the earlier one has seen {leaked:,} rows that are now evaluated on: train anew"
        )
    if withdrawn.keys() & training and not leaked:
        lines.append("what was trained on the earlier one has seen withdrawn rows")
    return "; ".join(lines) or "there is no split for evaluation"


def _rows(manifest: Manifest, split: str) -> int:
    return int(pc.sum(pc.equal(manifest.assignments["split"], split)).as_py() or 0)


def _categories(earlier: Manifest, later: Manifest) -> Any:
    if earlier.splits != later.splits:
        return ()
    counts = [
        {
            (row["attribute"], row["value"], row["role"]): tuple(row["items"])
            for row in manifest.document["balance"]["categories"]
            if row["role"] != "known"
        }
        for manifest in (earlier, later)
    ]
    keys = dict.fromkeys((*counts[0], *counts[1]))
    zero = (0,) * len(earlier.splits)
    found: list[Any] = []
    for key in keys:
        before, after = counts[0].get(key, zero), counts[1].get(key, zero)
        if before != after and None not in (*before, *after):
            value = {"missing": "(missing)", "active": "active"}.get(key[2], key[1])
            found.append((key[0] or "total", value, before, after))
    return tuple(found)


def _figures(earlier: Manifest, later: Manifest, figure: str) -> tuple[float, float] | None:
    if "as_of" in later.document["balance"]:
        return None
    values = [manifest.document["balance"].get(figure) for manifest in (earlier, later)]
    return None if None in values else (float(values[0]), float(values[1]))
