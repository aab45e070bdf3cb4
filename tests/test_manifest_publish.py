"""The folder to publish: what it holds, what machines make of it, what is refused."""

import csv
import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from protoctl.catalog import Items, load_card, replica_items
from protoctl.errors import AuditError, InputError
from protoctl.manifests import (
    build_manifest,
    compare_manifests,
    open_manifest,
    publish_manifest,
    read_manifest,
    release_key,
    verify_folder,
    write_manifest,
)
from protoctl.manifests.croissant import croissant_problems
from protoctl.partition import balance_of, split_items
from protoctl.protocols import load_protocol

RULES = load_protocol("fair-55-15-30")
FILES = {
    ".gitattributes",
    "README.md",
    "SHA256SUMS",
    "assignments.csv",
    "assignments.parquet",
    "citation.bib",
    "croissant.json",
    "manifest.json",
    "test.csv",
    "train.csv",
    "valid.csv",
}


def people(subjects=12, each=6, **more):
    """Names that readers of CSV like to spoil: numbers with zeros before, and NA."""
    count = subjects * each
    names = [f"{n:05d}" for n in range(count)]
    names[7] = "NA"
    return Items(
        more.pop("dataset", "people"),
        pa.table(
            {
                "item": names,
                "subject": [f"{n % subjects:03d}" for n in range(count)],
                "label": [["Anger", "Fear"][n // subjects % 2] for n in range(count)],
                "age": [["20-29", "30-39"][n % subjects % 2] for n in range(count)],
                "gender": [["Female", "Male"][n % subjects // 2 % 2] for n in range(count)],
                "race": [None if n == 0 else "Asian" for n in range(count)],
            }
        ),
        labels=("label",),
        attributes=("age", "gender", "race"),
        **more,
    )


def written(folder, items, **options):
    partition = split_items(items, RULES, **options)
    write_manifest(folder, build_manifest(partition, balance_of(partition)))
    return read_manifest(folder)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    base = tmp_path_factory.mktemp("publish")
    read = written(base / "made", people())
    done = publish_manifest(
        read, base / "public", license="CC-BY-4.0", authors=["Ada Example"], items=people(), url="https://example.org/p"
    )
    return done.manifest


def test_what_it_holds(published):
    folder = published.folder
    assert {path.name for path in folder.iterdir()} == FILES
    assert verify_folder(folder).faults == []
    done = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "author = {Ada Example}" in (folder / "citation.bib").read_text()
    assert read_manifest(folder).document["license"] == "CC-BY-4.0"
    assert published.digest[7:19] in (folder / "citation.bib").read_text()


def test_the_files_of_the_splits_are_in_the_loaders_layout(published):
    total = 0
    for split in published.splits:
        rows = list(csv.reader((published.folder / f"{split}.csv").read_text("utf-8").splitlines()))
        assert rows[0] == ["name", "expression", "age", "gender", "race"]
        assert {row[0] for row in rows[1:]} == set(published.frame(split)["item"])
        total += len(rows) - 1
    assert total == 72


def test_raf_db_has_an_order_of_its_own(tmp_path):
    items = people(dataset="raf-db")
    publish_manifest(written(tmp_path / "made", items), tmp_path / "public", license="CC0-1.0", items=items)
    header = (tmp_path / "public" / "train.csv").read_text().splitlines()[0]
    assert header == "name,gender,race,age,expression"


def test_without_the_dataset_the_files_list_names(tmp_path):
    publish_manifest(written(tmp_path / "made", people()), tmp_path / "public", license="CC0-1.0")
    assert (tmp_path / "public" / "train.csv").read_text().splitlines()[0] == "name"
    assert not re.search("Anger,", (tmp_path / "public" / "train.csv").read_text())


def test_croissant_says_what_the_specification_asks_for(published):
    document = json.loads((published.folder / "croissant.json").read_text())
    assert croissant_problems(document, published.folder, published).found == []
    assert document["conformsTo"][0] == "http://mlcommons.org/croissant/1.1"
    splits, assignments = document["recordSet"]
    assert splits["dataType"] == "cr:Split"
    assert {row["splits/url"] for row in splits["data"]} == {"cr:TrainingSplit", "cr:ValidationSplit", "cr:TestSplit"}
    assert assignments["field"][2]["references"] == {"field": {"@id": "splits/name"}}
    assert "prov:wasDerivedFrom" in document
    assert "annotator" not in json.dumps(document)
    broken = json.loads(json.dumps(document))
    broken["recordSet"][0]["data"].pop()
    broken["distribution"][0]["contentUrl"] = "absent.csv"
    broken["recordSet"][1]["field"][0]["source"]["fileObject"]["@id"] = "nothing"
    found = [str(problem) for problem in croissant_problems(broken, published.folder, published).found]
    assert any("split 'test' is not among those enumerated" in text for text in found)
    assert any("absent.csv is absent" in text for text in found)
    assert any("refers to 'nothing'" in text for text in found)


@pytest.mark.filterwarnings("ignore")
def test_croissant_loads_with_the_ids_intact(published):
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs mlcroissant[parquet]")
    dataset = mlcroissant.Dataset(jsonld=str(published.folder / "croissant.json"))
    assert dataset.metadata.issues.errors == set()
    rows = [
        tuple(record[f"assignments/{name}"].decode() for name in ("item", "subject", "split"))
        for record in dataset.records("assignments")
    ]
    assert sorted(rows) == sorted(published.frame().itertuples(index=False, name=None))
    assert {"00012", "NA"} <= {row[0] for row in rows}


@pytest.mark.filterwarnings("ignore")
def test_the_hub_s_library_loads_it(published, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="needs the package datasets of Hugging Face")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    loaded = datasets.load_dataset(str(published.folder), cache_dir=str(tmp_path))
    counts = {name: count["items"] for name, count in published.document["counts"].items()}
    assert {name: len(rows) for name, rows in loaded.items()} == counts
    assert {name for rows in loaded.values() for name in rows["name"]} == set(published.frame()["item"])


def test_splits_that_the_hub_refuses_are_renamed_and_said(tmp_path):
    read = written(tmp_path / "made", people(), folds=3)
    done = publish_manifest(read, tmp_path / "public", license="CC0-1.0")
    assert "split 'fold-1' is called 'fold_1' on the hub, which allows letters, digits and _ only" in done.notes
    card = (tmp_path / "public" / "README.md").read_text()
    assert "split: fold_1\n    path: fold-1.csv" in card
    document = json.loads((tmp_path / "public" / "croissant.json").read_text())
    assert [row["splits/name"] for row in document["recordSet"][0]["data"]] == ["fold-1", "fold-2", "fold-3"]


def test_a_replica_is_refused(tmp_path):
    read = written(tmp_path / "made", replica_items("raf-au"))
    with pytest.raises(InputError) as caught:
        publish_manifest(read, tmp_path / "public", license="CC0-1.0")
    assert "is a replica" in caught.value.message
    assert "--root" in caught.value.hint
    assert not (tmp_path / "public").exists()


def test_one_that_does_not_verify_is_refused(tmp_path):
    read = written(tmp_path / "made", people())
    rows = (tmp_path / "made" / "assignments.csv").read_text()
    (tmp_path / "made" / "assignments.csv").write_text(rows.replace(",train", ",test", 1))
    with pytest.raises(AuditError) as caught:
        publish_manifest(read, tmp_path / "public", license="CC0-1.0")
    assert "does not verify" in caught.value.message
    assert "protoctl verify" in caught.value.hint
    assert not (tmp_path / "public").exists()


def test_licensed_names_are_refused_unless_told(tmp_path):
    card = load_card("raf-db")
    assert card.licensed
    items = people(dataset="raf-db", card=card)
    read = written(tmp_path / "made", items)
    with pytest.raises(InputError) as caught:
        publish_manifest(read, tmp_path / "public", license="CC0-1.0")
    assert "may not be passed on" in caught.value.message
    assert "--identities keyed --key-file" in caught.value.hint
    publish_manifest(read, tmp_path / "told", license="CC0-1.0", identities="plain")
    key_file = tmp_path / "labels.csv"
    key_file.write_bytes(os.urandom(4096))
    key = release_key(key_file, read.name)
    with pytest.raises(InputError, match="are not published beside tokens"):
        publish_manifest(read, tmp_path / "public", license="CC0-1.0", identities="keyed", key=key, items=items)
    done = publish_manifest(read, tmp_path / "public", license="CC0-1.0", identities="keyed", key=key)
    assert verify_folder(tmp_path / "public").faults == []
    balance = done.manifest.document["balance"]
    assert (balance["suppress_below"], balance["round_to"]) == (10, 5)
    names = set(items.table["item"].to_pylist()) - {"NA"}
    for path in (tmp_path / "public").iterdir():
        if path.suffix in (".csv", ".md", ".bib"):
            assert not names & set(re.split(r"[^\w]+", path.read_text("utf-8")))


def test_crossed_counts_of_a_subset_go_with_small_counts(tmp_path):
    read = written(tmp_path / "made", people())
    cells = [{"values": ["20-29", "Asian"], "before": 7, "after": 5}]
    subset = {"name": "mini", "per": ["age"], "items_before": 72, "items": 72, "cells": 1, "cells_reduced": 1}
    write_manifest(tmp_path / "drawn", replace(read, document={**read.document, "subset": {**subset, "counts": cells}}))
    drawn = read_manifest(tmp_path / "drawn")
    exact = publish_manifest(drawn, tmp_path / "exact", license="CC0-1.0")
    assert exact.manifest.document["subset"]["counts"] == cells
    hidden = publish_manifest(drawn, tmp_path / "hidden", license="CC0-1.0", suppress_below=10)
    assert hidden.manifest.document["subset"] == subset


def test_what_else_is_refused(tmp_path):
    read = written(tmp_path / "made", people())
    with pytest.raises(InputError, match="names no licence of its own") as caught:
        publish_manifest(read, tmp_path / "public")
    assert "--license" in caught.value.hint
    with pytest.raises(InputError, match="no file is named to derive the key from"):
        publish_manifest(read, tmp_path / "public", license="CC0-1.0", identities="keyed")
    with pytest.raises(InputError, match="there is no kind of identities 'keyd'"):
        publish_manifest(read, tmp_path / "public", license="CC0-1.0", identities="keyd")
    other = people(subjects=11)
    with pytest.raises(InputError, match="has 22 items of test, the manifest 24"):
        publish_manifest(read, tmp_path / "public", license="CC0-1.0", items=other)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made"]


def test_it_replaces_only_what_it_wrote(tmp_path):
    read = written(tmp_path / "made", people())
    for force in (False, True):
        publish_manifest(read, tmp_path / "public", license="CC0-1.0", force=force)
    with pytest.raises(InputError, match="exists already"):
        publish_manifest(read, tmp_path / "public", license="CC0-1.0")
    (tmp_path / "public" / "mine.txt").write_text("x")
    with pytest.raises(InputError, match=r"mine\.txt"):
        publish_manifest(read, tmp_path / "public", license="CC0-1.0", force=True)


def test_the_command(protoctl, in_empty_folder):
    people().table.to_pandas().to_csv("people.csv", index=False)
    assert protoctl("split", "people.csv", "--protocol", "fair-55-15-30", "--out", "made").code == 0
    run = protoctl(
        "publish", "made", "--to", "public", "--license", "CC-BY-4.0", "--with-labels", "--root", "people.csv", "--json"
    )
    assert run.code == 0, run.err
    assert set(run.json["files"]) == FILES
    assert protoctl("verify", "public").code == 0
    shown = protoctl("publish", "made", "--to", "public", "--license", "CC-BY-4.0", "--force")
    assert "  croissant.json" in shown.out
    assert protoctl("diff", "made", "public").out.splitlines()[-1].startswith("version: patch (every row is the same)")


def test_the_card_is_read_back_as_a_partition(published):
    folder = published.folder
    (folder / "manifest.json").rename(folder / "kept.json")
    try:
        theirs = open_manifest(folder)
    finally:
        (folder / "kept.json").rename(folder / "manifest.json")
    assert compare_manifests(theirs, replace(published, folder=None)).same
    assert Path(folder, "manifest.json").is_file()
