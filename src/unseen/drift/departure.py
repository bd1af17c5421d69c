"""How far new rows lie from the classes that they look like, and what this says of u.

A class that is new lies about as far from a known class as known classes lie from each other: where
a share u of the rows is new, new rows depart by about u of that. Known classes that moved a little
are seen by every discriminator, and depart by little, unless classes lie near each other.
docs/drift.md, "The third hypothesis".
"""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student

from unseen._types import FloatArray
from unseen.mixture.placement import PlacementPosterior
from unseen.roc.pooled import log_sums
from unseen.scores.moves import Departure

__all__ = ["departure_likelihood", "departure_odds", "new_likelihood"]

# Departure of a class that is new, and of rounding, both in units of the separation of classes.
# Chosen on development sets.
_NEW, _NOISE = 1.1, 0.1
# Sizes of moves in standard deviations: a usual one, a large one, and how probable the large one is
# once classes have moved. Chosen there.
_USUAL, _LARGE, _IS_LARGE = 0.12, 0.5, 0.3
# Spread of the logarithm of a departure, and the degrees of freedom of its law. The spread is wider
# where classes lie within so many standard deviations. Chosen there.
_SPREAD, _FREEDOM, _WELL_APART = 0.5, 3.0, 0.5
_LEAST_SEPARATION = 0.1


def departure_likelihood(departure: Departure, share: FloatArray, move: float) -> FloatArray:
    """Log-likelihood of a departure, if a share u of the rows is new and known classes moved.

    ``log(distance + noise)`` is Student about ``log(1.1 u + max(move / separation, noise))``.

    Parameters
    ----------
    departure : Departure
        As :func:`~unseen.scores.moves.mean_departure` measures it.
    share : ndarray
        Shares u of what is new.
    move : float
        How far known classes moved, in standard deviations.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift.departure import departure_likelihood
    >>> from unseen.scores.moves import Departure
    >>> share = np.array([0.0, 0.5])
    >>> little, much = (departure_likelihood(Departure(x, 0.8), share, 0.1) for x in (0.1, 0.8))
    >>> bool(little[0] > little[1]), bool(much[0] > much[1])
    (True, False)
    """
    separation = max(departure.separation, _LEAST_SEPARATION)
    expected = np.log(_NEW * share + max(move / separation, _NOISE))
    spread = _SPREAD * max(_WELL_APART / separation, 1.0)
    found = np.log(departure.distance + _NOISE)
    return np.asarray(student.logpdf((found - expected) / spread, _FREEDOM))


def new_likelihood(departure: Departure, share: FloatArray) -> FloatArray:
    """Log-likelihood of a departure, given that known classes moved, by little or by much.

    Parameters
    ----------
    departure : Departure
    share : ndarray
        Shares u of what is new.

    Returns
    -------
    ndarray
    """
    usual, large = (departure_likelihood(departure, share, move) for move in (_USUAL, _LARGE))
    return np.logaddexp(np.log1p(-_IS_LARGE) + usual, np.log(_IS_LARGE) + large)


def departure_odds(
    departure: Departure, shares: FloatArray, law: FloatArray, posterior: PlacementPosterior
) -> float:
    """Log Bayes factor of a usual move against open, by the departure.

    Large moves are left out: distances and discriminators tell these from what is new.

    Parameters
    ----------
    departure : Departure
    shares, law : ndarray of shape (U,)
        Law of u under moved, by all other evidence.
    posterior : PlacementPosterior
        Law of 1 - u under open.

    Returns
    -------
    float
    """
    with np.errstate(divide="ignore"):
        moved = log_sums(np.log(law) + departure_likelihood(departure, shares, _USUAL))
        claimed = departure_likelihood(departure, 1 - posterior.share, 0.0)
        return float(moved - log_sums(np.log(posterior.probability) + claimed))
