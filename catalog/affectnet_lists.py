"""AffectNet's CSV lists of 2017, read in pieces: the landmarks make them hundreds of megabytes."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError, Problems, unknown
from ..tabular import pc
from .reading import Reading

__all__ = ["ReleasedList", "find_lists", "read_list"]

_COLUMNS = (
    "subDirectory_filePath",
    "face_x",
    "face_y",
    "face_width",
    "face_height",
    "facial_landmarks",
    "expression",
    "valence",
    "arousal",
)
_TAKEN = {"subDirectory_filePath": "item", "expression": "label", "valence": "valence", "arousal": "arousal"}
_LANDMARKS = 136
_SPLITS = {"training.csv": "train", "validation.csv": "val", "automatically_annotated.csv": None}
_DEPTH = 2
# Folders of images, which are not looked through: <N>, *_Images, train_set.
_IMAGES = re.compile(r"\d+|.*images|(?:train|val)_set", re.IGNORECASE)
_BLOCK = 1 << 22


@dataclass(frozen=True)
class ReleasedList:
    """A list of the release.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    split : str or None
        ``train`` or ``val``; None for the list that was annotated automatically.
    """

    path: Path
    split: str | None


def find_lists(root: Path) -> list[ReleasedList]:
    """Return the lists that a folder holds, up to two folders down; or the file itself."""
    if root.is_file():
        automatic = "auto" in root.name.lower()
        return [ReleasedList(root, None if automatic else "val" if "val" in root.name.lower() else "train")]
    found: dict[str, Path] = {}
    for path in _files(root, _DEPTH):
        found.setdefault(path.name.lower(), path)
    return [ReleasedList(found[name], split) for name, split in _SPLITS.items() if name in found]


def _files(folder: Path, depth: int) -> list[Path]:
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    found = [Path(entry.path) for entry in entries if entry.name.lower() in _SPLITS and entry.is_file()]
    if depth:
        for entry in entries:
            if entry.is_dir() and not _IMAGES.fullmatch(entry.name):
                found += _files(Path(entry.path), depth - 1)
    return found


def read_list(reading: Reading, found: ReleasedList) -> tuple[Any, Any]:
    """Read a list's names, expressions, valences and arousals.

    Parameters
    ----------
    reading : Reading
        Gets the problems and the counts.
    found : ReleasedList
        The list.

    Returns
    -------
    table : pyarrow.Table
        Columns ``item``, ``label``, ``valence`` and ``arousal``: raw text without outer blanks.
    lines : ndarray of int64, shape (n_rows,)
        The line that each row stands in.

    Notes
    -----
    Rows whose landmarks are not 136 numbers are left out and counted, as they were cut off or shifted.
    """
    path = found.path
    names, above = _header(path)
    batches: list[Any] = []
    lines: list[Any] = []
    line = 1 + above
    for batch in _batches(path, names, above):
        keep = _whole_landmarks(batch)
        lines.append(line + np.flatnonzero(keep))
        batches.append(_trimmed(batch.filter(pa.array(keep))))
        line += batch.num_rows
        if reading.progress:
            reading.progress(line, None, f"reading {path.name}")
    rows = line - 1 - above
    left = rows - sum(len(part) for part in lines)
    if left:
        reading.skipped[f"landmarks that are not {_LANDMARKS} numbers"] += left
    reading.rows_read += rows
    reading.source(path, "labels", rows)
    table = (
        pa.Table.from_batches(batches) if batches else pa.table({name: pa.array([], pa.string()) for name in _TAKEN})
    )
    return table.rename_columns(list(_TAKEN.values())), np.concatenate(lines) if lines else np.empty(0, np.int64)


def _batches(path: Path, names: list[str], above: int) -> Iterator[Any]:
    """Give the rows in pieces; refuse the list, naming each row whose width is not that of the columns."""
    from pyarrow import csv as pa_csv

    problems = Problems()

    def wrong(row: Any) -> str:
        line = f"{path.name}:{row.number}" if row.number is not None else path.name
        problems.add(line, f"{row.actual_columns} fields where there are {row.expected_columns} columns")
        return "skip"

    read = pa_csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=names, skip_rows=above)
    convert = pa_csv.ConvertOptions(
        include_columns=[*_TAKEN, "facial_landmarks"],
        column_types=dict.fromkeys(_COLUMNS, pa.string()),
        strings_can_be_null=False,
    )
    parse = pa_csv.ParseOptions(delimiter=",", invalid_row_handler=wrong)
    try:
        with pa_csv.open_csv(path, read_options=read, parse_options=parse, convert_options=convert) as stream:
            yield from stream
    except pa.ArrowInvalid as error:
        problems.refuse(InputError, f"{path} is refused")
        raise InputError(f"{path} is not a list of AffectNet: {error}", hint="save it as UTF-8 text") from None
    problems.refuse(InputError, f"{path} is refused")


def _header(path: Path) -> tuple[list[str], int]:
    """Return the columns and the number of lines above the rows: some copies have no header."""
    with path.open("rb") as stream:
        first = stream.readline()
    if not first.strip():
        raise InputError(f"{path} is empty", hint="check that it was written and copied whole")
    try:
        text = first.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}:1 is not UTF-8 text", hint="check that the path is right") from None
    names = [name.strip() for name in next(csv.reader([text]))]
    lowered = {name.lower(): name for name in _COLUMNS}
    if "subdirectory_filepath" not in {name.lower() for name in names}:
        if len(names) == len(_COLUMNS):
            return list(_COLUMNS), 0
        raise InputError(
            f"{path}:1: {len(names)} columns ({', '.join(names[:4])} ...) are not those of AffectNet",
            hint=f"its columns are {', '.join(_COLUMNS)}",
        )
    names = [lowered.get(name.lower(), name) for name in names]
    problems = Problems()
    for name in (*_TAKEN, "facial_landmarks"):
        if name not in names:
            message, hint = unknown("column", name, names)
            problems.add(f"{path.name}:1", message, hint=hint)
    problems.refuse(InputError, f"{path} is refused")
    return names, 1


def _whole_landmarks(batch: Any) -> Any:
    """Tell which rows have all landmarks."""
    marks = pc.count_substring(pc.utf8_trim(batch.column("facial_landmarks"), characters="; \t\r"), ";")
    return pc.equal(marks, _LANDMARKS - 1).to_numpy(zero_copy_only=False)


def _trimmed(batch: Any) -> Any:
    return pa.RecordBatch.from_arrays(
        [pc.utf8_trim_whitespace(batch.column(name)) for name in _TAKEN], names=list(_TAKEN)
    )
