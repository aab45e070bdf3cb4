"""From files of any known format to annotations."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from ..errors import VotesError
from ..scales import Scale
from ..tabular import TextTable, read_table
from .flat_export import read_flat_export
from .json_export import read_json_export
from .json_stream import iterate_array
from .vote_tables import read_counts, read_long, read_wide, table_shape, unit_column
from .votes import Annotations, ControlColumn

__all__ = ["FormatName", "read_annotations"]

FormatName = Literal["auto", "json", "json-min", "csv", "long", "wide", "counts"]

_ARRAYS = ("unit", "task", "annotator", "identity", "when")
_NUMBERS = ("cancelled", "gold", "draft", "seconds", "row", "nth")


def read_annotations(
    paths: Sequence[Path], *, scale: Scale | None = None, unit: str = "task", format: FormatName = "auto"
) -> Annotations:
    """Read every annotation of one or several files, of any known format.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        Label Studio JSON, snapshot, JSON_MIN, CSV or TSV; vote tables; a folder stands for the files in it (storage
        exports).
    scale : Scale, optional
        The categories; needed to tell a table of counts.
    unit : str
        What a label belongs to: ``task``, or a field such as ``subject_id``.
    format : str
        By default found by what the file holds.

    Returns
    -------
    annotations : Annotations
        Those of all files together.

    Raises
    ------
    VotesError
        If a file cannot be read, or several files have different formats.
    """
    files = [file for path in paths for file in _files(path)]
    if not files:
        raise VotesError("no file is named", hint="name the exports to read")
    formats: list[FormatName] = [_format(path, scale, unit, format) for path in files]
    if len(set(formats)) > 1:
        shown = ", ".join(f"{path.name} ({name})" for path, name in zip(files, formats, strict=True))
        raise VotesError(f"files of different formats cannot be read together: {shown}", hint="prefer the JSON exports")
    if formats[0] == "json":
        return read_json_export(files, unit=unit)
    return _together([_read(path, formats[0], scale, unit) for path in files])


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
    if not found:
        raise VotesError(f"{path} is an empty folder", hint="name the folder that holds the exported annotations")
    return found


def _format(path: Path, scale: Scale | None, unit: str, asked: FormatName) -> FormatName:
    """Return the format asked for, or the one that the file's beginning shows."""
    if asked != "auto":
        return asked
    table = [suffix for suffix in path.suffixes if suffix.lower() in (".csv", ".tsv", ".txt", ".parquet", ".jsonl")]
    if not table:
        return _json_format(path)
    held = read_table(path)
    columns = set(held.table.column_names)
    if {"annotator", "annotation_id"} <= columns and {"id", "lead_time", "created_at"} & columns:
        return "csv"
    return table_shape(held, scale, unit_column(held, unit))


def _json_format(path: Path) -> FormatName:
    elements = [element for _, element in itertools.islice(iterate_array(path), 1)]
    if not elements:
        raise VotesError(
            f"{path}: the export holds no task", hint="check which project was exported, and that it has tasks"
        )
    first = elements[0]
    if isinstance(first, dict) and "annotations" not in first and {"annotation_id", "annotator"} & set(first):
        return "json-min"
    return "json"


def _read(path: Path, format: FormatName, scale: Scale | None, unit: str) -> Annotations:
    if format in ("csv", "json-min"):
        return read_flat_export(path, unit=unit)
    table: TextTable = read_table(path)
    if format == "long":
        return read_long(table, unit=unit)
    if format == "wide":
        return read_wide(table, unit=unit, scale=scale)
    if scale is None:
        raise VotesError(f"{path}: a table of counts needs a scale, to know its columns", hint="name it with --scale")
    return read_counts(table, scale, unit=unit)


def _together(parts: Sequence[Annotations]) -> Annotations:
    """Join the annotations of several files of one format."""
    first = parts[0]
    if len(parts) == 1:
        return first
    arrays = {name: pa.concat_arrays([getattr(part, name) for part in parts]) for name in _ARRAYS}
    numbers = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _NUMBERS}
    counted = {name: sum(part.counted[name] for part in parts) for name in first.counted}
    names = dict.fromkeys(name for part in parts for name in part.controls)
    return replace(
        first,
        sources=tuple(part.sources[0] for part in parts),
        units=tuple(sorted({unit for part in parts for unit in part.units})),
        source=np.repeat(np.arange(len(parts)), [len(part) for part in parts]),
        controls={name: _joined_control(name, parts) for name in names},
        counted=counted,
        warnings=tuple(dict.fromkeys(text for part in parts for text in part.warnings)),
        notes=tuple(dict.fromkeys(text for part in parts for text in part.notes)),
        **arrays,
        **numbers,
    )


def _joined_control(name: str, parts: Sequence[Annotations]) -> ControlColumn:
    held = [part.controls.get(name) for part in parts]
    texts = [
        column.texts if column is not None else pa.nulls(len(part), pa.string())
        for column, part in zip(held, parts, strict=True)
    ]
    several = [
        column.several if column is not None and column.several is not None else np.zeros(len(part), np.bool_)
        for column, part in zip(held, parts, strict=True)
    ]
    kind = next(column.kind for column in held if column is not None)
    return ControlColumn(kind, pa.concat_arrays(texts), np.concatenate(several))
