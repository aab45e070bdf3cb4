import pytest

from protoctl.catalog import load_items, reconcile
from protoctl.errors import InputError

HEADER = "Usage,Image name,neutral,happiness,surprise,sadness,anger,disgust,fear,contempt,unknown,NF\n"


def test_the_label_is_the_expression_with_most_votes(tmp_path):
    path = tmp_path / "fer2013new.csv"
    path.write_text(
        HEADER + "Training,fer0000000.png,4,0,0,1,3,2,0,0,0,0\n"
        "PublicTest,fer0000001.png,5,5,0,0,0,0,0,0,0,0\n"
        "PrivateTest,fer0000002.png,1,0,0,0,0,0,0,0,8,0\n"
        "Training,,0,0,0,0,0,0,0,0,0,10\n"
        "Training,fer0000004.png,0,0,0,0,0,0,0,0,0,10\n"
        "Training,fer0000005.png,0,0,0,0,0,0,0,9,0,0\n"
    )
    items = load_items("ferplus", root=tmp_path)
    assert items.table.to_pydict() == {
        "item": ["fer0000000.png", "fer0000001.png", "fer0000002.png", "fer0000004.png", "fer0000005.png"],
        "label": ["Neutral", None, None, None, "Contempt"],
        "split_released": ["train", "valid", "test", "train", "train"],
        "annotation": ["manual"] * 5,
    }
    assert items.report.missing == {"label": {"tie": 1, "unknown": 1, "NF": 1}}
    assert items.report.skipped == {"row without a name (an image that the release dropped)": 1}


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("Training,a.png,x,0,0,0,0,0,0,0,0,0\n", r"new\.csv:2, column neutral: 'x' is no number of votes", "whole"),
        ("Test,a.png,1,0,0,0,0,0,0,0,0,0\n", "column Usage: 'Test' is none of", "PublicTest"),
    ],
)
def test_a_bad_row_is_refused_with_its_place(tmp_path, line, message, hint):
    (tmp_path / "fer2013new.csv").write_text(HEADER + line)
    with pytest.raises(InputError, match=message) as refusal:
        load_items("ferplus", root=tmp_path)
    assert hint in str(refusal.value.hint)


def test_the_real_file(real):
    items = load_items("ferplus", root=real / "ferplus_fer2013new.csv")
    assert items.report.rows_read == 35_887
    assert len(items) == 35_710
    assert items.report.skipped == {
        "row without a name (an image that the release dropped)": 173,
        "row with the name of another image, all its votes for no face": 1,
        "row that repeats an earlier one of its item": 3,
    }
    assert items.report.missing == {"label": {"tie": 1776, "unknown": 222, "NF": 3}}
    labels = items.table["label"].to_pylist()
    assert [labels.count(name) for name in ("Neutral", "Happiness", "Contempt", None)] == [11_772, 9_199, 212, 2_001]
    assert all(found == published for _, found, published in reconcile(items))
