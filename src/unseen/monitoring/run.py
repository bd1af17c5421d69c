"""All windows of a table: an estimate for each, and a test of each against the reference.

Posteriors and distances do not depend on the window of a row, so they are made once for all
windows. Density ratios of new rows against labelled ones are made window by window, by few
candidates (:class:`~unseen.scores.open.OpenPool`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count as count_up
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._arrays import chosen_arrays
from unseen._progress import Listener, between, report, show_progress, unheard
from unseen._random import whole_seed
from unseen._team import team
from unseen._types import FloatArray, IntArray, Matrix
from unseen._wording import count, listed, quoted
from unseen.api import chosen_estimator
from unseen.intervals import check_interval
from unseen.monitoring.change import change_p_values, class_probabilities
from unseen.monitoring.timeline import Timeline, shown_key
from unseen.preparing import prepare
from unseen.proportions import ProportionEstimator
from unseen.records import Estimate, Notice
from unseen.samples import LabelledRows, check_new, sample_notices
from unseen.samples.checks import is_missing
from unseen.samples.draws import count_rows
from unseen.scores import OpenScorer, Scorer
from unseen.scores.base import FOLDS, Pool, stack_samples
from unseen.scores.crossfit import Search
from unseen.scores.open import OpenPool
from unseen.tables.groups import natural_order

_OF_SCORES = 0.25  # part of the time that goes into what windows share
_MIN_PERMUTATIONS = 1999
# The least p-value that permutations can give, adjusted for all windows, is this part of alpha.
_RESOLUTION = 0.2
# A test needs a scorer that is good enough, not the best: in development problems, fewer folds and
# candidates than an estimate takes found as much.
_TEST_FOLDS = 5
_TEST_SEARCH = Search(np.array([1.0]), np.array([0.3, 30.0]))
# More reference rows than this for each row of the window add little, and dilute what is new.
_REFERENCE_ROWS = 2
# One labelled row in so many stands for training in the tests.
_SET_ASIDE = 3


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
    windows = windows_of(by, count_rows(X_new))
    prepared = prepare(X, X_new, random_state=seed, windows=list(windows.values()))
    labelled = chosen.fit(prepared.X, y).labelled_
    rows = check_new(labelled, prepared.X_new)
    notices = prepared.told(sample_notices(labelled, rows, given=prepared.X_new))
    # A window that happens to be called so goes first.
    to_training = isinstance(reference, str) and reference == "training"
    to_training = to_training and reference not in windows
    keys, kept = _kept(windows, least_rows, at_least=1 if to_training else 2)
    places = [] if to_training else find_windows(keys, reference)
    # The default chooses its folds by the number of rows: by the largest window, for all.
    scorer = scorer.settled(len(labelled.codes) + max(map(len, kept)))
    with show_progress(progress), team(getattr(chosen, "n_jobs", None)):
        with unheard():
            window_scorer = WindowScorer.prepare(chosen, scorer, labelled, rows)
            compared = _reference(window_scorer, [kept[place] for place in places], confidence)
        report(_OF_SCORES)
        with between(_OF_SCORES, 1.0):
            given = kept, places, confidence, alpha
            estimates, p_values = _followed(window_scorer, compared, *given)
    counts = {key: len(one) for key, one in windows.items()}
    return Timeline(
        windows=keys,
        estimates=tuple(estimates),
        in_reference=np.isin(np.arange(len(keys)), places),
        reference_estimate=compared.estimate,
        raw_p_values=p_values[:, 0],
        raw_p_values_unseen=p_values[:, 1],
        alpha=alpha,
        skipped=tuple((key, n) for key, n in counts.items() if n < least_rows),
        n_missing=rows.shape[0] - sum(counts.values()),
        notices=(*notices, *_notices(compared.estimate, keys, estimates)),
        seed=seed,
    )


def windows_of(by: Any, n_rows: int) -> dict[Any, IntArray]:
    """Places of the rows of each window, by its key and in order; rows without a key are in none.

    Text is ordered as people do: the numbers in it by their size, and text that says numbers
    throughout by these.
    """
    keys = np.asarray(by, dtype=object if isinstance(by, list | tuple) else None)
    if keys.shape != (n_rows,):
        raise ValueError(
            f"by must hold one key per row of X_new, {n_rows}; got shape {keys.shape}."
        )
    if keys.dtype.kind in "mM":
        given = list(keys)  # tolist would turn nanoseconds into whole numbers
    else:
        given = [key.item() if isinstance(key, np.generic) else key for key in keys.tolist()]
    rows: dict[Any, list[int]] = {}
    for row, key in enumerate(given):
        if not is_missing(key):
            rows.setdefault(key, []).append(row)
    if not rows:
        raise ValueError(f"by must name a window for at least one row; got {n_rows} missing keys.")
    try:
        is_text = all(isinstance(key, str) for key in rows)
        ordered = natural_order(rows) if is_text else sorted(rows)
    except TypeError as error:
        kinds = ", ".join(sorted({type(key).__name__ for key in rows}))
        raise TypeError(
            f"by must hold keys of one kind that can be sorted; got {kinds}."
        ) from error
    return {key: np.array(rows[key]) for key in ordered}


def find_windows(keys: Sequence[Any], reference: Any) -> list[int]:
    """Places of the windows that a user names by key, by the text of a key, or by several.

    None names the first window.
    """
    if reference is None:
        return [0]
    several = isinstance(reference, list | tuple | set | frozenset | np.ndarray)
    named = list(reference) if several else [reference]
    if not named:
        raise ValueError("reference must name at least one window; got none.")
    places, texts = set(), [shown_key(key) for key in keys]
    for key in named:
        found = [
            place
            for place, known in enumerate(keys)
            if known == key or texts[place] == shown_key(key)
        ]
        if not found:
            raise ValueError(
                "reference must be the key of a window with enough rows; "
                f"got {shown_key(key)!r}, and there are {quoted(texts)}."
            )
        places.add(found[0])
    if len(places) == len(keys):
        raise ValueError(
            f"reference must leave a window to compare with it; got all, {quoted(texts)}."
        )
    return sorted(places)


def _kept(
    windows: dict[Any, IntArray], least_rows: int, at_least: int
) -> tuple[tuple[Any, ...], list[IntArray]]:
    """Keys and rows of the windows with enough rows."""
    kept = {key: rows for key, rows in windows.items() if len(rows) >= least_rows}
    if len(kept) < at_least:
        raise ValueError(
            f"by must make at least {at_least} windows of {least_rows} rows or more (least_rows); "
            f"got {len(kept)} such of {len(windows)}, the largest of "
            f"{count(max(map(len, windows.values())))}. Take longer windows."
        )
    return tuple(kept), list(kept.values())


@dataclass(frozen=True, eq=False)
class WindowScorer:
    """The new rows of all windows, with what windows share, for estimates and for tests."""

    estimator: ProportionEstimator  # reads the scores of each window
    estimated: Pool  # scored by the estimator's scorer, with its folds settled
    tested: OpenPool  # scored by the tests' scorer

    @classmethod
    def prepare(
        cls, estimator: ProportionEstimator, scorer: Scorer, labelled: LabelledRows, rows: Matrix
    ) -> WindowScorer:
        """Make what windows share."""
        posteriors, posterior_scorer = None, scorer.posterior_scorer()
        posterior_scorer.check(labelled, rows.shape[0])
        # With one known class any classifier serves the tests.
        classifier = scorer.classifier
        if len(labelled.classes) > 1:
            posteriors = posterior_scorer.score(labelled, rows)
            classifier = posterior_scorer.classifier
        shared = labelled, rows, posteriors
        tests = OpenScorer(classifier, _TEST_FOLDS, scorer.seed, scorer.n_jobs)
        return cls(estimator, scorer.pool(*shared), tests.pool(*shared, _TEST_SEARCH))

    def estimate(self, places: IntArray, confidence: float) -> Estimate:
        """Shares in some of the rows."""
        return self.estimator.from_scores(self.estimated.window(places), confidence=confidence)

    def p_values(
        self, window: IntArray, reference: IntArray, n_permutations: int, rng: np.random.Generator
    ) -> tuple[float, float]:
        """P-values of "nothing has changed" and of "the unseen share has not changed"."""
        reference = rng.permutation(reference)[: _REFERENCE_ROWS * len(window)]
        places = np.concatenate([window, reference])
        shuffled = rng.permutation(len(places))
        rows = class_probabilities(self.tested.still(places[shuffled]))
        back = np.argsort(shuffled)
        rows = replace(rows, among_known=rows.among_known[back], novelty=rows.novelty[back])
        return change_p_values(rows, len(window), n_permutations, rng)


@dataclass(frozen=True, eq=False)
class Reference:
    """The sample that windows are compared with: shares, rows, and a scorer for these rows."""

    estimate: Estimate
    scorer: WindowScorer
    rows: IntArray


def _reference(scorer: WindowScorer, windows: list[IntArray], confidence: float) -> Reference:
    """The rows of some windows together; labelled rows where there is no window.

    These the tests' scorer takes for new ones, and the shares are those of the labels. As many rows
    of each class are set aside as its share asks for, so that the reference varies less than a
    random sample, and tests err on the safe side.
    """
    if windows:
        together = np.concatenate(windows)
        return Reference(scorer.estimate(together, confidence), scorer, together)
    pool, rng = scorer.estimated, np.random.default_rng(scorer.tested.scorer.seed)
    sample: LabelledRows = pool.labelled
    n_folds: Any = pool.scorer.posterior_scorer().n_folds
    # The fewest rows of a class of which the rest has one for each fold.
    least = next(n for n in count_up(n_folds) if n - n // _SET_ASIDE >= n_folds)
    few = np.flatnonzero(sample.counts < least)
    if few.size:
        raise ValueError(
            f'with reference="training" each class must have at least {least} rows in X: a third '
            f"is set aside for the tests, and n_folds={n_folds} folds need a row of each class; "
            f"{quoted(sample.classes[few[:1]])} has {sample.counts[few[0]]}."
        )
    order = rng.permutation(len(sample.codes))
    place_in_class = np.empty(len(order), dtype=np.intp)
    for code in range(len(sample.classes)):
        of_class = order[sample.codes[order] == code]
        place_in_class[of_class] = np.arange(len(of_class))
    aside = place_in_class % _SET_ASIDE == _SET_ASIDE - 1
    rows = stack_samples(pool.rows, sample.rows[aside])[0]
    rest = WindowScorer.prepare(scorer.estimator, pool.scorer, sample.part(~aside), rows)
    estimate = Estimate(
        classes=sample.labels,
        proportions=sample.counts / sample.counts.sum(),
        unseen=0.0,
        method="labels of training",
        n_labelled=dict(zip(sample.labels, sample.counts.tolist(), strict=True)),
        n_new=0,
    )
    return Reference(estimate, rest, np.arange(pool.rows.shape[0], rows.shape[0]))


def _followed(
    scorer: WindowScorer,
    compared: Reference,
    windows: list[IntArray],
    places: list[int],
    confidence: float,
    alpha: float,
) -> tuple[list[Estimate], FloatArray]:
    """Estimate of each window, and its two p-values; NaN in the windows of the reference."""
    n_windows = len(windows)
    n_permutations = max(_MIN_PERMUTATIONS, ceil(n_windows / (_RESOLUTION * alpha)))
    rngs = np.random.default_rng(scorer.tested.scorer.seed).spawn(n_windows)

    def follow(place: int) -> tuple[Estimate, tuple[float, float]]:
        rows, p_values = windows[place], (np.nan, np.nan)
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
    least = max(_TEST_FOLDS, scorer.n_folds or FOLDS)
    if least_rows < least:
        raise ValueError(
            f"least_rows must be at least {least}, so that each fold of the estimator holds a "
            f"row; got {least_rows}."
        )


def _notices(
    reference: Estimate, keys: Sequence[Any], estimates: Sequence[Estimate]
) -> tuple[Notice, ...]:
    """That known classes moved in the reference, what every window has, and which have more."""
    found: list[Notice] = []
    if reference.is_in_doubt:
        text = (
            "Known classes have moved, or may have, in the reference already. The p-values ask "
            "what is new since the reference, and allow for this move. The shares compare with "
            "training, and do not allow for it."
        )
        found.append(Notice("reference_as_control", text, "note"))
    all_notices = [estimate.notices for estimate in estimates]
    common = [one for one in all_notices[0] if all(one in others for others in all_notices)]
    has_more = [len(notices) > len(common) for notices in all_notices]
    more = [shown_key(key) for key, has in zip(keys, has_more, strict=True) if has]
    found += common
    if more:
        text = (
            f"Some windows have notices of their own: {listed(more)}. Read these in --json, or in "
            "the estimates of the timeline."
        )
        found.append(Notice("notices_in_windows", text))
    return tuple(found)
