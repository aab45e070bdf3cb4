"""Each task's predictions as sums or ranks: what `estimates` needs to score them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..catalog.items import label_kind
from ..errors import InputError
from ..scales import AGE_GROUPS
from .action_units import best_thresholds, f1_au, predicted_rates, unit_counts
from .age_gender import age_of_videos
from .estimates import Ranks, Sums
from .expression import balanced_accuracy, f1_macro, predicted_shares
from .fairness import demographic_parity_difference, group_mean, statistical_parity
from .frames import most_frequent
from .predictions import Matched, Skip, Truth, category_codes, match_predictions, numbers
from .valence_arousal import ccc, moments, mse, pcc, rmse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..tabular import TextTable

__all__ = ["Part", "TASKS", "label_columns", "parts_of", "ratio"]

_Array = Any


@dataclass(frozen=True)
class Part:
    """The scores of one model in one task.

    Parameters
    ----------
    model, task : str
        Whose, of what.
    at : ndarray of int, shape (n_items,)
        The row of the truth of each scored item.
    what : Sums or Ranks
        How the scores are computed.
    counts : mapping of str to int
        What was left out, by reason.
    notes : tuple of str
        What must be said.
    alike : ndarray of int, shape (n_items,), or None
        Items of one number add the same to all sums.
    errors : ndarray of int, shape (n_items, 15, 5), or None
        Of corruptions: whether the number of faces differs.
    """

    model: str
    task: str
    at: NDArray[np.int64]
    what: Sums | Ranks
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    notes: tuple[str, ...] = ()
    alike: NDArray[np.int64] | None = None
    errors: NDArray[np.int64] | None = None


def label_columns(truth: Truth, kind: str) -> tuple[str, ...]:
    """Return the label columns of a kind that the truth holds: ``binary`` or ``continuous``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> label_columns(Truth(pa.table({"item": ["a"], "AU12": ["1"], "AU1": ["0"]})), "binary")
    ('AU1', 'AU12')
    """
    names = [name for name in truth.table.column_names if label_kind(name) == kind and truth.has(name)]
    if kind == "continuous":
        return tuple(sorted(names, reverse=True))
    return tuple(sorted(names, key=lambda name: int(name[2:])))


def ratio(sums: _Array) -> _Array:
    """Return the first sum over the second; NaN where that is 0.

    Examples
    --------
    >>> ratio(np.array([[1.0, 4.0], [0.0, 0.0]])).tolist()
    [0.25, nan]
    """
    return np.where(sums[..., 1] > 0, sums[..., 0] / np.where(sums[..., 1] > 0, sums[..., 1], 1.0), np.nan)


def _labels(truth: Truth, column: str, categories: Sequence[str]) -> NDArray[np.int64]:
    place = {category: at for at, category in enumerate(categories)}
    return np.array([-1 if value is None else place.get(value, -1) for value in truth.column(column)], np.int64)


def _drop(matched: Matched, keep: NDArray[np.bool_], reason: str, *arrays: Any) -> tuple[Any, ...]:
    return (matched.kept(keep, reason), *(array[keep] for array in arrays))


def expression_parts(table: TextTable, truth: Truth, scores: Sequence[str], skip: Sequence[Skip]) -> list[Part]:
    """Return the parts of expression scores."""
    categories = truth.of("label")
    labels = _labels(truth, "label", categories)
    size = len(categories)
    out: list[Part] = []
    for matched in match_predictions(table, truth, skip=skip):
        said, notes = category_codes(table, matched, "predicted", categories, skip)
        matched, said = _drop(matched, said >= 0, "with an invalid prediction", said)
        matched, said = _drop(matched, labels[matched.at] >= 0, "without a label", said)
        cell = labels[matched.at] * size + said
        never = [name for at, name in enumerate(categories) if not bool((said == at).any())]
        notes += (f"never predicted: {', '.join(never)}",) if never else ()
        out.append(
            Part(
                matched.model,
                "expression",
                matched.at,
                _expression_sums(cell, size, scores),
                matched.counts,
                notes,
                cell,
            )
        )
    return out


def _expression_sums(cell: NDArray[np.int64], size: int, scores: Sequence[str]) -> Sums:
    measures = {"f1_macro": f1_macro, "balanced_accuracy": balanced_accuracy}
    over: dict[str, Any] = {
        "f1_by_group": lambda counts: group_mean(f1_macro(counts)),
        "statistical_parity": lambda counts: statistical_parity(predicted_shares(counts)),
    }
    true, said = np.divmod(cell, size)
    right = np.flatnonzero(true == said)
    every = np.arange(len(cell))
    return Sums(
        np.concatenate([every, every, right]),
        np.concatenate([true, size + said, 2 * size + true[right]]),
        np.ones(2 * len(cell) + len(right)),
        (3 * size,),
        {name: measure for name, measure in measures.items() if name in scores},
        {name: measure for name, measure in over.items() if name in scores},
    )


def action_unit_parts(table: TextTable, truth: Truth, scores: Sequence[str], skip: Sequence[Skip]) -> list[Part]:
    """Return the parts of action-unit scores; thresholds come from the validation split."""
    units = [name for name in label_columns(truth, "binary") if f"predicted_{name}" in table.table.column_names]
    codes = {"1": 1, "0": 0}
    labels = np.array([[codes.get(value or "", -1) for value in truth.column(name)] for name in units], np.int64).T
    splits = set(truth.column("split")) if "split" in truth.table.column_names else set[str | None]()
    also = ("valid",) if truth.split and truth.split != "valid" and "valid" in splits else ()
    out: list[Part] = []
    for matched in match_predictions(table, truth, skip=skip, also=also):
        said = np.column_stack(
            [numbers(table, matched, f"predicted_{name}", bounds=(0, 1), skip=skip) for name in units]
        )
        matched, said = _drop(matched, np.asarray(~np.isnan(said).any(axis=1)), "with an invalid prediction", said)
        thresholds, notes = _thresholds(matched, said, labels, truth, bool(also), units)
        matched, said = _drop(matched, truth.in_split(truth.split)[matched.at], "of the validation split", said)
        sums = _unit_sums(labels[matched.at], said >= thresholds, scores)
        out.append(Part(matched.model, "action_unit", matched.at, sums, matched.counts, notes))
    return out


def _thresholds(
    matched: Matched, said: _Array, labels: _Array, truth: Truth, valid: bool, units: Sequence[str]
) -> tuple[_Array, tuple[str, ...]]:
    if bool(np.isin(said, (0.0, 1.0)).all()):
        return np.full(len(units), 0.5), ()
    inside = truth.in_split("valid")[matched.at] if valid else np.zeros(len(matched.at), np.bool_)
    if not bool(inside.any()):
        raise InputError(
            f"model {matched.model or 'of the table'} gives probabilities, and no validation item to choose "
            "thresholds on",
            hint="add the predictions of the split valid, or give 0 and 1; thresholds are never chosen on test",
        )
    found = best_thresholds(labels[matched.at[inside]], said[inside])
    shown = ", ".join(f"{name} {value:g}" for name, value in zip(units, found, strict=True))
    return np.array(found), (f"thresholds chosen on {int(inside.sum()):,} items of valid: {shown}",)


def _unit_sums(labels: _Array, said: _Array, scores: Sequence[str]) -> Sums:
    counts = unit_counts(labels, said.astype(np.int64))
    row, column = np.nonzero(counts)
    over: dict[str, Any] = {
        "demographic_parity_difference": lambda sums: demographic_parity_difference(predicted_rates(sums))
    }
    return Sums(
        row,
        column,
        np.ones(len(row)),
        (counts.shape[1],),
        {"f1_au": f1_au} if "f1_au" in scores else {},
        {name: measure for name, measure in over.items() if name in scores},
    )


def valence_arousal_parts(table: TextTable, truth: Truth, scores: Sequence[str], skip: Sequence[Skip]) -> list[Part]:
    """Return the parts of valence and arousal: every score is the mean of both."""
    names = [name for name in label_columns(truth, "continuous") if f"predicted_{name}" in table.table.column_names]
    labels = np.array([[np.nan if value is None else float(value) for value in truth.column(name)] for name in names]).T
    known = {"ccc": ccc, "pcc": pcc, "mse": mse, "rmse": rmse}

    measures = {name: measure for name, measure in known.items() if name in scores}
    over: dict[str, Any] = {}
    if "ccc_by_group" in scores:
        over["ccc_by_group"] = lambda sums: group_mean(ccc(sums))
    out: list[Part] = []
    for matched in match_predictions(table, truth, skip=skip):
        said = np.column_stack([numbers(table, matched, f"predicted_{name}", bounds=None, skip=skip) for name in names])
        matched, said = _drop(matched, np.asarray(~np.isnan(said).any(axis=1)), "with an invalid prediction", said)
        matched, said = _drop(matched, np.asarray(~np.isnan(labels[matched.at]).any(axis=1)), "without a label", said)
        centre = labels[matched.at].mean(axis=0) if len(said) else 0.0
        added = moments(labels[matched.at] - centre, said - centre)
        row, column = np.divmod(np.arange(added.size), added.shape[1])
        sums = Sums(row, column, added.reshape(-1), (6 * len(names),), measures, over)
        notes = (f"the mean of {' and '.join(names)}",) if len(names) > 1 else (f"{names[0]} only",)
        out.append(Part(matched.model, "valence_arousal", matched.at, sums, matched.counts, notes))
    return out


def _accuracy(matched: Matched, task: str, right: _Array, said: _Array, notes: tuple[str, ...]) -> Part:
    ones = np.ones(len(right))
    rows = np.concatenate([np.arange(len(right))] * 2)
    columns = np.concatenate([np.zeros(len(right), np.int64), np.ones(len(right), np.int64)])
    sums = Sums(rows, columns, np.concatenate([right.astype(float), ones]), (2,), {"accuracy": ratio})
    return Part(matched.model, task, matched.at, sums, matched.counts, notes, right.astype(np.int64))


def attribute_parts(
    table: TextTable, truth: Truth, task: str, scores: Sequence[str], skip: Sequence[Skip]
) -> list[Part]:
    """Return the parts of age or gender: the share of videos (or images) whose attribute is estimated right."""
    categories = truth.of(task)
    labels = _labels(truth, task, categories)
    framed = "frame" in table.table.column_names
    out: list[Part] = []
    for matched in match_predictions(table, truth, keys=("frame",) if framed else (), skip=skip):
        said, where, notes = _of_frames(table, matched, task, categories, skip, framed)
        matched = Matched(matched.model, where, where, matched.counts)
        matched, said = _drop(matched, said >= 0, "without an estimate (no face, a tie, or no group)", said)
        matched, said = _drop(matched, labels[matched.at] >= 0, "without the attribute", said)
        right = labels[matched.at] == said
        out.append(_accuracy(matched, task, right, said, notes))
    return out


def _of_frames(
    table: TextTable, matched: Matched, task: str, categories: Sequence[str], skip: Sequence[Skip], framed: bool
) -> tuple[_Array, _Array, tuple[str, ...]]:
    """Return the estimate of each item, its row of the truth, and notes."""
    where, video = np.unique(matched.at, return_inverse=True)
    video = video.reshape(-1)
    column = f"predicted_{task}"
    if task == "age":
        groups = next((g for g in AGE_GROUPS.values() if set(categories) <= set(g.categories)), None)
        texts = {table.table[column][row].as_py() or "" for row in matched.rows[:1000].tolist()}
        if groups is not None and not texts & set(categories):
            years = numbers(table, matched, column, bounds=(0, 150), skip=skip, empty=framed)
            codes = age_of_videos(video, years, groups)
            order = {name: at for at, name in enumerate(categories)}
            turned = np.array([order.get(name, len(categories)) for name in groups.categories])
            return np.where(codes >= 0, turned[codes], -1), where, (f"age: years cut into the groups {groups.name}",)
    codes, notes = category_codes(table, matched, column, categories, (*skip, "invalid") if framed else skip)
    mode, tied = most_frequent(video, codes, len(categories))
    if bool(tied.any()):
        notes += (f"{int(tied.sum()):,} videos whose frames are tied between two categories: left out",)
    return mode, where, notes


TASKS: Mapping[str, str] = {
    "expression": "label and predicted",
    "action_unit": "AU1 ... and predicted_AU1 ...",
    "valence_arousal": "valence, arousal and predicted_valence, predicted_arousal",
    "deepfake": "label (real or fake) and probability",
    "age": "age and predicted_age",
    "gender": "gender and predicted_gender",
    "corruption": "corruption, severity and faces",
}
"""What each task needs of the truth and of the predictions."""


def can_score(task: str, table: TextTable, truth: Truth) -> bool:
    """Return whether the columns that a task needs are there."""
    have = set(table.table.column_names)
    if task == "expression":
        return truth.has("label") and "predicted" in have
    if task in ("action_unit", "valence_arousal"):
        names = label_columns(truth, "binary" if task == "action_unit" else "continuous")
        return any(f"predicted_{name}" in have for name in names)
    if task == "deepfake":
        return truth.has("label") and "probability" in have
    if task in ("age", "gender"):
        return truth.has(task) and f"predicted_{task}" in have
    return {"corruption", "severity", "faces"} <= have


def parts_of(
    task: str, table: TextTable, truth: Truth, scores: Sequence[str], skip: Sequence[Skip], seed: int
) -> list[Part]:
    """Return the parts of one task, model by model; none where its columns are not there."""
    if not can_score(task, table, truth):
        return []
    if task in ("age", "gender"):
        return attribute_parts(table, truth, task, scores, skip)
    if task == "deepfake":
        from .score_detection import detection_parts

        return detection_parts(table, truth, scores, skip, seed)
    if task == "corruption":
        from .score_corruption import corruption_parts

        return corruption_parts(table, truth, scores, skip)
    made = {
        "expression": expression_parts,
        "action_unit": action_unit_parts,
        "valence_arousal": valence_arousal_parts,
    }
    return made[task](table, truth, scores, skip)
