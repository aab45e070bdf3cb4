"""Votes from plain tables: one row a vote, one column an annotator, or one column a category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ..errors import Problems, VotesError, unknown
from ..scales import Scale
from ..tabular import TextTable, map_values, pc
from .json_export import unit_kind
from .votes import Annotations, ControlColumn

__all__ = ["read_counts", "read_long", "read_wide", "table_shape", "unit_column"]

ANNOTATOR_COLUMNS = ("annotator", "annotator_id", "completed_by", "worker", "rater", "coder", "user")
UNIT_COLUMNS = ("subject", "item", "unit", "subject_id", "task", "id", "image", "path")
_META = ("annotation_id", "id", "created_at", "updated_at", "lead_time", "task", "status", "")


def _first(names: Sequence[str], columns: Sequence[str]) -> str | None:
    lowered = {column.lower(): column for column in columns}
    return next((lowered[name] for name in names if name in lowered), None)


def table_shape(table: TextTable, scale: Scale | None, unit: str) -> Literal["long", "wide", "counts"]:
    """Return which of the three shapes a table has.

    An ``annotator`` column makes it long; two or more columns named as categories of the scale, with whole numbers
    in them, make it counts; otherwise every column but the unit's is an annotator.
    """
    columns = table.table.column_names
    if _first(ANNOTATOR_COLUMNS, columns):
        return "long"
    named = [name for name in columns if name != unit and scale is not None and scale.category(name)]
    whole = all(
        pc.all(pc.match_substring_regex(pc.fill_null(table.table[name], "0"), r"^\d*$")).as_py() is not False
        for name in named
    )
    return "counts" if len(named) > 1 and whole else "wide"


def unit_column(table: TextTable, unit: str) -> str:
    """Return the column that names the units: the one asked for, one of the usual names, or the first."""
    columns: list[str] = table.table.column_names
    if unit != "task":
        if unit not in columns:
            message, hint = unknown("column", unit, columns)
            raise VotesError(f"{table.path}: {message}", hint=hint)
        return unit
    return _first(UNIT_COLUMNS, columns) or columns[0]


def _null_blanks(column: Any) -> Any:
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pc.if_else(pc.equal(pc.fill_null(column, ""), ""), pa.scalar(None, pa.string()), column)


def _units(table: TextTable, name: str) -> tuple[Any, list[str]]:
    """Return the units; a row without a name stands for itself, which is said."""
    column = _null_blanks(table.table[name])
    missing = np.flatnonzero(pc.is_null(column).to_numpy(zero_copy_only=False))
    if not len(missing):
        return column, []
    names = pa.array([f"row {row + 1}" for row in range(len(column))], pa.string())
    first = table.place(int(missing[0]), name)
    note = f"rows without {name}: {len(missing):,} (first: {first}; each stands for itself, named for its row)"
    return pc.coalesce(column, names), [note]


def _each_row_itself(table: TextTable, name: str, units: Any) -> tuple[Any, list[str]]:
    """Name rows that repeat a unit for their row: added up, their counts would pass for more votes on one unit."""
    names: list[str] = units.to_pylist()
    seen: set[str] = set()
    repeated: list[int] = []
    for row, unit in enumerate(names):
        if unit in seen:
            repeated.append(row)
            names[row] = f"{unit} (row {row + 1})"
        seen.add(unit)
    if not repeated:
        return units, []
    first = table.place(repeated[0], name)
    note = f"rows that repeat a name: {len(repeated):,} (first: {first}; each stands for itself, with its row named)"
    return pa.array(names, pa.string()), [note]


def _distinct(column: Any) -> tuple[str, ...]:
    return tuple(sorted(pc.unique(column).to_pylist()))


def _annotations(
    shape: Literal["long", "wide", "counts"],
    path: Path,
    unit_name: str,
    units: Any,
    rows: np.ndarray[Any, np.dtype[np.int64]],
    annotator: Any,
    controls: dict[str, ControlColumn],
    warnings: Sequence[str],
    notes: Sequence[str] = (),
    **columns: Any,
) -> Annotations:
    """Put a table's votes into the form of annotations: none is skipped, flagged or a draft."""
    unit, size = units.take(pa.array(rows)), len(rows)
    blank = pa.nulls(size, pa.string())
    no = np.zeros(size, np.bool_)
    named, voted = _distinct(units), len(pc.unique(unit))
    return Annotations(
        shape,
        (path.name,),
        unit_kind(unit_name),
        named,
        unit,
        columns.get("task", unit),
        annotator,
        columns.get("identity", blank),
        columns.get("when", blank),
        no,
        no,
        no,
        columns.get("seconds", np.full(size, math.nan)),
        np.zeros(size, np.int64),
        rows,
        np.full(size, -1, np.int64),
        controls,
        {"tasks": len(named), "bare": len(named) - voted, "predicted": 0},
        tuple(warnings),
        tuple(notes),
    )


def read_long(table: TextTable, *, unit: str = "task") -> Annotations:
    """Read a table of one row a vote: unit, annotator, category[, confident], or several category columns.

    Parameters
    ----------
    table : TextTable
        Column ``annotator`` (or ``worker``, ``rater``, ...); a unit column; optional ``annotation_id``,
        ``created_at``, ``updated_at``, ``lead_time``; all others are controls.
    unit : str
        The unit column; ``task`` takes ``subject``, ``item``, ... or the first.

    Returns
    -------
    annotations : Annotations
    """
    columns: list[str] = table.table.column_names
    who = _first(ANNOTATOR_COLUMNS, columns)
    if who is None:
        message, hint = unknown("column", "annotator", columns)
        raise VotesError(f"{table.path}: {message}", hint=hint)
    name = unit_column(table, unit)
    units, warnings = _units(table, name)
    annotator = _null_blanks(table.table[who])
    if annotator.null_count:
        warnings.append(f"votes without an annotator: {annotator.null_count:,} (each counts as somebody else's)")
    kept = {column: _null_blanks(table.table[column]) for column in columns if column not in (who, name)}
    blank = pa.nulls(len(units), pa.string())
    when = pc.coalesce(kept.get("updated_at", blank), kept.get("created_at", blank))
    controls = {column: ControlColumn("cell", held) for column, held in kept.items() if column.lower() not in _META}
    return _annotations(
        "long",
        table.path,
        name,
        units,
        np.arange(len(units)),
        annotator,
        controls,
        warnings,
        identity=kept.get("annotation_id", blank),
        when=when,
    )


def read_wide(table: TextTable, *, unit: str = "task", scale: Scale | None = None) -> Annotations:
    """Read a table of one column an annotator; a blank cell is no vote, and no annotation either.

    Parameters
    ----------
    table : TextTable
        A unit column and a column for each annotator; with a scale, columns without a single category of it are
        left out and named.
    unit : str
        The unit column; ``task`` takes ``subject``, ``item``, ... or the first.
    scale : Scale, optional
        The categories.

    Returns
    -------
    annotations : Annotations
        With the one control ``vote``.
    """
    name = unit_column(table, unit)
    units, warnings = _units(table, name)
    cells = {column: _null_blanks(table.table[column]) for column in table.table.column_names if column != name}
    annotators = [column for column, held in cells.items() if _holds_votes(held, scale)]
    if not annotators:
        raise VotesError(
            f"{table.path}: no column holds a category of the scale",
            hint=f"columns beside {name}: {', '.join(list(cells)[:12])}; a long table needs a column annotator",
        )
    left = [column for column in cells if column not in annotators]
    notes = [f"columns that hold no vote, left out: {', '.join(left)}"] if left else []
    rows = [np.flatnonzero(pc.is_valid(cells[column]).to_numpy(zero_copy_only=False)) for column in annotators]
    votes = pa.concat_arrays([cells[column].take(pa.array(at)) for column, at in zip(annotators, rows, strict=True)])
    who = [pa.array([column] * len(at), pa.string()) for column, at in zip(annotators, rows, strict=True)]
    return _annotations(
        "wide",
        table.path,
        name,
        units,
        np.concatenate(rows),
        pa.concat_arrays(who),
        {"vote": ControlColumn("cell", votes)},
        warnings,
        notes,
    )


def _holds_votes(column: Any, scale: Scale | None) -> bool:
    values: list[str | None] = pc.unique(column).to_pylist()
    return any(value is not None and (scale is None or scale.category(value) is not None) for value in values)


def read_counts(table: TextTable, scale: Scale, *, unit: str = "task") -> Annotations:
    """Read a table of one column a category, whose cells count votes (FER+); who voted is not known.

    Parameters
    ----------
    table : TextTable
        A unit column and a column for each category of the scale; others are left out and named.
    scale : Scale
        The categories.
    unit : str
        The unit column; ``task`` takes ``subject``, ``item``, ... or the first.

    Returns
    -------
    annotations : Annotations
        One a vote, with the one control ``vote``.

    Raises
    ------
    VotesError
        If a cell is no whole number, or two columns stand for one category.
    """
    name = unit_column(table, unit)
    units, warnings = _units(table, name)
    units, repeated = _each_row_itself(table, name, units)
    warnings += repeated
    problems = Problems()
    counts: dict[str, Any] = {}
    left: list[str] = []
    for column in table.table.column_names:
        category = scale.category(column)
        if column == name or category is None:
            left += [column] * (column != name)
        elif category in counts:
            problems.add(f"{table.path.name}:1", f"two columns stand for {category}")
        else:
            counts[category] = _whole_numbers(table, column, problems)
    problems.refuse(VotesError, f"{table.path} is refused")
    grid = np.stack(list(counts.values()), axis=1)
    notes = [f"columns that are no category of {scale.name}, left out: {', '.join(left)}"] if left else []
    rows = np.repeat(np.arange(len(units)), grid.sum(axis=1))
    names = pa.array(list(counts), pa.string())
    places = np.repeat(np.tile(np.arange(len(counts)), len(units)), grid.reshape(-1))
    return _annotations(
        "counts",
        table.path,
        name,
        units,
        rows,
        pa.nulls(len(rows), pa.string()),
        {"vote": ControlColumn("cell", names.take(pa.array(places)))},
        warnings,
        [*notes, "a table of counts does not say who voted: nothing is known of annotators"],
    )


def _whole_numbers(table: TextTable, column: str, problems: Problems) -> Any:
    texts = map_values(table.table[column], lambda text: text if text.isdecimal() else "0" if not text else None)
    for row in np.flatnonzero(pc.is_null(texts).to_numpy()).tolist():
        problems.add(table.place(row, column), f"{table.table[column][row].as_py()!r} is no number of votes")
    return pc.fill_null(texts, "0").cast(pa.int64()).to_numpy()
