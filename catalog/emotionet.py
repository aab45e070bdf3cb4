"""EmotioNet: a sheet of manual action units (2020), and lists of automatic ones without a header.

Fabian Benitez-Quiroz, Srinivasan and Martinez (CVPR 2016). Headers and addresses carry literal single quotes. 999 is
unknown and never absent. An image is known by the last folder and the name in its address: names alone repeat.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError, listing
from ..tabular import map_values, pc, read_bytes, read_table
from .items import Items
from .reading import Places, Reading, find_below

__all__ = ["image_name", "read"]

_SHEETS = ("EmotioNet_FACS*.csv", "EmotioNet_FACS*.xlsx")
_LIST = re.compile(r"dataFile_\d+\.txt", re.IGNORECASE)
_UNITS = 60
_CODES = {"1": "1", "0": "0"}
_UNKNOWN = ("999", "-1", "")
_HEADER = re.compile(r"'?\s*AU\s*0*(\d{1,2})\s*'?", re.IGNORECASE)
_IMAGE = re.compile(r"[^\s/\\]+\.(?:jpe?g|png|bmp|gif)", re.IGNORECASE)
_UNNAMED = "row whose address names no image"


def read(reading: Reading) -> Items:
    """Read the sheet of manual labels and the automatic lists, whichever the root is or holds."""
    sheet, lists = _files(reading)
    labels = reading.card.tasks[reading.task].labels if reading.card and reading.task else ()
    tables: list[pa.Table] = []
    at: list[tuple[str, int]] = []
    for path in [*([sheet] if sheet else []), *lists]:
        if reading.progress:
            reading.progress(len(tables), 1 + len(lists), f"reading {path.name}")
        table, first = (_sheet(path, labels), 2) if path == sheet else (_list(reading, path, labels), 1)
        reading.source(path, "labels", table.num_rows)
        reading.rows_read += table.num_rows
        kind = pa.array(["manual" if path == sheet else "automatic"] * table.num_rows, pa.string())
        tables.append(table.append_column("annotation", kind))
        at.append((path.name, first))
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    ends = np.cumsum([table.num_rows for table in tables])

    def place(row: int) -> str:
        which = int(np.searchsorted(ends, row, side="right"))
        name, first = at[which]
        return f"{name}:{row - (int(ends[which - 1]) if which else 0) + first}"

    return _finished(reading, pa.concat_tables(tables), Places(place, range(int(ends[-1]))), labels)


def image_name(address: str) -> str | None:
    """Return the last folder and the name of an image's address, or None where it names no image.

    Examples
    --------
    >>> image_name("'http://host.example/part1/N_0000000123_00045.jpg'")
    'part1/N_0000000123_00045.jpg'
    """
    path = re.sub(r"^\w+://[^/]*", "", address.strip().strip("'").strip()).split("?")[0]
    parts = [part for part in path.split("/") if part]
    if not parts or not _IMAGE.fullmatch(parts[-1]):
        return None
    return "/".join(parts[-2:])


def _files(reading: Reading) -> tuple[Path | None, list[Path]]:
    """Return the sheet of manual labels, if any, and the automatic lists."""
    root = reading.root
    if root.is_file():
        return (None, [root]) if _LIST.fullmatch(root.name) else (root, [])
    found = [path for pattern in _SHEETS for path in [find_below(root, pattern) or find_below(root, "*", pattern)]]
    sheets = [path for path in found if path is not None]
    lists = sorted(path for path in (*root.glob("*.txt"), *root.glob("*/*.txt")) if _LIST.fullmatch(path.name))
    if not sheets and not lists:
        raise reading.unknown_layout()
    if len(sheets) > 1:
        reading.notes.append(f"{reading.relative(sheets[0])} is read and not {sheets[1].name}, which lies there too")
    return (sheets[0] if sheets else None), lists


def _sheet(path: Path, labels: Sequence[str]) -> pa.Table:
    """Read the sheet of 2020: a header, then an image a row."""
    rows: Any = _workbook(path) if path.suffix.lower() == ".xlsx" else read_table(path).table
    names: list[str] = rows.column_names
    units = {f"AU{int(match[1])}": name for name in names if (match := _HEADER.fullmatch(name))}
    address = next((name for name in names if name.strip("' ").upper() == "URL"), None)
    absent = [label for label in labels if label not in units]
    if address is None or absent:
        what = "URL" if address is None else listing([f"'AU {label[2:]}'" for label in absent])
        raise InputError(f"{path.name}:1: there is no column {what}", hint=f"There are: {listing(names)}")
    return pa.table({"address": rows[address], **{label: rows[units[label]] for label in labels}})


def _workbook(path: Path) -> pa.Table:
    """Read the first sheet of a workbook as text."""
    from io import BytesIO
    from zipfile import BadZipFile

    from openpyxl import load_workbook

    try:
        book = load_workbook(BytesIO(read_bytes(path)), read_only=True, data_only=True)
    except (BadZipFile, KeyError, OSError, ValueError) as error:
        raise InputError(
            f"{path} is not an Excel workbook ({error})", hint="the copy may be protected: save it as CSV"
        ) from None
    rows = [[_cell(value) for value in row] for row in book.worksheets[0].iter_rows(values_only=True)]
    book.close()
    if not rows:
        raise InputError(f"{path} is empty", hint="check that it was written and copied whole")
    header, *body = rows
    body = [row for row in body if any(row)]
    return pa.table({name: pa.array([row[place] for row in body], pa.string()) for place, name in enumerate(header)})


def _cell(value: object) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _list(reading: Reading, path: Path, labels: Sequence[str]) -> pa.Table:
    """Read a list of automatic labels: address, original address, then 60 units; no header."""
    from io import BytesIO

    from pyarrow import csv as pa_csv

    names = ["address", "original", *(f"AU{unit}" for unit in range(1, _UNITS + 1))]
    wanted = ["address", *labels]
    data = read_bytes(path).removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").rstrip()
    try:
        table: Any = pa_csv.read_csv(
            BytesIO(data),
            read_options=pa_csv.ReadOptions(column_names=names),
            parse_options=pa_csv.ParseOptions(delimiter="\t", quote_char=False),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), include_columns=wanted, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        for number, line in enumerate(data.decode("latin-1").split("\n"), start=1):
            if line.strip() and line.count("\t") != len(names) - 1:
                reading.problems.add(
                    f"{path.name}:{number}",
                    f"{line.count(chr(9)) + 1} fields and not {len(names)}",
                    hint="a line is an address, the original address and 60 units, separated by tabs",
                )
        reading.problems.refuse(InputError, f"{reading.title} is refused")
        raise
    return pa.table({name: pc.utf8_trim_whitespace(table[name]) for name in wanted})


def _finished(reading: Reading, table: Any, places: Places, labels: Sequence[str]) -> Items:
    """Turn codes into labels; leave out rows that name no image, and automatic labels of manually labelled ones."""
    items = map_values(table["address"], image_name)
    keep = pc.is_valid(items).to_numpy()
    unnamed = int((~keep).sum())
    if unnamed:
        reading.skipped[_UNNAMED] += unnamed
        first = int(np.flatnonzero(~keep)[0])
        reading.warnings.append(
            f"{places[first]}: {table['address'][first].as_py()!r} names no image: left out ({unnamed:,} such rows)"
        )
    automatic = pc.equal(table["annotation"], "automatic")
    both = pc.and_(automatic, pc.is_in(items, value_set=pc.unique(items.filter(pc.invert(automatic)))))
    both = pc.and_(pc.fill_null(both, False), pa.chunked_array([pa.array(keep)])).to_numpy()
    if both.any():
        reading.skipped["automatic labels of an image that has manual ones"] += int(both.sum())
        keep &= ~both
    columns: dict[str, Any] = {"item": items}
    for label in labels:
        columns[label] = reading.coded(
            table[label],
            label,
            _CODES,
            places,
            missing=_UNKNOWN,
            hint="a unit is 1 (active), 0 (not), or 999 or -1 (unknown)",
        )
    columns["annotation"] = table["annotation"]
    mask = pa.array(keep)
    return reading.finish(
        {name: column.filter(mask) for name, column in columns.items()}, places.only(keep), labels=labels
    )
