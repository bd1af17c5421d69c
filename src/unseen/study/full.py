"""A full pass over a table: every row is scored and counted, file by file, on any workers.

Pieces of the table are jobs of joblib: threads by default, and whatever
``joblib.parallel_config`` says, such as the workers of a Dask cluster. Counts are whole numbers
that are added, so that the workers and their number make no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from unseen._frozen import Frozen
from unseen._progress import each
from unseen._team import one_blas_thread
from unseen._types import FloatArray, IntArray
from unseen._wording import count
from unseen.api import chosen_estimator
from unseen.full import FullPass, check_full
from unseen.monitoring import Timeline
from unseen.proportions import OpenSetEstimator, ProportionEstimator
from unseen.records import Estimate
from unseen.scores.counting import Counter
from unseen.study.inputs import Inputs
from unseen.study.rows import FEWEST_ROWS, NewRows, Training, rows_of_file
from unseen.study.sheets import has_marks
from unseen.tables import Columns, GroupBy, Part, Source
from unseen.tables.groups import KeyCodes, natural_order

# Rows whose scores wait to be counted together.
_WAITING = 1 << 18
_MOST_KEYS = 500


@dataclass(frozen=True, eq=False)
class Counted(Frozen):
    """Counts of every row of a table, by key, and the models that scored the rows."""

    full: FullPass
    counts: Mapping[Any, Any]  # in natural order; the key None is that of rows without

    def estimate(self, confidence: float | None = None) -> Estimate:
        """The estimate for all rows."""
        first, *others = self.counts.values()
        return self.full.estimate(sum(others, start=first), confidence=confidence)

    def timeline(self, confidence: float | None = None) -> Timeline:
        """One estimate per key, beside that for all rows; nothing is tested."""
        keyed = {key: counts for key, counts in self.counts.items() if key is not None}
        made = {
            key: self.full.estimate(counts, confidence=confidence)
            for key, counts in keyed.items()
            if counts.n_rows >= FEWEST_ROWS
        }
        if not made:
            most = max((int(counts.n_rows) for counts in keyed.values()), default=0)
            raise ValueError(
                f"by must make a window of {FEWEST_ROWS} rows or more; got none of {len(keyed)}, "
                f"the largest of {count(most)}."
            )
        untested = np.full(len(made), np.nan)
        return Timeline(
            tuple(made),
            tuple(made.values()),
            np.ones(len(made), dtype=bool),
            self.estimate(confidence),
            untested,
            untested,
            skipped=tuple(
                (key, int(counts.n_rows)) for key, counts in keyed.items() if key not in made
            ),
            n_missing=int(self.counts[None].n_rows) if None in self.counts else 0,
        )


def check_full_inputs(inputs: Inputs, estimator: ProportionEstimator) -> None:
    """Raise where a full pass cannot answer, before anything is read."""
    if isinstance(estimator, OpenSetEstimator):
        raise ValueError(
            "--full needs --method MPEIncomplete, MPEProjected or SaerensEM: OpenSetEstimator "
            "weighs what the rows may be, for which drawn rows are enough."
        )
    check_full(estimator)
    if inputs.group is not None or inputs.control is not None:
        raise ValueError("--full counts rows one by one: leave out --group and --control.")
    if not inputs.is_saved and has_marks(inputs.train_source):
        raise ValueError("--full counts all rows: leave out the rows of NEW that were promoted.")


def count_table(
    estimator: ProportionEstimator,
    training: Training,
    new: NewRows,
    source: Source,
    by: GroupBy | None = None,
    seed: int = 0,
) -> Counted:
    """Fit models to the ``new`` rows that were drawn, then score and count every row of ``source``.

    ``estimator`` is one that :func:`unseen.full.check_full` takes. The rows of each key are counted
    by themselves where ``by`` says what their key is; there may be at most 500 keys.
    """
    if by is not None:
        by.check(source.columns(), source.name)
    chosen = chosen_estimator(estimator, seed).fit(training.named(training.X), training.y)
    full = FullPass.fit(chosen, training.named(new.X))
    needed = training.columns.looked_at(source.columns())
    given = full.counter.without_drawn(), training.columns, needed, by
    pieces = source.pieces()
    total: dict[Any, Any] = {}
    with one_blas_thread():
        counted = Parallel(prefer="threads", return_as="generator_unordered")(
            delayed(_count_piece)(piece, *given) for piece in pieces
        )
        for part in each(counted, len(pieces)):
            for key, counts in part.items():
                total[key] = total[key] + counts if key in total else counts
            if by is not None and len(total) > _MOST_KEYS + 1:
                rule = f"by {by.column!r} must have at most {_MOST_KEYS} distinct values"
                raise ValueError(f"{rule}; got {len(total)}.")
    ordered = natural_order(key for key in total if key is not None)
    return Counted(full, {key: total[key] for key in (*ordered, None) if key in total})


def _count_piece(
    piece: Part, counter: Counter, columns: Columns, needed: list[str], by: GroupBy | None
) -> dict[Any, Any]:
    """Counts of one piece of a table, by key; all rows have the key None without ``by``."""
    found: dict[Any, Any] = {}
    with one_blas_thread():
        for scores, keys, names in _scored(piece, counter, columns, needed, by):
            order = np.argsort(keys, kind="stable")
            numbers, begins = np.unique(keys[order], return_index=True)
            parts = np.split(scores[order], begins[1:]) if by else [scores]
            for number, part in zip(numbers, parts, strict=True):
                counts, key = counter.count(part), names[number]
                found[key] = found[key] + counts if key in found else counts
    return found


def _scored(
    piece: Part, counter: Counter, columns: Columns, needed: list[str], by: GroupBy | None
) -> Iterator[tuple[FloatArray, IntArray, list[Any]]]:
    """Scores of rows, numbers of their keys, and the keys, where the last one is None."""
    wanted = list(dict.fromkeys([*needed, *([by.column] if by else [])]))
    codes = KeyCodes(f"by {by.column!r}" if by else "by", _MOST_KEYS, "Name another column.")
    scores: list[FloatArray] = []
    keys: list[IntArray] = []
    first = piece.first
    for batch in piece.batches(wanted):
        with rows_of_file(np.arange(first, first + batch.num_rows), piece.name):
            rows = columns.transform(batch.select(needed))
        first += batch.num_rows
        scores.append(counter.score(rows))
        none = np.full(batch.num_rows, -1)
        keys.append(none if by is None else codes.encode(by.keys(batch.column(by.column))))
        if sum(map(len, scores)) >= _WAITING:
            yield np.concatenate(scores), np.concatenate(keys), [*codes.known, None]
            scores, keys = [], []
    if scores:
        yield np.concatenate(scores), np.concatenate(keys), [*codes.known, None]
