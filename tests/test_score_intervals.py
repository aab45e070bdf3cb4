"""Intervals over subjects: their width, their coverage, shifted ones, and the level of chance."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from protoctl.audit import Truth, score_predictions
from protoctl.audit.bootstrap import percentile_interval, permuted, resampling, shifted_interval, wilson
from protoctl.audit.estimates import Grouping, Sums, estimates
from protoctl.audit.score_tasks import ratio
from protoctl.digests import SplitMix64
from protoctl.errors import InputError
from protoctl.tabular import TextTable

NAMES = ("a", "b", "c")
EXPRESSION = {"expression": ("f1_macro", "balanced_accuracy", "f1_by_group", "statistical_parity")}


def drawn(count, size, purpose):
    return (SplitMix64(0, purpose).words(count) % np.uint64(size)).astype(np.int64)


def scored(columns, predicted, order=None, **options):
    items = [f"{n:05d}" for n in range(len(predicted))]
    table = pa.table({"item": items, "predicted": predicted})
    truth = pa.table({"item": items} | columns)
    if order is not None:
        table, truth = table.take(order), truth.take(order[::-1])
    attributes = tuple(name for name in columns if name not in ("label", "subject"))
    return score_predictions(
        TextTable(table, Path("p.csv"), 2),
        Truth(truth, {"label": NAMES}, attributes=attributes),
        options.pop("scores", EXPRESSION),
        **({"seed": 0, "replicates": 200} | options),
    )


def words(codes, names=NAMES):
    return [names[code] for code in codes.tolist()]


def guesses(subjects, frames, purpose="guess"):
    """Every subject is either easy or not, and all of its frames are alike in that."""
    label = np.repeat(drawn(subjects, 3, f"{purpose}/label"), frames)
    easy = np.repeat(drawn(subjects, 10, f"{purpose}/easy") < 7, frames)
    said = np.where(easy, label, (label + 1) % 3)
    subject = [f"s{n:05d}" for n in np.repeat(np.arange(subjects), frames).tolist()]
    return {"label": words(label), "subject": subject}, words(said)


def width(found):
    row = found.of("f1_macro")
    return row.high - row.low


def test_intervals_narrow_with_subjects_and_not_with_frames_of_the_same_subjects():
    base = width(scored(*guesses(100, 2)))
    frames = width(scored(*guesses(100, 20)))
    subjects = width(scored(*guesses(1600, 2)))
    assert frames == pytest.approx(base, rel=0.02)
    assert subjects == pytest.approx(base / 4, rel=0.35)


def test_the_order_of_rows_has_no_influence():
    columns, said = guesses(60, 3)
    columns["gender"] = words(drawn(180, 2, "gender"), ("f", "m"))
    once = scored(columns, said)
    again = scored(columns, said, order=np.argsort(SplitMix64(0, "order").words(180)).tolist())
    assert once.to_json() == again.to_json()


def test_alike_items_are_drawn_together_exactly():
    label, said = drawn(400, 3, "l"), drawn(400, 3, "s")
    columns = {"label": words(label), "gender": words(drawn(400, 2, "g"), ("f", "m"))}
    together = scored(columns, words(said), replicates=2000).of("f1_macro")
    alone = scored(columns | {"subject": [f"s{n}" for n in range(400)]}, words(said), replicates=2000).of("f1_macro")
    assert together.value == alone.value
    assert (together.items, together.subjects) == (400, 400)
    cells = resampling(np.arange(400), 0, 2000, label * 3 + said)
    assert sorted(cells.counts.tolist()) == sorted(np.bincount(label * 3 + said).tolist())
    assert {int(rows.sum()) for block in cells.weights() for rows in block} == {400}


def test_ninety_five_percent_of_intervals_hold_the_truth():
    """300 runs, 200 subjects of one to five items: the count lies in the central 99.9 % of Binomial(300, 0.95)."""
    runs, subjects, held = 300, 200, 0
    stream = SplitMix64(0, "coverage")
    for run in range(runs):
        words = stream.words(subjects * 7).reshape(subjects, 7)
        size = 1 + (words[:, 0] % np.uint64(5)).astype(int)
        skill = (words[:, 1] >> np.uint64(11)).astype(float) * 2.0**-53
        shares = (words[:, 2:] >> np.uint64(11)).astype(float) * 2.0**-53
        right = shares < skill[:, None]
        inside = np.arange(5) < size[:, None]
        unit = np.nonzero(inside)[0]
        hits = right[inside].astype(float)
        rows = np.arange(len(unit))
        columns = np.repeat([0, 1], len(unit))
        what = Sums(np.tile(rows, 2), columns, np.append(hits, np.ones(len(unit))), (2,), {"share": ratio})
        grouping = Grouping((), ((),), np.zeros(len(unit), np.int64), np.ones(1, np.bool_))
        found = estimates(what, [grouping], resampling(unit, run, 400))[0]
        interval = percentile_interval(found.replicates[:, 0])
        held += interval.low <= 0.5 <= interval.high
    assert 271 <= held <= 296, held


def fair_model(run, count=600, groups=9, categories=8):
    said = drawn(count, categories, f"fair/{run}/said")
    return np.arange(count), said, drawn(count, groups, f"fair/{run}/group")


def test_parity_of_a_fair_model_holds_its_value_and_stands_beside_chance():
    from protoctl.audit.fairness import statistical_parity

    shifted = plain = 0
    ratios = []
    for run in range(25):
        rows, said, group = fair_model(run)
        grouping = Grouping(("age",), tuple((str(n),) for n in range(9)), group, np.ones(9, np.bool_))
        what = Sums(
            rows,
            said,
            np.ones(len(rows)),
            (8,),
            {},
            {"statistical_parity": lambda counts: statistical_parity(counts / counts.sum(axis=-1, keepdims=True))},
        )
        found = estimates(what, [grouping], resampling(rows, run, 200, group * 8 + said))[0]
        value, chance = float(found.value[0]), found.chance[:, 0]
        ends = shifted_interval(value, found.replicates[:, 0])
        shifted += ends.low <= value <= ends.high
        bare = percentile_interval(found.replicates[:, 0])
        plain += bare.low <= value <= bare.high
        ratios.append(value / chance.mean())
    assert shifted == 25
    assert plain < 10
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)


def test_scores_over_subgroups_are_shifted_and_beside_chance():
    columns, said = guesses(300, 1)
    found = scored(columns | {"age": words(drawn(300, 3, "age"), ("x", "y", "z"))}, said)
    row = next(row for row in found.rows if row.score == "statistical_parity")
    assert (row.method, row.attributes, row.subgroup) == ("shifted", ("age",), ())
    assert row.low <= row.value <= row.high
    assert 0 < row.chance < row.chance_high


def test_a_subgroup_of_few_subjects_is_marked_and_not_compared():
    columns, said = guesses(200, 1)
    gender = ["Female"] * 98 + ["Male"] * 99 + ["Nobody"] * 3
    found = scored(columns | {"gender": gender}, said)
    assert [(row.subgroup[0], row.small) for row in found.rows if row.score == "f1_macro" and row.subgroup] == [
        ("Female", False),
        ("Male", False),
        ("Nobody", True),
    ]
    gap = next(gap for gap in found.gaps if gap.score == "f1_macro")
    assert gap.left_out == (("Nobody",),)
    assert {gap.best[0], gap.worst[0]} == {"Female", "Male"}
    values = {row.subgroup[0]: row.value for row in found.rows if row.score == "f1_macro" and row.subgroup}
    assert gap.value == pytest.approx(abs(values["Female"] - values["Male"]))
    assert gap.low <= gap.value <= gap.high
    assert gap.extreme_low <= gap.value <= gap.extreme_high


def test_other_and_unsure_stand_in_no_score_over_subgroups():
    columns, said = guesses(200, 1)
    with_other = scored(columns | {"gender": ["f", "m"] * 80 + ["Other"] * 40}, said)
    without = [gap for gap in with_other.gaps if gap.score == "f1_macro"]
    assert without[0].left_out == (("Other",),)
    over = next(row for row in with_other.rows if row.score == "f1_by_group")
    values = [row.value for row in with_other.rows if row.score == "f1_macro" and row.subgroup in (("f",), ("m",))]
    assert over.value == pytest.approx(np.mean(values))


def test_lighting_is_compared_within_skin_type_and_skin_type_within_lighting():
    columns, said = guesses(240, 2)
    columns["skin_type"] = [("light", "dark")[n // 2 % 2] for n in range(480)]
    columns["lighting"] = [("bright", "dim")[n % 2] for n in range(480)]
    found = scored(columns, said)
    within = {gap.within for gap in found.gaps if gap.score == "f1_macro" and gap.within}
    assert within == {("skin_type", "light"), ("skin_type", "dark"), ("lighting", "bright"), ("lighting", "dim")}
    assert ("light", "dim") in {row.subgroup for row in found.rows}


def test_all_right_has_wilsons_interval_and_not_an_empty_one():
    truth = {"gender": ["f", "m"] * 5, "label": ["a"] * 10, "subject": [f"s{n // 2}" for n in range(10)]}
    items = [f"{n:05d}" for n in range(10)]
    table = TextTable(pa.table({"item": items, "predicted_gender": ["f", "m"] * 5}), Path("p.csv"), 2)
    found = score_predictions(
        table,
        Truth(pa.table({"item": items} | truth), attributes=("gender",)),
        {"gender": ("accuracy",)},
        seed=0,
        replicates=50,
    )
    row = found.of("accuracy")
    assert (row.value, row.method, row.small) == (1.0, "wilson", True)
    assert row.low == pytest.approx(wilson(5, 5).low) == pytest.approx(0.5655, abs=1e-4)


def test_permutation_moves_a_subjects_items_together():
    codes, cells = np.array([0, 0, 1, 1, -1, 0]), np.array([0, 0, 1, 1, 2, 3])
    for moved in permuted(codes, cells, 0, "test", 20):
        assert moved[0] == moved[1]
        assert moved[2] == moved[3]
        assert moved[4] == -1
        assert sorted([moved[0], moved[2], moved[5]]) == [0, 0, 1]


def test_one_replicate_is_refused():
    with pytest.raises(InputError, match="1 replicates give no interval") as caught:
        scored(*guesses(10, 1), replicates=1)
    assert caught.value.hint == "1,000 is usual"
