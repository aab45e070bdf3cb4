"""Scores of detectors: positive means fake; 0 is the best log precision, and more negative is worse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ALPHA",
    "RECALLS",
    "cross_entropy",
    "curve",
    "false_negatives",
    "log_wp",
    "log_wp_at_recall",
    "missed_by_all",
    "roc_area",
    "share_beside_base",
]

ALPHA = 100.0
"""How much a false positive weighs in the DFDC preview: real videos are far more frequent in the world."""

RECALLS = (0.1, 0.5, 0.9)
"""Recalls at which the DFDC preview gives the log precision."""

_CLIP = 1e-15
_SLACK = 1e-9


def log_wp(true_positives: Any, false_positives: Any, alpha: float = ALPHA) -> NDArray[np.float64]:
    """Return the log weighted precision, log(TP / (TP + alpha FP)).

    Parameters
    ----------
    true_positives : array of shape (...)
        Fakes taken for fakes (or their share: precision P stands for P and 1 - P).
    false_positives : array of shape (...)
        Real videos taken for fakes.
    alpha : float
        Weight of a false positive.

    Returns
    -------
    log_wp : ndarray of shape (...)
        0 is the best; -inf without a true positive.

    References
    ----------
    Dolhansky et al. (2019), arXiv:1910.08854. (Hazirbas et al. (2021) say that lower is better: it is not.)

    Examples
    --------
    >>> precision = np.array([0.833, 0.930, 0.784])
    >>> log_wp(precision, 1 - precision).round(2).tolist()
    [-3.05, -2.14, -3.35]
    """
    hits, alarms = np.asarray(true_positives, np.float64), np.asarray(false_positives, np.float64)
    some = hits > 0
    share = np.where(some, hits / np.where(some, hits + alpha * alarms, 1.0), 1.0)
    return np.where(some, np.log(share), -np.inf)


def curve(
    fake: NDArray[np.bool_], probabilities: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return true and false positives at each threshold, the highest first.

    Parameters
    ----------
    fake : ndarray of bool, shape (n_items,)
        The truth.
    probabilities : ndarray of float, shape (n_items,)
        Probability of a fake; an item counts as fake from the threshold on.
    weights : ndarray of float, shape (n_replicates, n_items), optional
        How often each item is drawn; by default once.

    Returns
    -------
    thresholds : ndarray of shape (n_thresholds,)
        Distinct probabilities, descending.
    true_positives, false_positives : ndarray of shape (n_replicates, n_thresholds)
    """
    drawn = np.ones((1, len(fake))) if weights is None else weights
    order = np.argsort(-probabilities, kind="stable")
    ranked = probabilities[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) if len(ranked) else np.empty(0, np.int64)
    turned, positive = drawn[:, order], fake[order]
    true = np.cumsum(np.where(positive, turned, 0.0), axis=1)[:, ends]
    false = np.cumsum(np.where(positive, 0.0, turned), axis=1)[:, ends]
    return ranked[ends], true, false


def log_wp_at_recall(
    true: NDArray[np.float64], false: NDArray[np.float64], recall: float, alpha: float = ALPHA
) -> NDArray[np.float64]:
    """Return the largest log weighted precision over thresholds whose recall is at least the level.

    Parameters
    ----------
    true, false : ndarray of shape (n_replicates, n_thresholds)
        As `curve` gives them.
    recall : float
        The level, in (0, 1].

    Returns
    -------
    best : ndarray of shape (n_replicates,)
        -inf without any true positive; NaN where there is no item.

    Examples
    --------
    >>> _, true, false = curve(np.array([True, False, True]), np.array([0.9, 0.8, 0.7]))
    >>> [log_wp_at_recall(true, false, level).round(3).tolist() for level in (0.5, 0.9)]
    [[0.0], [-3.932]]
    """
    if true.shape[1] == 0:
        return np.full(len(true), np.nan)
    fakes = true[:, -1:]
    reached = (true >= recall * fakes - _SLACK) & (true > 0)
    precision = np.where(reached, true / np.where(reached, true + alpha * false, 1.0), 0.0).max(axis=1)
    found = np.where(precision > 0, np.log(np.where(precision > 0, precision, 1.0)), -np.inf)
    return np.where(fakes[:, 0] + false[:, -1] > 0, found, np.nan)


def roc_area(true: NDArray[np.float64], false: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the area under the receiver operating characteristic; NaN where one class is absent.

    Examples
    --------
    >>> _, true, false = curve(np.array([True, False, True]), np.array([0.9, 0.8, 0.7]))
    >>> roc_area(true, false).tolist()
    [0.5]
    """
    if true.shape[1] == 0:
        return np.full(len(true), np.nan)
    fakes, reals = true[:, -1], false[:, -1]
    before = np.concatenate([np.zeros((len(true), 1)), true], axis=1)
    step = np.diff(false, axis=1, prepend=0.0)
    area = (step * (before[:, :-1] + before[:, 1:]) / 2).sum(axis=1)
    whole = fakes * reals
    return np.where(whole > 0, area / np.where(whole > 0, whole, 1.0), np.nan)


def cross_entropy(fake: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return each item's binary cross-entropy, and how many probabilities were clipped at 1e-15.

    Examples
    --------
    >>> losses, clipped = cross_entropy(np.array([True, False]), np.array([0.5, 1.0]))
    >>> losses.round(2).tolist(), clipped
    ([0.69, 34.54], 1)
    """
    safe = np.clip(probabilities, _CLIP, 1 - _CLIP)
    losses = -np.where(fake, np.log(safe), np.log1p(-safe))
    return losses, int((safe != probabilities).sum())


def false_negatives(fake: NDArray[np.bool_], predicted_fake: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which items are fakes taken for real; a real video taken for a fake is a false positive.

    Examples
    --------
    >>> false_negatives(np.array([True, True, False]), np.array([False, True, True])).tolist()
    [True, False, False]
    """
    return fake & ~predicted_fake


def missed_by_all(fake: NDArray[np.bool_], predicted_fake: Mapping[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return the fakes that every given model misses.

    Examples
    --------
    >>> fake = np.array([True, True, False])
    >>> missed_by_all(fake, {"a": np.array([False, False, False]), "b": np.array([False, True, True])}).tolist()
    [True, False, False]
    """
    found = fake.copy()
    for predicted in predicted_fake.values():
        found &= false_negatives(fake, predicted)
    return found


def share_beside_base(missed: NDArray[np.float64], fakes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each subgroup's share of the false negatives beside its share of all fakes.

    Parameters
    ----------
    missed, fakes : ndarray of shape (..., n_subgroups)
        False negatives and fakes of each subgroup.

    Returns
    -------
    shares : ndarray of shape (..., n_subgroups, 2)
        The share of false negatives, and the base without which it cannot be read: where 80 % of all fakes are
        bright, 80 % bright among the missed ones says nothing of light. NaN where there is none at all.

    Examples
    --------
    >>> share_beside_base(np.array([8, 2]), np.array([80, 20])).tolist()
    [[0.8, 0.8], [0.2, 0.2]]
    """
    both = np.stack([missed, fakes], axis=-1).astype(np.float64)
    total = both.sum(axis=-2, keepdims=True)
    return np.where(total > 0, both / np.where(total > 0, total, 1.0), np.nan)
