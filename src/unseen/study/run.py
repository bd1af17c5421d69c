"""Read two tables, answer one question, gather one record: shares, comparison and checks.

Each ``run_`` function of this folder is a command, which only parses, calls it and prints.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from unseen._progress import stage
from unseen._types import FloatArray, IntArray
from unseen._wording import disagreement, interval_name, unseen_interval
from unseen.api import Comparison, compare
from unseen.api import estimate as estimate_shares
from unseen.drift import with_drift
from unseen.full import all_counted
from unseen.monitoring import Timeline, monitor
from unseen.monitoring.run import windows_of
from unseen.preparing import in_units, without_constants
from unseen.proportions import OpenSetEstimator, ProportionEstimator
from unseen.proportions.closed_set.counts import AdjustedCount, ClassifyAndCount
from unseen.proportions.closed_set.em import SaerensEM
from unseen.proportions.per_class.incomplete import MPEIncomplete
from unseen.records import Estimate, Notice, UnseenWarning
from unseen.rejection import RejectionClassifier
from unseen.study.full import Counted, check_full_inputs, count_table
from unseen.study.inputs import Inputs, Windowing
from unseen.study.results import Checks, MethodComparison, Origin, Study, Suspects
from unseen.study.rows import NewRows, Training, WindowRows, column_drift, read_windows
from unseen.tables.gaps import Gaps

_CONFIDENCE = 0.95
# Unseen shares of two methods that differ by less are said to agree; a wider interval is said.
_APART, _WIDE = 0.05, 0.5
_BASELINES: tuple[type[ProportionEstimator], ...] = (
    OpenSetEstimator,
    MPEIncomplete,
    SaerensEM,
    AdjustedCount,
    ClassifyAndCount,
)


@contextmanager
def quiet_warnings() -> Iterator[None]:
    """Silence warnings that the record repeats as notices, and those of solvers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@quiet_warnings()
def run_study(
    inputs: Inputs,
    estimator: ProportionEstimator | None = None,
    *,
    confidence: float = 0.95,
    baselines: bool = False,
    n_suspects: int | None = None,
    windowing: Windowing | None = None,
    full: bool = False,
    command: str = "",
) -> tuple[Study, Training]:
    """Estimate the shares in NEW, and gather everything that a reader of the answer asks for.

    On request: other estimators on the same rows (``baselines``), so many rows that look most
    unseen (``n_suspects``), and an estimate for each window. ``full`` scores and counts every row
    of NEW (:mod:`unseen.full`). ``command`` is what the user typed. The labelled rows are returned
    too, ready to be saved.
    """
    # The column that says when a row came does not say what the row is.
    windows = () if windowing is None else (windowing.groups.column,)
    chosen = OpenSetEstimator() if estimator is None else estimator
    if full:
        check_full_inputs(inputs, chosen)
    training, new = inputs.read(windows, whole=n_suspects is not None, full=full)
    control = inputs.read_control(training)
    stage(f"Estimating with {type(chosen).__name__}")
    counted = None
    if full:
        by = None if windowing is None else windowing.groups
        counted = count_table(chosen, training, new, inputs.new_source, by, inputs.seed)
    found, notes = table_estimate(training, new, inputs, chosen, confidence, control, counted)
    if new.promoted is not None:
        found = new.promoted.combine(found)
    origin = origin_of(training, new, command, control)
    study = Study(found, training.counts, new.n_rows, notes, origin=origin)
    if baselines:
        stage("Running other estimators for comparison")
        fitting = [kind for kind in _BASELINES if kind.n_classes[0] <= len(training.counts)]
        others = [kind() for kind in fitting if kind is not type(chosen)]
        beside = compare(training.X, training.y, new.X, others, random_state=inputs.seed)
        study = replace(study, baselines=beside)
    if n_suspects is not None:
        stage("Looking for the rows that look most unseen")
        # A rule that did not learn from these rows.
        novelty = fitted_rule(training, new, inputs.seed).out_of_fold_.novelty[1]
        rows = np.argsort(-novelty, kind="stable")[:n_suspects]
        study = replace(study, suspects=shown_rows(new, rows, novelty))
    if windowing is not None and counted is not None:
        study = replace(study, timeline=counted.timeline(confidence))
    elif windowing is not None:
        dated = read_windows(inputs.new_source, windowing.groups, training.columns, inputs.seed)
        stage(f"Windows of {windowing.groups.column}")
        timeline = _timeline(training, dated, chosen, confidence, windowing, inputs.seed)
        notices = (*study.notices, *dated.notices)
        study = replace(study, timeline=timeline, notices=notices, over_time=windowing.over_time)
    return study, training.as_given


@quiet_warnings()
def run_comparison(inputs: Inputs) -> MethodComparison:
    """Estimate the shares in NEW with every method that applies."""
    training, new = inputs.read()
    stage("Estimating with every method")
    found = compare(training.X, training.y, new.X, random_state=inputs.seed)
    drift = next((one.drift for one in found.values() if one.drift is not None), None)
    moved = () if drift is None else drift.notices
    of_tables = (*training.notices, *new.notices, *column_drift(training, new))
    return MethodComparison(found, (*of_tables, *moved, *_apart(found, training, new, inputs.seed)))


def _apart(found: Comparison, training: Training, new: NewRows, seed: int) -> tuple[Notice, ...]:
    """A notice where methods that see the unseen differ, and whether by more than an interval."""
    answer = next((one for one in found.values() if one.method == OpenSetEstimator.__name__), None)
    shares = [one.unseen for one in found.values() if one.sees_unseen]
    if answer is None or answer.has_moved_far or np.ptp(shares) < _APART:
        return ()
    answer = _default_answer(training, new, seed, _CONFIDENCE)
    text = disagreement(answer, found)
    if text:
        return (Notice("methods_disagree", text),)
    text = (
        f"Methods that see the unseen differ, within the {interval_name(_CONFIDENCE)} of "
        f"{answer.method}, {unseen_interval(answer)}: these rows do not tell which is right."
    )
    return (Notice("methods_disagree", text, "note"),)


@quiet_warnings()
def run_checks(inputs: Inputs, delta: float = 0.05) -> Checks:
    """Check what an estimate takes for granted, and certify a bound that fails with ``delta``."""
    training, new = inputs.read()
    stage("Checking")
    fitted = MPEIncomplete(random_state=inputs.seed)
    fitted.fit(training.named(training.X), training.y)
    answer = _default_answer(training, new, inputs.seed, _CONFIDENCE)
    drift = None if answer.drift is None else answer.drift.named(training.names)
    found = fitted.estimate(training.named(new.X), diagnose=True, delta=delta, drift=drift)
    severe, notes = _by_severity((*training.notices, *new.notices))
    notices = (*severe, *column_drift(training, new), *without_constants(found.notices))
    return Checks(replace(found, notices=notices), delta, (*_wide(answer), *notes))


def _wide(answer: Estimate) -> tuple[Notice, ...]:
    """A notice where the interval of the unseen share is wider than one half."""
    assert answer.intervals is not None
    if answer.has_moved_far or np.ptp(answer.intervals[-1]) <= _WIDE:
        return ()
    text = (
        "The checks do not ask whether there are rows enough: "
        f"the {interval_name(_CONFIDENCE)} of the unseen share by {answer.method} is "
        f"{unseen_interval(answer)}. More rows, or labels of some new ones (`unseen audit`), would "
        "narrow it."
    )
    return (Notice("uncertain_share", text),)


def origin_of(
    training: Training, new: NewRows, command: str, control: NewRows | None = None
) -> Origin:
    """How to get the same answer again."""
    return Origin(
        command=command,
        files=tuple((one.name, one.sha256) for one in (training, new, control) if one is not None),
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        preparation=tuple(training.columns.statement()),
    )


def table_estimate(
    training: Training,
    new: NewRows,
    inputs: Inputs,
    estimator: ProportionEstimator,
    confidence: float,
    control: NewRows | None = None,
    counted: Counted | None = None,
) -> tuple[Estimate, tuple[Notice, ...]]:
    """The estimate with all warnings, and the notes on the tables."""
    groups = training.groups if inputs.group is not None else None
    takes_for_unmoved = estimator.sees_unseen and not isinstance(estimator, OpenSetEstimator)
    drift = None
    if groups is None and control is None and takes_for_unmoved:
        # Such methods take known classes for unmoved: the default says whether they are.
        drift = _default_answer(training, new, inputs.seed, None).drift
        drift = None if drift is None else drift.named(training.names)
    if counted is not None:
        found = counted.estimate(confidence)
        found = found if drift is None else with_drift(found, drift)
    else:
        found = estimate_shares(
            training.named(training.X),
            training.y,
            training.named(new.X),
            estimator=estimator,
            groups=groups,
            groups_new=None if groups is None else new.groups,
            control=None if control is None else training.named(control.X),
            drift=drift,
            confidence=confidence,
            random_state=inputs.seed,
        )
    if found.held_out is not None and inputs.group is not None:
        found = replace(found, held_out=replace(found.held_out, by=inputs.group))
    said = () if counted is None else (all_counted(new.name, new.n_rows, len(new.X)),)
    severe, notes = _by_severity((*training.notices, *new.notices, *said))
    own = in_units(found.notices, training.columns, training.X, new.X, "give --missing {value}")
    notices = (*severe, *column_drift(training, new), *own)
    return replace(found, notices=notices), notes


def _default_answer(
    training: Training, new: NewRows, seed: int, confidence: float | None
) -> Estimate:
    return estimate_shares(training.X, training.y, new.X, confidence=confidence, random_state=seed)


def _timeline(
    training: Training,
    windows: WindowRows,
    estimator: ProportionEstimator,
    confidence: float,
    windowing: Windowing,
    seed: int,
) -> Timeline:
    given = windowing.reference
    reference = given[0] if len(given) == 1 else given or None
    rows = _as_in_table(training, seed) if reference == "training" else slice(None)
    X, X_new = training.X, windows.X
    said: tuple[Notice, ...] = ()
    if windows.gaps is not None:
        sharing = Gaps(training.columns, training.as_given.X, seed)
        places = windows_of(windows.keys, len(windows.keys)).values()
        X_new = sharing.shared_with_windows(X_new, windows.gaps, list(places))
        X = sharing.X
        said = sharing.notices if training.given is None else ()  # else it is said of all rows
    timeline = monitor(
        training.named(X[rows]),
        training.y[rows],
        training.named(X_new),
        windows.keys,
        reference=reference,
        estimator=estimator,
        confidence=confidence,
        alpha=windowing.alpha,
        random_state=seed,
    )
    return replace(timeline, notices=(*said, *without_constants(timeline.notices)))


def fitted_rule(
    training: Training, new: NewRows, seed: int = 0, shares: Estimate | None = None
) -> RejectionClassifier:
    """The default rule, with the shares given, or estimated by the default estimator."""
    rule = RejectionClassifier(random_state=seed, unseen_label="unseen")
    return rule.fit(training.X, training.y, new.X, shares)


def shown_rows(
    new: NewRows,
    rows: IntArray,
    novelty: FloatArray,
    telling: Iterable[str] = (),
    **first: Iterable[str],
) -> Suspects:
    """Some new rows as text, behind columns of our own; ``novelty`` is that of all new rows.

    The columns of ``telling`` that the table has come before its others.
    """
    names = new.table.column_names
    ahead = dict.fromkeys(name for name in telling if name in names)
    table = new.table.take(rows).select([*(ahead | dict.fromkeys(names))])
    cells = [[str(value) for value in column.to_pylist()] for column in table.columns]
    return Suspects(
        columns=(*first, *table.column_names),
        rows=tuple(zip(*first.values(), *cells, strict=True)),
        numbers=tuple((new.positions[rows] + 1).tolist()),
        scores=tuple(novelty[rows].tolist()),
    )


def _by_severity(notices: tuple[Notice, ...]) -> tuple[tuple[Notice, ...], tuple[Notice, ...]]:
    """Warnings, which belong to the estimate, and notes, which belong to the tables."""
    severe = tuple(notice for notice in notices if notice.severity == "warning")
    return severe, tuple(notice for notice in notices if notice.severity == "note")


def _as_in_table(training: Training, seed: int) -> NDArray[Any]:
    """Labelled rows with the classes in the shares of the whole table, as many as there are.

    A large table is sampled with small classes whole. Compared with such a sample, rows in exactly
    the shares of the table would seem to have changed.
    """
    labels, counts = np.unique(training.y, return_counts=True)
    wanted = np.array([training.counts[label] for label in labels.tolist()])
    kept = np.floor(wanted * (counts / wanted).min()).astype(int)
    shuffled = np.random.default_rng(seed).permutation(len(training.y))
    parts = [
        shuffled[training.y[shuffled] == label][:count]
        for label, count in zip(labels, kept, strict=True)
    ]
    return np.sort(np.concatenate(parts))
