"""Predictions joined to the truth: every problem is named and counted, and nothing is averaged silently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..catalog.items import normal_item
from ..errors import InputError, Problems, closest, listing, unknown

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from ..tabular import TextTable

__all__ = ["COLUMNS", "Matched", "Skip", "Truth", "category_codes", "match_predictions", "numbers"]

Skip = Literal["missing", "unknown", "invalid"]

COLUMNS: Mapping[str, str] = {
    "item": "the item, as the manifest names it",
    "model": "which model says so, where there are several (a service, for corruptions)",
    "predicted": "expression: the predicted category",
    "predicted_AU1 ...": "action units: 0 or 1, or a probability (its threshold is chosen on the validation split)",
    "predicted_valence, predicted_arousal": "valence and arousal: numbers",
    "probability": "deepfake detection: the probability of a fake, in [0, 1]",
    "predicted_age": "age in years, or an age group",
    "predicted_gender": "a category of gender",
    "frame": "which frame of a video the row is of; empty numbers mean that no face was found",
    "corruption, severity, faces": "robustness: what was done to the image (clean for nothing), 1 to 5, faces found",
    "label, AU1, valence, subject, split, age ...": "the truth and attributes, where no dataset gives them",
}
"""The columns of a table of predictions, one row an item (or a frame, or a corruption of an item)."""

_MOST = 5


@dataclass(frozen=True)
class Truth:
    """What predictions are held against.

    Parameters
    ----------
    table : pyarrow.Table
        Column ``item`` (unique), optionally ``subject`` and ``split``, labels and attributes; text, null is missing.
    categories : mapping of str to tuple of str
        Categories of a column, in order; a column that is not named has those that it holds, sorted.
    unscored : mapping of str to tuple of str
        Categories of an attribute that no score over subgroups uses (``Other``, ``Unsure``).
    attributes : tuple of str
        The attributes.
    split : str or None
        The split to score; None for all items.
    notes : tuple of str
        What the reader must know (a replica).
    """

    table: pa.Table
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    unscored: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    attributes: tuple[str, ...] = ()
    split: str | None = None
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> list[str | None]:
        """Return a column as a list."""
        return self.table[name].to_pylist()

    def has(self, name: str) -> bool:
        """Return whether the column exists and holds any value."""
        return name in self.table.column_names and self.table[name].null_count < self.table.num_rows

    def of(self, name: str) -> tuple[str, ...]:
        """Return the categories of a column, in order."""
        known = self.categories.get(name)
        return known or tuple(sorted({value for value in self.column(name) if value is not None}))

    def in_split(self, split: str | None) -> NDArray[np.bool_]:
        """Return which items are in a split; all of them for None."""
        if split is None:
            return np.ones(self.table.num_rows, np.bool_)
        splits = self.column("split") if "split" in self.table.column_names else []
        if split not in splits:
            message, hint = unknown("split", split, sorted({name for name in splits if name}))
            raise InputError(message, hint=hint)
        return np.array([name == split for name in splits], np.bool_)


@dataclass(frozen=True)
class Matched:
    """The predictions of one model beside the truth.

    Parameters
    ----------
    model : str
        Its name; empty where the table names none.
    rows : ndarray of int, shape (n_rows,)
        Rows of the predictions, by item and what else tells rows apart.
    at : ndarray of int, shape (n_rows,)
        The row of the truth that each belongs to.
    counts : mapping of str to int
        Items skipped or left, by reason.
    """

    model: str
    rows: NDArray[np.int64]
    at: NDArray[np.int64]
    counts: Mapping[str, int] = field(default_factory=dict[str, int])

    def kept(self, keep: NDArray[np.bool_], reason: str) -> Matched:
        """Return the rows that are kept; the others are counted under the reason."""
        lost = int((~keep).sum())
        counts = {**self.counts, reason: self.counts.get(reason, 0) + lost} if lost else self.counts
        return replace(self, rows=self.rows[keep], at=self.at[keep], counts=counts)


def match_predictions(
    predictions: TextTable,
    truth: Truth,
    *,
    keys: Sequence[str] = (),
    skip: Sequence[Skip] = (),
    also: Sequence[str] = (),
) -> tuple[Matched, ...]:
    """Join predictions to the truth, model by model.

    Parameters
    ----------
    predictions : TextTable
        With column ``item``.
    truth : Truth
        What they are held against.
    keys : sequence of str
        Columns besides ``item`` and ``model`` that tell rows apart (``frame``; ``corruption`` and ``severity``).
    skip : sequence of {"missing", "unknown"}
        What is counted and not refused: items of the split without a prediction; predictions of unknown items.
    also : sequence of str
        Further splits whose predictions are kept (those that thresholds are chosen on).

    Returns
    -------
    matched : tuple of Matched
        By model, in order of names.

    Raises
    ------
    InputError
        If a row stands twice; if an item is missing or unknown and is not skipped.
    """
    predictions.require(["item", *keys])
    names: list[str] = predictions.table.column_names
    items = [normal_item(value or "") for value in predictions.table["item"].to_pylist()]
    models = [""] * len(items)
    if "model" in names:
        models = [value or "" for value in predictions.table["model"].to_pylist()]
    place = {str(item): at for at, item in enumerate(truth.column("item"))}
    found = np.array([place.get(item, -1) for item in items], np.int64)
    others = [predictions.table[name].to_pylist() for name in keys]
    wanted = truth.in_split(truth.split)
    kept = np.logical_or.reduce([wanted, *(truth.in_split(split) for split in also)])
    problems = Problems()
    _note_double(problems, predictions, list(zip(models, items, *others, strict=True)))
    if "unknown" not in skip:
        _note_unknown(problems, predictions, items, found, list(place))
    of_model = np.array(models, object)
    out: list[Matched] = []
    for model in sorted(set(models)):
        mine = of_model == model
        known = mine & (found >= 0)
        inside = known & kept[found]
        order = sorted(np.flatnonzero(inside).tolist(), key=lambda row: (items[row], *(str(o[row]) for o in others)))
        missing = wanted.copy()
        missing[found[known]] = False
        if bool(missing.any()) and "missing" not in skip:
            _note_missing(problems, model, truth, missing)
        counts = {
            "without a prediction": int(missing.sum()),
            "unknown to the dataset": int((mine & ~known).sum()),
            "of another split": int(known.sum() - inside.sum()),
        }
        rows = np.array(order, np.int64)
        out.append(Matched(model, rows, found[rows], {reason: count for reason, count in counts.items() if count}))
    problems.refuse(InputError, f"{predictions.path.name} is refused", most=2 * _MOST)
    return tuple(out)


def _note_double(problems: Problems, predictions: TextTable, keys: list[tuple[Any, ...]]) -> None:
    if len(set(keys)) == len(keys):
        return
    first: dict[tuple[Any, ...], int] = {}
    for row, key in enumerate(keys):
        earlier = first.setdefault(key, row)
        if earlier != row:
            shown = " ".join(str(part) for part in key if part)
            problems.add(
                predictions.place(row),
                f"{shown} is predicted twice (first: {predictions.place(earlier)})",
                hint="one row an item and model; add a column frame where rows are frames",
            )


def _note_unknown(
    problems: Problems, predictions: TextTable, items: list[str], found: NDArray[np.int64], known: Sequence[str]
) -> None:
    rows = np.flatnonzero(found < 0).tolist()
    for row in rows[:_MOST]:
        near = closest(items[row], known[:2000])
        hint = f"did you mean {near!r}? " if near else ""
        problems.add(
            predictions.place(row, "item"),
            f"the dataset has no item {items[row]!r}",
            hint=f"{hint}--skip unknown leaves them out and counts them",
        )
    if len(rows) > _MOST:
        problems.add(predictions.path.name, f"{len(rows) - _MOST:,} more unknown items")


def _note_missing(problems: Problems, model: str, truth: Truth, missing: NDArray[np.bool_]) -> None:
    items = truth.column("item")
    names = [str(items[at]) for at in np.flatnonzero(missing).tolist()]
    problems.add(
        f"model {model}" if model else "predictions",
        f"{len(names):,} items of {truth.split or 'the truth'} have no prediction: {listing(names, most=_MOST)}",
        hint="predict every item of the split, or --skip missing: the scores then say how many are missing",
    )


def category_codes(
    predictions: TextTable, matched: Matched, column: str, categories: Sequence[str], skip: Sequence[Skip]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the position of each predicted category, and what was odd.

    Parameters
    ----------
    column : str
        The column that holds it.
    categories : sequence of str
        Those of the truth; a spelling in another case is taken for the category, and counted.
    skip : sequence of {"invalid"}
        Whether an empty value is counted and left out (-1) instead of refused. A category that does not exist is
        always refused: it would count as wrong under a name that nobody sees.

    Returns
    -------
    codes : ndarray of int, shape (n_rows,)
        -1 where the value is empty.
    notes : tuple of str
    """
    exact = {category: at for at, category in enumerate(categories)}
    folded = {category.casefold(): at for category, at in exact.items()}
    values: list[str | None] = predictions.table[column].to_pylist()
    problems = Problems()
    codes = np.full(len(matched.rows), -1, np.int64)
    cased: dict[str, int] = {}
    wrong: dict[str, list[int]] = {}
    for place, row in enumerate(matched.rows.tolist()):
        value = values[row] or ""
        if value in exact:
            codes[place] = exact[value]
        elif value.casefold() in folded:
            codes[place] = folded[value.casefold()]
            cased[value] = cased.get(value, 0) + 1
        elif value or "invalid" not in skip:
            wrong.setdefault(value, []).append(row)
    for value, rows in wrong.items():
        message, hint = unknown("category", value, list(categories))
        if not value:
            message, hint = "the prediction is empty", "predict it, or --skip invalid leaves the item out and counts it"
        more = f" ({len(rows):,} rows)" if len(rows) > 1 else ""
        problems.add(predictions.place(rows[0], column), message + more, hint=hint)
    problems.refuse(InputError, f"{predictions.path.name} is refused", most=2 * _MOST)
    notes = [f"{count:,} predictions {value!r} were taken for {categories[folded[value.casefold()]]!r}"
             for value, count in sorted(cased.items())]  # fmt: skip
    return codes, tuple(notes)


def numbers(
    predictions: TextTable,
    matched: Matched,
    column: str,
    *,
    bounds: tuple[float, float] | None,
    skip: Sequence[Skip],
    empty: bool = False,
) -> NDArray[np.float64]:
    """Return a column as numbers.

    Parameters
    ----------
    bounds : tuple of float or None
        Least and greatest that is allowed.
    skip : sequence of {"invalid"}
        Whether what is no number, or out of bounds, becomes NaN (to be left out and counted) instead of refused.
    empty : bool
        Whether an empty value is allowed (a frame without a face) and becomes NaN.

    Raises
    ------
    InputError
        Naming every place.
    """
    values: list[str | None] = predictions.table[column].to_pylist()
    problems = Problems()
    out = np.full(len(matched.rows), np.nan)
    for place, row in enumerate(matched.rows.tolist()):
        text = values[row] or ""
        if not text and empty:
            continue
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        inside = np.isfinite(number) and (bounds is None or bounds[0] <= number <= bounds[1])
        if inside:
            out[place] = number
        elif "invalid" not in skip:
            wanted = f"in [{bounds[0]:g}, {bounds[1]:g}]" if bounds else "a finite number"
            problems.add(
                predictions.place(row, column),
                f"{text!r} is not {wanted}",
                hint="correct it, or --skip invalid leaves the item out and counts it",
            )
    problems.refuse(InputError, f"{predictions.path.name} is refused", most=2 * _MOST)
    return out
