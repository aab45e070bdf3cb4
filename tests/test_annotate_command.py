"""`protoctl aggregate` and `protoctl agreement`: what they print, write, and refuse."""

import csv
import json
import subprocess
import sys

import pytest

from protoctl.annotate import aggregate, parse_questions, read_annotations
from protoctl.cli import main


@pytest.fixture
def export(real):
    return real / "label_studio/project1_all.json"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        return ended.value.code, *capsys.readouterr()

    return call


def test_aggregate_writes_and_prints(run, export, tmp_path):
    code, out, err = run("aggregate", export, "--scale", "fitzpatrick", "--unit", "subject_id", "--review", "look.csv")
    assert code == 0
    assert "19 annotations = 15 used + 1 superseded + 2 skipped + 1 empty, and 1 draft beside" in out
    assert "written: project1_all-labels/" in err
    assert "10 units to review: look.csv" in err
    files = sorted(path.name for path in (tmp_path / "project1_all-labels").iterdir())
    assert files == ["agreement.json", "annotators.csv", "labels.csv", "summary.json"]
    assert "labels that it would change or take away, by category" in out
    titles = [line for line in out.splitlines() if line and len(line) > 80]
    assert all(": " in line for line in titles), "only sentences may be wider than the terminal"


def test_json_is_the_librarys_result(run, export, tmp_path):
    code, out, _ = run("aggregate", export, "--scale", "fitzpatrick", "--unit", "subject_id", "--json", "--seed", 3)
    annotations = read_annotations([export], unit="subject_id")
    expected = aggregate(annotations, parse_questions("fitzpatrick"), seed=3).document()
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(expected))


def test_an_existing_folder_is_refused_before_work(run, export, tmp_path):
    (tmp_path / "out").mkdir()
    code, out, err = run("aggregate", "absent.json", "--scale", "fitzpatrick", "--out", "out")
    assert (code, out) == (3, "")
    assert "error: out exists" in err
    assert "hint: --force replaces it" in err
    code, _, _ = run("aggregate", export, "--scale", "fitzpatrick", "--out", "out", "--force")
    assert code == 0


def test_decisions_come_back(run, export, tmp_path):
    words = ("aggregate", export, "--scale", "fitzpatrick", "--unit", "subject_id", "--replicates", 0)
    run(*words, "--review", "look.csv", "--out", "one")
    text = (tmp_path / "look.csv").read_text()
    assert "0001,skin_type,low stability" in text
    (tmp_path / "look.csv").write_text("subject,control,decision\n0001,skin_type,II\n")
    code, _, _ = run(*words, "--decisions", "look.csv", "--out", "two")
    with (tmp_path / "two/labels.csv").open(newline="") as stream:
        row = next(csv.DictReader(stream))
    assert code == 0
    assert (row["subject"], row["skin_type"], row["skin_type_status"]) == ("0001", "II", "adjudicated")
    assert row["skin_type_rule"] == "decisions"


def test_agreement_prints_every_coefficient(run, real):
    code, out, err = run("agreement", real / "label_studio/project2_3011x8.json", "--scale", "fitzpatrick")
    assert code == 0
    order = ["percent agreement", "alpha, ordinal", "Gwet AC1", "confidence-weighted alpha", "alpha over confident"]
    assert [out.index(name) for name in order] == sorted(out.index(name) for name in order)
    assert "0.863   0.857 to 0.867" in out
    assert ["1", "-", "2", "2,872", "0.403", "0.703", "0.874"] in [line.split() for line in out.splitlines()]
    assert "note: 23,567 annotations = 23,567 used" in err
    tables = [line for line in out.splitlines() if line and "votes (" not in line]
    assert max(len(line) for line in tables) <= 80


def test_degenerate_votes_give_reasons(run, tmp_path):
    (tmp_path / "same.csv").write_text(
        "subject,annotator,category\n" + "".join(f"{n},{a},II\n" for n in "12" for a in "xy")
    )
    code, out, err = run("agreement", "same.csv", "--scale", "fitzpatrick", "--json")
    found = {each["name"]: each for each in json.loads(out)["controls"][0]["coefficients"]}
    assert code == 0
    assert found["alpha, ordinal"]["value"] is None
    assert found["alpha, ordinal"]["reason"] == "all votes are of one category: agreement by chance is undefined"
    assert found["Gwet AC1"]["value"] == 1
    assert "alpha, interval" in err
    assert "NaN" not in out


def test_bad_input_ends_with_three_and_a_hint(run, tmp_path):
    (tmp_path / "cut.json").write_text('[{"id": 1, "annotations": [')
    code, _, err = run("agreement", "cut.json", "--scale", "fitzpatrick")
    assert code == 3
    assert "error: cut.json: $[0]: the file ends in the middle (after 27 bytes)" in err
    assert "hint: the export was cut off: fetch it again" in err
    assert run("agreement", "cut.json")[0] == 2
    assert run("agreement", "cut.json", "--scale", "fitzpatrik")[0] == 3


def test_the_order_of_files_and_two_processes_give_the_same_bytes(export, tmp_path):
    """Another process, another hash seed: the same files, byte by byte."""
    words = [sys.executable, "-m", "protoctl", "aggregate", str(export), "--scale", "fitzpatrick", "--out"]
    for name, hashed in (("one", "1"), ("two", "2")):
        subprocess.run(
            [*words, name], cwd=tmp_path, check=True, capture_output=True, env={"PYTHONHASHSEED": hashed, "PATH": ""}
        )
    for file in ("labels.csv", "agreement.json", "annotators.csv", "summary.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
