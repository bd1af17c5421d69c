"""Intervals: exact on replicates that are given, consistent on scores with a known law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen import ClassifyAndCount, MPEIncomplete, MPEProjected, SaerensEM
from unseen.intervals import (
    Calibrated,
    IntervalEvidence,
    Percentile,
    RocBand,
    band_limits,
    band_slopes,
    certified_unseen,
    counting_noise,
    simultaneous_tail,
    stretched_limits,
)
from unseen.mixture import BestBin
from unseen.roc import GRID, Concave, RocSketch, bootstrap_roc, fit_roc
from unseen.roc.bootstrap import EXACT_ROWS, bootstrap_rocs, bootstrap_slopes
from unseen.scores import PairScores

SHARES = arrays(float, 4, elements=st.floats(0, 1))
METHODS = [Calibrated(), Percentile(), RocBand()]


def normal_evidence(n_replicates: int = 20_000, correlation: float = 0.0) -> IntervalEvidence:
    """Three shares whose replicates are jointly normal with standard deviation 0.01."""
    rng = np.random.default_rng(0)
    shares = np.array([0.5, 0.3, 0.2])
    covariance = 1e-4 * ((1 - correlation) * np.eye(3) + correlation)
    draws = rng.multivariate_normal(shares, covariance, n_replicates)
    return IntervalEvidence(shares, lambda n, seed: draws, 10_000)


def gaussian_pairs(
    shares: list[float], n: int = 800, seed: int = 0, n_labelled: int | None = None
) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """New rows of classes far apart on a line; the score of a class is the distance."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, [*shares, 1 - sum(shares)])
    centres = 8.0 * np.arange(len(shares) + 1)
    rows = np.concatenate([rng.normal(c, 1, k) for c, k in zip(centres, counts, strict=True)])
    return tuple(
        (np.abs(rows - centre), np.abs(rng.normal(0, 1, n_labelled or n)))
        for centre in centres[: len(shares)]
    )


def test_percentiles_of_normal_replicates_are_normal_quantiles() -> None:
    limits = Percentile().limits(normal_evidence(), 0.9)
    expected = np.array([[0.5], [0.3], [0.2]]) + 0.01 * norm.ppf([0.05, 0.95])
    assert_allclose(limits, expected, atol=5e-4)


@pytest.mark.parametrize("correlation", [0.0, 0.999])
def test_simultaneous_limits_hold_for_all_shares_at_once(correlation) -> None:
    evidence = normal_evidence(correlation=correlation)
    draws = evidence.replicates(0, 0)
    limits = Percentile(simultaneous=True).limits(evidence, 0.9)
    inside = ((draws >= limits[:, 0]) & (draws <= limits[:, 1])).all(axis=1)
    assert inside.mean() == pytest.approx(0.9, abs=0.01)
    # Independent: each at 0.9^(1/3). The same variable three times: each at 0.9.
    each = 0.9 ** (1 / 3) if correlation == 0 else 0.9
    width = np.diff(limits, axis=1).ravel()
    assert_allclose(width, 0.02 * norm.ppf((1 + each) / 2), rtol=0.05)


def test_replicates_that_never_move_do_not_spoil_the_simultaneous_level() -> None:
    draws = normal_evidence().replicates(0, 0)
    with_zeros = np.column_stack([draws, np.zeros(len(draws))])
    assert simultaneous_tail(with_zeros, 0.9) == pytest.approx(simultaneous_tail(draws, 0.9))


@given(SHARES, arrays(float, (4, 2), elements=st.floats(0, 1)), st.floats(1, 3))
@settings(deadline=None, max_examples=50)
def test_stretched_limits_hold_the_share_and_the_quantiles(shares, quantiles, stretch) -> None:
    quantiles = np.sort(quantiles, axis=1)
    limits = stretched_limits(shares, quantiles, stretch, np.zeros(4))
    assert (limits[:, 0] <= np.minimum(shares, quantiles[:, 0]) + 1e-12).all()
    assert (limits[:, 1] >= np.maximum(shares, quantiles[:, 1]) - 1e-12).all()
    assert ((limits >= 0) & (limits <= 1)).all()


def test_calibrated_limits_are_percentiles_stretched_about_the_estimate() -> None:
    evidence = normal_evidence()
    plain, wide = Percentile().limits(evidence, 0.95), Calibrated().limits(evidence, 0.95)
    assert_allclose(wide - evidence.shares[:, None], 1.4 * (plain - evidence.shares[:, None]))


def test_counting_noise_is_that_of_the_rows_that_do_not_count() -> None:
    shares = np.array([0.0, 0.02, 0.3, 0.5])
    assert_allclose(counting_noise(shares, 60, 0.025), counting_noise(1 - shares, 60, 0.025))


def test_limits_for_all_shares_are_no_closer_than_for_each_alone() -> None:
    assert simultaneous_tail(np.full((50, 3), 0.2), 0.9) == pytest.approx(0.05)


def test_counting_noise_is_the_least_half_width() -> None:
    """A share that the replicates hardly move still has binomial noise, 0 included."""
    shares = np.array([0.4, 0.0, 0.6])
    draws = shares + 1e-6 * np.random.default_rng(0).random((100, 3))
    limits = Calibrated(stretch=1).limits(IntervalEvidence(shares, lambda *_: draws, 400), 0.95)
    noise = counting_noise(shares, 400, 0.025)
    assert_allclose(limits, np.clip(shares[:, None] + noise[:, None] * [-1, 1], 0, 1), atol=1e-5)
    assert_allclose(noise[0], norm.ppf(0.975) * np.sqrt(0.24 / 400), rtol=0.01)


def test_a_share_that_was_assumed_keeps_an_interval_of_no_length() -> None:
    draws = np.column_stack([np.random.default_rng(0).beta(50, 50, 200), np.zeros(200)])
    limits = Calibrated().limits(IntervalEvidence(np.array([0.5, 0.0]), lambda *_: draws, 100), 0.9)
    assert_array_equal(limits[1], [0, 0])


@given(SHARES)
@settings(deadline=None, max_examples=50)
def test_the_papers_lower_limit_is_what_the_others_leave(upper) -> None:
    limits = band_limits(np.zeros(4), upper, closed=True)
    for k in range(4):
        left = 1 - np.delete(upper, k).sum()
        assert limits[k, 0] == pytest.approx(np.clip(left, 0, upper[k]), abs=1e-12)
    assert_array_equal(limits[:-1, 1], upper)


@given(SHARES, SHARES)
@settings(deadline=None, max_examples=50)
def test_unseen_lies_between_what_the_limits_leave(one, other) -> None:
    lower, upper = np.minimum(one, other), np.maximum(one, other)
    unseen_lower, unseen_upper = band_limits(lower, upper, closed=False)[-1]
    assert unseen_lower == pytest.approx(max(0, 1 - upper.sum()))
    assert unseen_upper == pytest.approx(max(0, 1 - lower.sum()))


def test_band_slopes_are_fits_to_the_bands_of_the_roc() -> None:
    pairs = gaussian_pairs([0.5])
    lower, upper = band_slopes(pairs, 0.9, Concave(), 400, 0)
    replicates = bootstrap_roc(RocSketch.from_scores(*pairs[0]), GRID, 400, 0)
    low_curve, high_curve = np.quantile(replicates, [0.05, 0.95], axis=0)
    assert fit_roc(GRID, low_curve, Concave()).right_slope == pytest.approx(upper, abs=0.015)
    assert fit_roc(GRID, high_curve, Concave()).right_slope == pytest.approx(lower, abs=0.015)
    assert lower[0] < 0.5 < upper[0]


def test_bands_widen_with_the_level_and_narrow_with_rows() -> None:
    def width(n: int, confidence: float) -> float:
        evidence = IntervalEvidence(np.array([0.5, 0.5]), lambda *_: None, n,
                                    gaussian_pairs([0.5], n), 0)  # fmt: skip
        return float(np.diff(RocBand().limits(evidence, confidence)[0])[0])

    assert width(400, 0.5) < width(400, 0.99)
    assert width(6400, 0.95) == pytest.approx(width(400, 0.95) / 4, rel=0.4)


def test_shared_weights_have_the_law_of_each_class_alone() -> None:
    pairs = gaussian_pairs([0.4, 0.3], 400)
    grid = np.array([0.1, 0.5, 0.9])
    together = bootstrap_rocs(pairs, grid, 3000, 0)
    for k, pair in enumerate(pairs):
        alone = bootstrap_roc(RocSketch.from_scores(*pair), grid, 3000, 1)
        assert_allclose(together[:, k].mean(axis=0), alone.mean(axis=0), atol=4e-3)
        assert_allclose(together[:, k].std(axis=0), alone.std(axis=0), rtol=0.1, atol=1e-4)


def test_shared_weights_share_the_rows_out_among_separable_classes() -> None:
    """Where classes are far apart, 1 - detection at false alarm 0+ is the weight of a class."""
    # A labelled row at distance 4 stands between the rows of a class and all others.
    pairs = [(F, np.append(H[H < 4], 4.0)) for F, H in gaussian_pairs([0.5, 0.5], 500)]
    weight = 1 - bootstrap_rocs(pairs, [1e-9], 2000, 0)[:, :, 0]
    assert_allclose(weight.sum(axis=1), 1, atol=1e-6)
    share = weight[:, 0].mean()
    # A sum of Dirichlet(1, ..., 1) weights has a beta law.
    assert_allclose(weight.std(axis=0), np.sqrt(share * (1 - share) / 501), rtol=0.06)


def test_large_samples_are_drawn_apart_and_so_have_sums_that_vary_more() -> None:
    pairs = gaussian_pairs([0.5, 0.5], EXACT_ROWS // 2 + 1)
    weight = 1 - bootstrap_rocs(pairs, [1e-9], 300, 0)[:, :, 0]
    assert abs(np.corrcoef(weight.T)[0, 1]) < 0.25


def test_pairs_must_share_their_new_rows() -> None:
    pairs = [(np.zeros(5), np.zeros(3)), (np.zeros(4), np.zeros(3))]
    with pytest.raises(ValueError, match=r"same new rows in each; got \[4, 5\]"):
        bootstrap_rocs(pairs, [0.5], 10)


def test_slopes_are_fits_to_the_replicated_curves() -> None:
    pairs = gaussian_pairs([0.5, 0.3], 300)
    model = Concave()
    curves = bootstrap_rocs(pairs, GRID, 5, 0)
    slopes = bootstrap_slopes(pairs, model, 5, 0)
    for replicate, k in np.ndindex(5, 2):
        fitted = fit_roc(GRID, curves[replicate, k], model)
        assert_allclose(slopes[replicate, k], fitted.right_slope[0], atol=1e-6)


def test_other_mixture_methods_have_replicates_too() -> None:
    scores = PairScores(("a", "b"), gaussian_pairs([0.5, 0.3], 300), seed=0)
    estimator = MPEIncomplete(BestBin())
    draws, estimate = estimator.read(scores).replicates(40, 0), estimator.from_scores(scores)
    assert draws.shape == (40, 3)
    assert_allclose(draws.sum(axis=1), 1)
    assert_allclose(draws[:, :2].mean(axis=0), estimate.proportions, atol=0.06)
    assert (draws[:, :2].std(axis=0) > 0.005).all()


@pytest.mark.parametrize("level", [1e-300, 1 - 1e-16])
def test_the_smallest_and_the_largest_level_have_an_interval(level, samples) -> None:
    X, y, X_new = samples
    found = ClassifyAndCount(random_state=0).fit(X, y).estimate(X_new, confidence=level)
    low, high = np.asarray(found.intervals).T
    assert (low <= np.append(found.proportions, 0.0)).all()
    assert (np.append(found.proportions, 0.0) <= high).all()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_estimate_with_confidence_has_intervals_around_the_shares(method, samples) -> None:
    X, y, X_new = samples
    estimator = MPEIncomplete(classifier=GaussianNB(), n_folds=3, random_state=0).fit(X, y)
    plain = estimator.estimate(X_new)
    found = estimator.estimate(X_new, confidence=0.9, interval=method)
    assert plain.intervals is None
    assert_array_equal(found.proportions, plain.proportions)
    assert found.intervals.shape == (3, 2)
    assert (found.intervals[:, 0] < found.intervals[:, 1]).all()
    if not isinstance(method, RocBand):
        shares = np.append(found.proportions, found.unseen)
        assert ((found.intervals[:, 0] <= shares) & (shares <= found.intervals[:, 1])).all()
    again = estimator.estimate(X_new, confidence=0.9, interval=method)
    assert_array_equal(again.intervals, found.intervals)


def test_one_call_passes_the_confidence_on_and_prints_the_intervals(samples) -> None:
    estimate = unseen.estimate(*samples, confidence=0.95, random_state=0)
    lower, upper = estimate.intervals[0]
    assert f"{lower:.3f} to {upper:.3f}" in str(estimate)


@pytest.mark.parametrize("kind", [SaerensEM, MPEProjected])
def test_closed_set_estimators_have_intervals_and_no_unseen_ones(kind, samples) -> None:
    X, y, X_new = samples
    estimate = kind(random_state=0).fit(X, y).estimate(X_new[:70], confidence=0.95)
    assert (np.diff(estimate.intervals[:2], axis=1) > 0.05).all()
    assert_array_equal(estimate.intervals[2], [0, 0])


def test_certified_bound_is_on_the_record_when_asked_for(draws) -> None:
    X, y, X_new = draws[0]
    estimator = MPEIncomplete(random_state=0).fit(X, y)
    assert estimator.estimate(X_new).unseen_certified is None
    estimate = estimator.estimate(X_new, delta=0.05)
    assert 0.05 < estimate.unseen_certified <= 0.3
    assert f"at least {estimate.unseen_certified:.3f}" in str(estimate)


def test_certified_bound_spends_delta_over_the_classes() -> None:
    rng = np.random.default_rng(0)
    known = [rng.normal(0, 1, (300, 1)), rng.normal(9, 1, (300, 1))]
    X_new = np.vstack([rng.normal(0, 1, (100, 1)), rng.normal(18, 1, (300, 1))])
    bounds = [certified_unseen(known, X_new, delta, random_state=0) for delta in (0.2, 0.01)]
    assert 0.4 < bounds[1] < bounds[0] <= 0.75
    assert certified_unseen(known[:1], X_new, 0.1, random_state=0) > 0.5


BAD = {
    "level in percent": ({"confidence": 95}, ValueError, r"confidence must .* got 95"),
    "level nan": ({"confidence": np.nan}, ValueError, r"confidence must .* got nan"),
    "level 0": ({"confidence": 0.0}, ValueError, r"confidence must .* got 0.0"),
    "class for object": ({"confidence": 0.9, "interval": RocBand}, TypeError, "interval must"),
    "no level": ({"interval": RocBand()}, ValueError, "interval needs a confidence"),
    "delta": ({"delta": 5}, ValueError, r"delta must .* got 5"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case, samples) -> None:
    X, y, X_new = samples
    arguments, error, message = BAD[case]
    with pytest.raises(error, match=message):
        MPEIncomplete().fit(X, y).estimate(X_new, **arguments)


def test_bands_need_a_roc(samples) -> None:
    X, y, X_new = samples
    with pytest.raises(ValueError, match="needs no ROC"):
        SaerensEM().fit(X, y).estimate(X_new, confidence=0.9, interval=RocBand())


@pytest.mark.parametrize("make", [Calibrated, Percentile, RocBand])
def test_too_few_replicates_are_refused(make) -> None:
    with pytest.raises(ValueError, match=r"n_replicates must be >= 20 .* got 5"):
        make(n_replicates=5)


def test_a_stretch_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"stretch must be >= 1; got 0.5"):
        Calibrated(stretch=0.5)


def test_a_known_share_of_zero_still_has_counting_noise():
    """Every replicate says 0, yet a class of share 1% leaves no trace in 1 of 20 samples of 300."""
    draws = np.tile([0.0, 0.7, 0.3], (500, 1))
    evidence = IntervalEvidence(draws[0], lambda n, seed: draws, 300)
    limits = Calibrated().limits(evidence, 0.95)
    assert limits[0, 0] == 0.0
    assert 0.005 < limits[0, 1] < 0.03
