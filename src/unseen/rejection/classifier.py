"""The default rule: the mean of a few rules, or one of them where rows out of fold say so.

No rule wins everywhere, and the mean of the members' probabilities is nearly as good as the best.
Another candidate, the mean with the first member calibrated or a member alone, is taken only where
its losses are lower by more than one standard error (:mod:`unseen.rejection.losses`).
``docs/rejection.md`` says why, and why as many rows are called unseen as are estimated to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.base import clone

from unseen._arrays import chosen_arrays
from unseen._frozen import Frozen
from unseen._progress import between
from unseen._team import own_threads
from unseen._types import FloatArray
from unseen.rejection.base import RejectionRule
from unseen.rejection.kernel import RejectionKernel
from unseen.rejection.losses import (
    calibrated,
    choose_by_other_folds,
    row_losses,
    within_one_standard_error,
)
from unseen.rejection.sample import FittedRule, OpenSample, OutOfFold
from unseen.rejection.stack import RejectionStack, coarse_forest


@dataclass(frozen=True, eq=False)
class MeanRule(Frozen):
    """The mean of some members' probabilities."""

    rules: tuple[FittedRule, ...]
    names: tuple[str, ...]  # of the members
    losses: Mapping[tuple[str, ...], float]  # of every candidate out of fold, by the names in it

    def probabilities(self, X: Any) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        return np.mean([rule.probabilities(X) for rule in self.rules], axis=0)


class FittedMember(NamedTuple):
    """A member that has learnt, with its probabilities of rows out of fold."""

    name: str
    rule: FittedRule
    out_of_fold: OutOfFold


@dataclass(eq=False, repr=False)
class RejectionClassifier(RejectionRule):
    """Label rows with the known classes or "unseen": the rule to start with.

    Parameters
    ----------
    members : sequence of RejectionRule or None, default=None
        Rules to average or to choose from; None is a forest on stacked features
        (:class:`RejectionStack`), a :class:`RejectionForest` and a :class:`RejectionKernel`. The
        members' own ``random_state`` and ``unseen_label`` are not used.
    unseen_label, n_folds, random_state
        Parameters of every rule. Members that are given have folds of their own.

    Attributes
    ----------
    rule_ : MeanRule
        ``rule_.names`` are the members that are averaged, ``rule_.losses`` the loss of every
        candidate.

    Notes
    -----
    After ``fit`` the cut is that of ``with_threshold(reject_rate="estimated")``.

    In ``out_of_fold_`` and ``risk_`` each fold has the candidate that the other folds picked.
    Features of the stack and bags of the forest still overlap, so that ``risk_`` is a little too
    small on small samples.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionClassifier
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 100)
    >>> X = rng.normal(size=(200, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(300, 1)) + np.repeat([-4, 4, 0], 100)[:, None]
    >>> rule = RejectionClassifier(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    members: Sequence[RejectionRule] | None = None

    _default_aim: ClassVar[tuple[str, Any]] = ("reject_rate", "estimated")
    _accepts_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "members": [None, list, tuple],
        **RejectionRule._parameter_constraints,
    }

    def _fit_both(self, sample: OpenSample, rng: RandomState) -> tuple[MeanRule, OutOfFold]:
        members, shares = self._fit_members(sample, rng), sample.shares
        name, rule, rows = members[0]
        found = calibrated(rule, rows, shares, self.n_folds, rng)
        changed = FittedMember(f"calibrated {name}", *found)
        # The favoured first: all members; all, the first one calibrated; one alone.
        candidates = [members, [changed, *members[1:]]]
        if len(members) > 1:
            candidates += [*([member] for member in members), [changed]]
        names = [tuple(member.name for member in members) for members in candidates]
        means = []
        for members in candidates:
            labelled = np.mean([member.out_of_fold.labelled for member in members], axis=0)
            new = np.mean([member.out_of_fold.new for member in members], axis=0)
            means.append(OutOfFold(labelled, sample.codes, new))
        losses, pick = [row_losses(mean) for mean in means], within_one_standard_error
        best = pick(losses, shares)
        totals = {name: loss.total(shares) for name, loss in zip(names, losses, strict=True)}
        chosen = MeanRule(tuple(one.rule for one in candidates[best]), names[best], totals)
        folds = sample.assign_folds(self.n_folds, rng)
        return chosen, choose_by_other_folds(means, losses, folds, shares, pick)

    def _fit_members(self, sample: OpenSample, rng: RandomState) -> list[FittedMember]:
        if self.members is None:
            kernel = RejectionKernel(n_folds=self.n_folds)
            members = [RejectionStack(n_folds=self.n_folds), coarse_forest(sample), kernel]
        else:
            if not self.members or not all(isinstance(one, RejectionRule) for one in self.members):
                raise TypeError(
                    f"members must be one or more rejection rules; got {self.members!r}."
                )
            for member in self.members:
                member._validate_params()
            members = [clone(member) for member in self.members]
        # A seed for each: how often one member draws must not change what the next one does.
        seeds = rng.randint(2**31 - 1, size=len(members))
        kinds, n_members = [type(member).__name__ for member in members], len(members)

        def fit(place: int) -> FittedMember:
            kind, rng = kinds[place], RandomState(seeds[place])
            number = "" if kinds.count(kind) == 1 else f" {kinds[:place].count(kind) + 1}"
            with between(place / n_members, (place + 1) / n_members):
                return FittedMember(kind + number, *members[place]._fit_both(sample, rng))

        with own_threads():
            return chosen_arrays().side_by_side(fit, range(n_members))
