"""Rare categories of a random split: nothing is unseen, and the interval says so."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from unseen import OpenSetEstimator
from unseen.tables import Columns


def split(kind: str) -> tuple[pa.Table, pa.Table]:
    """Rows of three classes with numbers and place names, drawn from one table."""
    rng = np.random.default_rng(0)
    classes = rng.choice(3, 1600, p=[0.5, 0.3, 0.2])
    numbers = rng.normal(1.5 * classes[:, None], 1, (1600, 3))
    chance = 1 / np.arange(1, 121) ** (1.0 if kind == "by class" else 0.0)
    places = np.char.add("p", rng.choice(120, 1600, p=chance / chance.sum()).astype(str))
    if kind == "by class":
        places = np.char.add(places, classes.astype(str))
    columns = {f"x{place}": numbers[:, place] for place in range(3)}
    table = pa.table({"y": np.array(list("abc"))[classes], **columns, "place": places})
    return table.slice(0, 700), table.slice(700)


# Where names tell nothing of the classes, these overlap, and a share of 20% may be missed.
@pytest.mark.parametrize(("kind", "upper_end"), [("by class", 0.03), ("even", 0.06)])
def test_place_names_that_are_new_by_chance_are_no_new_class(kind, upper_end) -> None:
    old, new = split(kind)
    columns = Columns(label="y")
    X = columns.fit_transform(old)
    fitted = OpenSetEstimator(random_state=0).fit(X, old["y"].to_pylist())
    found = fitted.estimate(columns.transform(new), confidence=0.95)
    assert found.unseen == 0.0
    assert found.intervals[-1, 1] < upper_end
