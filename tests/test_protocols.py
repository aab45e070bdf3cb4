"""Protocol files: what they hold, what they refuse, and the forms they bring values into."""

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protoctl.errors import InputError, ProtocolError
from protoctl.protocols import (
    active,
    cut_years,
    load_protocol,
    override,
    parse_protocol,
    protocol_names,
    region,
    scaled,
)
from protoctl.scales import AGE_GROUPS

MINIMAL = "name: mine\nversion: 1.0.0\nsplit: {ratios: {train: 7, test: 3}}\n"


def refused(text: str) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        parse_protocol(text, "mine.yaml")
    return caught.value


def test_the_affect_paper_s_protocol():
    protocol = load_protocol("fair-55-15-30")
    assert protocol.split is not None
    assert dict(protocol.split.ratios) == {"train": 55, "valid": 15, "test": 30}
    assert protocol.split.stratify == ("label", "age", "gender", "race")
    assert protocol.select.annotation == "manual"
    assert protocol.form.valence_arousal == (Decimal(-1), Decimal(1))
    assert "fair-55-15-30" in protocol_names()


def test_digest_depends_on_what_is_said_and_not_on_how():
    plain = parse_protocol(MINIMAL, "a")
    respelt = parse_protocol(
        "# a comment\nversion: 1.0.0\nname: mine\nsplit:\n  ratios: {train: 70, test: 30}\n  cover: 1\n", "b"
    )
    assert plain.digest == respelt.digest
    swapped = parse_protocol(MINIMAL.replace("train: 7, test: 3", "test: 3, train: 7"), "c")
    assert swapped.digest != plain.digest


@pytest.mark.parametrize(
    ("ratios", "message"),
    [
        ("{train: 0, test: 3}", "$.split.ratios.train: 0 is not above 0"),
        ("{train: -5, test: 3}", "$.split.ratios.train: -5 is not above 0"),
        ("{train: most, test: 3}", "$.split.ratios.train: 'most' is not an integer"),
        ("{train: 0.7, test: 3}", "$.split.ratios.train: 0.7 is not an integer"),
        ("{train: true, test: 3}", "$.split.ratios.train: True is not an integer"),
        ("{train: .nan, test: 3}", "$.split.ratios.train: nan is not an integer"),
        ("{train: 7}", "$.split.ratios: has one split"),
        ("{Train: 7, test: 3}", "$.split.ratios.Train: is no name of a split"),
        ("[7, 3]", "$.split.ratios: [7, 3] is not a mapping"),
    ],
)
def test_ratios_that_make_no_sense(ratios, message):
    error = refused(f"name: mine\nversion: 1.0.0\nsplit: {{ratios: {ratios}}}\n")
    assert message in error.message
    assert error.exit_code == 3


def test_every_problem_is_named_at_once():
    error = refused(
        "name: Mine!\nversion: 1\nsplit: {ratios: {a: 0, b: 1}, unti: subject}\nscore: {expression: [f2]}\n"
    )
    assert ", 5 problems:" in error.message
    for place in ("$.name", "$.version", "$.split.ratios.a", "$.split.unti", "$.score.expression[0]"):
        assert place in error.message
    assert error.hint is not None


def test_unknown_key_has_its_close_match():
    error = refused(MINIMAL + "stratfy: [age]\nselct: {}\n")
    assert "$.selct: there is no key 'selct'" in error.message
    assert error.hint is not None
    assert "did you mean" in error.hint or "There are" in error.hint


def test_extension_keys_pass():
    assert parse_protocol(MINIMAL + "x-note: ours\n", "a").name == "mine"


def test_objects_are_never_built():
    error = refused("name: !!python/object/apply:os.getcwd []\nversion: 1.0.0\n")
    assert error.message.startswith("mine.yaml:1:")
    assert "python/object/apply:os.getcwd" in error.message
    assert error.hint == "a protocol holds texts, numbers, lists and mappings only; remove the tag"


def test_a_key_that_stands_twice():
    assert "mine.yaml:2: key 'name' stands twice" in refused("name: a\nname: b\n").message


def test_text_that_is_no_yaml():
    assert "is not YAML" in refused("name: [a\n").message
    assert "$: 'just text' is not a mapping" in refused("just text\n").message


def test_a_protocol_needs_a_split_or_a_subset():
    assert "$: has neither 'split' nor 'subset'" in refused("name: mine\nversion: 1.0.0\n").message


def test_unknown_name_has_its_close_match():
    with pytest.raises(ProtocolError) as caught:
        load_protocol("fair-55-15-03")
    assert caught.value.message == "there is no protocol 'fair-55-15-03'"
    assert "did you mean 'fair-55-15-30'" in str(caught.value.hint)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(InputError) as caught:
        load_protocol(str(tmp_path / "mine.yaml"))
    assert "there is no such file" in caught.value.message
    assert caught.value.hint == "check the path"


def test_weights_belong_to_stratified_columns():
    error = refused("name: mine\nversion: 1.0.0\nsplit: {ratios: {a: 1, b: 1}, stratify: [age], weights: {agee: 2}}\n")
    assert "$.split.weights.agee: there is no stratified column 'agee'" in error.message
    assert "did you mean 'age'" in str(error.hint)


def test_overrides_keep_the_digest_and_are_recorded():
    protocol = load_protocol("fair-55-15-30")
    changed = override(protocol, stratify=("age",), require=("age", "gender"))
    assert changed.digest == protocol.digest
    assert changed.split is not None
    assert changed.split.stratify == ("age",)
    assert changed.select.require == ("label", "age", "gender")
    assert changed.overrides == {"stratify": ["age"], "require": ["age", "gender"]}


def column(*values):
    return pa.chunked_array([pa.array(values, pa.string())])


def test_nine_regions_of_valence_sit_on_decimal_borders():
    one = (Decimal(-1), Decimal(1))
    values = column("0.6", "0.59999", "-0.2", "1.0", "-1")
    assert region(values, "valence", one, Decimal("0.2")).to_pylist() == ["8", "7", "4", "9", "0"]


@given(st.integers(-10, 10))
def test_whole_tenths_scale_exactly(value):
    ten, one = (Decimal(-10), Decimal(10)), (Decimal(-1), Decimal(1))
    (text,) = scaled(column(str(value)), "valence", ten, one).to_pylist()
    assert Decimal(text) == Decimal(value) / 10


def test_values_outside_the_range_are_refused_with_their_row():
    one = (Decimal(-1), Decimal(1))
    with pytest.raises(InputError) as caught:
        scaled(column("0.5", "-2"), "valence", one, one)
    assert caught.value.message == ("column valence holds what is not a number from -1 to 1: '-2' (first in row 2)")
    assert caught.value.hint == "leave the field empty where the value is missing"


def test_intensity_and_occurrence():
    assert active(column("0", "1", "5", "B", None), "AU1", 1).to_pylist() == ["0", "0", "1", "1", None]
    assert active(column("0", "1", None), "AU1", 1, occurrence=True).to_pylist() == ["0", "1", None]
    with pytest.raises(InputError, match="999"):
        active(column("999"), "AU1", 0)


def test_years_are_cut_into_every_system_of_groups():
    nine, between = cut_years(column("2", "3", "69", "70", "116", None), "age", AGE_GROUPS["nine"])
    assert nine.to_pylist() == ["00-02", "03-09", "60-69", "70+", "70+", None]
    assert between == 0
    eight, between = cut_years(column("13", "14", "56"), "age", AGE_GROUPS["adience"])
    assert eight.to_pylist() == ["08-13", None, None]
    assert between == 2
    five, _ = cut_years(column("3", "4", "39", "40"), "age", AGE_GROUPS["raf"])
    assert five.to_pylist() == ["00-03", "04-19", "20-39", "40-69"]
