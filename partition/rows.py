"""Rows to joint cells, and from counts of cells back to rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["drawn", "joint"]


def joint(
    codes: Sequence[NDArray[np.integer[Any]]], widths: Sequence[int]
) -> tuple[NDArray[np.integer[Any]], NDArray[np.int64]]:
    """Give the rows' joint cells numbers, in the order of their codes.

    Parameters
    ----------
    codes : sequence of ndarray of int, shape (n_rows,)
        Position of each row's category, by attribute.
    widths : sequence of int
        Number of categories, by attribute.

    Returns
    -------
    cell : ndarray of int, shape (n_rows,)
        The cell of each row.
    members : ndarray of int64, shape (n_cells, n_attributes)
        The category of each cell, by attribute.
    """
    rows = len(codes[0])
    cell: NDArray[np.integer[Any]] = np.zeros(rows, np.int32)
    known = np.zeros((1, 0), np.int64)
    for column, width in zip(codes, widths, strict=True):
        span = len(known) * width
        key = cell.astype(np.int32 if span < 1 << 31 else np.int64) * width + column
        if span <= max(4 * rows, 1 << 16):
            seen = np.flatnonzero(np.bincount(key, minlength=span))
            number = np.zeros(span, np.int32)
            number[seen] = np.arange(len(seen))
            cell = number[key]
        else:
            seen, cell = np.unique(key, return_inverse=True)
        known = np.column_stack([known[seen // width], seen % width])
    return cell, known


def drawn(
    cell: NDArray[np.integer[Any]],
    order: NDArray[np.int64],
    items: NDArray[np.int64],
    skip: NDArray[np.bool_] | None = None,
) -> NDArray[np.int8]:
    """Draw the rows of each cell for each split, in a given order of the rows.

    Parameters
    ----------
    cell : ndarray of int, shape (n_rows,)
        The cell of each row.
    order : ndarray of int64, shape (n_rows,)
        The rows' order, by keyed digest.
    items : ndarray of int64, shape (n_cells, n_splits)
        How many rows of each cell each split gets.
    skip : ndarray of bool, shape (n_rows,), optional
        Rows that are not drawn (they are in a split already, and not in `items`).

    Returns
    -------
    split : ndarray of int8, shape (n_rows,)
        ``-1`` for skipped rows.
    """
    kind = np.int16 if len(items) < 32768 else np.int64
    rows = order if skip is None else order[~skip[order]]
    rows = rows[np.argsort(cell[rows].astype(kind), kind="stable")]
    cells, splits = items.shape
    split = np.full(len(cell), -1, np.int8)
    split[rows] = np.repeat(np.tile(np.arange(splits, dtype=np.int8), cells), items.ravel())
    return split
