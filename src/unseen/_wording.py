"""How numbers, names, lists and small tables read as text, everywhere in the library.

Names come from the data. Here they lose what would confuse the eye: line breaks, control
characters, marks that turn the direction of the text after them, and the middle of a long name.
Escaping for HTML or for a terminal is the work of whoever writes there.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from html import escape
from typing import Any

__all__ = [
    "chance",
    "change",
    "check_named_once",
    "count",
    "html_table",
    "interval",
    "interval_name",
    "likelihood",
    "listed",
    "named",
    "p_value",
    "points",
    "quoted",
    "share",
    "short_share",
    "shown",
    "starred_p_value",
    "text_table",
    "verbatim",
]

LONGEST_NAME = 60
LONGEST_SENTENCE = 300
# A share below this reads as none, and so does a smaller difference of two shares.
NO_SHARE = 0.0005
# Above this probability of anything unseen, or this upper end, "no sign" would be too much said.
_SIGN, _MUCH = 0.2, 0.25
_MOST_LISTED = 5
# Marks of direction and their ends; a name with letters of both directions needs none of them.
_TURNS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NOT_IN_XML = frozenset("\ufffe\uffff")
_MINUS = "\N{MINUS SIGN}"
_LIKELIHOODS = (
    (0.99, "almost certain"),
    (0.95, "very likely"),
    (2 / 3, "likely"),
    (1 / 3, "an open question"),
    (0.05, "unlikely"),
    (0.0, "very unlikely"),
)


def check_named_once(name: str, columns: Iterable[Hashable]) -> None:
    """Raise where two columns of a table have one name.

    Examples
    --------
    >>> check_named_once("new.csv", ["size", "day", "size"])
    Traceback (most recent call last):
        ...
    ValueError: new.csv must name each column once; 'size' occurs twice.
    """
    for column, n_times in Counter(columns).items():
        if n_times > 1:
            often = "twice" if n_times == 2 else f"{n_times} times"
            raise ValueError(
                f"{name} must name each column once; {quoted([column])} occurs {often}."
            )


def share(value: float) -> str:
    """A share in per cent, with one digit after the point so that a column lines up.

    Examples
    --------
    >>> share(0.3161), share(-0.0)
    ('31.6%', '0.0%')
    """
    return f"{value + 0.0:.1%}"


def short_share(value: float) -> str:
    """A share as people say it, rounded as in a table, without a last 0.

    Examples
    --------
    >>> short_share(0.316), short_share(0.3), short_share(0.0)
    ('31.6%', '30%', '0%')
    """
    if abs(value) < NO_SHARE:
        return "0%"
    return share(value).replace(".0%", "%")


def interval(lower: float, upper: float) -> str:
    """Both ends of an interval of a share.

    Examples
    --------
    >>> interval(0.25, 0.352)
    '25.0% to 35.2%'
    """
    return f"{share(lower)} to {share(upper)}"


def unseen_sentence(
    unseen: float,
    ends: Sequence[float] | None,
    probability: float | None = None,
    limit: float | None = None,
) -> str:
    """The answer about unseen classes, by the probability that there are any and by the interval.

    Parameters
    ----------
    unseen : float
        The unseen share.
    ends : (float, float) or None
        Its interval.
    probability : float or None, default=None
        That anything is unseen.
    limit : float or None, default=None
        The share that would have been found.

    Examples
    --------
    >>> unseen_sentence(0.0, (0.0, 0.07), 0.04, 0.13)  # doctest: +NORMALIZE_WHITESPACE
    'No sign of new classes: at most 7%; a class as different as yours are from each other would
    have been found from 13% on.'
    >>> unseen_sentence(0.0, (0.0, 0.42), 0.3)
    'Cannot tell: between 0% and 42% of the new rows are of new classes.'
    >>> unseen_sentence(0.0, (0.0, 0.42), 0.1)  # doctest: +NORMALIZE_WHITESPACE
    'Nothing shows that any row is of a new class, but these rows cannot rule it out: up to 42%
    may be.'
    >>> unseen_sentence(0.0, None, 0.43)
    'Cannot tell whether any row is of a new class.'
    """
    never_seen = "classes that training never saw"
    most = 0.0 if ends is None else ends[1]
    if unseen < NO_SHARE:
        if (probability or 0.0) > _SIGN:
            return "Cannot tell" + (
                " whether any row is of a new class."
                if ends is None
                else f": between 0% and {short_share(most)} of the new rows are of new classes."
            )
        if most > _MUCH:
            return (
                "Nothing shows that any row is of a new class, but these rows cannot rule it out: "
                f"up to {short_share(most)} may be."
            )
        upper = f": at most {short_share(most)}" if most >= NO_SHARE else ""
        found = ""
        if limit is not None:
            found = (
                "; a class as different as yours are from each other would have been found from "
                f"{short_share(limit)} on"
            )
        return f"No sign of new classes{upper}{found}."
    if ends is None:
        return f"About {short_share(unseen)} of the new rows come from {never_seen}."
    lower, upper = map(short_share, ends)
    if ends[0] < NO_SHARE:
        return (
            f"Perhaps {short_share(unseen)} of the new rows come from {never_seen}; any share from "
            f"none to {upper} is possible."
        )
    return (
        f"About {short_share(unseen)} of the new rows ({lower} to {upper}) come from {never_seen}."
    )


def interval_name(confidence: float | None) -> str:
    """An interval, with its level where one is known.

    Examples
    --------
    >>> interval_name(0.95), interval_name(None)
    ('95% interval', 'interval')
    """
    return "interval" if confidence is None else f"{100 * confidence:g}% interval"


def points(difference: float) -> str:
    """The size of a difference of shares, in points of a hundred.

    Examples
    --------
    >>> points(-0.123), points(0.01)
    ('12.3 points', '1.0 point')
    """
    size = f"{100 * abs(difference):.1f}"
    return f"{size} point" if size == "1.0" else f"{size} points"


def change(then: float, now: float, ends: tuple[float, float] | None = None) -> str:
    """An arrow and a signed difference; a share inside the interval ``ends`` has not changed.

    Examples
    --------
    >>> change(0.5, 0.2), change(0.1, 0.2, (0.15, 0.25))
    ('↓ −30.0 points', '↑ +10.0 points')
    >>> change(0.18, 0.2, (0.15, 0.25)), change(0.2, 0.2)
    ('≈ no clear change', '≈ no clear change')
    """
    lower, upper = (now, now) if ends is None else ends
    if lower - NO_SHARE < then < upper + NO_SHARE:
        return "≈ no clear change"
    return f"↑ +{points(now - then)}" if now > then else f"↓ {_MINUS}{points(now - then)}"


def chance(probability: float) -> str:
    """A probability as a percentage that never claims to be sure.

    Examples
    --------
    >>> chance(0.9999), chance(0.83), chance(0.0)
    ('more than 99%', 'about 83%', 'less than 1%')
    """
    if probability > 0.99:
        return "more than 99%"
    return "less than 1%" if probability < 0.01 else f"about {probability:.0%}"


def likelihood(probability: float) -> str:
    """A probability in words.

    Examples
    --------
    >>> likelihood(0.999), likelihood(0.5)
    ('almost certain', 'an open question')
    """
    return next(words for least, words in _LIKELIHOODS if probability >= least)


def p_value(value: float) -> str:
    """A p-value with three digits; a smaller one is only said to be smaller.

    Examples
    --------
    >>> p_value(0.0312), p_value(0.0009)
    ('0.031', '< 0.001')
    """
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def starred_p_value(value: float, alpha: float) -> str:
    """A p-value with a star where it is at most ``alpha``, so that a column lines up.

    Examples
    --------
    >>> starred_p_value(0.031, 0.05), starred_p_value(0.6, 0.05)
    ('0.031*', '0.600 ')
    """
    return p_value(value) + ("*" if value <= alpha else " ")


def count(number: int, noun: str = "row") -> str:
    """A number of things, with the noun in singular or plural.

    Examples
    --------
    >>> count(1), count(12345), count(2, "class")
    ('1 row', '12,345 rows', '2 classes')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def listed(words: Sequence[str], most: int = _MOST_LISTED) -> str:
    """The first few of some words; the others are counted.

    Examples
    --------
    >>> listed(["a", "b"]), listed(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def quoted(values: Iterable[Any]) -> str:
    """The first few of some labels or names as Python writes them; the others are counted.

    Examples
    --------
    >>> import numpy as np
    >>> quoted(["cat", np.int64(3)])
    "'cat', 3"
    """
    plain = (value.item() if hasattr(value, "item") else value for value in values)
    return listed([verbatim(repr(value), LONGEST_SENTENCE) for value in plain])


def shown(text: Any, longest: int | None = LONGEST_NAME) -> str:
    r"""Text from the data on one line, without invisible marks, and not too long.

    Parameters
    ----------
    text : object
        A label, a message, a value of a table.
    longest : int or None, default=60
        Characters to keep; a longer text loses its middle.

    Examples
    --------
    >>> from unseen._wording import shown
    >>> shown("two\nlines"), shown("a very long name", 9)
    ('two lines', 'a ve…name')
    """
    return verbatim(" ".join(verbatim(text).split()), longest)


def verbatim(text: Any, longest: int | None = None) -> str:
    """Text as :func:`shown`, with all its spaces: a command must stay the same command.

    Examples
    --------
    >>> verbatim("grep 'two  spaces'")
    "grep 'two  spaces'"
    """
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
    """A class as it is called within a sentence; a number alone would look like a result.

    Examples
    --------
    >>> named("cat"), named(3)
    ('cat', 'class 3')
    """
    return shown(label if isinstance(label, str) else f"class {label}", longest)


def text_table(
    table: Sequence[Sequence[str]], below: Iterable[str] = (), *, n_names: int = 1
) -> str:
    """Columns side by side, the first ``n_names`` to the left and numbers to the right.

    Examples
    --------
    >>> print(text_table([["", "share"], ["cat", "0.5"]], ["m"]))
         share
    cat    0.5
    m
    """
    columns = []
    for place, cells in enumerate(zip(*table, strict=True)):
        column = [verbatim(cell, LONGEST_NAME if place < n_names else None) for cell in cells]
        width = max(map(len, column))
        side = str.ljust if place < n_names else str.rjust
        columns.append([side(cell, width) for cell in column])
    lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
    return "\n".join([*lines, *below])


def html_table(table: Sequence[Sequence[str]], below: Iterable[str] = ()) -> str:
    """A table for a notebook; everything is escaped.

    Examples
    --------
    >>> html_table([["a"], ["<b>"]], ["c"])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table><p>c</p>'
    """
    header, *rows = ([escape(cell) for cell in row] for row in table)
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    foot = "".join(f"<p>{escape(line)}</p>" for line in below)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"
