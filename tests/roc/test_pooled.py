import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import logsumexp, ndtr, ndtri

from unseen.roc.pooled import (
    FALSE_ALARMS,
    N_CELLS,
    CurveFamily,
    CurveLattice,
    Lattices,
    cell_rates,
    log_sums,
    separation_limits,
    share_density,
    spread_cells,
)


@pytest.mark.parametrize("small_share", [0.003, 0.03, 1.0, np.inf])
def test_the_prior_of_the_share_is_a_density(small_share) -> None:
    def density(share: float) -> float:
        return float(share_density(np.array([share]), small_share)[0])

    assert_allclose(quad(density, 0, 1, points=[0.01, 0.1])[0], 1.0, rtol=1e-7)


def test_doublings_of_large_shares_are_equally_likely_and_small_shares_evenly() -> None:
    def mass(low: float, high: float) -> float:
        return quad(lambda share: float(share_density(np.array(share), 1e-4)), low, high)[0]

    assert_allclose(mass(0.1, 0.2), mass(0.4, 0.8), rtol=1e-3)
    assert_allclose(
        share_density(np.array([1e-7, 1e-6]), 1e-2)[0] * 1e-2 * np.log(101), 1, rtol=1e-4
    )


def test_the_rest_stands_out_more_where_rows_are_many() -> None:
    assert [separation_limits(n_rows)[0] for n_rows in (30, 196, 1e6)] == [0.6, 0.84, 1.0]
    assert [separation_limits(n_rows)[1] for n_rows in (30, 2000, 32_000)] == [4.5, 4.5, 9.0]


def test_logarithms_of_sums_are_scipys() -> None:
    values = np.array([[0.0, 800.0, -np.inf], [-np.inf, -np.inf, -np.inf]])
    for axis in (0, 1, None):
        assert_allclose(log_sums(values, axis), logsumexp(values, axis=axis))


def test_rates_of_a_lattice_are_those_of_its_curves() -> None:
    gamma, separations = np.array([0.0, 0.4, 1.0]), np.array([1.0, 3.0])
    lattice = CurveLattice(0.3, (0.6, 4.5), 0.03, gamma, separations)
    shapes = ndtr(ndtri(FALSE_ALARMS) + separations[:, None])
    curves = (1 - gamma[:, None, None]) * shapes + gamma[:, None, None] * FALSE_ALARMS
    of_shapes = lattice.rate.reshape(3, -1, N_CELLS)[:, :2]
    assert_allclose(of_shapes, [cell_rates(one, 0.3) for one in curves], atol=1e-11)
    # The new rows in all cells are the new rows.
    assert_allclose(of_shapes.mean(axis=2), 0.3, atol=1e-6)


def test_masses_of_another_curve_in_cells_are_all_of_it() -> None:
    shapes = ndtr(ndtri(FALSE_ALARMS) + np.array([[1.0], [2.0]]))
    family = CurveFamily(np.broadcast_to(FALSE_ALARMS, shapes.shape), shapes - FALSE_ALARMS)
    masses = family.masses(np.array([0.1, 0.9]), shapes.ravel())
    assert masses.shape == (2, 2, N_CELLS)
    assert_allclose(masses.sum(axis=2), 1.0, atol=1e-12)


def test_steps_of_several_candidates_are_spread_as_those_of_each() -> None:
    rng = np.random.default_rng(0)
    new, labelled = rng.random((2, 3, 50))
    new[1, 30:] = labelled[1, 30:] = 0.0  # fewer steps
    F, H = spread_cells(new, labelled)
    for place, steps in enumerate((50, 30, 50)):
        alone = spread_cells(new[[place], :steps], labelled[[place], :steps])
        assert_allclose([F[[place]], H[[place]]], alone, atol=1e-12)
    assert_allclose([F.sum(axis=1), H.sum(axis=1)], [new.sum(axis=1), labelled.sum(axis=1)])


def test_lattices_keep_the_last_few_of_each_kind() -> None:
    made: list[int] = []

    def make(number: int) -> list[int]:
        made.append(number)
        return [number]

    lattices = Lattices()
    first = lattices.at(make, 0)
    for number in range(1, 6):
        lattices.at(make, number)
        assert lattices.at(make, 0) is first
    lattices.at(make, 6)
    assert lattices.at(make, 0) is first
    lattices.at(make, 1)
    assert made == [0, 1, 2, 3, 4, 5, 6, 1]
