"""What every exported estimator must keep to. New ones are found by themselves."""

import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import unseen
from unseen._names import public_names
from unseen.rejection.base import RejectionRule


def exported_estimators() -> list[type[BaseEstimator]]:
    """Every concrete estimator among the public names."""
    values = [getattr(unseen, name) for name in public_names()]
    return [value for value in values if is_estimator(value)]


def defined_estimators() -> set[type[BaseEstimator]]:
    """Every concrete estimator with a public name, wherever in the package it is defined."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(unseen.__path__, "unseen.")
        if not found.name.startswith("unseen._")  # of which some need torch
    ]
    return {
        value
        for module in modules
        for name, value in vars(module).items()
        if not name.startswith("_") and is_estimator(value) and asks(value)
    }


def is_estimator(value: Any) -> bool:
    return (
        inspect.isclass(value)
        and issubclass(value, BaseEstimator)
        and value.__module__.startswith("unseen.")
        and not inspect.isabstract(value)
        and value is not RejectionRule
    )


def asks(value: Any) -> str | None:
    """The method that answers; a base class that only keeps a sample has none."""
    return next(
        (name for name in ("estimate", "bound", "predict_proba") if hasattr(value, name)), None
    )


ESTIMATORS = exported_estimators()
each = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)


def default(kind: type[BaseEstimator], **parameters: Any) -> Any:
    """A default instance with a seed, and such of the parameters as it has."""
    estimator = kind()
    known = estimator.get_params()
    chosen = {"random_state": 0, **parameters}
    return estimator.set_params(**{name: v for name, v in chosen.items() if name in known})


def answer(estimator: Any, X_new: Any) -> Any:
    """What a fitted estimator says about new rows, as plain numbers and text."""
    return plain(getattr(estimator, asks(estimator))(X_new))


def plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def numbers(value: Any) -> np.ndarray:
    """Every number in an answer, in order, without the labels, names and counts of rows."""
    if isinstance(value, dict):
        skipped = {"classes", "class", "versions", "seed", "format"}
        return np.concatenate(
            [numbers(item) for key, item in value.items() if key not in skipped] or [[]]
        )
    if isinstance(value, list | tuple):
        return np.concatenate([numbers(item) for item in value] or [[]])
    return np.array([float(value)]) if isinstance(value, int | float) else np.array([])


def untuned(kind: type[BaseEstimator]) -> BaseEstimator:
    """A default instance, but a rule of two folds, few trees and kernels that are not tuned.

    The tuning has its own checks, as KernelLogisticRegression() and RejectionKernel().
    """
    if not issubclass(kind, RejectionRule) or kind is unseen.RejectionKernel:
        return kind()
    classifier = LogisticRegression(max_iter=2000)
    forest = unseen.RejectionForest(n_trees=5)
    stack = unseen.RejectionStack(forest, classifier, n_folds=2)
    kernel = unseen.RejectionKernel(bandwidth=2.0, ridge=0.1, n_folds=2)
    if kind is unseen.RejectionClassifier:
        return kind((forest, kernel), n_folds=2)
    if kind is unseen.RejectionStack:
        return stack
    chosen = {"n_folds": 2, "n_trees": 5, "classifier": classifier}
    known = kind().get_params()
    return kind(**{name: value for name, value in chosen.items() if name in known})


@pytest.mark.sklearn_checks
@parametrize_with_checks([untuned(kind) for kind in ESTIMATORS])
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


def test_the_search_finds_estimators_of_every_family() -> None:
    assert {unseen.MPEIncomplete, unseen.ROCSlope, unseen.KernelLogisticRegression} <= {*ESTIMATORS}


def test_every_estimator_is_exported() -> None:
    assert defined_estimators() == set(ESTIMATORS)


@each
def test_init_only_stores(kind) -> None:
    for name, parameter in inspect.signature(kind).parameters.items():
        marker = object()
        assert getattr(kind(**{name: marker}), name) is marker
        assert parameter.default is not inspect.Parameter.empty
    assert set(vars(kind())) == set(kind().get_params(deep=False))


@each
def test_parameters_round_trip(kind) -> None:
    estimator = default(kind)
    assert clone(estimator).get_params() == estimator.get_params()
    assert kind().set_params(**estimator.get_params()).get_params() == estimator.get_params()


@each
def test_every_parameter_has_a_rule(kind) -> None:
    assert set(kind._parameter_constraints) == set(kind().get_params(deep=False))


def state(estimator: Any) -> dict[str, bytes]:
    """All attributes but rules: scikit-learn's search trees in them count their own queries."""
    return {name: pickle.dumps(v) for name, v in vars(estimator).items() if name != "rule_"}


@dataclass(frozen=True)
class Fitted:
    """A default instance, its answer, and its parameters and attributes before and after."""

    estimator: Any
    answer: Any
    parameters: tuple[dict[str, Any], dict[str, Any]]
    states: tuple[dict[str, bytes], dict[str, bytes]]


@pytest.fixture(scope="module")
def fitted(samples) -> Callable[[type[BaseEstimator]], Fitted]:
    """The default instance of a kind, fitted to the samples, which are read-only: made once."""
    X, y, X_new = samples

    @cache
    def of(kind: type[BaseEstimator]) -> Fitted:
        estimator = default(kind)
        before = estimator.get_params()
        assert estimator.fit(X, y) is estimator
        state_before = state(estimator)
        found = answer(estimator, X_new)
        after = estimator.get_params()
        return Fitted(estimator, found, (before, after), (state_before, state(estimator)))

    return of


@each
def test_fit_and_an_answer_change_no_parameter_and_an_answer_no_attribute(kind, fitted) -> None:
    found = fitted(kind)
    assert found.parameters[0] == found.parameters[1]
    assert found.states[0] == found.states[1]


@pytest.mark.parametrize(
    "kind",
    [kind for kind in ESTIMATORS if "n_jobs" in kind().get_params()],
    ids=lambda kind: kind.__name__,
)
def test_jobs_do_not_change_the_result(kind, samples, fitted) -> None:
    X, y, X_new = samples
    assert answer(default(kind, n_jobs=2).fit(X, y), X_new) == fitted(kind).answer


@each
@pytest.mark.parametrize(
    "container",
    [pd.DataFrame, sparse.csr_array],
    ids=["pandas", "sparse array"],
)
def test_containers_agree_with_numpy(kind, container, samples, fitted) -> None:
    X, y, X_new = samples
    expected = numbers(fitted(kind).answer)
    if container is pd.DataFrame:
        X, X_new = (container({f"x{i}": rows[:, i] for i in range(3)}) for rows in (X, X_new))
    else:
        X, X_new = container(X), container(X_new)
    found = numbers(answer(default(kind).fit(X, y), X_new))
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@each
def test_the_same_seed_gives_the_same_result_with_numbers_as_labels(kind, samples, fitted) -> None:
    X, y, X_new = samples
    np.random.seed(1)  # noqa: NPY002 -- the global seed must have no say
    labels = [3, 7]
    renamed = np.array(labels)[(y == "right").astype(int)]
    estimator = default(kind).fit(X, renamed)
    assert_array_equal(numbers(answer(estimator, X_new)), numbers(fitted(kind).answer))
    if hasattr(estimator, "classes_"):
        assert estimator.classes_.tolist() == labels


@each
def test_answers_survive_pickle(kind, samples, fitted) -> None:
    X_new = samples[2]
    expected = fitted(kind).answer
    again = pickle.loads(pickle.dumps(fitted(kind).estimator))
    record = getattr(again, asks(again))(X_new)
    assert plain(record) == expected
    assert plain(pickle.loads(pickle.dumps(record))) == expected
