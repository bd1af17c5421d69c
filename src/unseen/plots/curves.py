"""What labels are worth, what must be new if known classes changed, risk and regions of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unseen._wording import short_share
from unseen.drift import Tolerance
from unseen.labelling import LabellingValue
from unseen.plots import canvas
from unseen.plots.canvas import LIGHT, SMALL, Axes, Display, Theme

if TYPE_CHECKING:
    from unseen.rejection.views import Regions, RiskCurve

# Factors at which the axis of a tolerance ends.
_LEAST_END, _LARGEST_END = 3.0, 30.0
_MARKERS = "os^vP*X"


@dataclass(eq=False)
class LabellingDisplay(Display):
    """Half-width of the interval against rows labelled by hand: alone, and with the estimate.

    Parameters
    ----------
    value : LabellingValue
        The half-widths, as :func:`~unseen.labelling.labelling_value` finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.labelling import LabellingValue
    >>> from unseen.plots import LabellingDisplay
    >>> value = LabellingValue(None, 0.5, 0.098, 0.95, np.array([10, 100, 1000]))
    >>> LabellingDisplay.from_value(value).ax_.get_xscale()
    'log'
    """

    value: LabellingValue

    @classmethod
    def from_value(
        cls, value: LabellingValue, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw the value of labels; ``ax`` and ``theme`` are as for :meth:`plot`."""
        return cls(value).plot(ax, theme=theme)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        value = self.value
        first, last = float(value.sizes.min()), float(value.sizes.max())
        has_worth = 0 < value.worth < np.inf  # a place on an axis of logarithms
        if has_worth:
            first, last = min(first, value.worth), max(last, value.worth)
        rows = np.geomspace(first / 1.3, 1.3 * last, 60)
        alone, together = value.half_width_alone(rows), value.half_width_together(rows)
        ax.plot(rows, 100 * alone, color=theme.known, linestyle=(0, (5, 2)), label="labels alone")
        ax.axhline(100 * value.half_width, color=theme.muted, linewidth=1.2, linestyle=":")
        ax.plot(rows, 100 * together, color=theme.unseen, linewidth=2.4, label="with this estimate")
        ax.plot(value.sizes, 100 * value.together, "D", color=theme.unseen, markersize=4)
        if has_worth:
            ax.plot(value.worth, 100 * value.half_width, "o", color=theme.ink, markersize=6)
        canvas.frame(ax, theme, grid="both")
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(10))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:,.0f}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlim(rows[0], rows[-1])
        # Few labels say so little that their curve would flatten everything else.
        tallest = min(float(value.half_width_alone(rows[0])), max(4 * value.half_width, 0.02))
        ax.set_ylim(0, 105 * tallest)
        name = "unseen" if value.label is None else canvas.literal(value.label, 14)
        ax.set_xlabel("New rows labelled by hand")
        ax.set_ylabel(f"± points, {name} share")
        ax.set_title(value.sentence, loc="left", fontsize=10, color=theme.ink)
        # The dotted line is named at the end where the curve of labels is far away.
        is_right = value.worth < np.sqrt(rows[0] * rows[-1])
        place, shift = (1.0, -4) if is_right else (0.0, 4)
        look: dict[str, Any] = {"color": theme.muted, "fontsize": SMALL, "va": "bottom"}
        look |= {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        look |= {"ha": "right" if is_right else "left"}
        level = 100 * value.half_width
        ax.annotate("this estimate alone", (place, level), (shift, 2), **look)
        ax.legend(frameon=False, fontsize=SMALL, labelcolor=theme.ink, loc="lower left")


@dataclass(eq=False)
class ToleranceDisplay(Display):
    """The share that must be new against the factor by which known rows became more common.

    Parameters
    ----------
    tolerance : Tolerance
        The limits, as in ``Estimate.drift.tolerance``.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift import Tolerance
    >>> from unseen.plots import ToleranceDisplay
    >>> display = ToleranceDisplay.from_tolerance(Tolerance(np.array([0.1]), np.array([0.4])))
    >>> display.ax_.get_ylabel()
    'Must be new, 95% sure'
    """

    tolerance: Tolerance

    @classmethod
    def from_tolerance(
        cls, tolerance: Tolerance, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw the curve; ``ax`` and ``theme`` are as for :meth:`plot`."""
        return cls(tolerance).plot(ax, theme=theme)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        gamma = self.tolerance.gamma
        last = float(np.clip(1.25 * gamma, _LEAST_END, _LARGEST_END))
        factors = np.linspace(1.0, last, 200)
        must = np.array([self.tolerance.must(factor) for factor in factors])
        ax.plot(factors, must, color=theme.unseen, linewidth=2.4)
        ax.fill_between(factors, must, color=theme.unseen, alpha=0.15, linewidth=0)
        canvas.frame(ax, theme, grid="both")
        ax.set_xlim(1.0, last)
        ax.set_ylim(0.0, max(1.1 * float(must[0]), 0.01))
        canvas.percent_axis(ax.yaxis)
        ax.set_xlabel("Known rows of a kind became at most so many times as common")
        ax.set_ylabel("Must be new, 95% sure")
        if 1.0 < gamma <= last:
            ax.plot(gamma, 0.0, "o", color=theme.ink, markersize=6, clip_on=False)
            look: dict[str, Any] = {"color": theme.ink, "fontsize": SMALL, "va": "bottom"}
            look |= {"ha": "left", "textcoords": "offset points"}
            ax.annotate(f"{gamma:.1f} times", (gamma, 0.0), (5, 6), **look)


@dataclass(eq=False)
class RiskDisplay(Display):
    """Risk against the threshold from which a row is called unseen, and one standard error.

    Parameters
    ----------
    curve : RiskCurve
        The risks, as :func:`~unseen.rejection.risk_curve` estimates them.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.plots import RiskDisplay
    >>> from unseen.rejection.views import RiskCurve
    >>> curve = RiskCurve(np.array([0, 0.5, 1]), np.array([0.5, 0.1, 0.5]), np.zeros(3), 0.5, 0.1)
    >>> [text.get_text() for text in RiskDisplay.from_curve(curve).ax_.texts]
    ['10% wrong']
    """

    curve: RiskCurve

    @classmethod
    def from_curve(cls, curve: RiskCurve, *, ax: Axes | None = None, theme: Theme = LIGHT) -> Self:
        """Draw the risks of a rule; ``ax`` and ``theme`` are as for :meth:`plot`."""
        return cls(curve).plot(ax, theme=theme)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        curve = self.curve
        lower, upper = curve.risks - curve.standard_errors, curve.risks + curve.standard_errors
        ax.fill_between(curve.thresholds, lower, upper, color=theme.known, alpha=0.2, linewidth=0)
        ax.plot(curve.thresholds, curve.risks, color=theme.known, linewidth=2)
        ax.axvline(curve.threshold, color=theme.muted, linewidth=1, linestyle=":")
        ax.plot(curve.threshold, curve.risk, "D", color=theme.unseen, markersize=7)
        look: dict[str, Any] = {"color": theme.unseen, "fontweight": "bold"}
        look |= {"horizontalalignment": "center", "bbox": canvas.patch_of_paper(theme)}
        place = curve.threshold, curve.risk
        wrong = f"{short_share(curve.risk)} wrong"
        ax.annotate(wrong, place, (0, 24), textcoords="offset points", **look)
        canvas.frame(ax, theme, grid="y")
        canvas.percent_axis(ax.yaxis)
        ax.set_xlim(0, 1)
        ax.set_ylim(bottom=min(0.0, float(lower.min())))
        ax.set_xlabel("Novelty from which a row is called unseen\nband: one standard error")
        ax.xaxis.label.set_fontsize(SMALL)
        ax.set_ylabel("Wrong labels, estimated")


@dataclass(eq=False)
class RegionsDisplay(Display):
    """Decision regions of a rejection rule over a window of two features; unseen is hatched.

    Parameters
    ----------
    regions : Regions
        The labels, as :func:`~unseen.rejection.label_regions` finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.plots import RegionsDisplay
    >>> from unseen.rejection.views import Regions
    >>> x = y = np.linspace(0, 1, 3)
    >>> codes = np.array([[0, 0, 1]] * 3)
    >>> regions = Regions(x, y, codes, ("cat", "unseen"), 1, points=np.array([[0.1, 0.5]]))
    >>> display = RegionsDisplay.from_regions(regions)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['cat', 'unseen']
    """

    regions: Regions

    _inches: ClassVar = 3.9

    @classmethod
    def from_regions(
        cls, regions: Regions, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw the regions of a rule; ``ax`` and ``theme`` are as for :meth:`plot`."""
        return cls(regions).plot(ax, theme=theme)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        from matplotlib.patches import Patch

        regions, known, keys = self.regions, [theme.known, *theme.series], []
        colours = [
            theme.unseen if code == regions.unseen else known[code % len(known)]
            for code in range(len(regions.names))
        ]
        for code, (name, colour) in enumerate(zip(regions.names, colours, strict=True)):
            # A border is drawn halfway between two points of the lattice.
            here = (regions.codes == code).astype(float)
            area = ax.contourf(regions.x, regions.y, here, levels=[0.5, 1.5], colors=[colour])
            key: dict[str, Any] = {"facecolor": (colour, 0.3)}
            if code == regions.unseen:
                area.set(hatch="///", edgecolor=colour, facecolor="none", linewidth=0)
                key = {"facecolor": "none", "hatch": "///"}
            else:
                area.set_alpha(0.3)
            keys.append(Patch(edgecolor=colour, label=canvas.literal(name, 14), **key))
        points, codes = regions.points, regions.point_codes
        codes = np.full(len(points), -1) if codes is None else codes
        style: dict[str, Any] = {"linestyle": "none", "markeredgecolor": theme.paper}
        style |= {"markersize": 5, "markeredgewidth": 0.4}
        for code in np.unique(codes):
            colour = theme.ink if code < 0 else colours[code]
            marker = "." if code < 0 else _MARKERS[code % len(_MARKERS)]
            ax.plot(*points[codes == code].T, marker=marker, color=colour, **style)
        canvas.frame(ax, theme)
        ax.set(xlim=regions.x[[0, -1]], ylim=regions.y[[0, -1]])
        canvas.legend_above(ax, theme, handles=keys, ncols=3)
