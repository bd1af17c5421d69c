"""The calls that answer the question in one line: estimate, estimate_from_scores, compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from unseen._arrays import card_of, chosen_arrays, on_device
from unseen._progress import Listener, each, show_progress
from unseen._random import whole_seed
from unseen._team import team
from unseen._wording import NOT_SEEN
from unseen.drift import Drift
from unseen.full import check_full, estimate_full
from unseen.preparing import prepare, scores_as_features
from unseen.proportions import OpenSetEstimator, ProportionEstimator, all_estimators
from unseen.proportions.held_out import estimate_against_control, estimate_with_groups
from unseen.records import Estimate, Notice, Tabled
from unseen.samples.checks import check_new
from unseen.samples.draws import MAX_ROWS, Draw
from unseen.scores import Scores

_FEWEST_ROWS = 10


def estimate(
    X: ArrayLike,
    y: ArrayLike,
    X_new: ArrayLike,
    *,
    estimator: ProportionEstimator | None = None,
    groups: ArrayLike | None = None,
    groups_new: ArrayLike | None = None,
    control: ArrayLike | None = None,
    drift: Drift | None = None,
    confidence: float | None = 0.95,
    max_rows: int | None = MAX_ROWS,
    full: bool = False,
    random_state: Any = None,
    progress: Listener | bool = False,
    device: str | None = None,
) -> Estimate:
    """Estimate the share of each known class in new rows, and the share of unseen classes.

    Parameters
    ----------
    X : array-like of shape (n_labelled, n_features)
        Rows of the known classes: NumPy, sparse, or a pandas, polars or pyarrow table. A table with
        text, dates or gaps is prepared by :class:`unseen.tables.Columns`, as on the command line.
    y : array-like of shape (n_labelled,)
        Labels of the rows of X: text, whole numbers or booleans. One class is enough.
    X_new : array-like of shape (n_new, n_features)
        New rows, with the columns of X.
    estimator : proportion estimator or None, default=None
        The method; it is copied, not changed. None is :class:`~unseen.OpenSetEstimator`.
    groups : array-like of shape (n_labelled,) or None, default=None
        Group of each labelled row: person, site, batch. Up to ten groups are held out in turn; the
        share that is called unseen there, though nothing is new, is taken off the answer
        (docs/drift.md).
    groups_new : array-like of shape (n_new,) or None, default=None
        Group of each new row, for ``groups``; None takes the new rows for one group.
    control : array-like of shape (n_control, n_features) or None, default=None
        Rows without labels, of the same instrument or site as X_new, that are believed to hold no
        new class: known classes should look alike in both (docs/drift.md).
    drift : Drift or None, default=None
        Drift that the default found in the same rows, for another estimator to use; None asks the
        default.
    confidence : float or None, default=0.95
        Level of the intervals; None makes none.
    max_rows : int or None, default=20000
        Most rows to use of each sample, drawn at random (docs/big_data.md); None uses all.
    full : bool, default=False
        Fit models to the rows drawn, then score and count every row of X_new, some ten thousand at
        a time (docs/scale.md): for ``MPEIncomplete``, ``MPEProjected`` and ``SaerensEM``. X_new may
        be larger than memory, as ``numpy.memmap``; for files and batches see
        :class:`~unseen.FullPass`.
    random_state : int, RandomState instance or None, default=None
        Seed of all randomness; overrides that of ``estimator`` when given.
    progress : bool or callable, default=False
        True shows a bar; a function is called with the share done (:func:`~unseen.show_progress`).
    device : str or None, default=None
        As for :func:`~unseen.on_device`; None is the graphics card that X_new is on, if any.

    Returns
    -------
    Estimate
        Prints as a table; ``proportions`` and ``unseen`` hold the shares.

    Raises
    ------
    TypeError
        When ``estimator`` does not estimate class proportions, such as a mixture estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import unseen
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(0, 1, (400, 2)), ["known"] * 400
    >>> X_new = np.vstack([rng.normal(0, 1, (300, 2)), rng.normal(9, 1, (300, 2))])
    >>> estimate = unseen.estimate(X, y, X_new, random_state=0)
    >>> print(f"{estimate.unseen:.1f}")
    0.5
    """
    chosen = chosen_estimator(estimator, random_state)
    _check_arguments(groups, groups_new, control, drift, max_rows, full)
    if full:
        check_full(chosen)
    draw, every = Draw(max_rows, chosen.random_state), X_new
    X, y, groups = draw.rows("X", X, y, groups, y=y)
    drawn = draw.notices
    X_new, groups_new = draw.rows("X_new", X_new, groups_new)
    (control,) = draw.rows("control", control)
    prepared = prepare(
        X,
        X_new,
        control,
        every=every if full else None,
        places=draw.places,
        random_state=chosen.random_state,
    )
    X, X_new, control = prepared.X, prepared.X_new, prepared.control
    chosen.fit(X, y)
    n_jobs = getattr(chosen, "n_jobs", None)
    with show_progress(progress), on_device(device or card_of(X_new)), team(n_jobs):
        if full:
            found = estimate_full(chosen, X_new, every, prepared.columns, confidence, drift)
        elif groups is not None:
            found = estimate_with_groups(chosen, X_new, groups, groups_new, confidence)
        elif control is not None:
            found = estimate_against_control(chosen, X_new, control, confidence)
        else:
            found = chosen.estimate(X_new, confidence=confidence, drift=drift)
    drawn = drawn if full else draw.notices
    return replace(found, notices=(*drawn, *prepared.told(found.notices)))


def _check_arguments(
    groups: Any, groups_new: Any, control: Any, drift: Any, max_rows: int | None, full: bool
) -> None:
    """Raise where arguments of :func:`estimate` are none that it takes, or do not go together."""
    if groups is None and groups_new is not None:
        raise ValueError("groups_new needs groups, the group of each labelled row; got None.")
    if groups is not None and control is not None:
        raise ValueError("groups and control must not be given together: a control says more.")
    if full and (groups is not None or control is not None):
        raise ValueError("full counts rows one by one: leave out groups and control.")
    if drift is not None and not isinstance(drift, Drift):
        raise TypeError(f"drift must be the drift of another estimate, or None; got {drift!r}.")
    if max_rows is not None and max_rows < _FEWEST_ROWS:
        raise ValueError(f"max_rows must be at least {_FEWEST_ROWS} or None; got {max_rows!r}.")


def estimate_from_scores(
    scores: ArrayLike,
    y: ArrayLike,
    scores_new: ArrayLike,
    *,
    novelty: ArrayLike | None = None,
    novelty_new: ArrayLike | None = None,
    estimator: ProportionEstimator | None = None,
    confidence: float | None = 0.95,
    random_state: Any = None,
) -> Estimate:
    """Estimate the shares from the scores of a classifier, where there are no features.

    The labelled rows must be held out: rows that the classifier did not learn from. The scores need
    not be calibrated: the estimator takes them for features, and learns from the labelled rows what
    they mean. The class shares in the classifier's own training do not matter either. A new class
    whose rows get the scores of a known class stays hidden (docs/embeddings.md).

    Parameters
    ----------
    scores : array-like of shape (n_labelled, K)
        Probabilities of the known classes, or logits.
    y : array-like of shape (n_labelled,)
        Labels of these rows.
    scores_new : array-like of shape (n_new, K)
        Scores of the new rows, by the same classifier.
    novelty, novelty_new : array-like of shape (n_labelled,) and (n_new,), or None, default=None
        Novelty scores of labelled and of new rows, such as energies; the sign does not matter.
    estimator, confidence, random_state
        As in :func:`estimate`.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> import unseen
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 200)
    >>> logits = rng.normal(np.where(y == 0, 3, -3), 1)
    >>> held_out, new = logits[1::2], np.append(logits[:300:2], rng.normal(0, 0.3, 150))
    >>> def probabilities(logits):
    ...     return 1 / (1 + np.exp(np.column_stack([-logits, logits])))
    >>> found = unseen.estimate_from_scores(
    ...     probabilities(held_out), y[1::2], probabilities(new), random_state=0)
    >>> print(f"{found.unseen:.1f}")
    0.5
    """
    X, X_new = scores_as_features(scores, scores_new, novelty, novelty_new)
    options = {"estimator": estimator, "confidence": confidence, "random_state": random_state}
    found = estimate(X, y, X_new, **options)
    said = "Only scores are looked at: a new class whose rows get those of a known class is hidden."
    return replace(found, notices=(Notice("scores_only", said, "note"), *found.notices))


def chosen_estimator(estimator: Any, random_state: Any = None) -> ProportionEstimator:
    """A copy of the estimator, or of the default, with the seed where one is given."""
    if estimator is not None and not isinstance(estimator, ProportionEstimator):
        raise TypeError(
            "estimator must be a proportion estimator such as MPEIncomplete(), or None; "
            f"got {estimator!r}."
        )
    chosen: ProportionEstimator = OpenSetEstimator() if estimator is None else clone(estimator)
    if random_state is not None:
        chosen.set_params(random_state=random_state)
    return chosen


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabled, Mapping[str, Estimate]):
    """Estimates of several estimators on the same data, by name; prints as a table.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        Estimates with the same classes.

    Examples
    --------
    >>> from unseen import Comparison, Estimate
    >>> rows = {"n_labelled": {"cat": 80, "dog": 90}, "n_new": 400}
    >>> closed = Estimate(("cat", "dog"), [0.7, 0.3], 0.0, "closed", sees_unseen=False, **rows)
    >>> comparison = Comparison({
    ...     "open": Estimate(("cat", "dog"), [0.5, 0.2], 0.3, "open", **rows),
    ...     "closed": closed,
    ... })
    >>> print(comparison)
              cat    dog  unseen
    open    0.500  0.200   0.300
    closed  0.700  0.300       -
    400 new rows
    >>> comparison["open"].unseen
    0.3
    """

    estimates: Mapping[str, Estimate]

    def __post_init__(self) -> None:
        if not self.estimates:
            raise ValueError("estimates must hold at least one estimate; got none.")
        kinds = {estimate.classes for estimate in self.estimates.values()}
        if len(kinds) > 1:
            raise ValueError(f"estimates must share their classes; got {sorted(kinds, key=str)}.")
        super().__post_init__()

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

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        return {name: estimate.to_dict() for name, estimate in self.estimates.items()}

    def to_frame(self) -> Any:
        """A pandas DataFrame: the rows of every estimate, with the name of its estimator."""
        frames = {name: estimate.to_frame() for name, estimate in self.estimates.items()}
        import pandas as pd

        table = pd.concat(frames, names=["estimator", None])
        return table.reset_index(level="estimator").reset_index(drop=True)

    def _table(self) -> tuple[list[list[str]], list[str]]:
        rows = [
            [
                name,
                *(f"{share:.3f}" for share in estimate.proportions),
                f"{estimate.unseen:.3f}" if estimate.sees_unseen else NOT_SEEN,
            ]
            for name, estimate in self.estimates.items()
        ]
        n_new = next(iter(self.estimates.values())).n_new
        return [["", *map(str, self.classes), "unseen"], *rows], [f"{n_new} new rows"]


def compare(
    X: ArrayLike,
    y: ArrayLike,
    X_new: ArrayLike,
    estimators: Iterable[ProportionEstimator] | Mapping[str, ProportionEstimator] | None = None,
    *,
    random_state: Any = None,
) -> Comparison:
    """Estimate the shares with several estimators; each kind of score is made only once.

    Estimators that read the same scores share them; each answers as it would alone.

    Parameters
    ----------
    X, y, X_new
        As in :func:`estimate`.
    estimators : iterable or dict of proportion estimators, or None, default=None
        The estimators, perhaps under names of your own; they are copied, not changed. None takes
        every estimator of this library that suits the number of classes.
    random_state : int, RandomState instance or None, default=None
        Seed of all estimators. None keeps the seeds of the estimators, and draws one for estimators
        that have none.

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
        estimators = all_estimators(len(set(np.ravel(y).tolist())))
    chosen = {name: clone(one) for name, one in _by_name(estimators).items()}
    seed = whole_seed(random_state)
    prepared = prepare(X, X_new, random_state=seed)
    X, X_new = prepared.X, prepared.X_new
    for one in chosen.values():
        own = random_state is None and one.random_state is not None
        # A whole number: a RandomState would draw another seed each time that it is asked.
        one.set_params(random_state=whole_seed(one.random_state) if own else seed)
        one.fit(X, y)
    scorers = {name: one.scorer(whole_seed(one.random_state)) for name, one in chosen.items()}
    served = {name: sum(map(one.serves, scorers.values())) for name, one in scorers.items()}
    scores: dict[str, Scores] = {}
    made: list[str] = []
    with team():
        # A scorer that serves more comes first, so that the others find its scores made.
        for name in each(sorted(scorers, key=lambda name: -served[name])):
            maker = next((one for one in made if scorers[one].serves(scorers[name])), name)
            if maker == name:
                made.append(name)
                scores[name] = chosen[name].scores(X_new)
            scores[name] = scores[maker]
        read = chosen_arrays().side_by_side(
            lambda name: chosen[name].from_scores(scores[name]), list(chosen)
        )
    found = dict(zip(chosen, read, strict=True))
    found = {name: replace(one, notices=prepared.told(one.notices)) for name, one in found.items()}
    # What the default found about drift holds for every method on the same rows.
    drift = next((one.drift for one in found.values() if one.drift is not None), None)
    for name, one in chosen.items():
        found[name] = one.with_verdict(found[name], check_new(one.labelled_, X_new), drift)
        drift = drift or found[name].drift
    return Comparison(found)


def _by_name(
    estimators: Iterable[ProportionEstimator] | Mapping[str, ProportionEstimator],
) -> dict[str, ProportionEstimator]:
    """Estimators by the names given, or by class; where a class comes twice, with parameters."""
    listed = list(estimators.values() if isinstance(estimators, Mapping) else estimators)
    for one in listed:
        if not isinstance(one, ProportionEstimator):
            raise TypeError(f"estimators must be such as MPEIncomplete(); got {one!r}.")
    if isinstance(estimators, Mapping):
        return dict(estimators)
    kinds = [type(one).__name__ for one in listed]
    names = [
        kind if kinds.count(kind) == 1 else " ".join(repr(one).split())
        for kind, one in zip(kinds, listed, strict=True)
    ]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"estimators must differ; got {twice[0]} more than once.")
    return dict(zip(names, listed, strict=True))
