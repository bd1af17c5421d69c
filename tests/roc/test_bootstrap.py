import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference.roc_twins import dirichlet_rocs, expected_bootstrap_roc
from unseen.roc.bootstrap import bootstrap_roc, bootstrap_rocs
from unseen.roc.sketch import RocSketch

GRID = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])


@pytest.fixture(scope="module")
def scores() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return np.r_[rng.normal(size=60), rng.normal(2, 1, 60)], rng.normal(size=80)


def test_mean_is_the_closed_form(scores: tuple[np.ndarray, np.ndarray]) -> None:
    bootstrap = bootstrap_roc(RocSketch.from_scores(*scores), GRID, 4000, random_state=1)
    error = bootstrap.mean(axis=0) - expected_bootstrap_roc(*scores, GRID)
    standard_error = bootstrap.std(axis=0) / np.sqrt(4000)
    assert (np.abs(error) < 4 * standard_error + 1e-12).all()


def test_spread_is_that_of_weights_drawn_row_by_row(
    scores: tuple[np.ndarray, np.ndarray],
) -> None:
    twin = dirichlet_rocs(*scores, GRID, 6000, np.random.default_rng(2))
    bootstrap = bootstrap_roc(RocSketch.from_scores(*scores), GRID, 20_000, random_state=3)
    assert_allclose(bootstrap.std(axis=0), twin.std(axis=0), rtol=0.05)
    correlation = np.corrcoef(bootstrap.T)
    assert_allclose(correlation, np.corrcoef(twin.T), atol=0.05)


def test_coarse_cells_keep_the_spread() -> None:
    rng = np.random.default_rng(4)
    F = np.r_[rng.normal(size=2000), rng.normal(2, 1, 2000)]
    sketch = RocSketch.from_scores(F, rng.normal(size=4000))
    exact = bootstrap_roc(sketch, GRID, 3000, random_state=5)
    coarse = bootstrap_roc(sketch, GRID, 3000, random_state=6, max_cells=1000)
    assert_allclose(coarse.std(axis=0), exact.std(axis=0), rtol=0.07)
    assert_allclose(coarse.mean(axis=0), exact.mean(axis=0), atol=0.002)


def test_replicates_are_rocs(scores: tuple[np.ndarray, np.ndarray]) -> None:
    replicates = bootstrap_roc(RocSketch.from_scores(*scores), GRID, 50, random_state=8)
    assert (np.diff(replicates, axis=1) >= 0).all()
    assert ((replicates >= 0) & (replicates <= 1)).all()


def test_ties_alone_give_the_diagonal() -> None:
    sketch = RocSketch.from_scores(np.zeros(10), np.zeros(20))
    replicates = bootstrap_roc(sketch, GRID, 20, random_state=0)
    assert_allclose(replicates, np.tile(GRID, (20, 1)))


def test_separated_samples_give_the_perfect_roc() -> None:
    sketch = RocSketch.from_scores(np.ones(10), np.zeros(20))
    assert_array_equal(bootstrap_roc(sketch, GRID, 20, random_state=0), 1)


def test_the_seed_decides_everything(scores: tuple[np.ndarray, np.ndarray]) -> None:
    sketch = RocSketch.from_scores(*scores)
    draw = [bootstrap_roc(sketch, GRID, 30, random_state=seed) for seed in (1, 1, 2)]
    assert_array_equal(draw[0], draw[1])
    assert (draw[0] != draw[2]).any()
    state, generator = np.random.RandomState(1), np.random.default_rng(1)
    assert_array_equal(bootstrap_roc(sketch, GRID, 30, state), draw[0])
    assert bootstrap_roc(sketch, GRID, 30, generator).shape == (30, GRID.size)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_replicates": 0}, "n_replicates must be >= 1; got 0"),
        ({"max_cells": 0}, "max_cells must be >= 1; got 0"),
    ],
)
def test_bad_arguments_are_named(
    scores: tuple[np.ndarray, np.ndarray], arguments: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_roc(RocSketch.from_scores(*scores), GRID, **arguments)


def test_pairs_may_be_columns_and_nothing_wider(scores: tuple[np.ndarray, np.ndarray]) -> None:
    F, H = scores
    flat = bootstrap_rocs([(F, H)], GRID, 5, random_state=0)
    columns = bootstrap_rocs([(F[:, None], H[:, None])], GRID, 5, random_state=0)
    assert_array_equal(columns, flat)
    with pytest.raises(ValueError, match=r"scores_F must be 1-d, one score a row; got shape"):
        bootstrap_rocs([(np.column_stack([F, F]), H)], GRID, 5, random_state=0)
