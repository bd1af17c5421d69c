"""The sample ordinal distance: the authors' algorithm, linear programs, and a median."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize_scalar

from reference.closed_twins import gaussian_record
from unseen import SORD
from unseen.proportions.closed_set.sord import _steps, least_distance
from unseen.scores import Posteriors


def as_published(share, own, other, new):
    """The distance of two classes as its authors wrote it: sort, accumulate, sum."""
    weights = [np.full(len(own), share / len(own)), np.full(len(other), (1 - share) / len(other))]
    score = np.concatenate([own, other, new])
    weight = np.concatenate([*weights, np.full(len(new), -1 / len(new))])
    order = np.argsort(score)
    return float(np.abs(weight[order].cumsum()[:-1]) @ np.diff(score[order]))


def program(classes, new):
    """Shares by a linear program: the sum of bounds on every gap is least."""
    n_classes, n_points = classes.shape
    sides = np.block([[classes.T, -np.eye(n_points)], [-classes.T, -np.eye(n_points)]])
    one = [np.append(np.ones(n_classes), np.zeros(n_points))]
    cost = 1 - one[0]
    return linprog(cost, sides, np.append(new, -new), one, [1]).x[:n_classes]


def functions(n_classes, n_points, seed):
    """Distribution functions of classes, and of new rows that are no exact mixture of them."""
    rng = np.random.default_rng(seed)
    classes = np.linspace(0, 1, n_points) ** np.exp(rng.normal(size=(n_classes, 1)))
    wiggle = 0.05 * np.cumsum(rng.normal(size=n_points)) / n_points**0.5
    return classes, np.clip(rng.dirichlet(np.ones(n_classes)) @ classes + wiggle, 0, 1)


def test_a_score_lies_in_one_step_of_its_grid_and_1_in_the_last() -> None:
    found = _steps(np.array([[0.0, 1.0], [0.6, 0.25], [0.99, 0.24]]), 4).toarray()
    assert [np.flatnonzero(row).tolist() for row in found] == [[0, 7], [2, 5], [3, 4]]


@pytest.mark.parametrize("seed", range(3))
def test_two_classes_as_published(seed) -> None:
    record = gaussian_record([[-1.0], [1.0]], [0.8, 0.2], 100, 100, seed=seed)
    scores = [record.labelled[record.codes == code, 0] for code in (0, 1)] + [record.new[:, 0]]
    best = minimize_scalar(as_published, bounds=(0, 1), args=tuple(scores), method="bounded")
    found = SORD().from_scores(record)
    assert_allclose(found.proportions[0], best.x, atol=5e-3)
    assert_allclose(found.diagnostics["distance"], best.fun, atol=2e-3)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_it_is_the_solution_of_a_linear_program(n_classes) -> None:
    classes, new = functions(n_classes, 200, seed=n_classes)
    found, twin = least_distance(classes, new), program(classes, new)
    gaps = [np.abs(new - shares @ classes).sum() for shares in (found, twin)]
    assert_allclose(*gaps, rtol=1e-4)
    assert_allclose(found, twin, atol=2e-3)


def test_two_classes_have_a_weighted_median() -> None:
    """The gap is ``|a - share b|``: the share is the median of a / b with weights b."""
    classes, new = functions(2, 300, seed=9)
    a, b = new - classes[1], classes[0] - classes[1]
    order = np.argsort(a[b != 0] / b[b != 0])
    weight = np.abs(b[b != 0])[order].cumsum()
    median = (a[b != 0] / b[b != 0])[order][np.searchsorted(weight, weight[-1] / 2)]
    assert_allclose(least_distance(classes, new)[0], np.clip(median, 0, 1), atol=1e-4)


def test_classes_that_lie_apart_are_counted() -> None:
    codes = np.repeat([0, 1, 2], 20)
    new = np.eye(3)[np.repeat([0, 1, 2], [10, 30, 60])]
    found = SORD().from_scores(Posteriors(("a", "b", "c"), codes, np.eye(3)[codes], new))
    assert_allclose(found.proportions, [0.1, 0.3, 0.6], atol=1e-5)
    assert found.diagnostics["distance"] < 1e-4


def test_classes_swapped_are_shares_swapped() -> None:
    record = gaussian_record([[-1.0, 0], [1.0, 0], [0, 2.0]], [0.6, 0.3, 0.1], 150, 150, seed=2)
    order = np.array([2, 0, 1])
    codes = np.argsort(order)[record.codes]
    swapped = Posteriors((2, 0, 1), codes, record.labelled[:, order], record.new[:, order])
    shares = SORD().from_scores(record).proportions
    assert_allclose(SORD().from_scores(swapped).proportions, shares[order], atol=1e-3)


def test_replicates_spread_as_estimates_do_over_new_samples() -> None:
    problem = [[-1.0], [1.0]], [0.7, 0.3], 200, 200
    records = [gaussian_record(*problem, seed) for seed in range(40)]
    shares = [SORD().from_scores(record).proportions[0] for record in records]
    drawn = SORD().read(records[0]).replicates(100, 0)
    assert_allclose(drawn[:, 0].std(), np.std(shares), rtol=0.4)
