"""Scores of one category an item: macro F1, balanced accuracy, predicted shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["absent", "accuracy", "balanced_accuracy", "category_counts", "f1_macro", "f1_of_counts", "predicted_shares"]

_TRUE, _PREDICTED, _BOTH = 0, 1, 2

Part = Literal["true", "predicted", "both"]


def category_counts(truth: NDArray[np.int64], predicted: NDArray[np.int64], categories: int) -> NDArray[np.int64]:
    """Count what the scores of this module need.

    Parameters
    ----------
    truth, predicted : ndarray of int, shape (n_items,)
        Positions of categories.
    categories : int
        How many there are.

    Returns
    -------
    counts : ndarray of int, shape (3 * n_categories,)
        Items of each category in truth, in prediction, in both.

    Examples
    --------
    >>> category_counts(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [2, 1, 1, 2, 1, 1]
    """
    both = truth[truth == predicted]
    return np.concatenate([np.bincount(part, minlength=categories) for part in (truth, predicted, both)])


def _parts(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(counts, np.float64).reshape(*counts.shape[:-1], 3, -1)


def f1_of_counts(
    true: NDArray[np.float64], predicted: NDArray[np.float64], both: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return F1, 2 both / (true + predicted); 0 where neither has any (``zero_division=0``).

    Examples
    --------
    >>> f1_of_counts(np.array([2.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 0.0])).round(3).tolist()
    [0.667, 0.0]
    """
    total = true + predicted
    return 2 * both / np.where(total > 0, total, 1.0)


def _only_with_items(values: NDArray[np.float64], parts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(parts[..., _TRUE, :].sum(axis=-1) > 0, values, np.nan)


def f1_macro(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean F1 over categories, in [0, 1].

    Parameters
    ----------
    counts : ndarray of shape (..., 3 * n_categories)
        As `category_counts` gives them.

    Returns
    -------
    f1 : ndarray of shape (...)
        A category absent from truth and prediction counts 0, as in the reference code of Hu et al. (FG 2024);
        NaN where there is no item.

    Examples
    --------
    >>> float(f1_macro(category_counts(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)).round(4))
    0.6667
    """
    parts = _parts(counts)
    found = f1_of_counts(parts[..., _TRUE, :], parts[..., _PREDICTED, :], parts[..., _BOTH, :])
    return _only_with_items(found.mean(axis=-1), parts)


def absent(counts: NDArray[np.float64]) -> int:
    """Return how many categories are absent from truth and prediction.

    Examples
    --------
    >>> absent(np.array([2, 0, 0, 1, 1, 0, 1, 0, 0]))
    1
    """
    parts = _parts(counts)
    return int((parts[..., _TRUE, :] + parts[..., _PREDICTED, :] == 0).sum())


def balanced_accuracy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean recall over the categories that truth has, in [0, 1].

    Examples
    --------
    >>> float(balanced_accuracy(category_counts(np.array([0, 0, 1]), np.array([0, 1, 1]), 3)))
    0.75
    """
    parts = _parts(counts)
    true, both = parts[..., _TRUE, :], parts[..., _BOTH, :]
    recall = both / np.where(true > 0, true, 1.0)
    present = (true > 0).sum(axis=-1)
    return _only_with_items(recall.sum(axis=-1) / np.maximum(present, 1), parts)


def accuracy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of items whose prediction is the truth; Hazirbas et al. (2021) print it as "precision".

    Examples
    --------
    >>> float(accuracy(category_counts(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2)))
    0.75
    """
    parts = _parts(counts)
    items = parts[..., _TRUE, :].sum(axis=-1)
    return _only_with_items(parts[..., _BOTH, :].sum(axis=-1) / np.where(items > 0, items, 1.0), parts)


def predicted_shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of each category among the predictions, shape (..., n_categories); NaN without an item."""
    predicted = _parts(counts)[..., _PREDICTED, :]
    items = predicted.sum(axis=-1, keepdims=True)
    return np.where(items > 0, predicted / np.where(items > 0, items, 1.0), np.nan)
