"""Where to cut the novelty ``p_unseen / (p_unseen + max_k p_k)``: rows from the cut on are unseen.

Above a cut t the mass of unseen classes is ``P_0(s >= t) - sum_i pi_i P_i(s >= t)``, Eq. (RMul) for
the rule "unseen from t on". So recall and false discoveries are counted on rows out of fold without
one unseen label (``docs/rejection.md``).
"""

from __future__ import annotations

import numpy as np

from unseen._types import FloatArray, IntArray

__all__ = [
    "cost_threshold",
    "false_discovery_threshold",
    "labels_at",
    "novelty",
    "recall_threshold",
    "reject_rate_threshold",
]

_REJECT_NOTHING = float(np.nextafter(1.0, np.inf))  # no novelty is as high


def novelty(probabilities: FloatArray) -> FloatArray:
    """Probability of unseen against the best known class, in [0, 1]; unseen is the last column.

    Examples
    --------
    >>> import numpy as np
    >>> novelty(np.array([[0.5, 0.25, 0.25], [0.25, 0.0, 0.75]])).round(3)
    array([0.333, 0.75 ])
    """
    unseen = probabilities[:, -1]
    return np.asarray(unseen / (unseen + probabilities[:, :-1].max(axis=1)))


def labels_at(probabilities: FloatArray, threshold: float = 0.5) -> IntArray:
    """Code of each row: K (unseen) from the threshold on, else the best known class.

    Parameters
    ----------
    probabilities : ndarray of shape (n, K + 1)
        Probability of each label, unseen last.
    threshold : float, default=0.5
        Cut of the novelty; one half takes the most probable of all K + 1 labels.

    Examples
    --------
    >>> import numpy as np
    >>> labels_at(np.array([[0.5, 0.25, 0.25], [0.25, 0.0, 0.75]]))
    array([0, 2])
    """
    known = probabilities[:, :-1].argmax(axis=1)
    return np.where(novelty(probabilities) >= threshold, probabilities.shape[1] - 1, known)


def cost_threshold(cost: float) -> float:
    """Cut of least expected cost when a missed unseen row costs ``cost`` and other errors 1.

    To say k costs ``cost * p_unseen + (1 - p_unseen - p_k)``, and to say unseen ``1 - p_unseen``:
    unseen costs no more when ``p_k <= cost * p_unseen``.

    Examples
    --------
    >>> cost_threshold(1.0), cost_threshold(3.0)
    (0.5, 0.25)
    """
    if not cost > 0:
        raise ValueError(f"cost must be > 0; got {cost}.")
    return 1.0 / (1.0 + cost)


def reject_rate_threshold(new: FloatArray, rate: float) -> float:
    """Cut that calls a share ``rate`` of the new rows unseen, or as near to it as ties allow.

    Examples
    --------
    >>> import numpy as np
    >>> reject_rate_threshold(np.array([0.1, 0.2, 0.7, 0.9]), 0.5)
    0.7
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"reject_rate must lie in [0, 1]; got {rate}.")
    if rate == 0:
        return _REJECT_NOTHING
    cuts = np.append(np.unique(new), _REJECT_NOTHING)
    return float(cuts[np.abs(_at_least(new, cuts) - rate).argmin()])


def recall_threshold(
    known: FloatArray, codes: IntArray, new: FloatArray, shares: FloatArray, recall: float
) -> float:
    """Largest cut that still finds a share ``recall`` of the unseen rows.

    Parameters
    ----------
    known, codes : ndarray of shape (n,)
        Novelty of the labelled rows out of fold, and their classes.
    new : ndarray of shape (m,)
        Novelty of the new rows out of fold.
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
    """Smallest cut whose rejected rows hold at most a share ``level`` of known rows.

    The count of known rows above the cut is taken one too high in each class, as for a conformal
    p-value: a cut above all n_i calibration rows still lets 1 / (n_i + 1) of new ones through.

    Parameters
    ----------
    known, codes, new, shares
        See :func:`recall_threshold`.
    level : float
        Largest share of known rows among the rejected rows, in (0, 1).

    Raises
    ------
    ValueError
        When no cut reaches the level: small samples cannot certify small levels. The message
        names the level that the samples can reach.

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
