"""AffectNet in its two layouts: lists in CSV files (2017), and one small npy file a value (2021).

Mollahosseini, Hasani and Mahoor (TAC 2019). Codes 0 to 7 are the expressions; 8 to 10 say that there is none,
that the annotator was uncertain, or that there is no face.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from ..tabular import map_values, pc
from .affectnet_lists import find_lists, read_list
from .items import Items, normal_item
from .reading import Places, Reading, find_below
from .scalars import scalar_text

__all__ = ["read"]

_EXPRESSIONS = ("Neutral", "Happiness", "Sadness", "Surprise", "Fear", "Disgust", "Anger", "Contempt")
_CODES = {str(code): name for code, name in enumerate(_EXPRESSIONS)}
_NONE = {"8": "None", "9": "Uncertain", "10": "No-Face"}
_SETS = {"train": "train_set", "val": "val_set"}
_ENDINGS = {"label": "_exp.npy", "valence": "_val.npy", "arousal": "_aro.npy"}
_NO_FILE = "no annotation file"
_NOT_ANNOTATED = Decimal(-2)


def read(reading: Reading) -> Items:
    """Read the layout that the root holds; a root that holds both is refused."""
    lists = find_lists(reading.root)
    sets = _sets(reading.root)
    if lists and sets:
        raise InputError(
            f"{reading.title}: {reading.root} holds two releases, {lists[0].path.name} of 2017 and "
            f"{sets[0][1].parent.name} of 2021, which number their images differently",
            hint="name the folder of one of them with --root",
        )
    if lists:
        raw, places = _of_lists(reading, lists)
    elif sets:
        raw, places = _of_sets(reading, sets)
    else:
        raise reading.unknown_layout()
    return _finished(reading, raw, places)


def _finished(reading: Reading, raw: dict[str, Any], places: Places) -> Items:
    """Turn raw text into labels, leaving out and counting rows without a label of the task."""
    labels = reading.card.tasks[reading.task].labels if reading.card and reading.task else ("label",)
    if labels == ("label",):
        columns, keep = _expressions(reading, raw, places)
    else:
        columns, keep = _valence_arousal(reading, raw, places)
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    columns = {
        "item": map_values(raw["item"], normal_item),
        **columns,
        "annotation": raw["annotation"],
        "split_released": raw["split_released"],
    }
    mask = pa.array(keep)
    kept = columns if keep.all() else {name: column.filter(mask) for name, column in columns.items()}
    return reading.finish(kept, places if keep.all() else places.only(keep), labels=labels)


def _expressions(reading: Reading, raw: dict[str, Any], places: Places) -> tuple[dict[str, Any], Any]:
    known = {**_CODES, **_NONE}

    def expression(text: str) -> str | None:
        return known.get(_whole(text))

    column = reading.coded(
        raw["label"],
        "expression",
        expression,
        places,
        missing=(_NO_FILE,),
        hint="expressions are coded 0 (Neutral) to 7 (Contempt), 8 (None), 9 (Uncertain) and 10 (No-Face)",
    )
    keep = np.ones(len(column), np.bool_)
    for code, name in _NONE.items():
        other = pc.fill_null(pc.equal(column, name), False).to_numpy()
        if other.any():
            reading.skipped[f"expression {code} ({name})"] += int(other.sum())
            keep &= ~other
    absent = pc.is_null(column).to_numpy()
    if absent.any():
        reading.skipped["no expression"] += int(absent.sum())
        keep &= ~absent
    return {"label": column}, keep


def _whole(text: str) -> str:
    """Return ``1`` for ``1.0``: some copies hold codes as floating point numbers."""
    return text.removesuffix(".0")


def _valence_arousal(reading: Reading, raw: dict[str, Any], places: Places) -> tuple[dict[str, Any], Any]:
    """Return valence and arousal as they are written; any -2 is missing, whatever the expression."""
    columns: dict[str, Any] = {}
    for name in ("valence", "arousal"):
        absent = [text for text in pc.unique(raw[name]).to_pylist() if text and _number(text) == _NOT_ANNOTATED]
        columns[name] = reading.coded(
            raw[name],
            name,
            _in_range,
            places,
            missing=(*absent, "", _NO_FILE),
            hint=f"{name} is a number from -1 to 1, or -2 where it is missing",
        )
    neither = pc.and_(pc.is_null(columns["valence"]), pc.is_null(columns["arousal"])).to_numpy()
    if neither.any():
        reading.skipped["neither valence nor arousal"] += int(neither.sum())
    return columns, ~neither


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _in_range(text: str) -> str | None:
    number = _number(text)
    return text if number is not None and number.is_finite() and -1 <= number <= 1 else None


def _of_lists(reading: Reading, lists: Sequence[Any]) -> tuple[dict[str, Any], Places]:
    """Read the lists of 2017, one under the other."""
    tables: list[Any] = []
    rows: list[tuple[str, Any]] = []
    for found in lists:
        table, lines = read_list(reading, found)
        count = table.num_rows
        table = table.append_column("annotation", _repeated("automatic" if found.split is None else "manual", count))
        table = table.append_column("split_released", _repeated(found.split, count))
        tables.append(table)
        rows.append((found.path.name, lines))
    whole = pa.concat_tables(tables)
    ends = np.cumsum([table.num_rows for table in tables])

    def at(row: int) -> str:
        which = int(np.searchsorted(ends, row, side="right"))
        name, lines = rows[which]
        return f"{name}:{lines[row - (int(ends[which - 1]) if which else 0)]}"

    return {name: whole[name] for name in whole.column_names}, Places(at, range(whole.num_rows))


def _repeated(value: str | None, count: int) -> Any:
    return pa.array([value], pa.string()).take(pa.array(np.zeros(count, np.int32)))


def _sets(root: Path) -> list[tuple[str, Path]]:
    """Return the released splits of 2021 below a folder, with their folders of annotations."""
    found: list[tuple[str, Path]] = []
    for split, name in _SETS.items():
        tries = (find_below(root, name, "annotations"), find_below(root, "*", name, "annotations"))
        found += [(split, path) for path in tries if path is not None][:1]
    return found


def _of_sets(reading: Reading, sets: Sequence[tuple[str, Path]]) -> tuple[dict[str, Any], Places]:
    """Read the npy files of 2021: the files that are there say which images there are."""
    labels = reading.card.tasks[reading.task].labels if reading.card and reading.task else ("label",)
    columns: dict[str, list[Any]] = {name: [] for name in ("item", *labels, "split_released")}
    at: list[str] = []
    for split, folder in sets:
        ids = _ids(folder, _ENDINGS[labels[0]])
        columns["item"] += [f"{_SETS[split]}/images/{name}.jpg" for name in ids]
        columns["split_released"] += [split] * len(ids)
        for label in labels:
            names = [name + _ENDINGS[label] for name in ids]
            columns[label] += _values(reading, folder, names)
        at += [f"{reading.relative(folder)}/{name}{_ENDINGS[labels[0]]}" for name in ids]
    reading.rows_read = len(at)
    found: dict[str, Any] = {
        name: pa.chunked_array([pa.array(values, pa.string())]) for name, values in columns.items()
    }
    found["annotation"] = pa.chunked_array([_repeated("manual", len(at))])
    return found, Places(at.__getitem__, range(len(at)))


def _ids(folder: Path, ending: str) -> list[str]:
    """Return the ids of a folder's annotation files; they are not contiguous, so files are listed."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(ending))
    if not names:
        raise InputError(
            f"{folder} holds no file that ends in {ending}", hint="unpack the annotations of the release there"
        )
    return [name.removesuffix(ending) for name in names]


def _values(reading: Reading, folder: Path, names: Sequence[str]) -> list[str]:
    values: list[str] = []
    files = reading.small_files(folder, names, "labels", f"reading {reading.relative(folder)}")
    for name, data in zip(names, files, strict=True):
        if data is None:
            values.append(_NO_FILE)
            continue
        try:
            values.append(scalar_text(data))
        except ValueError as error:
            values.append("")
            reading.problems.add(
                f"{reading.relative(folder)}/{name}",
                f"is not a file of one value ({error})",
                hint="download the release again; a value is a text or a number, never a Python object",
            )
    return values
