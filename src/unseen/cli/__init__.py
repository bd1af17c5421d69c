"""The command line: parse, call one function, print.

Everything heavy is imported inside a command, so that ``unseen --help`` answers at once. Exit
codes: 0 fine, 1 an error, 2 wrong usage, 3 a ``--fail-if`` that came true, 130 and 143 stopped by
Ctrl-C and by SIGTERM.
"""

from __future__ import annotations

import click

from unseen._version import __version__
from unseen.cli.classify import classify
from unseen.cli.estimate import estimate, monitor
from unseen.cli.group import CommandGroup
from unseen.cli.look import demo, methods
from unseen.cli.loop_commands import audit, explain, promote
from unseen.cli.trust import compare, diagnose

__all__ = ["main"]


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(__version__, "--version", "-V", prog_name="unseen")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Find the share of each known class in new data, and the share of unseen ones.

    `unseen COMMAND --help` has all options of a command.

    Exit codes: 0 fine, 1 an error, 2 wrong usage, 3 a --fail-if came true.

    Set NO_COLOR for plain text; UNSEEN_TRACEBACK=1 shows where an error arose.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


COMMANDS = (estimate, classify, explain, audit, promote, monitor, compare, diagnose, methods, demo)
for command in COMMANDS:
    main.add_command(command)
