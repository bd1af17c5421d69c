"""Our estimators inside QuaPy's own protocols, evaluation and grid search."""

import numpy as np
import pytest
import quapy as qp
from numpy.testing import assert_allclose
from quapy.data import LabelledCollection
from quapy.model_selection import GridSearchQ
from quapy.protocol import UPP
from sklearn.linear_model import LogisticRegression

from unseen import MPEIncomplete
from unseen.quapy_adapter import UnseenQuantifier, prevalence

# The protocols draw rows with replacement, and are told so.
pytestmark = pytest.mark.filterwarnings("ignore:.* new rows repeat other ones")

RNG = np.random.default_rng(0)
CENTRES = np.array([[-4.0, 0.0], [4.0, 0.0], [0.0, 7.0]])


def collection(counts, classes):
    labels = np.repeat(np.arange(len(counts)), counts)
    return LabelledCollection(CENTRES[labels] + RNG.normal(size=(len(labels), 2)), labels, classes)


def model(**parameters):
    estimator = MPEIncomplete(classifier=LogisticRegression(), n_folds=3, random_state=0)
    return UnseenQuantifier(estimator, **parameters)


@pytest.mark.slow
def test_known_classes_under_a_protocol():
    train, test = collection([200, 200], [0, 1]), collection([800, 800], [0, 1])
    fitted = model().fit(*train.Xy)
    protocol = UPP(test, sample_size=300, repeats=10, random_state=0)
    assert qp.evaluation.evaluate(fitted, protocol, error_metric="mae") < 0.08


@pytest.mark.slow
def test_padding_evaluates_an_unseen_class():
    """The third class of the collection was never in training: it is the unseen one."""
    train, test = collection([200, 200], [0, 1]), collection([600, 600, 600], [0, 1, 2])
    fitted = model(unseen="pad").fit(*train.Xy)
    protocol = UPP(test, sample_size=300, repeats=10, random_state=0)
    assert qp.evaluation.evaluate(fitted, protocol, error_metric="mae") < 0.1


def test_grid_search_reaches_the_parameters_inside():
    train, test = collection([100, 100], [0, 1]), collection([300, 300], [0, 1])
    search = GridSearchQ(
        model(),
        {"estimator__n_folds": [2, 5]},
        protocol=UPP(test, sample_size=100, repeats=3, random_state=0),
        error="mae",
        refit=False,
        raise_errors=True,
    ).fit(*train.Xy)
    assert search.best_params_["estimator__n_folds"] in (2, 5)


def test_drop_rescales_and_pad_keeps():
    train = collection([100, 100], [0, 1])
    X_new = collection([50, 0, 50], [0, 1, 2]).X
    estimate = model().fit(*train.Xy).estimator_.estimate(X_new)
    assert_allclose(prevalence(estimate, "pad")[-1], estimate.unseen, atol=1e-12)
    assert_allclose(prevalence(estimate, "drop").sum(), 1)


def test_unknown_choice_is_named():
    with pytest.raises(ValueError, match="unseen must be 'drop' or 'pad'; got 'keep'"):
        model(unseen="keep").fit(*collection([20, 20], [0, 1]).Xy)
