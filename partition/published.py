"""Published partitions held against a protocol: the tables of the affect paper, original and new, and ours beside.

A printed table can be wrong in ways that its own numbers betray: categories that hold more items after a partition
than before, sums that miss the total, a count of the items that lack a unit in place of those that show it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..catalog import Card, PublishedCount, load_card, published_counts, replica_items
from ..catalog.items import label_kind
from ..errors import ProtocolError, listing
from ..protocols import Protocol
from .assign import Progress
from .balance import Balance, balance_from_counts, balance_of
from .profile import Category
from .split import split_items

__all__ = ["Published", "PublishedFinding", "published_balances"]

# Frames that one subject has at most, over all views: so many subjects at least stand behind a number of frames.
_MOST_FRAMES = {"disfa": 9690, "gft": 1800}
_SHOWN = 12

Key = tuple[str, str]
Table = Mapping[Key, Mapping[str, int]]


@dataclass(frozen=True)
class PublishedFinding:
    """One thing that was looked at in a published table.

    Parameters
    ----------
    partition : str
        ``original``, ``new``, or both.
    check : str
        What was looked at.
    found : str
        What was found, with its numbers.
    count : int
        How often.
    verdict : {"holds", "fails", "noted"}
        Whether it is as it must be; ``noted`` where it may be otherwise.
    """

    partition: str
    check: str
    found: str
    count: int
    verdict: Literal["holds", "fails", "noted"]


@dataclass(frozen=True)
class Published:
    """A dataset's published partitions, held against a protocol.

    Parameters
    ----------
    name, title : str
        The dataset.
    protocol : str
        The protocol's name.
    balances : mapping of str to Balance
        ``original`` (where it was split at all), ``new``, and ``ours`` of the replica where it was asked for.
    findings : tuple of PublishedFinding
        What was looked at.
    notes : tuple of str
        How the tables were read.
    """

    name: str
    title: str
    protocol: str
    balances: Mapping[str, Balance]
    findings: tuple[PublishedFinding, ...]
    notes: tuple[str, ...]

    @property
    def failed(self) -> tuple[PublishedFinding, ...]:
        """The findings that are not as they must be."""
        return tuple(finding for finding in self.findings if finding.verdict == "fails")

    def to_json(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "protocol": self.protocol,
            "balances": {name: balance.to_json() for name, balance in self.balances.items()},
            "findings": [dict(vars(finding)) for finding in self.findings],
            "notes": list(self.notes),
        }


def published_balances(
    name: str, protocol: Protocol, *, seed: int | None = None, progress: Progress | None = None
) -> Published:
    """Hold a dataset's published partitions against a protocol.

    Parameters
    ----------
    name : str
        A dataset of the affect paper: affectnet, raf-db, emotionet, raf-au, disfa, gft.
    protocol : Protocol
        Whose ratios the shares are held against.
    seed : int, optional
        Where given, our partition of the replica is made with it and set beside.
    progress : callable, optional
        Called while ours is made.

    Returns
    -------
    published : Published

    Raises
    ------
    InputError
        If no partition of the dataset is published.
    ProtocolError
        If the protocol has not the splits train, valid and test.
    """
    card = load_card(name)
    tables = _tables(published_counts(card.name))
    if protocol.split is None or set(protocol.split.ratios) != {"train", "valid", "test"}:
        raise ProtocolError(
            f"protocol {protocol.name} does not split into train, valid and test, as the published partitions do",
            hint="name one that does: fair-55-15-30",
        )
    ratios = dict(protocol.split.ratios)
    negatives, findings = _negatives(tables)
    turned = _turned(tables, negatives)
    findings += _added(tables, turned)
    findings += [finding for partition in tables for finding in _sums(partition, turned[partition])]
    notes: list[str] = []
    balances: dict[str, Balance] = {}
    if set(turned["original"]["total", "total"]) == {"train", "test"}:
        joined = {"train": ratios["train"] + ratios["valid"], "test": ratios["test"]}
        balances["original"] = _balance(card, turned["original"], joined)
        notes.append("the original partition has no valid: its train is held against the shares of train and valid")
    balances["new"] = _balance(card, turned["new"], ratios)
    for partition, balance in balances.items():
        findings += _figures(card, partition, balance)
    if seed is not None:
        balances["ours"] = balance_of(split_items(replica_items(card.name), protocol, seed=seed, progress=progress))
        notes.append("ours is the partition of the replica: drawn rows with the published counts")
    return Published(card.name, card.title, protocol.name, balances, tuple(findings), tuple(notes))


def _tables(counts: Sequence[PublishedCount]) -> dict[str, dict[Key, dict[str, int]]]:
    """Return the counts by partition, then attribute and category, then split."""
    tables: dict[str, dict[Key, dict[str, int]]] = {"original": {}, "new": {}}
    for entry in counts:
        row = tables[entry.partition].setdefault((entry.attribute, entry.category), {})
        row[entry.split] = entry.count
    return tables


def _size(table: Table) -> int:
    return sum(table["total", "total"].values())


def _agree(was: int, now: int, tables: Mapping[str, Table]) -> bool:
    """Tell whether a category may have two sums: it may lose as many items as the whole, and gain none."""
    return max(0, was - (_size(tables["original"]) - _size(tables["new"]))) <= now <= was


def _negatives(tables: Mapping[str, Table]) -> tuple[dict[tuple[str, Key], str], list[PublishedFinding]]:
    """Find counts that must be those of the items without the unit.

    The sums of the two partitions cannot both be right as they are printed; with one count, of more than half of the
    items, taken from the number of items they can.
    """
    found: dict[tuple[str, Key], str] = {}
    shown: dict[str, list[str]] = {partition: [] for partition in tables}
    for key in (key for key in tables["original"] if label_kind(key[0]) == "binary" and key in tables["new"]):
        sums = {partition: sum(table[key].values()) for partition, table in tables.items()}
        if _agree(sums["original"], sums["new"], tables):
            continue
        for partition, table in tables.items():
            for split, count in table[key].items():
                size = table["total", "total"][split]
                turned = sums | {partition: sums[partition] + size - 2 * count}
                if 2 * count > size and _agree(turned["original"], turned["new"], tables):
                    found[partition, key] = split
                    where = "" if split == "all" else f" in {split}"
                    shown[partition].append(f"{key[0]}{where}: {count:,} of {size:,}, which leaves {size - count:,}")
    check = "counts that look like those of the items without the unit"
    return found, [
        PublishedFinding(partition, check, "; ".join(texts) or "none", len(texts), "fails" if texts else "holds")
        for partition, texts in shown.items()
    ]


def _turned(tables: Mapping[str, Table], negatives: Mapping[tuple[str, Key], str]) -> dict[str, Table]:
    """Return the tables with the counts of items without a unit turned into those with it."""
    return {
        partition: {
            key: {
                split: table["total", "total"][split] - count if split == negatives.get((partition, key)) else count
                for split, count in row.items()
            }
            for key, row in table.items()
        }
        for partition, table in tables.items()
    }


def _added(tables: Mapping[str, Table], turned: Mapping[str, Table]) -> list[PublishedFinding]:
    """Compare each category's sum in the two partitions."""
    wrong: list[str] = []
    for key, row in turned["original"].items():
        if key == ("total", "total") or key not in turned["new"]:
            continue
        was, now = sum(row.values()), sum(turned["new"][key].values())
        if not _agree(was, now, tables):
            printed = sum(tables["original"][key].values())
            mark = "" if printed == was else f" (turned from {printed:,})"
            wrong.append(f"{_named(key)}: {was:,}{mark} originally, {now:,} in the new one")
    lost = _size(tables["original"]) - _size(tables["new"])
    rest = f"the new partition holds {lost:,} items fewer" if lost else "both partitions hold as many items"
    return [
        PublishedFinding(
            "original and new",
            "sums of the two partitions that do not add up",
            f"{rest}; {listing(wrong, most=_SHOWN) if wrong else 'every category agrees with that'}",
            len(wrong),
            "fails" if wrong else "holds",
        )
    ]


def _named(key: Key) -> str:
    return key[0] if label_kind(key[0]) == "binary" else f"{key[0]} {key[1]}"


def _sums(partition: str, table: Table) -> list[PublishedFinding]:
    """Compare the sum of each attribute's categories with the total, split by split."""
    attributes = dict.fromkeys(key[0] for key in table if key[0] != "total" and label_kind(key[0]) == "category")
    short: list[str] = []
    over: list[str] = []
    for attribute in attributes:
        for split, size in table["total", "total"].items():
            found = sum(row.get(split, 0) for key, row in table.items() if key[0] == attribute)
            where = "" if split == "all" else f" in {split}"
            if found < size:
                short.append(f"{attribute}{where}: {size - found:,}")
            elif found > size:
                over.append(f"{attribute}{where}: {found - size:,} too many")
    return [
        PublishedFinding(
            partition,
            "categories that hold more items than there are",
            listing(over, most=_SHOWN) or "none",
            len(over),
            "fails" if over else "holds",
        ),
        PublishedFinding(
            partition, "items without a category", listing(short, most=_SHOWN) or "none", len(short), "noted"
        ),
    ]


def _balance(card: Card, table: Table, ratios: Mapping[str, int]) -> Balance:
    """Return the balance of a table; where frames of subjects are counted, with the fewest subjects behind them."""
    categories = [Category("", "", "total")]
    items = [[table["total", "total"].get(split, 0) for split in ratios]]
    for key, row in table.items():
        if key != ("total", "total"):
            role = "active" if label_kind(key[0]) == "binary" else "category"
            categories.append(Category(key[0], key[1], role))
            items.append([row.get(split, 0) for split in ratios])
    most = _MOST_FRAMES.get(card.name, 1)
    units = [[-(-count // most) for count in row] for row in items]
    return balance_from_counts(tuple(ratios), tuple(ratios.values()), categories, items, units)


def _figures(card: Card, partition: str, balance: Balance) -> list[PublishedFinding]:
    """State the worst category, and the pairs of category and split that are empty."""
    findings: list[PublishedFinding] = []
    if balance.worst is not None:
        row, at = balance.worst
        shares = "/".join(f"{100 * share:.1f}" for share in row.shares)
        findings.append(
            PublishedFinding(
                partition,
                "the category furthest from its share",
                f"{row.name}: {shares}, {balance.worst_points:.3g} points off in {balance.splits[at]}",
                1,
                "noted",
            )
        )
    empty = [f"{row.name} in {balance.splits[at]}" for row, at in balance.all_empty]
    beyond = len(empty) - len(balance.empty)
    found = listing(empty, most=2 * _SHOWN) or "none"
    if beyond and card.name in _MOST_FRAMES:
        found += f" (at least {len(balance.empty)} of them of categories whose frames take as many subjects as splits)"
    findings.append(
        PublishedFinding(
            partition, "pairs of category and split without an item", found, len(empty), "fails" if empty else "holds"
        )
    )
    return findings
