"""All windows of a table: an estimate for each, and a test of each against the reference."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._arrays import chosen_arrays
from unseen._progress import Listener, between, report, show_progress
from unseen._random import whole_seed
from unseen._team import team
from unseen._types import FloatArray
from unseen._wording import count, listed
from unseen.api import chosen_estimator
from unseen.intervals import check_interval
from unseen.monitoring.reference import TEST_FOLDS, Reference, WindowScorer, training_reference
from unseen.monitoring.timeline import Timeline
from unseen.monitoring.windows import Windows, find_windows, shown_key, windows_of
from unseen.preparing import prepare
from unseen.proportions import ProportionEstimator
from unseen.records import Estimate, Notice
from unseen.samples import check_new, sample_notices
from unseen.scores import Scorer
from unseen.scores.base import FOLDS

_MIN_PERMUTATIONS = 1999
# The least p-value that permutations can give, adjusted for all windows, is this part of alpha.
_RESOLUTION = 0.2


def monitor(
    X: ArrayLike,
    y: ArrayLike,
    X_new: ArrayLike,
    by: ArrayLike,
    *,
    reference: Any = None,
    estimator: ProportionEstimator | None = None,
    confidence: float = 0.95,
    random_state: Any = None,
    alpha: float = 0.05,
    least_rows: int = 30,
    progress: Listener | bool = False,
) -> Timeline:
    """Estimate the shares in each window of time, and test each against a reference window.

    Each window has the estimate that :func:`unseen.estimate` makes of its rows alone. Estimates of
    the default may differ a little, because windows share distances and the number of folds, and
    try four discriminators of new rows from labelled ones instead of thirty.

    The tests compare the rows of a window with those of the reference
    (:mod:`unseen.monitoring.change`); they use no part of the estimator but its classifier. Each
    window has two tests: has anything changed, and has the unseen share changed? The p-values of
    each test are adjusted for the number of windows: if nothing ever changes, a test marks any
    window with a probability of at most ``alpha``, and either of the two tests with at most
    ``2 * alpha``.

    Parameters
    ----------
    X, y, X_new
        As in :func:`~unseen.estimate`; X_new holds the rows of all windows.
    by : array-like of shape (n_new,)
        The window of each new row: text, numbers, dates, or anything else that can be sorted.
        Rows whose key is missing are counted and left out.
    reference : key, list of keys, "training" or None, default=None
        The window that the others are compared with, or several that are taken together; None is
        the first one. A date may be given as text. "training" compares with the labelled rows: a
        third of each class is set aside for the tests, as a sample in which nothing is unseen; the
        rest must have a row for each fold of the estimator.
    estimator : proportion estimator or None, default=None
        The method; it is copied, not changed. None is :class:`~unseen.OpenSetEstimator`.
    confidence : float, default=0.95
        Level of the intervals.
    random_state : int, RandomState instance or None, default=None
        Seed of all randomness; overrides that of ``estimator`` when given.
    alpha : float, default=0.05
        Probability allowed for one false alarm or more of each of the two tests, over all windows
        together.
    least_rows : int, default=30
        Windows with fewer rows are skipped; must be at least the number of folds of the estimator.
    progress : bool or callable, default=False
        True shows a bar; a function is called with the share of the windows that are done.

    Returns
    -------
    Timeline

    Examples
    --------
    From the third day on, a fifth of the rows belong to a class that training never saw.

    >>> import numpy as np
    >>> import unseen
    >>> from unseen.monitoring import monitor
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, (100, 2)), rng.normal(4, 1, (100, 2))])
    >>> y = ["left"] * 100 + ["right"] * 100
    >>> days = [rng.normal(-4, 1, (100, 2)), rng.normal(-4, 1, (100, 2)),
    ...         np.vstack([rng.normal(-4, 1, (80, 2)), rng.normal([-4, 4], 1, (20, 2))])]
    >>> timeline = monitor(X, y, np.vstack(days), np.repeat([1, 2, 3], 100), random_state=0)
    >>> timeline.windows, timeline.changed
    ((1, 2, 3), array([False, False,  True]))
    >>> print(f"{timeline[3].unseen:.1f}")
    0.2
    """
    check_interval(confidence, None)
    chosen = chosen_estimator(estimator, random_state)
    seed = whole_seed(chosen.random_state)
    scorer = chosen.scorer(seed)
    _check_settings(alpha, least_rows, scorer)
    prepared = prepare(X, X_new)
    labelled = chosen.fit(prepared.X, y).labelled_
    rows = check_new(labelled, prepared.X_new)
    notices = prepared.told(sample_notices(labelled, rows, given=prepared.X_new))
    windows = windows_of(by, rows.shape[0])
    # A window that happens to be called so goes first.
    to_training = isinstance(reference, str) and reference == "training"
    to_training = to_training and reference not in windows.keys
    kept = _kept(windows, least_rows, at_least=1 if to_training else 2)
    places = [] if to_training else find_windows(kept, reference)
    # The default chooses its folds by the number of rows: by the largest window, for all.
    scorer = scorer.settled(len(labelled.codes) + max(kept.counts))
    window_scorer = WindowScorer.prepare(chosen, scorer, labelled, rows)
    if to_training:
        compared = training_reference(window_scorer)
    else:
        together = np.concatenate([kept.rows[place] for place in places])
        estimate = window_scorer.estimate(together, confidence)
        compared = Reference(estimate, window_scorer, together)
    with show_progress(progress), team(getattr(chosen, "n_jobs", None)):
        estimates, p_values = _followed(window_scorer, compared, kept, places, confidence, alpha)
    counted = zip(windows.keys, windows.counts, strict=True)
    return Timeline(
        windows=kept.keys,
        estimates=tuple(estimates),
        in_reference=np.isin(np.arange(len(kept.keys)), places),
        reference_estimate=compared.estimate,
        raw_p_values=p_values[:, 0],
        raw_p_values_unseen=p_values[:, 1],
        alpha=alpha,
        skipped=tuple(one for one in counted if one[1] < least_rows),
        n_missing=windows.n_missing,
        notices=(*notices, *_as_control(compared.estimate), *_of_windows(kept.keys, estimates)),
        seed=seed,
    )


def _followed(
    scorer: WindowScorer,
    compared: Reference,
    windows: Windows,
    places: list[int],
    confidence: float,
    alpha: float,
) -> tuple[list[Estimate], FloatArray]:
    """Estimate of each window, and its two p-values; NaN in the windows of the reference."""
    n_windows = len(windows.keys)
    n_permutations = max(_MIN_PERMUTATIONS, ceil(n_windows / (_RESOLUTION * alpha)))
    rngs = np.random.default_rng(scorer.seed).spawn(n_windows)

    def follow(place: int) -> tuple[Estimate, tuple[float, float]]:
        rows, p_values = windows.rows[place], (np.nan, np.nan)
        with between(place / n_windows, (place + 1) / n_windows):
            is_reference = places == [place]
            estimate = compared.estimate if is_reference else scorer.estimate(rows, confidence)
            if place not in places:
                tested = rows, compared.rows, n_permutations, rngs[place]
                p_values = compared.scorer.p_values(*tested)
        report((place + 1) / n_windows)
        return estimate, p_values

    followed = chosen_arrays().side_by_side(follow, range(n_windows))
    report(1.0)
    estimates, p_values = zip(*followed, strict=True)
    return list(estimates), np.array(p_values)


def _check_settings(alpha: float, least_rows: int, scorer: Scorer) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie strictly between 0 and 1, such as 0.05; got {alpha}.")
    least = max(TEST_FOLDS, scorer.n_folds or FOLDS)
    if least_rows < least:
        raise ValueError(
            f"least_rows must be at least {least}, so that each fold of the estimator holds a "
            f"row; got {least_rows}."
        )


def _kept(windows: Windows, least_rows: int, at_least: int) -> Windows:
    enough = [place for place, rows in enumerate(windows.counts) if rows >= least_rows]
    if len(enough) < at_least:
        raise ValueError(
            f"by must make at least {at_least} windows of {least_rows} rows or more (least_rows); "
            f"got {len(enough)} such of {len(windows.keys)}, the largest of "
            f"{count(max(windows.counts))}. Take longer windows."
        )
    keys = tuple(windows.keys[place] for place in enough)
    return Windows(keys, tuple(windows.rows[place] for place in enough), windows.n_missing)


def _as_control(reference: Estimate) -> tuple[Notice, ...]:
    """That the reference is what a control is, where known classes look moved there already."""
    if not reference.is_in_doubt:
        return ()
    text = (
        "Known classes have moved, or may have, in the reference already. The p-values ask what is "
        "new since the reference, and allow for this move. The shares compare with training, and "
        "do not allow for it."
    )
    return (Notice("reference_as_control", text, "note"),)


def _of_windows(keys: Sequence[Any], estimates: Sequence[Estimate]) -> tuple[Notice, ...]:
    """Notices that every window has, once; and which windows have more."""
    all_notices = [estimate.notices for estimate in estimates]
    common = [one for one in all_notices[0] if all(one in others for others in all_notices)]
    more = [
        shown_key(key)
        for key, notices in zip(keys, all_notices, strict=True)
        if len(notices) > len(common)
    ]
    if not more:
        return tuple(common)
    text = (
        f"Some windows have notices of their own: {listed(more)}. Read these in --json, or in the "
        "estimates of the timeline."
    )
    return (*common, Notice("notices_in_windows", text))
