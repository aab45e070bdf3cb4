"""RAF-AU: one list of action units, some of them shown on one side of the face.

Yan, Li, Que, Pei and Deng (ACCV 2020). A line is a name and its codes, joined by ``+``; ``null`` says that no unit
is active. ``L12`` and ``R12`` are unit 12 on one side and count as the unit.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import listing
from ..tabular import read_text
from .items import Items
from .reading import Places, Reading, find_below

__all__ = ["read", "unit_codes"]

_LIST = "RAFAU_label.txt"
_NAME = re.compile(r"(\d{1,4})(?:_aligned)?\.jpg", re.IGNORECASE)
_CODE = re.compile(r"([A-Z]?)(\d{1,2})")
_SIDES = ("", "L", "R")
_NONE = "null"
_DIGITS = 4


def read(reading: Reading) -> Items:
    """Read the list that the root is or holds."""
    path = _list(reading)
    names, active, places = _rows(reading, path)
    labels = reading.card.tasks[reading.task].labels if reading.card and reading.task else ()
    columns: dict[str, Any] = {"item": pa.array(names, pa.string())}
    for label in labels:
        columns[label] = pa.array(["1" if label in units else "0" for units in active], pa.string())
    columns["annotation"] = pa.array(["manual"] * len(names), pa.string())
    _tell_of_others(reading, active, labels)
    return reading.finish(columns, places, labels=labels)


def unit_codes(text: str) -> tuple[frozenset[tuple[str, str]], str | None]:
    """Return the sides and action units of a field of codes, and the first code that is none.

    Parameters
    ----------
    text : str
        Such as ``4+L10+17``, or ``null``.

    Returns
    -------
    codes : frozenset of (str, str)
        Side (empty, ``L``, ``R`` or another letter) and action unit.
    fault : str or None
        The first code outside the grammar.

    Examples
    --------
    >>> sorted(unit_codes("4+L10")[0]), unit_codes("null"), unit_codes("4+x")[1]
    ([('', 'AU4'), ('L', 'AU10')], (frozenset(), None), 'x')
    """
    if text == _NONE:
        return frozenset(), None
    found: set[tuple[str, str]] = set()
    for code in text.split("+"):
        match = _CODE.fullmatch(code)
        if match is None:
            return frozenset(), code
        found.add((match[1], f"AU{int(match[2])}"))
    return frozenset(found), None


def _list(reading: Reading) -> Path:
    root = reading.root
    if root.is_file():
        return root
    for steps in ((), ("*",)):
        found = find_below(root, *steps, _LIST)
        if found is not None:
            return found
    raise reading.unknown_layout()


def _rows(reading: Reading, path: Path) -> tuple[list[str], list[set[str]], Places]:
    """Return the names and the active units of the list, and where they stand."""
    names: list[str] = []
    active: list[set[str]] = []
    lines: list[int] = []
    sides: Counter[str] = Counter()
    padded = 0
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        place = f"{path.name}:{number}"
        name = _NAME.fullmatch(fields[0])
        if len(fields) != 2 or name is None:
            reading.problems.add(
                place,
                f"{line.strip()!r} is not a name and its codes",
                hint="like '0003.jpg 1+2+L12' or '0005.jpg null'",
            )
            continue
        codes, fault = unit_codes(fields[1])
        if fault is not None:
            reading.problems.add(
                place,
                f"{fault!r} in {fields[1]!r} is no action unit",
                hint="a code is a number, with a letter before it where one side of the face is meant: 4+L10",
            )
        names.append(f"{int(name[1]):0{_DIGITS}}.jpg")
        padded += len(name[1]) != _DIGITS
        active.append({unit for _, unit in codes})
        lines.append(number)
        sides.update(side for side in {side for side, _ in codes} if side)
    reading.rows_read = len(names)
    reading.source(path, "labels", len(names))
    if padded:
        reading.notes.append(f"names written with fewer than {_DIGITS} digits, filled up with zeros: {padded:,}")
    _tell_of_sides(reading, sides)
    return names, active, Places(lambda row: f"{path.name}:{lines[row]}", range(len(lines)))


def _tell_of_sides(reading: Reading, sides: Counter[str]) -> None:
    known = sum(count for side, count in sides.items() if side in _SIDES)
    if known:
        reading.notes.append(f"a unit on one side of the face (L, R) counts as the unit: {known:,} times")
    other = {side: count for side, count in sorted(sides.items()) if side not in _SIDES}
    if other:
        shown = listing([f"{side}: {count:,} images" for side, count in other.items()])
        reading.warnings.append(
            f"letters before a unit that are neither L nor R, the unit counted all the same: {shown}"
        )


def _tell_of_others(reading: Reading, active: list[set[str]], labels: tuple[str, ...]) -> None:
    """Say which units are in the list and not among the task's labels."""
    counts = Counter(unit for units in active for unit in units if unit not in labels)
    if counts:
        shown = listing([f"{unit} ({counts[unit]:,})" for unit in sorted(counts, key=lambda unit: int(unit[2:]))])
        reading.notes.append(f"units that are not among the task's {len(labels)}: {shown}")
