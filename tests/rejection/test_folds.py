"""Every answer about a row comes from rows of other folds, whatever was chosen on the way."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference.closed_form import SHARES, samples
from unseen import KernelLogisticRegression, RejectionClassifier, RejectionKernel, RejectionPlugIn
from unseen.rejection import classifier, kernel
from unseen.rejection.forest import RejectionForest
from unseen.rejection.losses import calibrated, fit_calibration
from unseen.rejection.sample import OpenSample, OutOfFold, cross_fit, held_out
from unseen.rejection.threshold import choose_cut, cut_by_other_folds
from unseen.scores.base import assign_folds


def test_every_row_is_held_out_in_its_fold_alone() -> None:
    rng = np.random.default_rng(0)
    folds = rng.permutation(np.arange(20) % 3), rng.permutation(np.arange(14) % 3)
    folds[0][:2] = -1
    masks = list(held_out(folds))
    assert len(masks) == 3
    for sample, own in enumerate(folds):
        for number, out in enumerate(masks):
            assert_array_equal(out[sample], own == number)


@dataclass
class Spy:
    """Says which rows it learnt from, and which it was asked about."""

    learnt: np.ndarray
    asked: list[np.ndarray] = field(default_factory=list)

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        self.asked.append(X[:, 0])
        return np.tile([0.75, 0.25], (len(X), 1))


def test_every_row_is_answered_by_a_rule_learnt_without_it() -> None:
    places, found = np.arange(20.0)[:, None], []

    def fit(sample: OpenSample, rng: np.random.RandomState) -> Spy:
        found.append(Spy(sample.rows[:, 0]))
        return found[-1]

    sample = OpenSample(places[:12], np.zeros(12, dtype=int), places[12:], np.array([0.5]))
    answers = cross_fit(fit, sample, 3, np.random.RandomState(0))
    assert_allclose(np.vstack([answers.labelled, answers.new]), np.tile([0.75, 0.25], (20, 1)))
    asked = [np.concatenate(rule.asked) for rule in found]
    assert_array_equal(np.sort(np.concatenate(asked)), places[:, 0])
    for rule, rows in zip(found, asked, strict=True):
        assert_array_equal(np.sort(np.append(rule.learnt, rows)), places[:, 0])


def test_folds_spread_classes_and_new_rows_evenly() -> None:
    codes, shares = np.repeat([0, 1], [6, 4]), np.array([0.5, 0.25])
    sample = OpenSample(np.zeros((10, 1)), codes, np.zeros((8, 1)), shares)
    assert_allclose(sample.prior, [0.5, 0.25, 0.25])
    assert_allclose(sample.masses[[0, 9, 10]], [[1 / 12, 0, 0], [0, 1 / 16, 0], [0, 0, 1 / 8]])
    labelled, new = sample.assign_folds(2, np.random.RandomState(0))
    for folds in (labelled[:6], labelled[6:], new):
        assert np.ptp(np.bincount(folds)) == 0
    together = replace(sample, X_new=sample.X, has_new=False)
    assert_array_equal(*together.assign_folds(2, np.random.RandomState(0)))


def test_a_fold_without_rows_of_one_sample_is_asked_about_the_other_alone(monkeypatch) -> None:
    rows, found = np.arange(6.0)[:, None], Spy(np.zeros(0))
    sample = OpenSample(rows[:4], np.zeros(4, dtype=int), rows[4:], np.array([0.5]))
    monkeypatch.setattr(OpenSample, "assign_folds", lambda *_: (np.arange(4), np.arange(2)))
    cross_fit(lambda *_: found, sample, 4, np.random.RandomState(0))
    assert [len(one) for one in found.asked] == [1] * 6


@pytest.mark.parametrize(
    ("module", "rule"),
    [
        (kernel, RejectionKernel(bandwidth=[0.5, 2.0], ridge=[1e-3], rank=40)),
        (classifier, RejectionClassifier([RejectionForest(10), RejectionForest(5)])),
    ],
    ids=["kernel", "classifier"],
)
def test_held_out_rows_have_the_candidate_that_other_folds_chose(module, rule, monkeypatch) -> None:
    told = []
    choose = module.choose_by_other_folds

    def spy(*arguments: object) -> OutOfFold:
        told.append(choose(*arguments))
        return told[-1]

    monkeypatch.setattr(module, "choose_by_other_folds", spy)
    X, codes, X_new, _ = samples(100, seed=0)
    fitted = rule.set_params(random_state=0).fit(X, codes, X_new, SHARES[:2])
    assert fitted.out_of_fold_ is told[0]


def test_calibration_of_a_fold_comes_from_the_others() -> None:
    rng = np.random.default_rng(0)
    labelled, new = rng.dirichlet([2, 1, 1], 60), rng.dirichlet([1, 1, 2], 80)
    held_out = OutOfFold(labelled, np.repeat([0, 1], 30), new)
    _, found = calibrated(None, held_out, SHARES[:2], 3, np.random.RandomState(0))
    again = np.random.RandomState(0)
    folds = assign_folds(held_out.codes, 3, again)
    folds_new = assign_folds(np.zeros(80, dtype=np.int64), 3, again)
    for fold in range(3):
        out, out_new = folds == fold, folds_new == fold
        rest = OutOfFold(labelled[~out], held_out.codes[~out], new[~out_new])
        calibration = fit_calibration(rest, SHARES[:2])
        assert_allclose(found.labelled[out], calibration(labelled[out]))
        assert_allclose(found.new[out_new], calibration(new[out_new]))


def test_the_cut_of_a_fold_comes_from_the_others() -> None:
    # In the first fold odd rows are known, in the second unseen: each gets the other's cut.
    sample = OpenSample(np.zeros((4, 1)), np.zeros(4, dtype=int), np.zeros((4, 1)), np.array([0.5]))
    # A score, and the posterior of the one class.
    known = np.array([[0.9, 1.0], [0.9, 1.0], [0.1, 1.0], [0.1, 1.0]])
    new = np.array([[0.9, 1.0], [0.1, 1.0], [0.9, 1.0], [0.1, 1.0]])
    folds = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])
    found = cut_by_other_folds(known, new, sample, folds)
    for fold in (0, 1):
        mine, others = folds[0] == fold, folds[0] != fold
        cut = choose_cut(known[others], sample.codes[others], new[others], sample.shares)
        assert_allclose(found.labelled[mine], cut.probabilities(known[mine]))
        own = choose_cut(known[mine], sample.codes[mine], new[mine], sample.shares)
        assert own != cut


def test_what_the_classifier_chose_holds_in_every_fold(monkeypatch) -> None:
    chosen = []
    fit = KernelLogisticRegression.fit

    def spy(self, *arguments: object, **options: object) -> KernelLogisticRegression:
        fitted = fit(self, *arguments, **options)
        chosen.append((fitted.bandwidth_, fitted.C_))
        return fitted

    monkeypatch.setattr(KernelLogisticRegression, "fit", spy)
    X, codes, X_new, _ = samples(100, seed=0)
    RejectionPlugIn(random_state=0, n_folds=4).fit(X, codes, X_new, SHARES[:2])
    assert len(chosen) == 5
    assert len(set(chosen)) == 1
