import pytest

from protoctl.catalog import join_attributes, load_items, read_plain
from protoctl.errors import InputError

ITEMS = "item,subject,label,gender\n1.jpg,p,Joy,\n2.jpg,q,Fear,m\n3.jpg,p,Fear,f\n"


def written(folder, text, name):
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture
def items(tmp_path):
    return read_plain(written(tmp_path, ITEMS, "items.csv"))


def test_attributes_come_by_item_and_partners_are_counted(items, tmp_path):
    path = written(tmp_path, "item,age\n./2.jpg,30\n9.jpg,40\n3.jpg,NA\n", "ages.csv")
    joined = join_attributes(items, path)
    assert joined.table["age"].to_pylist() == [None, "30", None]
    assert joined.attributes == ("gender", "age")
    assert "items without a row in ages.csv, their age unchanged: 1" in joined.report.warnings
    assert "rows of ages.csv that belong to no item: 1" in joined.report.warnings
    assert joined.report.notes[-1] == "ages.csv adds age by item: 2 of 3 items found"
    assert joined.report.missing["age"] == {"NA": 1}
    assert [(source.path, source.role, source.rows) for source in joined.sources[1:]] == [("ages.csv", "attributes", 3)]


def test_settled_labels_come_by_subject_without_how_they_came_about(items, tmp_path):
    text = (
        "subject,skin_type,skin_type_status,skin_type_share,skin_type_margin,skin_type_stability,skin_type_votes,"
        "skin_type_rule\np,IV,agreed,1.0,1.0,1.0,8,mode\nq,,tie,0.5,0.0,0.4,8,mode\n"
    )
    joined = load_items(tmp_path / "items.csv", attributes=[written(tmp_path, text, "labels.csv")])
    assert joined.attributes == ("gender", "skin_type")
    assert joined.table["skin_type"].to_pylist() == ["IV", None, "IV"]
    assert joined.table["item"].to_pylist() == items.table["item"].to_pylist()


def test_gaps_are_filled_and_contradictions_refused(items, tmp_path):
    filled = join_attributes(items, written(tmp_path, "item,gender\n1.jpg,f\n2.jpg,m\n", "genders.csv"))
    assert filled.table["gender"].to_pylist() == ["f", "m", "f"]
    assert filled.attributes == ("gender",)
    with pytest.raises(InputError, match=r"genders\.csv:3, column gender: 'f' for item '2\.jpg', which has 'm'") as no:
        join_attributes(items, written(tmp_path, "item,gender\n1.jpg,f\n2.jpg,f\n", "genders.csv"))
    assert "correct it" in str(no.value.hint)


def test_a_key_may_stand_twice_only_with_the_same_values(items, tmp_path):
    joined = join_attributes(items, written(tmp_path, "subject,age\np,3\np,3\nq,4\n", "ages.csv"))
    assert joined.table["age"].to_pylist() == ["3", "4", "3"]
    with pytest.raises(InputError, match=r"ages\.csv:3: subject 'p' stands already at ages\.csv:2") as refusal:
        join_attributes(items, written(tmp_path, "subject,age\np,3\np,5\n", "ages.csv"))
    assert refusal.value.hint == "keep one of the two rows"


def test_a_table_that_belongs_to_nobody_is_refused(items, tmp_path):
    with pytest.raises(InputError, match="none of its 1 rows belongs to any of the 3 items") as refusal:
        join_attributes(items, written(tmp_path, "item,age\nx/1.jpg,3\n", "ages.csv"))
    assert "'x/1.jpg'" in str(refusal.value.hint)
    assert "'1.jpg'" in str(refusal.value.hint)


def test_a_key_is_needed(items, tmp_path):
    with pytest.raises(InputError, match="no column item or subject says whose") as refusal:
        join_attributes(items, written(tmp_path, "name,age\n1.jpg,3\n", "ages.csv"))
    assert "There are: name, age" in str(refusal.value.hint)
    with pytest.raises(InputError, match=r"ages\.csv:2, column item: is empty"):
        join_attributes(items, written(tmp_path, "item,age\n,3\n1.jpg,3\n", "ages.csv"))
    with pytest.raises(InputError, match="holds no attribute"):
        join_attributes(items, written(tmp_path, "item\n1.jpg\n", "ages.csv"))


def test_attributes_by_subject_need_subjects(tmp_path):
    items = read_plain(written(tmp_path, "item,label\n1.jpg,Joy\n", "nobody.csv"))
    with pytest.raises(InputError, match="names no subjects") as refusal:
        join_attributes(items, written(tmp_path, "subject,age\np,3\n", "ages.csv"))
    assert refusal.value.hint == "give attributes by item"


def test_columns_can_be_chosen(items, tmp_path):
    path = written(tmp_path, "item,age,race\n1.jpg,3,x\n", "ages.csv")
    assert "race" not in join_attributes(items, path, columns=["age"]).table.column_names
    with pytest.raises(InputError, match="there is no column 'agee'") as refusal:
        join_attributes(items, path, columns=["agee"])
    assert "did you mean 'age'?" in str(refusal.value.hint)
