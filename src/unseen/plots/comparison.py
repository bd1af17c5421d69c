"""Several estimators side by side: one bar each, the unseen share at its right end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen._wording import short_share
from unseen.plots import canvas
from unseen.plots.canvas import SMALL, Axes, Display
from unseen.plots.theme import LIGHT, Theme
from unseen.records import Estimate

_LONGEST_NAME = 18
# Bars are so thin that more segments than this only blur.
_MOST_CLASSES = 12
_LETTERS = 36  # across the whole bar
_LETTERS_BELOW, _LONGEST_CLASS = 54, 14


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
        Shares by each estimator, unseen last: NaN where the estimator cannot tell it.
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
        """Draw a comparison, or any estimates with the same classes by their names.

        ``truth`` has the true shares where they are known: K + 1 shares, or a mapping of labels to
        shares, whose rest is unseen; ``ax`` and ``theme`` are as for :meth:`plot`.
        """
        if not comparison:
            raise ValueError("comparison must hold at least one estimate; got none.")
        estimates = list(comparison.values())
        classes = estimates[0].classes
        unseen = [np.nan if one.has_moved_far else one.unseen for one in estimates]
        shares = np.column_stack([[one.proportions for one in estimates], unseen])
        true = None if truth is None else _true_shares(truth, classes)
        display = cls(tuple(map(str, comparison)), tuple(map(str, classes)), shares, true)
        return display.plot(ax, theme=theme)

    @property
    def errors(self) -> FloatArray:
        """Total variation between each estimator and the truth."""
        if self.truth is None:
            raise ValueError("errors need the truth; got None.")
        return np.asarray(np.abs(self.shares - self.truth).sum(axis=1) / 2)

    def _height(self) -> float:
        return 1.1 + 0.28 * (len(self.names) + (self.truth is not None))

    def _draw(self, ax: Axes, theme: Theme) -> None:
        names, classes, parts = list(self.names), list(self.classes), self.shares
        if self.truth is not None:
            names, parts = ["truth", *names], np.vstack([self.truth, parts])
        if len(classes) > _MOST_CLASSES:
            kept = canvas.largest(parts[:, :-1].mean(axis=0), _MOST_CLASSES - 1)
            classes = [*(classes[place] for place in kept), f"{len(classes) - len(kept)} others"]
            parts = canvas.merge_others(parts, kept)
        parts = np.nan_to_num(parts)
        ends = np.cumsum(parts, axis=1)
        for place in range(parts.shape[1]):
            # Neighbours differ, in greyscale as well.
            look: dict[str, Any] = {"color": theme.known, "alpha": (0.55, 0.3)[place % 2]}
            if place == len(classes):
                look = {"color": theme.unseen, "alpha": 0.85, "hatch": "///"}
            look |= {"height": 0.72, "edgecolor": theme.paper, "linewidth": 0.8}
            part, rows = parts[:, place], range(len(names))
            ax.barh(rows, part, left=ends[:, place] - part, **look)
        self._write(ax, theme, names)
        _name_classes(ax, theme, classes, parts[0, :-1], ends[0, :-1])

    def _write(self, ax: Axes, theme: Theme, names: list[str]) -> None:
        canvas.frame(ax, theme)
        canvas.name_rows(ax, names, _LONGEST_NAME)
        ax.set_xlim(0, 1)
        ax.spines["left"].set_visible(False)
        numbers, colour = list(map(_written, self.shares[:, -1])), theme.unseen
        if self.truth is not None:
            numbers, colour = ["error", *map(_written, self.errors)], theme.ink
            ax.get_yticklabels()[0].set_fontweight("bold")
        for row, number in enumerate(numbers):
            canvas.write_beside(ax, number, row, color=colour, fontsize=SMALL)
        ax.set_xlabel("Share of the new rows; unseen is hatched", fontsize=SMALL, color=theme.muted)


def _name_classes(
    ax: Axes, theme: Theme, classes: list[str], widths: FloatArray, ends: FloatArray
) -> None:
    """Name the known classes on the first bar where all of them fit, else below the bars."""
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL - 1}
    if np.all(widths * _LETTERS >= [len(name) for name in classes]):
        for name, place in zip(classes, ends - widths / 2, strict=True):
            ax.text(place, 0, canvas.literal(name), color=theme.ink, **style)
        return
    short = ", ".join(canvas.literal(name, _LONGEST_CLASS) for name in classes)
    below = fill(f"from the left: {short}", _LETTERS_BELOW)
    ax.set_xlabel(f"{ax.get_xlabel()}\n{below}", fontsize=SMALL, color=theme.muted)


def _written(value: float) -> str:
    return "cannot tell" if np.isnan(value) else short_share(value)


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
