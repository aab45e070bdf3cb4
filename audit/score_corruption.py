"""Robustness to corruptions as sums: one model is one service, one row the faces found in one variant of an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, Problems
from .corruption import CORRUPTIONS, SEVERITIES, check_combinations, rce
from .estimates import Sums
from .predictions import Skip, Truth, match_predictions, numbers
from .score_tasks import Part, ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..tabular import TextTable

__all__ = ["corruption_errors", "corruption_parts"]


def corruption_parts(table: TextTable, truth: Truth, scores: Sequence[str], skip: Sequence[Skip]) -> list[Part]:
    """Return the parts of robustness: one model is one service."""
    out: list[Part] = []
    names: list[str] = truth.table["item"].to_pylist()
    for matched in match_predictions(table, truth, keys=("corruption", "severity"), skip=skip):
        rows = matched.rows.tolist()
        kinds = [(table.table["corruption"][row].as_py() or "").lower().replace("_", "-") for row in rows]
        levels = [_level(table, row) for row in rows]
        faces = numbers(table, matched, "faces", bounds=(0, 1e6), skip=()).astype(np.int64)
        at, errors = corruption_errors(names, matched.at, kinds, levels, faces)
        by = errors.sum(axis=2).astype(float)
        measures: dict[str, Any] = {}
        if "mrce" in scores:
            measures["mrce"] = lambda sums: ratio(sums.sum(axis=-2))
        if "rce" in scores:
            measures |= {f"rce {name}": _of_corruption(place) for place, name in enumerate(CORRUPTIONS)}
        row, column = np.divmod(np.arange(by.size), by.shape[1])
        values = np.concatenate([by.reshape(-1), np.full(by.size, float(len(SEVERITIES)))])
        sums = Sums(
            np.tile(row, 2),
            np.concatenate([2 * column, 2 * column + 1]),
            values,
            (len(CORRUPTIONS), 2),
            measures,
        )
        out.append(Part(matched.model, "corruption", at, sums, matched.counts, errors=errors))
    return out


def corruption_errors(
    names: Sequence[str],
    at: NDArray[np.int64],
    kinds: Sequence[str],
    levels: Sequence[int],
    faces: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the images, and for each, corruption and severity whether the number of faces differs.

    Parameters
    ----------
    names : sequence of str, shape (n_truth,)
        All items, for messages.
    at : ndarray of int, shape (n_rows,)
        The item of each row.
    kinds, levels : sequence, shape (n_rows,)
        Corruption (``clean`` or empty for none) and severity.
    faces : ndarray of int, shape (n_rows,)
        Faces found.

    Returns
    -------
    images : ndarray of int, shape (n_images,)
    errors : ndarray of int, shape (n_images, 15, 5)

    Raises
    ------
    InputError
        If an image lacks its clean row or a combination.
    """
    untouched = np.array([kind in ("", "clean") for kind in kinds], np.bool_)
    clean = np.full(len(names), -1, np.int64)
    clean[at[untouched]] = faces[untouched]
    rows = np.flatnonzero(~untouched)
    problems = Problems()
    for place in np.unique(at[clean[at] < 0]).tolist():
        problems.add(
            names[int(place)], "has no clean row", hint="add the faces found in the image itself: corruption clean"
        )
    problems.refuse(InputError, "the corrupted images are refused")
    of = [(kinds[row], levels[row]) for row in rows.tolist()]
    check_combinations([names[int(place)] for place in at[rows].tolist()], [k for k, _ in of], [s for _, s in of])
    images, position = np.unique(at[rows], return_inverse=True)
    errors = np.zeros((len(images), len(CORRUPTIONS), len(SEVERITIES)), np.int64)
    column = np.array([CORRUPTIONS.index(kind) for kind, _ in of], np.int64)
    errors[position.reshape(-1), column, np.array([s - 1 for _, s in of], np.int64)] = rce(clean[at[rows]], faces[rows])
    return images, errors


def _of_corruption(place: int) -> Any:
    return lambda sums: ratio(sums[..., place, :])


def _level(table: TextTable, row: int) -> int:
    text = table.table["severity"][row].as_py() or "0"
    return int(text) if text.isdigit() else -1
