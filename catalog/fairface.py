"""FairFace: one CSV file for train and one for val, ages in nine groups, seven races.

Kärkkäinen and Joo (WACV 2021). Public copies went through spreadsheet programs, which took some age groups for
dates; that damage can be undone without doubt, and is, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..tabular import map_values, pc, read_table
from .items import Items, normal_item
from .reading import Places, Reading, find_below

__all__ = ["read"]

_AGES: Mapping[str, str] = {
    "0-2": "00-02",
    "3-9": "03-09",
    **{f"{low}-{low + 9}": f"{low}-{low + 9}" for low in range(10, 70, 10)},
    "more than 70": "70+",
}
# What spreadsheet programs make of 3-9 and 10-19, by the order of day and month that they believe in.
_DATES: Mapping[str, str] = {
    **dict.fromkeys(("9-Mar", "09-Mar", "Mar-09", "3-Sep", "03-Sep", "Sep-03"), "03-09"),
    **dict.fromkeys(("19-Oct", "Oct-19"), "10-19"),
}
_GENDERS = {"Male": "Male", "Female": "Female"}
_RACES = {
    race: race
    for race in ("White", "Black", "Latino_Hispanic", "East Asian", "Southeast Asian", "Indian", "Middle Eastern")
}
_FLAGS = {"True": "true", "False": "false", "TRUE": "true", "FALSE": "false", "true": "true", "false": "false"}
_ATTRIBUTES = ("age", "gender", "race", "service_test")
_PATH = re.compile(r"(?:.*/)?((train|val)/[^/]+)")


def read(reading: Reading) -> Items:
    """Read one label file, or the folder that holds both."""
    tables = [read_table(path) for path in _files(reading)]
    for table in tables:
        table.require(["file", "age", "gender", "race"])
        reading.table(table, "labels")
    places = Places.of_tables(tables)
    wanted = ["file", *(name for name in _ATTRIBUTES if all(name in each.table.column_names for each in tables))]
    rows: Any = pa.concat_tables([table.table.select(wanted) for table in tables])
    columns = _names(reading, rows["file"])
    codes = {"age": {**_AGES, **_DATES}, "gender": _GENDERS, "race": _RACES, "service_test": _FLAGS}
    hints = {"age": f"the ages of FairFace are {', '.join(_AGES)}"}
    for name in wanted[1:]:
        columns[name] = reading.coded(rows[name], name, codes[name], places, hint=hints.get(name), missing=())
    _warn_of_damage(reading, rows, places)
    return reading.finish(columns, places, attributes=wanted[1:])


def _files(reading: Reading) -> list[Path]:
    """Return the label files that the root is or holds."""
    root = reading.root
    if root.is_file():
        return [root]
    found: list[Path] = []
    for split in ("train", "val"):
        exact, like = f"fairface_label_{split}.csv", f"fairface_label_{split}*.csv"
        tries = [find_below(root, exact), find_below(root, "*", exact), find_below(root, like)]
        found += [path for path in tries if path is not None][:1]
    if not found:
        raise reading.unknown_layout()
    if len(found) == 1:
        reading.notes.append(f"only {reading.relative(found[0])} lies there; FairFace has a train and a val file")
    return found


def _names(reading: Reading, files: Any) -> dict[str, Any]:
    """Return items and their released split; copies put a folder before ``train/`` and ``val/``, which is cut."""
    normal = map_values(files, normal_item)
    items = map_values(normal, lambda name: match[1] if (match := _PATH.fullmatch(name)) else name)
    splits = map_values(normal, lambda name: match[2] if (match := _PATH.fullmatch(name)) else None)
    cut = pc.sum(pc.not_equal(items, normal)).as_py()
    if cut:
        first = normal[pc.index(pc.not_equal(items, normal), True).as_py()].as_py()
        reading.notes.append(f"folders before train/ and val/ are cut off {cut:,} names (such as {first!r})")
    return {"item": items, "split_released": splits}


def _warn_of_damage(reading: Reading, rows: Any, places: Places) -> None:
    """Say which values a spreadsheet program changed, and how they were read."""
    for entry in pc.value_counts(rows["age"]).to_pylist():
        value, count = entry["values"], entry["counts"]
        if value in _DATES:
            first = places[pc.index(rows["age"], value).as_py()]
            reading.warnings.append(
                f"{first}, column age: {value!r} is a date that a spreadsheet program made of an age group; read as "
                f"{_DATES[value]} (rows: {count:,})"
            )
    if "service_test" in rows.column_names:
        flags = set(pc.unique(rows["service_test"]).to_pylist())
        odd = sorted(flags & set(_FLAGS) - {"True", "False"})
        if odd:
            reading.warnings.append(
                f"column service_test holds {', '.join(odd)} where the release has True and False; read as such"
            )
