"""An instance in the search's whole numbers: what each unit adds to each deviation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .instance import Instance

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FEW", "Scale", "Table"]

_BITS = 52
_BRIEF_BITS = 30
_SIZE_PRICE = 64
FEW = 50
"""Up to so many units the sum of share deviations alone counts: it can be proven least."""


class Scale:
    """How much one item of each category weighs, in whole numbers whose sums stay below 2**53.

    Parameters
    ----------
    instance : Instance
        The units.
    room : int
        What the price of coverage adds at most, in deviations of a whole category.
    """

    def __init__(self, instance: Instance, room: int) -> None:
        ratios, totals = np.array(instance.ratios, np.int64), instance.totals
        whole = int(ratios.sum())
        base = 4096 if len(instance.counts) <= FEW else 16
        weight = base * instance.weights * instance.counted
        weight += instance.weights * (instance.scored & ~instance.counted)
        weight[0] = base
        self.used = np.flatnonzero((weight > 0) & (totals > 0))
        most = int(weight.max())
        span = 2 * int(weight[self.used].sum()) + 4 * base * _SIZE_PRICE + 2 * room * most
        unit = (1 << _BITS) // max(span, 1) // whole
        scale = np.array([unit * int(weight[at]) // int(totals[at]) for at in self.used.tolist()], np.int64)
        self.item = scale * whole
        self.targets = (scale * totals[self.used])[:, None] * ratios
        self.one = unit * whole * most
        # The size weighs more once it is further off than the slack: |d - slack| + |d + slack| is flat between.
        self.size_item = int(self.item[0]) * (_SIZE_PRICE // 2)
        wanted = self.targets[:1] * (_SIZE_PRICE // 2)
        slack = _slack(len(instance.counts)) * (int(wanted.sum()) // 10_000)
        self.size_targets = np.concatenate([wanted - slack, wanted + slack], axis=0)


class Table:
    """An instance in the search's whole numbers: what each unit adds to each deviation.

    Columns of the sum of share deviations have weight 1 (times the attribute's), smaller categories a sixteenth;
    where units are few, so little that they only settle ties.
    Coverage stands beside them as columns of its own: sum over splits of max(0, needed - held) is
    (sum of |needed - held| + a constant) / 2, so that it needs no other code than a deviation does.
    """

    def __init__(self, instance: Instance, price: int, guarded: NDArray[np.bool_], *, brief: bool = False) -> None:
        heads = instance.counts[:, guarded] > 0
        scale = Scale(instance, price * max(int(heads.sum()), 1))
        fine = scale.one * price
        floors = np.repeat(instance.needed[guarded][:, None] * fine, len(instance.ratios), axis=1)
        targets = np.concatenate([scale.targets, floors, scale.size_targets], axis=0)
        kind, down = (np.int32, _BITS - _BRIEF_BITS) if brief else (np.float64, 0)
        self.targets = (targets >> down).astype(kind)
        self.columns = np.zeros((len(targets), len(instance.counts) + 1), kind)
        for at, (column, each) in enumerate(zip(scale.used.tolist(), scale.item.tolist(), strict=True)):
            self.columns[at, :-1] = (instance.counts[:, column] * each) >> down
        self.columns[len(scale.used) : -2, :-1] = (heads.T * fine) >> down
        self.columns[-2:, :-1] = (instance.counts[:, 0] * scale.size_item) >> down

    def deviations(self, assignment: NDArray[np.int8]) -> NDArray[Any]:
        """Return deviations in whole numbers, shape (n_columns, n_splits)."""
        kind, splits = self.columns.dtype, self.targets.shape[1]
        held = [self.columns[:, :-1][:, assignment == split].sum(axis=1, dtype=kind) for split in range(splits)]
        return np.stack(held, axis=1) - self.targets


def _slack(units: int) -> int:
    """Return how far a split's size may be off before it weighs more, in hundredths of a percentage point.

    Half a point; never less than half a unit of mean size, and no limit where so few units are that the size is
    one more figure among others.
    """
    return 20_000 if units <= FEW else max(50, 5_000 // units)
