"""The partitioner as a scikit-learn splitter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from .assign import Task, assign
from .prepare import Stratum

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ProtocolSplit"]


class ProtocolSplit:
    """Folds or one train-test cut, groups whole and labels balanced, for `cross_validate` and the like.

    Parameters
    ----------
    n_splits : int
        Folds, 2 or more; left aside where `ratios` are given.
    ratios : mapping of str to int, optional
        Two splits and their proportions, the training one first: one cut instead of folds.
    seed : int
        The seed.

    Notes
    -----
    Rows are known by their position, since scikit-learn hands over no ids: another order of rows gives other folds.
    Where rows have ids, `split_items` and `split_table` do not depend on the order.

    Examples
    --------
    >>> y = np.array(["a", "b"] * 6)
    >>> groups = np.repeat(np.arange(6), 2)
    >>> [len(test) for _, test in ProtocolSplit(3).split(y, y, groups)]
    [4, 4, 4]
    """

    def __init__(self, n_splits: int = 5, *, ratios: Mapping[str, int] | None = None, seed: int = 0) -> None:
        if n_splits < 2:
            raise InputError(f"n_splits is {n_splits}", hint="2 folds or more")
        if ratios is not None and len(ratios) != 2:
            raise InputError(f"{len(ratios)} ratios, and a cut has two sides", hint="name a training and a test split")
        self.n_splits, self.ratios, self.seed = n_splits, ratios, seed

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: N803
        """Return how many (train, test) pairs `split` gives."""
        return 1 if self.ratios is not None else self.n_splits

    def split(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        groups: Any = None,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Give positions of training and test rows.

        Parameters
        ----------
        X : array-like of length n_rows
            Only its length is used.
        y : array-like of shape (n_rows,) or (n_rows, n_labels), optional
            What is balanced: the classes of each column; of a column of 0 and 1 among several, the ones.
        groups : array-like of shape (n_rows,), optional
            What stays whole.

        Yields
        ------
        train, test : ndarray of int64
            Sorted positions.
        """
        rows = len(X) if y is None else len(np.asarray(y))
        columns: dict[str, Any] = {"item": pa.array([f"{at:020d}" for at in range(rows)], pa.string())}
        strata: list[Stratum] = []
        labels = np.empty((rows, 0)) if y is None else np.asarray(y).reshape(rows, -1)
        for at in range(labels.shape[1]):
            name, texts = f"y{at}", [str(value) for value in labels[:, at].tolist()]
            binary = labels.shape[1] > 1 and set(texts) <= {"0", "1", "False", "True"}
            if binary:
                texts = ["1" if text in ("1", "True") else "0" for text in texts]
            columns[name] = pa.array(texts, pa.string())
            strata.append(Stratum(name, name, "binary" if binary else "category"))
        if groups is not None:
            columns["subject"] = pa.array([f"g{value}" for value in np.asarray(groups).tolist()], pa.string())
        ratios = tuple(self.ratios.values()) if self.ratios else (1,) * self.n_splits
        names = tuple(self.ratios) if self.ratios else tuple(f"fold-{at + 1}" for at in range(self.n_splits))
        task = Task(pa.table(columns), tuple(strata), names, ratios, "item" if groups is None else "group")
        assignment = assign(task, self.seed).assignment
        for at in [1] if self.ratios else range(self.n_splits):
            yield np.flatnonzero(assignment != at), np.flatnonzero(assignment == at)
