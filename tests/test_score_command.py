"""`protoctl score`: from a manifest and a table of predictions to scores on the terminal and in JSON."""

import csv
import json

import pytest

LABELS = ("Anger", "Fear", "Neutral")


@pytest.fixture
def manifest(protoctl, in_empty_folder):
    rows = ["item,subject,label,age,gender"]
    rows += [
        f"i{n:04d},s{n // 2:03d},{LABELS[n // 2 % 3]},{20 + n // 2 % 30},{('Female', 'Male')[n // 6 % 2]}"
        for n in range(600)
    ]
    (in_empty_folder / "items.csv").write_text("\n".join(rows) + "\n")
    options = ("--protocol", "fair-55-15-30", "--stratify", "label,gender", "--out", "m")
    assert protoctl("split", "items.csv", *options).code == 0
    return in_empty_folder / "m"


def predict(manifest, change=lambda n, row: row, *, own=False):
    """Write predictions of the test split, right but for every fifth."""
    with (manifest / "assignments.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["split"] == "test"]
    with (manifest.parent / "items.csv").open() as stream:
        truth = {row["item"]: row for row in csv.DictReader(stream)}
    path = manifest.parent / "p.csv"
    names = ["item", "predicted", *(["label", "gender", "subject"] if own else [])]
    lines = [",".join(names)]
    for n, row in enumerate(rows):
        known = truth[row["item"]]
        said = known["label"] if n % 5 else "Fear"
        made = change(n, known | {"predicted": said})
        lines += [",".join(made[name] for name in names)] if made else []
    path.write_text("\n".join(lines) + "\n")
    return path


def test_scores_are_printed_with_intervals_and_gaps(protoctl, manifest):
    run = protoctl("score", manifest, predict(manifest), "--dataset", "items.csv", "--replicates", 50)
    assert run.code == 0, run.err
    assert "expression: f1_macro" in run.out
    assert "95 % interval" in run.out
    assert "f1_macro by gender: " in run.out
    assert "chance alone gives" in run.out
    assert "note: action_unit: not scored" in run.err


def test_json_is_the_librarys_result_and_the_same_from_own_columns(protoctl, manifest):
    options = ("--replicates", 50, "--by", "gender", "--json")
    run = protoctl("score", manifest, predict(manifest), "--dataset", "items.csv", *options)
    assert run.code == 0, run.err
    again = protoctl("score", manifest, predict(manifest, own=True), *options)
    assert again.code == 0, again.err
    assert run.json["scores"] == again.json["scores"]
    whole = run.json["scores"][0]
    assert (whole["score"], whole["attributes"], whole["small"]) == ("f1_macro", [], False)
    assert whole["low"] < whole["value"] < whole["high"]
    assert whole["items"] == 2 * whole["subjects"]
    json.dumps(run.json, allow_nan=False)


def test_one_seed_gives_one_result(protoctl, manifest):
    path = predict(manifest, own=True)
    runs = [protoctl("score", manifest, path, "--replicates", 50, "--seed", seed, "--json").json for seed in (3, 3, 4)]
    assert runs[0] == runs[1] != runs[2]


def test_a_missing_item_is_refused_with_the_option_that_skips_it(protoctl, manifest):
    path = predict(manifest, lambda n, row: row if n else None)
    run = protoctl("score", manifest, path, "--dataset", "items.csv")
    assert run.code == 3
    assert "1 items of test have no prediction" in run.err
    assert "--skip missing" in run.err
    run = protoctl("score", manifest, path, "--dataset", "items.csv", "--skip", "missing", "--replicates", 20)
    assert run.code == 0
    assert "warning: expression: 1 items without a prediction" in run.err
    own = predict(manifest, lambda n, row: row if n else None, own=True)
    assert "1 items of test have no prediction" in protoctl("score", manifest, own).err


def test_a_pair_is_crossed_and_a_bad_one_refused(protoctl, manifest):
    path = predict(manifest)
    options = ("--dataset", "items.csv", "--replicates", 20)
    run = protoctl("score", manifest, path, *options, "--intersect", "age,gender")
    assert run.code == 0, run.err
    assert "within Female" in run.out
    run = protoctl("score", manifest, path, *options, "--intersect", "age")
    assert (run.code, "--intersect 'age' is no pair of attributes" in run.err) == (3, True)
    run = protoctl("score", manifest, path, *options, "--skip", "mising")
    assert "did you mean 'missing'?" in run.err


def test_explain_says_which_columns_are_wanted(protoctl):
    run = protoctl("score", "--explain")
    assert run.code == 0
    assert "probability" in run.out
    assert "predicted_valence" in protoctl("score", "--explain", "--json").out
    run = protoctl("score")
    assert (run.code, "MANIFEST and PREDICTIONS are wanted" in run.err) == (2, True)
