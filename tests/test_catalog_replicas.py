import csv

import pytest

from protoctl.catalog import load_items, reconcile, replica_items
from protoctl.catalog.replicas import published_marginals
from protoctl.errors import InputError

NAMES = ["affectnet", "raf-db", "emotionet", "raf-au"]


@pytest.mark.parametrize("name", NAMES)
def test_a_replica_has_exactly_the_published_marginals(name):
    items = replica_items(name)
    counts = reconcile(items)
    assert items.replica
    assert counts
    assert all(found == published for _, found, published in counts)
    assert items.table["item"][0].as_py() == "replica/000001.jpg"


def test_the_totals_are_those_of_the_new_partition():
    assert [len(replica_items(name)) for name in NAMES] == [290_580, 15_339, 44_928, 4_540]


def test_what_a_marginal_lacks_is_missing_and_counted():
    items = replica_items("raf-db")
    assert items.table["gender"].null_count == 951
    assert items.report.missing == {"gender": {"not published": 951}}


def test_action_units_are_zero_or_one_with_the_published_sums():
    table = replica_items("emotionet").table
    assert table["AU1"].to_pylist().count("1") == 1973 + 371 + 587
    assert set(table["AU26"].to_pylist()) == {"0", "1"}


def test_a_replica_is_the_same_each_time_and_its_columns_are_independent():
    first, second = replica_items("raf-db").table, replica_items("raf-db").table
    assert first.equals(second)
    labels, genders = first["label"].to_pylist(), first["gender"].to_pylist()
    happy = [gender for label, gender in zip(labels, genders, strict=True) if label == "Happiness"]
    assert happy.count("Female") / len(happy) == pytest.approx(8182 / 15339, abs=0.02)
    assert labels[:6] == ["Happiness", "Neutral", "Neutral", "Fear", "Neutral", "Happiness"]
    assert first["age"].to_pylist()[:5] == ["20-39", "70+", "20-39", "40-69", "20-39"]


def test_a_replica_has_no_valence_and_arousal():
    with pytest.raises(InputError, match="has no valence and arousal") as refusal:
        replica_items("affectnet", "va")
    assert "--root" in str(refusal.value.hint)


def test_a_dataset_without_published_marginals_has_no_replica():
    with pytest.raises(InputError, match="there is no replica of UTKFace") as refusal:
        replica_items("utkface")
    assert "affectnet, raf-db, emotionet, raf-au" in str(refusal.value.hint)


def test_seven_expressions_are_the_replica_of_eight():
    items = replica_items("affectnet", "expression-7")
    assert items.task == "expression-7"
    assert items.table.equals(replica_items("affectnet").table)


def test_the_tables_of_the_package_are_the_published_ones(published):
    with (published / "partition_tables.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["database"] == "AffectNet" and row["partition"] == "new"]
    ages = {}
    for row in rows:
        if row["attribute"] == "age":
            ages[row["category"]] = ages.get(row["category"], 0) + int(row["count"])
    assert published_marginals("affectnet")["age"] == ages


def test_without_files_the_replica_is_loaded_and_says_so(monkeypatch):
    monkeypatch.delenv("PROTOCTL_DATA", raising=False)
    items = load_items("AffectNet")
    assert items.replica
    assert items.report.notes[0].startswith("this is a replica of AffectNet and not the dataset: 290,580 rows")
