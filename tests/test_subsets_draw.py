"""Subsets: what is drawn, from whom, and that nobody else's items have a say in it."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.catalog import Items
from protoctl.errors import InputError, ProtocolError
from protoctl.partition import apply_protocol, draw_subset
from protoctl.partition.subsets import proportional
from protoctl.protocols import parse_protocol

MINI = "name: m\nversion: 1.0.0\nsubset: {name: mini, per: [subject], at_most: 2, alternate: lighting, by: [age]}\n"
CAPPED = "name: c\nversion: 1.0.0\nsubset: {name: capped, per: [age, gender], at_most: %d, missing: %s}\n"


def items_of(**columns) -> Items:
    attributes = tuple(name for name in columns if name not in ("item", "subject", "label"))
    labels = ("label",) if "label" in columns else ()
    return Items(
        "rows", pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}), labels, attributes
    )


def videos(lighting_by_subject) -> Items:
    rows = [
        (f"{subject}/{at:02d}.mp4", subject, light)
        for subject, lights in lighting_by_subject.items()
        for at, light in enumerate(lights)
    ]
    item, subject, lighting = zip(*rows, strict=True)
    return items_of(item=item, subject=subject, lighting=lighting, age=["18-30"] * len(rows))


def chosen(sample) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    table = sample.items.table
    for item, subject, light in zip(
        *(table[name].to_pylist() for name in ("item", "subject", "lighting")), strict=True
    ):
        found.setdefault(subject, []).append((item, light))
    return found


def mini(items, seed=0):
    return draw_subset(items, parse_protocol(MINI, "m"), seed=seed)


lights = st.lists(st.sampled_from(["dark", "bright"]), min_size=1, max_size=6)
people = st.dictionaries(st.text("abcdef", min_size=1, max_size=4), lights, min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(people, st.integers(0, 3))
def test_two_videos_a_subject_and_both_lightings_wherever_both_exist(lighting, seed):
    found = chosen(mini(videos(lighting), seed))
    assert set(found) == set(lighting)
    for subject, held in lighting.items():
        assert len(found[subject]) == min(2, len(held))
        kinds = {light for _, light in found[subject]}
        assert kinds == set(held) if len(held) > 1 else len(kinds) == 1


@settings(max_examples=40, deadline=None)
@given(people, people, st.randoms(use_true_random=False))
def test_neither_other_subjects_nor_the_order_of_rows_move_a_choice(some, others, random):
    whole = {**others, **some}
    items = videos(whole)
    order = list(range(len(items)))
    random.shuffle(order)
    shuffled = Items("rows", items.table.take(order), (), items.attributes)
    alone, together = chosen(mini(videos(some))), chosen(mini(shuffled))
    for subject in some:
        assert sorted(alone[subject]) == sorted(together[subject])


def test_another_seed_draws_others():
    items = videos({f"s{at}": ["dark", "dark", "bright", "bright"] for at in range(30)})
    assert mini(items, 0).items.table["item"].to_pylist() != mini(items, 1).items.table["item"].to_pylist()


def test_mini_counts_what_was_lacking():
    sample = mini(videos({"a": ["dark", "bright", "bright"], "b": ["bright", "bright", "bright"], "c": ["dark"]}))
    assert (sample.drawn.before, sample.drawn.after, sample.drawn.number) == (7, 5, 3)
    assert sample.drawn.totals == (("bright", 5, 3), ("dark", 2, 2))
    assert sample.drawn.lacking == (("bright", 1), ("dark", 1))
    assert sample.drawn.tables[0].rows == (("18-30", (5, 2), (3, 2)),)


def test_a_video_of_unknown_lighting_is_taken_last():
    found = chosen(mini(videos({"a": [None, None, "dark"], "b": [None]})))
    assert "dark" in {light for _, light in found["a"]}
    assert found["b"] == [("b/00.mp4", None)]


def test_items_of_nobody_known_are_each_on_their_own():
    items = items_of(item=["a", "b", "c"], subject=[None, None, None], lighting=["dark"] * 3, age=["x"] * 3)
    assert len(mini(items).items) == 3


cells = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["x", "y"])), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(cells, st.integers(1, 6), st.integers(0, 3))
def test_no_cell_over_its_cap_and_none_reduced_that_was_under_it(rows, cap, seed):
    age, gender = zip(*rows, strict=True)
    items = items_of(item=[f"{at}.jpg" for at in range(len(rows))], age=age, gender=gender)
    drawn = draw_subset(items, parse_protocol(CAPPED % (cap, "cell"), "c"), seed=seed).drawn
    assert sum(cell.before for cell in drawn.cells) == len(rows)
    for cell in drawn.cells:
        assert cell.after == min(cell.before, cap)


def test_missing_values_make_a_cell_or_are_left_out():
    items = items_of(item=["a", "b", "c"], age=["1", None, "1"], gender=["F", "F", None])
    kept = draw_subset(items, parse_protocol(CAPPED % (9, "cell"), "c"))
    assert [cell.values for cell in kept.drawn.cells] == [("1", "F"), ("1", "(missing)"), ("(missing)", "F")]
    left = draw_subset(items, parse_protocol(CAPPED % (9, "leave-out"), "c"))
    assert left.items.table["item"].to_pylist() == ["a"]
    assert left.left_out == {"no age": 1, "no gender": 1}
    nothing = items_of(item=["a"], age=[None], gender=["F"])
    with pytest.raises(InputError) as caught:
        draw_subset(nothing, parse_protocol(CAPPED % (9, "leave-out"), "c"))
    assert caught.value.message == "rows: every item lacks a value of age, gender"
    assert "missing: cell" in str(caught.value.hint)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=12), st.integers(1, 200), st.integers(0, 3))
def test_a_sample_is_in_proportion(sizes, total, seed):
    wanted = proportional(np.array(sizes), total, [str(at) for at in range(len(sizes))], seed)
    total = min(total, sum(sizes))
    assert wanted.sum() == total
    for size, share in zip(sizes, wanted.tolist(), strict=True):
        assert abs(share * sum(sizes) - size * total) < sum(sizes)
        assert share <= size


def test_a_sample_to_label_over_known_strata():
    text = "name: s\nversion: 1.0.0\nsubset: {name: sample, per: [label], total: 10}\n"
    items = items_of(item=[f"{at:03d}" for at in range(100)], label=["sad"] * 70 + ["happy"] * 30)
    sample = draw_subset(items, parse_protocol(text, "s"))
    assert [(cell.values, cell.after) for cell in sample.drawn.cells] == [(("happy",), 3), (("sad",), 7)]
    more = draw_subset(items, parse_protocol(text.replace("10}", "500}"), "s"))
    assert len(more.items) == 100
    assert more.warnings == ("500 items are asked for and 100 take part: all are drawn",)


def test_a_subset_is_a_partition_of_one_split():
    partition = apply_protocol(videos({"a": ["dark", "bright", "bright"]}), parse_protocol(MINI, "m"))
    assert (partition.splits, partition.ratios, partition.unit) == (("mini",), (1,), "subject")
    assert partition.solver.name == "subset"
    assert partition.left_out == {"not drawn into subset mini": 1}
    with pytest.raises(InputError) as caught:
        apply_protocol(videos({"a": ["dark"]}), parse_protocol(MINI, "m"), folds=3)
    assert "draws a subset and makes no split" in caught.value.message
    assert caught.value.hint == "leave --folds out"


def test_cap_then_split_then_score():
    text = (
        CAPPED % (20, "cell")
    ) + "split: {ratios: {train: 70, test: 30}, stratify: [age]}\nscore: {age: [accuracy]}\n"
    items = items_of(item=[f"{at}.jpg" for at in range(90)], age=["a"] * 60 + ["b"] * 30, gender=["F", "M"] * 45)
    partition = apply_protocol(items, parse_protocol(text, "c"))
    table = partition.table()
    assert len(table) == 70
    assert partition.drawn is not None
    assert [cell.after for cell in partition.drawn.cells] == [20, 20, 15, 15]
    assert table["split"].to_pylist().count("train") == 49
    assert partition.left_out == {"not drawn into subset capped": 20}
    assert partition.protocol.score == {"age": ["accuracy"]}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("{name: s, per: [age]}", "$.subset: needs one of 'at_most' and 'total'", "at_most is of a cell"),
        ("{name: s, per: [age], at_most: 1, total: 2}", "$.subset: needs one of", "at_most is of a cell"),
        ("{name: s, per: [age], at_most: 0}", "$.subset.at_most: 0 is below 1", None),
        ("{name: S!, per: [age], at_most: 1}", "$.subset.name: 'S!' is not of the wanted form", "write it like 'mini'"),
        ("{name: s, at_most: 1}", "$.subset.per: names no column", "write it like [age, gender]"),
        ("{name: s, per: [age], at_most: 1, atmost: 2}", "$.subset.atmost: there is no key", "did you mean 'at_most'"),
        ("{name: s, per: [a], total: 1, alternate: b}", "$.subset.alternate: goes with 'at_most'", "leave one"),
        ("{name: s, per: [a], at_most: 1, missing: drop}", "$.subset.missing: there is no value 'drop'", "leave-out"),
        ("{name: s, per: [a], also: [a], at_most: 1}", "$.subset.also[0]: 'a' stands in 'per' too", None),
    ],
)
def test_a_wrong_subset_is_refused_with_its_place(text, message, hint):
    with pytest.raises(ProtocolError) as caught:
        parse_protocol(f"name: mine\nversion: 1.0.0\nsubset: {text}\n", "mine.yaml")
    assert message in caught.value.message
    assert hint is None or hint in str(caught.value.hint)


def test_what_the_data_lack_is_refused_with_its_place():
    items = items_of(item=["a"], age=["1"])
    with pytest.raises(ProtocolError) as caught:
        draw_subset(items, parse_protocol(CAPPED % (9, "cell"), "c"))
    assert "$.subset.per[1]: there is no column 'gender'" in caught.value.message
    assert "write a protocol without it" in str(caught.value.hint)
    with pytest.raises(ProtocolError) as caught:
        mini(items_of(item=["a"], subject=["s"], age=["1"]))
    assert "$.subset.alternate: no item of rows has a value in column 'lighting'" in caught.value.message
    assert "leave 'alternate' out" in str(caught.value.hint)


swaps = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=2, max_size=30)


@settings(max_examples=30, deadline=None)
@given(swaps, st.integers(0, 3))
def test_no_person_in_two_splits_for_any_graph_of_swaps(pairs, seed):
    text = "name: d\nversion: 1.0.0\nsplit: {ratios: {train: 4464, test: 780}, stratify: [label]}\n"
    subjects = ["|".join(sorted({f"p{a}", f"p{b}"})) for a, b in pairs] + ["q1", "q2"]
    labels = ["fake" if "|" in subject else "real" for subject in subjects]
    items = items_of(item=[str(at) for at in range(len(subjects))], subject=subjects, label=labels)
    table = apply_protocol(items, parse_protocol(text, "d"), seed=seed).table()
    split_of: dict[str, set[str]] = {}
    for subject, split in zip(table["subject"].to_pylist(), table["split"].to_pylist(), strict=True):
        for person in subject.split("|"):
            split_of.setdefault(person, set()).add(split)
    assert all(len(splits) == 1 for splits in split_of.values())
