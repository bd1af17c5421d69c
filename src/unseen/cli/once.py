"""An option that takes one value is given once, or with the same value each time."""

from __future__ import annotations

from copy import copy

import click

__all__ = ["OnceCommand", "check_given_once"]


class OnceCommand(click.Command):
    """A command that does not take the last of two values without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Check the options, then parse them."""
        check_given_once(self, ctx, args)
        return super().parse_args(ctx, args)


def check_given_once(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Raise where an option has two values and takes one."""
    if ctx.resilient_parsing:  # a shell completes a word
        return
    repeatable = copy(command)
    repeatable.params = [copy(one) for one in command.params]
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
