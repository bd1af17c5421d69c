"""Samples of known laws: their moments and their Bayes errors are known too."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from unseen.datasets import make_ringnorm, make_twonorm, make_waveform

A = 2 / np.sqrt(20)
MAKERS = [make_twonorm, make_ringnorm, make_waveform]


def share_wrong(predicted: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(predicted != y))


def test_twonorm_has_its_means_variances_and_bayes_error() -> None:
    X, y = make_twonorm(40_000, random_state=0)
    for label in (-1, 1):
        assert_allclose(X[y == label].mean(axis=0), label * A, atol=0.035)
        assert_allclose(np.cov(X[y == label].T), np.eye(20), atol=0.05)
    # The best rule is the sign of the sum; it errs on Φ(-2), Breiman's 2.3%.
    error = share_wrong(np.sign(X.sum(axis=1)), y)
    assert error == pytest.approx(stats.norm.cdf(-2), abs=3 * np.sqrt(0.0228 / 40_000))


def test_ringnorm_has_its_means_variances_and_bayes_error() -> None:
    X, y = make_ringnorm(40_000, random_state=0)
    inner, outer = X[y == -1], X[y == 1]
    assert_allclose(inner.mean(axis=0), A, atol=0.035)
    assert_allclose(np.cov(inner.T), np.eye(20), atol=0.05)
    assert_allclose(outer.mean(axis=0), 0, atol=0.07)
    assert_allclose(np.cov(outer.T), 4 * np.eye(20), atol=0.2)
    # The best rule is a ball about 4a/3, from completing the square in the likelihood ratio;
    # distances to its centre are noncentral chi-squared.
    radius2 = 8 / 3 * (20 * np.log(2) + 2 / 3)
    missed = stats.ncx2.sf(radius2, 20, 4 / 9)
    caught = stats.ncx2.cdf(radius2 / 4, 20, 16 / 9)
    bayes = (missed + caught) / 2
    inside = ((X - 4 * A / 3) ** 2).sum(axis=1) < radius2
    error = share_wrong(np.where(inside, -1, 1), y)
    assert error == pytest.approx(bayes, abs=3 * np.sqrt(bayes / 40_000))
    assert bayes == pytest.approx(0.0124, abs=5e-5)


def waveform_density(X: np.ndarray, first: int, second: int) -> np.ndarray:
    """Density of one class up to a constant: the Gaussian integral over the mixing weight."""
    places = np.arange(1, 22)
    h = {p: np.maximum(6 - abs(places - p), 0) for p in (first, second)}
    slope = h[first] - h[second]
    rest = X - h[second]
    spread = 1 / np.sqrt(slope @ slope)
    best = rest @ slope * spread**2
    mass = stats.norm.cdf((1 - best) / spread) - stats.norm.cdf(-best / spread)
    return np.exp(-((rest - np.outer(best, slope)) ** 2).sum(axis=1) / 2) * spread * mass


def test_waveform_has_its_means_variances_and_bayes_error() -> None:
    X, y = make_waveform(30_000, random_state=0)
    places = np.arange(1, 22)
    for label, peaks in enumerate([(7, 15), (7, 11), (15, 11)]):
        first, second = (np.maximum(6 - abs(places - p), 0) for p in peaks)
        rows = X[y == label]
        assert_allclose(rows.mean(axis=0), (first + second) / 2, atol=0.08)
        # A uniform weight has variance 1/12.
        assert_allclose(rows.var(axis=0), 1 + (first - second) ** 2 / 12, rtol=0.06)
    densities = [waveform_density(X, *peaks) for peaks in [(7, 15), (7, 11), (15, 11)]]
    # Breiman et al. (1984) give 0.14.
    assert share_wrong(np.argmax(densities, axis=0), y) == pytest.approx(0.14, abs=0.01)


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_fixes_the_sample(make) -> None:
    one, other, third = (make(300, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])
    assert not np.array_equal(one[0], third[0])


@pytest.mark.parametrize("make", MAKERS)
def test_classes_get_the_rows_asked_for_in_no_order(make) -> None:
    n_classes = 3 if make is make_waveform else 2
    _, y = make(301, random_state=0)
    assert np.ptp(np.unique(y, return_counts=True)[1]) <= 1
    assert len(y) == 301
    sizes = [50, 20, 30][:n_classes]
    _, y = make(sizes, random_state=0)
    assert np.unique(y, return_counts=True)[1].tolist() == sizes
    assert (np.diff(y) != 0).sum() > n_classes


@pytest.mark.parametrize("n_samples", [0, -5, (10, -1), (1, 2, 3, 4), (0, 0)])
def test_sizes_must_make_sense(n_samples) -> None:
    for make in MAKERS:
        message = r"n_samples must be a number of rows >= 1, or \d of them"
        with pytest.raises(ValueError, match=message):
            make(n_samples)
