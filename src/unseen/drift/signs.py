"""Signs that tell known classes that moved from classes that are new, each as log-odds.

Curves of scores say whether the right end bends (:mod:`unseen.drift.moved`). Beside them stand
what rows look like, how surely, and how far they lie from it. docs/drift.md, "The third
hypothesis", says why each is a sign, and where its constants come from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import entr, gammaln, logit

from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray
from unseen.mixture.placement import PlacementPosterior
from unseen.roc.pooled import log_sums
from unseen.scores.laid import Laid
from unseen.scores.moves import Departure
from unseen.scores.open import OpenScores

# Weights were fitted together on development problems, each set left out in turn, and rounded.
_WEIGHTS = {
    "discriminators": 0.3,
    "evenness": 0.49,
    "departure": 0.74,
    "variety": 5.5,
    "sureness": 4.9,
    "laid": 1.4,
}
# Where a part moved, the right end stays straight, and rows on average lie where they did.
_OF_PART = "evenness", "variety", "sureness"
# Rows that look like so large a power of the known classes are no sign of either.
_MANY = 2 / 3
_LARGE_CLASS = 0.05  # part of the new rows from which on a class says how evenly they look unseen
_LEAST_POSTERIOR, _LEAST_UNSEEN, _LEAST_APART, _TINY = 1e-6, 0.005, 0.1, 1e-9
# Departure of a class that is new, and of rounding, both in units of the separation of classes.
_NEW, _NOISE = 1.1, 0.1
# Sizes of moves in standard deviations: a usual one, a large one, and how probable the large one is
# once classes have moved.
_USUAL, _LARGE, _IS_LARGE = 0.12, 0.5, 0.3
# Spread of the logarithm of a departure, and the degrees of freedom of its law. The spread is wider
# where classes lie within so many standard deviations.
_SPREAD, _FREEDOM, _WELL_APART = 0.5, 3.0, 0.5
_LEAST_SEPARATION = 0.1
# Of rows laid onto labelled ones: how far moves that no factor takes off keep them apart, and the
# spread of the logarithm.
_BENT, _SPREAD_LAID = 0.15, 0.4
# Where nearly all rows look unseen, and stand off so many times as far as any known class does (of
# two classes either tells less), they are no class; and the log-odds of moved then. So far stand 1
# of 266 undrifted development samples of which three quarters or more are new, and 1 of 163 with
# two known classes.
_NEARLY_ALL, _BEYOND, _BEYOND_TWO, _SURELY = 0.8, 1.6, 3.0, 20.0
# Logarithm of the largest density of Student's law.
_LARGEST_DENSITY = float(
    gammaln((_FREEDOM + 1) / 2) - gammaln(_FREEDOM / 2) - 0.5 * np.log(_FREEDOM * np.pi)
)


@dataclass(frozen=True)
class Signs(Frozen):
    """Log-odds of moved against open, sign by sign; 0 where a sign says nothing."""

    discriminators: float  # the right end bends
    evenness: float  # every class that rows look like looks unseen
    departure: float = 0.0  # rows lie near the classes that they look like
    variety: float = 0.0  # rows that look unseen look like all known classes
    sureness: float = 0.0  # rows look as surely like a class as labelled ones
    laid: float = 0.0  # rows laid onto labelled ones look like them
    beyond: float = 0.0  # rows stand off, as a whole, much farther than any known class does
    part: float = 0.0  # rows that look new, laid onto the other new rows, look like them

    @property
    def log_odds(self) -> float:
        """Log Bayes factor of moved against open."""
        return self.beyond + self._weighed(*_WEIGHTS)

    @property
    def log_odds_of_part(self) -> float:
        """Log Bayes factor of "a part of the rows moved" against open."""
        return self.part + self._weighed(*_OF_PART)

    def _weighed(self, *signs: str) -> float:
        return float(sum(_WEIGHTS[sign] * getattr(self, sign) for sign in signs))


def signs_of_rows(scores: OpenScores, known: FloatArray, u_open: float) -> dict[str, float]:
    """Signs by what new rows look like, how surely, and how near they come once they are laid on.

    ``known`` is P(known) of each new row under open, ``u_open`` the unseen share. New classes
    rarely take an equal part of all known ones, look like few of them, and like none for sure;
    after a sensor moved, rows look like all of them, evenly, and as surely as before.
    """
    if scores.posteriors is None:
        like = np.zeros(len(known), dtype=np.intp)
        return {"evenness": evenness(like, known)}
    new, labelled = scores.posteriors.new, scores.posteriors.of_labelled
    like, n_known, moves = new.argmax(axis=1), new.shape[1], scores.moves
    return {
        "evenness": evenness(like, known),
        "variety": variety(like, known, n_known),
        "sureness": 0.5 - doubt(new, labelled),
        "laid": laid_sign(None if moves is None else moves.laid, u_open),
        "beyond": beyond_sign(None if moves is None else moves.laid, n_known, u_open),
        "part": 0.0 if moves is None else moves.part.log_odds,
    }


def evenness(looks_like: IntArray, known: FloatArray) -> float:
    """Log-odds of the least share that looks unseen in any class that the classifier assigns."""
    count = np.bincount(looks_like)
    # Of many classes none may be large: then the largest speaks.
    large = count >= min(_LARGE_CLASS * len(looks_like), count.max())
    least = (np.bincount(looks_like, 1 - known)[large] / count[large]).min()
    return float(logit(np.clip(least, _LEAST_UNSEEN, 1 - _LEAST_UNSEEN)))


def variety(looks_like: IntArray, known: FloatArray, n_known: int) -> float:
    """Log of the effective number of classes that unseen rows look like, against K to the 2/3.

    Rows of a new class may look like one of two known ones, or like both: two classes say nothing.
    """
    mass = np.bincount(looks_like, 1 - known + _TINY)
    entropy = entr(mass / mass.sum()).sum()
    return float((1 - 2 / n_known) * (entropy - _MANY * np.log(n_known)))


def doubt(new: FloatArray, labelled: FloatArray) -> float:
    """Probability that a new row is assigned less surely than a labelled row, out of fold.

    From posteriors (m, K) and (n, K): how sure is the log ratio of the two largest. Rows are
    compared with those that look like the same class, as shares of classes may have changed.
    """
    (like_new, sure_new), (like_labelled, sure_labelled) = map(_assigned, (new, labelled))
    less = np.full(len(new), 0.5)
    for label in np.intersect1d(like_new, like_labelled):
        own, others = like_new == label, np.sort(sure_labelled[like_labelled == label])
        below = sum(np.searchsorted(others, sure_new[own], side) for side in ("left", "right"))
        less[own] = 1 - below / (2 * len(others))
    return float(less.mean())


def _assigned(posteriors: FloatArray) -> tuple[IntArray, FloatArray]:
    """The likeliest class of each row, and how surely: the log ratio to the second."""
    second, first = np.log(np.partition(posteriors, -2)[:, -2:].clip(_LEAST_POSTERIOR)).T
    return posteriors.argmax(1), first - second


def laid_sign(laid: Laid | None, u_open: float) -> float:
    """How near new rows come to labelled ones once they are laid onto them: .5 if they are alike.

    -.5 if they stay apart as a share ``u_open`` of a class as different as known ones would.
    """
    if laid is None or not laid.is_told:
        return 0.0
    return float(0.5 - np.sqrt(apart(laid) / max(u_open, _LEAST_APART)))


def beyond_sign(laid: Laid | None, n_known: int, u_open: float) -> float:
    """Log-odds of moved where nearly all rows look unseen and no class stands off so far."""
    if laid is None or u_open < _NEARLY_ALL:
        return 0.0
    return _SURELY if laid.times >= (_BEYOND_TWO if n_known == 2 else _BEYOND) else 0.0


def apart(laid: Laid) -> float:
    """How far new rows stay apart once they are laid onto labelled ones: about 1 for new classes.

    0 if both are alike.
    """
    return max(laid.apart - 0.5, 0.0) / max(laid.hidden - 0.5, _LEAST_APART)


def laid_likelihood(laid: Laid, share: FloatArray) -> FloatArray:
    """Log-likelihood of how far rows stay apart, if known classes moved and a share u is new."""
    expected = np.log(share + _BENT)
    return _student((np.log(apart(laid) + _NOISE) - expected) / _SPREAD_LAID)


def departure_likelihood(departure: Departure, share: FloatArray, move: float) -> FloatArray:
    """Log-likelihood of a departure, if a share u of the rows is new and known classes moved.

    ``log(distance + noise)`` is Student about ``log(1.1 u + max(move / separation, noise))``, with
    the move in standard deviations.
    """
    separation = max(departure.separation, _LEAST_SEPARATION)
    expected = np.log(_NEW * share + max(move / separation, _NOISE))
    spread = _SPREAD * max(_WELL_APART / separation, 1.0)
    return _student((np.log(departure.distance + _NOISE) - expected) / spread)


def _student(values: FloatArray) -> FloatArray:
    """Logarithm of Student's density; SciPy's law takes ten times as long to say so."""
    return _LARGEST_DENSITY - 0.5 * (_FREEDOM + 1) * np.log1p(np.square(values) / _FREEDOM)


def new_likelihood(departure: Departure, share: FloatArray) -> FloatArray:
    """Log-likelihood of a departure, given that known classes moved, by little or by much."""
    usual, large = (departure_likelihood(departure, share, move) for move in (_USUAL, _LARGE))
    return np.logaddexp(np.log1p(-_IS_LARGE) + usual, np.log(_IS_LARGE) + large)


def departure_odds(
    departure: Departure, shares: FloatArray, law: FloatArray, posterior: PlacementPosterior
) -> float:
    """Log Bayes factor of a usual move against open, by the departure.

    ``law`` is that of u at ``shares`` under moved, by all other evidence; ``posterior`` that of
    1 - u under open. Large moves are left out: distances and discriminators tell these from what is
    new.
    """
    with np.errstate(divide="ignore"):
        moved = log_sums(np.log(law) + departure_likelihood(departure, shares, _USUAL))
        claimed = departure_likelihood(departure, 1 - posterior.share, 0.0)
        return float(moved - log_sums(np.log(posterior.probability) + claimed))
