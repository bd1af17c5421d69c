"""How far a sample stands off as a whole, in units of the known class that stands off most."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_digits

import unseen
from unseen.samples import LabelledRows
from unseen.scores.beyond import times_a_class

rng = np.random.default_rng(0)
CODES = np.repeat([0, 1, 2], 80)
OLD = rng.normal(size=(240, 15)) + 1.5 * rng.normal(size=(3, 15))[CODES]
NEW = rng.normal(size=(150, 15)) + 1.2 * rng.normal(size=15)


def times(old=OLD, codes=CODES, new=NEW) -> float:
    return times_a_class(LabelledRows(old, np.unique(codes), codes), new)


def test_agrees_with_one_class_at_a_time() -> None:
    def apart(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        usual, part = others.std(axis=0), 0.02 * OLD.std(axis=0)
        away = abs(rows.mean(axis=0) - others.mean(axis=0)) / usual
        factor = np.log((rows.std(axis=0) + part) / (usual + part))
        return np.array([np.median(away), abs(np.median(factor))])

    classes = [apart(OLD[code == CODES], OLD[code != CODES]) for code in range(3)]
    farthest = np.maximum(np.max(classes, axis=0), 0.2)
    assert_allclose(times(), (apart(NEW, OLD) / farthest).max(), rtol=1e-9)


def test_neither_units_nor_order_nor_container_change_it() -> None:
    unit, order = np.exp(np.linspace(-3, 3, 15)), rng.permutation(240)
    assert_allclose(times(OLD * unit + 7, new=NEW * unit + 7), times())
    assert_allclose(times(OLD[order], CODES[order], NEW[::-1]), times())
    assert_allclose(times(sparse.csr_array(OLD), new=sparse.csr_array(NEW)), times())


@pytest.mark.parametrize("factor", [16, 1 / 16])
def test_a_table_in_another_unit_is_no_class_and_one_column_is_no_table(factor) -> None:
    assert times() < 1.6 < times(new=NEW * factor)
    column = NEW.copy()
    column[:, 2] *= 1000 * factor
    assert times(new=column) < 1.6


def test_one_class_small_classes_and_constant_columns_say_nothing() -> None:
    assert times(codes=np.zeros(240, dtype=int)) == 0.0
    assert times(OLD[:12], np.arange(12) % 3) == 0.0
    assert times(np.ones((240, 2)), new=np.ones((9, 2))) == 0.0


@pytest.mark.parametrize("spoil", [lambda X: X / 16, lambda X: 255 * X / 16, lambda X: 16 - X])
def test_pixels_on_another_scale_moved_too_far_to_tell(spoil) -> None:
    X, y = load_digits(return_X_y=True)
    found = unseen.estimate(X[::4], y[::4], spoil(X[1::4]), random_state=0)
    assert (found.drift.verdict, found.drift.far) == ("moved", True)
    assert_allclose(found.intervals[-1], [0.0, 1.0])
    assert found.unseen < 0.05
