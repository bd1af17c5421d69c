"""Where a rule says which label, in two dimensions; what it calls unseen is hatched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unseen._types import FloatArray, IntArray
from unseen.plots.canvas import SMALL, WIDTH, Display, frame, plain
from unseen.plots.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unseen.rejection import RejectionRule

__all__ = ["RegionsDisplay"]

_MOST_POINTS = 300
_MARKERS = "os^vP*X"


@dataclass(eq=False)
class RegionsDisplay(Display):
    """Decision regions of a rejection rule over a window of two features.

    Parameters
    ----------
    x, y : ndarray of shape (n_across,) and (n_up,)
        Lattice of points that the rule was asked about.
    codes : ndarray of shape (n_up, n_across)
        Place of its label in ``names``, at each point.
    names : tuple of str
        Labels.
    unseen : int or None
        Place of the unseen label among them; None where the rule has none.
    points : ndarray of shape (n, 2)
        Rows to draw on top; of more than 300, evenly spaced ones.
    point_codes : ndarray of shape (n,) or None
        Place of the label of each; -1 where it is none of them.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.plots import RegionsDisplay
    >>> from unseen.rejection import RejectionTree
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal([-4, 0], 1, (200, 2))
    >>> X_new = np.vstack([rng.normal([-4, 0], 1, (200, 2)), rng.normal([4, 0], 1, (200, 2))])
    >>> rule = RejectionTree(random_state=0).fit(X, ["left"] * 200, X_new, [0.5])
    >>> display = RegionsDisplay.from_rule(rule, X_new, n_across=40)
    >>> display.names, display.unseen
    (('left', 'unseen'), 1)
    """

    x: FloatArray
    y: FloatArray
    codes: IntArray
    names: tuple[str, ...]
    unseen: int | None
    points: FloatArray
    point_codes: IntArray | None = None

    @classmethod
    def from_rule(
        cls,
        rule: RejectionRule,
        X: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        n_across: int = 100,
        ax: Axes | None = None,
        theme: Theme = LIGHT,
    ) -> Self:
        """Ask a rule about a lattice of points around some rows, and draw what it says.

        Parameters
        ----------
        rule : RejectionRule
            Fitted to two features.
        X : array-like of shape (n, 2)
            Rows that say where to look, and that are drawn.
        labels : array-like of shape (n,) or None, default=None
            Their labels; rows of none of the rule's labels are drawn as new ones are.
        n_across : int, default=100
            Points of the lattice in each direction.
        ax, theme
            As for :meth:`plot`.

        Returns
        -------
        RegionsDisplay
        """
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError(f"X must have two columns; got shape {rows.shape}.")
        if n_across < 2:
            raise ValueError(f"n_across must be at least 2; got {n_across}.")
        x, y = (_stretch(column, n_across) for column in rows.T)
        lattice = np.stack(np.meshgrid(x, y), axis=-1)
        classes = np.asarray(rule.classes_)
        codes = _codes(classes, rule.predict(lattice.reshape(-1, 2))).reshape(lattice.shape[:2])
        kept = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _MOST_POINTS)).astype(int))
        display = cls(
            x,
            y,
            codes,
            tuple(map(str, classes.tolist())),
            len(classes) - 1 if len(classes) > len(rule.shares_.known) else None,
            rows[kept],
            None if labels is None else _codes(classes, np.asarray(labels)[kept]),
        )
        return display.plot(ax, theme=theme)

    def _size(self) -> tuple[float, float]:
        return WIDTH, 3.9

    def _draw(self, ax: Axes, theme: Theme) -> None:
        colours = self._colours(theme)
        for code, colour in enumerate(colours):
            # A border is drawn halfway between two points of the lattice.
            here = (self.codes == code).astype(float)
            regions = ax.contourf(self.x, self.y, here, levels=[0.5, 1.5], colors=[colour])
            if code == self.unseen:
                regions.set(hatch="///", edgecolor=colour, facecolor="none", linewidth=0)
            else:
                regions.set_alpha(0.3)
        self._draw_points(ax, theme, colours)
        self._write(ax, theme, colours)

    def _colours(self, theme: Theme) -> list[str]:
        known = [theme.known, *theme.series]
        return [
            theme.unseen if code == self.unseen else known[code % len(known)]
            for code in range(len(self.names))
        ]

    def _draw_points(self, ax: Axes, theme: Theme, colours: list[str]) -> None:
        codes = np.full(len(self.points), -1) if self.point_codes is None else self.point_codes
        style: dict[str, Any] = {"linestyle": "none", "markeredgecolor": theme.paper}
        for code in np.unique(codes):
            rows = self.points[codes == code]
            colour = theme.ink if code < 0 else colours[code]
            marker = "." if code < 0 else _MARKERS[code % len(_MARKERS)]
            ax.plot(
                *rows.T, marker=marker, color=colour, markersize=5, markeredgewidth=0.4, **style
            )

    def _write(self, ax: Axes, theme: Theme, colours: list[str]) -> None:
        from matplotlib.patches import Patch

        frame(ax, theme)
        ax.set(xlim=(self.x[0], self.x[-1]), ylim=(self.y[0], self.y[-1]))
        keys = []
        for code, (name, colour) in enumerate(zip(self.names, colours, strict=True)):
            is_unseen = code == self.unseen
            keys.append(
                Patch(
                    facecolor="none" if is_unseen else (colour, 0.3),
                    edgecolor=colour,
                    hatch="///" if is_unseen else None,
                    label=plain(name, 14),
                )
            )
        ax.legend(
            handles=keys,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=3,
            frameon=False,
            fontsize=SMALL,
            labelcolor=theme.ink,
            borderaxespad=0.2,
        )


def _stretch(column: FloatArray, n_points: int) -> FloatArray:
    """Even points from a little below the least to a little above the largest."""
    low, high = float(column.min()), float(column.max())
    margin = 0.08 * (high - low) or 0.5
    return np.linspace(low - margin, high + margin, n_points)


def _codes(classes: NDArray[Any], labels: NDArray[Any]) -> IntArray:
    """Place of each label among the classes; -1 where it is none of them."""
    codes = np.full(len(labels), -1)
    for code, label in enumerate(classes):
        codes[labels == label] = code
    return codes
