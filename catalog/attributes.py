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
from ..tabular import TextTable, pc, read_table
from .items import Items, ReadReport, normal_item
from .plain import MISSING_TOKENS
from .reading import Places, Reading

__all__ = ["join_attributes"]

_SUFFIXES = ("_status", "_share", "_margin", "_stability", "_votes", "_rule")
_KEYS = ("item", "subject")
_RESERVED = ("item", "subject", "annotation", "split_released")
_MOST_EXAMPLES = 3


def join_attributes(items: Items, path: Path, *, by: str | None = None, columns: Sequence[str] | None = None) -> Items:
    """Join a table of attributes to items.

    Parameters
    ----------
    items : Items
        The items; they stay as many and in their order.
    path : pathlib.Path
        A table with a column ``item`` or ``subject`` and one column an attribute.
    by : {"item", "subject"}, optional
        The key; by default ``item`` where the table has it, else ``subject``.
    columns : sequence of str, optional
        The attributes to take; by default every column but the key and those that tell how a label came about
        (``skin_type_share`` beside ``skin_type`` and ``skin_type_status``, and the like).

    Returns
    -------
    items : Items
        The report says how many rows of each side found no partner. Where an attribute is there already, its gaps
        are filled.

    Raises
    ------
    InputError
        If there is no key, a key stands twice with different values, a value contradicts one that the items have,
        or no row finds a partner.
    """
    table = read_table(path)
    key = _key(items, table, by)
    names = _attributes(table, key, columns)
    reading = Reading(items.card, path, items.task)
    reading.table(table, "attributes")
    keys, values, rows = _by_key(reading, table, key, names)
    own: Any = items.table[key]
    where = pc.index_in(own, value_set=keys)
    found = where.drop_null()
    if len(found) == 0:
        raise InputError(
            f"{path.name}: none of its {len(keys):,} rows belongs to any of the {len(items):,} items",
            hint=f"its column {key} holds {_sample(keys)}, that of the items {_sample(own)}",
        )
    columns_now = _joined(items, table, names, values, where, rows)
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


def _attributes(table: TextTable, key: str, columns: Sequence[str] | None) -> list[str]:
    if columns is not None:
        table.require(columns)
        return list(columns)
    have = table.table.column_names
    beside = {name + suffix for name in have for suffix in _SUFFIXES}
    settled = tuple(f"{name}_" for name in have if f"{name}_status" in have)
    beside |= {name for name in have if name.startswith(settled)}
    names = [name for name in have if name != key and name not in beside and name not in _RESERVED]
    if not names:
        raise InputError(f"{table.path} holds no attribute beside its column {key}")
    return names


def _by_key(
    reading: Reading, table: TextTable, key: str, names: Sequence[str]
) -> tuple[Any, dict[str, Any], list[int]]:
    """Return the distinct keys, the attributes of each, and the row that each stands in."""
    rows: Any = table.table
    keys = pc.fill_null(rows[key], "")
    if key == "item":
        keys = pa.chunked_array([pa.array([normal_item(name) for name in keys.to_pylist()], pa.string())])
    columns = {"item": keys}
    columns |= {name: reading.blanked(rows[name], name, MISSING_TOKENS) for name in names}
    empty = pc.equal(keys, "").to_numpy()
    places = Places.of_tables([table])
    for row in np.flatnonzero(empty).tolist():
        reading.problems.add(f"{places[row]}, column {key}", "is empty", hint=f"every row names its {key}")
    reading.problems.refuse(InputError, f"{table.path} is refused")
    distinct, places = reading.distinct_rows(pa.table(columns), places, what=key)
    return distinct["item"], {name: distinct[name] for name in names}, list(places.rows)


def _joined(
    items: Items, table: TextTable, names: Sequence[str], values: dict[str, Any], where: Any, rows: Sequence[int]
) -> dict[str, Any]:
    """Return the columns after the join; refuse values that contradict what the items have."""
    problems = Problems()
    columns: dict[str, Any] = {}
    for name in names:
        given = values[name].take(where)
        if name not in items.table.column_names:
            columns[name] = given
            continue
        own: Any = items.table[name]
        clash = pc.fill_null(pc.not_equal(own, given), False)
        for row in np.flatnonzero(clash.to_numpy()).tolist():
            problems.add(
                table.place(rows[where[row].as_py()], name),
                f"{given[row].as_py()!r} for item {items.table['item'][row].as_py()!r}, which has {own[row].as_py()!r}",
                hint="leave the column out of the table, or correct it",
            )
        columns[name] = pc.coalesce(own, given)
    problems.refuse(InputError, f"{table.path} contradicts {items.dataset}")
    return columns


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
    missing = dict(report.missing) | {name: dict(counts) for name, counts in reading.missing.items()}
    return replace(
        items,
        table=table,
        attributes=(*items.attributes, *(name for name in names if name not in (*items.attributes, *items.labels))),
        sources=(*items.sources, *reading.sources),
        report=ReadReport(
            report.rows_read, report.skipped, missing, (*report.warnings, *warnings), (*report.notes, note)
        ),
    )


def _sample(column: Any) -> str:
    return listing([repr(value) for value in column.slice(0, _MOST_EXAMPLES).to_pylist()])
