"""A subset as tables for the terminal: its cells before and after, and the attribute that was taken in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from .terminal import show_line, show_table

if TYPE_CHECKING:
    from ..partition import CrossTable, Drawn

__all__ = ["show_subset"]

_MOST_CELLS = 60


def show_subset(drawn: Drawn) -> None:
    """Print how a subset was drawn."""
    what = "subjects" if drawn.per == ("subject",) else "cells"
    click.echo(
        f"subset {drawn.name}: {drawn.after:,} of {drawn.before:,} items; {drawn.reduced:,} of {drawn.number:,} {what} "
        "hold more than they give"
    )
    if drawn.cells:
        shown = [(*cell.values, f"{cell.before:,}", f"{cell.after:,}") for cell in drawn.cells[:_MOST_CELLS]]
        show_table([*drawn.per, "before", "after"], shown, text_columns=len(drawn.per))
        if len(drawn.cells) > _MOST_CELLS:
            show_line(f"... and {len(drawn.cells) - _MOST_CELLS:,} more cells (manifest.json has all)")
    if drawn.alternate is None:
        return
    for (value, before, after), (_, without) in zip(drawn.totals, drawn.lacking, strict=True):
        show_line(
            f"{drawn.alternate} {value}: {after:,} items, {100 * after / max(drawn.after, 1):.1f} % of the subset "
            f"({100 * before / max(drawn.before, 1):.1f} % before); {without:,} {what} have none"
        )
    for table in drawn.tables:
        columns, rows = _cross(table)
        show_table(columns, rows)


def _cross(table: CrossTable) -> tuple[list[str], list[Sequence[str]]]:
    """Return the share of each category but the most frequent one, in percent, by another attribute."""
    totals = [sum(before[at] for _, before, _ in table.rows) for at in range(len(table.categories))]
    shown = sorted(range(len(totals)), key=lambda at: -totals[at])[1:]
    columns = [table.attribute, "before", "after"]
    for at in shown:
        columns += [f"% {table.categories[at]} before", "% after"]
    rows: list[Sequence[str]] = []
    for value, before, after in table.rows:
        row = [value, f"{sum(before):,}", f"{sum(after):,}"]
        for at in shown:
            row += [_percent(counts[at], sum(counts)) for counts in (before, after)]
        rows.append(row)
    return columns, rows


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"
