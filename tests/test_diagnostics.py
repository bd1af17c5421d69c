"""Each diagnostic is quiet where its rule holds and speaks where it is broken."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from unseen import MPEIncomplete
from unseen.diagnostics import (
    attribution,
    class_drift,
    effective_rows,
    hidden_share,
    misfit,
    overfull,
    quick_checks,
    right_end_bend,
)
from unseen.mixture import BestBin
from unseen.scores import PairScores

RNG = np.random.default_rng(0)


def gaussian(rng, share: float, shift: float, n: int = 1000):
    """Scores of F = (1 - share) N(shift, 1) + share N(0, 1), and of H = N(0, 1)."""
    known = rng.random(n) < share
    return rng.normal(np.where(known, 0.0, shift), 1), rng.normal(0, 1, n)


def messages(X, y, X_new) -> str:
    estimate = MPEIncomplete(n_folds=3, random_state=0).fit(X, y).estimate(X_new, diagnose=True)
    # Whether classes moved is a question of its own, which distances alone may leave open.
    return " ".join(one.text for one in estimate.notices if one.code != "moved_unclear")


def test_bend_is_the_ratio_of_slopes_before_and_at_the_end() -> None:
    """F uniform on the upper two fifths of low scores at twice the rate: ratio 2."""
    H = (np.arange(1000) + 0.5) / 1000
    F = np.concatenate([np.linspace(0, 0.2, 100, endpoint=False) + 1e-6,
                        np.linspace(0.2, 0.4, 200, endpoint=False) + 1e-6])  # fmt: skip
    assert right_end_bend("a", (F, H)).value == pytest.approx(2, rel=0.02)


def test_bend_fires_on_overlap_and_not_on_a_share() -> None:
    rng = np.random.default_rng(1)
    quiet = [right_end_bend("a", gaussian(rng, share, 4.0)) for share in (0.05, 0.5, 1.0) * 20]
    assert sum(finding.fires for finding in quiet) <= 1
    loud = [right_end_bend("a", gaussian(rng, 0.0, 1.0, 4000)) for _ in range(20)]
    assert sum(finding.fires for finding in loud) >= 15
    assert all(finding.message.startswith("class 'a'") for finding in loud if finding.fires)


def test_misfit_needs_distance_beyond_noise_and_away_from_the_steep_end() -> None:
    grid = np.linspace(0.005, 0.995, 100)
    spread = np.full(100, 0.005)
    off = np.where((grid > 0.4) & (grid < 0.6), 0.08, 0.0)
    assert misfit("a", grid, grid + off, grid, spread).fires
    assert not misfit("a", grid, grid + off, grid, 10 * spread).fires
    steep = np.where(grid < 0.05, 0.3, 0.0)
    assert not misfit("a", grid, grid + steep, grid, spread).fires


@given(st.floats(0.0, 1.0), st.floats(0.001, 0.1))
@settings(deadline=None, max_examples=50)
def test_overfull_never_fires_up_to_one(total, spread) -> None:
    assert not overfull(np.array([total / 2, total / 2]), spread).fires
    assert overfull(np.array([1.0, 5 * spread]), spread).fires


@given(st.integers(1, 5000), st.integers(1, 5000))
@settings(deadline=None, max_examples=50)
def test_effective_rows_are_fewer_than_those_of_either_sample(n, m) -> None:
    finding = effective_rows("a", n, m)
    assert finding.value < min(n, m)
    assert 1 / finding.value == pytest.approx(1 / n + 1 / m)
    assert finding.fires == (finding.value < 30)


def test_hidden_share_estimates_what_the_others_hold_of_a_class() -> None:
    rng = np.random.default_rng(2)
    finding = hidden_share("a", gaussian(rng, 0.4, 5.0), random_state=0)
    lower, upper = finding.interval
    assert lower < 0.4 < upper
    assert finding.fires
    assert not hidden_share("a", gaussian(rng, 0.02, 5.0), random_state=0).fires


def test_attribution_is_the_posterior_where_classes_keep_apart() -> None:
    scores_F, scores_H = gaussian(np.random.default_rng(3), 0.3, 8.0, 4000)
    weight = attribution((scores_F, scores_H))
    assert weight.sum() / 4000 == pytest.approx(0.3, abs=0.03)
    assert_allclose(weight[scores_F > 5], 0, atol=0.01)
    assert weight[scores_F < 2].mean() > 0.9


def test_drift_is_measured_in_standard_deviations() -> None:
    rng = np.random.default_rng(4)
    old, new = rng.normal(0, 3, (2000, 3)), rng.normal(0, 3, (2000, 3))
    moved = class_drift("a", old, new + np.array([0, 0, 1.5]), np.ones(2000))
    assert moved.value == pytest.approx(0.5, abs=0.1)
    assert "column 2" in moved.message
    assert not class_drift("a", old, new, np.ones(2000)).fires


def test_drift_ignores_rows_of_no_weight_constant_columns_and_storage() -> None:
    rng = np.random.default_rng(5)
    old = np.column_stack([rng.poisson(0.3, 500), np.full(500, 7.0)])
    new = np.vstack([old[rng.permutation(500)], np.full((50, 2), 99.0)])
    weight = np.repeat([1.0, 0.0], [500, 50])
    dense = class_drift("a", old, new, weight)
    stored = class_drift("a", sparse.csr_array(old), sparse.csr_array(new), weight)
    assert dense.value == pytest.approx(0, abs=1e-9)
    assert stored.value == pytest.approx(dense.value, abs=1e-9)


def test_drift_that_could_not_be_measured_is_said_and_is_not_zero() -> None:
    rows = np.random.default_rng(6).normal(size=(300, 2))
    finding = class_drift("a", rows, rows + 9, np.zeros(300))
    assert np.isnan(finding.value)
    assert not finding.fires
    assert finding.notice.code == "class_drift_unchecked"
    assert finding.notice.severity == "note"
    assert "no drift could be measured" in finding.notice.text
    assert finding.notice.about == "a"


def test_quick_checks_name_each_class() -> None:
    rng = np.random.default_rng(6)
    pairs = (gaussian(rng, 0.5, 5.0), gaussian(rng, 0.3, 5.0))
    estimate = MPEIncomplete().from_scores(scores_of(pairs))
    found = quick_checks("ab", pairs, estimate.roc, 0)
    names = {(finding.name, finding.label) for finding in found}
    per_class = {"effective_rows", "right_end_bend", "misfit"}
    assert names == {(name, label) for name in per_class for label in "ab"} | {("overfull", None)}
    assert not any(finding.fires for finding in found)
    assert set(estimate.diagnostics) == per_class | {"overfull", "slope_total"}


def scores_of(pairs) -> PairScores:
    return PairScores(tuple("abcdef"[: len(pairs)]), pairs, seed=0)


def test_methods_without_a_fitted_curve_skip_the_checks_of_the_curve() -> None:
    pairs = (gaussian(np.random.default_rng(7), 0.5, 5.0),)
    estimate = MPEIncomplete(BestBin()).from_scores(scores_of(pairs))
    assert "misfit" not in estimate.diagnostics
    assert "right_end_bend" in estimate.diagnostics


def normal(centre, n: int, width: int = 2) -> np.ndarray:
    return RNG.normal(centre, 1, (n, width))


def test_clean_data_are_not_complained_about(draws) -> None:
    for X, y, X_new in draws[:1]:
        assert messages(X, y, X_new) == ""


def test_a_class_inside_another_is_found() -> None:
    X = np.vstack([normal(0, 400), normal(0, 160), normal(6, 240)])
    found = messages(X, np.repeat(["a", "b"], 400), np.vstack([normal(0, 300), normal(6, 200)]))
    assert "class 'a': about" in found
    assert "class 'b': about" not in found


def test_a_moved_class_is_found() -> None:
    X = np.vstack([normal(0, 500), normal(9, 500)])
    X_new = np.vstack([normal([0, 2.0], 500), normal(9, 300)])
    found = messages(X, np.repeat(["a", "b"], 500), X_new)
    assert "class 'a': the new rows nearest to it" in found
    assert "in column 1" in found
    assert "class 'b': the new rows" not in found


def test_twin_classes_overfill() -> None:
    X = normal(0, 800)
    found = messages(X, np.repeat(["a", "b"], 400), normal(0, 500))
    assert "more than 1 beyond noise" in found


def test_few_rows_are_told() -> None:
    assert "with 40 labelled and 50 new rows" in messages(normal(0, 40), ["a"] * 40, normal(0, 50))


def test_a_corner_in_the_roc_is_a_misfit() -> None:
    X = np.vstack([normal(0, 400, 1), normal(12, 400, 1)])
    X_new = np.vstack([normal(0, 40, 1), normal(12, 760, 1)])
    assert "strays from the ROC" in messages(X, ["a"] * 800, X_new)


def test_expensive_checks_run_only_on_request(samples) -> None:
    X, y, X_new = samples
    estimator = MPEIncomplete(random_state=0).fit(X, y)
    quick = estimator.estimate(X_new).diagnostics
    deep = estimator.estimate(X_new, diagnose=True).diagnostics
    assert set(deep) - set(quick) == {"class_drift", "hidden_share"}
    value, lower, upper = deep["hidden_share"]["left"]
    assert lower <= value <= upper
