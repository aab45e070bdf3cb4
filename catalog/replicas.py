"""Replicas: rows with the published marginals of a dataset that nobody may redistribute.

A replica has what was published and no more. Each column is drawn without regard to the others: its categories, as
often as they were published, go to the rows in an order of the column's own, so every marginal is exact and the
joint counts are those of chance. DISFA and GFT have the counts of their original partitions, and subjects, which
`subject_replicas` lays out.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ..digests import SplitMix64, digest_bytes
from ..errors import InputError, listing
from .cards import Card, load_card
from .items import Items, ReadReport, Source, label_kind
from .subject_replicas import subject_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "PublishedCount",
    "has_marginals",
    "has_replica",
    "published_counts",
    "published_marginals",
    "replica_items",
]

_TABLES = "published/partition_tables.csv"
# The tables' names of the datasets.
_DATABASES = {
    "affectnet": "AffectNet",
    "raf-db": "RAF-DB",
    "emotionet": "EmotioNet",
    "raf-au": "RAF-AU",
    "disfa": "DISFA",
    "gft": "GFT",
}
_WITH_SUBJECTS = ("disfa", "gft")
# Counts printed of the frames that lack the unit. Turned, those of GFT add up to the new partition's, and that of
# DISFA is about as large as the new partition's.
_PRINTED_NEGATIVES = {("DISFA", "all", "AU26"), ("GFT", "test", "AU1"), ("GFT", "test", "AU9")}
# Datasets whose replica rests on other figures than those tables.
_OTHERS = ("casual-conversations", "miap", "dfdc-preview")
_COLUMNS = {"expression": "label", "age": "age", "gender": "gender", "race": "race"}
# The replicas never change, so their rows are drawn with a seed of their own and not that of a run.
_SEED = 0
_ROW_BITS = 24


def has_replica(card: Card) -> bool:
    """Tell whether enough of a dataset's counts is published that it can be replicated."""
    return card.name in _DATABASES or card.name in _OTHERS


def has_marginals(card: Card) -> bool:
    """Tell whether the partition tables of Hu et al. (FG 2024) hold a dataset's marginals."""
    return card.name in _DATABASES


@cache
def _tables() -> bytes:
    return (resources.files(__package__ or "protoctl.catalog") / _TABLES).read_bytes()


@dataclass(frozen=True)
class PublishedCount:
    """One number of the published tables, as it is printed.

    Parameters
    ----------
    partition : {"original", "new"}
        Of the dataset's authors, or of the paper.
    split : str
        ``train``, ``valid``, ``test``, or ``all``.
    attribute, category : str
        ``label``, ``age``, ``gender``, ``race``, ``total`` or an action unit; its category, ``1`` for a unit.
    count : int
        Items.
    """

    partition: str
    split: str
    attribute: str
    category: str
    count: int


@cache
def published_counts(name: str) -> tuple[PublishedCount, ...]:
    """Return the published table of a dataset, as it is printed.

    Parameters
    ----------
    name : str
        A dataset of the paper: affectnet, raf-db, emotionet, raf-au, disfa, gft.

    References
    ----------
    Hu et al. (FG 2024), tables I to III. GFT's ages are those of table III, single years.

    Raises
    ------
    InputError
        If there is no such table.
    """
    card = load_card(name)
    if card.name not in _DATABASES:
        raise InputError(
            f"no partition of {card.title} is published", hint=f"there are some of: {', '.join(_DATABASES)}"
        )
    counts: list[PublishedCount] = []
    for row in csv.DictReader(_tables().decode().splitlines()):
        if row["database"] != _DATABASES[card.name] or (card.name, row["attribute"]) == ("gft", "age"):
            continue
        column, category = _COLUMNS.get(row["attribute"], row["attribute"]), row["category"]
        if column == "au":
            column, category = category, "1"
        elif column == "age_years":
            column = "age"
        counts.append(PublishedCount(row["partition"], row["set"], column, category, int(row["count"])))
    return tuple(counts)


def published_marginals(name: str) -> Mapping[str, Mapping[str, int]]:
    """Return the published counts that a dataset's replica has, splits summed.

    Parameters
    ----------
    name : str
        A dataset that has a replica.

    Returns
    -------
    marginals : mapping of str to mapping of str to int
        Counts by column and category; ``total`` under ``total``; an action unit's count of active items under
        its name and ``1``. Those of the new partition; for DISFA and GFT of the original, with three counts turned
        that were printed of the frames without the unit.

    References
    ----------
    Hu et al. (FG 2024), tables I to III.

    Examples
    --------
    >>> published_marginals("affectnet")["label"]["Contempt"], published_marginals("disfa")["AU26"]["1"]
    (4241, 49952)
    """
    card = load_card(name)
    wanted = "original" if card.name in _WITH_SUBJECTS else "new"
    counts = [entry for entry in published_counts(card.name) if entry.partition == wanted]
    totals = {entry.split: entry.count for entry in counts if entry.attribute == "total"}
    marginals: dict[str, dict[str, int]] = {}
    for entry in counts:
        count = entry.count
        if (_DATABASES[card.name], entry.split, entry.attribute) in _PRINTED_NEGATIVES:
            count = totals[entry.split] - count
        column = marginals.setdefault(entry.attribute, {})
        column[entry.category] = column.get(entry.category, 0) + count
    return marginals


def replica_items(name: str, task: str | None = None) -> Items:
    """Return the replica of a dataset.

    Parameters
    ----------
    name : str
        A dataset whose counts are published: affectnet, raf-db, emotionet, raf-au, disfa, gft,
        casual-conversations, miap, dfdc-preview.
    task : str, optional
        One of its tasks; no replica has valence and arousal.

    Returns
    -------
    items : Items
        ``replica`` is set. Where a marginal falls short of the total the rest is missing.

    Raises
    ------
    InputError
        If there is no replica of the dataset, or none for the task.
    """
    card = load_card(name)
    if not has_replica(card):
        raise InputError(
            f"there is no replica of {card.title}", hint=f"there are: {', '.join((*_DATABASES, *_OTHERS))}"
        )
    task = card.task(task)
    if card.name in _OTHERS:
        return _other_replica(card.name)
    labels = card.tasks[task].labels if task else ()
    if any(label_kind(label) == "continuous" for label in labels):
        raise InputError(
            f"the replica of {card.title} has no valence and arousal: their distribution was not published",
            hint="name the dataset's own files with --root, or choose --task expression",
        )
    marginals = published_marginals(card.name)
    lacking = [label for label in labels if label not in marginals]
    if lacking:
        raise InputError(
            f"the replica of {card.title} has no {listing(lacking)}: nothing was published of it",
            hint=f"name the dataset's own files with --root, or choose --task {card.default_task}",
        )
    count = marginals["total"]["total"]
    attributes = tuple(column for column in ("age", "gender", "race") if column in marginals)
    if card.name in _WITH_SUBJECTS:
        columns = subject_columns(card.name, marginals, labels)
        attributes += ("view",) if "view" in columns else ()
    else:
        columns = {"item": _names(count)}
        for column in (*labels, *attributes):
            columns[column] = _drawn(marginals[column], count, f"replica/{card.name}/{column}", column)
    columns["annotation"] = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(count, np.int32)), pa.array(["manual"])
    ).cast(pa.string())
    note = _note(card, count)
    short = {column: count - sum(marginals[column].values()) for column in attributes if column in marginals}
    missing = {column: {"not published": rest} for column, rest in short.items() if rest}
    source = Source(_TABLES.rsplit("/", 1)[1], "other", digest_bytes(_tables()), len(_tables()))
    return Items(
        dataset=card.name,
        table=pa.table(columns),
        labels=labels,
        attributes=attributes,
        task=task,
        sources=(source,),
        report=ReadReport(rows_read=count, missing=missing, notes=(note,)),
        card=card,
        replica=True,
    )


def _other_replica(name: str) -> Items:
    if name == "dfdc-preview":
        from .swap_replica import swap_replica

        return swap_replica()
    from .cell_replicas import cell_replica

    return cell_replica(name)


def _note(card: Card, count: int) -> str:
    """Say what the rows are."""
    start = f"this is a replica of {card.title} and not the dataset: {count:,} rows"
    if card.name not in _WITH_SUBJECTS:
        return (
            f"{start} drawn with the published counts of the new partition (Hu et al., FG 2024), attributes "
            "independent of one another"
        )
    return (
        f"{start} with the published counts of the original partition (Hu et al., FG 2024); which subject has which "
        "age, gender and race, and how often it shows each action unit, is drawn"
    )


def _names(count: int) -> pa.Array:
    """Return the names ``replica/000001.jpg`` ...; their bytes are set digit by digit, for speed."""
    digits = max(6, len(str(count)))
    sample = f"replica/{'0' * digits}.jpg".encode()
    text = np.tile(np.frombuffer(sample, np.uint8), (count, 1))
    numbers = np.arange(1, count + 1, dtype=np.int32)
    for place in range(digits):
        text[:, len("replica/") + digits - 1 - place] += (numbers % 10).astype(np.uint8)
        numbers //= 10
    offsets = (np.arange(count + 1) * len(sample)).astype(np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text))


def _drawn(counts: Mapping[str, int], count: int, purpose: str, column: str) -> pa.Array:
    """Give each category as many rows as it counts, in an order of the column's own; the rest is missing."""
    if label_kind(column) == "binary":
        counts = {"1": counts["1"], "0": count - counts["1"]}
    # Sorting words whose last bits are the row is three times faster than asking for the order.
    low_bits = np.uint64((1 << _ROW_BITS) - 1)
    words = SplitMix64(_SEED, purpose).words(count) & ~low_bits | np.arange(count, dtype=np.uint64)
    order = (np.sort(words) & low_bits).astype(np.int64)
    codes: NDArray[np.int32] = np.full(count, len(counts), np.int32)
    low = 0
    for code, size in enumerate(counts.values()):
        codes[order[low : low + size]] = code
        low += size
    categories = pa.array([*counts, None], pa.string())
    return categories.take(pa.array(codes))
