"""On a graphics card everything is as on the CPU; torch on the CPU stands in for the card."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from threading import current_thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import datasets
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen._arrays import NumpyArrays, chosen_arrays, kept_there, rows_sent_once
from unseen.mixture.placement import Candidates
from unseen.rejection import Logistic
from unseen.rejection.stack import nearest
from unseen.samples.clusters import are_distinct
from unseen.scores.base import Distances
from unseen.scores.pairs import crossfit_scores
from unseen.scores.scales import Reshaping, Standardisation, neighbour_distances
from unseen.simplex import mixture_shares

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def other(torch) -> NumpyArrays:
    with unseen.on_device("torch"):
        return chosen_arrays()


@pytest.fixture(scope="module")
def blobs() -> SimpleNamespace:
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(4, 3))
    y = rng.integers(0, 3, 240)
    X_new = centres[rng.integers(0, 4, 240)] + rng.normal(size=(240, 3))
    return SimpleNamespace(X=centres[y] + rng.normal(size=(240, 3)), y=y, X_new=X_new, rng=rng)


def both(task: Any) -> tuple[Any, Any]:
    """What the task finds in NumPy, and in torch."""
    with unseen.on_device("torch"):
        found = task()
    return task(), found


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "torch:1", 0])
def test_a_device_has_a_known_name(device) -> None:
    message = 'device must be "cpu", "cuda", "cuda:1" or "torch"; got '
    with pytest.raises(ValueError, match=message), unseen.on_device(device):
        pass


def test_without_torch_the_error_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "unseen._torch", raising=False)
    with pytest.raises(ImportError, match=r'pip install "unseen\[gpu\]"'):
        unseen.estimate([[0.0]] * 20, ["a"] * 20, [[0.0]] * 20, device="cuda")


def test_without_a_card_the_error_says_what_is_missing(torch, monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    message = r"device='cuda:1' needs a CUDA GPU that torch sees; got 1 of them\."
    with pytest.raises(RuntimeError, match=message), unseen.on_device("cuda:1"):
        pass


def test_a_device_is_left_after_an_error_too(torch) -> None:
    with pytest.raises(KeyError), unseen.on_device("torch"):
        raise KeyError
    assert chosen_arrays().is_host


def test_torch_rounds_as_little_as_it_can_and_forgets_nothing(torch) -> None:
    torch.set_float32_matmul_precision("high")
    with unseen.on_device("torch"):
        assert torch.get_float32_matmul_precision() == "highest"
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision("highest")


def test_threads_take_the_device_along(torch, monkeypatch) -> None:
    fitted_on, fit = [], GaussianNB.fit

    def watched(self, *args):
        fitted_on.append((chosen_arrays().name, current_thread().name))
        return fit(self, *args)

    monkeypatch.setattr(GaussianNB, "fit", watched)
    F, H = np.random.default_rng(0).normal(size=(2, 30, 2))
    with unseen.on_device("torch"), parallel_config("threading"):
        crossfit_scores(F, H, GaussianNB(), n_folds=3, random_state=0, n_jobs=2)
    devices, threads = zip(*fitted_on, strict=True)
    assert set(devices) == {"torch"}
    assert current_thread().name not in threads


@pytest.mark.parametrize("n_rows", [7, 2300])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_products_with_a_design(other, n_rows, n_columns) -> None:
    rng = np.random.default_rng(0)
    rows, right = rng.normal(size=(n_rows, 37)), rng.normal(size=(37, n_columns))
    design, out = other.design((n_rows, 37)), other.empty((n_rows, n_columns))
    design[:] = other.put(rows)
    other.product(design, other.put(right), out)
    assert_allclose(other.host(out), rows @ right)
    left = rng.normal(size=(n_rows, n_columns))
    found = other.host(other.transposed_product(other.put(left), design))
    assert_allclose(found, rows.T @ left, atol=1e-10)


def test_products_of_our_own(torch) -> None:
    """Without a card Triton interprets its kernels, in a process that asks for it."""
    pytest.importorskip("triton")
    code = """
import torch
from unseen._triton import product, transposed_product
torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
for n_columns in (2, 16, 24):
    rows, right, left = (torch.randn(*shape) for shape in
                         ((2500, 48), (48, n_columns), (2500, n_columns)))
    found = product(rows, right), transposed_product(left, rows).sum(0)
    for one, true in zip(found, (rows @ right, rows.T @ left)):
        print((one[:, :n_columns] - true).abs().max().item())
        print(one[:, n_columns:].abs().sum().item())
"""
    environment = {**os.environ, "TRITON_INTERPRET": str(int(not torch.cuda.is_available()))}
    printed = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert max(map(float, printed.split())) < 1e-3


VERBS = {
    "sum of rows": lambda arrays, a, b: arrays.contract("nc,nc->c", a, b),
    "weight of rows": lambda arrays, a, b: arrays.contract("nc,nck->n", a, b[..., None]),
    "share of the second": lambda arrays, a, b: arrays.shares(9 * a[..., None]),
    "shares": lambda arrays, a, b: arrays.shares(9 * a),
    "kernel": lambda arrays, a, b: shifted(arrays, a, -0.5),
    "plain kernel": lambda arrays, a, b: shifted(arrays, a, None),
    "squared distances": lambda arrays, a, b: arrays.squared_distances(a, b[:5]),
    "interpolated": lambda arrays, a, b: arrays.interpolated(
        a[:, 0], np.array([-1.0, 0.5, 0.7]), np.array([0.0, 3.0, 2.0])
    ),
    "one knot": lambda arrays, a, b: arrays.interpolated(a[:, 0], np.ones(1), np.ones(1)),
    "one place twice": lambda arrays, a, b: arrays.interpolated(
        a[:, 0], np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 2.0])
    ),
    "sum in double precision": lambda arrays, a, b: arrays.total(arrays.put(a, np.float32)),
    "ranks": lambda arrays, a, b: arrays.ranks((4 * a).round().T),
    "ranks of one row": lambda arrays, a, b: arrays.ranks((4 * a).round()[:, :1].T),
    "joined": lambda arrays, a, b: arrays.joined([a[:, 0], b[:3, 1]]),
    "looked up": lambda arrays, a, b: arrays.looked_up(
        np.arange(9.0), arrays.zeros((60,), np.uint8) + 5
    ),
    "products of columns": lambda arrays, a, b: arrays.xp.triu(arrays.gram(a, b[:, 0] ** 2)),
    "whitened": lambda arrays, a, b: arrays.whitened(a, np.triu(np.ones((4, 4)))),
    "sum of blocks": lambda arrays, a, b: arrays.summed(
        lambda rows: a[rows].sum(0), arrays.parts(60, 2**17), arrays.zeros((4,))
    ),
    "posteriors": lambda arrays, a, b: arrays.posteriors(a),
    "losses of two": lambda arrays, a, b: arrays.log_losses(
        9 * a[..., None], arrays.put(np.arange(60) % 2)
    ),
    "losses": lambda arrays, a, b: arrays.log_losses(a[:, None], arrays.put(np.arange(60) % 4)),
}


def shifted(arrays: NumpyArrays, exponent: Any, shift: float | None) -> Any:
    out = arrays.empty(exponent.shape)
    arrays.shifted_exp(exponent + 0.0, shift, out)
    return out


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_verb_says_the_same_in_torch(verb, other) -> None:
    one, two = np.random.default_rng(0).normal(size=(2, 60, 4))
    numpy = NumpyArrays()
    expected = verb(numpy, one, two)
    assert_allclose(other.host(verb(other, other.put(one), other.put(two))), expected, atol=1e-12)


def test_smallest_values(other) -> None:
    values = np.array([3.0, 1.0, 3.0, 2.0])
    assert other.smallest(other.put(values[None]), 2).tolist() == [[1.0, 2.0]]


def test_cells_are_the_same_in_torch(torch) -> None:
    rng = np.random.default_rng(0)
    new, labelled = rng.normal(size=(90, 2)).round(1), rng.normal(size=(70, 2)).round(1)
    candidates = Candidates(new, labelled, np.log([0.5, 0.5]))
    ours, theirs = both(lambda: candidates.cells(np.arange(1.0, 71)))
    assert_allclose(theirs.new, ours.new, atol=1e-9)
    assert_allclose(theirs.labelled, ours.labelled, atol=1e-9)
    # A row on the border of two cells may fall to either side.
    assert_allclose(theirs.place.int(), ours.place.astype(int), atol=1)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_shares_of_a_mixture_are_the_same_in_torch(torch, n_classes) -> None:
    rng = np.random.default_rng(0)
    ratios, weights = rng.exponential(size=(300, n_classes)), rng.exponential(size=(3, 300))
    weights /= weights.sum(axis=1, keepdims=True)
    for given in ((), (weights, 0.01 * rng.normal(size=(3, n_classes)))):
        ours, theirs = both(lambda given=given: mixture_shares(ratios, *given))
        assert_allclose(theirs, ours, atol=1e-8)


def test_a_whitening_leaves_out_what_others_span(other) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(9, 4))
    for kernel in (rows @ rows.T, rows.T @ rows):
        whiten, kept = other.whitening(kernel.copy(), 1e-8)
        assert len(kept) == 4
        assert_allclose(whiten.T @ kernel[np.ix_(kept, kept)] @ whiten, np.eye(4), atol=1e-9)
        assert_array_equal(whiten, np.triu(whiten))


def test_a_matrix_that_rounding_made_indefinite_is_solved_all_the_same(other) -> None:
    matrix = other.put(np.array([[1.0, 1.0], [1.0, 1.0 - 1e-9]]))
    factor = other.cholesky(matrix)
    assert np.isfinite(other.host(other.solve(factor, other.put(np.ones((2, 1)))))).all()
    assert np.isnan(other.host(other.cholesky(other.put(np.full((2, 2), np.nan))))).any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_classifier_is_the_same(torch, blobs, n_classes) -> None:
    X, y = blobs.X, np.minimum(blobs.y, n_classes - 1)
    weight = blobs.rng.integers(0, 3, len(y))
    for rows in (X, np.exp(X), sparse.csr_array(np.maximum(X, 0))):
        model = unseen.KernelLogisticRegression(random_state=0)
        expected, found = both(lambda rows=rows, model=model: model.fit(rows, y, weight).__dict__)
        assert expected["C_"] == found["C_"]
        assert_allclose(found["cv_scores_"], expected["cv_scores_"], **CLOSE)
        ask = both(lambda rows=rows, model=model: model.predict_proba(rows))
        assert_allclose(*ask, **CLOSE)


def test_single_precision_is_the_same_but_for_rounding(torch, monkeypatch, blobs) -> None:
    monkeypatch.setattr("unseen.scores.kernel.EXACT_CELLS", 0)
    monkeypatch.setattr("unseen._torch._FEW_NUMBERS", 0)
    model = unseen.KernelLogisticRegression(bandwidth=0.3, C=1.0, random_state=0)
    expected, found = both(lambda: model.fit(blobs.X, blobs.y).predict_proba(blobs.X_new))
    assert_allclose(found, expected, **CLOSE)


def test_an_estimate_of_one_known_class_is_the_same(torch, blobs) -> None:
    y = np.zeros(len(blobs.X))
    expected = unseen.estimate(blobs.X, y, blobs.X_new, random_state=0)
    found = unseen.estimate(blobs.X, y, blobs.X_new, random_state=0, device="torch")
    assert_allclose(found.proportions, expected.proportions, **CLOSE)
    assert_allclose(found.intervals, expected.intervals, **CLOSE)


def test_the_default_estimate_is_the_same(torch, blobs, monkeypatch) -> None:
    """With the noise of very many rows, too, which is drawn from the normal law."""
    monkeypatch.setattr("unseen.proportions.bootstrap.EXACT_ROWS", 50)
    estimator = unseen.OpenSetEstimator(random_state=0).fit(blobs.X, blobs.y)
    ours, theirs = both(lambda: estimator.scores(blobs.X_new))
    for record, other in ((ours, theirs), (ours.ratios, theirs.ratios)):
        names = [name for name, value in vars(record).items() if isinstance(value, np.ndarray)]
        for name in names:
            # Rounding may make a fit stop a step earlier or later.
            assert_allclose(getattr(other, name), getattr(record, name), atol=5e-3)
    expected, found = both(lambda: estimator.from_scores(ours, confidence=0.9))
    assert_allclose(found.proportions, expected.proportions, atol=1e-9)
    assert_allclose(found.intervals, expected.intervals, atol=1e-9)
    assert_allclose(found.drift.probability_moved, expected.drift.probability_moved, atol=1e-9)
    assert_allclose(found.pooled.thresholds, expected.pooled.thresholds, atol=1e-9)
    assert_allclose(found.pooled.detection, expected.pooled.detection, atol=1e-9)


@pytest.mark.parametrize("name", ["digits", "wine", "breast_cancer"])
@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_a_whole_estimate_is_the_same(torch, name, shift) -> None:
    data = getattr(datasets, f"load_{name}")()
    rows = np.random.default_rng(0).permutation(len(data.data))[:600]
    X, y = data.data[rows], data.target[rows]
    old = (np.arange(len(X)) < len(X) // 2) & ((y > 0) | (name == "breast_cancer"))
    X_new = X[len(X) // 2 :] + shift * X.std(axis=0)
    expected = unseen.estimate(X[old], y[old], X_new, random_state=0)
    found = unseen.estimate(X[old], y[old], X_new, random_state=0, device="torch")
    assert_allclose(found.proportions, expected.proportions, atol=1e-5)
    assert_allclose(found.intervals, expected.intervals, atol=1e-5)
    moved = found.drift.probability_moved, expected.drift.probability_moved
    assert_allclose(*moved, atol=1e-5)


def test_copies_are_found_in_torch(torch) -> None:
    coarse = np.random.default_rng(0).integers(0, 40, size=(90, 3)).astype(float)
    for rows in (coarse, coarse + np.arange(90.0)[:, None] / 90, coarse[:, [2, 2, 2]]):
        for samples in ((rows,), (rows[:60], rows[60:]), (rows, rows[:1])):
            ours, theirs = both(lambda samples=samples: are_distinct(*samples))
            assert ours == theirs


def test_rows_are_sent_to_a_device_once(torch, monkeypatch) -> None:
    monkeypatch.setattr("unseen._torch._FEW_NUMBERS", 1)
    rows, others = np.zeros((3, 2)), np.ones((3, 2))
    with unseen.on_device("torch"):
        put_rows = chosen_arrays().put_rows
        assert put_rows(rows) is not put_rows(rows)
        with rows_sent_once():
            assert put_rows(rows) is put_rows(rows)
            assert_array_equal(put_rows(others), others)
        assert put_rows(rows) is not put_rows(rows)
    with rows_sent_once():
        assert chosen_arrays().put_rows(rows) is rows


def test_a_record_keeps_what_it_put_on_a_device_and_saves_none_of_it(torch) -> None:
    record = Distances(np.zeros((3, 1)), np.ones((2, 1)))
    assert kept_there(record, "new") is record.new
    with unseen.on_device("torch"):
        first = kept_there(record, "labelled")
        assert kept_there(record, "labelled") is first
    assert "_kept_there" not in vars(pickle.loads(pickle.dumps(record)))


def test_an_estimate_of_several_classes_is_the_same(torch, blobs) -> None:
    estimator = unseen.SaerensEM(random_state=0).fit(blobs.X, blobs.y)
    expected, found = both(lambda: estimator.estimate(blobs.X_new).proportions)
    assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("loss", [None, Logistic()])
def test_the_kernel_rule_is_the_same(torch, blobs, loss) -> None:
    rule = unseen.RejectionKernel(loss, bandwidth=2.0, ridge=[1e-3, 1e-2], random_state=0)
    shares = [0.25, 0.25, 0.25]
    expected, found = both(lambda: rule.fit(blobs.X, blobs.y, blobs.X_new, shares).out_of_fold_.new)
    assert_allclose(found, expected, **CLOSE)
    assert_allclose(*both(lambda: rule.predict_proba(blobs.X)), **CLOSE)


def test_distances_to_neighbours_are_the_same(torch, blobs) -> None:
    one = np.ones(len(blobs.X))
    for scale in (Standardisation.of(blobs.X, one), Reshaping.of(np.exp(blobs.X), one)):
        rows = blobs.X_new, blobs.X, [scale]
        expected, found = both(
            lambda rows=rows: neighbour_distances(*rows, np.random.RandomState(0))
        )
        assert_allclose(found.new, expected.new, **CLOSE)
        assert_allclose(found.labelled, expected.labelled, **CLOSE)


def test_neighbours_of_a_class_are_the_same(torch, blobs) -> None:
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors().fit(blobs.X)
    assert_allclose(*both(lambda: nearest(model, blobs.X_new, 8)), **CLOSE)


def test_members_of_the_default_rule_know_the_device(torch, blobs, monkeypatch) -> None:
    """Whatever number of threads fits them."""
    from joblib import parallel_config

    seen = []
    original = unseen.RejectionKernel._fit_both
    monkeypatch.setattr(
        unseen.RejectionKernel,
        "_fit_both",
        lambda *args: (seen.append(chosen_arrays().is_host), original(*args))[1],
    )
    members = [unseen.RejectionKernel(bandwidth=2.0, ridge=0.01)] * 2
    rule = unseen.RejectionClassifier(members, random_state=0)
    with unseen.on_device("torch"), parallel_config(n_jobs=2):
        rule.fit(blobs.X, blobs.y, blobs.X_new, [0.25, 0.25, 0.25])
    assert seen == [False, False]
