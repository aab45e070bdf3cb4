"""The section ``variants`` of a protocol: which corruptions of an image, which clips and degradations of a video.

What is planned here is laid out as rows by `partition`, and carried out there by `protoctl render`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import unknown
from .checked import Section

__all__ = ["CORRUPTIONS", "DEGRADATIONS", "SEVERITIES", "Clips", "Degrade", "Variants", "parse_variants"]

CORRUPTIONS = (
    "gaussian-noise", "shot-noise", "impulse-noise", "defocus-blur", "glass-blur", "motion-blur", "zoom-blur", "snow",
    "frost", "fog", "brightness", "contrast", "elastic-transform", "pixelate", "jpeg-compression",
)  # fmt: skip
"""The fifteen corruptions of ImageNet-C (Hendrycks and Dietterich, ICLR 2019), in its order."""

SEVERITIES = (1, 2, 3, 4, 5)
"""The severities of each corruption."""

DEGRADATIONS = ("fps-15", "quarter-size", "low-quality")
"""Degradations of a video: 15 frames a second; half of each side; an encoder's lower quality."""


@dataclass(frozen=True)
class Clips:
    """How a whole video is cut into clips.

    Parameters
    ----------
    skip : int
        Seconds left out at the beginning.
    seconds : int
        Length of a clip.
    most : int
        Clips of a video that is longer than `over`.
    over : int
        Seconds beyond which a video gives `most` clips; a shorter one gives as many whole ones as fit, fewer than
        `most`, and one shorter clip where none fits.
    named : str or None
        Regular expression that a clip's name matches, its first group naming the video: such items are clips
        already, and are not cut.
    """

    skip: int = 0
    seconds: int = 15
    most: int = 3
    over: int = 0
    named: str | None = None


@dataclass(frozen=True)
class Degrade:
    """Which clips of a split are degraded.

    Parameters
    ----------
    split : str
        The split whose clips are degraded.
    of : int
        Clips of one video that are taken together.
    degraded : int
        How many of them get one degradation each; the rest get none.
    kinds : tuple of str
        Among `DEGRADATIONS`; drawn for each clip.
    """

    split: str
    of: int = 3
    degraded: int = 2
    kinds: tuple[str, ...] = DEGRADATIONS


@dataclass(frozen=True)
class Variants:
    """What is made of each item; empty where a protocol plans nothing.

    Parameters
    ----------
    corruptions : tuple of str
        Corruptions of an image, among `CORRUPTIONS`.
    severities : tuple of int
        Severities of each, 1 to 5.
    clean : bool
        Whether the image as it is stands among its variants.
    clips : Clips or None
        How videos are cut.
    degrade : Degrade or None
        Which clips are degraded.
    """

    corruptions: tuple[str, ...] = ()
    severities: tuple[int, ...] = SEVERITIES
    clean: bool = True
    clips: Clips | None = None
    degrade: Degrade | None = None
    document: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    def __bool__(self) -> bool:
        return bool(self.document)

    @property
    def of_videos(self) -> bool:
        """Whether items are videos that are cut or degraded."""
        return self.clips is not None or self.degrade is not None

    @property
    def per_image(self) -> int:
        """Variants of one image."""
        return len(self.corruptions) * len(self.severities) + int(self.clean)


def parse_variants(section: Section) -> Variants:
    """Check the section ``variants`` of a protocol; complaints go to the section's problems."""
    corruptions = section.names("corruptions")
    for place, name in enumerate(corruptions):
        if name not in CORRUPTIONS:
            message, hint = unknown("corruption", name, CORRUPTIONS)
            section.problems.add(f"{section.at('corruptions')}[{place}]", message, hint=hint)
    severities = _severities(section)
    clean = section.flag("clean", default=True)
    clips = _clips(section.section("clips")) if "clips" in section else None
    degrade = _degrade(section.section("degrade")) if "degrade" in section else None
    if corruptions and (clips or degrade):
        section.complain(
            "corruptions",
            "stands beside clips of videos",
            hint="corruptions are of images, clips and degradations of videos: write two protocols",
        )
    section.end()
    if not corruptions and clips is None and degrade is None:
        section.problems.add(section.place, "plans nothing", hint="name corruptions, clips or degrade, or leave it out")
    return Variants(
        corruptions, severities, clean, clips, degrade, _document(corruptions, severities, clean, clips, degrade)
    )


def _severities(section: Section) -> tuple[int, ...]:
    value = section.take("severities")
    if value is None:
        return SEVERITIES
    given: list[Any] = list(value) if isinstance(value, list) else [value]
    good = [each for each in given if isinstance(each, int) and not isinstance(each, bool) and each in SEVERITIES]
    if good != given or len(set(good)) != len(good) or not good:
        section.complain("severities", f"{value!r} is not a list of severities", hint="write some of [1, 2, 3, 4, 5]")
        return SEVERITIES
    return tuple(sorted(good))


def _clips(section: Section) -> Clips:
    default = Clips()
    named = section.text("named") or None
    if named is not None and not _names_a_video(named):
        section.complain(
            "named",
            f"{named!r} is not a pattern with a group that names the video",
            hint="write it like '(.+)_[0-9]+[.]mp4'",
        )
        named = None
    clips = Clips(
        skip=section.integer("skip", least=0, default=default.skip) or 0,
        seconds=section.integer("seconds", least=1, default=default.seconds) or default.seconds,
        most=section.integer("most", least=1, default=default.most) or default.most,
        over=section.integer("over", least=0, default=default.over) or 0,
        named=named,
    )
    if clips.over < clips.skip + clips.seconds * clips.most:
        section.complain(
            "over",
            f"{clips.over} seconds do not hold {clips.most} clips of {clips.seconds} after the first {clips.skip}",
            hint=f"write {clips.skip + clips.seconds * clips.most} or more",
        )
    section.end()
    return clips


def _names_a_video(pattern: str) -> bool:
    try:
        return re.compile(pattern).groups >= 1
    except re.error:
        return False


def _degrade(section: Section) -> Degrade:
    split = section.text("split", default="test")
    of = section.integer("of", least=1, default=3) or 3
    degraded = section.integer("degraded", least=1, default=2) or 2
    if degraded > of:
        section.complain("degraded", f"{degraded} of {of} clips cannot be degraded", hint=f"write {of} or fewer")
    kinds = section.names("kinds", DEGRADATIONS)
    for place, name in enumerate(kinds):
        if name not in DEGRADATIONS:
            message, hint = unknown("degradation", name, DEGRADATIONS)
            section.problems.add(f"{section.at('kinds')}[{place}]", message, hint=hint)
    if not kinds:
        section.complain("kinds", "names no degradation", hint=f"write some of {list(DEGRADATIONS)}")
    section.end()
    return Degrade(split, of, degraded, kinds)


def _document(
    corruptions: tuple[str, ...],
    severities: tuple[int, ...],
    clean: bool,
    clips: Clips | None,
    degrade: Degrade | None,
) -> dict[str, Any]:
    """Return the canonical form, defaults filled in; it reads as the file does."""
    document: dict[str, Any] = {}
    if corruptions:
        document |= {"corruptions": list(corruptions), "severities": list(severities), "clean": clean}
    if clips:
        document["clips"] = {key: value for key, value in vars(clips).items() if value is not None}
    if degrade:
        document["degrade"] = vars(degrade) | {"kinds": list(degrade.kinds)}
    return document
