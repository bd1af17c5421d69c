"""How much rows look like one class or like two, and the number of groups that follows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unseen.loop import KnownWidth
from unseen.loop.groups import (
    _known_scores,
    _mean_score,
    _place,
    class_widths,
    two_classes_score,
)

# With so many rows all others are neighbours, and halves of any size mix as by chance.
ALL = 10_000


def clumps(sizes, rng, apart=50.0) -> np.ndarray:
    rows = [rng.normal(size=(n, 3)) + apart * place for place, n in enumerate(sizes)]
    return np.concatenate(rows)


def score_where_all_are_neighbours(X) -> float:
    """``log(width) - 2``, but for the row that is no neighbour of itself."""
    (width,) = class_widths(X, np.zeros(len(X), dtype=int))
    return float(np.log(width)) - 2 * len(X) / (len(X) - 1)


def test_a_width_is_the_root_mean_square_distance_to_the_mean() -> None:
    rows = np.array([[0.0], [2.0], [5.0], [5.0]])
    assert class_widths(rows, np.array([0, 0, 1, 1])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("sizes", [(8,), (40,), (30, 10), (20, 20, 20)])
def test_halves_mix_as_by_chance_where_all_rows_are_neighbours(sizes) -> None:
    rng = np.random.RandomState(0)
    X = clumps(sizes, rng)
    assert_allclose(two_classes_score(X, ALL, rng), score_where_all_are_neighbours(X))
    assert_allclose(two_classes_score(7 * X, ALL, rng) - two_classes_score(X, ALL, rng), np.log(7))


@pytest.mark.parametrize("n_rows", [10, 50])
def test_halves_that_do_not_mix_have_the_score_of_their_width(n_rows) -> None:
    """A fifth of the rows of a class are neighbours, at least three: here all of the own clump."""
    rng = np.random.RandomState(0)
    X = clumps((12, 12), rng)
    assert_allclose(
        two_classes_score(X, n_rows, rng), np.log(class_widths(X, np.zeros(24, int))[0])
    )
    assert two_classes_score(X, 100, rng) < two_classes_score(X, 50, rng) - 0.5


def test_too_few_rows_for_halves_are_taken_for_one_class() -> None:
    rng = np.random.RandomState(0)
    X = clumps((4, 3), rng)
    (width,) = class_widths(X, np.zeros(7, int))
    assert_allclose(two_classes_score(X, 50, rng), np.log(width) - 1)
    assert_allclose(two_classes_score(np.ones((30, 2)), 50, rng), np.log(1e-6) - 1)


def test_groups_count_by_their_rows_and_classes_alike() -> None:
    rng = np.random.RandomState(0)
    X, labels = clumps((30, 10), rng, apart=2.0) * [1, 1, 3], np.repeat([0, 1], [30, 10])
    parts = [score_where_all_are_neighbours(X[labels == label]) for label in (0, 1)]
    assert_allclose(_mean_score(X, labels, ALL, rng), (3 * parts[0] + parts[1]) / 4)
    one, two = _known_scores(X, labels, ALL, rng)
    assert_allclose([one, two], [np.mean(parts), score_where_all_are_neighbours(X)])
    one, two = _known_scores(X[:30], labels[:30], ALL, rng)
    assert_allclose([one, two - one], [parts[0], 0.7])


@pytest.mark.parametrize("n_groups", [1, 2, 5])
def test_one_group_too_few_holds_two_classes_and_the_others_one_each(n_groups) -> None:
    one, two = 1.5, 2.25
    too_few = ((n_groups - 1) * one + 2 * two) / (n_groups + 1)
    places = [_place(score, one, two, n_groups) for score in (one, too_few)]
    assert_allclose(places, [0, 1], atol=1e-12)
    assert _place(one + 0.1, one, one - 1, n_groups) > 1  # pairs that look like one class


@pytest.mark.parametrize("n_clumps", [1, 2, 3, 5])
def test_the_number_of_groups_is_that_of_clumps_as_wide_as_known_classes(n_clumps) -> None:
    rng = np.random.RandomState(n_clumps)
    known, codes = rng.normal(size=(200, 5)), np.repeat([0, 1], 100)
    known[codes == 1] += 9
    X = np.vstack([rng.normal(size=(50, 5)) + 9 * np.eye(5)[place] for place in range(n_clumps)])
    for classes in (2, 1):  # two known classes, and one
        mine = codes < classes
        found = KnownWidth().group(X, np.ones(len(X)), known[mine], codes[mine], rng)
        assert len(found.centres) == n_clumps
        assert found.n_groups[0] <= n_clumps <= found.n_groups[1]
        assert class_widths(X, found.labels).max() < 1.3 * class_widths(known, codes).max()
    assert len(KnownWidth(most=2).group(X, np.ones(len(X)), known, codes, rng).centres) <= 2


def test_two_classes_that_hardly_mix_are_two_groups_though_together_no_wider_than_one() -> None:
    """Width alone would say one: known classes are as wide as both clumps together."""
    rng = np.random.RandomState(0)
    codes = np.repeat([0, 1, 2], 50)
    known = rng.normal(size=(150, 2)) * 3 + 5 * codes[:, None]
    X = rng.normal([[-3.9, 0]] * 50 + [[3.9, 0]] * 50, 0.5, (100, 2))
    assert class_widths(X, np.zeros(100, int))[0] < class_widths(known, codes).min()
    assert len(KnownWidth().group(X, np.ones(100), known, codes, rng).centres) == 2
    few = np.r_[0:8, 50:58]  # classes of eight rows have as many neighbours as they have rows
    assert len(KnownWidth().group(X[few], np.ones(16), known, codes, rng, 8).centres) == 2


def test_rows_of_a_known_class_are_one_group() -> None:
    rng = np.random.RandomState(0)
    for _ in range(3):
        known = rng.normal(size=(50, 4))
        found = KnownWidth().group(known, np.ones(50), known, np.zeros(50, int), rng)
        assert len(found.centres) == 1


def test_a_group_is_where_its_weight_is_and_a_range_grows_as_one_class_turns_into_two() -> None:
    rng = np.random.RandomState(0)
    known, codes = clumps((60, 60), rng, apart=3.0), np.repeat([0, 1], 60)
    X, weights = clumps((60, 60), rng, apart=50.0), np.repeat([1.0, 0.2], 60)
    found = KnownWidth().group(X, weights, known, codes, rng)
    assert found.n_groups == (2, 2)
    single = KnownWidth(between=np.inf).group(X, weights, known, codes, rng)
    assert_allclose(single.centres, [np.average(X, axis=0, weights=weights)])
    ranges = [
        KnownWidth().group(clumps((60, 60), rng, apart), np.ones(120), known, codes, rng).n_groups
        for apart in (0.0, 1.6, 4.0)
    ]
    assert ranges[0] == (1, 1)
    assert ranges[1][0] < ranges[1][1]
    assert ranges[2] == (2, 2)
