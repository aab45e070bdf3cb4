"""What the report shows of an audit: rows and figures of its charts and tables, as plain values."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..partition import Balance
    from ..partition.balance import Row
    from .drift import Drift
    from .model import Audit
    from .planes import Plane

__all__ = [
    "COLOURS",
    "Table",
    "balance_charts",
    "compared_chart",
    "crossing_charts",
    "drift_chart",
    "grid",
    "plane_charts",
    "shown",
    "target_marks",
]

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a7a7a", "#a89a00")
"""Told apart by colour-blind readers, and in grey (Okabe and Ito 2008, "Color Universal Design")."""

_MOST_ROWS = 80
_MOST_CELLS = 20_000


@dataclass(frozen=True)
class Table:
    """A table of the report.

    Parameters
    ----------
    caption : str
        What it lists.
    columns : tuple of str
        Heads.
    rows : tuple of tuple of str or number or None
        Cells: text is set left, numbers right.
    digits : int
        Decimals of numbers that are not whole.
    left_out : int
        Rows that only ``report.json`` has.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | None, ...], ...]
    digits: int = 2
    left_out: int = 0


def shown(text: Any, longest: int = 96) -> str:
    r"""Return text from data as the report shows it: cut, and with the marks that would steer the page spelt out.

    Examples
    --------
    >>> shown("a\u202eb"), len(shown("x" * 10_000))
    ('a[U+202E]b', 117)
    """
    whole = str(text)
    cut = whole if len(whole) <= longest else f"{whole[:longest]}… ({len(whole):,} characters)"
    return "".join(
        f"[U+{ord(mark):04X}]" if unicodedata.category(mark) in ("Cc", "Cf", "Co", "Cs") else mark for mark in cut
    )


def grid(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[str | float | None]], *, digits: int = 2
) -> Table:
    """Return a table, cut where it would swell the page."""
    most = max(_MOST_CELLS // max(len(columns), 1), 1)
    kept = tuple(tuple(row) for row in rows[:most])
    return Table(caption, tuple(columns), kept, digits, max(len(rows) - most, 0))


def target_marks(balance: Balance) -> list[float]:
    """Return where one split's target ends and the next begins, in percent of a bar."""
    whole = sum(balance.ratios)
    return [100 * sum(balance.ratios[: at + 1]) / whole for at in range(len(balance.ratios) - 1)]


def _category(row: Row) -> str:
    return {"total": "all items", "active": "active", "missing": "(missing)"}.get(row.role) or row.value


def _bars(row: Row, reach: float) -> dict[str, Any]:
    """Return one line of a chart: the segments of its bar, and where its deviations lie on a strip."""
    starts = [100 * sum(row.shares[:at]) for at in range(len(row.shares))]
    furthest = max(row.points, key=abs)
    return {
        "name": _category(row),
        "counted": row.scored or row.role == "total",
        "segments": [
            {"x": round(start, 3), "width": round(100 * share, 3)}
            for start, share in zip(starts, row.shares, strict=True)
        ],
        "dots": [round(50 + 46 * points / reach, 2) for points in row.points],
        "furthest": f"{furthest:+.2f}",
    }


def balance_charts(balance: Balance, *, whole: bool = True) -> list[dict[str, Any]]:
    """Return a chart and a table for the total and every attribute.

    Parameters
    ----------
    balance : Balance
        Counts and shares.
    whole : bool
        Whether the total has a chart of its own.

    Returns
    -------
    charts : list of dict
        Keys ``attribute``, ``lines``, ``reach`` (points at the edge of the strip), ``left_out`` and ``table``.
    """
    held: dict[str, list[Row]] = {}
    for row in balance.rows:
        if row.role != "known" and (whole or row.role != "total"):
            held.setdefault(row.attribute, []).append(row)
    by_unit = balance.unit != "item"
    charts: list[dict[str, Any]] = []
    for attribute, rows in held.items():
        reach = max(0.01, *(abs(points) for row in rows for points in row.points))
        columns = ["category", "items", *([f"{balance.unit}s"] if by_unit else [])]
        for split in balance.splits:
            columns += [split, f"{split} %", f"{split} off"]
        cells = [
            (
                _category(row),
                row.total,
                *([sum(row.units)] if by_unit else []),
                *(
                    value
                    for at in range(len(balance.splits))
                    for value in (row.items[at], 100 * row.shares[at], row.points[at])
                ),
            )
            for row in rows
        ]
        charts.append(
            {
                "attribute": attribute or "all items",
                "lines": [_bars(row, reach) for row in rows[:_MOST_ROWS]],
                "reach": f"{reach:.2g}",
                "left_out": max(len(rows) - _MOST_ROWS, 0),
                "table": grid(
                    f"{attribute or 'all items'}: items, shares in percent, points off target", columns, cells
                ),
            }
        )
    return charts


def drift_chart(drifts: Sequence[Drift]) -> dict[str, Any]:
    """Return the bars of total variation with the level of chance, and the table of every figure."""
    reach = max([0.001, *(max(d.furthest.total_variation, d.furthest.chance_total_variation) for d in drifts)])
    lines = [
        {
            "name": each.attribute,
            "pair": f"{each.furthest.one} and {each.furthest.other}",
            "width": round(100 * each.furthest.total_variation / reach / 1.04, 2),
            "chance": round(100 * each.furthest.chance_total_variation / reach / 1.04, 2),
            "value": f"{each.furthest.total_variation:.4f}",
            "level": f"{each.furthest.chance_total_variation:.4f}",
        }
        for each in drifts
    ]
    rows = [
        (
            each.attribute,
            pair.one,
            pair.other,
            pair.total_variation,
            pair.chance_total_variation,
            pair.population_stability,
            pair.chance_population_stability,
            each.cramers_v,
            each.chance_cramers_v,
        )
        for each in drifts
        for pair in each.pairs
    ]
    columns = ("attribute", "split", "and", "total variation", "by chance", "stability index", "by chance")
    table = grid("drift between splits", (*columns, "Cramér's V", "by chance"), rows, digits=4)
    return {"lines": lines, "table": table, "by": ", ".join(dict.fromkeys(each.by for each in drifts))}


def compared_chart(compared: Mapping[str, Balance]) -> dict[str, Any]:
    """Return the bars of mean deviations, and the table of figures, of partitions side by side."""
    reach = max([1e-9, *(balance.mean for balance in compared.values())])
    lines = [
        {"name": name, "width": round(96 * balance.mean / reach, 2), "value": f"{balance.mean:.3g}"}
        for name, balance in compared.items()
    ]
    rows = [
        (
            name,
            balance.mean,
            balance.worst_points,
            balance.worst_items,
            balance.size,
            len(balance.empty),
            balance.mean_bound,
        )
        for name, balance in compared.items()
    ]
    columns = ("partition", "mean, points", "worst, points", "worst, items", "size, points", "empty", "no mean below")
    return {"lines": lines, "table": grid("partitions of the same items", columns, rows, digits=3)}


def plane_charts(planes: Sequence[Plane]) -> list[dict[str, Any]]:
    """Return the cells of each split's valence-arousal plane, and their tables."""
    charts: list[dict[str, Any]] = []
    for plane in planes:
        most = max(1, *(count for row in plane.counts for count in row))
        cells = [
            {"x": 10 * across, "y": 90 - 10 * up, "shade": round((count / most) ** 0.5, 3), "count": count}
            for up, row in enumerate(plane.counts)
            for across, count in enumerate(row)
        ]
        edges = [f"{-1 + 0.2 * at:.1f}" for at in range(10)]
        rows = [(edges[up], *plane.counts[up]) for up in range(9, -1, -1)]
        caption = f"{plane.partition}, {plane.split}: items by arousal (down) and valence (across), from"
        charts.append(
            {
                "partition": plane.partition,
                "split": plane.split,
                "cells": [cell for cell in cells if cell["count"]],
                "inside": sum(map(sum, plane.counts)),
                "outside": plane.outside,
                "table": grid(caption, ("arousal", *edges), rows),
            }
        )
    return charts


def crossing_charts(audit: Audit) -> list[dict[str, Any]]:
    """Return the charts of intersections, with the marks of their targets."""
    return [
        chart | {"marks": target_marks(balance)}
        for balance in audit.intersections.values()
        for chart in balance_charts(balance, whole=False)
    ]
