"""Neither the order of rows nor the names of classes change what labels of people say."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import unseen

few = settings(max_examples=4, deadline=None, derandomize=True, database=None)
NAMES = {"cat": "z", "dog": "a", "emu": "m", "?": "?"}


@st.composite
def sheets(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Guesses of 60 new rows, and the rows, labels and chances of a draw of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    guesses = rng.choice(["cat", "dog", "unseen"], 60, p=rng.dirichlet([2, 2, 2]))
    rows = rng.permutation(60)[: draw(st.integers(5, 40))]
    labels = rng.choice(list(NAMES), len(rows), p=[0.4, 0.3, 0.25, 0.05])
    return guesses, rows, labels.astype(object), rng.uniform(0.1, 1.0, len(rows))


def audited(guesses, rows, labels, chances, known) -> np.ndarray:
    """Shares with their intervals, known classes first; sound by themselves."""
    found = unseen.audit(guesses, rows, labels, chances, known=known).corrected
    shares, (low, high) = np.append(found.proportions, found.unseen), found.intervals.T
    assert_allclose(shares.sum(), 1.0)
    assert (low >= 0).all()
    assert (low <= shares + 1e-9).all()
    assert (shares <= high + 1e-9).all()
    assert (high <= 1).all()
    order = [*(found.classes.index(name) for name in known), len(known)]
    return np.column_stack([shares, low, high])[order]


@few
@given(sheets(), st.integers(0, 99))
def test_an_audit(sheet, seed) -> None:
    guesses, rows, labels, chances = sheet
    expected = audited(*sheet, ["cat", "dog"])
    place = np.random.default_rng(seed).permutation(60)  # new row i is called place[i]
    moved = np.empty(60, dtype=object)
    moved[place] = guesses
    assert_allclose(audited(moved, place[rows], labels, chances, ["cat", "dog"]), expected)
    other = np.array([NAMES.get(name, name) for name in guesses], dtype=object)
    renamed = [NAMES[name] for name in labels]
    assert_allclose(audited(other, rows, renamed, chances, ["z", "a"]), expected)


@few
@given(sheets(), st.integers(0, 99))
def test_a_promotion(sheet, seed) -> None:
    _, rows, labels, chances = sheet
    found = unseen.promote(rows, labels, 60, known=["cat", "dog"], probabilities=chances)
    order = np.random.default_rng(seed).permutation(len(rows))
    again = unseen.promote(
        rows[order], labels[order], 60, known=["cat", "dog"], probabilities=chances[order]
    )
    assert again.counts == found.counts
    for one in (found, again):
        assert len(set(one.rows)) == len(one.rows)
        assert (one.weights > 0).all()
    first, second = (np.argsort(one.rows) for one in (found, again))
    assert found.rows[first].tolist() == again.rows[second].tolist()
    assert found.labels[first].tolist() == again.labels[second].tolist()
    assert_allclose(found.weights[first], again.weights[second])
