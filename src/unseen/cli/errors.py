"""Every error is one line on the terminal; a traceback only for those who ask."""

from __future__ import annotations

import os
from typing import Any

import click

__all__ = ["FAILED", "OneLineErrors"]

FAILED = 3  # exit code of a --fail-if that came true
_EXPECTED = (ValueError, TypeError, OSError, ImportError)


class OneLineErrors(click.Group):
    """A group of commands whose errors are one line and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; say what went wrong in one line."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            raise click.ClickException("stopped; nothing was left half-written.") from None
        except Exception as error:
            if os.environ.get("UNSEEN_TRACEBACK"):
                raise
            raise click.ClickException(one_line(error)) from None


def one_line(error: Exception) -> str:
    r"""The text of an error without line breaks; also its kind where it was not foreseen.

    Examples
    --------
    >>> one_line(ValueError("X must be\nfinite."))
    'X must be finite.'
    >>> one_line(KeyError("a"))
    "unforeseen KeyError: 'a'. UNSEEN_TRACEBACK=1 shows where."
    """
    text = " ".join(str(error).split())
    if isinstance(error, _EXPECTED) and text:
        return text
    return f"unforeseen {type(error).__name__}: {text}. UNSEEN_TRACEBACK=1 shows where."
