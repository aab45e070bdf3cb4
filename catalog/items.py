"""The items table: what a reader gives, and the checks that it passes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ..errors import InputError, Problems, listing
from ..tabular import pc

if TYPE_CHECKING:
    from .cards import Card

__all__ = ["Items", "ReadReport", "Source", "checked_items", "item_fault", "label_kind", "normal_item"]

Kind = Literal["category", "binary", "continuous"]


@dataclass(frozen=True)
class Source:
    """A file that items were read from.

    Parameters
    ----------
    path : str
        POSIX path relative to the root that the user named; never an absolute path.
    role : {"items", "labels", "subjects", "attributes", "archive", "other"}
        What it was read for.
    digest : str
        ``sha256:`` and 64 hex digits of its bytes.
    bytes : int
        Its size.
    rows : int or None
        Rows read from it, where it has rows.
    """

    path: str
    role: str
    digest: str
    bytes: int
    rows: int | None = None


@dataclass(frozen=True)
class ReadReport:
    """What a reader saw: every row is kept, or counted under the reason for which it was not.

    Parameters
    ----------
    rows_read : int
        Rows, names or annotation files seen.
    skipped : mapping of str to int
        Rows left out, by reason.
    missing : mapping of str to mapping of str to int
        For each column, how often each raw token meant "missing" (``{"age": {"N/A": 62}}``).
    warnings : tuple of str
        What was taken but is odd, one sentence each, with place and value.
    notes : tuple of str
        What the user should know that is no fault (a reconciliation, an attribute the dataset never has).
    """

    rows_read: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    missing: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Items:
    """The items of a dataset: one row an item, every column text, missing is null.

    Parameters
    ----------
    dataset : str
        Name of the dataset (of its card, or of the file).
    table : pyarrow.Table
        Column ``item`` (relative POSIX path or name, NFC, unique, no null); optionally ``subject`` (null where
        nobody says whose the item is; several people's ids sorted and joined by ``|``); the label columns of the
        task (``label``; or ``AU1`` ... with ``0``, ``1`` or an intensity, null where unknown; or ``valence`` and
        ``arousal`` as decimal text); attributes; ``annotation`` (``manual`` or ``automatic``);
        ``split_released`` where the release has one. All of type string.
    labels : tuple of str
        The label columns of the task, empty where the dataset has no task labels.
    attributes : tuple of str
        The attribute columns.
    task : str or None
        The task of the card (``expression``, ``expression-7``, ``va``, ``au``), or None.
    sources : tuple of Source
        The files read.
    report : ReadReport
        What was seen while reading.
    card : Card or None
        The dataset's card; None for a plain table.
    replica : bool
        Whether the rows are drawn from published marginals rather than read from the dataset.
    """

    dataset: str
    table: pa.Table
    labels: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    task: str | None = None
    sources: tuple[Source, ...] = ()
    report: ReadReport = ReadReport()
    card: Card | None = None
    replica: bool = False

    def __len__(self) -> int:
        return self.table.num_rows

    @property
    def has_subjects(self) -> bool:
        """Whether any item names a subject."""
        names: list[str] = self.table.column_names
        return "subject" in names and self.table["subject"].null_count < len(self)


def label_kind(column: str) -> Kind:
    """Return how a label or attribute column is counted.

    Examples
    --------
    >>> label_kind("AU12"), label_kind("valence"), label_kind("label")
    ('binary', 'continuous', 'category')
    """
    if re.fullmatch(r"AU\d{1,2}", column):
        return "binary"
    return "continuous" if column in ("valence", "arousal") else "category"


def normal_item(text: str) -> str:
    r"""Return an item name in its normal form: NFC, ``/`` between folders, no leading ``./``.

    Examples
    --------
    >>> normal_item(".\\a\\b.jpg")
    'a/b.jpg'
    """
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    text = text.replace("\\", "/")
    while text.startswith("./"):
        text = text[2:]
    return text


def item_fault(text: str) -> str | None:
    """Return why a normal item name cannot be used, or None.

    Refused: empty, outer blanks, control characters, absolute paths, drive letters, a ``..`` component.

    Examples
    --------
    >>> item_fault("a/../b.jpg"), item_fault("/a.jpg"), item_fault("a..b.jpg")
    ("has '..' in its path", 'is an absolute path', None)
    """
    if not text:
        return "is empty"
    if text != text.strip():
        return "has blanks at its ends"
    if any(unicodedata.category(mark) == "Cc" for mark in text):
        return "holds a control character"
    if text.startswith("/"):
        return "is an absolute path"
    if re.match(r"[A-Za-z]:", text):
        return "begins with a drive letter"
    if ".." in text.split("/"):
        return "has '..' in its path"
    return None


_ITEM_HINT = "an item is a file name, or a path from the dataset's root down, as in part1/0001.jpg"

# What makes an item name suspect; names that do not match are normal and good as they stand.
_SUSPECT = r"[^ -~]|\\|^\./|\.\.|^/|^.:|^ | $|^$"


def checked_items(items: Items, *, places: Sequence[str] | None = None) -> Items:
    """Return the items with normal names, or refuse with every name that cannot be used.

    Parameters
    ----------
    items : Items
        As a reader made them; blanks in ``subject`` may still be empty strings.
    places : sequence of str, optional
        Where each row stands, for messages; by default ``row N``.

    Raises
    ------
    InputError
        If a name is refused by `item_fault`, or stands twice.
    """
    if len(items) == 0:
        reasons = listing([f"{reason}: {count:,}" for reason, count in items.report.skipped.items()])
        raise InputError(
            f"{items.dataset}: no item is left of {items.report.rows_read:,} rows",
            hint=f"left out: {reasons}" if reasons else "check that the file was written and copied whole",
        )
    column: Any = items.table["item"]
    if pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    suspect = np.flatnonzero(pc.match_substring_regex(pc.fill_null(column, ""), _SUSPECT).to_numpy())
    problems = Problems()

    def place(row: int) -> str:
        return places[row] if places is not None else f"row {row + 1}"

    if len(suspect):
        values: list[str | None] = column.to_pylist()
        for row in suspect.tolist():
            name = normal_item(values[row] or "")
            fault = item_fault(name)
            if fault:
                problems.add(f"{place(row)}, column item", f"{name!r} {fault}", hint=_ITEM_HINT)
            values[row] = name
        column = pa.chunked_array([pa.array(values, pa.string())])
    problems.refuse(InputError, f"{items.dataset} is refused")
    counts = pc.value_counts(column)
    twice = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(twice):
        names = twice.field("values").to_pylist()
        rows = pc.indices_nonzero(pc.is_in(column, pa.array(names, pa.string()))).to_pylist()
        wanted: dict[str, list[int]] = {}
        for row in rows:
            wanted.setdefault(column[row].as_py(), []).append(row)
        for name, at in wanted.items():
            problems.add(place(at[1]), f"item {name!r} stands {len(at)} times (first: {place(at[0])})")
        problems.refuse(InputError, f"{items.dataset} is refused")
    index = items.table.column_names.index("item")
    table = items.table.set_column(index, "item", column)
    if "subject" in table.column_names:
        table = _blank_to_null(table, "subject")
    return replace(items, table=table)


def _blank_to_null(table: pa.Table, name: str) -> pa.Table:
    column = table[name]
    blank = pc.equal(pc.fill_null(column, ""), "")
    if not pc.any(blank).as_py():
        return table
    return table.set_column(
        table.column_names.index(name), name, pc.if_else(blank, pa.scalar(None, pa.string()), column)
    )
