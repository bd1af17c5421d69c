"""The risk of a fixed classifier: unbiased, with the right standard error, no unseen labels."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV

from unseen.drift import Drift, Tolerance
from unseen.records import Estimate
from unseen.rejection import CostSensitive, ErrorRate, MinMax, open_set_risk, open_set_scorer
from unseen.rejection.losses import RowLosses, row_losses
from unseen.rejection.risk import open_risk
from unseen.rejection.sample import OpenSample, OutOfFold, cell_costs

COSTS = np.array([[0.0, 1.0, 0.5], [2.0, 0.0, 0.25], [4.0, 3.0, 0.1]])
MEANS = np.array([-1.5, 1.5, 4.5])
CUTS = np.array([0.3, 2.6])  # left of the first: class 0; right of the second: unseen
SHARES = np.array([0.5, 0.2])


class Draw(NamedTuple):
    X: np.ndarray
    codes: np.ndarray
    X_new: np.ndarray


def draw(rng: np.random.Generator, n: int = 120, m: int = 400) -> Draw:
    codes = np.repeat([0, 1], [n, n // 2])
    hidden = rng.choice(3, m, p=[*SHARES, 1 - SHARES.sum()])
    return Draw(rng.normal(MEANS[codes]), codes, rng.normal(MEANS[hidden]))


def classify(X: np.ndarray) -> np.ndarray:
    return np.searchsorted(CUTS, X)


def true_rates() -> np.ndarray:
    """P_i(f = l) of both known classes and of the unseen one, in closed form."""
    edges = np.array([-np.inf, *CUTS, np.inf])
    return np.diff(norm.cdf(edges - MEANS[:, None]), axis=1)


def true_value(measure) -> float:
    rates, shares = true_rates(), np.append(SHARES, 1 - SHARES.sum())
    if isinstance(measure, MinMax):
        return float((1 - np.diagonal(rates)).max())
    costs = measure.costs if isinstance(measure, CostSensitive) else 1 - np.eye(3)
    return float(shares @ (rates * costs).sum(axis=1))


MEASURES = [ErrorRate(), CostSensitive(COSTS), MinMax()]
each_measure = pytest.mark.parametrize("measure", MEASURES, ids=lambda m: type(m).__name__)


@each_measure
def test_unbiased_with_the_stated_standard_error(measure) -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        X, codes, X_new = draw(rng)
        found.append(open_risk(classify(X), codes, classify(X_new), SHARES, measure=measure))
    risks = np.array([estimate.risk for estimate in found])
    stated = np.array([estimate.standard_error for estimate in found])
    assert abs(risks.mean() - true_value(measure)) < 3 * stated.mean() / np.sqrt(200)
    assert 0.8 < stated.mean() / risks.std(ddof=1) < 1.2


@each_measure
def test_standard_error_carries_the_noise_of_the_shares(measure) -> None:
    rng = np.random.default_rng(1)
    covariance = np.array([[0.002, -0.0008], [-0.0008, 0.001]])
    found = []
    for shares in rng.multivariate_normal(SHARES, covariance, 200):
        X, codes, X_new = draw(rng)
        found.append(
            open_risk(classify(X), codes, classify(X_new), shares, covariance, measure=measure)
        )
    risks = np.array([estimate.risk for estimate in found])
    stated = np.mean([estimate.standard_error for estimate in found])
    assert 0.8 < stated / risks.std(ddof=1) < 1.2


def test_a_difference_of_charges_is_that_of_the_risks_with_its_own_standard_error() -> None:
    """Rules that are sure of their labels: what both get right or wrong alike drops out."""
    rng = np.random.default_rng(6)
    found, stated_alone = [], []
    for _ in range(200):
        X, codes, X_new = draw(rng)
        labels = [
            (np.searchsorted(cuts, X), np.searchsorted(cuts, X_new)) for cuts in (CUTS, [0, 3])
        ]
        risks = [open_risk(known, codes, new, SHARES) for known, new in labels]
        first, second = (
            row_losses(OutOfFold(np.eye(3)[known], codes, np.eye(3)[new])) for known, new in labels
        )
        gap = RowLosses(first.labelled - second.labelled, codes, first.new - second.new)
        assert_allclose(gap.total(SHARES), risks[0].risk - risks[1].risk, atol=1e-12)
        found.append((gap.total(SHARES), gap.standard_error(SHARES)))
        stated_alone.append(risks[0].standard_error)
    differences, stated = np.array(found).T
    assert 0.8 < stated.mean() / differences.std(ddof=1) < 1.2
    assert stated.mean() < np.mean(stated_alone) / 1.5


class Fixed:
    """The fixed classifier, with labels."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.array([0, 1, -1])[classify(X[:, 0])]


def test_consistent_with_estimated_shares() -> None:
    rng = np.random.default_rng(2)
    truth = true_value(ErrorRate())
    mean_error, mean_stated = [], []
    for n in (40, 640):
        found = []
        for seed in range(6):
            X, codes, X_new = draw(rng, n, 2 * n)
            found.append(
                open_set_risk(Fixed(), X[:, None], codes, X_new[:, None], random_state=seed)
            )
        # Of so few rows some shares are too uncertain to tell the risk.
        found = [estimate for estimate in found if not estimate.is_withheld]
        assert len(found) >= 3
        mean_error.append(np.mean([abs(estimate.risk - truth) for estimate in found]))
        mean_stated.append(np.mean([estimate.standard_error for estimate in found]))
    assert mean_error[1] < mean_error[0] / 2
    assert mean_stated[1] < mean_stated[0] / 2
    assert mean_error[1] < 2 * mean_stated[1]


def labelled_twin(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A new sample with its labels; the known rows in it are the labelled sample itself."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.append(rng.integers(0, 3, 60), [0, 1, 2]))
    predicted = rng.integers(0, 3, len(truth))
    return truth, predicted, truth < 2, np.bincount(truth)[:2] / len(truth)


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_empirical_risk_where_labels_are_known(seed) -> None:
    truth, predicted, known, shares = labelled_twin(seed)
    samples = predicted[known], truth[known], predicted, shares
    errors = [np.mean(predicted[truth == label] != label) for label in range(3)]
    found = open_risk(*samples)
    assert_allclose(found.risk, np.mean(truth != predicted))
    assert_allclose(found.class_errors, errors[:2])
    assert_allclose(found.unseen_error, errors[2])
    assert_allclose(found.unseen_part, np.mean((truth == 2) & (predicted != 2)), atol=1e-15)
    assert_allclose(found.masses, confusion_matrix(truth, predicted) / len(truth), atol=1e-15)
    cost = open_risk(*samples, measure=CostSensitive(COSTS)).risk
    assert_allclose(cost, np.mean(COSTS[truth, predicted]))
    assert_allclose(open_risk(*samples, measure=MinMax()).risk, max(errors))


def test_is_the_papers_sum_of_parts() -> None:
    X, codes, X_new = draw(np.random.default_rng(3))
    predicted, new = classify(X), classify(X_new)
    errors = [np.mean(predicted[codes == i] != i) for i in range(2)]
    not_unseen = [np.mean(predicted[codes == i] != 2) for i in range(2)]
    unseen_part = np.mean(new != 2) - SHARES @ not_unseen
    found = open_risk(predicted, codes, new, SHARES)
    assert_allclose(found.unseen_part, unseen_part)
    assert_allclose(found.risk, SHARES @ errors + unseen_part)


@pytest.mark.parametrize("seed", range(5))
def test_is_the_sum_of_cell_costs(seed) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(40) % 3)
    shares = rng.dirichlet(np.ones(4))[:3]
    sample = OpenSample(np.zeros((40, 1)), codes, np.zeros((30, 1)), shares)
    cells = rng.integers(0, 4, 70)
    masses = np.array([sample.masses[cells == cell].sum(axis=0) for cell in range(4)])
    costs = cell_costs(masses)
    every_rule = np.stack(np.meshgrid(*[np.arange(4)] * 4), axis=-1).reshape(-1, 4)
    risks = [open_risk(f[cells[:40]], codes, f[cells[40:]], shares).risk for f in every_rule]
    assert_allclose(risks, costs[np.arange(4), every_rule].sum(axis=1), atol=1e-12)
    unseen = masses[:, -1] - masses[:, :-1].sum(axis=1)
    least = 1 - np.maximum(masses[:, :-1].max(axis=1), unseen).sum()
    assert_allclose(min(risks), least, atol=1e-12)


@each_measure
@pytest.mark.parametrize("seed", range(3))
def test_derivatives_agree_with_differences(measure, seed) -> None:
    rng = np.random.default_rng(seed)
    rates, new, shares = rng.dirichlet(np.ones(3), 2), rng.dirichlet(np.ones(3)), SHARES
    found = measure.at(rates, new, shares)

    def slope(changed) -> float:
        return (measure.at(*changed(1e-6)).value - measure.at(*changed(-1e-6)).value) / 2e-6

    for place in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[place] = 1.0
        by_class = slope(lambda h, step=step: (rates + h * step, new, shares))
        assert_allclose(by_class, found.by_class[place], atol=1e-6)
    for label, step in enumerate(np.eye(3)):
        by_new = slope(lambda h, step=step: (rates, new + h * step, shares))
        assert_allclose(by_new, found.by_new[label], atol=1e-6)
    for label, step in enumerate(np.eye(2)):
        by_share = slope(lambda h, step=step: (rates, new, shares + h * step))
        assert_allclose(by_share, found.by_share[label], atol=1e-6)


def test_minmax_leaves_out_an_unseen_class_that_has_no_share() -> None:
    found = open_risk([0, 1, 0], [0, 0, 0], [0, 0, 0], [1.0], measure=MinMax())
    assert_allclose(found.risk, 1 / 3)
    assert np.isnan(found.unseen_error)


def test_rates_are_shares_of_labels() -> None:
    found = open_risk([0, 2, 1, 1], [0, 0, 1, 1], [2, 2, 0, 1], [0.5, 0.25])
    rates, new = found.rates, found.rates_new
    assert rates.tolist() == [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]
    assert new.tolist() == [0.25, 0.25, 0.5]


def test_intervals_of_an_estimate_widen_the_standard_error() -> None:
    X, codes, X_new = draw(np.random.default_rng(4))
    intervals = np.array([[0.4, 0.6], [0.1, 0.3], [0.2, 0.4]])
    counts = {0: 120, 1: 60}
    estimate = Estimate((0, 1), SHARES, 0.3, "m", counts, 400, intervals)
    rows = X[:, None], codes, X_new[:, None]
    wide = open_set_risk(Fixed(), *rows, estimate)
    narrow = open_set_risk(Fixed(), *rows, SHARES)
    assert_allclose(wide.risk, narrow.risk)
    # All three intervals have one width, so the two shares have a correlation of -1/2.
    sd = 0.1 / norm.isf(0.025)
    slope = ErrorRate().at(wide.rates, wide.rates_new, SHARES).by_share
    noise = sd**2 * slope @ np.array([[1.0, -0.5], [-0.5, 1.0]]) @ slope
    assert_allclose(wide.standard_error**2 - narrow.standard_error**2, noise, rtol=1e-3)


def test_no_risk_is_stated_where_known_classes_moved_but_candidates_are_compared() -> None:
    X, codes, X_new = draw(np.random.default_rng(4))
    limits = Tolerance(np.zeros(0), np.zeros(0))
    rows = X[:, None], codes, X_new[:, None]
    stated = {}
    for verdict in ("still", "unclear", "moved"):
        drift = Drift(verdict, 0.5, limits, 0.9)
        estimate = Estimate((0, 1), SHARES, 0.3, "m", {0: 120, 1: 60}, 400, drift=drift)
        stated[verdict] = open_set_risk(Fixed(), *rows, estimate)
        scorer = open_set_scorer(rows[2], estimate)
        assert_allclose(scorer(Fixed(), *rows[:2]), -stated["still"].risk)
    assert stated["moved"].is_withheld
    assert stated["unclear"].is_withheld


class Cutter(ClassifierMixin, BaseEstimator):
    """Calls a row unseen from a cut on."""

    def __init__(self, cut: float = 0.0) -> None:
        self.cut = cut

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        x = X[:, 0]
        return np.where(x >= self.cut, "unseen", np.where(x < 0, "a", "b"))


def test_grid_search_tunes_a_cut_without_unseen_labels() -> None:
    X, codes, X_new = draw(np.random.default_rng(5), 600, 1200)
    cuts = np.linspace(0.5, 6, 12)
    edges = [np.array([-np.inf, 0.0, cut, np.inf]) for cut in cuts]
    shares = np.append(SHARES, 1 - SHARES.sum())
    risks = [
        1 - shares @ np.diagonal(np.diff(norm.cdf(edge - MEANS[:, None]), axis=1)) for edge in edges
    ]
    scorer = open_set_scorer(X_new[:, None], {"a": 0.5, "b": 0.2})
    search = GridSearchCV(Cutter(), {"cut": cuts}, scoring=scorer)
    search.fit(X[:, None], np.array(["a", "b"])[codes])
    assert search.best_params_["cut"] in cuts[np.argsort(risks)[:2]]
    assert_allclose(-search.best_score_, min(risks), atol=0.03)


def test_what_is_wrong_is_said() -> None:
    rows = np.zeros((4, 1))
    with pytest.raises(ValueError, match=r"labels of y or unseen_label='unseen'; got 'b'"):
        open_set_risk(Cutter(9.0).fit(rows, ["a"] * 4), rows, ["a"] * 4, rows, [0.5])
    with pytest.raises(ValueError, match=r"costs must be finite, of shape \(3, 3\)"):
        open_risk([0, 1], [0, 1], [0, 1], [0.5, 0.5], measure=CostSensitive(np.eye(2)))
    with pytest.raises(ValueError, match="proportions must be given"):
        open_set_scorer(rows, None)
