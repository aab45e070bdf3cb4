import json

import pytest

from protoctl.catalog import load_items
from protoctl.errors import InputError
from protoctl.partition import prepare, split_items
from protoctl.protocols import load_protocol, override

FAIR = override(load_protocol("fair-55-15-30"), stratify=("label",))


def clip(folder, name, actor, frames, more=(), *, pictures=True):
    place = folder / name
    place.mkdir(parents=True)
    values = {
        key: {"valence": valence, "arousal": arousal, "landmarks": [[310.5, 220.1]]}
        for key, (valence, arousal) in frames.items()
    }
    document = {"actor": actor, "video_id": name, "frames": values} | dict(more)
    (place / f"{name}.json").write_text(json.dumps(document))
    for key in frames if pictures else ():
        (place / f"{key}.png").touch()
    return place


@pytest.fixture
def root(tmp_path):
    clip(tmp_path / "01", "001", "Some One", {"00010": (-2.0, 3.0), "00002": (10, -10)})
    clip(tmp_path / "01", "002", "some  one", {"00000": (0, 0.0)})
    clip(tmp_path / "12", "600", "", {"00000": (7, 1)})
    (tmp_path / "01/001/001_cropped").mkdir()
    return tmp_path


def test_frames_in_order_of_their_number_with_the_actor_as_subject(root):
    items = load_items("afew-va", root=root)
    assert items.table.to_pydict() == {
        "item": ["001/00002.png", "001/00010.png", "002/00000.png", "600/00000.png"],
        "subject": ["Some One", "Some One", "Some One", "clip 600"],
        "valence": ["10", "-2.0", "0", "7"],
        "arousal": ["-10", "3.0", "0.0", "1"],
        "annotation": ["manual"] * 4,
    }
    assert items.report.warnings == (
        "actors whose names are spelt in several ways, each taken as one: 'Some One' = 'some  one'",
        "clips that name no actor, each a subject of its own: 1 (600)",
    )


def test_archives_and_flat_clips_are_the_same_items(root, tmp_path):
    flat = tmp_path / "flat"
    clip(flat, "001", "Some One", {"00010": (-2.0, 3.0), "00002": (10, -10)})
    clip(flat, "002", "some  one", {"00000": (0, 0.0)})
    clip(flat, "600", "", {"00000": (7, 1)})
    assert load_items("afew-va", root=flat).table.equals(load_items("afew-va", root=root).table)


def test_the_protocol_scales_to_one_and_cuts_regions(root):
    found = prepare(load_items("afew-va", root=root), FAIR)
    assert found.items.table["valence"].to_pylist() == ["1", "-0.2", "0", "0.7"]
    assert found.items.table["valence_arousal"].to_pylist() == ["v9 a0", "v4 a6", "v5 a5", "v8 a5"]


def test_the_clips_of_one_actor_stay_in_one_split(tmp_path):
    for number in range(1, 31):
        clip(tmp_path, f"{number:03}", f"Actor {number % 7}", {"00000": (number % 10, 0), "00001": (1, 1)})
    rows = split_items(load_items("afew-va", root=tmp_path), FAIR).table().to_pandas()
    assert rows["subject"].nunique() == 7
    assert rows.groupby("subject")["split"].nunique().max() == 1
    assert rows["split"].nunique() == 3


def test_a_frame_without_its_picture_is_left_out_and_told(root):
    (root / "01/001/00010.png").unlink()
    (root / "01/001/00011.png").touch()
    report = load_items("afew-va", root=root).report
    assert report.skipped == {"frame whose picture is missing": 1}
    assert report.rows_read == 4
    assert "pictures that have no labels: 1" in report.warnings


def test_labels_alone_are_enough_and_said_to_be(tmp_path):
    clip(tmp_path, "001", "A", {"00000": (1, 1)}, pictures=False)
    report = load_items("afew-va", root=tmp_path).report
    assert report.notes[0].startswith("no pictures lie beside the labels")


@pytest.mark.parametrize(
    ("frames", "more", "message"),
    [
        ({"00000": (11, 0)}, {}, r"003/003\.json, frames\.00000, column valence: '11' is none of"),
        ({"00000": (0, -10.5)}, {}, r"column arousal: '-10\.5' is none of"),
        ({"00000": (0, 0)}, {"video_id": "004"}, r"003\.json, video_id: '004' in the folder 003"),
        ({"first": (0, 0)}, {}, r"frames: 'first' is no frame number"),
        ({}, {"frames": []}, r"003\.json: holds no frames"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(root, frames, more, message):
    clip(root, "003", "B", frames, more)
    with pytest.raises(InputError, match=message) as refusal:
        load_items("afew-va", root=root)
    assert refusal.value.hint


def test_a_clip_that_is_cut_off_is_refused_with_its_line(root):
    (root / "01/001/001.json").write_text('{"actor": "A",\n "frames": {')
    with pytest.raises(InputError, match=r"001\.json:2: is not JSON") as refusal:
        load_items("afew-va", root=root)
    assert "copied whole" in str(refusal.value.hint)
