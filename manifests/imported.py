"""Splits that exist already: a file a split, a column named split, a card of the Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from ..catalog.items import label_kind
from ..digests import canonical_json, digest_bytes, digest_file
from ..errors import InputError, Problems, listing, unknown
from ..tabular import SUFFIXES, pc, read_table, read_text
from .build import assignments_entry, created, environment, shown_rows, split_counts
from .digest import canonical_rows
from .files import read_manifest
from .folders import AUTHORITY
from .model import FORMAT, Manifest

if TYPE_CHECKING:
    from ..catalog import Items

__all__ = ["Splits", "imported_items", "imported_manifest", "open_manifest", "read_splits"]

_NAMES = {
    "train": ("train", "training", "train_set"),
    "valid": ("valid", "val", "validation", "dev", "val_set"),
    "test": ("test", "testing", "test_set", "eval"),
}
_ROLES = {"train": "training", "valid": "validation", "test": "test"}
_COLUMNS = {
    "item": ("item", "name", "file", "file_name", "filename", "image", "image_path", "path", "id", "video"),
    "subject": ("subject", "subject_id", "person", "person_id", "identity", "speaker"),
    "split": ("split", "split_released", "set", "partition", "subset", "fold", "usage"),
}
_LABELS = ("label", "expression", "emotion")


@dataclass(frozen=True)
class Splits:
    """A partition that somebody stated.

    Parameters
    ----------
    name : str
        Of the folder or file.
    table : pyarrow.Table
        Columns ``item``, ``subject`` where there is one, ``split`` (``train``, ``valid`` and ``test`` whatever their
        usual other names), and whatever else stood there, as text.
    files : tuple of pathlib.Path
        What was read.
    """

    name: str
    table: pa.Table
    files: tuple[Path, ...]


def read_splits(path: str | Path, columns: Mapping[str, str] | None = None) -> Splits:
    """Read a partition as others write them.

    Parameters
    ----------
    path : str or pathlib.Path
        A folder with ``train.csv`` and ``test.csv`` (or ``.txt``, ``.tsv``, ``.jsonl``, ``.parquet``; ``val`` and
        ``dev`` are valid); a folder or ``README.md`` with the card of the Hugging Face hub; a table with a column
        that names the split.
    columns : mapping, optional
        The columns that hold ``item``, ``subject`` and ``split``, where they have no usual name.

    Returns
    -------
    splits : Splits

    Raises
    ------
    InputError
        If there is no split to be found; if a column is missing, with what exists.
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"{place}: there is no such file or folder", hint="check the path")
    given = dict(columns or {})
    if place.is_dir() or place.name == "README.md":
        folder = place if place.is_dir() else place.parent
        files = _card_files(folder) or ({} if place.is_file() else _split_files(folder))
        if not files:
            raise InputError(
                f"{folder} holds no manifest, no train.csv and test.csv, and no card that names its splits",
                hint="name a manifest's folder, or a table with a column 'split'",
            )
        parts = [_part(file, split, given) for split, several in files.items() for file in several]
        table = pa.concat_tables(parts, promote_options="default")
        return Splits(folder.resolve().name, table, tuple(file for several in files.values() for file in several))
    table = _roles(read_table(place).table, place, given)
    if "split" not in table.column_names:
        message, hint = unknown("column", "split", table.column_names)
        raise InputError(f"{place}: {message}", hint=f"{hint}; name it with --split COLUMN")
    names: Any = table["split"]
    at = table.column_names.index("split")
    known = [name if name is None else split_name(name) for name in names.to_pylist()]
    return Splits(place.stem, table.set_column(at, "split", pa.array(known, pa.string())), (place,))


def split_name(name: str) -> str:
    """Return ``train``, ``valid`` or ``test`` for their usual other names, and any other name as it is.

    Examples
    --------
    >>> split_name("Validation"), split_name("fold_3")
    ('valid', 'fold_3')
    """
    return next((split for split, others in _NAMES.items() if name.lower() in others), name)


def _split_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files that are named for a split."""
    found: dict[str, list[Path]] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() in SUFFIXES and file.is_file():
            split = split_name(file.stem)
            if split in _NAMES:
                found.setdefault(split, []).append(file)
    for split, files in found.items():
        if len(files) > 1:
            raise InputError(
                f"{folder}: {listing([file.name for file in files])} are all {split}",
                hint="leave one of them in the folder",
            )
    return {split: found[split] for split in _NAMES if split in found} if len(found) > 1 else {}


def _card_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each split that a card of the hub names, of its default configuration."""
    card = folder / "README.md"
    if not card.is_file():
        return {}
    found = re.match(r"---\n(.*?)\n---\s*\n", read_text(card), re.DOTALL)
    if found is None:
        return {}
    import yaml

    try:
        document = yaml.safe_load(found[1])
    except yaml.YAMLError as error:
        raise InputError(f"{card}: its front matter is no plain YAML", hint="see the hub's page on cards") from error
    configs: Any = document.get("configs", []) if isinstance(document, dict) else []
    if not isinstance(configs, list) or not configs:
        return {}
    entries = [cast("dict[str, Any]", each) for each in cast("list[Any]", configs) if isinstance(each, dict)]
    config = next((each for each in entries if each.get("default") or each.get("config_name") == "default"), entries[0])
    files: dict[str, list[Path]] = {}
    for entry in config.get("data_files") or []:
        if not isinstance(entry, dict):
            continue
        one = cast("dict[str, Any]", entry)
        paths: Any = one.get("path")
        for pattern in [paths] if isinstance(paths, str) else paths or []:
            if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
                raise InputError(f"{card}: the path {pattern!r} leads out of the folder", hint="name files inside it")
            files.setdefault(split_name(str(one.get("split", "train"))), []).extend(sorted(folder.glob(pattern)))
    absent = [split for split, several in files.items() if not several]
    if absent:
        raise InputError(f"{card} names files for {listing(absent)} that are absent", hint="take the whole folder")
    return files


def _part(file: Path, split: str, given: Mapping[str, str]) -> pa.Table:
    """Read the file of one split."""
    table = _list(file) if file.suffix.lower() == ".txt" else read_table(file).table
    table = _roles(table, file, {role: column for role, column in given.items() if role != "split"})
    if "split" in table.column_names:
        table = table.drop_columns(["split"])
    return table.append_column("split", pa.array([split] * table.num_rows, pa.string()))


def _list(file: Path) -> pa.Table:
    """Read a list of names, one a line; a label after a comma, a tab or a blank is kept apart."""
    lines = [line.strip() for line in read_text(file).splitlines() if line.strip()]
    mark = next((mark for mark in ("\t", ",") if all(mark in line for line in lines)), None)
    pairs = [line.split(mark, 1) if mark else line.rsplit(None, 1) for line in lines]
    if any(len(pair) != 2 for pair in pairs) or (mark is None and any(not _label(pair[1]) for pair in pairs)):
        return pa.table({"item": pa.array(lines, pa.string())})
    items, labels = zip(*pairs, strict=True)
    return pa.table({"item": pa.array(items, pa.string()), "label": pa.array(labels, pa.string())})


def _label(text: str) -> bool:
    return re.fullmatch(r"-?\d+", text) is not None


def _roles(table: pa.Table, file: Path, given: Mapping[str, str]) -> pa.Table:
    """Name the columns for what they hold."""
    problems = Problems()
    names = list(table.column_names)
    for role, usual in _COLUMNS.items():
        chosen = given.get(role)
        if chosen is not None and chosen not in table.column_names:
            message, hint = unknown("column", chosen, table.column_names)
            problems.add(str(file), message, hint=hint)
            continue
        chosen = chosen or next((name for name in usual if name in table.column_names), None)
        if chosen is not None:
            if role in names and chosen != role:
                names[names.index(role)] = f"{role}_as_given"
            names[table.column_names.index(chosen)] = role
    if "item" not in names and not problems:
        if "subject" in names:
            return table.rename_columns(names)
        message, _ = unknown("column", "item", table.column_names)
        problems.add(str(file), f"{message}; there are: {listing(table.column_names)}", hint="name it: --item COLUMN")
    problems.refuse(InputError, "the split cannot be read")
    return table.rename_columns(names)


def imported_items(path: str | Path, columns: Mapping[str, str] | None = None) -> Items:
    """Return the items of an existing split, their split in the column ``split_released``.

    Parameters
    ----------
    path, columns
        See `read_splits`.

    Returns
    -------
    items : Items
        Columns named ``label``, ``expression`` or ``emotion`` are the label, ``AU1`` and the like labels, others
        attributes; empty values are missing.
    """
    from ..catalog import Items, ReadReport, Source
    from ..catalog.items import checked_items

    found = read_splits(path, columns)
    table: Any = found.table
    if "item" not in table.column_names:
        raise InputError(f"{found.name} lists subjects and not items", hint="items are needed to count categories")
    held: dict[str, Any] = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        held[name] = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    held["split_released"] = held.pop("split")
    label = next((name for name in _LABELS if name in held), None)
    if label is not None and label != "label":
        held["label"] = held.pop(label)
    labels = [name for name in held if name == "label" or label_kind(name) == "binary"]
    rest = [name for name in held if name not in (*labels, "item", "subject", "split_released", "annotation")]
    sources = tuple(Source(file.name, "items", digest_file(file), file.stat().st_size) for file in found.files)
    items = Items(
        dataset=found.name,
        table=pa.table(held),
        labels=tuple(labels),
        attributes=tuple(rest),
        sources=sources,
        report=ReadReport(rows_read=table.num_rows),
    )
    return checked_items(items)


def imported_manifest(path: str | Path, columns: Mapping[str, str] | None = None) -> Manifest:
    """Return a manifest of an existing split, by which it can be compared with another.

    Parameters
    ----------
    path, columns
        See `read_splits`.

    Returns
    -------
    manifest : Manifest
        Its protocol is called ``imported``, its ratios are the sizes found.
    """
    found = read_splits(path, columns)
    table: Any = found.table
    level = "item" if "item" in table.column_names else "subject"
    wanted = ["item", "subject", "split"] if level == "item" else ["subject", "split"]
    if "subject" not in table.column_names:
        table = table.append_column("subject", pa.nulls(table.num_rows, pa.string()))
    in_split = pc.not_equal(pc.fill_null(table["split"], ""), "")
    rows = canonical_rows(table.select(wanted).filter(in_split), quoted=True)
    splits = _ordered(pc.unique(rows.table["split"]).to_pylist())
    counts = split_counts(rows, splits)
    sizes = [counts[split]["items"] for split in splits]
    divisor = reduce(gcd, sizes)
    ratios = [size // divisor for size in sizes]
    total = {"attribute": "", "value": "", "role": "total", "items": sizes, "units": sizes}
    document: dict[str, Any] = {
        "format": FORMAT,
        "name": re.sub(r"[^a-z0-9._-]+", "-", found.name.lower()).strip("-._") or "imported",
        "version": "0.0.0",
        "status": "draft",
        "created": created(),
        "replica": False,
        "dataset": {
            "name": found.name,
            "licensed": False,
            "sources": [
                {"path": file.name, "role": "items", "digest": digest_file(file), "bytes": file.stat().st_size}
                for file in found.files
            ],
            "items_digest": digest_bytes(b""),
        },
        "protocol": {
            "name": "imported",
            "version": "0.0.0",
            "digest": digest_bytes(canonical_json({})),
            "document": {},
            "unit": "item",
            "splits": [{"name": split, "role": _ROLES.get(split, "other")} for split in splits],
            "ratios": dict(zip(splits, ratios, strict=True)),
            "stratify": [],
            "overrides": {},
        },
        "solver": {"name": "given", "version": "1", "seed": 0, "mode": "imported", "proven": False},
        "assignments": assignments_entry(rows, {"mode": "plain"}, quoted=True),
        "counts": counts,
        "balance": {"splits": list(splits), "ratios": ratios, "unit": "item", "categories": [total]},
        "environment": environment(),
    }
    return Manifest(document, shown_rows(rows))


def _ordered(names: Sequence[str]) -> tuple[str, ...]:
    usual = [split for split in _NAMES if split in names]
    return (*usual, *sorted(name for name in names if name not in usual))


def open_manifest(path: str | Path, columns: Mapping[str, str] | None = None) -> Manifest:
    """Return the manifest in a folder, or that of an existing split (`imported_manifest`)."""
    place = Path(path)
    if place.name == AUTHORITY or (place / AUTHORITY).exists():
        return read_manifest(place)
    return imported_manifest(place, columns)
