"""The number of groups that known classes suggest, and what tells one class from two."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from unseen.loop import KnownWidth, groups
from unseen.loop.groups import (
    OneOrTwo,
    Units,
    _from_parts,
    _place,
    _yardstick,
    joined,
    leading_vectors,
    measures,
    neighbour_graph,
    parting,
    parts_of_graph,
    place_of_groups,
    width,
)

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])


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
    vectors = leading_vectors(neighbour_graph(X[some], 8, weights[some]), 3)
    found = _from_parts(X, weights, some, vectors, 2, rng)
    assert len({*zip(found.labels_, X[:, 0] > 25, strict=True)}) == 2
    for label in (0, 1):
        mine = found.labels_ == label
        mean = np.average(X[mine], axis=0, weights=weights[mine])
        assert_allclose(found.cluster_centers_[label], mean)


def test_groups_start_from_clumps_that_k_means_alone_would_miss() -> None:
    rng, sizes = np.random.RandomState(0), (40, 5, 5, 5, 5, 5, 5)
    X, weights = clumps(sizes, rng), np.ones(70)
    for _ in range(3):
        some = rng.permutation(70)
        vectors = leading_vectors(neighbour_graph(X[some], 4), 7)
        found = _from_parts(X, weights, some, vectors, 7, rng)
        assert sorted(np.bincount(found.labels_)) == sorted(sizes)
    weights[:40] = 0
    vectors = leading_vectors(neighbour_graph(X, 4, weights), 6)
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


# --- one class or two ------------------------------------------------------------------------


def test_a_width_is_the_root_mean_square_distance_to_the_mean() -> None:
    assert width(np.array([[0.0], [2.0]])) == 1.0
    assert width(np.array([[5.0], [5.0]])) == 0.0


def test_measures_are_both_widths_and_the_parting_and_grow_from_one_class_to_two() -> None:
    rng = np.random.RandomState(0)
    one = rng.normal(size=(40, 2))
    two = np.vstack([one, one + np.array([30, 0])])
    units = Units(np.diag([0.5, 2.0]))
    found = measures(one, units, 8), measures(two, units, 8)
    assert_allclose(np.exp(found[0][:2]), [width(one), width(one * [0.5, 2.0])])
    assert (found[1] > found[0]).all()
    assert found[1][2] == pytest.approx(1)
    assert_allclose(measures(7 * one, units, 8) - found[0], [np.log(7), np.log(7), 0], atol=1e-9)
    assert np.isfinite(measures(np.ones((9, 2)), units, 3)).all()


def test_known_classes_lie_at_nought_and_their_pairs_at_one_on_average() -> None:
    rng = np.random.RandomState(0)
    one, two = rng.normal(size=(6, 3)), rng.normal(2, 1, size=(15, 3))
    yardstick = OneOrTwo.learn(one, two)
    assert yardstick.place(one).mean() == pytest.approx(0)
    assert yardstick.place(two).mean() == pytest.approx(1)
    assert yardstick.counts.sum() == pytest.approx(1)
    halfway = (one.mean(axis=0) + two.mean(axis=0)) / 2
    assert yardstick.place(halfway[None]).tolist() == pytest.approx([0.5])
    for scale in (1e-3, 1e3):  # units of a measure do not count
        other = OneOrTwo.learn(one * [scale, 1, 1], two * [scale, 1, 1])
        assert_allclose(other.place(two * [scale, 1, 1]), yardstick.place(two))


def test_measures_count_by_their_squared_distance_in_standard_deviations() -> None:
    """Of very many classes, and of one, where all measures are as good as each other."""
    rng = np.random.RandomState(0)
    one, two = rng.normal(size=(50_000, 2)), rng.normal([2, 4], 1, size=(50_000, 2))
    assert_allclose(OneOrTwo.learn(one, two).counts, [4 / 20, 16 / 20], atol=0.005)
    few = OneOrTwo.learn(np.zeros((1, 2)), np.array([[2.0, 4.0]]))
    assert_allclose(few.counts, [0.5, 0.5])


def test_a_measure_that_is_no_higher_for_two_classes_tells_nothing() -> None:
    one, two = np.array([[0.0, 1.0], [0.2, 1.2]]), np.array([[2.0, 0.0], [2.2, 0.1]])
    yardstick = OneOrTwo.learn(one, two)
    assert yardstick.counts.tolist() == [1, 0]
    assert yardstick.place(np.array([[1.1, 1e9]])).tolist() == pytest.approx([0.5])
    nothing = OneOrTwo.learn(two, one - 5)
    assert nothing.place(two).tolist() == [0, 0]


def test_one_group_of_two_classes_is_likelier_the_farther_it_is_and_the_larger() -> None:
    places, sizes = np.array([0.0, 0.0, 1.0]), np.array([10, 10, 10])
    densities = [norm.pdf(places, mean, np.sqrt(0.5)) for mean in (0, 1)]
    # One of three groups of a size, and no matter which, is two classes.
    likelihood = np.mean(densities[1] / densities[0])
    assert place_of_groups(places, sizes) == pytest.approx(np.log(likelihood) / 2 + 0.5)
    assert places.mean() < place_of_groups(places, sizes) < places.max()
    assert place_of_groups(places, sizes) < place_of_groups(places, np.array([10, 10, 40]))
    assert place_of_groups(np.array([0.3, 0.3]), np.array([5, 9])) == pytest.approx(0.3)


# --- the graph of neighbours -----------------------------------------------------------------


def scatter(X, n_near) -> np.ndarray:
    """Half the mean of (x - y)' (x - y) over rows and neighbours, pair by pair."""
    pairs = []
    for row in X:
        order = np.argsort(((X - row) ** 2).sum(axis=1), kind="stable")
        pairs += [row - X[place] for place in order[1 : n_near + 1]]
    return np.array(pairs).T @ np.array(pairs) / (2 * len(pairs))


def test_a_row_is_joined_to_its_neighbours_and_to_those_whose_neighbour_it_is() -> None:
    """0 and 1 are each other's neighbour, and 1 that of 3, 3 that of 7; all are their own."""
    found = [[2, 2, 0, 0], [2, 2, 1, 0], [0, 1, 2, 1], [0, 0, 1, 2]]
    assert joined(LINE, 1).tolist() == found
    assert (joined(LINE, 10) == 2).all()


def test_units_make_the_scatter_of_neighbours_equal_but_for_what_is_taken_as_alike(
    monkeypatch,
) -> None:
    rng = np.random.RandomState(0)
    X = clumps((40, 40), rng) @ [[1, 0, 0], [3, 2, 0], [0, 1, 9]]
    raw = scatter(X, 5)
    mean = raw.trace() / 3
    matrix = Units.of_equal_scatter(X, 5).matrix
    alike = 0.3 * mean * np.eye(3) + 0.7 * raw
    assert_allclose(matrix.T @ alike @ matrix, np.eye(3), atol=1e-9)
    monkeypatch.setattr(groups, "_ALIKE", 0.0)
    matrix = Units.of_equal_scatter(X, 5).matrix
    assert_allclose(matrix.T @ raw @ matrix, np.eye(3), atol=1e-9)


def test_units_are_the_same_wherever_rows_lie_and_however_they_are_scaled() -> None:
    rng = np.random.RandomState(0)
    X = clumps((40, 40), rng, apart=5.0)
    places = [Units.of_equal_scatter(one, 5).of(one) for one in (X, 1e4 * X + 7e5)]
    apart = [np.linalg.norm(one[:, None] - one, axis=2) for one in places]
    assert_allclose(apart[1], apart[0], atol=1e-6)


@pytest.mark.parametrize("X", [np.ones((9, 2)), np.repeat(LINE, 4, axis=0), np.eye(4, 1001)])
def test_copies_and_very_many_columns_keep_their_units(X) -> None:
    assert Units.of_equal_scatter(X, 3).matrix is None
    assert Units().of(X) is X


def test_a_graph_parts_where_no_rows_are_joined() -> None:
    rng = np.random.RandomState(0)
    values = {n: np.linalg.eigvalsh(neighbour_graph(clumps([20] * n, rng), 5)) for n in (1, 2, 3)}
    for n_clumps, found in values.items():
        assert (found > 1 - 1e-9).sum() == n_clumps  # an eigenvalue of 1 for each part
    assert parting(neighbour_graph(clumps((20, 20), rng), 5)) == pytest.approx(1)
    assert parting(neighbour_graph(clumps((20,), rng), 19)) == pytest.approx(0)
    assert parting(neighbour_graph(LINE[:1], 3)) == 0


def test_a_row_joins_as_its_weight_says() -> None:
    """Copies of a row and a row of their weight have the same part in the second eigenvalue."""
    X, weights = np.array([[0.0], [1.0], [2.5]]), np.array([1.0, 1.0, 2.0])
    copies = np.vstack([X, X[2:]])
    found = [parting(neighbour_graph(copies, 3)), parting(neighbour_graph(X, 2, weights))]
    assert_allclose(found[1], found[0], atol=1e-12)
    graph = joined(X, 1) * np.outer(weights, weights)
    degrees = graph.sum(axis=1)
    assert_allclose(neighbour_graph(X, 1, weights), graph / np.sqrt(np.outer(degrees, degrees)))


def test_parts_of_the_graph_are_clumps_of_any_shape() -> None:
    """Two half rings, each in the other's gap: neighbours part them, centres do not."""
    rng = np.random.RandomState(0)
    angles = np.linspace(0, np.pi, 100)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.vstack([ring, [1, 0.4] - ring]) + rng.normal(0, 0.05, (200, 2))
    vectors = leading_vectors(neighbour_graph(X, 10), 4)
    assert vectors.shape == (200, 4)
    parts = parts_of_graph(vectors, 2, np.ones(200), rng)
    assert len(set(parts[:100])) == len(set(parts[100:])) == 1
    assert parts[0] != parts[-1]
    assert not parts_of_graph(vectors, 1, np.ones(200), rng).any()
    scaled = parts_of_graph(vectors * rng.uniform(0.01, 1, (200, 1)), 2, np.ones(200), rng)
    assert len({*zip(parts.tolist(), scaled.tolist(), strict=True)}) == 2  # directions alone count
