import json

import pytest

from protoctl.catalog import load_items
from protoctl.errors import InputError


def video(name, subject, **more):
    return {
        "video_name": name,
        "subject_id": subject,
        "age": "34",
        "gender": "cis woman",
        "monk_skin_tone": {"scale": "scale 5", "confidence": "high"},
        "fitzpatrick_skin_tone": {"type": "type iii", "confidence": "medium"},
        "geo_location": {"country": "Brazil", "state": "Bahia"},
        "native_language": "Portuguese",
        "secondary_languages": ["English"],
    } | more


VIDEOS = [
    video("0001_portuguese_scripted_1.mp4", "0001"),
    video("0001_portuguese_nonscripted_2.mp4", 1, gender="cis man", age=20),
    video("0002_a.mp4", "0002", age="prefer not to say", gender=None, geo_location=None, native_language=""),
    video("0003_a.mp4", "0003", gender="Prefer not to say", monk_skin_tone={"scale": "scale 10", "confidence": "low"}),
    video("0004_a.mp4", "0004", gender="transgender woman", fitzpatrick_skin_tone={"type": "VI"}, monk_skin_tone=None),
]


@pytest.fixture
def write(tmp_path):
    def written(document):
        (tmp_path / "annotations").mkdir(exist_ok=True)
        (tmp_path / "annotations/CasualConversationsV2.json").write_text(json.dumps(document))
        return tmp_path

    return written


def test_every_field_takes_its_category_and_whole_values_count(write):
    items = load_items("casual-conversations-v2", root=write(VIDEOS))
    table = items.table.to_pydict()
    assert table["subject"] == ["0001", "0001", "0002", "0003", "0004"]
    assert table["age"] == ["34", "20", None, "34", "34"]
    assert table["gender"] == ["cis woman", "cis man", None, None, "transgender woman"]
    assert table["skin_type"] == ["III", "III", "III", "III", "VI"]
    assert table["skin_type_confidence"] == ["medium"] * 4 + [None]
    assert table["monk_skin_tone"] == ["5", "5", "5", "10", None]
    assert table["country"] == ["Brazil", "Brazil", None, "Brazil", "Brazil"]
    assert table["native_language"][2] is None
    assert items.report.missing["gender"] == {"": 1, "Prefer not to say": 1}
    assert items.report.missing["age"] == {"prefer not to say": 1}


@pytest.mark.parametrize(
    ("more", "message", "hint"),
    [
        ({"gender": "woman"}, r"V2\.json\[0\], column gender: 'woman' is none of", "cis woman"),
        ({"age": "34.5"}, "column age: '34.5' is none of", "prefer not to say"),
        ({"fitzpatrick_skin_tone": {"type": "type vii"}}, "column skin_type: 'type vii'", "I to VI"),
        ({"monk_skin_tone": {"scale": "scale 11"}}, "column monk_skin_tone: 'scale 11'", "1 to 10"),
        ({"subject_id": ""}, r"V2\.json\[0\]: names no video or no subject", "video_name"),
    ],
)
def test_an_unknown_value_is_refused_with_its_place(write, more, message, hint):
    with pytest.raises(InputError, match=message) as refusal:
        load_items("ccv2", root=write([video("a.mp4", "0001", **more)]))
    assert hint in str(refusal.value.hint)


def test_version_1_and_version_2_tell_each_other(write):
    with pytest.raises(InputError, match="holds a dict, and a list of videos is wanted") as refusal:
        load_items("ccv2", root=write({"1": {}}))
    assert "casual-conversations" in str(refusal.value.hint)
    path = write(VIDEOS) / "annotations/CasualConversationsV2.json"
    with pytest.raises(InputError, match="holds a list, and an object keyed by subject is wanted") as refusal:
        load_items("casual-conversations", root=path)
    assert "casual-conversations-v2" in str(refusal.value.hint)
