import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from unseen.mixture import (
    BestBin,
    CertifiedBound,
    DensityRatio,
    KernelMean,
    ROCSlope,
    mixture_proportion,
)
from unseen.records import UnseenWarning
from unseen.scores.pairs import crossfit_scores


@pytest.fixture(scope="module")
def two_samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    H = rng.normal(0, 1, (300, 2))
    F = np.vstack([rng.normal(0, 1, (120, 2)), rng.normal(4, 1, (180, 2))])
    return F, H


@pytest.mark.parametrize("method", [None, BestBin(), DensityRatio(), KernelMean()], ids=str)
def test_one_call_finds_the_share(method, two_samples) -> None:
    assert abs(mixture_proportion(*two_samples, method, random_state=0).proportion - 0.4) < 0.08


def test_default_is_the_slope_of_the_roc(two_samples) -> None:
    F, H = two_samples
    found = mixture_proportion(F, H, random_state=0)
    assert found.method == "ROCSlope"
    assert found.proportion == ROCSlope(random_state=0).fit(H).estimate(F).proportion


@pytest.mark.parametrize("classifier", [None, LogisticRegression()], ids=str)
def test_scores_are_out_of_fold(classifier, two_samples) -> None:
    F, H = two_samples
    method = BestBin(classifier=classifier, n_folds=5, random_state=3)
    scores = crossfit_scores(F, H, classifier, n_folds=5, random_state=3)
    expected = method.from_scores(*scores).proportion
    assert mixture_proportion(F, H, method).proportion == expected


def test_a_forest_that_learns_by_heart_does_no_harm() -> None:
    rng = np.random.default_rng(0)
    F, H = rng.normal(size=(2, 200, 2))
    method = DensityRatio(classifier=RandomForestClassifier(20), random_state=0)
    assert mixture_proportion(F, H, method).proportion > 0.7


def test_the_seed_goes_to_a_clone_of_the_method(two_samples) -> None:
    F, H = two_samples
    method = KernelMean(max_rows=60, random_state=5)
    own_seed = mixture_proportion(F, H, method).proportion
    other = [mixture_proportion(F, H, method, random_state=seed).proportion for seed in (7, 7)]
    assert other[0] == other[1] != own_seed
    assert method.random_state == 5
    assert not hasattr(method, "labelled_")


def test_sparse_and_dense_rows_may_be_mixed(two_samples) -> None:
    F, H = two_samples
    dense = mixture_proportion(F, H, BestBin(), random_state=0).proportion
    for samples in ((sparse.csr_array(F), H), (F, sparse.csr_array(H))):
        mixed = mixture_proportion(*samples, BestBin(), random_state=0).proportion
        assert_allclose(mixed, dense, atol=1e-6)


def test_a_bound_is_no_estimate(two_samples) -> None:
    with pytest.raises(TypeError, match=r"bounds it from above .* no estimate\. Call .*bound\(F\)"):
        mixture_proportion(*two_samples, CertifiedBound())


@pytest.mark.parametrize("method", ["roc", BestBin, LogisticRegression()], ids=str)
def test_other_things_are_no_method(method, two_samples) -> None:
    with pytest.raises(TypeError, match="method must be a mixture estimator such as ROCSlope"):
        mixture_proportion(*two_samples, method)


good = np.random.default_rng(0).normal(size=(30, 2))
holes = good.copy()
holes[3, 1], holes[4, 0] = np.nan, np.inf
named = pd.DataFrame(good, columns=["height", "weight"])

BAD = {
    "NaN in F": (holes, good, r"F must be finite; got 2 NaN or infinite .* row 3, column 1\."),
    "NaN in H": (good, holes, r"H must be finite; got 2 NaN or infinite .* row 3, column 1\."),
    "NaN in sparse F": (sparse.csr_array(holes), good, r"F must be finite; got 2 NaN"),
    "empty F": (good[:0], good, r"F must hold at least one row; got n_samples=0\."),
    "empty H": (good, good[:0], r"H must hold at least one row; got n_samples=0\."),
    "no columns": (good[:, :0], good, r"F has 0 feature\(s\) \(shape=\(30, 0\)\)"),
    "labels for F": (np.repeat([0, 1], 15), good, r"F must be 2-d with the 2 columns of H; got 30"),
    "ragged": ([[1, 2], [3]] * 15, good, r"F must have rows of one length"),
    "None": (good, None, r"H must be 2-d \(rows, columns\); got NoneType of shape \(\)\."),
    "text": ([["tall", "heavy"]] * 30, good, r"F must hold numbers; .*'tall'\. Encode"),
    "widths": (good, np.c_[good, good], r"F must have the 4 columns of H; got 2\."),
    "names": (
        named,
        named[["weight", "height"]],
        r"F must have the columns of H in the same order; got 'height', 'weight' where H has",
    ),
    "few of F": (good[:9], good, r"F must have at least n_folds=10 rows, .* got 9"),
    "few of H": (good, good[:4], r"H must have at least n_folds=10 rows, .* got 4\. Lower n_folds"),
    "constant": (np.ones((30, 2)), np.ones((30, 2)), r"^H and F must vary in at least"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_with_the_rule_and_the_value(case) -> None:
    F, H, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        mixture_proportion(F, H, random_state=0)


def test_rows_in_both_samples_are_pointed_out(two_samples) -> None:
    F, H = two_samples
    leaked = np.vstack([F, H[:50]])
    with pytest.warns(UnseenWarning, match="50 of 350 rows"):
        estimate = mixture_proportion(leaked, H, BestBin(), random_state=0)
    assert "50 of 350 rows" in str(estimate)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (holes, "X_new must be finite; got 2 NaN"),
        (good[:5] + 1, "X_new must have at least n_folds=10 rows"),
        (good[:, :1], "X_new must have the 2 columns of X; got 1"),
        (good[0], "X_new must be 2-d"),
    ],
    ids=["NaN", "few", "width", "1-d"],
)
def test_estimate_names_its_own_argument(bad, message) -> None:
    with pytest.raises(ValueError, match=message):
        BestBin().fit(good).estimate(bad)


def test_estimate_compares_the_names_of_columns() -> None:
    with pytest.raises(
        ValueError, match="X_new must have the columns of X; it lacks 'weight' and it adds 'age'"
    ):
        BestBin().fit(named).estimate(named.rename(columns={"weight": "age"}))


def test_fit_names_its_own_argument() -> None:
    with pytest.raises(ValueError, match="X must hold numbers; could not convert string"):
        BestBin().fit([["a"], ["b"]])
    with pytest.raises(ValueError, match=r"X must hold at least 2 rows; got n_samples=1\."):
        BestBin().fit([[1.0]])


def test_lost_column_names_are_one_remark_and_no_warning() -> None:
    estimate = BestBin(random_state=0).fit(named).estimate(good + 0.5)
    assert estimate.warnings == (
        "X has column names and X_new has none: columns were matched by their order.",
    )


def test_parameters_are_checked_before_the_work(two_samples) -> None:
    with pytest.raises(ValueError, match="'max_rows' parameter of KernelMean must be"):
        mixture_proportion(*two_samples, KernelMean(max_rows=0))
