"""DISFA: one small file of intensities for each subject and action unit; two views of the same frames.

Mavadati et al. (TAC 2013). Frames are numbered from 1 in the label files. The labels hold for both cameras, and the
frames of each camera are items of their own, as in the fair and consistent protocol.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError, listing
from .items import Items
from .reading import Places, Reading, find_below

__all__ = ["SUBJECTS", "frame_names", "read"]

SUBJECTS = tuple(f"SN{number:03}" for number in (*range(1, 14), 16, 17, 18, 21, *range(23, 33)))
"""The 27 subjects; 14, 15, 19, 20 and 22 do not exist, nor does 33, which one public list prints."""

_LABELS = "actionunit_label*"
_UNITS = (1, 2, 4, 5, 6, 9, 12, 15, 17, 20, 25, 26)
_INTENSITIES = frozenset("012345")
_VIEWS = ("Left", "Right")
_LINE_HINT = "a line is a frame and an intensity from 0 to 5, like 3,2; frames count up from 1"


def read(reading: Reading) -> Items:
    """Read the folder of label files."""
    folder = _labels(reading)
    present = sorted(name for name in os.listdir(folder) if (folder / name).is_dir())
    subjects = _known(reading, folder, present)
    intensities: dict[str, list[list[str]]] = {}
    for subject in subjects:
        intensities[subject.upper()] = _subject(reading, folder / subject)
    reading.problems.refuse(InputError, f"{reading.title} is refused")
    return _items(reading, intensities)


def _labels(reading: Reading) -> Path:
    """Return the folder of labels that the root is or holds."""
    root = reading.root
    if root.is_dir():
        for steps in ((), ("*",)):
            found = find_below(root, *steps, _LABELS)
            if found is not None and found.is_dir():
                return found
        if any(name.upper() in SUBJECTS for name in os.listdir(root)):
            return root
    raise reading.unknown_layout()


def _known(reading: Reading, folder: Path, present: Sequence[str]) -> list[str]:
    """Return the folders of known subjects; note those that are none, and those that are absent."""
    for name in present:
        if name.upper() not in SUBJECTS:
            reading.problems.add(
                f"{reading.relative(folder)}/{name}",
                "is none of the 27 subjects",
                hint="subjects are SN001 to SN032 without 014, 015, 019, 020 and 022; DISFA+ is another dataset",
            )
    known = [name for name in present if name.upper() in SUBJECTS]
    absent = [subject for subject in SUBJECTS if subject not in {name.upper() for name in known}]
    if not known:
        raise reading.unknown_layout()
    if absent:
        reading.warnings.append(f"subjects without a folder of labels: {len(absent)} of 27 ({listing(absent)})")
    return known


def _subject(reading: Reading, folder: Path) -> list[list[str]]:
    """Return the intensities of each action unit of a subject, by frame."""
    subject = folder.name.upper()
    there = {name.lower(): name for name in os.listdir(folder)}
    wanted = [f"{subject}_au{unit}.txt" for unit in _UNITS]
    names = [there.get(name.lower(), name) for name in wanted]
    columns: list[list[str]] = []
    for name, data in zip(names, reading.small_files(folder, names, "labels", f"reading {subject}"), strict=True):
        where = f"{reading.relative(folder)}/{name}"
        if data is None:
            reading.problems.add(
                where,
                "there is no such file: whether the unit is active is not known, which is not the same as absent",
                hint="copy the release again; each subject has 12 files, au1 to au26",
            )
            continue
        columns.append(_intensities(reading, where, data))
    lengths = {len(column) for column in columns if column}
    if len(lengths) > 1:
        shown = listing([f"{name}: {len(column):,}" for name, column in zip(names, columns, strict=False)])
        reading.problems.add(
            reading.relative(folder), f"its files have different numbers of frames ({shown})", hint="copy them again"
        )
    return columns


def _intensities(reading: Reading, where: str, data: bytes) -> list[str]:
    """Return the intensities of a file, by frame; note the first line that is not as it should be."""
    text = data.decode("latin-1").removeprefix("\u00ef\u00bb\u00bf").replace("\r", "").replace(" ", "").strip()
    if not text:
        reading.problems.add(where, "is empty", hint="copy the release again")
        return []
    fields = text.replace("\n", ",").split(",")
    values = fields[1::2]
    frames = [str(frame) for frame in range(1, len(values) + 1)]
    if fields[::2] == frames and set(values) <= _INTENSITIES:
        return values
    found: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        match = re.fullmatch(r"(\d+),([0-5])(?:\.0+)?", line)
        if match is None:
            reading.problems.add(f"{where}:{number}", f"{line!r} is not a frame and an intensity", hint=_LINE_HINT)
            return []
        if int(match[1]) != number:
            reading.problems.add(
                f"{where}:{number}", f"frame {match[1]} stands where frame {number} should", hint=_LINE_HINT
            )
            return []
        found.append(match[2])
    return found


def frame_names(view: str, subject: str, count: int) -> list[str]:
    """Return the names of a subject's frames in one view.

    Examples
    --------
    >>> frame_names("Left", "SN001", 4845)[-1]
    'LeftVideoSN001/04845.jpg'
    """
    return [f"{view}Video{subject}/{frame:05}.jpg" for frame in range(1, count + 1)]


def _items(reading: Reading, intensities: dict[str, list[list[str]]]) -> Items:
    """Put the frames of both views one under the other."""
    counts = [len(columns[0]) for columns in intensities.values()]
    reading.rows_read = sum(counts)
    names = [
        name
        for view in _VIEWS
        for subject, count in zip(intensities, counts, strict=True)
        for name in frame_names(view, subject, count)
    ]
    subjects: Any = pa.array(list(intensities), pa.string())
    once = subjects.take(pa.array(np.repeat(np.arange(len(counts)), counts)))
    columns: dict[str, Any] = {"item": pa.array(names, pa.string()), "subject": pa.concat_arrays([once, once])}
    labels = [f"AU{unit}" for unit in _UNITS]
    for place, label in enumerate(labels):
        values = pa.array([value for each in intensities.values() for value in each[place]], pa.string())
        columns[label] = pa.concat_arrays([values, values])
    views: Any = pa.array(["left", "right"])
    columns["view"] = views.take(pa.array(np.repeat(np.arange(2), sum(counts))))
    columns["annotation"] = pa.array(["manual"] * len(names), pa.string())
    reading.notes.append(f"each of {sum(counts):,} frames is an item in both views, with the same labels")
    return reading.finish(columns, Places(names.__getitem__, range(len(names))), labels=labels, attributes=("view",))
