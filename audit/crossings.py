"""Intersections: the balance of the joint categories of several attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError, unknown
from ..partition.balance import balance_from_counts
from ..partition.prepare import Stratum
from ..partition.profile import Category, coded
from ..partition.units import units_of

if TYPE_CHECKING:
    from ..partition import Balance, Partition

__all__ = ["crossing"]


def crossing(partition: Partition, attributes: Sequence[str]) -> Balance:
    """Count the joint categories of attributes in each split.

    Parameters
    ----------
    partition : Partition
        Whose items, in the protocol's form.
    attributes : sequence of str
        Two columns or more. Items that lack a value of one are left out; the total counts the others.

    Returns
    -------
    balance : Balance
        A row for each joint category that occurs, ``age x gender`` of value ``20-29, Female``.

    Raises
    ------
    InputError
        If there are fewer than two columns, or one is absent.
    """
    names = list(dict.fromkeys(attributes))
    if len(names) < 2:
        raise InputError(f"an intersection of {len(names)} attribute", hint="name two or more: age,gender")
    table = partition.items.table
    for name in names:
        if name not in table.column_names:
            message, hint = unknown("column", name, table.column_names)
            raise InputError(f"intersection {','.join(names)}: {message}", hint=hint)
    columns = coded(table, [Stratum(name, name, "category") for name in names])
    known = np.logical_and.reduce([column.codes < len(column.values) for column in columns])
    joint = np.zeros(int(known.sum()), np.int64)
    for column in columns:
        joint = joint * len(column.values) + column.codes[known]
    seen, cell = np.unique(joint, return_inverse=True)
    splits = len(partition.splits)
    place = cell.reshape(-1) * splits + partition.assignment[known]
    items = np.bincount(place, minlength=len(seen) * splits).reshape(-1, splits)
    units = units_of(table, partition.unit)
    heads = np.unique(np.stack([place, units.of[known]]), axis=1)[0]
    held = np.bincount(heads, minlength=len(seen) * splits).reshape(-1, splits)
    whole = np.unique(np.stack([partition.assignment[known].astype(np.int64), units.of[known]]), axis=1)[0]
    categories = [Category("", "", "total")]
    for code in seen.tolist():
        values: list[str] = []
        for column in reversed(columns):
            code, at = divmod(code, len(column.values))
            values.append(column.values[at])
        categories.append(Category(" x ".join(names), ", ".join(reversed(values)), "category"))
    return balance_from_counts(
        partition.splits,
        partition.ratios,
        categories,
        np.vstack([items.sum(axis=0), items]),
        np.vstack([np.bincount(whole, minlength=splits), held]),
        unit="item" if units.singles else partition.unit,
    )
