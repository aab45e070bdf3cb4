import csv
from collections import Counter

import pytest

from protoctl.catalog import load_items
from protoctl.catalog.utkface import name_fields
from protoctl.errors import InputError
from protoctl.scales import AGE_GROUPS

LEFT_OUT = {
    "39_1_20170116174525125.jpg.chip.jpg": "lacks its gender or race",
    "61_1_20170109142408075.jpg": "lacks its gender or race",
    "61_3_20170109150557335.jpg": "lacks its gender or race",
    "53__0_20170116184028385.jpg": "has an empty gender",
}
TAKEN = {
    "55_0_0_20170116232725357jpg": "lacks the dot before its ending",
    "55_0_0_20170116232725357jpg.chip.jpg": "lacks the dot before its ending",
    "24_0_1_20170116220224657 .jpg": "has a blank before its ending",
    "14_0_0_2017011022340900.jpg": "has a timestamp of 16 digits and not 17",
    "28_1_2_201701161846515488.jpg": "has a timestamp of 18 digits and not 17",
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_name_that_lacks_a_field_is_left_out(name):
    assert name_fields(name) == (None, LEFT_OUT[name])


@pytest.mark.parametrize("name", TAKEN)
def test_odd_punctuation_and_stamps_are_taken_and_said(name):
    fields, oddity = name_fields(name)
    assert fields is not None
    assert oddity == TAKEN[name]


def test_good_names_have_nothing_odd():
    assert name_fields("1_0_4_20161219140623097.jpg") == (("1", "Male", "Others"), None)
    assert name_fields("116_1_2_20170112213001988.jpg.chip.jpg") == (("116", "Female", "Asian"), None)
    assert name_fields("999_1_2_20170112213001988.jpg") == (None, "says age 999")
    assert name_fields("20_2_2_20170112213001988.jpg")[1] == "has a gender or race that is no code"


def test_the_real_list_is_read_with_each_odd_name_listed(real):
    items = load_items("utkface", root=real / "utkface_file_names.txt")
    assert items.report.rows_read == 22_105
    assert len(items) == 22_101
    assert sum(items.report.skipped.values()) == 4
    left = [warning for warning in items.report.warnings if warning.endswith(": left out")]
    taken = [warning for warning in items.report.warnings if warning.endswith(": taken")]
    assert (len(left), len(taken), len(items.report.warnings)) == (4, 4, 8)
    assert left[0] == "utkface_file_names.txt:22102: '53__0_20170116184028385.jpg' has an empty gender: left out"


def test_the_cross_table_differs_from_the_printed_one_in_the_three_known_cells(real, published):
    table = load_items("utkface", root=real / "utkface_file_names.txt").table
    groups = AGE_GROUPS["robustness"]
    printed = dict(zip(groups.categories, ("0-18", "19-45", "45-64", "65+"), strict=True))
    rows = zip(*(table[name].to_pylist() for name in ("age", "gender", "race")), strict=True)
    found = Counter(f"age={printed[groups.of(int(age))]};gender={gender};race={race}" for age, gender, race in rows)
    with (published / "capped_counts.csv").open(newline="") as stream:
        counts = {row["cell"]: int(row["count"]) for row in csv.DictReader(stream) if row["database"] == "UTKFace"}
    assert {cell: (found[cell], count) for cell, count in counts.items() if found[cell] != count} == {
        "age=19-45;gender=Male;race=Black": (1500, 1499),
        "age=45-64;gender=Female;race=White": (801, 802),
        "age=65+;gender=Female;race=Others": (7, 10),
    }


def test_a_folder_is_read_with_the_folders_in_it(tmp_path):
    for name in ("part2/24_0_1_20170116220224657 .jpg", "part1/1_0_4_20161219140623097.JPG", "part1/readme.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    items = load_items("utkface", root=tmp_path)
    assert items.table["item"].to_pylist() == [
        "part1/1_0_4_20161219140623097.JPG",
        "part2/24_0_1_20170116220224657 .jpg",
    ]
    assert items.table["age"].to_pylist() == ["1", "24"]


def test_a_landmark_list_is_a_list_of_names(tmp_path):
    path = tmp_path / "landmark_list_part1.txt"
    path.write_text(f"1_0_4_20161219140623097.jpg {' '.join(['10'] * 136)} \n")
    assert load_items("utkface", root=path).table["item"].to_pylist() == ["1_0_4_20161219140623097.jpg"]


def test_a_list_of_other_names_is_no_known_layout(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("cat.jpg\ndog.jpg\n")
    with pytest.raises(InputError, match="holds no layout that is known") as refusal:
        load_items("utkface", root=path)
    assert "plain table" in str(refusal.value.hint)
