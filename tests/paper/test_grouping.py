"""Order and means of cells, whatever the order in which they were stored."""

import random
from dataclasses import replace

import pytest
from numpy.testing import assert_allclose

from paper.grouping import (
    by_dataset,
    by_method,
    group_of,
    in_setting,
    mean_errors,
    sorted_methods,
)
from paper.published import DATA_SETS, METHODS
from reference.made_cells import PROPORTIONS, make_cells

CELLS = make_cells("L2", lambda _, permutation, p: p * 4**permutation, permutations=3)


def test_the_papers_orders() -> None:
    assert sorted_methods(reversed(METHODS)) == list(METHODS)
    cells = make_cells("L2", lambda *_: 0.1, datasets=[*reversed(DATA_SETS)])
    assert list(by_dataset(cells)) == list(DATA_SETS)


def test_others_come_last_and_by_name() -> None:
    named = [replace(CELLS[0], method=name) for name in ("PACC", "EM*", "acc", "baseline")]
    assert list(by_method(named)) == ["baseline", "EM*", "acc", "PACC"]
    placed = [replace(CELLS[0], dataset=name) for name in ("zoo", "abalone", "segment")]
    assert list(by_dataset(placed)) == ["segment", "abalone", "zoo"]


def test_two_classes_are_binary() -> None:
    assert {cell.dataset: group_of(cell) for cell in CELLS} == {
        "banana": "binary",
        "image": "binary",
        "dna": "multiclass",
    }


def test_means_are_over_permutations() -> None:
    means = mean_errors(CELLS)
    assert list(means) == ["banana", "image", "dna"]
    for points in means.values():
        assert tuple(points) == PROPORTIONS
        assert_allclose(list(points.values()), [7 * p for p in PROPORTIONS])


def test_the_order_of_the_store_does_not_matter() -> None:
    shuffled = random.Random(0).sample(CELLS, len(CELLS))
    assert shuffled != CELLS
    assert in_setting(shuffled, "observed") == in_setting(CELLS, "observed")


def test_other_settings_are_left_out() -> None:
    assert in_setting(CELLS, "unobserved") == []
    with pytest.raises(ValueError, match=r"setting must be .* got 'both'"):
        in_setting(CELLS, "both")


def test_a_cell_counts_once() -> None:
    with pytest.raises(ValueError, match=r"cells must be distinct; got two at .*banana"):
        in_setting([*CELLS, CELLS[0]], "observed")


def test_an_estimate_is_a_number() -> None:
    broken = replace(CELLS[0], shares=(float("nan"), 0.5))
    with pytest.raises(ValueError, match=r"shares must be finite; got \(nan, 0.5\)"):
        in_setting([broken], "observed")
