"""Files that a person keeps: labels, agreement, annotators, and the units to review."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from .adjudication import REVIEW_COLUMNS
from .aggregation import Aggregation
from .consensus import label_columns

__all__ = ["output_folder", "refuse_existing", "write_aggregation", "write_file", "write_review"]


def output_folder(exports: Sequence[Path], out: Path | None) -> Path:
    """Return the folder to write: the one asked for, or one named for the first export.

    Examples
    --------
    >>> output_folder([Path("data/project2.json")], None).name
    'project2-labels'
    """
    return out if out is not None else Path(f"{exports[0].name.split('.')[0]}-labels")


def refuse_existing(path: Path, *, force: bool) -> None:
    """Refuse to write over what exists, before any work is done."""
    if path.exists() and not force:
        raise InputError(f"{path} exists", hint="--force replaces it, or name another with --out")


def write_file(path: Path, text: str) -> None:
    """Write a file under a temporary name and move it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8", newline="")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return stream.getvalue()


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_aggregation(folder: Path, aggregation: Aggregation, *, force: bool = False) -> None:
    """Write ``labels.csv``, ``agreement.json``, ``annotators.csv`` and ``summary.json``.

    Parameters
    ----------
    folder : pathlib.Path
        Made whole under a temporary name beside it, and moved into place.
    aggregation : Aggregation
        What to write.
    force : bool
        Whether a folder that exists is replaced.

    Raises
    ------
    InputError
        If the folder exists and `force` is not set.
    """
    refuse_existing(folder, force=force)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = folder.with_name(f".{folder.name}.{os.getpid()}")
    beside.mkdir()
    try:
        document = aggregation.document()
        for control in document["controls"]:
            # Each stands in a file of its own.
            del control["labels"], control["annotators"], control["agreement"]
        (beside / "labels.csv").write_text(_labels(aggregation), encoding="utf-8", newline="")
        (beside / "annotators.csv").write_text(_annotators(aggregation), encoding="utf-8", newline="")
        agreements = [result.agreement.document() for result in aggregation.results]
        (beside / "agreement.json").write_text(_json({"controls": agreements}), encoding="utf-8", newline="")
        (beside / "summary.json").write_text(_json(document), encoding="utf-8", newline="")
        _move(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _move(beside: Path, folder: Path) -> None:
    """Move a whole folder into place; killed between, the old one is left under ``.bak``."""
    if not folder.exists():
        beside.replace(folder)
        return
    old = folder.with_name(f"{folder.name}.bak")
    shutil.rmtree(old, ignore_errors=True)
    folder.replace(old)
    beside.replace(folder)
    shutil.rmtree(old)


def _labels(aggregation: Aggregation) -> str:
    first = aggregation.results[0].labels
    columns: dict[str, Sequence[Any]] = {first.unit_kind: first.units}
    for result in aggregation.results:
        columns |= label_columns(result.labels)
    return _csv(list(columns), list(zip(*columns.values(), strict=True)))


_ANNOTATOR_COLUMNS = (
    "annotator",
    "votes",
    "doubtful",
    "shared",
    "bias",
    "agreement",
    "same",
    "alpha_without",
    "seconds",
)


def _annotators(aggregation: Aggregation) -> str:
    rows: list[list[Any]] = []
    for result in aggregation.results:
        for report in result.annotators:
            cells = [getattr(report, name) for name in _ANNOTATOR_COLUMNS]
            shown = ["" if cell is None else f"{cell:.6f}" if isinstance(cell, float) else cell for cell in cells]
            rows.append([result.votes.control, *shown])
    return _csv(["control", *_ANNOTATOR_COLUMNS], rows)


def write_review(path: Path, rows: Sequence[dict[str, str]], unit_kind: str, *, force: bool = False) -> None:
    """Write the units that need a look, with room for a decision.

    Raises
    ------
    InputError
        If the file exists and `force` is not set: it may hold somebody's decisions.
    """
    refuse_existing(path, force=force)
    columns = [unit_kind, *REVIEW_COLUMNS]
    write_file(path, _csv(columns, [[row[column] for column in columns] for row in rows]))
