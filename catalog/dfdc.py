"""DFDC: ``metadata.json`` in each training part, ``labels.csv`` for validation and test.

Dolhansky et al. (2020). Whom a video shows was not published. A fake names the clip that it was made from, and that
family is what a partition can keep whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from ..errors import InputError
from ..tabular import pc, read_table
from .items import Items
from .json_files import entries, text_of
from .reading import Places, Reading

__all__ = ["read"]

_METADATA = "metadata.json"
_LABELS_FILE = "labels.csv"
_CODES = {"FAKE": "fake", "REAL": "real"}
_FLAGS = {"1": "fake", "0": "real", "true": "fake", "false": "real"}
_DEPTH = 3


def read(reading: Reading) -> Items:
    """Read the metadata of the training parts, or the labels of validation or test."""
    root = reading.root
    files = [root] if root.is_file() else _below(root, _METADATA)
    tables = [path for path in ([root] if root.is_file() else _below(root, _LABELS_FILE)) if path.suffix == ".csv"]
    documents: dict[Path, dict[str, Any]] = {}
    for place, path in enumerate(path for path in files if path.suffix != ".csv"):
        if reading.progress:
            reading.progress(place, len(files), "reading metadata")
        documents[path] = entries(path, keyed_by="file name")
    if not tables and not documents:
        raise reading.unknown_layout()
    whole = [value for document in documents.values() for value in document.values()]
    if any(isinstance(value, Mapping) and "casual_conv_subject_id" in value for value in whole):
        raise InputError(
            f"{reading.title}: {root} names subjects of Casual Conversations",
            hint="that list is a dataset of its own: dfdc-casual-conversations",
        )
    if any(isinstance(value, Mapping) and "original" in value for value in whole):
        return _parts(reading, {path: document for path, document in documents.items() if _has_labels(document)})
    return _without_families(reading, tables, documents)


def _has_labels(document: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Mapping) and "label" in value for value in document.values())


def _below(root: Path, name: str) -> list[Path]:
    """Return the files of a name in a folder and the folders in it, sorted."""
    found: list[Path] = []
    for depth in range(_DEPTH):
        found += root.glob("/".join(["*"] * depth + [name]))
    return sorted(found)


def _parts(reading: Reading, documents: Mapping[Path, Mapping[str, Any]]) -> Items:
    """Read training parts: a fake belongs to the family of its original."""
    columns: dict[str, list[str]] = {name: [] for name in ("item", "subject", "label", "split_released")}
    at: list[str] = []
    for path, document in documents.items():
        for name, value in document.items():
            entry = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
            original = text_of(entry.get("original"))
            columns["item"].append(name.strip())
            columns["subject"].append(original or name.strip())
            columns["label"].append(text_of(entry.get("label")))
            columns["split_released"].append(text_of(entry.get("split")))
            at.append(f"{reading.relative(path)}, {name}")
        reading.source(path, "labels", len(document))
    reading.rows_read = len(at)
    _check_families(reading, columns, at)
    places = Places(at.__getitem__, range(len(at)))
    raw = {name: pa.chunked_array([pa.array(values, pa.string())]) for name, values in columns.items()}
    found = {
        "item": raw["item"],
        "subject": raw["subject"],
        "label": reading.coded(raw["label"], "label", _CODES, places, missing=(), hint="a label is FAKE or REAL"),
        "annotation": pa.array(["manual"] * len(at), pa.string()),
        "split_released": reading.blanked(raw["split_released"], "split", ("",)),
    }
    return reading.finish(found, places, labels=("label",))


def _check_families(reading: Reading, columns: Mapping[str, list[str]], at: list[str]) -> None:
    """Note fakes without an original, and originals that are fakes; tell of originals that are elsewhere."""
    labels = dict(zip(columns["item"], columns["label"], strict=True))
    elsewhere: set[str] = set()
    for name, family, label, place in zip(columns["item"], columns["subject"], columns["label"], at, strict=True):
        if label == "FAKE" and family == name:
            reading.problems.add(
                place,
                "is a fake without an original, so nobody knows which clips belong with it",
                hint="take its entry from the list, or pass a plain table without subjects",
            )
        elif label == "REAL" and family != name:
            reading.problems.add(place, f"is real and names an original, {family!r}", hint="real clips have none")
        elif family != name and labels.get(family, "REAL") != "REAL":
            reading.problems.add(place, f"its original {family!r} is a fake", hint="an original is a real clip")
        if family not in labels:
            elsewhere.add(family)
    if elsewhere:
        reading.notes.append(f"originals that lie in other parts, their families kept all the same: {len(elsewhere):,}")


def _without_families(reading: Reading, tables: list[Path], documents: Mapping[Path, Mapping[str, Any]]) -> Items:
    """Read validation or test: labels, and nothing that says which clips belong together."""
    names: list[Any] = []
    labels: list[Any] = []
    at: list[str] = []
    for path in tables:
        table = read_table(path)
        table.require(["filename", "label"])
        reading.table(table, "labels")
        names += table.table["filename"].to_pylist()
        labels += table.table["label"].to_pylist()
        at += [table.place(row) for row in range(table.table.num_rows)]
    listed = dict(zip(names, labels, strict=True))
    for path, document in documents.items():
        for name, value in document.items():
            entry = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
            said = text_of(entry.get("is_fake", entry.get("label")))
            place = f"{reading.relative(path)}, {name}"
            if name not in listed:
                names.append(name.strip())
                labels.append(said)
                at.append(place)
            elif said and _meaning(said) != _meaning(listed[name]):
                reading.problems.add(
                    place, f"is {said!r}, and {listed[name]!r} in {_LABELS_FILE}", hint="correct one of the two"
                )
        reading.source(path, "labels", len(document))
    reading.rows_read = len(at)
    places = Places(at.__getitem__, range(len(at)))
    column: Any = pa.chunked_array([pa.array(labels, pa.string())])
    found = {
        "item": pc.utf8_trim_whitespace(pa.chunked_array([pa.array(names, pa.string())])),
        "label": reading.coded(column, "label", _meaning, places, missing=(), hint="a label is 0 (real) or 1 (fake)"),
        "annotation": pa.array(["manual"] * len(at), pa.string()),
    }
    reading.notes.append("validation and test do not say which clips belong together: each clip is a unit of its own")
    return reading.finish(found, places, labels=("label",))


def _meaning(text: str) -> str | None:
    return _FLAGS.get(text) or _CODES.get(text)
