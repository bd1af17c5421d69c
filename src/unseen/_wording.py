"""How numbers, names, lists and small tables read as text, everywhere in the library.

Names come from the data. Here they lose what would confuse the eye: line breaks, control
characters, marks that turn the direction of the text after them, and the middle of a long name.
Escaping for HTML or for a terminal is the work of whoever writes there.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

LONGEST_NAME = 60
LONGEST_SENTENCE = 300
# A share below this reads as none, and so does a smaller difference of two shares.
NO_SHARE = 0.0005
# In place of an unseen share: known classes moved too far, or the method assumes that none is.
CANNOT_TELL, NOT_SEEN = "cannot tell", "-"
# Above this probability of anything unseen, or this upper end, "no sign" would be too much said.
_SIGN, _MUCH = 0.2, 0.25
_NEVER_SEEN = "come from classes that training never saw"
_UNLIKE = "look unlike training"
_WHY_UNLIKE = (
    " They are of new classes, or columns have changed: some hold values that training lacks."
)
_MOST_LISTED = 5
# Marks of direction and their ends; a name with letters of both directions needs none of them.
_TURNS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NOT_IN_XML = frozenset("\ufffe\uffff")
_LIKELIHOODS = (
    (0.99, "almost certain"),
    (0.95, "very likely"),
    (2 / 3, "likely"),
    (1 / 3, "an open question"),
    (0.05, "unlikely"),
    (0.0, "very unlikely"),
)


def share(value: float) -> str:
    """A share in per cent, with one digit after the point so that a column lines up: 30.0%."""
    return f"{value + 0.0:.1%}"  # -0.0 + 0.0 is 0.0


def short_share(value: float) -> str:
    """A share as people say it, rounded as in a table, without a last 0: 31.6%, 30%."""
    return "0%" if abs(value) < NO_SHARE else share(value).replace(".0%", "%")


def interval(lower: float, upper: float) -> str:
    """Both ends of an interval of a share: 25.0% to 35.2%."""
    return f"{share(lower)} to {share(upper)}"


def unseen_share(estimate: Any) -> str:
    """The unseen share of an estimate in a table; a dash where the method cannot see it."""
    if not estimate.sees_unseen:
        return NOT_SEEN
    return CANNOT_TELL if estimate.has_moved_far else share(estimate.unseen)


def unseen_interval(estimate: Any) -> str:
    """The interval beside :func:`unseen_share`; nothing for an estimate without intervals."""
    if estimate.intervals is None:
        return ""
    return interval(*estimate.intervals[-1]) if estimate.sees_unseen else NOT_SEEN


def interval_name(confidence: float | None) -> str:
    """An interval, with its level where one is known: 95% interval."""
    return "interval" if confidence is None else f"{100 * confidence:g}% interval"


def unseen_sentence(
    unseen: float,
    ends: Sequence[float] | None,
    probability: float | None = None,
    limit: float | None = None,
    is_out_of_range: bool = False,
) -> str:
    """The answer about unseen classes, by the probability that there are any and by the interval.

    ``ends`` is the interval of the unseen share, ``probability`` that anything is unseen, ``limit``
    the share that would have been found. In a column that ``is_out_of_range`` most new rows have
    values that training lacks, or many a new category: a changed unit or spelling does that, and
    the answer does not name new classes.

    >>> unseen_sentence(0.0, (0.0, 0.07), 0.04, 0.13)  # doctest: +NORMALIZE_WHITESPACE
    'No sign of new classes: at most 7%; a class as different as yours are from each other would
    have been found 4 times in 5 from 13% on, and less often below.'
    >>> unseen_sentence(0.0, (0.0, 0.42), 0.3)
    'Cannot tell: between 0% and 42% of the new rows are of new classes.'
    """
    if unseen < NO_SHARE:
        return _no_unseen_sentence(ends, probability or 0.0, limit)
    rows, (what, why) = f"{short_share(unseen)} of the new rows", (_NEVER_SEEN, "")
    if is_out_of_range:
        what, why = _UNLIKE, _WHY_UNLIKE
    if ends is None:
        return f"About {rows} {what}.{why}"
    lower, upper = map(short_share, ends)
    if ends[0] < NO_SHARE:
        return f"Perhaps {rows} {what}; any share from none to {upper} is possible.{why}"
    return f"About {rows} ({lower} to {upper}) {what}.{why}"


def disagreement(estimate: Any, others: Mapping[str, Any]) -> str:
    """Other methods that put the unseen share outside the interval of an estimate; or nothing."""
    if estimate.intervals is None or not estimate.sees_unseen:
        return ""
    low, high = estimate.intervals[-1]
    apart = [
        f"{shown(name)} says {share(one.unseen)}"
        for name, one in others.items()
        if one.sees_unseen and name != estimate.method and not low <= one.unseen <= high
    ]
    if not apart:
        return ""
    if estimate.is_in_doubt:
        return (
            "Other methods assume that no known class has moved, and count moved rows as unseen: "
            f"{listed(apart)}."
        )
    return (
        f"Methods that see the unseen disagree: {shown(estimate.method)} says "
        f"{share(estimate.unseen)} ({interval(low, high)}), {listed(apart)}. Where they disagree, "
        "trust neither before people have looked at some rows."
    )


def _no_unseen_sentence(
    ends: Sequence[float] | None, probability: float, limit: float | None
) -> str:
    most = 0.0 if ends is None else ends[1]
    upper = short_share(most)
    if probability > _SIGN and ends is None:
        return "Cannot tell whether any row is of a new class."
    if probability > _SIGN:
        return f"Cannot tell: between 0% and {upper} of the new rows are of new classes."
    if most > _MUCH:
        return (
            "Nothing shows that any row is of a new class, but these rows cannot rule it out: "
            f"up to {upper} may be."
        )
    at_most = f": at most {upper}" if most >= NO_SHARE else ""
    found = ""
    if limit is not None:
        below = ", and less often below" if limit > most else ""
        found = (
            "; a class as different as yours are from each other would have been found 4 times in "
            f"5 from {short_share(limit)} on{below}"
        )
    return f"No sign of new classes{at_most}{found}."


def points(difference: float) -> str:
    """The size of a difference of shares, in points of a hundred: 12.3 points, 1.0 point."""
    size = f"{100 * abs(difference):.1f}"
    return f"{size} point" if size == "1.0" else f"{size} points"


def change(then: float, now: float, ends: tuple[float, float] | None = None) -> str:
    """An arrow and a signed difference; a share inside the interval ``ends`` has not changed."""
    lower, upper = (now, now) if ends is None else ends
    if lower - NO_SHARE < then < upper + NO_SHARE:
        return "≈ no clear change"
    arrow = "↑ +" if now > then else "↓ \N{MINUS SIGN}"
    return arrow + points(now - then)


def chance(probability: float) -> str:
    """A probability as a percentage that never claims to be sure: about 83%, more than 99%."""
    if probability > 0.99:
        return "more than 99%"
    return "less than 1%" if probability < 0.01 else f"about {probability:.0%}"


def likelihood(probability: float) -> str:
    """A probability in words."""
    return next(words for least, words in _LIKELIHOODS if probability >= least)


def p_value(value: float) -> str:
    """A p-value with three digits; a smaller one is only said to be smaller."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def count(number: int, noun: str = "row") -> str:
    """A number of things, with the noun in singular or plural: 1 row, 2 classes."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def listed(words: Sequence[str], most: int = _MOST_LISTED) -> str:
    """The first few of some words; the others are counted: a, b and 2 more."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def quoted(values: Iterable[Any]) -> str:
    """The first few of some labels or names as Python writes them; the others are counted."""
    plain = (value.item() if hasattr(value, "item") else value for value in values)
    return listed([verbatim(repr(value), LONGEST_SENTENCE) for value in plain])


def check_named_once(name: str, columns: Iterable[Hashable]) -> None:
    """Raise where two columns of a table have one name."""
    for column, n_times in Counter(columns).items():
        if n_times > 1:
            often = "twice" if n_times == 2 else f"{n_times} times"
            raise ValueError(
                f"{name} must name each column once; {quoted([column])} occurs {often}."
            )


def shown(text: Any, longest: int | None = LONGEST_NAME) -> str:
    """Text from the data on one line, without invisible marks; a long one loses its middle."""
    return verbatim(" ".join(verbatim(text).split()), longest)


def verbatim(text: Any, longest: int | None = None) -> str:
    """Text as :func:`shown`, with all its spaces: a command must stay the same command."""
    line = str(text)
    line = line.translate({ord(character): _visible(character) for character in set(line)})
    if longest is None or len(line) <= longest:
        return line
    tail = (longest - 1) // 2
    return f"{line[: longest - 1 - tail]}…{line[len(line) - tail :]}"


def _visible(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Cs" or character in _NOT_IN_XML:  # no file, or no picture, can hold these
        return "\N{REPLACEMENT CHARACTER}"
    return " " if kind in {"Cc", "Zl", "Zp"} or character in _TURNS else character


def named(label: Any, longest: int = LONGEST_NAME) -> str:
    """A class as it is called within a sentence; a number alone would look like a result."""
    return shown(label if isinstance(label, str) else f"class {label}", longest)


def text_table(
    table: Sequence[Sequence[str]], below: Iterable[str] = (), *, n_names: int = 1
) -> str:
    """Columns side by side, the first ``n_names`` to the left and numbers to the right."""
    columns = []
    for place, cells in enumerate(zip(*table, strict=True)):
        column = [verbatim(cell, LONGEST_NAME if place < n_names else None) for cell in cells]
        width = max(map(len, column))
        side = str.ljust if place < n_names else str.rjust
        columns.append([side(cell, width) for cell in column])
    lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
    return "\n".join([*lines, *below])


def html_table(table: Sequence[Sequence[str]], below: Iterable[str] = ()) -> str:
    """A table for a notebook; everything is escaped."""
    header, *rows = ([escape(cell) for cell in row] for row in table)
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    foot = "".join(f"<p>{escape(line)}</p>" for line in below)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"
