"""GFT, the Sayette Group Formation Task: one label file a participant, three participants a group.

Girard et al. (FG 2017). Which columns and codes the label files have has not been seen by the authors of this
reader, so it goes by a schema (`GftSchema`) that a file ``gft.yaml`` beside the labels corrects.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from ..errors import InputError, Problems, listing, unknown
from ..tabular import pc, read_text
from .cards import safe_yaml
from .items import Items
from .reading import Places, Reading

__all__ = ["GftSchema", "read", "read_schema"]

_SCHEMA = "gft.yaml"
_PARTICIPANT = re.compile(r"(?<!\d)(\d{3})([ABC])(?![A-Za-z0-9])")
_OCCURRENCE = {"0": "0", "1": "1"}
_INTENSITY = {**{str(level): str(level) for level in range(6)}, **dict(zip("ABCDE", "12345", strict=True))}
_USUAL_MISSING = ("", "9", "99", "999", "-1", "nan", "null")


@dataclass(frozen=True)
class GftSchema:
    """What GFT's label files look like.

    Parameters
    ----------
    files : str
        Pattern of the files' paths below the root; the participant (``001A``) stands in the name.
    delimiter : str
        Between fields.
    header : bool
        Whether the first line names the columns.
    columns : tuple of str
        The columns in order, where no line names them.
    frame : str
        The column that numbers frames, from 1.
    unit : str
        How a column of an action unit is called; ``{}`` stands for its number.
    kind : {"occurrence", "intensity"}
        Occurrence: only 0 and 1 are labels. Intensity: 0 to 5 and A to E are. Everything else is missing.

    Examples
    --------
    >>> GftSchema().unit.format(12)
    'AU12'
    """

    files: str = "**/*.csv"
    delimiter: str = ","
    header: bool = True
    columns: tuple[str, ...] = ()
    frame: str = "Frame"
    unit: str = "AU{}"
    kind: str = "occurrence"


def read_schema(path: Path) -> GftSchema:
    """Return the schema of a YAML file, or the default one where there is no such file.

    Raises
    ------
    InputError
        With every key that is unknown or of the wrong type.
    """
    if not path.is_file():
        return GftSchema()
    document = safe_yaml(path)
    if not isinstance(document, Mapping):
        raise InputError(f"{path} holds no mapping", hint="write it like 'delimiter: \";\"', one key a line")
    known = {field.name: getattr(GftSchema(), field.name) for field in fields(GftSchema)}
    problems = Problems()
    given: dict[str, Any] = {}
    for key, value in cast("Mapping[Any, Any]", document).items():
        name = str(key)
        if name not in known:
            message, hint = unknown("key", name, list(known))
            problems.add(f"$.{name}", message, hint=hint)
            continue
        value = tuple(str(each) for each in cast("list[Any]", value)) if isinstance(value, list) else value
        if type(value) is not type(known[name]):
            wanted = {bool: "true or false", str: "a text", tuple: "a list"}[type(known[name])]
            problems.add(f"$.{name}", f"{value!r} is not {wanted}")
        given[name] = value
    schema = replace(GftSchema(), **given)
    if not problems:
        _check(schema, problems)
    problems.refuse(InputError, f"{path} is refused")
    return schema


def _check(schema: GftSchema, problems: Problems) -> None:
    if schema.kind not in ("occurrence", "intensity"):
        problems.add("$.kind", f"{schema.kind!r} is neither occurrence nor intensity")
    if "{}" not in schema.unit:
        problems.add("$.unit", f"{schema.unit!r} has no place for the number", hint="like AU{} or AU_{}")
    if not schema.header and schema.frame not in schema.columns:
        problems.add("$.columns", f"no column is called {schema.frame!r}", hint="name the columns in their order")
    if len(schema.delimiter) != 1:
        problems.add("$.delimiter", f"{schema.delimiter!r} is not one character", hint='a tab is written "\\t"')


def read(reading: Reading) -> Items:
    """Read the label files below the root."""
    root = reading.root
    if not root.is_dir():
        raise reading.unknown_layout()
    schema = read_schema(root / _SCHEMA)
    files = _files(reading, schema)
    labels = reading.card.tasks[reading.task].labels if reading.card and reading.task else ()
    parts: list[dict[str, Any]] = []
    at: list[tuple[str, int]] = []
    for place, (participant, path) in enumerate(files.items()):
        if reading.progress:
            reading.progress(place, len(files), "reading label files")
        parts.append(_participant(reading, schema, participant, path, labels))
        at += [(path.name, row + (2 if schema.header else 1)) for row in range(len(parts[-1]["item"]))]
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    columns = {name: pa.chunked_array([part[name] for part in parts], pa.string()) for name in parts[0]}
    places = Places(lambda row: f"{at[row][0]}:{at[row][1]}", range(len(at)))
    reading.rows_read = len(at)
    return _coded_frames(reading, columns, places, labels, schema)


def _files(reading: Reading, schema: GftSchema) -> dict[str, Path]:
    """Return the label file of each participant, sorted."""
    found: dict[str, Path] = {}
    for path in sorted(reading.root.glob(schema.files)):
        match = _PARTICIPANT.search(path.stem)
        if match is None:
            reading.skipped["file that names no participant (001A)"] += 1
            continue
        name = match[1] + match[2]
        if name in found:
            reading.problems.add(
                reading.relative(path),
                f"participant {name} has the file {reading.relative(found[name])} already",
                hint=f"say in {_SCHEMA} which files are meant, like 'files: occurrence/*.csv'",
            )
        found.setdefault(name, path)
    if not found:
        raise reading.unknown_layout([f"{schema.files} with a participant such as 001A in each name"])
    return found


def _participant(
    reading: Reading, schema: GftSchema, participant: str, path: Path, labels: tuple[str, ...]
) -> dict[str, Any]:
    """Return the frames of a participant, values as they are written."""
    lines = [line for line in read_text(path).split("\n") if line.strip()]
    rows = [[field.strip().strip('"') for field in line.split(schema.delimiter)] for line in lines]
    names = rows.pop(0) if schema.header else list(schema.columns)
    reading.source(path, "labels", len(rows))
    where = {name: place for place, name in enumerate(names)}
    wanted = {label: schema.unit.format(label[2:]) for label in labels}
    empty = {name: pa.array([], pa.string()) for name in ("item", "subject", "group", *labels)}
    if schema.frame not in where or not any(column in where for column in wanted.values()):
        lacking = schema.frame if schema.frame not in where else listing(list(wanted.values()))
        reading.problems.add(
            f"{path.name}:1",
            f"there is no column {lacking}; there are: {listing(names)}",
            hint=f"describe the files in {_SCHEMA} beside them: frame, unit, delimiter, header, columns, kind, files",
        )
        return empty
    for number, row in enumerate(rows, start=2 if schema.header else 1):
        if len(row) != len(names) or not row[where[schema.frame]].isdecimal():
            what = f"{len(row)} fields and not {len(names)}" if len(row) != len(names) else "no frame number"
            reading.problems.add(f"{path.name}:{number}", what, hint=f"see {_SCHEMA}, frame and delimiter")
            return empty
    frames = [str(int(row[where[schema.frame]])) for row in rows]
    columns: dict[str, Any] = {
        "item": pa.array([f"{participant}/{frame}.jpg" for frame in frames], pa.string()),
        "subject": pa.array([participant] * len(rows), pa.string()),
        "group": pa.array([participant[:-1]] * len(rows), pa.string()),
    }
    for label, column in wanted.items():
        values = [row[where[column]] for row in rows] if column in where else ["no column"] * len(rows)
        columns[label] = pa.array(values, pa.string())
    return columns


def _coded_frames(
    reading: Reading, columns: dict[str, Any], places: Places, labels: tuple[str, ...], schema: GftSchema
) -> Items:
    """Take the labels, count everything else as missing, and leave out frames of which no unit is known."""
    known = _OCCURRENCE if schema.kind == "occurrence" else _INTENSITY
    odd: Counter[str] = Counter()
    for label in labels:
        column = columns[label]
        absent = [value for value in pc.unique(column).to_pylist() if value.removesuffix(".0").upper() not in known]
        for value in absent:
            if value.lower() not in (*_USUAL_MISSING, "no column"):
                odd[value] += pc.sum(pc.equal(column, value)).as_py()
        columns[label] = reading.coded(
            column, label, lambda value: known.get(value.removesuffix(".0").upper()), places, missing=absent
        )
    if odd:
        shown = listing([f"{value!r} ({count:,})" for value, count in sorted(odd.items())])
        labels_are = "0 and 1" if schema.kind == "occurrence" else "0 to 5 and A to E"
        reading.warnings.append(f"values that are no labels ({labels_are} are), taken as missing: {shown}")
    keep = np.logical_or.reduce([pc.is_valid(columns[label]).to_numpy() for label in labels])
    if not keep.all():
        reading.skipped["frame of which no action unit is known"] += int((~keep).sum())
        columns = {name: column.filter(pa.array(keep)) for name, column in columns.items()}
        places = places.only(keep)
    count = len(columns["item"])
    columns["annotation"] = pa.array(["manual"] * count, pa.string())
    return reading.finish(columns, places, labels=labels)
