"""What annotators said, brought into one form: annotations as read, votes as counted, and the ledger between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from ..errors import Problems, VotesError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..scales import Scale

__all__ = [
    "STATUSES",
    "Annotations",
    "ControlColumn",
    "Ledger",
    "Patterns",
    "Votes",
    "votes_of",
]

Format = Literal["json", "json-min", "csv", "long", "wide", "counts"]

STATUSES = ("used", "superseded", "duplicate", "skipped", "empty", "gold", "invalid", "draft")
"""Where an annotation can end; each ends in exactly one of them."""


@dataclass(frozen=True)
class ControlColumn:
    """What the annotations hold for one control.

    Parameters
    ----------
    kind : str
        ``choices``, ``rating``, ``number``, ... as the export has it; ``cell`` where a table does not say.
    texts : pyarrow.StringArray
        One value an annotation, null where it has none; several values joined by `` | ``.
    several : ndarray of bool or None
        Annotations that hold more than one value; None where none does.
    """

    kind: str
    texts: pa.StringArray
    several: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Annotations:
    """Every annotation of one or several files, before anything is decided about it.

    Parameters
    ----------
    format : str
        Of the file: ``json``, ``json-min``, ``csv`` (Label Studio), ``long``, ``wide``, ``counts`` (tables).
    sources : tuple of str
        Names of the files.
    unit_kind : {"item", "subject"}
        What the units are.
    units : tuple of str
        Every unit that the files name, also those without an annotation; sorted.
    unit, task, annotator, identity, when : pyarrow.StringArray
        Of each annotation: its unit, task, annotator (null if unknown), own id (null if none), last change (null if
        none; ISO 8601 orders as text).
    cancelled, gold, draft : ndarray of bool
        Skipped by the annotator; flagged as ground truth; never submitted.
    seconds : ndarray of float
        Time that the annotation took, NaN if unknown.
    source, row, nth : ndarray of int
        Where it stands: file, element or row (from 0), annotation in the element (-1 in a table).
    controls : mapping of str to ControlColumn
        What was said, by control.
    counted : mapping of str to int
        ``tasks``, ``bare`` (tasks without an annotation), ``predicted`` (annotations begun from a prediction).
    warnings, notes : tuple of str
        What was taken but is odd; what the format cannot tell.
    """

    format: Format
    sources: tuple[str, ...]
    unit_kind: Literal["item", "subject"]
    units: tuple[str, ...]
    unit: pa.StringArray
    task: pa.StringArray
    annotator: pa.StringArray
    identity: pa.StringArray
    when: pa.StringArray
    cancelled: NDArray[np.bool_]
    gold: NDArray[np.bool_]
    draft: NDArray[np.bool_]
    seconds: NDArray[np.float64]
    source: NDArray[np.int64]
    row: NDArray[np.int64]
    nth: NDArray[np.int64]
    controls: Mapping[str, ControlColumn]
    counted: Mapping[str, int]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.unit)

    def place(self, at: int) -> str:
        """Return where an annotation stands, such as ``p.json: $[12].annotations[3] (task 13)``."""
        name, row, nth = self.sources[self.source[at]], int(self.row[at]), int(self.nth[at])
        if nth < 0:
            return f"{name}:{row + 2}" if self.format in ("long", "wide", "counts") else f"{name}, row {row + 1}"
        kind = "drafts" if self.draft[at] else "annotations"
        return f"{name}: $[{row}].{kind}[{nth}] (task {self.task[at].as_py()})"


@dataclass(frozen=True)
class Ledger:
    """Where every annotation of the files ended.

    Parameters
    ----------
    annotations : int
        Annotations found, drafts left out.
    counts : mapping of str to int
        Annotations by status (`STATUSES`); ``draft`` stands beside the sum.
    tasks, bare : int
        Tasks found, and those without any annotation.
    flagged : int
        Annotations flagged as ground truth, whatever became of them.

    Raises
    ------
    VotesError
        If the statuses do not add up to the annotations.
    """

    annotations: int
    counts: Mapping[str, int]
    tasks: int
    bare: int
    flagged: int

    def __post_init__(self) -> None:
        total = sum(count for status, count in self.counts.items() if status != "draft")
        if total != self.annotations or set(self.counts) != set(STATUSES):
            raise VotesError(f"the ledger does not add up: {total:,} of {self.annotations:,} annotations have a status")

    def __str__(self) -> str:
        parts = [f"{self.counts[name]:,} {name}" for name in STATUSES if name != "draft" and self.counts[name]]
        beside = f", and {self.counts['draft']:,} draft beside" if self.counts["draft"] else ""
        return f"{self.annotations:,} annotations = {' + '.join(parts) or '0'}{beside}"


@dataclass(frozen=True)
class Patterns:
    """Units that received the same votes, taken together.

    Parameters
    ----------
    confident, doubtful : ndarray of int, shape (n_patterns, n_categories)
        Votes each category received with and without doubt; rows in lexicographic order, each once.
    of : ndarray of int, shape (n_units,)
        Pattern of each unit.
    frequency : ndarray of int, shape (n_patterns,)
        Units of each pattern.
    """

    confident: NDArray[np.int64]
    doubtful: NDArray[np.int64]
    of: NDArray[np.int64]
    frequency: NDArray[np.int64]

    @property
    def votes(self) -> NDArray[np.int64]:
        """Votes each category received, with or without doubt."""
        return self.confident + self.doubtful


@dataclass(frozen=True)
class Votes:
    """The votes on one control that count, one row each, in the order of unit, annotator and category.

    Parameters
    ----------
    control : str
        What was asked (``skin_type``).
    scale : Scale
        The categories.
    unit_kind : {"item", "subject"}
        What a unit is.
    units : tuple of str
        Every unit, sorted; also those without a vote.
    annotators : tuple of str
        Every known annotator with a vote; numbers by value, then names.
    unit, annotator, category : ndarray of int, shape (n_votes,)
        Positions in `units`, `annotators` (-1 if unknown) and the scale's categories.
    doubtful : ndarray of bool, shape (n_votes,)
        Votes that their annotator was not confident about.
    weights : tuple of int
        Weight of a confident and of a doubtful vote; (2, 1) counts in half-votes.
    ledger : Ledger or None
        Where every annotation ended; None for votes made in memory.
    gold : mapping of str to str
        Category by unit, from expert annotations that are no votes.
    seconds : ndarray of float or None
        Time that each vote took, NaN if unknown.
    warnings, notes : tuple of str
        What was taken but is odd; what the format cannot tell.
    """

    control: str
    scale: Scale
    unit_kind: Literal["item", "subject"]
    units: tuple[str, ...]
    annotators: tuple[str, ...]
    unit: NDArray[np.int64]
    annotator: NDArray[np.int64]
    category: NDArray[np.int64]
    doubtful: NDArray[np.bool_]
    weights: tuple[int, int] = (2, 1)
    ledger: Ledger | None = None
    gold: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: NDArray[np.float64] | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        confident, doubtful = self.weights
        if confident < 1 or doubtful < 0 or doubtful > confident:
            raise VotesError(
                f"weights {self.weights}: a doubtful vote weighs from 0 to as much as a confident one",
                hint="the default, (2, 1), counts a doubtful vote half",
            )
        order = np.lexsort((self.doubtful, self.category, self.annotator, self.unit))
        if bool((np.diff(order) < 0).any()):
            for name in ("unit", "annotator", "category", "doubtful"):
                object.__setattr__(self, name, getattr(self, name)[order])
            if self.seconds is not None:
                object.__setattr__(self, "seconds", self.seconds[order])

    def __len__(self) -> int:
        return len(self.unit)

    def patterns(self) -> Patterns:
        """Gather units that received the same votes.

        Examples
        --------
        >>> from protoctl.scales import FITZPATRICK
        >>> votes = votes_of([("s1", "a", "II", True), ("s1", "b", "II", False), ("s2", "a", "V", True)], FITZPATRICK)
        >>> found = votes.patterns()
        >>> found.confident.tolist(), found.doubtful.sum(axis=1).tolist(), found.of.tolist()
        ([[0, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0]], [0, 1], [1, 0])
        """
        width = len(self.scale.categories)
        cells = self.unit * (2 * width) + self.category + width * self.doubtful
        counts = np.bincount(cells, minlength=len(self.units) * 2 * width).reshape(len(self.units), 2 * width)
        rows, of, frequency = _unique_rows(counts)
        return Patterns(rows[:, :width], rows[:, width:], of, frequency)


def _unique_rows(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct rows in lexicographic order, each row's place among them, and how often each stands."""
    base = int(counts.max(initial=0)) + 1
    if base ** counts.shape[1] < 2**63:
        powers = np.array([base**power for power in range(counts.shape[1] - 1, -1, -1)], np.int64)
        _, first, of, frequency = np.unique(counts @ powers, return_index=True, return_inverse=True, return_counts=True)
        return counts[first], of, frequency
    rows, of, frequency = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    return rows, of.reshape(-1), frequency


def natural(names: Iterable[str]) -> list[str]:
    """Sort names, numbers by value before all others.

    Examples
    --------
    >>> natural(["10", "b", "9", "a"])
    ['9', '10', 'a', 'b']
    """
    return sorted(names, key=lambda name: (0, int(name), name) if name.isdecimal() else (1, 0, name))


def votes_of(
    rows: Iterable[tuple[str, str | None, str, bool]],
    scale: Scale,
    *,
    control: str = "label",
    unit_kind: Literal["item", "subject"] = "item",
    weights: tuple[int, int] = (2, 1),
) -> Votes:
    """Make votes from rows in memory.

    Parameters
    ----------
    rows : iterable of (str, str or None, str, bool)
        Unit, annotator (None if unknown), category in any spelling of the scale, and whether the annotator was
        confident.
    scale : Scale
        The categories.
    control : str
        What was asked.
    unit_kind : {"item", "subject"}
        What a unit is.
    weights : tuple of int
        Weight of a confident and of a doubtful vote.

    Returns
    -------
    votes : Votes

    Raises
    ------
    VotesError
        If a category is outside the scale.
    """
    taken = list(rows)
    problems = Problems()
    for number, (_, _, category, _) in enumerate(taken):
        if scale.category(category) is None:
            problems.add(f"row {number + 1}", f"{category!r} is not on the scale {scale.name}")
    problems.refuse(VotesError, "votes are refused")
    units = tuple(sorted({row[0] for row in taken}))
    annotators = tuple(natural({row[1] for row in taken if row[1] is not None}))
    unit_at, annotator_at = ({name: at for at, name in enumerate(names)} for names in (units, annotators))
    return Votes(
        control,
        scale,
        unit_kind,
        units,
        annotators,
        np.array([unit_at[row[0]] for row in taken], np.int64),
        np.array([-1 if row[1] is None else annotator_at[row[1]] for row in taken], np.int64),
        np.array([scale.position(scale.category(row[2]) or "") for row in taken], np.int64),
        np.array([not row[3] for row in taken], np.bool_),
        weights,
    )
