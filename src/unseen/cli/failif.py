"""A condition on an estimate, such as ``unseen.low > 0.05`` or ``unseen.must > 0.02``."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from unseen.records import Estimate

_SAID_FACTOR = 3.0  # of the sentence on classes that moved
_COMPARISONS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
# Searched from the left, each letter is looked at once or twice: no text takes long.
_LIMIT = re.compile(r"(?P<comparison>>=|<=|>|<)(?P<limit>[^<>=]+)\Z")
_VERDICT = re.compile(
    r"\s*drift\.verdict\s*(?P<comparison>==|!=)\s*(?P<word>still|moved|unclear)\s*"
)
_MUST = re.compile(r"unseen\.must(\((?P<factor>[^()]*)\))?")
_RULE = (
    'must look like "unseen.low > 0.05" (or a class, .high, and >= < <=), "unseen.must(5) > 2%" '
    '(a factor of at least 1) or "drift.verdict == moved" (or !=, and still or unclear)'
)


@dataclass(frozen=True)
class Condition:
    """A share or the verdict on drift, compared with a limit.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> estimate = Estimate(("cat",), [0.7], 0.3, "m", intervals=[[0.65, 0.75], [0.25, 0.35]],
    ...                     n_labelled={"cat": 80}, n_new=400)
    >>> Condition.parse("unseen.low > 20%").holds(estimate)
    True
    """

    name: str  # a class, unseen, or an end of an interval, such as unseen.low
    comparison: str
    limit: float | str  # a share, or a verdict on drift
    factor: float | None = None  # given, the share that must be unseen if classes changed so much

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition of any kind; click says what is wrong with it."""
        verdict, match = _VERDICT.fullmatch(text), _LIMIT.search(text)
        if verdict is not None:
            return cls("drift.verdict", verdict["comparison"], verdict["word"])
        wrong = click.BadParameter(f"{_RULE}; got {text!r}.")
        if match is None or not (name := text[: match.start()].strip()):
            raise wrong
        limit, must, factor = match["limit"].strip(), _MUST.fullmatch(name), None
        number = limit.removesuffix("%")
        try:
            if "_" in number:
                raise ValueError("float() would take 1_0, which no one means as a share")
            share = float(number) / (100 if limit.endswith("%") else 1)
            if not 0 <= share <= 1:
                raise click.BadParameter(f"{_RULE}; the share must lie in [0, 1]; got {text!r}.")
            if must is not None:
                factor = _SAID_FACTOR if must["factor"] is None else float(must["factor"])
        except ValueError:
            raise wrong from None
        if factor is not None and not factor >= 1:
            raise wrong
        return cls(name, match["comparison"], share, factor)

    def holds(self, estimate: Estimate) -> bool:
        """Whether the condition is true of an estimate."""
        value: float | str
        if self.factor is None and not isinstance(self.limit, str):
            value = self._share(estimate)
        elif estimate.drift is None:
            asked = "drift.verdict" if self.factor is None else "unseen.must"
            raise click.UsageError(
                f"--fail-if asks about {asked}, which {estimate.method} lacks: choose another "
                "--method."
            )
        else:
            drift = estimate.drift
            value = drift.verdict if self.factor is None else drift.must(self.factor)
        return bool(_COMPARISONS[self.comparison](value, self.limit))

    def _share(self, estimate: Estimate) -> float:
        names = [*map(str, estimate.classes), "unseen"]
        name, _, end = self.name.rpartition(".")
        if end not in ("low", "high") or self.name in names:
            name, end = self.name, ""
        if name not in names:
            close = get_close_matches(name, names, n=1)
            raise click.UsageError(
                f"--fail-if must name unseen or a known class ({', '.join(names[:-1])}); "
                f"got {name!r}.{f' Did you mean {close[0]!r}?' if close else ''}"
            )
        if name == "unseen" and not estimate.sees_unseen:
            raise click.UsageError(
                f"--fail-if asks about unseen, which {estimate.method} cannot see: "
                "choose another --method."
            )
        # Unseen comes last, and a class of that name does not hide it.
        place = len(names) - 1 - names[::-1].index(name)
        if end:
            assert estimate.intervals is not None
            return float(estimate.intervals[place, int(end == "high")])
        return float([*estimate.proportions, estimate.unseen][place])


def any_holds(conditions: tuple[Condition, ...], estimate: Estimate) -> bool:
    """Whether one of the conditions is true; all are read, so that each can be an error."""
    return True in [condition.holds(estimate) for condition in conditions]


fail_if_option = click.option(
    "--fail-if",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    callback=lambda ctx, option, texts: tuple(map(Condition.parse, texts)),
    help='Exit with 3 when true, such as "unseen.low > 0.05"; may be repeated.',
)
