from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from unseen import SaerensEM
from unseen.intervals import Credible, Percentile
from unseen.proportions.open_set import OpenSetEstimator, open_set_fit
from unseen.roc.pooled import CurveLattice
from unseen.scores import OpenScores, Posteriors
from unseen.scores.base import RatioScores
from unseen.scores.open import ratios_at_shares
from unseen.simplex import mixture_shares

MEANS = np.array([-1.5, 1.5])


def known_rows(counts, rng):
    """Rows of two classes on a line, with the exact posteriors and densities."""
    codes = np.repeat([0, 1], counts)
    return rng.normal(MEANS[codes], 1), codes


def exact_scores(counts, new_counts, n_unseen, seed=0, mixture=None):
    """Scores of the best classifiers there can be: true posteriors and true density ratios."""
    rng = np.random.default_rng(seed)
    x, codes = known_rows(counts, rng)
    x_new = np.append(known_rows(new_counts, rng)[0], rng.normal(7, 1, n_unseen))
    prior = np.array(counts) / sum(counts)
    shares = np.append(new_counts, n_unseen) / (sum(new_counts) + n_unseen)
    densities, densities_new = (norm.pdf(rows[:, None], [*MEANS, 7.0], 1) for rows in (x, x_new))
    posteriors = [d[:, :2] * prior for d in (densities, densities_new)]
    posteriors = [rows / rows.sum(axis=1, keepdims=True) for rows in posteriors]
    record = Posteriors(("a", "b"), codes, *posteriors)
    closed = mixture_shares(record.ratios, start=record.prior)
    mixture = closed if mixture is None else np.asarray(mixture)
    ratios = [np.log(d @ shares) - np.log(d[:, :2] @ mixture) for d in (densities_new, densities)]
    scores = RatioScores(ratios[0][:, None], ratios[1][:, None], np.zeros(1))
    return OpenScores(("a", "b"), codes, record, scores, closed, mixture, seed)


def test_a_moved_ratio_is_the_ratio_against_the_other_mixture() -> None:
    # No unseen row, so that the true density ratio has no infinite part.
    from_even = exact_scores((300, 200), (150, 50), 0, mixture=[0.5, 0.5])
    from_other = exact_scores((300, 200), (150, 50), 0, mixture=[0.2, 0.8])
    moved = ratios_at_shares(from_even, np.array([0.2, 0.8]))
    assert_allclose(moved.new, from_other.ratios.new, atol=1e-9)
    assert_allclose(moved.labelled, from_other.ratios.labelled, atol=1e-9)


def test_candidates_that_say_nothing_stay_tied() -> None:
    # Posteriors of labelled rows are out of fold, those of new rows are not: a small difference
    # everywhere, which must not order the rows of a candidate that has no order of its own.
    rng = np.random.default_rng(0)
    scores = (
        OpenSetEstimator(random_state=0)
        .fit(rng.normal(size=(60, 2)) + np.repeat([[0], [3]], 30, axis=0), np.repeat([0, 1], 30))
        .scores(rng.normal(size=(40, 2)))
    )
    ratios = scores.ratios
    silent = replace(
        ratios,
        new=np.column_stack([np.zeros(40), ratios.new[:, 0]]),
        labelled=np.column_stack([np.zeros(60), ratios.labelled[:, 0]]),
        log_loss=np.zeros(2),
    )
    moved = ratios_at_shares(replace(scores, ratios=silent), np.array([0.9, 0.1]))
    assert not moved.new[:, 0].any()
    assert not moved.labelled[:, 0].any()
    assert not np.allclose(moved.labelled[:, 1], silent.labelled[:, 1])


@pytest.mark.slow
def test_a_rare_known_class_that_has_become_common_is_not_unseen() -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(np.repeat([[-2.0], [2.0]], [700, 14], axis=0), 1, (714, 2))
        X_new = rng.normal(np.repeat([[-2.0], [2.0]], [360, 40], axis=0), 1, (400, 2))
        y = np.repeat(["a", "b"], [700, 14])
        found = OpenSetEstimator(random_state=0).fit(X, y).estimate(X_new)
        assert found.unseen == 0
        assert found.diagnostics["bayes_factor"] < 1


def test_the_mixture_that_made_the_ratios_makes_no_difference() -> None:
    fits = [
        open_set_fit(exact_scores((400, 300), (200, 100), 100, mixture=m), 0.95)
        for m in ([0.5, 0.5], [0.9, 0.1])
    ]
    assert_allclose(fits[0].shares, fits[1].shares, atol=1e-6)


@pytest.mark.slow
def test_with_exact_scores_all_shares_are_found() -> None:
    errors = []
    for seed in range(4):
        scores = exact_scores((1500, 1500), (700, 200), 300, seed)
        shares = open_set_fit(scores, 0.95).shares
        errors.append(shares - np.array([700, 200, 300]) / 1200)
    assert np.abs(errors).mean() < 0.015
    assert np.abs(np.mean(errors, axis=0)).max() < 0.015


def test_rounds_share_lattices_where_few_labelled_rows_are_left_out(monkeypatch) -> None:
    made, of_one = [], CurveLattice.__init__

    def counted(self, *args):
        made.append(args)
        of_one(self, *args)

    monkeypatch.setattr(CurveLattice, "__init__", counted)
    shares, counts = [], []
    for step in (0.0, 0.01):
        scores = exact_scores((1500, 1500), (700, 200), 300)
        scores = replace(scores, ratios=replace(scores.ratios, odds_step=step))
        shares.append(open_set_fit(scores, 0.95).shares)
        counts.append(len(made))
    without, with_steps = counts[0], counts[1] - counts[0]
    assert with_steps < without
    assert_allclose(shares[1], shares[0], atol=1e-3)


def test_the_estimate_leaves_out_a_hundredth_of_the_labelled_rows_at_most() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + np.repeat([[0], [3]], 30, axis=0)
    estimator = OpenSetEstimator(random_state=0).fit(X, np.repeat([0, 1], 30))
    assert 0 < estimator.scores(rng.normal(size=(40, 2))).ratios.odds_step <= 0.01


def test_wrong_shares_among_the_known_are_put_right() -> None:
    # The unseen rows look most like class b: closed-set EM gives them all to it.
    fit = open_set_fit(exact_scores((1000, 1000), (600, 200), 400), 0.95)
    assert fit.closed[1] > 0.4
    assert_allclose(fit.known_mixture, [0.75, 0.25], atol=0.04)


def test_known_rows_look_known_and_unseen_rows_do_not() -> None:
    fit = open_set_fit(exact_scores((1000, 1000), (600, 200), 400), 0.95)
    assert fit.known[:800].mean() > 0.95
    assert fit.known[800:].mean() < 0.1


def test_where_nothing_is_unseen_the_answer_is_closed_set_em() -> None:
    for seed in range(3):
        scores = exact_scores((400, 300), (60, 140), 0, seed)
        estimate = OpenSetEstimator().from_scores(scores)
        assert estimate.unseen == 0.0
        assert estimate.diagnostics["probability_unseen"] < 0.1
        assert estimate.diagnostics["bayes_factor"] < 2
        among = SaerensEM().from_scores(scores.posteriors).proportions
        assert_allclose(estimate.proportions, among, atol=0.01)


def test_the_prior_decides_between_the_hypotheses() -> None:
    scores = exact_scores((400, 300), (100, 60), 40)
    closed = OpenSetEstimator(prior_closed=1.0).from_scores(scores)
    assert closed.unseen == 0.0
    assert closed.diagnostics["probability_unseen"] == 0.0
    among = SaerensEM().from_scores(scores.posteriors).proportions
    assert_allclose(closed.proportions, among, atol=1e-9)
    open_ = OpenSetEstimator(prior_closed=0.0, prior_moved=0.0).from_scores(scores)
    assert open_.diagnostics["probability_unseen"] == 1.0
    assert abs(open_.unseen - 0.2) < 0.06
    assert open_.diagnostics["bayes_factor"] == closed.diagnostics["bayes_factor"]


def test_the_evidence_grows_with_the_unseen_share() -> None:
    factors = [
        OpenSetEstimator().from_scores(exact_scores((400, 300), (100, 100), n)).diagnostics
        for n in (0, 10, 30, 90)
    ]
    values = [found["bayes_factor"] for found in factors]
    assert values == sorted(values)
    assert values[0] < 1 < 1e6 < values[-1]


def test_finds_an_unseen_class_among_rows(samples) -> None:
    X, y, X_new = samples
    estimator = OpenSetEstimator(random_state=0).fit(X, y)
    estimate = estimator.estimate(X_new, confidence=0.95)
    shares = np.append(estimate.proportions, estimate.unseen)
    assert_allclose(shares, [0.5, 0.2, 0.3], atol=0.07)
    assert_allclose(shares.sum(), 1.0)
    assert estimate.diagnostics["probability_unseen"] > 0.98
    lower, upper = estimate.intervals.T
    assert ((lower <= [0.5, 0.2, 0.3]) & (upper >= [0.5, 0.2, 0.3])).all()


def test_one_known_class_is_enough(samples) -> None:
    X, y, X_new = samples
    left = y == "left"
    estimate = OpenSetEstimator(random_state=0).fit(X[left], y[left]).estimate(X_new)
    assert abs(estimate["left"] - 0.5) < 0.08
    assert list(estimate.roc) == ["left"]
    assert estimate.roc["left"].right_slope == pytest.approx(estimate["left"])


def test_labels_storage_and_order_of_classes_do_not_matter(samples) -> None:
    X, y, X_new = samples
    known = np.append(X_new[:50], X_new[50:70], axis=0)
    answer = OpenSetEstimator(n_folds=4, random_state=0).fit(X, y).estimate(known)
    assert answer.unseen == 0.0
    codes = np.where(y == "left", 7, 3)
    numbered = OpenSetEstimator(n_folds=4, random_state=0).fit(sparse.csr_matrix(X), codes)
    other = numbered.estimate(sparse.csr_matrix(known))
    assert other.classes == (3, 7)
    assert_allclose(other[7], answer["left"], atol=0.01)


def test_another_classifier_serves(samples) -> None:
    X, y, X_new = samples
    model = LogisticRegression(C=10.0)
    estimate = OpenSetEstimator(classifier=model, random_state=0).fit(X, y).estimate(X_new)
    assert_allclose(np.append(estimate.proportions, estimate.unseen), [0.5, 0.2, 0.3], atol=0.1)


def test_draws_mix_the_hypotheses_at_even_odds_at_least() -> None:
    scores = exact_scores((300, 200), (80, 40), 4)
    even, cautious, bold = (
        OpenSetEstimator(prior_closed=prior).read(scores) for prior in (0.5, 0.9, 0.2)
    )
    draws = even.replicates(2000, 0)
    assert draws.shape == (2000, 3)
    assert_allclose(draws.sum(axis=1), 1.0)
    assert draws.min() >= 0
    assert_allclose(np.mean(draws[:, -1] > 0), even.diagnostics["probability_unseen"], atol=0.05)
    # A prior that favours "closed" is caution for the estimate, and no knowledge for intervals.
    assert_array_equal(draws, cautious.replicates(2000, 0))
    assert np.mean(bold.replicates(2000, 0)[:, -1] > 0) > np.mean(draws[:, -1] > 0)


@pytest.mark.slow
def test_intervals_cover_about_as_often_as_they_say() -> None:
    inside = []
    for seed in range(8):
        n_unseen = 0 if seed % 2 else 50
        scores = exact_scores((200, 200), (90, 60), n_unseen, seed)
        estimator = OpenSetEstimator()
        found = estimator.from_scores(scores, confidence=0.9).intervals
        truth = np.array([90, 60, n_unseen]) / (150 + n_unseen)
        inside.append((found[:, 0] <= truth) & (truth <= found[:, 1]))
    assert np.mean(inside) >= 0.85


def test_other_intervals_can_be_asked_for() -> None:
    scores = exact_scores((300, 200), (80, 40), 30)
    estimator = OpenSetEstimator()
    plain = estimator.from_scores(scores, confidence=0.95, interval=Percentile(100)).intervals
    draws = estimator.read(scores).replicates(100, scores.seed)
    assert_allclose(plain, np.quantile(draws, [0.025, 0.975], axis=0).T)
    assert (np.ptp(plain, axis=1) > 0).all()


def test_bad_values_are_named() -> None:
    with pytest.raises(ValueError, match="'prior_closed' parameter of OpenSetEstimator must be"):
        OpenSetEstimator(prior_closed=2.0).fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="n_replicates must be >= 20 to have quantiles; got 3"):
        Credible(n_replicates=3)
    ratios = RatioScores(np.zeros((4, 1)), np.zeros((3, 1)), np.zeros(1))
    with pytest.raises(ValueError, match="posteriors must be there for several classes"):
        OpenScores(("a", "b"), np.array([0, 0, 1]), None, ratios, np.ones(2) / 2, np.ones(2) / 2)
    with pytest.raises(ValueError, match="codes must hold one class per labelled row; got 2 for 3"):
        OpenScores(("a",), np.array([0, 0]), None, ratios, np.ones(1), np.ones(1))


def test_records_that_live_side_by_side_keep_their_own_fits():
    open_, closed = (exact_scores((400, 300), (200, 100), n_unseen) for n_unseen in (100, 0))
    first, second = (OpenSetEstimator().from_scores(one).unseen for one in (open_, closed))
    assert first > 0.1 > second
    assert OpenSetEstimator(prior_closed=1.0).from_scores(open_).unseen == 0
    assert OpenSetEstimator().from_scores(open_).unseen == first


def test_expected_shares_lie_between_those_of_the_hypotheses() -> None:
    scores = exact_scores((300, 200), (80, 40), 12)
    closed, open_ = (OpenSetEstimator(s, prior_moved=0.0).read(scores).expected for s in (1.0, 0.0))
    assert_allclose(closed[:2], scores.closed)
    sides = [OpenSetEstimator(s, prior_moved=0.0).from_scores(scores) for s in (1.0, 0.0)]
    assert_allclose([closed[2], open_[2]], [side.unseen for side in sides])
    estimator = OpenSetEstimator(prior_closed=0.5, prior_moved=0.0)
    open_weight = estimator.from_scores(scores).diagnostics["probability_unseen"]
    expected = (1 - open_weight) * closed + open_weight * open_
    assert_allclose(estimator.read(scores).expected, expected, atol=1e-12)


def test_small_unseen_shares_are_likelier_a_priori_and_more_so_with_several_classes() -> None:
    several = exact_scores((300, 200), (80, 40), 8)
    alone = replace(several, classes=("a",), codes=np.zeros(500, dtype=int), posteriors=None)
    for scores, small in ((several, 0.03), (alone, 0.3)):
        expecting, uniform, default = (
            open_set_fit(scores, 0.9, small_share=scale).posterior
            for scale in (small, np.inf, None)
        )
        assert expecting.log_bayes_factor > uniform.log_bayes_factor
        means = [posterior.share @ posterior.probability for posterior in (expecting, uniform)]
        assert means[0] > means[1]
        assert default.log_bayes_factor == expecting.log_bayes_factor
