"""A manifest written and read back: whole or not at all, refused where it cannot be right."""

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from protoctl.catalog import Items, load_card
from protoctl.errors import InputError
from protoctl.manifests import build_manifest, read_manifest, refuse_folder, write_manifest
from protoctl.manifests import folders as folders_module
from protoctl.manifests.files import dump_document
from protoctl.partition import balance_of, split_items
from protoctl.protocols import load_protocol

RULES = load_protocol("fair-55-15-30")


def items_of(subjects=12, each=6, dataset="people", **more):
    rows = subjects * each
    table = pa.table(
        {
            "item": [f"img/{n:05d}.jpg" for n in range(rows)],
            "subject": [f"P{n % subjects:03d}" for n in range(rows)],
            "label": [["Anger", "Fear"][n // subjects % 2] for n in range(rows)],
            "age": [["20-29", "30-39"][n % subjects % 2] for n in range(rows)],
            "gender": [["Female", "Male"][n % subjects // 2 % 2] for n in range(rows)],
            "race": [None if n == 0 else "Asian" for n in range(rows)],
            "annotation": [["manual", "automatic"][n < 0] for n in range(rows)],
        }
    )
    return Items(dataset, table, labels=("label",), attributes=("age", "gender", "race"), task="expression", **more)


def manifest_of(items=None, seed=0, **options):
    partition = split_items(items or items_of(), RULES, seed=seed)
    return build_manifest(partition, balance_of(partition), **options)


@pytest.fixture(scope="module")
def manifest():
    return manifest_of()


def schema():
    path = Path(folders_module.__file__).parent / "manifest-1.schema.json"
    return json.loads(path.read_text("utf-8"))


def test_the_document_says_what_the_rows_are(manifest, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    document = manifest_of(more={"x-lab": {"room": 3}, "license": "CC0-1.0"}).document
    jsonschema.Draft202012Validator(schema()).validate(document)
    assert document["name"] == "people-expression-fair-55-15-30"
    assert document["created"] == "2023-11-14T22:13:20Z"
    assert document["x-lab"] == {"room": 3}
    assert document["protocol"]["ratios"] == {"train": 55, "valid": 15, "test": 30}
    assert document["protocol"]["digest"] == RULES.digest
    assert document["columns"]["label"] == {
        "role": "label",
        "manual": 72,
        "automatic": 0,
        "unstated": 0,
        "missing": 0,
    }
    assert document["columns"]["race"] == {
        "role": "attribute",
        "manual": 0,
        "automatic": 0,
        "unstated": 71,
        "missing": 1,
    }
    assert sum(count["items"] for count in document["counts"].values()) == 72
    assert sum(count["subjects"] for count in document["counts"].values()) == 12
    assert {"python", "numpy", "pyarrow", "protoctl"} == set(document["environment"])


def test_a_wrong_epoch_is_refused(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(InputError) as caught:
        manifest_of()
    assert caught.value.message == "SOURCE_DATE_EPOCH is 'yesterday'"
    assert "date +%s" in caught.value.hint


def test_written_and_read_back(tmp_path, manifest):
    folder = tmp_path / "deep" / "out"
    assert write_manifest(folder, manifest, parquet=True) == ()
    assert sorted(path.name for path in folder.iterdir()) == [
        ".gitattributes",
        "README.md",
        "assignments.csv",
        "assignments.parquet",
        "manifest.json",
    ]
    back = read_manifest(folder)
    assert back.assignments.equals(manifest.assignments)
    assert back.balance == manifest.balance
    assert read_manifest(folder / "manifest.json").digest == manifest.digest
    text = (folder / "assignments.csv").read_bytes()
    rows = list(csv.reader(text.decode().splitlines()))
    assert rows[0] == ["item", "subject", "split"]
    assert rows[1:] == sorted(rows[1:], key=lambda row: row[0].encode())
    assert b"\r" not in text
    assert b'"' not in text
    assert pq.read_table(folder / "assignments.parquet").cast(manifest.assignments.schema).equals(manifest.assignments)
    document = (folder / "manifest.json").read_text("utf-8")
    assert document == dump_document(json.loads(document))
    assert '"items": [' in document
    assert "*.csv text eol=lf" in (folder / ".gitattributes").read_text()


def test_the_same_rows_in_another_order_give_the_same_files(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    items = items_of()
    backwards = replace(items, table=items.table.take(list(range(len(items)))[::-1]))
    write_manifest(tmp_path / "a", manifest_of(items))
    write_manifest(tmp_path / "b", manifest_of(backwards))
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_frames(tmp_path, manifest):
    write_manifest(tmp_path / "out", manifest)
    back = read_manifest(tmp_path / "out")
    frames = [back.frame(split) for split in back.splits]
    assert [len(frame) for frame in frames] == [back.document["counts"][name]["items"] for name in back.splits]
    assert len(back.frame()) == 72
    assert list(frames[0].columns) == ["item", "subject", "split"]
    assert back.splits_by_item()["img/00000.jpg"] in back.splits
    with pytest.raises(InputError) as caught:
        back.frame("tset")
    assert "there is no split 'tset'" in caught.value.message
    assert "did you mean 'test'?" in caught.value.hint


def test_a_row_a_subject_where_the_card_says_so(tmp_path):
    card = replace(load_card("raf-db"), rows="subject")
    manifest = manifest_of(items_of(card=card, dataset="raf-db"))
    assert manifest.level == "subject"
    assert manifest.assignments.column_names == ["subject", "split"]
    assert manifest.assignments.num_rows == 12
    assert sum(count["items"] for count in manifest.document["counts"].values()) == 72
    write_manifest(tmp_path / "out", manifest)
    assert (tmp_path / "out" / "assignments.csv").read_text().splitlines()[:2] == [
        "subject,split",
        f"P000,{manifest.assignments['split'][0]}",
    ]
    back = read_manifest(tmp_path / "out")
    assert back.assignments.equals(manifest.assignments)
    with pytest.raises(InputError) as caught:
        back.splits_by_item()
    assert "lists subjects and not items" in caught.value.message
    assert "protoctl extend" in caught.value.hint


def test_an_item_without_a_subject_keeps_its_own_row():
    card = replace(load_card("raf-db"), rows="subject")
    items = items_of(card=card, dataset="raf-db")
    table = items.table
    subjects = [None, *table["subject"].to_pylist()[1:]]
    table = table.set_column(1, "subject", pa.array(subjects))
    manifest = manifest_of(replace(items, table=table))
    assert manifest.level == "item"
    assert manifest.assignments["subject"].null_count == 1


def test_a_single_split(manifest):
    document = json.loads(json.dumps(manifest.document))
    document["protocol"]["splits"] = [{"name": "mini", "role": "subset"}]
    document["protocol"]["ratios"] = {"mini": 1}
    document["counts"] = {"mini": {"items": 72, "subjects": 12}}
    document["balance"] |= {"splits": ["mini"], "ratios": [1], "categories": document["balance"]["categories"][:1]}
    document["balance"]["categories"][0] |= {"items": [72], "units": [12]}
    assert replace(manifest, document=document).splits == ("mini",)
    assert replace(manifest, document=document).balance.rows[0].items == (72,)


def test_quoted_ids_are_written_where_that_is_asked_for(tmp_path):
    items = items_of()
    names = ['a,"b".jpg', *items.table["item"].to_pylist()[1:]]
    items = replace(items, table=items.table.set_column(0, "item", pa.array(names)))
    with pytest.raises(InputError, match="holds a comma"):
        manifest_of(items)
    manifest = manifest_of(items, quoted=True)
    write_manifest(tmp_path / "out", manifest)
    assert read_manifest(tmp_path / "out").digest == manifest.digest
    assert "printf" not in (tmp_path / "out" / "README.md").read_text()
    rows = list(csv.reader((tmp_path / "out" / "assignments.csv").read_text().splitlines()))
    assert rows[1][0] == 'a,"b".jpg'


def test_an_existing_folder_is_refused(tmp_path, manifest):
    write_manifest(tmp_path / "out", manifest)
    with pytest.raises(InputError) as caught:
        write_manifest(tmp_path / "out", manifest)
    assert "out exists already" in caught.value.message
    assert "--force" in caught.value.hint
    other = manifest_of(seed=1)
    assert write_manifest(tmp_path / "out", other, force=True) == ()
    assert read_manifest(tmp_path / "out").digest == other.digest
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_force_spares_what_is_not_ours(tmp_path, manifest):
    write_manifest(tmp_path / "out", manifest)
    (tmp_path / "out" / "thesis.tex").write_text("three years")
    with pytest.raises(InputError) as caught:
        refuse_folder(tmp_path / "out", force=True)
    assert "thesis.tex" in caught.value.message
    assert "move those files away" in caught.value.hint
    (tmp_path / "out" / "thesis.tex").unlink()
    (tmp_path / "out.bak").mkdir()
    with pytest.raises(InputError) as caught:
        refuse_folder(tmp_path / "out", force=True)
    assert "out.bak exists" in caught.value.message
    assert "move out.bak away" in caught.value.hint
    (tmp_path / "link").symlink_to(tmp_path / "out", target_is_directory=True)
    with pytest.raises(InputError, match="is a link, which --force does not replace"):
        refuse_folder(tmp_path / "link", force=True)
    assert (tmp_path / "out" / "manifest.json").is_file()


def test_a_place_that_cannot_be_written(tmp_path, manifest):
    (tmp_path / "file").write_text("a file")
    with pytest.raises(InputError) as caught:
        write_manifest(tmp_path / "file" / "deep" / "out", manifest)
    assert "cannot be written: file is a file" in caught.value.message
    assert "--out" in caught.value.hint
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(InputError, match="no permission"):
            write_manifest(tmp_path / "locked" / "out", manifest)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_run_that_ends_early(tmp_path, manifest, monkeypatch, error):
    def full(*_):
        raise error

    monkeypatch.setattr("protoctl.manifests.files.render_readme", full)
    expected = InputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        write_manifest(tmp_path / "a" / "b", manifest)
    if isinstance(error, OSError):
        assert "cannot be written: No space left on device" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_put_in_order_and_said(tmp_path, manifest):
    new = manifest_of(seed=1)
    out, backup, marker = tmp_path / "out", tmp_path / "out.bak", tmp_path / ".out.replacing"
    write_manifest(out, manifest)
    write_manifest(tmp_path / "new", new)

    (tmp_path / ".out.x.partial").mkdir()
    (tmp_path / ".out.x.partial" / "assignments.csv").write_text("item,sub")
    with pytest.raises(InputError, match="exists already"):
        refuse_folder(out)
    assert not (tmp_path / ".out.x.partial").exists()

    (tmp_path / ".out.x.partial").mkdir()
    assert refuse_folder(out, force=True) == (
        f"an earlier run was interrupted while it wrote: its rest is removed, {out} is as it was",
    )

    marker.write_text(folders_module._state(tmp_path / "new"))
    out.rename(backup)
    notes = refuse_folder(out, force=True)
    assert notes == (f"an earlier run was interrupted: the former one was in out.bak, and is in {out} again",)
    assert read_manifest(out).digest == manifest.digest
    assert not marker.exists()

    marker.write_text(folders_module._state(tmp_path / "new"))
    out.rename(backup)
    (tmp_path / "new").rename(out)
    notes = refuse_folder(out, force=True)
    assert notes == (
        f"an earlier run was interrupted while it replaced {out}, which holds the new one, whole",
        "out.bak, the former one, is removed",
    )
    assert read_manifest(out).digest == new.digest
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_two_runs_at_once(tmp_path, manifest):
    def meanwhile(partial):
        with pytest.raises(InputError, match="another run is writing"):
            write_manifest(tmp_path / "out", manifest)
        (partial / "manifest.json").write_text("{}")

    folders_module.fill_folder(tmp_path / "out", meanwhile)
    assert (tmp_path / "out" / "manifest.json").read_text() == "{}"


def damage(folder, name, old, new):
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


DAMAGED = {
    "later format": ("manifest.json", "protoctl-manifest/1", "protoctl-manifest/2", "is of format protoctl-manifest/2"),
    "no manifest": ("manifest.json", "protoctl-manifest/1", "datapackage", "is no manifest"),
    "cut": ("manifest.json", "\n}\n", "\n", "is not JSON"),
    "twice": ("manifest.json", '"replica": false', '"replica": false, "replica": true', "key 'replica' stands twice"),
    "unknown key": ("manifest.json", '"replica": false', '"replica": false, "replcia": 1', "there is no key 'replcia'"),
    "no number": ("manifest.json", '"seed": 0', '"seed": "0"', "$.solver.seed: '0' is not of type 'integer'"),
    "nan": ("manifest.json", '"seed": 0', '"seed": NaN', "NaN is no JSON number"),
    "moved": ("assignments.csv", ",train\n", ",test\n", "does not hold the rows whose digest"),
    "column": ("assignments.csv", "item,subject,split", "item,subject,spilt", "there is no column 'split'"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_cannot_be_read(tmp_path, manifest, name):
    write_manifest(tmp_path / "out", manifest)
    file, old, new, message = DAMAGED[name]
    damage(tmp_path / "out", file, old, new)
    with pytest.raises(InputError) as caught:
        read_manifest(tmp_path / "out")
    assert message in caught.value.message
    if name == "later format":
        assert "python -m pip install --upgrade protoctl" in caught.value.hint


def test_no_manifest_there(tmp_path):
    with pytest.raises(InputError) as caught:
        read_manifest(tmp_path)
    assert "holds no manifest.json" in caught.value.message
    assert "protoctl split" in caught.value.hint
