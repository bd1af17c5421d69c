"""Measures of labels, "unseen" among them, where the truth is known: for benchmarks.

The functions follow scikit-learn: ``metric(y_true, y_pred)`` or ``metric(y_true, y_score)``, higher
is better. A row of ``y_true`` is of an unseen class if it bears the unseen label or, where
``known`` lists the known labels, any label that is not among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from unseen._types import BoolArray, FloatArray, IntArray
from unseen.rejection.sample import places_of, with_unseen


def open_macro_f1(
    y_true: ArrayLike, y_pred: ArrayLike, *, unseen_label: Any = "auto", known: Any = None
) -> float:
    """Mean F1 over the known classes and unseen, K + 1 labels of equal weight.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    unseen_label : label, default="auto"
        The label of unseen classes; "auto" is "unseen" for text and -1 for numbers.
    known : array-like of shape (K,) or None, default=None
        The known labels; None takes all labels but the unseen one.

    Examples
    --------
    >>> from unseen.rejection import open_macro_f1
    >>> open_macro_f1(["a", "a", "b", "zebra"], ["a", "a", "b", "unseen"], known=["a", "b"])
    1.0
    """
    truth, predicted, unseen = _aligned(y_true, y_pred, unseen_label, known)
    labels = np.arange(unseen + 1)
    return float(f1_score(truth, predicted, labels=labels, average="macro", zero_division=0.0))


def known_accuracy(
    y_true: ArrayLike, y_pred: ArrayLike, *, unseen_label: Any = "auto", known: Any = None
) -> float:
    """Share of the rows of known classes that get their label; NaN where there are no such rows.

    To call a row of a known class unseen is an error too. Parameters are those of
    :func:`open_macro_f1`.

    Examples
    --------
    >>> from unseen.rejection import known_accuracy
    >>> known_accuracy([0, 1, 1, -1], [0, 1, -1, 0]).__round__(3)
    0.667
    """
    truth, predicted, unseen = _aligned(y_true, y_pred, unseen_label, known)
    of_known = truth != unseen
    return float(np.mean((truth == predicted)[of_known])) if of_known.any() else float("nan")


def unseen_precision(
    y_true: ArrayLike, y_pred: ArrayLike, *, unseen_label: Any = "auto", known: Any = None
) -> float:
    """Share of the rows called unseen that are unseen; 0 where no row is called unseen.

    Parameters are those of :func:`open_macro_f1`.

    Examples
    --------
    >>> from unseen.rejection import unseen_precision
    >>> unseen_precision([0, 1, -1, -1], [0, -1, -1, 0])
    0.5
    """
    truth, predicted, unseen = _aligned(y_true, y_pred, unseen_label, known)
    return float(precision_score(truth == unseen, predicted == unseen, zero_division=0.0))


def unseen_recall(
    y_true: ArrayLike, y_pred: ArrayLike, *, unseen_label: Any = "auto", known: Any = None
) -> float:
    """Share of the rows of unseen classes that are called unseen; 0 without such rows.

    Parameters are those of :func:`open_macro_f1`.

    Examples
    --------
    >>> from unseen.rejection import unseen_recall
    >>> unseen_recall([0, 1, -1, -1], [0, -1, -1, 0])
    0.5
    """
    truth, predicted, unseen = _aligned(y_true, y_pred, unseen_label, known)
    return float(recall_score(truth == unseen, predicted == unseen, zero_division=0.0))


def novelty_auc(
    y_true: ArrayLike, y_score: ArrayLike, *, unseen_label: Any = "auto", known: Any = None
) -> float:
    """Probability that a row of an unseen class has a higher novelty than one of a known class.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,)
        Novelty, such as ``rule.novelty_score(X)``.
    unseen_label, known
        See :func:`open_macro_f1`.

    Examples
    --------
    >>> from unseen.rejection import novelty_auc
    >>> novelty_auc([0, 1, -1, -1], [0.1, 0.4, 0.3, 0.9])
    0.75
    """
    truth, _, unseen = _aligned(y_true, y_true, unseen_label, known)
    return _auc(truth == unseen, np.asarray(y_score, dtype=np.float64))


def open_auc(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    y_score: ArrayLike,
    *,
    unseen_label: Any = "auto",
    known: Any = None,
) -> float:
    """OpenAUC: a known row must get its class right *and* lie below an unseen one.

    Over all pairs of a known and an unseen row: the share in which the known one is labelled right
    and has the lower novelty, ties counted by half. OpenAUC is the AUROC of novelty where all
    known rows are labelled right, and at most the accuracy among known classes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Best *known* label of each row, before anything is rejected: the score does the rejecting.
    y_score : array-like of shape (n,)
        Novelty.
    unseen_label, known
        See :func:`open_macro_f1`.

    References
    ----------
    Z. Wang, Q. Xu, Z. Yang, Y. He, X. Cao and Q. Huang, "OpenAUC: towards AUC-oriented
       open-set recognition", NeurIPS 2022.

    Examples
    --------
    >>> from unseen.rejection import open_auc
    >>> open_auc([0, 1, -1, -1], [0, 0, 0, 1], [0.1, 0.2, 0.3, 0.9])
    0.5
    """
    truth, predicted, unseen = _aligned(y_true, y_pred, unseen_label, known)
    score = np.asarray(y_score, dtype=np.float64)
    # A wrong label loses every pair, as if the row stood above all others.
    wrong = (truth != unseen) & (truth != predicted)
    return _auc(truth == unseen, np.where(wrong, score.max() + 1.0, score))


def _auc(unseen: BoolArray, score: FloatArray) -> float:
    if unseen.all() or not unseen.any():
        raise ValueError(
            "y_true must hold rows of known and of unseen classes; "
            f"got {int(unseen.sum())} unseen of {len(unseen)}."
        )
    return float(roc_auc_score(unseen, score))


def _aligned(
    y_true: ArrayLike, y_pred: ArrayLike, unseen_label: Any, known: Any
) -> tuple[IntArray, IntArray, int]:
    """Places of the true and of the predicted labels among K + 1 labels, and that of unseen, K."""
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    if predicted.shape != truth.shape or predicted.ndim != 1:
        raise ValueError(
            "y_true and y_pred must be 1-d and of one length; "
            f"got shapes {truth.shape} and {predicted.shape}."
        )
    if known is not None:
        labels = with_unseen(np.unique(np.asarray(known)), unseen_label)
    else:
        if truth.dtype.kind != "O" and predicted.dtype.kind != "O":
            found = np.unique(np.concatenate([truth, predicted]))
        else:  # a word for unseen classes may stand beside numbers
            every = {*truth.tolist(), *predicted.tolist()}
            ordered = sorted(every, key=lambda label: (isinstance(label, str), label))
            found = np.array(ordered, dtype=object)
        labels = with_unseen(found[found != with_unseen(found[:0], unseen_label)[-1]], unseen_label)
    places = places_of(truth, labels)
    if known is not None:
        places[places < 0] = len(labels) - 1
    return places, places_of(predicted, labels), len(labels) - 1
