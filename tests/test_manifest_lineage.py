"""Manifests that grow and shrink, and what differs between two of them."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.catalog import Items
from protoctl.digests import SplitMix64
from protoctl.errors import InputError, ProtocolError
from protoctl.manifests import (
    build_manifest,
    compare_manifests,
    extended_manifest,
    imported_manifest,
    mark_superseded,
    read_manifest,
    refuse_version,
    suppressed_balance,
    verify_folder,
    withdrawn_manifest,
    write_manifest,
)
from protoctl.manifests.difference import bumped
from protoctl.partition import balance_of, split_items
from protoctl.protocols import Subset, load_protocol

RULES = load_protocol("fair-55-15-30")


def crowd(subjects, seed=1, each=8):
    """Subjects of 1 to 15 items, drawn with the project's own generator."""
    draw = SplitMix64(seed, "tests/crowd")
    rows = {name: [] for name in ("item", "subject", "label", "age", "gender", "race")}
    for subject in range(subjects):
        age = ["20-29", "30-39", "40-49", "50-59"][draw.below(4)]
        gender, race = ["Female", "Male"][draw.below(2)], ["Asian", "Black", "White", "White"][draw.below(4)]
        for item in range(1 + draw.below(2 * each - 1)):
            label = ["Anger", "Fear", "Neutral"][draw.below(3)]
            row = (f"{subject:05d}/{item:02d}.jpg", f"S{subject:05d}", label, age, gender, race)
            for name, value in zip(rows, row, strict=True):
                rows[name].append(value)
    return Items("crowd", pa.table(rows), labels=("label",), attributes=("age", "gender", "race"))


def before(items, subject):
    return replace(items, table=items.table.filter(pc.less(items.table["subject"], f"S{subject:05d}")))


def split(items, seed=0):
    partition = split_items(items, RULES, seed=seed)
    return build_manifest(partition, balance_of(partition))


def balance_by_hand(manifest, items):
    """Mean deviation in points of the categories with 50 items or more, counted without the library."""
    frame = items.table.to_pandas().merge(manifest.frame()[["item", "split"]], on="item")
    targets = np.array([0.55, 0.15, 0.30])
    off = []
    for column in ("label", "age", "gender", "race"):
        counts = frame.groupby([column, "split"]).size().unstack(fill_value=0)[["train", "valid", "test"]]
        counts = counts[counts.sum(axis=1) >= 50]
        off += list(np.abs(counts.to_numpy() / counts.sum(axis=1).to_numpy()[:, None] - targets).ravel())
    return 100 * float(np.mean(off))


@pytest.mark.parametrize(("subjects", "seed"), [(27, 0), (27, 1), (27, 2), (96, 0), (600, 1), (5000, 0)])
def test_growing_by_a_tenth_and_shrinking_by_two_percent(subjects, seed):
    everybody = crowd(round(subjects * 1.1))
    first = split(before(everybody, subjects), seed)
    second = extended_manifest(first, everybody, RULES)
    old, new = first.splits_by_item(), second.splits_by_item()
    assert {item: new[item] for item in old} == old
    assert len(new) == len(everybody)
    leaving = [f"S{at:05d}" for at in range(0, subjects, 50)]
    third = withdrawn_manifest(second, leaving, reason="data-subject-request", by="subject")
    left = third.splits_by_item()
    assert left == {item: name for item, name in new.items() if item.split("/")[0] not in {s[1:] for s in leaving}}
    fresh = balance_by_hand(split(everybody), everybody)
    assert balance_by_hand(second, everybody) == pytest.approx(second.document["balance"]["mean_pp"], abs=1e-5)
    assert balance_by_hand(second, everybody) <= fresh + 2
    table = everybody.table
    rest = replace(everybody, table=table.filter(pc.invert(pc.is_in(table["subject"], pa.array(leaving)))))
    assert balance_by_hand(third, rest) <= balance_by_hand(split(rest), rest) + 2


def test_new_items_of_a_known_subject_follow_it():
    everybody = crowd(30)
    table = everybody.table
    few = replace(everybody, table=table.filter(pc.invert(pc.match_substring(table["item"], "/00.jpg"))))
    first = split(few)
    second = extended_manifest(first, everybody, RULES)
    frame = second.frame()
    assert (frame.groupby("subject")["split"].nunique() == 1).all()
    assert compare_manifests(first, second).moved == {}
    assert second.version == "2.0.0"
    assert second.document["solver"]["mode"] == "extended"
    parent = second.document["derived_from"][0]
    assert parent["relation"] == "extends"
    assert parent["assignments_digest"] == first.digest
    assert parent["delta"] == {"added": len(everybody) - len(few), "withdrawn": 0, "moved": 0}


def test_the_order_of_rows_has_no_influence_on_an_extension():
    everybody = crowd(40)
    first = split(before(everybody, 30))
    backwards = replace(everybody, table=everybody.table.take(list(range(len(everybody)))[::-1]))
    assert extended_manifest(first, everybody, RULES).digest == extended_manifest(first, backwards, RULES).digest


def test_old_items_that_are_absent_are_refused():
    everybody = crowd(30)
    with pytest.raises(InputError) as caught:
        extended_manifest(split(everybody), before(everybody, 20), RULES)
    assert "are absent from crowd: 00020/00.jpg" in caught.value.message
    assert "protoctl withdraw" in caught.value.hint


def test_another_protocol_is_refused():
    everybody = crowd(30)
    with pytest.raises(ProtocolError) as caught:
        extended_manifest(split(everybody), everybody, replace(RULES, document={"name": "mine"}))
    assert "is not the one that crowd-fair-55-15-30@1.0.0 keeps" in caught.value.message
    assert "--protocol" in caught.value.hint


def test_a_subset_is_not_extended():
    everybody = crowd(30)
    first = split(everybody)
    mini = replace(RULES, subset=Subset("mini", ("age",), at_most=5))
    with pytest.raises(InputError) as caught:
        extended_manifest(first, everybody, mini)
    assert "draws a subset, which has no place for further items" in caught.value.message
    assert "protoctl split" in caught.value.hint


def test_a_version_that_is_too_small_is_refused():
    everybody = crowd(30)
    first = split(before(everybody, 25))
    with pytest.raises(InputError) as caught:
        extended_manifest(first, everybody, RULES, version="1.1.0")
    assert "version 1.1.0 is too small after crowd-fair-55-15-30@1.0.0" in caught.value.message
    assert "use 2.0.0 or later" in caught.value.hint
    assert extended_manifest(first, everybody, RULES, version="3.0.0").version == "3.0.0"


def test_withdrawing():
    first = split(crowd(60))
    second = withdrawn_manifest(first, ["00001/00.jpg"], reason="corrupt")
    document = second.document
    assert second.version == "2.0.0"
    assert document["withdrawal"]["count"] == "<10"
    assert document["derived_from"][0]["delta"] == {"added": 0, "withdrawn": "<10", "moved": 0}
    assert "00001/00.jpg" not in json.dumps(document)
    assert {key: value for key, value in document["balance"].items() if key != "as_of"} == first.document["balance"]
    assert document["balance"]["as_of"] == "crowd-fair-55-15-30@1.0.0"
    third = withdrawn_manifest(second, ["00002/00.jpg"], reason="corrupt")
    assert third.document["balance"] == document["balance"]
    assert len(third.document["derived_from"]) == 2


def test_withdrawing_one_of_two_people_takes_the_item():
    items = crowd(20)
    subject = ["S00000|S00001", *items.table["subject"].to_pylist()[1:]]
    items = replace(items, table=items.table.set_column(1, "subject", pa.array(subject)))
    gone = withdrawn_manifest(split(items), ["S00001"], reason="licence", by="subject")
    assert not any("S00001" in (name or "") for name in gone.assignments["subject"].to_pylist())
    assert "00000/00.jpg" not in gone.splits_by_item()


@pytest.mark.parametrize(
    ("names", "reason", "message", "hint"),
    [
        (["nobody"], "other", "1 of the items are not in crowd-fair-55-15-30@1.0.0: nobody", "assignments.csv"),
        ([], "other", "nobody is named", "one a line"),
        (["00001/00.jpg"], "corupt", "there is no reason 'corupt'", "did you mean 'corrupt'?"),
        (None, "other", "nobody would be left", "mark it withdrawn"),
    ],
)
def test_withdrawals_that_are_refused(names, reason, message, hint):
    manifest = split(crowd(10))
    with pytest.raises(InputError) as caught:
        withdrawn_manifest(manifest, manifest.frame()["item"] if names is None else names, reason=reason)
    assert message in caught.value.message
    assert hint in caught.value.hint


def moved(manifest, change):
    """The manifest with its rows changed, by hand."""
    rows = change([tuple(row.values()) for row in manifest.assignments.to_pylist()])
    columns = dict(zip(("item", "subject", "split"), zip(*rows, strict=True), strict=True))
    return replace(manifest, assignments=pa.table({key: list(value) for key, value in columns.items()}))


CHANGES = {
    "nothing": (lambda rows: rows, "patch", {"added": 0, "withdrawn": 0, "moved": 0}),
    "more to train": (
        lambda rows: [*rows, ("z/1", "Z", "train")],
        "minor",
        {"added": 1, "withdrawn": 0, "moved": 0},
    ),
    "more to test": (lambda rows: [*rows, ("z/1", "Z", "test")], "major", {"added": 1, "withdrawn": 0, "moved": 0}),
    "fewer": (lambda rows: rows[1:], "major", {"added": 0, "withdrawn": 1, "moved": 0}),
    "one moved": (
        lambda rows: [(*rows[0][:2], "test" if rows[0][2] != "test" else "train"), *rows[1:]],
        "major",
        {"added": 0, "withdrawn": 0, "moved": 1},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_version_follows_from_the_rows(name):
    change, bump, delta = CHANGES[name]
    first = split(crowd(12))
    difference = compare_manifests(first, moved(first, change))
    assert difference.bump == bump
    assert difference.delta == delta
    json.dumps(difference.to_json())


def test_scores():
    first = split(crowd(12))
    assert "on test: the same" in compare_manifests(first, first).scores
    fewer = compare_manifests(first, moved(first, lambda rows: [row for row in rows if row[2] != "test"][:-1]))
    assert "on test only over the 0 rows that both have" in fewer.scores
    swapped = {"train": "test", "test": "train"}
    leaked = moved(first, lambda rows: [(a, b, swapped.get(c, c)) for a, b, c in rows])
    assert "are now evaluated on: train anew" in compare_manifests(first, leaked).scores


def test_another_major_version_of_the_protocol_is_major():
    first = split(crowd(12))
    document = json.loads(json.dumps(first.document))
    document["protocol"]["version"] = "2.0.0"
    difference = compare_manifests(first, replace(first, document=document))
    assert difference.bump == "major"
    assert difference.reasons == ("protocol fair-55-15-30 1.0.0 became fair-55-15-30 2.0.0",)


@given(st.tuples(*[st.integers(0, 50)] * 3), st.sampled_from(["major", "minor", "patch"]))
@settings(max_examples=30, deadline=None)
def test_a_bump_is_always_enough_and_never_less(version, step):
    text = ".".join(map(str, version))
    difference = replace(
        compare_manifests(FIRST, FIRST), bump=step, least=bumped(text, step), earlier="a", reasons=("why",)
    )
    refuse_version(difference, bumped(text, step))
    with pytest.raises(InputError, match="is too small"):
        refuse_version(difference, text)


FIRST = split(crowd(6))


def test_the_command(protoctl, in_empty_folder):
    everybody = crowd(30)
    people = everybody.table.to_pandas()
    people.to_csv("all.csv", index=False)
    people[people["subject"] < "S00025"].to_csv("crowd.csv", index=False)
    fair = ("--protocol", "fair-55-15-30")
    assert protoctl("split", "crowd.csv", *fair, "--out", "one").code == 0
    run = protoctl("extend", "one", "all.csv", "--out", "two")
    assert run.code == 0, run.err
    assert "version: major" in run.out
    assert "moved" not in run.out
    (in_empty_folder / "leaving.txt").write_text("S00003\n\n")
    run = protoctl(
        "withdraw", "two", "leaving.txt", "--by", "subject", "--reason", "data-subject-request", "--out", "three"
    )
    assert run.code == 0, run.err
    assert "is marked as superseded by crowd-fair-55-15-30@3.0.0" in run.err
    assert read_manifest("two").document["superseded_by"] == "crowd-fair-55-15-30@3.0.0"
    assert "Superseded by" in (in_empty_folder / "two" / "README.md").read_text()
    for folder in ("one", "two", "three"):
        assert verify_folder(folder).faults == []
    run = protoctl("diff", "two", "three", "--json")
    assert run.code == 0, run.err
    assert run.json["bump"] == "major"
    assert run.json["mean_pp"] is None
    assert sum(run.json["withdrawn"].values()) == int((people["subject"] == "S00003").sum())
    document = json.loads((in_empty_folder / "three" / "manifest.json").read_text())
    document["version"] = "2.0.1"
    (in_empty_folder / "three" / "manifest.json").write_text(json.dumps(document))
    run = protoctl("diff", "two", "three")
    assert run.code == 5
    assert "version 2.0.1 is too small" in run.err
    assert "use 3.0.0 or later" in run.err
    run = protoctl("extend", "one", "--root", "all.csv", "--out", "two")
    assert run.code == 3
    assert "two exists already" in run.err


def test_names_and_another_lineage_are_not_compared():
    first = split(crowd(12))
    document = json.loads(json.dumps(first.document))
    document["assignments"]["identity"] = {
        "mode": "keyed",
        "bits": 128,
        "lineage": "a",
        "key_from": "labels.csv",
        "key_check": "sha256:" + "0" * 64,
        "subjects": "listed",
    }
    keyed = replace(first, document=document)
    with pytest.raises(InputError, match="one has names and the other tokens") as caught:
        compare_manifests(first, keyed)
    assert "protoctl resolve" in caught.value.hint
    other = json.loads(json.dumps(document))
    other["assignments"]["identity"]["key_check"] = "sha256:" + "1" * 64
    with pytest.raises(InputError, match="of different lineages"):
        compare_manifests(keyed, replace(first, document=other))


def test_superseding_leaves_the_rows(tmp_path):
    write_manifest(tmp_path / "one", FIRST)
    rows = (tmp_path / "one" / "assignments.csv").read_bytes()
    later = withdrawn_manifest(FIRST, [FIRST.frame()["item"][0]], reason="duplicate")
    mark_superseded(tmp_path / "one", later)
    assert read_manifest(tmp_path / "one").document["status"] == "superseded"
    assert (tmp_path / "one" / "assignments.csv").read_bytes() == rows
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [
        ".gitattributes",
        "README.md",
        "assignments.csv",
        "manifest.json",
    ]


def test_suppression_hides_small_counts_and_lone_gaps():
    balance = FIRST.document["balance"]
    hidden = suppressed_balance(balance, suppress_below=10, round_to=5)
    assert "shares" not in hidden["categories"][1]
    for attribute in ("label", "age", "gender", "race"):
        rows = [row for row in hidden["categories"] if row["attribute"] == attribute]
        exact = [row for row in balance["categories"] if row["attribute"] == attribute]
        for at in range(3):
            gaps = [row["items"][at] for row in rows].count(None)
            assert gaps != 1 or len(rows) == 1
            for row, true in zip(rows, exact, strict=True):
                assert row["items"][at] is None or (row["items"][at] % 5 == 0 and true["items"][at] >= 10)


def test_a_folder_of_files_is_compared_with_a_manifest(tmp_path):
    frame = FIRST.frame()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for name, other in (("train", "train"), ("valid", "val"), ("test", "test")):
        part = frame[frame["split"] == name][["item", "subject"]].rename(columns={"item": "name"})
        part.to_csv(theirs / f"{other}.csv", index=False)
    difference = compare_manifests(imported_manifest(theirs), FIRST)
    assert difference.same
    assert difference.kept == len(frame)
    assert difference.reasons == ("protocol imported 0.0.0 became fair-55-15-30 1.0.0",)
