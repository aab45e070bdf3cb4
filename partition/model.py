"""What a partition and its balance are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..catalog import Items
    from ..protocols import Protocol
    from .drawn import Drawn

__all__ = ["Partition", "Solver"]


@dataclass(frozen=True)
class Solver:
    """How a partition was found.

    Parameters
    ----------
    name : str
        ``cells``, ``search``, ``sampled``, a baseline's name, or ``given``.
    version : str
        Version of the solver: the same name, version and seed give the same partition of the same items.
    seed : int
        The seed.
    objective : float or None
        Mean deviation of the categories' shares from their targets, in percentage points, the total left out.
    bound : float or None
        No partition of these units can have a smaller one.
    proven : bool
        Whether it is known that no partition of these units has a smaller `deviation`.
    deviation : float or None
        Sum of the share deviations over the counted categories and the total; 0.01 is one point. What the search
        minimises.
    deviation_bound : float or None
        No partition of these units can have a smaller one.
    """

    name: str
    version: str
    seed: int
    objective: float | None = None
    bound: float | None = None
    proven: bool = False
    deviation: float | None = None
    deviation_bound: float | None = None

    @property
    def gap(self) -> float | None:
        """Share of `deviation` that the bound leaves open, in [0, 1]; None where there is no bound."""
        if self.deviation is None or self.deviation_bound is None:
            return None
        if self.proven or self.deviation <= self.deviation_bound:
            return 0.0
        return (self.deviation - self.deviation_bound) / self.deviation


@dataclass(frozen=True)
class Partition:
    """Which split every item goes to.

    Parameters
    ----------
    items : Items
        The items that take part, in the protocol's form.
    protocol : Protocol
        The rules, with what was overridden for this run.
    splits : tuple of str
        Names of the splits, in the protocol's order.
    ratios : tuple of int
        Their proportions.
    assignment : ndarray of int8, shape (n_items,)
        Position in `splits` of each row of ``items.table``.
    unit : str
        What was kept whole: ``subject``, ``group`` or ``item``.
    stratify : tuple of str
        The columns that were balanced.
    solver : Solver
        How it was found.
    left_out : mapping of str to int
        Items that the protocol left out, by reason.
    warnings : tuple of str
        What could not be met, and what is odd, with the numbers.
    notes : tuple of str
        What was done without being asked for in so many words.
    drawn : Drawn or None
        The subset that was drawn first, where the protocol draws one.
    accepted_terms : str or None
        Why a split to train on was made of a dataset whose terms allow evaluation only.
    """

    items: Items
    protocol: Protocol
    splits: tuple[str, ...]
    ratios: tuple[int, ...]
    assignment: NDArray[np.int8]
    unit: str
    stratify: tuple[str, ...]
    solver: Solver
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    drawn: Drawn | None = None
    accepted_terms: str | None = None

    def table(self) -> pa.Table:
        """Return the assignments: columns ``item``, ``subject`` (null where there is none) and ``split``."""
        names: Any = pa.array(self.splits, pa.string())
        split = names.take(pa.array(self.assignment))
        items = self.items.table
        subject = items["subject"] if "subject" in items.column_names else pa.nulls(len(self.items), pa.string())
        return pa.table({"item": items["item"], "subject": subject, "split": split})
