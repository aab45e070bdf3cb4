"""From votes to labels: weights, ties, stability, annotators, other policies, review and decisions."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.annotate import (
    Consensus,
    Settling,
    aggregate,
    annotator_reports,
    bucket_checks,
    doubt_weights,
    fewer_votes,
    label_changes,
    measure_agreement,
    parse_questions,
    read_annotations,
    read_decisions,
    review_rows,
    settle_labels,
    votes_of,
    write_aggregation,
    write_review,
)
from protoctl.annotate.consensus import LABEL_STATUSES
from protoctl.annotate.stability import vote_stability
from protoctl.errors import InputError, VotesError
from protoctl.scales import FITZPATRICK, Scale

GENDER = Scale("gender", ("Female", "Male"), ordered=False)


def votes_on(units, scale=FITZPATRICK):
    """Votes written as ``{"u1": "II III IV? IV"}``; a question mark is a doubt."""
    rows = [
        (unit, f"a{place}", word.rstrip("?"), not word.endswith("?"))
        for unit, words in units.items()
        for place, word in enumerate(words.split())
    ]
    return votes_of(rows, scale)


def labelled(units, scale=FITZPATRICK, *, seed=0, decisions=None, **options):
    labels = settle_labels(votes_on(units, scale), Consensus(**options), seed=seed, decisions=decisions)
    return {unit: labels.of(unit) for unit in units}, labels


def status(labels, unit):
    return LABEL_STATUSES[labels.status[labels.units.index(unit)]]


def refusal(call, error=VotesError):
    with pytest.raises(error) as caught:
        call()
    return caught.value.message, caught.value.hint


class TestMode:
    def test_a_doubtful_vote_counts_half(self):
        found, labels = labelled({"u1": "II II? III III? III?", "u2": "I II? II?", "u3": "II II"})
        assert found == {"u1": "III", "u2": None, "u3": "II"}
        assert [status(labels, unit) for unit in found] == ["mode", "tie", "agreed"]
        assert labels.share.tolist() == pytest.approx([2 / 3.5, 0.5, 1.0])
        assert labels.margin.tolist() == pytest.approx([0.5 / 3.5, 0.0, 1.0])
        assert labels.entropy[2] == 0
        assert labels.entropy[1] == pytest.approx(np.log(2) / np.log(6))
        assert (labels.votes.tolist(), labels.doubtful.tolist()) == ([5, 3, 2], [3, 2, 0])
        assert labels.rule == ("mode", "", "mode")

    def test_a_mode_of_half_votes_is_still_a_mode(self):
        assert labelled({"u": "IV? IV? V?"})[0] == {"u": "IV"}

    def test_too_few_votes(self):
        found, labels = labelled({"u1": "II II", "u2": "III"}, minimum=2)
        assert found == {"u1": "II", "u2": None}
        assert status(labels, "u2") == "too few"
        assert labels.stability[1] != labels.stability[1]
        assert refusal(lambda: Consensus(minimum=0))[0] == "a label needs one vote or more, and the minimum is 0"

    def test_without_any_vote_a_unit_stays(self):
        votes = replace(votes_on({"u1": "II"}), units=("u1", "u2"))
        labels = settle_labels(votes)
        assert (labels.of("u2"), status(labels, "u2")) == (None, "too few")
        assert np.isnan([labels.share[1], labels.margin[1], labels.entropy[1]]).all()

    def test_flips_and_stability(self):
        _, labels = labelled({"u1": "II II III", "u2": "II II II II", "u3": "II"}, stability_replicates=4000)
        assert labels.flips.tolist() == [2, 0, 1]
        # Of 27 draws of three votes, 20 have II on top; the share of others is the rest.
        assert labels.stability.tolist() == pytest.approx([20 / 27, 1.0, 1.0], abs=0.02)

    def test_stability_shares_a_tie_out_and_sums_to_one(self):
        patterns = votes_on({"u1": "II III", "u2": "I I? V? V", "u3": "VI?"}).patterns()
        stability = vote_stability(patterns, (2, 1), 4000, 0)
        assert stability.sum(axis=1).tolist() == pytest.approx([1.0, 1.0, 1.0])
        two = patterns.of[0]
        assert stability[two, 1:3].tolist() == pytest.approx([0.5, 0.5], abs=0.03)

    def test_other_units_have_no_influence_on_stability(self):
        alone = labelled({"u1": "II II? III"})[1].stability[0]
        among = labelled({"u0": "I II III IV V", "u1": "II II? III", "u2": "VI"})[1].stability[1]
        assert alone == among


class TestTies:
    def test_they_are_reported_as_ties(self):
        found, labels = labelled({"u": "II II IV IV"})
        assert found == {"u": None}
        assert (status(labels, "u"), labels.rule, labels.flips.tolist()) == ("tie", ("",), [-1])
        assert labels.candidates[0].tolist() == [False, True, False, True, False, False]

    @pytest.mark.parametrize(
        ("ties", "words", "label", "rule"),
        [
            (("nearest-mean",), "II II IV IV V", "IV", "nearest-mean"),
            (("nearest-mean",), "II II III III", None, ""),
            (("nearest-mean",), "I I II II VI", "II", "nearest-mean"),
            (("nearest-median",), "I I III III IV", "III", "nearest-median"),
            (("nearest-median",), "II II III III", None, ""),
            (("lowest",), "II II IV IV", "II", "lowest"),
            (("highest",), "II II IV IV", "IV", "highest"),
            (("nearest-mean", "lowest"), "I I III III V V", "III", "nearest-mean"),
            (("nearest-mean", "highest"), "II II III III", "III", "highest"),
        ],
    )
    def test_the_chain(self, ties, words, label, rule):
        found, labels = labelled({"u": words}, ties=ties)
        assert (found["u"], labels.rule[0]) == (label, rule)
        assert status(labels, "u") == "tie"

    def test_lowest_and_highest_warn_of_their_bias(self):
        _, labels = labelled({"u": "II II IV IV", "v": "I"}, ties=("lowest",))
        assert labels.warnings == (
            "tie rule lowest: 1 ties went to the category nearest I, which shifts the whole set that way; "
            "nearest-mean, then random, does not",
        )
        assert labelled({"u": "II II IV IV"}, ties=("random",))[1].warnings == ()

    def test_random_depends_on_the_unit_and_the_seed_alone(self):
        units = {f"u{place:03}": "II III" for place in range(300)}
        found = labelled(units, ties=("random",))[0]
        share = sum(label == "II" for label in found.values()) / 300
        assert 0.42 < share < 0.58
        few = dict(list(units.items())[::7])
        assert labelled(few, ties=("random",))[0].items() <= found.items()
        assert labelled(units, ties=("random",), seed=1)[0] != found

    def test_an_order_is_needed_for_the_nearest(self):
        message, hint = refusal(lambda: labelled({"u": "Male Female"}, GENDER, ties=("nearest-mean",)))
        assert message == "tie rule nearest-mean: the categories of gender have no order"
        assert hint == "use random, adjudicated, or leave ties as ties"
        message, hint = refusal(lambda: Consensus(ties=("nearest",)))
        assert message == "there is no tie rule 'nearest'"
        assert "nearest-mean" in hint

    def test_ground_truth_settles_ties_where_the_chain_says_so(self):
        votes = replace(votes_on({"u1": "II II IV IV", "u2": "II", "u3": "I V"}), gold={"u1": "IV", "u2": "VI"})
        labels = settle_labels(votes, Consensus(ties=("adjudicated",)))
        assert [labels.of(unit) for unit in votes.units] == ["IV", "II", None]
        assert labels.rule == ("ground-truth", "mode", "")
        assert status(labels, "u1") == "adjudicated"
        assert settle_labels(votes).of("u1") is None

    @settings(max_examples=40, deadline=None)
    @given(
        st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=1, max_size=12),
        st.sampled_from([(), ("nearest-mean",), ("nearest-median",), ("nearest-mean", "nearest-median")]),
    )
    def test_no_tie_leans_to_the_lighter_type_in_silence(self, histograms, ties):
        """Every unit beside its mirror image: what moves one down moves the other up."""
        names = FITZPATRICK.categories
        units = {}
        for place, said in enumerate(histograms):
            units[f"u{place}"] = " ".join(names[each] for each in said)
            units[f"m{place}"] = " ".join(names[5 - each] for each in said)
        _, labels = labelled(units, ties=ties, stability_replicates=0)
        places = dict(zip(labels.units, labels.label.tolist(), strict=True))
        for place in range(len(histograms)):
            one, other = places[f"u{place}"], places[f"m{place}"]
            assert (one < 0) == (other < 0)
            assert one < 0 or one + other == 5

    def test_the_mean_signed_error_of_random_is_zero(self):
        units = {f"u{place:04}": "II III" for place in range(2000)}
        _, labels = labelled(units, ties=("nearest-mean", "random"), stability_replicates=0)
        assert abs(float(labels.label.mean()) - 1.5) < 0.04


class TestAgree:
    def test_two_annotators(self):
        found, labels = labelled({"u1": "Male Male?", "u2": "Male Female", "u3": "Male"}, GENDER, rule="agree")
        assert found == {"u1": "Male", "u2": None, "u3": None}
        assert [status(labels, unit) for unit in found] == ["agreed", "disagreement", "too few"]
        assert labels.rule == ("agree", "", "")

    def test_disagreements_may_be_settled(self):
        found, labels = labelled({"u": "II III IV"}, rule="agree", ties=("nearest-median",))
        assert (found["u"], labels.rule[0], status(labels, "u")) == ("III", "nearest-median", "disagreement")


CELLS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 5), st.booleans()), min_size=1, max_size=30
)


@settings(max_examples=50, deadline=None)
@given(CELLS, st.randoms(use_true_random=False), st.integers(2, 4))
def test_order_and_scaled_weights_change_no_label(cells, shuffler, factor):
    held = list({(unit, who): (unit, who, said, sure) for unit, who, said, sure in cells}.values())
    rows = [(f"u{unit}", f"a{who}", FITZPATRICK.categories[said], sure) for unit, who, said, sure in held]
    consensus = Consensus(ties=("nearest-mean", "random"), stability_replicates=30)
    expected = settle_labels(votes_of(rows, FITZPATRICK), consensus, seed=5)
    shuffler.shuffle(rows)
    others = [
        votes_of(rows, FITZPATRICK),
        votes_of(rows, FITZPATRICK, weights=(2 * factor, factor)),
        votes_of([(unit, f"z{who}", said, sure) for unit, who, said, sure in rows], FITZPATRICK),
    ]
    for votes in others:
        found = settle_labels(votes, consensus, seed=5)
        assert (found.rule, found.units) == (expected.rule, expected.units)
        for name in ("label", "status", "share", "stability", "flips", "entropy"):
            assert np.array_equal(getattr(found, name), getattr(expected, name), equal_nan=True), name


class TestAnnotators:
    def test_bias_agreement_and_alpha_without(self):
        votes = votes_on({"u1": "II II III", "u2": "IV IV? V", "u3": "I I II", "u4": "VI"})
        labels = settle_labels(votes)
        first, _, last = annotator_reports(votes, labels)
        assert (first.votes, first.shared, first.doubtful, last.doubtful) == (4, 3, 0, 0)
        assert (first.bias, last.bias) == (pytest.approx(-0.5), pytest.approx(1.0))
        assert (first.agreement, last.agreement) == (0.5, 0.0)
        assert (first.same, last.same) == (1.0, 0.0)
        assert last.alpha_without == pytest.approx(1.0)
        rest = votes_on({"u1": "II III", "u2": "IV V", "u3": "I II", "u4": "VI"})
        expected = measure_agreement(rest, replicates=0).coefficient("alpha, ordinal").value
        assert first.alpha_without == pytest.approx(expected, abs=1e-12)
        assert np.array(last.confusion)[1].tolist() == [0, 0, 1, 0, 0, 0]

    def test_who_is_alone_has_no_figures(self):
        votes = votes_of([("u1", "a", "I", True), ("u2", "b", "V", True), ("u3", None, "V", True)], FITZPATRICK)
        reports = annotator_reports(votes, settle_labels(votes))
        assert [(each.bias, each.agreement, each.alpha_without) for each in reports] == [(None, None, None)] * 2
        anonymous = votes_of([("u", None, "V", True)], FITZPATRICK)
        assert annotator_reports(anonymous, settle_labels(anonymous)) == ()

    def test_fewer_votes_by_hand(self):
        curve = fewer_votes(votes_on({"u1": "II II III", "u2": "V V V"}))
        assert [(each["votes"], each["units"]) for each in curve] == [(1, 2), (2, 2)]
        # One vote of the first unit is II twice in three; two are both II once in three, and tie otherwise.
        assert [each["same"] for each in curve] == pytest.approx([(2 / 3 + 1) / 2, (1 / 3 + 1) / 2])
        assert [each["tied"] for each in curve] == pytest.approx([0, 1 / 3])

    def test_many_votes_are_sampled_by_a_fixed_stream(self):
        votes = votes_on({"u": " ".join(["II"] * 7 + ["III"] * 5)})
        assert fewer_votes(votes, 1) == fewer_votes(votes, 1)
        assert fewer_votes(votes, 1)[0]["same"] == pytest.approx(7 / 12)
        assert fewer_votes(votes, 1)[-1]["votes"] == 11


class TestOtherPolicies:
    def test_weights_and_ties(self):
        votes = votes_on({"u1": "II III? III?", "u2": "IV IV V V", "u3": "I I? II", "u4": "VI"})
        labels = settle_labels(votes)
        found = {each.policy: each for each in label_changes(votes, labels)}
        full = found["doubtful votes count in full"]
        assert (full.changed, full.gained, full.lost) == (0, 1, 0)
        assert (found["doubtful votes do not count"].gained, found["doubtful votes do not count"].lost) == (1, 1)
        assert found["doubtful votes do not count"].by_category == {"I": 1}
        assert found["ties: highest"].gained == 2
        assert (found["rule: agree"].lost, found["rule: agree"].by_category) == (2, {"I": 1, "VI": 1})
        lowest = settle_labels(votes, Consensus(ties=("lowest",)))
        moved = {each.policy: each for each in label_changes(votes, lowest)}
        assert (moved["ties: highest"].changed, moved["ties: highest"].steps) == (2, 1.0)
        assert (moved["ties stay ties"].lost, "ties: lowest" in moved) == (2, False)

    def test_policies_of_the_ledger(self, real):
        annotations = read_annotations([real / "label_studio/project1_all.json"], unit="subject_id")
        result = aggregate(annotations, parse_questions("fitzpatrick"), replicates=0).results[0]
        found = {each.policy: each for each in result.changes}
        assert found["re-submissions: the first counts"].by_category == {"IV": 1}
        assert found["re-submissions: the first counts"].steps == -1
        assert found["ground truth: exclude"].lost == 3

    def test_buckets_merged_before_or_after(self):
        votes = votes_on({"u1": "II II II III III IV IV", "u2": "I II V", "u3": "VI"})
        check, halves = bucket_checks(votes, settle_labels(votes))
        assert (check.name, check.counts) == ("light-medium-dark", {"light": 1, "medium": 0, "dark": 1})
        assert (check.changed, check.gained, check.lost) == (1, 1, 0)
        assert (halves.changed, halves.gained, halves.counts["lighter"]) == (0, 1, 1)


UNITS = {"u1": "II II IV? IV IV?", "u2": "V V V V", "u3": "I I II", "u4": "III VI"}


class TestReview:
    def test_what_needs_a_look(self):
        votes = votes_on(UNITS)
        found = review_rows(votes, settle_labels(votes), stable=0.8)
        assert [(row["item"], row["reason"]) for row in found] == [
            ("u1", "tie"),
            ("u4", "tie"),
            ("u3", "low stability"),
        ]
        assert found[0]["votes"] == "a0: II; a1: II; a2: IV (not confident); a3: IV; a4: IV (not confident)"
        assert (found[0]["candidates"], found[0]["label"], found[2]["label"]) == ("II|IV", "", "I")
        assert refusal(lambda: review_rows(votes, settle_labels(votes), stable=7))[0] == (
            "stability 7 is outside 0 to 1"
        )

    def test_decisions_come_back(self, tmp_path):
        votes = votes_on(UNITS)
        path = tmp_path / "look.csv"
        found = review_rows(votes, settle_labels(votes), stable=0.8)
        found[0]["decision"], found[2]["decision"] = "Type 4", "II"
        write_review(path, found, "item")
        decisions = read_decisions(path, [votes])
        assert decisions == {"label": {"u1": "IV", "u3": "II"}}
        labels = settle_labels(votes, decisions=decisions["label"])
        assert [labels.of(unit) for unit in votes.units] == ["IV", "V", "II", None]
        assert labels.rule == ("decisions", "mode", "decisions", "")
        assert (status(labels, "u1"), status(labels, "u3")) == ("adjudicated", "adjudicated")
        assert labels.margin[2] < 0
        assert [row["item"] for row in review_rows(votes, labels)] == ["u4"]
        message, hint = refusal(lambda: write_review(path, found, "item"), InputError)
        assert message == f"{path} exists"
        assert hint == "--force replaces it, or name another with --out"

    def test_decisions_that_cannot_be_used(self, tmp_path):
        votes = votes_on(UNITS)
        path = tmp_path / "look.csv"
        path.write_text("item,control,decision\nu9,label,II\nu1,labl,II\nu1,label,VII\nu2,label,I\nu2,label,II\n")
        message, hint = refusal(lambda: read_decisions(path, [votes]))
        assert "4 problems" in message
        for line in (
            "look.csv:2, column item: 'u9' is no item of the votes",
            "look.csv:3, column control: there is no control 'labl'",
            "look.csv:4, column decision: 'VII' is not on the scale fitzpatrick",
            "look.csv:6, column decision: u2 is decided twice, and differently",
        ):
            assert line in message
        assert hint == "did you mean 'label'? There are: label"
        path.write_text("subject,decision\nu1,II\n")
        assert "there is no column 'item'" in refusal(lambda: read_decisions(path, [votes]), InputError)[0]


class TestQuestions:
    def test_words(self):
        asked = parse_questions("fitzpatrick", ["tone", "sex=gender"], ["tone=unsure"])
        assert [(each.control, each.scale.name, each.doubt_control) for each in asked] == [
            ("tone", "fitzpatrick", "unsure"),
            ("sex", "gender", None),
        ]
        assert parse_questions("nominal")[0].scale is None

    def test_refusals(self):
        message, hint = refusal(lambda: parse_questions("fitzpatrick", ["a", "a"]))
        assert (message, hint) == ("a control is named twice: a, a", "name each control once")
        message, hint = refusal(lambda: parse_questions("fitzpatrick", ["a"], ["b=c"]))
        assert message == "a doubt is named for control 'b', which is not asked for"
        assert hint == "say --doubt-control NAME, or CONTROL=NAME for each"
        assert refusal(lambda: doubt_weights("half"))[0] == "'half' is no weight"
        assert refusal(lambda: doubt_weights("2"))[0] == "a doubtful vote cannot weigh 2"

    def test_weights_of_votes(self):
        message, hint = refusal(lambda: replace(votes_on({"u": "I"}), weights=(1, 2)))
        assert message == "weights (1, 2): a doubtful vote weighs from 0 to as much as a confident one"
        assert hint == "the default, (2, 1), counts a doubtful vote half"


class TestOutput:
    @pytest.fixture
    def found(self, real):
        annotations = read_annotations([real / "label_studio/project1_all.json"], unit="subject_id")
        questions = parse_questions("fitzpatrick", ["skin_type", "confidence=fitzpatrick"])
        return aggregate(annotations, questions, replicates=50, settling=Settling(invalid="count"))

    def test_the_files(self, found, tmp_path):
        folder = tmp_path / "labels"
        write_aggregation(folder, found)
        with (folder / "labels.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert len(rows) == 14
        row = next(row for row in rows if row["subject"] == "9001")
        assert (row["skin_type"], row["skin_type_status"], row["skin_type_votes"]) == ("III", "mode", "8")
        assert (row["skin_type_share"], row["skin_type_margin"]) == ("0.5714", "0.1429")
        assert (row["confidence"], row["confidence_status"]) == ("", "too few")
        assert (folder / "labels.csv").read_bytes().count(b"\r") == 0
        agreement = json.loads((folder / "agreement.json").read_text())
        assert agreement["controls"] == [result.agreement.document() for result in found.results]
        summary = json.loads((folder / "summary.json").read_text())
        assert summary["controls"][0]["ledger"]["counts"]["used"] == 15
        assert summary["settings"]["weights"] == {"confident": 2, "doubtful": 1}
        annotators = (folder / "annotators.csv").read_text().splitlines()
        assert annotators[0].startswith("control,annotator,votes,doubtful,shared,bias")
        assert annotators[1].startswith("skin_type,1,2,0,1,")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["labels"]

    def test_a_folder_is_not_replaced_unasked(self, found, tmp_path):
        write_aggregation(tmp_path / "labels", found)
        first = (tmp_path / "labels/labels.csv").read_bytes()
        message, hint = refusal(lambda: write_aggregation(tmp_path / "labels", found), InputError)
        assert (message, hint) == (f"{tmp_path / 'labels'} exists", "--force replaces it, or name another with --out")
        write_aggregation(tmp_path / "labels", found, force=True)
        assert (tmp_path / "labels/labels.csv").read_bytes() == first
        assert [path.name for path in tmp_path.iterdir()] == ["labels"]
