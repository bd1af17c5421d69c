"""The two tables of a question as a user names them, and how they are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unseen._progress import stage
from unseen.persist import load
from unseen.samples.draws import MAX_ROWS
from unseen.study.rows import (
    FEWEST_ROWS,
    NewRows,
    Training,
    read_new,
    read_training,
)
from unseen.study.sheets import MARKS, has_marks, without_promoted
from unseen.tables import (
    Columns,
    GroupBy,
    ScoreColumns,
    Source,
    WithLabels,
    check_names,
    read_sample,
)
from unseen.tables._arrow import release_unused
from unseen.tables.embeddings import TextEncoding
from unseen.tables.gaps import Gaps
from unseen.tables.source import LABEL

# What a saved TRAIN has been told.
_OF_COLUMNS = ("keep", "features", "unit_rows", "text")
_OF_BOTH = ("missing", "decimal")
_SETTLED = ("label", "labels", "drop", *_OF_COLUMNS, *_OF_BOTH, "scores", "novelty")


@dataclass(frozen=True)
class Windowing:
    """Windows of time to estimate for, and what they are compared with."""

    by: str  # column of NEW with the window; ``column:unit`` cuts dates
    reference: tuple[str, ...] = ()  # windows, or "training"; empty is the first window
    alpha: float = 0.05  # probability of a false alarm, over all windows together
    over_time: bool = False  # whether the windows are the question, not an addition to the answer

    @property
    def groups(self) -> GroupBy:
        """How the rows are grouped."""
        return GroupBy.parse(self.by)


@dataclass(frozen=True)
class Inputs:
    """TRAIN and NEW, found and not yet read; arguments that contradict each other are an error.

    Each is a file, a pattern, a folder, or ``-`` for standard input; TRAIN also a saved ``.skops``,
    which has its label. Options are those of :class:`unseen.tables.Columns`,
    :class:`unseen.tables.ScoreColumns` and :meth:`unseen.tables.Source.find`.
    """

    train: str
    new: str
    label: str | None = None  # column of TRAIN with the classes
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    max_rows: int = MAX_ROWS  # used of each table
    seed: int = 0  # of all randomness
    format: str | None = None
    control: str | None = None  # rows of the same place as NEW, believed to hold no new class
    labels: str | None = None  # file with the labels of TRAIN, where these lie apart
    features: tuple[str, ...] = ()
    unit_rows: bool = False
    missing: tuple[str, ...] = ()
    decimal: str | None = None
    text: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    novelty: str | None = None
    separator: str | None = None
    encoding: str | None = None
    group: str | None = None  # column of TRAIN, perhaps of NEW: person, site or batch of a row

    def __post_init__(self) -> None:
        if [self.train, self.new, self.control].count("-") > 1:
            raise ValueError("only one of TRAIN, NEW and --control can be standard input.")
        given = {name: f"--{name.replace('_', '-')}" for name in _SETTLED if getattr(self, name)}
        if self.is_saved and given:
            options = " and ".join(given.values())
            raise ValueError(f"leave out {options}: that was settled when TRAIN was saved.")
        if self.label is None and self.labels is None and not self.is_saved:
            raise ValueError(
                "--label must name the column of TRAIN with the classes, or --labels a file."
            )
        if self.label is not None and self.labels is not None:
            raise ValueError("give one of --label, a column, and --labels, a file.")
        barred = [given[name] for name in ("drop", *_OF_COLUMNS) if name in given]
        if self.scores and barred:
            raise ValueError(f"--scores are the only columns: leave out {barred[0]}.")
        is_of_cells = self.train.lower().endswith(".h5ad") or self.format == "h5ad"
        if is_of_cells and not any("obsm/" in name for name in self.features):
            raise ValueError(
                "--features must name an embedding of the cells, such as obsm/X_pca: counts of "
                "genes and annotations are no features."
            )
        if self.novelty and not self.scores:
            raise ValueError("--novelty is a score beside --scores: give these.")

    def writes_cells(self, out: Path) -> bool:
        """Whether labelled rows go into a copy of NEW, a file of single cells."""
        if out.suffix.lower() != ".h5ad" or not self.new.lower().endswith(".h5ad"):
            return False
        if len(self.new_source.parts) > 1:
            raise ValueError(f"{out} is to be a copy of NEW, which must be one file; got several.")
        return True

    @property
    def is_saved(self) -> bool:
        """Whether TRAIN is a file that ``--save`` wrote."""
        return self.train.endswith(".skops")

    @cached_property
    def saved(self) -> Any:
        """The object in the saved file."""
        return load(Path(self.train))

    @cached_property
    def train_source(self) -> Source:
        """The labelled table, found and not read."""
        rows = self._find(self.train)
        # Labels may be of another format: their suffix says which.
        return rows if self.labels is None else WithLabels(rows, Source.find(self.labels))

    @cached_property
    def new_source(self) -> Source:
        """The new table, found and not read; standard input can be taken only once."""
        return self._find(self.new)

    def _find(self, table: str) -> Source:
        return Source.find(
            table, format=self.format, separator=self.separator, encoding=self.encoding
        )

    @cached_property
    def control_source(self) -> Source | None:
        """The table of the control, found and not read; None where there is none."""
        return None if self.control is None else self._find(self.control)

    @property
    def files(self) -> set[Path]:
        """All files that are read."""
        sources = [self.new_source, *filter(None, [self.control_source])]
        sources += [] if self.is_saved else [self.train_source]
        paths = [part.path for source in sources for part in source.parts]
        return {path.resolve() for path in (*paths, *([Path(self.train)] * self.is_saved))}

    def read(
        self, windows: tuple[str, ...] = (), *, whole: bool = False, full: bool = False
    ) -> tuple[Training, NewRows]:
        """Read both tables; columns that name windows are not used.

        Columns of NEW that are not used are read only where the ``whole`` rows are to be shown.
        Each table takes over gaps that the other has more often, but NEW none if every row counts.
        """
        windows += () if self.group is None else (self.group,)
        stage(f"Reading {self.train}")
        training = self._load_training(windows) if self.is_saved else self._read_training(windows)
        release_unused()
        stage(f"Reading {self.new}")
        is_marked = not self.is_saved and has_marks(self.train_source)
        new = self.read_new(training.columns, windows, whole=whole or is_marked)
        if is_marked:
            new = without_promoted(new, self.train_source, self.label or LABEL)
        release_unused()
        if len(new.X) < FEWEST_ROWS:
            raise ValueError(
                f"{new.name} must have at least {FEWEST_ROWS} rows to estimate shares; "
                f"got {len(new.X)}."
            )
        if new.gaps is None:
            return training, new
        sharing = Gaps(training.columns, training.X, self.seed)
        X_new = sharing.shared_with(new.X, new.gaps, both=not full)
        if not sharing.taken:
            return training, new
        training = replace(training, X=sharing.X, given=training.X, gaps=sharing.gaps)
        notices = (*new.notices, *sharing.notices)
        return training, replace(new, X=X_new, given=new.X, notices=notices)

    def read_new(
        self, columns: Columns, windows: tuple[str, ...] = (), *, whole: bool = False
    ) -> NewRows:
        """Read the new table, with the columns of training."""
        limits = self.max_rows, self.seed
        return read_new(
            self.new_source, columns, *limits, besides=windows, group=self.group, whole=whole
        )

    def read_control(self, training: Training) -> NewRows | None:
        """Read the table of the control, with the columns of training; None without one."""
        columns = training.columns
        if self.control_source is None:
            return None
        try:
            control = read_new(self.control_source, columns, self.max_rows, self.seed)
        except ValueError as error:
            raise ValueError(f"--control is read as NEW is: {error}") from error
        if training.gaps is None or control.gaps is None:
            return control
        sharing = Gaps(columns, training.X, self.seed, training.gaps)
        return replace(control, X=sharing.taken_over_by(control.X, control.gaps))

    def _read_training(self, windows: tuple[str, ...]) -> Training:
        present = self.train_source.columns()
        if self.label is not None:
            check_names("--label", [self.label], present, self.train_source.name)
        if self.group is not None:
            check_names("--group", [self.group], present, self.train_source.name)
        check_names("--keep", self.keep, present, "TRAIN")
        # A column that only NEW has is not used anyway, but may be named.
        either = [*present, *self.new_source.columns()] if self.drop else []
        check_names("--drop", self.drop, either, "either table")
        label = self.label or LABEL
        both = {name: getattr(self, name) for name in _OF_BOTH}
        if self.scores:
            columns: Columns = ScoreColumns(self.scores, self.novelty, label=label, **both)
        else:
            left_out = (*self.drop, *windows, *MARKS)
            drop = tuple(name for name in left_out if name in present)
            own = {name: getattr(self, name) for name in _OF_COLUMNS}
            columns = Columns(label=label, drop=drop, **own, **both)
        beside = None
        if self.text:
            names = tuple(dict.fromkeys(self.text))
            check_names("--text", names, self.new_source.columns(), self.new)
            drawn = read_sample(self.new_source, self.max_rows, seed=self.seed, columns=names)
            beside = drawn.table
        limits = self.max_rows, self.seed
        return read_training(self.train_source, columns, *limits, group=self.group, beside=beside)

    def _load_training(self, windows: tuple[str, ...]) -> Training:
        if not isinstance(self.saved, Training):
            raise ValueError(
                f"TRAIN must be a table, or what estimate --save wrote; {self.train} holds a "
                f"{type(self.saved).__name__}."
            )
        if self.group is not None and self.saved.groups is None:
            raise ValueError(f"the saved TRAIN has no groups: save it with --group {self.group}.")
        if any(isinstance(one, TextEncoding) for one in self.saved.columns.encodings_):
            raise ValueError(
                "the saved TRAIN reads text, whose words are learnt from both tables: give the "
                "labelled table itself, with --text."
            )
        used = [name for name in windows if name in self.saved.columns.feature_names_in_]
        if used:
            raise ValueError(
                f"the saved TRAIN uses column {used[0]!r}, which names the windows: "
                "save it again with --drop."
            )
        return self.saved
