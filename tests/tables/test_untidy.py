"""Files as people have them: other separators, encodings, marks between digits, marks for none."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from unseen.study import Inputs
from unseen.tables import BadCell, Columns, RowWriter, Source, check_names
from unseen.tables.formats import find_separator
from unseen.tables.values import number_of, without_marks

RNG = np.random.default_rng(0)
N = 40
SIZE, MASS = RNG.normal(20, 5, N).round(1), RNG.integers(1000, 9000, N)
KIND = ["ä", "b"] * (N // 2)
TIDY = pa.table({"size": SIZE, "mass": MASS, "kind": KIND})


def text_of(separator=",", decimal=".", thousands=""):
    lines = [separator.join(["größe", "mass", "kind"])]
    for size, mass, kind in zip(SIZE, MASS, KIND, strict=True):
        cells = (str(size).replace(".", decimal), f"{mass:,}".replace(",", thousands), kind)
        lines.append(separator.join(cells))
    return "\n".join(lines)


FILES = {
    "tidy.csv": (text_of(), "utf-8", []),
    "semicolon.csv": (text_of(";"), "utf-8", ["separator_found"]),
    "excel.csv": (text_of(";", ",", "."), "cp1252", ["separator_found", "encoding_found"]),
    "tab.csv": (text_of("\t", ",", " "), "utf-16", ["separator_found", "encoding_found"]),
    "bar.txt": (text_of("|", ".", ","), "utf-8-sig", ["separator_found"]),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_it_is_written_and_says_so(tmp_path, name):
    text, encoding, codes = FILES[name]
    (tmp_path / name).write_bytes(text.encode(encoding))
    source = Source.find(tmp_path / name)
    assert sorted(notice.code for notice in source.notices) == sorted(codes)
    table = pa.Table.from_batches(list(source.batches()))
    assert table.column_names == ["größe", "mass", "kind"]
    assert table["kind"].to_pylist() == KIND
    columns = Columns(label="kind").fit(table)
    expected = Columns(label="kind").fit(TIDY)
    assert_array_equal(columns.transform(table), expected.transform(TIDY))
    marked = [notice for notice in columns.notices_ if notice.code == "numbers_with_marks"]
    assert bool(marked) == (name not in ("tidy.csv", "semicolon.csv"))


def test_the_usual_separator_stays_unless_only_another_one_fits():
    assert find_separator("size;mass\n1,5;3\n", ",") == ";"
    assert find_separator("a,b\n1;2,3\n", ",") == ","


def test_what_is_given_wins(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes("a;b,c\nä;1,2\n".encode("latin-1"))
    found = Source.find(file, separator=";", encoding="latin-1")
    assert found.columns() == ["a", "b,c"]
    assert found.notices == ()
    with pytest.raises(ValueError, match=r"must be text in utf-8; its bytes are no such text"):
        Source.find(file, encoding="utf-8")
    with pytest.raises(ValueError, match=r"must be text in latin-99; unknown encoding"):
        Source.find(file, encoding="latin-99")


@given(st.integers(0, 10**9), st.integers(0, 99), st.sampled_from([",", "'", " ", "\u00a0"]))
def test_marks_between_thousands_do_not_change_a_number(whole, cents, mark):
    value = whole + cents / 100
    text = f"{value:,.2f}".replace(",", mark)
    assert number_of(text) == float(f"{value:.2f}")
    turned = f"{value:,.2f}".translate(str.maketrans(",.", ".,"))
    assert number_of(turned, ",") == float(f"{value:.2f}")


@pytest.mark.parametrize(
    "word", ["1,2", "12,34", "1,2345", ",123", "1,234,5", "1,,234", "a,123", "1_000", "0,125"]
)
def test_other_commas_make_no_number(word):
    assert number_of(word) is None


def test_a_point_is_no_decimal_where_a_comma_is():
    assert [number_of(word, ",") for word in ("1.234,5", "39,1", "3.75")] == [1234.5, 39.1, None]


def test_a_comma_is_decimal_where_only_that_suits_all_values():
    decimals = pa.table({"a": ["39,1", "3,750"] * 5})
    assert Columns().fit(decimals).encodings_[0].mean == pytest.approx((39.1 + 3.75) / 2)
    thousands = pa.table({"a": ["4,100", "3,750"] * 5})
    assert Columns().fit(thousands).encodings_[0].mean == 3925
    (notice,) = Columns().fit(thousands).notices_
    assert notice.text == "Read as numbers: 'a' ('4,100' is 4100). --decimal says otherwise."
    assert Columns(decimal=",").fit(thousands).encodings_[0].mean == pytest.approx(3.925)
    with pytest.raises(ValueError, match=r"decimal must be one of '\.', ','; got ';'"):
        Columns(decimal=";").fit(thousands)


def test_values_that_mean_missing_are_missing_in_text_and_numbers():
    sizes = [1.0, -999.0, 3.0, 2.0] * 5
    for values in (sizes, [str(size) for size in sizes], ["1", "-999", "3", "2"] * 5):
        for mark in ("-999", "-999.0"):
            columns = Columns(missing=[mark]).fit(pa.table({"a": values}))
            assert columns.get_feature_names_out().tolist() == ["a", "a=missing"]
            assert columns.transform(pa.table({"a": values}))[:, 1].tolist() == [0, 1, 0, 0] * 5


@pytest.mark.parametrize(
    ("mark", "decimal", "forms", "others"),
    [
        (
            "-999",
            None,
            ["-999", "-999.0", "-999.00", " -999. ", "-999,0"],
            ["999", "-9990", "-999.5"],
        ),
        ("9", None, ["9.000", "9"], ["9,000", "9.5", "19"]),
        ("9", ",", ["9,000", "9.0"], ["9.000"]),
        ("9.50", None, ["9.5", "9,5", "9.500"], ["9.05", "9.51", "95"]),
        ("1e20", None, ["1e20"], ["100000000000000000000"]),
        ("a.c", None, ["a.c", "a.c "], ["abc"]),
    ],
)
def test_a_number_for_missing_is_known_in_every_form(mark, decimal, forms, others):
    column = pa.chunked_array([[*forms, *others]])
    found = without_marks(column, [mark], decimal).to_pylist()
    assert found == [*[None] * len(forms), *others]


def test_no_article_is_quoted():
    article = "word " * 300
    numbers = [*map(str, SIZE), article]
    table = pa.table({"a": numbers, "b": np.arange(41) % 7})
    notices = Columns().fit(table).notices_
    (notice,) = [one for one in notices if one.code == "nearly_numbers"]
    assert notice.text.endswith("Correct these cells.")
    assert len(notice.text) < 250
    columns = Columns().fit(pa.table({"a": SIZE, "b": np.arange(40) % 7}))
    with pytest.raises(BadCell) as told:
        columns.transform(table)
    assert len(str(told.value)) < 200


def test_labels_that_mean_missing_are_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kinds = [*KIND, *["?"] * 12]
    rows = [f"{size},{kind}" for size, kind in zip([*SIZE, *SIZE[:12]], kinds, strict=True)]
    (tmp_path / "train.csv").write_text("\n".join(["size,kind", *rows]))
    (tmp_path / "new.csv").write_text("\n".join(["size", *map(str, SIZE)]))
    training, _ = Inputs("train.csv", "new.csv", label="kind").read()
    assert "?" in training.counts
    training, _ = Inputs("train.csv", "new.csv", label="kind", missing=("?",)).read()
    assert list(training.counts) == ["b", "ä"]
    told = {notice.code: notice.text for notice in training.notices}
    assert told["rows_without_label"].startswith(
        "12 rows of train.csv left out: no label (empty, NA, null or '?')"
    )


def test_a_small_class_with_another_spelling_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kinds = [*KIND, "B", "B "]
    rows = [f"{size},{kind}" for size, kind in zip([*SIZE, 1.0, 2.0], kinds, strict=True)]
    (tmp_path / "train.csv").write_text("\n".join(["size,kind", *rows]))
    training, _ = Inputs("train.csv", "train.csv", label="kind").read()
    codes = [notice.code for notice in training.notices]
    assert codes[-2:] == ["small_classes", "labels_alike"]


def test_numbers_with_the_other_mark_than_the_option_are_named():
    table = pa.table({"a": [f"{size:.1f}" for size in SIZE], "b": list(map(str, range(2))) * 20})
    found = Columns(decimal=",").fit(table)
    assert found.dropped_ == {"a": "holds numbers that have another mark than --decimal ','"}
    versions = pa.table({"a": ["1.2", "1.3"] * 20, "b": SIZE})
    assert not Columns(decimal=",").fit(versions).dropped_


def test_a_header_that_is_not_parted_names_the_option(tmp_path):
    (tmp_path / "t.csv").write_text("size^kind\n1^a\n")
    source = Source.find(tmp_path / "t.csv")
    with pytest.raises(ValueError, match=r"--sep names the mark between them\.$"):
        check_names("--label", ["kind"], source.columns(), source.name)
    with pytest.raises(ValueError, match=r"It has 'X'\.$"):
        check_names("--label", ["kind"], ["X"], "X.npy")


def test_lists_are_cells_of_csv(tmp_path):
    table = pa.table({"emb": [[1.5, None], None], "at": [{"x": 1}, {"x": None}], "n": [1, 2]})
    with RowWriter(tmp_path / "t.csv") as writer:
        writer.write(table)
    found = pa.Table.from_batches(list(Source.find(tmp_path / "t.csv").batches())).to_pydict()
    assert found == {
        "emb": ["[1.5, null]", None],
        "at": ['{"x": 1}', '{"x": null}'],
        "n": ["1", "2"],
    }


def test_a_bad_cell_of_new_names_its_row_in_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.csv").write_text(text_of())
    lines = text_of().splitlines()
    lines[30] = "abc,1,b"
    (tmp_path / "new.csv").write_text("\n".join(lines))
    with pytest.raises(BadCell, match=r"got 'abc', in row 30 of new\.csv\. If"):
        Inputs("train.csv", "new.csv", label="kind", max_rows=40).read()


def test_a_bad_cell_of_train_is_named_and_can_be_called_missing():
    values = [*map(str, SIZE), "3.5 cm"]
    columns = Columns(keep=["a"]).fit(pa.table({"a": values}))
    (notice,) = columns.notices_
    assert notice.code == "nearly_numbers"
    assert notice.about == "a"
    assert notice.text == (
        "Not read as numbers, though nearly all values are: 'a' (but 1 of 41: row 41 holds "
        "'3.5 cm'). Correct these cells, or give --missing '3.5 cm'."
    )
    others = ["high", *values[1:]]
    table = pa.table({"a": values, "b": others, "c": values})
    (notice,) = Columns(keep=["a", "b", "c"]).fit(table, rows=np.arange(100, 141)).notices_
    assert notice.about is None
    assert "'a' (but 1 of 41: row 141 holds '3.5 cm'), 'b' (but 2 of 41: row 101" in notice.text
    assert notice.text.endswith("or give --missing '3.5 cm' --missing 'high'.")
    assert Columns(missing=["3.5 cm"]).fit(pa.table({"a": values})).notices_ == []


ARFF = """% a comment
@relation beetles
@attribute 'a size' numeric
@attribute kind {'rose chafer', ant}
@data
1.5,'rose chafer'
?,ant
2.5,?
"""


def test_arff(tmp_path):
    (tmp_path / "t.arff").write_text(ARFF)
    (batch,) = Source.find(tmp_path / "t.arff").batches()
    found = batch.to_pydict()
    assert found["kind"] == ["rose chafer", "ant", None]
    assert np.isnan(found["a size"][1])
    (tmp_path / "s.arff").write_text("@relation r\n@attribute s string\n@data\nx\n")
    with pytest.raises(ValueError, match=r"must be an ARFF file .* Save it as csv\."):
        Source.find(tmp_path / "s.arff").columns()


def test_excel(tmp_path):
    frame = pd.DataFrame({"size": [1.5, None], "kind": ["a", "b"], "mixed": [1, "x"]})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    (batch,) = Source.find(tmp_path / "t.xlsx").batches()
    assert batch.to_pydict() == {"size": [1.5, None], "kind": ["a", "b"], "mixed": ["1", "x"]}
