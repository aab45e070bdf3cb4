"""Replicas of Casual Conversations and MIAP from published counts of joint categories.

Dooley et al. (2022) printed how many items each cell of four datasets gave when no cell might give more than 1,500.
A cell below the cap stands here as printed; those that stand at 1,500 hold more, so that the cap has work to do.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import pyarrow as pa

from ..digests import digest_bytes
from .cards import load_card
from .items import Items, ReadReport, Source

__all__ = ["CAP", "cell_replica", "published_cells", "shared_out"]

CAP = 1500
"""Items that a cell of the robustness benchmark gives at most."""

_TABLE = "published/capped_counts.csv"
_SUBJECTS, _VIDEOS, _NEVER_DARK = 3011, 45186, 765
_SKIN = {"Light": ("I", "II", "III"), "Dark": ("IV", "V", "VI")}
_YEARS = {"19-45": (18, 44), "45-64": (45, 64), "65+": (65, 85)}
_MIAP_CAPPED = 2 * CAP


@cache
def _table() -> bytes:
    return (resources.files(__package__ or "protoctl.catalog") / _TABLE).read_bytes()


def published_cells(database: str) -> dict[tuple[tuple[str, str], ...], int]:
    """Return the printed count of each cell of a database.

    Parameters
    ----------
    database : str
        As the table spells it: Adience, CasualConversations, MIAP or UTKFace.

    Returns
    -------
    cells : dict of tuple of (str, str) to int
        Counts by the cell's attributes and categories, in the table's order.

    References
    ----------
    Dooley et al. (2022), appendix A.1.

    Examples
    --------
    >>> sum(published_cells("MIAP").values())
    8194
    """
    cells: dict[tuple[tuple[str, str], ...], int] = {}
    for row in csv.DictReader(_table().decode().splitlines()):
        if row["database"] == database:
            pairs = [part.split("=", 1) for part in row["cell"].split(";")]
            cells[tuple((name, value) for name, value in pairs)] = int(row["count"])
    return cells


def shared_out(total: int, weights: Sequence[int], least: Sequence[int], most: Sequence[int]) -> list[int]:
    """Share a number out in proportion to weights, each share within its own limits; the earlier win ties.

    Examples
    --------
    >>> shared_out(10, [1, 1, 2], [0, 4, 0], [9, 9, 3])
    [3, 4, 3]
    """
    shares = list(least)
    whole = sum(weights)
    for _ in range(total - sum(least)):
        # The one that is furthest behind its exact share gets the next.
        open_places = [at for at in range(len(shares)) if shares[at] < most[at]]
        best = max(open_places, key=lambda at: (weights[at] * total - shares[at] * whole, -at))
        shares[best] += 1
    return shares


def cell_replica(name: str) -> Items:
    """Return the replica of Casual Conversations or of MIAP.

    Parameters
    ----------
    name : str
        ``casual-conversations`` or ``miap``.
    """
    return _casual_conversations() if name == "casual-conversations" else _miap()


def _items(name: str, columns: Mapping[str, Sequence[str | None]], attributes: tuple[str, ...], note: str) -> Items:
    table: Any = pa.table({key: pa.array(values, pa.string()) for key, values in columns.items()})
    card = load_card(name)
    missing = {key: {"Unknown": table[key].null_count} for key in attributes if table[key].null_count}
    source = Source(_TABLE.rsplit("/", 1)[1], "other", digest_bytes(_table()), len(_table()))
    return Items(
        dataset=name,
        table=table,
        attributes=attributes,
        sources=(source,),
        report=ReadReport(rows_read=len(table), missing=missing, notes=(note,)),
        card=card,
        replica=True,
    )


def _miap() -> Items:
    columns: dict[str, list[str | None]] = {"item": [], "age": [], "gender": []}
    for cell, count in published_cells("MIAP").items():
        values = dict(cell)
        for _ in range(_MIAP_CAPPED if count == CAP else count):
            columns["item"].append(f"replica/{len(columns['item']) + 1:06d}.jpg")
            columns["age"].append(_known(values["age_presentation"]))
            columns["gender"].append(_known(values["gender_presentation"]))
    return _items(
        "miap",
        columns,
        ("age", "gender"),
        f"this is a replica of MIAP and not the dataset: {len(columns['item']):,} rows with the published counts of "
        f"each cell (Dooley et al., 2022); a cell that was capped at {CAP:,} holds {_MIAP_CAPPED:,}, which is assumed",
    )


def _known(value: str) -> str | None:
    return None if value == "Unknown" else value


def _groups() -> list[tuple[tuple[str, str, str], int, int]]:
    """Return the demographic groups with their bright and dark videos; capped cells share what is left equally."""
    cells = published_cells("CasualConversations")
    capped = [cell for cell, count in cells.items() if count == CAP]
    rest = _VIDEOS - sum(count for count in cells.values() if count != CAP)
    held = dict(cells)
    for cell, count in zip(
        capped, shared_out(rest, [1] * len(capped), [0] * len(capped), [rest] * len(capped)), strict=True
    ):
        held[cell] = count
    groups: dict[tuple[str, str, str], dict[str, int]] = {}
    for cell, count in held.items():
        values = dict(cell)
        group = (values["gender"], values["skin"], values["age"])
        groups.setdefault(group, {"Bright": 0, "Dim": 0})[values["lighting"]] += count
    return [(group, counts["Bright"], counts["Dim"]) for group, counts in groups.items()]


def _casual_conversations() -> Items:
    groups = _groups()
    videos = [bright + dark for _, bright, dark in groups]
    people = shared_out(_SUBJECTS, videos, [1] * len(groups), [bright // 2 for _, bright, _ in groups])
    with_dark = shared_out(
        _SUBJECTS - _NEVER_DARK,
        people,
        [int(dark > 0) for _, _, dark in groups],
        [min(number, dark) for number, (_, _, dark) in zip(people, groups, strict=True)],
    )
    names = ("item", "subject", "age", "gender", "skin_type", "lighting")
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    subject = 0
    for ((gender, skin, age), bright, dark), number, darkened in zip(groups, people, with_dark, strict=True):
        low, high = _YEARS[age]
        for at in range(number):
            subject += 1
            own = {
                "subject": f"{subject:04d}",
                "age": str(low + at % (high - low + 1)),
                "gender": gender,
                "skin_type": _SKIN[skin][at % 3],
            }
            light = _part(bright, number, at)
            total = light + (_part(dark, darkened, at) if at < darkened else 0)
            for clip in range(total):
                for name, value in own.items():
                    columns[name].append(value)
                columns["item"].append(f"replica/{subject:04d}/{subject:04d}_{clip:02d}.MP4")
                columns["lighting"].append("bright" if clip < light else "dark")
    return _items(
        "casual-conversations",
        columns,
        ("age", "gender", "skin_type", "lighting"),
        f"this is a replica of Casual Conversations and not the dataset: {_VIDEOS:,} videos of {_SUBJECTS:,} subjects, "
        f"{_NEVER_DARK:,} of them never dark, with the published counts of each cell of gender, skin, age and lighting "
        f"(Dooley et al., 2022); the cells that were capped at {CAP:,} share the rest equally, and years of age and "
        "skin types within a cell's range are spread evenly, which is assumed",
    )


def _part(total: int, number: int, at: int) -> int:
    """Return the share of the person at a place when a total goes round among so many."""
    return total // number + int(at < total % number)
