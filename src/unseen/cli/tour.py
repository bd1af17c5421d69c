"""``unseen`` alone: the commands by task, each with an example."""

from __future__ import annotations

import click

from unseen.cli.errors import OneLineErrors

__all__ = ["Tour"]

# Task; then command, what it does, example.
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


def example(name: str, rest: str | None) -> str:
    """A command line to try; None is a command without tables.

    Examples
    --------
    >>> example("estimate", "--report new.html")
    'unseen estimate train.csv new.csv --label kind --report new.html'
    >>> example("demo", None)
    'unseen demo'
    """
    tables = [] if rest is None else ["train.csv", "new.csv", "--label kind", rest]
    return " ".join(["unseen", name, *filter(None, tables)])


class Tour(OneLineErrors):
    """A group whose help, which is shown without a command too, has the commands by task."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Commands come before the options: most people look for these."""
        for task, *commands in _TASKS:
            with formatter.section(task):
                for name, text, rest in commands:
                    formatter.write_dl([(name.ljust(_NAME_WIDTH), text)])
                    formatter.write(f"    {example(name, rest)}\n")
        click.Command.format_options(self, ctx, formatter)
