"""Profiles: units x categories of integer counts, which is all that a solver sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ..tabular import pc
from .prepare import Stratum
from .units import PIECE

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Category", "Coded", "Counts", "coded", "count_units"]

Role = Literal["total", "category", "active", "missing", "known"]


@dataclass(frozen=True)
class Category:
    """A column of a profile.

    Parameters
    ----------
    attribute : str
        The balanced attribute; empty for the total.
    value : str
        The category.
    role : {"total", "category", "active", "missing", "known"}
        ``missing`` counts the items without a value, ``known`` those for which a binary label is known: both are
        spread evenly, and no score uses them.
    """

    attribute: str
    value: str
    role: Role

    @property
    def scored(self) -> bool:
        """Whether its share is reported and bounded."""
        return self.role in ("category", "active")

    def __str__(self) -> str:
        return f"{self.attribute} {self.value}" if self.role == "category" else self.attribute or "total"


@dataclass(frozen=True)
class Coded:
    """A balanced column as integers.

    Parameters
    ----------
    stratum : Stratum
        The column.
    codes : ndarray of int, shape (n_rows,)
        Position in `values`; ``len(values)`` where the value is missing.
    values : tuple of str
        The values, sorted.
    missing : bool
        Whether any value is missing.
    """

    stratum: Stratum
    codes: NDArray[np.integer[Any]]
    values: tuple[str, ...]
    missing: bool

    @property
    def width(self) -> int:
        """Number of codes that occur."""
        return len(self.values) + self.missing

    def columns(self) -> list[tuple[Category, int]]:
        """Return the profile's columns of this stratum, each with the code that it counts (``-1``: all known)."""
        name = self.stratum.attribute
        if self.stratum.kind == "category":
            found = [(Category(name, value, "category"), at) for at, value in enumerate(self.values)]
            return found + ([(Category(name, "", "missing"), len(self.values))] if self.missing else [])
        at = self.values.index("1") if "1" in self.values else len(self.values) + 1
        found = [(Category(name, "1", "active"), at)]
        return found + ([(Category(name, "", "known"), -1)] if self.missing else [])


def coded(table: pa.Table, strata: Sequence[Stratum]) -> tuple[Coded, ...]:
    """Turn the balanced columns of a table into integers; values in sorted order, whatever the order of rows.

    Parameters
    ----------
    table : pyarrow.Table
        Holds the columns of the strata.
    strata : sequence of Stratum
        What is balanced. Of a binary one every value but ``0`` counts as active.

    Returns
    -------
    columns : tuple of Coded
    """
    return tuple(_coded(table[stratum.column], stratum) for stratum in strata)


def _coded(column: Any, stratum: Stratum) -> Coded:
    if not isinstance(column, pa.ChunkedArray):
        column = pa.chunked_array([column])
    if not pa.types.is_dictionary(column.type):
        short = [chunk.slice(low, PIECE) for chunk in column.chunks for low in range(0, len(chunk), PIECE)]
        column = pa.chunked_array(short, column.type).dictionary_encode()
    chunks: list[Any] = column.unify_dictionaries().chunks
    if not chunks:
        return Coded(stratum, np.empty(0, np.int8), (), False)
    raw = [_text(value) for value in chunks[0].dictionary.to_pylist()]
    if stratum.kind == "binary":
        raw = [None if value is None else "0" if value == "0" else "1" for value in raw]
    parts = [pc.fill_null(chunk.indices.cast(pa.int32()), len(raw)).to_numpy(zero_copy_only=False) for chunk in chunks]
    used = np.zeros(len(raw) + 1, np.bool_)
    for part in parts:
        used[np.unique(part) if len(part) < 4096 else np.flatnonzero(np.bincount(part, minlength=len(raw) + 1))] = True
    values = sorted({value for value, seen in zip(raw, used.tolist(), strict=False) if value is not None and seen})
    place = {value: at for at, value in enumerate(values)}
    missing = bool(used[-1]) or any(seen and value is None for value, seen in zip(raw, used.tolist(), strict=False))
    kind = np.int8 if len(values) < 127 else np.int16 if len(values) < 32767 else np.int32
    lookup = np.array([place.get(value, len(values)) if value is not None else len(values) for value in raw], kind)
    lookup = np.append(lookup, np.array([len(values)], kind))
    return Coded(stratum, np.concatenate([lookup[part] for part in parts]), tuple(values), missing)


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "1" if value else "0"
    return None if value is None else str(value)


@dataclass(frozen=True)
class Counts:
    """A profile: how many items of each category each unit has.

    Parameters
    ----------
    categories : tuple of Category
        The total first, then the columns of each stratum.
    counts : ndarray of int64, shape (n_units, n_categories)
        Items.
    """

    categories: tuple[Category, ...]
    counts: NDArray[np.int64]


def count_units(columns: Sequence[Coded], of: NDArray[np.integer[Any]], units: int) -> Counts:
    """Count the items of each category in each unit.

    Parameters
    ----------
    columns : sequence of Coded
        The balanced columns.
    of : ndarray of int64, shape (n_rows,)
        The unit of each row.
    units : int
        Number of units.

    Returns
    -------
    profile : Counts
    """
    total = np.bincount(of, minlength=units)
    categories = [Category("", "", "total")]
    parts: list[NDArray[np.int64]] = [total[:, None]]
    for column in columns:
        width = len(column.values) + 2
        table = np.bincount(of * np.int64(width) + column.codes, minlength=units * width).reshape(units, width)
        for category, code in column.columns():
            categories.append(category)
            parts.append((total - table[:, len(column.values)] if code < 0 else table[:, code])[:, None])
    return Counts(tuple(categories), np.concatenate(parts, axis=1).astype(np.int64))
