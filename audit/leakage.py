"""Leaks that a table of items shows without its files: links, names of augmented copies, automatic labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..errors import InputError, unknown
from ..tabular import pc
from .model import Finding, finding_of

if TYPE_CHECKING:
    from .model import Thresholds

__all__ = ["augmented_origin", "leaks_in_names", "leaks_in_table"]

_COPY = (
    r"(?:[_\-. ](?:h|v|lr|ud)?(?:flip(?:ped)?|mirror(?:ed)?|aug(?:mented)?|rot(?:ated?)?|copy|blur(?:red)?|"
    r"nois[ey]|jitter(?:ed)?)[_\-]?[0-9]*| ?\([0-9]+\))+$"
)


def _stems(items: Any) -> Any:
    """Return the names without folders and ending."""
    return pc.replace_substring_regex(pc.replace_substring_regex(items, r"^.*/", ""), r"\.[^.]*$", "")


def augmented_origin(item: str) -> str | None:
    """Return the stem that the name of an augmented copy points at, None where it is no such name.

    Parameters
    ----------
    item : str
        Name of an item.

    Examples
    --------
    >>> augmented_origin("faces/0012_flip.jpg"), augmented_origin("0012_aug3_rot90.png"), augmented_origin("12.jpg")
    ('0012', '0012', None)
    """
    stem = _stems(pa.array([item]))
    origin = pc.replace_substring_regex(pc.utf8_lower(stem), _COPY, "")[0].as_py()
    return origin if origin and origin != stem[0].as_py().lower() else None


def _families(keys: Any, items: Any, split: Any) -> Iterator[str]:
    """Give, for each key with items in two splits or more, the first item of each split."""
    rows = pa.table({"key": keys, "split": split, "item": items}).filter(pc.is_valid(keys))
    first = rows.group_by(["key", "split"]).aggregate([("item", "min")]).sort_by("key")
    counts: Any = pc.value_counts(first["key"])
    torn = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
    several = first.filter(pc.is_in(first["key"], torn)).to_pylist()
    held: dict[str, list[str]] = {}
    for row in several:
        held.setdefault(row["key"], []).append(f"{row['item_min']} ({row['split']})")
    yield from (" and ".join(sorted(places)) for places in held.values())


def leaks_in_names(assignments: pa.Table, *, allowed: bool = False) -> tuple[Finding, ...]:
    """Look for items that their names show to be made from items of another split.

    Parameters
    ----------
    assignments : pyarrow.Table
        Columns ``item`` and ``split``, and ``subject`` where there is one.
    allowed : bool
        Whether augmented copies are noted rather than failures.

    Returns
    -------
    findings : tuple of Finding
        ``augmented copies in two splits``, and, noted only since folders often number their files alike, ``the same
        stem in two splits``: of items that name no subject, since those of one subject are looked at as such.
    """
    table: Any = assignments.combine_chunks()
    stems = pc.utf8_lower(_stems(table["item"]))
    origins = pc.replace_substring_regex(stems, _COPY, "")
    copied = pc.and_(pc.not_equal(stems, origins), pc.not_equal(origins, ""))
    families = pc.is_in(origins, pc.unique(origins.filter(copied)))
    keys = pc.if_else(families, origins, pa.scalar(None, pa.string()))
    if "subject" in table.column_names:
        families = pc.or_(families, pc.not_equal(pc.fill_null(table["subject"], ""), ""))
    plain = pc.if_else(families, pa.scalar(None, pa.string()), stems)
    return (
        finding_of("augmented copies in two splits", _families(keys, table["item"], table["split"]), allowed=allowed),
        finding_of("the same stem in two splits", _families(plain, table["item"], table["split"]), allowed=True),
    )


def _linked(table: Any, column: str) -> Iterator[str]:
    """Give the groups that share a value of a column, together with the item that the value names."""
    named = pc.is_in(table["item"], pc.unique(table[column].drop_null()))
    keys = pc.if_else(named, table["item"], table[column])
    return _families(pc.if_else(pc.equal(keys, ""), None, keys), table["item"], table["split"])


def _automatic(table: Any, *, allowed: bool) -> Finding:
    """Count automatic labels in every split but train."""
    held = table.filter(pc.and_(pc.equal(table["annotation"], "automatic"), pc.not_equal(table["split"], "train")))
    counts: Any = pc.value_counts(held["split"])
    places = [f"{row['counts']:,} in {row['values']}" for row in counts.to_pylist()]
    count = held.num_rows
    found = f"{count:,}" + (f": {', '.join(sorted(places))}" if count else "")
    verdict = "holds" if not count else "noted" if allowed else "fails"
    return Finding("items with automatic labels in valid or test", found, count, verdict, tuple(sorted(places)))


def leaks_in_table(
    items: pa.Table, thresholds: Thresholds, *, linked: Sequence[str] = ()
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Look for leaks that the columns of the items show.

    Parameters
    ----------
    items : pyarrow.Table
        Columns ``item`` and ``split`` (null: in no split), ``annotation`` where the release says how an item was
        labelled, and those that `linked` names.
    thresholds : Thresholds
        What is allowed.
    linked : sequence of str
        Columns whose equal values must stay in one split; where a value is the name of an item (the original of a
        face swap), that item belongs to the group too.

    Returns
    -------
    findings : tuple of Finding
    unseen : tuple of str
        What could not be looked at.

    Raises
    ------
    InputError
        If a column of `linked` is absent.
    """
    table: Any = items.filter(pc.is_valid(items["split"])).combine_chunks()
    found: list[Finding] = []
    unseen: list[str] = []
    for column in linked:
        if column not in table.column_names:
            message, hint = unknown("column", column, table.column_names)
            raise InputError(f"linked items: {message}", hint=hint)
        found.append(finding_of(f"items linked by {column} in two splits", _linked(table, column)))
    if not linked:
        unseen.append("linked items: no column of links is named (--linked)")
    found += leaks_in_names(table, allowed="names" in thresholds.allow)
    if "annotation" in table.column_names:
        found.append(_automatic(table, allowed="automatic" in thresholds.allow))
    else:
        unseen.append("automatic labels: the items do not say how they were labelled")
    return tuple(found), tuple(unseen)
