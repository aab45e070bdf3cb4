"""The main job, from a dataset's name or files to a verified manifest: what a user types, and what comes of it."""

import csv
import os
import stat
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from protoctl.catalog import load_items, replica_items
from protoctl.scales import AGE_GROUPS

RATIOS = {"train": 0.55, "valid": 0.15, "test": 0.30}
FAIR = ("--protocol", "fair-55-15-30")


def assigned(folder):
    """Assignments as another program reads them: pandas, text only."""
    return pd.read_csv(Path(folder) / "assignments.csv", dtype=str, keep_default_na=False)


def furthest(frame, columns):
    """Largest distance of any cell's count in any split from its target, in items; counted independently."""
    counts = frame.groupby([*columns, "split"], dropna=False).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(RATIOS), fill_value=0)
    targets = np.outer(counts.sum(axis=1), list(RATIOS.values()))
    return float(np.abs(counts.to_numpy() - targets).max())


def whole_subjects(frame):
    named = frame[frame["subject"] != ""]
    return int((named.groupby("subject")["split"].nunique() > 1).sum()) == 0


def test_affectnet_in_an_empty_folder(protoctl, in_empty_folder):
    run = protoctl("split", "affectnet", *FAIR)
    assert run.code == 0, run.err
    assert run.err.startswith("replica: this is a replica of AffectNet and not the dataset")
    assert "affectnet (replica) by fair-55-15-30" in run.out
    folder = in_empty_folder / "affectnet-replica-fair-55-15-30"
    rows = assigned(folder)
    assert len(rows) == 290_580
    assert rows["split"].value_counts().to_dict() == {"train": 159_819, "valid": 43_587, "test": 87_174}
    table = replica_items("affectnet").table.to_pandas()
    frame = table.merge(rows[["item", "split"]], on="item", validate="one_to_one")
    attributes = ["label", "age", "gender", "race"]
    for column in attributes:
        assert furthest(frame, [column]) < 1, column
    assert furthest(frame, attributes) < 1
    assert max(furthest(frame, list(pair)) for pair in combinations(attributes, 2)) <= 3
    manifest = protoctl("audit", folder, "--json").json
    assert manifest["replica"] is True
    assert "replica" in (folder / "README.md").read_text()


def test_expression_7_is_the_partition_of_eight_without_contempt(protoctl, in_empty_folder):
    assert protoctl("split", "affectnet", *FAIR, "--out", "eight").code == 0
    assert protoctl("split", "affectnet", *FAIR, "--task", "expression-7", "--out", "seven").code == 0
    eight, seven = assigned("eight"), assigned("seven")
    labels = replica_items("affectnet").table.to_pandas().set_index("item")["label"]
    kept = eight[eight["item"].map(labels) != "Contempt"].reset_index(drop=True)
    assert seven.equals(kept)
    frame = seven.assign(label=seven["item"].map(labels))
    assert furthest(frame, ["label"]) < 1


def test_valence_and_arousal_have_no_replica(protoctl, in_empty_folder):
    run = protoctl("split", "affectnet", *FAIR, "--task", "va")
    assert run.code == 3
    assert "valence" in run.err
    assert "hint:" in run.err
    assert list(in_empty_folder.iterdir()) == []


@pytest.mark.parametrize("name", ["raf-db", "emotionet", "raf-au"])
def test_every_replica_splits_within_one_item(protoctl, in_empty_folder, name):
    run = protoctl("split", name, *FAIR, "--out", "out", "--json")
    assert run.code == 0, run.err
    for row in run.json["balance"]["categories"]:
        if row["role"] != "known":
            assert max(abs(off) for off in row["items_off"]) < 1, row


def test_utkface_names(protoctl, real, in_empty_folder):
    run = protoctl("split", "utkface", "--root", real / "utkface_file_names.txt", *FAIR)
    assert run.code == 0, run.err
    for odd in (
        "39_1_20170116174525125.jpg",
        "61_1_20170109142408075.jpg",
        "61_3_20170109150557335.jpg",
        "53__0_20170116184028385.jpg",
        "55_0_0_20170116232725357jpg",
        "14_0_0_2017011022340900.jpg",
        "38_0_1_201701162330572788.jpg",
        "28_1_2_201701161846515488.jpg",
    ):
        assert odd in run.err
    rows = assigned("utkface-fair-55-15-30")
    assert len(rows) == 22_101
    items = load_items("utkface", root=real / "utkface_file_names.txt")
    assert items.report.rows_read == 22_105
    assert sum(items.report.skipped.values()) == 4
    frame = items.table.to_pandas().merge(rows[["item", "split"]], on="item")
    nine = AGE_GROUPS["nine"]
    frame["age"] = frame["age"].map(lambda years: nine.of(int(years)))
    for column in ("age", "gender", "race"):
        assert furthest(frame, [column]) < 1
    assert furthest(frame, ["age", "gender", "race"]) < 1


def test_utkface_against_the_published_table(real, published):
    """Three cells differ, as the damage of the published table explains, and no other."""
    frame = load_items("utkface", root=real / "utkface_file_names.txt").table.to_pandas()
    cut = AGE_GROUPS["robustness"]
    printed = {"0-17": "0-18", "18-44": "19-45", "45-64": "45-64", "65+": "65+"}
    frame["age"] = frame["age"].map(lambda years: printed[cut.of(int(years))])
    ours = frame.groupby(["age", "gender", "race"]).size().to_dict()
    differing = {}
    for row in csv.DictReader((published / "capped_counts.csv").read_text().splitlines()):
        if row["database"] == "UTKFace":
            cell = tuple(part.split("=")[1] for part in row["cell"].split(";"))
            if ours.pop(cell, 0) != int(row["count"]):
                differing[cell] = int(row["count"])
    assert ours == {}
    assert differing == {
        ("19-45", "Male", "Black"): 1499,
        ("45-64", "Female", "White"): 802,
        ("65+", "Female", "Others"): 10,
    }


def damaged(source, target):
    """Write a copy of FairFace's labels as a spreadsheet program damages it."""
    spoilt = {"3-9": "9-Mar", "10-19": "19-Oct"}
    lines = []
    for line in source.read_text().splitlines():
        file, age, *rest = line.split(",")
        lines.append(",".join([file, spoilt.get(age, age), *rest[:-1], rest[-1].upper()]))
    lines[0] = source.read_text().splitlines()[0]
    target.write_bytes("\r\n".join(lines).encode())


def test_fairface_and_its_damaged_copy(protoctl, real, in_empty_folder):
    source = real / "fairface_label_train.csv"
    run = protoctl("split", "fairface", "--root", source, *FAIR, "--out", "clean")
    assert run.code == 0, run.err
    assert "FairFace has no affect label" in run.err
    assert len(assigned("clean")) == 86_744
    damaged(source, in_empty_folder / "fairface_label_train.csv")
    again = protoctl("split", "fairface", "--root", "fairface_label_train.csv", *FAIR, "--out", "repaired")
    assert again.code == 0, again.err
    assert "9-Mar" in again.err
    assert "19-Oct" in again.err
    assert Path("repaired/assignments.csv").read_bytes() == Path("clean/assignments.csv").read_bytes()
    items = load_items("fairface", root=Path("fairface_label_train.csv"))
    assert set(items.table["age"].to_pylist()) == set(AGE_GROUPS["nine"].categories)


def test_adience(protoctl, real, in_empty_folder):
    folds = real / "adience_folds"
    run = protoctl("split", "adience", "--root", folds, *FAIR)
    assert run.code == 0, run.err
    assert "Adience has no affect label" in run.err
    assert "Adience has no race" in run.err
    assert "(25, 23)" in run.err
    assert "117" in run.err
    assert "have no age: they are spread evenly" in run.err
    rows = assigned("adience-fair-55-15-30")
    assert len(rows) == 19_370
    assert rows["subject"].nunique() == 2_284
    assert whole_subjects(rows)
    strict = protoctl("split", "adience", "--root", folds, *FAIR, "--require", "age,gender", "--out", "known")
    assert strict.code == 0, strict.err
    known = assigned("known")
    assert len(known) == 17_452
    assert known["subject"].nunique() == 2_192
    assert whole_subjects(known)


def people(count=900, subjects=36):
    """A table of people whose attributes follow from their number."""
    groups = AGE_GROUPS["nine"].categories
    return pd.DataFrame(
        {
            "item": [f"img/{n:05d}.jpg" for n in range(count)],
            "subject": [f"P{n % subjects:03d}" for n in range(count)],
            "label": [["Anger", "Fear", "Neutral"][(n * 7 + n // 11) % 3] for n in range(count)],
            "age": [groups[(n % subjects) % 9] for n in range(count)],
            "gender": [["Female", "Male"][(n % subjects) % 2] for n in range(count)],
            "race": [["Asian", "Black", "Indian", "White"][(n % subjects * 3 // 7) % 4] for n in range(count)],
        }
    )


def test_the_form_of_the_file_changes_nothing(protoctl, in_empty_folder):
    frame = people()
    frame.to_csv("plain.csv", index=False)
    frame.sample(frac=1, random_state=5).to_csv("shuffled.csv", index=False)
    Path("crlf.csv").write_bytes(Path("plain.csv").read_bytes().replace(b"\n", b"\r\n"))
    Path("bom.csv").write_bytes(b"\xef\xbb\xbf" + Path("plain.csv").read_bytes())
    frame.to_parquet("plain.parquet")
    frame.to_json("plain.jsonl", orient="records", lines=True)
    frame.to_csv("plain.tsv", index=False, sep="\t")
    written = {}
    names = ("plain.csv", "shuffled.csv", "crlf.csv", "bom.csv", "plain.parquet", "plain.jsonl", "plain.tsv")
    for place, name in enumerate(names):
        run = protoctl("split", name, *FAIR, "--out", f"out{place}")
        assert run.code == 0, run.err
        written[name] = Path(f"out{place}/assignments.csv").read_bytes()
    assert len(set(written.values())) == 1, {name: len(data) for name, data in written.items()}


def test_another_seed_is_another_partition_as_balanced(protoctl, in_empty_folder):
    people().to_csv("people.csv", index=False)
    first = protoctl("split", "people.csv", *FAIR, "--out", "a", "--json").json
    second = protoctl("split", "people.csv", *FAIR, "--out", "b", "--seed", "1", "--json").json
    assert Path("a/assignments.csv").read_bytes() != Path("b/assignments.csv").read_bytes()
    assert second["balance"]["mean_pp"] == pytest.approx(first["balance"]["mean_pp"], abs=0.5)


def test_audit_prints_the_figures_of_its_json(protoctl, in_empty_folder):
    people().to_csv("people.csv", index=False)
    assert protoctl("split", "people.csv", *FAIR, "--out", "out").code == 0
    shown, figures = protoctl("audit", "out"), protoctl("audit", "out", "--json").json
    assert shown.code == 0
    balance = figures["balance"]
    assert f"worst deviation: {balance['worst_pp']:.2f} points" in shown.out
    for row in balance["categories"]:
        if row["role"] == "category":
            shares = [f"{100 * share:.2f}" for share in row["shares"]]
            line = next(line for line in shown.out.splitlines() if f" {row['value']} " in f" {line} ")
            assert all(share in line for share in shares), (row, line)
    subjects = next(found for found in figures["findings"] if found["check"] == "subjects in two splits")
    assert subjects == {"check": "subjects in two splits", "found": "0 of 36", "count": 0, "verdict": "holds"}
    table = shown.out.split("worst deviation")[0].splitlines()
    assert len(table) > 20
    assert all(len(line) <= 80 for line in table)


def test_audit_of_somebody_else_s_split_finds_the_torn_subject(protoctl, in_empty_folder):
    frame = people(300, 30)
    frame["fold"] = ["train" if int(s[1:]) < 17 else "val" if int(s[1:]) < 21 else "test" for s in frame["subject"]]
    frame.loc[0, "fold"] = "test"
    frame.to_csv("theirs.csv", index=False)
    run = protoctl("audit", "theirs.csv", *FAIR, "--split", "fold")
    assert run.code == 5
    assert "fails  subjects in two splits: 1 of 30: P000" in run.out
    assert "subjects in two splits (1 of 30: P000)" in run.err


BROKEN = {
    "missing.csv": (None, "there is no such file", "check the path"),
    "empty.csv": (b"", "is empty", "check that it was written"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is not a text file", "check that the path is right"),
    "latin.csv": ("item,label\na.jpg,Colère\n".encode("latin-1"), "latin.csv:2", "UTF-8"),
    "short.csv": (b"item,label\na.jpg,Fear\nb.jpg\n", "short.csv:3: 1 fields where the header has 2", None),
    "outside.csv": (b"item,label\n../a.jpg,Fear\n", "has '..' in its path", None),
    "twice.csv": (b"item,label\na.jpg,Fear\na.jpg,Anger\n", "a.jpg", None),
}


@pytest.mark.parametrize("name", BROKEN)
def test_files_that_cannot_be_used(protoctl, in_empty_folder, name):
    data, message, hint = BROKEN[name]
    if data is not None:
        Path(name).write_bytes(data)
    run = protoctl("split", name, *FAIR, "--stratify", "label", "--out", "out")
    assert run.code == 3
    assert name.split(".")[0] in run.err
    assert message in run.err
    if hint:
        assert hint in run.err
    assert "Traceback" not in run.err
    assert not Path("out").exists()


def test_duplicates_with_different_labels_name_both_lines(protoctl, in_empty_folder):
    Path("twice.csv").write_bytes(BROKEN["twice.csv"][0])
    run = protoctl("split", "twice.csv", *FAIR, "--stratify", "label")
    assert "twice.csv:2" in run.err
    assert "twice.csv:3" in run.err


def test_a_column_the_data_lack(protoctl, in_empty_folder):
    people().rename(columns={"gender": "gendre"}).to_csv("people.csv", index=False)
    run = protoctl("split", "people.csv", *FAIR)
    assert run.code == 3
    assert "$.split.stratify[2]: there is no column 'gender'" in run.err
    assert "did you mean 'gendre'" in run.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("split: {ratios: {train: 0, test: 1}}", "$.split.ratios.train: 0 is not above 0"),
        ("split: {ratios: {train: -1, test: 1}}", "$.split.ratios.train: -1 is not above 0"),
        ("split: {ratios: {train: half, test: 1}}", "$.split.ratios.train: 'half' is not an integer"),
        ("split: {ratios: {train: 1, test: 1}}\nspilt: {}", "$.spilt: there is no key 'spilt'"),
        ("split: !!python/name:os.system {}", "python/name:os.system"),
    ],
)
def test_protocols_that_cannot_be_used(protoctl, in_empty_folder, text, message):
    people().to_csv("people.csv", index=False)
    Path("mine.yaml").write_text(f"name: mine\nversion: 1.0.0\n{text}\n")
    run = protoctl("split", "people.csv", "--protocol", "mine.yaml")
    assert run.code == 3
    assert "mine.yaml" in run.err
    assert message in run.err
    assert sorted(path.name for path in in_empty_folder.iterdir()) == ["mine.yaml", "people.csv"]


def test_a_subject_that_is_na_in_part_of_the_rows(protoctl, in_empty_folder):
    frame = people(300, 30)
    frame.loc[frame.index[:20], "subject"] = "NA"
    frame.to_csv("people.csv", index=False)
    run = protoctl("split", "people.csv", *FAIR)
    assert run.code == 3
    assert "20" in run.err
    assert "--missing-subject" in run.err
    own = protoctl("split", "people.csv", *FAIR, "--missing-subject", "own", "--out", "own")
    assert own.code == 0, own.err
    assert len(assigned("own")) == 300
    dropped = protoctl("split", "people.csv", *FAIR, "--missing-subject", "drop", "--out", "drop")
    assert dropped.code == 0, dropped.err
    assert len(assigned("drop")) == 280


def test_a_single_subject_cannot_be_split(protoctl, in_empty_folder):
    people(100, 1).to_csv("one.csv", index=False)
    run = protoctl("split", "one.csv", *FAIR)
    assert run.code == 4
    assert "P000" in run.err
    assert not Path("one-fair-55-15-30").exists()


def test_fewer_subjects_than_splits(protoctl, in_empty_folder):
    people(100, 2).to_csv("two.csv", index=False)
    run = protoctl("split", "two.csv", *FAIR)
    assert run.code == 0, run.err
    assert "warning" in run.err
    assert "valid" in run.err
    strict = protoctl("split", "two.csv", *FAIR, "--strict", "--out", "strict")
    assert strict.code == 4
    assert "valid" in strict.err
    assert not Path("strict").exists()


def test_an_existing_folder_is_refused_unless_forced(protoctl, in_empty_folder):
    people().to_csv("people.csv", index=False)
    assert protoctl("split", "people.csv", *FAIR, "--out", "out").code == 0
    before = Path("out/assignments.csv").read_bytes()
    run = protoctl("split", "people.csv", *FAIR, "--out", "out", "--seed", "1")
    assert run.code == 3
    assert "--force" in run.err
    assert Path("out/assignments.csv").read_bytes() == before
    assert protoctl("split", "people.csv", *FAIR, "--out", "out", "--seed", "1", "--force").code == 0
    assert Path("out/assignments.csv").read_bytes() != before


def test_an_output_folder_that_cannot_be_written(protoctl, in_empty_folder):
    people().to_csv("people.csv", index=False)
    Path("file").write_text("a file stands where a folder is wanted")
    run = protoctl("split", "people.csv", *FAIR, "--out", "file/out")
    assert run.code == 3
    assert "file" in run.err
    if os.geteuid() != 0:
        Path("locked").mkdir()
        Path("locked").chmod(stat.S_IRUSR | stat.S_IXUSR)
        assert protoctl("split", "people.csv", *FAIR, "--out", "locked/out").code == 3
        Path("locked").chmod(stat.S_IRWXU)


def test_wrong_usage_is_exit_2(protoctl):
    assert protoctl("split", "affectnet").code == 2
    run = protoctl("splt")
    assert run.code == 2
    assert "did you mean 'split'?" in run.err
    assert protoctl("split", "affectnet", *FAIR, "--sede", "3").code == 2


def test_a_misspelt_dataset_has_its_close_match(protoctl, in_empty_folder):
    run = protoctl("split", "afectnet", *FAIR)
    assert run.code == 3
    assert "did you mean 'affectnet'" in run.err


def test_a_closed_pipe_ends_quietly(in_empty_folder):
    command = f"{sys.executable} -m protoctl datasets --json | head -c 20"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    assert len(done.stdout) == 20


def test_datasets_and_protocols_are_listed(protoctl):
    run = protoctl("datasets")
    assert run.code == 0
    assert "affectnet" in run.out
    assert all(len(line) <= 80 for line in run.out.splitlines())
    assert "fair-55-15-30" in protoctl("protocols").out
    assert protoctl("protocols", "fair-55-15-30", "--json").json["split"]["ratios"][0] == ["train", 11]
    assert "AffectNet" in protoctl("datasets", "affectnet").out
    assert protoctl("datasets", "nothing-like-it").code == 3
