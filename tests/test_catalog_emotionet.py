import pytest
from openpyxl import Workbook

from protoctl.catalog import load_items
from protoctl.errors import InputError
from protoctl.partition import prepare
from protoctl.protocols import load_protocol, override

HEADER = ["URL", "URL orig", *(f"'AU {unit}'" for unit in range(1, 61))]


def row(address, **units):
    return [f"'{address}'", "'http://orig.example/a.jpg'", *(units.get(f"AU{unit}", 999) for unit in range(1, 61))]


ROWS = [
    row("http://host.example/part1/N_0000000123_00045.jpg", AU1=0, AU2=0, AU4=1, AU60=0),
    row("http://host.example/part1/N_0000000777_00012.jpg", AU1=1, AU2=1, AU4=0),
    row("http://host.example/part2/N_0000000123_00045.jpg"),
    row("http://host.example/part2/N_0000001001_00003.jpg", AU1=-1, AU43=1),
]
NAMES = [
    "part1/N_0000000123_00045.jpg",
    "part1/N_0000000777_00012.jpg",
    "part2/N_0000000123_00045.jpg",
    "part2/N_0000001001_00003.jpg",
]


def text(rows, mark):
    return "".join(mark.join(str(cell) for cell in each) + "\n" for each in rows)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "EmotioNet_FACS_aws_2020_24600.csv").write_text(text([HEADER, *ROWS], ","))
    return tmp_path


def test_quotes_go_and_999_never_becomes_0(root):
    items = load_items("emotionet", root=root)
    table = items.table.to_pydict()
    assert table["item"] == NAMES
    assert table["AU1"] == ["0", "1", None, None]
    assert table["AU4"] == ["1", "0", None, None]
    assert table["AU5"] == [None] * 4
    assert table["annotation"] == ["manual"] * 4
    assert items.report.missing["AU1"] == {"999": 1, "-1": 1}
    assert items.report.missing["AU5"] == {"999": 4}


def test_the_workbook_says_the_same_as_the_text(root, tmp_path):
    book = Workbook()
    for each in [HEADER, *ROWS]:
        book.active.append([float(cell) if isinstance(cell, int) else cell for cell in each])
    path = tmp_path / "sheet/EmotioNet_FACS_aws_2020_24600.xlsx"
    path.parent.mkdir()
    book.save(path)
    wanted = load_items("emotionet", root=root).table
    assert load_items("emotionet", root=path).table.equals(wanted)
    assert load_items("emotionet", root=path.parent).table.equals(wanted)


def test_a_workbook_that_is_none_is_refused(tmp_path):
    path = tmp_path / "EmotioNet_FACS_aws_2020_24600.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0 a protected copy")
    with pytest.raises(InputError, match="is not an Excel workbook") as refusal:
        load_items("emotionet", root=tmp_path)
    assert "save it as CSV" in str(refusal.value.hint)


def test_automatic_lists_are_marked_and_the_protocol_leaves_them_out(root):
    automatic = [
        row("http://host.example/part9/N_0000000001_00001.jpg", AU1=1, AU60=0),
        row("http://host.example/part1/N_0000000123_00045.jpg", AU1=1),
    ]
    (root / "dataFile_0001.txt").write_text(text(automatic[:1], "\t"))
    (root / "dataFile_1001.txt").write_text(text(automatic[1:], "\t"))
    items = load_items("emotionet", root=root)
    table = items.table.to_pydict()
    assert table["item"] == [*NAMES, "part9/N_0000000001_00001.jpg"]
    assert table["annotation"] == ["manual"] * 4 + ["automatic"]
    assert table["AU1"][0] == "0"
    assert items.report.skipped == {"automatic labels of an image that has manual ones": 1}
    protocol = override(load_protocol("fair-55-15-30"), stratify=("label",))
    with pytest.raises(InputError, match="AU5"):
        prepare(items, protocol)
    left_out = prepare(items, override(protocol, stratify=("AU1", "AU4"))).left_out
    assert left_out == {"labels are not manual": 1, "no action unit is known": 2}


def test_unit_n_stands_in_column_n_plus_1_of_a_list(tmp_path):
    path = tmp_path / "dataFile_0001.txt"
    path.write_text(text([row("http://host.example/p/N_0000000001_00001.jpg", AU26=1, AU43=0)], "\t"))
    items = load_items("emotionet", root=path, task="au-12")
    assert items.table.select(["AU25", "AU26", "AU43"]).to_pylist() == [{"AU25": None, "AU26": "1", "AU43": "0"}]


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        (row("http://h/p/N_0000000001_00001.jpg", AU1=2), r"24600\.csv:6, column AU1: '2' is none of", "999 or -1"),
        (row("http://h/p/N_0000000001_00001.jpg")[:-1], r"24600\.csv:6: 61 fields where the header has 62", ""),
    ],
)
def test_a_bad_row_is_refused_with_its_place(root, line, message, hint):
    (root / "EmotioNet_FACS_aws_2020_24600.csv").write_text(text([HEADER, *ROWS, line], ","))
    with pytest.raises(InputError, match=message) as refusal:
        load_items("emotionet", root=root)
    assert hint in str(refusal.value.hint or "")


def test_a_short_line_of_a_list_is_refused_with_its_place(tmp_path):
    lines = [row("http://h/p/N_0000000001_00001.jpg"), row("http://h/p/N_0000000002_00001.jpg")[:-1]]
    (tmp_path / "dataFile_0001.txt").write_text(text(lines, "\t"))
    with pytest.raises(InputError, match=r"dataFile_0001\.txt:2: 61 fields and not 62") as refusal:
        load_items("emotionet", root=tmp_path)
    assert "60 units" in str(refusal.value.hint)


def test_an_address_that_names_no_image_is_left_out_and_told(root):
    (root / "EmotioNet_FACS_aws_2020_24600.csv").write_text(text([HEADER, *ROWS, row("http://host.example/")], ","))
    items = load_items("emotionet", root=root)
    assert len(items) == 4
    assert "EmotioNet_FACS_aws_2020_24600.csv:6: \"'http://host.example/'\" names no image" in items.report.warnings[0]


def test_a_missing_column_is_refused(root):
    (root / "EmotioNet_FACS_aws_2020_24600.csv").write_text("URL,'AU 1'\n'http://h/p/a.jpg',1\n")
    with pytest.raises(InputError, match=r"there is no column 'AU 2', 'AU 4'") as refusal:
        load_items("emotionet", root=root)
    assert str(refusal.value.hint) == "There are: URL, 'AU 1'"
