"""The drift of every attribute of a partition, or of the counts that a manifest states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..partition.balance import strata_of
from ..partition.profile import coded
from ..partition.units import units_of
from .drift import Drift, drift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..partition import Balance, Partition

__all__ = ["drift_of_balance", "drift_of_partition"]


def _table(rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]) -> NDArray[np.int64]:
    """Count pairs of codes."""
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def drift_of_partition(partition: Partition) -> tuple[Drift, ...]:
    """Measure the drift of each balanced attribute; chance deals out the partition's units.

    Parameters
    ----------
    partition : Partition
        Ours, or somebody else's. Items without a value of an attribute are left out of its figures.

    Returns
    -------
    drifts : tuple of Drift
        Attributes that only one split holds are left out.
    """
    units = units_of(partition.items.table, partition.unit)
    split = partition.assignment.astype(np.int64)
    found: list[Drift | None] = []
    for column in coded(partition.items.table, strata_of(partition)):
        known = column.codes < len(column.values)
        codes = column.codes[known].astype(np.int64)
        counts = _table(codes, split[known], (len(column.values), len(partition.splits)))
        held = None
        if not units.singles:
            of = np.unique(units.of[known], return_inverse=True)[1].reshape(-1).astype(np.int64)
            held = _table(of, codes, (int(of.max(initial=-1)) + 1, len(column.values)))
        by = "item" if units.singles else partition.unit
        found.append(drift(column.stratum.attribute, partition.splits, counts, held, by=by))
    return tuple(each for each in found if each is not None)


def drift_of_balance(balance: Balance) -> tuple[Drift, ...]:
    """Measure the drift of each attribute from counts; chance deals out items, for counts do not say whose they are.

    Parameters
    ----------
    balance : Balance
        Of a manifest or a paper's table.

    Returns
    -------
    drifts : tuple of Drift
    """
    held: dict[str, list[tuple[int, ...]]] = {}
    known = {row.attribute: row.items for row in balance.rows if row.role == "known"}
    for row in balance.rows:
        if row.role == "active":
            whole = known.get(row.attribute, balance.rows[0].items)
            held[row.attribute] = [row.items, tuple(a - b for a, b in zip(whole, row.items, strict=True))]
        elif row.role == "category":
            held.setdefault(row.attribute, []).append(row.items)
    found = (drift(name, balance.splits, np.array(counts, np.int64)) for name, counts in held.items())
    return tuple(each for each in found if each is not None)
