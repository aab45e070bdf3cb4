"""What a subset was drawn from: its cells before and after, and an attribute that was taken in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Cell", "CrossTable", "Drawn"]


@dataclass(frozen=True)
class Cell:
    """Items of one joint category.

    Parameters
    ----------
    values : tuple of str
        The category in each column of the cells.
    before, after : int
        Items that took part, and items that were drawn.
    """

    values: tuple[str, ...]
    before: int
    after: int


@dataclass(frozen=True)
class CrossTable:
    """An attribute taken in turn (lighting), counted by another one (skin type).

    Parameters
    ----------
    attribute : str
        The other attribute.
    categories : tuple of str
        Categories of the one taken in turn.
    rows : tuple of (str, tuple of int, tuple of int)
        A category of the other attribute, and the items of it in each of `categories`, before and after.
    """

    attribute: str
    categories: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]


@dataclass(frozen=True)
class Drawn:
    """How a subset was drawn.

    Parameters
    ----------
    name : str
        The subset.
    per : tuple of str
        Columns whose joint categories make the cells.
    before, after : int
        Items that took part, and items that were drawn.
    number : int
        Cells.
    reduced : int
        Cells that gave fewer items than they hold.
    cells : tuple of Cell
        Each cell, sorted; empty where a cell is a subject.
    alternate : str or None
        The attribute that was taken in turn.
    totals : tuple of (str, int, int)
        Its categories, with the items before and after.
    lacking : tuple of (str, int)
        Its categories, with the number of cells that hold no item of it.
    tables : tuple of CrossTable
        It, by other attributes.
    """

    name: str
    per: tuple[str, ...]
    before: int
    after: int
    number: int
    reduced: int
    cells: tuple[Cell, ...] = ()
    alternate: str | None = None
    totals: tuple[tuple[str, int, int], ...] = ()
    lacking: tuple[tuple[str, int], ...] = ()
    tables: tuple[CrossTable, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return all of it for JSON and for a manifest."""
        found: dict[str, Any] = {
            "name": self.name,
            "per": list(self.per),
            "items_before": self.before,
            "items": self.after,
            "cells": self.number,
            "cells_reduced": self.reduced,
        }
        if self.cells:
            found["counts"] = [
                {"values": list(cell.values), "before": cell.before, "after": cell.after} for cell in self.cells
            ]
        if self.alternate:
            found["alternate"] = {
                "attribute": self.alternate,
                "categories": [
                    {"value": value, "before": before, "after": after, "cells_without": without}
                    for (value, before, after), (_, without) in zip(self.totals, self.lacking, strict=True)
                ],
                "by": [
                    {
                        "attribute": table.attribute,
                        "columns": list(table.categories),
                        "rows": [
                            {"value": value, "before": list(before), "after": list(after)}
                            for value, before, after in table.rows
                        ],
                    }
                    for table in self.tables
                ],
            }
        return found
