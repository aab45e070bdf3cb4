"""Adience: five fold files of faces in Flickr photos, with persons.

Eidinger, Enbar and Hassner (TIFS 2014). ``face_id`` is the person; ``user_id`` is the album. The age column mixes
ranges, single years and ``None``; all are brought to the eight official groups.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import listing
from ..scales import AGE_GROUPS
from ..tabular import pc, read_text
from .items import Items
from .reading import Places, Reading, find_below

__all__ = ["age_group", "read"]

_COLUMNS = (
    "user_id", "original_image", "face_id", "age", "gender", "x", "y", "dx", "dy", "tilt_ang", "fiducial_yaw_angle",
    "fiducial_score",
)  # fmt: skip
_FOLDS = range(5)
_PATTERNS = ("fold_{}_data.txt", "fold_frontal_{}_data.txt")
_GROUPS = AGE_GROUPS["adience"]
# Values that are no official group, placed as the robustness benchmark's code places them (Dooley et al. 2022);
# that code has no place for 32, which lies in a group, and none for the misprint.
_PLACED: Mapping[str, str] = {
    **dict.fromkeys(("2",), "00-02"),
    **dict.fromkeys(("3",), "04-06"),
    **dict.fromkeys(("13", "(8, 12)", "(8, 13)", "(8, 23)"), "08-13"),
    **dict.fromkeys(("22",), "15-20"),
    **dict.fromkeys(("23", "29", "32", "34", "35", "(27, 32)", "(25, 23)"), "25-32"),
    **dict.fromkeys(("36", "42", "45", "(38, 42)", "(38, 48)"), "38-43"),
    **dict.fromkeys(("46", "55"), "48-53"),
    **dict.fromkeys(("57", "58"), "60-100"),
}
_MISPRINT = "(25, 23)"
_NO_AGE = ("None", "", "56")
_GENDERS = {"f": "Female", "m": "Male"}
_NO_GENDER = ("u", "")


def age_group(text: str) -> str | None:
    """Return the official group of a raw age, or None.

    Parameters
    ----------
    text : str
        A range such as ``(25, 32)``, or years.

    Examples
    --------
    >>> age_group("(60, 100)"), age_group("35"), age_group("(25, 23)"), age_group("(1, 99)")
    ('60-100', '25-32', '25-32', None)
    """
    if text in _PLACED:
        return _PLACED[text]
    if text.isdecimal():
        return _GROUPS.of(int(text))
    ends = re.fullmatch(r"\((\d+), ?(\d+)\)", text)
    official = {(low, high): category for category, low, high in _GROUPS.groups}
    return official.get((int(ends[1]), int(ends[2]))) if ends else None


def read(reading: Reading) -> Items:
    """Read the fold files of a folder, or one of them."""
    rows: list[list[str]] = []
    folds: list[str] = []
    at: list[tuple[str, int]] = []
    for fold, path in _files(reading):
        found = _rows(reading, path)
        rows += [fields for _, fields in found]
        at += [(path.name, line) for line, _ in found]
        folds += [fold] * len(found)
        reading.source(path, "labels", len(found))
    reading.rows_read = len(rows)
    places = Places(lambda row: f"{at[row][0]}:{at[row][1]}", range(len(rows)))
    raw = {
        name: pa.chunked_array([pa.array([fields[column] for fields in rows], pa.string())])
        for column, name in enumerate(_COLUMNS[:5])
    }
    for row, fields in enumerate(rows):
        for column, name in enumerate(_COLUMNS[:3]):
            if not fields[column]:
                reading.problems.add(f"{places[row]}, column {name}", "is empty")
    columns: dict[str, Any] = {
        "item": pc.binary_join_element_wise(
            "faces/", raw["user_id"], "/coarse_tilt_aligned_face.", raw["face_id"], ".", raw["original_image"], ""
        ),
        "subject": raw["face_id"],
        "age": reading.coded(
            raw["age"],
            "age",
            age_group,
            places,
            missing=_NO_AGE,
            hint="an age is a range such as (25, 32), a number of years, or None",
        ),
        "gender": reading.coded(raw["gender"], "gender", _GENDERS, places, missing=_NO_GENDER),
        "split_released": pa.array(folds, pa.string()),
    }
    _tell_of_ages(reading, raw["age"], places)
    return reading.finish(columns, places, attributes=("age", "gender"))


def _files(reading: Reading) -> list[tuple[str, Path]]:
    """Return the fold files, with the number of each."""
    root = reading.root
    if root.is_file():
        number = re.search(r"fold_(?:frontal_)?(\d)", root.name)
        return [(number[1] if number else "0", root)]
    for pattern in _PATTERNS:
        found = [(str(fold), _fold(root, pattern.format(fold))) for fold in _FOLDS]
        there = [(fold, path) for fold, path in found if path is not None]
        absent = [pattern.format(fold) for fold, path in found if path is None]
        if there:
            if absent:
                reading.warnings.append(
                    f"{reading.root.name} lacks {listing(absent)}: its faces are not among the items"
                )
            return there
    raise reading.unknown_layout()


def _fold(root: Path, name: str) -> Path | None:
    tries = (find_below(root, *["*"] * depth, name) for depth in range(3))
    return next((path for path in tries if path is not None), None)


def _rows(reading: Reading, path: Path) -> list[tuple[int, list[str]]]:
    """Return a fold file's rows with their lines; a row of another width, such as a cut last one, is a problem."""
    lines = read_text(path).split("\n")
    header = [field.strip() for field in lines[0].split("\t")]
    if tuple(field for field in header if field) != _COLUMNS:
        reading.problems.add(
            f"{path.name}:1", f"the header is {header!r}", hint=f"Adience's columns are {', '.join(_COLUMNS)}"
        )
        return []
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) == len(_COLUMNS) + 1 and not fields[-1]:
            fields.pop()
        if len(fields) != len(_COLUMNS):
            reading.problems.add(
                f"{path.name}:{number}",
                f"{len(fields)} fields where there are {len(_COLUMNS)} columns",
                hint="the file is cut off or damaged: download it again",
            )
            continue
        rows.append((number, fields))
    return rows


def _tell_of_ages(reading: Reading, ages: Any, places: Places) -> None:
    """Report the misprint, and how values that are no official group were placed."""
    counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(ages).to_pylist()}
    if _MISPRINT in counts:
        first = places[pc.index(ages, _MISPRINT).as_py()]
        reading.warnings.append(
            f"{first}, column age: {_MISPRINT!r} is a misprint of '(25, 32)', read so (rows: {counts[_MISPRINT]:,})"
        )
    placed = [
        f"{value} to {_PLACED[value]} ({counts[value]:,})"
        for value in sorted(_PLACED)
        if value in counts and value not in (_MISPRINT, "(8, 12)", "(8, 13)")
    ]
    if placed:
        reading.notes.append(f"ages that are none of the eight ranges are placed: {listing(placed, most=len(placed))}")
    if "56" in counts:
        reading.notes.append(f"age 56 lies between two groups: missing (rows: {counts['56']:,})")
