import pytest

from protoctl.catalog import load_items
from protoctl.catalog.gft import read_schema
from protoctl.errors import InputError
from protoctl.partition import split_items
from protoctl.protocols import load_protocol, override

HEADER = "Frame,AU1,AU2,AU4,AU5,AU6,AU7,AU9,AU10,AU11,AU12,AU14,AU15,AU17,AU23,AU24\n"


def frames(*first):
    return HEADER + "".join(f"{at},{value}{',0' * 14}\n" for at, value in enumerate(first, start=1))


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "occurrence"
    folder.mkdir()
    (folder / "001A.csv").write_text(frames("0", "1", "9", "999", "-1"))
    (folder / "001B.csv").write_text(frames("1") + "2," + ",".join(["9"] * 15) + "\n")
    (folder / "002C_AU.csv").write_text(frames("", "NaN"))
    (folder / "readme.csv").write_text("a,b\n")
    return tmp_path


def test_only_0_and_1_are_labels_and_every_other_code_is_counted(root):
    items = load_items("gft", root=root)
    table = items.table.to_pydict()
    assert table["item"] == [*(f"001A/{frame}.jpg" for frame in range(1, 6)), "001B/1.jpg", "002C/1.jpg", "002C/2.jpg"]
    assert table["AU1"] == ["0", "1", None, None, None, "1", None, None]
    assert table["subject"] == ["001A"] * 5 + ["001B"] + ["002C"] * 2
    assert table["group"] == ["001"] * 6 + ["002"] * 2
    assert "AU14" not in table
    assert items.report.missing["AU1"] == {"9": 2, "999": 1, "-1": 1, "": 1, "NaN": 1}
    assert items.report.missing["AU2"] == {"9": 1}


def test_frames_of_which_nothing_is_known_and_files_of_nobody_are_left_out(root):
    report = load_items("gft", root=root).report
    assert report.skipped == {
        "file that names no participant (001A)": 1,
        "frame of which no action unit is known": 1,
    }
    assert report.rows_read == 9


def test_codes_that_nobody_foresaw_are_missing_and_told(root):
    (root / "occurrence/003A.csv").write_text(frames("7", "1.0"))
    items = load_items("gft", root=root)
    assert items.table["AU1"].to_pylist()[-2:] == [None, "1"]
    assert items.report.warnings == ("values that are no labels (0 and 1 are), taken as missing: '7' (1)",)


def test_the_schema_is_corrected_in_yaml(root):
    folder = root / "intensity"
    folder.mkdir()
    (folder / "P_001A.txt").write_text("1;A;0\n2;E;5\n3;X;2\n")
    (root / "gft.yaml").write_text(
        'files: intensity/*.txt\ndelimiter: ";"\nheader: false\ncolumns: [t, au_1, au_2]\nframe: t\nunit: "au_{}"\n'
        "kind: intensity\n"
    )
    items = load_items("gft", root=root)
    table = items.table.to_pydict()
    assert table["item"] == ["001A/1.jpg", "001A/2.jpg", "001A/3.jpg"]
    assert table["AU1"] == ["1", "5", None]
    assert table["AU2"] == ["0", "5", "2"]
    assert items.report.missing["AU4"] == {"no column": 3}


def test_two_files_of_a_participant_ask_for_the_schema(root):
    (root / "001A.csv").write_text(frames("0"))
    with pytest.raises(InputError, match=r"participant 001A has the file 001A\.csv already") as refusal:
        load_items("gft", root=root)
    assert "files: occurrence/*.csv" in str(refusal.value.hint)


def test_files_of_another_form_are_refused_with_what_they_hold(root):
    (root / "occurrence/001A.csv").write_text("frame;AU1\n1;0\n")
    with pytest.raises(InputError, match=r"001A\.csv:1: there is no column Frame; there are: frame;AU1") as refusal:
        load_items("gft", root=root)
    assert "gft.yaml" in str(refusal.value.hint)
    (root / "occurrence/001A.csv").write_text(HEADER + "x" + ",0" * 15 + "\n")
    with pytest.raises(InputError, match=r"001A\.csv:2: no frame number"):
        load_items("gft", root=root)


def test_a_wrong_schema_is_refused_with_its_places(tmp_path):
    path = tmp_path / "gft.yaml"
    path.write_text("delimeter: ','\nheader: 1\n")
    with pytest.raises(InputError) as refusal:
        read_schema(path)
    assert "$.delimeter: there is no key 'delimeter'" in refusal.value.message
    assert "$.header: 1 is not true or false" in refusal.value.message
    assert "did you mean 'delimiter'?" in str(refusal.value.hint)
    path.write_text("kind: both\nunit: AU\n")
    with pytest.raises(InputError, match="neither occurrence nor intensity"):
        read_schema(path)


@pytest.mark.parametrize(("unit", "groups_torn"), [("subject", True), ("group", False)])
def test_a_group_of_three_stays_whole_when_asked(unit, groups_torn, tmp_path):
    for group in range(1, 7):
        for seat in "ABC":
            (tmp_path / f"{group:03}{seat}.csv").write_text(frames("0", "1", "1"))
    protocol = override(load_protocol("fair-55-15-30"), stratify=("label",), unit=unit)
    rows = split_items(load_items("gft", root=tmp_path), protocol).table().to_pandas()
    assert rows.groupby("subject")["split"].nunique().max() == 1
    torn = rows.groupby(rows["subject"].str[:3])["split"].nunique().max() > 1
    assert torn == groups_torn


def test_the_ten_units_of_the_usual_benchmark_are_a_task(root):
    items = load_items("gft", root=root, task="au-10")
    assert items.labels[6] == "AU14"
    assert len(items.labels) == 10
