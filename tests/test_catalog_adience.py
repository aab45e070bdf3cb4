import shutil

import pyarrow.compute as pc
import pytest

from protoctl.catalog import load_items, reconcile
from protoctl.catalog.adience import age_group
from protoctl.errors import InputError

COLUMNS = [
    "user_id", "original_image", "face_id", "age", "gender", "x", "y", "dx", "dy", "tilt_ang", "fiducial_yaw_angle",
    "fiducial_score",
]  # fmt: skip
REST = "10\t414\t1086\t1383\t-115\t30\t17"


def fold(folder, *rows, number=0, name="fold_{}_data.txt", end="\n"):
    path = folder / name.format(number)
    path.write_bytes((end.join(["\t".join(COLUMNS), *rows]) + end).encode())
    return path


@pytest.fixture(scope="module")
def items(real):
    return load_items("adience", root=real / "adience_folds")


def test_rows_duplicates_items_and_persons(items):
    assert items.report.rows_read == 19_487
    assert items.report.skipped == {"row that repeats an earlier one of its item": 117}
    assert len(items) == 19_370
    assert pc.count_distinct(items.table["subject"]).as_py() == 2_284
    assert all(found == published for _, found, published in reconcile(items))
    assert any(
        warning.startswith("rows that repeat an earlier one, left out: 117") for warning in items.report.warnings
    )


def test_items_with_age_and_gender_are_those_of_the_benchmark(items):
    both = items.table.filter(pc.and_(pc.is_valid(items.table["age"]), pc.is_valid(items.table["gender"])))
    assert both.num_rows == 17_452
    assert pc.count_distinct(both["subject"]).as_py() == 2_192
    cells = pc.value_counts(pc.binary_join_element_wise(both["age"], both["gender"], " ")).to_pylist()
    assert len(cells) == 16
    assert sum(min(cell["counts"], 1500) for cell in cells) == 14_919


def test_the_misprint_is_read_as_such_and_reported(items):
    assert any("'(25, 23)' is a misprint of '(25, 32)', read so (rows: 72)" in text for text in items.report.warnings)
    assert any("age 56 lies between two groups: missing (rows: 2)" in text for text in items.report.notes)
    assert items.report.missing == {"age": {"None": 753, "56": 2}, "gender": {"": 784, "u": 1100}}


def test_no_person_crosses_the_released_folds(items):
    pairs = items.table.group_by(["subject", "split_released"]).aggregate([])
    assert pairs.num_rows == 2_284


@pytest.mark.parametrize(
    ("text", "group"),
    [("(0, 2)", "00-02"), ("2", "00-02"), ("3", "04-06"), ("13", "08-13"), ("(8, 23)", "08-13"), ("22", "15-20"),
     ("(27, 32)", "25-32"), ("35", "25-32"), ("32", "25-32"), ("45", "38-43"), ("46", "48-53"), ("55", "48-53"),
     ("57", "60-100"), ("40", "38-43"), ("7", None), ("(1, 99)", None), ("young", None)],
)  # fmt: skip
def test_ages_are_brought_to_the_eight_groups(text, group):
    assert age_group(text) == group


def test_a_row_reads_as_its_path_person_and_fold(tmp_path):
    fold(tmp_path, f"30@N01\tp_o.jpg\t12\t(25, 32)\tf\t{REST}\t", number=3, end="\r\n")
    items = load_items("adience", root=tmp_path)
    assert items.table.to_pylist() == [
        {
            "item": "faces/30@N01/coarse_tilt_aligned_face.12.p_o.jpg",
            "subject": "12",
            "age": "25-32",
            "gender": "Female",
            "split_released": "3",
        }
    ]
    assert "lacks fold_0_data.txt, fold_1_data.txt" in items.report.warnings[0]


def test_frontal_folds_are_read_where_they_are_alone(tmp_path):
    for number in range(5):
        row = f"30@N01\tp{number}.jpg\t{number}\tNone\tu\t{REST}"
        fold(tmp_path, row, number=number, name="fold_frontal_{}_data.txt")
    assert len(load_items("adience", root=tmp_path)) == 5


def test_a_cut_last_row_is_refused(tmp_path, real):
    shutil.copytree(real / "adience_folds", tmp_path / "folds")
    path = tmp_path / "folds" / "fold_2_data.txt"
    path.chmod(0o644)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:30])
    with pytest.raises(InputError, match=rf"fold_2_data\.txt:{len(lines)}: \d fields where there are 12") as refusal:
        load_items("adience", root=tmp_path / "folds")
    assert "download it again" in str(refusal.value.hint)


def test_an_unknown_age_and_gender_are_refused_together(tmp_path):
    fold(tmp_path, f"a\tp.jpg\t1\t(1, 99)\tf\t{REST}", f"a\tq.jpg\t1\t(0, 2)\tx\t{REST}")
    with pytest.raises(InputError) as refusal:
        load_items("adience", root=tmp_path)
    assert "fold_0_data.txt:2, column age: '(1, 99)'" in refusal.value.message
    assert "fold_0_data.txt:3, column gender: 'x'" in refusal.value.message
    assert "(25, 32)" in str(refusal.value.hint)


def test_a_key_with_two_ages_is_refused(tmp_path):
    fold(tmp_path, f"a\tp.jpg\t1\t(0, 2)\tf\t{REST}", f"a\tp.jpg\t1\t(4, 6)\tf\t{REST}")
    with pytest.raises(
        InputError, match=r"fold_0_data\.txt:3: item .* stands already at fold_0_data\.txt:2"
    ) as refusal:
        load_items("adience", root=tmp_path)
    assert "age '04-06' and not '00-02'" in refusal.value.message
