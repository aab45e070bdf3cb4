"""Scores against METRICS' values, scikit-learn, statsmodels, and the readings that papers get wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.audit.action_units import best_thresholds, f1_au, predicted_rates, unit_counts
from protoctl.audit.corruption import CORRUPTIONS, check_combinations, odds, odds_ratios, rce
from protoctl.audit.deepfake import (
    cross_entropy,
    curve,
    false_negatives,
    log_wp,
    log_wp_at_recall,
    missed_by_all,
    roc_area,
    share_beside_base,
)
from protoctl.audit.expression import accuracy, balanced_accuracy, category_counts, f1_macro
from protoctl.audit.fairness import demographic_parity_difference, statistical_parity
from protoctl.audit.frames import most_frequent, tune_thresholds
from protoctl.audit.valence_arousal import ccc, moments, mse, pcc, rmse
from protoctl.digests import SplitMix64
from protoctl.errors import InputError


def drawn(count, size, purpose="test"):
    return (SplitMix64(0, purpose).words(count) % np.uint64(size)).astype(np.int64)


def shares(count, purpose="test"):
    return (SplitMix64(1, purpose).words(count) >> np.uint64(11)).astype(float) * 2.0**-53


def test_f1_and_balanced_accuracy_are_those_of_scikit_learn():
    from sklearn.metrics import balanced_accuracy_score, f1_score

    truth, said = drawn(500, 6), drawn(500, 7, "said")
    counts = category_counts(truth, said, 8)
    wanted = f1_score(truth, said, labels=range(8), average="macro", zero_division=0)
    assert f1_macro(counts) == pytest.approx(wanted, abs=1e-12)
    recalls = [(said[truth == category] == category).mean() for category in range(6)]
    assert balanced_accuracy(counts) == pytest.approx(np.mean(recalls), abs=1e-12)
    kept = said < 6
    counts = category_counts(truth[kept], said[kept], 8)
    assert balanced_accuracy(counts) == pytest.approx(balanced_accuracy_score(truth[kept], said[kept]), abs=1e-12)


def test_a_category_that_nobody_has_counts_as_zero_in_f1():
    truth = np.array([0, 0, 1, 1])
    assert f1_macro(category_counts(truth, truth, 2)) == 1
    assert f1_macro(category_counts(truth, truth, 4)) == 0.5


def test_binary_f1_of_action_units_is_that_of_scikit_learn_without_unknown_labels():
    from sklearn.metrics import f1_score

    truth = drawn(900, 3).reshape(300, 3) - 1
    said = drawn(900, 2, "said").reshape(300, 3)
    wanted = [f1_score(truth[:, u][truth[:, u] >= 0], said[:, u][truth[:, u] >= 0]) for u in range(3)]
    assert f1_au(unit_counts(truth, said).sum(axis=0)) == pytest.approx(np.mean(wanted), abs=1e-12)


def test_thresholds_of_action_units_maximise_f1_on_what_they_are_given():
    truth, said = drawn(400, 2).reshape(200, 2), shares(400).reshape(200, 2)
    said = (said + truth) / 2
    found = best_thresholds(truth, said)
    best = f1_au(unit_counts(truth, (said >= found).astype(int)).sum(axis=0))
    for threshold in (0.1, 0.3, 0.5, 0.7):
        assert best >= f1_au(unit_counts(truth, (said >= threshold).astype(int)).sum(axis=0))


def test_concordance_is_that_of_the_written_out_example():
    # Truth 0.1, 0.3, 0.5 (mean 0.3, variance 2/75); prediction 0.2, 0.3, 0.7 (mean 0.4, variance 14/300);
    # covariance (0.2 * 0.2 + 0 + 0.2 * 0.3) / 3 = 1/30; 2/30 / (2/75 + 14/300 + 0.01) = 0.8.
    truth, said = np.array([[0.1], [0.3], [0.5]]), np.array([[0.2], [0.3], [0.7]])
    sums = moments(truth, said).sum(axis=0)
    assert ccc(sums) == pytest.approx(0.8, abs=1e-12)
    assert pcc(sums) == pytest.approx(np.corrcoef(truth[:, 0], said[:, 0])[0, 1], abs=1e-12)
    assert mse(sums) == pytest.approx(0.05 / 3, abs=1e-12)
    assert rmse(sums) == pytest.approx(np.sqrt(0.05 / 3), abs=1e-12)


def test_concordance_of_a_constant_prediction_is_zero():
    truth = np.array([[0.1], [0.3], [0.5]])
    assert ccc(moments(truth, np.full((3, 1), 0.3)).sum(axis=0)) == 0
    assert ccc(moments(truth, truth).sum(axis=0)) == pytest.approx(1)


def test_statistical_parity_has_the_half_that_the_printed_formula_lacks():
    assert statistical_parity(np.array([[1.0, 0.0], [0.0, 1.0]])) == 1
    three = np.array([[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]])
    assert statistical_parity(three) == pytest.approx((0.3 + 0.6 + 0.3) / 3)


def test_demographic_parity_difference_is_the_mean_of_largest_minus_smallest_rates():
    rows = unit_counts(np.zeros((10, 2), int), np.array([[1, 0]] * 4 + [[0, 0]] * 6))
    rates = np.stack([predicted_rates(rows[:5].sum(axis=0)), predicted_rates(rows[5:].sum(axis=0))])
    assert rates.tolist() == [[0.8, 0.0], [0.0, 0.0]]
    assert demographic_parity_difference(rates) == pytest.approx(0.4)


@pytest.mark.parametrize(("precision", "printed"), [(0.833, -3.044), (0.930, -2.140), (0.784, -3.352)])
def test_log_precision_is_best_at_zero_and_worse_when_more_negative(precision, printed):
    found = float(log_wp(precision, 1 - precision))
    assert found == pytest.approx(np.log(1 / (1 + 100 * (1 / precision - 1))), abs=1e-12)
    assert found == pytest.approx(printed, abs=0.02)
    # The wrong reading, "lower is better", would rank the model of precision 0.784 first.
    assert log_wp(1, 0) == 0 > log_wp(0.930, 0.070) > log_wp(0.833, 0.167) > log_wp(0.784, 0.216)
    assert log_wp(0, 5) == -np.inf


def test_log_precision_at_recall_takes_the_best_threshold_that_reaches_it():
    fake = np.array([True, True, False, True, False])
    _, true, false = curve(fake, np.array([0.9, 0.8, 0.7, 0.6, 0.1]))
    assert log_wp_at_recall(true, false, 0.5)[0] == 0
    assert log_wp_at_recall(true, false, 0.9)[0] == pytest.approx(np.log(3 / 103))
    _, true, false = curve(np.array([False, False]), np.array([0.9, 0.1]))
    assert log_wp_at_recall(true, false, 0.5)[0] == -np.inf


def test_area_and_log_loss_are_those_of_scikit_learn():
    from sklearn.metrics import log_loss, roc_auc_score

    fake = drawn(400, 2) == 1
    said = np.round((shares(400) + fake) / 2, 2)
    _, true, false = curve(fake, said)
    assert roc_area(true, false)[0] == pytest.approx(roc_auc_score(fake, said), abs=1e-12)
    kept = (said > 0) & (said < 1)
    losses, clipped = cross_entropy(fake[kept], said[kept])
    assert (losses.mean(), clipped) == (pytest.approx(log_loss(fake[kept], said[kept]), abs=1e-12), 0)
    assert cross_entropy(np.array([True, True]), np.array([0.0, 0.5]))[1] == 1


def test_weights_stand_for_repeated_items_in_the_curve():
    fake, said = np.array([True, False, True]), np.array([0.9, 0.8, 0.3])
    _, true, false = curve(fake, said, np.array([[2.0, 1.0, 0.0]]))
    _, again, other = curve(np.array([True, True, False]), np.array([0.9, 0.9, 0.8]))
    assert log_wp_at_recall(true, false, 0.9) == log_wp_at_recall(again, other, 0.9)
    assert roc_area(true, false) == roc_area(again, other)


def test_a_false_negative_is_a_fake_taken_for_real():
    fake, said = np.array([True, True, False, False]), np.array([False, True, True, False])
    assert false_negatives(fake, said).tolist() == [True, False, False, False]
    # The wrong reading counts the real video that is taken for a fake.
    assert not false_negatives(fake, said)[2]
    assert missed_by_all(fake, {"a": said, "b": ~said}).tolist() == [False] * 4


def test_a_share_of_missed_fakes_is_given_beside_the_share_of_all_fakes():
    # 60 % of the missed fakes are dark, and so are 80 % of all fakes: the dark ones are missed less often.
    dark, bright = share_beside_base(np.array([6, 4]), np.array([80, 20])).tolist()
    assert (dark, bright) == ([0.6, 0.8], [0.4, 0.2])
    assert dark[0] > bright[0]
    assert dark[0] < dark[1]


def test_what_casual_conversations_calls_precision_is_accuracy():
    from sklearn.metrics import precision_score

    truth, said = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    assert accuracy(category_counts(truth, said, 2)) == 0.75
    assert precision_score(truth, said) == 0.5


def test_the_most_frequent_gender_of_a_tie_is_said_to_be_none():
    codes, tie = most_frequent(np.array([0, 0, 1, 1, 1]), np.array([1, 0, 1, 1, 0]), 2)
    assert (codes.tolist(), tie.tolist()) == ([-1, 1], [True, False])


def test_thresholds_of_frames_are_tuned_over_subjects():
    videos = np.repeat(np.arange(40), 5)
    fake = np.arange(40) % 2 == 0
    said = np.where(fake[videos], 0.75, 0.25)
    found = tune_thresholds(videos, said, np.ones(200, bool), fake, [f"s{n}" for n in range(40)], seed=0)
    assert (found.reached, found.log_precision) == (True, 0.0)
    assert 0.25 <= found.frame < 0.75
    with pytest.raises(InputError, match="4 subjects with 20 fakes are too few") as caught:
        tune_thresholds(videos, said, np.ones(200, bool), fake, [f"s{n % 4}" for n in range(40)], seed=0)
    assert caught.value.hint == "give predictions of the whole train split, or set the thresholds yourself"


def test_corruption_errors_are_differences_in_the_number_of_faces():
    assert rce(np.array([1, 2, 0]), np.array([1, 1, 1])).tolist() == [0, 1, 1]
    assert len(CORRUPTIONS) == 15
    with pytest.raises(InputError, match="has no row of snow at severity 2") as caught:
        check_combinations(["a"] * 3, ["fog", "fog", "snow"], [1, 2, 1], (["fog", "snow"], [1, 2]))
    assert "a mean over fewer is another number" in caught.value.hint


def test_odds_are_those_of_the_papers_example():
    rates = (0.12, 0.21, 0.23)
    assert [round(odds(rate), 2) for rate in rates] == [0.14, 0.27, 0.30]
    assert [round(odds(rate) / odds(0.12), 2) for rate in rates[1:]] == [1.95, 2.19]
    assert [round(round(odds(rate), 2) / 0.14, 2) for rate in rates[1:]] == [1.93, 2.14]


def test_odds_ratios_and_both_errors_are_those_of_statsmodels():
    import statsmodels.api as sm

    count = 600
    subject = drawn(count, 40, "subject")
    male, dark = (subject % 2).astype(float), drawn(count, 2, "dark").astype(float)
    errors = (shares(count) < 0.2 + 0.2 * male + 0.1 * dark).astype(int)
    columns = {"gender": np.where(male == 1, "male", "female"), "lighting": np.where(dark == 1, "dark", "bright")}
    found = odds_ratios(errors, columns, [str(s) for s in subject], references={"lighting": "bright"})
    design = sm.add_constant(np.column_stack([male, dark]))
    plain = sm.Logit(errors, design).fit(disp=0)
    robust = sm.Logit(errors, design).fit(disp=0, cov_type="cluster", cov_kwds={"groups": subject})
    assert [each.term for each in found] == ["gender=male", "lighting=dark"]
    for at, each in enumerate(found, start=1):
        assert each.ratio == pytest.approx(np.exp(plain.params[at]), rel=1e-8)
        assert (each.z, each.p) == pytest.approx((plain.tvalues[at], plain.pvalues[at]), rel=1e-8)
        assert (each.cluster_z, each.cluster_p) == pytest.approx((robust.tvalues[at], robust.pvalues[at]), rel=1e-6)


def test_age_enters_as_a_number_and_two_columns_interact():
    count = 400
    years, male = 20 + drawn(count, 50, "years"), drawn(count, 2, "male")
    errors = (shares(count) < 0.2 + 0.005 * years).astype(int)
    found = odds_ratios(
        errors,
        {"gender": np.where(male == 1, "male", "female")},
        [str(n) for n in range(count)],
        numbers={"age": years},
        interactions=[("gender", "age")],
    )
    assert [each.term for each in found] == ["gender=male", "age (per 10 years)", "gender=male x age (per 10 years)"]
    with pytest.raises(InputError, match="no finite solution") as caught:
        odds_ratios(male, {"gender": np.where(male == 1, "male", "female")}, [str(n) for n in range(count)])
    assert caught.value.hint.startswith("merge or leave out the category")


COUNTS = st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=2, max_size=5)


@settings(max_examples=40, deadline=None)
@given(COUNTS)
def test_parity_lies_in_the_unit_range_and_knows_no_order(counts):
    held = np.array(counts, float)
    whole = held.sum(axis=1, keepdims=True)
    rates = np.where(whole > 0, held / np.maximum(whole, 1), np.nan)
    found = statistical_parity(rates)
    if (whole > 0).sum() < 2:
        assert np.isnan(found)
        return
    assert 0 <= found <= 1
    assert statistical_parity(rates[::-1, ::-1]) == pytest.approx(float(found))
    assert statistical_parity(np.vstack([rates[whole[:, 0] > 0][:1]] * 2)) == 0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), min_size=1, max_size=30))
def test_log_precision_is_never_positive_and_falls_with_recall(rows):
    fake, said = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    _, true, false = curve(fake, said)
    levels = [log_wp_at_recall(true, false, level)[0] for level in (0.1, 0.5, 0.9)]
    assert 0 >= levels[0] >= levels[1] >= levels[2]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=2, max_size=30))
def test_concordance_is_symmetric_and_no_larger_than_correlation(rows):
    truth, said = (np.round(np.array(side), 3)[:, None] for side in zip(*rows, strict=True))
    there, back = ccc(moments(truth, said).sum(axis=0)), ccc(moments(said, truth).sum(axis=0))
    assert there == pytest.approx(float(back), abs=1e-9)
    assert abs(there) <= abs(pcc(moments(truth, said).sum(axis=0))) + 1e-6


def test_parities_equal_what_other_libraries_gave():
    """Recorded: holisticai 1.0.14 (multiclass_statistical_parity), fairlearn 0.15.0 (demographic_parity_difference)."""
    groups = np.repeat([0, 1, 2], 5)
    predicted = np.array([0, 1, 2, 1, 0, 0, 2, 2, 1, 0, 1, 2, 2, 0, 1])
    shares = np.array([[(predicted[groups == g] == c).mean() for c in range(3)] for g in range(3)])
    assert float(statistical_parity(shares)) == pytest.approx(0.2, abs=1e-12)
    groups = np.repeat([0, 1, 2], [4, 5, 3])
    units = np.array([[1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1], [0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1]])
    rates = np.array([[unit[groups == g].mean() for unit in units] for g in range(3)])
    assert float(demographic_parity_difference(rates)) == pytest.approx((0.35 + 0.75) / 2, abs=1e-12)
