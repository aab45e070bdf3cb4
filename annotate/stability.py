"""How firm a label is: under a bootstrap of its votes, without one of them, with fewer."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from ..digests import keyed_digests, keyed_words
from .votes import Patterns, Votes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["fewer_votes", "leave_one_out_flips", "vote_stability"]

_BLOCK = 1 << 19
_MOST_SUBSETS = 70


def _canonical(patterns: Patterns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Treat votes that are all doubtful as all confident: they weigh alike either way."""
    only = (patterns.confident.sum(axis=1) == 0)[:, None]
    return np.where(only, patterns.doubtful, patterns.confident), np.where(only, 0, patterns.doubtful)


def _uniform(patterns: Patterns, draws: int, seed: int, purpose: str) -> NDArray[np.float64]:
    """Return uniform numbers in [0, 1) for each pattern, from a stream that only the pattern's own votes name."""
    confident, doubtful = _canonical(patterns)
    names = [",".join(map(str, row)) for row in np.concatenate([confident, doubtful], axis=1).tolist()]
    keys = keyed_digests(names, seed, purpose)
    words = keyed_words(keys, draws)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _ballots(patterns: Patterns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List each pattern's votes: category and category + width for a doubtful one; and how many there are.

    The list is as wide as the longest; what is beyond a pattern's own votes is filled with its last one.
    """
    confident, doubtful = _canonical(patterns)
    kinds = np.concatenate([confident, doubtful], axis=1)
    many = kinds.sum(axis=1)
    running = kinds.cumsum(axis=1)
    places = np.minimum(np.arange(max(int(many.max(initial=1)), 1)), np.maximum(many - 1, 0)[:, None])
    return (running[:, None, :] <= places[:, :, None]).sum(axis=2), many


def _weigh(drawn: NDArray[np.int64], width: int, weights: tuple[int, int]) -> NDArray[np.int64]:
    """Sum the weight of each category over the last axis of drawn votes."""
    shape = drawn.shape[:-1]
    flat = drawn.reshape(-1, drawn.shape[-1])
    cells = np.arange(len(flat))[:, None] * (2 * width) + flat
    counts = np.bincount(cells.reshape(-1), minlength=len(flat) * 2 * width).reshape(*shape, 2 * width)
    return weights[0] * counts[..., :width] + weights[1] * counts[..., width:]


def vote_stability(patterns: Patterns, weights: tuple[int, int], replicates: int, seed: int) -> NDArray[np.float64]:
    """Share of bootstraps of a unit's votes in which each category has the most weight, a tie shared out.

    Parameters
    ----------
    patterns : Patterns
        Votes by category.
    weights : tuple of int
        Weight of a confident and of a doubtful vote.
    replicates : int
        Draws of a unit's votes, with replacement; 0 gives NaN.
    seed : int
        Each pattern has a stream of its own, so that other units have no influence.

    Returns
    -------
    stability : ndarray of shape (n_patterns, n_categories)
        In [0, 1]; a row sums to 1, or is NaN without a vote.
    """
    width = patterns.votes.shape[1]
    found = np.full((len(patterns.frequency), width), np.nan)
    if replicates == 0:
        return found
    ballots, many = _ballots(patterns)
    for count in np.unique(many[many > 0]).tolist():
        rows = np.flatnonzero(many == count)
        step = max(1, _BLOCK // (replicates * count))
        for low in range(0, len(rows), step):
            at = rows[low : low + step]
            part = Patterns(patterns.confident[at], patterns.doubtful[at], at, patterns.frequency[at])
            shares = _uniform(part, replicates * count, seed, "annotate/stability")
            picked = (shares * count).astype(np.int64)
            drawn = np.take_along_axis(ballots[at], picked, axis=1).reshape(len(at), replicates, count)
            weight = _weigh(drawn, width, weights)
            most = (weight == weight.max(axis=2, keepdims=True)) & (weight > 0)
            found[at] = (most / np.maximum(most.sum(axis=2, keepdims=True), 1)).mean(axis=1)
    return found


def leave_one_out_flips(patterns: Patterns, weights: tuple[int, int]) -> NDArray[np.int64]:
    """Count the votes without which a category would not be the only one of most weight.

    Parameters
    ----------
    patterns : Patterns
        Votes by category.
    weights : tuple of int
        Weight of a confident and of a doubtful vote.

    Returns
    -------
    flips : ndarray of int, shape (n_patterns, n_categories)
        Of all the unit's votes, for each category taken as the label.
    """
    weight = weights[0] * patterns.confident + weights[1] * patterns.doubtful
    flips = np.zeros_like(weight)
    for held, each in ((patterns.confident, weights[0]), (patterns.doubtful, weights[1])):
        for category in range(weight.shape[1]):
            without = weight.copy()
            without[:, category] -= each
            most = without == without.max(axis=1, keepdims=True)
            sole = most & (most.sum(axis=1, keepdims=True) == 1)
            flips += held[:, category][:, None] * ~sole
    return flips


def fewer_votes(votes: Votes, seed: int = 0) -> list[dict[str, float | int]]:
    """How often fewer votes a unit would have given the same label, hence whether so many annotators were needed.

    Parameters
    ----------
    votes : Votes
        The votes that count.
    seed : int
        Of the subsets, where there are more than 70 of a size; otherwise all are taken.

    Returns
    -------
    curve : list of dict
        For each number of votes below the most that units have: ``votes``, ``units`` (those with more votes and a
        sole mode), ``same`` and ``tied`` (mean share of subsets with the same label, and without one).
    """
    patterns = votes.patterns()
    weight = votes.weights[0] * patterns.confident + votes.weights[1] * patterns.doubtful
    most = weight == weight.max(axis=1, keepdims=True)
    sole = (most.sum(axis=1) == 1) & (weight.max(axis=1) > 0)
    ballots, many = _ballots(patterns)
    curve: list[dict[str, float | int]] = []
    for size in range(1, int(many.max(initial=0))):
        units, same, tied = 0, 0.0, 0.0
        for count in np.unique(many[many > size]).tolist():
            rows = np.flatnonzero((many == count) & sole)
            if not len(rows):
                continue
            part = Patterns(patterns.confident[rows], patterns.doubtful[rows], rows, patterns.frequency[rows])
            kept, torn = _subset_modes(part, ballots[rows, :count], most[rows].argmax(axis=1), size, votes, seed)
            units += int(part.frequency.sum())
            same += float(kept @ part.frequency)
            tied += float(torn @ part.frequency)
        if units:
            curve.append({"votes": size, "units": units, "same": same / units, "tied": tied / units})
    return curve


def _subset_modes(
    part: Patterns, ballots: NDArray[np.int64], label: NDArray[np.int64], size: int, votes: Votes, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of subsets of `size` votes that keep the label, and that end in a tie."""
    count, width = ballots.shape[1], part.votes.shape[1]
    kept, torn = np.zeros(len(ballots)), np.zeros(len(ballots))
    every = comb(count, size) <= _MOST_SUBSETS
    listed = np.array(list(combinations(range(count), size)), np.int64) if every else np.empty((0, size), np.int64)
    subsets = len(listed) if every else _MOST_SUBSETS
    step = max(1, _BLOCK // (subsets * count))
    for low in range(0, len(ballots), step):
        rows = slice(low, low + step)
        block = ballots[rows]
        if every:
            drawn = block[:, listed]
        else:
            few = Patterns(part.confident[rows], part.doubtful[rows], part.of[rows], part.frequency[rows])
            shares = _uniform(few, subsets * count, seed, f"annotate/fewer/{size}").reshape(len(block), subsets, count)
            picked = shares.argsort(axis=2, kind="stable")[:, :, :size]
            drawn = np.take_along_axis(np.repeat(block[:, None], subsets, axis=1), picked, axis=2)
        weight = _weigh(drawn, width, votes.weights)
        most = weight == weight.max(axis=2, keepdims=True)
        sole = most.sum(axis=2) == 1
        kept[rows] = (sole & (most.argmax(axis=2) == label[rows][:, None])).mean(axis=1)
        torn[rows] = (~sole).mean(axis=1)
    return kept, torn
