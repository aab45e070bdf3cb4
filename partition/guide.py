"""The start of a search: greedy, largest first, guided by the design effect.

The guide is sum over c, s of d(c,s)^2 / sum over units of a(u,c)^2: a deviation weighs by what a random assignment
of the same units would show, so that a category of few large units does not outweigh all others.

References
----------
Design effect: Kish (1965), Survey Sampling.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from .instance import Instance

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["greedy"]

_GUIDE_BITS = 20


def _guide(instance: Instance) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return counts divided by their root sum of squares, in whole numbers, and the targets times the denominator."""
    squares = [_squares(column) for column in instance.counts.T]
    norm = np.maximum(np.array([isqrt(square) for square in squares], np.int64), 1)
    scaled = (instance.counts << _GUIDE_BITS) // norm
    scaled[:, instance.weights == 0] = 0
    targets = scaled.sum(axis=0)[:, None] * np.array(instance.ratios, np.int64)
    return scaled, targets


def _squares(amounts: NDArray[np.int64]) -> int:
    """Return the sum of squares, in whole numbers of any length where 64 bits might not hold it."""
    if int(amounts.sum()) < 1 << 31:
        return int(amounts @ amounts)
    return sum(amount**2 for amount in amounts.tolist())


def greedy(instance: Instance, order: NDArray[np.int64]) -> NDArray[np.int8]:
    """Give each unit, in turn, to the split that lacks most of what it has; what none holds enough of goes first.

    Parameters
    ----------
    instance : Instance
        The units.
    order : ndarray of int64, shape (n_units,)
        The units' order.

    Returns
    -------
    assignment : ndarray of int8, shape (n_units,)
    """
    scaled, targets = _guide(instance)
    pull = scaled * np.minimum(instance.weights, 16)
    whole = sum(instance.ratios)
    assignment = instance.fixed.copy()
    deviation = -targets
    for split in range(len(instance.ratios)):
        deviation[:, split] += whole * scaled[assignment == split].sum(axis=0)
    free = order[assignment[order] < 0]
    block = max(1, len(free) // 4096)
    for low in range(0, len(free), block):
        units = free[low : low + block]
        split = np.argmin(pull[units] @ deviation, axis=1)
        assignment[units] = split
        for at in range(len(instance.ratios)):
            deviation[:, at] += whole * scaled[units[split == at]].sum(axis=0)
    return assignment
