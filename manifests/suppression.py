"""Balance tables that do not give a person away: small counts left out, the others rounded, frozen over small changes.

Exact tables before and after one withdrawal name a person's age, gender and race by subtraction, and rounding alone
does not stop it. So a table with small counts says nothing about them, a lone gap in a sum is widened to two, and
over a change of fewer than `k` units the table stays what it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["KEEP_BELOW", "frozen_balance", "suppressed_balance"]

KEEP_BELOW = 10
"""Over a change of fewer units than this, the balance table stays what it was."""

_KEPT = ("splits", "ratios", "unit", "as_of")


def suppressed_balance(balance: Mapping[str, Any], *, suppress_below: int = 10, round_to: int = 5) -> dict[str, Any]:
    """Return a manifest's balance with small counts left out and the others rounded.

    Parameters
    ----------
    balance : mapping
        The document's ``balance``.
    suppress_below : int
        A count below this is left out (null), and with it the smallest other one of the same attribute and split
        where it would be the only gap.
    round_to : int
        The others are rounded to a multiple of this.

    Returns
    -------
    balance : dict
        Shares, which would tell the counts, are left out; the mean and the worst deviation keep one decimal.

    Examples
    --------
    >>> row = {"attribute": "race", "role": "category"}
    >>> counts = {"a": [103, 31], "b": [58, 29], "c": [40, 7]}
    >>> rows = [row | {"value": name, "items": each, "units": each} for name, each in counts.items()]
    >>> document = {"splits": ["train", "test"], "ratios": [3, 1], "unit": "item", "categories": rows}
    >>> [row["items"] for row in suppressed_balance(document)["categories"]]
    [[105, 30], [60, None], [40, None]]
    """
    rows = [row for row in balance["categories"] if row["role"] != "known"]
    hidden = _hidden(rows, suppress_below)
    kept = {key: balance[key] for key in _KEPT if key in balance}
    for figure in ("mean_pp", "worst_pp", "size_pp"):
        if figure in balance:
            kept[figure] = round(balance[figure], 1)
    kept |= {"suppress_below": suppress_below, "round_to": round_to}
    kept["categories"] = [
        {"attribute": row["attribute"], "value": row["value"], "role": row["role"]}
        | {
            counts: [
                None if at in hidden[number] else round_to * ((2 * count + round_to) // (2 * round_to))
                for at, count in enumerate(row[counts])
            ]
            for counts in ("items", "units")
        }
        for number, row in enumerate(rows)
    ]
    return kept


def _hidden(rows: list[Mapping[str, Any]], least: int) -> list[set[int]]:
    """Return the splits in which each row's counts are left out."""
    hidden = [
        {
            at
            for at in range(len(row["items"]))
            if None in _cell(row, at) or min(row["items"][at], row["units"][at]) < least
        }
        for row in rows
    ]
    groups: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        if row["role"] != "total":
            groups.setdefault(row["attribute"], []).append(number)
    for members in groups.values():
        if len(members) < 2:
            continue
        for at in range(len(rows[members[0]]["items"])):
            gaps = [number for number in members if at in hidden[number]]
            if len(gaps) == 1:
                others = [number for number in members if number not in gaps]
                hidden[min(others, key=lambda number: (rows[number]["items"][at], number))].add(at)
    return hidden


def _cell(row: Mapping[str, Any], at: int) -> tuple[Any, Any]:
    return row["items"][at], row["units"][at]


def frozen_balance(balance: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return an earlier version's balance, marked with its ``name@version``, for the version after a small change."""
    return {**balance, "as_of": balance.get("as_of", title)}
