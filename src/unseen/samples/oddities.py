"""What a person should know about two samples that pass every check.

Rows copied from one to the other or within one, one class under two spellings, numbers for
"missing", columns that never vary.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.sparsefuncs import min_max_axis

from unseen._types import IntArray, Matrix
from unseen._wording import listed, quoted
from unseen.records import Notice
from unseen.samples.checks import LabelledRows, column_label, column_names, warn
from unseen.samples.clusters import are_distinct, row_keys
from unseen.samples.draws import enough_places

_SMALLEST = 1e-100  # squares of smaller differences vanish
# A spike holds so many rows, and so large a part of them.
_FEWEST_AT_SPIKE, _LEAST_PART = 5, 0.01
# A column with fewer other values is a code or a category rather than a measurement.
_FEWEST_VALUES = 10
_LARGE_DIFFERENCE = 0.05
# Names that tables often give to rows that nobody has labelled.
_NO_LABEL = re.compile(r"\?+|-+|\.+|unknown|missing|unlabell?ed|-9+(\.0+)?|9{3,}(\.0+)?", re.I)
# Rows whose distances are looked at, and values that these may hold together, squared.
_MOST_ROWS, _MOST_VALUES = 1000, 100_000_000

# Those who read files have no argument of these names.
_SPOKEN = {"X": "labelled rows", "X_new": "new rows", "control": "rows of the control"}
# What to do about rows of the second sample that are in the first, too.
_ADVICE = {
    ("control", "X_new"): "Take them out of the control: whatever is there counts as known.",
    ("X", "control"): "They do not show how known classes look where the new rows come from.",
}
_USUAL_ADVICE = (
    "If they come from the training data, take them out: they pull the shares towards their "
    "classes."
)


def sample_notices(
    labelled: LabelledRows, rows: Matrix, given: Any = None, name: str = "X_new", known: str = "X"
) -> tuple[Notice, ...]:
    """Facts that a person should know about two samples that passed every check.

    ``rows`` are the checked new rows, and ``given`` as the user gave them, maybe with column names.
    Copied rows also raise a Python warning; constant features alone are an error.
    """
    found = []
    if labelled.names is not None and given is not None and column_names(given) is None:
        text = f"{known} has column names and {name} has none: columns were matched by their order."
        found.append(Notice("names_on_one_side", text))
    copies = copy_notices(labelled.rows, rows, known, name)
    for notice in copies:
        warn(notice.text)
    n_columns, both = rows.shape[1], (labelled.rows, rows)
    # A feature may be constant in X and still give away an unseen class in X_new.
    for samples in ([one[enough_places(one.shape[0])] for one in both], both):
        ends = [
            min_max_axis(one, axis=0)
            if sparse.issparse(one)
            else (one.min(axis=0), one.max(axis=0))
            for one in samples
        ]
        lows, highs = zip(*ends, strict=True)
        spread = np.maximum(*highs) - np.minimum(*lows)
        if not (spread < _SMALLEST).any():
            break
    constant = np.flatnonzero(spread < _SMALLEST)
    if constant.size == n_columns:
        tiny = f" or vary by less than {_SMALLEST:g}" if spread.any() else ""
        raise ValueError(
            f"{known} and {name} must vary in at least one feature; "
            f"got {n_columns} that are all constant{tiny}, so nothing tells the classes apart."
        )
    if constant.size:
        columns = listed([column_label(int(column), labelled.names) for column in constant])
        text = (
            f"{constant.size} of {n_columns} features are constant over {known} and {name} and "
            f"carry no information: {columns}."
        )
        found.append(Notice("constant_columns", text))
    found += label_notices(labelled.classes)
    found += sentinel_notices(labelled.rows, rows, labelled.names)
    return (*found, *copies)


class _Sample(NamedTuple):
    """Rows, and a key of each that equal rows share."""

    name: str
    rows: Matrix
    keys: IntArray


class _Overlap(NamedTuple):
    """Rows of one sample found in another, and how many to expect if both are innocent."""

    found: int
    expected: float
    variance: float

    def too_many(self, by_chance: float = 0.0) -> bool:
        return self.found - self.expected > 3 * np.sqrt(self.variance + by_chance)


def copy_notices(X: Matrix, X_new: Matrix, known_name: str, new_name: str) -> list[Notice]:
    """Notices of rows that both samples hold, or that one holds twice, beyond chance.

    Coarse features repeat by themselves, and each sample tells how often. More rows in common
    than either leads one to expect are a leak; fewer, though the features are fine, come from
    oversampling.
    """
    if are_distinct(X, X_new):
        return []
    keys, n_known = row_keys(X, X_new), X.shape[0]
    known = _Sample(_SPOKEN.get(known_name, f"rows of {known_name}"), X, keys[:n_known])
    new = _Sample(_SPOKEN.get(new_name, f"rows of {new_name}"), X_new, keys[n_known:])
    new_in_known, known_in_new = _overlap(new, known), _overlap(known, new)
    found = []
    if new_in_known.too_many():
        # Half as many pairs coincide as are one step apart, and half of those are across samples;
        # of more than about one, the repeats within the samples tell.
        by_chance = min(1.0, _near_ties(known, new, power=8) / 4)
        if new_in_known.too_many(by_chance) and (
            known_in_new.too_many(by_chance) or _are_copies(new)
        ):
            text = (
                f"{new_in_known.found} of {len(new.keys)} {new.name} are also among the "
                f"{known.name}, value for value. "
                f"{_ADVICE.get((known_name, new_name), _USUAL_ADVICE)}"
            )
            found.append(Notice("rows_in_both", text))
    for sample, other, overlap in ((known, new, new_in_known), (new, known, known_in_new)):
        too_few = overlap.expected - overlap.found > 3 * np.sqrt(overlap.variance)
        if too_few and _are_copies(sample):
            n_copies = len(sample.keys) - len(np.unique(sample.keys))
            text = (
                f"{n_copies} of {len(sample.keys)} {sample.name} repeat other ones, value for "
                f"value, but few of them are among the {other.name}. Copies share a fold and "
                "count as one row; drop them if they are there by mistake."
            )
            found.append(Notice("copied_rows", text))
    return found


def _overlap(sample: _Sample, other: _Sample) -> _Overlap:
    """Expected by Good and Turing: a new row is a known one as often as known rows repeat."""
    counts = np.unique(other.keys, return_counts=True)[1]
    n_rows, n_other = len(sample.keys), len(other.keys)
    once, twice = (int((counts == times).sum()) for times in (1, 2))
    share = 1 - once / n_other
    # Of the rows drawn, and of the share, which is itself an estimate from the other sample.
    variance = n_rows * share * (1 - share) + (n_rows / n_other) ** 2 * (once * share + 2 * twice)
    return _Overlap(int(np.isin(sample.keys, other.keys).sum()), n_rows * share, variance)


def _are_copies(sample: _Sample) -> bool:
    """Whether rows repeat more often than they come close: then it is not that they are coarse."""
    counts = np.unique(sample.keys, return_counts=True)[1]
    repeated = counts[counts > 1].sum() / len(sample.keys)
    return bool(repeated > 3 * (_near_ties(sample) + 1) / len(counts))


def _near_ties(*samples: _Sample, power: int = 2) -> float:
    """Distinct rows one step from another, whole rows looked at: about 1 off a grid.

    The step is the smallest distance between distinct rows. Rows further from their nearest count
    by a power of the inverse distance: the higher, the fewer count off a grid, and the two nearest
    rows of all, each other's nearest, count as one.
    """
    _, first = np.unique(np.concatenate([sample.keys for sample in samples]), return_index=True)
    n_looked_at = int(min(_MOST_ROWS, np.sqrt(_MOST_VALUES / samples[0].rows.shape[1])))
    # Keys are other numbers in every process; the rows looked at must not be.
    some = np.sort(np.random.default_rng(0).permutation(np.sort(first))[: max(n_looked_at, 2)])
    ends = np.cumsum([0, *(len(sample.keys) for sample in samples)])
    parts = [
        sample.rows[some[(some >= start) & (some < start + len(sample.keys))] - start]
        for sample, start in zip(samples, ends, strict=False)
    ]
    rows = np.vstack([part.toarray() if hasattr(part, "toarray") else part for part in parts])
    if len(rows) < 2:
        return 1.0
    apart = squareform(pdist(rows))
    np.fill_diagonal(apart, np.inf)
    nearest = apart.min(axis=1)
    ties = (nearest.min() / nearest) ** (power * rows.shape[1])
    return float(ties.sum() - 1) * (len(first) / len(some)) ** 2


def label_notices(classes: NDArray[Any]) -> tuple[Notice, ...]:
    """Labels that look alike, probably one class under two names: other capitals, spaces, accents.

    A class called "unseen" looks like the rows of no class, and one called "?" like rows without a
    label.
    """
    found, labels = [], classes.tolist()
    marks = [label for label in labels if _NO_LABEL.fullmatch(str(label).strip())]
    if marks and "+" not in labels:
        text = (
            f"a class is called {quoted(marks)}, as rows without a label often are. If these rows "
            f"have none, leave them out (--missing {quoted(marks[:1])} on the command line)."
        )
        found.append(Notice("label_for_missing", text, about=marks[0]))
    alike: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            spelt = normalize("NFC", label).casefold()
            alike.setdefault(" ".join(spelt.split()), []).append(label)
    if "unseen" in alike:
        text = (
            f"a class is called {quoted(alike['unseen'])}, as rows of no known class are in every "
            "table and sentence. Give it another name."
        )
        found.append(Notice("labels_alike", text, about=alike["unseen"][0]))
    for same in alike.values():
        if len(same) > 1:
            text = (
                f"labels {quoted(same)} differ only by capital letters, spaces or the code of an "
                f"accent, and are taken for {len(same)} classes. If they are one, give them one "
                "spelling."
            )
            found.append(Notice("labels_alike", text, about=same[0]))
    return tuple(found)


def sentinel_notices(
    rows: Matrix,
    rows_new: Matrix,
    names: tuple[str, ...] | None = None,
    advice: str = "leave the value empty or fill it in",
) -> tuple[Notice, ...]:
    """Columns in which many rows have one value, far from all others, such as -999.

    A value is far where no other lies nearer to it than the other values spread. Sparse rows are
    not looked at: their many zeros are what they are made for. Of very many rows a fixed draw is.
    ``advice`` is what to do about a value that stands for a missing one, ``{value}`` that value.
    Columns with the same value share a notice.
    """
    if sparse.issparse(rows):
        return ()
    rows, rows_new = (one[enough_places(len(one))] for one in (rows, rows_new))
    found: dict[tuple[str, bool], list[tuple[str, float, float]]] = {}
    for end in (np.min, np.max):
        spikes = end(np.stack([end(rows, axis=0), end(rows_new, axis=0)]), axis=0)
        parts = [(sample == spikes).mean(axis=0) for sample in (rows, rows_new)]
        counts = parts[0] * len(rows) + parts[1] * len(rows_new)
        often = (counts >= _FEWEST_AT_SPIKE) & (np.maximum(*parts) >= _LEAST_PART)
        for column in np.flatnonzero(often):
            values, spike = np.append(rows[:, column], rows_new[:, column]), float(spikes[column])
            others = values[values != spike]
            is_code = len(np.unique(others)) < _FEWEST_VALUES
            if is_code or np.abs(others - spike).min() <= np.ptp(others):
                continue
            part, part_new = float(parts[0][column]), float(parts[1][column])
            differs = abs(part_new - part) > _LARGE_DIFFERENCE or min(part, part_new) == 0
            name = str(column) if names is None else repr(names[column])
            found.setdefault((f"{spike:g}", differs), []).append((name, part_new, part))
    return tuple(
        _sentinel(value, columns, differs, advice) for (value, differs), columns in found.items()
    )


def _sentinel(
    value: str, columns: list[tuple[str, float, float]], differs: bool, advice: str
) -> Notice:
    """A warning where the value is in one sample more than in the other, or else a note."""
    names, *both = zip(*columns, strict=True)
    new, old = (
        low if low == high else f"{low} to {high}"
        for low, high in ((f"{min(parts):.0%}", f"{max(parts):.0%}") for parts in both)
    )
    one = len(columns) == 1
    named = f"column{'s' * (not one)} {listed(names)}"
    text = (
        f"{named} {'is' if one else 'are'} {value} in {new} of the new rows and in {old} "
        "of the labelled ones, far from all other values. If the number stands for a missing "
        f"value, {advice.format(value=value)}."
    )
    about = named if one else None
    return Notice("sentinel_values", text, "warning" if differs else "note", about=about)
