"""Coefficients against published values, their properties, and what degenerate votes give."""

import json

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.annotate import (
    aggregate,
    load_scale,
    measure_agreement,
    parse_questions,
    read_annotations,
    settle,
    votes_of,
)
from protoctl.annotate.alpha import alpha_of, coincidences
from protoctl.annotate.cohen import cohen_kappa, pair_tables
from protoctl.annotate.fleiss import category_kappas, fleiss_kappa, percent_agreement
from protoctl.annotate.gwet import gwet_ac
from protoctl.annotate.sampling import binomial, multinomial
from protoctl.digests import SplitMix64
from protoctl.scales import FITZPATRICK, Scale

METRICS = ("nominal", "ordinal", "interval")


@pytest.fixture(scope="module")
def reference(published):
    return json.loads((published / "agreement_reference_values.json").read_text())


@pytest.fixture(scope="module")
def tables(published):
    return json.loads((published / "agreement_tables.json").read_text())


def scale_of(values):
    return Scale("numbers", tuple(str(value) for value in values), ordered=True)


def votes_from_units(rows, values):
    """Votes of a table whose rows are units and whose columns are annotators."""
    taken = [
        (f"u{unit:02}", f"r{place}", str(value), True)
        for unit, row in enumerate(rows)
        for place, value in enumerate(row)
        if value is not None
    ]
    return votes_of(taken, scale_of(values))


def point(votes, name):
    return measure_agreement(votes, replicates=0).coefficient(name).value


def test_textbook_alpha(reference):
    found = reference["krippendorff_textbook_4x12"]
    votes = votes_from_units(list(zip(*found["rows_are_coders"], strict=True)), range(1, 6))
    for metric in METRICS:
        assert point(votes, f"alpha, {metric}") == pytest.approx(found["alpha"][metric], abs=1e-12)


def test_gwet_four_raters(reference, tables):
    found = reference["gwet_raw_4raters"]
    votes = votes_from_units(tables["gwet_raw_4raters"]["rows_are_units"], range(1, 6))
    assert point(votes, "alpha, nominal") == pytest.approx(found["alpha_nominal"], abs=5e-7)
    assert point(votes, "Gwet AC1") == pytest.approx(found["AC1"], abs=5e-6)
    assert point(votes, "Fleiss kappa") == pytest.approx(found["fleiss_gwet_missing"], abs=5e-6)
    assert point(votes, "percent agreement") == pytest.approx(found["pa"], abs=5e-6)
    assert point(votes, "Gwet AC2, quadratic") == pytest.approx(found["AC2_quadratic"], abs=5e-6)


def test_gwet_five_observers(reference, tables):
    found = reference["gwet_raw_5observers"]
    votes = votes_from_units(tables["gwet_raw_5observers"]["rows_are_units"], range(4))
    assert point(votes, "Gwet AC1") == pytest.approx(found["AC1"], abs=5e-6)
    assert point(votes, "alpha, nominal") == pytest.approx(found["alpha_nominal"], abs=5e-6)
    assert point(votes, "alpha, ordinal") == pytest.approx(found["alpha_ordinal_krippendorff"], abs=5e-7)
    assert point(votes, "Gwet AC2, quadratic") == pytest.approx(found["AC2_quadratic"], abs=5e-6)
    assert point(votes, "percent agreement") == pytest.approx(found["pa"], abs=5e-6)


@pytest.mark.parametrize("name", ["gwet_table_3x3_abstractors", "gwet_table_4x4_diagnosis"])
def test_gwet_cross_tables(reference, tables, name):
    table = np.array(tables[name]["contingency"])
    size = len(table)
    rows = [(one, two) for one in range(size) for two in range(size) for _ in range(table[one, two])]
    votes = votes_from_units(rows, range(size))
    found = reference[name]
    assert float(cohen_kappa(table)) == pytest.approx(found["cohen"], abs=5e-6)
    assert point(votes, "Gwet AC1") == pytest.approx(found["AC1"], abs=5e-6)
    assert point(votes, "alpha, nominal") == pytest.approx(found["alpha"], abs=5e-6)
    # With two votes on every unit Fleiss' kappa is Scott's pi.
    assert point(votes, "Fleiss kappa") == pytest.approx(found["scott"], abs=5e-6)
    assert measure_agreement(votes, replicates=0).pairs[0].kappas[0].value == pytest.approx(found["cohen"], abs=5e-6)


def test_fleiss_diagnoses(reference, tables):
    found = reference["fleiss1971_diagnoses_30x6"]
    votes = votes_from_units(tables["fleiss1971_diagnoses_30x6"]["rows_are_units"], range(1, 6))
    measured = measure_agreement(votes, replicates=0)
    assert measured.coefficient("Fleiss kappa").value == pytest.approx(found["fleiss"], abs=5e-12)
    assert measured.coefficient("Fleiss kappa").value == pytest.approx(found["R_irr"], abs=5e-8)
    assert measured.coefficient("alpha, nominal").value == pytest.approx(found["alpha_nominal"], abs=5e-12)
    assert measured.coefficient("Gwet AC1").value == pytest.approx(found["AC1"], abs=5e-6)
    assert measured.coefficient("percent agreement").value == pytest.approx(found["pa"], abs=5e-6)
    assert [round(each.kappa.value, 3) for each in measured.categories] == found["per_category"]


def test_anxiety_on_the_full_scale(reference, tables):
    found = reference["irr_anxiety_20x3"]
    votes = votes_from_units(tables["irr_anxiety_20x3"]["rows_are_units"], range(1, 7))
    pairs = {each.annotators: each for each in measure_agreement(votes, replicates=0).pairs}
    plain, linear, quadratic = (kappa.value for kappa in pairs["r0", "r1"].kappas)
    assert plain == pytest.approx(found["cohen_12"], abs=5e-10)
    assert linear == pytest.approx(found["cohen_12_linear"], abs=5e-10)
    assert quadratic == pytest.approx(found["cohen_12_quadratic"], abs=5e-10)
    assert pairs["r0", "r2"].kappas[0].value == pytest.approx(found["cohen_13"], abs=5e-10)
    plain, linear, quadratic = (kappa.value for kappa in pairs["r1", "r2"].kappas)
    assert plain == pytest.approx(found["cohen_23"], abs=5e-10)
    assert linear == pytest.approx(found["cohen_23_linear_full_scale_1to6"], abs=5e-10)
    assert quadratic == pytest.approx(found["cohen_23_quadratic_full_scale_1to6"], abs=5e-10)
    assert point(votes, "Fleiss kappa") == pytest.approx(found["fleiss"], abs=5e-10)
    for metric in ("nominal", "ordinal"):
        assert point(votes, f"alpha, {metric}") == pytest.approx(found[f"alpha_{metric}"], abs=5e-11)
    # The file has .1700985079; in whole numbers it is 1173/6896 = .1700986079, and krippendorff says so too.
    assert point(votes, "alpha, interval") == pytest.approx(1173 / 6896, abs=1e-14)
    assert point(votes, "alpha, interval") == pytest.approx(found["alpha_interval"], abs=2e-7)


def test_wikipedia_fleiss(reference, tables):
    counts = np.array(tables["wikipedia_fleiss_10x14"]["counts_units_by_category"])
    expected = reference["wikipedia_fleiss_10x14"]["fleiss"]
    assert float(fleiss_kappa(counts, np.ones((1, 10)))[0]) == pytest.approx(expected, abs=5e-10)


def test_ferplus(reference, real):
    """All figures of the real counts, through the reader of count tables."""
    found = reference["ferplus_35887x10"]
    path = real / "ferplus_fer2013new.csv"
    votes = settle(read_annotations([path], scale=load_scale("ferplus"), unit="Image name"), load_scale("ferplus"))
    assert (len(votes.units), len(votes)) == (35_887, 358_869)
    assert point(votes, "alpha, nominal") == pytest.approx(found["alpha_nominal_10cols"], abs=5e-7)
    patterns = votes.patterns()
    ten = patterns.votes.sum(axis=1) == 10
    multiples = (patterns.frequency * ten)[None].astype(float)
    assert int(multiples.sum()) == 35_886
    assert float(fleiss_kappa(patterns.votes, multiples)[0]) == pytest.approx(found["fleiss_10cols_n35886"], abs=5e-7)
    most = patterns.votes == patterns.votes.max(axis=1, keepdims=True)
    assert int(patterns.frequency[most.sum(axis=1) > 1].sum()) == found["ties_10cols"]
    emotions = load_scale("ferplus-emotions")
    votes = settle(read_annotations([path], scale=emotions, unit="Image name"), emotions)
    agreement = measure_agreement(votes, replicates=0)
    assert agreement.paired == 35_711
    value = agreement.coefficient("alpha, nominal").value
    assert value == pytest.approx(found["alpha_nominal_8emotions_n35711"], abs=5e-7)


def test_tiny_weighted_alpha(reference):
    checks = reference["weighted_alpha_checks"]
    rows = [
        (f"u{unit}", f"a{place}", str(label), weight == 1)
        for unit, votes in enumerate(checks["tiny_nominal_units_label_weight"])
        for place, (label, weight) in enumerate(votes)
    ]
    votes = votes_of(rows, Scale("two", ("0", "1"), ordered=False))
    value = point(votes, "confidence-weighted alpha (protoctl), nominal")
    assert value == pytest.approx(checks["tiny_nominal"], abs=1e-14)


def test_project_two(reference, real):
    found = reference["weighted_alpha_checks"]["ls_project2_3011x8"]
    annotations = read_annotations([real / "label_studio/project2_3011x8.json"], unit="subject_id")
    result = aggregate(annotations, parse_questions("fitzpatrick"), replicates=200).results[0]
    assert (len(result.votes), int(result.votes.doubtful.sum())) == (found["votes"], found["uncertain"])
    assert result.labels.counts()["tie"] == found["weighted_ties"]
    names = {
        "unweighted": "alpha",
        "weighted": "confidence-weighted alpha (protoctl)",
        "confident_only": "alpha over confident votes",
    }
    listed = [each.name for each in result.agreement.coefficients]
    assert listed.index("alpha, ordinal") < listed.index("confidence-weighted alpha (protoctl), ordinal")
    for form, name in names.items():
        for metric in METRICS:
            held = result.agreement.coefficient(f"{name}, {metric}")
            assert held.value == pytest.approx(found[form][metric], abs=5e-7)
            assert held.low < held.value < held.high
            assert held.high - held.low < 0.03
    assert {each.by for each in result.agreement.coefficients[1:4]} == {"krippendorff"}
    assert result.agreement.pairs[0].units == 2_872


CELLS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 4), st.integers(0, 5), st.booleans()), min_size=2, max_size=40
)


def votes_from_cells(cells, weights=(2, 1), confident=None):
    held = {(unit, who): (category, sure) for unit, who, category, sure in cells}
    rows = [
        (f"u{unit}", f"a{who}", FITZPATRICK.categories[category], sure if confident is None else confident)
        for (unit, who), (category, sure) in held.items()
    ]
    return votes_of(rows, FITZPATRICK, weights=weights)


def library_alpha(counts, metric):
    paired = counts[counts.sum(axis=1) > 1]
    if (paired.sum(axis=0) > 0).sum() < 2:
        return None
    return float(krippendorff.alpha(value_counts=counts, value_domain=[*range(6)], level_of_measurement=metric))


@settings(max_examples=60, deadline=None)
@given(CELLS)
def test_weights_of_one_give_krippendorffs_alpha(cells):
    votes = votes_from_cells(cells, weights=(1, 1))
    patterns = votes.patterns()
    pairs, squares = coincidences(patterns.confident, patterns.doubtful, (1, 1))
    summed = np.tensordot(patterns.frequency, pairs, 1)
    counts = patterns.votes[patterns.of]
    for metric in METRICS:
        ours = float(alpha_of(summed, patterns.frequency @ squares, metric))
        theirs = library_alpha(counts, metric)
        assert np.isnan(ours) if theirs is None else ours == pytest.approx(theirs, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(CELLS, st.integers(2, 5))
def test_weights_scaled_by_a_constant_change_nothing(cells, factor):
    plain = measure_agreement(votes_from_cells(cells), replicates=20).document()
    assert measure_agreement(votes_from_cells(cells, weights=(2 * factor, factor)), replicates=20).document() == plain
    name = "confidence-weighted alpha (protoctl), ordinal"
    halves = measure_agreement(votes_from_cells(cells, confident=False), replicates=0).coefficient(name).value
    whole = measure_agreement(votes_from_cells(cells, confident=True), replicates=0).coefficient("alpha, ordinal").value
    assert halves == (None if whole is None else pytest.approx(whole, abs=1e-9))


@settings(max_examples=40, deadline=None)
@given(CELLS, st.randoms(use_true_random=False))
def test_order_changes_nothing_and_intervals_hold_their_values(cells, shuffler):
    cells = list({(unit, who): (unit, who, category, sure) for unit, who, category, sure in cells}.values())
    other = cells.copy()
    shuffler.shuffle(other)
    first = measure_agreement(votes_from_cells(cells), replicates=50, seed=3)
    assert measure_agreement(votes_from_cells(other), replicates=50, seed=3) == first
    for each in (*first.coefficients, *(each.kappa for each in first.categories)):
        assert (each.value is None) == (each.reason is not None and each.low is None and "interval" not in each.reason)
        if each.low is not None:
            assert each.low <= each.value <= each.high
    json.dumps(first.document(), allow_nan=False)


def test_an_interval_narrows_with_the_number_of_units():
    rows = [
        (f"u{unit}", f"a{who}", "III" if (unit + who) % 3 else "IV", True) for unit in range(900) for who in range(3)
    ]
    few = measure_agreement(votes_of(rows[:90], FITZPATRICK)).coefficient("Gwet AC1")
    many = measure_agreement(votes_of(rows, FITZPATRICK)).coefficient("Gwet AC1")
    assert many.high - many.low <= (few.high - few.low) / 2


def test_pairs_equal_sums_of_votes_by_hand():
    votes = votes_of([("u", "a", "I", True), ("u", "b", "II", False), ("u", "c", "I", True)], FITZPATRICK)
    pairs, tables = pair_tables(votes)
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert [tuple(np.argwhere(table)[0].tolist()) for table in tables] == [(0, 1), (0, 0), (1, 0)]


class TestDegenerate:
    def test_one_category_only(self):
        votes = votes_of([(f"u{n}", who, "II", True) for n in range(4) for who in "ab"], FITZPATRICK)
        found = measure_agreement(votes, replicates=50)
        assert found.coefficient("percent agreement").value == 1.0
        assert found.coefficient("Gwet AC1").value == 1.0
        for name in ("alpha, ordinal", "Fleiss kappa"):
            each = found.coefficient(name)
            assert (each.value, each.low) == (None, None)
            assert each.reason == "all votes are of one category: agreement by chance is undefined"
        assert found.pairs[0].kappas[0].reason.startswith("both used one and the same category only")
        assert found.categories[0].kappa.reason == "nobody chose it"

    def test_no_unit_with_two_votes(self):
        found = measure_agreement(votes_of([("u1", "a", "I", True), ("u2", "b", "V", True)], FITZPATRICK))
        assert {each.value for each in found.coefficients} == {None}
        assert {each.reason for each in found.coefficients} == {"no unit has two votes"}
        assert (found.pairs[0].units, found.pairs[0].kappas[0].reason) == (0, "they share no unit")

    def test_one_disagreement_beside_unanimity_is_said(self):
        rows = [(f"u{n:02}", who, "II", True) for n in range(30) for who in "ab"]
        rows[-1] = ("u29", "b", "III", True)
        found = measure_agreement(votes_of(rows, FITZPATRICK), replicates=100)
        assert found.coefficient("alpha, nominal").value == pytest.approx(0, abs=1e-12)
        assert found.coefficient("Gwet AC1").value > 0.95
        assert "one category holds 98% of the votes" in " ".join(found.notes)
        reason = found.coefficient("alpha, nominal").reason
        assert reason.startswith("no interval: ")
        assert reason.endswith(" of 100 replicates are undefined")

    def test_no_replicates_give_no_interval_and_no_reason(self):
        votes = votes_of([("u1", "a", "I", True), ("u1", "b", "V", True), ("u2", "a", "V", True)], FITZPATRICK)
        each = measure_agreement(votes, replicates=0).coefficient("alpha, nominal")
        assert (each.value, each.low, each.reason) == (pytest.approx(0, abs=1e-12), None, None)


class TestSampling:
    def test_both_methods_draw_what_they_should(self):
        counts = np.array([[500, 300, 150, 49, 1, 0]])
        direct = multinomial(np.repeat(counts, 30, axis=1) // 30, 400, 1, "test")
        assert direct.shape == (1, 400, 180)
        assert (direct.sum(axis=2) == (counts // 30 * 30).sum()).all()
        coins = multinomial(counts * 50, 4000, 1, "test")
        assert (coins.sum(axis=2) == 50_000).all()
        mean, variance = coins[0].mean(axis=0), coins[0].var(axis=0)
        chance = counts[0] / 1000
        assert np.allclose(mean, 50_000 * chance, atol=8)
        assert np.allclose(variance, 50_000 * chance * (1 - chance), rtol=0.08)

    def test_binomial_numbers_have_their_moments(self):
        drawn = binomial(np.full((1, 60_000), 37), np.array([5]), np.array([13]), SplitMix64(1, "test"))
        assert drawn.mean() == pytest.approx(37 * 5 / 13, abs=0.05)
        assert drawn.var() == pytest.approx(37 * 5 / 13 * 8 / 13, rel=0.03)
        sure = binomial(np.array([[9], [9]]), np.array([0, 4]), np.array([4, 4]), SplitMix64(1, "test"))
        assert sure.tolist() == [[0], [9]]

    def test_the_stream_is_fixed(self):
        """A golden value: another one means that every interval ever published changes."""
        assert multinomial(np.array([[3, 1]]), 4, 0, "example").tolist() == [[[3, 1], [4, 0], [4, 0], [2, 2]]]
        drawn = multinomial(np.array([[700, 200, 100]]), 2, 0, "example").tolist()
        assert drawn == [[[685, 216, 99], [694, 206, 100]]]


def test_percent_and_category_kappa_of_unequal_units():
    counts = np.array([[2, 0], [1, 1], [3, 0], [1, 0]])
    multiples = np.ones((1, 4))
    assert float(percent_agreement(counts, multiples)[0]) == pytest.approx(2 / 3)
    kappa = fleiss_kappa(counts, multiples)[0]
    assert category_kappas(counts, multiples)[0].tolist() == pytest.approx([kappa, kappa])
    assert float(gwet_ac(counts, multiples)[0]) == pytest.approx((2 / 3 - 0.21875) / (1 - 0.21875))
