import pytest

from protoctl.catalog import load_items, reconcile
from protoctl.errors import InputError

HEAD = "file,age,gender,race,service_test\n"


def written(folder, text, name="fairface_label_train.csv"):
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_the_train_file_agrees_with_every_published_count(real):
    items = load_items("fairface", root=real / "fairface_label_train.csv")
    assert len(items) == 86_744
    counts = reconcile(items)
    assert len(counts) == 21
    assert all(found == published for _, found, published in counts)
    assert items.attributes == ("age", "gender", "race", "service_test")
    assert items.report.warnings == ()
    assert items.report.notes == ("all 21 published counts agree",)


def test_both_files_of_a_folder_are_read_and_prefixes_cut(real):
    items = load_items("fairface", root=real)
    assert len(items) == 97_698
    assert [source.path for source in items.sources] == [
        "fairface_label_train.csv",
        "fairface_label_val__prefixed.csv",
    ]
    assert "val/1.jpg" in items.table["item"].to_pylist()
    assert any("are cut off 10,954 names" in note for note in items.report.notes)


def test_a_copy_that_a_spreadsheet_damaged_is_the_same_with_a_warning(real, tmp_path):
    text = (real / "fairface_label_train.csv").read_text()
    damaged = text.replace(",3-9,", ",9-Mar,").replace(",10-19,", ",19-Oct,").replace("True", "TRUE")
    path = written(tmp_path, damaged.replace("False", "FALSE").replace("\n", "\r\n"))
    items = load_items("fairface", root=path)
    assert items.table.equals(load_items("fairface", root=real / "fairface_label_train.csv").table)
    warnings = " ".join(items.report.warnings)
    assert "'9-Mar' is a date that a spreadsheet program made of an age group; read as 03-09 (rows: 10,408)" in warnings
    assert "read as 10-19 (rows: 9,103)" in warnings
    assert "service_test holds FALSE, TRUE" in warnings


@pytest.mark.parametrize(("date", "group"), [("03-Sep", "03-09"), ("Oct-19", "10-19"), ("9-Mar", "03-09")])
def test_dates_of_either_order_are_repaired(tmp_path, date, group):
    items = load_items("fairface", root=written(tmp_path, f"{HEAD}train/1.jpg,{date},Male,Black,True\n"))
    assert items.table["age"].to_pylist() == [group]


def test_values_that_mean_nothing_are_refused_together_with_their_places(tmp_path):
    rows = "train/1.jpg,70+,Male,Black,True\ntrain/2.jpg,3-9,male,Martian,False\n"
    with pytest.raises(InputError) as refusal:
        load_items("fairface", root=written(tmp_path, HEAD + rows))
    assert "fairface_label_train.csv:2, column age: '70+' is none of the known values" in refusal.value.message
    assert "fairface_label_train.csv:3, column gender: 'male'" in refusal.value.message
    assert "fairface_label_train.csv:3, column race: 'Martian'" in refusal.value.message
    assert "more than 70" in str(refusal.value.hint)


def test_a_column_that_is_missing_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no column 'race'") as refusal:
        load_items("fairface", root=written(tmp_path, "file,age,gender,rase\ntrain/1.jpg,3-9,Male,Black\n"))
    assert "did you mean 'rase'?" in str(refusal.value.hint)
