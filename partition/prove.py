"""Proof: integer programming by HiGHS, which certifies what the search found where units are few.

It is not a second search: on dozens of units it has never been seen to improve a result, and its bound is worth
more than the floors' only where it can be driven far. Limits are nodes, never seconds, so that it ends alike
everywhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .bounds import Bound, category_floors
from .instance import Instance

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["prove"]

_CLOSE = 1e-6
_NODES = 20_000
_WHOLE = 40
_PARTLY = 400


def prove(
    instance: Instance, assignment: NDArray[np.int8], bound: Bound, *, nodes: int = _NODES
) -> tuple[NDArray[np.int8], Bound]:
    """Try to prove that no assignment has a smaller sum of share deviations, coverage given.

    Parameters
    ----------
    instance : Instance
        The units.
    assignment : ndarray of int8, shape (n_units,)
        What the search found; only what is better is looked for.
    bound : Bound
        The floors' bound.
    nodes : int
        Nodes after which HiGHS stops.

    Returns
    -------
    assignment : ndarray of int8, shape (n_units,)
        The one given, or a better one where HiGHS found one.
    bound : Bound
        At least as high; `proven` where the assignment is known to be the best.
    """
    value = instance.shares_off(assignment)
    if bool(instance.short(assignment).any()):
        return assignment, bound
    if value <= bound.value + _CLOSE:
        return assignment, replace(bound, proven=True)
    if len(instance.counts) > _WHOLE:
        bound = _constant_bound(instance, bound, nodes)
        if len(instance.counts) > _PARTLY:
            return assignment, replace(bound, proven=value <= bound.value + _CLOSE)
        nodes = nodes // 10
    model = _Model(instance, value)
    found = model.solve(nodes)
    # With the value at hand as a ceiling, "infeasible" says that nothing is below it.
    if found.status == 2:
        return assignment, Bound(value, bound.mean, True)
    lower = float(found.mip_dual_bound) if found.mip_dual_bound is not None else bound.value
    if found.x is not None:
        better = model.assignment(found.x, instance)
        now = instance.shares_off(better)
        if now < value - _CLOSE and not instance.short(better).any():
            assignment, value = better, now
    proven = found.status == 0 and lower >= value - _CLOSE
    lower = value if proven else min(max(lower, bound.value), value)
    return assignment, Bound(lower, bound.mean, proven)


def _constant_bound(instance: Instance, bound: Bound, nodes: int) -> Bound:
    """Return a higher bound from the categories that a unit has wholly or not at all, together; floors for the rest.

    Such categories (gender, race, age of a subject) make a much smaller programme, whose bound rises where that of
    the whole one does not leave the floors.
    """
    size = instance.counts[:, :1]
    constant = ((instance.counts == 0) | (instance.counts == size)).all(axis=0)
    if int((constant & instance.counted).sum()) < 2:
        return bound
    part = replace(
        instance,
        counts=instance.counts[:, constant],
        scored=(instance.scored & instance.counted)[constant],
        weights=instance.weights[constant],
        needed=instance.needed[constant],
    )
    found = _Model(part, float(2 * len(constant))).solve(nodes)
    if found.mip_dual_bound is None:
        return bound
    floors = category_floors(instance) / (sum(instance.ratios) * np.maximum(instance.totals, 1))
    value = float(found.mip_dual_bound) + float(floors[~constant].sum()) - _CLOSE
    return replace(bound, value=max(bound.value, value))


def cover(instance: Instance) -> NDArray[np.int8] | None:
    """Return an assignment that lacks as little as can be, for a search to go on from; None where none was found."""
    if len(instance.counts) > _PARTLY:
        return None
    model = _Model(instance, None)
    found = model.solve(_NODES)
    return None if found.x is None else model.assignment(found.x, instance)


class _Model:
    """The integer programme: how many units of each kind go to each split, and every share's deviation."""

    def __init__(self, instance: Instance, ceiling: float | None) -> None:
        import scipy.optimize
        from scipy.sparse import csr_array

        limits: Any = scipy.optimize.Bounds
        constraint: Any = scipy.optimize.LinearConstraint

        key = np.column_stack([instance.fixed.astype(np.int64), instance.counts])
        self.kinds, number, self.size = np.unique(key, axis=0, return_inverse=True, return_counts=True)
        self.kind = number.reshape(-1)
        splits, kinds = len(instance.ratios), len(self.kinds)
        self.shape = (kinds, splits)
        columns = np.flatnonzero(instance.counted)
        shares = self.kinds[:, 1:][:, columns] / np.maximum(instance.totals[columns], 1)
        places, devs = kinds * splits, len(columns) * splits
        self.objective = np.concatenate([np.zeros(places), np.ones(devs)])
        self.integral = np.concatenate([np.ones(places), np.zeros(devs)])
        low, high = np.zeros((kinds, splits)), np.repeat(self.size[:, None].astype(float), splits, axis=1)
        for at in np.flatnonzero(self.kinds[:, 0] >= 0).tolist():
            high[at, np.arange(splits) != self.kinds[at, 0]] = 0
        self.bounds = limits(
            np.concatenate([low.ravel(), np.zeros(devs)]), np.concatenate([high.ravel(), np.ones(devs)])
        )
        target = np.tile(np.array(instance.ratios) / sum(instance.ratios), len(columns))
        share = np.kron(shares.T, np.eye(splits))
        here = np.eye(devs)
        whole = sum(instance.ratios) * np.maximum(instance.totals[columns], 1)
        floors = category_floors(instance)[columns] / whole
        has = (self.kinds[:, 1:] > 0).astype(float)
        guarded = np.flatnonzero(instance.needed)
        held = np.kron(has[:, guarded].T, np.eye(splits))
        lacks = np.zeros((len(guarded) * splits, devs))
        alone = np.kron(np.eye(len(columns)), np.ones((1, splits)))
        if ceiling is None:
            # What is lacking takes the place of the deviations.
            devs = len(guarded) * splits
            self.objective = np.concatenate([np.zeros(places), np.ones(devs)])
            self.integral = np.concatenate([np.ones(places), np.zeros(devs)])
            self.bounds = limits(np.zeros(places + devs), np.concatenate([high.ravel(), np.full(devs, np.inf)]))
            lacks = np.eye(devs)
        once = np.hstack([np.kron(np.eye(kinds), np.ones((1, splits))), np.zeros((kinds, devs))])
        wanted = np.repeat(instance.needed[guarded], splits).astype(float)
        rows: list[tuple[Any, Any, Any]] = [(once, self.size, self.size), (np.hstack([held, lacks]), wanted, np.inf)]
        if ceiling is not None:
            rows += [
                (np.hstack([share, -here]), -np.inf, target),
                (np.hstack([share, here]), target, np.inf),
                (np.hstack([np.zeros((len(columns), places)), alone]), floors - 1e-9, np.inf),
                (self.objective[None, :], -np.inf, ceiling + _CLOSE / 10),
            ]
        self.constraints = [constraint(csr_array(matrix), lower, upper) for matrix, lower, upper in rows if len(matrix)]

    def solve(self, nodes: int) -> Any:
        """Run HiGHS for so many nodes."""
        from scipy.optimize import milp

        options = {"node_limit": nodes, "mip_rel_gap": 0.0, "presolve": True}
        return milp(
            self.objective,
            integrality=self.integral,
            bounds=self.bounds,
            constraints=self.constraints,
            options=options,
        )

    def assignment(self, values: NDArray[np.float64], instance: Instance) -> NDArray[np.int8]:
        """Return the units' splits; units of one kind are taken in their order."""
        kinds, splits = self.shape
        counts = np.rint(values[: kinds * splits]).astype(np.int64).reshape(self.shape)
        order = np.argsort(self.kind, kind="stable")
        assignment = np.empty(len(self.kind), np.int8)
        assignment[order] = np.repeat(np.tile(np.arange(splits, dtype=np.int8), kinds), counts.ravel())
        return assignment
