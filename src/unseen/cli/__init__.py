"""The command line: parse, call one function, print.

Everything heavy is imported inside a command, so that ``unseen --help`` answers at once. Exit
codes: 0 fine, 1 an error, 2 wrong usage, 3 a ``--fail-if`` that came true, 130 and 143 stopped by
Ctrl-C and by SIGTERM.
"""

from unseen.cli.commands import main

__all__ = ["main"]
