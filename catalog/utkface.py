"""UTKFace: age, gender and race stand in the file names.

Zhang, Song and Qi (CVPR 2017). A name is ``<age>_<gender>_<race>_<timestamp>.jpg``, in the cropped release
``....jpg.chip.jpg``. Some names lack a field; public repairs of them disagree, so they are left out and listed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pyarrow as pa

from ..digests import digest_bytes
from ..tabular import read_text
from .items import Items, Source, normal_item
from .reading import Places, Reading

__all__ = ["name_fields", "read"]

_GENDERS = ("Male", "Female")
_RACES = ("White", "Black", "Asian", "Indian", "Others")
_GOOD = re.compile(r"(\d{1,3})_([01])_([0-4])_(\d{17})\.jpg(?:\.chip\.jpg)?", re.IGNORECASE)
_TOLERATED = re.compile(r"(\d{1,3})_([01])_([0-4])_(\d+)\s*\.?\s*(?:jpg|jpeg)(?:\.chip\.jpg)?", re.IGNORECASE)
_IMAGE = (".jpg", ".jpeg")
_OLDEST = 120
_STAMP_DIGITS = 17


def read(reading: Reading) -> Items:
    """Read a text file of names, one a line, or a folder of images."""
    if reading.root.is_dir():
        names, places = _folder(reading)
    else:
        names, places = _list(reading)
    reading.rows_read = len(names)
    kept: list[int] = []
    fields: list[tuple[str, str, str]] = []
    for row, name in enumerate(names):
        found, oddity = name_fields(name.rsplit("/", 1)[-1])
        if oddity:
            taken = "taken" if found else "left out"
            reading.warnings.append(f"{places[row]}: {name.rsplit('/', 1)[-1]!r} {oddity}: {taken}")
        if found:
            kept.append(row)
            fields.append(found)
        else:
            reading.skipped[f"name that {oddity}"] += 1
    if not fields:
        raise reading.unknown_layout()
    ages, genders, races = zip(*fields, strict=True)
    columns = {
        "item": pa.array([names[row] for row in kept], pa.string()),
        "age": pa.array(ages, pa.string()),
        "gender": pa.array(genders, pa.string()),
        "race": pa.array(races, pa.string()),
    }
    return reading.finish(columns, Places(places.__getitem__, kept), attributes=("age", "gender", "race"))


def name_fields(name: str) -> tuple[tuple[str, str, str] | None, str | None]:
    """Return age, gender and race of a file name, and what is odd about the name.

    Parameters
    ----------
    name : str
        The name without its folder.

    Returns
    -------
    fields : tuple of str or None
        Age in years, gender, race; None where the name lacks one of them.
    oddity : str or None
        What is odd; None for a good name.

    Examples
    --------
    >>> name_fields("26_1_3_20170117154112345.jpg.chip.jpg")
    (('26', 'Female', 'Indian'), None)
    >>> name_fields("61_1_20170109142408075.jpg")
    (None, 'lacks its gender or race')
    """
    match = _GOOD.fullmatch(name)
    oddity = None
    if match is None:
        match = _TOLERATED.fullmatch(name)
        if match is None:
            return None, _lack(name)
        oddity = _oddity(name, match[4])
    years = int(match[1])
    if years > _OLDEST:
        return None, f"says age {years}"
    return (str(years), _GENDERS[int(match[2])], _RACES[int(match[3])]), oddity


def _lack(name: str) -> str:
    """Say which field a name that cannot be read lacks."""
    parts = name.split("_")
    if len(parts) == 3 and all(parts):
        return "lacks its gender or race"
    if len(parts) == 4 and "" in parts[:3]:
        return f"has an empty {('age', 'gender', 'race')[parts.index('')]}"
    if len(parts) == 4 and parts[0].isdigit():
        return "has a gender or race that is no code"
    return "is not of the form <age>_<gender>_<race>_<timestamp>.jpg"


def _oddity(name: str, stamp: str) -> str:
    if len(stamp) != _STAMP_DIGITS:
        return f"has a timestamp of {len(stamp)} digits and not {_STAMP_DIGITS}"
    if re.search(r"\djpe?g", name, re.IGNORECASE):
        return "lacks the dot before its ending"
    return "has a blank before its ending" if " " in name else "has an odd ending"


def _list(reading: Reading) -> tuple[list[str], Places]:
    """Read a list of names; a landmark list has numbers after each name."""
    path = reading.root
    lines = read_text(path).split("\n")
    rows = [row for row, line in enumerate(lines) if line.strip()]
    names = [_name(lines[row].strip()) for row in rows]
    reading.source(path, "items", len(names))
    return names, Places(lambda row: f"{path.name}:{rows[row] + 1}", range(len(rows)))


def _name(line: str) -> str:
    numbers = re.search(r"(?<=jpg)(?:[ \t]+-?[\d.]+){2,}$", line)
    return normal_item(line[: numbers.start()] if numbers else line)


def _folder(reading: Reading) -> tuple[list[str], Places]:
    """List the images of a folder and of the folders in it, sorted."""
    names: list[str] = []
    for folder, below, files in os.walk(reading.root):
        below.sort()
        prefix = Path(folder).relative_to(reading.root).as_posix()
        prefix = "" if prefix == "." else prefix + "/"
        names += [prefix + name for name in files if _is_image(name)]
        if reading.progress:
            reading.progress(len(names), None, "listing images")
    names.sort()
    listed = "\n".join(names).encode()
    reading.sources.append(Source(".", "items", digest_bytes(listed), len(listed), len(names)))
    return names, Places(names.__getitem__, range(len(names)))


def _is_image(name: str) -> bool:
    return name.lower().endswith(_IMAGE) or re.search(r"\d\s*jpg$", name, re.IGNORECASE) is not None
