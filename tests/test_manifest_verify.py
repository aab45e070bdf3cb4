"""Verification: each damage is found, named, and nothing is written."""

import json
import shutil
import unicodedata
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from protoctl.catalog import load_items
from protoctl.errors import InputError
from protoctl.manifests import (
    build_manifest,
    read_manifest,
    verify_folder,
    verify_recomputed,
    verify_root,
    write_manifest,
)
from protoctl.manifests.files import dump_document
from protoctl.partition import balance_of, split_items
from protoctl.protocols import load_protocol, override

FAIR = ("--protocol", "fair-55-15-30")


def people(count=120, subjects=20):
    return pd.DataFrame(
        {
            "item": [f"img/{n:04d}.jpg" for n in range(count)],
            "subject": [f"P{n % subjects:03d}" for n in range(count)],
            "label": [["Anger", "Fear", "Neutral"][n // subjects % 3] for n in range(count)],
            "age": [["20-29", "30-39"][n % subjects % 2] for n in range(count)],
            "gender": [["Female", "Male"][n % subjects // 2 % 2] for n in range(count)],
            "race": ["Asian"] * count,
        }
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "people.csv"
    people().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def made(table):
    partition = split_items(load_items(table), load_protocol("fair-55-15-30"))
    write_manifest(table.parent / "made", build_manifest(partition, balance_of(partition)), parquet=True)
    return table.parent / "made"


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "copy"))


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def edit(folder, change):
    path = folder / "manifest.json"
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(dump_document(document), "utf-8")


def rows(folder, change):
    path = folder / "assignments.csv"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(change(lines)) + "\n", "utf-8")


def flip(folder):
    path = folder / "assignments.csv"
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(bytes(data))


def move_subject(lines):
    name = next(line.split(",")[1] for line in lines if line.endswith(",train"))
    return [line.replace(",train", ",test") if line.split(",")[1] == name else line for line in lines]


def tear_subject(lines):
    at = next(at for at, line in enumerate(lines) if line.endswith(",train"))
    return [*lines[:at], lines[at].replace(",train", ",test"), *lines[at + 1 :]]


def link(folder):
    (folder / "assignments.csv").rename(folder.parent / "elsewhere.csv")
    (folder / "assignments.csv").symlink_to(folder.parent / "elsewhere.csv")


def renamed(item):
    return lambda folder: rows(folder, lambda lines: [lines[0], f"{item},{lines[1].split(',', 1)[1]}", *lines[2:]])


def count(document):
    document["counts"]["train"]["items"] += 1


def cell(document):
    document["balance"]["categories"][1]["items"][0] += 1


DAMAGE = {
    "one flipped byte": (flip, ["level 1", "assignments.csv: has other bytes than those whose digest is stated"]),
    "one missing row": (
        lambda folder: rows(folder, lambda lines: lines[:-1]),
        ["assignments.csv: holds 119 rows where 120 are stated", "its rows have the digest sha256:"],
    ),
    "a moved subject": (
        lambda folder: rows(folder, move_subject),
        ["its rows have the digest", "$.counts.train.items: says"],
    ),
    "a torn subject": (lambda folder: rows(folder, tear_subject), ["is in 2 splits: test, train"]),
    "a duplicated row": (
        lambda folder: rows(folder, lambda lines: [*lines, lines[5]]),
        ["assignments.csv:122, column item: item 'img/0004.jpg' stands twice (first: assignments.csv:6"],
    ),
    "a truncated file": (
        lambda folder: (folder / "assignments.csv").write_bytes((folder / "assignments.csv").read_bytes()[:1000]),
        ["has 1,000 bytes where"],
    ),
    "a truncated manifest": (
        lambda folder: (folder / "manifest.json").write_text((folder / "manifest.json").read_text()[:800]),
        ["manifest.json:", "is not JSON", "it may be cut short"],
    ),
    "an absent file": (
        lambda folder: (folder / "assignments.parquet").unlink(),
        ["assignments.parquet: is absent"],
    ),
    "a symbolic link": (link, ["assignments.csv: is a symbolic link"]),
    "an item above": (
        renamed("../../x"),
        ["assignments.csv:2, column item: '../../x' has '..' in its path"],
    ),
    "an item of a drive": (renamed("C:\\x"), ["'C:\\\\x' begins with a drive letter"]),
    "an unknown split": (
        lambda folder: rows(folder, lambda lines: [line.replace(",valid", ",vaild") for line in lines]),
        ["rows are in split 'vaild', which is unknown"],
    ),
    "a later format": (
        lambda folder: edit(folder, lambda document: document.update(format="protoctl-manifest/3")),
        ["is of format protoctl-manifest/3", "python -m pip install --upgrade protoctl"],
    ),
    "an edited count": (lambda folder: edit(folder, count), ["$.counts.train.items: says", "and the rows hold"]),
    "an edited category": (
        lambda folder: edit(folder, cell),
        ["the categories of label in train add up to", "$.balance.categories[1].shares: says"],
    ),
    "an edited figure": (
        lambda folder: edit(folder, lambda document: document["balance"].update(mean_pp=0.001)),
        ["$.balance.mean_pp: says 0.001, and the counts give"],
    ),
    "an edited protocol": (
        lambda folder: edit(folder, lambda document: document["protocol"]["document"].update(name="mine")),
        ["$.protocol.digest: is not the digest of $.protocol.document"],
    ),
    "an edited ratio": (
        lambda folder: edit(folder, lambda document: document["protocol"]["ratios"].update(dev=3)),
        ["$.protocol.ratios: names dev, test, train, valid where $.protocol.splits names test, train, valid"],
    ),
    "a key of nobody": (
        lambda folder: edit(folder, lambda document: document.update(sede=3)),
        ["manifest.json $: there is no key 'sede'"],
    ),
    "rows in another order": (
        lambda folder: rows(folder, lambda lines: [lines[0], *lines[:0:-1]]),
        ["its rows are not sorted by bytes"],
    ),
}


def test_a_whole_one_holds(protoctl, folder):
    run = protoctl("verify", folder)
    assert run.code == 0, run.err
    assert f"holds: {read_manifest(folder).digest}" in run.out
    assert "unseen   each category's count" in run.out
    assert protoctl("verify", folder / "manifest.json", "--json").json["passed"] is True


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_and_named(protoctl, folder, name):
    damage, messages = DAMAGE[name]
    damage(folder)
    before = state(folder)
    run = protoctl("verify", folder)
    assert run.code == 5
    for message in messages:
        assert message in run.out
    assert "does not verify" in run.err
    assert state(folder) == before
    assert "Traceback" not in run.err


def test_every_finding_is_named(folder):
    flip(folder)
    edit(folder, count)
    edit(folder, cell)
    found = verify_folder(folder)
    assert {fault.level for fault in found.faults} == {1, 2}
    assert len(found.faults) >= 4
    assert found.to_json()["faults"][0]["level"] == 1


def test_what_is_no_manifest_at_all_is_refused(tmp_path):
    for place, message in ((tmp_path / "none", "no such file"), (tmp_path, "holds no manifest.json")):
        with pytest.raises(InputError, match=message) as caught:
            verify_folder(place)
        assert "folder" in caught.value.hint


@pytest.fixture
def disk(tmp_path):
    root = tmp_path / "data"
    (root / "img").mkdir(parents=True)
    for item in people()["item"]:
        (root / item).write_bytes(b"")
    return root


def faults(folder, root):
    found = verify_folder(folder)
    verify_root(found, root)
    return {str(fault) for fault in found.faults}


def test_files_on_disk(folder, disk):
    (disk / "img" / "notes.txt").write_text("not an item's ending")
    assert faults(folder, disk) == set()
    (disk / "img/0000.jpg").unlink()
    (disk / "img/0001.jpg").rename(disk / "img/0001.JPG")
    (disk / "img/extra.jpg").write_bytes(b"")
    (disk / "img/0002.jpg").unlink()
    (disk / "img/0002.jpg").symlink_to("/etc/hostname")
    assert faults(folder, disk) == {
        "img/0000.jpg: is absent",
        "img/0001.jpg: is 'img/0001.JPG' on disk: the names differ in case",
        "img/0002.jpg: is a symbolic link that leads out of the folder",
        "img/extra.jpg: is on disk and not in the manifest",
    }


def test_names_in_another_unicode_form(tmp_path):
    root = tmp_path / "data"
    root.mkdir()
    frame = people(6, 6)
    frame["item"] = [f"é{n}.jpg" for n in range(6)]
    frame.to_csv(tmp_path / "people.csv", index=False)
    partition = split_items(load_items(tmp_path / "people.csv"), load_protocol("fair-55-15-30"))
    write_manifest(tmp_path / "made", build_manifest(partition, balance_of(partition)))
    for n, item in enumerate(frame["item"]):
        (root / (unicodedata.normalize("NFD", item) if n == 2 else item)).write_bytes(b"")
    assert faults(tmp_path / "made", root) == {
        "é2.jpg: has its name in another Unicode form or with other separators on disk"
    }


def test_many_absent_files_are_counted(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    found = faults(folder, tmp_path / "empty")
    assert len(found) == 51
    assert any("as 70 more from here on" in fault for fault in found)


def test_a_changed_source(folder, table, tmp_path):
    (tmp_path / "src").mkdir()
    shutil.copy(table, tmp_path / "src" / "people.csv")
    assert faults(folder, tmp_path / "src" / "people.csv") == set()
    with (tmp_path / "src" / "people.csv").open("a") as stream:
        stream.write("\n")
    assert faults(folder, tmp_path / "src" / "people.csv") == {
        "people.csv: is not the file that items were read from: its digest differs"
    }


def test_recomputed(protoctl, folder, table):
    run = protoctl("verify", folder, "--recompute", "--root", table)
    assert run.code == 0, run.out
    assert "checked  the rows and counts against a partition computed anew" in run.out


def test_recomputed_from_other_items_or_by_another_protocol(folder, table, tmp_path):
    frame = people()
    frame.loc[0, "label"] = "Neutral"
    frame.to_csv(tmp_path / "people.csv", index=False)
    found = verify_folder(folder)
    rules = load_protocol("fair-55-15-30")
    verify_recomputed(found, load_items(tmp_path / "people.csv"), rules)
    text = "\n".join(str(fault) for fault in found.faults)
    assert "$.dataset.items_digest: is not that of the items at hand" in text
    assert "$.balance.categories[" in text
    other = verify_folder(folder)
    verify_recomputed(other, load_items(table), replace(rules, document={"name": "mine"}))
    assert "is not the one that people-fair-55-15-30@1.0.0 keeps" in str(other.faults[0])


def test_recomputed_with_another_seed_in_the_document(folder, table):
    edit(folder, lambda document: document["solver"].update(seed=5))
    found = verify_folder(folder)
    verify_recomputed(found, load_items(table), load_protocol("fair-55-15-30"))
    assert "gives other rows from the same items" in "\n".join(str(fault) for fault in found.faults)


def test_overrides_and_folds_are_recomputed(table, tmp_path):
    rules = override(load_protocol("fair-55-15-30"), stratify=("age", "gender"))
    partition = split_items(load_items(table), rules, folds=3, seed=4)
    write_manifest(tmp_path / "folds", build_manifest(partition, balance_of(partition)))
    found = verify_folder(tmp_path / "folds")
    assert found.manifest.name == "people-fair-55-15-30-3-folds"
    verify_recomputed(found, load_items(table), load_protocol("fair-55-15-30"))
    assert [str(fault) for fault in found.faults] == []
