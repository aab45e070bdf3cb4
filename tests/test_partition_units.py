"""Units: subjects whole, linked subjects together, the order of rows without influence."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.errors import InputError
from protoctl.partition.units import connected, ranked, units_of


def table(subjects: list[str | None]) -> pa.Table:
    items = [f"i{at:03d}" for at in range(len(subjects))]
    return pa.table({"item": items, "subject": pa.array(subjects, pa.string())})


def test_an_item_without_a_subject_stands_for_itself() -> None:
    units = units_of(table(["a", None, "a", None]), "subject")
    assert units.of.tolist() == [0, 1, 0, 2]
    assert units.ids.to_pylist() == ["a", "i001", "i003"]
    assert units.named.tolist() == [True, False, False]


def test_unit_item_leaves_subjects_aside() -> None:
    units = units_of(table(["a", "a"]), "item")
    assert units.singles
    assert units.of.tolist() == [0, 1]


def test_a_face_swap_ties_its_subjects_into_one_unit() -> None:
    units = units_of(table(["a", "b", "a|c", "d", "c|e"]), "group")
    assert len(set(units.of[[0, 2, 4]].tolist())) == 1
    assert len(units) == 3
    (component,) = units.components
    assert component.subjects == ("a", "c", "e")
    assert component.links == (("a", "c"), ("c", "e"))
    assert units.ids[component.unit].as_py() == "a"


def test_links_are_kept_and_strange_ones_refused() -> None:
    units = units_of(table(["ann", "bob", "cy"]), "subject", [("bob", "ann")])
    assert units.of[0] == units.of[1] != units.of[2]
    with pytest.raises(InputError, match="there is no subject 'bop'") as refused:
        units_of(table(["ann", "bob"]), "subject", [("bop", "ann")])
    assert "did you mean 'bob'" in str(refused.value.hint)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 20).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    )
)
def test_connected_agrees_with_a_walk(case: tuple[int, list[tuple[int, int]]]) -> None:
    count, links = case
    root = connected(count, np.array(links, np.int64).reshape(-1, 2))
    near = {at: {at} for at in range(count)}
    for a, b in links:
        near[a].add(b)
        near[b].add(a)
    for start in range(count):
        seen, stack = {start}, [start]
        while stack:
            for other in near[stack.pop()] - seen:
                seen.add(other)
                stack.append(other)
        assert root[start] == min(seen)


def test_equal_digests_are_ordered_by_id() -> None:
    digests = np.array([5, 3, 5, 5], np.uint64)
    order = ranked(digests, pa.array(["c", "x", "a", "b"]), np.ones(4, bool))
    assert order.tolist() == [1, 2, 3, 0]


def test_the_order_of_rows_has_no_influence_on_the_units_order() -> None:
    names = [f"s{at}" for at in range(50)]
    one, two = units_of(table(names), "subject"), units_of(table(names[::-1]), "subject")
    first = [one.ids[at].as_py() for at in one.order(4, "test").tolist()]
    assert first == [two.ids[at].as_py() for at in two.order(4, "test").tolist()]
    assert first != sorted(first)
