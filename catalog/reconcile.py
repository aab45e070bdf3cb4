"""Counts found beside counts published: a report for the user, never a check that fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..tabular import pc
from .items import Items
from .replicas import has_marginals, published_marginals

__all__ = ["reconcile"]


def reconcile(items: Items) -> list[tuple[str, int, int]]:
    """Return the published counts of a dataset beside those of its items.

    Parameters
    ----------
    items : Items
        Of a dataset with a card; items of a plain table have nothing published.

    Returns
    -------
    counts : list of (str, int, int)
        What is counted (``train: label=Fear``), how many were found, how many are published; in the order of
        the card. Columns that the items lack are left out, and so is a released split of which no item is there.
    """
    if items.card is None:
        return []
    if items.replica and has_marginals(items.card):
        return _of_replica(items)
    table: Any = items.table
    counts: list[tuple[str, int, int]] = []
    for split, given in items.card.published.items():
        part = table
        if split != "all":
            if "split_released" not in table.column_names:
                continue
            part = table.filter(pc.equal(table["split_released"], split))
            if part.num_rows == 0:
                continue
        prefix = "" if split == "all" else f"{split}: "
        counts += [(prefix + what, found, published) for what, found, published in _counts(part, given)]
    return counts


def _of_replica(items: Items) -> list[tuple[str, int, int]]:
    marginals = dict(published_marginals(items.dataset))
    total = marginals.pop("total")["total"]
    return _counts(items.table, {"items": total, **marginals})


def _counts(table: Any, published: Mapping[str, int | Mapping[str, int]]) -> list[tuple[str, int, int]]:
    counts: list[tuple[str, int, int]] = []
    for what, given in published.items():
        if what == "items" and isinstance(given, int):
            counts.append(("items", table.num_rows, given))
        elif what == "subjects" and isinstance(given, int):
            if "subject" in table.column_names:
                counts.append(("subjects", pc.count_distinct(table["subject"]).as_py(), given))
        elif isinstance(given, Mapping) and what in table.column_names:
            found = {entry["values"]: entry["counts"] for entry in pc.value_counts(table[what]).to_pylist()}
            counts += [(f"{what}={category}", found.get(category, 0), count) for category, count in given.items()]
    return counts
