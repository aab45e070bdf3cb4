import pytest

from protoctl.errors import InputError, ProtocolError
from protoctl.partition import published_balances
from protoctl.protocols import load_protocol, parse_protocol

FAIR = load_protocol("fair-55-15-30")
NAMES = ["affectnet", "raf-db", "raf-au", "emotionet", "disfa", "gft"]


@pytest.fixture(scope="module")
def published():
    return {name: published_balances(name, FAIR) for name in NAMES}


def finding(result, check, partition="new"):
    return next(each for each in result.findings if check in each.check and each.partition == partition)


@pytest.mark.parametrize(
    ("name", "points", "worst"),
    [
        ("affectnet", 1.63, "label Disgust: 54.1/14.3/31.6"),
        ("raf-db", 6.70, "age 70+: 51.4/11.9/36.7"),
        ("raf-au", 12.34, "AU16: 42.7/15.1/42.2"),
        ("emotionet", 29.62, "AU20: 84.6/10.9/4.5"),
        ("disfa", 70.0, "race Black: 0.0/0.0/100.0"),
        ("gft", 70.0, "race Asian: 0.0/0.0/100.0"),
    ],
)
def test_the_worst_category_of_the_new_partition(published, name, points, worst):
    assert published[name].balances["new"].worst_points == pytest.approx(points, abs=0.005)
    assert finding(published[name], "furthest").found.startswith(worst)


def test_emotionets_action_units_do_not_add_up(published):
    found = finding(published["emotionet"], "do not add up", "original and new")
    assert (found.verdict, found.count) == ("fails", 9)
    assert "the new partition holds 77 items fewer" in found.found
    assert "AU1: 2,622 originally, 2,931 in the new one" in found.found
    for name in set(NAMES) - {"emotionet"}:
        assert finding(published[name], "do not add up", "original and new").verdict == "holds", name


def test_the_empty_pairs_of_disfa_and_gft(published):
    ten, seven = (finding(published[name], "without an item") for name in ("disfa", "gft"))
    assert (ten.count, ten.verdict) == (10, "fails")
    assert ten.found.startswith(
        "race Asian in valid, race Black in train, race Black in valid, race Indian in train, race Indian in valid, "
        "age 10-19 in train, age 10-19 in valid, age 30-39 in train, age 30-39 in valid, age 40-49 in valid"
    )
    assert (seven.count, seven.verdict) == (7, "fails")
    assert seven.found.startswith(
        "race Asian in train, race Asian in valid, race Black in valid, age 24 in valid, age 25 in valid, "
        "age 27 in valid, age 28 in valid"
    )
    assert [finding(published[name], "without an item").count for name in NAMES[:4]] == [0] * 4


def test_three_counts_are_those_of_the_frames_without_the_unit(published):
    found = {
        (name, partition): finding(published[name], "look like those", partition)
        for name in NAMES
        for partition in ("original", "new")
    }
    assert {key: each.count for key, each in found.items() if each.count} == {
        ("disfa", "original"): 1,
        ("gft", "original"): 2,
    }
    assert found["disfa", "original"].found == "AU26: 211,676 of 261,628, which leaves 49,952"
    assert found["gft", "original"].found == (
        "AU1 in test: 23,540 of 24,645, which leaves 1,105; AU9 in test: 24,267 of 24,645, which leaves 378"
    )


def test_the_original_is_held_against_what_it_has(published):
    assert "original" not in published["disfa"].balances
    original = published["gft"].balances["original"]
    assert (original.splits, original.ratios) == (("train", "test"), (70, 30))
    assert finding(published["gft"], "without an item", "original").count == 4
    assert finding(published["raf-db"], "items without a category").found == (
        "gender in train: 506, gender in valid: 126, gender in test: 319"
    )


def test_ours_of_the_replica_stands_beside():
    result = published_balances("RAF-AU", FAIR, seed=0)
    assert list(result.balances) == ["new", "ours"]
    assert result.balances["ours"].worst_items < 1
    assert result.to_json()["balances"]["ours"]["size_pp"] < 0.01


def test_what_cannot_be_held_against_is_refused():
    with pytest.raises(InputError, match="no partition of MIAP") as refusal:
        published_balances("miap", FAIR)
    assert "affectnet, raf-db, emotionet" in str(refusal.value.hint)
    text = "name: mine\nversion: 1.0.0\nsource: here\nsplit: {ratios: {a: 1, b: 1}, unit: item, stratify: [label]}\n"
    with pytest.raises(ProtocolError, match="mine does not split into train, valid and test") as refusal:
        published_balances("gft", parse_protocol(text, "mine.yaml"))
    assert "fair-55-15-30" in str(refusal.value.hint)


def test_the_command_says_it_and_fails_where_something_does_not_hold(protoctl):
    run = protoctl("audit", "--published", "EmotioNet")
    assert run.code == 5
    assert "AU20: 84.6/10.9/4.5, 29.6 points off in train" in run.out
    assert "sums of the two partitions that do not add up (original and new: 9)" in run.err
    assert run.out.splitlines()[0] == "EmotioNet: the published new partition, held against fair-55-15-30"
    assert [line.split()[0] for line in run.out.splitlines() if "29." in line and line[0] in "on"][:2] == [
        "original",
        "new",
    ]
    run = protoctl("audit", "--published", "raf-au", "--json")
    assert run.code == 0
    assert run.json["balances"]["new"]["worst_pp"] == pytest.approx(12.34, abs=0.005)
    run = protoctl("audit")
    assert run.code == 2
    assert "--published" in run.err
