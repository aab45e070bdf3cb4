"""MIAP, Open Images Extended: boxes around people, with the gender and age that they present.

Schumann et al. (AIES 2021). One row a box; an item is an image with exactly one box, as in the robustness benchmark
(Dooley et al. 2022). Boxes read XMin, XMax, YMin, YMax, in that order.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from ..tabular import pc, read_table
from .items import Items
from .reading import Places, Reading, find_below

__all__ = ["read"]

_SPLITS = {"train": "train", "val": "validation", "test": "test"}
_BOXES = "open_images_extended_miap_boxes_{}.csv"
_CORNERS = ("XMin", "XMax", "YMin", "YMax")
_FLAGS = {"IsGroupOf": "box around a group", "IsDepictionOf": "box around a depiction of a person"}
_COLUMNS = ("ImageID", *_CORNERS, *_FLAGS, "GenderPresentation", "AgePresentation")
_GENDERS = {name: name for name in ("Predominantly Feminine", "Predominantly Masculine")}
_AGES = {name: name for name in ("Young", "Middle", "Older")}
_UNKNOWN = ("Unknown",)
_ID = re.compile(r"[0-9a-f]{16}")


def read(reading: Reading) -> Items:
    """Read one file of boxes, or the files of a folder."""
    found = _files(reading)
    tables = [read_table(path) for _, path in found]
    for table in tables:
        table.require(_COLUMNS)
        reading.table(table, "labels")
    rows: Any = pa.concat_tables([table.table.select(_COLUMNS) for table in tables])
    sizes = [table.table.num_rows for table in tables]
    splits: Any = pa.array([split for split, _ in found], pa.string())
    split = splits.take(pa.array(np.repeat(np.arange(len(found)), sizes)))
    folders: Any = pa.array([_SPLITS[split] for split, _ in found], pa.string())
    folder = folders.take(pa.array(np.repeat(np.arange(len(found)), sizes)))
    places = Places.of_tables(tables)
    _check(reading, rows, places)
    columns = {
        "item": pc.binary_join_element_wise(folder, pc.binary_join_element_wise(rows["ImageID"], ".jpg", ""), "/"),
        "gender": reading.coded(rows["GenderPresentation"], "gender", _GENDERS, places, missing=_UNKNOWN),
        "age": reading.coded(rows["AgePresentation"], "age", _AGES, places, missing=_UNKNOWN),
        "split_released": pa.chunked_array([split]),
    }
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    keep = _single(reading, rows, columns["item"])
    mask = pa.array(keep)
    kept = {name: column.filter(mask) for name, column in columns.items()}
    return reading.finish(kept, places.only(keep), attributes=("age", "gender"))


def _files(reading: Reading) -> list[tuple[str, Path]]:
    """Return the files of boxes, with the split of each."""
    root = reading.root
    if root.is_file():
        name = re.search(r"boxes_(train|val|test)", root.name)
        return [(name[1] if name else "train", root)]
    found: list[tuple[str, Path]] = []
    for split in _SPLITS:
        name = _BOXES.format(split)
        path = find_below(root, name) or find_below(root, "*", name)
        found += [(split, path)] if path else []
    if not found:
        raise reading.unknown_layout()
    return found


def _check(reading: Reading, rows: Any, places: Places) -> None:
    """Note ids that are none, and boxes whose numbers cannot be those of a box."""
    for row in np.flatnonzero(~pc.match_substring_regex(rows["ImageID"], r"^[0-9a-f]{16}$").to_numpy()).tolist():
        reading.problems.add(
            f"{places[row]}, column ImageID",
            f"{rows['ImageID'][row].as_py()!r} is not 16 hexadecimal digits",
            hint="read the file as text: spreadsheet programs turn such ids into numbers",
        )
    try:
        corners = [pc.cast(rows[name], pa.float64()).to_numpy() for name in _CORNERS]
    except pa.ArrowInvalid as error:
        reading.problems.add("a box", f"is not in numbers ({error})", hint="a corner is a fraction of the image's side")
        return
    low_x, high_x, low_y, high_y = corners
    wrong = (low_x > high_x) | (low_y > high_y) | np.any([(side < 0) | (side > 1) for side in corners], axis=0)
    for row in np.flatnonzero(wrong).tolist():
        shown = ", ".join(f"{name} {rows[name][row].as_py()}" for name in _CORNERS)
        reading.problems.add(
            places[row], f"{shown} is no box", hint="columns are XMin, XMax, YMin, YMax: fractions from 0 to 1"
        )


def _single(reading: Reading, rows: Any, items: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Tell which rows are the only box of their image, of one person and with an area; count the others."""
    encoded = items.combine_chunks().dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    several = np.bincount(codes)[codes] > 1
    keep = ~several
    if several.any():
        reading.skipped["box of an image that has several"] += int(several.sum())
        reading.notes.append(
            f"images with several boxes, left out: {len(np.unique(codes[several])):,} of {len(encoded.dictionary):,}"
        )
    for name, reason in _FLAGS.items():
        flagged = keep & pc.equal(rows[name], "1").to_numpy()
        if flagged.any():
            reading.skipped[reason] += int(flagged.sum())
            keep &= ~flagged
    low_x, high_x, low_y, high_y = (pc.cast(rows[name], pa.float64()).to_numpy() for name in _CORNERS)
    flat = keep & ((low_x == high_x) | (low_y == high_y))
    if flat.any():
        reading.skipped["box without an area"] += int(flat.sum())
        keep &= ~flat
    return keep
