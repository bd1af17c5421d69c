"""The default rule: a mean of a few, or one of them where held-out rows say so.

No rule wins everywhere: a forest on stacked features does on digits, kernel functions on smooth
clouds. The mean of their probabilities is nearly as good as the best on each problem, and is
favoured: something else is taken only where held-out rows cost it less by more than one standard
error of the difference, row by row (:mod:`unseen.rejection.learning.selection`). That may be the mean with the
first member calibrated (:mod:`unseen.rejection.learning.calibration`), which pays where much is unseen and
costs where little is, or one member alone. The plug-in rule is no member: on problems of
development the mean was worse with it (``benchmarks/rejection.py`` has it beside the others).

Averages shy away from 0 and 1, so that where little is unseen hardly any row is most probably so.
The rule therefore calls as many of the new rows unseen as are estimated to be; the most
probable label is one call away, ``set_threshold(cost=1)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen.rejection.base import RejectionRule
from unseen.rejection.kernel import RejectionKernel
from unseen.rejection.learning.calibration import (
    CalibratedRule,
    calibrate_held_out,
    fit_calibration,
)
from unseen.rejection.learning.folds import FittedRule, HeldOut, assign_sample_folds
from unseen.rejection.learning.sample import OpenSample
from unseen.rejection.learning.selection import (
    charges,
    choice_by_other_folds,
    within_one_standard_error,
)
from unseen.rejection.stack import RejectionStack, coarse_forest

__all__ = ["MixedRule", "RejectionClassifier"]


@dataclass(frozen=True, eq=False)
class MixedRule(Frozen):
    """The mean of some members' probabilities.

    Parameters
    ----------
    rules : tuple of FittedRule
        What those members have learnt.
    names : tuple of str
        Who they are.
    costs : dict
        What held-out rows cost every mean that was tried, by the names in it: the mean of risk
        and half the Brier score.
    """

    rules: tuple[FittedRule, ...]
    names: tuple[str, ...]
    costs: Mapping[tuple[str, ...], float]

    def probabilities(self, X: Any) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        return np.mean([rule.probabilities(X) for rule in self.rules], axis=0)


class RejectionClassifier(RejectionRule):
    """Label rows with the known classes or "unseen": the rule to start with.

    Parameters
    ----------
    members : sequence of RejectionRule or None, default=None
        Rules to mix or to choose from; None is a forest on stacked features
        (:class:`RejectionStack`), a :class:`RejectionForest` and a :class:`RejectionKernel`. Their
        own ``random_state`` and ``unseen_label`` are not used.
    unseen_label, n_folds, random_state
        As for every rule. Members that are given have folds of their own.

    Attributes
    ----------
    rule_ : MixedRule
        ``rule_.names`` are the members that are asked, ``rule_.costs`` what every candidate
        cost.

    Notes
    -----
    After ``fit`` the cut is that of ``set_threshold(reject_rate="estimated")``.

    In ``held_out_`` and ``risk_`` each fold has the candidate that the other folds picked. Features
    of the stack and bags of the forest still overlap: with 300 rows of each sample the risk was too
    small by half of its standard error (24 draws).

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.classifier import RejectionClassifier
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 100)
    >>> X = rng.normal(size=(200, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(300, 1)) + np.repeat([-4, 4, 0], 100)[:, None]
    >>> rule = RejectionClassifier(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    _accepts_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "members": [None, list, tuple],
        **RejectionRule._parameter_constraints,
    }

    def __init__(
        self,
        members: Sequence[RejectionRule] | None = None,
        *,
        unseen_label: Any = "auto",
        n_folds: int = 5,
        random_state: Any = None,
    ) -> None:
        super().__init__(unseen_label=unseen_label, n_folds=n_folds, random_state=random_state)
        self.members = members

    def _fit_rule(self, sample: OpenSample, rng: np.random.RandomState) -> MixedRule:
        return self._fit_both(sample, rng)[0]

    def _fit_both(
        self, sample: OpenSample, rng: np.random.RandomState
    ) -> tuple[MixedRule, HeldOut]:
        """Held-out rows choose whom to ask, and so are there anyway."""
        members = self._members(sample)
        # Each has its own: how often one draws must not change what the next one does.
        seeds = rng.randint(2**31 - 1, size=len(members))
        voices = [
            self._voice(name, member, sample, np.random.RandomState(seed))
            for name, member, seed in zip(distinct_names(members), members, seeds, strict=True)
        ]
        candidates = blends(voices, self._calibrated(voices[0], sample, rng))
        held_out = [mean_of([voice.held_out for voice in voices]) for voices in candidates]
        costs = [charges(each) for each in held_out]
        best = within_one_standard_error(costs, sample.shares)
        totals = [each.total(sample.shares) for each in costs]
        rule = MixedRule(
            tuple(voice.rule for voice in candidates[best]),
            _names(candidates[best]),
            dict(zip(map(_names, candidates), totals, strict=True)),
        )
        folds = assign_sample_folds(sample, self.n_folds, rng)
        pick = within_one_standard_error
        return rule, choice_by_other_folds(held_out, folds, sample.shares, pick)

    def _first_cut(self) -> float:
        """As many of the new rows are called unseen as are estimated to be."""
        return self._cut("reject_rate", "estimated") if self._open else super()._first_cut()

    def _voice(
        self, name: str, member: RejectionRule, sample: OpenSample, rng: np.random.RandomState
    ) -> Voice:
        rule, held_out = member._fit_both(sample, rng)
        return Voice(name, held_out, rule)

    def _calibrated(self, voice: Voice, sample: OpenSample, rng: np.random.RandomState) -> Voice:
        return Voice(
            f"calibrated {voice.name}",
            calibrate_held_out(voice.held_out, sample.shares, self.n_folds, rng),
            CalibratedRule(voice.rule, fit_calibration(voice.held_out, sample.shares)),
        )

    def _members(self, sample: OpenSample) -> list[RejectionRule]:
        if self.members is None:
            kernel = RejectionKernel(n_folds=self.n_folds)
            return [RejectionStack(n_folds=self.n_folds), coarse_forest(sample), kernel]
        if not self.members or not all(isinstance(one, RejectionRule) for one in self.members):
            raise TypeError(f"members must be one or more rejection rules; got {self.members!r}.")
        for member in self.members:
            member._validate_params()
        return [clone(member) for member in self.members]


@dataclass(frozen=True, eq=False)
class Voice:
    """A member that has learnt, with what it says of held-out rows."""

    name: str
    held_out: HeldOut
    rule: FittedRule


def blends(voices: list[Voice], calibrated: Voice) -> list[list[Voice]]:
    """Whom to ask, the favoured first: all; all, the first one calibrated; one alone."""
    if len(voices) == 1:
        return [voices, [calibrated]]
    together = [voices, [calibrated, *voices[1:]]]
    return [*together, *([voice] for voice in voices), [calibrated]]


def mean_of(held_out: Sequence[HeldOut]) -> HeldOut:
    """Mean probabilities of several rules on the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.folds import HeldOut
    >>> from unseen.rejection.classifier import mean_of
    >>> one = HeldOut(np.array([[1.0, 0.0]]), np.array([0]), np.array([[0.5, 0.5]]))
    >>> other = HeldOut(np.array([[0.5, 0.5]]), np.array([0]), np.array([[0.0, 1.0]]))
    >>> mean_of([one, other]).new
    array([[0.25, 0.75]])
    """
    labelled = np.mean([each.labelled for each in held_out], axis=0)
    new = np.mean([each.new for each in held_out], axis=0)
    return HeldOut(labelled, held_out[0].codes, new)


def distinct_names(members: Sequence[RejectionRule]) -> list[str]:
    """Class of each member, numbered where there are several of one.

    Examples
    --------
    >>> from unseen.rejection.classifier import distinct_names
    >>> from unseen.rejection.forest import RejectionForest
    >>> from unseen.rejection.kernel import RejectionKernel
    >>> distinct_names([RejectionForest(), RejectionKernel(), RejectionForest(10)])
    ['RejectionForest 1', 'RejectionKernel', 'RejectionForest 2']
    """
    names = [type(member).__name__ for member in members]
    return [
        name if names.count(name) == 1 else f"{name} {names[:place].count(name) + 1}"
        for place, name in enumerate(names)
    ]


def _names(voices: Sequence[Voice]) -> tuple[str, ...]:
    return tuple(voice.name for voice in voices)
