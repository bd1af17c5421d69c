"""The group of commands: help by task, errors in one line, options given once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from types import FrameType
from typing import Any, NoReturn

import click

from unseen._wording import verbatim

# Windows knows the first two.
_STOPS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)
# Task; then command, what it does, the end of an example; None for a command without tables.
_TASKS = (
    (
        "What share is new",
        ("estimate", "Shares of the known classes and of unseen ones.", "--report new.html"),
        ("classify", 'A label for every row, "unseen" among them.', "-o labelled.csv"),
    ),
    (
        "What is new, and whether the share is right",
        ("explain", "What the unseen rows are; a sheet of rows to label.", "--sheet sheet.csv"),
        ("audit", "Shares corrected by labels that people gave.", "--labels sheet.csv"),
        ("promote", "Named rows become a known class.", "--labels sheet.csv -o next.csv"),
    ),
    (
        "Over time",
        ("monitor", "Shares over windows of time, with tests.", "--by date:week"),
    ),
    (
        "How far to trust the answer",
        ("compare", "Every method side by side.", ""),
        ("diagnose", "Checks of what an estimate assumes.", ""),
    ),
    (
        "Look around",
        ("demo", "Digits, three of which training never saw.", None),
        ("methods", "The names that --method takes.", None),
    ),
)
_NAME_WIDTH = max(len(name) for _, *commands in _TASKS for name, *_ in commands)


class OnceCommand(click.Command):
    """A command that does not take the last of two values without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options; raise where one has two values and takes one."""
        if ctx.resilient_parsing:  # a shell completes a word
            return super().parse_args(ctx, args)
        repeatable = copy(self)
        repeatable.params = [copy(one) for one in self.params]
        single = [
            one for one in repeatable.params if isinstance(one, click.Option) and not one.multiple
        ]
        for one in single:
            one.multiple = True
        given, _, _ = repeatable.make_parser(ctx).parse_args(args=list(args))
        for one in single:
            values = dict.fromkeys(given.get(one.name, ()))
            if len(values) > 1:
                got = " and ".join(map(repr, values))
                raise click.UsageError(f"{one.opts[0]} must be given once; got {got}.", ctx)
        return super().parse_args(ctx, args)


class CommandGroup(click.Group):
    """Commands by task; their errors are one line and exit code 1."""

    command_class = OnceCommand

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line; a terminal without a letter of the answer gets its number."""
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")
        with stopping_cleanly("Error: stopped; nothing was left half-written."):
            return super().main(*args, **options)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Commands come before the options: most people look for these."""
        for task, *commands in _TASKS:
            with formatter.section(task):
                for name, text, rest in commands:
                    tables = "" if rest is None else f"train.csv new.csv --label kind {rest}"
                    formatter.write_dl([(name.ljust(_NAME_WIDTH), text)])
                    formatter.write(f"    unseen {name} {tables}".rstrip() + "\n")
        click.Command.format_options(self, ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; say what went wrong in one line."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except click.ClickException as error:
            # A message may quote labels and file names, and these a terminal's commands.
            vars(error)["message"] = verbatim(error.message)
            raise
        except Exception as error:
            if os.environ.get("UNSEEN_TRACEBACK"):
                raise
            # The option takes the place of the argument that a message begins with. One that is
            # spelt as the argument goes first: labels of people before those of TRAIN.
            command = self.commands.get(ctx.invoked_subcommand or "")
            options = command.params if command else []
            spelt = {one.name or "": one.opts[0] for one in options}
            spelt |= {one.opts[0].lstrip("-").replace("-", "_"): one.opts[0] for one in options}
            if "group" in spelt:
                spelt |= {"groups": "--group", "groups_new": "--group, in NEW,"}
            name, must, rest = one_line(error).partition(" must ")
            raise click.ClickException(f"{spelt.get(name, name)}{must}{rest}") from None


def one_line(error: Exception) -> str:
    """The text of an error without line breaks; also its kind where it was not foreseen."""
    text = verbatim(" ".join(str(error).split()))
    if isinstance(error, _EXPECTED) and text:
        return text
    return f"unforeseen {type(error).__name__}: {text}. UNSEEN_TRACEBACK=1 shows where."


@contextmanager
def stopping_cleanly(message: str) -> Iterator[None]:
    """End a command that is told to stop as if by an error: what it has begun to write goes.

    The exit code is 128 and the number of the signal, as a shell has it: 130 after Ctrl-C. A
    signal that the process was started to ignore, as under ``nohup``, stays ignored.
    """
    stopped: int | None = None

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        nonlocal stopped
        stopped = number
        for each in before:
            signal.signal(each, signal.SIG_IGN)  # once is enough, and cleaning up takes a moment
        os.write(2, f"\n{message}\n".encode())
        raise SystemExit(128 + number)

    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in _STOPS}
        before = {each: how for each, how in found.items() if how not in (signal.SIG_IGN, None)}
    for each in before:
        signal.signal(each, stop)
    try:
        yield
    except BaseException:
        # A module that is stopped while it loads says that it could not be imported.
        if stopped is not None:
            raise SystemExit(128 + stopped) from None
        raise
    finally:
        for each, how in before.items():
            signal.signal(each, how)
