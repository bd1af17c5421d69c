import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from unseen.roc.pooled import share_density


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
