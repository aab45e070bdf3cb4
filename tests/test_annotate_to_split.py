"""From votes to a partition: aggregate a real export, split its subjects, and see skin types balanced."""

import csv
from collections import Counter

import pytest

from protoctl.cli import main
from protoctl.scales import FITZPATRICK

PROTOCOL = """\
name: skin-55-15-30
version: 1.0.0
source: a test
split:
  ratios: {train: 55, valid: 15, test: 30}
  unit: subject
  stratify: [skin_type]
"""


def run(*words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert ended.value.code == 0


def test_labels_feed_a_split(real, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    export = real / "label_studio/project2_3011x8.json"
    run("aggregate", export, "--scale", "fitzpatrick", "--unit", "subject_id", "--out", "labels", "--replicates", 0)
    with (tmp_path / "labels/labels.csv").open(newline="") as stream:
        labels = {row["subject"]: row["skin_type"] for row in csv.DictReader(stream)}
    assert len(labels) == 3_011
    rows = [f"{subject}/{frame}.jpg,{subject}\n" for subject in labels for frame in range(1 + int(subject) % 2)]
    (tmp_path / "people.csv").write_text("item,subject\n" + "".join(rows))
    (tmp_path / "skin.yaml").write_text(PROTOCOL)
    run("split", "people.csv", "--protocol", "skin.yaml", "--attributes", "labels/labels.csv", "--out", "made")
    with (tmp_path / "made/assignments.csv").open(newline="") as stream:
        assigned = {row["subject"]: row["split"] for row in csv.DictReader(stream)}
    assert set(assigned) == set(labels)
    targets = {"train": 0.55, "valid": 0.15, "test": 0.30}
    items = {subject: 1 + int(subject) % 2 for subject in labels}
    held = Counter()
    for subject, split in assigned.items():
        held[labels[subject], split] += items[subject]
    # The subjects whose votes tied have no label; they are spread evenly too.
    for category in ("", *FITZPATRICK.categories):
        total = sum(held[category, split] for split in targets)
        assert total > 250
        for split, share in targets.items():
            assert held[category, split] == pytest.approx(share * total, abs=1.5)
