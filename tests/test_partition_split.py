"""From items and a protocol to a partition: what holds for any table, what is refused, what is offered beside it."""

import json
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.catalog import Items
from protoctl.errors import InfeasibleError, InputError
from protoctl.partition import (
    Balance,
    ProtocolSplit,
    Stratum,
    balance_from_counts,
    balance_of,
    compare,
    split_items,
    split_table,
)
from protoctl.partition.assign import Task, assign
from protoctl.partition.profile import Category
from protoctl.protocols import Protocol, load_protocol

RATIOS = {"train": 55, "valid": 15, "test": 30}


@pytest.fixture
def protocol() -> Protocol:
    fair = load_protocol("fair-55-15-30")
    assert fair.split is not None
    split = replace(fair.split, stratify=("label", "gender"))
    return replace(fair, split=split, select=replace(fair.select, require=()))


def subjects(units: int, each: int = 4, seed: int = 0) -> pa.Table:
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(units), random.integers(1, 2 * each, units))
    return pa.table(
        {
            "item": [f"v{at:05d}.mp4" for at in range(len(who))],
            "subject": [f"s{at:04d}" for at in who.tolist()],
            "label": [("Happy", "Sad", "Fear")[at] for at in random.integers(0, 3, len(who)).tolist()],
            "gender": [("F", "M")[at] for at in (who % 2).tolist()],
        }
    )


def by_item(table: pa.Table, split: Any) -> dict[str, str]:
    return dict(zip(table["item"].to_pylist(), split.to_pylist(), strict=True))


TABLES = st.lists(
    st.tuples(
        st.sampled_from([None, "a", "b", "c", "d", "e", "f", "a|b", "g", "h"]),
        st.sampled_from(["x", "y", "z", None]),
        st.sampled_from(["0", "1", None]),
    ),
    min_size=4,
    max_size=40,
).filter(lambda rows: len({row[0] for row in rows} - {None}) > 3)


def drawn_table(rows: list[tuple[str | None, str | None, str | None]]) -> pa.Table:
    subject, label, unit = zip(*rows, strict=True)
    return pa.table(
        {
            "item": [f"i{at:03d}" for at in range(len(rows))],
            "subject": pa.array(subject, pa.string()),
            "label": pa.array(label, pa.string()),
            "AU1": pa.array(unit, pa.string()),
        }
    )


@settings(max_examples=50, deadline=None)
@given(TABLES, st.integers(0, 3), st.randoms(use_true_random=False))
def test_units_stay_whole_and_the_order_of_rows_changes_nothing(rows: Any, seed: int, random: Any) -> None:
    table = drawn_table(rows)
    split = split_table(table, RATIOS, ["label", "AU1"], binary=["AU1"], seed=seed)
    place = by_item(table, split)
    seen: dict[str, set[str]] = {}
    for item, subject in zip(table["item"].to_pylist(), table["subject"].to_pylist(), strict=True):
        for one in (subject or "").split("|"):
            seen.setdefault(one, set()).add(place[item])
    assert all(len(splits) == 1 for one, splits in seen.items() if one)
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = table.take(order)
    assert by_item(shuffled, split_table(shuffled, RATIOS, ["label", "AU1"], binary=["AU1"], seed=seed)) == place


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=3, max_size=6))
def test_coverage_is_met_wherever_some_assignment_meets_it(counts: list[list[int]]) -> None:
    rows = [
        (f"s{unit}", value)
        for unit, row in enumerate(counts)
        for value, count in zip("xyz", row, strict=True)
        for _ in range(count)
    ]
    names = sorted({subject for subject, _ in rows})
    if len(names) < 3:
        return
    table = pa.table(
        {
            "item": [f"i{at}" for at in range(len(rows))],
            "subject": [subject for subject, _ in rows],
            "label": [value for _, value in rows],
        }
    )
    holders = {value: {subject for subject, other in rows if other == value} for value in "xyz"}
    must = [held for held in holders.values() if len(held) >= 3] + [set(names)]

    def covered(place: dict[str, int]) -> bool:
        return all(len({place[subject] for subject in held}) == 3 for held in must)

    possible = any(covered(dict(zip(names, tried, strict=True))) for tried in product(range(3), repeat=len(names)))
    split = split_table(table, RATIOS, ["label"]).indices.to_pylist()
    assert covered(dict(zip(table["subject"].to_pylist(), split, strict=True))) or not possible


@pytest.mark.parametrize("units", [6, 30, 120, 600])
def test_no_baseline_is_more_balanced(units: int, protocol: Protocol) -> None:
    partition = split_items(Items("drawn", subjects(units), labels=("label",)), protocol, seed=3)
    balances = compare(partition)
    ours = balances.pop(partition.solver.name)
    assert "random" in balances
    assert "iterative" in balances or units < 10
    covering = {name: theirs for name, theirs in balances.items() if not theirs.empty}
    assert all(ours.deviation <= theirs.deviation + 1e-9 for theirs in covering.values())
    assert not ours.empty


def test_a_seed_changes_the_partition_and_hardly_its_quality(protocol: Protocol) -> None:
    items = Items("drawn", subjects(45), labels=("label",))
    found = [split_items(items, protocol, seed=seed) for seed in range(4)]
    assert len({partition.assignment.tobytes() for partition in found}) == 4
    deviations = [balance_of(partition).deviation for partition in found]
    assert max(deviations) <= 1.05 * min(deviations)


def test_the_balance_is_what_the_solver_says_and_survives_json(protocol: Protocol) -> None:
    partition = split_items(Items("drawn", subjects(25), labels=("label",)), protocol)
    balance = balance_of(partition)
    assert balance.mean == pytest.approx(partition.solver.objective)
    assert balance.deviation == pytest.approx(partition.solver.deviation)
    assert balance.gap == pytest.approx(partition.solver.gap)
    assert sum(balance.rows[0].items) == len(partition.items)
    assert sum(balance.rows[0].units) == 25
    assert Balance.from_json(json.loads(json.dumps(balance.to_json()))).to_json() == balance.to_json()


def test_proof_of_few_units(protocol: Protocol) -> None:
    partition = split_items(Items("drawn", subjects(12), labels=("label",)), protocol, prove=True)
    assert partition.solver.proven
    assert partition.solver.gap == 0
    assert partition.solver.deviation == pytest.approx(partition.solver.deviation_bound, abs=1e-6)


def test_missing_values_are_spread_evenly_and_no_score_uses_them() -> None:
    labels = pa.array(["x", "y", None, None] * 50, pa.string())
    table = pa.table({"item": [f"i{at}" for at in range(200)], "label": labels})
    split = np.array(split_table(table, RATIOS, ["label"]).to_pylist())
    missing = np.array(labels.is_null().to_pylist())
    assert [(split[missing] == name).sum() for name in RATIOS] == [55, 15, 30]
    assert not Category("label", "", "missing").scored


def test_folds_are_equal_and_keep_subjects_whole(protocol: Protocol) -> None:
    table = subjects(60)
    partition = split_items(Items("drawn", table, labels=("label",)), protocol, folds=5)
    assert partition.splits == ("fold-1", "fold-2", "fold-3", "fold-4", "fold-5")
    balance = balance_of(partition)
    assert balance.size < 1
    assert not balance.empty
    with pytest.raises(InputError, match="1 folds") as refused:
        split_items(Items("drawn", table, labels=("label",)), protocol, folds=1)
    assert refused.value.hint == "name 2 folds or more"


def test_kept_items_stay_where_they_are(protocol: Protocol) -> None:
    table = subjects(80)
    first = split_items(Items("drawn", table.slice(0, 120), labels=("label",)), protocol)
    keep = by_item(first.items.table, first.table()["split"])
    whole = split_items(Items("drawn", table, labels=("label",)), protocol, keep=keep)
    after = by_item(whole.items.table, whole.table()["split"])
    assert {item: after[item] for item in keep} == keep
    assert balance_of(whole).worst_points < 3
    torn = {"v00000.mp4": "train", "v00001.mp4": "test"}
    one = pa.table(
        {**{name: table[name] for name in ("item", "label", "gender")}, "subject": ["s"] * 2 + ["t"] * (len(table) - 2)}
    )
    with pytest.raises(InfeasibleError, match="kept items in more than one split: s") as refused:
        split_items(Items("drawn", one, labels=("label",)), protocol, keep=torn)
    assert "withdraw" in str(refused.value.hint)
    with pytest.raises(InputError, match="there is no split 'trian'") as misspelt:
        split_items(Items("drawn", table, labels=("label",)), protocol, keep={"v00000.mp4": "trian"})
    assert "did you mean 'train'" in str(misspelt.value.hint)


def test_links_keep_subjects_together(protocol: Protocol) -> None:
    partition = split_items(
        Items("drawn", subjects(40), labels=("label",)), protocol, links=[("s0001", "s0002"), ("s0002", "s0003")]
    )
    table = partition.table()
    places = {
        split
        for subject, split in zip(table["subject"].to_pylist(), table["split"].to_pylist(), strict=True)
        if subject in ("s0001", "s0002", "s0003")
    }
    assert len(places) == 1


def test_one_subject_cannot_be_split(protocol: Protocol) -> None:
    with pytest.raises(InfeasibleError, match="there is one subject only") as refused:
        split_items(Items("drawn", subjects(1), labels=("label",)), protocol)
    assert "split.unit to item" in str(refused.value.hint)
    assert refused.value.exit_code == 4


def test_fewer_subjects_than_splits_is_a_warning_or_strictly_refused(protocol: Protocol) -> None:
    items = Items("drawn", subjects(2), labels=("label",))
    partition = split_items(items, protocol)
    assert "1 stay empty, the smallest first (valid)" in partition.warnings[0]
    with pytest.raises(InfeasibleError, match="2 units") as refused:
        split_items(items, protocol, strict=True)
    assert "without --strict" in str(refused.value.hint)


def test_a_component_that_swallows_a_split_is_named_with_its_links(protocol: Protocol) -> None:
    table = subjects(30)
    links = [(f"s{at:04d}", f"s{at + 1:04d}") for at in range(24)]
    partition = split_items(Items("drawn", table, labels=("label",)), protocol, links=links)
    (warning,) = [text for text in partition.warnings if "linked subjects" in text]
    assert "the unit of 25 linked subjects (s0000, s0001, s0002, s0003 and 21 more; 24 links: s0000-s0001" in warning
    assert "more than split 'train' should hold (55.0 %)" in warning


def test_scarce_categories_are_named_with_their_numbers(protocol: Protocol) -> None:
    table = subjects(30)
    labels = table["label"].to_pylist()
    labels[0] = "Contempt"
    table = table.set_column(table.column_names.index("label"), "label", pa.array(labels))
    partition = split_items(Items("drawn", table, labels=("label",)), protocol)
    assert "label Contempt (1 subject, 1 items)" in partition.warnings[0]
    (empty,) = {row.name for row, _ in balance_of(partition).all_empty}
    assert empty == "label Contempt"
    assert not balance_of(partition).empty


@pytest.mark.parametrize("ratio", [0, -1])
def test_a_ratio_that_is_not_above_zero_is_refused(ratio: int) -> None:
    with pytest.raises(InputError, match=f"ratio of split 'b' is {ratio}") as refused:
        split_table(subjects(5), {"a": 1, "b": ratio}, ["label"])
    assert refused.value.hint == "ratios are whole numbers above 0"


def test_unknown_columns_and_methods_are_refused_with_the_close_match(protocol: Protocol) -> None:
    with pytest.raises(InputError, match="there is no column 'lable'") as column:
        split_table(subjects(5), {"a": 1, "b": 1}, ["lable"])
    assert "did you mean 'label'" in str(column.value.hint)
    with pytest.raises(InputError, match="there is no method 'itertive'") as method:
        split_items(Items("drawn", subjects(9), labels=("label",)), protocol, method="itertive")
    assert "did you mean 'iterative'" in str(method.value.hint)


def test_all_rows_equal() -> None:
    table = pa.table({"item": [f"i{at}" for at in range(20)], "label": ["x"] * 20})
    split = split_table(table, RATIOS, ["label"]).indices.to_numpy()
    assert np.bincount(split).tolist() == [11, 3, 6]


def test_a_category_of_one_item() -> None:
    table = pa.table({"item": [f"i{at}" for at in range(21)], "label": ["x"] * 20 + ["y"]})
    split = split_table(table, RATIOS, ["label"]).indices.to_numpy()
    assert abs(np.bincount(split) - np.array([11.55, 3.15, 6.3])).max() < 1


def test_weights_of_an_attribute_are_heard() -> None:
    table = subjects(14, seed=5)
    strata = (Stratum("label", "label", "category"), Stratum("gender", "gender", "category"))
    task = Task(table, strata, tuple(RATIOS), tuple(RATIOS.values()), weights={"gender": 50})

    def off(task: Task) -> float:
        split = assign(task, 0).assignment
        gender = np.array(table["gender"].to_pylist())
        held = np.stack([np.bincount(split[gender == one], minlength=3) for one in ("F", "M")])
        return float(np.abs(held / held.sum(axis=1, keepdims=True) - np.array([0.55, 0.15, 0.3])).sum())

    assert off(task) <= off(replace(task, weights={}))


def test_counts_alone_give_a_balance() -> None:
    # Hu et al. (FG 2024), Table II: in their partition of GFT every Asian subject is in test, 0 / 0 / 100.
    rows = [Category("", "", "total"), Category("race", "Asian", "category"), Category("race", "", "missing")]
    balance = balance_from_counts(
        ("train", "valid", "test"), (55, 15, 30), rows, [[550, 150, 300], [0, 0, 100], [1, 0, 0]]
    )
    assert balance.worst_points == pytest.approx(70)
    assert balance.mean == pytest.approx((55 + 15 + 70) / 3)
    assert [(row.value, at) for row, at in balance.empty] == [("Asian", 0), ("Asian", 1)]


def test_as_a_scikit_learn_splitter() -> None:
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import cross_validate

    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    y = random.integers(0, 3, 200)
    cut = ProtocolSplit(4, seed=1)
    assert cut.get_n_splits() == 4
    seen = np.zeros(200, int)
    for train, test in cut.split(y, y, groups):
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == 200
        seen[test] += 1
        assert abs(np.bincount(y[test], minlength=3) / np.bincount(y) - 0.25).max() < 0.02
    assert seen.tolist() == [1] * 200
    found = cross_validate(DummyClassifier(), np.zeros((200, 1)), y, groups=groups, cv=cut)
    assert len(found["test_score"]) == 4
    one = ProtocolSplit(ratios={"train": 3, "test": 1})
    assert one.get_n_splits() == 1
    ((train, test),) = one.split(y, np.column_stack([y == 1, y == 2]), None)
    assert (len(train), len(test)) == (150, 50)
    with pytest.raises(InputError, match="n_splits is 1") as refused:
        ProtocolSplit(1)
    assert refused.value.hint == "2 folds or more"
