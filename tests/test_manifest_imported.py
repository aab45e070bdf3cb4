"""Splits that exist already, as others write them."""

import pandas as pd
import pytest

from protoctl.errors import InputError
from protoctl.manifests import imported_items, imported_manifest, read_splits
from protoctl.partition import balance_of, given_partition
from protoctl.protocols import load_protocol

ROWS = {"train": ["a/00012.jpg", "a/NA.jpg"], "valid": ["b/1.jpg"], "test": ["c,d.jpg", "c/2.jpg"]}


def splits(path, columns=None):
    table = read_splits(path, columns).table
    pairs = zip(table["split"].to_pylist(), table["item"].to_pylist(), strict=True)
    found = {}
    for split, item in pairs:
        found.setdefault(split, []).append(item)
    return found


def quoted(names):
    return "".join(f'"{name}",3\n' if "," in name else f"{name},3\n" for name in names)


def test_a_file_a_split(tmp_path):
    for split, other in (("train", "Train"), ("valid", "dev"), ("test", "test_set")):
        (tmp_path / f"{other}.csv").write_text("file_name,label\n" + quoted(ROWS[split]))
    (tmp_path / "notes.md").write_text("not a split")
    assert splits(tmp_path) == ROWS
    manifest = imported_manifest(tmp_path)
    assert manifest.splits == ("train", "valid", "test")
    assert manifest.document["counts"]["test"] == {"items": 2, "subjects": 0}
    assert manifest.document["protocol"]["name"] == "imported"


@pytest.mark.parametrize(("mark", "label"), [("", ""), (" ", "5"), ("\t", "x y"), (",", "Fear")])
def test_lists_of_names(tmp_path, mark, label):
    for split in ("train", "test"):
        names = [name.replace(",", "_") for name in ROWS[split]]
        (tmp_path / f"{split}.txt").write_text("".join(f"{name}{mark}{label}\n" for name in names))
    assert splits(tmp_path) == {"train": ROWS["train"], "test": ["c_d.jpg", "c/2.jpg"]}


def test_names_with_blanks_stay_whole(tmp_path):
    for split in ("train", "test"):
        (tmp_path / f"{split}.txt").write_text(f"{split} one.jpg\n{split} two.jpg\n")
    assert splits(tmp_path) == {split: [f"{split} one.jpg", f"{split} two.jpg"] for split in ("train", "test")}


def test_a_column_named_split(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("image,usage,person\n1.jpg,Training,A\n2.jpg,Validation,B\n3.jpg,extra,C\n4.jpg,,D\n")
    assert splits(path) == {"train": ["1.jpg"], "valid": ["2.jpg"], "extra": ["3.jpg"], "": ["4.jpg"]}
    manifest = imported_manifest(path)
    assert manifest.splits == ("train", "valid", "extra")
    assert manifest.assignments["subject"].to_pylist() == ["A", "B", "C"]
    other = tmp_path / "other.csv"
    other.write_text("who,where\n1.jpg,train\n2.jpg,test\n")
    assert splits(other, {"item": "who", "split": "where"}) == {"train": ["1.jpg"], "test": ["2.jpg"]}


CARD = """---
configs:
- config_name: other
  data_files: [{split: train, path: nothing.csv}]
- config_name: default
  data_files:
  - {split: train, path: "data/train-*.csv"}
  - {split: validation, path: [data/val.csv]}
---
# A card
"""


def test_a_card_of_the_hub(tmp_path):
    (tmp_path / "data").mkdir()
    for name, rows in (("train-0", "1.jpg\n"), ("train-1", "2.jpg\n"), ("val", "3.jpg\n")):
        (tmp_path / "data" / f"{name}.csv").write_text("image\n" + rows)
    (tmp_path / "README.md").write_text(CARD)
    assert splits(tmp_path) == {"train": ["1.jpg", "2.jpg"], "valid": ["3.jpg"]}
    assert splits(tmp_path / "README.md") == splits(tmp_path)
    (tmp_path / "README.md").write_text(CARD.replace("data/val.csv", "../val.csv"))
    with pytest.raises(InputError, match="leads out of the folder"):
        read_splits(tmp_path)
    (tmp_path / "README.md").write_text(CARD.replace("data/val.csv", "data/none.csv"))
    with pytest.raises(InputError, match="files for valid that are absent"):
        read_splits(tmp_path)


def test_what_is_no_split_is_refused(tmp_path):
    (tmp_path / "train.csv").write_text("item\na.jpg\n")
    with pytest.raises(InputError) as caught:
        read_splits(tmp_path)
    assert "holds no manifest, no train.csv and test.csv, and no card" in caught.value.message
    assert "column 'split'" in caught.value.hint
    path = tmp_path / "rows.csv"
    path.write_text("item,spilt\na.jpg,train\n")
    with pytest.raises(InputError) as caught:
        read_splits(path)
    assert "there is no column 'split'" in caught.value.message
    assert "did you mean 'spilt'?" in caught.value.hint
    path.write_text("who,split\na.jpg,train\n")
    with pytest.raises(InputError) as caught:
        read_splits(path)
    assert "there is no column 'item'; there are: who, split" in caught.value.message
    with pytest.raises(InputError, match="no such file or folder"):
        read_splits(tmp_path / "none")
    (tmp_path / "val.csv").write_text("item\nb.jpg\n")
    (tmp_path / "dev.csv").write_text("item\nb.jpg\n")
    with pytest.raises(InputError, match=r"dev\.csv, val\.csv are all valid"):
        read_splits(tmp_path)


def test_an_item_in_two_splits_is_named(tmp_path):
    (tmp_path / "train.csv").write_text("item\na.jpg\nb.jpg\n")
    (tmp_path / "test.csv").write_text("item\nb.jpg\n")
    with pytest.raises(InputError, match=r"item 'b\.jpg' stands twice"):
        imported_manifest(tmp_path)


def test_its_items_are_held_against_a_protocol(tmp_path):
    frame = pd.DataFrame(
        {
            "name": [f"{n}.jpg" for n in range(100)],
            "expression": ["Fear", "Anger"] * 50,
            "age": "20-29",
            "gender": ["Female", "Male"] * 50,
            "race": "",
        }
    )
    frame.loc[0, "race"] = "Asian"
    for name, part in (("train", frame[:55]), ("valid", frame[55:70]), ("test", frame[70:])):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    items = imported_items(tmp_path)
    assert items.labels == ("label",)
    assert items.attributes == ("age", "gender", "race")
    assert items.table["race"].null_count == 99
    balance = balance_of(given_partition(items, load_protocol("fair-55-15-30")))
    assert balance.rows[0].items == (55, 15, 30)
    assert next(row for row in balance.rows if row.value == "Fear").items == (28, 7, 15)
