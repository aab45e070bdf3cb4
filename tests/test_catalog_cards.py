import pytest

from protoctl.catalog import card_names, find_card, load_card
from protoctl.catalog.cards import parse_card, safe_yaml
from protoctl.errors import InputError


def test_every_card_is_whole():
    cards = [load_card(name) for name in card_names()]
    assert {"adience", "affectnet", "casual-conversations", "emotionet", "fairface", "raf-au", "raf-db", "utkface"} <= {
        card.name for card in cards
    }
    for card in cards:
        assert card.document["name"] == card.name
        assert card.obtain
        assert card.layouts
        assert all(task.labels for task in card.tasks.values())
        assert card.default_task in (None, *card.tasks)
        for task in card.tasks.values():
            assert task.of is None or set(task.without) <= set(card.tasks[task.of].categories)


@pytest.mark.parametrize("name", ["rafdb", "RAF-DB", "raf_db", "Raf Db"])
def test_a_name_is_known_in_any_usual_spelling(name):
    assert load_card(name).name == "raf-db"


def test_an_unknown_name_is_refused_with_the_close_match():
    with pytest.raises(InputError, match="there is no dataset 'afectnet'") as refusal:
        load_card("afectnet")
    assert "did you mean 'affectnet'?" in str(refusal.value.hint)
    assert find_card("afectnet") is None


def test_a_task_is_known_in_any_usual_spelling_and_else_refused():
    card = load_card("affectnet")
    assert card.task(None) == "expression"
    assert card.task("Expression7") == "expression-7"
    with pytest.raises(InputError, match="there is no task 'expresion'") as refusal:
        card.task("expresion")
    assert "did you mean 'expression'?" in str(refusal.value.hint)


def test_a_card_that_breaks_the_rules_is_refused_with_every_place():
    document = dict(load_card("utkface").document) | {"licensed": "yes", "rows": "row", "nevr": []}
    with pytest.raises(InputError) as refusal:
        parse_card(document, "mine.yaml")
    for place in ("$.licensed", "$.rows", "$.nevr"):
        assert place in refusal.value.message
    assert "did you mean 'never'?" in str(refusal.value.hint)


def test_yaml_builds_no_objects(tmp_path):
    path = tmp_path / "items.yaml"
    path.write_text("item: name\nsubject: !!python/object/apply:os.system [true]\n")
    with pytest.raises(InputError, match=r"items\.yaml:2: is not plain YAML") as refusal:
        safe_yaml(path)
    assert "remove the tag" in str(refusal.value.hint)
