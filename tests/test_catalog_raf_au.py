import pytest

from protoctl.catalog import load_items, reconcile
from protoctl.errors import InputError

LIST = (
    "0003.jpg 1+2+5+25+26\r\n"
    "0004.jpg 4+L10+17\r\n"
    "0005.jpg null\r\n"
    "0009.jpg R12+14+25 \t\r\n"
    "10.jpg 6+12+L12+B25\r\n"
)  # fmt: skip


@pytest.fixture
def root(tmp_path):
    (tmp_path / "RAF-AU").mkdir()
    (tmp_path / "RAF-AU/RAFAU_label.txt").write_text(LIST)
    return tmp_path


def test_a_unit_on_one_side_counts_as_the_unit(root):
    items = load_items("raf-au", root=root)
    table = items.table.to_pydict()
    assert table["item"] == ["0003.jpg", "0004.jpg", "0005.jpg", "0009.jpg", "0010.jpg"]
    assert len(items.labels) == 13
    assert table["AU10"] == ["0", "1", "0", "0", "0"]
    assert table["AU12"] == ["0", "0", "0", "1", "1"]
    assert table["AU25"] == ["1", "0", "0", "1", "1"]
    assert [table[label][2] for label in items.labels] == ["0"] * 13
    assert "a unit on one side of the face (L, R) counts as the unit: 3 times" in items.report.notes


def test_what_is_odd_is_told(root):
    report = load_items("raf-au", root=root).report
    assert report.warnings == (
        "letters before a unit that are neither L nor R, the unit counted all the same: B: 1 images",
    )
    assert "units that are not among the task's 13: AU14 (1)" in report.notes
    assert "names written with fewer than 4 digits, filled up with zeros: 1" in report.notes


def test_published_counts_stand_beside_those_found(root):
    assert reconcile(load_items("raf-au", root=root)) == [("items", 5, 4601)]


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("0011.jpg", r"RAFAU_label\.txt:6: '0011\.jpg' is not a name and its codes", "1+2+L12"),
        ("0011.jpg 1+2 3", r":6: '0011\.jpg 1\+2 3' is not a name", "1+2+L12"),
        ("x.jpg 1", r":6: 'x\.jpg 1' is not a name", "0005.jpg null"),
        ("0011.jpg 1+LL2", r":6: 'LL2' in '1\+LL2' is no action unit", "4+L10"),
        ("0011.jpg 1+A", "'A' in", "4+L10"),
        ("0003.jpg 4", r"item '0003\.jpg' stands already at RAFAU_label\.txt:1", "keep one"),
    ],
)
def test_a_bad_line_is_refused_with_its_place(root, line, message, hint):
    path = root / "RAF-AU/RAFAU_label.txt"
    path.write_text(LIST + line)
    with pytest.raises(InputError, match=message) as refusal:
        load_items("raf-au", root=root)
    assert hint in str(refusal.value.hint)


def test_a_line_that_stands_twice_counts_once(root):
    path = root / "RAF-AU/RAFAU_label.txt"
    path.write_text("\ufeff" + LIST + "0003.jpg 1+2+5+25+26")
    items = load_items("raf-au", root=path)
    assert len(items) == 5
    assert sum(items.report.skipped.values()) == 1
