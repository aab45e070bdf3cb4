"""Baselines: what people use today, on the same units and behind the same door, for comparison.

They take the units in an order given by a keyed digest and a seed of their own, so that each gives one partition for
one seed; what they do with it is the libraries' affair and may change with their versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..digests import subkey
from ..errors import InputError
from .balance import Balance, balance_of
from .instance import reduced
from .model import Partition, Solver
from .profile import Counts, coded, count_units
from .units import units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BASELINES", "baseline", "compare"]

BASELINES = ("random", "iterative", "group-kfold", "shuffle")
"""Random units; iterative-stratification on units; StratifiedGroupKFold, folds merged; shuffle splits of units."""

_MOST_FOLDS = 100


def baseline(method: str, profile: Counts, ratios: Sequence[int], seed: int) -> NDArray[np.int8]:
    """Assign units to splits as a baseline does.

    Parameters
    ----------
    method : str
        One of `BASELINES`.
    profile : Counts
        Units x categories, in an order that does not depend on rows.
    ratios : sequence of int
        Proportions of the splits.
    seed : int
        The seed.

    Returns
    -------
    assignment : ndarray of int8, shape (n_units,)

    Raises
    ------
    InputError
        If the library behind it refuses these units.
    """
    function = {"random": _random, "iterative": _iterative, "group-kfold": _group_kfold, "shuffle": _shuffle}[method]
    try:
        return function(profile, reduced(ratios), subkey(seed, f"baseline/{method}") % (1 << 31))
    except ValueError as error:
        raise InputError(f"method {method!r} cannot split these units: {error}", hint="leave --method out") from error


def _random(profile: Counts, ratios: tuple[int, ...], seed: int) -> NDArray[np.int8]:
    """Cut the keyed order at the splits' numbers of units."""
    units = len(profile.counts)
    ends = np.cumsum(ratios) * units // sum(ratios)
    return np.searchsorted(ends, np.arange(units), side="right").astype(np.int8)


def _iterative(profile: Counts, ratios: tuple[int, ...], seed: int) -> NDArray[np.int8]:
    """Sechidis et al. (2011), doi:10.1007/978-3-642-23808-6_10: has or has not of each category, split by split."""
    from iterstrat.ml_stratifiers import MultilabelStratifiedShuffleSplit

    return _in_turn(profile, ratios, lambda part: _has(profile)[part], MultilabelStratifiedShuffleSplit, seed)


def _shuffle(profile: Counts, ratios: tuple[int, ...], seed: int) -> NDArray[np.int8]:
    """Cut a split at a time with StratifiedShuffleSplit on the units' most telling joint category."""
    from sklearn.model_selection import StratifiedShuffleSplit

    return _in_turn(profile, ratios, lambda part: _joint(profile, part), StratifiedShuffleSplit, seed)


def _in_turn(profile: Counts, ratios: tuple[int, ...], labels: Any, splitter: Any, seed: int) -> NDArray[np.int8]:
    """Take the splits one by one from what is left, the last keeping the rest."""
    assignment = np.full(len(profile.counts), len(ratios) - 1, np.int8)
    rest = np.arange(len(profile.counts))
    for split in range(len(ratios) - 1):
        here = len(rest) * ratios[split] // sum(ratios[split:])
        cut = splitter(n_splits=1, train_size=here, test_size=len(rest) - here, random_state=seed + split)
        taken, left = next(iter(cut.split(np.zeros((len(rest), 1)), labels(rest))))
        assignment[rest[taken]] = split
        rest = rest[left]
    return assignment


def _group_kfold(profile: Counts, ratios: tuple[int, ...], seed: int) -> NDArray[np.int8]:
    """Merge the folds of StratifiedGroupKFold in the splits' proportions; a row for every unit and joint category."""
    from sklearn.model_selection import StratifiedGroupKFold

    folds = sum(ratios)
    if folds > min(_MOST_FOLDS, len(profile.counts)):
        raise ValueError(f"{folds} folds are more than {min(_MOST_FOLDS, len(profile.counts))}")
    size = profile.counts[:, 0]
    # A unit's items share its joint category: what the units' counts do not say, no fold can balance.
    copies = np.maximum(size * 20 * len(size) // max(int(size.sum()), 1), 1)
    groups = np.repeat(np.arange(len(size)), copies)
    labels = _joint(profile, np.arange(len(size)), least=folds)[groups]
    cut = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    fold = np.empty(len(size), np.int64)
    for at, (_, test) in enumerate(cut.split(np.zeros((len(groups), 1)), labels, groups)):
        fold[groups[test]] = at
    return np.searchsorted(np.cumsum(ratios), fold, side="right").astype(np.int8)


def _has(profile: Counts) -> NDArray[np.int64]:
    """Return whether a unit holds each scored category, shape (n_units, n_scored)."""
    scored = np.array([category.scored for category in profile.categories])
    return (profile.counts[:, scored] > 0).astype(np.int64)


def _joint(profile: Counts, part: NDArray[np.int64], least: int = 2) -> NDArray[np.int64]:
    """Join the units' most frequent categories, attribute by attribute, while enough units share each."""
    names = list(dict.fromkeys(category.attribute for category in profile.categories if category.role == "category"))
    key = np.zeros(len(part), np.int64)
    for name in names:
        columns = [at for at, category in enumerate(profile.categories) if category.attribute == name]
        step = np.argmax(profile.counts[part][:, columns], axis=1)
        merged = np.unique(key * len(columns) + step, return_inverse=True)[1].reshape(-1)
        if np.bincount(merged).min() < least:
            break
        key = merged
    return key


def compare(partition: Partition, methods: Sequence[str] = BASELINES) -> dict[str, Balance]:
    """Return the balance of a partition and of what the baselines make of the same items.

    Parameters
    ----------
    partition : Partition
        Ours, or anybody's.
    methods : sequence of str
        Of `BASELINES`.

    Returns
    -------
    balances : dict of str to Balance
        By method, the partition's own first, under its solver's name; a baseline that its library refuses is left
        out.
    """
    from .balance import strata_of

    found = {partition.solver.name: balance_of(partition)}
    columns = coded(partition.items.table, strata_of(partition))
    units = units_of(partition.items.table, partition.unit)
    profile = count_units(columns, units.of, len(units))
    seed = partition.solver.seed
    for method in methods:
        order = units.order(seed, f"baseline/{method}")
        split = np.empty(len(units), np.int8)
        try:
            split[order] = baseline(method, replace(profile, counts=profile.counts[order]), partition.ratios, seed)
        except InputError:
            continue
        theirs = replace(partition, assignment=split[units.of], solver=Solver(method, "1", seed))
        found[method] = balance_of(theirs)
    return found
