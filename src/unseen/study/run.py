"""The question answered: an estimate with intervals, baselines beside it, and shares over time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

import unseen
from unseen.monitoring import Timeline, monitor
from unseen.proportions import (
    AdjustedCount,
    ClassifyAndCount,
    Comparison,
    MPEIncomplete,
    OpenSetEstimator,
    ProportionEstimator,
    SaerensEM,
    compare,
)
from unseen.records import UnseenWarning
from unseen.study.drift import column_drift
from unseen.study.record import Origin, Study, Suspects
from unseen.study.samples import LEAST_ROWS, NewRows, Training, Windows

__all__ = ["answer", "quiet_warnings", "suspects", "timeline_of", "without_constants"]


def silent(stage: str) -> None:
    """Say nothing about what is being done."""


def answer(
    training: Training,
    new: NewRows,
    estimator: ProportionEstimator | None = None,
    *,
    confidence: float = 0.95,
    baselines: bool = False,
    command: str = "",
    seed: int = 0,
    say: Callable[[str], None] = silent,
) -> Study:
    """Estimate the shares, and gather what a reader of the answer wants to know.

    Parameters
    ----------
    training, new : Training, NewRows
        The rows.
    estimator : proportion estimator or None, default=None
        None is :class:`~unseen.OpenSetEstimator`.
    confidence : float, default=0.95
        Level of the intervals.
    baselines : bool, default=False
        Whether to run other estimators on the same rows.
    command : str
        What the user typed.
    seed : int, default=0
        Seed of all randomness.
    say : callable
        Told what is being done.

    Returns
    -------
    Study
    """
    if len(new.X) < LEAST_ROWS:
        raise ValueError(
            f"{new.name} must have at least {LEAST_ROWS} rows to estimate shares; got {len(new.X)}."
        )
    chosen = OpenSetEstimator() if estimator is None else estimator
    with quiet_warnings():
        say(f"Estimating with {type(chosen).__name__}")
        estimate = unseen.estimate(
            training.X,
            training.y,
            new.X,
            estimator=chosen,
            confidence=confidence,
            random_state=seed,
        )
        found = (*training.warnings, *new.warnings, *_drift(training, new))
        estimate = replace(estimate, warnings=(*found, *without_constants(estimate.warnings)))
        others = None
        if baselines:
            say("Running other estimators for comparison")
            others = _baselines(training, new, type(chosen).__name__, seed)
    return Study(
        estimate,
        training=training.counts,
        n_new=new.n_rows,
        notices=(*training.notices, *new.notices),
        baselines=others,
        origin=Origin(
            command=command,
            files=((training.name, training.sha256), (new.name, new.sha256)),
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            preparation=tuple(training.columns.statement()),
        ),
    )


def timeline_of(
    training: Training,
    windows: Windows,
    estimator: ProportionEstimator | None = None,
    *,
    reference: Any = None,
    confidence: float = 0.95,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Timeline:
    """Shares over windows of time.

    Parameters
    ----------
    training : Training
        The labelled rows.
    windows : Windows
        The new rows.
    estimator, reference, confidence, alpha, progress
        As in :func:`unseen.monitor`.
    seed : int, default=0
        Seed of all randomness.

    Returns
    -------
    Timeline
    """
    whole = slice(None)
    rows = _as_in_table(training, seed) if reference == "training" else whole
    with quiet_warnings():
        timeline = monitor(
            training.X[rows],
            training.y[rows],
            windows.X,
            windows.keys,
            reference=reference,
            estimator=estimator,
            confidence=confidence,
            alpha=alpha,
            random_state=seed,
            progress=progress,
        )
    return replace(timeline, warnings=without_constants(timeline.warnings))


def _as_in_table(training: Training, seed: int) -> NDArray[Any]:
    """Labelled rows with the classes in the shares of the whole table, as many as there are.

    A large table is sampled with small classes whole. Held against such a sample, rows in just
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


@contextmanager
def quiet_warnings() -> Iterator[None]:
    """Leave to the record what it says anyway; a solver's own worries are not the user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def without_constants(messages: Iterable[str]) -> tuple[str, ...]:
    """The messages, but for that on constant columns: these have been named in the notices."""
    return tuple(message for message in messages if "are constant over" not in message)


def suspects(training: Training, new: NewRows, n_rows: int, seed: int = 0) -> Suspects:
    """The new rows that look most unseen, by a rule that did not learn from them.

    Parameters
    ----------
    training, new : Training, NewRows
        The rows.
    n_rows : int
        How many to keep.
    seed : int, default=0
        Seed of all randomness.

    Returns
    -------
    Suspects
    """
    with quiet_warnings():
        rule = unseen.RejectionClassifier(random_state=seed)
        rule.fit(training.X, training.y, new.X)
    novelty = rule.out_of_fold_.novelty[1]
    worst = np.argsort(-novelty, kind="stable")[:n_rows]
    table = new.table.take(worst)
    cells = [[str(value) for value in column.to_pylist()] for column in table.columns]
    return Suspects(
        columns=tuple(table.column_names),
        rows=tuple(zip(*cells, strict=True)),
        numbers=tuple((new.positions[worst] + 1).tolist()),
        scores=tuple(novelty[worst].tolist()),
    )


def _drift(training: Training, new: NewRows) -> tuple[str, ...]:
    found = column_drift(training, new)
    if found:
        advice = "If a column drifted and no class is new, the unseen share is too large: drop it."
        return (*found, advice)
    return ()


def _baselines(training: Training, new: NewRows, chosen: str, seed: int) -> Comparison:
    several = len(training.counts) > 1
    others: list[ProportionEstimator] = [OpenSetEstimator(), MPEIncomplete()]
    if several:
        others += [SaerensEM(), AdjustedCount(), ClassifyAndCount()]
    others = [one for one in others if type(one).__name__ != chosen]
    return compare(training.X, training.y, new.X, others, random_state=seed)
