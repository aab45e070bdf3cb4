"""Plans of variants: 76 rows an image, seeds that depend on nothing but the item, clips and degradations of videos."""

import csv
import io
import itertools
import tracemalloc

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.errors import InputError, ProtocolError
from protoctl.partition import PLAN_COLUMNS, plan_rows, plan_variants
from protoctl.protocols import CORRUPTIONS, DEGRADATIONS, load_protocol, parse_protocol
from protoctl.scales import AGE_GROUPS

ROBUSTNESS = load_protocol("robustness-1500").variants
PREVIEW = load_protocol("dfdc-preview").variants


def rows(items, split="capped") -> pa.Table:
    return pa.table({"item": pa.array(items, pa.string()), "split": pa.array([split] * len(items), pa.string())})


def test_fifteen_corruptions_at_five_severities_and_the_clean_image():
    assert ROBUSTNESS.per_image == 76
    (plan,) = plan_variants(rows(["a.jpg"]), ROBUSTNESS)
    assert len(plan.variants) == 76
    assert plan.variants[0].path == "clean/a.jpg"
    assert {variant.corruption for variant in plan.variants[1:]} == set(CORRUPTIONS)
    assert len({variant.path for variant in plan.variants}) == 76
    assert len({variant.seed for variant in plan.variants[1:]}) == 75


@settings(max_examples=25, deadline=None)
@given(st.sets(st.text("abc/._é", min_size=1, max_size=6), min_size=1, max_size=8), st.integers(0, 2))
def test_a_seed_depends_on_the_item_alone(items, seed):
    names = sorted(items)
    whole = {plan.item: plan for plan in plan_variants(rows(names), ROBUSTNESS, seed=seed)}
    backwards = {plan.item: plan for plan in plan_variants(rows(names[::-1]), ROBUSTNESS, seed=seed)}
    assert whole == backwards
    (alone,) = plan_variants(rows(names[:1]), ROBUSTNESS, seed=seed)
    assert alone == whole[names[0]]


def test_leaving_corruptions_out_changes_no_seed():
    text = "name: f\nversion: 1.0.0\nsubset: {name: s, per: [age], at_most: 1}\n"
    text += "variants: {corruptions: [fog], severities: [2]}\n"
    (few,) = plan_variants(rows(["a.jpg"]), parse_protocol(text, "f").variants)
    (all_of_them,) = plan_variants(rows(["a.jpg"]), ROBUSTNESS)
    fog = next(variant for variant in all_of_them.variants if variant.variant == "fog-2")
    assert few.variants == (all_of_them.variants[0], fog)


def test_the_seeds_are_these():
    # Pinned: another seed would make other pictures of the same name.
    (plan,) = plan_variants(rows(["a.jpg"]), ROBUSTNESS)
    assert [variant.seed for variant in plan.variants[1:4]] == [1538089647, 2198898166, 2520884646]


def test_a_plan_of_many_images_is_streamed():
    table = rows([f"{at:07d}.jpg" for at in range(100_000)])
    tracemalloc.start()
    try:
        found = sum(1 for _ in itertools.islice(plan_rows(plan_variants(table, ROBUSTNESS)), 20_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == 20_000
    # All 7.6 million rows would take gigabytes; one batch of seeds takes 2.5 MB.
    assert peak < 20e6


def test_a_name_that_leads_out_of_the_folder_is_not_planned():
    (plan,) = plan_variants(rows(["../a.jpg"]), ROBUSTNESS)
    assert (plan.variants, plan.fault) == ((), "its name has '..' in its path")


def test_no_plan_where_the_protocol_has_none():
    with pytest.raises(InputError) as caught:
        plan_variants(rows(["a"]), load_protocol("fair-55-15-30").variants)
    assert caught.value.message == "the protocol plans no variants"
    assert "robustness-1500" in str(caught.value.hint)


def clips_of(seconds, item="v.mp4", split="train"):
    (plan,) = plan_variants(rows([item], split), PREVIEW, length=lambda _: seconds)
    return plan


@pytest.mark.parametrize(
    ("seconds", "starts"),
    [(50.1, [5, 20, 35]), (600, [5, 20, 35]), (50, [5, 20]), (35, [5, 20]), (34.9, [5]), (20, [5]), (12, [5])],
)
def test_clips_of_a_whole_video(seconds, starts):
    plan = clips_of(seconds)
    assert [variant.start for variant in plan.variants] == starts
    assert all(variant.start + variant.seconds <= seconds for variant in plan.variants)
    assert {variant.seconds for variant in plan.variants} == ({7} if seconds == 12 else {15})
    assert not any(variant.degradation for variant in plan.variants)


def test_a_video_that_is_all_set_up_gives_nothing():
    plan = clips_of(4.0)
    assert plan.variants == ()
    assert plan.fault == "lasts 4.0 seconds, and the first 5 are left out: nothing is left"


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(0, 5))
def test_of_three_test_clips_two_get_one_degradation_each(number, seed):
    names = [f"original_videos/7/7_A_{at:03d}.mp4" for at in range(number)] + ["original_videos/8/8_A_000.mp4"]
    plans = {plan.item: plan for plan in plan_variants(rows(names, "test"), PREVIEW, seed=seed)}
    assert all(len(plan.variants) == 1 for plan in plans.values())
    degraded = [plans[name].variants[0] for name in names[:number] if plans[name].variants[0].degradation]
    assert len(degraded) == number // 3 * 2 + number % 3 * 2 // 3
    assert {variant.degradation for variant in degraded} <= set(DEGRADATIONS)
    (train, *_) = plan_variants(rows(names, "train"), PREVIEW, seed=seed)
    assert train.variants[0].variant == "clean"


def test_clips_cut_from_a_test_video_are_degraded_too():
    kinds = [variant.degradation for variant in clips_of(60, split="test").variants]
    assert len(kinds) == 3
    assert kinds.count("") == 1
    names = {variant.variant for variant in clips_of(60, split="test").variants}
    assert all(name.startswith("clip-") for name in names)


def test_every_degradation_comes_about():
    names = [f"{at}_A_000.mp4" for at in range(20)] + [f"{at}_A_001.mp4" for at in range(20)]
    kinds = [plan.variants[0].degradation for plan in plan_variants(rows(names, "test"), PREVIEW)]
    assert set(kinds) == {"", *DEGRADATIONS}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("{corruptions: [fogg]}", "$.variants.corruptions[0]: there is no corruption 'fogg'", "did you mean 'fog'"),
        ("{corruptions: [fog], severities: [6]}", "$.variants.severities: [6] is not a list of", "[1, 2, 3, 4, 5]"),
        ("{corruptions: [fog], clean: maybe}", "$.variants.clean: 'maybe' is neither true nor false", None),
        ("{clips: {seconds: 15, most: 3, skip: 5, over: 40}}", "$.variants.clips.over: 40 seconds do not hold", "50"),
        ("{clips: {over: 45, named: '[0-9'}}", "$.variants.clips.named: '[0-9' is not a pattern", "(.+)_[0-9]+"),
        ("{degrade: {split: tset}}", "$.variants.degrade.split: there is no split 'tset'", "did you mean 'test'"),
        ("{degrade: {of: 2, degraded: 3}}", "$.variants.degrade.degraded: 3 of 2 clips", "write 2 or fewer"),
        ("{degrade: {kinds: [fps-10]}}", "$.variants.degrade.kinds[0]: there is no degradation", "fps-15"),
        ("{corruptions: [fog], degrade: {}}", "$.variants.corruptions: stands beside clips", "write two protocols"),
        ("{clean: true}", "$.variants: plans nothing", "name corruptions, clips or degrade"),
        ("{corupptions: [fog]}", "$.variants.corupptions: there is no key", "did you mean 'corruptions'"),
    ],
)
def test_wrong_variants_are_refused_with_their_place(text, message, hint):
    with pytest.raises(ProtocolError) as caught:
        parse_protocol(
            f"name: m\nversion: 1.0.0\nsplit: {{ratios: {{train: 1, test: 1}}}}\nvariants: {text}\n", "m.yaml"
        )
    assert message in caught.value.message
    assert hint is None or hint in str(caught.value.hint)


def test_the_command_prints_the_plan(protoctl, in_empty_folder):
    (in_empty_folder / "rows.csv").write_text("item,age,gender\nb.jpg,30,Female\na.jpg,40,Male\n")
    protoctl("split", "rows.csv", "--protocol", "robustness-1500")
    run = protoctl("render", "rows-robustness-1500", "--plan")
    assert run.code == 0
    lines = list(csv.reader(io.StringIO(run.out)))
    assert tuple(lines[0]) == PLAN_COLUMNS
    assert len(lines) == 1 + 76 * 2
    assert lines[1] == ["a.jpg", "clean", "clean/a.jpg", "", "", "", "", "", ""]
    assert lines[2][:5] == ["a.jpg", "gaussian-noise-1", "gaussian-noise-1/a.jpg.png", "gaussian-noise", "1"]


def test_nothing_is_rendered_of_a_replica(protoctl, in_empty_folder):
    protoctl("split", "miap", "--protocol", "robustness-1500")
    refused = protoctl("render", "miap-replica-robustness-1500", "--root", ".", "--to", "out")
    assert refused.code == 3
    assert "is a replica, and there are no files of its items" in refused.err
    assert "--plan prints what would be made" in refused.err


def test_a_manifest_without_variants_is_refused(protoctl, in_empty_folder):
    protoctl("split", "raf-au", "--protocol", "fair-55-15-30")
    run = protoctl("render", "raf-au-replica-fair-55-15-30", "--plan")
    assert run.code == 3
    assert "protocol fair-55-15-30 plans no variants" in run.err
    with_others = protoctl(
        "render", "raf-au-replica-fair-55-15-30", "--plan", "--protocol", "robustness-1500", "--split", "tset"
    )
    assert with_others.code == 3
    assert "did you mean 'test'" in with_others.err


def test_ages_are_cut_as_the_paper_s_code_cuts_them():
    assert AGE_GROUPS["robustness"].categories == ("0-17", "18-44", "45-64", "65+")
