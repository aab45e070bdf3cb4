"""The digest of an assignment: the same from any file format and any order of rows, and from a line of shell.

It is the SHA-256 of::

    protoctl:assignments:v1
    item<TAB>subject<TAB>split
    one line a row, <TAB> between values, sorted by bytes

Rows a subject have the header ``subject<TAB>split``.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..catalog.items import item_fault, normal_item
from ..errors import InputError, Problems
from ..tabular import pc

__all__ = ["CANONICAL", "Rows", "assignment_digest", "canonical_rows", "items_digest", "row_bytes", "sorted_rows"]

CANONICAL = "protoctl:assignments:v1"
"""Name of the canonical form; another form would have another name."""

_ITEMS = "protoctl:items:v1"
_ITEM_LEVEL = ("item", "subject", "split")
_SUBJECT_LEVEL = ("subject", "split")

# Values that match need a closer look; the others are normal and good as they stand.
_SUSPECT_ITEM = r"[^ -~]|[\\\",]|^\./|\.\.|^/|^.:|^ | $|^$"
_SUSPECT_TEXT = r"[^ -~]|[\",|]|^ | $"

Place = Callable[[int, str], str]


@dataclass(frozen=True)
class Rows:
    """The rows of an assignment in canonical form.

    Parameters
    ----------
    table : pyarrow.Table
        Columns ``item``, ``subject``, ``split``, or ``subject``, ``split``: large strings, no null (the empty string
        stands for an unknown subject), sorted by the bytes of the first.
    order : ndarray of int64, shape (n_rows,), or None
        Position that each row had; None where the rows came sorted.
    """

    table: pa.Table
    order: np.ndarray[Any, np.dtype[np.int64]] | None

    @property
    def level(self) -> str:
        """What a row is: ``item`` or ``subject``."""
        return "item" if "item" in self.table.column_names else "subject"


def _row(row: int, column: str) -> str:
    return f"row {row + 1}, column {column}"


def canonical_rows(table: pa.Table, *, place: Place | None = None, quoted: bool = False) -> Rows:
    r"""Bring an assignment into canonical form, or refuse every value that has none.

    Parameters
    ----------
    table : pyarrow.Table
        Columns ``item`` and ``split``, and ``subject`` where there is one; or ``subject`` and ``split``. Text; null
        is empty. Items become NFC with ``/`` between folders; several people of an item are sorted.
    place : callable, optional
        Where a row and column stand, for messages; by default ``row N, column C``.
    quoted : bool
        Take commas and quotation marks in values. The line of shell cannot recompute such a digest.

    Returns
    -------
    rows : Rows

    Raises
    ------
    InputError
        If a column is missing; if an item or split is empty, has control characters, outer blanks, a comma or
        quotation mark, is an absolute path or leads out by ``..``; if an id stands twice.

    Examples
    --------
    >>> table = pa.table({"item": [".\\b.jpg", "a.jpg"], "subject": ["S2|S1", None], "split": ["test", "train"]})
    >>> canonical_rows(table).table.to_pylist()[1]
    {'item': 'b.jpg', 'subject': 'S1|S2', 'split': 'test'}
    """
    rows, problems = sorted_rows(table, place=place, quoted=quoted)
    problems.refuse(InputError, "the assignment is refused")
    return rows


def sorted_rows(table: pa.Table, *, place: Place | None = None, quoted: bool = False) -> tuple[Rows, Problems]:
    """Do as `canonical_rows` does, but return the problems; the rows are of use only where there are none."""
    names = _ITEM_LEVEL if "item" in table.column_names else _SUBJECT_LEVEL
    where = place or _row
    problems = Problems()
    columns: dict[str, Any] = {}
    for name in names:
        if name not in table.column_names:
            if name == "subject" and names is _ITEM_LEVEL:
                columns[name] = pa.array([""], pa.large_string()).take(pa.array(np.zeros(table.num_rows, np.int64)))
                continue
            raise InputError(f"the assignment has no column {name!r}", hint="it has item, subject and split")
        columns[name] = _checked(table[name], name, names[0], where, problems, quoted)
    if table.num_rows == 0:
        raise InputError("the assignment has no row", hint="check that the file was written and copied whole")
    key = columns[names[0]]
    order = None if _is_sorted(key) else np.asarray(pc.sort_indices(key).to_numpy(), np.int64)
    if order is not None:
        columns = {name: column.take(pa.array(order)) for name, column in columns.items()}
        key = columns[names[0]]
    if len(key) > 1:
        twice = np.flatnonzero(pc.equal(key.slice(1), key.slice(0, len(key) - 1)).to_numpy(zero_copy_only=False)) + 1
        for row in twice.tolist():
            at, first = (row, row - 1) if order is None else (int(order[row]), int(order[row - 1]))
            first, at = sorted((first, at))
            problems.add(
                where(at, names[0]),
                f"{names[0]} {key[row].as_py()!r} stands twice (first: {where(first, names[0])})",
                hint=f"every {names[0]} has one split; remove one of the rows",
            )
    return Rows(pa.table(columns), order), problems


def _is_sorted(key: Any) -> bool:
    return len(key) < 2 or bool(pc.all(pc.less_equal(key.slice(0, len(key) - 1), key.slice(1))).as_py())


def _checked(column: Any, name: str, key: str, where: Place, problems: Problems, quoted: bool) -> Any:
    """Return one column in normal form, without nulls, as one array; note what cannot be used."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    column = pc.fill_null(column.cast(pa.large_string()), "")
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks else pa.array([], pa.large_string())
    if name == "item":
        suspect = pc.match_substring_regex(column, _SUSPECT_ITEM)
    elif name == "subject" and key == "item":
        suspect = pc.match_substring_regex(column, _SUSPECT_TEXT)
    else:
        suspect = pc.or_(pc.equal(column, ""), pc.match_substring_regex(column, _SUSPECT_TEXT))
    rows = np.flatnonzero(suspect.to_numpy(zero_copy_only=False))
    if not len(rows):
        return column
    normal: list[str] = []
    known: dict[str, tuple[str, str | None]] = {}
    for row, value in zip(rows.tolist(), column.take(pa.array(rows)).to_pylist(), strict=True):
        if value not in known:
            known[value] = _normal(value, name, quoted)
        text, fault = known[value]
        normal.append(text)
        if fault:
            problems.add(where(row, name), f"{value!r} {fault}", hint=_hint(fault))
    return pc.replace_with_mask(column, suspect, pa.array(normal, pa.large_string()))


def _normal(value: str, name: str, quoted: bool) -> tuple[str, str | None]:
    """Return the normal form of a value, and why it cannot be used."""
    text = normal_item(value) if name == "item" else unicodedata.normalize("NFC", value)
    if name == "subject" and "|" in text:
        text = "|".join(sorted(set(text.split("|")), key=str.encode))
    fault = item_fault(text) if name == "item" else _text_fault(text, name)
    if fault is None and not quoted:
        mark = next((mark for mark in ',"' if mark in text), None)
        fault = f"holds {'a comma' if mark == ',' else 'a quotation mark'}" if mark else None
    return text, fault


def _text_fault(text: str, name: str) -> str | None:
    if not text and name == "split":
        return "is empty"
    if text != text.strip():
        return "has blanks at its ends"
    if any(unicodedata.category(mark) == "Cc" for mark in text):
        return "holds a control character"
    if "|" in text and not all(text.split("|")):
        return "names somebody without a name"
    return None


def _hint(fault: str) -> str:
    if fault.startswith("holds a control"):
        return "a tab or a line break in a name cannot be told from the end of a value: rename it"
    if fault.startswith("holds"):
        return "the shell line that recomputes the digest cannot read it: rename it, or pass quoted=True from Python"
    if fault == "is empty":
        return "every row names what it is about and its split"
    return "name items by their path below the dataset's folder, with / between folders"


def row_bytes(rows: Rows, separator: str) -> list[Any]:
    """Return the rows as text, a line each, in pieces that can be hashed or written as they are."""
    columns = [rows.table[name].combine_chunks() for name in rows.table.column_names]
    plain = [column.chunk(0) if isinstance(column, pa.ChunkedArray) else column for column in columns]
    plain[-1] = pc.binary_join_element_wise(
        plain[-1], pa.scalar("\n", pa.large_string()), pa.scalar("", plain[-1].type)
    )
    mark = pa.scalar(separator, pa.large_string())
    joined = pc.binary_join_element_wise(*plain, mark)
    return [_data(chunk) for chunk in (joined.chunks if isinstance(joined, pa.ChunkedArray) else [joined])]


def _data(array: Any) -> memoryview:
    """Return the bytes of all values of an Arrow array of large strings, one after another."""
    offsets = np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)
    return memoryview(array.buffers()[2])[int(offsets[0]) : int(offsets[-1])]


def assignment_digest(rows: Rows) -> str:
    r"""Return the digest of an assignment.

    Examples
    --------
    >>> rows = canonical_rows(pa.table({"item": ["a.jpg"], "subject": ["S1"], "split": ["train"]}))
    >>> from protoctl.digests import digest_bytes
    >>> whole = "protoctl:assignments:v1\nitem\tsubject\tsplit\na.jpg\tS1\ttrain\n"
    >>> assignment_digest(rows) == digest_bytes(whole.encode())
    True
    """
    state = hashlib.sha256()
    state.update(f"{CANONICAL}\n{chr(9).join(rows.table.column_names)}\n".encode())
    for piece in row_bytes(rows, "\t"):
        state.update(piece)
    return f"sha256:{state.hexdigest()}"


def items_digest(table: pa.Table, columns: Sequence[str], order: Any = None) -> str:
    r"""Return the digest of items and what is known of them; it does not depend on the order of rows or columns.

    Parameters
    ----------
    table : pyarrow.Table
        Column ``item``, and `columns`; null is written ``\N``, a backslash ``\\``, a tab ``\t``, a line break ``\n``.
    columns : sequence of str
        What goes in besides ``item``.
    order : ndarray of int64, optional
        Positions that sort the rows by the bytes of ``item``; None where they stand so.
    """
    names = ("item", *sorted(columns))
    parts: list[Any] = []
    for name in names:
        column = table[name]
        column = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        column = pa.chunked_array([column.cast(pa.large_string()).combine_chunks()], pa.large_string()).chunk(0)
        column = column if order is None else column.take(pa.array(order))
        if pc.any(pc.match_substring_regex(column, r"[\\\t\n]")).as_py():
            for mark, written in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n")):
                column = pc.replace_substring(column, mark, written)
        parts.append(pc.fill_null(column, "\\N") if column.null_count else column)
    rows = Rows(pa.table(dict(zip(names, parts, strict=True))), None)
    state = hashlib.sha256()
    state.update(f"{_ITEMS}\n{chr(9).join(names)}\n".encode())
    for piece in row_bytes(rows, "\t"):
        state.update(piece)
    return f"sha256:{state.hexdigest()}"
