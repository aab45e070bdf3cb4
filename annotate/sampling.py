"""Multinomial draws whose stream no library can change.

Two exact methods, chosen by size alone. `Direct`: each draw takes one word and looks its cell up. `By coins`: cells
are parted in two again and again, and how many draws fall on either side is a binomial number that is found by
comparing all draws with the binary digits of its probability at once: at each digit half of the undecided draws are
decided, and how many is the number of ones among as many random bits; the last few are compared one by one. Whole
numbers and single roundings only, hence the same on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..digests import SplitMix64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["binomial", "multinomial"]

_DIRECT_PER_CELL = 64
_BLOCK = 1 << 19
_FEW = 16


def multinomial(counts: NDArray[np.int64], replicates: int, seed: int, purpose: str) -> NDArray[np.int64]:
    """Draw as many units as there are, with replacement, and count them by cell.

    Parameters
    ----------
    counts : ndarray of int, shape (n_problems, n_cells)
        Units in each cell; problems are drawn independently, with cells in common.
    replicates : int
        Draws of the whole.
    seed, purpose : int, str
        The stream.

    Returns
    -------
    drawn : ndarray of int, shape (n_problems, replicates, n_cells)
        Each row sums to the units of its problem.

    Examples
    --------
    >>> multinomial(np.array([[3, 1]]), 4, 0, "example").tolist()
    [[[3, 1], [4, 0], [4, 0], [2, 2]]]
    """
    stream = SplitMix64(seed, f"annotate/multinomial/{purpose}")
    if counts.sum(axis=1).max(initial=0) <= _DIRECT_PER_CELL * counts.shape[1]:
        return np.stack([_direct(row, replicates, stream) for row in counts])
    return _by_coins(counts, replicates, stream)


def _direct(counts: NDArray[np.int64], replicates: int, stream: SplitMix64) -> NDArray[np.int64]:
    units, cells = int(counts.sum()), len(counts)
    drawn = np.zeros((replicates, cells), np.int64)
    if units == 0:
        return drawn
    cell_of = np.repeat(np.arange(cells), counts)
    step = max(1, _BLOCK // units)
    for low in range(0, replicates, step):
        rows = min(step, replicates - low)
        # 53 bits as a share of one: exact doubles, and a bias below units / 2**53.
        shares = (stream.words(rows * units) >> np.uint64(11)).astype(np.float64) * (units / 2.0**53)
        hit = cell_of[shares.astype(np.int64)].reshape(rows, units)
        hit += np.arange(rows)[:, None] * cells
        drawn[low : low + rows] = np.bincount(hit.reshape(-1), minlength=rows * cells).reshape(rows, cells)
    return drawn


def _by_coins(counts: NDArray[np.int64], replicates: int, stream: SplitMix64) -> NDArray[np.int64]:
    problems, cells = counts.shape
    drawn = np.zeros((problems, replicates, cells), np.int64)
    # Large cells first, so that they part early and the deep parts of the tree hold few draws.
    order = np.lexsort((np.arange(cells), -counts.sum(axis=0)))
    totals = np.repeat(counts.sum(axis=1)[:, None], replicates, axis=1)
    waiting: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = [(order, totals)]
    while waiting:
        part, many = waiting.pop()
        if len(part) == 1:
            drawn[:, :, part[0]] = many
            continue
        held = counts[:, part]
        running = held.sum(axis=0).cumsum()
        cut = 1 + int(np.searchsorted(running[:-1], running[-1] / 2))
        cut = min(cut, len(part) - 1)
        left = binomial(many, held[:, :cut].sum(axis=1), held.sum(axis=1), stream)
        waiting += [(part[:cut], left), (part[cut:], many - left)]
    return drawn


def binomial(
    many: NDArray[np.int64], above: NDArray[np.int64], below: NDArray[np.int64], stream: SplitMix64
) -> NDArray[np.int64]:
    """Draw binomial numbers with rational probabilities, exactly.

    Parameters
    ----------
    many : ndarray of int, shape (n_problems, n)
        Trials.
    above, below : ndarray of int, shape (n_problems,)
        The probability is above / below; a `below` of 0 goes with no trials.
    stream : SplitMix64
        Where random words come from.

    Returns
    -------
    successes : ndarray of int, shape (n_problems, n)
    """
    successes = np.where((above == below)[:, None], many, 0)
    undecided = np.where((above == below)[:, None], 0, many)
    rest = above % np.maximum(below, 1)
    while True:
        # A probability whose digits have ended: what is undecided lies above it.
        undecided[rest == 0] = 0
        if undecided.max(initial=0) <= _FEW:
            return successes + _one_by_one(undecided, rest / np.maximum(below, 1), stream)
        rest = 2 * rest
        one = rest >= below
        rest = np.where(one, rest - below, rest)
        low = _heads(undecided, stream)
        successes += np.where(one[:, None], low, 0)
        undecided = np.where(one[:, None], undecided - low, low)


def _one_by_one(many: NDArray[np.int64], chance: NDArray[np.float64], stream: SplitMix64) -> NDArray[np.int64]:
    """Draw few trials by comparing 53 random bits of each with its chance."""
    flat = many.reshape(-1)
    of = np.repeat(np.arange(len(flat)), flat)
    shares = (stream.words(len(of)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    hit = of[shares < chance[of // many.shape[1]]]
    return np.bincount(hit, minlength=len(flat)).reshape(many.shape)


def _heads(many: NDArray[np.int64], stream: SplitMix64) -> NDArray[np.int64]:
    """Count the ones among as many random bits as `many` says, for each of its numbers."""
    flat = many.reshape(-1)
    active = np.flatnonzero(flat)
    heads = np.zeros(len(flat), np.int64)
    for rows, width in _blocks(flat[active]):
        at = active[rows]
        words = stream.words(len(at) * width).reshape(len(at), width)
        bits = flat[at]
        column = int(bits.min()) // 64
        for place in range(column, width):
            wanted = np.clip(bits - 64 * place, 0, 64).astype(np.uint64)
            mask = np.where(
                wanted == 64, np.uint64(2**64 - 1), (np.uint64(1) << (wanted & np.uint64(63))) - np.uint64(1)
            )
            words[:, place] &= mask
        heads[at] = np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    return heads.reshape(many.shape)


def _blocks(bits: NDArray[np.int64]) -> Iterator[tuple[slice, int]]:
    """Cut numbers into runs whose words fit in memory, with the words that the longest of each run needs."""
    start = 0
    while start < len(bits):
        width = -(-int(bits[start:].max()) // 64)
        rows = max(1, _BLOCK // width)
        taken = bits[start : start + rows]
        yield slice(start, start + len(taken)), -(-int(taken.max()) // 64)
        start += len(taken)
