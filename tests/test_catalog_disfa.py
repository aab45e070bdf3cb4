import pytest

from protoctl.catalog import load_items
from protoctl.catalog.disfa import SUBJECTS
from protoctl.errors import InputError
from protoctl.partition import prepare, split_items
from protoctl.protocols import parse_protocol

UNITS = (1, 2, 4, 5, 6, 9, 12, 15, 17, 20, 25, 26)


def write(folder, subject, unit, values, ending="\n"):
    (folder / subject).mkdir(parents=True, exist_ok=True)
    lines = [f"{frame},{value}" for frame, value in enumerate(values, start=1)]
    (folder / subject / f"{subject}_au{unit}.txt").write_text(ending.join(lines) + ending)


@pytest.fixture
def labels(tmp_path):
    folder = tmp_path / "ActionUnit_Labels"
    for subject in ("SN001", "SN010", "SN032"):
        for unit in UNITS:
            write(folder, subject, unit, [0, unit % 6, 2, 0])
    return folder


def test_frames_count_from_one_and_both_views_are_items(labels):
    items = load_items("disfa", root=labels.parent)
    table = items.table.to_pydict()
    assert len(items) == 3 * 4 * 2
    assert table["item"][:2] == ["LeftVideoSN001/00001.jpg", "LeftVideoSN001/00002.jpg"]
    assert table["item"][-1] == "RightVideoSN032/00004.jpg"
    assert table["subject"][:5] == ["SN001"] * 4 + ["SN010"]
    assert table["AU4"][:4] == ["0", "4", "2", "0"]
    assert table["AU4"][12:16] == ["0", "4", "2", "0"]
    assert table["view"] == ["left"] * 12 + ["right"] * 12
    assert items.card.rows == "subject"


def test_the_folder_is_found_in_any_spelling_and_as_itself(labels):
    wanted = load_items("disfa", root=labels.parent).table
    assert load_items("disfa", root=labels).table.equals(wanted)
    other = labels.rename(labels.parent / "actionunit_label")
    assert load_items("disfa", root=other.parent).table.equals(wanted)


def test_windows_line_ends_and_upper_case_names_change_nothing(labels):
    wanted = load_items("disfa", root=labels).table
    write(labels, "SN001", 1, [0, 1, 2, 0], "\r\n")
    path = labels / "SN010/SN010_au4.txt"
    path.rename(path.with_name("sn010_AU4.TXT"))
    assert load_items("disfa", root=labels).table.equals(wanted)


def test_a_missing_file_is_an_error_and_no_column_of_zeros(labels):
    (labels / "SN010/SN010_au4.txt").unlink()
    with pytest.raises(
        InputError, match=r"SN010/SN010_au4\.txt: there is no such file: .*not the same as absent"
    ) as no:
        load_items("disfa", root=labels)
    assert "12 files" in str(no.value.hint)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,0\n1,0\n2,0\n3,0\n", r"SN001_au1\.txt:1: frame 0 stands where frame 1 should"),
        ("1,0\n2,0\n4,0\n5,0\n", r"au1\.txt:3: frame 4 stands where frame 3 should"),
        ("1,0\n2,6\n3,0\n4,0\n", r"au1\.txt:2: '2,6' is not a frame and an intensity"),
        ("1,0\n2,-1\n3,0\n4,0\n", r"au1\.txt:2: '2,-1' is not"),
        ("1,0\n2,0\n", r"different numbers of frames \(SN001_au1\.txt: 2, SN001_au2\.txt: 4"),
        ("", r"au1\.txt: is empty"),
    ],
)
def test_bad_frames_are_refused_with_their_place(labels, text, message):
    (labels / "SN001/SN001_au1.txt").write_text(text)
    with pytest.raises(InputError, match=message) as refusal:
        load_items("disfa", root=labels)
    assert refusal.value.hint


def test_subjects_are_the_27_and_absent_ones_are_told(labels):
    assert len(SUBJECTS) == 27
    assert {"SN013", "SN032"} <= set(SUBJECTS)
    assert not {"SN014", "SN015", "SN019", "SN020", "SN022", "SN033"} & set(SUBJECTS)
    warnings = load_items("disfa", root=labels).report.warnings
    assert warnings[0].startswith("subjects without a folder of labels: 24 of 27 (SN002, SN003")
    for unit in UNITS:
        write(labels, "SN033", unit, [0])
    with pytest.raises(InputError, match="SN033: is none of the 27 subjects") as refusal:
        load_items("disfa", root=labels)
    assert "SN001 to SN032" in str(refusal.value.hint)


ACTIVE = """
name: mine
version: 1.0.0
source: this test
form: {{action_unit: {{active_above: {above}}}}}
split: {{ratios: {{train: 55, valid: 15, test: 30}}, unit: subject, stratify: [label]}}
"""


@pytest.mark.parametrize(("above", "wanted"), [(0, ["0", "1", "1", "0"]), (1, ["0", "0", "1", "0"])])
def test_the_threshold_of_intensities_is_the_protocols(labels, above, wanted):
    protocol = parse_protocol(ACTIVE.format(above=above), "mine.yaml")
    found = prepare(load_items("disfa", root=labels), protocol)
    assert found.items.table["AU1"].to_pylist()[:4] == wanted
    assert f"an action unit is active where its intensity is above {above}" in found.notes


def test_both_views_of_a_subject_stay_in_one_split(labels):
    found = split_items(load_items("disfa", root=labels), parse_protocol(ACTIVE.format(above=0), "mine.yaml"))
    rows = found.table().to_pandas()
    assert rows.groupby("subject")["split"].nunique().to_list() == [1, 1, 1]
    assert rows.groupby("split").size().to_dict() == {"train": 8, "valid": 8, "test": 8}
