import pytest

from protoctl.catalog import load_items, replica_items
from protoctl.errors import InputError

LANDMARKS = "101.5\t140.0\n152.25 139.5\n127.0\t170.75\n105.0\t199.0\n150.5 198.25\n"
ATTRIBUTES = {
    "train_00001": "1\n0\n2\n",
    "train_00002": "0\n1\n0 \n",
    "test_0001": "2\n2\n4",
}
LIST = "train_00001.jpg 5\ntrain_00002.jpg 4 \ntest_0001.jpg 7\ntest_0002.jpg 1\n"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "basic/EmoLabel").mkdir(parents=True)
    (tmp_path / "basic/EmoLabel/list_patition_label.txt").write_text(LIST)
    manual = tmp_path / "basic/Annotation/manual"
    manual.mkdir(parents=True)
    for name, text in ATTRIBUTES.items():
        (manual / f"{name}_manu_attri.txt").write_text(LANDMARKS + text)
    return tmp_path


def test_labels_attributes_and_splits(root):
    items = load_items("RAF-DB", root=root)
    assert items.table.to_pydict() == {
        "item": ["train_00001.jpg", "train_00002.jpg", "test_0001.jpg", "test_0002.jpg"],
        "label": ["Sadness", "Happiness", "Neutral", "Surprise"],
        "gender": ["Female", "Male", None, None],
        "race": ["White", "Black", "Asian", None],
        "age": ["20-39", "00-03", "70+", None],
        "annotation": ["manual"] * 4,
        "split_released": ["train", "train", "test", "test"],
    }
    assert items.labels == ("label",)
    assert not items.replica


def test_unsure_and_absent_files_are_missing_and_counted(root):
    report = load_items("raf-db", root=root).report
    assert report.missing == {
        "gender": {"2": 1, "no attribute file": 1},
        "race": {"no attribute file": 1},
        "age": {"no attribute file": 1},
    }
    assert any("1 (the first is test_0002_manu_attri.txt)" in warning for warning in report.warnings)


def test_the_root_may_be_the_inner_folder_or_the_list_itself(root):
    wanted = load_items("raf-db", root=root).table
    for place in (root / "basic", root / "basic/EmoLabel/list_patition_label.txt"):
        assert load_items("raf-db", root=place).table.equals(wanted)


def test_a_digest_covers_the_attribute_files(root):
    before = {source.path: source for source in load_items("raf-db", root=root).sources}
    folder = before["basic/Annotation/manual"]
    assert (folder.role, folder.rows) == ("attributes", 3)
    (root / "basic/Annotation/manual/test_0001_manu_attri.txt").write_text(LANDMARKS + "1\n2\n4\n")
    after = {source.path: source for source in load_items("raf-db", root=root).sources}
    assert after["basic/Annotation/manual"].digest != folder.digest


def test_without_attribute_files_there_are_no_attributes(root):
    (root / "basic/Annotation/manual").rename(root / "elsewhere")
    items = load_items("raf-db", root=root)
    assert items.attributes == ()
    assert "no age, gender and race" in items.report.warnings[0]


def test_what_is_wrong_is_refused_together(root):
    manual = root / "basic/Annotation/manual"
    (manual / "train_00001_manu_attri.txt").write_text(LANDMARKS + "1\n0\n")
    (manual / "train_00002_manu_attri.txt").write_text(LANDMARKS + "1\n3\n0\n")
    (root / "basic/EmoLabel/list_patition_label.txt").write_text(LIST + "train_00003.jpg 8\nval_0001.jpg 1\nx\n")
    with pytest.raises(InputError) as refusal:
        load_items("raf-db", root=root)
    for text in (
        "list_patition_label.txt:6: 'val_0001.jpg' is no name of RAF-DB",
        "list_patition_label.txt:7: 'x' is not a name and a code",
        "list_patition_label.txt:5, column label: '8' is none of the known values",
        "train_00001_manu_attri.txt: 7 lines where there are 8",
        "train_00002_manu_attri.txt:7, race: '3' is none of the known codes",
    ):
        assert text in refusal.value.message
    assert "train_00001.jpg" in str(refusal.value.hint)


def test_the_replica_has_the_categories_of_the_release(root):
    replica, items = replica_items("raf-db"), load_items("raf-db", root=root)
    assert set(items.table.column_names) - {"split_released"} == set(replica.table.column_names)
    card = replica.card
    for name in ("age", "gender", "race"):
        assert set(replica.table[name].to_pylist()) - {None} == set(card.attributes[name].categories)
