"""The work behind ``estimate`` and ``monitor``, with signs of life."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unseen.cli.options import Tables, command_line
from unseen.cli.progress import progress_bar, stages

if TYPE_CHECKING:
    from unseen.proportions import ProportionEstimator
    from unseen.study import Study, Training

__all__ = ["Question", "Windowing"]


@dataclass(frozen=True)
class Windowing:
    """Windows of time to estimate for, and what they are held against."""

    by: str
    reference: tuple[str, ...] = ()
    alpha: float = 0.05

    @property
    def named_reference(self) -> str | tuple[str, ...] | None:
        """As :func:`unseen.monitor` takes it."""
        return self.reference[0] if len(self.reference) == 1 else self.reference or None


@dataclass(frozen=True)
class Question:
    """What a user wants to know of two tables."""

    tables: Tables
    estimator: ProportionEstimator | None
    confidence: float
    baselines: bool = False
    show_rows: int | None = None
    windowing: Windowing | None = None

    def ask(self, quiet: bool) -> tuple[Study, Training]:
        """Read, estimate, and gather the record."""
        study, training = self._asked_of_all(quiet)
        if self.windowing is not None:
            study = self._with_timeline(study, training, self.windowing, quiet)
        return study, training

    def _asked_of_all(self, quiet: bool) -> tuple[Study, Training]:
        with stages(quiet) as say:
            say("Loading")
            from unseen.study import answer, suspects

            training, new = self.tables.read_both(say, self._window_column())
            study = answer(
                training,
                new,
                self.estimator,
                confidence=self.confidence,
                baselines=self.baselines,
                command=command_line(),
                seed=self.tables.seed,
                say=say,
            )
            if self.show_rows is not None:
                say("Looking for the rows that look most unseen")
                found = suspects(training, new, self.show_rows, self.tables.seed)
                study = replace(study, suspects=found)
        return study, training

    def _with_timeline(
        self, study: Study, training: Training, windowing: Windowing, quiet: bool
    ) -> Study:
        from unseen.study import read_windows, timeline_of
        from unseen.tables import GroupBy

        by, seed = GroupBy.parse(windowing.by), self.tables.seed
        windows = read_windows(self.tables.new_source, by, training.columns, seed=seed)
        with progress_bar(f"Windows of {by.column}", quiet) as progress:
            timeline = timeline_of(
                training,
                windows,
                self.estimator,
                reference=windowing.named_reference,
                confidence=self.confidence,
                alpha=windowing.alpha,
                seed=seed,
                progress=progress,
            )
        return replace(study, timeline=timeline, notices=(*study.notices, *windows.notices))

    def _window_column(self) -> tuple[str, ...]:
        from unseen.tables import GroupBy

        # When a row came does not say what it is.
        return () if self.windowing is None else (GroupBy.parse(self.windowing.by).column,)
