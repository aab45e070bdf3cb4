"""Charts and tables of scores by subgroup and of ROC curves, from the JSON of `protoctl score`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..errors import InputError
from .tables import COLOURS, grid

__all__ = ["curve_charts", "score_charts", "score_table"]

_MOST_CHARTS = 60
_MOST_LINES = 60
_DASHES = ("", "6 3", "2 3", "8 3 2 3")


def _rows(scores: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows in one form, whichever of both the JSON has: lists of names, or one name."""
    held: Any = scores.get("scores")
    if not isinstance(held, list):
        raise InputError("the scores hold no list 'scores'", hint="take what protoctl score --json prints")
    rows: list[dict[str, Any]] = []
    for place, given in enumerate(cast("list[Any]", held)):
        if not isinstance(given, Mapping) or "score" not in given:
            raise InputError(f"$.scores[{place}] names no score", hint="take what protoctl score --json prints")
        row: dict[str, Any] = dict(cast("Mapping[str, Any]", given))
        attribute = row.get("attributes", row.get("attribute")) or []
        category = row.get("subgroup", row.get("category")) or []
        for key in ("value", "low", "high"):
            value = row.get(key)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise InputError(f"$.scores[{place}].{key}: {value!r} is no number", hint="null where there is none")
            row[key] = value
        row["attribute"] = _joined(attribute, " x ")
        row["category"] = _joined(category, ", ")
        rows.append(row)
    return rows


def _joined(names: Any, mark: str) -> str:
    return names if isinstance(names, str) else mark.join(str(name) for name in names)


def _scale(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the ends of the axis: 0 and 1 where all lies there, else what there is and a margin."""
    values = [row[key] for row in rows for key in ("value", "low", "high") if row[key] is not None]
    if not values or (min(values) >= 0 and max(values) <= 1):
        return 0.0, 1.0
    margin = (max(values) - min(values)) * 0.05 or 1.0
    return min(values) - margin, max(values) + margin


def score_charts(scores: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a chart for each score and attribute: a line for each subgroup and model.

    Parameters
    ----------
    scores : mapping
        Key ``scores``: records of ``score``, ``model``, ``attributes`` and ``subgroup`` (or ``attribute`` and
        ``category``), ``value``, ``low``, ``high``, ``items``, ``subjects`` and ``small``.

    Returns
    -------
    charts : list of dict
        Keys ``title``, ``attribute``, ``lines``, ``from``, ``to`` and ``left_out``; the first sixty.

    Raises
    ------
    InputError
        If a record names no score or a value is no number.
    """
    rows = _rows(scores)
    models = list(dict.fromkeys(str(row.get("model", "")) for row in rows))
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    whole: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        task = str(row.get("task", ""))
        if row["category"]:
            groups.setdefault((task, str(row["score"]), row["attribute"]), []).append(row)
        elif not row["attribute"]:
            whole.setdefault((task, str(row["score"])), []).append({**row, "category": "all items"})
    charts: list[dict[str, Any]] = []
    for (task, score, attribute), held in list(groups.items())[:_MOST_CHARTS]:
        order = list(dict.fromkeys(row["category"] for row in held))
        # Models stand together, for they are compared within a subgroup.
        lines = [*whole.get((task, score), []), *sorted(held, key=lambda row: order.index(row["category"]))]
        low, high = _scale(lines)
        charts.append(
            {
                "title": score,
                "attribute": attribute,
                "lines": [_line(row, low, high, models) for row in lines[:_MOST_LINES]],
                "from": f"{low:.3g}",
                "to": f"{high:.3g}",
                "left_out": max(len(lines) - _MOST_LINES, 0),
            }
        )
    return charts


def _line(row: Mapping[str, Any], low: float, high: float, models: Sequence[str]) -> dict[str, Any]:
    def place(value: float | None) -> float | None:
        return None if value is None else round(2 + 96 * (value - low) / (high - low), 2)

    model = str(row.get("model", ""))
    return {
        "name": row["category"],
        "model": model if len(models) > 1 else "",
        "colour": COLOURS[models.index(model) % len(COLOURS)],
        "value": place(row["value"]),
        "low": place(row["low"]),
        "high": place(row["high"]),
        "small": bool(row.get("small")),
        "text": "none" if row["value"] is None else f"{row['value']:.3f}",
    }


def score_table(scores: Mapping[str, Any]) -> Any:
    """Return the table of every score."""
    rows = [
        (
            str(row.get("model", "")),
            str(row["score"]),
            row["attribute"] or "all items",
            row["category"],
            row["value"],
            row["low"],
            row["high"],
            row.get("chance"),
            row.get("items"),
            row.get("subjects"),
            "; ".join(note for note in ("small" if row.get("small") else "", str(row.get("note") or "")) if note),
        )
        for row in _rows(scores)
    ]
    columns = ("model", "score", "attribute", "category", "value", "low", "high", "chance", "items", "subjects", "note")
    return grid("scores with 95 % intervals", columns, rows, digits=3)


def curve_charts(scores: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the ROC curves, a chart for each model and attribute, with a table of true positive rates.

    Parameters
    ----------
    scores : mapping
        Key ``curves``: records of ``model``, ``attributes``, ``subgroup``, ``false_positive_rate`` and
        ``true_positive_rate``.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for curve in scores.get("curves") or []:
        key = (str(curve.get("model", "")), _joined(curve.get("attributes") or [], " x "))
        groups.setdefault(key, []).append(curve)
    charts: list[dict[str, Any]] = []
    levels = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5)
    for (model, attribute), curves in list(groups.items())[:_MOST_CHARTS]:
        lines: list[dict[str, Any]] = []
        for at, curve in enumerate(curves):
            false, true = curve["false_positive_rate"], curve["true_positive_rate"]
            step = max(len(false) // 200, 1)
            points = [*zip(false[::step], true[::step], strict=True), (false[-1], true[-1])]
            lines.append(
                {
                    "name": _joined(curve.get("subgroup") or [], ", ") or "all items",
                    "colour": COLOURS[at % len(COLOURS)],
                    "dash": _DASHES[at // len(COLOURS) % len(_DASHES)],
                    "points": " ".join(f"{100 * x:.2f},{100 - 100 * y:.2f}" for x, y in points),
                    "at": [_reached(false, true, level) for level in levels],
                }
            )
        columns = ("subgroup", *(f"at {level:g}" for level in levels))
        table = grid(
            "true positive rate at false positive rates", columns, [(x["name"], *x["at"]) for x in lines], digits=3
        )
        charts.append({"model": model, "attribute": attribute or "all items", "lines": lines, "table": table})
    return charts


def _reached(false: Sequence[float], true: Sequence[float], level: float) -> float:
    """Return the largest true positive rate whose false positive rate is not above a level."""
    return max((y for x, y in zip(false, true, strict=True) if x <= level), default=0.0)
