"""Where to cut the novelty score: from that cut on, a row is called unseen.

The novelty of a row is ``p_unseen / (p_unseen + max_k p_k)``: one half where unseen is as probable
as the best known class. Every cut here is read off scores of rows that the rule did not learn from.
With ``P_i(s >= t)`` the share of class i at or above the cut t, and ``P_0`` that of the new
rows, the mass of unseen classes above it is

    pi_unseen P_unseen(s >= t) = P_0(s >= t) - sum_i pi_i P_i(s >= t),

which is Eq. (RMul) of the paper for the rule "unseen from t on". So recall and false discoveries
can be counted without one unseen label.
"""

from __future__ import annotations

import numpy as np

from unseen._types import FloatArray, IntArray

__all__ = [
    "cost_threshold",
    "decide",
    "false_discovery_threshold",
    "novelty",
    "recall_threshold",
    "reject_rate_threshold",
]

_NOTHING = float(np.nextafter(1.0, np.inf))  # no novelty is as high


def novelty(probabilities: FloatArray) -> FloatArray:
    """Probability of unseen against the best known class, in [0, 1].

    Parameters
    ----------
    probabilities : ndarray of shape (n, K + 1)
        Rows on the simplex, unseen last.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> novelty(np.array([[0.5, 0.25, 0.25], [0.25, 0.0, 0.75]])).round(3)
    array([0.333, 0.75 ])
    """
    unseen = probabilities[:, -1]
    return np.asarray(unseen / (unseen + probabilities[:, :-1].max(axis=1)))


def decide(probabilities: FloatArray, threshold: float = 0.5) -> IntArray:
    """Code of each row: K (unseen) from the threshold on, else the best known class.

    Parameters
    ----------
    probabilities : ndarray of shape (n, K + 1)
        Rows on the simplex, unseen last.
    threshold : float, default=0.5
        Cut of the novelty; one half takes the most probable of all K + 1 labels.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> decide(np.array([[0.5, 0.25, 0.25], [0.25, 0.0, 0.75]]))
    array([0, 2])
    """
    known = probabilities[:, :-1].argmax(axis=1)
    return np.where(novelty(probabilities) >= threshold, probabilities.shape[1] - 1, known)


def cost_threshold(cost: float) -> float:
    """Cut of least expected cost when a missed unseen row costs ``cost`` and other errors 1.

    To say k costs ``cost * p_unseen + (1 - p_unseen - p_k)``, and to say unseen ``1 - p_unseen``:
    the latter is no dearer when ``p_k <= cost * p_unseen``.

    Examples
    --------
    >>> cost_threshold(1.0), cost_threshold(3.0)
    (0.5, 0.25)
    """
    if not cost > 0:
        raise ValueError(f"cost must be > 0; got {cost}.")
    return 1.0 / (1.0 + cost)


def reject_rate_threshold(new: FloatArray, rate: float) -> float:
    """Cut that calls this share of the new rows unseen, or as near to it as ties allow.

    Parameters
    ----------
    new : ndarray of shape (m,)
        Held-out novelty of the new rows.
    rate : float
        Share to reject, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> reject_rate_threshold(np.array([0.1, 0.2, 0.7, 0.9]), 0.5)
    0.7
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"reject_rate must lie in [0, 1]; got {rate}.")
    if rate == 0:
        return _NOTHING
    cuts = np.append(np.unique(new), _NOTHING)
    return float(cuts[np.abs(_at_least(new, cuts) - rate).argmin()])


def recall_threshold(
    known: FloatArray, codes: IntArray, new: FloatArray, shares: FloatArray, recall: float
) -> float:
    """Largest cut that still finds this share of the unseen rows, by the identity above.

    Parameters
    ----------
    known : ndarray of shape (n,)
        Held-out novelty of the labelled rows.
    codes : ndarray of shape (n,)
        Their classes.
    new : ndarray of shape (m,)
        Held-out novelty of the new rows.
    shares : ndarray of shape (K,)
        Shares of the known classes among the new rows.
    recall : float
        Share of the unseen rows to find, in (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> known, new = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.1, 0.3, 0.8, 0.9])
    >>> recall_threshold(known, np.zeros(4, dtype=int), new, np.array([0.5]), 1.0)
    0.8
    """
    if not 0 < recall <= 1:
        raise ValueError(f"recall must lie in (0, 1]; got {recall}.")
    unseen = 1.0 - float(shares.sum())
    if unseen <= 0:
        raise ValueError(
            f"recall needs an unseen share > 0; got {max(unseen, 0.0):g}: the known shares leave "
            "nothing to find."
        )
    cuts = np.unique(np.concatenate([known, new]))
    rejected, by_known = _rates_from(cuts, known, codes, new, shares)
    # The lowest cut rejects everything and so reaches every recall; rounding must not deny it.
    reached = rejected - by_known >= recall * unseen - 1e-12
    return float(cuts[np.flatnonzero(reached)[-1]])


def false_discovery_threshold(
    known: FloatArray, codes: IntArray, new: FloatArray, shares: FloatArray, level: float
) -> float:
    """Smallest cut whose rejected rows hold at most this share of known ones.

    The count of known rows above the cut is taken one too high in each class, as for a conformal
    p-value: a cut above all n_i calibration rows still lets 1 / (n_i + 1) of new ones through. So
    small samples cannot certify small levels, and then this raises.

    Parameters
    ----------
    known : ndarray of shape (n,)
        Held-out novelty of the labelled rows.
    codes : ndarray of shape (n,)
        Their classes.
    new : ndarray of shape (m,)
        Held-out novelty of the new rows.
    shares : ndarray of shape (K,)
        Shares of the known classes among the new rows.
    level : float
        Largest share of known rows among the rejected, in (0, 1).

    Raises
    ------
    ValueError
        When no cut reaches the level; says which level the sample can reach.

    Examples
    --------
    >>> import numpy as np
    >>> known, new = np.linspace(0, 0.5, 99), np.array([0.1, 0.45, 0.8, 0.9])
    >>> false_discovery_threshold(known, np.zeros(99, dtype=int), new, np.array([0.5]), 0.1)
    0.45
    """
    if not 0 < level < 1:
        raise ValueError(f"fdr must lie strictly between 0 and 1; got {level}.")
    cuts = np.unique(new)
    counts = np.bincount(codes, minlength=len(shares))
    rejected, by_known = _rates_from(cuts, known, codes, new, shares * counts / (counts + 1))
    discoveries = (by_known + float((shares / (counts + 1)).sum())) / rejected
    reached = np.flatnonzero(discoveries <= level)
    if not reached.size:
        raise ValueError(
            f"fdr={level:g} cannot be certified: the calibration sample is too small, or unseen "
            f"rows stand out too little. With {counts.min()} to {counts.max()} labelled rows per "
            f"class and {len(new)} new ones the smallest level within reach is "
            f"{discoveries.min():.3g}. Ask for that level, add labelled rows, or use recall= or "
            "cost= instead."
        )
    return float(cuts[reached[0]])


def _rates_from(
    cuts: FloatArray, known: FloatArray, codes: IntArray, new: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """At each cut: P_0(s >= t), and the weighted sum over classes of P_i(s >= t)."""
    by_known = sum(
        weight * _at_least(known[codes == label], cuts) for label, weight in enumerate(weights)
    )
    return _at_least(new, cuts), np.asarray(by_known)


def _at_least(scores: FloatArray, cuts: FloatArray) -> FloatArray:
    below = np.searchsorted(np.sort(scores), cuts, side="left")
    return 1.0 - below / len(scores)
