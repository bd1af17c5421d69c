"""Draw where every rejection rule says which label, on one problem in two dimensions.

    python tools/rejection_gallery.py     # writes docs/images/rejection_regions.png, and _dark.png

Three known classes stand in a triangle. Of two unseen ones, one sits in the middle of them, where
no row is odd, and one outside, where no known class is in doubt. All rules get the same rows and
the true shares. The Bayes rule is known, as all classes are normal; its borders are drawn in every
panel, and the share of wrong labels is counted on many fresh rows.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from pictures import dark_colour, dark_path
from PIL import Image
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression

from unseen import (
    RejectionClassifier,
    RejectionForest,
    RejectionHistogram,
    RejectionKernel,
    RejectionPlugIn,
    RejectionThreshold,
    RejectionTree,
    UnseenWarning,
)
from unseen.rejection import (
    EqualWidthCells,
    Logistic,
    OneModel,
    QuantileCells,
    Square,
    TwoModels,
    VoronoiCells,
)

TARGET = Path(__file__).parents[1] / "docs" / "images" / "rejection_regions.png"
CENTRES = np.array([[-2.0, -1.2], [2.0, -1.2], [0.0, 2.3], [0.0, 0.0], [3.4, 2.6]])
SPREADS = np.array([0.75, 0.75, 0.75, 0.45, 0.6])
SHARES = np.array([0.22, 0.22, 0.22, 0.17, 0.17])  # of three known classes and two unseen ones
N_CLASSES = 3
N_LABELLED, N_NEW, N_FRESH = 600, 800, 20_000
WINDOW = (-4.6, 5.4, -3.8, 4.8)
N_ACROSS = 180
# Okabe and Ito's colours, which those with any colour vision tell apart; paler for regions.
STRONG = ("#0072b2", "#e69f00", "#009e73", "#404040")
PALE = ("#a6cfe8", "#fbe0a6", "#a8dcc9", "#8c8c8c")
INK, PAPER = "#000000", "#ffffff"
NAMES = ("class 1", "class 2", "class 3", "unseen")


def rules() -> dict[str, Any]:
    """Every rule by the name in its panel."""
    return {
        "RejectionClassifier": RejectionClassifier(),
        "Forest": RejectionForest(),
        "Tree": RejectionTree(),
        "Histogram, quantiles": RejectionHistogram(QuantileCells()),
        "Histogram, equal widths": RejectionHistogram(EqualWidthCells()),
        "Histogram, Voronoi": RejectionHistogram(VoronoiCells()),
        "Kernel, square loss": RejectionKernel(Square()),
        "Kernel, logistic loss": RejectionKernel(Logistic()),
        "Plug-in, joint": RejectionPlugIn(density_ratio=OneModel()),
        "Plug-in, pooled": RejectionPlugIn(density_ratio=TwoModels()),
        "Threshold, probability": RejectionThreshold(LogisticRegression()),
        "Threshold, IsolationForest": RejectionThreshold(IsolationForest()),
    }


def drawn(rng: np.random.Generator, which: np.ndarray) -> np.ndarray:
    """One row of each of these classes."""
    return rng.normal(CENTRES[which], SPREADS[which, None])


def bayes(rows: np.ndarray) -> np.ndarray:
    """The most probable label; the unseen classes count as one."""
    squares = ((rows[:, None] - CENTRES) ** 2).sum(axis=2)
    density = SHARES * np.exp(-squares / (2 * SPREADS**2)) / SPREADS**2
    unseen = density[:, N_CLASSES:].sum(axis=1, keepdims=True)
    return np.hstack([density[:, :N_CLASSES], unseen]).argmax(axis=1)


def lattice() -> tuple[np.ndarray, tuple[int, int]]:
    """The middle of each point of the picture, from the bottom left."""
    left, right, bottom, top = WINDOW
    n_up = round(N_ACROSS * (top - bottom) / (right - left))
    x = left + (np.arange(N_ACROSS) + 0.5) * (right - left) / N_ACROSS
    y = bottom + (np.arange(n_up) + 0.5) * (top - bottom) / n_up
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2), (n_up, N_ACROSS)


def labelled_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.random.Generator]:
    """Labelled rows, their classes, new rows, and the generator for further ones."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(N_CLASSES), N_LABELLED // N_CLASSES)
    X, X_new = drawn(rng, codes), drawn(rng, rng.choice(len(SHARES), N_NEW, p=SHARES))
    return X, codes, X_new, rng


def labellings() -> dict[str, np.ndarray]:
    """The label of each point of the picture by every rule, under the title of its panel."""
    X, codes, X_new, rng = labelled_rows()
    hidden = rng.choice(len(SHARES), N_FRESH, p=SHARES)
    fresh, truth = drawn(rng, hidden), np.minimum(hidden, N_CLASSES)
    points, _ = lattice()
    labels = {f"Bayes rule\n{np.mean(bayes(fresh) != truth):.1%} wrong": bayes(points)}
    for name, rule in rules().items():
        rule.set_params(random_state=0, unseen_label=N_CLASSES)
        rule.fit(X, codes, X_new, SHARES[:N_CLASSES])
        wrong = np.mean(rule.predict(fresh) != truth)
        labels[f"{name}\n{wrong:.1%} wrong"] = rule.predict(points)
    return labels


class Picture:
    """All panels, in colours for a light or a dark page."""

    def __init__(self, dark: bool) -> None:
        self.turned = dark_colour if dark else str

    def draw(self, labels: dict[str, np.ndarray], target: Path) -> None:
        """Draw the rows and every labelling, and write the picture."""
        figure = Figure(figsize=(6, 6.0), dpi=150, layout="constrained")
        figure.set_facecolor(self.turned(PAPER))
        figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.02)
        places = figure.subplots(4, 4).ravel()
        self.panel(places[0], "labelled and\nnew rows")
        X, codes, X_new, _ = labelled_rows()
        places[0].scatter(*X_new.T, s=1.2, c=self.turned(STRONG[-1]), linewidths=0)
        for code in range(N_CLASSES):
            colour = self.turned(STRONG[code])
            places[0].scatter(*X[codes == code].T, s=1.8, c=colour, linewidths=0)
        for axes, (title, regions) in zip(places[1:], labels.items(), strict=False):
            self.panel(axes, title, regions)
        self.legend(places[14:])
        save(figure, target)

    def panel(self, axes: Any, title: str, regions: np.ndarray | None = None) -> None:
        """Regions of a labelling, and the borders of the Bayes rule."""
        points, shape = lattice()
        axes.set_facecolor(self.turned(PAPER))
        axes.spines[:].set_color(self.turned(INK))
        if regions is not None:
            axes.imshow(
                regions.reshape(shape), ListedColormap([*map(self.turned, PALE)]), origin="lower",
                extent=WINDOW, vmin=0, vmax=3, aspect="auto",
            )  # fmt: skip
        best = bayes(points).reshape(shape)
        for code in range(N_CLASSES):
            axes.contour(
                best == code, [0.5], extent=WINDOW, origin="lower", colors=self.turned(INK),
                linewidths=0.7,
            )  # fmt: skip
        axes.set(xticks=[], yticks=[], xlim=WINDOW[:2], ylim=WINDOW[2:])
        axes.set_title(title, fontsize=7, pad=3, color=self.turned(INK))

    def legend(self, places: Any) -> None:
        """What the colours mean, in the place of the last panels."""
        for axes in places:
            axes.set_axis_off()
        ink, new = self.turned(INK), self.turned(STRONG[-1])
        keys: list[Any] = [
            Patch(facecolor=self.turned(pale), edgecolor=self.turned(strong), label=name)
            for pale, strong, name in zip(PALE, STRONG, NAMES, strict=True)
        ]
        keys.append(Line2D([], [], color=ink, linewidth=0.7, label="borders of the Bayes rule"))
        keys.append(Line2D([], [], color=new, marker=".", linestyle="", label="new row"))
        key = places[0].legend(
            handles=keys, loc="upper left", fontsize=8, frameon=False, labelcolor=ink
        )
        key.set_in_layout(False)  # it may reach into the next, empty place


def save(figure: Figure, target: Path) -> None:
    """Few colours make a small file."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    target.parent.mkdir(exist_ok=True)
    picture.quantize(128, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        # A detector that cannot see an unseen class leaves negative mass, and is warned about.
        warnings.simplefilter("ignore", UnseenWarning)
        found = labellings()
    Picture(dark=False).draw(found, TARGET)
    Picture(dark=True).draw(found, dark_path(TARGET))
