"""From annotations to votes: every annotation ends in exactly one status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ..errors import Problems, VotesError
from ..scales import Scale
from ..tabular import pc
from .controls import ConfigControl, doubt_of, find_control, find_doubt, resolve
from .votes import STATUSES, Annotations, ControlColumn, Ledger, Votes, natural

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Settling", "settle"]

Duplicates = Literal["last", "first", "refuse"]
GroundTruth = Literal["auto", "vote", "gold", "exclude"]

_OPEN = -1
_CODE = {status: code for code, status in enumerate(STATUSES)}


@dataclass(frozen=True)
class Settling:
    """How annotations become votes; every choice is recorded with the result.

    Parameters
    ----------
    duplicates : {"last", "first", "refuse"}
        Which vote counts where one annotator voted twice on a unit.
    ground_truth : {"auto", "vote", "gold", "exclude"}
        What becomes of annotations flagged as ground truth. `auto`: one alone beside other votes of its task is gold;
        several in a task are an artefact of importing and count as votes; one without others cannot be told apart
        and counts as a vote. `gold` and `exclude` never count them; `gold` keeps them for adjudication.
    invalid : {"refuse", "count"}
        Whether values outside the scale and double values refuse the file or end as ``invalid``.
    weights : tuple of int
        Weight of a confident and of a doubtful vote.
    """

    duplicates: Duplicates = "last"
    ground_truth: GroundTruth = "auto"
    invalid: Literal["refuse", "count"] = "refuse"
    weights: tuple[int, int] = (2, 1)


@dataclass
class _Working:
    """Statuses as they are given, and what is said on the way."""

    annotations: Annotations
    status: NDArray[np.int64]
    unit: NDArray[np.int64]
    annotator: NDArray[np.int64]
    category: NDArray[np.int64]
    doubtful: NDArray[np.bool_]
    warnings: list[str] = field(default_factory=list[str])
    problems: Problems = field(default_factory=Problems)

    def open(self) -> NDArray[np.int64]:
        """Annotations that have no status yet."""
        return np.flatnonzero(self.status == _OPEN)

    def close(self, at: Any, status: str) -> None:
        self.status[at] = _CODE[status]


def settle(
    annotations: Annotations,
    scale: Scale | None,
    *,
    control: str | None = None,
    doubt_control: str | None = None,
    config: Mapping[str, ConfigControl] | None = None,
    settling: Settling | None = None,
) -> Votes:
    """Give every annotation its status and return the votes that count.

    Parameters
    ----------
    annotations : Annotations
        As read.
    scale : Scale or None
        The categories; None takes those that the configuration declares or the annotations hold, without order.
    control, doubt_control : str, optional
        The controls that hold the category and the doubt; found by themselves where there is no choice.
    config : mapping of str to ConfigControl, optional
        From the labelling configuration.
    settling : Settling, optional
        How; by default the last re-submission counts and ground truth goes by `auto`.

    Returns
    -------
    votes : Votes

    Raises
    ------
    VotesError
        If no control fits, or a value cannot be used and `settling.invalid` refuses.
    """
    settling, config = settling or Settling(), config or {}
    name = find_control(annotations, scale, control, config)
    column = annotations.controls.get(name) or ControlColumn("choices", pa.nulls(len(annotations), pa.string()))
    scale = scale or _seen_scale(name, column, config.get(name))
    doubt = find_doubt(annotations, name, doubt_control, config)
    units = {unit: at for at, unit in enumerate(annotations.units)}
    annotators = natural(pc.unique(annotations.annotator.drop_null()).to_pylist())
    working = _Working(
        annotations,
        np.full(len(annotations), _OPEN, np.int64),
        _codes(annotations.unit, units),
        _codes(annotations.annotator, {each: at for at, each in enumerate(annotators)}),
        np.full(len(annotations), -1, np.int64),
        np.zeros(len(annotations), np.bool_),
    )
    working.close(annotations.draft, "draft")
    _close_duplicates(working)
    working.close((working.status == _OPEN) & annotations.cancelled, "skipped")
    _take_doubt(working, doubt)
    _take_values(working, name, column, scale, config.get(name))
    working.problems.refuse(VotesError, f"votes on {name} are refused") if settling.invalid == "refuse" else None
    gold = _close_gold(working, scale, settling.ground_truth)
    _close_superseded(working, settling.duplicates)
    working.problems.refuse(VotesError, f"votes on {name} are refused") if settling.invalid == "refuse" else None
    return _votes(working, name, doubt, scale, settling, tuple(annotators), gold)


def _seen_scale(name: str, column: ControlColumn, declared: ConfigControl | None) -> Scale:
    seen: list[str] = sorted(pc.unique(column.texts.drop_null()).to_pylist())
    categories = tuple(declared.choices) if declared and declared.choices else tuple(seen)
    if len(categories) < 2:
        raise VotesError(
            f"the annotations on {name} hold {len(categories)} categories ({', '.join(categories) or 'none'}), and a "
            "scale needs two",
            hint="name the scale with --scale",
        )
    aliases = {alias: value for value, alias in declared.choices.items() if alias != value} if declared else {}
    return Scale(name, categories, ordered=False, aliases=aliases)


def _codes(column: pa.StringArray, place: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the place of each text, -1 where it is null."""
    coded: Any = column.dictionary_encode()
    table = np.array([place[text] for text in coded.dictionary.to_pylist()] + [-1], np.int64)
    return table[pc.fill_null(coded.indices, len(table) - 1).to_numpy(zero_copy_only=False)]


def _earlier_first(working: _Working, rows: list[int]) -> list[int]:
    """Order annotations by their last change, then by their id."""
    when, identity = working.annotations.when, working.annotations.identity

    def key(row: int) -> tuple[str, int, int, str]:
        text = identity[row].as_py() or ""
        number = int(text) if text.isdecimal() else -1
        return str(when[row].as_py() or ""), int(number < 0), number, text

    return sorted(rows, key=key)


def _groups(rows: NDArray[np.int64], keys: NDArray[np.int64]) -> list[list[int]]:
    """Return the rows that share a key with another row, group by group."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    cuts = np.flatnonzero(np.diff(ranked)) + 1
    starts, ends = np.append(0, cuts), np.append(cuts, len(ranked))
    return (
        [rows[order[start:end]].tolist() for start, end in zip(starts, ends, strict=True) if end - start > 1]
        if len(ranked)
        else []
    )


def _close_duplicates(working: _Working) -> None:
    """Close all but the latest copy of an annotation that the files hold several times."""
    annotations = working.annotations
    rows = working.open()
    rows = rows[pc.is_valid(annotations.identity).to_numpy(zero_copy_only=False)[rows]]
    if not len(rows):
        return
    identity = annotations.identity.dictionary_encode().indices
    coded = pc.fill_null(identity, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    tasks = pc.fill_null(annotations.task.dictionary_encode().indices, 0).to_numpy(zero_copy_only=False)
    keys = (coded[rows] * (int(tasks.max()) + 1) + tasks[rows]) * (len(annotations.units) + 1) + working.unit[rows]
    for group in _groups(rows, keys):
        working.close(_earlier_first(working, group)[:-1], "duplicate")
    found = int((working.status == _CODE["duplicate"]).sum())
    if found:
        working.warnings.append(f"annotations that the files hold more than once: {found:,} (each counts once)")


def _take_doubt(working: _Working, doubt: str | None) -> None:
    if doubt is None:
        return
    texts: Any = working.annotations.controls[doubt].texts.dictionary_encode()
    told: list[bool] = []
    for value in texts.dictionary.to_pylist():
        meant = [doubt_of(doubt, part) for part in value.split(" | ")]
        told.append(any(meant))
        if None in meant:
            at = int(np.flatnonzero(pc.equal(texts.cast(pa.string()), value).to_numpy(zero_copy_only=False))[0])
            working.problems.add(
                f"{working.annotations.place(at)}, {doubt}",
                f"it cannot be told whether {value!r} means doubt",
                hint="say 'Not confident' or 'Confident'; or yes or no in a control named uncertain or confident",
            )
    table = np.array([*told, False], np.bool_)
    working.doubtful[:] = table[pc.fill_null(texts.indices, len(table) - 1).to_numpy(zero_copy_only=False)]


def _take_values(
    working: _Working, name: str, column: ControlColumn, scale: Scale, declared: ConfigControl | None
) -> None:
    """Read the category of every annotation that is still open; what has none is empty, what cannot be read invalid."""
    coded: Any = column.texts.dictionary_encode()
    values: list[str] = coded.dictionary.to_pylist()
    missing = {value.casefold() for value in scale.missing}
    found = [None if value.casefold() in missing else resolve(value, scale, declared) for value in values]
    table = np.array([-1 if category is None else scale.position(category) for category in found] + [-1], np.int64)
    blank = np.array([value.casefold() in missing for value in values] + [True], np.bool_)
    indices = pc.fill_null(coded.indices, len(values)).to_numpy(zero_copy_only=False)
    working.category[:] = table[indices]
    is_open = working.status == _OPEN
    working.close(is_open & blank[indices], "empty")
    wrong = is_open & ~blank[indices] & (working.category < 0)
    several = is_open & column.several if column.several is not None else np.zeros(len(is_open), np.bool_)
    for at in np.flatnonzero(wrong | several).tolist():
        value = column.texts[at].as_py()
        count = len(value.split(" | "))
        if several[at]:
            message, hint = f"{count} values, {value!r}, where one is wanted", "count them as invalid: --invalid count"
        else:
            message = f"{value!r} is not on the scale {scale.name}"
            hint = f"the scale has {', '.join(scale.categories)}; or count such as invalid: --invalid count"
        working.problems.add(f"{working.annotations.place(at)}, {name}", message, hint=hint)
    working.close(wrong | several, "invalid")


def _close_gold(working: _Working, scale: Scale, rule: GroundTruth) -> dict[str, str]:
    """Close expert annotations by the rule, and return their category by unit where they stay of use."""
    annotations = working.annotations
    tasks = pc.fill_null(annotations.task.dictionary_encode().indices, 0).to_numpy(zero_copy_only=False)
    is_open = working.status == _OPEN
    flagged = is_open & annotations.gold
    if not flagged.any() or rule == "vote":
        return {}
    size = int(tasks.max()) + 1
    per_task = np.bincount(tasks[flagged], minlength=size)
    others = np.bincount(tasks[is_open & ~annotations.gold], minlength=size)
    expert = flagged & (per_task[tasks] == 1) & (others[tasks] > 0) if rule == "auto" else flagged
    kept = int((flagged & ~expert).sum())
    if kept:
        working.warnings.append(
            f"annotations flagged as ground truth that count as votes: {kept:,} (every imported annotation is flagged "
            "by default; --ground-truth gold takes them for an expert's)"
        )
    rows = np.flatnonzero(expert)
    working.close(rows, "gold")
    if rule == "exclude" or not len(rows):
        return {}
    said: dict[str, set[int]] = {}
    for row in rows.tolist():
        said.setdefault(annotations.units[working.unit[row]], set()).add(int(working.category[row]))
    torn = sum(len(found) > 1 for found in said.values())
    if torn:
        working.warnings.append(f"units whose ground truth names two categories, which settles nothing: {torn:,}")
    return {unit: scale.categories[next(iter(found))] for unit, found in sorted(said.items()) if len(found) == 1}


def _close_superseded(working: _Working, rule: Duplicates) -> None:
    """Leave one vote of each annotator on a unit."""
    rows = working.open()
    rows = rows[working.annotator[rows] >= 0]
    keys = working.unit[rows] * (int(working.annotator.max(initial=0)) + 1) + working.annotator[rows]
    across = 0
    for group in _groups(rows, keys):
        ordered = _earlier_first(working, group)
        if rule == "refuse":
            working.problems.add(
                working.annotations.place(ordered[-1]),
                f"annotator {working.annotations.annotator[group[0]].as_py()} has voted on this unit before "
                f"({working.annotations.place(ordered[0])})",
                hint="let the last one count: --duplicates last",
            )
        across += len({working.annotations.task[row].as_py() for row in group}) > 1
        working.close(ordered[:-1] if rule == "last" else ordered[1:], "superseded")
        _check_order(working, ordered)
    if rule == "refuse":
        working.problems.refuse(VotesError, "annotators voted twice")
    found = int((working.status == _CODE["superseded"]).sum())
    if found:
        elsewhere = f"; on several tasks of one unit: {across:,}" if across else ""
        working.warnings.append(
            f"votes superseded, since their annotator voted twice on the unit: {found:,} (the {rule} counts{elsewhere})"
        )


def _check_order(working: _Working, ordered: list[int]) -> None:
    """Refuse two differing votes of one annotator where nothing tells which one came last."""
    annotations = working.annotations

    def told(row: int) -> tuple[Any, Any]:
        return annotations.when[row].as_py(), annotations.identity[row].as_py()

    said = {(int(working.category[row]), bool(working.doubtful[row])) for row in ordered}
    if len(said) > 1 and any(told(one) == told(two) for one, two in pairwise(ordered)):
        working.problems.add(
            annotations.place(max(ordered)),
            f"annotator {annotations.annotator[ordered[0]].as_py()} voted differently on "
            f"{annotations.unit[ordered[0]].as_py()} before ({annotations.place(min(ordered))}), and nothing tells "
            "which vote came last",
            hint="keep one of them, or add a column updated_at",
        )


def _votes(
    working: _Working,
    name: str,
    doubt: str | None,
    scale: Scale,
    settling: Settling,
    annotators: tuple[str, ...],
    gold: Mapping[str, str],
) -> Votes:
    annotations = working.annotations
    rows = working.open()
    working.close(rows, "used")
    counted = Counter(STATUSES[code] for code in working.status.tolist())
    ledger = Ledger(
        len(annotations) - int(annotations.draft.sum()),
        {status: counted.get(status, 0) for status in STATUSES},
        annotations.counted["tasks"],
        annotations.counted["bare"],
        int((annotations.gold & ~annotations.draft).sum()),
    )
    voted = sorted(set(working.annotator[rows].tolist()) - {-1})
    place = np.full(len(annotators) + 1, -1, np.int64)
    place[voted] = np.arange(len(voted))
    if counted.get("invalid"):
        working.warnings.append(
            f"annotations that are invalid: {counted['invalid']:,} (first: {working.problems.found[0]})"
        )
    if not len(rows):
        raise VotesError(
            f"{', '.join(annotations.sources)}: no vote on {name} is left: {ledger}",
            hint="check the export, the control and the policies",
        )
    notes = [*annotations.notes, f"doubt is read from {doubt}" if doubt else "no vote carries a doubt"]
    return Votes(
        name,
        scale,
        annotations.unit_kind,
        annotations.units,
        tuple(annotators[at] for at in voted),
        working.unit[rows],
        place[working.annotator[rows]],
        working.category[rows],
        working.doubtful[rows],
        settling.weights,
        ledger,
        dict(gold),
        annotations.seconds[rows],
        (*annotations.warnings, *working.warnings),
        tuple(notes),
    )
