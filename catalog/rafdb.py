"""RAF-DB (basic): one list of expressions, and one small file of attributes an image.

Li, Deng and Du (CVPR 2017). The list's file name is spelled ``list_patition_label.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..tabular import read_text
from .items import Items
from .reading import Places, Reading, find_below

__all__ = ["read"]

_LISTS = ("list_patition_label.txt", "list_partition_label.txt")
_EXPRESSIONS = {
    "1": "Surprise",
    "2": "Fear",
    "3": "Disgust",
    "4": "Happiness",
    "5": "Sadness",
    "6": "Anger",
    "7": "Neutral",
}
_NAME = re.compile(r"(train_\d{5}|test_\d{4})\.jpg")
_LINES = 8
# The last three lines of an attribute file. Unsure is no gender.
_ATTRIBUTES: dict[str, dict[str, str]] = {
    "gender": {"0": "Male", "1": "Female"},
    "race": {"0": "White", "1": "Black", "2": "Asian"},
    "age": {"0": "00-03", "1": "04-19", "2": "20-39", "3": "40-69", "4": "70+"},
}
_UNSURE = {"gender": ("2",), "race": (), "age": ()}
_NO_FILE = "no attribute file"


def read(reading: Reading) -> Items:
    """Read the list, and the attribute files beside it."""
    path = _list(reading)
    names, codes, places = _rows(reading, path)
    columns: dict[str, Any] = {
        "item": pa.array(names, pa.string()),
        "label": reading.coded(codes, "label", _EXPRESSIONS, places, missing=()),
    }
    base = path.parent.parent if path.parent.name.lower() == "emolabel" else path.parent
    folder = find_below(base, "Annotation", "manual") or find_below(base, "manual")
    attributes: tuple[str, ...] = ()
    if folder is None:
        reading.warnings.append(
            f"there is no folder Annotation/manual beside {reading.relative(path)}: no age, gender and race"
        )
    else:
        columns |= _attributes(reading, folder, names)
        attributes = ("age", "gender", "race")
    columns["annotation"] = pa.array(["manual"] * len(names), pa.string())
    columns["split_released"] = pa.array([name.split("_")[0] for name in names], pa.string())
    return reading.finish(columns, places, labels=("label",), attributes=attributes)


def _list(reading: Reading) -> Path:
    """Return the list of expressions that the root is or holds."""
    root = reading.root
    if root.is_file():
        return root
    for steps in ((), ("EmoLabel",), ("*", "EmoLabel"), ("*",)):
        for name in _LISTS:
            found = find_below(root, *steps, name)
            if found is not None:
                return found
    raise reading.unknown_layout()


def _rows(reading: Reading, path: Path) -> tuple[list[str], Any, Places]:
    """Return the names and the codes of the list, and where they stand."""
    names: list[str] = []
    codes: list[str] = []
    lines: list[int] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2:
            reading.problems.add(
                f"{path.name}:{number}", f"{line.strip()!r} is not a name and a code", hint="like 'train_00001.jpg 5'"
            )
        elif not _NAME.fullmatch(fields[0]):
            reading.problems.add(
                f"{path.name}:{number}",
                f"{fields[0]!r} is no name of RAF-DB",
                hint="names are train_00001.jpg to train_12271.jpg and test_0001.jpg to test_3068.jpg",
            )
        else:
            names.append(fields[0])
            codes.append(fields[1])
            lines.append(number)
    reading.rows_read = len(names)
    reading.source(path, "labels", len(names))
    places = Places(lambda row: f"{path.name}:{lines[row]}", range(len(lines)))
    return names, pa.chunked_array([pa.array(codes, pa.string())]), places


def _attributes(reading: Reading, folder: Path, names: Sequence[str]) -> dict[str, Any]:
    """Read the attribute file of each image; an image without one has no attributes."""
    order = sorted(range(len(names)), key=lambda row: names[row])
    files = [f"{names[row].removesuffix('.jpg')}_manu_attri.txt" for row in order]
    raw: dict[str, list[str | None]] = {name: [None] * len(names) for name in _ATTRIBUTES}
    absent: list[str] = []
    for row, file, data in zip(
        order, files, reading.small_files(folder, files, "attributes", "reading attributes"), strict=True
    ):
        if data is None:
            absent.append(file)
            continue
        found = _three_lines(reading, file, data)
        for name, value in zip(_ATTRIBUTES, found, strict=True):
            raw[name][row] = value
    if absent:
        reading.warnings.append(
            f"attribute files that are missing, their images without age, gender and race: {len(absent):,} "
            f"(the first is {absent[0]})"
        )
        for name in _ATTRIBUTES:
            reading.count_missing(name, _NO_FILE, len(absent))
    return {name: pa.array(values, pa.string()) for name, values in raw.items()}


def _three_lines(reading: Reading, file: str, data: bytes) -> list[str | None]:
    """Return gender, race and age of an attribute file, noting what is wrong with it."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        reading.problems.add(file, "is not text")
        return [None] * len(_ATTRIBUTES)
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if len(lines) != _LINES:
        reading.problems.add(
            file,
            f"{len(lines)} lines where there are {_LINES}",
            hint="five landmarks, then the codes of gender, race and age, one a line",
        )
        return [None] * len(_ATTRIBUTES)
    found: list[str | None] = []
    for (number, code), (name, codes) in zip(lines[-len(_ATTRIBUTES) :], _ATTRIBUTES.items(), strict=True):
        if code in _UNSURE[name]:
            reading.count_missing(name, code)
        elif code not in codes:
            reading.problems.add(
                f"{file}:{number}, {name}", f"{code!r} is none of the known codes", hint=f"known: {', '.join(codes)}"
            )
        found.append(codes.get(code))
    return found
