"""Every assignment tried, where there are few enough: the optimum, and its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .instance import Instance

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["exhaustive", "few"]

_MOST = 60_000
_BLOCK = 4096


def few(instance: Instance) -> bool:
    """Tell whether `exhaustive` can be used: 3 splits of 10 free units, 2 of 15."""
    free = int((instance.fixed < 0).sum())
    return free < _MOST.bit_length() and len(instance.ratios) ** free <= _MOST


def exhaustive(instance: Instance) -> NDArray[np.int8]:
    """Return the assignment that lacks least, then deviates least, then deviates least in small categories.

    Parameters
    ----------
    instance : Instance
        For which `few` holds.

    Returns
    -------
    assignment : ndarray of int8, shape (n_units,)
        Of equally good ones the first, in the order of the units.
    """
    splits, free = len(instance.ratios), np.flatnonzero(instance.fixed < 0)
    best: tuple[int, int, int] | None = None
    kept = instance.fixed
    powers = splits ** np.arange(len(free), dtype=np.int64)
    for low in range(0, splits ** len(free), _BLOCK):
        numbers = np.arange(low, min(low + _BLOCK, splits ** len(free)), dtype=np.int64)
        tried = np.repeat(instance.fixed[None, :], len(numbers), axis=0)
        tried[:, free] = numbers[:, None] // powers % splits
        for_each = _costs(instance, tried)
        at = int(np.lexsort(for_each[::-1])[0])
        now = (int(for_each[0][at]), int(for_each[1][at]), int(for_each[2][at]))
        if best is None or now < best:
            best, kept = now, tried[at]
    return kept


def _costs(
    instance: Instance, tried: NDArray[np.int8]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return what each assignment lacks, its deviation over counted categories, and over the others."""
    whole, totals = sum(instance.ratios), np.maximum(instance.totals, 1)
    span = 4 * whole * int(instance.weights.sum() + len(totals)) * len(instance.ratios)
    scale = np.array([((1 << 62) // span) // int(total) for total in totals], np.int64)
    weight = np.where(np.arange(len(totals)) == 0, 1, instance.weights)
    lacking = np.zeros(len(tried), np.int64)
    counted, small = lacking.copy(), lacking.copy()
    has = (instance.counts > 0).astype(np.int64)
    for split, ratio in enumerate(instance.ratios):
        here = (tried == split).astype(np.int64)
        away = np.abs(whole * (here @ instance.counts) - ratio * instance.totals) * (scale * weight)
        lacking += np.maximum(instance.needed - here @ has, 0).sum(axis=1)
        counted += away[:, instance.counted].sum(axis=1)
        small += away[:, instance.scored & ~instance.counted].sum(axis=1)
    return lacking, counted, small
