"""Casual Conversations, version 2: a JSON list, one object a video.

Hazirbas et al. (2022). What subjects say of themselves is compared as whole values: "woman" contains "man".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from ..errors import InputError
from ..scales import FITZPATRICK
from .items import Items, normal_item
from .json_files import read_json, text_of
from .reading import Places, Reading, find_below

__all__ = ["read"]

_FILE = "CasualConversationsV2.json"
_UNSAID = ("", "prefer not to say", "n/a", "null")
_GENDERS = ("cis man", "cis woman", "transgender man", "transgender woman", "non-binary")
_OLDEST = 120
# For each column: the steps to it in a video's object.
_STEPS: Mapping[str, tuple[str, ...]] = {
    "age": ("age",),
    "gender": ("gender",),
    "skin_type": ("fitzpatrick_skin_tone", "type"),
    "skin_type_confidence": ("fitzpatrick_skin_tone", "confidence"),
    "monk_skin_tone": ("monk_skin_tone", "scale"),
    "monk_skin_tone_confidence": ("monk_skin_tone", "confidence"),
    "country": ("geo_location", "country"),
    "native_language": ("native_language",),
}


def read(reading: Reading) -> Items:
    """Read the JSON file that the root is or holds."""
    path = _file(reading)
    document = read_json(path)
    if not isinstance(document, list):
        raise InputError(
            f"{path} holds a {type(document).__name__}, and a list of videos is wanted",
            hint="version 1 of Casual Conversations is an object keyed by subject, and another dataset: "
            "casual-conversations",
        )
    rows = cast("list[object]", document)
    columns: dict[str, list[str]] = {name: [] for name in ("item", "subject", *_STEPS)}
    for place, row in enumerate(rows):
        _add(reading, f"{path.name}[{place}]", row, columns)
    reading.rows_read = len(rows)
    reading.source(path, "labels", len(rows))
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    places = Places(lambda row: f"{path.name}[{row}]", range(len(rows)))
    found: dict[str, Any] = {name: pa.array(columns[name], pa.string()) for name in ("item", "subject")}
    for name in _STEPS:
        raw = pa.chunked_array([pa.array(columns[name], pa.string())])
        absent = {value for value in columns[name] if value.casefold() in _UNSAID}
        found[name] = reading.coded(
            raw, name, _CATEGORIES.get(name, str), places, missing=absent, hint=_HINTS.get(name)
        )
    return reading.finish(found, places, attributes=tuple(_STEPS))


def _file(reading: Reading) -> Path:
    root = reading.root
    if root.is_file():
        return root
    for steps in ((), ("*",)):
        found = find_below(root, *steps, _FILE)
        if found is not None:
            return found
    raise reading.unknown_layout()


def _add(reading: Reading, place: str, row: object, columns: dict[str, list[str]]) -> None:
    """Add one video."""
    video = cast("Mapping[str, Any]", row) if isinstance(row, Mapping) else {}
    name, subject = text_of(video.get("video_name")), text_of(video.get("subject_id"))
    if not name or not subject:
        reading.problems.add(
            place, "names no video or no subject", hint='a video reads {"video_name": ..., "subject_id": ..., ...}'
        )
        return
    columns["item"].append(normal_item(name))
    columns["subject"].append(f"{int(subject):04}" if subject.isdecimal() else subject)
    for column, steps in _STEPS.items():
        value: object = video
        for step in steps:
            value = cast("Mapping[str, Any]", value).get(step) if isinstance(value, Mapping) else value
        columns[column].append("" if value is video or isinstance(value, Mapping | list) else text_of(cast(Any, value)))


def _years(text: str) -> str | None:
    return str(int(text)) if text.isdecimal() and int(text) <= _OLDEST else None


def _gender(text: str) -> str | None:
    return text.casefold() if text.casefold() in _GENDERS else None


def _monk(text: str) -> str | None:
    match = re.fullmatch(r"(?:.*\D)?(10|[1-9])", text)
    return match[1] if match else None


def _confidence(text: str) -> str | None:
    return text.casefold() if text.casefold() in ("low", "medium", "high") else None


_CATEGORIES = {
    "age": _years,
    "gender": _gender,
    "skin_type": FITZPATRICK.category,
    "skin_type_confidence": _confidence,
    "monk_skin_tone": _monk,
    "monk_skin_tone_confidence": _confidence,
}
_HINTS = {
    "age": "an age is a number of years, or 'prefer not to say'",
    "gender": f"known: {', '.join(_GENDERS)}; missing: null, 'prefer not to say'",
    "skin_type": "a Fitzpatrick type ends in I to VI or 1 to 6, like 'type iii'",
    "monk_skin_tone": "a tone of the Monk scale ends in 1 to 10, like 'scale 5'",
}
