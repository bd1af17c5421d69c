"""Every error is one line on the terminal; a traceback only for those who ask."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from unseen._platform import stopping_cleanly
from unseen._wording import verbatim
from unseen.cli.once import check_given_once

__all__ = ["FAILED", "OneLineErrors"]

FAILED = 3  # exit code of a --fail-if that came true
_EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)


class OneLineErrors(click.Group):
    """A group of commands whose errors are one line and exit code 1."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line; a terminal without a letter of the answer gets its number."""
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")
        with stopping_cleanly("Error: stopped; nothing was left half-written."):
            return super().main(*args, **options)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Check the options before the command, then parse them."""
        check_given_once(self, ctx, args)
        return super().parse_args(ctx, args)

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
            raise click.ClickException(as_typed(one_line(error), self._spellings(ctx))) from None

    def _spellings(self, ctx: click.Context) -> dict[str, str]:
        """The options of the command, as they are typed, by the names of their values.

        An option that is spelt as the argument goes first: labels of people before those of TRAIN.
        """
        command = self.commands.get(ctx.invoked_subcommand or "")
        options = command.params if command else []
        spelt = {one.opts[0].lstrip("-").replace("-", "_"): one.opts[0] for one in options}
        return {one.name or "": one.opts[0] for one in options} | spelt


def as_typed(text: str, spellings: dict[str, str]) -> str:
    """A message that begins with the argument of a function, with the option in its place.

    Examples
    --------
    >>> as_typed("by must name columns of new.csv.", {"by": "--by"})
    '--by must name columns of new.csv.'
    """
    name, must, rest = text.partition(" must ")
    return f"{spellings.get(name, name)}{must}{rest}"


def one_line(error: Exception) -> str:
    r"""The text of an error without line breaks; also its kind where it was not foreseen.

    Examples
    --------
    >>> one_line(ValueError("X must be\nfinite."))
    'X must be finite.'
    >>> one_line(KeyError("a"))
    "unforeseen KeyError: 'a'. UNSEEN_TRACEBACK=1 shows where."
    """
    text = verbatim(" ".join(str(error).split()))
    if isinstance(error, _EXPECTED) and text:
        return text
    return f"unforeseen {type(error).__name__}: {text}. UNSEEN_TRACEBACK=1 shows where."
