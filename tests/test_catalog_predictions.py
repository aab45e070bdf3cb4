from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.catalog import join_attributes, load_items
from protoctl.catalog.attribute_specs import parse_spec
from protoctl.errors import InputError
from protoctl.manifests import build_manifest
from protoctl.partition import balance_of, split_items
from protoctl.protocols import load_protocol, override


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return written


@pytest.fixture
def items(write):
    rows = "".join(f"{number}.jpg,Joy\n" for number in range(1, 7))
    return load_items(write("items.csv", "item,label\n" + rows))


PREDICTED = "item,age,gender,score\n1.jpg,20-29,f,0.9\n2.jpg,30-39,m,0.80\n3.jpg,40-49,m,0.79\n4.jpg,50-59,f,\n"


def test_predictions_are_marked_and_unsure_ones_missing(items, write):
    path = write("model.csv", PREDICTED)
    joined = join_attributes(items, f"{path},automatic,confidence=score,at-least=0.8")
    assert joined.table["age"].to_pylist() == ["20-29", "30-39", None, None, None, None]
    assert joined.table["age_source"].to_pylist() == ["automatic"] * 2 + [None] * 4
    assert joined.attributes == ("age", "gender")
    assert joined.report.missing["age"] == {"confidence below 0.8": 1, "no confidence": 1}


def test_people_first_then_the_model_and_the_manifest_says_how_many_of_each(items, write):
    people = write("people.csv", "item,age\n1.jpg,70+\n2.jpg,30-39\n")
    model = write("model.csv", "item,age,age_confidence\n" + "".join(f"{at}.jpg,30-39,0.{at}\n" for at in range(1, 6)))
    joined = join_attributes(items, f"{people},manual")
    joined = join_attributes(joined, f"{model},automatic,at-least=0.4")
    assert joined.table["age"].to_pylist() == ["70+", "30-39", None, "30-39", "30-39", None]
    assert joined.table["age_source"].to_pylist() == ["manual"] * 2 + [None, "automatic", "automatic", None]
    lax = join_attributes(join_attributes(items, f"{people},manual"), f"{model},automatic")
    assert (
        "model.csv: its age differs from what the items have in 1 of 2 predictions, and gives way" in lax.report.notes
    )
    protocol = override(load_protocol("fair-55-15-30"), stratify=("age",))
    found = split_items(joined, protocol)
    counts = build_manifest(found, balance_of(found)).document["columns"]["age"]
    assert {key: counts[key] for key in ("manual", "automatic", "missing", "unstated")} == {
        "manual": 2, "automatic": 2, "missing": 2, "unstated": 0,
    }  # fmt: skip


def test_people_who_contradict_each_other_are_still_refused(items, write):
    people = write("people.csv", "item,age\n1.jpg,70+\n")
    other = write("other.csv", "item,age\n1.jpg,30-39\n")
    with pytest.raises(
        InputError, match=r"other\.csv:2, column age: '30-39' for item '1\.jpg', which has '70\+'"
    ) as no:
        join_attributes(join_attributes(items, people), f"{other},manual")
    assert "correct it" in str(no.value.hint)


def test_a_table_may_say_it_a_row(items, write):
    path = write("mixed.csv", "item,age,age_source\n1.jpg,70+,manual\n2.jpg,30-39,automatic\n3.jpg,30-39,\n")
    joined = load_items(path.parent / "items.csv", attributes=[path])
    assert joined.table["age_source"].to_pylist() == ["manual", "automatic", None, None, None, None]
    assert joined.attributes == ("age",)
    write("mixed.csv", "item,age,age_source\n1.jpg,70+,robot\n")
    with pytest.raises(InputError, match=r"mixed\.csv:2, column age_source: 'robot' is neither manual") as refusal:
        join_attributes(items, path)
    assert "where a model did" in str(refusal.value.hint)


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (",automatic,at-leest=0.5", "there is no option of --attributes 'at-leest'", "did you mean 'at-least'?"),
        (",at-least=8", "at-least is '8', no number from 0 to 1", "at-least=0.8"),
        (",confidence=score", "a confidence is named and no threshold", "at-least"),
        (",automatic,at-least=0.5", "there is no column 'age_confidence'", "There are"),
        (",automatic,confidence=age,at-least=0.5", r"model\.csv:2, column age: '20-29' is no confidence", "0 to 1"),
    ],
)
def test_wrong_options_are_refused(items, write, options, message, hint):
    path = write("model.csv", PREDICTED)
    with pytest.raises(InputError, match=message) as refusal:
        join_attributes(items, f"{path}{options}")
    assert hint in str(refusal.value.hint)


def test_a_comma_in_a_files_name_is_no_option(items, write):
    path = write("ages,manual", "item,age\n1.jpg,3\n")
    spec = parse_spec(path)
    assert (spec.path, spec.annotation) == (path, None)
    assert parse_spec(f"{path},manual").annotation == "manual"


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 100), min_size=1, max_size=6), st.integers(0, 100))
def test_exactly_the_sure_predictions_count(tmp_path_factory, scores, least):
    folder = tmp_path_factory.mktemp("scores")
    rows = "".join(f"{at}.jpg,Joy\n" for at in range(len(scores)))
    (folder / "items.csv").write_text("item,label\n" + rows)
    lines = "".join(f"{at}.jpg,20-29,{Decimal(score) / 100}\n" for at, score in enumerate(scores))
    (folder / "model.csv").write_text("item,age,score\n" + lines)
    spec = f"{folder / 'model.csv'},automatic,confidence=score,at-least={Decimal(least) / 100}"
    joined = load_items(folder / "items.csv", attributes=[spec])
    assert [value is not None for value in joined.table["age"].to_pylist()] == [score >= least for score in scores]
