"""Casual Conversations, version 1: one JSON object keyed by subject.

Hazirbas et al. (2021). A subject is a key of the object. The four digits in a path repeat across city folders, so
neither they nor a file's name say who is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from ..errors import InputError
from ..scales import FITZPATRICK
from ..tabular import map_values
from .items import Items, normal_item
from .json_files import entries, text_of
from .reading import Places, Reading, find_below

__all__ = ["read"]

_FILES = ("CasualConversations.json", "CasualConversations_mini.json")
_FOLDERS = ((), ("CC_annotations",), ("*", "CC_annotations"), ("*",))
_GENDERS = {"Male": "Male", "Female": "Female", "Other": "Other"}
_FIELDS = ("age", "gender", "skin-type")
_OLDEST = 120
_ATTRIBUTES = ("age", "gender", "skin_type", "lighting")


def read(reading: Reading) -> Items:
    """Read the JSON file that the root is or holds; the whole set before the mini set."""
    path = _file(reading)
    document = entries(
        path,
        keyed_by="subject",
        hint="version 2 of Casual Conversations is a list, and another dataset: casual-conversations-v2",
    )
    columns: dict[str, list[Any]] = {name: [] for name in ("item", "subject", "lighting", *_FIELDS)}
    at: list[str] = []
    for subject, value in document.items():
        _subject(reading, f"{path.name}, {subject}", subject.strip(), value, columns, at)
    reading.rows_read = len(at)
    reading.source(path, "labels", len(at))
    places = Places(at.__getitem__, range(len(at)))
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    raw = {name: pa.chunked_array([pa.array(values, pa.string())]) for name, values in columns.items()}
    found = {
        "item": map_values(raw["item"], normal_item),
        "subject": raw["subject"],
        "age": reading.coded(
            raw["age"], "age", _years, places, missing=("N/A", ""), hint="an age is a number of years, or N/A"
        ),
        "gender": reading.coded(raw["gender"], "gender", _GENDERS, places, missing=("N/A", "")),
        "skin_type": reading.coded(
            raw["skin-type"],
            "skin_type",
            dict(zip("123456", FITZPATRICK.categories, strict=True)),
            places,
            missing=(),
        ),
        "lighting": raw["lighting"],
    }
    return reading.finish(found, places, attributes=_ATTRIBUTES)


def _file(reading: Reading) -> Path:
    root = reading.root
    if root.is_file():
        return root
    for name in _FILES:
        for steps in _FOLDERS:
            found = find_below(root, *steps, name)
            if found is not None:
                return found
    raise reading.unknown_layout()


def _subject(
    reading: Reading, place: str, subject: str, value: object, columns: dict[str, list[Any]], at: list[str]
) -> None:
    """Add the files of one subject."""
    entry = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    label, files = entry.get("label"), entry.get("files")
    if not subject or not isinstance(label, Mapping) or not _are_texts(files):
        reading.problems.add(
            place,
            "is not a subject with a label and a list of files",
            hint='a subject reads {"label": {"age": ..., "gender": ..., "skin-type": ...}, "files": [...], '
            '"dark_files": [...]}',
        )
        return
    names = [name.strip() for name in cast("Sequence[str]", files)]
    dark = entry.get("dark_files", [])
    if not _are_texts(dark):
        reading.problems.add(f"{place}.dark_files", f"{dark!r} is not a list of files")
        return
    known = set(names)
    for position, name in enumerate(cast("Sequence[str]", dark)):
        if name.strip() not in known:
            reading.problems.add(
                f"{place}.dark_files[{position}]",
                f"{name!r} is not among the subject's files",
                hint="files holds all of a subject's videos, dark_files those of them that are dark",
            )
    dark_names = {name.strip() for name in cast("Sequence[str]", dark)}
    fields = [text_of(cast("Mapping[str, Any]", label).get(field)) for field in _FIELDS]
    for position, name in enumerate(names):
        columns["item"].append(name)
        columns["subject"].append(subject)
        columns["lighting"].append("dark" if name in dark_names else "bright")
        for field, text in zip(_FIELDS, fields, strict=True):
            columns[field].append(text)
        at.append(f"{place}.files[{position}]")


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in cast("list[object]", value))


def _years(text: str) -> str | None:
    return str(int(text)) if text.isdecimal() and int(text) <= _OLDEST else None
