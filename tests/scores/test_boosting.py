"""Boosting in the place of the kernel: where it is chosen, what for, and that all ask the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from unseen import ClassifyAndCount, SaerensEM, compare
from unseen.samples import Clusters, LabelledRows
from unseen.scores import PosteriorScorer
from unseen.scores import boosting as module
from unseen.scores.boosting import _Boosting, boosted_posteriors, may_boost
from unseen.scores.counting import fit_counter
from unseen.scores.crossfit import CrossFitter, cross_fitter


def steps(counts: list[int], seed: int, n_columns: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Class k has column k within a narrow band, in four of five rows; the others are noise."""
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(len(counts)), counts)
    X = rng.uniform(size=(len(y), n_columns))
    narrow = rng.random(len(y)) < 0.8
    X[narrow, y[narrow]] = 0.4 + 0.2 * X[narrow, y[narrow]]
    return X, y


def overlapping(counts: list[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussian classes, whose posteriors a kernel learns best."""
    rng, y = np.random.default_rng(seed), np.repeat([0, 1], counts)
    return rng.normal(size=(len(y), 2)) + 1.5 * y[:, None], y


def labelled_rows(X: np.ndarray, y: np.ndarray) -> LabelledRows:
    return LabelledRows(X, np.unique(y), y)


@pytest.mark.slow
def test_boosting_reads_steps_that_a_kernel_hardly_sees(monkeypatch) -> None:
    problems = [
        (*steps([300, 300], seed, n_columns=20), steps([450, 150], 50 + seed, n_columns=20)[0])
        for seed in range(4)
    ]

    def error() -> float:
        found = [SaerensEM(random_state=0).fit(X, y).estimate(X_new)[0] for X, y, X_new in problems]
        return float(np.abs(np.array(found) - 0.75).mean())

    boosted = error()
    monkeypatch.setattr("unseen.scores.posteriors.may_boost", lambda *_: False)
    assert boosted < 0.02
    assert boosted < error() / 2


def test_a_kernel_stays_where_trees_are_no_better() -> None:
    X, y = overlapping([300, 300], 2)
    X_new, _ = overlapping([100, 200], 3)
    found = PosteriorScorer().score(labelled_rows(X, y), X_new)
    of_labelled, new = cross_fitter(None).posteriors(X, y, X_new, 10, 0)
    assert not found.boosted
    assert_array_equal(found.labelled, of_labelled)
    assert_array_equal(found.new, new)


def test_no_tree_grows_where_classes_lie_apart(monkeypatch) -> None:
    X, y = overlapping([300, 300], 4)
    X[y == 1] += 4
    monkeypatch.setattr(module, "_Boosting", None)
    assert not PosteriorScorer().score(labelled_rows(X, y), X).boosted


def test_neither_few_rows_nor_sparse_ones_nor_a_given_classifier_are_boosted() -> None:
    X, y = steps([400, 400], 5)
    assert may_boost(X, y, X)
    assert not may_boost(sparse.csr_array(X), y, X)
    assert not may_boost(X, y, sparse.csr_array(X))
    assert not may_boost(X[:500], y[:500], X)  # 100 of the second class
    given = PosteriorScorer(LogisticRegression())
    assert not given.score(labelled_rows(X, y), X[:50]).boosted


@pytest.fixture(scope="module")
def stepped() -> tuple[LabelledRows, np.ndarray]:
    return labelled_rows(*steps([300, 300], 6)), steps([200, 100], 7)[0]


@pytest.mark.slow
@pytest.mark.parametrize(("n_jobs", "threads"), [(2, 1), (1, 2)])
def test_bits_depend_on_no_number_of_threads(stepped, n_jobs, threads) -> None:
    once = PosteriorScorer().score(*stepped)
    with threadpool_limits(threads):
        again = PosteriorScorer(n_jobs=n_jobs).score(*stepped)
    assert once.boosted
    assert_array_equal(again.labelled, once.labelled)
    assert_array_equal(again.new, once.new)


def test_who_needs_no_labelled_rows_gets_the_same_posteriors(stepped) -> None:
    whole, alone = (PosteriorScorer(n_folds=n).score(*stepped) for n in (10, None))
    assert whole.boosted
    assert alone.boosted
    assert alone.labelled is None
    assert_array_equal(alone.new, whole.new)


@pytest.mark.slow
def test_an_estimator_says_alone_what_it_says_beside_others(stepped) -> None:
    labelled, X_new = stepped
    given = labelled.rows, labelled.codes, X_new
    counts = ClassifyAndCount(random_state=0)
    beside = compare(*given, estimators={"counts": counts, "em": SaerensEM(random_state=0)})
    alone = counts.fit(*given[:2]).estimate(X_new)
    assert_array_equal(beside.estimates["counts"].proportions, alone.proportions)


def test_a_full_pass_has_the_model_behind_the_posteriors(stepped) -> None:
    counter = fit_counter(PosteriorScorer(), *stepped)
    assert isinstance(counter.model, _Boosting)
    assert_allclose(counter.model.predict_proba(stepped[1]), counter.drawn.new)


def test_rows_of_a_cluster_share_a_fold(stepped, monkeypatch) -> None:
    """Each row of the second half is a copy: no model may learn it from its twin."""
    labelled, X_new = stepped
    X, y = np.vstack([labelled.rows] * 2), np.tile(labelled.codes, 2)
    trained = []
    fit = _Boosting.fit

    def watched(self, rows, codes):
        trained.append(rows)
        return fit(self, rows, codes)

    monkeypatch.setattr(_Boosting, "fit", watched)
    by_kernel = cross_fitter(None).posteriors(X, y, X_new, 10, 0)[0]
    assert boosted_posteriors(by_kernel, X, y, X_new, 10, 0, None) is not None
    for rows in trained:
        assert (np.unique(rows, axis=0, return_counts=True)[1] == 2).all()


def test_the_folds_are_those_of_any_classifier(stepped) -> None:
    """A slow twin: the same classifier, given by hand."""
    labelled, X_new = stepped
    X, y, clusters = labelled.rows, labelled.codes, Clusters.of_copies(labelled.rows, X_new)
    found = PosteriorScorer(seed=3).score(labelled, X_new)
    twin = CrossFitter(_Boosting()).posteriors(X, y, X_new, 10, 3, clusters)
    assert found.boosted
    assert_array_equal(found.labelled, twin[0])
    assert_array_equal(found.new, twin[1])
