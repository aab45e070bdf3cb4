"""AFEW-VA: film clips, one JSON file a clip with valence and arousal of each frame in whole numbers from -10 to 10.

Kossaifi, Tzimiropoulos, Todorovic and Pantic (IVC 2017). An actor appears in several clips, so the actor is the
subject and not the clip.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from ..errors import InputError, listing
from .items import Items
from .json_files import read_json, text_of
from .reading import Places, Reading

__all__ = ["read"]

_CLIP = re.compile(r"\d{3}")
_ARCHIVE = re.compile(r"\d{2}|AFEW-?VA", re.IGNORECASE)
_END = 10
_EVERY = 8


def read(reading: Reading) -> Items:
    """Read the clips of a folder, unpacked flat or by archive."""
    clips = _clips(reading.root)
    if not clips:
        raise reading.unknown_layout()
    columns: dict[str, list[str | None]] = {name: [] for name in ("item", "subject", "valence", "arousal")}
    actors: dict[str, str] = {}
    at: list[str] = []
    pictures: Counter[str] = Counter()
    for place, (clip, folder) in enumerate(clips.items()):
        if reading.progress and place % _EVERY == 0:
            reading.progress(place, len(clips), "reading clips")
        _read_clip(reading, clip, folder, columns, actors, at, pictures)
    reading.rows_read = len(at) + pictures["absent"]
    _tell_of_pictures(reading, pictures)
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    columns["subject"] = _subjects(reading, actors, cast("list[str]", columns["subject"]))
    places = Places(at.__getitem__, range(len(at)))
    raw: dict[str, Any] = {name: pa.chunked_array([pa.array(values, pa.string())]) for name, values in columns.items()}
    for name in ("valence", "arousal"):
        raw[name] = reading.coded(
            raw[name], name, _level, places, hint=f"{name} is a number from -10 to 10, divided by ten later"
        )
    raw["annotation"] = pa.array(["manual"] * len(at), pa.string())
    return reading.finish(raw, places, labels=("valence", "arousal"))


def _clips(root: Path) -> dict[str, Path]:
    """Return the clips' folders by name, sorted; archives 01 to 12 may lie between."""
    found: dict[str, Path] = {}
    if not root.is_dir():
        return found
    for entry in sorted(os.listdir(root)):
        path = root / entry
        if _CLIP.fullmatch(entry) and (path / f"{entry}.json").is_file():
            found[entry] = path
        elif _ARCHIVE.fullmatch(entry) and path.is_dir():
            found |= _clips(path)
    return dict(sorted(found.items()))


def _read_clip(
    reading: Reading,
    clip: str,
    folder: Path,
    columns: dict[str, list[str | None]],
    actors: dict[str, str],
    at: list[str],
    pictures: Counter[str],
) -> None:
    """Add the frames of one clip."""
    path = folder / f"{clip}.json"
    document = read_json(path, decimals=True)
    reading.source(path, "labels")
    where = f"{clip}/{path.name}"
    entry = cast("Mapping[str, Any]", document) if isinstance(document, Mapping) else {}
    frames = entry.get("frames")
    if not isinstance(frames, Mapping):
        reading.problems.add(
            where, "holds no frames", hint='a clip reads {"actor": ..., "video_id": ..., "frames": {}}'
        )
        return
    if text_of(entry.get("video_id")) not in ("", clip):
        reading.problems.add(
            f"{where}, video_id", f"{entry['video_id']!r} in the folder {clip}", hint="a clip's folder has its name"
        )
    actors[clip] = text_of(entry.get("actor"))
    there = {name for name in os.listdir(folder) if name.lower().endswith(".png")}
    pictures["clips with pictures"] += bool(there)
    keys = list(cast("Mapping[str, Any]", frames))
    wrong = [key for key in keys if not key.isdecimal()]
    for key in wrong:
        reading.problems.add(f"{where}, frames", f"{key!r} is no frame number", hint="frames are 00000, 00001, ...")
    pictures["unlabelled"] += len(there - {f"{key}.png" for key in keys})
    for key in sorted(set(keys) - set(wrong), key=int):
        if there and f"{key}.png" not in there:
            pictures["absent"] += 1
            continue
        values = frames[key]
        frame = cast("Mapping[str, Any]", values) if isinstance(values, Mapping) else {}
        columns["item"].append(f"{clip}/{int(key):05}.png")
        columns["subject"].append(clip)
        columns["valence"].append(text_of(frame.get("valence")))
        columns["arousal"].append(text_of(frame.get("arousal")))
        at.append(f"{where}, frames.{key}")


def _tell_of_pictures(reading: Reading, pictures: Counter[str]) -> None:
    if pictures["absent"]:
        reading.skipped["frame whose picture is missing"] = pictures["absent"]
        reading.warnings.append(f"frames that have labels and no picture beside them, left out: {pictures['absent']:,}")
    if pictures["unlabelled"]:
        reading.warnings.append(f"pictures that have no labels: {pictures['unlabelled']:,}")
    if not pictures["clips with pictures"]:
        reading.notes.append("no pictures lie beside the labels, so it was not checked that each frame has one")


def _level(text: str) -> str | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return text if number.is_finite() and abs(number) <= _END else None


def _subjects(reading: Reading, actors: Mapping[str, str], clips: list[str]) -> list[str | None]:
    """Return the subject of each frame: the actor, or the clip where no actor is named.

    Spellings of a name that differ in case or blanks only are one actor: it is safer to keep two people in one
    split than to put one person into two.
    """
    spellings: dict[str, set[str]] = {}
    for actor in actors.values():
        spellings.setdefault(_spelt(actor), set()).add(actor)
    odd = [names for key, names in sorted(spellings.items()) if key and len(names) > 1]
    if odd:
        shown = listing([" = ".join(repr(name) for name in sorted(names)) for names in odd], most=6)
        reading.warnings.append(f"actors whose names are spelt in several ways, each taken as one: {shown}")
    nobody = sorted(clip for clip, actor in actors.items() if not actor)
    if nobody:
        reading.warnings.append(
            f"clips that name no actor, each a subject of its own: {len(nobody):,} ({listing(nobody, most=6)})"
        )
    names = {key: min(found) for key, found in spellings.items()}
    return [names[_spelt(actors[clip])] or f"clip {clip}" for clip in clips]


def _spelt(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
