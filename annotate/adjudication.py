"""Units that need a second look go out in a file; decisions come back in one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Problems, VotesError, unknown
from ..tabular import read_table
from .consensus import LABEL_STATUSES, Labels
from .votes import Votes

__all__ = ["read_decisions", "review_rows"]

REVIEW_COLUMNS = ("control", "reason", "votes", "candidates", "label", "share", "stability", "decision", "note")


def review_rows(votes: Votes, labels: Labels, *, stable: float = 0.7) -> list[dict[str, str]]:
    """List the units that need a look: ties, disagreements, too few votes, labels of low stability.

    Parameters
    ----------
    votes : Votes
        The votes that count.
    labels : Labels
        Settled from them.
    stable : float
        Stability below which a label is listed.

    Returns
    -------
    rows : list of dict
        One a unit, least certain first, then by unit; `decision` and `note` are empty.

    Raises
    ------
    VotesError
        If `stable` is outside [0, 1].
    """
    if not 0 <= stable <= 1:
        raise VotesError(f"stability {stable} is outside 0 to 1", hint="0.7 lists labels that few would trust")
    rank = {"tie": 0, "disagreement": 0, "too few": 1}
    found: list[tuple[tuple[float, ...], str, dict[str, str]]] = []
    starts = np.searchsorted(votes.unit, np.arange(len(labels) + 1))
    low = np.nan_to_num(labels.stability, nan=1.0) < stable
    decided = labels.status == LABEL_STATUSES.index("adjudicated")
    open_units = np.isin(labels.status, [LABEL_STATUSES.index(name) for name in rank])
    for place in np.flatnonzero((low | open_units) & ~decided).tolist():
        status = LABEL_STATUSES[labels.status[place]]
        reason = status if status in rank else "low stability"
        stability = labels.stability[place]
        key = (float(rank.get(status, 2)), 0.0 if np.isnan(stability) else float(stability))
        row = _review_row(votes, labels, place, slice(starts[place], starts[place + 1]), reason)
        found.append((key, labels.units[place], row))
    return [row for _, _, row in sorted(found, key=lambda each: each[:2])]


def _review_row(votes: Votes, labels: Labels, place: int, own: slice, reason: str) -> dict[str, str]:
    categories = labels.scale.categories
    said: list[str] = []
    for who, category, doubtful in zip(
        votes.annotator[own].tolist(), votes.category[own].tolist(), votes.doubtful[own].tolist(), strict=True
    ):
        name = votes.annotators[who] if who >= 0 else "?"
        said.append(f"{name}: {categories[category]}{' (not confident)' if doubtful else ''}")
    label, stability = int(labels.label[place]), float(labels.stability[place])
    share = float(labels.share[place])
    return {
        labels.unit_kind: labels.units[place],
        "control": labels.control,
        "reason": reason,
        "votes": "; ".join(said),
        "candidates": "|".join(categories[at] for at in np.flatnonzero(labels.candidates[place]).tolist()),
        "label": categories[label] if label >= 0 else "",
        "share": "" if np.isnan(share) else f"{share:.4f}",
        "stability": "" if np.isnan(stability) else f"{stability:.4f}",
        "decision": "",
        "note": "",
    }


def read_decisions(path: Path, votes: Sequence[Votes]) -> dict[str, dict[str, str]]:
    """Read decided units back.

    Parameters
    ----------
    path : pathlib.Path
        A table with the unit (``item`` or ``subject``), ``decision``, and ``control`` where several are labelled;
        the file of `review_rows`, filled in. Rows without a decision are passed over.
    votes : sequence of Votes
        One a control.

    Returns
    -------
    decisions : dict of str to dict of str to str
        By control, category by unit.

    Raises
    ------
    VotesError
        If a unit, a control or a category is unknown, or a unit is decided twice and differently.
    """
    table = read_table(path)
    kind = votes[0].unit_kind
    table.require([kind, "decision"])
    columns = set(table.table.column_names)
    if len(votes) > 1:
        table.require(["control"])
    rows: list[dict[str, Any]] = table.table.to_pylist()
    by_control = {each.control: (each, set(each.units)) for each in votes}
    found: dict[str, dict[str, str]] = {each.control: {} for each in votes}
    problems = Problems()
    for number, row in enumerate(rows):
        if not row["decision"]:
            continue
        control = row["control"] if "control" in columns else votes[0].control
        if control not in by_control:
            message, hint = unknown("control", str(control), list(by_control))
            problems.add(table.place(number, "control"), message, hint=hint)
            continue
        own, units = by_control[control]
        category = own.scale.category(row["decision"])
        if row[kind] not in units:
            problems.add(table.place(number, kind), f"{row[kind]!r} is no {kind} of the votes")
        elif category is None:
            hint = f"the scale has {', '.join(own.scale.categories)}"
            message = f"{row['decision']!r} is not on the scale {own.scale.name}"
            problems.add(table.place(number, "decision"), message, hint=hint)
        elif found[control].setdefault(row[kind], category) != category:
            problems.add(table.place(number, "decision"), f"{row[kind]} is decided twice, and differently")
    problems.refuse(VotesError, f"{path} is refused")
    return found
