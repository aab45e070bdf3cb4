"""The model of a protocol: what takes part, in what form, into which splits, judged how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from ..digests import canonical_json, digest_bytes
from .variants import Variants

__all__ = ["Form", "Protocol", "Select", "Split", "Subset"]

Unit = Literal["subject", "group", "item"]


@dataclass(frozen=True)
class Select:
    """Which items take part.

    Parameters
    ----------
    annotation : {"manual", "automatic", "any"}
        Whose task labels count; a dataset without task labels passes.
    require : tuple of str
        Columns in which an item must have a value; ``label`` stands for the labels of the task.
    where : mapping of str to tuple of str
        Values an item must have, by column.
    """

    annotation: Literal["manual", "automatic", "any"] = "any"
    require: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(frozen=True)
class Form:
    """The form that labels and attributes take.

    Parameters
    ----------
    active_above : int or None
        An action unit is active where its intensity is above this; None leaves intensities.
    valence_arousal : tuple of Decimal or None
        The range that valence and arousal are scaled to.
    age : str or None
        Age groups that years are cut into (`scales.AGE_GROUPS`); a card may keep its own.
    skin_type : str or None
        Buckets that Fitzpatrick types are merged into (`scales.FITZPATRICK`), such as ``lighter-darker``.
    race : str or None
        How races are merged into fewer (`scales.RACE_MERGES`): ``four``.
    """

    active_above: int | None = None
    valence_arousal: tuple[Decimal, Decimal] | None = None
    age: str | None = None
    skin_type: str | None = None
    race: str | None = None


@dataclass(frozen=True)
class Subset:
    """Which part of the items is drawn, by keyed digest.

    Parameters
    ----------
    name : str
        Name of the one split of the subset's manifest.
    per : tuple of str
        Columns whose joint categories make the cells; ``subject`` for a number a subject.
    at_most : int or None
        Items a cell may keep.
    total : int or None
        Items in all, drawn over the cells in proportion; instead of `at_most`.
    also : tuple of str
        Further columns of `per` that a dataset may lack.
    alternate : str or None
        Attribute whose values are taken in turn within a cell (lighting: one dark, one bright).
    missing : {"cell", "leave-out"}
        Whether items that lack a value of `per` make a cell of their own or are left out; a category that stands
        for "could not be told" on the dataset's card (``unknown``) is an answer, and makes a cell either way.
    by : tuple of str
        Columns by which the subset is counted, beside those of `per`.
    """

    name: str
    per: tuple[str, ...]
    at_most: int | None = None
    total: int | None = None
    also: tuple[str, ...] = ()
    alternate: str | None = None
    missing: Literal["cell", "leave-out"] = "cell"
    by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Split:
    """Into which splits, at which proportions, keeping what whole and what balanced.

    Parameters
    ----------
    ratios : mapping of str to int
        Proportions by split name, in order; only their relation counts.
    unit : {"subject", "group", "item"}
        What stays whole; items without a subject stand for themselves.
    stratify : tuple of str
        Columns whose categories are balanced; ``label`` stands for the labels of the task.
    regions : mapping of str to Decimal
        Width of the cells that ``valence`` and ``arousal`` are cut into.
    cover : int
        Units of every category that every split should hold, where enough units hold it.
    weights : mapping of str to int
        Weight of a stratified column, 1 where absent.
    """

    ratios: Mapping[str, int]
    unit: Unit = "subject"
    stratify: tuple[str, ...] = ("label",)
    regions: Mapping[str, Decimal] = field(default_factory=dict[str, Decimal])
    cover: int = 1
    weights: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the splits, in order."""
        return tuple(self.ratios)


@dataclass(frozen=True)
class Protocol:
    """The rules that a partition keeps. Every section but the name is optional.

    Parameters
    ----------
    name, version, source : str
        Name, SemVer and the paper or page that the rules come from.
    select, form, subset, split : Select, Form, Subset or None, Split or None
        See there.
    variants : Variants
        Plans of corruptions, clips and degradations; false where there are none.
    score : mapping
        Names of the scores, by task.
    document : mapping
        The file in canonical form; what the digest is over.
    overrides : mapping
        What was replaced for one run (``stratify``, ``require``), as the manifest records it.
    """

    name: str
    version: str
    source: str
    select: Select
    form: Form
    subset: Subset | None
    split: Split | None
    variants: Variants
    score: Mapping[str, Any]
    document: Mapping[str, Any]
    overrides: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def digest(self) -> str:
        """Digest over the canonical form: two files that say the same have the same one."""
        return digest_bytes(canonical_json(self.document))
