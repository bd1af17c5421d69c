"""BinaryRescaled: Prop. 3 in closed form, and the record that it needs."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.naive_bayes import GaussianNB

from unseen import BestBin, BinaryRescaled, MPEIncomplete, ROCSlope
from unseen.proportions.per_class.binary import rescaled_proportions
from unseen.records import Notice
from unseen.scores import PairScores, TwoClassScores
from unseen.scores.pairs import crossfit_scores

ODD = Notice("constant_columns", "odd rows")
shares = st.floats(0, 1)


def least_ratio(p: np.ndarray, q: np.ndarray) -> float:
    """Inf of dP/dQ: the mixture proportion of two discrete distributions, from its definition."""
    return float((p[q > 0] / q[q > 0]).min())


masses = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any)


@settings(deadline=None, max_examples=100)
@given(first=masses, second=masses, share=shares)
def test_exact_for_any_two_distributions_that_differ(first, second, share) -> None:
    p, q = np.array(first) / sum(first), np.array(second) / sum(second)
    assume(np.abs(p - q).max() > 1e-9)
    new = share * p + (1 - share) * q
    in_new = [least_ratio(new, p), least_ratio(new, q)]
    in_other = [least_ratio(p, q), least_ratio(q, p)]
    assert_allclose(rescaled_proportions(in_new, in_other), [share, 1 - share], atol=1e-9)


@settings(deadline=None, max_examples=50)
@given(st.tuples(shares, shares, shares, shares))
def test_least_squares_of_the_two_equations(nu) -> None:
    in_new, in_other = np.array(nu[:2]), np.array(nu[2:])
    assume(((1 - in_other) ** 2).sum() > 1e-3)

    def misfit(share: float) -> float:
        both = np.array([share, 1 - share]) * (1 - in_other) - (1 - in_new[::-1])
        return float((both**2).sum())

    best = minimize_scalar(misfit, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    found = rescaled_proportions(in_new, in_other)
    assert_allclose(found.sum(), 1)
    assert misfit(found[0]) <= best.fun + 1e-12


def test_without_overlap_the_two_answers_are_averaged() -> None:
    assert_allclose(rescaled_proportions([0.5, 0.3], [0.0, 0.0]), [0.6, 0.4])


def test_a_drowned_class_leaves_the_word_to_the_other() -> None:
    """With nu(P_1, P_2) = 1 - 1e-9 the division for pi_1' is all noise."""
    assert_allclose(rescaled_proportions([0.7, 0.9], [1 - 1e-9, 0.5]), [0.4, 0.6], atol=1e-6)


def test_classes_that_are_the_same_share_equally() -> None:
    assert_array_equal(rescaled_proportions([0.7, 0.9], [1.0, 1.0]), [0.5, 0.5])


def test_one_row_per_replicate() -> None:
    in_new, in_other = np.random.default_rng(0).random((2, 7, 2))
    together = rescaled_proportions(in_new, in_other)
    alone = [rescaled_proportions(*row) for row in zip(in_new, in_other, strict=True)]
    assert_array_equal(together, alone)


def hidden_scores(n: int = 1500, seed: int = 0) -> TwoClassScores:
    """P_1 is half P_2; the new rows are 60% P_1. The score is the row, one way or the other."""
    rng = np.random.default_rng(seed)
    new, first, second = (
        rng.normal(np.where(np.arange(n) < part * n, 5, 0), 1) for part in (0.3, 0.5, 0.0)
    )
    pairs = ((-new, -first), (new, second))
    return TwoClassScores(("a", "b"), pairs, 5, (ODD,), (first, second))


def test_the_record() -> None:
    scores = hidden_scores()
    estimate = BinaryRescaled().from_scores(scores)
    nu = [BestBin().from_scores(*pair).proportion for pair in scores.all_pairs]
    assert_array_equal(estimate.proportions, rescaled_proportions(nu[:2], nu[2:]))
    assert_allclose(nu, [0.6, 0.7, 0.5, 0.0], atol=0.05)
    assert_allclose(estimate.proportions, [0.6, 0.4], atol=0.05)
    assert estimate.unseen == 0
    assert estimate.diagnostics["inside_other"] == {"a": nu[2], "b": nu[3]}
    assert_allclose(
        estimate.diagnostics["rescaled"],
        [(1 - nu[1]) / (1 - nu[2]), (1 - nu[0]) / (1 - nu[3])],
    )
    assert (estimate.seed, estimate.notices[0]) == (5, ODD)
    assert [notice.code for notice in estimate.notices[1:]] == ["closed_set"]
    assert estimate.to_dict()["diagnostics"]["rescaled"] == [*estimate.diagnostics["rescaled"]]


def test_the_mirror_of_the_scores_between_the_classes() -> None:
    """nu(P_2, P_1) needs scores that are high for P_2: the same scores with the sign turned."""
    scores = hidden_scores()
    turned = TwoClassScores(
        ("b", "a"), scores.pairs[::-1], between=(-scores.between[1], -scores.between[0])
    )
    ours, theirs = (BinaryRescaled().from_scores(one) for one in (scores, turned))
    assert ours["a"] == pytest.approx(theirs["a"], abs=1e-12)


def test_the_same_classes_twice_are_told() -> None:
    same = np.random.default_rng(0).normal(size=200)
    scores = TwoClassScores(("a", "b"), ((same, same), (same, same)), between=(same, same))
    estimate = BinaryRescaled(method=ROCSlope()).from_scores(scores)
    assert estimate.diagnostics["rescaled"] == (None, None)
    assert_array_equal(estimate.proportions, [0.5, 0.5])
    assert "same_classes" in codes_of(estimate)
    assert "same_classes" not in codes_of(BinaryRescaled().from_scores(hidden_scores()))


def codes_of(estimate) -> set[str]:
    return {notice.code for notice in estimate.notices}


def test_scores_are_pair_scores_and_those_between_the_classes(samples) -> None:
    X, y, X_new = samples
    by_bayes = {"classifier": GaussianNB(), "n_folds": 5, "random_state": 0}
    ours = BinaryRescaled(**by_bayes).fit(X, y).scores(X_new)
    plain = MPEIncomplete(**by_bayes).fit(X, y).scores(X_new)
    for pair, other in zip(ours.pairs, plain.pairs, strict=True):
        assert_array_equal(pair[0], other[0])
        assert_array_equal(pair[1], other[1])
    between = crossfit_scores(
        X[y == "left"], X[y == "right"], GaussianNB(), n_folds=5, random_state=0
    )
    assert_array_equal(ours.between[0], between[0])
    assert_array_equal(ours.between[1], between[1])
    assert ours.between[0].mean() > ours.between[1].mean()


@pytest.mark.parametrize("method", [None, ROCSlope()], ids=["best bin", "slope"])
def test_replicates_vary_round_the_estimate(method) -> None:
    scores = hidden_scores(n=500)
    estimator = BinaryRescaled(method=method)
    draws = estimator.read(scores).replicates(30, 0)
    assert draws.shape == (30, 3)
    assert_allclose(draws[:, :2].sum(axis=1), 1)
    assert_array_equal(draws[:, 2], 0)
    assert_array_equal(draws, estimator.read(scores).replicates(30, 0))
    spread = draws[:, 0].std()
    assert 0.01 < spread < 0.1
    assert abs(draws[:, 0].mean() - estimator.from_scores(scores)["a"]) < 2 * spread


@pytest.mark.parametrize("labels", [["a"] * 60, list("abc") * 20], ids=["one", "three"])
def test_other_numbers_of_classes_are_refused(labels) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    rule = rf"y must hold exactly 2 classes for BinaryRescaled; got {len(set(labels))}\."
    with pytest.raises(ValueError, match=rule):
        BinaryRescaled().fit(X, labels)


def test_scores_of_another_kind_are_refused() -> None:
    plain = PairScores(("a", "b"), hidden_scores().pairs)
    rule = r"scores must be TwoClassScores for BinaryRescaled; got PairScores\."
    with pytest.raises(TypeError, match=rule):
        BinaryRescaled().from_scores(plain)


def test_scores_between_the_classes_must_match_the_rows() -> None:
    pair = (np.zeros(3), np.zeros(2))
    rule = r"one score per labelled row of each of two classes; got \(1, 2\) for \(2, 2\)"
    with pytest.raises(ValueError, match=rule):
        TwoClassScores(("a", "b"), (pair, pair), between=(np.zeros(1), np.zeros(2)))
