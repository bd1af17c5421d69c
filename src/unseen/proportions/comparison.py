"""Several estimators on the same data, each kind of score made only once.

The default scorer is tuned once for all of them, so that an answer can differ a little from the
one that the same estimator, left alone with the same seed, would give.

Scoring costs nearly all the time. Two estimators can read the same record of scores when they
inherit the same way to make it and agree in the parameters that it reads; a record that holds
more, such as that of :class:`~unseen.BinaryRescaled`, also serves those that need less.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from unseen._random import whole_seed
from unseen._wording import html_table, text_table
from unseen.proportions.base import ProportionEstimator
from unseen.proportions.closed_set.posteriors import ClosedSetEstimator
from unseen.records import Estimate
from unseen.scores.klr import KernelLogisticRegression

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Mapping[str, Estimate]):
    """Estimates of several estimators on the same data, by name; prints as a table.

    Parameters
    ----------
    estimates : dict of str to Estimate
        All with the same classes.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.proportions import Comparison
    >>> rows = {"n_labelled": {"cat": 80, "dog": 90}, "n_new": 400}
    >>> comparison = Comparison({
    ...     "open": Estimate(("cat", "dog"), [0.5, 0.2], 0.3, "open", **rows),
    ...     "closed": Estimate(("cat", "dog"), [0.7, 0.3], 0.0, "closed", **rows),
    ... })
    >>> print(comparison)
              cat    dog  unseen
    open    0.500  0.200   0.300
    closed  0.700  0.300   0.000
    400 new rows
    >>> comparison["open"].unseen
    0.3
    """

    estimates: dict[str, Estimate]

    def __post_init__(self) -> None:
        if not self.estimates:
            raise ValueError("estimates must hold at least one estimate; got none.")
        kinds = {estimate.classes for estimate in self.estimates.values()}
        if len(kinds) > 1:
            raise ValueError(f"estimates must share their classes; got {sorted(kinds, key=str)}.")
        object.__setattr__(self, "estimates", dict(self.estimates))

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels of the known classes."""
        return next(iter(self.estimates.values())).classes

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.estimates:
            raise KeyError(f"no estimate {name!r}; there are {', '.join(self.estimates)}.")
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __str__(self) -> str:
        return text_table(self._table(), [self._foot()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._table(), [self._foot()])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        return {name: estimate.to_dict() for name, estimate in self.estimates.items()}

    def to_frame(self) -> Any:
        """A pandas DataFrame: for each estimator the rows of its own frame, and its name."""
        frames = {name: estimate.to_frame() for name, estimate in self.estimates.items()}
        import pandas as pd

        table = pd.concat(frames, names=["estimator", None])
        return table.reset_index(level="estimator").reset_index(drop=True)

    def _table(self) -> list[list[str]]:
        """Header and rows, as text."""
        rows = [
            [name, *(f"{share:.3f}" for share in (*estimate.proportions, estimate.unseen))]
            for name, estimate in self.estimates.items()
        ]
        return [["", *map(str, self.classes), "unseen"], *rows]

    def _foot(self) -> str:
        return f"{next(iter(self.estimates.values())).n_new} new rows"


def compare(
    X: ArrayLike,
    y: ArrayLike,
    X_new: ArrayLike,
    estimators: Iterable[ProportionEstimator] | Mapping[str, ProportionEstimator] | None = None,
    *,
    random_state: Any = None,
) -> Comparison:
    """Estimate the shares with several estimators; each kind of score is made only once.

    Parameters
    ----------
    X : array-like of shape (n_labelled, n_features)
        Rows of the known classes: NumPy, sparse, or a pandas, polars or pyarrow table.
    y : array-like of shape (n_labelled,)
        Their labels: text, whole numbers or booleans.
    X_new : array-like of shape (n_new, n_features)
        New rows, with the columns of X.
    estimators : iterable or dict of proportion estimators, or None, default=None
        Which, perhaps by names of your own; None is every one of this library that applies to
        the number of classes. They are copied, not changed.
    random_state : int, RandomState instance or None, default=None
        Seed of all estimators. None leaves those that have one their own, and draws one for
        the rest.

    Returns
    -------
    Comparison
        Prints as a table; holds one :class:`~unseen.Estimate` per name.

    Examples
    --------
    >>> import numpy as np
    >>> import unseen
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-3, 1, (200, 2)), rng.normal(3, 1, (200, 2))])
    >>> y = ["left"] * 200 + ["right"] * 200
    >>> X_new = np.vstack([rng.normal(-3, 1, (300, 2)), rng.normal(3, 1, (100, 2))])
    >>> chosen = [unseen.MPEIncomplete(classifier=GaussianNB()),
    ...           unseen.MPEProjected(classifier=GaussianNB())]
    >>> comparison = unseen.compare(X, y, X_new, chosen, random_state=0)
    >>> print(f"{comparison['MPEProjected']['left']:.1f}")
    0.7
    """
    if estimators is None:
        estimators = default_estimators(len(set(np.ravel(y).tolist())))
    chosen = {name: clone(estimator) for name, estimator in _named(estimators).items()}
    _seed(chosen.values(), random_state)
    for estimator in chosen.values():
        estimator.fit(X, y)
    _tune_once(list(chosen.values()))
    records = _Records(X_new)
    # Those whose record holds the most come first, so that the others find it made.
    for estimator in sorted(chosen.values(), key=lambda one: len(_maker(one).mro()), reverse=True):
        records.add(estimator)
    return Comparison(
        {name: estimator.from_scores(records.of(estimator)) for name, estimator in chosen.items()}
    )


def default_estimators(n_classes: int) -> list[ProportionEstimator]:
    """Every exported proportion estimator that takes so many classes.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    list of ProportionEstimator

    Examples
    --------
    >>> from unseen.proportions.comparison import default_estimators
    >>> any(type(estimator).__name__ == "BinaryRescaled" for estimator in default_estimators(3))
    False
    """
    from unseen import proportions

    exported = [getattr(proportions, name) for name in proportions.__all__]
    return [
        kind()
        for kind in exported
        if inspect.isclass(kind)
        and issubclass(kind, ProportionEstimator)
        and not inspect.isabstract(kind)
        and _takes(kind(), n_classes)
    ]


def _takes(estimator: ProportionEstimator, n_classes: int) -> bool:
    """Whether it can be fitted to so many classes: asked with two rows of each."""
    rows = np.arange(2.0 * n_classes)[:, np.newaxis]
    try:
        estimator.fit(rows, np.repeat(np.arange(n_classes), 2))
    except ValueError:
        return False
    return True


def _named(
    estimators: Iterable[ProportionEstimator] | Mapping[str, ProportionEstimator],
) -> dict[str, ProportionEstimator]:
    """By the names given, or by class; where a class comes twice, with its parameters."""
    if isinstance(estimators, Mapping):
        return dict(estimators)
    listed = list(estimators)
    kinds = [type(estimator).__name__ for estimator in listed]
    names = [
        kind if kinds.count(kind) == 1 else " ".join(repr(estimator).split())
        for kind, estimator in zip(kinds, listed, strict=True)
    ]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"estimators must differ; got {twice[0]} more than once.")
    return dict(zip(names, listed, strict=True))


def _seed(estimators: Iterable[ProportionEstimator], random_state: Any) -> None:
    """One seed for all; without one, only for those that have none of their own."""
    seed = whole_seed(random_state)
    for estimator in estimators:
        if random_state is not None or estimator.get_params()["random_state"] is None:
            estimator.set_params(random_state=seed)


def _tune_once(estimators: list[ProportionEstimator]) -> None:
    """Choose bandwidth and C of the default scorer once, where several would choose their own.

    Posteriors take both; scores of new rows against a class take the bandwidth, and choose C anew.
    """
    untuned = [one for one in estimators if one.get_params().get("classifier", one) is None]
    if len(untuned) < 2 or len(untuned[0].classes_) < 2:
        return
    sample, seed = untuned[0].labelled_, untuned[0].get_params()["random_state"]
    tuned = KernelLogisticRegression(random_state=seed).fit(sample.rows, sample.codes)
    for one in untuned:
        C = tuned.C_ if isinstance(one, ClosedSetEstimator) else None
        one.set_params(classifier=KernelLogisticRegression(tuned.bandwidth_, C))


class _Records:
    """Scores of the same new rows, and which estimator made each."""

    def __init__(self, X_new: ArrayLike) -> None:
        self.X_new = X_new
        self.made: list[tuple[ProportionEstimator, Any]] = []

    def add(self, estimator: ProportionEstimator) -> None:
        """Make the scores that an estimator reads, unless they are there."""
        if self._found(estimator) is None:
            self.made.append((estimator, estimator.scores(self.X_new)))

    def of(self, estimator: ProportionEstimator) -> Any:
        """The scores that an estimator reads."""
        return self._found(estimator)

    def _found(self, estimator: ProportionEstimator) -> Any:
        maker = _maker(estimator)
        reads = get_type_hints(maker.scores)["return"]
        for other, record in self.made:
            inherits = issubclass(_maker(other), maker) and isinstance(record, reads)
            if inherits and _settings(other, maker) == _settings(estimator, maker):
                return record
        return None


def _maker(estimator: ProportionEstimator) -> type[ProportionEstimator]:
    """The class that says how the scores of an estimator are made."""
    return next(kind for kind in type(estimator).mro() if "scores" in vars(kind))


def _settings(estimator: ProportionEstimator, maker: type[ProportionEstimator]) -> str:
    """Parameters that the scores depend on: those of the class that makes them."""
    names = set(inspect.signature(maker).parameters) - {"n_jobs"}
    parameters = estimator.get_params(deep=False)
    return str(joblib.hash({name: parameters[name] for name in sorted(names)}))
