"""Every kind of bad input, and the sentence a person gets."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

import unseen
from unseen import KernelMean, mixture_proportion
from unseen.records import UnseenWarning
from unseen.samples import LabelledRows, sample_notices
from unseen.samples.checks import (
    check_closed_set,
    check_fold_rows,
    check_folds,
    check_labelled,
    check_new,
    column_names,
)
from unseen.tables import Columns

X = np.arange(12.0).reshape(6, 2) ** 1.5
Y = ["a", "b", "a", "b", "a", "b"]
FRAME = pd.DataFrame(X, columns=["age", "dose"])


class Keeper(BaseEstimator):
    """The least that a fitted estimator must note for the checks."""

    def fit(self, X, y):
        self.labelled_ = check_labelled(self, X, y)
        return self


def labelled(X, y) -> LabelledRows:
    return check_labelled(Keeper(), X, y)


def with_bad(value: float, kind=np.asarray):
    rows = X.copy()
    rows[4, 1] = value
    return kind(rows)


# --- the labelled sample ---------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_array])
def test_not_finite_is_located(value, kind) -> None:
    message = r"X must be finite; got 1 NaN or infinite values, the first in row 4, column 1\."
    with pytest.raises(ValueError, match=message):
        Keeper().fit(with_bad(value, kind), Y)


def test_not_finite_names_the_column() -> None:
    frame = pd.DataFrame(with_bad(np.nan), columns=["age", "dose"])
    with pytest.raises(ValueError, match=r"row 4, column 'dose'\. Fill them in or drop"):
        Keeper().fit(frame, Y)


@pytest.mark.parametrize(
    ("rows", "labels", "error", "message"),
    [
        (X[:0], [], ValueError, r"X must hold at least one row; got n_samples=0\."),
        (X[:1], ["a"], ValueError, r"X must hold at least 2 rows; got n_samples=1\."),
        (X[:, 0], Y, ValueError, r"X must be 2-d \(rows, columns\); got ndarray of shape \(6,\)\."),
        (None, Y, ValueError, r"X must be 2-d \(rows, columns\); got NoneType of shape \(\)\."),
        ([[1, 2], [3]] * 3, Y, ValueError, "X must have rows of one length; .*inhomogeneous"),
        (X, [["a"], ["b", "c"]] * 3, ValueError, "y must hold one label per row of X; .*inhomog"),
        (X, None, ValueError, r"Keeper requires y to be passed, but the target y is None\."),
        (X, Y[:5], ValueError, r"y must have one label per row of X; got 5 labels for 6 rows\."),
        (
            X,
            [1.5, 2, 1, 2, 1, 2],
            ValueError,
            r"y must hold class labels \(text, whole numbers or booleans\); got continuous "
            r"values such as 1\.5\.",
        ),
        (X, [np.inf, 2, 1, 2, 1, 2], ValueError, "got continuous values such as inf"),
        (
            X,
            np.array(["a", 1, "a", 1, "a", 1], dtype=object),
            TypeError,
            r"y must hold labels of one kind; got int, str\.",
        ),
        (
            pd.DataFrame({"colour": ["red"] * 6}),
            Y,
            ValueError,
            r"X must hold numbers; could not convert string to float: 'red'\. Encode text and",
        ),
    ],
)
def test_bad_labelled_sample(rows, labels, error, message) -> None:
    with pytest.raises(error, match=message):
        Keeper().fit(rows, labels)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", None, "a", "b", np.nan, "b"], dtype=object),
        [1.0, np.nan, 1.0, 2.0, np.nan, 2.0],
        pd.Series(["a", pd.NA, "a", "b", pd.NA, "b"], dtype="string"),
        pd.Series(["a", None, "a", "b", None, "b"], dtype="category"),
        pl.Series(["a", None, "a", "b", None, "b"]),
        ["a", float("nan"), "a", "b", float("nan"), "b"],
        ("a", pd.NA, "a", "b", None, "b"),
        [["a"], [float("nan")], ["a"], ["b"], [float("nan")], ["b"]],
    ],
    ids=[
        "object",
        "float",
        "pandas string",
        "pandas category",
        "polars",
        "list",
        "tuple",
        "column",
    ],
)
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_missing_labels_are_counted(labels) -> None:
    message = (
        r"y must have no missing labels \(NaN or None\); got 2 of 6\. "
        r"Rows without a label belong in X_new\."
    )
    with pytest.raises(ValueError, match=message):
        Keeper().fit(X, labels)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["b", "a"] * 3, ["a", "b"]),
        ([7, -1] * 3, [-1, 7]),
        ([True, False] * 3, [False, True]),
        ([2.0, 1.0] * 3, [1.0, 2.0]),
        (pl.Series(["b", "a"] * 3), ["a", "b"]),
        (pd.Series(["b", "a"] * 3, dtype="category"), ["a", "b"]),
        (pd.Series([True, False] * 3), [False, True]),
        (pd.array([2, 1] * 3, dtype="Int64"), [1, 2]),
        ([2**63, -1] * 3, [-1, 2**63]),  # of which NumPy would make floats
        ([2**80 + 1, 2**80] * 3, [2**80, 2**80 + 1]),
    ],
)
def test_labels_of_every_kind(labels, classes) -> None:
    sample = Keeper().fit(X, labels).labelled_
    assert sample.classes.tolist() == classes
    assert sample.codes.tolist() == [1, 0] * 3


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (pd.array([1, None] * 3, dtype="Int64"), ValueError, "no missing labels .*; got 3 of 6"),
        (np.array(["NaT", "2024-01-01"] * 3, "M8[D]"), ValueError, "no missing labels .*; got 3"),
        ([True, 1] * 3, TypeError, "labels of one kind; got bool, int"),
        (np.array([1j, 2] * 3), ValueError, "one label per row of X; Complex data not supported.$"),
    ],
    ids=["pandas gap", "no time", "truths and numbers", "complex"],
)
def test_labels_that_would_be_taken_for_others(labels, error, message) -> None:
    with pytest.raises(error, match=rf"^y must [^\n]*{message}"):
        Keeper().fit(X, labels)


def test_one_class_is_enough() -> None:
    assert labelled(X, ["a"] * 6).classes.tolist() == ["a"]


def test_label_column_is_flattened_with_scikit_learns_warning() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        assert Keeper().fit(X, np.array(Y)[:, None]).labelled_.codes.tolist() == [0, 1] * 3


# --- the new sample -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fitted_on", "X_new", "message"),
    [
        (X, X[:0], r"X_new must hold at least one row; got n_samples=0\."),
        (X, with_bad(np.nan), r"X_new must be finite; got 1 NaN .* row 4, column 1\."),
        (FRAME, with_bad(np.inf), r"X_new must be finite; .* row 4, column 'dose'\."),
        (X, None, r"X_new must be 2-d \(rows, columns\); got NoneType of shape \(\)\."),
        (X, [[1, 2], [3]], "X_new must have rows of one length; .*inhomogeneous"),
        (FRAME, FRAME.assign(pair=[[1, 2]] * 6), r"columns of X; it adds 'pair'\."),
        (FRAME, FRAME.assign(dose=[[1, 2]] * 6), "X_new must hold numbers; setting an array"),
        (X, X[:, :1], r"X_new must have the 2 columns of X; got 1\."),
        (X, sparse.csr_array(X[:, :1]), r"X_new must have the 2 columns of X; got 1\."),
        (
            X,
            Y,
            r"X_new must be 2-d with the 2 columns of X; got 6 values in 1-d, all of them class "
            r"labels\. X_new takes features, not labels\.",
        ),
        (X, pd.Series(Y), "all of them class labels"),
        (X, X[:, 0], r"X_new must be 2-d with the 2 columns of X; got 6 values in 1-d\."),
        (
            FRAME,
            FRAME.assign(species=Y),
            r"X_new must hold features only; its extra column 'species' holds class labels\. "
            r"Drop it\.",
        ),
        (FRAME, FRAME.assign(weight=1.0), r"must have the columns of X; it adds 'weight'\."),
        (FRAME, FRAME[["age"]], r"must have the columns of X; it lacks 'dose'\."),
        (
            FRAME,
            FRAME.rename(columns={"dose": "Dose"}),
            r"must have the columns of X; it lacks 'dose' and it adds 'Dose'\.",
        ),
        (
            FRAME,
            FRAME[["dose", "age"]],
            r"columns of X in the same order; got 'dose', 'age' where X has 'age', 'dose'\.",
        ),
        (FRAME, pl.DataFrame({"age": [1.0]}), r"it lacks 'dose'\."),
        (
            FRAME,
            FRAME.assign(dose="high"),
            "X_new must hold numbers; could not convert string to float: 'high'",
        ),
    ],
)
def test_bad_new_sample(fitted_on, X_new, message) -> None:
    with pytest.raises(ValueError, match=message):
        check_new(labelled(fitted_on, Y), X_new)


@pytest.mark.parametrize(("place", "word"), [(2, "last"), (0, "first")])
def test_unnamed_label_column_is_spotted(place, word) -> None:
    labels = [0, 1] * 3
    X_new = np.insert(X + 0.5, place, labels, axis=1)
    message = rf"must have the 2 columns of X; got 3\. Its {word} column holds class labels"
    with pytest.raises(ValueError, match=message):
        check_new(labelled(X, labels), X_new)


@pytest.mark.parametrize(
    "kind",
    [pd.DataFrame, pl.DataFrame, np.ndarray.tolist, sparse.csr_array, sparse.csr_matrix],
)
def test_every_container_gives_the_same_rows(kind) -> None:
    assert_array_equal(check_new(labelled(X, Y), kind(X + 1)), X + 1)
    rows = labelled(kind(X), Y).rows
    assert_array_equal(rows.toarray() if sparse.issparse(rows) else rows, X)


def test_new_rows_are_stored_like_the_labelled_ones() -> None:
    assert sparse.issparse(check_new(labelled(sparse.csr_array(X), Y), X))
    assert isinstance(check_new(labelled(X, Y), sparse.csc_matrix(X)), np.ndarray)


class Tensor:
    """As a tensor with a gradient on a graphics card: no array until it is asked for one."""

    def __init__(self, values, on_host: bool = False) -> None:
        self.values, self.on_host = np.asarray(values), on_host
        self.shape = self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        if not self.on_host:
            raise TypeError("can't convert this tensor to numpy")
        return self.values.astype(dtype or self.values.dtype)

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.values, on_host=True)


def test_tensors_are_fetched_from_their_device() -> None:
    sample = labelled(Tensor(X), Tensor(np.arange(6) % 2))
    assert_array_equal(sample.rows, X)
    assert sample.classes.tolist() == [0, 1]
    assert_array_equal(check_new(sample, Tensor(X + 1)), X + 1)
    with pytest.raises(ValueError, match="got 6 values in 1-d, all of them class labels"):
        check_new(sample, Tensor(np.arange(6) % 2))


def test_tensors_reach_the_mixture_estimators() -> None:
    F, H = np.random.default_rng(0).normal(size=(2, 30, 2))
    expected = mixture_proportion(F, H, KernelMean(), random_state=0).proportion
    found = mixture_proportion(Tensor(F), Tensor(H), KernelMean(), random_state=0).proportion
    assert found == expected


def test_any_object_that_offers_an_array() -> None:
    class Offer:
        """Speaks NumPy's protocol and no more."""

        shape = X.shape

        def __len__(self) -> int:
            return len(X)

        def __array__(self, dtype=None, copy=None):
            return np.array(X, dtype=dtype)

    assert_array_equal(Keeper().fit(Offer(), Y).labelled_.rows, X)


def test_pyarrow_tables() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"age": X[:, 0], "dose": X[:, 1]})
    sample = labelled(table, pyarrow.array(Y))
    assert_array_equal(sample.rows, X)
    with pytest.raises(ValueError, match="it lacks 'dose'"):
        check_new(sample, table.select(["age"]))


DATES = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=6)})


@pytest.mark.parametrize(
    "rows",
    [DATES, DATES - DATES.iloc[0], FRAME.assign(day=DATES), pl.from_dict({"day": DATES.day})],
    ids=["dates", "times", "among numbers", "polars"],
)
def test_dates_are_no_numbers(rows) -> None:
    with pytest.raises(TypeError, match=r"X must hold numbers; got dates or times\. Encode"):
        Keeper().fit(rows, Y)
    with pytest.raises(TypeError, match=r"H must hold numbers; got dates or times\. Encode"):
        mixture_proportion(rows, rows)


def test_column_names() -> None:
    assert column_names(FRAME) == ["age", "dose"]
    assert column_names(pl.DataFrame({"age": [1]})) == ["age"]
    assert column_names(pd.DataFrame(X)) is None
    assert column_names(X) is None


def test_a_sample_without_names_beside_a_table_of_text_is_named() -> None:
    text = FRAME.assign(sex=["f", "m"] * 3)
    rule = r"must be a table with named columns, as .* holds text, dates or gaps; got ndarray"
    for name, given in {"X": (X, Y, text), "X_new": (text, Y, X)}.items():
        with pytest.raises(TypeError, match=f"^{name} {rule}"):
            unseen.estimate(*given)
    with pytest.raises(TypeError, match=f"^control {rule}"):
        unseen.estimate(text, Y, text, control=X)


@pytest.mark.parametrize("kind", ["numbers", "text", "pyarrow"])
def test_a_table_names_each_column_once(kind) -> None:
    once, twice = FRAME, FRAME.set_axis(["age", "age"], axis=1)
    if kind == "text":
        once, twice = (one.assign(sex=["f", "m"] * 3) for one in (once, twice))
    if kind == "pyarrow":
        twice = pa.Table.from_arrays(list(X.T), names=["age", "age"])
    rule = "must name each column once; 'age' occurs twice"
    with pytest.raises(ValueError, match=f"^X {rule}"):
        unseen.estimate(twice, Y, once)
    with pytest.raises(ValueError, match=f"^X_new {rule}"):
        unseen.estimate(once, Y, twice)
    with pytest.raises(ValueError, match=f"^X {rule}"):
        Keeper().fit(twice, Y)
    with pytest.raises(ValueError, match=f"^a table {rule}"):
        Columns().fit(twice)


# --- both samples together -------------------------------------------------------------------


def test_a_single_class_given_to_a_closed_set_method() -> None:
    check_closed_set(np.array([0, 1]))
    message = (
        r"y must hold at least 2 classes for a closed-set method; got only 'a'\. "
        r"With one known class use an open-set method such as MPEIncomplete\."
    )
    with pytest.raises(ValueError, match=message):
        check_closed_set(np.array(["a"]))


def test_a_class_with_fewer_rows_than_folds() -> None:
    sample = LabelledRows(X, np.array(["a", "b"]), np.array([0, 0, 0, 0, 1, 1]))
    check_folds(sample, 2)
    check_fold_rows(4, "X_new", 2)
    message = (
        r"each class must have at least n_folds=3 rows, so that every fold holds one; 'b' has 2\. "
        r"Lower n_folds of the estimator, add rows, or leave the class out of X and y\."
    )
    with pytest.raises(ValueError, match=message):
        check_folds(sample, 3)
    with pytest.raises(ValueError, match="'a' has 4, 'b' has 2"):
        check_folds(sample, 5)
    with pytest.raises(ValueError, match=r"X_new must have at least n_folds=2 rows.*; got 1\."):
        check_fold_rows(1, "X_new", 2)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_constant_features_are_listed(kind) -> None:
    rows = np.column_stack([X, np.full(6, 3.0), np.zeros(6)])
    (notice,) = sample_notices(labelled(kind(rows), Y), kind(rows[:, [1, 0, 2, 3]]))
    assert notice.code == "constant_columns"
    assert notice.text == (
        "2 of 4 features are constant over X and X_new and carry no information: "
        "column 2, column 3."
    )


def test_constant_in_one_sample_only_is_no_fault() -> None:
    known = np.column_stack([X, np.zeros(6)])
    new = np.column_stack([X + 0.5, np.ones(6)])
    assert sample_notices(labelled(known, Y), new) == ()


def test_long_lists_of_constants_are_cut() -> None:
    rows = np.column_stack([np.arange(6.0), np.ones((6, 7))])
    new = rows.copy()
    new[:, 0] += 0.5
    (notice,) = sample_notices(labelled(rows, Y), new)
    assert notice.text.endswith("column 1, column 2, column 3, column 4, column 5 and 2 more.")


def test_nothing_but_constants_is_an_error() -> None:
    rows = np.ones((6, 2))
    message = r"must vary in at least one feature; got 2 that are all constant, so nothing tells"
    with pytest.raises(ValueError, match=message):
        sample_notices(labelled(rows, Y), rows)


def test_the_warning_points_at_the_line_of_the_user() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(
        UnseenWarning, match="40 of 40 new rows are also among the labelled rows"
    ) as caught:
        unseen.estimate(rows, ["a", "b"] * 20, rows, random_state=0)
    assert [warning.filename for warning in caught] == [__file__]


def test_lost_column_names_are_mentioned() -> None:
    sample = labelled(FRAME, Y)
    (notice,) = sample_notices(sample, X + 0.5, given=X + 0.5)
    assert notice.code == "names_on_one_side"
    assert notice.text == (
        "X has column names and X_new has none: columns were matched by their order."
    )
    assert sample_notices(sample, X + 0.5, given=FRAME + 0.5) == ()


# --- values and containers that would do harm without a word ----------------------------------


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [1e101, -1e300])
def test_values_whose_squares_overflow_are_located(value, kind) -> None:
    got = re.escape(f"got {value:g} in row 4, column 1.")
    with pytest.raises(ValueError, match=rf"X must hold numbers of at most 1e\+100, .*{got}"):
        Keeper().fit(with_bad(value, kind), Y)


@pytest.mark.parametrize("scale", [1e-110, 1e-170, 1e-300])
def test_differences_whose_squares_vanish_are_no_differences(scale) -> None:
    message = "must vary in at least one feature; got 2 that are all constant or vary by less than"
    with pytest.raises(ValueError, match=message):
        sample_notices(labelled(X * scale, Y), (X + 0.1) * scale)
    beside = np.column_stack([X[:, 0], X[:, 1] * scale])
    (notice,) = sample_notices(labelled(beside, Y), beside + np.array([0.1, 0.0]))
    assert notice.code == "constant_columns"


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil"])
def test_indices_of_a_sparse_matrix_that_point_outside_are_seen(kind) -> None:
    rows = sparse.coo_array(X).asformat(kind)
    if kind == "lil":
        rows.rows[0] = [0, 10_000_000]
    elif kind == "coo":
        rows.col[0] = 10_000_000
    else:
        rows.indices[0] = 10_000_000
    with pytest.raises(ValueError, match=r"X must hold numbers; .*ind"):
        Keeper().fit(rows, Y)


def test_single_precision_and_matrices_of_zeros_pass() -> None:
    assert labelled(X.astype(np.float32), Y).rows.dtype == np.float32
    assert labelled(sparse.csr_array(X.shape), Y).rows.nnz == 0


def test_dates_of_polars_are_no_numbers() -> None:
    dates = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 6), eager=True)
    for times in (dates, dates - dates[0], dates.cast(pl.Datetime)):
        frame = pl.DataFrame({"size": X[:, 0], "day": times})
        with pytest.raises(TypeError, match="X must hold numbers; got dates or times"):
            Keeper().fit(frame, Y)


def test_values_under_a_mask_are_not_used() -> None:
    hidden = np.zeros_like(X, dtype=bool)
    hidden[:2] = True
    with pytest.raises(ValueError, match=r"X must have no masked values; got 4\."):
        Keeper().fit(np.ma.array(X, mask=hidden), Y)
    with pytest.raises(ValueError, match=r"y must have no masked values; got 2\."):
        Keeper().fit(X, np.ma.array(Y, mask=hidden[:, 0]))
    with pytest.raises(ValueError, match=r"X_new must have no masked values; got 4\."):
        check_new(labelled(X, Y), np.ma.array(X, mask=hidden))
    assert labelled(np.ma.array(X), Y).rows.shape == X.shape


def test_whole_numbers_beyond_all_floats_are_an_error_like_others() -> None:
    rows = X.astype(object)
    rows[0, 0] = 10**400
    with pytest.raises(ValueError, match="X must hold numbers; int too large"):
        Keeper().fit(rows, Y)


def test_labels_that_numpy_would_merge_are_refused() -> None:
    with pytest.raises(ValueError, match="labels that end in the NUL character"):
        Keeper().fit(X, ["a", "a\0"] * 3)
