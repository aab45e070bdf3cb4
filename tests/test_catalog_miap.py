import pytest

from protoctl.catalog import load_items
from protoctl.errors import InputError

HEADER = (
    "ImageID,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepictionOf,IsInsideOf,"
    "GenderPresentation,AgePresentation\n"
)
FEMININE, MASCULINE = "Predominantly Feminine", "Predominantly Masculine"


def box(image, corners="0.102500,0.498125,0.050000,0.981250", *, group=0, depiction=0, gender=FEMININE, age="Middle"):
    return f"{image:016x},/m/01g317,1,{corners},0,1,{group},{depiction},0,{gender},{age}\n"


@pytest.fixture
def write(tmp_path):
    def written(split, *boxes):
        (tmp_path / f"open_images_extended_miap_boxes_{split}.csv").write_text(HEADER + "".join(boxes))
        return tmp_path

    return written


def test_images_with_exactly_one_box_of_one_person(write):
    write(
        "train",
        box(1),
        box(2),
        box(2, "0.61,0.94,0.121,0.999", gender="Unknown", age="Young"),
        box(3, group=1),
        box(4, depiction=1),
        box(5, "0.2,0.2,0.1,0.9"),
        box(6, gender="Unknown", age="Young"),
    )
    items = load_items("miap", root=write("val", box(7, gender=MASCULINE, age="Older"), box(8, age="Unknown")))
    assert items.table.to_pydict() == {
        "item": [
            "train/0000000000000001.jpg",
            "train/0000000000000006.jpg",
            "validation/0000000000000007.jpg",
            "validation/0000000000000008.jpg",
        ],
        "gender": [FEMININE, None, MASCULINE, FEMININE],
        "age": ["Middle", "Young", "Older", None],
        "split_released": ["train", "train", "val", "val"],
    }
    assert items.report.rows_read == 9
    assert items.report.skipped == {
        "box of an image that has several": 2,
        "box around a group": 1,
        "box around a depiction of a person": 1,
        "box without an area": 1,
    }
    assert items.report.missing == {"gender": {"Unknown": 2}, "age": {"Unknown": 1}}
    assert "images with several boxes, left out: 1 of 8" in items.report.notes


def test_corners_are_xmin_xmax_ymin_ymax(write):
    """Read as x, y, x, y this box would have no area, and the other would be one."""
    items = load_items("miap", root=write("test", box(1, "0.1,0.5,0.1,0.9"), box(2, "0.3,0.3,0.5,0.9")))
    assert items.table["item"].to_pylist() == ["test/0000000000000001.jpg"]
    with pytest.raises(InputError, match=r"test\.csv:2: XMin 0\.5, XMax 0\.1, YMin 0\.1, YMax 0\.9 is no box") as no:
        load_items("miap", root=write("test", box(1, "0.5,0.1,0.1,0.9")))
    assert "XMin, XMax, YMin, YMax" in str(no.value.hint)


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        (box(1, gender="Female"), r"train\.csv:2, column gender: 'Female' is none of", FEMININE),
        (box(1, age="Old"), "column age: 'Old' is none of", "Young"),
        (box(1, "0.1,1.5,0.1,0.9"), "XMax 1.5, YMin 0.1, YMax 0.9 is no box", "fractions"),
        (box(1, "0.1,a,0.1,0.9"), "a box: is not in numbers", "fraction"),
        (box(1).replace("0000000000000001", "1E+15"), "column ImageID: '1E\\+15' is not 16 hex", "spreadsheet"),
    ],
)
def test_an_unknown_value_is_refused_with_its_place(write, line, message, hint):
    with pytest.raises(InputError, match=message) as refusal:
        load_items("miap", root=write("train", line))
    assert hint in str(refusal.value.hint)
