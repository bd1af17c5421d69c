"""Errors fall with the number of rows, at about the rate that sampling sets.

Scores are the true likelihood ratios, so that what is tested is the estimator and not the
classifier; they are functions of the row alone, hence as good as out of fold. One test goes all
the way from rows with the default scorer.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import unseen
from unseen import BestBin, BinaryRescaled, DensityRatio, MPEIncomplete, MPEJoint, ROCSlope
from unseen.proportions import all_estimators
from unseen.proportions.per_class.incomplete import PerClassEstimator
from unseen.roc import Concave, Gaussian
from unseen.scores import PairScores, TwoClassScores

SIZES = [250, 1000, 4000]
N_DRAWS = 8
SHARES = np.array([0.5, 0.2, 0.3])  # the third class is unseen
CENTRES = 4.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


def gaussian_rows(n: int, rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """New rows of the mixture, and n rows of each known class."""
    which = rng.choice(3, size=n, p=SHARES)
    new = CENTRES[which] + rng.normal(size=(n, 2))
    return new, [centre + rng.normal(size=(n, 2)) for centre in CENTRES[:2]]


def true_scores(n: int, seed: int) -> PairScores:
    """Log-likelihood ratios of P_0 against each known class."""

    def log_densities(rows: np.ndarray) -> np.ndarray:
        return -0.5 * ((rows[:, np.newaxis] - CENTRES) ** 2).sum(axis=-1)

    def score(rows: np.ndarray, label: int) -> np.ndarray:
        logs = log_densities(rows)
        return np.logaddexp.reduce(logs + np.log(SHARES), axis=1) - logs[:, label]

    new, known = gaussian_rows(n, np.random.default_rng(seed))
    pairs = tuple((score(new, label), score(rows, label)) for label, rows in enumerate(known))
    return PairScores(("a", "b"), pairs, seed=0)


@pytest.fixture(scope="module")
def records() -> dict[int, list[PairScores]]:
    return {n: [true_scores(n, seed) for seed in range(N_DRAWS)] for n in SIZES}


def errors_by_size(estimator, records, truth: np.ndarray = SHARES) -> np.ndarray:
    """Mean l1 error at each size."""
    return np.array(
        [
            np.mean(
                [
                    np.abs(np.append(estimate.proportions, estimate.unseen) - truth).sum()
                    for estimate in map(estimator.from_scores, drawn)
                ]
            )
            for drawn in records.values()
        ]
    )


def rate(errors: np.ndarray) -> float:
    """Power of n with which the errors fall."""
    return float(np.polyfit(np.log(SIZES), np.log(errors), 1)[0])


# Whatever takes a single known class is an open-set estimator; the others have a variant. The
# default reads scores of another kind, and has tests of its own.
OPEN_SET = [
    *(one for one in all_estimators(1) if isinstance(one, PerClassEstimator)),
    MPEIncomplete(method=ROCSlope(model=Gaussian())),
    MPEIncomplete(method=BestBin()),
    MPEJoint(closed=False),
    MPEJoint(closed=False, model=Gaussian()),
]


@pytest.mark.parametrize("estimator", OPEN_SET, ids=repr)
def test_errors_of_open_set_estimators_fall_like_the_root_of_n(estimator, records) -> None:
    """Draws of the mixture alone leave an l1 error of 1.1 / sqrt(n): .070 and .017 at the ends."""
    errors = errors_by_size(estimator, records)
    assert (np.diff(errors) < 0).all()
    assert -0.65 < rate(errors) < -0.35
    assert errors[0] < 0.1
    assert errors[-1] < 0.03


@pytest.mark.parametrize(
    "method", [DensityRatio(), ROCSlope(model=Concave(mu=None))], ids=["DensityRatio", "free mu"]
)
def test_errors_of_slower_methods_fall_too(method, records) -> None:
    """A kernel width, and a free asymmetry, leave a bias that falls more slowly."""
    errors = errors_by_size(MPEIncomplete(method=method), records)
    assert rate(errors) < -0.15
    assert errors[-1] < 0.6 * errors[0]


def test_from_rows_with_the_default_scorer() -> None:
    errors = {}
    for n in (60, 300):
        drawn = []
        for seed in range(6):
            new, known = gaussian_rows(n, np.random.default_rng(100 + seed))
            labels = np.repeat(["a", "b"], n)
            estimate = unseen.estimate(
                np.vstack(known), labels, new, random_state=0, confidence=None
            )
            drawn.append(np.append(estimate.proportions, estimate.unseen) - SHARES)
        errors[n] = np.abs(drawn).sum(axis=1).mean()
    assert errors[300] < 0.6 * errors[60]
    assert errors[300] < 0.1


# P_1 = (E + P_2) / 2 with E = N(6, 1) and P_2 = N(0, 1); the new rows are 60% P_1, 40% P_2.
BINARY_TRUTH = np.array([0.6, 0.4, 0.0])


def hidden_rows(n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """New rows, rows of P_1 and rows of P_2."""
    shares_of_E = [0.3, 0.5, 0.0]
    return [rng.normal(np.where(rng.random(n) < share, 6.0, 0.0), 1) for share in shares_of_E]


def hidden_scores(n: int, seed: int) -> TwoClassScores:
    """Log-likelihood ratios; with r = dE/dP_2 = exp(6 x - 18) all are functions of r."""
    new, first, second = hidden_rows(n, np.random.default_rng(seed))

    def against_second(x: np.ndarray, share_of_E: float) -> np.ndarray:
        return np.logaddexp(np.log(share_of_E) + 6 * x - 18, np.log1p(-share_of_E))

    def against_first(x: np.ndarray) -> np.ndarray:
        return against_second(x, 0.3) - against_second(x, 0.5)

    return TwoClassScores(
        ("P_1", "P_2"),
        (
            (against_first(new), against_first(first)),
            (against_second(new, 0.3), against_second(second, 0.3)),
        ),
        seed=0,
        between=(against_second(first, 0.5), against_second(second, 0.5)),
    )


@pytest.fixture(scope="module")
def hidden_records() -> dict[int, list[TwoClassScores]]:
    return {n: [hidden_scores(n, seed) for seed in range(4 * N_DRAWS)] for n in SIZES}


def test_rescaling_is_right_where_one_class_hides_inside_the_other(hidden_records) -> None:
    """Prop. 3 needs no more than two classes that differ."""
    errors = errors_by_size(BinaryRescaled(), hidden_records, BINARY_TRUTH)
    assert (np.diff(errors) < 0).all()
    assert -0.65 < rate(errors) < -0.35
    assert errors[-1] < 0.03


def test_incomplete_goes_to_the_closed_form_of_its_mistake(hidden_records) -> None:
    """nu(P_0, P_2) = pi_1 nu(P_1, P_2) + pi_2 = .7, not .4; and nu(P_0, P_1) = .6 is right."""
    ends = {n: hidden_records[n][:N_DRAWS] for n in (SIZES[0], SIZES[-1])}
    slopes = [
        [estimate.roc[label].right_slope for label in estimate.classes]
        for estimate in map(MPEIncomplete(method=BestBin()).from_scores, ends[4000])
    ]
    assert_allclose(np.mean(slopes, axis=0), [0.6, 0.7], atol=0.02)
    for method in (BestBin(), ROCSlope()):
        errors = errors_by_size(MPEIncomplete(method=method), ends, BINARY_TRUTH)
        assert (errors > 0.2).all()


def test_rescaling_from_rows_with_the_default_scorer() -> None:
    found, mistaken = [], []
    for seed in range(4):
        new, first, second = hidden_rows(300, np.random.default_rng(seed))
        X = np.concatenate([first, second])[:, np.newaxis]
        labels = np.repeat(["P_1", "P_2"], 300)
        kinds = [BinaryRescaled(), MPEIncomplete()]
        comparison = unseen.compare(X, labels, new[:, np.newaxis], kinds, random_state=0)
        found.append(comparison["BinaryRescaled"]["P_1"])
        mistaken.append(comparison["MPEIncomplete"]["P_1"])
    assert abs(np.mean(found) - 0.6) < 0.05
    assert np.mean(mistaken) < 0.52
