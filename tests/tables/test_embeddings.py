"""Arrays and lists of numbers give the same numbers as the same values in number columns."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from unseen.preparing import in_units
from unseen.samples.oddities import sentinel_notices
from unseen.study import Inputs
from unseen.study.after import readable
from unseen.tables import Columns, Source, WithLabels

RNG = np.random.default_rng(0)
N, WIDTH = 60, 5
X = RNG.normal(size=(N, WIDTH)).astype(np.float32)
Y = np.repeat(["ant", "bee"], N // 2)
X_NEW = RNG.normal(size=(N // 2, WIDTH)).astype(np.float32)
LISTS = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), WIDTH)
NAMES = [f"f{place}" for place in range(WIDTH)]


def write_all(folder):
    """The same rows in every format: TRAIN with its options, and NEW."""
    for name, rows, labels in (("train", X, Y), ("new", X_NEW, None)):
        np.save(folder / f"{name}.npy", rows)
        np.save(folder / f"{name}_by_columns.npy", np.asfortranarray(rows))
        named = {"y": labels} if labels is not None else {}
        np.savez(folder / f"{name}.npz", emb=rows, **named)
        np.savez_compressed(folder / f"{name}_small.npz", emb=rows, **named)
        lists = pa.table({"emb": list(rows), **named})
        pa_parquet.write_table(lists, folder / f"{name}.parquet")
        pa_feather.write_feather(lists, folder / f"{name}.feather")
        exact = pa.table({"emb": rows.astype(float).tolist(), **named}).to_pylist()
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in exact))
        wide = pa.table({**dict(zip(NAMES, rows.T.astype(float), strict=True)), **named})
        lines = [",".join(wide.column_names)]
        lines += [",".join(map(str, row.values())) for row in wide.to_pylist()]
        (folder / f"{name}.csv").write_text("\n".join(lines))
    np.save(folder / "y.npy", Y)


FORMS = {
    "npy": ("train.npy", "new.npy", {"labels": "y.npy"}),
    "npy by columns": ("train_by_columns.npy", "new_by_columns.npy", {"labels": "y.npy"}),
    "npz": ("train.npz", "new.npz", {"label": "y", "features": ("emb",)}),
    "npz compressed": ("train_small.npz", "new_small.npz", {"label": "y"}),
    "parquet": ("train.parquet", "new.parquet", {"label": "y", "features": ("emb",)}),
    "feather": ("train.feather", "new.feather", {"label": "y"}),
    "json lines": ("train.jsonl", "new.jsonl", {"label": "y", "features": ("emb",)}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_numbers_of_csv_to_the_last_bit(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_all(tmp_path)
    expected, expected_new = Inputs("train.csv", "new.csv", label="y").read()
    train, new, options = FORMS[form]
    found, found_new = Inputs(train, new, **options).read()
    assert_array_equal(found.X, expected.X)
    assert_array_equal(found_new.X, expected_new.X)
    assert found.y.tolist() == expected.y.tolist()


def test_tables_of_python_give_the_same_numbers():
    columns = Columns(features=["emb"]).fit(pa.table({"emb": LISTS, "other": RNG.normal(size=N)}))
    expected = columns.transform(pa.table({"emb": LISTS}))
    for table in (
        pl.DataFrame({"emb": X.tolist()}, schema={"emb": pl.List(pl.Float32)}),
        pl.DataFrame({"emb": X}, schema={"emb": pl.Array(pl.Float32, WIDTH)}),
        pa.table({"emb": pa.chunked_array([LISTS[:7], LISTS[7:]])}),
        pa.table({"emb": X.tolist()}),
    ):
        assert_array_equal(columns.transform(table), expected)


def test_unit_rows_have_length_one_before_they_are_centred():
    table = pa.table({"emb": LISTS})
    scaled = pa.table({"emb": (X * RNG.uniform(1, 9, (N, 1))).tolist()})
    found = Columns(unit_rows=True).fit(table).transform(table)
    again = Columns(unit_rows=True).fit(scaled).transform(scaled)
    np.testing.assert_allclose(found, again, rtol=1e-5, atol=1e-6)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    spread = np.sqrt(np.mean(unit.astype(float).std(axis=0) ** 2))
    np.testing.assert_allclose(found, (unit - unit.mean(axis=0)) / spread, atol=1e-5)


@given(
    st.sampled_from(["<f4", ">f8", "<f2", "i1", ">u4", "?", "U3", "S3"]),
    st.sampled_from([(4,), (4, 3), (70_000,)]),
    st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_what_numpy_saves_is_read(tmp_path_factory, kind, shape, by_columns):
    values = np.random.default_rng(0).integers(0, 2, shape).astype(kind)
    file = tmp_path_factory.mktemp("arrays") / "a.npy"
    np.save(file, np.asfortranarray(values) if by_columns else values)
    found = pa.Table.from_batches(list(Source.find(file).batches()))["X"]
    expected = values.astype("U3") if values.dtype.kind == "S" else values
    assert np.asarray(found.to_pylist()).tolist() == expected.tolist()


def error_of(call):
    with pytest.raises(ValueError) as caught:
        call()
    return str(caught.value)


def test_arrays_that_cannot_be_read(tmp_path):
    def told(values, **options):
        file = tmp_path / "a.npy"
        np.save(file, values, **options)
        return error_of(lambda: list(Source.find(file).batches()))

    labels = np.array(["a", None], dtype=object)
    assert "numpy.save(file, values.astype(float)), labels as" in told(labels, allow_pickle=True)
    assert told(np.ones(3, complex)).endswith("must hold numbers or text; got complex128.")
    assert "got shape (2, 2, 2)" in told(np.ones((2, 2, 2)))
    assert "got shape (0,)" in told(np.ones(0))
    np.save(tmp_path / "cut.npy", X)
    whole = (tmp_path / "cut.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-4])
    assert "cut short" in error_of(lambda: list(Source.find(tmp_path / "cut.npy").batches()))
    np.savez(tmp_path / "unlike.npz", a=X, b=X[:3])
    assert "'a' has 60, 'b' has 3" in error_of(
        lambda: Source.find(tmp_path / "unlike.npz").columns()
    )


def test_labels_must_belong_to_the_rows(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    source = WithLabels(Source.find(tmp_path / "X.npy"), Source.find(tmp_path / "y.npy"))
    assert source.columns() == ["X", "label"]
    assert next(source.batches())["label"].to_pylist() == Y.tolist()
    for labels, words in ((Y[:-1], "it has 59 for"), (np.append(Y, "c"), "it has 61 for 60 rows")):
        np.save(tmp_path / "y.npy", labels)
        source = WithLabels(Source.find(tmp_path / "X.npy"), Source.find(tmp_path / "y.npy"))
        assert words in error_of(lambda source=source: list(source.batches()))
    (tmp_path / "y.csv").write_text("a,b\n1,2\n")
    source = WithLabels(Source.find(tmp_path / "X.npy"), Source.find(tmp_path / "y.csv"))
    assert "must have one column, the labels" in error_of(source.columns)
    (tmp_path / "y.txt").write_text("\n".join(Y))
    source = WithLabels(Source.find(tmp_path / "X.npy"), Source.find(tmp_path / "y.txt"))
    told = error_of(lambda: list(source.batches()))
    assert told.endswith("rows. A text file begins with the name of its column.")
    np.save(tmp_path / "y.npy", np.eye(3)[np.zeros(N, int)])
    source = WithLabels(Source.find(tmp_path / "X.npy"), Source.find(tmp_path / "y.npy"))
    told = error_of(lambda: list(source.batches()))
    assert told.endswith("y.npy must hold labels in one dimension; it has rows of 3.")


def test_a_list_that_breaks_the_rule_names_its_row():
    columns = Columns().fit(pa.table({"emb": LISTS}))
    rows = X.tolist()
    cases = {
        "got 4 numbers where others are 5": rows[0][:-1],
        "got 0 numbers": None,
        "lists of finite numbers; got none at [0]": [np.nan] * WIDTH,
        "lists of finite numbers; got -inf at [1]": [1.0, -np.inf, *[0.0] * (WIDTH - 2)],
        "lists of finite numbers; got 1e+200 at [0]": [1e200] * WIDTH,
    }
    for words, wrong in cases.items():
        told = error_of(lambda w=wrong: columns.transform(pa.table({"emb": [*rows[:3], w]})))
        assert words in told
        assert told.endswith("in row 4.")
    short = pa.table({"emb": [row[:-1] for row in rows]})
    assert "lists of 5 numbers in NEW" in error_of(lambda: columns.transform(short))
    for other, words in (
        ([1.0], "must hold lists of numbers; it holds double"),
        (["a"], "got 'a'"),
    ):
        told = error_of(lambda other=other: columns.transform(pa.table({"emb": other})))
        assert words in told
    told = error_of(lambda: Columns(features=["embd"]).fit(pa.table({"emb": LISTS})))
    assert "Did you mean 'emb'?" in told


def test_a_saved_embedding_gives_the_same_numbers(tmp_path):
    from unseen.persist import load, save

    table = pa.table({"emb": LISTS})
    columns = Columns(unit_rows=True).fit(table)
    save(columns, tmp_path / "columns.skops")
    assert_array_equal(load(tmp_path / "columns.skops").transform(table), columns.transform(table))


def test_lists_need_no_name_where_all_other_columns_are_dropped() -> None:
    table = pa.table({"id": [f"row {place}" for place in range(N)], "emb": LISTS})
    assert list(Columns(drop=["id"]).fit(table).feature_names_in_) == ["emb"]
    with pytest.raises(ValueError, match=r"'emb' \(holds lists of numbers: --features uses them\)"):
        Columns().fit(table)


def test_lists_in_text_are_lists(tmp_path):
    lists = pa.table({"emb": X.astype(float).tolist()})
    texts = [json.dumps(row) for row in lists["emb"].to_pylist()]
    table = pa.table({"emb": pa.chunked_array([texts[:7], texts[7:]]), "n": np.arange(N) % 7})
    columns = Columns(features=["emb"]).fit(table)
    assert_array_equal(columns.transform(table), Columns().fit(lists).transform(lists))
    assert Columns().fit(table).dropped_["emb"] == "holds lists of numbers: --features uses them"
    assert len(Columns().fit(table.select(["emb"])).encodings_) == 1
    printed = pa.table({"emb": list(map(str, X)), "n": np.arange(N) % 7})
    told = Columns(features=["emb", "n"]).fit(printed).dropped_["emb"]
    assert told == "holds lists that are no JSON: save them as lists"
    for wrong in ("[1, 2", "[01, 2]", "[NaN, 1]", "[1e999]", "[]", "1, 2", None):
        told = error_of(lambda w=wrong: columns.transform(pa.table({"emb": [texts[0], w]})))
        assert told.startswith("column 'emb' must hold lists such as [1.5, 2]; got ")
        assert told.endswith("in row 2.")


def test_lists_of_booleans_are_lists_of_numbers():
    flags = X > 0
    found = Columns().fit(pa.table({"emb": flags.tolist()}))
    expected = Columns().fit(pa.table({"emb": flags.astype(int).tolist()}))
    assert_array_equal(
        found.transform(pa.table({"emb": flags.tolist()})),
        expected.transform(pa.table({"emb": flags.astype(int).tolist()})),
    )


def test_long_doubles_are_read(tmp_path):
    np.save(tmp_path / "X.npy", X.astype(np.longdouble))
    found = pa.Table.from_batches(list(Source.find(tmp_path / "X.npy").batches()))["X"]
    assert_array_equal(np.array(found.to_pylist()), X.astype(float))


@pytest.mark.parametrize("unit_rows", [False, True])
def test_what_people_read_is_in_the_units_of_the_lists(unit_rows):
    spoilt = X.copy()
    spoilt[:9, 2] = -999.0
    table, new = pa.table({"emb": list(X)}), pa.table({"emb": list(spoilt)})
    columns = Columns(unit_rows=unit_rows)
    encoded = columns.fit_transform(table)
    names, values = columns.in_units(encoded)
    assert names == tuple(f"emb[{place}]" for place in range(WIDTH))
    lengths = np.linalg.norm(X.astype(float), axis=1, keepdims=True) if unit_rows else 1.0
    assert_allclose(values, X / lengths, rtol=1e-12, atol=1e-12)
    axis = readable(columns)[2]
    assert_allclose(axis.offset + axis.scale * encoded[:, 2], values[:, 2], rtol=1e-12, atol=1e-12)
    if not unit_rows:
        advice = "give --missing {value}"
        found = sentinel_notices(encoded, columns.transform(new))
        (told,) = in_units(found, columns, encoded, columns.transform(new), advice)
        assert told.text.startswith("column 'emb[2]' is -999 in 15% of the new rows")


def test_encoded_lists_lie_row_by_row_whether_a_value_is_left_out_or_not() -> None:
    constant = X.copy()
    constant[:, 1] = 1.0
    for rows in (X, constant):
        table = pa.table({"emb": list(rows)})
        encoded = Columns(features=["emb"]).fit_transform(table)
        assert encoded.flags.c_contiguous
        varies = rows.astype(float)[:, np.ptp(rows, axis=0) > 0]
        centred = varies - varies.mean(axis=0)
        assert_allclose(encoded / encoded.std(), centred / centred.std(), rtol=1e-12, atol=1e-12)
