"""Items without subjects: every cell and every category within one item."""

import hashlib
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protoctl.partition import Stratum, split_table
from protoctl.partition.assign import Task, assign
from protoctl.partition.cells import allocate
from protoctl.partition.rows import drawn, joint

RATIOS = (11, 3, 6)


def away(members: NDArray[np.int64], items: NDArray[np.int64], on: tuple[int, ...], ratios: tuple[int, ...]) -> float:
    """Return the largest deviation in items over the joint categories of some attributes."""
    key = np.zeros(len(members), np.int64)
    for at in on:
        key = key * 100 + members[:, at]
    number = np.unique(key, return_inverse=True)[1].reshape(-1)
    held = np.zeros((number.max() + 1, len(ratios)), np.int64)
    np.add.at(held, number, items)
    return float(np.abs(held - held.sum(axis=1)[:, None] * np.array(ratios) / sum(ratios)).max())


def drawn_cells(seed: int, attributes: int = 4) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    codes = [np.minimum(random.geometric(0.3, 20_000) - 1, width) for width in (8, 5, 1, 3)[:attributes]]
    cell, members = joint(codes, [9, 6, 2, 4][:attributes])
    return members, np.bincount(cell)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ratios", [RATIOS, (1, 1, 1, 1, 1), (7, 1)])
def test_cells_and_categories_come_within_one_item_and_pairs_within_three(seed: int, ratios: tuple[int, ...]) -> None:
    members, sizes = drawn_cells(seed)
    found = allocate(members, sizes, ratios, seed)
    assert found.within
    assert found.items.sum(axis=1).tolist() == sizes.tolist()
    assert away(members, found.items, (0, 1, 2, 3), ratios) < 1
    assert away(members, found.items, (), ratios) < 1
    assert max(away(members, found.items, (at,), ratios) for at in range(4)) < 1
    assert max(away(members, found.items, pair, ratios) for pair in combinations(range(4), 2)) < 3


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=3, max_size=60),
    st.lists(st.integers(1, 9), min_size=2, max_size=4),
    st.integers(0, 5),
)
def test_small_tables_keep_floor_and_ceiling(rows: list[tuple[int, int]], ratios: list[int], seed: int) -> None:
    codes = np.array(rows, np.int64)
    cell, members = joint([codes[:, 0], codes[:, 1]], [3, 3])
    found = allocate(members, np.bincount(cell), tuple(ratios), seed)
    assert away(members, found.items, (0, 1), tuple(ratios)) < 1
    for at in (0, 1):
        assert away(members, found.items, (at,), tuple(ratios)) < 1
    assert found.items.min() >= 0


def test_coverage_comes_before_floor_and_ceiling() -> None:
    # Three items of one category and ratios that would give them all to one split.
    sizes = np.array([3, 97])
    found = allocate(np.array([[0], [1]]), sizes, (90, 5, 5), 0, needed=np.array([1, 1, 1]))
    assert found.items[0].tolist() == [1, 1, 1]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=6, max_size=60),
    st.lists(st.integers(1, 30), min_size=2, max_size=3),
)
def test_every_category_of_enough_items_is_in_every_split(rows: list[tuple[int, int]], ratios: list[int]) -> None:
    codes = np.array(rows, np.int64)
    table = pa.table({"item": [f"i{at}" for at in range(len(rows))], "a": codes[:, 0], "b": codes[:, 1]})
    strata = (Stratum("a", "a", "category"), Stratum("b", "b", "category"))
    task = Task(table, strata, tuple(str(at) for at in range(len(ratios))), tuple(ratios))
    split = assign(task, 0).assignment
    for column in (0, 1):
        for value in range(4):
            held = np.bincount(split[codes[:, column] == value], minlength=len(ratios))
            if held.sum() >= len(ratios) and held.min() == 0:
                entangled = assign(task, 0).warnings
                assert any("coverage is not met" in warning for warning in entangled)


def test_kept_items_stay_and_the_rest_makes_up_for_them() -> None:
    kept = np.array([[0, 0, 10], [0, 0, 0]])
    found = allocate(np.array([[0], [1]]), np.array([20, 80]), RATIOS, 0, kept=kept)
    assert (found.items >= kept).all()
    assert found.items.sum(axis=0).tolist() == [55, 15, 30]


def test_rows_are_drawn_in_the_given_order() -> None:
    cell = np.array([0, 1, 0, 1, 0])
    split = drawn(cell, np.array([4, 3, 2, 1, 0]), np.array([[1, 2], [2, 0]]))
    assert split.tolist() == [1, 0, 1, 0, 0]


def test_joint_numbers_only_cells_that_occur() -> None:
    cell, members = joint([np.array([2, 0, 2]), np.array([1, 1, 1])], [3, 2])
    assert cell.tolist() == [1, 0, 1]
    assert members.tolist() == [[0, 1], [2, 1]]


def test_affectnet_like_rows_meet_the_promise(bench: Path) -> None:
    table = pq.read_table(bench / "affectnet_like.parquet")
    names = ["gender", "race", "age", "expr"]
    split = split_table(table, {"train": 55, "valid": 15, "test": 30}, names).indices.to_numpy()
    assert np.bincount(split).tolist() == [159_819, 43_587, 87_174]
    codes = [table[name].combine_chunks().indices.to_numpy().astype(np.int64) for name in names]
    cell, members = joint(codes, [9] * 4)
    items = np.bincount(cell * 3 + split, minlength=3 * len(members)).reshape(-1, 3)
    assert away(members, items, (0, 1, 2, 3), RATIOS) < 1
    assert max(away(members, items, (at,), RATIOS) for at in range(4)) < 1
    assert max(away(members, items, pair, RATIOS) for pair in combinations(range(4), 2)) <= 3


def golden_rows() -> pa.Table:
    """Return 3,000 rows made by arithmetic alone."""
    at = np.arange(3000)
    return pa.table(
        {
            "item": [f"img{i:05d}" for i in at.tolist()],
            "label": [f"c{i}" for i in ((at * at + 7) % 11 % 5).tolist()],
            "age": [f"a{i}" for i in ((at * 31 + at // 7) % 13 % 6).tolist()],
            "gender": ["F" if i else "M" for i in ((at * 17 + at // 3) % 5 % 2).tolist()],
        }
    )


def test_the_exact_assignment_is_pinned() -> None:
    split = split_table(golden_rows(), {"a": 55, "b": 15, "c": 30}, ["label", "age", "gender"], seed=1)
    digest = hashlib.sha256(split.indices.to_numpy().astype(np.int8).tobytes()).hexdigest()
    assert digest[:16] == "9ff0acc62b26b3fb"
