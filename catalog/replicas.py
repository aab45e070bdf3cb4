"""Replicas: rows with the published marginals of a dataset that nobody may redistribute.

A replica has what was published and no more. Each column is drawn without regard to the others: its categories, as
often as they were published, go to the rows in an order of the column's own, so every marginal is exact and the
joint counts are those of chance.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..digests import SplitMix64, digest_bytes
from ..errors import InputError
from .cards import Card, load_card
from .items import Items, ReadReport, Source, label_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["has_marginals", "has_replica", "published_marginals", "replica_items"]

_TABLES = "published/partition_tables.csv"
# The tables' names of the datasets that show images without subjects.
_DATABASES = {"affectnet": "AffectNet", "raf-db": "RAF-DB", "emotionet": "EmotioNet", "raf-au": "RAF-AU"}
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


def published_marginals(name: str) -> Mapping[str, Mapping[str, int]]:
    """Return the published counts of a dataset's new partition, its three splits summed.

    Parameters
    ----------
    name : str
        A dataset that has a replica.

    Returns
    -------
    marginals : mapping of str to mapping of str to int
        Counts by column and category; ``total`` under ``total``; an action unit's count of active items under
        its name and ``1``.

    References
    ----------
    Hu et al. (FG 2024), tables I to III, rows of the new partition.

    Examples
    --------
    >>> published_marginals("affectnet")["label"]["Contempt"]
    4241
    """
    marginals: dict[str, dict[str, int]] = {}
    for row in csv.DictReader(_tables().decode().splitlines()):
        if row["database"] != _DATABASES[load_card(name).name] or row["partition"] != "new":
            continue
        column, category = _COLUMNS.get(row["attribute"], row["attribute"]), row["category"]
        if column == "au":
            column, category = category, "1"
        counts = marginals.setdefault(column, {})
        counts[category] = counts.get(category, 0) + int(row["count"])
    return marginals


def replica_items(name: str, task: str | None = None) -> Items:
    """Return the replica of a dataset.

    Parameters
    ----------
    name : str
        A dataset whose counts are published: affectnet, raf-db, emotionet, raf-au, casual-conversations, miap,
        dfdc-preview.
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
    count = marginals["total"]["total"]
    columns: dict[str, Any] = {"item": _names(count)}
    attributes = tuple(column for column in ("age", "gender", "race") if column in marginals)
    for column in (*labels, *attributes):
        columns[column] = _drawn(marginals[column], count, f"replica/{card.name}/{column}", column)
    columns["annotation"] = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(count, np.int32)), pa.array(["manual"])
    ).cast(pa.string())
    note = (
        f"this is a replica of {card.title} and not the dataset: {count:,} rows drawn with the published counts of "
        "the new partition (Hu et al., FG 2024), attributes independent of one another"
    )
    short = {column: count - sum(marginals[column].values()) for column in attributes}
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
