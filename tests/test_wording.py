"""Numbers and names as text: one way for each, whatever the data are called."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen import _wording as words
from unseen._wording import quoted, short_share, shown, text_table, unseen_sentence, verbatim


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0%"),
        (-0.0, "0%"),
        (-1e-9, "0%"),
        (0.0996, "10%"),
        (0.29499, "29.5%"),
        (0.0994, "9.9%"),
        (1.0, "100%"),
    ],
)
def test_short_shares_round_as_tables_do(value, text) -> None:
    assert short_share(value) == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (words.share(0.3161), "31.6%"),
        (words.share(-0.0), "0.0%"),
        (words.interval(-0.0, 0.352), "0.0% to 35.2%"),
        (words.interval_name(0.95), "95% interval"),
        (words.interval_name(None), "interval"),
        (words.points(-0.123), "12.3 points"),
        (words.points(0.01), "1.0 point"),
        (words.change(0.5, 0.2), "↓ \N{MINUS SIGN}30.0 points"),
        (words.change(0.1, 0.2, (0.15, 0.25)), "↑ +10.0 points"),
        (words.change(0.18, 0.2, (0.15, 0.25)), "≈ no clear change"),
        (words.change(0.2, 0.2), "≈ no clear change"),
        (words.chance(0.9999), "more than 99%"),
        (words.chance(0.83), "about 83%"),
        (words.chance(0.0), "less than 1%"),
        (words.likelihood(0.999), "almost certain"),
        (words.likelihood(0.5), "an open question"),
        (words.p_value(0.0312), "0.031"),
        (words.p_value(0.0009), "< 0.001"),
        (words.count(1), "1 row"),
        (words.count(12345), "12,345 rows"),
        (words.count(2, "class"), "2 classes"),
        (words.listed(["a", "b"]), "a, b"),
        (words.listed(list("abcdefg")), "a, b, c, d, e and 2 more"),
        (words.named("cat"), "cat"),
        (words.named(3), "class 3"),
        (shown("two\nlines"), "two lines"),
        (shown("a very long name", 9), "a ve…name"),
        (verbatim("grep 'two  spaces'"), "grep 'two  spaces'"),
        (unseen_sentence(0.0, None, 0.43), "Cannot tell whether any row is of a new class."),
    ],
)
def test_numbers_and_names_read_as_people_say_them(said, text) -> None:
    assert said == text


def test_a_table_for_a_notebook_is_escaped() -> None:
    head, body = "<thead><tr><th>a</th></tr></thead>", "<tr><td>&lt;b&gt;</td></tr>"
    expected = f"<table>{head}<tbody>{body}</tbody></table><p>c</p>"
    assert words.html_table([["a"], ["<b>"]], ["c"]) == expected


def test_no_name_can_leave_its_line_or_turn_the_text_after_it() -> None:
    """Every character below U+3000, and the few above that no file or picture can hold."""
    name = "".join(map(chr, range(0x3000))) + "\ud800\udfff\ufffe\uffff"
    line = verbatim(name)
    assert len(line) == len(name)
    assert {unicodedata.category(letter) for letter in line}.isdisjoint({"Cc", "Cs", "Zl", "Zp"})
    turns = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert {unicodedata.bidirectional(letter) for letter in line}.isdisjoint(turns)
    assert not set(line) & set("\u200e\u200f\u061c\ufffe\uffff\x1b\n\r")


@pytest.mark.parametrize("longest", [1, 2, 5, 6])
def test_a_long_name_is_cut_to_size(longest) -> None:
    assert len(shown("abcdefghij", longest)) == longest
    assert shown("abcdefghij", None) == "abcdefghij"


def test_labels_of_numpy_are_quoted_as_those_of_python() -> None:
    import numpy as np

    assert quoted(np.array(["a", "b"])) == quoted(["a", "b"]) == "'a', 'b'"
    assert quoted(["cat", np.int64(3)]) == "'cat', 3"
    assert quoted(np.arange(7)) == "0, 1, 2, 3, 4 and 2 more"


def test_a_text_table_lines_up() -> None:
    lines = text_table([["name", "n"], ["a", "1,000"], ["long name", "2"]]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert text_table([["", "share"], ["cat", "0.5"]], ["m"]) == "     share\ncat    0.5\nm"
    assert text_table([["n"], ["1,000"]], n_names=0) == "    n\n1,000"
    hostile = text_table([["name", "n"], ["a\n\x1b[2J\u202e", "1"], ["b" * 10_000, "2"]])
    assert len(hostile.splitlines()) == 3
    assert not set("\x1b\u202e") & set(hostile)
    assert len(hostile) < 300
    assert len(quoted(["b" * 10_000])) <= 300


@given(
    st.floats(0, 1),
    st.floats(0, 0.0004),
    st.floats(0, 1),
    st.one_of(st.none(), st.floats(0.005, 1)),
)
def test_no_sign_is_never_said_where_there_is_one(high, unseen, probability, limit) -> None:
    sentence = unseen_sentence(unseen, (0.0, high), probability, limit)
    assert sentence.startswith("No sign") == (probability <= 0.2 and high <= 0.25)
    assert sentence.startswith("Cannot tell") == (probability > 0.2)
    assert ("cannot rule it out" in sentence) == (probability <= 0.2 and high > 0.25)
    assert ("would have been found" in sentence) == (
        sentence.startswith("No sign") and limit is not None
    )
