"""Studies made by hand: what a report must be able to show, without waiting for an estimator."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from unseen import Comparison
from unseen.monitoring import Timeline
from unseen.records import Estimate, Notice, RocEvidence
from unseen.report import render
from unseen.study import Origin, Study, Suspects

VERSIONS = {"unseen": "0.1", "numpy": "2.0"}
NASTY = (
    "<script>alert(1)</script>",
    "</style></svg><h1>",
    "{{7*7}} {% raw %}",
    """"><img src=x onerror=alert(1)> ' onmouseover='alert(1)""",
    "&lt;b&gt; &amp; ]]><!-- $x^2$ -->",
    "שלום \u202eabc 🦊 \U0001f468\u200d\U0001f469",
    "two\nlines\ttab\r",
    "n" * 500,
    "half \ud800 a character \x00\x1b",
)


def normal_roc(share: float, distance: float = 2.0) -> RocEvidence:
    """The exact ROC where a share is standard normal and the rest lies further right."""
    from scipy.stats import norm

    thresholds = np.linspace(distance + 4, -4, 150)
    known = norm.sf(thresholds)
    new = share * known + (1 - share) * norm.sf(thresholds - distance)
    known[[0, -1]] = new[[0, -1]] = 0.0, 1.0
    return RocEvidence(known, new, share, 400, 300, thresholds=thresholds)


def made_estimate(
    labels: Any, unseen: float = 0.3, width: float = 0.05, slopes: bool = False, **changes: Any
) -> Estimate:
    """An estimate with falling shares and intervals, as the default would give it."""
    weights = np.arange(len(labels), 0, -1.0)
    shares = (1 - unseen) * weights / weights.sum()
    both = np.append(shares, unseen)
    contents: dict[str, Any] = {
        "n_labelled": {label: 60 + 5 * place for place, label in enumerate(labels)},
        "n_new": 450,
        "intervals": np.clip(np.column_stack([both - width, both + width]), 0, 1),
        "confidence": 0.95,
        "pooled": normal_roc(1 - unseen),
        "diagnostics": believed(0.999 if unseen else 0.02),
        "seed": 0,
        "versions": VERSIONS,
    }
    if slopes:
        contents["roc"] = {a: normal_roc(float(b)) for a, b in zip(labels, shares, strict=True)}
    contents |= changes
    method = contents.pop("method", "OpenSetEstimator")
    return Estimate(tuple(labels), shares, unseen, method, **contents)


def believed(probability: float, before: float = 0.05) -> dict[str, float]:
    """What the default says of "something is unseen", by Bayes' rule."""
    factor = probability / (1 - probability) / (before / (1 - before))
    return {"probability_unseen": probability, "bayes_factor": factor}


def closed_set(estimate: Estimate) -> Estimate:
    """An estimate by a method that cannot see unseen classes."""
    notice = Notice("closed_set", f"{estimate.method} cannot see unseen classes.")
    return replace(estimate, sees_unseen=False, notices=(*estimate.notices, notice))


def notes(*texts: str) -> tuple[Notice, ...]:
    return tuple(Notice("made", text, "note") for text in texts)


def warnings(*texts: str) -> tuple[Notice, ...]:
    return tuple(Notice("made", text) for text in texts)


def made_timeline(labels: Any, n_windows: int, names: Any = None) -> Timeline:
    """The unseen share grows from nothing to 40%."""
    names = names or [f"2024-{1 + w // 28:02d}-{1 + w % 28:02d}" for w in range(n_windows)]
    shares = np.linspace(0.0, 0.4, n_windows)
    estimates = [made_estimate(labels, float(share), pooled=None) for share in shares]
    p_values = np.where(shares < 0.15, 0.6, 1e-5)
    p_values[0] = np.nan
    reference = np.arange(n_windows) == 0
    return Timeline(
        tuple(names), estimates, reference, estimates[0], p_values, p_values,
        skipped=(("2024-12-24", 3),), n_missing=2,
    )  # fmt: skip


def made_baselines(labels: Any, unseen: float = 0.3) -> Comparison:
    """Two methods that see the unseen, and one that cannot."""
    plain = {"pooled": None, "intervals": None, "confidence": None, "diagnostics": {}}
    return Comparison(
        {
            "OpenSetEstimator": made_estimate(labels, unseen),
            "MPEIncomplete": made_estimate(
                labels, unseen + 0.01, slopes=True, method="MPEIncomplete", **plain
            ),
            "SaerensEM": closed_set(made_estimate(labels, 0.0, method="SaerensEM", **plain)),
        }
    )


def rich() -> Study:
    """Everything at once, with ten classes."""
    labels = (
        "ant", "bee", "cicada", "dragonfly", "earwig", "firefly", "gnat", "hornet", "katydid",
        "louse",
    )  # fmt: skip
    return Study(
        made_estimate(labels),
        training=dict.fromkeys(labels, 100),
        n_new=12_345,
        notices=notes(
            "Column 'id' names rows rather than describing them, and was left out.",
            "450 of 12345 new rows were drawn at random.",
        ),
        baselines=made_baselines(labels),
        timeline=made_timeline(labels, 14),
        suspects=Suspects(
            ("wings", "legs", "remark"),
            (("4", "6", "shiny"), ("2", "8", "has a very long remark " * 5)),
            (17, 203),
            (0.991, 0.95),
        ),
        origin=Origin(
            "unseen estimate train.csv new.csv --label insect --by day --report report.html",
            (("train.csv", "a" * 64), ("new.csv", "b" * 64)),
            "2026-11-15 10:00 UTC",
            ("Column 'colour' became 3 columns, one per value.", "Missing 'wings': the median, 4."),
        ),
    )


def minimal() -> Study:
    """One class, no intervals, nothing else."""
    return Study(
        Estimate(
            ("cat",), [0.7], 0.3, "MPEIncomplete",
            n_labelled={"cat": 25}, n_new=90, versions=VERSIONS,
        )
    )  # fmt: skip


def nothing_unseen() -> Study:
    """All rows are of known classes."""
    return Study(
        made_estimate(("left", "right"), 0.0, width=0.02),
        baselines=made_baselines(("left", "right"), 0.0),
    )


def texts_everywhere(texts: tuple[str, ...]) -> Study:
    """The same texts wherever a text can come from the data."""
    return Study(
        made_estimate(texts, slopes=True, notices=warnings(*texts), method=texts[0]),
        notices=notes(*texts),
        baselines=Comparison({text: made_estimate(texts) for text in texts}),
        timeline=made_timeline(texts, len(texts), texts),
        suspects=Suspects(texts, (texts, texts), (1, 2), (0.9, 0.8)),
        origin=Origin(texts[0], tuple(zip(texts, texts, strict=True)), texts[3], texts),
    )


def nasty() -> Study:
    """Every text that could come from data tries to become something else."""
    return texts_everywhere(NASTY)


def huge() -> Study:
    """Too much of everything."""
    labels = [f"{place} <&\"'> " + "🦊" * 500 for place in range(60)]
    windows = [f"window {place} " + "<" * 200 for place in range(100)]
    values = tuple("<" * 300 for _ in range(60))
    return Study(
        made_estimate(
            labels, slopes=True, notices=warnings(*(f"{p} {labels[0]}" for p in range(500)))
        ),
        notices=notes(*(f"notice {place} " + "&" * 900 for place in range(500))),
        baselines=Comparison({f"{p} " + "<" * 300: made_estimate(labels) for p in range(30)}),
        timeline=made_timeline(labels, 100, windows),
        suspects=Suspects(values, (values,) * 1000, tuple(range(1000)), (0.5,) * 1000),
        origin=Origin(
            "&" * 100_000, tuple(("<" * 500, "f" * 64) for _ in range(3000)), "now", values * 100
        ),
    )


@cache
def page_of(kind: str) -> str:
    """The page of one of these studies, drawn once for all tests."""
    return render(
        {
            "rich": rich,
            "minimal": minimal,
            "nothing_unseen": nothing_unseen,
            "nasty": nasty,
            "huge": huge,
        }[kind]()
    )
