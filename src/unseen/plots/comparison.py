"""Several estimators side by side: one bar each, the unseen share at its right end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen._wording import short_share
from unseen.plots.canvas import (
    SMALL,
    WIDTH,
    Display,
    frame,
    largest,
    literal,
    merge_others,
    percent_axis,
    write_beside,
)
from unseen.plots.theme import LIGHT, Theme
from unseen.records import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ComparisonDisplay"]

_LONGEST_NAME = 18
# Bars are so thin that more segments than this only blur.
_MOST_CLASSES = 12


@dataclass(eq=False)
class ComparisonDisplay(Display):
    """Shares by each estimator as parts of one bar: known classes in blue, unseen hatched.

    Where the truth is known, it is the first bar, and the number beside each other bar is its
    error: total variation, the share of rows that would have to move. Above 12 known classes the
    smallest are drawn as one.

    Parameters
    ----------
    names : tuple of str
        Estimators, from the top.
    classes : tuple of str
        Known classes, from the left.
    shares : ndarray of shape (n, K + 1)
        Shares by each estimator, unseen last.
    truth : ndarray of shape (K + 1,) or None
        True shares.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.plots import ComparisonDisplay
    >>> rows = {"n_labelled": {"cat": 80}, "n_new": 400}
    >>> estimates = {"open": Estimate(("cat",), [0.7], 0.3, "open", **rows),
    ...              "closed": Estimate(("cat",), [1.0], 0.0, "closed", **rows)}
    >>> display = ComparisonDisplay.from_comparison(estimates, truth={"cat": 0.75})
    >>> display.errors
    array([0.05, 0.25])
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    shares: FloatArray
    truth: FloatArray | None = None

    @classmethod
    def from_comparison(
        cls,
        comparison: Mapping[str, Estimate],
        truth: Mapping[Any, float] | Sequence[float] | FloatArray | None = None,
        *,
        ax: Axes | None = None,
        theme: Theme = LIGHT,
    ) -> Self:
        """Draw a comparison.

        Parameters
        ----------
        comparison : Comparison, or mapping of name to Estimate
            Estimates with the same classes.
        truth : mapping of label to share, K + 1 shares, or None, default=None
            True shares where they are known. The rest of a mapping is unseen.
        ax, theme
            As for :meth:`plot`.
        """
        if not comparison:
            raise ValueError("comparison must hold at least one estimate; got none.")
        estimates = list(comparison.values())
        classes = estimates[0].classes
        shares = np.array([[*one.proportions, one.unseen] for one in estimates])
        true = None if truth is None else _true_shares(truth, classes)
        display = cls(tuple(map(str, comparison)), tuple(map(str, classes)), shares, true)
        return display.plot(ax, theme=theme)

    @property
    def errors(self) -> FloatArray:
        """Total variation between each estimator and the truth."""
        if self.truth is None:
            raise ValueError("errors need the truth; got None.")
        return np.asarray(np.abs(self.shares - self.truth).sum(axis=1) / 2)

    def _bars(self) -> tuple[list[str], list[str], FloatArray]:
        """Names of bars and of their known parts, and the parts."""
        names, shares = list(self.names), self.shares
        if self.truth is not None:
            names, shares = ["truth", *names], np.vstack([self.truth, shares])
        if len(self.classes) <= _MOST_CLASSES:
            return names, list(self.classes), shares
        kept = largest(shares[:, :-1].mean(axis=0), _MOST_CLASSES - 1)
        others = f"{len(self.classes) - len(kept)} others"
        return names, [*(self.classes[place] for place in kept), others], merge_others(shares, kept)

    def _size(self) -> tuple[float, float]:
        return WIDTH, 0.95 + 0.28 * (len(self.names) + (self.truth is not None))

    def _draw(self, ax: Axes, theme: Theme) -> None:
        names, classes, parts = self._bars()
        rows = np.arange(len(names))
        ends = np.cumsum(parts, axis=1)
        n_known = len(classes)
        for place in range(n_known + 1):
            is_unseen = place == n_known
            ax.barh(
                rows,
                parts[:, place],
                left=ends[:, place] - parts[:, place],
                height=0.72,
                color=theme.unseen if is_unseen else theme.known,
                # Neighbours differ, in greyscale as well.
                alpha=0.85 if is_unseen else (0.55, 0.3)[place % 2],
                edgecolor=theme.paper,
                linewidth=0.8,
                hatch="///" if is_unseen else None,
            )
        self._write(ax, theme, names)
        _name_parts(ax, theme, classes, parts[0])

    def _write(self, ax: Axes, theme: Theme, names: list[str]) -> None:
        frame(ax, theme)
        ax.set_yticks(range(len(names)), [literal(name, _LONGEST_NAME) for name in names])
        ax.tick_params(axis="y", length=0)
        ax.set(xlim=(0, 1), ylim=(len(names) - 0.4, -0.6))
        ax.spines["left"].set_visible(False)
        percent_axis(ax.xaxis)
        numbers, colour = list(map(short_share, self.shares[:, -1])), theme.unseen
        if self.truth is not None:
            numbers, colour = ["error", *map(short_share, self.errors)], theme.ink
            ax.get_yticklabels()[0].set_fontweight("bold")
        for row, number in enumerate(numbers):
            write_beside(ax, number, row, color=colour, fontsize=SMALL)
        ax.set_xlabel("Share of the new rows; unseen is hatched", fontsize=SMALL, color=theme.muted)


def _true_shares(truth: Any, classes: tuple[Any, ...]) -> FloatArray:
    if isinstance(truth, Mapping):
        known = [float(truth.get(label, 0.0)) for label in classes]
        return np.array([*known, 1.0 - sum(known)])
    shares = np.asarray(truth, dtype=np.float64)
    if shares.shape != (len(classes) + 1,):
        raise ValueError(
            f"truth must be {len(classes) + 1} shares, unseen last, or a mapping; "
            f"got shape {shares.shape}."
        )
    return shares


def _name_parts(ax: Axes, theme: Theme, classes: list[str], parts: FloatArray) -> None:
    """Names of the known classes on the first bar, where they fit."""
    middles = np.cumsum(parts) - parts / 2
    for name, middle, width in zip(classes, middles[:-1], parts[:-1], strict=True):
        room = int(width * 36)  # letters across the whole bar
        if len(name) <= room:
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL - 1}
            ax.text(middle, 0, literal(name), color=theme.ink, **style)
