import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from reference.mixture_twins import uniform_bound_over_all_scores
from unseen.mixture import CertifiedBound
from unseen.mixture.bound import (
    clopper_pearson_bound,
    dkw_epsilon,
    fixed_ranks,
    least_ratio,
    vc_epsilon,
)
from unseen.records import UpperBound
from unseen.roc.sketch import RocSketch

FORMS = ["clopper-pearson", "dkw", "vc"]


def gaussian_sketch(n: int, share: float = 0.25, seed: int = 0) -> RocSketch:
    rng = np.random.default_rng(seed)
    n_both = round(share * n)
    F = np.r_[rng.normal(0, 1, n_both), rng.normal(2, 1, n - n_both)]
    return RocSketch.from_scores(F, rng.normal(0, 1, n))


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=30),
    st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=30),
    st.floats(0.001, 0.2),
    st.floats(0.001, 0.2),
)
def test_uniform_forms_equal_the_search_over_all_thresholds(F, H, eps_F, eps_H) -> None:
    labelled, new = (c[::-1] for c in RocSketch.from_scores(F, H).increments())
    shares = np.cumsum(new) / len(F), np.cumsum(labelled) / len(H)
    found = least_ratio(shares[0] + eps_F, shares[1] - eps_H)
    twin = uniform_bound_over_all_scores(np.array(F), np.array(H), eps_F, eps_H)
    assert_allclose(min(found, 1.0), twin)


def test_epsilons_in_closed_form() -> None:
    assert_allclose(np.exp(-2 * 500 * dkw_epsilon(500, 0.025) ** 2), 0.025)
    assert_allclose(vc_epsilon(10**4, 0.025), 3 * np.sqrt((np.log(10001) + np.log(80)) / 10**4))


@pytest.mark.parametrize("rank", [1, 7, 60])
@pytest.mark.parametrize("n_below", [0, 5, 79, 80])
def test_exact_limits_invert_the_binomial_tails(rank, n_below) -> None:
    m, n, delta = 60, 80, 0.1
    labelled, new = np.ones(m + 1, int), np.zeros(m + 1, int)
    labelled[-1] = 0
    new[rank - 1], new[-1] = n_below, n - n_below
    bound = clopper_pearson_bound(labelled, new, np.array([rank]), delta)
    shares = np.linspace(1e-6, 1 - 1e-6, 200_001)
    lower_H = shares[np.flatnonzero(binom.sf(rank - 1, m, shares) <= delta / 2).max()]
    upper_F = shares[np.flatnonzero(binom.cdf(n_below, n, shares) >= delta / 2).max()]
    assert_allclose(bound, upper_F / lower_H, rtol=1e-2)


def test_tied_scores_of_H_count_all_rows_of_F_up_to_the_tie() -> None:
    sketch = RocSketch.from_scores([0.0] * 30 + [1.0] * 70, [0.0] * 100)
    labelled, new = (c[::-1] for c in sketch.increments())
    at_tie = clopper_pearson_bound(labelled, new, np.array([100]), 0.05)
    lower_ranks = clopper_pearson_bound(labelled, new, np.array([50]), 0.05)
    assert 0.3 < at_tie < lower_ranks


@pytest.mark.parametrize("m", [1, 2, 5, 50, 1000, 10**6])
def test_ranks_are_few_distinct_and_within_the_sample(m) -> None:
    ranks = fixed_ranks(m)
    assert ranks.size <= 20
    assert ranks[0] >= 1
    assert ranks[-1] == m
    assert np.all(np.diff(ranks) > 0)


@pytest.mark.parametrize("form", FORMS)
def test_bound_falls_as_more_error_is_allowed(form) -> None:
    sketch = gaussian_sketch(20_000)
    bounds = [CertifiedBound(d, form).from_sketch(sketch).upper for d in (0.001, 0.01, 0.1, 0.5)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < bounds[0]


@pytest.mark.parametrize(
    ("form", "n", "expected"),
    [
        ("dkw", 1000, 0.390), ("dkw", 10**4, 0.314), ("dkw", 10**5, 0.283),
        ("clopper-pearson", 1000, 0.386), ("clopper-pearson", 10**4, 0.302),
        ("clopper-pearson", 10**5, 0.274), ("vc", 1000, 1.0), ("vc", 10**4, 0.57),
        ("vc", 10**5, 0.39),
    ],
)  # fmt: skip
def test_size_of_the_bound_on_shifted_gaussians(form, n, expected) -> None:
    bounds = [CertifiedBound(0.05, form).from_sketch(gaussian_sketch(n, seed=s)) for s in range(8)]
    assert_allclose(np.mean([bound.upper for bound in bounds]), expected, atol=0.015)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_tiny_samples_say_that_the_bound_is_vacuous(form, n) -> None:
    bound = CertifiedBound(0.05, form).from_sketch(gaussian_sketch(n))
    assert bound == UpperBound(1.0, 0.05, form, vacuous=True)
    assert "says nothing" in str(bound)


@pytest.mark.parametrize("form", FORMS)
def test_equal_samples_are_never_bounded_away_from_one(form) -> None:
    scores = np.random.default_rng(0).normal(size=2000)
    assert CertifiedBound(0.05, form).from_sketch(RocSketch.from_scores(scores, scores)).vacuous


@pytest.mark.parametrize("classifier", [LogisticRegression(), DecisionTreeClassifier(max_depth=3)])
def test_rows_are_split_and_any_classifier_serves(classifier) -> None:
    rng = np.random.default_rng(0)
    H = rng.normal(0, 1, (1500, 2))
    F = np.vstack([rng.normal(0, 1, (300, 2)), rng.normal(4, 1, (1200, 2))])
    bound = CertifiedBound(classifier=classifier, random_state=0).fit(H).bound(F)
    assert 0.2 < bound.upper < 0.35
    assert not bound.vacuous
    again = CertifiedBound(classifier=classifier, random_state=0).fit(H).bound(F)
    assert again == bound


@pytest.mark.parametrize(
    "classifier",
    [
        RandomForestClassifier(10, max_depth=3),
        BaggingClassifier(DecisionTreeClassifier(max_features=1, max_depth=3), 5),
    ],
    ids=["forest", "nested"],
)
def test_the_seed_reaches_a_classifier_that_draws(classifier) -> None:
    rng = np.random.default_rng(0)
    F, H = rng.normal(1, 1, (400, 2)), rng.normal(0, 1, (400, 2))
    bounds = [
        CertifiedBound(classifier=classifier, random_state=seed).fit(H).bound(F).upper
        for seed in (0, 0, 0, 1)
    ]
    assert bounds[0] == bounds[1] == bounds[2] != bounds[3]
    assert classifier.random_state is None


def test_rows_that_taught_the_classifier_are_not_counted() -> None:
    """A tree that learns every row by heart would 'prove' that noise is separable."""
    rng = np.random.default_rng(0)
    F, H = rng.normal(size=(2, 600, 3))
    memory = DecisionTreeClassifier(random_state=0)
    bounds = [
        CertifiedBound(classifier=memory, random_state=s).fit(H).bound(F).upper for s in range(10)
    ]
    assert min(bounds) == 1.0


def test_default_classifier_finds_a_curved_boundary() -> None:
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 1200)
    ring = np.c_[np.cos(angle), np.sin(angle)] * 4 + rng.normal(0, 0.4, (1200, 2))
    F = np.vstack([rng.normal(0, 0.5, (300, 2)), ring[:900]])
    bound = CertifiedBound(random_state=0).fit(rng.normal(0, 0.5, (1200, 2))).bound(F)
    assert 0.25 < bound.upper < 0.4


def test_too_few_rows_to_split() -> None:
    with pytest.raises(ValueError, match=r"X_new must have at least 4 rows, to be split .* got 3"):
        CertifiedBound().fit(np.eye(9)).bound(np.eye(9)[:3])


def test_it_never_estimates() -> None:
    assert not hasattr(CertifiedBound(), "estimate")
    assert not hasattr(CertifiedBound(), "from_scores")


def test_a_factor_loosens_the_bound_as_the_theorem_says() -> None:
    """The slow twin: the least ratio over the sets that a factor leaves usable."""
    upper_F, lower_H = np.array([0.3, 0.5, 1.0]), np.array([0.6, 0.9, 1.0])
    for factor in (1.0, 2.0, 3.0):
        usable = factor * (1 - lower_H) < 1
        slow = min(
            f / (1 - factor * (1 - h))
            for f, h in zip(upper_F[usable], lower_H[usable], strict=True)
        )
        assert least_ratio(upper_F, lower_H, factor) == pytest.approx(slow)
    assert least_ratio(np.array([0.3]), np.array([0.6]), 3.0) == 1.0  # no set is usable
