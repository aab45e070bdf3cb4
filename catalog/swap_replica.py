"""A replica of the DFDC preview: 66 people, tied into groups by the swaps between them.

The paper states the people, the clips of train and of test, and the relation of fakes to originals; who was swapped
with whom is not published, and is assumed here: 22 groups of three people, whose middle one is swapped with both
others, three of the groups in test.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from .cards import load_card
from .items import Items, ReadReport

__all__ = ["swap_replica"]

_GROUPS, _TEST_GROUPS = 22, 3
_CLIPS = {"train": 4464, "test": 780}
# 1 : 0.28, table 1 of the paper.
_FAKES, _ORIGINALS = 100, 28
_CLIPS_OF_A_VIDEO = 3
_DEGRADED = ("fps", "resolution", "quality")
_COLUMNS = ("item", "subject", "label", "method", "augmentation", "annotation", "split_released")


def swap_replica() -> Items:
    """Return the replica of the DFDC preview.

    Returns
    -------
    items : Items
        5,244 clips of 66 people, with the columns that the release gives.

    References
    ----------
    Dolhansky et al. (2019), section 2 and table 1.
    """
    columns: dict[str, list[str]] = {name: [] for name in _COLUMNS}
    groups = [tuple(str(1001 + 3 * at + member) for member in range(3)) for at in range(_GROUPS)]
    for split, chosen in (("train", groups[:-_TEST_GROUPS]), ("test", groups[-_TEST_GROUPS:])):
        originals = round(_CLIPS[split] * _ORIGINALS / (_FAKES + _ORIGINALS))
        targets: list[tuple[str, str, str]] = [("original_videos", person, "") for group in chosen for person in group]
        swaps = [
            (method, target, swapped)
            for first, middle, last in chosen
            for target, swapped in ((first, middle), (middle, first), (middle, last), (last, middle))
            for method in ("method_A", "method_B")
        ]
        _add(columns, split, targets, originals)
        _add(columns, split, swaps, _CLIPS[split] - originals)
    table: Any = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    note = (
        f"this is a replica of the DFDC preview and not the dataset: {len(table):,} clips of {3 * _GROUPS} people with "
        "the published numbers of clips and fakes; who was swapped with whom is assumed"
    )
    return Items(
        dataset="dfdc-preview",
        table=table,
        labels=("label",),
        attributes=("method", "augmentation"),
        task="detection",
        report=ReadReport(rows_read=len(table), notes=(note,)),
        card=load_card("dfdc-preview"),
        replica=True,
    )


def _add(columns: dict[str, list[str]], split: str, videos: list[tuple[str, str, str]], count: int) -> None:
    """Add so many clips of the people's videos, going round among them; in test two of three are degraded."""
    for number in range(count):
        method, target, swapped = videos[number % len(videos)]
        clip = number // len(videos)
        letter, place = chr(ord("A") + clip // _CLIPS_OF_A_VIDEO), clip % _CLIPS_OF_A_VIDEO
        stem = f"{target}_{letter}"
        folder = f"{method}/{target}/{stem}/{swapped}_" if swapped else f"{method}/{target}/"
        degraded = split == "test" and place < _CLIPS_OF_A_VIDEO - 1
        row = (
            f"{folder}{stem}_{place:03d}.mp4",
            "|".join(sorted({target, swapped} - {""})),
            "fake" if swapped else "real",
            method,
            _DEGRADED[number % len(_DEGRADED)] if degraded else "none",
            "manual",
            split,
        )
        for name, value in zip(_COLUMNS, row, strict=True):
            columns[name].append(value)
