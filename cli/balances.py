"""A balance as a table and sentences for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..partition import Balance

__all__ = ["balance_lines", "balance_rows"]


def balance_rows(balance: Balance) -> tuple[list[str], list[Sequence[str]]]:
    """Return the columns and rows of a balance table: counts, and each split's share in percent."""
    whole = sum(balance.ratios)
    targets = [f"{100 * ratio / whole:.4g}%" for ratio in balance.ratios]
    by_subject = balance.unit != "item"
    columns = ["attribute", "category", "items", *(["subjects"] if by_subject else [])]
    columns += [f"{name} {target}" for name, target in zip(balance.splits, targets, strict=True)]
    rows: list[Sequence[str]] = []
    for row in balance.rows:
        if row.role == "known":
            continue
        counts: list[str] = [f"{row.total:,}", *([f"{sum(row.units):,}"] if by_subject else [])]
        shares = [f"{100 * share:.2f}" if row.total else "-" for share in row.shares]
        category = {"total": "total", "active": "active", "missing": "(missing)"}.get(row.role) or row.value
        rows.append((row.attribute, category, *counts, *shares))
    return columns, rows


def balance_lines(balance: Balance) -> list[str]:
    """Return the sentences under the table: worst, mean with its bound, size, empty pairs."""
    lines: list[str] = []
    worst = balance.worst
    if worst is not None:
        row, at = worst
        lines.append(
            f"worst deviation: {balance.worst_points:.2f} points ({row.name} in {balance.splits[at]}), "
            f"{balance.worst_items:.2f} items at most"
        )
        lines.append(f"mean deviation: {balance.mean:.3g} points{_bound(balance)}")
    lines.append(f"size: within {balance.size:.3g} points of the targets")
    if balance.empty:
        shown = ", ".join(f"{row.name} in {balance.splits[at]}" for row, at in balance.empty)
        lines.append(f"empty though enough units hold it: {shown}")
    unavoidable = [place for place in balance.all_empty if place not in balance.empty]
    if unavoidable:
        shown = ", ".join(f"{row.name} in {balance.splits[at]}" for row, at in unavoidable)
        lines.append(f"empty since fewer units than splits hold it: {shown}")
    return lines


def _bound(balance: Balance) -> str:
    if balance.proven:
        return "; proven: no partition has a smaller sum of deviations"
    if balance.mean_bound is None:
        return ""
    gap = f" (gap {100 * balance.gap:.1f} % of the sum)" if balance.gap is not None else ""
    return f"; no partition can go below {balance.mean_bound:.3g}{gap}"
