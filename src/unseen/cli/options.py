"""Arguments and options that several commands share, and what they stand for."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from unseen.proportions import ProportionEstimator
    from unseen.study import NewRows, Training
    from unseen.tables import Columns, Source

__all__ = [
    "Tables",
    "command_line",
    "confidence_option",
    "find_method",
    "json_option",
    "method_option",
    "output_path",
    "quiet_option",
    "report_option",
    "table_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])

output_path = click.Path(dir_okay=False, path_type=Path)


@dataclass(frozen=True)
class Tables:
    """The two tables that a command was given, not yet read."""

    train: str
    new: str
    label: str | None
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    max_rows: int
    seed: int
    format: str | None

    def __post_init__(self) -> None:
        if self.train == self.new == "-":
            raise click.UsageError("only one of TRAIN and NEW can be standard input.")
        if self.label is None and not self.is_saved:
            raise click.UsageError("--label must name the column of TRAIN with the classes.")
        if self.is_saved and (self.label or self.drop or self.keep):
            raise click.UsageError(
                "--label, --drop and --keep were settled when TRAIN was saved: leave them out."
            )

    @property
    def is_saved(self) -> bool:
        """Whether TRAIN is a file that ``--save`` wrote."""
        return self.train.endswith(".skops")

    def read_training(self, also_drop: tuple[str, ...] = ()) -> Training:
        """Read the labelled table, or load what was saved of it."""
        from unseen.study import load_training, read_training

        if self.is_saved:
            return _without(load_training(Path(self.train)), also_drop)
        assert self.label is not None
        return read_training(
            self._train_source,
            self.label,
            max_rows=self.max_rows,
            drop=self._columns_to_drop(also_drop),
            keep=self.keep,
            seed=self.seed,
        )

    def read_both(
        self, say: Callable[[str], None], windows: tuple[str, ...] = ()
    ) -> tuple[Training, NewRows]:
        """Read both tables, saying so; columns that name windows are not used."""
        say(f"Reading {self.train}")
        training = self.read_training(also_drop=windows)
        say(f"Reading {self.new}")
        return training, self.read_new(training.columns, besides=windows)

    def _columns_to_drop(self, also: tuple[str, ...]) -> tuple[str, ...]:
        """Those of TRAIN; a column that only NEW has is not used anyway."""
        present = self._train_source.columns()
        unknown = [name for name in self.drop if name not in {*present, *self.new_source.columns()}]
        if unknown:
            raise click.UsageError(
                f"--drop must name columns of TRAIN or NEW; neither has {unknown[0]!r}."
            )
        return tuple(name for name in (*self.drop, *also) if name in present)

    @cached_property
    def new_source(self) -> Source:
        """The new table, found and not read; standard input can be taken only once."""
        return self._source(self.new)

    @cached_property
    def _train_source(self) -> Source:
        return self._source(self.train)

    @property
    def files(self) -> set[Path]:
        """All files that are read."""
        saved = {Path(self.train).resolve()} if self.is_saved else set()
        sources = [self.new_source] if self.is_saved else [self._train_source, self.new_source]
        return saved | {part.path.resolve() for source in sources for part in source.parts}

    def read_new(self, columns: Columns, besides: tuple[str, ...] = ()) -> NewRows:
        """Read the new table."""
        from unseen.study import read_new

        return read_new(
            self.new_source, columns, besides=besides, max_rows=self.max_rows, seed=self.seed
        )

    def _source(self, argument: str) -> Source:
        from unseen.tables import Source

        return Source.find(argument, format=self.format)


def _without(training: Training, columns: tuple[str, ...]) -> Training:
    """The same training, if it does not use these columns."""
    used = [name for name in columns if name in training.columns.feature_names_in_]
    if used:
        raise click.UsageError(
            f"the saved TRAIN uses column {used[0]!r}, which names the windows: "
            "save it again with --drop."
        )
    return training


def table_options(command: Command) -> Command:
    """TRAIN and NEW, and how to read them; the command gets one ``tables``."""
    for option in reversed(
        [
            click.argument("train"),
            click.argument("new"),
            click.option("--label", "-y", help="Column of TRAIN with the classes."),
            click.option("--drop", multiple=True, help="Leave out this column; may be repeated."),
            click.option(
                "--keep",
                multiple=True,
                help="Use this column even if it looks like an id or a constant.",
            ),
            click.option(
                "--rows",
                "max_rows",
                type=click.IntRange(min=20),
                default=20_000,
                show_default=True,
                help="Rows used of each table; a larger one is sampled.",
            ),
            click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
            click.option(
                "--format",
                type=click.Choice(["csv", "tsv", "parquet", "feather", "jsonl"]),
                help="Format of both tables [default: by suffix; standard input is csv]",
            ),
        ]
    ):
        command = option(command)
    return command


confidence_option = click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of the intervals.",
)
method_option = click.option(
    "--method", help="Estimator; `unseen methods` lists them [default: OpenSetEstimator]"
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
report_option = click.option(
    "--report", type=output_path, help="Write one self-contained HTML page."
)
json_option = click.option(
    "--json", "json_path", help="Write everything as JSON; - is standard output."
)


def find_method(name: str | None) -> ProportionEstimator | None:
    """The estimator of that name, with its default parameters; upper or lower case."""
    if name is None:
        return None
    from unseen.cli.methods import estimators

    kinds = {kind.__name__.lower(): kind for kind in estimators()}
    if name.lower() not in kinds:
        known = ", ".join(kind.__name__ for kind in kinds.values())
        raise click.UsageError(f"--method must be one of {known}; got {name!r}.")
    return kinds[name.lower()]()


def command_line() -> str:
    """What the user typed, ready to be pasted."""
    return shlex.join(["unseen", *sys.argv[1:]])
