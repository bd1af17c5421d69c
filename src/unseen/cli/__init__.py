"""The command line: parse, call one function, print.

One file per command. Everything heavy is imported inside a command, so that ``unseen --help``
answers at once. Exit codes: 0 fine, 1 an error, 2 wrong usage, 3 a ``--fail-if`` that came true,
130 and 143 stopped by Ctrl-C and by SIGTERM.
"""

from __future__ import annotations

import click

from unseen._version import __version__
from unseen.cli.classify import classify
from unseen.cli.compare import compare
from unseen.cli.demo import demo
from unseen.cli.diagnose import diagnose
from unseen.cli.errors import OneLineErrors
from unseen.cli.estimate import estimate
from unseen.cli.loop_commands import audit, explain, promote
from unseen.cli.methods import methods
from unseen.cli.monitor import monitor

__all__ = ["main"]


@click.group(cls=OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", "-V", prog_name="unseen")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=None,
    help="Cores to use; all of them when left out. The answer does not depend on it.",
)
def main(jobs: int | None) -> None:
    """Find the share of each known class in new data, and the share of unseen ones.

    \b
    Exit codes: 0 fine, 1 an error, 2 wrong usage, 3 a --fail-if came true.
    Set NO_COLOR for plain text; UNSEEN_TRACEBACK=1 shows where an error arose.
    """


COMMANDS = (estimate, classify, explain, audit, promote, monitor, compare, diagnose, methods, demo)
for command in COMMANDS:
    main.add_command(command)
