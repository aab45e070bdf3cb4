"""Problems in predictions are named, counted, refused or skipped as said; every task from table to scores."""

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from protoctl.audit import Truth, items_of_columns, protocol_of_document, score_predictions, truth_of_items
from protoctl.audit.corruption import CORRUPTIONS
from protoctl.errors import InputError
from protoctl.tabular import TextTable, read_table

ITEMS = [f"{n:02d}.jpg" for n in range(8)]
LABEL = ["Anger", "Fear"] * 4
EXPRESSION = {"expression": ("f1_macro",)}


def table(**columns):
    return TextTable(
        pa.table({name: [str(v) for v in values] for name, values in columns.items()}), Path("p.csv"), None
    )


def truth(attributes=(), *, of=None, **columns):
    held = {"item": ITEMS, "label": LABEL} | columns
    return Truth(pa.table(held), {"label": ("Anger", "Fear")} if "label" in held else {}, {}, attributes, of)


def scored(predictions, told=None, scores=None, **options):
    return score_predictions(predictions, told or truth(), scores or EXPRESSION, seed=0, replicates=20, **options)


def refused(predictions, told=None, scores=None, **options):
    with pytest.raises(InputError) as caught:
        scored(predictions, told, scores, **options)
    return caught.value


def test_a_missing_item_is_refused_or_counted():
    short = table(item=ITEMS[1:], predicted=LABEL[1:])
    error = refused(short)
    assert error.message.endswith("1 items of the truth have no prediction: 00.jpg")
    assert error.hint == "predict every item of the split, or --skip missing: the scores then say how many are missing"
    found = scored(short, skip=("missing",))
    assert found.counts == {"expression": {"without a prediction": 1}}
    assert found.of("f1_macro").items == 7


def test_an_unknown_item_is_refused_or_counted():
    long = table(item=[*ITEMS, "8.jpg"], predicted=[*LABEL, "Fear"])
    error = refused(long)
    assert error.message == "p.csv is refused: p.csv, row 9, column item: the dataset has no item '8.jpg'"
    assert error.hint.startswith("did you mean ")
    assert error.hint.endswith("--skip unknown leaves them out and counts them")
    assert scored(long, skip=("unknown",)).counts == {"expression": {"unknown to the dataset": 1}}


def test_an_item_that_is_predicted_twice_is_always_refused():
    double = table(item=[*ITEMS, ITEMS[2]], predicted=[*LABEL, "Fear"])
    error = refused(double, skip=("missing", "unknown", "invalid"))
    assert error.message.endswith("02.jpg is predicted twice (first: p.csv, row 3)")
    assert error.hint == "one row an item and model; add a column frame where rows are frames"


def test_another_case_is_taken_and_counted():
    found = scored(table(item=ITEMS, predicted=["anger", *LABEL[1:]]))
    assert found.of("f1_macro").value == 1
    assert "expression: 1 predictions 'anger' were taken for 'Anger'" in found.notes


def test_a_category_that_nobody_has_is_refused_even_where_invalid_is_skipped():
    error = refused(table(item=ITEMS, predicted=["Angry", *LABEL[1:]]), skip=("invalid",))
    assert error.message == "p.csv is refused: p.csv, row 1, column predicted: there is no category 'Angry'"
    assert error.hint == "did you mean 'Anger'? There are: Anger, Fear"


def test_an_empty_prediction_is_refused_or_counted():
    blank = table(item=ITEMS, predicted=["", *LABEL[1:]])
    assert refused(blank).hint == "predict it, or --skip invalid leaves the item out and counts it"
    assert scored(blank, skip=("invalid",)).counts == {"expression": {"with an invalid prediction": 1}}


def test_a_category_that_is_never_predicted_is_said():
    found = scored(table(item=ITEMS, predicted=["Fear"] * 8))
    assert "expression: never predicted: Anger" in found.notes


def test_a_category_absent_from_a_subgroup_is_counted_in_its_note():
    gender = ["m", "f"] * 4
    found = scored(table(item=ITEMS, predicted=LABEL), truth(attributes=("gender",), gender=gender))
    assert found.of("f1_macro", "m").value == 0.5
    assert found.of("f1_macro", "m").note == "1 categories are neither true nor predicted and count as 0"


@pytest.mark.parametrize("value", ["nan", "1.5", "-0.1", "high", "", "inf"])
def test_what_is_no_probability_is_refused_or_counted(value):
    told = truth(label=["real", "fake"] * 4)
    told = Truth(told.table)
    rows = table(item=ITEMS, probability=[value, 0.9, 0.2, 0.8, 0.1, 0.7, 0.3, 0.6])
    scores = {"deepfake": ("log_loss",)}
    error = refused(rows, told, scores)
    assert error.message == f"p.csv is refused: p.csv, row 1, column probability: {value!r} is not in [0, 1]"
    assert error.hint == "correct it, or --skip invalid leaves the item out and counts it"
    found = scored(rows, told, scores, skip=("invalid",))
    assert found.counts == {"deepfake": {"with an invalid prediction": 1}}
    assert found.of("log_loss").items == 7


def test_nothing_to_score_says_how_to_see_the_columns():
    error = refused(table(item=ITEMS, guess=LABEL))
    assert error.message == "p.csv: nothing can be scored of expression"
    assert error.hint == "protoctl score --explain says which columns are wanted"


def test_an_unknown_attribute_is_refused_with_the_close_one():
    told = truth(attributes=("gender",), gender=["m", "f"] * 4)
    error = refused(table(item=ITEMS, predicted=LABEL), told, by=["gendre"])
    assert error.message == "the subgroups cannot be made: --by: there is no attribute 'gendre'"
    assert error.hint == "did you mean 'gender'? There are: gender"


def test_other_splits_are_left_and_counted():
    split = ["train"] * 4 + ["test"] * 4
    found = scored(table(item=ITEMS, predicted=LABEL), truth(of="test", split=split))
    assert found.of("f1_macro").items == 4
    assert found.counts == {"expression": {"of another split": 4}}


def test_thresholds_of_action_units_come_from_the_validation_split():
    split = ["valid"] * 4 + ["test"] * 4
    told = Truth(pa.table({"item": ITEMS, "split": split, "AU1": ["1", "1", "0", "0"] * 2}), split="test")
    said = [0.3, 0.3, 0.1, 0.1, 0.3, 0.3, 0.7, 0.1]
    found = scored(table(item=ITEMS, predicted_AU1=said), told, {"action_unit": ("f1_au",)})
    assert found.of("f1_au").value == pytest.approx(0.8)
    assert "action_unit: thresholds chosen on 4 items of valid: AU1 0.15" in found.notes
    # Chosen on the four of test, no threshold would take an inactive one for active and both active ones too.
    only_test = table(item=ITEMS[4:], predicted_AU1=said[4:])
    error = refused(only_test, told, {"action_unit": ("f1_au",)})
    assert "no validation item to choose thresholds on" in error.message
    assert error.hint.endswith("thresholds are never chosen on test")


def test_an_unknown_action_unit_leaves_its_own_score_only():
    held = {"item": ITEMS, "AU1": ["1", "0"] * 4, "AU2": ["1", "-1", "999", "1"] * 2}
    found = scored(
        table(item=ITEMS, predicted_AU1=[1, 0] * 4, predicted_AU2=[1, 1, 1, 1] * 2),
        Truth(pa.table(held)),
        {"action_unit": ("f1_au", "demographic_parity_difference")},
    )
    assert found.of("f1_au").value == 1


def test_valence_and_arousal_are_scored_together():
    levels = [str(n / 10) for n in range(8)]
    told = Truth(
        pa.table({"item": ITEMS, "valence": levels, "arousal": levels, "gender": ["m", "f"] * 4}),
        attributes=("gender",),
    )
    said = table(item=ITEMS, predicted_valence=levels, predicted_arousal=[0.3] * 8)
    found = scored(said, told, {"valence_arousal": ("ccc", "ccc_by_group", "rmse")})
    assert found.of("ccc").value == pytest.approx(0.5)
    by_group = next(row for row in found.rows if row.score == "ccc_by_group")
    assert by_group.value == pytest.approx(0.5)


def detection(models=("one", "two")):
    label = ["fake"] * 6 + ["real"] * 2
    light = ["dark", "dark", "dark", "bright", "bright", "bright", "dark", "bright"]
    told = Truth(pa.table({"item": ITEMS, "label": label, "lighting": light}), attributes=("lighting",))
    said = {"one": [0.1, 0.2, 0.9, 0.3, 0.9, 0.9, 0.1, 0.1], "two": [0.1, 0.9, 0.9, 0.3, 0.9, 0.9, 0.1, 0.6]}
    rows = table(
        item=ITEMS * len(models),
        model=[model for model in models for _ in ITEMS],
        probability=[value for model in models for value in said[model]],
    )
    return rows, told


def test_false_negatives_are_shared_out_beside_their_base():
    rows, told = detection()
    scores = {"deepfake": ("log_wp_at_recall", "log_loss", "fn_share", "fn_intersection", "roc")}
    found = scored(rows, told, scores)
    dark = found.of("fn_share", "dark", model="one")
    assert (dark.value, dark.base) == (pytest.approx(2 / 3), 0.5)
    assert found.of("fn_share minus base", "dark", model="one").value == pytest.approx(1 / 6)
    # The real video that model two takes for a fake is no false negative.
    assert found.of("fn_rate", model="two").value == pytest.approx(2 / 6)
    assert found.of("fn_intersection", model="one & two").value == pytest.approx(2 / 6)
    assert found.of("fn_intersection share", "dark").base == 0.5
    assert found.of("roc_area", model="one").value == pytest.approx(5.5 / 6)
    assert found.of("log_wp_at_recall 0.5", model="one").value == 0
    curve = next(curve for curve in found.curves if curve["model"] == "one" and not curve["subgroup"])
    assert curve["true_positive_rate"][-1] == curve["false_positive_rate"][-1] == 1


def test_a_subgroup_without_fakes_is_minus_infinity_and_said():
    told = Truth(
        pa.table({"item": ITEMS, "label": ["fake", "real"] * 4, "gender": ["m", "f"] * 4}), attributes=("gender",)
    )
    rows = table(item=ITEMS, probability=[0.9, 0.1] * 4)
    found = scored(rows, told, {"deepfake": ("log_wp_at_recall",)})
    row = found.of("log_wp_at_recall 0.5", "f")
    assert (row.value, row.note) == (-np.inf, "minus infinity: no true positive")
    record = next(r for r in found.to_json()["scores"] if r["subgroup"] == ["f"])
    assert record["value"] is None


def test_frames_become_videos_with_thresholds_of_the_train_split():
    items = [f"v{n:02d}" for n in range(20)]
    label = ["fake", "real"] * 10
    split = ["train"] * 14 + ["test"] * 6
    told = Truth(
        pa.table({"item": items, "label": label, "split": split, "subject": [f"s{n}" for n in range(20)]}),
        split="test",
    )
    rows = [(item, frame, "" if frame == 3 else (0.4 if fake == "fake" else 0.1))
            for item, fake in zip(items, label, strict=True) for frame in range(4)]  # fmt: skip
    item, frame, said = zip(*rows, strict=True)
    found = scored(
        table(item=item, frame=frame, probability=said), told, {"deepfake": ("log_wp_at_recall", "fn_share")}
    )
    assert found.of("fn_rate").value == 0
    assert found.of("log_wp").value == 0
    assert any("thresholds tuned on 14 videos of train" in note for note in found.notes)
    assert found.of("log_wp").items == 6


def test_age_and_gender_of_frames_are_medians_and_the_most_frequent():
    told = Truth(
        pa.table({"item": ["a", "b"], "age": ["18-30", "31-45"], "gender": ["Male", "Female"]}),
        {"age": ("18-30", "31-45", "46-85"), "gender": ("Female", "Male")},
    )
    rows = table(
        item=["a", "a", "a", "b", "b"],
        frame=[0, 1, 2, 0, 1],
        predicted_age=[20, 29, 80, 32, 40],
        predicted_gender=["Male", "male", "Female", "Male", "Female"],
    )
    found = scored(rows, told, {"age": ("accuracy",), "gender": ("accuracy",)})
    values = {row.task: (row.value, row.items) for row in found.rows if not row.subgroup}
    assert values == {"age": (1.0, 2), "gender": (1.0, 1)}
    assert any("1 videos whose frames are tied" in note for note in found.notes)
    assert found.counts["gender"] == {"without an estimate (no face, a tie, or no group)": 1}


def corrupted(items, faces):
    rows = [(item, "clean", 0, 1) for item in items]
    rows += [
        (item, kind, level, faces(item, kind, level)) for item, kind, level in product(items, CORRUPTIONS, range(1, 6))
    ]
    item, kind, level, count = zip(*rows, strict=True)
    return table(item=item, corruption=kind, severity=level, faces=count)


def test_corruptions_are_complete_or_refused():
    items = [f"{n:02d}" for n in range(40)]
    told = Truth(pa.table({"item": items, "gender": ["f", "m"] * 20}), attributes=("gender",))
    rows = corrupted(items, lambda item, kind, level: int(level + int(item) % 3 + (int(item) % 2) < 6))
    scores = {"corruption": ("rce", "mrce", "odds_ratio")}
    found = scored(rows, told, scores)
    wanted = np.mean([level + n % 3 + n % 2 >= 6 for n in range(40) for level in range(1, 6)])
    assert found.of("mrce").value == pytest.approx(wanted)
    assert found.of("rce fog").value == pytest.approx(wanted)
    assert found.odds_ratios[0].term == "gender=m"
    assert found.odds_ratios[0].ratio > 1
    short = TextTable(rows.table.slice(0, rows.table.num_rows - 1), Path("p.csv"), None)
    assert "39: has no row of jpeg-compression at severity 5" in refused(short, told, scores).message


def test_odds_ratios_take_years_and_products_on_request():
    items = [f"{n:02d}" for n in range(40)]
    years = [str(20 + n % 7 * 9) for n in range(40)]
    told = Truth(pa.table({"item": items, "gender": ["f", "m"] * 20, "age": years}), attributes=("gender", "age"))
    rows = corrupted(
        items,
        lambda item, kind, level: int(level + (int(item) + CORRUPTIONS.index(kind)) % 3 + int(item) % 2 < 6),
    )
    scores = {"corruption": ("odds_ratio",)}
    found = scored(rows, told, scores, as_numbers=("age",), interactions=(("gender", "age"),))
    terms = [row.term for row in found.odds_ratios]
    assert "age (per 10 years)" in terms
    assert "gender=m x age (per 10 years)" in terms
    groups = Truth(pa.table({"item": items, "age": ["20-29", "70+"] * 20}), attributes=("age",))
    error = refused(rows, groups, scores, as_numbers=("age",))
    assert error.message == "age holds categories (20-29, 70+), and numbers are wanted"
    assert error.hint == "leave age among the categories, or give it in years"


def test_the_truth_may_stand_in_the_predictions(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("item,label,predicted,age\na,Fear,Fear,25\nb,Anger,Fear,71\n")
    predictions = read_table(path)
    rules = protocol_of_document({"name": "mine", "form": {"age": "nine"}, "score": EXPRESSION})
    told = truth_of_items(items_of_columns(predictions), rules, {"a": "test", "b": "test"}, "test")
    assert told.column("age") == ["20-29", "70+"]
    assert told.attributes == ("age",)
    assert scored(predictions, told).of("f1_macro", "20-29").value == 0.5
    path.write_text("item,model,label,predicted\na,x,Fear,Fear\na,y,Anger,Fear\n")
    with pytest.raises(InputError, match="a has 'Anger', and 'Fear' before") as caught:
        items_of_columns(read_table(path))
    assert caught.value.hint == "an item has one truth; correct the table, or name the dataset with --dataset"
