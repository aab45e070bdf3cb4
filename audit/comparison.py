"""A partition beside others of the same items: the original split, the baselines, and ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..partition import balance_of, compare, given_partition, split_items
from .planes import Plane, planes_of

if TYPE_CHECKING:
    from ..catalog import Items
    from ..partition import Balance, Partition
    from ..protocols import Protocol

__all__ = ["side_by_side"]

Progress = Callable[[int, int | None, str], None]


def _plane(name: str, partition: Partition) -> tuple[Plane, ...]:
    return planes_of(name, partition.items.table, partition.assignment, partition.splits)


def side_by_side(
    partition: Partition,
    items: Items,
    protocol: Protocol,
    *,
    seed: int = 0,
    methods: Sequence[str] = ("random", "iterative"),
    progress: Progress | None = None,
) -> tuple[dict[str, Balance], tuple[Plane, ...]]:
    """Return the balance of a partition, of the release's own, of the baselines and of ours.

    Parameters
    ----------
    partition : Partition
        What is audited.
    items : Items
        The items that it is of, as they were read.
    protocol : Protocol
        Whose ratios and stratified columns all are held against.
    seed : int
        Of ours and of the baselines.
    methods : sequence of str
        Of `partition.BASELINES`.
    progress : callable, optional
        Called with steps done, steps in all or None, and what is being done.

    Returns
    -------
    balances : dict of str to Balance
        ``given`` (what is audited) first, ``original`` where the release has another split, the baselines that
        their libraries do not refuse, and ``ours`` where the audited one is not ours.
    planes : tuple of Plane
        Of the given one and ours, where items have valence and arousal.
    """
    found = {"given": balance_of(partition)}
    planes = _plane("given", partition)
    if "split_released" in items.table.column_names:
        original = given_partition(items, protocol)
        same = len(original.items) == len(partition.items) and bool(
            np.array_equal(original.assignment, partition.assignment)
        )
        if not same:
            found["original"] = balance_of(original)
    others = compare(partition, methods)
    # The first is the partition itself, under its solver's name.
    found |= dict(list(others.items())[1:])
    ours = split_items(items, protocol, seed=seed, progress=progress)
    found["ours"] = balance_of(ours)
    return found, (*planes, *_plane("ours", ours))
