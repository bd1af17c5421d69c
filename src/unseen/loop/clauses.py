"""What sets a group apart: one or two clauses on columns, with honest percentages, and words.

The search takes the clauses that hold for most of the group and least of the known rows, and so
flatters them. Resampled rows tell by how much: the search on them flatters itself as much beside
the rows from which they were drawn (the bootstrap's estimate of optimism, Efron 1983). What is left
counts as so many of the rows, and Laplace's rule of succession says what to expect of the next row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from unseen._types import BoolArray, FloatArray, IntArray

# Parts of the group that a clause may lose.
_LEVELS = np.array([0.02, 0.05, 0.1, 0.2])
# Rows of the group count so often: percentages near 100% are surer than others, and on other rows
# such sentences tell groups apart as well as those of even counts.
_COUNTS = 2
_MOST_CLAUSES = 2
# A second clause must tell this much more.
_WORTH = 0.06
_RESAMPLES = 20
_MOST_COLUMNS, _MOST_WORDS = 5, 5


@dataclass(frozen=True)
class Column:
    """A column as people know it: ``offset + scale * number`` is its value.

    Parameters
    ----------
    name : str
        Name of the column.
    offset, scale : float
        They turn a number that models read into a value of the column.
    category : str or None
        The category of a 0/1 column.
    is_direction : bool
        Whether the column is a direction among words, whose numbers say nothing to people.

    Examples
    --------
    >>> Column("size", 2.0, 0.5).clause(4.0, above=True)
    'size > 4'
    >>> Column("colour", category="red").clause(0.5, above=False)
    "colour is not 'red'"
    """

    name: str
    offset: float = 0.0
    scale: float = 1.0
    category: str | None = None
    is_direction: bool = False

    @property
    def full_name(self) -> str:
        """The name, with the category of a 0/1 column."""
        return self.name if self.category is None else f"{self.name}={self.category}"

    def clause(self, threshold: float, above: bool) -> str:
        """A clause in words: the column is above a threshold, or is not."""
        if self.category is not None:
            return f"{self.name} {'is' if above else 'is not'} {self.category!r}"
        value = self.offset + self.scale * threshold
        # Years and prices in full: powers of ten are no way to say them.
        digits = ".0f" if 1000 <= abs(value) < 1e9 else ".3g"
        return f"{self.name} {'>' if above else '≤'} {value:{digits}}"


@dataclass(frozen=True)
class Clause:
    """A condition: a column, named by its place, is above a threshold, or is not."""

    column: int
    threshold: float
    above: bool

    def holds(self, X: FloatArray) -> BoolArray:
        """Whether the clause holds for each row."""
        return np.asarray((X[:, self.column] > self.threshold) == self.above)


@dataclass(frozen=True)
class Sentence:
    """Clauses that hold together for a share of the group, and for a share of the known rows."""

    clauses: tuple[Clause, ...]
    in_group: float
    in_known: float

    def holds(self, X: FloatArray) -> BoolArray:
        """Whether all clauses hold for each row."""
        return np.logical_and.reduce([clause.holds(X) for clause in self.clauses])

    def text(self, columns: Sequence[Column]) -> str:
        """The clauses and their percentages in words."""
        said = [columns[one.column].clause(one.threshold, one.above) for one in self.clauses]
        hold = "hold" if len(said) > 1 else "holds"
        return (
            f"{' and '.join(said)} {hold} for {self.in_group:.0%} of the group and "
            f"{self.in_known:.0%} of known rows"
        )


def describe(group: FloatArray, known: FloatArray, rng: np.random.RandomState) -> Sentence:
    """Find the sentence of a group, with percentages that hold for other rows too."""
    samples = group, known
    found = _search(*samples)
    sizes, optimism = np.array([len(group), len(known)]), np.zeros(2)
    for _ in range(_RESAMPLES):
        drawn = [rows[rng.randint(len(rows), size=len(rows))] for rows in samples]
        again = _search(*drawn)
        shown = np.array([again.holds(rows).mean() for rows in samples])
        optimism += (np.array([again.in_group, again.in_known]) - shown) / _RESAMPLES
    honest = np.clip(np.array([found.in_group, found.in_known]) - optimism, 0.0, 1.0)
    in_group, in_known = ((honest * sizes + 1) / (sizes + 2)).tolist()
    return replace(found, in_group=in_group, in_known=in_known)


def _search(group: FloatArray, known: FloatArray) -> Sentence:
    """Greedy clauses that keep most of the group and least of the known rows."""
    clauses: tuple[Clause, ...] = ()
    in_group, in_known = np.ones(len(group), bool), np.ones(len(known), bool)
    best = 0.0
    for _ in range(_MOST_CLAUSES):
        clause, gain = _best_clause(group, known, in_group, in_known)
        if clauses and gain < best + _WORTH:
            break
        # On the same side of the same column the second clause says all that the first does.
        side = clause.column, clause.above
        clauses = *(one for one in clauses if (one.column, one.above) != side), clause
        best = gain
        in_group, in_known = in_group & clause.holds(group), in_known & clause.holds(known)
    return Sentence(clauses, float(in_group.mean()), float(in_known.mean()))


def _best_clause(
    group: FloatArray, known: FloatArray, in_group: BoolArray, in_known: BoolArray
) -> tuple[Clause, float]:
    """The clause that, with those before it, tells group and known rows apart best."""
    left, others = group[in_group], known[in_known]
    best, most = Clause(0, float(left[:, 0].min()) - 1, above=True), -np.inf
    gap = 0.02 * (np.ptp(left, axis=0) + np.finfo(float).eps)
    low, high = np.split(np.quantile(left, [*_LEVELS, *(1 - _LEVELS)], axis=0), 2)
    # Just outside a quantile, so that the row at the quantile is on the right side.
    outside = [
        (True, np.vstack([left.min(axis=0), low]) - gap),
        (False, np.vstack([left.max(axis=0), high]) + gap),
    ]
    for above, all_thresholds in outside:
        for thresholds in all_thresholds:
            kept = [rows_kept(rows, thresholds, above) for rows in (left, others)]
            gain = _COUNTS * kept[0] / len(group) - kept[1] / len(known)
            column = int(gain.argmax())
            if gain[column] > most:
                best, most = Clause(column, float(thresholds[column]), above), float(gain[column])
    return best, most


def rows_kept(rows: FloatArray, thresholds: FloatArray, above: bool) -> IntArray:
    """How many rows have each column above its threshold, or not."""
    # A product counts twice as fast as a sum.
    n_above = (np.ones(len(rows), np.float32) @ (rows > thresholds)).astype(np.int64)
    return n_above if above else len(rows) - n_above


def group_differences(group: FloatArray, known: FloatArray) -> list[tuple[int, float]]:
    """Columns whose mean in the group is farthest from known rows, in their standard deviations."""
    spread = known.std(axis=0)
    shift = (group.mean(axis=0) - known.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    order = np.argsort(-abs(shift), kind="stable")[:_MOST_COLUMNS]
    return [(int(place), float(shift[place])) for place in order]


def top_words(
    texts: Sequence[str], group_of_row: IntArray
) -> dict[int, tuple[tuple[str, float, float], ...]]:
    """Words that are most over-represented in each group, with their shares in it and outside.

    Group 0 is the rows called known. A word counts once a row; words are ranked by the difference
    of the shares of rows that have them, in standard errors, so that a word of one row does not
    win.
    """
    numbers = range(1, int(group_of_row.max()) + 1)
    counter = CountVectorizer(binary=True, token_pattern=r"(?u)\b[^\W\d]\w+\b")
    try:
        found = counter.fit_transform([text if isinstance(text, str) else "" for text in texts])
    except ValueError:  # no text has a word
        return dict.fromkeys(numbers, ())
    names = counter.get_feature_names_out()

    def rates(rows: BoolArray) -> FloatArray:
        return np.asarray(found[rows].sum(axis=0)).ravel() / max(int(rows.sum()), 1)

    outside, by_group = rates(group_of_row == 0), {}
    for number in numbers:
        mine = group_of_row == number
        inside = rates(mine)
        pooled = (inside + outside) / 2 + 1 / (2 + mine.sum())
        lead = np.where(inside > outside, (inside - outside) / np.sqrt(pooled), 0.0)
        by_group[number] = tuple(
            (str(names[place]), float(inside[place]), float(outside[place]))
            for place in np.argsort(-lead, kind="stable")[:_MOST_WORDS]
            if lead[place] > 0
        )
    return by_group
