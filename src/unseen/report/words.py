"""Numbers and names as a reader says them; text from the data made safe to look at.

Escaping for HTML is the template's work. Here names lose what would confuse the eye rather than
the browser: line breaks, control characters, marks that turn the direction of what follows, and
all but the ends of a name that is too long.
"""

from __future__ import annotations

import unicodedata
from typing import Any

__all__ = [
    "chance",
    "change",
    "count",
    "interval",
    "likelihood",
    "named",
    "p_value",
    "points",
    "share",
    "shown",
    "verbatim",
]

LONGEST_NAME = 60
LONGEST_SENTENCE = 300
# Marks of direction and their ends; a name that has letters of both directions needs none.
_TURNS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NO_CHANGE = 0.0005
_MINUS = "\N{MINUS SIGN}"
_LIKELIHOODS = (
    (0.99, "almost certain"),
    (0.9, "very likely"),
    (2 / 3, "likely"),
    (1 / 3, "an open question"),
    (0.1, "unlikely"),
    (0.0, "very unlikely"),
)


def shown(text: Any, longest: int = LONGEST_NAME) -> str:
    r"""Text on one line, without invisible marks, and not too long.

    Parameters
    ----------
    text : object
        A label, a message, a value of a table.
    longest : int, default=60
        Characters to keep; what is longer loses its middle.

    Returns
    -------
    str

    Examples
    --------
    >>> from unseen.report.words import shown
    >>> shown("two\nlines"), shown("a very long name", 9)
    ('two lines', 'a ve…name')
    """
    return verbatim(" ".join(verbatim(text, len(str(text))).split()), longest)


def verbatim(text: Any, longest: int) -> str:
    """Text as :func:`shown`, with every space that it has: a command must stay what it is.

    Examples
    --------
    >>> verbatim("grep 'two  spaces'", 99)
    "grep 'two  spaces'"
    """
    line = "".join(map(_visible, str(text)))
    if len(line) <= longest:
        return line
    tail = (longest - 1) // 2
    return f"{line[: longest - 1 - tail]}…{line[len(line) - tail :]}"


def _visible(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Cs":  # half a character, which no file can hold
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


def share(value: float) -> str:
    """A share in per cent, with one digit so that a column lines up.

    Examples
    --------
    >>> share(0.3161), share(-0.0)
    ('31.6%', '0.0%')
    """
    return f"{value + 0.0:.1%}"


def interval(lower: float, upper: float) -> str:
    """Both ends of an interval.

    Examples
    --------
    >>> interval(0.25, 0.352)
    '25.0 to 35.2%'
    """
    return f"{100 * lower + 0.0:.1f} to {100 * upper + 0.0:.1f}%"


def count(rows: int, noun: str = "row") -> str:
    """So many of something.

    Examples
    --------
    >>> count(1), count(12345)
    ('1 row', '12,345 rows')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{rows:,} {noun if rows == 1 else plural}"


def points(difference: float) -> str:
    """A difference of shares in points of a hundred.

    Examples
    --------
    >>> points(-0.123), points(0.01)
    ('12.3 points', '1.0 point')
    """
    size = f"{100 * abs(difference):.1f}"
    return f"{size} point" if size == "1.0" else f"{size} points"


def change(then: float, now: float, ends: tuple[float, float] | None = None) -> str:
    """From then to now: an arrow and a sign; only what lies outside the interval is a change.

    Parameters
    ----------
    then, now : float
        The two shares.
    ends : (float, float) or None, default=None
        Interval of the second.

    Examples
    --------
    >>> change(0.5, 0.2), change(0.1, 0.2, (0.15, 0.25))
    ('↓ −30.0 points', '↑ +10.0 points')
    >>> change(0.18, 0.2, (0.15, 0.25)), change(0.2, 0.2)
    ('≈ no clear change', '≈ no clear change')
    """
    lower, upper = (now, now) if ends is None else ends
    if lower - _NO_CHANGE < then < upper + _NO_CHANGE:
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
    if probability < 0.01:
        return "less than 1%"
    return f"about {probability:.0%}"


def p_value(value: float) -> str:
    """A p-value with three digits; a smaller one is only said to be smaller.

    Examples
    --------
    >>> p_value(0.0312), p_value(0.0009)
    ('0.031', '< 0.001')
    """
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def likelihood(probability: float) -> str:
    """A probability in words.

    Examples
    --------
    >>> likelihood(0.999), likelihood(0.5)
    ('almost certain', 'an open question')
    """
    return next(words for least, words in _LIKELIHOODS if probability >= least)
