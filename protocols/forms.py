"""Annotation forms: one form of annotation for every dataset.

Ages in years become groups, intensities become active or not, valence and arousal take one range and are cut into
regions. Numbers are read from their text in decimal arithmetic, so that 0.6 lies where it is written to lie.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from ..errors import InputError, listing
from ..scales import FITZPATRICK, RACE_MERGES, AgeGroups
from ..tabular import map_values, pc

__all__ = ["active", "cut_years", "merged_races", "merged_skin", "region", "scaled"]

_LETTERS = {letter: Decimal(place) for place, letter in enumerate("ABCDE", start=1)}


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _converted(column: Any, name: str, convert: Callable[[str], str | None], wanted: str) -> Any:
    """Convert a column, or refuse it with the values that are none of what is wanted."""
    wrong: list[str] = []

    def each(text: str) -> str | None:
        value = convert(text)
        if value is None:
            wrong.append(text)
        return value

    result = map_values(column, each)
    if wrong:
        shown = listing([repr(text) for text in sorted(wrong)], most=6)
        row = pc.index(column, pa.scalar(wrong[0], pa.string())).as_py()
        raise InputError(
            f"column {name} holds what is not {wanted}: {shown} (first in row {row + 1})",
            hint="leave the field empty where the value is missing",
        )
    return result


def active(column: Any, name: str, above: int, *, occurrence: bool = False) -> Any:
    """Turn intensities of an action unit into ``1`` (active) and ``0``.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of string
        Intensities 0 to 5 or A to E, or 0 and 1; null is unknown and stays so.
    name : str
        The action unit, for messages.
    above : int
        Active where the intensity is above this.
    occurrence : bool
        Whether the column holds occurrence (0 and 1) already, which no threshold changes.

    Examples
    --------
    >>> active(pa.chunked_array([["0", "3", None, "1"]]), "AU4", 1).to_pylist()
    ['0', '1', None, '0']
    """
    threshold = Decimal(0 if occurrence else above)

    def convert(text: str) -> str | None:
        number = _LETTERS.get(text.upper()) or _number(text)
        return None if number is None or not 0 <= number <= 5 else "1" if number > threshold else "0"

    return _converted(column, name, convert, "an intensity from 0 to 5")


def scaled(column: Any, name: str, source: tuple[Decimal, Decimal], target: tuple[Decimal, Decimal]) -> Any:
    """Scale valence or arousal from one range to another.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of string
        Decimal text within `source`; null stays null.
    name : str
        The column's name, for messages.
    source, target : tuple of Decimal
        The ranges' ends.

    Examples
    --------
    >>> ten, one = (Decimal(-10), Decimal(10)), (Decimal(-1), Decimal(1))
    >>> scaled(pa.chunked_array([["-2.0", "10"]]), "valence", ten, one).to_pylist()
    ['-0.2', '1']
    """
    stretch = (target[1] - target[0]) / (source[1] - source[0])

    def convert(text: str) -> str | None:
        number = _number(text)
        if number is None or not source[0] <= number <= source[1]:
            return None
        return format(((number - source[0]) * stretch + target[0]).normalize(), "f")

    return _converted(column, name, convert, f"a number from {source[0]} to {source[1]}")


def region(column: Any, name: str, bounds: tuple[Decimal, Decimal], width: Decimal) -> Any:
    """Cut valence or arousal into cells of equal width, numbered from 0; the upper end belongs to the last.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of string
        Decimal text within `bounds`; null stays null.
    name : str
        The column's name, for messages.
    bounds : tuple of Decimal
        The range's ends.
    width : Decimal
        Width of a cell.

    Examples
    --------
    >>> one = (Decimal(-1), Decimal(1))
    >>> region(pa.chunked_array([["-1", "-0.8", "0.6", "1", None]]), "valence", one, Decimal("0.2")).to_pylist()
    ['0', '1', '8', '9', None]
    """
    last = int(-(-(bounds[1] - bounds[0]) // width)) - 1

    def convert(text: str) -> str | None:
        number = _number(text)
        if number is None or not bounds[0] <= number <= bounds[1]:
            return None
        return str(min(last, int((number - bounds[0]) // width)))

    return _converted(column, name, convert, f"a number from {bounds[0]} to {bounds[1]}")


def cut_years(column: Any, name: str, groups: AgeGroups) -> tuple[Any, int]:
    """Cut ages in years into groups.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of string
        Whole years as text (``34`` or ``34.0``); null stays null.
    name : str
        The column's name, for messages.
    groups : AgeGroups
        The groups.

    Returns
    -------
    column : pyarrow.ChunkedArray of string
        Categories; null where no group holds the age.
    between : int
        Items whose age lies in no group.
    """

    def years(text: str) -> str | None:
        number = _number(text)
        return None if number is None or number != int(number) or not 0 <= number <= 150 else str(int(number))

    whole = _converted(column, name, years, "an age in whole years from 0 to 150")
    cut = map_values(whole, lambda text: groups.of(int(text)))
    return cut, int(cut.null_count) - int(whole.null_count)


def merged_skin(column: Any, name: str, merge: str) -> Any:
    """Merge Fitzpatrick skin types into buckets.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of string
        Skin types in any spelling of the scale, or buckets already; null stays null.
    name : str
        The column's name, for messages.
    merge : str
        A merge of `scales.FITZPATRICK`: ``lighter-darker`` or ``light-medium-dark``.

    Examples
    --------
    >>> merged_skin(pa.chunked_array([["III", "4", "darker", None]]), "skin_type", "lighter-darker").to_pylist()
    ['lighter', 'darker', 'darker', None]
    """
    buckets = FITZPATRICK.buckets[merge]

    def convert(text: str) -> str | None:
        return text if text in buckets.values() else buckets.get(FITZPATRICK.category(text) or "")

    return _converted(column, name, convert, "a Fitzpatrick skin type from I to VI")


def merged_races(column: Any, merge: str) -> tuple[Any, dict[str, int]]:
    """Merge races into fewer.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of string
        Races; null stays null.
    merge : str
        One of `scales.RACE_MERGES`.

    Returns
    -------
    column : pyarrow.ChunkedArray of string
        Null where a race has no place among the fewer.
    left : dict of str to int
        How many values of each such race became null.

    Examples
    --------
    >>> column, left = merged_races(pa.chunked_array([["East Asian", "Latino_Hispanic", None]]), "four")
    >>> column.to_pylist(), left
    (['Asian', None, None], {'Latino_Hispanic': 1})
    """
    places = RACE_MERGES[merge]
    counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(column).to_pylist()}
    left = {race: counts[race] for race in sorted(set(counts) - {None, *places})}
    return map_values(column, places.get), left
