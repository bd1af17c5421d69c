"""A condition on an estimate, such as ``unseen.low > 0.05`` or ``unseen.must > 0.02``."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from unseen.drift import Drift
    from unseen.records import Estimate

__all__ = [
    "AnyCondition",
    "Condition",
    "MustCondition",
    "VerdictCondition",
    "any_holds",
    "fail_if_option",
    "parse_condition",
]

_SAID_FACTOR = 3.0  # of the sentence on classes that moved
_COMPARISONS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
# Searched from the left, each letter is looked at once or twice: no text takes long.
_LIMIT = re.compile(r"(?P<comparison>>=|<=|>|<)(?P<limit>[^<>=]+)\Z")
_VERDICT = re.compile(
    r"\s*drift\.verdict\s*(?P<comparison>==|!=)\s*(?P<word>still|moved|unclear)\s*"
)
_MUST = re.compile(r"unseen\.must(\((?P<factor>[^()]*)\))?")
_RULE = (
    'must look like "unseen.low > 0.05": unseen or a class, perhaps .low or .high for an end of '
    "its interval, one of > >= < <=, and a share such as 0.05 or 5%; or like "
    '"unseen.must > 0.02" or "unseen.must(5) > 0.02", with a factor of at least 1 in brackets; or '
    'like "drift.verdict == moved", with == or != and still, moved or unclear'
)


@dataclass(frozen=True)
class Condition:
    """A share, or an end of its interval, compared with a limit.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> estimate = Estimate(("cat",), [0.7], 0.3, "m", intervals=[[0.65, 0.75], [0.25, 0.35]],
    ...                     n_labelled={"cat": 80}, n_new=400)
    >>> Condition.parse("unseen.low > 20%").holds(estimate)
    True
    >>> Condition.parse("cat <= 0.5").holds(estimate)
    False
    """

    name: str
    end: str | None
    comparison: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition; click says what is wrong with it."""
        match = _LIMIT.search(text)
        name = text[: match.start()].strip() if match else ""
        if match is None or not name:
            raise click.BadParameter(f"{_RULE}; got {text!r}.")
        limit = _share(match["limit"].strip(), text)
        end = next((end for end in ("low", "high") if name.endswith(f".{end}")), None)
        return cls(name.removesuffix(f".{end}"), end, match["comparison"], limit)

    def holds(self, estimate: Estimate) -> bool:
        """Whether the condition is true of an estimate."""
        return bool(_COMPARISONS[self.comparison](self._value(estimate), self.limit))

    def _value(self, estimate: Estimate) -> float:
        names = [*map(str, estimate.classes), "unseen"]
        name, end = self.name, self.end
        if end is not None and f"{name}.{end}" in names:
            name, end = f"{name}.{end}", None
        if name not in names:
            raise click.UsageError(
                f"--fail-if must name unseen or a known class ({', '.join(names[:-1])}); "
                f"got {name!r}."
            )
        if name == "unseen" and not estimate.sees_unseen:
            raise click.UsageError(
                f"--fail-if asks about unseen, which {estimate.method} cannot see: "
                "choose another --method."
            )
        # Unseen comes last, and a class of that name does not hide it.
        place = len(names) - 1 - names[::-1].index(name)
        if end is not None:
            assert estimate.intervals is not None
            return float(estimate.intervals[place, int(end == "high")])
        return float([*estimate.proportions, estimate.unseen][place])


@dataclass(frozen=True)
class VerdictCondition:
    """The verdict on drift, compared with a word.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> rows = {"n_labelled": {"cat": 80}, "n_new": 400}
    >>> estimate = Estimate(("cat",), [0.7], 0.3, "MPEIncomplete", **rows)
    >>> parse_condition("drift.verdict == moved").holds(estimate)
    Traceback (most recent call last):
    click.exceptions.UsageError: --fail-if asks about drift.verdict, which MPEIncomplete lacks: ...
    """

    comparison: str
    word: str

    def holds(self, estimate: Estimate) -> bool:
        """Whether the condition is true of an estimate."""
        is_so = _drift(estimate, "drift.verdict").verdict == self.word
        return is_so == (self.comparison == "==")


@dataclass(frozen=True)
class MustCondition:
    """The share that must be unseen even if known classes changed by a factor, and a limit.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift import Drift, Tolerance
    >>> from unseen.records import Estimate
    >>> drift = Drift("moved", 0.97, Tolerance(np.array([0.02]), np.array([0.1])), 0.98)
    >>> estimate = Estimate(("cat",), [0.7], 0.3, "m", n_labelled={"cat": 80}, n_new=400,
    ...                     drift=drift)
    >>> [parse_condition(f"unseen.must{factor} > 4%").holds(estimate) for factor in ("", "(5)")]
    [True, False]
    """

    comparison: str
    limit: float
    factor: float

    def holds(self, estimate: Estimate) -> bool:
        """Whether the condition is true of an estimate."""
        share = _drift(estimate, "unseen.must").must(self.factor)
        return bool(_COMPARISONS[self.comparison](share, self.limit))


AnyCondition = Condition | VerdictCondition | MustCondition


def parse_condition(text: str) -> AnyCondition:
    """Read a condition of any kind; click says what is wrong with it."""
    match = _VERDICT.fullmatch(text)
    if match is not None:
        return VerdictCondition(match["comparison"], match["word"])
    found = Condition.parse(text)
    match = _MUST.fullmatch(found.name)
    if match is not None:
        return MustCondition(found.comparison, found.limit, _factor(match["factor"], text))
    return found


def any_holds(conditions: tuple[AnyCondition, ...], estimate: Estimate) -> bool:
    """Whether one of the conditions is true; all are read, so that each can be an error."""
    return True in [condition.holds(estimate) for condition in conditions]


def _drift(estimate: Estimate, asked: str) -> Drift:
    if estimate.drift is None:
        raise click.UsageError(
            f"--fail-if asks about {asked}, which {estimate.method} lacks: choose another --method."
        )
    return estimate.drift


def _factor(text: str | None, whole: str) -> float:
    """The factor in brackets; without any, that of the sentence."""
    try:
        value = _SAID_FACTOR if text is None else float(text)
    except ValueError:
        value = 0.0
    if not value >= 1:
        raise click.BadParameter(f"{_RULE}; got {whole!r}.")
    return value


def _share(text: str, whole: str) -> float:
    number = text.removesuffix("%").strip()
    try:
        if "_" in number:
            raise ValueError("float() would take 1_0, which no one means as a share")
        value = float(number) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise click.BadParameter(f"{_RULE}; got {whole!r}.") from None
    if not 0 <= value <= 1:
        raise click.BadParameter(f"{_RULE}; the share must lie in [0, 1]; got {whole!r}.")
    return value


fail_if_option = click.option(
    "--fail-if",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    callback=lambda ctx, option, texts: tuple(map(parse_condition, texts)),
    help='Exit with 3 when true, such as "unseen.low > 0.05"; may be repeated.',
)
