"""FER+: ten votes an image for eight expressions, unknown, and no face.

Barsoum, Zhang, Canton Ferrer and Zhang (ICMI 2016). The label is the expression with most votes, where one has; the
votes themselves go to ``protoctl aggregate`` and ``protoctl agreement``, which read the same file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from ..tabular import TextTable, pc, read_table
from .items import Items
from .reading import Places, Reading, find_below

__all__ = ["read"]

_FILE = "fer2013new.csv"
_EXPRESSIONS = ("neutral", "happiness", "surprise", "sadness", "anger", "disgust", "fear", "contempt")
_OTHERS = ("unknown", "NF")
_TIE = "tie"
_USAGE = {"Training": "train", "PublicTest": "valid", "PrivateTest": "test"}
_UNNAMED = "row without a name (an image that the release dropped)"
# One dropped image of the release carries the name of another one.
_REPEATED = "row with the name of another image, all its votes for no face"


def read(reading: Reading) -> Items:
    """Read ``fer2013new.csv``, which the root is or holds."""
    root = reading.root
    path: Path | None = root if root.is_file() else find_below(root, _FILE) or find_below(root, "*", _FILE)
    if path is None:
        raise reading.unknown_layout()
    table = read_table(path)
    table.require(["Usage", "Image name", *_EXPRESSIONS, *_OTHERS])
    reading.table(table, "labels")
    places = Places.of_tables([table])
    rows: Any = table.table
    votes = _votes(reading, table)
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    columns: dict[str, Any] = {
        "item": rows["Image name"],
        "label": pa.array(_modes(votes), pa.string()),
        "split_released": reading.coded(rows["Usage"], "Usage", _USAGE, places, missing=()),
    }
    named = _named(reading, rows["Image name"], votes)
    mask = pa.array(named)
    columns = {name: column.filter(mask) for name, column in columns.items()}
    labels: Any = pa.chunked_array([columns["label"]])
    columns["label"] = reading.coded(
        labels, "label", {name: name.capitalize() for name in _EXPRESSIONS}, places, missing=(_TIE, *_OTHERS)
    )
    columns["annotation"] = pa.array(["manual"] * int(named.sum()), pa.string())
    return reading.finish(columns, places.only(named), labels=("label",))


def _named(
    reading: Reading, names: Any, votes: np.ndarray[Any, np.dtype[np.int64]]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Tell which rows are images: the others have no name, or repeat one and have votes for no face alone."""
    unnamed = pc.equal(names, "").to_numpy()
    counts = pc.value_counts(names)
    twice = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
    faceless = votes[:, -1] == votes.sum(axis=1)
    repeated = pc.is_in(names, value_set=twice).to_numpy() & faceless & ~unnamed
    for reason, rows in ((_UNNAMED, unnamed), (_REPEATED, repeated)):
        if rows.any():
            reading.skipped[reason] += int(rows.sum())
    return ~unnamed & ~repeated


def _votes(reading: Reading, table: TextTable) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the votes, shape (n_rows, 10); note values that count nothing."""
    columns: list[Any] = []
    for name in (*_EXPRESSIONS, *_OTHERS):
        column: Any = table.table[name]
        wrong = np.flatnonzero(~pc.match_substring_regex(column, r"^\d{1,3}$").to_numpy())
        for row in wrong.tolist():
            reading.problems.add(
                table.place(row, name), f"{column[row].as_py()!r} is no number of votes", hint="votes are whole numbers"
            )
        columns.append(np.zeros(len(column), np.int64) if len(wrong) else pc.cast(column, pa.int64()).to_numpy())
    return np.stack(columns, axis=1)


def _modes(votes: np.ndarray[Any, np.dtype[np.int64]]) -> list[str]:
    """Return the column with most votes of each row, ``tie`` where several have as many."""
    most = votes.max(axis=1, keepdims=True)
    tied = (votes == most).sum(axis=1) > 1
    names = (*_EXPRESSIONS, *_OTHERS)
    return [_TIE if tie else names[at] for at, tie in zip(votes.argmax(axis=1).tolist(), tied.tolist(), strict=True)]
