import pytest

from protoctl.catalog import load_items, reconcile
from protoctl.errors import InputError


@pytest.fixture(autouse=True)
def _no_data(monkeypatch):
    monkeypatch.delenv("PROTOCTL_DATA", raising=False)


def names(folder, *lines):
    path = folder / "names.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


GOOD = ("24_0_1_20170116220224657.jpg", "25_1_0_20170116220224657.jpg.chip.jpg")


def test_a_dataset_without_data_and_replica_says_how_to_obtain_it():
    with pytest.raises(InputError, match="no files of UTKFace are named") as refusal:
        load_items("utkface")
    assert "susanqq.github.io/UTKFace" in str(refusal.value.hint)
    assert "--root" in str(refusal.value.hint)


def test_a_root_that_does_not_exist_is_no_reason_for_a_replica(tmp_path):
    names(tmp_path, *GOOD)
    with pytest.raises(InputError, match="there is no such file or folder") as refusal:
        load_items("affectnet", root=tmp_path / "name.txt")
    assert "names.txt" in str(refusal.value.hint)


def test_the_variable_names_a_folder_with_an_entry_a_dataset(tmp_path, monkeypatch):
    monkeypatch.setenv("PROTOCTL_DATA", str(tmp_path))
    (tmp_path / "UTK_Face").mkdir()
    for name in GOOD:
        (tmp_path / "UTK_Face" / name).touch()
    items = load_items("utkface")
    assert items.table["item"].to_pylist() == sorted(GOOD)
    replica = load_items("raf-db")
    assert replica.replica
    assert "has no entry raf-db" in replica.report.notes[1]


def test_a_variable_that_names_no_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PROTOCTL_DATA", str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"PROTOCTL_DATA names .* which is no folder") as refusal:
        load_items("affectnet")
    assert "--root" in str(refusal.value.hint)


def test_a_name_that_is_neither_dataset_nor_file_gets_the_close_match():
    with pytest.raises(InputError, match="there is no dataset 'affectnt'") as refusal:
        load_items("affectnt")
    assert "did you mean 'affectnet'?" in str(refusal.value.hint)


def test_a_path_that_does_not_exist_gets_the_close_match(tmp_path):
    (tmp_path / "items.csv").write_text("item,label\na,b\n")
    with pytest.raises(InputError, match="there is no such file") as refusal:
        load_items(tmp_path / "itens.csv")
    assert "items.csv" in str(refusal.value.hint)
    with pytest.raises(InputError, match="there is no such file") as refusal:
        load_items(tmp_path / "affectnet.csv")
    assert "dataset 'affectnet'" in str(refusal.value.hint)


def test_a_folder_is_no_dataset(tmp_path):
    with pytest.raises(InputError, match="is a folder") as refusal:
        load_items(tmp_path)
    assert "--root" in str(refusal.value.hint)


def test_options_that_do_not_belong_together_are_refused(tmp_path):
    path = names(tmp_path, *GOOD)
    with pytest.raises(InputError, match="its columns cannot be named") as refusal:
        load_items("utkface", root=path, columns={"item": "name"})
    assert "leave the options for columns out" in str(refusal.value.hint)
    table = tmp_path / "items.csv"
    table.write_text("item\na\n")
    with pytest.raises(InputError, match="--root belongs to a dataset's name") as refusal:
        load_items(table, root=tmp_path)
    assert "leave --root out" in str(refusal.value.hint)


def test_published_counts_are_reported_and_never_enforced(tmp_path):
    items = load_items("utkface", root=names(tmp_path, *GOOD))
    assert reconcile(items)[0] == ("items", 2, 23_708)
    notes = " ".join(items.report.notes)
    assert "3 of 3 published counts differ: items 2 where 23,708 are published" in notes


def test_a_plain_table_has_nothing_to_reconcile(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("item,label\na.jpg,Fear\n")
    assert reconcile(load_items(path)) == []


def test_a_root_without_a_known_layout_says_what_is_there(tmp_path):
    (tmp_path / "readme.md").touch()
    for name in ("affectnet", "raf-db", "adience", "fairface", "casual-conversations"):
        with pytest.raises(InputError, match=r"Looked for: .* Found: readme\.md") as refusal:
            load_items(name, root=tmp_path)
        assert "protoctl split items.csv" in str(refusal.value.hint)


def test_sources_are_named_from_the_root_down_with_their_digests(tmp_path):
    (source,) = load_items("utkface", root=names(tmp_path, *GOOD)).sources
    assert (source.path, source.role, source.rows) == ("names.txt", "items", 2)
    assert source.digest.startswith("sha256:")
