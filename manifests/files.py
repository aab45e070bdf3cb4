"""A manifest as a folder: ``manifest.json``, ``assignments.csv``, ``README.md``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..digests import digest_file
from ..errors import InputError
from ..tabular import TextTable, read_table, read_text
from .build import csv_pieces, shown_rows
from .digest import Rows, assignment_digest, canonical_rows
from .folders import AUTHORITY, fill_folder
from .model import Manifest, document_problems, refuse_format
from .readme import render_readme

__all__ = ["dump_document", "read_assignments", "read_document", "read_manifest", "write_files", "write_manifest"]

_ATTRIBUTES = "*.csv text eol=lf\nmanifest.json text eol=lf\nREADME.md text eol=lf\n*.parquet binary\n"
_NUMBERS = re.compile(r"\[\n\s*((?:(?:-?\d[\d.eE+-]*|null),\n\s*)*(?:-?\d[\d.eE+-]*|null))\n\s*\]")


def dump_document(document: Mapping[str, Any]) -> str:
    r"""Return a document as the text of ``manifest.json``: sorted keys, two blanks, LF; figures of a list in a line.

    Examples
    --------
    >>> dump_document({"b": [1, 2], "a": "é"})
    '{\n  "a": "é",\n  "b": [1, 2]\n}\n'
    """
    text = json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return _NUMBERS.sub(lambda found: "[" + re.sub(r",\n\s*", ", ", found[1]) + "]", text) + "\n"


def write_manifest(
    folder: str | Path, manifest: Manifest, *, force: bool = False, parquet: bool = False
) -> tuple[str, ...]:
    """Write a manifest as a folder, whole or not at all.

    Parameters
    ----------
    folder : str or pathlib.Path
        A folder that does not exist yet.
    manifest : Manifest
        What to write.
    force : bool
        Replace a folder that holds a manifest; if the process is killed meanwhile, the former one, the new one, or
        the former one under ``.bak`` is there.
    parquet : bool
        Add ``assignments.parquet``, a copy of the rows.

    Returns
    -------
    notes : tuple of str
        What an interrupted run had left there, and where that stands now.

    Raises
    ------
    InputError
        If the folder exists, or cannot be written. Nothing is left behind then.
    """

    def fill(partial: Path) -> None:
        write_files(partial, manifest, parquet=parquet)

    return fill_folder(Path(folder), fill, force=force)


def write_files(folder: Path, manifest: Manifest, *, parquet: bool = False) -> Manifest:
    """Write a manifest's files into a folder that is there, and return it with what its document says of them."""
    quoted = bool(manifest.document["assignments"].get("quoted"))
    rows = canonical_rows(manifest.assignments, quoted=quoted)
    with (folder / "assignments.csv").open("wb") as stream:
        for piece in csv_pieces(rows, quoted=quoted):
            stream.write(piece)
    files = [entry for entry in manifest.document["assignments"]["files"] if entry["media_type"] == "text/csv"]
    if parquet:
        files.append(_write_parquet(folder / "assignments.parquet", rows))
    entry = {**manifest.document["assignments"], "files": files}
    manifest = replace(manifest, document={**manifest.document, "assignments": entry})
    (folder / AUTHORITY).write_text(dump_document(manifest.document), "utf-8", newline="\n")
    (folder / "README.md").write_text(render_readme(manifest), "utf-8", newline="\n")
    (folder / ".gitattributes").write_text(_ATTRIBUTES, "ascii", newline="\n")
    return manifest


def _write_parquet(path: Path, rows: Rows) -> dict[str, Any]:
    """Write the rows as Parquet: only ``split`` has a dictionary, since one of subjects would double the file."""
    import pyarrow.parquet as pq

    repeated: Any = ["split"]
    pq.write_table(shown_rows(rows), path, compression="zstd", use_dictionary=repeated)
    return {
        "path": path.name,
        "media_type": "application/vnd.apache.parquet",
        "digest": digest_file(path),
        "bytes": path.stat().st_size,
    }


def read_document(path: str | Path) -> tuple[Path, dict[str, Any]]:
    """Read ``manifest.json`` without checking more than that it is JSON of a format that this version reads.

    Parameters
    ----------
    path : str or pathlib.Path
        A manifest's folder, or its ``manifest.json``.

    Returns
    -------
    folder : pathlib.Path
        The folder.
    document : dict
        What the file holds.

    Raises
    ------
    InputError
        If there is none, it is no JSON object, a key stands twice, or the format is unknown or newer.
    """
    place = Path(path)
    file = place / AUTHORITY if place.is_dir() else place
    if place.is_dir() and not file.is_file():
        raise InputError(f"{place} holds no {AUTHORITY}", hint="name the folder that protoctl split wrote")
    try:
        document = json.loads(read_text(file), object_pairs_hook=_once, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{file}:{error.lineno}: is not JSON ({error.msg})", hint="it may be cut short: take a whole copy"
        ) from None
    except ValueError as error:
        raise InputError(f"{file}: {error}", hint="take the copy that protoctl wrote") from None
    refuse_format(document, str(file))
    return file.parent, document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} stands twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def read_assignments(folder: Path, document: Mapping[str, Any], *, name: str = "assignments.csv") -> TextTable:
    """Read a manifest's rows as they stand, with their lines.

    Raises
    ------
    InputError
        If the file is absent, no table, or lacks a column.
    """
    table = read_table(folder / name)
    table.require(document["assignments"]["columns"])
    return table


def read_manifest(path: str | Path) -> Manifest:
    """Read a manifest.

    Parameters
    ----------
    path : str or pathlib.Path
        Its folder, or its ``manifest.json``.

    Returns
    -------
    manifest : Manifest

    Raises
    ------
    InputError
        If it is absent, damaged, of a newer format, or its rows are not the ones whose digest it states.

    Examples
    --------
    >>> read_manifest("nowhere")
    Traceback (most recent call last):
    ...
    protoctl.errors.InputError: nowhere: there is no such file
    """
    folder, document = read_document(path)
    document_problems(document).refuse(InputError, f"{folder / AUTHORITY} is refused")
    entry = document["assignments"]
    text = read_assignments(folder, document)
    columns: list[str] = entry["columns"]
    rows = canonical_rows(text.table.select(columns), place=text.place, quoted=bool(entry.get("quoted")))
    if assignment_digest(rows) != entry["digest"]:
        raise InputError(
            f"{folder / 'assignments.csv'} does not hold the rows whose digest {AUTHORITY} states",
            hint=f"protoctl verify {folder} says more; take a whole copy of the folder",
        )
    return Manifest(document, shown_rows(rows), folder)
