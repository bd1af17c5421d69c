"""The paper's printed numbers agree with each other, as far as their rounding lets them.

A slip of the pen in a copied number moves an aggregate or a count beyond its rounding.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from paper import published

BINARY = [key for key, found in published.DATA_SETS.items() if found.n_classes == 2]
MULTICLASS = [key for key, found in published.DATA_SETS.items() if found.n_classes > 2]
GROUPS = {"binary": BINARY, "multiclass": MULTICLASS}
CELLS = 10 * 11
each_group = pytest.mark.parametrize("group", GROUPS)


def test_thirteen_binary_and_five_multiclass_sets() -> None:
    assert (len(BINARY), len(MULTICLASS)) == (13, 5)


def test_kl_divergence_was_not_run_on_multiclass_sets() -> None:
    for key, by_method in published.ERRORS.items():
        missing = set(published.METHODS) - set(by_method)
        assert missing == (set() if key in BINARY else {"KL"})


@each_group
def test_all_errors_are_over_all_cells(group: str) -> None:
    # Half a unit of the last digit on both sides: the rows are rounded, and so is their mean.
    for method, printed in published.ALL_ERRORS[group].items():
        pooled = published.errors_over(method, GROUPS[group])
        assert pooled is not None
        assert_allclose(pooled.mean, printed.mean, atol=0.001)
        assert_allclose(pooled.sd, printed.sd, atol=0.01)


@each_group
def test_spread_of_all_cells_is_not_the_spread_within_sets(group: str) -> None:
    """Rules out the other reading of the "All" rows: the mean variance within sets."""
    within = [
        np.sqrt(np.mean([published.ERRORS[key][method].sd ** 2 for key in GROUPS[group]]))
        for method in published.ALL_ERRORS[group]
    ]
    printed = [spread.sd for spread in published.ALL_ERRORS[group].values()]
    assert np.max(np.abs(np.subtract(within, printed))) > 0.05


@each_group
def test_all_intervals_are_over_all_true_shares(group: str) -> None:
    printed, pooled = published.ALL_INTERVALS[group], published.intervals_over(GROUPS[group])
    assert pooled is not None
    assert_allclose(pooled.inside, printed.inside, atol=0.001)
    assert_allclose(pooled.deviation, printed.deviation, atol=0.005)


def test_all_multiclass_intervals_are_not_means_over_sets() -> None:
    printed = published.ALL_INTERVALS["multiclass"]
    found = [published.INTERVALS[key] for key in MULTICLASS]
    assert abs(np.mean([one.inside for one in found]) - printed.inside) > 0.001
    assert abs(np.mean([one.deviation for one in found]) - printed.deviation) > 0.005


@pytest.mark.parametrize("key", published.DATA_SETS)
def test_coverage_is_a_count_of_shares(key: str) -> None:
    n_shares = CELLS * published.DATA_SETS[key].n_classes
    inside = published.INTERVALS[key].inside
    assert abs(round(inside * n_shares) / n_shares - inside) <= 0.0005 + 1e-12


def test_binary_intervals_hold_both_shares_or_none() -> None:
    """Their lower limit is one minus the other class's upper limit."""
    for key in BINARY:
        inside = published.INTERVALS[key].inside
        assert abs(round(inside * CELLS) / CELLS - inside) <= 0.0005 + 1e-12


@pytest.mark.parametrize("key", published.DATA_SETS)
def test_a_test_sample_is_smaller_than_its_training_sample(key: str) -> None:
    found = published.DATA_SETS[key]
    assert 0 < found.test < found.train


def test_one_set_alone_is_its_own_row() -> None:
    assert published.errors_over("L2", ["banana"]) == published.Spread(0.128, 0.08)
    assert published.intervals_over(["segment"]) == published.Coverage(0.949, 0.09)


def test_no_number_where_the_paper_has_none() -> None:
    assert published.errors_over("KL", ["banana", "dna"]) is None
    assert published.errors_over("PACC", ["banana"]) is None
    assert published.errors_over("L2", ["spambase"]) is None
    assert published.errors_over("L2", []) is None
    assert published.intervals_over(["banana", "spambase"]) is None
    assert published.intervals_over([]) is None
