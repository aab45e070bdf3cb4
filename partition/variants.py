"""Plans of variants: what is made of each item, laid out row by row and never held in memory whole.

What a row says depends on the item's name, on the seed and on the protocol: a seed of a corruption is drawn from the
item's digest, so a picture that is rendered again comes out the same, whatever else is rendered beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..catalog.items import item_fault
from ..digests import keyed_digests, keyed_words
from ..errors import InputError
from ..protocols import CORRUPTIONS, SEVERITIES, Clips, Degrade, Variants
from ..tabular import pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PLAN_COLUMNS", "ItemPlan", "Length", "Variant", "plan_rows", "plan_variants"]

_BATCH = 4096
_SEEDS = "render/seed"
_CLIPS = "render/clips"
_KINDS = "render/kinds"

Length = Callable[[str], float]
"""Returns the seconds of an item's video, or raises `InputError`."""


@dataclass(frozen=True)
class Variant:
    """One picture or video that is made of an item.

    Parameters
    ----------
    item : str
        The item.
    variant : str
        ``clean``, ``fog-3``, ``clip-1``, ``clip-2-fps-15``.
    path : str
        Where it goes, below the folder that is rendered to.
    corruption : str
        Empty where there is none.
    severity : int or None
        Of the corruption, 1 to 5.
    seed : int or None
        Of the corruption, 32 bits.
    start, seconds : float or None
        Of a clip.
    degradation : str
        Empty where there is none.
    """

    item: str
    variant: str
    path: str
    corruption: str = ""
    severity: int | None = None
    seed: int | None = None
    start: float | None = None
    seconds: float | None = None
    degradation: str = ""


PLAN_COLUMNS = tuple(field.name for field in fields(Variant))
"""Columns of a plan as a table."""


@dataclass(frozen=True)
class ItemPlan:
    """What is made of one item.

    Parameters
    ----------
    item : str
        The item.
    variants : tuple of Variant
        In the plan's order.
    fault : str or None
        Why nothing can be planned.
    """

    item: str
    variants: tuple[Variant, ...]
    fault: str | None = None


def plan_variants(
    assignments: pa.Table, variants: Variants, *, seed: int = 0, length: Length | None = None
) -> Iterator[ItemPlan]:
    """Plan what is made of each item, one item after the other, by name.

    Parameters
    ----------
    assignments : pyarrow.Table
        Columns ``item`` and ``split``.
    variants : Variants
        The section of the protocol.
    seed : int
        Which noise, which clips.
    length : callable, optional
        Seconds of a whole video; needed where videos are cut.

    Yields
    ------
    plan : ItemPlan

    Raises
    ------
    InputError
        If nothing is planned, or videos are cut and there is no `length`.

    Examples
    --------
    >>> rows = pa.table({"item": ["b.jpg", "a.jpg"], "split": ["capped", "capped"]})
    >>> plans = list(plan_variants(rows, Variants(("fog",), (1, 3), document={"corruptions": ["fog"]})))
    >>> [variant.path for variant in plans[0].variants]
    ['clean/a.jpg', 'fog-1/a.jpg.png', 'fog-3/a.jpg.png']
    """
    if not variants:
        raise InputError(
            "the protocol plans no variants", hint="name one that does: --protocol robustness-1500, or dfdc-preview"
        )
    rows = assignments.select(["item", "split"]).sort_by("item")
    return _of_videos(rows, variants, seed, length) if variants.of_videos else _of_images(rows, variants, seed)


def plan_rows(plans: Iterator[ItemPlan]) -> Iterator[tuple[str, ...]]:
    """Turn a plan into rows of text, without a header: the columns are `PLAN_COLUMNS`."""
    values = attrgetter(*PLAN_COLUMNS)
    for plan in plans:
        for variant in plan.variants:
            yield tuple(["" if value is None else str(value) for value in values(variant)])


def _of_images(rows: pa.Table, variants: Variants, seed: int) -> Iterator[ItemPlan]:
    steps = [
        (name, severity, CORRUPTIONS.index(name) * len(SEVERITIES) + severity - 1)
        for name in variants.corruptions
        for severity in variants.severities
    ]
    for low in range(0, rows.num_rows, _BATCH):
        column: Any = rows["item"].slice(low, _BATCH)
        # The stream has a place for every corruption and severity, so leaving some out changes no other's seed.
        words = keyed_words(keyed_digests(column, seed, _SEEDS), len(CORRUPTIONS) * len(SEVERITIES))
        for item, stream in zip(column.to_pylist(), (words >> np.uint64(32)).tolist(), strict=True):
            found = [Variant(item, "clean", f"clean/{item}")] if variants.clean else []
            found += [
                Variant(
                    item, f"{name}-{severity}", _path(f"{name}-{severity}", item, ".png"), name, severity, stream[at]
                )
                for name, severity, at in steps
            ]
            yield _checked(item, tuple(found))


def _checked(item: str, variants: tuple[Variant, ...]) -> ItemPlan:
    fault = item_fault(item)
    return ItemPlan(item, () if fault else variants, f"its name {fault}" if fault else None)


@dataclass(frozen=True)
class _Clip:
    name: str
    start: float | None = None
    seconds: float | None = None


def _of_videos(rows: pa.Table, variants: Variants, seed: int, length: Length | None) -> Iterator[ItemPlan]:
    clips, degrade = variants.clips, variants.degrade
    pattern = re.compile(clips.named) if clips and clips.named else None
    listed = _listed_clips(rows, pattern, degrade)
    for item, split in zip(rows["item"].to_pylist(), rows["split"].to_pylist(), strict=True):
        fault = item_fault(item)
        if fault:
            yield ItemPlan(item, (), f"its name {fault}")
            continue
        if clips is None or (pattern and pattern.fullmatch(item)):
            found = [_Clip(item)]
            group = listed.get(item, [item])
        else:
            try:
                found = _cut(item, clips, length)
            except InputError as error:
                yield ItemPlan(item, (), error.message)
                continue
            group = [clip.name for clip in found]
        kinds = _degraded(group, degrade, seed) if degrade and split == degrade.split else {}
        yield ItemPlan(item, tuple(_video(item, clip, kinds.get(clip.name, "")) for clip in found))


def _listed_clips(rows: pa.Table, pattern: re.Pattern[str] | None, degrade: Degrade | None) -> dict[str, list[str]]:
    """Return, for each item that is a clip, all clips of its video in the split that is degraded."""
    if degrade is None:
        return {}
    column: Any = rows.filter(pc.equal(rows["split"], degrade.split))["item"]
    videos: dict[str, list[str]] = {}
    for item in column.to_pylist():
        found = pattern.fullmatch(item) if pattern else None
        videos.setdefault(found[1] if found else item, []).append(item)
    return {item: group for group in videos.values() for item in group}


def _cut(item: str, clips: Clips, length: Length | None) -> list[_Clip]:
    """Cut a whole video into clips."""
    if length is None:
        raise InputError(f"{item}: its length is needed to cut it, and no files are named")
    seconds = length(item)
    rest = seconds - clips.skip
    if rest <= 0:
        raise InputError(f"lasts {seconds:.1f} seconds, and the first {clips.skip} are left out: nothing is left")
    whole = int(rest // clips.seconds)
    number = clips.most if seconds > clips.over else min(whole, max(clips.most - 1, 1))
    if number == 0:
        return [_Clip(f"{item}#1", float(clips.skip), round(rest, 3))]
    return [
        _Clip(f"{item}#{at + 1}", float(clips.skip + at * clips.seconds), float(clips.seconds)) for at in range(number)
    ]


def _degraded(group: list[str], degrade: Degrade, seed: int) -> dict[str, str]:
    """Draw which clips of a video are degraded, and how: so many of each few, the rest in proportion."""
    digests: NDArray[np.uint64] = keyed_digests(group, seed, _CLIPS)
    order = sorted(range(len(group)), key=lambda at: (int(digests[at]), group[at]))
    chosen: list[str] = []
    for low in range(0, len(order), degrade.of):
        few = order[low : low + degrade.of]
        chosen += [group[at] for at in few[: len(few) * degrade.degraded // degrade.of]]
    kinds = keyed_digests(chosen, seed, _KINDS).tolist() if chosen else []
    return {name: degrade.kinds[word % len(degrade.kinds)] for name, word in zip(chosen, kinds, strict=True)}


def _video(item: str, clip: _Clip, kind: str) -> Variant:
    place = clip.name.removeprefix(item).replace("#", "clip-")
    variant = "-".join(part for part in (place, kind) if part) or "clean"
    path = f"clean/{item}" if variant == "clean" else _path(variant, item, ".mp4")
    return Variant(item, variant, path, start=clip.start, seconds=clip.seconds, degradation=kind)


def _path(folder: str, item: str, ending: str) -> str:
    """Return where a variant goes; the item's whole name stays, so that a.jpg and a.png do not meet."""
    return f"{folder}/{item}" if item.lower().endswith(ending) else f"{folder}/{item}{ending}"
