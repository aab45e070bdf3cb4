"""The test clips of DFDC whose subjects took part in Casual Conversations, and so have age, gender and skin type.

Hazirbas et al. (2021), section 5: the clips on which the winners of the challenge were audited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pyarrow as pa

from ..errors import InputError
from ..scales import FITZPATRICK
from .items import Items
from .json_files import entries, text_of
from .reading import Places, Reading

__all__ = ["read"]

_LABELS = {"1": "fake", "0": "real", "true": "fake", "false": "real", "fake": "fake", "real": "real"}
_GENDERS = {"Male": "Male", "Female": "Female", "Other": "Other"}
_LIGHTING = {"true": "dark", "false": "bright", "1": "dark", "0": "bright", "True": "dark", "False": "bright"}
_OLDEST = 120
_ATTRIBUTES = ("age", "gender", "skin_type", "lighting")
_HINT = (
    'a clip reads {"is_fake": 1, "casual_conv_subject_id": ..., "casual_conv_label": '
    '{"age": ..., "gender": ..., "skin-type": ..., "is_dark": ...}}'
)


def read(reading: Reading) -> Items:
    """Read the JSON file that the root is, or the only one that it holds."""
    root = reading.root
    files = [root] if root.is_file() else sorted(root.glob("*.json"))
    if len(files) != 1:
        raise reading.unknown_layout()
    path = files[0]
    document = entries(path, keyed_by="clip", hint=_HINT)
    names = ("item", "subject", "label", "age", "gender", "skin-type", "is_dark")
    columns: dict[str, list[str]] = {name: [] for name in names}
    at: list[str] = []
    for name, value in document.items():
        entry = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
        said = entry.get("casual_conv_label")
        subject = text_of(entry.get("casual_conv_subject_id"))
        if not subject or not isinstance(said, Mapping):
            reading.problems.add(f"{path.name}, {name}", "has no subject of Casual Conversations", hint=_HINT)
            continue
        columns["item"].append(name.strip())
        columns["subject"].append(subject)
        columns["label"].append(_label(reading, f"{path.name}, {name}", entry))
        for field in ("age", "gender", "skin-type", "is_dark"):
            columns[field].append(text_of(cast("Mapping[str, Any]", said).get(field)))
        at.append(f"{path.name}, {name}")
    reading.rows_read = len(document)
    reading.source(path, "labels", len(document))
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    return _finished(reading, columns, Places(at.__getitem__, range(len(at))))


def _label(reading: Reading, place: str, entry: Mapping[str, Any]) -> str:
    """Return what a clip is; its two fields must not contradict each other."""
    flag, label = text_of(entry.get("is_fake")), text_of(entry.get("label")).lower()
    if flag in _LABELS and label in _LABELS and _LABELS[flag] != _LABELS[label]:
        reading.problems.add(place, f"is_fake is {flag} and label is {label!r}", hint="correct one of the two")
    return flag or label


def _finished(reading: Reading, columns: Mapping[str, list[str]], places: Places) -> Items:
    raw: dict[str, Any] = {name: pa.chunked_array([pa.array(values, pa.string())]) for name, values in columns.items()}
    types = dict(zip("123456", FITZPATRICK.categories, strict=True))
    found = {
        "item": raw["item"],
        "subject": raw["subject"],
        "label": reading.coded(raw["label"], "is_fake", _LABELS, places, missing=(), hint=_HINT),
        "age": reading.coded(raw["age"], "age", _years, places, missing=("N/A", ""), hint="years, or N/A"),
        "gender": reading.coded(raw["gender"], "gender", _GENDERS, places, missing=("N/A", "")),
        "skin_type": reading.coded(raw["skin-type"], "skin_type", types, places, missing=("N/A", "")),
        "lighting": reading.coded(raw["is_dark"], "is_dark", _LIGHTING, places),
        "annotation": pa.array(["manual"] * len(places), pa.string()),
    }
    return reading.finish(found, places, labels=("label",), attributes=_ATTRIBUTES)


def _years(text: str) -> str | None:
    return str(int(text)) if text.isdecimal() and int(text) <= _OLDEST else None
