"""Draw docs/images/demo.svg, the picture of the README: twenty draws of ``unseen demo``.

Run ``python benchmarks/demo.py``, which makes the numbers, then ``python tools/readme_picture.py``.
"""

import csv
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from pictures import save_both

from unseen.plots import LIGHT

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "demo.svg"
NUMBERS = ROOT / "benchmarks" / "results" / "demo.csv"


def main() -> None:
    """Draw the unseen share of every draw, and the errors beside those of a closed-set method."""
    with NUMBERS.open() as file:
        rows = list(csv.DictReader(file))
    columns = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    figure = Figure(figsize=(9.6, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[2, 1])
    draw_shares(left, columns)
    draw_errors(right, columns)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.set_ylim(bottom=0)
    save_both(figure, PICTURE)


def draw_shares(ax, columns) -> None:
    """One dot a draw, with its interval, the line of the truth, and the closed-set answer."""
    shares, truth = columns["unseen"], float(columns["truth"][0])
    draws = np.arange(1, len(shares) + 1)
    reach = np.abs(np.array([columns["lower"], columns["upper"]]) - shares)
    ax.axhline(truth, color=LIGHT.ink, linewidth=1, linestyle="--", label=f"truth, {truth:.0%}")
    ax.errorbar(
        draws, shares, reach, fmt="D", color=LIGHT.unseen, markersize=4, linewidth=1.5,
        label="unseen, with 95% interval",
    )  # fmt: skip
    ax.plot(draws, np.zeros(len(draws)), "x", color=LIGHT.known, label="closed-set method")
    ax.set_xticks(draws[::3])
    ax.set_xlabel("draw: 595 labelled and 500 new rows of the bundled digits")
    ax.set_title("Share of new rows from digits that training never saw", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="center right", bbox_to_anchor=(1.0, 0.3))


def draw_errors(ax, columns) -> None:
    """Share of rows that are counted for the wrong class, by both methods."""
    both = {"unseen": (columns["error"], LIGHT.unseen)}
    both["closed-set method"] = columns["closed_set_error"], LIGHT.known
    for place, (errors, colour) in enumerate(both.values()):
        ax.bar(place, errors.mean(), width=0.6, color=colour, alpha=0.3)
        jitter = np.linspace(-0.2, 0.2, len(errors))
        ax.plot(place + jitter, errors, "o", color=colour, markersize=3)
    ax.set_xticks(range(len(both)), list(both))
    ax.set_title("Rows counted for a wrong class", fontsize=10)


if __name__ == "__main__":
    main()
