"""Draw where every rejection rule says which label, on one problem in two dimensions.

    python tools/rejection_gallery.py            # writes docs/images/rejection_regions.png

Three known classes stand in a triangle. Of two unseen ones, one sits in the middle of them, where
no row is odd, and one outside, where no known class is in doubt. All rules get the same rows and
the true shares. The Bayes rule is known, as all classes are normal; its borders are drawn in every
panel, and the share of wrong labels is counted on many fresh rows.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
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
STRONG = ("#0072B2", "#E69F00", "#009E73", "#404040")
PALE = ("#A6CFE8", "#FBE0A6", "#A8DCC9", "#8C8C8C")
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


def panel(axes: Any, title: str, label: Callable[[np.ndarray], np.ndarray] | None) -> None:
    """Regions of a labelling, and the borders of the Bayes rule."""
    points, shape = lattice()
    if label is not None:
        regions = label(points).reshape(shape)
        colours = ListedColormap(PALE)
        axes.imshow(regions, colours, origin="lower", extent=WINDOW, vmin=0, vmax=3, aspect="auto")
    best = bayes(points).reshape(shape)
    for code in range(N_CLASSES):
        axes.contour(
            best == code, [0.5], extent=WINDOW, origin="lower", colors="black", linewidths=0.7
        )
    axes.set(xticks=[], yticks=[], xlim=WINDOW[:2], ylim=WINDOW[2:])
    axes.set_title(title, fontsize=7, pad=3)


def draw(target: Path) -> None:
    """Fit every rule, and draw all panels."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(N_CLASSES), N_LABELLED // N_CLASSES)
    X, X_new = drawn(rng, codes), drawn(rng, rng.choice(len(SHARES), N_NEW, p=SHARES))
    hidden = rng.choice(len(SHARES), N_FRESH, p=SHARES)
    fresh, truth = drawn(rng, hidden), np.minimum(hidden, N_CLASSES)

    figure = Figure(figsize=(6, 6.0), dpi=150, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.02)
    places = figure.subplots(4, 4).ravel()
    panel(places[0], "labelled and\nnew rows", None)
    places[0].scatter(*X_new.T, s=1.2, c=STRONG[-1], linewidths=0)
    for code in range(N_CLASSES):
        places[0].scatter(*X[codes == code].T, s=1.8, c=STRONG[code], linewidths=0)
    panel(places[1], f"Bayes rule\n{np.mean(bayes(fresh) != truth):.1%} wrong", bayes)
    for axes, (name, rule) in zip(places[2:], rules().items(), strict=False):
        rule.set_params(random_state=0, unseen_label=N_CLASSES)
        rule.fit(X, codes, X_new, SHARES[:N_CLASSES])
        panel(axes, f"{name}\n{np.mean(rule.predict(fresh) != truth):.1%} wrong", rule.predict)
    legend(places[14:])
    save(figure, target)


def save(figure: Figure, target: Path) -> None:
    """Few colours make a small file."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    target.parent.mkdir(exist_ok=True)
    picture.quantize(128, dither=Image.Dither.NONE).save(target, optimize=True)


def legend(places: Any) -> None:
    """What the colours mean, in the place of the last panels."""
    for axes in places:
        axes.set_axis_off()
    keys: list[Any] = [
        Patch(facecolor=pale, edgecolor=strong, label=name)
        for pale, strong, name in zip(PALE, STRONG, NAMES, strict=True)
    ]
    keys.append(Line2D([], [], color="black", linewidth=0.7, label="borders of the Bayes rule"))
    keys.append(Line2D([], [], color=STRONG[-1], marker=".", linestyle="", label="new row"))
    key = places[0].legend(handles=keys, loc="upper left", fontsize=8, frameon=False)
    key.set_in_layout(False)  # it may reach into the next, empty place


if __name__ == "__main__":
    with warnings.catch_warnings():
        # A detector that cannot see an unseen class leaves negative mass, and is warned about.
        warnings.simplefilter("ignore", UnseenWarning)
        draw(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
