"""The number of groups that known classes suggest, and the groups."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unseen.loop import KnownWidth
from unseen.loop.groups import _Candidates, _place, _yardstick
from unseen.loop.likeness import width
from unseen.loop.neighbours import Units


def clumps(sizes, rng, apart=50.0) -> np.ndarray:
    rows = [rng.normal(size=(n, 3)) + apart * place for place, n in enumerate(sizes)]
    return np.concatenate(rows)


def test_known_classes_are_like_one_class_and_two_of_them_like_two() -> None:
    rng = np.random.RandomState(0)
    X, labels = clumps((30, 30, 30), rng, apart=4.0), np.repeat([0, 1, 2], 30)
    parts = [np.flatnonzero(labels == label) for label in range(3)]
    yardstick = _yardstick(X, parts, X[:0], Units(), 6, rng)
    one = [_place(X[part], np.zeros(30), yardstick, Units(), 6) for part in parts]
    assert np.mean(one) == pytest.approx(0)
    pairs = [X[labels != label] for label in range(3)]
    two = [_place(pair, np.zeros(60), yardstick, Units(), 6) for pair in pairs]
    assert np.mean(two) == pytest.approx(1)
    apart = _place(X, labels, yardstick, Units(), 6)
    assert max(np.mean(one), apart) < 0.5 < _place(X, np.minimum(labels, 1), yardstick, Units(), 6)


def test_groups_of_a_few_rows_say_nothing() -> None:
    rng = np.random.RandomState(0)
    X, labels = clumps((30, 30, 7), rng, apart=4.0), np.repeat([0, 1, 2], [30, 30, 7])
    parts = [np.flatnonzero(labels == label) for label in (0, 1)]
    yardstick = _yardstick(X, parts, X[:0], Units(), 6, rng)
    both = [_place(X[:n], labels[:n], yardstick, Units(), 6) for n in (60, 67)]
    assert both[0] == both[1]
    assert _place(X[60:], labels[60:], yardstick, Units(), 6) == -np.inf


def test_where_one_class_is_known_it_and_unseen_rows_are_two() -> None:
    rng = np.random.RandomState(0)
    X = clumps((30, 30), rng, apart=4.0)
    yardstick = _yardstick(X[:30], [np.arange(30)], X[30:], Units(), 6, rng)
    assert _place(X[:30], np.zeros(30), yardstick, Units(), 6) == pytest.approx(0)
    assert _place(X, np.zeros(60), yardstick, Units(), 6) == pytest.approx(1, abs=1e-9)


def test_groups_start_from_the_graph_and_end_where_k_means_stands_still() -> None:
    rng = np.random.RandomState(0)
    X, weights = clumps((30, 20), rng), rng.uniform(0.5, 1, 50)
    some = rng.permutation(50)[:25]
    found = _Candidates.begin(X, weights, some, 4, 3).fit(2, rng)
    assert len({*zip(found.labels_, X[:, 0] > 25, strict=True)}) == 2
    for label in (0, 1):
        mine = found.labels_ == label
        mean = np.average(X[mine], axis=0, weights=weights[mine])
        assert_allclose(found.cluster_centers_[label], mean)


def test_groups_start_from_clumps_that_k_means_alone_would_miss() -> None:
    rng, sizes = np.random.RandomState(0), (40, 5, 5, 5, 5, 5, 5)
    X, weights = clumps(sizes, rng), np.ones(70)
    for _ in range(3):
        found = _Candidates.begin(X, weights, rng.permutation(70), 2, 7).fit(7, rng)
        assert sorted(np.bincount(found.labels_)) == sorted(sizes)
    weights[:40] = 0
    vectors = _Candidates.begin(X, weights, np.arange(70), 2, 6).vectors
    assert_allclose(vectors[:40], 0, atol=1e-9)
    assert (abs(vectors[40:]).max(axis=1) > 0.1).all()


@pytest.mark.parametrize("n_clumps", [1, 2, 3, 5])
def test_the_number_of_groups_is_that_of_clumps_like_known_classes(n_clumps) -> None:
    rng = np.random.RandomState(n_clumps)
    known, codes = rng.normal(size=(200, 5)), np.repeat([0, 1], 100)
    known[codes == 1, :2] += 9  # as far apart as the clumps
    X = np.vstack([rng.normal(size=(50, 5)) + 9 * np.eye(5)[place] for place in range(n_clumps)])
    for classes in (2, 1):  # two known classes, and one
        mine = codes < classes
        found = KnownWidth().group(X, np.ones(len(X)), known[mine], codes[mine], rng, 50)
        assert len(found.centres) == n_clumps
        assert found.n_groups[0] <= n_clumps <= found.n_groups[1]
        widest = max(width(known[codes == code]) for code in range(classes))
        assert all(width(X[found.labels == one]) < 1.3 * widest for one in range(n_clumps))
        assert found.nearest(X).tolist() == found.labels.tolist()
    assert len(KnownWidth(most=2).group(X, np.ones(len(X)), known, codes, rng).centres) <= 2


def test_two_classes_that_hardly_mix_are_two_groups_though_together_no_wider_than_one() -> None:
    """Width alone would say one: known classes are as wide as both clumps together."""
    rng = np.random.RandomState(0)
    codes = np.repeat([0, 1, 2], 50)
    known = rng.normal(size=(150, 2)) * 3 + 5 * codes[:, None]
    X = rng.normal([[-3.9, 0]] * 50 + [[3.9, 0]] * 50, 0.5, (100, 2))
    assert width(X) < min(width(known[codes == code]) for code in range(3))
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
    mean = np.average(X, axis=0, weights=weights)
    assert_allclose(single.centres[0], single.units.of(mean))
    ranges = [
        KnownWidth().group(clumps((60, 60), rng, apart), np.ones(120), known, codes, rng).n_groups
        for apart in (0.0, 1.6, 4.0)
    ]
    assert ranges[0] == (1, 1)
    assert ranges[1][0] < ranges[1][1]
    assert ranges[2] == (2, 2)
