"""Rows of the replicas of DISFA and GFT: subjects with the published numbers of frames, action units drawn.

How many frames each age, gender and race has was published, and not which subject has which. Subjects, their frames
and their attributes are laid out so that every published number holds exactly. How often each subject shows an
action unit is drawn, widely for rare units, so that the counts add up; the frames that show it follow one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..digests import SplitMix64
from .disfa import SUBJECTS, frame_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Sitter", "apportion", "gft_sitters", "disfa_sitters", "subject_columns"]

_SEED = 0
_ATTRIBUTES = ("age", "gender", "race")
# DISFA: frames of a subject in one view; one subject has one frame less.
_DISFA_FRAMES = 4845
_DISFA_SHORT = "SN010"
# GFT: groups of three, and the frames that were recorded of each participant.
_GFT_GROUPS = 32
_GFT_MOST = 1800
_GFT_LEAST = 400
# Units shown in fewer than a tenth of the frames differ more between subjects.
_RARE = 10
_DRAW = 1 << 16


@dataclass
class Sitter:
    """A subject of a replica while its attributes are laid out.

    Parameters
    ----------
    name : str
        The subject.
    frames : int
        Frames, in one view.
    values : dict of str to str or None
        Category by attribute.
    """

    name: str
    frames: int
    values: dict[str, str | None]


def subject_columns(name: str, marginals: Mapping[str, Mapping[str, int]], labels: Sequence[str]) -> dict[str, Any]:
    """Return the columns of the replica of a dataset with subjects.

    Parameters
    ----------
    name : {"disfa", "gft"}
        The dataset.
    marginals : mapping of str to mapping of str to int
        Published counts of frames by column and category, over both views of DISFA.
    labels : sequence of str
        The action units.

    Returns
    -------
    columns : dict of str to pyarrow array
        ``item``, ``subject``, ``group`` (GFT), the labels, ``age``, ``gender``, ``race``, and ``view`` (DISFA).
    """
    views = ("Left", "Right") if name == "disfa" else ("",)
    sitters = disfa_sitters(marginals) if name == "disfa" else gft_sitters(marginals)
    frames = [sitter.frames for sitter in sitters]
    rows = np.tile(np.repeat(np.arange(len(sitters)), frames), len(views))
    columns: dict[str, Any] = {"item": pa.array(_items(sitters, views), pa.string())}
    columns["subject"] = _taken([sitter.name for sitter in sitters], rows)
    if name == "gft":
        columns["group"] = _taken([sitter.name[:-1] for sitter in sitters], rows)
    for label in labels:
        draw = SplitMix64(_SEED, f"replica/{name}/{label}")
        active = _active(frames, marginals[label]["1"] // len(views), draw)
        columns[label] = _taken(["0", "1"], np.tile(active, len(views)))
    for attribute in _ATTRIBUTES:
        columns[attribute] = _taken([sitter.values[attribute] for sitter in sitters], rows)
    if name == "disfa":
        columns["view"] = _taken(["left", "right"], np.repeat(np.arange(2), sum(frames)))
    return columns


def _taken(values: Sequence[str | None], rows: NDArray[np.integer[Any]]) -> Any:
    column: Any = pa.array(values, pa.string())
    return column.take(pa.array(rows))


def _items(sitters: Sequence[Sitter], views: Sequence[str]) -> list[str]:
    names: list[str] = []
    for view in views:
        for sitter in sitters:
            own = (
                frame_names(view, sitter.name, sitter.frames)
                if view
                else [f"{sitter.name}/{frame}.jpg" for frame in range(1, sitter.frames + 1)]
            )
            names += [f"replica/{frame}" for frame in own]
    return names


def disfa_sitters(marginals: Mapping[str, Mapping[str, int]]) -> list[Sitter]:
    """Lay out the 27 subjects of DISFA.

    The one with a frame less is told by the categories whose counts are not whole numbers of subjects: a woman.
    """
    sitters = [Sitter(name, _DISFA_FRAMES - (name == _DISFA_SHORT), {}) for name in SUBJECTS]
    whole = 2 * _DISFA_FRAMES
    for attribute in _ATTRIBUTES:
        order = _shuffled([sitter for sitter in sitters if sitter.name != _DISFA_SHORT], f"disfa/{attribute}")
        for category, count in marginals[attribute].items():
            size, rest = divmod(count, whole)
            if rest:
                next(sitter for sitter in sitters if sitter.name == _DISFA_SHORT).values[attribute] = category
            for sitter in (order.pop() for _ in range(size)):
                sitter.values[attribute] = category
    return sitters


def _shuffled(sitters: Sequence[Sitter], purpose: str) -> list[Sitter]:
    draw = SplitMix64(_SEED, f"replica/{purpose}")
    found = list(sitters)
    for place in range(len(found) - 1, 0, -1):
        other = draw.below(place + 1)
        found[place], found[other] = found[other], found[place]
    return found


def gft_sitters(marginals: Mapping[str, Mapping[str, int]]) -> list[Sitter]:
    """Lay out the 96 participants of GFT: numbers of frames so that each age, gender and race has its published one.

    The frames without a race are those of one participant, of the age whose count holds them.
    """
    names = [f"{group:03}{seat}" for group in range(1, _GFT_GROUPS + 1) for seat in "ABC"]
    total = marginals["total"]["total"]
    nobody = total - sum(marginals["race"].values())
    sitters = _by_age(marginals["age"], nobody, len(names))
    for sitter, name in zip(_shuffled(sitters, "gft/name"), names, strict=True):
        sitter.name = name
    sitters.sort(key=lambda sitter: sitter.name)
    _place(sitters, "gender", marginals["gender"], ("age",))
    _place([sitter for sitter in sitters if sitter.frames != nobody], "race", marginals["race"], ("age", "gender"))
    for sitter in sitters:
        sitter.values.setdefault("race", None)
    return sitters


def _by_age(ages: Mapping[str, int], nobody: int, count: int) -> list[Sitter]:
    """Return participants by age, with about equal numbers of frames that add up."""
    sizes = apportion([ages[age] for age in ages], count, [count] * len(ages))
    # The age in which one participant without a race leaves another whole one.
    lone = min(ages, key=lambda age: abs(ages[age] - 2 * nobody))
    draw = SplitMix64(_SEED, "replica/gft/frames")
    sitters: list[Sitter] = []
    for (age, frames), size in zip(ages.items(), sizes, strict=True):
        if age == lone:
            sitters.append(Sitter("", nobody, {"age": age}))
            frames, size = frames - nobody, size - 1
        base, rest = divmod(frames, size)
        spread = min(_GFT_MOST - base - 1, base - _GFT_LEAST) // 2
        steps = [draw.below(2 * spread + 1) - spread for _ in range(size // 2)]
        off = [step for each in steps for step in (each, -each)] + [0] * (size % 2)
        sitters += [Sitter("", base + step + (at < rest), {"age": age}) for at, step in enumerate(off)]
    return sitters


def _place(sitters: Sequence[Sitter], attribute: str, counts: Mapping[str, int], within: Sequence[str]) -> None:
    """Give each category participants of about its number of frames, then move frames until the number is exact.

    Frames move between two participants that are alike in the attributes laid out before, whose numbers so hold.
    """
    *smaller, largest = sorted(counts, key=lambda category: (counts[category], category))
    order = _shuffled(sitters, f"gft/{attribute}")
    groups: dict[tuple[str | None, ...], list[Sitter]] = {}
    for sitter in sitters:
        groups.setdefault(tuple(sitter.values[name] for name in within), []).append(sitter)
    for category in smaller:
        left = counts[category]
        for sitter in order:
            group = groups[tuple(sitter.values[name] for name in within)]
            others = sum(attribute not in each.values for each in group if each is not sitter)
            # Half of a group stays open, so that there is somebody to move frames to and from.
            if attribute not in sitter.values and 2 * others >= len(group) - 1 and 2 * left > sitter.frames:
                sitter.values[attribute] = category
                left -= sitter.frames
        for sitter in (each for each in order if each.values.get(attribute) == category):
            for other in groups[tuple(sitter.values[name] for name in within)]:
                if left and attribute not in other.values:
                    step = _step(left, sitter, other)
                    sitter.frames, other.frames, left = sitter.frames + step, other.frames - step, left - step
    for sitter in sitters:
        sitter.values.setdefault(attribute, largest)


def _step(wanted: int, taker: Sitter, giver: Sitter) -> int:
    """Return how many of the wanted frames can move (back, where negative), both numbers staying in their range."""
    if wanted > 0:
        return max(0, min(wanted, _GFT_MOST - taker.frames, giver.frames - _GFT_LEAST))
    return -max(0, min(-wanted, taker.frames - _GFT_LEAST, _GFT_MOST - giver.frames))


def apportion(weights: Sequence[int], total: int, most: Sequence[int]) -> list[int]:
    """Share out a number in proportion to weights, by largest remainders, no share above its most.

    Parameters
    ----------
    weights : sequence of int
        Above zero.
    total : int
        What is shared out; at most the sum of `most`.
    most : sequence of int
        The most that each may get.

    Returns
    -------
    shares : list of int
        They add up to `total`.

    Examples
    --------
    >>> apportion([8, 1, 1], 10, [6, 6, 6])
    [6, 2, 2]
    """
    shares = [0] * len(weights)
    open_ = set(range(len(weights)))
    left = total
    while left:
        sum_of = sum(weights[at] for at in open_)
        ideal = {at: divmod(left * weights[at], sum_of) for at in open_}
        full = [at for at in open_ if ideal[at][0] >= most[at]]
        if full:
            for at in full:
                shares[at] = most[at]
                left -= most[at]
            open_ -= set(full)
            continue
        for at in open_:
            shares[at] = ideal[at][0]
        rest = left - sum(shares[at] for at in open_)
        for at in sorted(open_, key=lambda at: (-ideal[at][1], at))[:rest]:
            shares[at] += 1
        left = 0
    return shares


def _active(frames: Sequence[int], count: int, draw: SplitMix64) -> NDArray[np.int8]:
    """Return which frames show a unit: so many of each subject's as are drawn for it, one after another."""
    weights: list[int] = []
    for size in frames:
        level = draw.below(_DRAW) + 1
        # Over uniform levels in (0, 1] the spread (deviation by mean) of u^4 is 1.3 and that of u^2 + u/2 is 0.75.
        weights.append(size * (level**4 if count * _RARE < sum(frames) else level * (2 * level + _DRAW)))
    shares = apportion(weights, count, frames)
    parts: list[NDArray[np.int8]] = []
    for size, share in zip(frames, shares, strict=True):
        start = draw.below(size)
        parts.append((((np.arange(size) - start) % size) < share).astype(np.int8))
    return np.concatenate(parts)
