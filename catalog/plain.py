"""A plain table of any dataset: one row an item, columns named by the user or by usual names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError, unknown
from ..tabular import TextTable, map_values, pc, read_table
from .columns import Roles, find_roles, given_roles
from .items import Items
from .reading import Places, Reading

__all__ = ["MISSING_TOKENS", "read_plain"]

MISSING_TOKENS = ("", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "<NA>")
"""Raw values of a label or an attribute that always mean missing; `None` may be a category, so it is not here."""

_MISSING_SUBJECT = ("own", "drop")
_ANNOTATIONS = {"manual": "manual", "automatic": "automatic"}


def read_plain(
    path: Path,
    *,
    task: str | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    missing_subject: str | None = None,
) -> Items:
    """Read a plain table of items.

    Parameters
    ----------
    path : pathlib.Path
        CSV, TSV, JSON lines or Parquet. A file ``items.yaml`` beside ``items.csv`` may say which column is which.
    task : {"expression", "au", "va"}, optional
        Which labels, where the table has several kinds.
    columns : mapping, optional
        Column by role: ``item``, ``subject``, ``label`` (or a list of several), ``split``, ``annotation``,
        ``attributes`` (a list; by default all other columns), and ``missing`` (a list of further tokens that mean
        missing). Over what the YAML file says.
    missing_subject : {"own", "drop"}, optional
        What becomes of items without a subject where others name one: a unit of their own, or left out.

    Returns
    -------
    items : Items

    Raises
    ------
    InputError
        If the table cannot be read, a column that is named does not exist, an item stands twice with different
        values, or only a part of the rows names a subject and `missing_subject` does not say what that means.

    Notes
    -----
    Identical rows of an item count once. Columns ``AU1`` ..., ``valence``, ``arousal``, and ``label`` (else
    ``expression`` or ``emotion``) are labels.
    """
    table = read_table(path)
    roles = find_roles(table.table.column_names, given_roles(path, columns), path.name, task)
    missing_subject = missing_subject or roles.missing_subject
    if missing_subject not in (None, *_MISSING_SUBJECT):
        message, hint = unknown("way to treat a missing subject", missing_subject, _MISSING_SUBJECT)
        raise InputError(message, hint=hint)
    reading = Reading(None, path, roles.task)
    reading.table(table, "items")
    reading.notes += roles.notes
    tokens = (*MISSING_TOKENS, *roles.missing)
    places = Places.of_tables([table])
    found, keep = _columns(reading, table, roles, tokens, missing_subject, places)
    if keep is not None:
        found = {name: column.filter(pa.array(keep)) for name, column in found.items()}
        places = places.only(keep)
    items = reading.finish(
        found, places, labels=tuple(roles.labels), attributes=roles.attributes, dataset=roles.name or _stem(path)
    )
    return _without_empty_subjects(items)


def _stem(path: Path) -> str:
    return path.with_suffix("").stem if path.suffix == ".gz" else path.stem


def _columns(
    reading: Reading,
    table: TextTable,
    roles: Roles,
    tokens: Sequence[str],
    missing_subject: str | None,
    places: Places,
) -> tuple[dict[str, Any], Any]:
    """Return the columns of `Items`, and which rows stay (None for all)."""
    rows: Any = table.table
    columns: dict[str, Any] = {"item": pc.fill_null(rows[roles.item], "")}
    keep = None
    if roles.subject is not None:
        columns["subject"], keep = _subjects(reading, rows[roles.subject], roles, tokens, missing_subject, places)
    for label, name in roles.labels.items():
        columns[label] = reading.blanked(rows[name], label, tokens)
    for name in roles.attributes:
        columns[name] = reading.blanked(rows[name], name, tokens)
    if roles.annotation is not None:
        columns["annotation"] = reading.coded(
            pc.utf8_lower(rows[roles.annotation]), roles.annotation, _ANNOTATIONS, places, missing=tokens
        )
    if roles.split is not None:
        columns["split_released"] = reading.blanked(rows[roles.split], roles.split, tokens)
    return columns, keep


def _subjects(
    reading: Reading, raw: Any, roles: Roles, tokens: Sequence[str], missing_subject: str | None, places: Places
) -> tuple[Any, Any]:
    """Return the subjects; where only some rows name one, do what the user says and never guess."""
    name = str(roles.subject)
    column = map_values(reading.blanked(raw, "subject", tokens), _people)
    absent = pc.is_null(column).to_numpy()
    count = int(absent.sum())
    if count == 0:
        return column, None
    if count == len(absent):
        reading.notes.append(f"column {name!r} names no subject at all: each item is a unit of its own")
        return column, None
    if missing_subject == "own":
        reading.warnings.append(f"items that name no subject, each a unit of its own, as was asked: {count:,}")
        return column, None
    if missing_subject == "drop":
        reading.skipped["row that names no subject, left out as was asked"] = count
        return column, ~absent
    seen = ", ".join(f"{token!r}: {times:,}" for token, times in sorted(reading.missing.get("subject", {}).items()))
    first = places[int(np.flatnonzero(absent)[0])]
    raise InputError(
        f"{first}, column {name}: {count:,} of {len(absent):,} items name no subject ({seen}), the others do",
        hint="say what that means: --missing-subject own takes each as a unit of its own (wrong if one person "
        "stands behind several of them), --missing-subject drop leaves them out",
    )


def _people(text: str) -> str | None:
    """Return the subjects that an item shows, sorted and each once, joined by ``|``."""
    if "|" not in text:
        return text
    people = sorted({person for person in (part.strip() for part in re.split(r"\|", text)) if person})
    return "|".join(people) or None


def _without_empty_subjects(items: Items) -> Items:
    """Leave out a subject column that names nobody."""
    if "subject" not in items.table.column_names or items.has_subjects:
        return items
    return replace(items, table=items.table.drop_columns(["subject"]))
