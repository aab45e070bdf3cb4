import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protoctl.catalog import load_items
from protoctl.catalog.scalars import scalar_text
from protoctl.errors import InputError

HEAD = "subDirectory_filePath,face_x,face_y,face_width,face_height,facial_landmarks,expression,valence,arousal\n"
LANDMARKS = ";".join(["80.12", "140.5"] * 68)


def name(number, ending):
    return f"{12 + number}/{number:02x}aa11bb22cc33dd44ee55ff66001122334455667788990011223344{ending}"


def row(number, ending, expression, valence, arousal, landmarks=LANDMARKS):
    return f"{name(number, ending)},61,70,302,302,{landmarks},{expression},{valence},{arousal}\n"


TRAINING = [
    row(0, ".jpg", 1, "0.7420", "0.1031"),
    row(1, ".JPG", 0, 0, 0),
    row(2, ".png", 9, -2, -2),
    row(3, ".TIF", 10, "-2.000", -2),
    row(4, ".bmp", 8, "0.1", "0.2"),
    row(5, ".jpeg", 7, "-0.9", "-2"),
]
VALIDATION = [row(6, ".jpg", 4, "-1", "1")]
AUTOMATIC = [row(7, ".jpg", 3, "0.5", "0.5")]


def lists(folder, training=TRAINING, head=HEAD, inner="Manually_Annotated"):
    (folder / inner / "Manually_Annotated_Images" / "12").mkdir(parents=True, exist_ok=True)
    (folder / "Automatically_annotated_file_list").mkdir(exist_ok=True)
    (folder / inner / "training.csv").write_text(head + "".join(training))
    (folder / inner / "Validation.csv").write_text("".join(VALIDATION))
    (folder / "Automatically_annotated_file_list" / "automatically_annotated.csv").write_text(HEAD + "".join(AUTOMATIC))
    return folder


def value(folder, stem, ending, array):
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{stem}_{ending}.npy", array)


@pytest.fixture
def npy(tmp_path):
    train, val = tmp_path / "train_set/annotations", tmp_path / "val_set/annotations"
    for stem, expression in {"0": np.array("1"), "17": np.array(["7"]), "120": np.array(0)}.items():
        value(train, stem, "exp", expression)
    value(val, "3", "exp", np.array(4.0))
    for stem, valence in {"0": np.array("-0.6031"), "17": np.array(0.25), "120": np.array("-2")}.items():
        value(train, stem, "val", valence)
        value(train, stem, "aro", np.array("0.5") if stem != "120" else np.array(-2))
        value(train, stem, "lnd", np.zeros(136))
    value(val, "3", "val", np.float32(0.1))
    return tmp_path


def test_lists_of_2017_give_eight_expressions(tmp_path):
    items = load_items("affectnet", root=lists(tmp_path))
    assert items.task == "expression"
    assert items.table.to_pydict() == {
        "item": [name(0, ".jpg"), name(1, ".JPG"), name(5, ".jpeg"), name(6, ".jpg"), name(7, ".jpg")],
        "label": ["Happiness", "Neutral", "Contempt", "Fear", "Surprise"],
        "annotation": ["manual"] * 4 + ["automatic"],
        "split_released": ["train", "train", "train", "val", None],
    }
    assert items.report.rows_read == 8
    assert items.report.skipped == {
        "expression 8 (None)": 1,
        "expression 9 (Uncertain)": 1,
        "expression 10 (No-Face)": 1,
    }
    assert [source.path for source in items.sources] == [
        "Manually_Annotated/training.csv",
        "Manually_Annotated/Validation.csv",
        "Automatically_annotated_file_list/automatically_annotated.csv",
    ]


def test_any_minus_two_is_missing_valence_or_arousal(tmp_path):
    items = load_items("affectnet", root=lists(tmp_path), task="va")
    assert items.labels == ("valence", "arousal")
    assert items.table["valence"].to_pylist() == ["0.7420", "0", "0.1", "-0.9", "-1", "0.5"]
    assert items.table["arousal"].to_pylist() == ["0.1031", "0", "0.2", None, "1", "0.5"]
    assert items.report.missing == {"valence": {"-2": 1, "-2.000": 1}, "arousal": {"-2": 3}}
    assert items.report.skipped == {"neither valence nor arousal": 2}


def test_a_value_outside_the_plane_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"training\.csv:3, column arousal: '1\.01' is none of the known") as refusal:
        load_items("affectnet", root=lists(tmp_path, [TRAINING[0], row(8, ".jpg", 1, "0.1", "1.01")]), task="va")
    assert "from -1 to 1" in str(refusal.value.hint)


def test_seven_expressions_are_read_as_eight(tmp_path):
    items = load_items("affectnet", root=lists(tmp_path), task="expression-7")
    assert items.task == "expression-7"
    assert "Contempt" in items.table["label"].to_pylist()


def test_an_unknown_code_a_short_row_and_an_escape_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"training\.csv:2, column expression: '11' is none of the known") as refusal:
        load_items("affectnet", root=lists(tmp_path, [row(0, ".jpg", 11, 0, 0)]))
    assert "0 (Neutral) to 7 (Contempt)" in str(refusal.value.hint)
    with pytest.raises(InputError, match=r"training\.csv:3: 3 fields where there are 9 columns"):
        load_items("affectnet", root=lists(tmp_path, [TRAINING[0], "12/a.jpg,1,2\n"]))
    with pytest.raises(InputError, match=r"training\.csv:2, column item: '\.\./x\.jpg' has '\.\.'") as refusal:
        load_items("affectnet", root=lists(tmp_path, [f"../x.jpg,1,1,1,1,{LANDMARKS},1,0,0\n"]))
    assert "root" in str(refusal.value.hint)


def test_rows_with_other_than_136_landmarks_are_left_out_and_counted(tmp_path):
    training = [row(0, ".jpg", 1, 0, 0, LANDMARKS + ";"), row(1, ".jpg", 1, 0, 0, "1;2"), row(2, ".jpg", 11, 0, 0)]
    with pytest.raises(InputError, match=r"training\.csv:4, column expression: '11'"):
        load_items("affectnet", root=lists(tmp_path, training))
    items = load_items("affectnet", root=lists(tmp_path, training[:2]))
    assert items.report.skipped["landmarks that are not 136 numbers"] == 1
    assert name(0, ".jpg") in items.table["item"].to_pylist()


def test_duplicates_in_the_list_count_once_or_are_refused(tmp_path):
    items = load_items("affectnet", root=lists(tmp_path, [TRAINING[0], TRAINING[0]]))
    assert items.report.skipped == {"row that repeats an earlier one of its item": 1}
    with pytest.raises(InputError, match=r"training\.csv:3: item .* stands already at training\.csv:2") as refusal:
        load_items("affectnet", root=lists(tmp_path, [TRAINING[0], row(0, ".jpg", 2, 0, 0)]))
    assert "label 'Sadness' and not 'Happiness'" in refusal.value.message


def test_crlf_a_mark_and_trailing_blanks_change_nothing(tmp_path):
    wanted = load_items("affectnet", root=lists(tmp_path / "a")).table
    root = lists(tmp_path / "b")
    path = root / "Manually_Annotated/training.csv"
    text = path.read_text().replace("\n", " \r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.rstrip().encode())
    assert load_items("affectnet", root=root).table.equals(wanted)


def test_files_of_2021_give_the_same_task(npy):
    items = load_items("affectnet", root=npy)
    assert items.table.to_pydict() == {
        "item": [
            "train_set/images/0.jpg",
            "train_set/images/120.jpg",
            "train_set/images/17.jpg",
            "val_set/images/3.jpg",
        ],
        "label": ["Happiness", "Neutral", "Contempt", "Fear"],
        "annotation": ["manual"] * 4,
        "split_released": ["train", "train", "train", "val"],
    }
    assert [(source.path, source.rows) for source in items.sources] == [
        ("train_set/annotations", 3),
        ("val_set/annotations", 1),
    ]


def test_valence_and_arousal_of_2021_in_text_and_numbers(npy):
    items = load_items("affectnet", root=npy, task="va")
    assert items.table["item"].to_pylist() == [
        "train_set/images/0.jpg", "train_set/images/17.jpg", "val_set/images/3.jpg",
    ]  # fmt: skip
    assert items.table["valence"].to_pylist() == ["-0.6031", "0.25", "0.1"]
    assert items.table["arousal"].to_pylist() == ["0.5", "0.5", None]
    assert items.report.missing["arousal"] == {"-2": 1, "no annotation file": 1}


def test_progress_is_told(npy):
    told = []
    load_items("affectnet", root=npy, progress=lambda done, total, what: told.append((done, total, what)))
    assert (3, 3, "reading train_set/annotations") in told


def test_a_file_that_holds_an_object_is_refused(npy):
    np.save(npy / "train_set/annotations/9_exp.npy", np.array({"a": 1}, dtype=object), allow_pickle=True)
    (npy / "train_set/annotations/8_exp.npy").write_bytes(b"junk")
    with pytest.raises(InputError) as refusal:
        load_items("affectnet", root=npy)
    assert "train_set/annotations/9_exp.npy: is not a file of one value" in refusal.value.message
    assert "train_set/annotations/8_exp.npy" in refusal.value.message
    assert "never a Python object" in str(refusal.value.hint)


def test_two_releases_in_one_folder_are_refused(npy):
    with pytest.raises(InputError, match=r"holds two releases, training\.csv of 2017 and train_set of 2021") as refusal:
        load_items("affectnet", root=lists(npy))
    assert "--root" in str(refusal.value.hint)


@given(
    st.one_of(
        st.text("0123456789.-", min_size=1, max_size=9).map(np.array),
        st.integers(-5, 200).map(np.int64),
        st.floats(-1, 1, allow_subnormal=False).map(np.float64),
        st.floats(-1, 1, width=32, allow_subnormal=False).map(np.float32),
        st.integers(0, 10).map(lambda code: np.array([code], np.uint8)),
        st.integers(0, 10).map(lambda code: np.array(code, ">i4")),
    )
)
def test_the_quick_way_reads_what_numpy_reads(array):
    stream = io.BytesIO()
    np.save(stream, array)
    wanted = np.load(io.BytesIO(stream.getvalue())).reshape(-1)[0]
    assert scalar_text(stream.getvalue()) == str(wanted).strip()


def test_more_than_one_value_is_refused():
    stream = io.BytesIO()
    np.save(stream, np.zeros(2))
    with pytest.raises(ValueError, match="other than one value"):
        scalar_text(stream.getvalue())
