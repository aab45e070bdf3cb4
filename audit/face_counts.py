"""How many faces services found in clean and corrupted images: from a table, or from their answers as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from ..catalog.items import normal_item
from ..errors import InputError, Problems, unknown
from ..protocols import CORRUPTIONS, SEVERITIES
from ..tabular import TextTable, read_table, read_text

__all__ = ["FACE_COLUMNS", "count_answer", "face_table", "read_face_counts"]

FACE_COLUMNS = ("item", "corruption", "severity", "model", "faces")
"""Columns of a table of face counts, as `score_predictions` takes it: a model is a service."""

_RENDERED = "rendered.csv"
_NAMES = {
    "item": ("item", "image", "original photo", "original_photo", "original", "photo"),
    "corruption": ("corruption",),
    "severity": ("severity",),
    "model": ("model", "service"),
    "faces": ("faces",),
    "response": ("response",),
}
_CLEAN = ("", "clean", "none", "null", "original")
_SHAPES = (
    'the shapes read are {"FaceDetails": [...]} (Rekognition), a list of faces (Azure Face), '
    '{"faceAnnotations": [...]} or {"responses": [...]} (Google Vision), or one of them as "response" beside '
    '"original photo", "corruption", "severity" and "service"'
)


@dataclass(frozen=True)
class _Answer:
    item: str
    corruption: str
    severity: str
    model: str
    faces: int


def read_face_counts(path: Path, *, rendered: Path | None = None) -> TextTable:
    """Read how many faces were found.

    Parameters
    ----------
    path : pathlib.Path
        A table with the columns image, corruption, severity, service and faces (or item and model); a JSON answer
        of a service; or a folder of such answers, one a file, in any folders.
    rendered : pathlib.Path, optional
        The folder that the images were rendered to. An answer that does not say itself what it is of is the answer on
        the file of that folder that it is named for: ``fog-3/a.jpg.png.json``, or below a folder named for a service
        ``azure/fog-3/a.jpg.png.json``.

    Returns
    -------
    counts : TextTable
        Columns `FACE_COLUMNS`, one row an image, corruption, severity and service; ``clean`` and an empty severity
        for the image itself.

    Raises
    ------
    InputError
        If an answer is an error of the service, has no known shape, or does not say what it is of; if a corruption, a
        severity or a number of faces is none; every place is named.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*.json") if not file.name.startswith("."))
        if not files:
            raise InputError(f"{path} holds no answers (*.json)", hint="name a folder of JSON answers, or a table")
        return _answers(path, files, rendered)
    if path.suffix.lower() == ".json":
        return _answers(path.parent, [path], rendered)
    return _counted(read_table(path))


def face_table(rows: Iterable[tuple[str, str, str, str, int]], path: Path) -> TextTable:
    """Make a table of face counts from rows of item, corruption, severity, service and faces."""
    ordered = sorted((*row[:4], str(row[4])) for row in rows)
    columns = {name: pa.array([row[at] for row in ordered], pa.string()) for at, name in enumerate(FACE_COLUMNS)}
    return TextTable(pa.table(columns), path, None)


def count_answer(answer: object, service: str = "") -> tuple[int, str]:
    """Count the faces in a service's answer.

    Parameters
    ----------
    answer : object
        The parsed JSON.
    service : str
        Who answered, where that is known: Google Vision's empty answer to a picture without faces has no shape.

    Returns
    -------
    faces : int
        How many there are.
    service : str
        ``rekognition``, ``azure`` or ``google``, by the answer's shape.

    Raises
    ------
    InputError
        If it is an error of the service, or has no known shape.

    Examples
    --------
    >>> count_answer({"FaceDetails": [{}, {}]}), count_answer([]), count_answer({"responses": [{}]})
    ((2, 'rekognition'), (0, 'azure'), (0, 'google'))
    """
    if isinstance(answer, list):
        return len(_faces(cast("list[object]", answer), "list")), "azure"
    if isinstance(answer, Mapping):
        values = cast("Mapping[str, object]", answer)
        if values.get("error") or values.get("Error"):
            raise InputError(
                f"is an error of the service ({_shown(values.get('error') or values.get('Error'))})",
                hint="ask the service again: an error is not a picture without faces",
            )
        if "FaceDetails" in values:
            return len(_faces(values["FaceDetails"], "FaceDetails")), "rekognition"
        if "responses" in values:
            responses = _faces(values["responses"], "responses")
            if len(responses) != 1:
                raise InputError(f"holds {len(responses)} responses, and one picture has one", hint="one answer a file")
            inner = cast("Mapping[str, object]", responses[0] if isinstance(responses[0], Mapping) else {})
            return count_answer({"faceAnnotations": [], **inner})
        if not values and re.search("google|gcp", service.lower()):
            return 0, "google"
        if "faceAnnotations" in values:
            return len(_faces(values["faceAnnotations"], "faceAnnotations")), "google"
    raise InputError(f"is no answer of a known shape ({_shown(answer)})", hint=_SHAPES)


def _faces(value: object, name: str) -> list[object]:
    if not isinstance(value, list):
        raise InputError(f"{name} is no list ({_shown(value)})", hint=_SHAPES)
    return cast("list[object]", value)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _answers(folder: Path, files: list[Path], rendered: Path | None) -> TextTable:
    known = _known_files(rendered) if rendered is not None else {}
    problems = Problems()
    found: dict[tuple[str, str, str, str], tuple[str, int]] = {}
    for file in files:
        name = file.relative_to(folder).as_posix()
        try:
            answer = _answer(name, json.loads(read_text(file)), known)
        except json.JSONDecodeError as error:
            problems.add(f"{name}:{error.lineno}", f"is not JSON ({error.msg})")
            continue
        except InputError as error:
            problems.add(name, error.message, hint=error.hint)
            continue
        key = (answer.item, answer.corruption, answer.severity, answer.model)
        if key in found:
            problems.add(name, f"answers for {' '.join(part for part in key if part)} again (first: {found[key][0]})")
        found[key] = (name, answer.faces)
    problems.refuse(InputError, f"{folder} is refused")
    return face_table(((*key, faces) for key, (_, faces) in found.items()), folder)


def _known_files(rendered: Path) -> dict[str, tuple[str, str, str]]:
    """Return what each rendered file is of: item, corruption and severity."""
    table = read_table(rendered / _RENDERED if rendered.is_dir() else rendered)
    table.require(["path", "item", "corruption", "severity"])
    columns = [table.table[name].to_pylist() for name in ("path", "item", "corruption", "severity")]
    return {
        path: (item, corruption or "clean", severity) for path, item, corruption, severity in zip(*columns, strict=True)
    }


def _answer(name: str, document: Any, known: Mapping[str, tuple[str, str, str]]) -> _Answer:
    """Read one answer: what it is of from itself, or from the name of its file."""
    wrapper = _fields(document)
    if "response" in wrapper:
        response = wrapper["response"]
        if isinstance(response, str):
            response = json.loads(response)
        told = str(wrapper.get("model") or "")
        faces, service = count_answer({} if response is None else response, told)
        if not wrapper.get("item"):
            raise InputError("does not say which image it is of", hint=_SHAPES)
        corruption, severity = _checked(wrapper.get("corruption"), wrapper.get("severity"))
        return _Answer(normal_item(str(wrapper["item"])), corruption, severity, told or service, faces)
    faces, service = count_answer(document, name.split("/", 1)[0])
    path = name.removesuffix(".json")
    if path in known:
        return _Answer(*known[path], service, faces)
    folder, _, rest = path.partition("/")
    if rest in known:
        return _Answer(*known[rest], folder, faces)
    raise InputError(
        "does not say which image it is of, and is named for no rendered file",
        hint="name the folder that was rendered to, and answers for its files: [SERVICE/]fog-3/a.jpg.png.json",
    )


def _fields(document: object) -> dict[str, Any]:
    """Return the fields of the paper's wrapper under our names; none where it is a bare answer."""
    if not isinstance(document, Mapping):
        return {}
    values = {
        re.sub(r"[\s_-]+", " ", str(key)).strip().lower(): value
        for key, value in cast("Mapping[object, object]", document).items()
    }
    return {ours: values[name] for ours, names in _NAMES.items() for name in names if name in values}


def _checked(corruption: object, severity: object) -> tuple[str, str]:
    """Return a corruption by its name with hyphens, and its severity; ``clean`` and empty for the image itself."""
    name = "" if corruption is None else re.sub(r"[\s_-]+", "-", str(corruption).strip().lower())
    if name in _CLEAN:
        return "clean", ""
    if name not in CORRUPTIONS:
        message, hint = unknown("corruption", name, CORRUPTIONS)
        raise InputError(message, hint=hint)
    text = str(severity).strip()
    if text not in {str(each) for each in SEVERITIES}:
        raise InputError(f"severity {text!r} is none", hint="a severity is a whole number from 1 to 5")
    return name, text


def _counted(table: TextTable) -> TextTable:
    """Bring a table of counts to our names, and check every row."""
    have = {name.strip().lower(): name for name in table.table.column_names}
    chosen: dict[str, str] = {}
    for ours in FACE_COLUMNS:
        name = next((have[each] for each in _NAMES[ours] if each in have), None)
        if name is None and ours != "model":
            message, hint = unknown("column", ours, table.table.column_names)
            raise InputError(f"{table.path.name}: {message}", hint=f"{hint}; a table of faces has image, corruption, "
                             "severity, service and faces")  # fmt: skip
        if name is not None:
            chosen[ours] = name
    columns = {ours: table.table[name].to_pylist() for ours, name in chosen.items()}
    problems = Problems()
    rows: list[tuple[str, str, str, str, int]] = []
    for row in range(table.table.num_rows):
        values = {ours: (column[row] or "") for ours, column in columns.items()}
        try:
            corruption, severity = _checked(values["corruption"], values["severity"])
        except InputError as error:
            problems.add(table.place(row), error.message, hint=error.hint)
            continue
        if not values["faces"].isdecimal():
            problems.add(table.place(row, chosen["faces"]), f"{values['faces']!r} is no number of faces")
            continue
        item, model = normal_item(values["item"]), values.get("model", "")
        rows.append((item, corruption, severity, model, int(values["faces"])))
    problems.refuse(InputError, f"{table.path} is refused")
    return face_table(rows, table.path)
