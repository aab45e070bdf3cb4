"""The valence-arousal plane of each split, as counts in square cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tabular import pc

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["Plane", "planes_of"]

_CELLS = 10


@dataclass(frozen=True)
class Plane:
    """Items of one split by valence and arousal.

    Parameters
    ----------
    partition, split : str
        Whose they are.
    counts : tuple of tuple of int, shape (10, 10)
        By cell of arousal, lowest first, then of valence; a cell is 0.2 wide, the last one closed.
    outside : int
        Items without valence or arousal, or outside [-1, 1].
    """

    partition: str
    split: str
    counts: tuple[tuple[int, ...], ...]
    outside: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "partition": self.partition,
            "split": self.split,
            "valence_arousal": [list(row) for row in self.counts],
            "outside": self.outside,
        }


def planes_of(
    partition: str, table: pa.Table, assignment: NDArray[np.int8], splits: Sequence[str]
) -> tuple[Plane, ...]:
    """Count the items of each split by valence and arousal.

    Parameters
    ----------
    partition : str
        What to call it.
    table : pyarrow.Table
        Columns ``valence`` and ``arousal``, decimal text in [-1, 1]; none counted where it has not both.
    assignment : ndarray of int, shape (n_items,)
        Position in `splits` of each row.
    splits : sequence of str
        Names of the splits.

    Returns
    -------
    planes : tuple of Plane
        One a split.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"valence": ["-1", "1"], "arousal": ["0.1", None]})
    >>> plane, = planes_of("given", rows, np.array([0, 0]), ["train"])
    >>> plane.counts[5][0], plane.outside
    (1, 1)
    """
    if not {"valence", "arousal"} <= set(table.column_names):
        return ()
    values = [_numbers(table[name]) for name in ("arousal", "valence")]
    inside = np.logical_and.reduce([np.abs(value) <= 1 for value in values])
    # The text is decimal: -0.2 + 1 times 5 is a hair below 4 in binary, so a millionth is added.
    cells = [np.minimum(np.floor((value[inside] + 1) * 5 + 1e-6), _CELLS - 1).astype(np.int64) for value in values]
    place = assignment[inside].astype(np.int64) * _CELLS**2 + cells[0] * _CELLS + cells[1]
    counts = np.bincount(place, minlength=len(splits) * _CELLS**2).reshape(len(splits), _CELLS, _CELLS)
    lost = np.bincount(assignment[~inside].astype(np.int64), minlength=len(splits))
    return tuple(
        Plane(partition, name, tuple(tuple(row) for row in counts[at].tolist()), int(lost[at]))
        for at, name in enumerate(splits)
    )


def _numbers(column: Any) -> NDArray[np.float64]:
    number = pc.match_substring_regex(column, r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$")
    known = pc.if_else(number, column, None)
    return pc.fill_null(pc.cast(known, "float64"), float("nan")).to_numpy()
