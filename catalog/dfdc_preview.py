"""The DFDC preview: one JSON object keyed by path; a fake shows two people.

Dolhansky et al. (2019). ``target_id`` is whose video it is, ``swapped_id`` whose face was put into it. Both are
subjects of a fake, so a partition by subject brings both to one side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from ..errors import InputError
from .items import Items, normal_item
from .json_files import entries, text_of
from .reading import Places, Reading, find_below

__all__ = ["read"]

_FILE = "dataset.json"
_LABELS = {"real": "real", "fake": "fake"}
_SETS = {"train": "train", "test": "test"}
# original_videos/<target>/<target>_<letter>_<clip>.mp4; <method>/<target>/<target>_<letter>/<swapped>_<target>_...
_PATH = re.compile(r"(original_videos|method_[A-Z])/(\w+?)/(?:\w+/)?(?:(\w+?)_)?\2_([A-Za-z])_(\d+)\.\w+")
_HINT = 'a video reads {"label": "fake", "set": "train", "augmentations": [], "target_id": ..., "swapped_id": ...}'


def read(reading: Reading) -> Items:
    """Read ``dataset.json``."""
    path = _file(reading)
    document = entries(path, keyed_by="path", hint="the file is dataset.json of the preview; the full DFDC is dfdc")
    names = ("item", "subject", "label", "method", "augmentation", "set")
    columns: dict[str, list[str]] = {name: [] for name in names}
    at: list[str] = []
    unlike = 0
    for name, value in document.items():
        place = f"{path.name}, {name}"
        entry = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
        subject = _people(reading, place, name, entry)
        match = _PATH.fullmatch(normal_item(name))
        unlike += match is None
        columns["item"].append(normal_item(name.strip()))
        columns["subject"].append(subject)
        columns["label"].append(text_of(entry.get("label")).lower())
        columns["method"].append(normal_item(name).split("/")[0] if match else "")
        columns["augmentation"].append(_augmentation(entry.get("augmentations")))
        columns["set"].append(text_of(entry.get("set")))
        at.append(place)
    reading.rows_read = len(at)
    reading.source(path, "labels", len(at))
    if unlike:
        reading.warnings.append(
            f"paths that are not <method>/<target>/..., their people not checked against it: {unlike:,}"
        )
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    places = Places(at.__getitem__, range(len(at)))
    raw = {name: pa.chunked_array([pa.array(values, pa.string())]) for name, values in columns.items()}
    found = {
        "item": raw["item"],
        "subject": raw["subject"],
        "label": reading.coded(raw["label"], "label", _LABELS, places, missing=(), hint=_HINT),
        "method": reading.blanked(raw["method"], "method", ("",)),
        "augmentation": raw["augmentation"],
        "annotation": pa.array(["manual"] * len(at), pa.string()),
        "split_released": reading.coded(raw["set"], "set", _SETS, places, missing=(), hint="a set is train or test"),
    }
    return reading.finish(found, places, labels=("label",), attributes=("method", "augmentation"))


def _file(reading: Reading) -> Path:
    root = reading.root
    if root.is_file():
        return root
    for steps in ((), ("*",)):
        found = find_below(root, *steps, _FILE)
        if found is not None:
            return found
    raise reading.unknown_layout()


def _people(reading: Reading, place: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the people that a video shows, sorted and joined; note what contradicts its label or its path."""
    target, swapped = text_of(entry.get("target_id")), text_of(entry.get("swapped_id"))
    fake = text_of(entry.get("label")).lower() == "fake"
    if not target:
        reading.problems.add(place, "has no target_id, so nobody knows whose it is", hint=_HINT)
    if fake and not swapped:
        reading.problems.add(
            place, "is a fake without swapped_id, so one of its two people is unknown", hint="a fake shows two people"
        )
    if swapped and not fake:
        reading.problems.add(
            place, f"is no fake and has swapped_id {swapped!r}", hint="swapped_id is null for originals"
        )
    match = _PATH.fullmatch(normal_item(name))
    if match and (match[2] != target or (match[3] or "") != swapped):
        reading.problems.add(
            place,
            f"its path names {match[2]} and {match[3] or 'nobody'}, its fields {target or 'nobody'} and "
            f"{swapped or 'nobody'}",
            hint="the path of a fake is <method>/<target>/<target>_<letter>/<swapped>_<target>_<letter>_<clip>.mp4",
        )
    return "|".join(sorted({target, swapped} - {""}))


def _augmentation(value: object) -> str:
    """Return the degradation of a video; most have none, which is known and not missing."""
    names = [text_of(each) for each in cast("list[object]", value)] if isinstance(value, list) else [text_of(value)]
    return "+".join(sorted(name for name in names if name)) or "none"
