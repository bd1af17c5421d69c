"""What is claimed where nothing is new, of a control and of held-out groups; what a claim is then.

Of the known part of the new rows a share b is called unseen by mistake. A true unseen share u is
then found as ``u + (1 - u) b``, so that ``u = (found - b) / (1 - b)``. Held-out groups, in which
nothing is new, show how large b comes out. docs/drift.md says what the corrected limit means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen._wording import NO_SHARE, short_share, shown
from unseen.drift.tolerance import Tolerance
from unseen.records import Estimate, Notice

__all__ = ["Control", "HeldOut", "calibrated", "less_false"]

_FEW_ROWS = 0.25
_BEFORE = "probability_unseen", "bayes_factor", "prior_unseen"


@dataclass(frozen=True)
class Control:
    """Rows of the same place as the new ones, believed to hold no new class.

    Examples
    --------
    >>> from unseen.drift import Control
    >>> print(Control(200, 0.4, (0.3, 0.5), "moved").sentence())  # doctest: +NORMALIZE_WHITESPACE
    Known classes are taken as they look in the control, of which training alone would call 40%
    (30% to 50%) unseen.
    """

    n_rows: int
    unseen: float  # share that training alone would call unseen: a false claim
    interval: tuple[float, float] | None = None  # lower and upper end of that share
    # "still", "moved" or "unclear": whether the known classes have moved between training and the
    # control; None where the method does not ask.
    verdict: str | None = None
    far: bool = False  # whether they have moved too far for training alone to say anything

    def sentence(self) -> str:
        """What the new rows were compared with, and what training alone would have claimed."""
        ends = (
            "" if self.interval is None else " ({} to {})".format(*map(short_share, self.interval))
        )
        share = "none" if self.unseen < NO_SHARE else short_share(self.unseen)
        claim = "can say nothing" if self.far else f"would call {share}{ends} unseen"
        return (
            f"Known classes are taken as they look in the control, of which training alone {claim}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        return {
            "n_rows": self.n_rows,
            "unseen": self.unseen,
            "interval": None if self.interval is None else list(self.interval),
            "verdict": self.verdict,
        }


@dataclass(frozen=True, eq=False)
class HeldOut(Frozen):
    """Unseen shares that the estimator claims of held-out groups, where nothing is new.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift import HeldOut, Tolerance
    >>> limits = Tolerance(np.array([0.1]), np.array([0.4]))
    >>> found = HeldOut(("a", "b"), (80, 90), [0.0, 0.07], [1.0, 2.0, 0.5], limits, "person")
    >>> found.factor, round(found.must, 2), found.chance
    (2.0, 0.25, 0.25)
    >>> print(found.sentence())  # doctest: +NORMALIZE_WHITESPACE
    In 2 held-out groups of person, where nothing is new, 0% to 7% is called unseen. Even if the
    new rows differ as much as the farthest of 3 groups, at least 25% is new.
    """

    groups: tuple[str, ...]  # the group, or groups, of each part that was held out
    n_rows: tuple[int, ...]  # of each part
    unseen: FloatArray  # (parts,), share of each part that is called unseen: a false claim
    # (G,), the factor that each of all labelled groups needs: how much more common rows far from
    # all other groups are in this group.
    factors: FloatArray
    tolerance: Tolerance  # limits of the new rows by the same distances
    by: str = ""  # the kind of the groups, such as "person"; empty where they have no name

    def __post_init__(self) -> None:
        for name in ("unseen", "factors"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        super().__post_init__()

    @property
    def worst(self) -> float:
        """The largest share that is called unseen where nothing is new."""
        return float(self.unseen.max())

    @property
    def typical(self) -> float:
        """The median of these shares."""
        return float(np.median(self.unseen))

    @property
    def factor(self) -> float:
        """The factor that all labelled groups need; at least 1."""
        return max(1.0, float(self.factors.max()))

    @property
    def must(self) -> float:
        """Share of the new rows that must be new even at the factor of the farthest group."""
        return self.tolerance.must(self.factor)

    @property
    def chance(self) -> float:
        """Probability that a new group without anything new needs a larger factor than all."""
        return 1 / (len(self.factors) + 1)

    def sentence(self) -> str:
        """What is claimed where nothing is new, and what must be new even so."""
        low, high = short_share(float(self.unseen.min())), short_share(self.worst)
        claimed = low if low == high else f"{low} to {high}"
        of = f" of {shown(self.by)}" if self.by else ""
        what = (
            f"In {len(self.unseen)} held-out groups{of}, where nothing is new, {claimed} is called "
            "unseen."
        )
        if self.must < NO_SHARE:
            return what
        return (
            f"{what} Even if the new rows differ as much as the farthest of {len(self.factors)} "
            f"groups, at least {short_share(self.must)} is new."
        )

    def notices(self, n_new: int) -> tuple[Notice, ...]:
        """Warnings: something is claimed, or parts are far smaller than the new rows."""
        found = []
        if self.worst >= NO_SHARE:
            text = (
                f"Up to {short_share(self.worst)} of held-out groups is called unseen, though "
                "nothing is new there: the unseen share and its lower end allow for this."
            )
            found.append(Notice("held_out_claims", text))
        rows = int(np.median(self.n_rows))
        if rows < _FEW_ROWS * n_new:
            text = (
                f"Held-out groups have {rows} rows, and there are {n_new} new rows: a larger "
                "sample may claim more where nothing is new. If the new rows are of several "
                "groups, name the group of each row (groups_new)."
            )
            found.append(Notice("held_out_small", text))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        parts = zip(self.groups, self.n_rows, self.unseen.tolist(), strict=True)
        return {
            "by": self.by,
            "parts": [{"groups": name, "rows": n, "unseen": share} for name, n, share in parts],
            "n_groups": len(self.factors),
            "factor": self.factor,
            "must": self.must,
            "chance": self.chance,
        }


def less_false(share: float, false: float) -> float:
    """Unseen share behind a share that was found, if ``false`` of the known rows is called unseen.

    Examples
    --------
    >>> less_false(0.75, 0.5), less_false(0.1, 0.2), less_false(1.0, 1.0)
    (0.5, 0.0, 0.0)
    """
    return 0.0 if share <= false else (share - false) / (1 - false)


def calibrated(estimate: Estimate, held_out: HeldOut) -> Estimate:
    """The estimate, less what is claimed of held-out groups.

    The share loses the median of the false claims, its lower end the largest of them; the lower end
    is nowhere below what must be new at the factor of the farthest group. Where either changes, the
    probability that anything is unseen, and its Bayes factor, are withheld: they knew no groups.
    """
    sure = held_out.must if (estimate.confidence or 0) <= 1 - held_out.tolerance.delta else 0.0
    unseen, limits = less_false(estimate.unseen, held_out.typical), estimate.intervals
    if limits is not None:
        lower, upper = limits[-1].tolist()
        low = max(less_false(lower, held_out.worst), sure)
        unseen = float(np.clip(unseen, low, max(upper, low)))
        # Known classes take what the lower end of the unseen share gave up.
        limits = limits.copy()
        room = (1 - low) / (1 - lower) if lower < 1 else 1.0
        limits[:-1, 1] = np.minimum(limits[:-1, 1] * max(room, 1.0), 1 - low)
        if lower == 1 and low < 1:
            limits[:-1, 1] = 1 - low
        limits[:-1, 0] = np.minimum(limits[:-1, 0], limits[:-1, 1])
        limits[-1] = low, max(upper, low)
    known = estimate.proportions
    if estimate.unseen < 1:
        known = known * ((1 - unseen) / (1 - estimate.unseen))
    else:
        counts = np.array([estimate.n_labelled[label] for label in estimate.classes], float)
        known = (1 - unseen) * counts / counts.sum()
    diagnostics, drift = dict(estimate.diagnostics), estimate.drift
    if unseen != estimate.unseen or not np.array_equal(limits, estimate.intervals):  # type: ignore[arg-type]
        diagnostics = {name: diagnostics[name] for name in diagnostics if name not in _BEFORE}
    if drift is not None and drift.verdict == "still" and limits is not None:
        before = np.asarray(estimate.intervals)
        if before[-1, 0] >= NO_SHARE > limits[-1, 0]:  # held-out groups explain a firm claim
            drift = replace(drift, verdict="unclear")
    return replace(
        estimate,
        proportions=known,
        unseen=unseen,
        intervals=limits,
        diagnostics=diagnostics,
        drift=drift,
        held_out=held_out,
        notices=(*estimate.notices, *held_out.notices(estimate.n_new)),
    )
