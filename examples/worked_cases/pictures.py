"""Draw the pictures of the worked cases from the committed results.

    python examples/worked_cases/pictures.py     # writes docs/images/case_*.svg; needs matplotlib

The results are made by ``benchmarks/gas.py`` and ``benchmarks/inputs.py``, which name the data that
they need and where these come from.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from unseen.plots import LIGHT

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from pictures import save_both  # noqa: E402

RESULTS, IMAGES = ROOT / "benchmarks" / "results", ROOT / "docs" / "images"


class Answer(NamedTuple):
    """An estimated unseen share with its interval, and the truth."""

    name: str
    truth: float
    unseen: float
    low: float
    high: float


def read(name: str) -> dict | list:
    """A file of results."""
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def queries() -> list[Answer]:
    """CLINC150: out-of-scope queries, with few and with many labelled rows an intent."""
    found = read("inputs_text.json")
    return [
        Answer(name, found["truth"], one["unseen"], one["low"], one["high"])
        for name, one in found.items()
        if isinstance(one, dict)
    ]


def cells() -> list[Answer]:
    """Blood cells with one type hidden, by its true share."""
    found = [
        Answer(name, one["truth"], one["unseen"], one["low"], one["high"])
        for name, one in read("inputs_cells.json").items()
    ]
    return sorted(found, key=lambda one: one.truth)


def gases() -> list[Answer]:
    """Gas sensors over batches, with and without a hidden gas."""
    return [
        Answer(
            f"{one['case']}{', ' + one['hidden'] + ' hidden' if one['hidden'] else ''}: "
            f"{one['verdict']}",
            one["truth"],
            one["unseen"],
            *one["interval"],
        )
        for one in reversed(read("gas.json"))
    ]


def draw(answers: list[Answer], path: Path) -> None:
    """Intervals as lines, estimates as dots, the truth as a tick."""
    figure = Figure(figsize=(8, 0.8 + 0.36 * len(answers)), layout="constrained")
    ax = figure.subplots()
    for place, one in enumerate(answers):
        ax.plot([one.low, one.high], [place, place], color=LIGHT.unseen, linewidth=3, alpha=0.5)
        if one.high - one.low < 1:  # else nothing is said of the share
            ax.plot(one.unseen, place, "D", color=LIGHT.unseen, markersize=7)
        ax.plot(one.truth, place, "|", color=LIGHT.ink, markersize=16, markeredgewidth=2)
    ax.set_yticks(range(len(answers)), [one.name for one in answers])
    ax.set_ylim(-0.6, len(answers) - 0.4)
    ax.set_xlim(-0.02, max(one.high for one in answers) + 0.02)
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_xlabel("unseen share: estimate, 95% interval, and the truth (tick)")
    ax.grid(axis="x", color=LIGHT.grid)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(length=0)
    save_both(figure, path)


if __name__ == "__main__":
    for name, answers in (("queries", queries()), ("cells", cells()), ("gases", gases())):
        draw(answers, IMAGES / f"case_{name}.svg")
