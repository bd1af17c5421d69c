"""How one column becomes numbers: learn a rule from labelled rows, apply it to any rows.

Number columns are centred, and all divided by one number, the root mean square of their standard
deviations. Their units stay as they are given, since columns of one unit (pixels, spectra, counts)
say more so, and whoever wants equal spreads can make them. A text column becomes one 0/1 column for
each category, times 1/sqrt(2): two rows that differ in it lie (1/sqrt(2)) * sqrt(1 + 1) = 1 apart.
One mismatch of categories thus weighs as much as one standard deviation of a middling number, for
whoever takes the columns as they are; the kernel scorer gives each the same spread, and rare
categories weigh more.

Rules are plain dictionaries, so that any format can hold them.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import NDArray

from unseen.tables._arrow import Array, arrow
from unseen.tables.values import LARGEST, NotANumber, looks_like_dates, numbers, words

__all__ = [
    "CATEGORY_SCALE",
    "CategoryRule",
    "Constant",
    "Dropped",
    "NumberRule",
    "Rule",
    "encode",
    "feature_names",
    "in_given_units",
    "is_named_like_id",
    "learn",
]

FloatArray: TypeAlias = NDArray[np.float64]

CATEGORY_SCALE = float(np.sqrt(0.5))
# Below so many rows, numbers may be in order by chance.
_LEAST_ROWS_IN_ORDER = 10
_ID_NAME = re.compile(
    r"|(?i:(.*[\W_])?(id|idx|index|key|uuid|guid|rowid|row|rownum|row_number|unnamed: ?\d+))"
    r"|.*[a-z](Id|ID)"
)

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@final
class NumberRule(TypedDict):
    """A number column; with a scale of 0, only whether it was missing is used."""

    name: str
    median: float
    mean: float
    scale: float
    was_missing: bool


@final
class CategoryRule(TypedDict):
    """A text column; the rare categories share one column."""

    name: str
    categories: list[str]
    rare: list[str]
    commonest: str
    was_missing: bool


Rule: TypeAlias = NumberRule | CategoryRule


class Dropped(Exception):  # noqa: N818  a reason, not an error
    """A column is not used, for this reason; it ends a sentence that begins with its name."""


class Constant(Dropped):
    """A column is not used, as it has this value everywhere."""

    def __init__(self, value: float | str) -> None:
        super().__init__("has the same value in all labelled rows")
        self.value = value


def learn(
    name: str, column: Array, *, rare_below: int, most_categories: int, keep: bool = False
) -> Rule:
    """The rule for a column of labelled rows.

    Parameters
    ----------
    name : str
        Of the column.
    column : pyarrow.ChunkedArray
        Its values.
    rare_below, most_categories : int
        See :class:`unseen.tables.Columns`.
    keep : bool, default=False
        Also take what looks like a constant, an id, dates or free text.

    Raises
    ------
    Dropped
        When the column is of no use.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = pa.chunked_array([["1", "3", "", "2"]])
    >>> rule = learn("size", column, rare_below=5, most_categories=100)
    >>> rule["median"], rule["was_missing"]
    (2.0, True)
    """
    _check_kind(column.type)
    if _PANDAS_INDEX.fullmatch(name) and not keep:
        raise Dropped("is the index of a pandas table")
    # What is declared to be categories is taken to be, even where they look like numbers.
    if not arrow().types.is_dictionary(column.type):
        try:
            return _number_rule(name, numbers(column), keep)
        except NotANumber:
            pass
    return _category_rule(name, words(column), rare_below, most_categories, keep)


def in_given_units(rules: list[Rule]) -> list[Rule]:
    """The same rules, with one scale for all number columns.

    Examples
    --------
    >>> rules = [
    ...     NumberRule(name=name, median=0.0, mean=0.0, scale=scale, was_missing=False)
    ...     for name, scale in (("a", 1.0), ("b", 7.0))
    ... ]
    >>> [rule["scale"] for rule in in_given_units(rules)]
    [5.0, 5.0]
    """
    spreads = np.array([rule["scale"] for rule in rules if "median" in rule and rule["scale"]])
    if not len(spreads):
        return rules
    widest = spreads.max()  # so that no square is too large
    common = float(widest * np.sqrt(np.mean(np.square(spreads / widest))))
    return [_rescaled(rule, common) for rule in rules]


def _rescaled(rule: Rule, scale: float) -> Rule:
    return {**rule, "scale": scale} if "median" in rule and rule["scale"] else rule


def encode(rule: Rule, column: Array) -> FloatArray:
    """The columns that a rule makes of one, side by side.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rule = NumberRule(name="a", median=2.0, mean=2.0, scale=0.5, was_missing=True)
    >>> encode(rule, pa.chunked_array([[3.0, None]])).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    if "categories" in rule:
        return _encode_categories(rule, column)
    return _encode_numbers(rule, column)


def feature_names(rule: Rule) -> list[str]:
    """Names of the columns that :func:`encode` makes."""
    name = rule["name"]
    missing = [f"{name}=missing"] if rule["was_missing"] else []
    if "categories" not in rule:
        return [*([name] if rule["scale"] else []), *missing]
    rare = [f"{name}=rare"] if rule["rare"] else []
    known = [f"{name}={category}" for category in rule["categories"]]
    return [*known, *rare, *missing, f"{name}=never seen"]


def is_named_like_id(name: str) -> bool:
    """Whether a name is that of an id.

    Examples
    --------
    >>> [is_named_like_id(name) for name in ("user_id", "orderId", "", "Unnamed: 0", "grid")]
    [True, True, True, True, False]
    """
    return _ID_NAME.fullmatch(name) is not None


def _check_kind(kind: Any) -> None:
    types = arrow().types
    if types.is_temporal(kind):
        raise Dropped("holds dates or times")
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind)
    if types.is_nested(kind) or is_bytes or types.is_fixed_size_binary(kind):
        raise Dropped(f"holds neither numbers nor text, but {kind}")


def _number_rule(name: str, values: FloatArray, keep: bool) -> NumberRule:
    given = values[~np.isnan(values)]
    if not len(given):
        raise Dropped("has no value in the labelled rows")
    has_gaps = len(given) < len(values)
    median = float(np.median(given))
    filled = np.where(np.isnan(values), median, values)
    deviation = float(filled.std())
    # Rounding makes a deviation out of nothing; one that is too small cannot be divided by.
    is_constant = given.min() == given.max() or deviation * LARGEST < 1
    if is_constant and not has_gaps and not keep:
        raise Constant(median)
    if not keep and _numbers_like_ids(name, given):
        raise Dropped("looks like an id: whole numbers, no two the same")
    scale_of_constant = 1.0 if keep else 0.0
    return NumberRule(
        name=name,
        median=median,
        mean=median if is_constant else float(filled.mean()),
        scale=scale_of_constant if is_constant else deviation,
        was_missing=has_gaps,
    )


def _numbers_like_ids(name: str, given: FloatArray) -> bool:
    is_whole = np.all(given == np.floor(given))
    if not is_whole or len(np.unique(given)) < len(given) or len(given) == 1:
        return False
    if is_named_like_id(name):
        return True
    steps = np.diff(given)
    is_run = given.max() - given.min() == len(given) - 1
    in_order = bool(np.all(steps > 0) or np.all(steps < 0) or is_run)
    return in_order and len(given) >= _LEAST_ROWS_IN_ORDER


def _category_rule(
    name: str, text: Array, rare_below: int, most_categories: int, keep: bool
) -> CategoryRule:
    counted = text.drop_null().value_counts().to_pylist()
    counts = {each["values"]: each["counts"] for each in counted}
    ranked = sorted(counts, key=lambda category: (-counts[category], category))
    common = [each for each in ranked[:most_categories] if counts[each] >= rare_below]
    if not keep:
        _check_categories(counts, common, text.null_count)
    return CategoryRule(
        name=name,
        categories=sorted(common),
        rare=sorted(set(counts).difference(common)),
        commonest=ranked[0],
        was_missing=text.null_count > 0,
    )


def _check_categories(counts: dict[str, int], common: list[str], n_missing: int) -> None:
    n_given = sum(counts.values())
    if len(counts) == 1 and not n_missing:
        raise Constant(next(iter(counts)))
    if looks_like_dates(list(counts)):
        raise Dropped("holds dates or times")
    if len(counts) == n_given:
        raise Dropped("looks like an id: text, no two the same")
    if 2 * sum(counts[category] for category in common) < n_given:
        raise Dropped(f"looks like free text: {len(counts)} values, most of them rare")


def _encode_numbers(rule: NumberRule, column: Array) -> FloatArray:
    try:
        values = numbers(column)
    except NotANumber as error:
        raise ValueError(
            f"column {rule['name']!r} must hold numbers in NEW as it does in TRAIN; "
            f"got {error.value!r}."
        ) from None
    missing = np.isnan(values)
    filled = np.where(missing, rule["median"], values)
    blocks = []
    if rule["scale"]:
        blocks.append((filled - rule["mean"]) / rule["scale"])
    if rule["was_missing"]:
        blocks.append(missing.astype(np.float64))
    return np.column_stack(blocks)


def _encode_categories(rule: CategoryRule, column: Array) -> FloatArray:
    pa, pc = arrow(), arrow("compute")
    try:
        _check_kind(column.type)
    except Dropped as error:
        raise ValueError(
            f"column {rule['name']!r} must hold text in NEW as it does in TRAIN; it {error}."
        ) from None
    text = words(column)
    n_known = len(rule["categories"])
    n_missing_at = n_known + bool(rule["rare"])
    never_seen = n_missing_at + rule["was_missing"]
    known = pa.array([*rule["categories"], *rule["rare"]], pa.string())
    filled = text if rule["was_missing"] else text.fill_null(rule["commonest"])
    found = pc.index_in(filled, value_set=known).fill_null(-1).to_numpy()
    places = np.where(found < 0, never_seen, np.minimum(found, n_known))
    if rule["was_missing"]:
        places[text.is_null().to_numpy()] = n_missing_at
    encoded = np.zeros((len(places), never_seen + 1))
    encoded[np.arange(len(places)), places] = CATEGORY_SCALE
    return encoded
