"""Shares corrected by labels that people gave: valid whatever the model, and whatever drifted.

People label some of the new rows, each drawn with a known probability; :mod:`unseen.loop.strata`
turns the labels into shares. docs/loop.md shows the whole loop.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unseen import _wording as words
from unseen._frozen import Frozen, plain
from unseen._types import BoolArray, FloatArray, IntArray
from unseen.intervals import check_interval
from unseen.loop.strata import class_strata, share_interval
from unseen.records import Estimate, Notice
from unseen.samples.checks import is_missing
from unseen.samples.oddities import label_notices

CANNOT_TELL = "?"
Verdict = Literal["agrees", "too high", "too low", "not compared"]
_MORE = 20
_ADVICE: dict[Verdict, str] = {
    "agrees": "Both agree.",
    "too high": "People know rows that the model takes for new: known classes have probably moved.",
    "too low": "New rows hide among those that the model takes for known ones.",
    "not compared": "",
}


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Frozen):
    """Shares of the new rows by labels that people gave, beside the estimate that the labels check.

    Parameters
    ----------
    corrected : Estimate
        Shares of the known classes and of unseen ones, with intervals, by the labels.
    named : mapping
        Share, lower and upper end of each class that people named and training lacks.
    n_told : int
        Labelled rows.
    n_not_told : int
        Rows of which people could not tell the class; the intervals allow for any answer.
    called_unseen, called_known : (int, int)
        Labelled rows that the model calls unseen (known), and for how many of these people agree.
    compared : Estimate or None
        The estimate that the labels check.
    after_more : (int, float)
        A number of further labels, and the half-width of the interval to expect from them.
    notices : tuple of Notice
        Facts that a person should know before trusting the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import audit
    >>> guesses = np.repeat(["cat", "unseen"], [10, 990])  # a model that takes all for new
    >>> print(audit(guesses, np.arange(50, 80), ["cat"] * 30).sentence())
    30 rows labelled, none of a new class: at most 9.3% of the new rows are.
    """

    corrected: Estimate
    named: Mapping[Any, tuple[float, float, float]]
    n_told: int
    n_not_told: int
    called_unseen: tuple[int, int]
    called_known: tuple[int, int]
    compared: Estimate | None
    after_more: tuple[int, float]
    notices: tuple[Notice, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether the unseen share of the compared estimate agrees with the labels."""
        if self.compared is None:
            return "not compared"
        lower, upper = _unseen_interval(self.corrected)
        least, most = _unseen_interval(self.compared)
        if least > upper:
            return "too high"
        return "too low" if most < lower else "agrees"

    @property
    def half_width(self) -> float:
        """Half-width of the interval of the unseen share."""
        lower, upper = _unseen_interval(self.corrected)
        return (upper - lower) / 2

    def sentence(self) -> str:
        """The answer about unseen classes, and about the estimate, in plain words."""
        lower, upper = _unseen_interval(self.corrected)
        low, share, high = map(words.short_share, (lower, self.corrected.unseen, upper))
        labelled = words.count(self.n_told)
        answer = f"{share} of the new rows ({low} to {high}) are new, by the labels of {labelled}"
        if self.corrected.unseen < words.NO_SHARE:
            answer = f"{labelled} labelled, none of a new class: at most {high} of the new rows are"
        if self.compared is None:
            return f"{answer}."
        if self.compared.has_moved_far:
            return f"{answer}; the estimate could not tell."
        said, advice = words.short_share(self.compared.unseen), _ADVICE[self.verdict]
        if self.verdict == "agrees" and not lower <= self.compared.unseen <= upper:
            advice = "Their intervals overlap; the labels' share is the one to use."
        return f"{answer}; the estimate said {said}. {advice}"

    def worth_of_more(self) -> str:
        """The width that further labels would bring, in one sentence."""
        more, half_width = self.after_more
        return (
            f"{words.count(more, 'more label')} would bring the unseen share to ± "
            f"{words.points(half_width)}, from ± {words.points(self.half_width)} now."
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        names = ("share", "low", "high")
        return {
            "sentence": self.sentence(),
            "verdict": self.verdict,
            "corrected": self.corrected.to_dict(),
            "named": [
                {"name": name, **dict(zip(names, map(float, found), strict=True))}
                for name, found in self.named.items()
            ],
            "labels": {"told": self.n_told, "not_told": self.n_not_told},
            "called_unseen": dict(zip(("rows", "right"), self.called_unseen, strict=True)),
            "called_known": dict(zip(("rows", "right"), self.called_known, strict=True)),
            "compared": None if self.compared is None else self.compared.to_dict(),
            "after_more": dict(zip(("labels", "half_width"), self.after_more, strict=True)),
            "notices": [notice.to_dict() for notice in self.notices],
        }

    def __str__(self) -> str:
        named = [
            f"{words.shown(name)}: {words.share(share)} ({words.interval(*ends)})"
            for name, (share, *ends) in self.named.items()
        ]
        lines = [self.sentence(), str(self.corrected), *named, self.worth_of_more()]
        return "\n".join([*lines, *map(str, self.notices)])

    __repr__ = __str__


def audit(
    guesses: ArrayLike,
    rows: ArrayLike,
    labels: Sequence[Any],
    probabilities: ArrayLike | None = None,
    *,
    known: Sequence[Any] | None = None,
    unseen_label: Any = "unseen",
    estimate: Estimate | None = None,
    confidence: float = 0.95,
) -> Audit:
    """Estimate the shares of the new rows from labels of some of them; no model need be right.

    Parameters
    ----------
    guesses : array-like of shape (m,)
        Any model's label of each new row, such as ``rule.predict_new()``. Good guesses make the
        intervals short; bad guesses make them wide, not wrong.
    rows : array-like of shape (n,)
        Places of the labelled rows among the new ones, from 0, in the order of the draw.
    labels : sequence of n labels
        A known class, another name for a new class, ``"?"`` where people cannot tell, or None,
        NaN or empty text where nobody looked. Rows that nobody looked at are left out where they
        were drawn last; elsewhere they count as ``"?"``.
    probabilities : array-like of shape (n,) or None, default=None
        Probability with which each row came into the sample; None for a simple random sample.
    known : sequence of labels or None, default=None
        The known classes. None takes those of ``estimate`` or, without an estimate, all guesses but
        ``unseen_label``.
    unseen_label : label, default="unseen"
        The guess and the label that stand for any unseen class.
    estimate : Estimate or None, default=None
        The estimate to compare with.
    confidence : float, default=0.95
        Level of the intervals.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import audit
    >>> rng = np.random.RandomState(0)
    >>> truth = rng.choice(["cat", "dog", "emu"], size=1000, p=[0.5, 0.2, 0.3])
    >>> guesses = np.where(truth == "emu", "unseen", truth)
    >>> guesses[:50] = "cat"  # not a perfect model
    >>> rows = rng.choice(1000, size=60, replace=False)
    >>> found = audit(guesses, rows, truth[rows])
    >>> round(found.corrected.unseen, 2), found.corrected.intervals[-1].round(2)
    (0.28, array([0.23, 0.31]))
    """
    check_interval(confidence)
    called = np.asarray(guesses, dtype=object)
    if called.ndim != 1 or any(map(is_missing, called)):
        raise ValueError("guesses must be one label for each new row, and none missing.")
    labelled, notices = _looked_at(*checked_labels(rows, labels, probabilities, len(called)))
    if known is None:
        known = [*set(called.tolist()) - {unseen_label}] if estimate is None else estimate.classes
    classes = tuple(sorted(known, key=lambda label: (str(type(label)), label)))
    answers, told = labelled.answers, labelled.told
    alike = names_alike(answers[told], classes)
    is_known, calls_known = (np.isin(one, np.array(classes, object)) for one in (answers, called))
    found = [
        *(labelled.share(answers == label, called == label, confidence) for label in classes),
        labelled.share(~is_known, ~calls_known, confidence),
    ]
    later = labelled.share(~is_known, ~calls_known, confidence, more=_MORE)
    text = answers.astype(str)
    names = sorted(set(text[told & ~is_known].tolist()) - {str(unseen_label)})
    guessed_known = calls_known[labelled.rows]
    right = is_known == guessed_known
    called_unseen, called_known = (
        (int(rows.sum()), int((rows & right).sum()))
        for rows in (told & ~guessed_known, told & guessed_known)
    )
    return Audit(
        _corrected(np.array(found), classes, answers, len(called), confidence),
        {name: labelled.share(text == name, ~calls_known, confidence) for name in names},
        int(told.sum()),
        int((~told).sum()),
        called_unseen,
        called_known,
        estimate,
        (_MORE, (later[2] - later[1]) / 2),
        notices + alike,
    )


def _corrected(
    found: FloatArray,
    classes: tuple[Any, ...],
    answers: NDArray[Any],
    n_new: int,
    confidence: float,
) -> Estimate:
    """Shares that sum to 1, with their intervals, from the share, lower and upper end of each."""
    shares = found[:, 0] / found[:, 0].sum()
    ends = [np.minimum(found[:, 1], shares), np.maximum(found[:, 2], shares)]
    return Estimate(
        classes,
        shares[:-1],
        float(shares[-1]),
        "audit",
        n_labelled={label: int((answers == label).sum()) for label in classes},
        n_new=n_new,
        intervals=np.column_stack(ends),
        confidence=confidence,
    )


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Rows that people labelled, their answers, and the probability of each draw."""

    rows: IntArray
    answers: NDArray[Any]
    probabilities: FloatArray

    @property
    def told(self) -> BoolArray:
        """Whether people could tell the class."""
        return np.array([answer != CANNOT_TELL for answer in self.answers], dtype=bool)

    def share(
        self, is_class: BoolArray, inside: BoolArray, confidence: float, *, more: int = 0
    ) -> tuple[float, float, float]:
        """Share of a class, lower and upper end, with ``more`` labels of the kind if any.

        Rows of which nobody could tell may be all of the class, or none. ``inside`` says of every
        new row whether the model calls it by the class.
        """
        told, mine = self.told, inside[self.rows]

        def over(is_it: BoolArray, mask: BoolArray) -> tuple[float, float, float]:
            chances = self.probabilities[mask]
            strata = class_strata(is_it[mask], mine[mask], chances, float(inside.mean()))
            factor = 1 + more / int(mask.sum())
            return share_interval([one.with_more(factor) for one in strata], confidence)

        share, lower, upper = over(is_class, told)
        if not told.all():
            everything = np.ones_like(told)
            lower = min(lower, over(is_class & told, everything)[1])
            upper = max(upper, over(is_class | ~told, everything)[2])
        return share, lower, upper


def checked_labels(
    rows: ArrayLike, labels: Sequence[Any], probabilities: ArrayLike | None, n_new: int
) -> tuple[IntArray, NDArray[Any], FloatArray]:
    """Places, labels and probabilities of labelled rows; None is the label of unlabelled ones."""
    if not isinstance(n_new, Integral):
        raise TypeError(f"n_new must be a whole number; got {n_new!r}.")
    places, given_labels = np.asarray(rows), [plain(label) for label in labels]
    for label in given_labels:
        if not isinstance(label, Hashable):
            raise TypeError(f"labels must hold one label for each row; got {label!r}.")
    # Empty cells, which pandas has as NaN, NA or no text.
    empty = [is_missing(label) or label == "" for label in given_labels]
    filled = [None if no else label for no, label in zip(empty, given_labels, strict=True)]
    answers = np.array(filled, dtype=object)
    if places.ndim != 1 or len(places) != len(answers):
        raise ValueError(
            f"labels must be as many as rows; got {len(answers)} labels and rows of shape "
            f"{places.shape}."
        )
    is_whole = np.issubdtype(places.dtype, np.integer) or not len(places)
    if not is_whole or len(np.unique(places)) < len(places):
        raise ValueError("rows must be different whole numbers, the places of the labelled rows.")
    if ((places < 0) | (places >= n_new)).any():
        strange = places[(places < 0) | (places >= n_new)][0]
        raise ValueError(f"rows must be places of {n_new} new rows, from 0; got {strange}.")
    alike = np.full(len(places), len(places) / max(1, n_new))
    given = alike if probabilities is None else probabilities
    chances = np.asarray(given, dtype=np.float64)
    if chances.shape != places.shape or not ((chances > 0) & (chances <= 1)).all():
        raise ValueError("probabilities must be one number in (0, 1] for each labelled row.")
    return places.astype(np.intp), answers, chances


def names_alike(labels: Iterable[Any], known: Iterable[Any]) -> tuple[Notice, ...]:
    """Notices of names that differ from each other, or from known ones, by their spelling alone.

    A name that is a known class but for its type, such as "1" for 1, would be a new class.
    """
    classes = {str(label): label for label in known}
    for label in labels:
        same = classes.setdefault(str(label), label)
        if same != label:
            raise TypeError(
                f"labels must be of the type of the known classes; got {label!r} for {same!r}."
            )
    # Rows that people did not label are no rows of TRAIN.
    found = label_notices(np.array([*classes]))
    return tuple(one for one in found if one.code == "labels_alike")


def _looked_at(
    rows: IntArray, labels: NDArray[Any], probabilities: FloatArray
) -> tuple[_Labelled, tuple[Notice, ...]]:
    """The rows that count, the first ones drawn where people stopped, else all; and a notice."""
    looked_at = np.array([label is not None for label in labels], dtype=bool)
    if not (looked_at & (labels != CANNOT_TELL)).any():
        raise ValueError("labels must name the class of at least one row; got none.")
    n_seen = int(looked_at.sum())
    if looked_at[:n_seen].all():  # any beginning of a random order is itself a draw
        part = n_seen / len(rows)
        return _Labelled(rows[:n_seen], labels[:n_seen], probabilities[:n_seen] * part), ()
    text = (
        f"{words.count(len(rows) - n_seen)} without a label between rows with one count as rows "
        "whose class nobody could tell: label the rows in the order of the draw."
    )
    filled = np.where(looked_at, labels, CANNOT_TELL)
    return _Labelled(rows, filled, probabilities), (Notice("labels_out_of_order", text),)


def _unseen_interval(estimate: Estimate) -> tuple[float, float]:
    if estimate.intervals is None:
        return float(estimate.unseen), float(estimate.unseen)
    lower, upper = estimate.intervals[-1]
    return float(lower), float(upper)
