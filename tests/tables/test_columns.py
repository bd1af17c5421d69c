"""The encoding does what its statement says, and every column left out is named."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from unseen.tables import Columns
from unseen.tables.encodings import ID_NAME, CategoryEncoding, least_common

RNG = np.random.default_rng(0)
N = 60
SIZES = RNG.normal(5, 3, N)


def fitted(values, **parameters):
    return Columns(**parameters).fit(pa.table({"a": values, "other": SIZES[: len(values)]}))


def dropped(name, values, **parameters):
    table = pa.table({name: values, "other": SIZES[: len(values)]})
    return Columns(**parameters).fit(table).dropped_.get(name)


def encoded(columns, values):
    table = pa.table({"a": values, "other": np.zeros(len(values))})
    return columns.transform(table)[:, :-1]


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6, width=32)), min_size=3, max_size=40))
def test_numbers_are_centred_and_keep_their_units(values):
    given_values = [value for value in values if value is not None]
    if len(set(given_values)) < 3 or np.ptp(given_values) < 1e-3:
        return
    columns = fitted(pa.array(values, pa.float64()), keep=["a"])
    made = encoded(columns, pa.array(values, pa.float64()))
    assert_allclose(made[:, 0].mean(), 0, atol=1e-6)
    filled = np.array([np.median(given_values) if value is None else value for value in values])
    common = np.sqrt(np.mean(np.square([filled.std(), SIZES[: len(values)].std()])))
    assert_allclose(made[:, 0].std(), filled.std() / common, rtol=1e-6)
    if made.shape[1] > 1:
        assert made[:, 1].tolist() == [float(value is None) for value in values]


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_any_number_comes_out_finite(values):
    assert np.isfinite(encoded(fitted(SIZES), values)).all()


def test_the_median_stands_for_what_is_missing_or_infinite():
    columns = fitted([1.0, 2.0, 9.0, None])
    known = encoded(columns, [2.0, 9.0])
    made = encoded(columns, [None, float("inf"), float("nan"), 1e200])
    assert np.all(made[:, 0] == known[0, 0])
    assert np.all(made[:, 1] == 1)


def test_numbers_written_as_text_are_numbers():
    text = ["1e3", " 4 ", "-2.5", "+7", "", "NA", "inf", "None", "?"]
    plain = [1000.0, 4.0, -2.5, 7.0, None, None, None, None, None]
    as_text, as_numbers = fitted(text), fitted(plain)
    assert as_text.encodings_ == as_numbers.encodings_
    assert_allclose(encoded(as_text, plain), encoded(as_numbers, text))


def test_booleans_are_numbers_in_any_spelling():
    values = [True, False, False] * 4
    spelled = ["True", "false", "FALSE"] * 4
    assert fitted(values).encodings_ == fitted(spelled).encodings_
    assert_allclose(encoded(fitted(values), spelled), encoded(fitted(spelled), values))


@given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=30))
def test_rows_that_differ_in_a_category_are_1_apart(values):
    columns = fitted(list("abc") * 10)
    made = encoded(columns, values)
    distances = np.linalg.norm(made[:, None] - made[None], axis=2)
    expected = np.array(values)[:, None] != np.array(values)
    assert_allclose(distances, expected, atol=1e-12)


def test_categories_have_columns_with_names():
    columns = fitted(["a"] * 20 + ["b"] * 9 + ["c"] * 4 + ["d"] * 3 + [None] * 2)
    names = columns.get_feature_names_out().tolist()
    assert names == ["a=a", "a=b", "a=rare", "a=missing", "a=never seen", "other"]
    made = encoded(columns, ["b", "d", "c", "", "new", "a"])
    assert made.argmax(axis=1).tolist() == [1, 2, 2, 3, 4, 0]
    assert np.count_nonzero(made) == 6


def test_a_labelled_row_is_encoded_as_if_learned_from_the_others():
    """The slow twin: for each row, an encoding of the other rows."""
    values = ["a"] * 20 + ["b"] * 9 + ["c"] * 4 + ["d"] * 3 + ["e", "f", None]
    table = pa.table({"a": values, "other": np.arange(len(values)) % 7.5})
    made, names = Columns().fit_transform(table), Columns().fit(table).get_feature_names_out()
    for row in range(len(values)):
        others = Columns().fit(table.filter(np.arange(len(values)) != row))
        if values[row] is None:
            continue  # without this row nothing is missing
        (twin,) = others.transform(table.slice(row, 1))
        one = others.get_feature_names_out()[twin[:-1].argmax()]
        assert names[made[row, :-1].argmax()] == one


@pytest.mark.parametrize("kind", ["zipf", "even", "by class"])
def test_in_a_random_split_no_column_tells_new_rows_from_labelled_ones(kind):
    """Rows that stand alone are equally many; in common categories, but for half of the noise."""
    rng = np.random.default_rng(0)
    chance = 1 / np.arange(1, 121) ** (0.0 if kind == "even" else 1.0)
    tables = np.zeros((2, 2))
    for _ in range(20):
        words = np.char.add("p", rng.choice(120, 1400, p=chance / chance.sum()).astype(str))
        if kind == "by class":
            words = np.char.add(words, rng.choice(["x", "y"], 1400))
        columns = Columns(keep=["p"])
        old = columns.fit_transform(pa.table({"p": words[:700]}))
        new = columns.transform(pa.table({"p": words[700:]}))
        own = [name.startswith("p=p") for name in columns.get_feature_names_out()]
        for place, rows in enumerate((old, new)):
            alone = (rows[:, -1] > 0).sum()
            tables[place] += [(rows[:, own] > 0).sum(), alone]
    common, alone = np.diff(tables, axis=0)[0] / 20
    assert abs(common) < np.sqrt(700) / 2
    assert abs(alone) < 3.5 * np.sqrt(tables[:, 1].sum()) / 20


@pytest.mark.parametrize(
    ("counts", "fewest"), [([300, 200, 5, 2, 1], 5), ([5, 6, 7, 8, 9] * 20 + [400], 13)]
)
def test_where_many_categories_are_nearly_rare_more_rows_make_a_common_one(counts, fewest):
    assert least_common(counts, 5) == fewest


def test_only_the_most_common_categories_have_a_column():
    values = ["a"] * 20 + ["b"] * 9 + ["c"] * 8
    names = fitted(values, most_categories=2).get_feature_names_out().tolist()
    assert names == ["a=a", "a=b", "a=rare", "a=never seen", "other"]


def test_a_category_missing_for_the_first_time_is_the_most_common():
    columns = fitted(["a"] * 20 + ["b"] * 9)
    assert_allclose(encoded(columns, [None, "a"])[0], encoded(columns, ["a", "a"])[0])


def test_declared_categories_are_categories():
    values = pa.array(["1", "2"] * 10).dictionary_encode()
    assert isinstance(fitted(values).encodings_[0], CategoryEncoding)
    for kind in (pl.Categorical, pl.Enum(["1", "2", "3"])):
        frame = pl.DataFrame({"a": pl.Series(["1", "2"] * 10, dtype=kind), "other": SIZES[:20]})
        assert Columns().fit(frame).encodings_ == fitted(values).encodings_


shuffled_run = RNG.permutation(N) + 17
LEFT_OUT = {
    "constant": ("c", [3.0] * N, "has the same value in all labelled rows"),
    "constant text": ("c", ["x"] * N, "has the same value in all labelled rows"),
    "all missing": ("c", pa.nulls(N), "has no value in the labelled rows"),
    "all missing text": ("c", ["", "NA"] * (N // 2), "has no value in the labelled rows"),
    "index": ("c", np.arange(N), "looks like an id: whole numbers, no two the same"),
    "gaps": ("c", np.sort(RNG.choice(10**6, N, False)), "looks like an id: whole numbers, no two"),
    "run": ("c", shuffled_run, "looks like an id: whole numbers, no two the same"),
    "named": ("user_id", RNG.choice(10**6, N, False), "looks like an id: whole numbers, no two"),
    "text id": ("c", [f"k{i}" for i in range(N)], "looks like an id: text, no two the same"),
    "free text": ("c", [f"t{i // 2}" for i in range(N)], "looks like free text: most values"),
    "dates": ("c", [date(2024, 1, 1 + i % 9) for i in range(N)], "holds dates or times"),
    "date text": ("c", [f"2024-01-{10 + i % 9}" for i in range(N)], "holds dates or times"),
    "other dates": ("c", ["31/01/2024", "2024-01-31T10:00", "9:30"] * 20, "holds dates or times"),
    "lists": ("c", [[1]] * N, "holds lists of numbers: --features uses them"),
    "structs": ("c", [{"a": 1}] * N, "holds neither numbers nor text, but struct"),
    "intervals": (
        "c",
        pa.array(pd.arrays.IntervalArray.from_breaks(range(N + 1))),
        "holds neither numbers nor text, but extension<pandas.interval",
    ),
    "bytes": ("c", [b"x"] * N, "holds neither numbers nor text, but binary"),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_is_of_no_use_is_left_out_and_named(case):
    name, values, reason = LEFT_OUT[case]
    table = pa.table({name: values, "other": SIZES})
    columns = Columns().fit(table)
    assert columns.dropped_[name].startswith(reason)
    assert columns.get_feature_names_out().tolist() == ["other"]
    (notice,) = columns.notices_
    assert (notice.code, notice.severity) == ("columns_not_used", "note")
    assert notice.text.startswith(f"Not used: {name!r} ({reason}")
    assert notice.text in columns.statement()


def test_pairs_of_numbers_are_no_dates():
    assert dropped("c", ["3-1", "5-2"] * (N // 2)) is None


@pytest.mark.parametrize(
    ("name", "is_id"),
    [
        *((name, True) for name in ("user_id", "orderId", "", "Unnamed: 0", "PID", "uuid", "row")),
        *((name, True) for name in ("sample key", "house_nr", "index", "uid")),
        *((name, False) for name in ("grid", "bid", "acid", "monkey", "arrow", "no", "NO")),
    ],
)
def test_names_of_ids_are_known(name, is_id):
    assert (ID_NAME.fullmatch(name) is not None) is is_id


ROWS = np.random.default_rng(7).permutation(450)
IDS = {
    "drawn of a dense range": 526_301_100 + np.sort(RNG.choice(2930, 450, replace=False)),
    "twice in order": np.concatenate([np.sort(RNG.choice(10**7, 225, replace=False))] * 2)
    + np.repeat([0, 10**7 + 1], 225)[::-1],
    "a run": np.arange(450),
}


@pytest.mark.parametrize("case", IDS)
def test_ids_are_ids_in_any_order_that_tables_have(case):
    values = IDS[case]
    told = "looks like an id: whole numbers, no two the same"
    parts = np.concatenate([values[300:], values[:300]])  # rows that were appended
    for order in (values, parts, values[::-1]):
        assert Columns().fit(pa.table({"c": order, "other": RNG.normal(size=450)})).dropped_ == {
            "c": told
        }
    if case != "twice in order":  # numbers far apart are told from measurements by order alone
        assert Columns().fit(pa.table({"c": values[ROWS], "x": ROWS % 7})).dropped_ == {"c": told}


MEASURED = {
    "prices": np.unique(np.exp(RNG.normal(12, 0.5, 600)).round()),
    "areas": RNG.normal(9000, 3000, 450).round(),
    "sparse": RNG.choice(10**6, 450, replace=False),
    "years": RNG.integers(1900, 2020, 450),
    "large counts": RNG.poisson(3e6, 300),
    "few of a range": np.array([3, 1, 4, 15, 9, 2, 6, 5, 35, 8, 97, 93]),
}


@pytest.mark.parametrize("case", MEASURED)
def test_measurements_in_whole_numbers_stay(case):
    values = RNG.permutation(MEASURED[case])
    table = pa.table({"c": values, "other": RNG.normal(size=len(values))})
    assert Columns().fit(table).dropped_ == {}


def test_a_column_without_a_name_is_spoken_of_as_that():
    table = pa.table({"": np.arange(N), "id": np.arange(N), "x": SIZES})
    (notice,) = Columns().fit(table).notices_
    assert notice.text.startswith("Not used: a column without a name and 'id' (each looks like")


def test_whole_numbers_in_no_order_are_numbers():
    assert dropped("c", RNG.choice(10**6, N, replace=False)) is None
    assert dropped("c", RNG.integers(0, 9, N)) is None


def test_keep_and_drop_overrule():
    table = pa.table({"id": np.arange(N), "text": [f"k{i}" for i in range(N)], "x": SIZES})
    columns = Columns(keep=["id", "text"], drop=["x"]).fit(table)
    names = columns.get_feature_names_out().tolist()
    assert names == ["id", "text=rare or never seen"]
    assert columns.dropped_ == {"x": "is left out"}
    constant = Columns(keep=["c"]).fit(pa.table({"c": [3.0] * N}))
    assert constant.transform(pa.table({"c": [3.0, 4.0]})).tolist() == [[0.0], [1.0]]


def test_a_constant_with_gaps_says_where_the_gaps_are():
    columns = fitted([5.0, None] * 10)
    assert columns.get_feature_names_out().tolist() == ["a=missing", "other"]
    assert encoded(columns, [7.0, None]).tolist() == [[0.0], [1.0]]


def test_the_label_never_enters():
    table = pa.table({"y": RNG.normal(size=N), "x": SIZES})
    assert Columns(label="y").fit(table).get_feature_names_out().tolist() == ["x"]


def error_of(call):
    with pytest.raises(ValueError) as caught:
        call()
    return str(caught.value)


def test_errors_of_training():
    table = pa.table({"y": ["a"] * N, "x": SIZES, "l": [[1]] * N})
    told = error_of(lambda: Columns(label="y", drop=["x", "l"]).fit(table))
    assert told == "TRAIN must have a column to use; 'x', 'l' (each is left out)."
    told = error_of(
        lambda: Columns(label="y", drop=["x"]).fit(table.append_column("z", [["a"] * N]))
    )
    assert told.startswith("TRAIN must have a column to use; 'x' (is left out); 'l' (holds lists")
    assert told.endswith("'z' (has the same value in all labelled rows).")
    told = error_of(lambda: Columns(label="y", text=["y"]).fit(table, new=table))
    assert told == "text must name neither the label nor columns to drop; got 'y'."
    told = error_of(lambda: Columns(label="y", unit_rows=True).fit(table))
    assert told.startswith("unit_rows must have embeddings or texts to divide")
    told = error_of(lambda: Columns(keep=["l"]).fit(table))
    assert told.startswith("keep must name columns of use; 'l' holds lists of numbers: --features")
    told = error_of(lambda: Columns(keep=["z"]).fit(table))
    assert told == "keep must name columns of TRAIN; not there: 'z'."
    told = error_of(lambda: Columns(label="y", keep=["y"]).fit(table))
    assert told == "keep must name neither the label nor columns to drop; got 'y'."
    told = error_of(lambda: Columns(drop="x").fit(table))
    assert told == "drop must be a list of names; got 'x'."
    told = error_of(lambda: Columns(rare_below=0).fit(table))
    assert told == "rare_below must be at least 1; got 0."
    assert error_of(lambda: Columns().fit(table[:0])) == "TRAIN must have rows; got none."
    with pytest.raises(TypeError, match=r"table must be a pyarrow, pandas or polars .*; got ndarr"):
        Columns().fit(SIZES[:, None])
    mixed = pd.DataFrame({"a": [1, "x", 2.5]}, dtype=object)
    for wrong in (mixed, mixed.assign(a=1j), mixed.assign(a=[2**70] * 3)):
        told = error_of(lambda wrong=wrong: Columns().fit(wrong))
        assert told.startswith("each column of a table must hold values of one type that pyarrow")


def test_errors_of_new_rows():
    columns = Columns().fit(pa.table({"a": SIZES, "b": ["u", "v"] * (N // 2), "c": SIZES}))
    told = error_of(lambda: columns.transform(pa.table({"c": SIZES})))
    advice = " --drop leaves a column out."
    assert told == f"columns of NEW must include those of TRAIN; missing: 'a', 'b'.{advice}"
    new = {"a": ["1", "2,5"], "b": ["u", "v"], "c": [1.0, 2.0]}
    for call in (columns.transform, columns.transform_new):
        told = error_of(lambda call=call: call(pa.table(new)))
        assert told == (
            "column 'a' must hold numbers with '.' before the decimals in NEW as it does in TRAIN; "
            "got '2,5', in row 2."
        )
    wrong = pa.table({**new, "a": ["1", "high"]})
    assert error_of(lambda: columns.transform(wrong)) == (
        "column 'a' must hold numbers in NEW as it does in TRAIN; got 'high', in row 2. If it "
        "means missing: --missing 'high'."
    )
    told = error_of(lambda: columns.transform_new(pa.table(new)[:0]))
    assert told == "NEW must have rows; got none."
    told = error_of(lambda: columns.transform_new(pa.table({**new, "a": [None, float("nan")]})))
    empty = "columns of NEW must have values as in TRAIN; none is in"
    assert told == f"{empty} 'a'. --drop leaves a column out."
    both = pa.table({**new, "a": [None, None], "b": ["", None]})
    told = error_of(
        lambda: columns.transform_new(
            both.cast(pa.schema([("a", pa.float64()), ("b", pa.string()), ("c", pa.float64())]))
        )
    )
    assert told == f"{empty} 'a', 'b'. --drop leaves a column out."
    told = error_of(lambda: columns.transform(pa.table({**new, "a": [1, 2], "b": [[1], [2]]})))
    assert told.startswith("column 'b' must hold text in NEW as it does in TRAIN; it holds neither")
    told = error_of(lambda: columns.transform(pa.table({**new, "a": [date(2024, 1, 1)] * 2})))
    assert told == "column 'a' must hold numbers in NEW as it does in TRAIN; got 'date32[day]'."


def test_notices_of_new_rows():
    train = pa.table({"y": ["p", "q"] * 30, "a": SIZES, "b": ["u", "v"] * 30, "c": [1] * N})
    columns = Columns(label="y").fit(train)
    new = {"a": [1.0, None], "b": ["u", "w"], "c": [1, 2], "extra": [0, 0], "y": ["", ""]}
    encoded, notices = columns.transform_new(pa.table(new))
    assert_allclose(encoded, columns.transform(pa.table(new)))
    assert [(one.code, one.severity, one.about, one.text) for one in notices] == [
        ("columns_only_in_new", "note", None, "Ignored columns that only NEW has: 'extra'."),
        ("label_in_new", "note", "y", "Ignored: the label 'y', which NEW has too."),
        (
            "constant_in_train",
            "note",
            None,
            "Not used, but may matter: 'c' (has one value in TRAIN and others in NEW).",
        ),
        (
            "newly_missing",
            "warning",
            "a",
            "Column 'a' is missing in 50.0% of the new rows and in none of the labelled ones; "
            "they get the median.",
        ),
        (
            "new_category",
            "warning",
            "b",
            "Column 'b' holds a category that the labelled rows never show in 50.0% of the new "
            "rows, such as 'w'.",
        ),
    ]
    assert columns.transform_new(train, besides=["y"])[1] == ()


def test_several_columns_share_a_notice_of_what_is_new_in_them():
    names = [f"c{place}" for place in range(7)]
    columns = Columns().fit(pa.table(dict.fromkeys(names, ["u", "v"] * 30) | {"a": SIZES}))
    new = pa.table({**dict.fromkeys(names, ["u"] * 18 + ["w", None]), "a": [1.0] * 19 + [None]})
    gaps, categories = columns.transform_new(new)[1]
    assert (gaps.code, gaps.severity, gaps.about) == ("newly_missing", "warning", None)
    assert gaps.text.startswith("Missing in new rows and in none of the labelled ones: 'c0' (5.0%)")
    assert gaps.text.endswith("and 3 more; they get the most common category or the median.")
    assert categories.code == "new_category"
    assert "'c0' (5.0%, such as 'w'), 'c1' (5.0%, such as 'w')" in categories.text
    assert categories.text.endswith("and 2 more.")


@pytest.mark.parametrize(("n_new", "severity"), [(1, "note"), (5, "warning")])
def test_a_departure_in_few_rows_is_a_note(n_new, severity):
    columns = Columns().fit(pa.table({"a": SIZES, "b": ["u", "v"] * 30}))
    n_old = 100 - n_new
    new = {"a": [1.0] * n_old + [None] * n_new, "b": ["u"] * n_old + ["w"] * n_new}
    notices = columns.transform_new(pa.table(new))[1]
    assert [(one.code, one.severity) for one in notices] == [
        ("newly_missing", severity),
        ("new_category", severity),
    ]


@pytest.mark.parametrize(
    ("constant", "same", "other"),
    [([1] * N, ["1.0"], ["x"]), ([1] * N, [1.0], [2]), (["u"] * N, [" u"], ["w"])],
)
def test_a_constant_that_is_another_in_new_rows_is_noticed(constant, same, other):
    columns = Columns().fit(pa.table({"x": SIZES, "c": constant}))
    for values, codes in (
        (same, []),
        (other, ["constant_in_train"]),
        ([None], ["constant_in_train"]),
    ):
        notices = columns.transform_new(pa.table({"x": [0.0], "c": values}))[1]
        assert [one.code for one in notices] == codes


def test_used_and_constant_columns_of_new_rows_are_looked_at():
    columns = Columns().fit(pa.table({"size": [1.0, 2.0, 4.0], "site": ["north"] * 3}))
    assert columns.looked_at(["day", "site", "size"]) == ["site", "size"]


def test_numbers_that_came_as_text_are_numbers_in_what_is_written():
    columns = Columns().fit(pa.table({"size": ["1", "2", "4"] * 4}))
    found = columns.typed(pa.table({"id": ["007"] * 3, "size": ["3", "", "inf"]}))
    assert found["id"].to_pylist() == ["007"] * 3
    assert found["size"].to_pylist() == [3.0, None, None]


def test_a_column_named_like_an_id_but_used_is_noticed():
    columns = Columns().fit(pa.table({"shop_id": [1, 2, 3] * 20}))
    (notice,) = columns.notices_
    assert notice.code == "named_like_id"
    assert notice.text == "Used, though named like an id: 'shop_id'. Leave ids out: --drop."


def test_the_statement_says_what_was_done():
    table = pa.table({"a": SIZES, "b": ["u", "v", None] * 20, "c": [1] * N})
    assert Columns().fit(table).statement() == [
        "1 numeric column: centred, and divided by its standard deviation in the labelled rows.",
        "Missing, infinite and huge (over 1e+100) numbers are replaced by the median.",
        "1 text column: each category becomes a 0/1 column, scaled so that rows of two categories "
        "lie as far apart as one standard deviation of a typical numeric column. A scorer that "
        "gives each column the same spread, as the default does, weighs a rare category more.",
        "Categories with fewer than 5 labelled rows (more where many categories are nearly as "
        "rare), or beyond the 100 most common, share a column. Categories that no other labelled "
        "row shows have a column of their own, in labelled rows and in new ones alike.",
        "A 0/1 column each says where a value is missing: 'b'.",
        "Not used: 'c' (has the same value in all labelled rows).",
    ]


def test_pandas_polars_and_pyarrow_give_the_same_numbers():
    data = {
        "x": SIZES,
        "text": [str(size) for size in SIZES],
        "colour": ["red", "blue", None] * 20,
        "flag": [True, False] * 30,
    }
    arrow = pa.table(data)
    frames = [pl.from_arrow(arrow), arrow.to_pandas(), pd.DataFrame(data), arrow.to_batches()[0]]
    expected = Columns().fit(arrow)
    for frame in frames:
        columns = Columns().fit(frame)
        assert columns.encodings_ == expected.encodings_
        assert_allclose(columns.transform(frame), expected.transform(arrow))


def test_it_is_a_scikit_learn_transformer():
    frame = pd.DataFrame({"x": SIZES, "colour": ["red", "blue", None] * 20})
    y = (SIZES > 5).astype(int)
    columns = Columns(rare_below=3, keep=("x",))
    assert clone(columns).get_params() == columns.get_params()
    model = make_pipeline(columns, LogisticRegression()).fit(frame, y)
    assert model.score(frame, y) > 0.9
    wide = clone(columns).set_output(transform="pandas").fit_transform(frame)
    assert list(wide.columns) == list(columns.get_feature_names_out())


def test_skops_saves_and_loads_it():
    skops_io = pytest.importorskip("skops.io")
    table = pa.table({"x": SIZES, "colour": ["red", "blue", None] * 20, "id": np.arange(N)})
    columns = Columns(label=None, drop=[]).fit(table)
    saved = skops_io.dumps(columns)
    trusted = skops_io.get_untrusted_types(data=saved)
    assert {name.rpartition(".")[0] for name in trusted} <= {
        "unseen.records",
        "unseen.tables.columns",
        "unseen.tables.encodings",
    }
    loaded = skops_io.loads(saved, trusted=trusted)
    assert loaded.statement() == columns.statement()
    assert_allclose(loaded.transform(table), columns.transform(table))


def test_the_index_of_pandas_is_no_feature():
    frame = pd.DataFrame({"y": ["p", "q"] * 30, "a": SIZES}).sample(frac=1, random_state=0)
    table = pa.Table.from_pandas(frame)
    assert "__index_level_0__" in table.column_names
    columns = Columns(label="y").fit(table)
    assert list(columns.feature_names_in_) == ["a"]
    assert "index of a pandas table" in columns.dropped_["__index_level_0__"]


@pytest.mark.parametrize("spelt", ["blue-green", "Blue Green", "BLUE_GREEN"])
def test_a_category_in_another_spelling_is_named_beside_the_usual_one(spelt) -> None:
    train = pa.table({"colour": ["red", "blue green"] * 20, "x": np.arange(40.0)})
    new = pa.table({"colour": ["red", spelt] * 5, "x": np.arange(10.0)})
    columns = Columns().fit(train, np.repeat(["a", "b"], 20))
    (told,) = [one for one in columns.transform_new(new)[1] if one.code == "new_category"]
    assert f"{spelt!r} (which TRAIN spells 'blue green')" in told.text
