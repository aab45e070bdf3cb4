"""What a user says of a table of attributes: whose work it is, and how sure a model must have been.

A table of a model's predictions is marked as automatic. Where it has a confidence a prediction, those below a
threshold count as missing, and the report says how many.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ..errors import InputError, Problems, unknown
from ..tabular import TextTable, pc

__all__ = ["AttributeSpec", "confident", "parse_spec", "row_sources"]

Annotation = Literal["manual", "automatic"]

_KEYS = ("confidence", "at-least")
_ANNOTATIONS = ("manual", "automatic")
_OPTION = re.compile(r"(?:manual|automatic|[a-z-]+=.*)")
_NO_CONFIDENCE = "no confidence"


@dataclass(frozen=True)
class AttributeSpec:
    """A table of attributes, and how it came about.

    Parameters
    ----------
    path : pathlib.Path
        The table.
    annotation : {"manual", "automatic"} or None
        Whether people or a model said it; None where nobody says.
    confidence : str or None
        The column of a prediction's confidence, in [0, 1]; by default ``age_confidence`` for ``age`` and so on,
        where there is such a column.
    at_least : Decimal or None
        Predictions of a smaller confidence are missing.
    """

    path: Path
    annotation: Annotation | None = None
    confidence: str | None = None
    at_least: Decimal | None = None

    @property
    def tokens(self) -> tuple[str, ...]:
        """What stands in place of predictions that do not count."""
        return () if self.at_least is None else (f"confidence below {self.at_least}", _NO_CONFIDENCE)


def parse_spec(text: str | Path) -> AttributeSpec:
    """Return what ``FILE[,automatic|manual][,confidence=COLUMN][,at-least=NUMBER]`` says.

    Parameters
    ----------
    text : str or pathlib.Path
        A path alone, or a path with options after commas. A file whose name is the whole text is taken as it is.

    Raises
    ------
    InputError
        If an option is unknown, or the threshold is no number from 0 to 1.

    Examples
    --------
    >>> spec = parse_spec("ages.csv,automatic,confidence=score,at-least=0.8")
    >>> spec.path.name, spec.annotation, spec.confidence, spec.at_least
    ('ages.csv', 'automatic', 'score', Decimal('0.8'))
    """
    whole = str(text)
    parts = whole.split(",")
    options: list[str] = []
    while len(parts) > 1 and not Path(",".join(parts)).exists() and _OPTION.fullmatch(parts[-1].strip()):
        options.append(parts.pop().strip())
    spec = AttributeSpec(Path(",".join(parts)))
    for option in options:
        key, _, value = option.partition("=")
        if key == "manual":
            spec = replace(spec, annotation="manual")
        elif key == "automatic":
            spec = replace(spec, annotation="automatic")
        elif key == "confidence":
            spec = replace(spec, confidence=value)
        elif key == "at-least":
            spec = replace(spec, at_least=_threshold(whole, value))
        else:
            message, hint = unknown("option of --attributes", key, [*_ANNOTATIONS, *_KEYS])
            raise InputError(f"{whole}: {message}", hint=hint)
    if spec.confidence is not None and spec.at_least is None:
        raise InputError(
            f"{whole}: a confidence is named and no threshold",
            hint="add at-least=0.8, or leave confidence out to take every prediction",
        )
    return spec


def _threshold(whole: str, text: str) -> Decimal:
    number = _number(text)
    if number is None:
        raise InputError(f"{whole}: at-least is {text!r}, no number from 0 to 1", hint="like at-least=0.8")
    return number


def _number(text: str | None) -> Decimal | None:
    try:
        number = Decimal(text or "")
    except InvalidOperation:
        return None
    return number if number.is_finite() and 0 <= number <= 1 else None


def confident(table: TextTable, names: Sequence[str], spec: AttributeSpec) -> TextTable:
    """Return the table with one of the spec's tokens in place of every prediction that is not sure enough.

    Parameters
    ----------
    table : TextTable
        As read.
    names : sequence of str
        The attributes.
    spec : AttributeSpec
        With a threshold; without one the table comes back as it is.

    Raises
    ------
    InputError
        If no column holds the confidence of an attribute, or a confidence is no number from 0 to 1.
    """
    if spec.at_least is None:
        return table
    rows: Any = table.table
    problems = Problems()
    for name in names:
        column = spec.confidence or f"{name}_confidence"
        table.require([column])
        given: list[str | None] = rows[column].to_pylist()
        marks = [_mark(spec, text) for text in given]
        for row in (row for row, mark in enumerate(marks) if mark == ""):
            problems.add(
                table.place(row, column),
                f"{given[row]!r} is no confidence",
                hint="a confidence is a number from 0 to 1, empty where nothing was predicted",
            )
        found = pa.chunked_array([pa.array(marks, pa.string())])
        place = rows.column_names.index(name)
        rows = rows.set_column(place, name, pc.coalesce(found, rows[name]))
    problems.refuse(InputError, f"{table.path} is refused")
    return replace(table, table=rows)


def _mark(spec: AttributeSpec, text: str | None) -> str | None:
    """Return what stands in place of a prediction of a confidence: nothing where it is sure enough."""
    if not text:
        return _NO_CONFIDENCE
    number = _number(text)
    if number is None:
        return ""
    return None if spec.at_least is None or number >= spec.at_least else spec.tokens[0]


def row_sources(table: TextTable, name: str, spec: AttributeSpec) -> Any:
    """Return who said each row's value of an attribute: ``manual``, ``automatic`` or null.

    Parameters
    ----------
    table : TextTable
        A column such as ``age_source`` says it a row; else the spec says it of all rows.
    name : str
        The attribute.
    spec : AttributeSpec
        Of the table.

    Raises
    ------
    InputError
        If the column holds anything else.
    """
    column = f"{name}_source"
    if column not in table.table.column_names:
        one: Any = pa.array([spec.annotation], pa.string())
        return pa.chunked_array([one.take(pa.array(np.zeros(table.table.num_rows, np.int32)))])
    said: Any = table.table[column]
    said = pc.if_else(pc.equal(said, ""), pa.scalar(None, pa.string()), said)
    problems = Problems()
    wrong = pc.and_(pc.is_valid(said), pc.invert(pc.is_in(said, value_set=pa.array(_ANNOTATIONS))))
    for row in np.flatnonzero(wrong.to_numpy()).tolist():
        problems.add(
            table.place(row, column),
            f"{said[row].as_py()!r} is neither manual nor automatic",
            hint="manual where people said it, automatic where a model did",
        )
    problems.refuse(InputError, f"{table.path} is refused")
    return said
