"""What every reader does with a place that holds nothing it knows, and what forms do over datasets."""

import pytest

from protoctl.catalog import card_names, load_card, load_items
from protoctl.errors import InputError
from protoctl.partition import prepare
from protoctl.protocols import parse_protocol

READERS = [name for name in card_names() if load_card(name).reader]


@pytest.mark.parametrize("name", READERS)
def test_an_unknown_layout_says_what_was_looked_for_and_what_was_found(tmp_path, name):
    (tmp_path / "holiday.txt").write_text("no dataset\n")
    (tmp_path / "images").mkdir()
    with pytest.raises(InputError) as refusal:
        load_items(name, root=tmp_path)
    card = load_card(name)
    assert refusal.value.message.startswith(f"{card.title}: {tmp_path} holds no layout that is known. Looked for: ")
    assert refusal.value.message.endswith("Found: holiday.txt, images")
    assert "protoctl split items.csv" in str(refusal.value.hint)


@pytest.mark.parametrize("name", READERS)
def test_an_empty_folder_is_said_to_be_empty(tmp_path, name):
    with pytest.raises(InputError, match="Found: an empty folder") as refusal:
        load_items(name, root=tmp_path)
    assert "--root" in str(refusal.value.hint)


def test_every_dataset_of_the_papers_has_a_card_and_a_reader():
    assert set(READERS) == set(card_names()) >= {
        "adience", "affectnet", "afew-va", "casual-conversations", "casual-conversations-v2", "dfdc",
        "dfdc-casual-conversations", "dfdc-preview", "disfa", "emotionet", "fairface", "ferplus", "gft", "miap",
        "raf-au", "raf-db", "utkface",
    }  # fmt: skip


def test_a_card_is_printed_readably(protoctl):
    run = protoctl("datasets", "gft")
    assert run.code == 0
    for text in (
        "title: GFT",
        "CC BY 4.0",
        "osf.io/7wcyz",
        "three of them (001) share a session",
        "AU24",
        "items: 133194",
    ):
        assert text in run.out.replace("\n    ", " ").replace("\n  ", " "), text


RACES = """
name: mine
version: 1.0.0
source: this test
form: {race: four}
split: {ratios: {train: 2, test: 1}, unit: item, stratify: [race]}
"""


def test_seven_races_become_four_only_when_asked_and_then_it_is_said(tmp_path):
    path = tmp_path / "fairface_label_val.csv"
    races = ["East Asian", "Southeast Asian", "Latino_Hispanic", "Middle Eastern", "Indian", "White", "Black", "White"]
    rows = "".join(f"val/{at}.jpg,20-29,Male,{race},True\n" for at, race in enumerate(races, start=1))
    path.write_text("file,age,gender,race,service_test\n" + rows)
    items = load_items("fairface", root=path)
    found = prepare(items, parse_protocol(RACES, "mine.yaml"))
    merged = ["Asian", "Asian", None, None, "Indian", "White", "Black", "White"]
    assert found.items.table["race"].to_pylist() == merged
    assert "races are merged into four, as the protocol asks" in found.notes
    assert "1 items of race Latino_Hispanic have no place among four: missing" in found.notes
    kept = prepare(items, parse_protocol(RACES.replace("form: {race: four}", ""), "mine.yaml"))
    assert kept.items.table["race"].to_pylist() == races
    with pytest.raises(InputError, match=r"\$\.form\.race: there is no merge of races 'five'") as refusal:
        parse_protocol(RACES.replace("four", "five"), "mine.yaml")
    assert "There are: four" in str(refusal.value.hint)


def test_adience_capped_at_1500_a_cell_of_gender_and_group(real):
    table = load_items("adience", root=real / "adience_folds").table.to_pandas()
    cells = table.dropna(subset=["age", "gender"]).groupby(["gender", "age"]).size()
    assert int(cells.sum()) == 17_452
    assert int(cells.clip(upper=1500).sum()) == 14_919
