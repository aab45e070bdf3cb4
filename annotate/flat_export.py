"""Label Studio's JSON_MIN, CSV and TSV: one row an annotation, and much lost."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import Problems, VotesError, unknown
from ..tabular import pc, read_table
from .json_export import clean, control_column, unit_kind
from .votes import Annotations, ControlColumn

__all__ = ["read_flat_export"]

RESERVED = ("annotation_id", "annotator", "created_at", "updated_at", "lead_time", "id")
"""Columns that Label Studio adds to the task's data and the controls."""

_LOST = (
    "this format does not hold skipped annotations, ground truth flags, drafts and predictions, and shows the data of "
    "a task and its controls side by side: prefer the JSON export"
)


def read_flat_export(path: Path, *, unit: str = "task") -> Annotations:
    """Read a JSON_MIN, CSV or TSV export of Label Studio.

    Parameters
    ----------
    path : pathlib.Path
        JSON_MIN by its ending ``.json``, separated text otherwise.
    unit : str
        What a label belongs to: ``task``, or a field of the task's data such as ``subject_id``.

    Returns
    -------
    annotations : Annotations
        Skips and ground truth are not in the file, hence all False; `warnings` says so.

    Raises
    ------
    VotesError
        If the file is no such export, or a row has no unit.
    """
    small = ".json" in path.suffixes
    columns = _json_min_columns(path) if small else _separated_columns(path)
    if "annotator" not in columns or not ({"annotation_id", "id"} & set(columns)):
        raise VotesError(
            f"{path} is no export of Label Studio: it lacks annotator, or both annotation_id and id",
            hint=f"there are: {', '.join(list(columns)[:12])}",
        )
    size = len(next(iter(columns.values())))
    empty = pa.nulls(size, pa.string())
    task = columns.get("id", empty)
    identity = columns.get("annotation_id", empty)
    annotated = identity if "annotation_id" in columns else columns["annotator"]
    present = np.flatnonzero(pc.is_valid(annotated).to_numpy(zero_copy_only=False))
    unit_text = _unit_column(path, columns, unit)
    warnings = [_LOST, *_one_each(task, present)]
    taken = {name: column.take(pa.array(present)) for name, column in columns.items()}
    count = len(present)
    blank = pa.nulls(count, pa.string())
    tasks = set(task.to_pylist())
    anonymous = int(taken["annotator"].null_count)
    if anonymous:
        warnings.append(f"annotations without an annotator: {anonymous:,} (each counts as somebody else's)")
    return Annotations(
        "json-min" if small else "csv",
        (path.name,),
        unit_kind(unit),
        tuple(sorted({text for text in unit_text.to_pylist() if text})),
        unit_text.take(pa.array(present)),
        taken.get("id", blank),
        taken["annotator"],
        taken.get("annotation_id", blank),
        pc.coalesce(taken.get("updated_at", blank), taken.get("created_at", blank)),
        np.zeros(count, np.bool_),
        np.zeros(count, np.bool_),
        np.zeros(count, np.bool_),
        np.array([_number(text) for text in taken.get("lead_time", blank).to_pylist()], np.float64),
        np.zeros(count, np.int64),
        present.astype(np.int64),
        np.full(count, -1, np.int64),
        {name: cell_column(column) for name, column in taken.items() if _may_be_control(name, unit)},
        {"tasks": len(tasks), "bare": len(tasks - set(taken.get("id", blank).to_pylist())), "predicted": 0},
        tuple(warnings),
        tuple(_collisions(columns)),
    )


def _may_be_control(name: str, unit: str) -> bool:
    """Return whether a column may be a control's: not one that Label Studio adds, nor the unit's."""
    return name not in RESERVED and name != unit and not name.startswith("_data_")


def _number(text: str | None) -> float:
    try:
        return float(text) if text else math.nan
    except ValueError:
        return math.nan


def _separated_columns(path: Path) -> dict[str, Any]:
    """Read separated text; blank cells and the text ``None`` of an unknown annotator become null."""
    table = read_table(path).table
    columns: dict[str, Any] = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        missing = pc.is_in(column, pa.array(["", "None"] if name == "annotator" else [""]))
        columns[name] = pc.if_else(missing, pa.scalar(None, pa.string()), column)
        if name in ("annotation_id", "id", "annotator"):
            columns[name] = pc.replace_substring_regex(columns[name], r"^(\d+)\.0$", r"\1")
    return columns


def _json_min_columns(path: Path) -> dict[str, Any]:
    from .json_stream import iterate_array

    held: dict[str, dict[int, str]] = {}
    problems, size = Problems(), 0
    for row, record in iterate_array(path):
        size = row + 1
        if not isinstance(record, dict):
            problems.add(f"{path.name}: $[{row}]", f"is {type(record).__name__} and no record")
            continue
        for name, value in record.items():
            if value is not None and value != "":
                text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
                held.setdefault(name, {})[row] = clean(text)
    problems.refuse(VotesError, f"{path} is refused")
    columns: dict[str, Any] = {}
    for name, values in held.items():
        columns[name] = pa.array([values.get(row) for row in range(size)], pa.string())
    return columns


def _unit_column(path: Path, columns: dict[str, Any], unit: str) -> Any:
    """Return the unit of each row; Label Studio renames a field that a control hides to ``_data_NAME``."""
    name = "id" if unit == "task" else f"_data_{unit}" if f"_data_{unit}" in columns else unit
    if name not in columns:
        message, hint = unknown("field", unit, sorted(set(columns) - set(RESERVED)))
        raise VotesError(f"{path}: {message} in the tasks' data", hint=hint)
    problems = Problems()
    for row in np.flatnonzero(pc.is_null(columns[name]).to_numpy(zero_copy_only=False)).tolist():
        problems.add(f"{path.name}, row {row + 1}", f"has no {unit}")
    problems.refuse(VotesError, f"{path} is refused")
    return columns[name]


def _one_each(task: Any, present: np.ndarray[Any, np.dtype[np.int64]]) -> list[str]:
    """Warn of what old versions did: only the newest annotation of each task was written."""
    annotated = task.take(pa.array(present))
    if len(present) > 1 and annotated.null_count == 0 and len(pc.unique(annotated)) == len(present):
        return [
            "every task has exactly one annotation here; old versions of Label Studio wrote only the newest one to "
            "this format, so other annotations may be missing: prefer the JSON export"
        ]
    return []


def _collisions(columns: dict[str, Any]) -> list[str]:
    return [
        f"the data of the tasks has a field {name.removeprefix('_data_')} beside a control of that name"
        for name in columns
        if name.startswith("_data_")
    ]


def cell_column(column: Any) -> ControlColumn:
    """Read the cells of a column: bare text, ``{"choices": [...]}``, ``[{"rating": 4}]`` or a list of texts."""
    coded = column.dictionary_encode()
    parsed = [_cell(text) for text in coded.dictionary.to_pylist()]
    kinds = {kind for kind, _ in parsed}
    kind = "cell" if "cell" in kinds else next(iter(sorted(kinds)), "cell")
    indices: list[int | None] = coded.indices.to_pylist()
    held = {at: parsed[index][1] for at, index in enumerate(indices) if index is not None}
    return control_column(kind, held, len(column))


def _cell(text: str) -> tuple[str, list[str]]:
    if text[:1] not in ("{", "["):
        return "cell", [text]
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return "cell", [text]
    if isinstance(value, dict):
        listed = value.get("choices")
        return ("choices", [clean(each) for each in listed]) if isinstance(listed, list) else ("other", [text])
    return _listed(value, text)


def _listed(values: Sequence[Any], text: str) -> tuple[str, list[str]]:
    if values and all(isinstance(each, str) for each in values):
        return "cell", [clean(each) for each in values]
    for key in ("rating", "number"):
        if values and all(isinstance(each, dict) and key in each for each in values):
            return key, [clean(each[key]) for each in values]
    return "other", [text]
