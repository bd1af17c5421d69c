"""How far new rows lie from the classes that they look like, and what this says of u.

A class that is new lies about as far from a known class as known classes lie from each other: where
a share u of the rows is new, new rows depart by about u of that. Known classes that moved a little
are seen by every discriminator, and depart by little. docs/drift.md, "The third hypothesis".
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from scipy.stats import t as student

from unseen._types import FloatArray
from unseen.mixture.placement import PlacementPosterior

__all__ = ["departure_likelihood", "departure_odds"]

# Departure of a class that is new, of classes that moved, and of rounding; spread of its logarithm,
# and the degrees of freedom of its law. Chosen on development sets.
_NEW, _MOVED, _NOISE = 1.1, 0.2, 0.1
_SPREAD, _FREEDOM = 0.5, 3.0


def departure_likelihood(departure: float, share: FloatArray, moved: bool) -> FloatArray:
    """Log-likelihood of a departure, if a share u of the rows is new.

    ``log(departure + noise)`` is Student about ``log(1.1 u + .2)`` if known classes moved, and
    about ``log(1.1 u + noise)`` if none has.

    Parameters
    ----------
    departure : float
        As :func:`~unseen.scores.moves.mean_departure` measures it.
    share : ndarray
        Shares u of what is new.
    moved : bool
        Whether known classes may have moved.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift.departure import departure_likelihood
    >>> little, much = (departure_likelihood(x, np.array([0.0, 0.5]), True) for x in (0.1, 0.8))
    >>> bool(little[0] > little[1]), bool(much[0] > much[1])
    (True, False)
    """
    expected = np.log(_NEW * share + (_MOVED if moved else _NOISE))
    return np.asarray(student.logpdf((np.log(departure + _NOISE) - expected) / _SPREAD, _FREEDOM))


def departure_odds(
    departure: float, shares: FloatArray, law: FloatArray, posterior: PlacementPosterior
) -> float:
    """Log Bayes factor of moved against open, by the departure.

    Parameters
    ----------
    departure : float
    shares, law : ndarray of shape (U,)
        Law of u under moved, by all other evidence.
    posterior : PlacementPosterior
        Law of 1 - u under open.

    Returns
    -------
    float
    """
    with np.errstate(divide="ignore"):
        moved = logsumexp(np.log(law) + departure_likelihood(departure, shares, True))
        claimed = departure_likelihood(departure, 1 - posterior.share, False)
        return float(moved - logsumexp(np.log(posterior.probability) + claimed))
