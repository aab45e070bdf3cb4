"""Which column of a plain table plays which role: named by the user, by a file beside the table, or by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ..errors import InputError, Problems, listing, unknown
from .cards import safe_yaml
from .items import label_kind

__all__ = ["Roles", "find_roles", "given_roles"]

_USUAL: Mapping[str, tuple[str, ...]] = {
    "item": (
        "item", "image", "file", "filename", "file_name", "path", "filepath", "image_path", "img_path", "image_id",
        "video", "name",
    ),
    "subject": ("subject", "subject_id", "person", "person_id", "participant", "participant_id", "identity", "actor"),
    "split": ("split_released", "split", "partition", "set"),
    "annotation": ("annotation",),
}  # fmt: skip
_LABELS = ("label", "expression", "emotion")
_TASKS: Mapping[str, str] = {"expression": "category", "au": "binary", "va": "continuous"}
_TEXT_ROLES = ("item", "subject", "split", "annotation", "name", "task", "missing_subject")
_LIST_ROLES = ("label", "labels", "attributes", "missing")
_NOT_ATTRIBUTES = re.compile(r"unnamed: ?\d+|__index_level_\d+__|index", re.IGNORECASE)
_UNIT = re.compile(r"'?AU[ _]?0*(\d{1,2})'?", re.IGNORECASE)


@dataclass(frozen=True)
class Roles:
    """The columns of a table by role.

    Parameters
    ----------
    item : str
        The column that names items.
    subject, split, annotation : str or None
        The columns of that role.
    labels : mapping of str to str
        The table's column for each label column of `Items`.
    attributes : tuple of str
        The columns that are attributes.
    missing : tuple of str
        Tokens that mean missing, beyond the usual ones.
    name : str or None
        The dataset's name.
    task : str or None
        ``expression``, ``au`` or ``va``, where the user chose among labels.
    missing_subject : str or None
        What becomes of items without a subject.
    notes : tuple of str
        What was taken by its name alone.
    """

    item: str
    subject: str | None = None
    split: str | None = None
    annotation: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    attributes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    name: str | None = None
    task: str | None = None
    missing_subject: str | None = None
    notes: tuple[str, ...] = ()


def given_roles(path: Path, columns: Mapping[str, str | Sequence[str]] | None) -> dict[str, Any]:
    """Return what the user says about a table's columns: the YAML file beside it, then the options over it.

    Parameters
    ----------
    path : pathlib.Path
        The table; ``items.csv`` is described by ``items.yaml`` beside it.
    columns : mapping, optional
        Roles by name, as an option gives them.

    Raises
    ------
    InputError
        If a role is unknown, or is not given as a text or a list of texts.
    """
    stem = path.with_suffix("") if path.suffix == ".gz" else path
    beside = next((file for file in (stem.with_suffix(".yaml"), stem.with_suffix(".yml")) if file.is_file()), None)
    given: dict[str, Any] = {}
    if beside is not None:
        found = safe_yaml(beside)
        if not isinstance(found, Mapping):
            raise InputError(
                f"{beside} lies beside {path.name} and should say which column is which: it holds no mapping",
                hint="write it like 'item: file' and 'subject: person', one a line",
            )
        given |= _checked(cast("Mapping[Any, Any]", found), beside.name)
    return given | _checked(columns or {}, "the options")


def _checked(given: Mapping[Any, Any], where: str) -> dict[str, Any]:
    problems = Problems()
    for role, value in given.items():
        if role in _TEXT_ROLES:
            good = isinstance(value, str)
        elif role in _LIST_ROLES:
            several = isinstance(value, list | tuple)
            good = isinstance(value, str) or (several and all(isinstance(each, str) for each in value))
        else:
            message, hint = unknown("role of a column", str(role), [*_TEXT_ROLES, *_LIST_ROLES])
            problems.add(f"{where}, {role}", message, hint=hint)
            continue
        if not good:
            wanted = "a text" if role in _TEXT_ROLES else "a list of texts"
            problems.add(f"{where}, {role}", f"{value!r} is not {wanted}", hint="put numbers in quotes")
    problems.refuse(InputError, "the description of the columns is refused")
    lists = {role: [value] if isinstance(value, str) else list(value) for role, value in _pick(given, _LIST_ROLES)}
    if "label" in lists:
        lists["labels"] = [*lists.pop("label"), *lists.get("labels", [])]
    return dict(_pick(given, _TEXT_ROLES)) | lists


def _pick(given: Mapping[Any, Any], roles: Sequence[str]) -> list[tuple[str, Any]]:
    return [(role, given[role]) for role in roles if role in given]


def find_roles(names: Sequence[str], given: Mapping[str, Any], where: str, task: str | None) -> Roles:
    """Return which column plays which role: what the user says, then what the columns' names say.

    Parameters
    ----------
    names : sequence of str
        The table's columns.
    given : mapping
        As `given_roles` returns it.
    where : str
        What to call the table in messages.
    task : str or None
        ``expression``, ``au`` or ``va``: which labels count, where there are several kinds.

    Raises
    ------
    InputError
        If a named column does not exist, none names the items, or the task has no label column.
    """
    _refuse_absent(names, given, where)
    notes: list[str] = []
    taken: dict[str, str | None] = {}
    for role in _USUAL:
        taken[role] = given.get(role) or _usual(role, names, [*taken.values(), *given.get("labels", [])], notes)
    item = taken["item"]
    if item is None:
        raise InputError(
            f"{where}: no column names the items",
            hint=f"name it with --item COLUMN. There are: {listing(list(names))}",
        )
    task = task or given.get("task")
    labels = _labels(names, given, where, task)
    used = {*taken.values(), *labels.values()}
    attributes = tuple(given.get("attributes", [])) or _rest(names, used, notes)
    return Roles(
        item=item,
        subject=taken["subject"],
        split=taken["split"],
        annotation=taken["annotation"],
        labels=labels,
        attributes=tuple(name for name in attributes if name not in used),
        missing=tuple(given.get("missing", [])),
        name=given.get("name"),
        task=task,
        missing_subject=given.get("missing_subject"),
        notes=tuple(notes),
    )


def _refuse_absent(names: Sequence[str], given: Mapping[str, Any], where: str) -> None:
    problems = Problems()
    for role in ("item", "subject", "split", "annotation", "labels", "attributes"):
        value = given.get(role, [])
        for name in [value] if isinstance(value, str) else value:
            if name not in names:
                message, hint = unknown("column", name, names)
                problems.add(where, f"{message}, named as {role}", hint=hint)
    problems.refuse(InputError, "a column is missing")


def _usual(role: str, names: Sequence[str], taken: Sequence[str | None], notes: list[str]) -> str | None:
    """Return the column that a role usually has, and note it where its name is not the role's own."""
    lowered = {name.lower(): name for name in names if name not in taken}
    found = next((lowered[usual] for usual in _USUAL[role] if usual in lowered), None)
    if found is not None and found not in (role, "split_released"):
        meaning = {"item": "names the items", "subject": "names the subjects", "split": "is the released split"}
        notes.append(f"column {found!r} {meaning.get(role, f'is the {role}')} (name another with --{role})")
    return found


def _labels(names: Sequence[str], given: Mapping[str, Any], where: str, task: str | None) -> dict[str, str]:
    """Return the table's column for each label column."""
    if task is not None and task not in _TASKS:
        message, hint = unknown("task of a plain table", task, list(_TASKS))
        raise InputError(message, hint=hint)
    named = given.get("labels")
    if named:
        found = {_label_name(name) or name: name for name in named}
        if len(named) == 1 and label_kind(next(iter(found))) == "category":
            found = {"label": named[0]}
    else:
        found = {label: name for name in names if (label := _label_name(name))}
        lowered = {name.lower(): name for name in names}
        usual = next((lowered[label] for label in _LABELS if label in lowered), None)
        if usual is not None:
            found["label"] = usual
    if task is not None:
        found = {label: name for label, name in found.items() if label_kind(label) == _TASKS[task]}
        if not found:
            wanted = {"expression": "label", "au": "AU1, AU2, ...", "va": "valence and arousal"}[task]
            raise InputError(
                f"{where}: no column is a label of the task {task} ({wanted})", hint="name it with --label"
            )
    units = sorted((name for name in found if label_kind(name) == "binary"), key=lambda name: int(name[2:]))
    return {label: found[label] for label in [*units, *(name for name in found if name not in units)]}


def _label_name(name: str) -> str | None:
    unit = _UNIT.fullmatch(name)
    if unit:
        return f"AU{unit[1]}"
    return name.lower() if name.lower() in ("valence", "arousal") else None


def _rest(names: Sequence[str], used: set[str | None], notes: list[str]) -> tuple[str, ...]:
    """Return the columns that play no other role; a name that a role has of right cannot be an attribute's."""
    rest = [name for name in names if name not in used and not _NOT_ATTRIBUTES.fullmatch(name)]
    reserved = [name for name in rest if name in ("item", "subject", "label", "annotation", "split_released")]
    notes += [f"column {name!r} is left out: another column was named for its role" for name in reserved]
    return tuple(name for name in rest if name not in reserved)
