"""The body that ``unseen estimate`` and ``unseen monitor`` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from unseen.cli.errors import FAILED
from unseen.cli.options import command_line, find_method, given_inputs
from unseen.cli.outputs import Outputs
from unseen.cli.progress import shown_progress

if TYPE_CHECKING:
    from unseen.study import Study

__all__ = ["answer"]


def answer(
    given: dict[str, Any],
    outputs: Outputs,
    fails: Callable[[Study], bool],
    *,
    method: str | None,
    confidence: float,
    windows: dict[str, Any] | None,
    n_suspects: int | None = None,
    full: bool = False,
    quiet: bool,
) -> None:
    """Run a study, write its files, show it, and exit with 3 where ``fails`` says so."""
    inputs, estimator = given_inputs(given), find_method(method)
    outputs.check(inputs)
    with shown_progress(quiet) as progress:
        from unseen.study import Windowing, run_study

        study, training = run_study(
            inputs,
            estimator,
            confidence=confidence,
            baselines=outputs.report is not None,
            n_suspects=n_suspects,
            windowing=None if windows is None else Windowing(**windows),
            full=full,
            command=command_line(),
            progress=progress,
        )
    # An unusable condition is an error, and then no file is written.
    failed = fails(study)
    outputs.write(study, training)
    if not quiet and outputs.leaves_screen_free:
        from unseen.cli.screen import show_study

        show_study(study, outputs.files)
    if failed:
        raise click.exceptions.Exit(FAILED)
