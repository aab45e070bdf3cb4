import json

import pytest

from protoctl.catalog import load_items
from protoctl.errors import InputError

DOCUMENT = {
    "1140": {
        "label": {"age": "34", "gender": "Female", "skin-type": "4"},
        "files": ["CasualConversationsA/1140/1140_00.MP4", "CasualConversationsA/1140/1140_03.MP4"],
        "dark_files": ["CasualConversationsA/1140/1140_03.MP4"],
    },
    "2071": {
        "label": {"age": "61", "gender": "Male", "skin-type": "1"},
        "files": ["CasualConversationsH/1140/1140_00.MP4"],
        "dark_files": [],
    },
    "7": {
        "label": {"age": "N/A", "gender": "N/A", "skin-type": "6"},
        "files": ["CasualConversationsNO/0007/0007_01.MP4 "],
        "dark_files": [],
    },
}


def written(folder, document, name="CC_annotations/CasualConversations.json"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def changed(**parts):
    document = json.loads(json.dumps(DOCUMENT))
    document["1140"] |= parts
    return document


def test_subjects_are_keys_and_never_the_digits_of_a_path(tmp_path):
    written(tmp_path, DOCUMENT)
    items = load_items("casual-conversations", root=tmp_path)
    assert items.table.to_pydict() == {
        "item": [
            "CasualConversationsA/1140/1140_00.MP4",
            "CasualConversationsA/1140/1140_03.MP4",
            "CasualConversationsH/1140/1140_00.MP4",
            "CasualConversationsNO/0007/0007_01.MP4",
        ],
        "subject": ["1140", "1140", "2071", "7"],
        "age": ["34", "34", "61", None],
        "gender": ["Female", "Female", "Male", None],
        "skin_type": ["IV", "IV", "I", "VI"],
        "lighting": ["bright", "dark", "bright", "bright"],
    }
    assert items.report.missing == {"age": {"N/A": 1}, "gender": {"N/A": 1}}
    assert items.labels == ()
    assert "allow evaluation only" in items.report.notes[-1]


def test_the_whole_set_goes_before_the_mini_set(tmp_path):
    written(tmp_path, {"7": DOCUMENT["7"]}, "CasualConversations_mini.json")
    assert len(load_items("ccv1", root=tmp_path)) == 1
    written(tmp_path, DOCUMENT)
    assert len(load_items("ccv1", root=tmp_path)) == 4


@pytest.mark.parametrize(
    ("document", "message", "hint"),
    [
        (changed(dark_files=["CasualConversationsA/1140/1140_09.MP4"]),
         "CasualConversations.json, 1140.dark_files[0]: 'CasualConversationsA/1140/1140_09.MP4' is not among", "dark"),
        (changed(label={"age": "34", "gender": "Female", "skin-type": "7"}),
         "1140.files[0], column skin_type: '7' is none of the known values (2 rows, this is the first)", "known: 1"),
        (changed(label={"age": "old", "gender": "woman", "skin-type": "2"}),
         "1140.files[0], column gender: 'woman'", "number of years"),
        (changed(files=["CasualConversationsH/1140/1140_00.MP4"], dark_files=[]),
         "2071.files[0]: item 'CasualConversationsH/1140/1140_00.MP4' stands already at", "keep one"),
        (changed(files="x"), "CasualConversations.json, 1140: is not a subject with a label and a list", "files"),
        ("[]", "holds a list", "version 2"),
        ("{", "CasualConversations.json:1: is not JSON", "copied whole"),
        ('{"7": {}, "7": {}}', "keys stand twice in one object: 7", "keep one"),
    ],
)  # fmt: skip
def test_what_the_format_forbids_is_refused_with_its_place(tmp_path, document, message, hint):
    written(tmp_path, document)
    with pytest.raises(InputError) as refusal:
        load_items("casual-conversations", root=tmp_path)
    assert message in refusal.value.message
    assert hint in str(refusal.value.hint)


def test_a_file_listed_twice_under_one_key_counts_once(tmp_path):
    files = DOCUMENT["1140"]["files"]
    written(tmp_path, changed(files=[*files, files[0]]))
    items = load_items("casual-conversations", root=tmp_path)
    assert len(items) == 4
    assert items.report.skipped == {"row that repeats an earlier one of its item": 1}
