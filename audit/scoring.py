"""Scores of predictions, by the protocol's `score` section: overall, by subgroup, over subgroups, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, Problems, listing, unknown
from ..partition.units import units_of
from .bootstrap import Interval, percentile_interval, resampling, shifted_interval, wilson
from .corruption import CORRUPTIONS, SEVERITIES, OddsRatio, odds_ratios
from .deepfake import curve
from .estimates import Estimate, Grouping, Ranks, estimates
from .fairness import largest_gap
from .score_tasks import TASKS, Part, parts_of
from .scores import Gap, Method, Score, Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..tabular import TextTable
    from .predictions import Skip, Truth

__all__ = ["SMALL", "UNSCORED", "score_predictions"]

SMALL = 30
"""A subgroup of fewer subjects is marked small wherever it is shown."""

UNSCORED: Mapping[str, tuple[str, ...]] = {
    "gender": ("Unsure", "Other", "Other/Uncertain", "Uncertain", "Unknown"),
    "race": ("Other", "Unknown"),
    "age": ("Unknown",),
}
"""Categories that no score over subgroups uses: they stand for "not told", or for what has nothing in common."""

_LOWER = ("log_loss", "mse", "rmse", "fn_", "mrce", "rce")
_PARITY = ("statistical_parity", "demographic_parity_difference")
_POINTS = 200


def score_predictions(
    predictions: TextTable,
    truth: Truth,
    scores: Mapping[str, Sequence[str]],
    *,
    seed: int,
    replicates: int = 1000,
    by: Sequence[str] | None = None,
    intersect: Sequence[tuple[str, str]] = (),
    skip: Sequence[Skip] = (),
    as_numbers: Sequence[str] = (),
    interactions: Sequence[tuple[str, str]] = (),
    progress: Callable[[int, int | None, str], None] | None = None,
) -> Scores:
    """Score predictions.

    Parameters
    ----------
    predictions : TextTable
        One row an item, a frame, or a corruption of an item; of one or several models.
    truth : Truth
        Labels, attributes, subjects, and the split to score.
    scores : mapping of str to sequence of str
        A protocol's ``score`` section: scores by task. Tasks whose columns the predictions lack are left, and said.
    seed : int
        Of the bootstrap, the permutations and the folds of thresholds.
    replicates : int
        Of the bootstrap over subjects.
    by : sequence of str, optional
        Attributes whose subgroups are scored; by default all that the truth holds.
    intersect : sequence of (str, str)
        Pairs of attributes whose joint subgroups are scored too, and each attribute within the other. Lighting and
        skin type are paired wherever both are scored.
    skip : sequence of {"missing", "unknown", "invalid"}
        What is left out and counted instead of refused.
    as_numbers : sequence of str
        Attributes that enter the odds ratios as numbers, per ten (years), instead of as categories.
    interactions : sequence of (str, str)
        Products that the odds ratios have too: two of the attributes, ``corruption`` and ``service``.

    Returns
    -------
    scores : Scores

    Raises
    ------
    InputError
        If the predictions are refused, an attribute is unknown, or nothing can be scored.
    """
    names, pairs = _attributes(truth, by, intersect)
    if replicates < 2:
        raise InputError(f"{replicates} replicates give no interval", hint="1,000 is usual")
    # Sorted, so that nothing depends on the order of rows.
    truth = replace(truth, table=truth.table.sort_by("item"))
    rows: list[Score] = []
    gaps: list[Gap] = []
    curves: list[dict[str, Any]] = []
    counts: dict[str, dict[str, int]] = {}
    notes = list(truth.notes)
    ratios: tuple[OddsRatio, ...] = ()
    units = units_of(truth.table, "subject").of.astype(np.int64)
    for task, wanted in scores.items():
        parts = parts_of(task, predictions, truth, wanted, skip, seed)
        if not parts:
            notes.append(f"{task}: not scored, it needs the columns {TASKS[task]}")
        for part in parts:
            own = [name for name in names if name != task]
            found = _part(part, truth, units, own, pairs, (seed, replicates), progress)
            rows += found[0]
            gaps += found[1]
            curves += found[2]
            key = " ".join(name for name in (part.model, part.task) if name)
            counts.setdefault(key, {}).update(part.counts)
            notes += [f"{key}: {note}" for note in part.notes if f"{key}: {note}" not in notes]
        if task == "corruption" and parts and "odds_ratio" in wanted:
            ratios = _odds(parts, truth, units, names, as_numbers, interactions)
    if not counts:
        raise InputError(
            f"{predictions.path.name}: nothing can be scored of {listing(list(scores))}",
            hint="protoctl score --explain says which columns are wanted",
        )
    return Scores(tuple(rows), tuple(gaps), tuple(curves), ratios, counts, seed, replicates, tuple(notes))


def _attributes(
    truth: Truth, by: Sequence[str] | None, intersect: Sequence[tuple[str, str]]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the attributes and the pairs to score."""
    have = [name for name in truth.attributes if truth.has(name)]
    problems = Problems()
    asked = [*(by or ()), *(name for pair in intersect for name in pair)]
    for name in asked:
        if name not in have:
            message, hint = unknown("attribute", name, have)
            problems.add("--by" if name in (by or ()) else "--intersect", message, hint=hint)
    problems.refuse(InputError, "the subgroups cannot be made")
    names = list(dict.fromkeys(have if by is None else by))
    pairs = list(dict.fromkeys(intersect))
    both = ("skin_type", "lighting")
    if set(both) <= set(names) and both not in pairs and both[::-1] not in pairs:
        pairs.append(both)
    return names, pairs


def _groupings(
    truth: Truth, at: NDArray[np.int64], names: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> list[Grouping]:
    whole = Grouping((), ((),), np.zeros(len(at), np.int64), np.ones(1, np.bool_))
    single: dict[str, Grouping] = {}
    for name in dict.fromkeys((*names, *(each for pair in pairs for each in pair))):
        categories = truth.of(name)
        place = {category: position for position, category in enumerate(categories)}
        codes = np.array([-1 if value is None else place.get(value, -1) for value in truth.column(name)], np.int64)[at]
        out = truth.unscored.get(name) or UNSCORED.get(name, ())
        scored = np.array([category not in out for category in categories], np.bool_)
        single[name] = _held(Grouping((name,), tuple((category,) for category in categories), codes, scored))
    crossed = [_crossed(single[first], single[second]) for first, second in pairs]
    return [whole, *(single[name] for name in names), *crossed]


def _crossed(first: Grouping, second: Grouping) -> Grouping:
    width = len(second.subgroups)
    codes = np.where((first.codes >= 0) & (second.codes >= 0), first.codes * width + second.codes, -1)
    groups = tuple((*one, *other) for one in first.subgroups for other in second.subgroups)
    scored = (first.scored[:, None] & second.scored[None, :]).reshape(-1)
    return _held(Grouping((*first.attributes, *second.attributes), groups, codes, scored))


def _held(grouping: Grouping) -> Grouping:
    """Return the grouping without subgroups that hold no item."""
    held = np.flatnonzero(np.bincount(grouping.codes[grouping.codes >= 0], minlength=len(grouping.subgroups)))
    turned = np.full(len(grouping.subgroups) + 1, -1, np.int64)
    turned[held] = np.arange(len(held))
    groups = tuple(grouping.subgroups[place] for place in held.tolist())
    return replace(grouping, subgroups=groups, codes=turned[grouping.codes], scored=grouping.scored[held])


def _part(
    part: Part,
    truth: Truth,
    units: NDArray[np.int64],
    names: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    random: tuple[int, int],
    progress: Callable[[int, int | None, str], None] | None,
) -> tuple[list[Score], list[Gap], list[dict[str, Any]]]:
    """Score one model in one task."""
    if len(part.at) == 0:
        raise InputError(
            f"no item of {part.model or 'the table'} is left to score in {part.task}",
            hint="left out: " + (listing([f"{reason}: {n:,}" for reason, n in part.counts.items()]) or "nothing"),
        )
    inside = [pair for pair in pairs if part.task not in pair]
    groupings = [grouping for grouping in _groupings(truth, part.at, names, inside) if grouping.subgroups]
    draws = resampling(units[part.at], *random, _alike(part, groupings))
    rows: list[Score] = []
    gaps: list[Gap] = []
    for estimate in estimates(part.what, groupings, draws, progress):
        sizes = _sizes(estimate.grouping, units[part.at])
        rows += _scores(part, estimate, sizes)
        if estimate.grouping.attributes and not estimate.over_groups:
            gaps += _gaps(part, estimate, sizes)
    return rows, gaps, _curves(part, groupings) if "roc_area" in getattr(part.what, "measures", {}) else []


def _alike(part: Part, groupings: Sequence[Grouping]) -> NDArray[np.int64] | None:
    """Return one number for items that add the same to every sum of every subgroup."""
    if part.alike is None:
        return None
    kinds = part.alike
    for grouping in groupings:
        kinds = np.unique(kinds * (len(grouping.subgroups) + 1) + grouping.codes + 1, return_inverse=True)[1]
        kinds = kinds.reshape(-1).astype(np.int64)
    return kinds


def _sizes(grouping: Grouping, units: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the items and the units of each subgroup."""
    size = len(grouping.subgroups)
    known = grouping.codes >= 0
    items = np.bincount(grouping.codes[known], minlength=size)
    pairs = np.unique(units[known] * size + grouping.codes[known])
    return items, np.bincount(pairs % size, minlength=size)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _level(chance: NDArray[np.float64] | None) -> tuple[float | None, float | None]:
    """Return the mean and the 95 % level of what chance gives."""
    if chance is None:
        return None, None
    known = np.sort(chance[np.isfinite(chance)])
    if len(known) == 0:
        return None, None
    return float(known.mean()), float(known[int(np.ceil(0.95 * (len(known) - 1)))])


def _interval(estimate: Estimate, place: int, items: int, subjects: int) -> tuple[Interval, Method]:
    value, replicates = float(estimate.value[place]), estimate.replicates[:, place]
    if estimate.score in _PARITY:
        return shifted_interval(value, replicates), "shifted"
    if estimate.score == "accuracy" and (items == subjects or value in (0.0, 1.0)):
        # Subjects and not items: a subject's items stand and fall together where all are right or all wrong.
        return wilson(value * subjects, subjects), "wilson"
    return percentile_interval(replicates), "percentile"


def _scores(part: Part, estimate: Estimate, sizes: tuple[NDArray[np.int64], NDArray[np.int64]]) -> list[Score]:
    grouping = estimate.grouping
    items, subjects = sizes
    out: list[Score] = []
    for place in range(len(estimate.value)):
        if estimate.over_groups:
            counted = items[grouping.scored].sum(), subjects[grouping.scored].sum()
            small = bool((subjects[grouping.scored] < SMALL).any())
            subgroup: tuple[str, ...] = ()
            chance = _level(estimate.chance)
        else:
            counted = items[place], subjects[place]
            small, subgroup, chance = bool(subjects[place] < SMALL), grouping.subgroups[place], (None, None)
        interval, method = _interval(estimate, place, int(counted[0]), int(counted[1]))
        value = _number(estimate.value[place])
        base, note = _said(part, estimate, place, value, interval)
        out.append(
            Score(
                part.model, part.task, estimate.score, grouping.attributes, subgroup, value, interval.low,
                interval.high, method, int(counted[0]), int(counted[1]), small, *chance, base, note,
            )
        )  # fmt: skip
    return out


def _said(
    part: Part, estimate: Estimate, place: int, value: float | None, interval: Interval
) -> tuple[float | None, str]:
    """Return the base of a share, and what must be said of a score."""
    notes: list[str] = []
    base: float | None = None
    if estimate.score.endswith("share") and not isinstance(part.what, Ranks):
        base = _base(part, estimate.grouping, place)
    if estimate.score == "f1_macro" and not isinstance(part.what, Ranks) and part.task == "expression":
        lacking = _absent(part, estimate.grouping, place)
        notes += [f"{lacking} categories are neither true nor predicted and count as 0"] if lacking else []
    if value is None:
        notes.append("undefined: the subgroup lacks what the score needs")
    elif value == float("-inf"):
        notes.append("minus infinity: no true positive")
    if interval.undefined:
        notes.append(f"undefined in {interval.undefined:,} replicates")
    return base, "; ".join(notes)


def _base(part: Part, grouping: Grouping, place: int) -> float | None:
    """Return a subgroup's share of all fakes; the column of fakes is the fourth of six, or the second of two."""
    what: Any = part.what
    fakes = what.columns == (3 if what.width == 6 else 1)
    group = grouping.codes[what.rows[fakes]]
    total = float(what.values[fakes][group >= 0].sum())
    return float(what.values[fakes][group == place].sum()) / total if total else None


def _absent(part: Part, grouping: Grouping, place: int) -> int:
    what: Any = part.what
    size = what.width // 3
    mine = (grouping.codes[what.rows] == place) & (what.columns < 2 * size)
    return size - len(np.unique(what.columns[mine] % size))


def _gaps(part: Part, estimate: Estimate, sizes: tuple[NDArray[np.int64], NDArray[np.int64]]) -> list[Gap]:
    """Compare the best subgroup with the worst; of two attributes, each within the other too."""
    grouping = estimate.grouping
    if "share" in estimate.score:
        return []
    every = np.arange(len(grouping.subgroups))
    if len(grouping.attributes) == 1:
        found = [_gap(part, estimate, sizes[1], every, ())]
    else:
        found = [_gap(part, estimate, sizes[1], every, ())]
        for held in (0, 1):
            for category in dict.fromkeys(group[held] for group in grouping.subgroups):
                inside = np.array([place for place in every if grouping.subgroups[place][held] == category], np.int64)
                found.append(_gap(part, estimate, sizes[1], inside, (grouping.attributes[held], category)))
    return [gap for gap in found if gap is not None]


def _gap(
    part: Part, estimate: Estimate, subjects: NDArray[np.int64], places: NDArray[np.int64], within: tuple[str, ...]
) -> Gap | None:
    grouping = estimate.grouping
    usable = places[grouping.scored[places] & np.isfinite(estimate.value[places])]
    large = usable[subjects[usable] >= SMALL]
    compared = large if len(large) >= 2 else usable
    if len(compared) < 2:
        return None
    values = estimate.value[compared]
    low, high = compared[int(values.argmin())], compared[int(values.argmax())]
    best, worst = (low, high) if estimate.score.startswith(_LOWER) else (high, low)
    value = float(values.max() - values.min())
    pair = np.where(
        np.isfinite(estimate.replicates[:, [high, low]]).all(axis=1),
        np.nan_to_num(estimate.replicates[:, high], neginf=0.0)
        - np.nan_to_num(estimate.replicates[:, low], neginf=0.0),
        np.nan,
    )
    ends = percentile_interval(pair)
    extreme = shifted_interval(value, largest_gap(estimate.replicates[:, compared]))
    chance = None if estimate.chance is None else largest_gap(estimate.chance[:, compared])
    left = tuple(grouping.subgroups[place] for place in places.tolist() if place not in set(compared.tolist()))
    return Gap(
        part.model, part.task, estimate.score, grouping.attributes, within, grouping.subgroups[best],
        grouping.subgroups[worst], value, ends.low, ends.high, extreme.low, extreme.high, *_level(chance),
        bool(min(subjects[best], subjects[worst]) < SMALL), left,
    )  # fmt: skip


def _curves(part: Part, groupings: Sequence[Grouping]) -> list[dict[str, Any]]:
    """Return the ROC curve of each subgroup, thinned to a few hundred points."""
    what: Any = part.what
    out: list[dict[str, Any]] = []
    for grouping in groupings:
        for place, subgroup in enumerate(grouping.subgroups):
            inside = grouping.codes == place
            _, true, false = curve(what.fake[inside], what.probabilities[inside])
            if not true[0, -1] or not false[0, -1]:
                continue
            points = np.unique(np.linspace(0, true.shape[1] - 1, min(_POINTS, true.shape[1])).astype(np.int64))
            out.append(
                {
                    "model": part.model,
                    "attributes": list(grouping.attributes),
                    "subgroup": list(subgroup),
                    "false_positive_rate": [0.0, *(false[0, points] / false[0, -1]).round(6).tolist()],
                    "true_positive_rate": [0.0, *(true[0, points] / true[0, -1]).round(6).tolist()],
                }
            )
    return out


def _odds(
    parts: Sequence[Part],
    truth: Truth,
    units: NDArray[np.int64],
    names: Sequence[str],
    as_numbers: Sequence[str],
    interactions: Sequence[tuple[str, str]],
) -> tuple[OddsRatio, ...]:
    """Regress the errors of all services on attributes, corruption and service, clustered by subject."""
    each = len(CORRUPTIONS) * len(SEVERITIES)
    held = {name: np.array([value or "" for value in truth.column(name)], np.object_) for name in names}
    errors: list[NDArray[np.int64]] = []
    places: list[NDArray[np.int64]] = []
    services: list[str] = []
    for part in parts:
        if part.errors is None:
            continue
        known = np.logical_and.reduce([held[name][part.at] != "" for name in names] or [part.at >= 0])
        errors.append(part.errors[known].reshape(-1))
        places.append(part.at[known])
        services += [part.model] * int(known.sum())
    at = np.concatenate(places)
    columns: dict[str, Any] = {name: np.repeat(held[name][at], each) for name in names}
    kinds = np.repeat(np.array(CORRUPTIONS, np.object_), len(SEVERITIES))
    columns["corruption"] = np.tile(kinds, len(at))
    columns["service"] = np.repeat(np.array(services, np.object_), each)
    years = {name: _numbers(name, columns.pop(name, None), list(columns)) for name in as_numbers}
    varied = {name: values for name, values in columns.items() if len(set(values)) > 1}
    clusters: Any = np.repeat(units[at].astype(np.str_), each)
    return odds_ratios(np.concatenate(errors), varied, clusters, numbers=years, interactions=interactions)


def _numbers(name: str, values: Any, have: Sequence[str]) -> Any:
    """Return an attribute's values as numbers."""
    if values is None:
        message, hint = unknown("attribute", name, have)
        raise InputError(message, hint=hint)
    try:
        return values.astype(np.float64)
    except ValueError:
        raise InputError(
            f"{name} holds categories ({listing(sorted(set(values))[:3])}), and numbers are wanted",
            hint=f"leave {name} among the categories, or give it in years",
        ) from None
