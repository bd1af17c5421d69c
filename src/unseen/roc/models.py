"""The two regression models of a ROC, and their slopes at the right end (Sec. 6.1).

Both mix a proper ROC g with the diagonal, ``f(α) = (1 - γ) g(α) + γ α``, and hand out f and 1 - f
side by side, so that logarithms are exact next to 0 and 1. Parameters are rows (γ, Δ) or (γ, Δ, μ),
(p,) or (B, p); false-alarm rates have shape (J,), or (B, J); gradients (p, B, J).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import product
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from unseen._frozen import frozen_array
from unseen._types import FloatArray

# Largest x with exp(x) well inside the float range.
_LARGEST_EXPONENT = 700.0
_SMALLEST_DELTA = 1e-8
_NEXT_TO_ZERO = np.finfo(float).tiny
_MU_RANGE = (0.01, 100.0)
# Lattices of starts; Δ reaches down to separable data.
_DELTAS = [1e-6, 1e-5, 1e-4, 1e-3, 4e-3, 0.015, 0.04, 0.1, 0.2, 0.35, 0.6, 0.85]
_MUS = [0.1, 0.4, 1.0, 2.0, 4.0, 10.0, 30.0]
_SEPARATIONS = [0.02, 0.1, 0.25, 0.5, 0.8, 1.2, 1.6, 2.0, 2.5, 3.2, 4.5, 7.0]
_GAMMA = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 0.993]


class RocModel(ABC):
    """A proper ROC mixed with the diagonal: ``f = (1 - γ) g + γ α``."""

    names: tuple[str, ...]  # the paper's names of the free parameters, γ first
    bounds: tuple[FloatArray, FloatArray]  # lowest and highest value of each free parameter
    log_scaled: tuple[bool, ...]  # which parameters a fit should move on the log scale
    starts: FloatArray  # where a fit may start: a lattice over the parameters, shape (S, p)

    @abstractmethod
    def right_slope(self, parameters: ArrayLike) -> FloatArray:
        """Slope f'(1): the mixture proportion."""

    @abstractmethod
    def _proper(
        self, false_alarm: FloatArray, parameters: FloatArray
    ) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        """Return g, 1 - g, and the gradient of g over all parameters but γ."""

    def named(self, parameters: ArrayLike) -> dict[str, float]:
        """One row of parameters by the paper's names."""
        return dict(zip(self.names, np.asarray(parameters, dtype=float).tolist(), strict=True))

    def value(self, false_alarm: ArrayLike, parameters: ArrayLike) -> FloatArray:
        """Detection f(α), also at the ends 0 and 1."""
        alpha = np.asarray(false_alarm, dtype=float)
        inside = np.clip(alpha, _NEXT_TO_ZERO, 1.0)
        value = self.value_and_gradient(inside, parameters)[0]
        return np.where(alpha > 0, value, 0.0)

    def value_and_gradient(
        self, false_alarm: ArrayLike, parameters: ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return f, 1 - f and the gradient of f over the parameters."""
        alpha, theta = np.asarray(false_alarm, dtype=float), np.asarray(parameters, dtype=float)
        gamma = theta[..., :1]  # meets the points on the last axis
        proper, missed, slopes = self._proper(alpha, theta)
        value = (1 - gamma) * proper + gamma * alpha
        complement = (1 - gamma) * missed + gamma * (1 - alpha)
        gradient = np.stack([alpha - proper, *((1 - gamma) * slope for slope in slopes)])
        return value, complement, gradient


@dataclass(frozen=True)
class Concave(RocModel):
    """Eq. (9): ``f = (1 - γ)(1 + Δ(α^-μ - 1))^(-1/μ) + γ α``, with 0 < Δ <= 1.

    Δ = 1 is the diagonal, Δ near 0 a perfect ROC. A larger Δ would bend the curve below the
    diagonal, where no optimal ROC lies.

    Parameters
    ----------
    mu : float or None, default=1.0
        The asymmetry μ. A number fixes it; None leaves it free, as in the paper. At a large μ
        the curve is the diagonal whatever its end slope, so that a free μ costs accuracy.

    Examples
    --------
    >>> from unseen.roc.models import Concave
    >>> model = Concave()
    >>> model.value([0.1, 0.5, 0.9], [0.2, 0.05]).round(3)
    array([0.572, 0.862, 0.976])
    >>> model.right_slope([0.2, 0.05]).round(3)
    np.float64(0.24)
    """

    mu: float | None = 1.0

    def __post_init__(self) -> None:
        low, high = _MU_RANGE
        if self.mu is not None and not (isinstance(self.mu, Real) and low <= self.mu <= high):
            raise ValueError(f"mu must be None or lie in [{low}, {high}]; got {self.mu!r}.")
        n_free = 3 if self.mu is None else 2
        bounds = np.array([[0.0, _SMALLEST_DELTA, low], [1.0, 1.0, high]])[:, :n_free]
        axes = [_GAMMA, _DELTAS, _MUS][:n_free]
        settled = {
            "names": ("gamma", "Delta", "mu")[:n_free],
            "bounds": tuple(map(frozen_array, bounds)),
            "log_scaled": (False, True, True)[:n_free],
            "starts": frozen_array([*product(*axes)]),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    def named(self, parameters: ArrayLike) -> dict[str, float]:
        """One row of parameters by the paper's names, a fixed μ included."""
        free = super().named(parameters)
        return free if self.mu is None else {**free, "mu": float(self.mu)}

    def right_slope(self, parameters: ArrayLike) -> FloatArray:
        """Slope at α = 1: ``(1 - γ) Δ + γ``."""
        theta = np.asarray(parameters, dtype=float)
        gamma, delta = theta[..., 0], theta[..., 1]
        return np.asarray((1 - gamma) * delta + gamma)[()]

    def _proper(
        self, false_alarm: FloatArray, parameters: FloatArray
    ) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        # With L = -log α the curve is g = exp(-s), s = log(1 + Δ (exp(μ L) - 1)) / μ.
        delta = parameters[..., 1:2]
        mu = parameters[..., 2:] if self.mu is None else np.asarray(self.mu)
        log_inverse = -np.log(false_alarm)
        power = mu * log_inverse
        clipped = np.minimum(power, _LARGEST_EXPONENT)
        odds = delta * np.expm1(clipped)
        # Past the clip the 1 in 1 + Δ(α^-μ - 1) is lost to rounding: the rest adds to the log.
        exponent = (np.log1p(odds) + (power - clipped)) / mu
        share = odds / (1 + odds)
        value = np.exp(-exponent)
        slopes: list[FloatArray] = [-value * share / (mu * delta)]
        if self.mu is None:
            elasticity = share + delta * (1 - share)
            slopes.append(-value * ((log_inverse * elasticity - exponent) / mu))
        return value, -np.expm1(-exponent), slopes


@dataclass(frozen=True)
class Gaussian(RocModel):
    """Eq. (8): ``f = (1 - γ) Φ(Φ⁻¹(α) + Δ) + γ α``, with Δ >= 0.

    Δ = 0 is the diagonal, a large Δ a perfect ROC. On the diagonal γ makes no difference: where F
    and H are the same, or nearly, the slope may be anything from 0 to 1. :class:`Concave` has no
    such gap, as Δ enters its slope as well.

    Examples
    --------
    >>> from unseen.roc.models import Gaussian
    >>> Gaussian().value([0.1, 0.5, 0.9], [0.2, 2.0]).round(3)
    array([0.631, 0.882, 0.98 ])
    >>> Gaussian().right_slope([0.2, 2.0])
    np.float64(0.2)
    """

    names = ("gamma", "Delta")
    # Φ⁻¹ takes α within rounding of 0 and 1 to about ±37 and 8: no wider separation can be seen.
    bounds = frozen_array(np.zeros(2)), frozen_array([1.0, 10.0])
    log_scaled = (False, False)
    # From nearly identical to separable samples.
    starts = frozen_array([*product(_GAMMA, _SEPARATIONS)])

    def right_slope(self, parameters: ArrayLike) -> FloatArray:
        """Slope at α = 1: γ, or 1 where Δ = 0 makes the curve the diagonal."""
        theta = np.asarray(parameters, dtype=float)
        return np.where(theta[..., 1] == 0.0, 1.0, theta[..., 0])[()]

    def _proper(
        self, false_alarm: FloatArray, parameters: FloatArray
    ) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        shifted = ndtri(false_alarm) + parameters[..., 1:]
        normal_density = np.exp(-0.5 * shifted**2 - 0.5 * np.log(2 * np.pi))
        return ndtr(shifted), ndtr(-shifted), [normal_density]
