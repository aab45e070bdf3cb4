import json

import pytest

from protoctl.catalog import load_items
from protoctl.errors import InputError
from protoctl.partition import split_items
from protoctl.protocols import load_protocol, override

REAL = {"label": "real", "set": "train", "augmentations": [], "target_id": 643001, "swapped_id": None}
PREVIEW = {
    "original_videos/643001/643001_A_001.mp4": REAL,
    "method_A/643001/643001_A/1255001_643001_A_001.mp4": {
        **REAL, "label": "fake", "swapped_id": "1255001", "source_video": "643001_A",
    },
    "method_B/1260002/1260002_C/1255001_1260002_C_002.mp4": {
        "label": "fake", "set": "test", "augmentations": ["fps"], "target_id": "1260002", "swapped_id": 1255001,
    },
    "original_videos/9/9_A_001.mp4": {"label": "real", "set": "test", "augmentations": [], "target_id": 9},
}  # fmt: skip


@pytest.fixture
def write(tmp_path):
    def written(name, document):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return tmp_path

    return written


def test_a_fake_shows_two_people_and_ids_are_text(write):
    items = load_items("dfdc-preview", root=write("dfdc_preview_set/dataset.json", PREVIEW))
    table = items.table.to_pydict()
    assert table["subject"] == ["643001", "1255001|643001", "1255001|1260002", "9"]
    assert table["label"] == ["real", "fake", "fake", "real"]
    assert table["method"] == ["original_videos", "method_A", "method_B", "original_videos"]
    assert table["augmentation"] == ["none", "none", "fps", "none"]
    assert table["split_released"] == ["train", "train", "test", "test"]


def test_a_fake_brings_both_its_people_to_one_side(write):
    document = {}
    for group in range(6):
        people = [f"{group}{member}" for member in range(3)]
        for target, swapped in zip(people, people[1:] + people[:1], strict=True):
            document[f"original_videos/{target}/{target}_A_001.mp4"] = {**REAL, "target_id": target}
            path = f"method_A/{target}/{target}_A/{swapped}_{target}_A_001.mp4"
            document[path] = {**REAL, "label": "fake", "target_id": target, "swapped_id": swapped}
    items = load_items("dfdc-preview", root=write("dataset.json", document))
    protocol = override(load_protocol("fair-55-15-30"), stratify=("label",))
    rows = split_items(items, protocol).table().to_pylist()
    side = {}
    for row in rows:
        for person in row["subject"].split("|"):
            side.setdefault(person, set()).add(row["split"])
    assert len(side) == 18
    assert all(len(splits) == 1 for splits in side.values())
    assert {min(splits) for splits in side.values()} == {"train", "valid", "test"}


@pytest.mark.parametrize(
    ("path", "more", "message", "hint"),
    [
        ("x.mp4", {"label": "fake"}, r"dataset\.json, x\.mp4: is a fake without swapped_id", "two people"),
        ("x.mp4", {"swapped_id": 5}, "is no fake and has swapped_id '5'", "null for originals"),
        ("x.mp4", {"target_id": None}, "has no target_id", "target_id"),
        ("x.mp4", {"label": "FAK"}, "column label: 'fak' is none of the known", "label"),
        ("x.mp4", {"set": "val"}, "column set: 'val' is none of", "train or test"),
        (
            "original_videos/7/7_A_001.mp4", {}, "its path names 7 and nobody, its fields 643001 and nobody",
            "<swapped>_<target>",
        ),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(write, path, more, message, hint):
    with pytest.raises(InputError, match=message) as refusal:
        load_items("dfdc-preview", root=write("dataset.json", {path: {**REAL, **more}}))
    assert hint in str(refusal.value.hint)


PART = {
    "aaaabbbbcc.mp4": {"label": "FAKE", "split": "train", "original": "ddddeeeeff.mp4"},
    "ddddeeeeff.mp4": {"label": "REAL", "split": "train"},
    "gggghhhhii.mp4": {"label": "REAL", "split": "train", "original": None},
}


def test_families_go_by_the_original_over_parts(write):
    write("dfdc_train_part_00/dfdc_train_part_0/metadata.json", PART)
    other = {
        "jjjjkkkkll.mp4": {"label": "FAKE", "split": "train", "original": "gggghhhhii.mp4"},
        "mmmmnnnnoo.mp4": {"label": "FAKE", "split": "train", "original": "ppppqqqqrr.mp4"},
    }
    items = load_items("dfdc", root=write("dfdc_train_part_01/metadata.json", other))
    table = items.table.to_pydict()
    assert dict(zip(table["item"], table["subject"], strict=True)) == {
        "aaaabbbbcc.mp4": "ddddeeeeff.mp4",
        "ddddeeeeff.mp4": "ddddeeeeff.mp4",
        "gggghhhhii.mp4": "gggghhhhii.mp4",
        "jjjjkkkkll.mp4": "gggghhhhii.mp4",
        "mmmmnnnnoo.mp4": "ppppqqqqrr.mp4",
    }
    assert table["label"] == ["fake", "real", "real", "fake", "fake"]
    assert "originals that lie in other parts, their families kept all the same: 1" in items.report.notes


@pytest.mark.parametrize(
    ("entry", "message", "hint"),
    [
        ({"label": "FAKE", "split": "train"}, r"metadata\.json, x\.mp4: is a fake without an original", "plain table"),
        ({"label": "FAKE", "original": "aaaabbbbcc.mp4"}, "its original 'aaaabbbbcc.mp4' is a fake", "real clip"),
        ({"label": "REAL", "original": "aaaabbbbcc.mp4"}, "is real and names an original", "have none"),
        ({"label": "real"}, "column label: 'real' is none of", "FAKE or REAL"),
    ],
)
def test_a_broken_family_is_refused(write, entry, message, hint):
    with pytest.raises(InputError, match=message) as refusal:
        load_items("dfdc", root=write("metadata.json", {**PART, "x.mp4": entry}))
    assert hint in str(refusal.value.hint)


def test_the_real_sample(real):
    items = load_items("dfdc", root=real / "dfdc_train_sample_metadata_5.json")
    table = items.table.to_pydict()
    assert table["label"] == ["fake", "fake", "real", "fake", "fake"]
    assert table["subject"] == [
        "vudstovrck.mp4", "jdubbvfswz.mp4", "abarnvbtwb.mp4", "atvmxvwyns.mp4", "qzimuostzz.mp4",
    ]  # fmt: skip
    assert set(table["split_released"]) == {"train"}


def test_validation_and_test_have_labels_and_no_families(write):
    write("validation/labels.csv", "filename,label\naaaabbbbcc.mp4,1\nddddeeeeff.mp4,0\n")
    more = {"aaaabbbbcc.mp4": {"is_fake": 1, "augs": {}}, "ssssttttuu.mp4": {"is_fake": 0}}
    root = write("validation/metadata.json", more)
    items = load_items("dfdc", root=root)
    assert items.table.select(["item", "label"]).to_pylist() == [
        {"item": "aaaabbbbcc.mp4", "label": "fake"},
        {"item": "ddddeeeeff.mp4", "label": "real"},
        {"item": "ssssttttuu.mp4", "label": "real"},
    ]
    assert not items.has_subjects
    assert items.report.notes[0].startswith("validation and test do not say which clips belong together")
    write("validation/metadata.json", {"ddddeeeeff.mp4": {"is_fake": 1}})
    with pytest.raises(InputError, match=r"ddddeeeeff\.mp4: is '1', and '0' in labels\.csv") as refusal:
        load_items("dfdc", root=root)
    assert "correct one" in str(refusal.value.hint)


CLIP = {
    "is_fake": 1,
    "label": "FAKE",
    "casual_conv_subject_id": "1140",
    "casual_conv_label": {"age": "34", "gender": "Female", "is_dark": False, "skin-type": "4"},
}


def test_clips_of_casual_conversations_have_its_subjects_and_attributes(write):
    other = {**CLIP, "is_fake": 0, "label": "REAL", "casual_conv_subject_id": 7}
    other["casual_conv_label"] = {"age": "N/A", "gender": "N/A", "is_dark": True, "skin-type": "6"}
    root = write("cc.json", {"abcdefghij.mp4": CLIP, "klmnopqrst.mp4": other})
    items = load_items("dfdc-casual-conversations", root=root)
    assert items.table.drop_columns(["annotation"]).to_pydict() == {
        "item": ["abcdefghij.mp4", "klmnopqrst.mp4"],
        "subject": ["1140", "7"],
        "label": ["fake", "real"],
        "age": ["34", None],
        "gender": ["Female", None],
        "skin_type": ["IV", "VI"],
        "lighting": ["bright", "dark"],
    }
    assert items.card.evaluation_only
    with pytest.raises(InputError, match="names subjects of Casual Conversations") as refusal:
        load_items("dfdc", root=root / "cc.json")
    assert "dfdc-casual-conversations" in str(refusal.value.hint)


def test_a_clip_that_contradicts_itself_is_refused(write):
    with pytest.raises(InputError, match=r"cc\.json, a\.mp4: is_fake is 0 and label is 'fake'") as refusal:
        load_items("dfdc-cc", root=write("cc.json", {"a.mp4": {**CLIP, "is_fake": 0}}))
    assert "correct one" in str(refusal.value.hint)
    with pytest.raises(InputError, match="has no subject of Casual Conversations"):
        load_items("dfdc-cc", root=write("cc.json", {"a.mp4": {"is_fake": 0}}))
