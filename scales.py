"""Ordered categories: age groups, Fitzpatrick skin types, and the buckets they are merged into."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .errors import InputError, unknown

__all__ = [
    "AGE_GROUPS",
    "FITZPATRICK",
    "RACE_MERGES",
    "AgeGroups",
    "Scale",
    "age_groups",
]


@dataclass(frozen=True)
class AgeGroups:
    """Groups that ages in years are cut into.

    Parameters
    ----------
    name : str
        The name that a protocol's ``form.age`` uses.
    groups : tuple of (str, int, int)
        Category, first and last year, in order; gaps are allowed and give a missing value.
    """

    name: str
    groups: tuple[tuple[str, int, int], ...]

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories, youngest first."""
        return tuple(category for category, _, _ in self.groups)

    def of(self, years: int) -> str | None:
        """Return the category that holds an age in years, or None where no group does.

        Examples
        --------
        >>> AGE_GROUPS["nine"].of(70), AGE_GROUPS["nine"].of(9), AGE_GROUPS["adience"].of(56)
        ('70+', '03-09', None)
        """
        return next((category for category, low, high in self.groups if low <= years <= high), None)


def _decades(name: str, *bounds: tuple[str, int, int]) -> AgeGroups:
    return AgeGroups(name, bounds)


_OLDEST = 150

AGE_GROUPS: Mapping[str, AgeGroups] = {
    groups.name: groups
    for groups in (
        # Hu et al. (FG 2024), section II-A: the nine groups of the affect paper.
        _decades(
            "nine",
            ("00-02", 0, 2),
            ("03-09", 3, 9),
            *((f"{low}-{low + 9}", low, low + 9) for low in range(10, 70, 10)),
            ("70+", 70, _OLDEST),
        ),
        # RAF-DB's attribute files.
        _decades(
            "raf",
            ("00-03", 0, 3),
            ("04-19", 4, 19),
            ("20-39", 20, 39),
            ("40-69", 40, 69),
            ("70+", 70, _OLDEST),
        ),
        # Adience's eight official groups; what lies between two of them has none.
        _decades(
            "adience",
            ("00-02", 0, 2),
            ("04-06", 4, 6),
            ("08-13", 8, 13),
            ("15-20", 15, 20),
            ("25-32", 25, 32),
            ("38-43", 38, 43),
            ("48-53", 48, 53),
            ("60-100", 60, 100),
        ),
        # Dooley et al. (2022), as their code cuts them; the paper prints 0-18, 19-45, 45-64, 65+.
        _decades("robustness", ("0-17", 0, 17), ("18-44", 18, 44), ("45-64", 45, 64), ("65+", 65, _OLDEST)),
        # Hazirbas et al. (2021), Casual Conversations.
        _decades("casual-conversations", ("18-30", 18, 30), ("31-45", 31, 45), ("46-85", 46, 85)),
    )
}


def age_groups(name: str) -> AgeGroups:
    """Return the age groups of a name, or refuse with those that exist."""
    if name not in AGE_GROUPS:
        message, hint = unknown("age grouping", name, list(AGE_GROUPS))
        raise InputError(message, hint=hint)
    return AGE_GROUPS[name]


@dataclass(frozen=True)
class Scale:
    """Categories that annotators choose from.

    Parameters
    ----------
    name : str
        The scale's name.
    categories : tuple of str
        In order, where `ordered`.
    ordered : bool
        Whether the order means something (Fitzpatrick) or not (gender).
    aliases : mapping of str to str
        Other spellings of a category, compared without regard to case and outer blanks.
    buckets : mapping of str to mapping of str to str
        Named merges, bucket by category: ``{"light-medium-dark": {"I": "light", ...}}``.
    missing : tuple of str
        Values that stand for no category (``Uncertain``): a vote for one of them is no vote.
    """

    name: str
    categories: tuple[str, ...]
    ordered: bool
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    buckets: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.categories)) != len(self.categories) or len(self.categories) < 2:
            raise InputError(f"scale {self.name!r} needs two categories or more, each once")
        lookup = {category.casefold(): category for category in self.categories}
        lookup |= {alias.strip().casefold(): category for alias, category in self.aliases.items()}
        object.__setattr__(self, "_lookup", lookup)

    def category(self, text: str) -> str | None:
        """Return the category that a spelling stands for, or None.

        Examples
        --------
        >>> FITZPATRICK.category("Type iii"), FITZPATRICK.category("4"), FITZPATRICK.category("7")
        ('III', 'IV', None)
        """
        lookup: dict[str, str] = self.__dict__["_lookup"]
        return lookup.get(re.sub(r"\s+", " ", text.strip()).casefold())

    def position(self, category: str) -> int:
        """Return a category's place in the order, from 0."""
        return self.categories.index(category)


def _fitzpatrick(romans: Sequence[str]) -> Scale:
    aliases: dict[str, str] = {}
    for number, roman in enumerate(romans, start=1):
        aliases |= {str(number): roman, f"Type {roman}": roman, f"Type {number}": roman}
    thirds = dict(zip(romans, ["light", "light", "medium", "medium", "dark", "dark"], strict=True))
    halves = {roman: "lighter" if place < 3 else "darker" for place, roman in enumerate(romans)}
    return Scale(
        "fitzpatrick",
        tuple(romans),
        ordered=True,
        aliases=aliases,
        buckets={"light-medium-dark": thirds, "lighter-darker": halves},
    )


FITZPATRICK = _fitzpatrick(["I", "II", "III", "IV", "V", "VI"])

RACE_MERGES: Mapping[str, Mapping[str, str]] = {
    # FairFace's seven races and the affect paper's four. Nobody has said where among four the other two belong.
    "four": {
        "White": "White",
        "Black": "Black",
        "Asian": "Asian",
        "East Asian": "Asian",
        "Southeast Asian": "Asian",
        "Indian": "Indian",
    },
}
"""Merges of races by name; a race without a place in one of them is missing after it."""
