"""The estimated risk of a rule, with its standard error, at every cut of the novelty score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen._types import FloatArray
from unseen.plots.canvas import SMALL, Display, frame, patch_of_paper, percent, percent_axis
from unseen.plots.theme import LIGHT, Theme
from unseen.rejection.learning.threshold import labels_at
from unseen.rejection.risk.estimate import open_risk

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unseen.rejection import RejectionRule

__all__ = ["RiskDisplay"]


@dataclass(eq=False)
class RiskDisplay(Display):
    """Risk against the cut from which a row is called unseen; a band of one standard error.

    Parameters
    ----------
    cuts : ndarray of shape (n,)
        Cuts of the novelty score, from 0 (all rows are unseen) to 1.
    risks, standard_errors : ndarray of shape (n,)
        Estimated share of wrong labels among the new rows, and its standard error.
    threshold, risk : float
        The cut that is in use, and its risk.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.plots import RiskDisplay
    >>> from unseen.rejection import RejectionTree
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(-4, 1, (200, 1))
    >>> X_new = np.vstack([rng.normal(-4, 1, (200, 1)), rng.normal(4, 1, (200, 1))])
    >>> rule = RejectionTree(random_state=0).fit(X, ["left"] * 200, X_new, [0.5])
    >>> display = RiskDisplay.from_cut(rule)
    >>> float(display.risks[0])  # all rows are called unseen: the known half is wrong
    0.5
    """

    cuts: FloatArray
    risks: FloatArray
    standard_errors: FloatArray
    threshold: float
    risk: float

    @classmethod
    def from_cut(
        cls,
        rule: RejectionRule,
        *,
        n_cuts: int = 81,
        ax: Axes | None = None,
        theme: Theme = LIGHT,
    ) -> Self:
        """Draw the risk of a rule at all cuts, from its probabilities out of fold.

        Parameters
        ----------
        rule : RejectionRule
            Fitted with new rows.
        n_cuts : int, default=81
            Cuts to try, evenly from 0 to 1.
        ax, theme
            As for :meth:`plot`.

        Returns
        -------
        RiskDisplay
        """
        if len(rule.classes_) == len(rule.shares_.known):
            raise ValueError("rule must be fitted with X_new; got a fit without.")
        if n_cuts < 2:
            raise ValueError(f"n_cuts must be at least 2; got {n_cuts}.")
        rows, shares = rule.out_of_fold_, rule.shares_
        cuts = np.linspace(0.0, 1.0, n_cuts)
        found = [
            open_risk(
                labels_at(rows.labelled, cut),
                rows.codes,
                labels_at(rows.new, cut),
                shares.known,
                shares.covariance,
            )
            for cut in cuts
        ]
        display = cls(
            cuts,
            np.array([one.risk for one in found]),
            np.array([one.standard_error for one in found]),
            float(rule.threshold_),
            float(rule.risk_.risk),
        )
        return display.plot(ax, theme=theme)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        spread = self.standard_errors
        ax.fill_between(
            self.cuts,
            self.risks - spread,
            self.risks + spread,
            color=theme.known,
            alpha=0.2,
            linewidth=0,
        )
        ax.plot(self.cuts, self.risks, color=theme.known, linewidth=2)
        ax.axvline(self.threshold, color=theme.muted, linewidth=1, linestyle=":")
        ax.plot(self.threshold, self.risk, "D", color=theme.unseen, markersize=7)
        ax.annotate(
            f"{percent(self.risk)} wrong",
            (self.threshold, self.risk),
            (0, 24),
            textcoords="offset points",
            horizontalalignment="center",
            color=theme.unseen,
            fontweight="bold",
            bbox=patch_of_paper(theme),
        )
        frame(ax, theme, grid="y")
        percent_axis(ax.yaxis)
        ax.set_xlim(0, 1)
        ax.set_ylim(bottom=min(0.0, float((self.risks - spread).min())))
        ax.set_xlabel("Novelty from which a row is called unseen\nband: one standard error")
        ax.xaxis.label.set_fontsize(SMALL)
        ax.set_ylabel("Wrong labels, estimated")
