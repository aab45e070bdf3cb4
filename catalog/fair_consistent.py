"""The CSV files of the fair and consistent protocol: labels, age, gender, race and a split for six datasets.

Hu et al. (FG 2024). ``train.csv``, ``valid.csv`` and ``test.csv`` of a dataset lie in ``<Dataset>/annotations``, those
of AffectNet in ``EXPR`` or ``VA`` below. They are read in place of a dataset's release files, as a partition that is
given; or joined to the release's items as attributes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError, listing
from ..scales import AGE_GROUPS
from ..tabular import TextTable, map_values, pc, read_table
from .cards import Card, find_card, load_card
from .items import Items, label_kind, normal_item
from .reading import Places, Reading

__all__ = ["attribute_table", "is_release", "read", "release_items"]

_SPLITS = ("train", "valid", "test")
_DATASETS = ("affectnet", "raf-db", "disfa", "emotionet", "gft", "raf-au")
_FOLDERS: Mapping[str, tuple[str, ...]] = {
    "category": ("EXPR/expr8", "EXPR", "."),
    "continuous": ("VA", "."),
    "binary": (".",),
}
_ATTRIBUTES = ("age", "gender", "race")
_SUBJECTS = {"disfa": re.compile(r"(SN\d{3})"), "gft": re.compile(r"^(\d{3}[ABC])/")}
_RAF_DB = re.compile(r"(?:train_\d{5}|test_\d{4})\.")
_AFFECTNET = re.compile(r"(?:train|val)_set/")
_GENDERS = {"Female": "Female", "Male": "Male"}
_RACES = {race: race for race in ("White", "Black", "Asian", "Indian", "Other")}
_MISSING = ("", "-1", "None", "nan", "Unknown", "Unsure")
_UNKNOWN_UNIT = ("", "-1", "999")
_UNITS = {str(level): str(level) for level in range(6)}
# What spreadsheet programs make of an age group, by the order of day and month that they believe in.
_MONTHS = {"mar": 3, "apr": 4, "sep": 9, "oct": 10}
_DATE = re.compile(r"(?:(\d{1,2})-([A-Za-z]{3})|([A-Za-z]{3})-(\d{1,2}))")
_NOTE = (
    "the demographics of these files are those of the fair and consistent protocol: beyond about 20,000 images a "
    "dataset a model predicted them, and the files do not say which"
)


def is_release(place: Path, card: Card | None = None) -> bool:
    """Tell whether a file or folder holds CSV files of the protocol's release.

    Parameters
    ----------
    place : pathlib.Path
        ``train.csv``, ``valid.csv`` or ``test.csv``, or a folder that holds them.
    card : Card, optional
        The dataset that is meant; by default any of the six.
    """
    if card is not None and card.name not in _DATASETS:
        return False
    return any(_files(place, card, kind) for kind in _FOLDERS)


def read(reading: Reading) -> Items:
    """Read the files of the card's dataset and task as items with a given partition."""
    card = reading.card
    if card is None:
        raise reading.unknown_layout()
    labels = card.tasks[reading.task].labels if reading.task else ()
    kind = label_kind(labels[0]) if labels else "category"
    files = _files(reading.root, card, kind)
    if not files:
        raise reading.unknown_layout([f"train.csv, valid.csv and test.csv in {' or '.join(_FOLDERS[kind])}"])
    tables = [read_table(path) for _, path in files]
    column = {"label": "expression"} if labels == ("label",) else {}
    wanted = ["name", *(column.get(label, label) for label in labels), *_ATTRIBUTES]
    for table in tables:
        table.require(wanted)
        reading.table(table, "labels")
    places = Places.of_tables(tables)
    rows: Any = pa.concat_tables([table.table.select(wanted) for table in tables])
    columns = _named(card, rows["name"])
    for label in labels:
        columns[label] = _label(reading, card, rows[column.get(label, label)], label, places)
    columns |= _attributes(reading, card, rows, places)
    columns["annotation"] = pa.array(["manual"] * len(rows), pa.string())
    names: Any = pa.array([split for split, _ in files], pa.string())
    sizes = [table.table.num_rows for table in tables]
    columns["split_released"] = names.take(pa.array(np.repeat(np.arange(len(files)), sizes)))
    _tell(reading, tables, wanted)
    return reading.finish(columns, places, labels=labels, attributes=_ATTRIBUTES)


def release_items(place: Path) -> Items | None:
    """Return the items and the given partition of files whose dataset their columns and names tell.

    Parameters
    ----------
    place : pathlib.Path
        A file or folder.

    Returns
    -------
    items : Items or None
        None where these are no such files, or of none of the six datasets.
    """
    for kind in _FOLDERS:
        files = _files(place, None, kind)
        found = _dataset(files[0][1]) if files else None
        if found is not None:
            card = load_card(found[0])
            return read(Reading(card, place, found[1]))
    return None


def _dataset(path: Path) -> tuple[str, str] | None:
    """Return the dataset and the task of a file: action units tell four apart, names the other two."""
    with path.open("rb") as stream:
        header, first = (stream.readline(1 << 12).decode("utf-8-sig", "replace") for _ in range(2))
    columns = [name.strip() for name in header.split(",")]
    units = {name for name in columns if label_kind(name) == "binary"}
    if units:
        cards = [load_card(name) for name in _DATASETS]
        found = [card.name for card in cards if "au" in card.tasks and set(card.tasks["au"].labels) == units]
        return (found[0], "au") if found else None
    name = dict(zip(columns, first.split(","), strict=False)).get("name", "").strip()
    if "expression" in columns and _RAF_DB.match(name):
        return "raf-db", "expression"
    if _AFFECTNET.match(name):
        return "affectnet", "va" if "valence" in columns else "expression"
    return None


def attribute_table(reading: Reading, items: Items) -> TextTable:
    """Return age, gender and race of the files by item, to be joined to a release's items.

    Parameters
    ----------
    reading : Reading
        Of the files, as `is_release` knows them.
    items : Items
        The items of one of the six datasets, whose task says which of AffectNet's files are meant.

    Raises
    ------
    InputError
        If the items are of no dataset that has such files.
    """
    card = items.card
    if card is None or card.name not in _DATASETS:
        raise InputError(
            f"{reading.root} holds files of the fair and consistent protocol, and {items.dataset} has none",
            hint=f"there are some for: {listing(_DATASETS)}",
        )
    return TextTable(read(reading).table.select(["item", *_ATTRIBUTES]), reading.root, None)


def _files(place: Path, card: Card | None, kind: str) -> list[tuple[str, Path]]:
    """Return the files with their splits; empty where there are none."""
    if place.is_file():
        split = place.name.lower().removesuffix(".csv")
        return [(split, place)] if split in _SPLITS and _is_ours(place) else []
    if not place.is_dir():
        return []
    bases = [place, place / "annotations"]
    for entry in sorted(os.listdir(place)):
        found = find_card(entry)
        if found is not None and card is not None and found.name == card.name:
            bases += [place / entry / "annotations", place / entry]
    for base in bases:
        for folder in _FOLDERS[kind]:
            there = [(split, base / folder / f"{split}.csv") for split in _SPLITS]
            files = [(split, path) for split, path in there if path.is_file()]
            if files and all(_is_ours(path) for _, path in files):
                return files
    return []


def _is_ours(path: Path) -> bool:
    with path.open("rb") as stream:
        header = stream.readline(1 << 12).removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    return {"name", *_ATTRIBUTES} <= {name.strip() for name in header.split(",")}


def _named(card: Card, names: Any) -> dict[str, Any]:
    """Return items named as the dataset's own reader names them, and subjects where names hold them."""
    items = map_values(names, normal_item)
    if card.name == "affectnet":
        items = map_values(items, lambda name: re.sub(r"^((?:train|val)_set)/(?!images/)", r"\1/images/", name))
    columns: dict[str, Any] = {"item": items}
    pattern = _SUBJECTS.get(card.name)
    if pattern is not None:
        columns["subject"] = map_values(items, lambda name: match[1] if (match := pattern.search(name)) else None)
    if card.name == "gft":
        columns["group"] = map_values(columns["subject"], lambda subject: subject[:-1])
    return columns


def _label(reading: Reading, card: Card, column: Any, label: str, places: Places) -> Any:
    if label_kind(label) == "binary":
        return reading.coded(
            column, label, _UNITS, places, missing=_UNKNOWN_UNIT, hint="a unit is 1, 0, or -1 where it is unknown"
        )
    if label_kind(label) == "continuous":
        return reading.coded(column, label, _in_range, places, missing=("", "-2"))
    known = card.tasks["expression"].categories
    return reading.coded(column, label, {name: name for name in known}, places, missing=())


def _in_range(text: str) -> str | None:
    try:
        return text if -1 <= Decimal(text) <= 1 else None
    except InvalidOperation:
        return None


def _attributes(reading: Reading, card: Card, rows: Any, places: Places) -> dict[str, Any]:
    groups = AGE_GROUPS["raf" if card.name == "raf-db" else "nine"].categories
    repaired: dict[str, str] = {}

    def age(text: str) -> str | None:
        if card.name == "gft":
            return str(int(text)) if text.isdecimal() else None
        group = _group(text, groups)
        if group is None and (group := _undated(text, groups)) is not None:
            repaired[text] = group
        return group

    hint = "years" if card.name == "gft" else f"known: {listing(list(groups))}"
    found = {
        "age": reading.coded(rows["age"], "age", age, places, missing=_MISSING, hint=hint),
        "gender": reading.coded(rows["gender"], "gender", _GENDERS, places, missing=_MISSING),
        "race": reading.coded(rows["race"], "race", _RACES, places, missing=_MISSING),
    }
    for text, group in sorted(repaired.items()):
        first = places[pc.index(rows["age"], text).as_py()]
        reading.warnings.append(
            f"{first}, column age: {text!r} is a date that a spreadsheet program made of an age group; read as {group}"
        )
    return found


def _group(text: str, groups: Sequence[str]) -> str | None:
    """Return the age group of a text, with or without leading zeros."""
    ends = re.fullmatch(r"(\d{1,2})\s*-\s*(\d{1,2})", text)
    name = f"{int(ends[1]):02}-{int(ends[2]):02}" if ends else text
    return name if name in groups else None


def _undated(text: str, groups: Sequence[str]) -> str | None:
    """Return the one age group that a spreadsheet program can have made this date of, or None."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    month, day = _MONTHS.get((match[2] or match[3]).lower()), int(match[1] or match[4])
    if month is None:
        return None
    found = {f"{low:02}-{high:02}" for low, high in ((month, day), (day, month))} & set(groups)
    return found.pop() if len(found) == 1 else None


def _tell(reading: Reading, tables: Sequence[TextTable], wanted: Sequence[str]) -> None:
    others = sorted({name for table in tables for name in table.table.column_names if name not in wanted})
    if others:
        reading.notes.append(f"columns that the task does not use: {listing(others)}")
    if reading.card is not None and reading.card.name == "affectnet":
        reading.notes.append("names are those of the release of 2021: train_set/120.jpg is train_set/images/120.jpg")
    reading.notes.append(_NOTE)
