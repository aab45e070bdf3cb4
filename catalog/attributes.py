"""Attributes joined to items: age, gender, race, skin type and the like, by item or by subject.

The table may be anybody's, or the ``labels.csv`` that votes were settled into: then the columns that tell how a
label came about (``skin_type_status`` and so on) are left aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError, Problems, listing, unknown
from ..tabular import LABEL_SUFFIXES, TextTable, pc, read_table
from .attribute_specs import AttributeSpec, confident, parse_spec, row_sources
from .fair_consistent import attribute_table, is_release
from .items import Items, ReadReport, normal_item
from .plain import MISSING_TOKENS
from .reading import Places, Reading

__all__ = ["join_attributes"]

_SUFFIXES = ("source", "confidence", *LABEL_SUFFIXES)
_KEYS = ("item", "subject")
_RESERVED = ("item", "subject", "annotation", "split_released")
_MOST_EXAMPLES = 3


def join_attributes(
    items: Items, path: str | Path, *, by: str | None = None, columns: Sequence[str] | None = None
) -> Items:
    """Join a table of attributes to items.

    Parameters
    ----------
    items : Items
        The items; they stay as many and in their order.
    path : str or pathlib.Path
        A table with a column ``item`` or ``subject`` and one column an attribute; or CSV files of the fair and
        consistent protocol. After commas may stand how it came about, as `parse_spec` reads it:
        ``ages.csv,automatic,confidence=score,at-least=0.8``.
    by : {"item", "subject"}, optional
        The key; by default ``item`` where the table has it, else ``subject``.
    columns : sequence of str, optional
        The attributes to take; by default every column but the key and those that tell how a label came about
        (``skin_type_share`` beside ``skin_type`` and ``skin_type_status``, and the like).

    Returns
    -------
    items : Items
        The report says how many rows of each side found no partner. Where an attribute is there already, its gaps
        are filled. A column such as ``age_source`` says whether people or a model said a value, where that is known.

    Raises
    ------
    InputError
        If there is no key, a key stands twice with different values, a value contradicts one that the items have,
        or no row finds a partner.
    """
    spec = parse_spec(path)
    path = spec.path
    reading = Reading(items.card, path, items.task)
    if is_release(path):
        table = attribute_table(reading, items)
    else:
        table = read_table(path)
        reading.table(table, "attributes")
    key = _key(items, table, by)
    names = _attributes(table, key, columns, spec)
    table = confident(table, names, spec)
    keys, values, rows = _by_key(reading, table, key, names, spec.tokens)
    own: Any = items.table[key]
    where = pc.index_in(own, value_set=keys)
    found = where.drop_null()
    if len(found) == 0:
        raise InputError(
            f"{path.name}: none of its {len(keys):,} rows belongs to any of the {len(items):,} items",
            hint=f"its column {key} holds {_sample(keys)}, that of the items {_sample(own)}",
        )
    columns_now = _joined(items, table, names, values, where, rows, spec, reading)
    return _with(items, columns_now, names, reading, (len(items) - len(found), len(keys) - len(pc.unique(found))), key)


def _key(items: Items, table: TextTable, by: str | None) -> str:
    have = table.table.column_names
    if by is not None and by not in _KEYS:
        message, hint = unknown("key", by, _KEYS)
        raise InputError(message, hint=hint)
    key = by or next((name for name in _KEYS if name in have), None)
    if key is None or key not in have:
        raise InputError(
            f"{table.path}: no column {key or 'item or subject'} says whose the attributes are",
            hint=f"call that column item or subject. There are: {listing(have)}",
        )
    if key not in items.table.column_names:
        raise InputError(
            f"{table.path} goes by subject, and {items.dataset} names no subjects", hint="give attributes by item"
        )
    return key


def _attributes(table: TextTable, key: str, columns: Sequence[str] | None, spec: AttributeSpec) -> list[str]:
    if columns is not None:
        table.require(columns)
        return list(columns)
    have = table.table.column_names
    beside = {f"{name}_{suffix}" for name in have for suffix in _SUFFIXES}
    beside |= {spec.confidence} if spec.confidence else set()
    names = [name for name in have if name != key and name not in beside and name not in _RESERVED]
    if not names:
        raise InputError(f"{table.path} holds no attribute beside its column {key}")
    return names


def _by_key(
    reading: Reading, table: TextTable, key: str, names: Sequence[str], tokens: Sequence[str] = ()
) -> tuple[Any, dict[str, Any], list[int]]:
    """Return the distinct keys, the attributes of each, and the row that each stands in."""
    rows: Any = table.table
    keys = pc.fill_null(rows[key], "")
    if key == "item":
        keys = pa.chunked_array([pa.array([normal_item(name) for name in keys.to_pylist()], pa.string())])
    columns = {"item": keys}
    columns |= {name: reading.blanked(rows[name], name, (*MISSING_TOKENS, *tokens)) for name in names}
    empty = pc.equal(keys, "").to_numpy()
    places = Places.of_tables([table])
    for row in np.flatnonzero(empty).tolist():
        reading.problems.add(f"{places[row]}, column {key}", "is empty", hint=f"every row names its {key}")
    reading.problems.refuse(InputError, f"{table.path} is refused")
    distinct, places = reading.distinct_rows(pa.table(columns), places, what=key)
    return distinct["item"], {name: distinct[name] for name in names}, list(places.rows)


def _joined(
    items: Items,
    table: TextTable,
    names: Sequence[str],
    values: dict[str, Any],
    where: Any,
    rows: Sequence[int],
    spec: AttributeSpec,
    reading: Reading,
) -> dict[str, Any]:
    """Return the columns after the join; refuse what people contradict. Predictions fill gaps and change nothing."""
    problems = Problems()
    columns: dict[str, Any] = {}
    for name in names:
        given = values[name].take(where)
        said = row_sources(table, name, spec).take(pa.array(rows)).take(where)
        said = pc.if_else(pc.is_valid(given), said, pa.scalar(None, pa.string()))
        source = f"{name}_source"
        if name in items.table.column_names:
            own: Any = items.table[name]
            clash = pc.fill_null(pc.not_equal(own, given), False)
            guessed = pc.and_(clash, pc.fill_null(pc.equal(said, "automatic"), False))
            _tell_of_guesses(reading, name, guessed, pc.and_(pc.is_valid(own), pc.is_valid(given)))
            for row in np.flatnonzero(pc.and_not(clash, guessed).to_numpy()).tolist():
                item = items.table["item"][row].as_py()
                problems.add(
                    table.place(rows[where[row].as_py()], name),
                    f"{given[row].as_py()!r} for item {item!r}, which has {own[row].as_py()!r}",
                    hint="leave the column out of the table, or correct it",
                )
            before = pa.nulls(len(items), pa.string())
            before = items.table[source] if source in items.table.column_names else before
            said = pc.if_else(pc.is_valid(own), before, said)
            given = pc.coalesce(own, given)
        columns[name] = given
        if said.null_count < len(said):
            columns[source] = said
    problems.refuse(InputError, f"{table.path} contradicts {items.dataset}")
    return columns


def _tell_of_guesses(reading: Reading, name: str, guessed: Any, both: Any) -> None:
    """Say how often a model says other than what the items have."""
    count, of = (int(pc.sum(mark).as_py() or 0) for mark in (guessed, both))
    if count:
        reading.notes.append(
            f"{reading.root.name}: its {name} differs from what the items have in {count:,} of {of:,} predictions, "
            "and gives way"
        )


def _with(
    items: Items,
    columns: dict[str, Any],
    names: Sequence[str],
    reading: Reading,
    alone: tuple[int, int],
    key: str,
) -> Items:
    """Return the items with the columns, and a report that says what found no partner."""
    table: Any = items.table
    for name, column in columns.items():
        place = table.column_names.index(name) if name in table.column_names else None
        table = table.append_column(name, column) if place is None else table.set_column(place, name, column)
    path = reading.root
    note = f"{path.name} adds {listing(list(names))} by {key}: {len(items) - alone[0]:,} of {len(items):,} items found"
    warnings = [*reading.warnings]
    if alone[0]:
        warnings.append(f"items without a row in {path.name}, their {listing(list(names))} unchanged: {alone[0]:,}")
    if alone[1]:
        warnings.append(f"rows of {path.name} that belong to no item: {alone[1]:,}")
    report = items.report
    missing = dict(report.missing) | {name: dict(counts) for name, counts in reading.missing.items() if name in names}
    return replace(
        items,
        table=table,
        attributes=(*items.attributes, *(name for name in names if name not in (*items.attributes, *items.labels))),
        sources=(*items.sources, *reading.sources),
        report=ReadReport(
            report.rows_read,
            report.skipped,
            missing,
            (*report.warnings, *warnings),
            (*report.notes, note, *reading.notes),
        ),
    )


def _sample(column: Any) -> str:
    return listing([repr(value) for value in column.slice(0, _MOST_EXAMPLES).to_pylist()])
