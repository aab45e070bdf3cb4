"""Balance: the counts of a partition, how far they are from their targets, and what is empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..catalog.items import label_kind
from .instance import COUNTED
from .model import Partition
from .prepare import Stratum
from .profile import Category, coded, count_units
from .units import units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Balance", "Row", "balance_from_counts", "balance_of", "strata_of"]


@dataclass(frozen=True)
class Row:
    """One category in all splits.

    Parameters
    ----------
    attribute, value : str
        The balanced attribute and the category; both empty for the total.
    role : str
        ``total``, ``category``, ``active`` (of a binary label), ``missing`` or ``known``.
    items : tuple of int
        Items in each split.
    units : tuple of int
        Units (subjects) in each split that hold at least one such item; equal to `items` where there are none.
    shares : tuple of float
        Of the category's items, in each split; in [0, 1].
    points : tuple of float
        Share minus target in each split, in percentage points.
    items_off : tuple of float
        Items minus the target number of items, in each split.
    """

    attribute: str
    value: str
    role: str
    items: tuple[int, ...]
    units: tuple[int, ...]
    shares: tuple[float, ...]
    points: tuple[float, ...]
    items_off: tuple[float, ...]

    @property
    def total(self) -> int:
        """Items of the category in all splits."""
        return sum(self.items)

    @property
    def scored(self) -> bool:
        """Whether it counts in the figures; the total, missing and known ones do not."""
        return self.role in ("category", "active")

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"{self.attribute} {self.value}" if self.role in ("category", "missing") else self.attribute or "total"


@dataclass(frozen=True)
class Balance:
    """How a partition stands against its targets.

    Parameters
    ----------
    splits : tuple of str
        Names of the splits.
    ratios : tuple of int
        Their proportions.
    unit : str
        What was kept whole.
    rows : tuple of Row
        The total first, then the categories.
    bound : float or None
        No partition of these units has a smaller sum of share deviations (total included).
    mean_bound : float or None
        No partition of these units has a smaller `mean`; percentage points.
    proven : bool
        Whether it is known that none has a smaller sum.
    """

    splits: tuple[str, ...]
    ratios: tuple[int, ...]
    unit: str
    rows: tuple[Row, ...]
    bound: float | None = None
    mean_bound: float | None = None
    proven: bool = False

    @property
    def counted(self) -> tuple[Row, ...]:
        """The categories that the figures are over: scored, of 50 items or more; where none is, all scored."""
        scored = tuple(row for row in self.rows if row.scored and row.total)
        return tuple(row for row in scored if row.total >= COUNTED) or scored

    @property
    def mean(self) -> float:
        """Mean deviation of the counted categories' shares, the total left out; percentage points."""
        counted = self.counted
        return sum(abs(p) for row in counted for p in row.points) / max(len(counted) * len(self.splits), 1)

    @property
    def size(self) -> float:
        """Largest deviation of a split's share of all items; percentage points."""
        return max(abs(p) for p in self.rows[0].points)

    @property
    def worst(self) -> tuple[Row, int] | None:
        """The counted category and position of the split furthest from the target, None where nothing counts."""
        places = [(row, at) for row in self.counted for at in range(len(self.splits))]
        return max(places, key=lambda place: abs(place[0].points[place[1]]), default=None)

    @property
    def worst_points(self) -> float:
        """Deviation of `worst`, percentage points; 0 where nothing counts."""
        worst = self.worst
        return abs(worst[0].points[worst[1]]) if worst else 0.0

    @property
    def worst_items(self) -> float:
        """Largest deviation of any category, the total included, in items."""
        return max(abs(off) for row in self.rows for off in row.items_off)

    @property
    def deviation(self) -> float:
        """Sum of share deviations over the counted categories and the total; 0.01 is one percentage point."""
        return sum(abs(p) for row in (self.rows[0], *self.counted) for p in row.points) / 100

    @property
    def gap(self) -> float | None:
        """Share of `deviation` that the bound leaves open: (deviation - bound) / deviation."""
        if self.bound is None:
            return None
        value = self.deviation
        return 0.0 if self.proven or value <= self.bound else (value - self.bound) / value

    @property
    def empty(self) -> tuple[tuple[Row, int], ...]:
        """Scored categories without an item in a split, though as many units as splits hold them, and the split."""
        return tuple(place for place in self.all_empty if sum(place[0].units) >= len(self.splits))

    @property
    def all_empty(self) -> tuple[tuple[Row, int], ...]:
        """Scored categories (and the total) without an item in a split, avoidable or not, and the split."""
        rows = [row for row in self.rows if (row.scored or row.role == "total") and row.total]
        return tuple((row, at) for row in rows for at, count in enumerate(row.items) if count == 0)

    def to_json(self) -> dict[str, Any]:
        """Return figures and counts for JSON: counts whole, figures rounded to a millionth."""
        worst = self.worst
        return {
            "splits": list(self.splits),
            "ratios": list(self.ratios),
            "unit": self.unit,
            "mean_pp": round(self.mean, 6),
            "worst_pp": round(self.worst_points, 6),
            "worst": None if worst is None else _place(*worst, self.splits),
            "size_pp": round(self.size, 6),
            "worst_items": round(self.worst_items, 6),
            "deviation": round(self.deviation, 9),
            "bound": None if self.bound is None else round(self.bound, 9),
            "mean_bound_pp": None if self.mean_bound is None else round(self.mean_bound, 6),
            "gap": None if self.gap is None else round(self.gap, 6),
            "proven": self.proven,
            "empty": [_place(row, at, self.splits) for row, at in self.empty],
            "unavoidably_empty": [
                _place(row, at, self.splits) for row, at in self.all_empty if sum(row.units) < len(self.splits)
            ],
            "categories": [
                {
                    "attribute": row.attribute,
                    "value": row.value,
                    "role": row.role,
                    "items": list(row.items),
                    "units": list(row.units),
                    "shares": [round(share, 9) for share in row.shares],
                    "points": [round(points, 6) for points in row.points],
                    "items_off": [round(off, 6) for off in row.items_off],
                }
                for row in self.rows
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Balance:
        """Return the balance that `to_json` gave; everything but counts and bounds is worked out anew."""
        categories = [Category(row["attribute"], row["value"], row["role"]) for row in data["categories"]]
        return balance_from_counts(
            data["splits"],
            data["ratios"],
            categories,
            [row["items"] for row in data["categories"]],
            [row["units"] for row in data["categories"]],
            unit=data["unit"],
            bound=data.get("bound"),
            mean_bound=data.get("mean_bound_pp"),
            proven=bool(data.get("proven")),
        )


def _place(row: Row, at: int, splits: Sequence[str]) -> dict[str, str]:
    return {"attribute": row.attribute, "value": row.value, "split": splits[at]}


def balance_from_counts(
    splits: Sequence[str],
    ratios: Sequence[int],
    categories: Sequence[Category],
    items: Sequence[Sequence[int]] | NDArray[np.int64],
    units: Sequence[Sequence[int]] | NDArray[np.int64] | None = None,
    *,
    unit: str = "item",
    bound: float | None = None,
    mean_bound: float | None = None,
    proven: bool = False,
) -> Balance:
    """Make a balance from counts, such as a manifest or a paper's table holds.

    Parameters
    ----------
    splits : sequence of str
        Names of the splits.
    ratios : sequence of int
        Their proportions.
    categories : sequence of Category
        The total first.
    items : array-like of int, shape (n_categories, n_splits)
        Items of each category in each split.
    units : array-like of int, shape (n_categories, n_splits), optional
        Units that hold the category in each split; the items where every item is a unit.
    unit : str
        What was kept whole.
    bound, mean_bound, proven
        See `Balance`.

    Returns
    -------
    balance : Balance

    Examples
    --------
    >>> total, happy = Category("", "", "total"), Category("label", "Happy", "category")
    >>> found = balance_from_counts(("train", "test"), (3, 1), (total, happy), [[60, 20], [35, 15]])
    >>> round(found.mean, 2), round(found.worst_points, 2), round(found.size, 2)
    (5.0, 5.0, 0.0)
    """
    whole = sum(ratios)
    rows: list[Row] = []
    held = [[int(count) for count in row] for row in items]
    holders = held if units is None else [[int(count) for count in row] for row in units]
    for category, counts, heads in zip(categories, held, holders, strict=True):
        total = sum(counts)
        shares = tuple(count / total if total else 0.0 for count in counts)
        points = tuple(
            100 * (whole * count - ratio * total) / (whole * total) if total else 0.0
            for count, ratio in zip(counts, ratios, strict=True)
        )
        off = tuple((whole * count - ratio * total) / whole for count, ratio in zip(counts, ratios, strict=True))
        rows.append(
            Row(category.attribute, category.value, category.role, tuple(counts), tuple(heads), shares, points, off)
        )
    return Balance(tuple(splits), tuple(ratios), unit, tuple(rows), bound, mean_bound, proven)


def strata_of(partition: Partition) -> tuple[Stratum, ...]:
    """Return the strata of a partition: its balanced columns, action units as binary ones."""
    return tuple(
        Stratum(column, column, "binary" if label_kind(column) == "binary" else "category")
        for column in partition.stratify
    )


def balance_of(partition: Partition) -> Balance:
    """Count a partition's items and units by category and split.

    Parameters
    ----------
    partition : Partition
        Of this library, or given from outside.

    Returns
    -------
    balance : Balance
        With the bound that the partition's solver states.
    """
    columns = coded(partition.items.table, strata_of(partition))
    units = units_of(partition.items.table, partition.unit)
    splits = len(partition.splits)
    split = partition.assignment.astype(np.int64)
    profile = count_units(columns, split, splits)
    if units.singles:
        heads = None
    else:
        # A unit counts in every split that it has items in: given partitions may tear units apart.
        seen, number = np.unique(units.of * splits + split, return_inverse=True)
        torn = count_units(columns, number.reshape(-1), len(seen))
        heads = np.stack([(torn.counts[seen % splits == at] > 0).sum(axis=0) for at in range(splits)], axis=1)
    return balance_from_counts(
        partition.splits,
        partition.ratios,
        profile.categories,
        profile.counts.T,
        heads,
        unit="item" if units.singles else partition.unit,
        bound=partition.solver.deviation_bound,
        mean_bound=partition.solver.bound,
        proven=partition.solver.proven,
    )
