"""When stray values are heard, what they leave of the unseen share, and which columns go."""

from types import SimpleNamespace

import numpy as np
import pytest

from unseen import OpenSetEstimator
from unseen.drift import Drift, Tolerance, few_columns
from unseen.drift.hypotheses import _look_new, _part_moved
from unseen.drift.moved import SHARES
from unseen.scores.part import MovedPart, StrayValues
from unseen.scores.signs import Signs

STRAY = np.arange(100) < 30


def fit_and_reading(unseen: np.ndarray, u_open: float) -> tuple[SimpleNamespace, SimpleNamespace]:
    """Open is sure of its u, and says of each row how probably it is unseen."""
    posterior = SimpleNamespace(
        share=np.array([1 - u_open]),
        probability=np.ones(1),
        open_quantile=lambda level: 1 - u_open,
    )
    by_distances = np.isclose(SHARES, 0.5).astype(float)
    fit = SimpleNamespace(posterior=posterior, known=1 - unseen, closed=np.full(3, 1 / 3))
    stray = StrayValues(STRAY, (0,), ordinary=True)
    reading = SimpleNamespace(stray=stray, part=MovedPart(), by_distances=by_distances)
    reading.signs = Signs(0.0, 0.0)
    return fit, reading


def test_stray_values_are_heard_where_their_rows_look_new() -> None:
    def heard(unseen: np.ndarray, u_open: float) -> bool:
        return _look_new(fit_and_reading(unseen, u_open)[0], STRAY)

    assert heard(np.where(STRAY, 0.9, 0.3), 0.5)
    assert not heard(np.full(100, 0.5), 0.5)
    assert not heard(np.where(STRAY, 0.9, 0.3), 0.9)


def test_where_hardly_any_other_row_is_left_stray_values_are_heard_and_say_nothing_of_u() -> None:
    fit, reading = fit_and_reading(np.full(100, 0.9), 1.0)
    for n_others, heard in ((0, True), (19, True), (20, False)):
        assert _look_new(fit, np.arange(100) >= n_others) == heard
    reading.stray = StrayValues(np.ones(100, dtype=bool), (0, 1), ordinary=True)
    odds, law = _part_moved(fit, reading)
    assert odds == 1.0
    assert law[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("n_known", "unseen"), [(3, 0.0), (8, 0.0), (8, 0.3)])
def test_a_code_in_every_row_of_a_wide_table_is_no_sure_new_class(n_known, unseen) -> None:
    rng = np.random.default_rng(1)
    mixing, centres = rng.normal(size=(8, 300)), 1.5 * rng.normal(size=(n_known + 1, 8))

    def rows(y: np.ndarray) -> np.ndarray:
        return (centres[y] + rng.normal(size=(len(y), 8))) @ mixing + rng.normal(size=(len(y), 300))

    y, n_hidden = np.arange(300) % n_known, int(200 * unseen)
    new = np.append(np.full(n_hidden, n_known), np.arange(200 - n_hidden) % n_known)
    X, X_new = rows(y), rows(new)
    X_new[rng.random(X_new.shape) < 0.03] = -999.0
    found = OpenSetEstimator(random_state=0).fit(X, y).estimate(X_new, confidence=0.95)
    assert {"sentinel_values", "stray_values"} <= {one.code for one in found.notices}
    assert found.drift.verdict != "still"
    low, high = found.intervals[-1]
    assert low == 0.0
    assert high > unseen


def test_what_strays_is_no_longer_new() -> None:
    fit, reading = fit_and_reading(np.where(STRAY, 0.9, 0.3), 0.5)
    _, law = _part_moved(fit, reading)
    assert law.sum() == pytest.approx(1.0)
    assert law[0] == pytest.approx(0.25)  # nothing is new: not every fault is found
    # 1 - (1 - u)(1 - .3) = .5, at the nearest share of the grid.
    assert SHARES[law[1:].argmax() + 1] == SHARES[np.abs(SHARES - 2 / 7).argmin()]


@pytest.mark.parametrize(("log_odds", "odds"), [(1.0, -1.44), (3.0, 0.56), (30.0, 1.0)])
def test_rows_that_moved_together_are_no_longer_new(log_odds: float, odds: float) -> None:
    fit, reading = fit_and_reading(np.where(STRAY, 0.9, 0.3), 0.5)
    reading.stray, reading.part = StrayValues(), MovedPart(STRAY, log_odds)
    reading.signs = Signs(0.0, 0.0, part=log_odds)
    found, law = _part_moved(fit, reading)
    assert found == pytest.approx(odds, abs=0.01)  # logit(.08) more, and no surer than stray values
    assert SHARES[law[1:].argmax() + 1] == SHARES[np.abs(SHARES - 2 / 7).argmin()]
    reading.signs, reading.part = Signs(0.0, 0.0, variety=0.5), MovedPart()
    found, law = _part_moved(fit, reading)  # not laid onto others: distances say what is new
    assert found == pytest.approx(5.5 / 2 - 2.44, abs=0.01)
    assert law is reading.by_distances


def test_of_one_class_no_part_is_said_to_have_moved() -> None:
    fit, reading = fit_and_reading(np.where(STRAY, 0.9, 0.3), 0.5)
    fit.closed, reading.stray = np.ones(1), StrayValues()
    assert _part_moved(fit, reading)[0] == -np.inf


def test_columns_with_stray_values_are_left_out_first() -> None:
    nothing = Tolerance(np.zeros(0), np.zeros(0))
    moved = Drift("moved", 0.9, nothing, 0.9, columns=(("s1", 2.0),), stray_columns=("s7",))
    assert few_columns(moved, n_columns=9) == ("s7",)
    assert few_columns(moved, n_columns=2) == ()
