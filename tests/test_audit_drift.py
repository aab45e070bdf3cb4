"""Drift between splits: figures worked by hand, and the level of chance against random splits."""

import numpy as np
import pytest

from protoctl.audit.drift import chance_spread, cramers_v, drift, population_stability, total_variation
from protoctl.digests import SplitMix64
from protoctl.errors import InputError

TRAIN, TEST = np.array([60, 20, 20]), np.array([10, 10, 30])


def test_total_variation_by_hand():
    # shares .6 .2 .2 and .2 .2 .6: half of .4 + 0 + .4
    assert total_variation(TRAIN, TEST) == pytest.approx(0.4)
    assert total_variation(TRAIN, TRAIN * 7) == pytest.approx(0)
    assert total_variation(np.array([4, 0]), np.array([0, 9])) == 1


def test_population_stability_by_hand():
    # .4 ln 3 twice
    assert population_stability(TRAIN, TEST) == pytest.approx(0.8 * np.log(3))
    assert population_stability(TRAIN, TEST) == pytest.approx(population_stability(TEST, TRAIN))


def test_population_stability_of_an_empty_category_is_that_of_half_an_item():
    # shares 0.5 against 1 and 0.5 against half of one in ten
    found = population_stability(np.array([5, 5]), np.array([10, 0]))
    assert found == pytest.approx((0.5 - 1) * np.log(0.5) + (0.5 - 0.05) * np.log(0.5 / 0.05))
    assert population_stability(np.array([5, 5, 0]), np.array([10, 10, 0])) == 0


def test_cramers_v_by_hand():
    # chi-square of [[60, 10], [20, 10], [20, 30]]: expected 46.667 23.333 20 10 33.333 16.667, sum 27.429
    chi = 2 * 13.3333**2 * (1 / 46.6667 + 1 / 23.3333) / 2 + 13.3333**2 * (1 / 33.3333 + 1 / 16.6667)
    assert cramers_v(np.stack([TRAIN, TEST], axis=1)) == pytest.approx(np.sqrt(chi / 150), rel=1e-4)
    assert cramers_v(np.array([[5, 0], [0, 7]])) == pytest.approx(1)
    assert cramers_v(np.array([[5, 7]])) == 0


def by_chance(units, sizes, rounds):
    """Deal units out at random, and return the mean of each figure."""
    random, figures = SplitMix64(3, "test/chance"), []
    for _ in range(rounds):
        split = np.repeat(np.arange(len(sizes)), sizes)[np.argsort(random.words(len(units)))]
        counts = np.stack([units[split == at].sum(axis=0) for at in range(len(sizes))], axis=1)
        found = drift("age", ["train", "test"], counts)
        pair = found.furthest
        figures.append((pair.total_variation, pair.population_stability, found.cramers_v**2))
    return np.mean(figures, axis=0)


@pytest.mark.parametrize("most", [1, 12])
def test_the_level_of_chance_is_what_random_splits_show(most):
    random = SplitMix64(5, "test/units")
    kinds = np.array([random.below(10) for _ in range(600)])
    units = np.zeros((600, 3), np.int64)
    units[np.arange(600), np.where(kinds < 6, 0, np.where(kinds < 9, 1, 2))] = [
        1 + random.below(most) for _ in range(600)
    ]
    counts = np.stack([units[:400].sum(axis=0), units[400:].sum(axis=0)], axis=1)
    found = drift("age", ["train", "test"], counts, units, by="subject")
    variation, stability, squared = by_chance(units, (400, 200), 300)
    assert found.furthest.chance_total_variation == pytest.approx(variation, rel=0.12)
    assert found.furthest.chance_population_stability == pytest.approx(stability, rel=0.15)
    assert found.chance_cramers_v == pytest.approx(np.sqrt(squared), rel=0.1)
    plain = drift("age", ["train", "test"], counts)
    assert plain.chance_cramers_v == pytest.approx(found.chance_cramers_v) if most == 1 else True
    assert plain.chance_cramers_v <= found.chance_cramers_v * 1.0001


def test_spread_of_single_items_is_that_of_the_binomial():
    assert chance_spread(np.eye(4, dtype=np.int64)).tolist() == pytest.approx([0.75] * 4)


def test_every_two_splits_are_compared_and_empty_ones_are_not():
    counts = np.array([[60, 10, 0], [20, 10, 0], [20, 30, 0]])
    found = drift("age", ["train", "test", "valid"], counts)
    assert [(pair.one, pair.other) for pair in found.pairs] == [("train", "test")]
    assert found.to_json()["pairs"][0]["total_variation"] == 0.4
    assert drift("age", ["train", "test"], np.array([[3, 0], [4, 0]])) is None


def test_counts_of_another_shape_are_refused():
    with pytest.raises(InputError, match="age: counts of shape \\(1, 2\\) for 3 splits") as caught:
        drift("age", ["a", "b", "c"], np.array([[1, 2]]))
    assert caught.value.hint == "give a column a split"
