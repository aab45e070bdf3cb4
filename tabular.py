"""Reading and writing tables as text.

Every value is read as text and converted later, where its meaning is known: ids keep their leading zeros, ``NA``
stays a name, and ``3-9`` never becomes a date. Comma, tab and semicolon separated text, JSON lines and Parquet all
give the same table.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute

from .errors import InputError, Problems, unknown

__all__ = [
    "LABEL_SUFFIXES",
    "SUFFIXES",
    "TextTable",
    "map_values",
    "read_bytes",
    "read_table",
    "read_text",
    "pc",
    "trim",
]

pc: Any = pyarrow.compute
"""Arrow's functions on columns; they are made at import and have no types, so every room takes them from here."""

LABEL_SUFFIXES = (
    "status",
    "share",
    "margin",
    "entropy",
    "stability",
    "votes",
    "doubtful",
    "flips",
    "candidates",
    "rule",
)
"""What stands beside a label in ``labels.csv``: ``skin_type_status`` and so on tell how ``skin_type`` came about."""

SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet")
"""File endings that `read_table` knows; text may also end in ``.gz``."""


@dataclass(frozen=True)
class TextTable:
    """A table whose columns are all text, and where its rows came from.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of type string; null only where the file has a null (Parquet, JSON).
    path : pathlib.Path
        The file.
    first_line : int or None
        Line of the first row in the file; None where rows are no lines (Parquet).
    delimiter : str or None
        What separates fields; None where rows are no separated text.
    """

    table: pa.Table
    path: Path
    first_line: int | None
    delimiter: str | None = None

    def place(self, row: int, column: str | None = None) -> str:
        """Return where a row stands: ``labels.csv:17`` or ``labels.parquet, row 16``, and the column."""
        where = f"{self.path.name}:{self._lines[row]}" if self.first_line else f"{self.path.name}, row {row + 1}"
        return f"{where}, column {column}" if column else where

    @cached_property
    def _lines(self) -> Sequence[int]:
        """Line in which each row begins; the file is read again only where blank lines or broken values shift them."""
        first = self.first_line or 1
        text = read_text(self.path).rstrip("\n")
        if text.count("\n") + 2 - first == self.table.num_rows:
            return range(first, first + self.table.num_rows)
        if self.delimiter is None:
            return [number for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        rows = csv.reader(io.StringIO(text), delimiter=self.delimiter)
        lines: list[int] = []
        end = 0
        for row in rows:
            if row:
                lines.append(end + 1)
            end = rows.line_num
        return lines[1:]

    def require(self, columns: Sequence[str]) -> None:
        """Refuse a table that lacks a column, with the close match and what exists."""
        missing = Problems()
        for column in columns:
            if column not in self.table.column_names:
                message, hint = unknown("column", column, self.table.column_names)
                missing.add(str(self.path), message, hint=hint)
        missing.refuse(InputError, "a column is missing")


def read_bytes(path: Path) -> bytes:
    """Read a file whole (gunzipped where it ends in ``.gz``), or refuse it by name."""
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file", hint="check the path") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, and a file is wanted", hint="name the file inside it") from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be read: {reason}") from error


def read_text(path: Path) -> str:
    """Read UTF-8 text with or without a byte order mark; LF and CRLF come out as LF.

    Raises
    ------
    InputError
        If the file is absent, empty, or not UTF-8 text.
    """
    data = _text_bytes(path)
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _text_bytes(path: Path) -> bytes:
    data = read_bytes(path)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path} is UTF-16 text, and UTF-8 is wanted", hint="save it as UTF-8")
    if b"\0" in data[:65536]:
        raise InputError(f"{path} is not a text file (it holds NUL bytes)", hint="check that the path is right")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise InputError(f"{path} is empty", hint="check that it was written and copied whole")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}:{line}: byte 0x{data[error.start]:02x} is not UTF-8 text", hint="save the file as UTF-8"
        ) from None
    return data


def map_values(column: Any, function: Callable[[str], str | None]) -> Any:
    """Apply a function of one text to a column, once for each distinct value; null stays null.

    Examples
    --------
    >>> map_values(pa.chunked_array([["a", None, "b"]]), {"a": "x"}.get).to_pylist()
    ['x', None, None]
    """
    encoded = column.combine_chunks().dictionary_encode() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    if not isinstance(encoded, pa.DictionaryArray):
        encoded = encoded.dictionary_encode()
    values = pa.array([function(value) for value in encoded.dictionary.to_pylist()], pa.string())
    return pa.chunked_array([values.take(encoded.indices)], pa.string())


def trim(table: pa.Table) -> pa.Table:
    """Return the table with outer blanks removed from every text value."""
    columns = [pc.utf8_trim_whitespace(table[name]) for name in table.column_names]
    return pa.table(columns, names=table.column_names)


def read_table(path: Path, *, delimiter: str | None = None) -> TextTable:
    """Read a table as text.

    Parameters
    ----------
    path : pathlib.Path
        CSV, TSV, JSON lines or Parquet, by its ending (see `SUFFIXES`).
    delimiter : str, optional
        Of separated text; by default the one of tab, comma and semicolon that the header holds.

    Returns
    -------
    table : TextTable
        Outer blanks removed; an empty field is the empty string.

    Raises
    ------
    InputError
        If the file is absent, empty, not text, has a row of another width, or a column name twice.
    """
    suffix = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if suffix == ".parquet":
        return _read_parquet(path)
    if suffix in (".jsonl", ".ndjson"):
        return _read_json_lines(path)
    return _read_separated(path, delimiter)


def _read_parquet(path: Path) -> TextTable:
    import pyarrow.parquet as pq

    data = read_bytes(path)
    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path} is not a Parquet file: {error}") from None
    columns: list[Any] = []
    for name in table.column_names:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_nested(column.type):
            raise InputError(f"{path}: column {name} is nested ({column.type}), and plain values are wanted")
        columns.append(column.cast(pa.string()))
    return TextTable(trim(pa.table(columns, names=_names(path, table.column_names))), path, None)


def _read_json_lines(path: Path) -> TextTable:
    rows: list[dict[str, str | None]] = []
    names: dict[str, None] = {}
    problems = Problems()
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, parse_float=str, parse_int=str)
        except json.JSONDecodeError as error:
            problems.add(f"{path.name}:{number}", f"is not JSON ({error.msg})")
            continue
        if not isinstance(record, dict):
            problems.add(f"{path.name}:{number}", "is not a JSON object", hint="one object a line")
            continue
        names |= dict.fromkeys(record)
        rows.append({key: _json_text(value) for key, value in record.items()})
    problems.refuse(InputError, f"{path} is refused")
    columns = {name: pa.array([row.get(name) for row in rows], pa.string()) for name in names}
    return TextTable(trim(pa.table(columns)), path, 1)


def _json_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)


def _names(path: Path, names: Sequence[str]) -> list[str]:
    """Strip column names and refuse empty and double ones; an index written by pandas has no name and gets one."""
    stripped = [name.strip() for name in names]
    if len(stripped) > 1 and not stripped[0]:
        stripped[0] = "unnamed: 0"
    problems = Problems()
    for place, name in enumerate(stripped):
        if not name:
            problems.add(f"{path.name}:1", f"column {place + 1} has no name")
        elif name in stripped[:place]:
            problems.add(f"{path.name}:1", f"column {name!r} stands twice")
    problems.refuse(InputError, f"{path} is refused")
    return stripped


def _delimiter(header: str) -> str:
    return max("\t,;", key=header.count) if any(mark in header for mark in "\t,;") else ","


def _read_separated(path: Path, delimiter: str | None) -> TextTable:
    from pyarrow import csv as pa_csv

    data = _text_bytes(path)
    header = data.split(b"\n", 1)[0].decode("utf-8").rstrip("\r")
    mark = delimiter or _delimiter(header)
    names = _names(path, next(csv.reader([header], delimiter=mark)))
    if b'"' not in data and b"\r" in data.replace(b"\r\n", b""):
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        table = pa_csv.read_csv(
            io.BytesIO(data),
            read_options=pa_csv.ReadOptions(column_names=names, skip_rows=1),
            parse_options=pa_csv.ParseOptions(delimiter=mark, newlines_in_values=b'"' in data),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        _refuse_widths(path, data, mark, len(names))
        raise InputError(f"{path} is not a table: {error}") from None
    return TextTable(trim(table), path, 2, mark)


def _refuse_widths(path: Path, data: bytes, mark: str, width: int) -> None:
    """Name every row whose number of fields is not that of the header."""
    problems = Problems()
    rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), delimiter=mark)
    next(rows, None)
    for row in rows:
        if row and len(row) != width:
            problems.add(f"{path.name}:{rows.line_num}", f"{len(row)} fields where the header has {width}")
    problems.refuse(InputError, f"{path} is refused")
