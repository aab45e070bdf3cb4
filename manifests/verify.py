"""Verification: a manifest against its schema and digests, its rows, the files on disk, and its solver.

Every level finds all that it can, one finding a fault; nothing is written. What was not looked at is said as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..digests import canonical_json, digest_bytes, digest_file
from ..errors import InputError, listing
from ..partition.balance import Balance
from ..tabular import TextTable, pc
from .build import expand_rows, shown_rows, split_counts
from .digest import Rows, assignment_digest, sorted_rows
from .files import read_assignments, read_document
from .folders import AUTHORITY
from .model import Manifest, document_problems

__all__ = ["UNCOUNTED", "Fault", "Verification", "verify_folder"]

UNCOUNTED = "each category's count: that needs the dataset (--recompute)"
"""What levels 1 and 2 do not look at, and level 4 does."""

_FIGURE = 1e-5


@dataclass(frozen=True)
class Fault:
    """One thing that is not as the manifest says.

    Parameters
    ----------
    level : int
        1 schema and digests, 2 rows and counts, 3 files on disk, 4 recomputation.
    place : str
        File and line, path in the document, or name of the item.
    message : str
        What was found.
    """

    level: int
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass
class Verification:
    """What a verification found.

    Parameters
    ----------
    folder : pathlib.Path
        The manifest's.
    manifest : Manifest or None
        The manifest, where it could be read at all.
    faults : list of Fault
        Everything found.
    checked, unseen : list of str
        What was looked at; what was not, and why.
    """

    folder: Path
    manifest: Manifest | None = None
    faults: list[Fault] = field(default_factory=list[Fault])
    checked: list[str] = field(default_factory=list[str])
    unseen: list[str] = field(default_factory=list[str])

    def add(self, level: int, place: str, message: str) -> None:
        """Note a fault."""
        self.faults.append(Fault(level, place, message))

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.faults

    def to_json(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {
            "folder": str(self.folder),
            "manifest": self.manifest.title if self.manifest else None,
            "digest": self.manifest.digest if self.manifest else None,
            "passed": self.passed,
            "checked": list(self.checked),
            "faults": [dict(vars(fault)) for fault in self.faults],
            "not_looked_at": list(self.unseen),
        }


def verify_folder(path: str | Path) -> Verification:
    """Verify levels 1 and 2: schema and digests; rows, counts and balance.

    Parameters
    ----------
    path : str or pathlib.Path
        A manifest's folder, or its ``manifest.json``.

    Returns
    -------
    verification : Verification
        `verify_root` and `verify_recomputed` add to it.

    Raises
    ------
    InputError
        If there is no manifest at all; everything else is a fault.
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"{place}: there is no such file or folder", hint="name the folder of a manifest")
    if place.is_dir() and not (place / AUTHORITY).exists():
        raise InputError(f"{place} holds no {AUTHORITY}", hint="name the folder that protoctl split wrote")
    folder = place if place.is_dir() else place.parent
    found = Verification(folder)
    for file in (folder / AUTHORITY, folder / "assignments.csv"):
        if file.is_symlink():
            found.add(1, file.name, "is a symbolic link, whose target may change")
    try:
        _, document = read_document(place)
    except InputError as error:
        found.add(1, AUTHORITY, error.message.removeprefix(f"{folder / AUTHORITY}: ") + _hinted(error))
        return found
    broken = document_problems(document)
    for problem in broken.found:
        found.add(1, f"{AUTHORITY} {problem.place}", problem.message)
    found.checked.append("the schema")
    if broken:
        found.unseen.append("anything else: the document is not of the format")
        return found
    _protocol(found, document)
    _files(found, document)
    rows = _rows(found, document)
    if rows is None:
        return found
    manifest = found.manifest = Manifest(document, shown_rows(rows), folder)
    _splits(found, manifest)
    _counts(found, manifest, rows)
    _balance(found, document)
    return found


def _hinted(error: InputError) -> str:
    return f" ({error.hint})" if error.hint else ""


def _protocol(found: Verification, document: Mapping[str, Any]) -> None:
    stated = document["protocol"]
    if "document" not in stated:
        found.unseen.append("the protocol's digest: the manifest does not hold the rules themselves")
    elif digest_bytes(canonical_json(stated["document"])) != stated["digest"]:
        found.add(1, f"{AUTHORITY} $.protocol.digest", "is not the digest of $.protocol.document")
    found.checked.append("the protocol's digest")
    names = {split["name"] for split in stated["splits"]}
    for place, keys in (
        ("$.protocol.ratios", set(stated["ratios"])),
        ("$.counts", set(document["counts"])),
        ("$.balance.splits", set(document["balance"]["splits"])),
    ):
        if keys != names:
            found.add(1, f"{AUTHORITY} {place}", f"names {_names(keys)} where $.protocol.splits names {_names(names)}")


def _names(names: set[str]) -> str:
    return listing(sorted(names))


def _files(found: Verification, document: Mapping[str, Any]) -> None:
    """Compare each file of the rows with its size and digest."""
    for entry in document["assignments"]["files"]:
        file = found.folder / entry["path"]
        if not file.is_file():
            found.add(1, entry["path"], "is absent")
            continue
        size = file.stat().st_size
        if size != entry["bytes"]:
            found.add(1, entry["path"], f"has {size:,} bytes where {entry['bytes']:,} are stated")
        elif digest_file(file) != entry["digest"]:
            found.add(1, entry["path"], "has other bytes than those whose digest is stated")
    found.checked.append("the digests of the files")


def _rows(found: Verification, document: Mapping[str, Any]) -> Rows | None:
    """Read the rows of every file; name all that is wrong with them and compare their digest."""
    entry = document["assignments"]
    kept: Rows | None = None
    for file in entry["files"]:
        try:
            text = read_assignments(found.folder, document, name=file["path"])
            rows, problems = sorted_rows(
                text.table.select(entry["columns"]), place=text.place, quoted=bool(entry.get("quoted"))
            )
        except InputError as error:
            if (found.folder / file["path"]).is_file():
                found.add(2, file["path"], error.message.removeprefix(f"{found.folder / file['path']}: "))
            continue
        for problem in problems.found:
            found.add(2, problem.place, problem.message)
        _row_count(found, entry, rows, file["path"])
        if not problems and assignment_digest(rows) != entry["digest"]:
            found.add(
                1, file["path"], f"its rows have the digest {assignment_digest(rows)}, stated is {entry['digest']}"
            )
        if kept is None and not problems:
            kept = rows
            _order(found, text, rows, file["path"])
    found.checked += ["the digest of the assignment", "every name and that none stands twice"]
    return kept


def _row_count(found: Verification, entry: Mapping[str, Any], rows: Rows, name: str) -> None:
    if rows.table.num_rows != entry["rows"]:
        found.add(2, name, f"holds {rows.table.num_rows:,} rows where {entry['rows']:,} are stated")


def _order(found: Verification, text: TextTable, rows: Rows, name: str) -> None:
    if rows.order is not None and text.first_line is not None:
        found.add(2, name, "its rows are not sorted by bytes, so that versions cannot be compared line by line")


def _splits(found: Verification, manifest: Manifest) -> None:
    """Look for unknown splits and subjects in two of them."""
    split: Any = manifest.assignments["split"]
    known = pa.array(manifest.splits, pa.string())
    strange = pc.value_counts(split.filter(pc.invert(pc.is_in(split, known))))
    for each in strange.to_pylist():
        found.add(2, "assignments.csv", f"{each['counts']:,} rows are in split {each['values']!r}, which is unknown")
    found.checked.append("that every split is known")
    subjects: Any = manifest.assignments["subject"]
    if manifest.level == "subject":
        return
    if subjects.null_count == len(subjects):
        found.unseen.append("whole subjects: the rows name none")
        return
    pairs = expand_rows(manifest.assignments)
    counts = pc.value_counts(pairs["subject"])
    torn = counts.filter(pc.greater(counts.field("counts"), 1)).field("values").to_pylist()
    if manifest.document["protocol"]["unit"] == "item":
        found.unseen.append("whole subjects: the protocol moves items")
        return
    for subject in sorted(torn):
        mask = pc.equal(pairs["subject"], subject)
        where = sorted(pairs["split"].filter(mask).to_pylist())
        found.add(2, "assignments.csv", f"subject {subject!r} is in {len(where)} splits: {', '.join(where)}")
    found.checked.append("that subjects are whole")


def _counts(found: Verification, manifest: Manifest, rows: Rows) -> None:
    """Count items and subjects again."""
    document = manifest.document
    real = split_counts(rows, manifest.splits)
    for split, counts in real.items():
        stated = document["counts"].get(split)
        if stated is None:
            continue
        for what in ("items", "subjects"):
            if what == "items" and manifest.level == "subject":
                continue
            if what == "subjects" and document["assignments"]["identity"].get("subjects") == "omitted":
                continue
            if stated[what] != counts[what]:
                found.add(
                    2,
                    f"{AUTHORITY} $.counts.{split}.{what}",
                    f"says {stated[what]:,}, and the rows hold {counts[what]:,}",
                )
    if manifest.level == "subject":
        found.unseen.append("the number of items: the rows are subjects")
    found.checked.append("the counts")


def _balance(found: Verification, document: Mapping[str, Any]) -> None:
    """Recompute what can be without the items' attributes: sums over categories, and every figure."""
    stated = document["balance"]
    rows: list[Mapping[str, Any]] = stated["categories"]
    if "suppress_below" in stated:
        found.unseen.append("the balance table: small counts are left out")
        return
    splits: list[str] = stated["splits"]
    for number, row in enumerate(rows):
        place = f"{AUTHORITY} $.balance.categories[{number}]"
        for counts in ("items", "units"):
            if len(row[counts]) != len(splits) or None in row[counts]:
                found.add(2, f"{place}.{counts}", "does not have one count for each split")
                return
        if any(units > items for items, units in zip(row["items"], row["units"], strict=True)):
            found.add(2, f"{place}.units", "counts more units than items")
    _sums(found, document, rows, splits)
    again = Balance.from_json(stated).to_json()
    for key, value in again.items():
        if key not in stated or key == "categories":
            continue
        if not _equal(stated[key], value):
            found.add(2, f"{AUTHORITY} $.balance.{key}", f"says {stated[key]!r}, and the counts give {value!r}")
    for number, (row, new) in enumerate(zip(rows, again["categories"], strict=True)):
        for key in ("shares", "points", "items_off"):
            if key in row and not _equal(row[key], new[key]):
                found.add(
                    2,
                    f"{AUTHORITY} $.balance.categories[{number}].{key}",
                    f"says {row[key]}, the counts give {new[key]}",
                )
    found.checked.append("the sums and figures of the balance table")
    found.unseen.append(UNCOUNTED)


def _sums(found: Verification, document: Mapping[str, Any], rows: list[Mapping[str, Any]], splits: list[str]) -> None:
    """Compare the total with the counts, and each attribute's categories with the total."""
    total = next((row["items"] for row in rows if row["role"] == "total"), None)
    if total is None:
        found.add(2, f"{AUTHORITY} $.balance.categories", "has no total")
        return
    if "as_of" not in document["balance"]:
        counts = [document["counts"].get(split, {}).get("items") for split in splits]
        for split, here, there in zip(splits, total, counts, strict=True):
            if there is not None and here != there:
                found.add(
                    2, f"{AUTHORITY} $.balance.categories", f"its total in {split} is {here:,}, $.counts says {there:,}"
                )
    for attribute in dict.fromkeys(row["attribute"] for row in rows if row["role"] != "total"):
        own = [row for row in rows if row["attribute"] == attribute]
        if any(row["role"] == "active" for row in own):
            _binary(found, attribute, own, total)
            continue
        for at, split in enumerate(splits):
            held = sum(row["items"][at] for row in own)
            if held != total[at]:
                found.add(
                    2,
                    f"{AUTHORITY} $.balance.categories",
                    f"the categories of {attribute} in {split} add up to {held:,}, the total is {total[at]:,}",
                )
        column = document.get("columns", {}).get(attribute)
        missing = sum(sum(row["items"]) for row in own if row["role"] == "missing")
        if column is not None and "as_of" not in document["balance"] and column["missing"] != missing:
            found.add(
                2,
                f"{AUTHORITY} $.columns.{attribute}.missing",
                f"says {column['missing']:,}, the balance table {missing:,}",
            )


def _binary(found: Verification, attribute: str, own: list[Mapping[str, Any]], total: list[int]) -> None:
    """Compare what is active with what is known, and that with the total."""
    known = next((row["items"] for row in own if row["role"] == "known"), total)
    active = next(row["items"] for row in own if row["role"] == "active")
    if any(a > b or b > c for a, b, c in zip(active, known, total, strict=True)):
        found.add(2, f"{AUTHORITY} $.balance.categories", f"{attribute} is active more often than it is known")


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_equal(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one == other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= _FIGURE
    return one == other
