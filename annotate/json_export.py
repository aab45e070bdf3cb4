"""Label Studio's JSON export, plain or snapshot: the one format that loses nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import Problems, VotesError, unknown
from .votes import Annotations, ControlColumn

__all__ = ["read_json_export", "unit_kind"]

_VALUE_KEYS = ("choices", "rating", "number", "taxonomy", "text", "labels", "datetime")
_SUBJECT = re.compile(r"subject|person|participant|identity|actor", re.IGNORECASE)


def unit_kind(name: str) -> Any:
    """Return whether a field names subjects or items.

    Examples
    --------
    >>> unit_kind("subject_id"), unit_kind("image")
    ('subject', 'item')
    """
    return "subject" if _SUBJECT.search(name) else "item"


def clean(value: Any) -> str:
    """Return a value as text that can be written: a lone surrogate becomes a question mark."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = value if isinstance(value, str) else str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@dataclass
class _Columns:
    """Annotations as they are gathered, one list a column."""

    unit: list[str | None] = field(default_factory=list[str | None])
    task: list[str] = field(default_factory=list[str])
    annotator: list[str | None] = field(default_factory=list[str | None])
    identity: list[str | None] = field(default_factory=list[str | None])
    when: list[str | None] = field(default_factory=list[str | None])
    flags: list[tuple[bool, bool, bool]] = field(default_factory=list[tuple[bool, bool, bool]])
    seconds: list[float] = field(default_factory=list[float])
    places: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    controls: dict[str, dict[int, list[str]]] = field(default_factory=dict[str, dict[int, list[str]]])
    kinds: dict[str, str] = field(default_factory=dict[str, str])
    units: set[str] = field(default_factory=set[str])
    tasks: set[str] = field(default_factory=set[str])
    bare: set[str] = field(default_factory=set[str])
    predicted: int = 0
    unknown: int = 0


def read_json_export(paths: Iterable[Path], *, unit: str = "task") -> Annotations:
    """Read Label Studio JSON: easy export, snapshot with expanded annotators, storage export, old ``completions``.

    Parameters
    ----------
    paths : iterable of pathlib.Path
        Files; those of a storage export hold one annotation each, with its task inside.
    unit : str
        What a label belongs to: ``task``, or a field of the task's data such as ``subject_id``.

    Returns
    -------
    annotations : Annotations

    Raises
    ------
    VotesError
        If a file is no such export, or an annotation has no unit or an annotator that cannot be read.
    """
    columns, problems, sources = _Columns(), Problems(), [path.name for path in paths]
    for source, path in enumerate(paths):
        _read_file(path, source, unit, columns, problems)
    problems.refuse(VotesError, f"{', '.join(sources)} refused")
    if not columns.tasks:
        raise VotesError(
            f"{', '.join(sources)}: the export holds no task",
            hint="check which project was exported, and that it has tasks",
        )
    return _assemble(columns, tuple(sources), unit)


def _read_file(path: Path, source: int, unit: str, columns: _Columns, problems: Problems) -> None:
    from .json_stream import iterate_array

    for row, element in iterate_array(path):
        place = f"{path.name}: $[{row}]"
        if not isinstance(element, dict):
            problems.add(place, f"is {type(element).__name__} and no task", hint="a Label Studio export lists tasks")
            continue
        task: dict[str, Any] = _nested(element)
        listed = task.get("annotations", task.get("completions"))
        if not isinstance(listed, list):
            problems.add(place, "has no list of annotations", hint="export as JSON, CSV, TSV or JSON_MIN")
            continue
        name = clean(task.get("id", f"{path.name}#{row}"))
        unit_name = _unit(task, unit, name, place, problems)
        columns.tasks.add(name)
        columns.units |= {unit_name} if unit_name is not None else set()
        columns.bare |= set() if listed else {name}
        for nth, flagged, annotation in _each(listed, task.get("drafts")):
            kind = "drafts" if flagged else "annotations"
            if not isinstance(annotation, dict):
                problems.add(f"{place}.{kind}[{nth}]", f"is {annotation!r} and no annotation")
                continue
            where = f"{place}.{kind}[{nth}] (task {name})"
            _take(annotation, name, unit_name, (source, row, nth), flagged, columns, where, problems)


def _nested(element: dict[str, Any]) -> dict[str, Any]:
    """Turn an annotation that holds its task (storage export) into a task that holds its annotation."""
    task = element.get("task")
    if isinstance(task, dict) and "result" in element:
        return {**task, "annotations": [element]}
    return element


def _unit(task: Mapping[str, Any], unit: str, name: str, place: str, problems: Problems) -> str | None:
    if unit == "task":
        return name
    data = task.get("data")
    fields: dict[str, Any] = data if isinstance(data, dict) else {}
    value = fields.get(unit)
    if value is None or value == "":
        message, hint = unknown("field", unit, sorted(fields))
        problems.add(f"{place} (task {name})", f"{message} with a value in the task's data", hint=hint)
        return None
    return clean(value)


def _each(listed: list[Any], drafts: Any) -> Generator[tuple[int, bool, Any]]:
    """Yield annotations, then the drafts that belong to none; a snapshot may list drafts as bare ids."""
    for nth, annotation in enumerate(listed):
        yield nth, False, annotation
    for nth, draft in enumerate(drafts if isinstance(drafts, list) else []):
        if isinstance(draft, dict) and draft.get("annotation") is None:
            yield nth, True, draft


def _annotator(value: Any, columns: _Columns, place: str, problems: Problems) -> str | None:
    """Return who annotated: a number, an e-mail, or an object with either."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("username") or value.get("id")
    if value is None or value == "":
        columns.unknown += 1
        return None
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return clean(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    problems.add(
        place,
        f"the annotator is {value!r}",
        hint="completed_by is a number, an e-mail, an object with id and email, or null",
    )
    return None


def _take(
    annotation: dict[str, Any],
    task: str,
    unit: str | None,
    at: tuple[int, int, int],
    draft: bool,
    columns: _Columns,
    place: str,
    problems: Problems,
) -> None:
    index = len(columns.task)
    who = annotation.get("user") if draft else annotation.get("completed_by")
    columns.annotator.append(_annotator(who, columns, place, problems))
    columns.unit.append(unit)
    columns.task.append(task)
    identity = annotation.get("id")
    columns.identity.append(None if identity is None else clean(identity))
    when = annotation.get("updated_at") or annotation.get("created_at")
    columns.when.append(None if when is None else clean(when))
    cancelled = annotation.get("was_cancelled", annotation.get("skipped"))
    columns.flags.append((bool(cancelled), bool(annotation.get("ground_truth")), draft))
    taken = annotation.get("lead_time")
    columns.seconds.append(float(taken) if isinstance(taken, int | float) else math.nan)
    columns.places.append(at)
    columns.predicted += annotation.get("parent_prediction") is not None
    results = annotation.get("result")
    for result in results if isinstance(results, list) else []:
        if isinstance(result, dict):
            _value(result, index, columns)


def _value(result: dict[str, Any], index: int, columns: _Columns) -> None:
    """Note what one row of an annotation's result holds; relations and shapes without a value hold nothing."""
    control, value = result.get("from_name"), result.get("value")
    if not isinstance(control, str) or not isinstance(value, dict):
        return
    kind = result.get("type")
    key = kind if kind in value else next((key for key in _VALUE_KEYS if key in value), None)
    if key is None:
        return
    columns.kinds.setdefault(control, str(kind or key))
    held = value[key]
    values = held if isinstance(held, list) else [held]
    texts = [clean(" / ".join(map(str, each)) if isinstance(each, list) else each) for each in values]
    columns.controls.setdefault(control, {}).setdefault(index, []).extend(texts)


def control_column(kind: str, held: Mapping[int, list[str]], size: int) -> ControlColumn:
    """Lay out one control's values, given by the annotations that have any."""
    texts: list[str | None] = [None] * size
    several = np.zeros(size, np.bool_)
    for index, values in held.items():
        if values:
            texts[index] = " | ".join(values)
            several[index] = len(values) > 1
    return ControlColumn(kind, pa.array(texts, pa.string()), several if several.any() else None)


def _assemble(columns: _Columns, sources: tuple[str, ...], unit: str) -> Annotations:
    size = len(columns.task)
    flags = np.array(columns.flags, np.bool_).reshape(size, 3)
    places = np.array(columns.places, np.int64).reshape(size, 3)
    warnings: list[str] = []
    if columns.unknown:
        warnings.append(f"annotations without an annotator: {columns.unknown:,} (each counts as somebody else's)")
    if columns.predicted:
        warnings.append(
            f"annotations begun from a model's prediction, which draws votes towards it: {columns.predicted:,}"
        )
    return Annotations(
        "json",
        sources,
        "subject" if unit_kind(unit) == "subject" else "item",
        tuple(sorted(columns.units)),
        pa.array(columns.unit, pa.string()),
        pa.array(columns.task, pa.string()),
        pa.array(columns.annotator, pa.string()),
        pa.array(columns.identity, pa.string()),
        pa.array(columns.when, pa.string()),
        flags[:, 0].copy(),
        flags[:, 1].copy(),
        flags[:, 2].copy(),
        np.array(columns.seconds, np.float64),
        places[:, 0].copy(),
        places[:, 1].copy(),
        places[:, 2].copy(),
        {name: control_column(columns.kinds[name], held, size) for name, held in columns.controls.items()},
        {"tasks": len(columns.tasks), "bare": len(columns.bare), "predicted": columns.predicted},
        tuple(warnings),
    )
