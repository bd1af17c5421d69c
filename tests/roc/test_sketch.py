import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from reference.roc_twins import majorant_at_vertices, roc_by_thresholds
from unseen.roc.sketch import RocSketch, concave_hull, cumulative_roc

# A few distinct values, so that ties within and between the samples are common.
scores = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=25).map(np.array)
quick = settings(deadline=None, max_examples=60)


def corners(x: np.ndarray, y: np.ndarray) -> list[tuple[float, float, float]]:
    """Foot and top of the ROC at each of its false-alarm rates."""
    x, y = x.round(12), y.round(12)
    return [(at, y[x == at].min(), y[x == at].max()) for at in np.unique(x)]


@quick
@given(scores, scores)
def test_vertices_are_the_shares_above_each_threshold(F: np.ndarray, H: np.ndarray) -> None:
    assert_allclose(corners(*RocSketch.from_scores(F, H).roc()), corners(*roc_by_thresholds(F, H)))


@quick
@given(scores, scores, scores)
def test_merged_chunks_equal_the_whole(
    first: np.ndarray, second: np.ndarray, H: np.ndarray
) -> None:
    merged = RocSketch.from_scores(first, H) + RocSketch.from_scores(second, H)
    whole = RocSketch.from_scores(np.concatenate([first, second]), H)
    assert_array_equal(merged.edge_new, whole.edge_new)
    assert_array_equal(merged.gap_new, whole.gap_new)
    assert merged.n_new == first.size + second.size


@quick
@given(scores, scores)
def test_area_equals_scikit_learns(F: np.ndarray, H: np.ndarray) -> None:
    x, y = RocSketch.from_scores(F, H).roc()
    is_F = np.repeat([1, 0], [F.size, H.size])
    assert_allclose(np.trapezoid(y, x), roc_auc_score(is_F, np.concatenate([F, H])), atol=1e-12)


@quick
@given(scores, scores)
def test_hull_is_the_highest_chord(F: np.ndarray, H: np.ndarray) -> None:
    x, y = roc_by_thresholds(F, H)
    hull_x, hull_y = concave_hull(x, y)
    tops = np.flatnonzero(np.diff(x, append=2.0))
    assert_allclose(
        np.interp(x[tops], hull_x, hull_y), majorant_at_vertices(x, y)[tops], atol=1e-12
    )
    assert (hull_x[0], hull_y[0], hull_x[-1], hull_y[-1]) == (0, 0, 1, 1)
    runs, rises = np.diff(hull_x), np.diff(hull_y)
    assert (rises[1:] * runs[:-1] <= rises[:-1] * runs[1:] + 1e-12).all()


def test_hull_keeps_the_foot_of_a_first_vertical_step() -> None:
    x, y = concave_hull([0, 0, 0.5, 1], [0, 0.3, 0.9, 1])
    assert_array_equal(x, [0, 0, 0.5, 1])
    assert_array_equal(y, [0, 0.3, 0.9, 1])


def test_coarse_cells_lie_on_the_roc() -> None:
    rng = np.random.default_rng(0)
    sketch = RocSketch.from_scores(rng.normal(1, 1, 3000), rng.normal(0, 1, 2000))
    labelled, new = sketch.coarse_increments(100)
    assert labelled.size <= 101
    assert (labelled.sum(), new.sum()) == (2000, 3000)
    whole = {tuple(vertex) for vertex in np.column_stack(sketch.roc()).round(12)}
    assert {tuple(v) for v in np.column_stack(cumulative_roc(labelled, new)).round(12)} <= whole


def test_sketches_of_other_labelled_rows_do_not_merge() -> None:
    with pytest.raises(ValueError, match="sketches merge only when they share the scores of H"):
        RocSketch.from_scores([1.0], [0.0]) + RocSketch.from_scores([1.0], [0.5])


@pytest.mark.parametrize(
    ("F", "H", "message"),
    [
        ([], [0.0], "scores_F must hold at least one score; got none"),
        ([0.0], [], "scores_H must hold at least one score; got none"),
        ([0.0, np.nan], [0.0], "scores_F must be finite; got 1 NaN or infinite of 2"),
        ([0.0], [np.inf, 1.0], "scores_H must be finite; got 1 NaN or infinite of 2"),
        (np.ones((60, 2)), [0.0], r"scores_F must be 1-d, one score a row; got shape \(60, 2\)"),
        ([0.0], np.ones((1, 5)), r"scores_H must be 1-d, one score a row; got shape \(1, 5\)"),
        (1.0, [0.0], r"scores_F must be 1-d, one score a row; got shape \(\)"),
    ],
)
def test_bad_scores_are_named(F: list[float], H: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RocSketch.from_scores(F, H)


def test_a_column_of_scores_is_as_good_as_a_list() -> None:
    F, H = np.array([0.5, 2.0, 3.0]), np.array([0.0, 1.0])
    column, flat = RocSketch.from_scores(F[:, None], H[:, None]), RocSketch.from_scores(F, H)
    for found, expected in zip(column.roc(), flat.roc(), strict=True):
        assert_array_equal(found, expected)


def test_a_sketch_can_be_compared_hashed_and_not_changed() -> None:
    given = np.array([0.0, 1.0])
    ones, zeros = np.ones(2, int), np.zeros(2, int)
    sketch = RocSketch(given, ones, zeros, np.zeros(3, int))
    other = RocSketch(given, ones, zeros, np.zeros(3, int))
    assert len({sketch, other, sketch}) == 2
    assert sketch == sketch
    assert sketch != other
    for array in vars(sketch).values():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    given[0] = -1.0  # what the caller passed stays the caller's own


@pytest.mark.parametrize(
    ("false_alarm", "detection", "message"),
    [
        ([0, 0.5, 1], [0, 1], r"of one length >= 2; got shapes \(3,\) and \(2,\)"),
        ([], [], r"of one length >= 2; got shapes \(0,\) and \(0,\)"),
        ([[0, 1]], [[0, 1]], r"must be 1-d, of one length >= 2; got shapes \(1, 2\)"),
        ([0, 0.6, 0.5, 1], [0, 0.6, 0.7, 1], "false_alarm must rise .* got 0.5 after 0.6"),
        ([0, 0.5, 1], [0, np.nan, 1], "detection must rise .* got nan after 0"),
    ],
)
def test_bad_vertices_of_a_hull_are_named(false_alarm, detection, message) -> None:
    with pytest.raises(ValueError, match=message):
        concave_hull(false_alarm, detection)
