"""The pictures of the page: each an SVG, its numbers for readers who cannot see it, and a caption.

A page must stay small whatever the data. Pictures have a size that hardly depends on the data, only
as many ROCs, one per class, are drawn as fit a budget, and numbers are cut to what can be listened
to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from unseen import _wording as words
from unseen import plots
from unseen.drift import Tolerance
from unseen.labelling import LabellingValue
from unseen.loop import Explanation
from unseen.monitoring import Timeline
from unseen.monitoring.timeline import shown_key
from unseen.plots.canvas import ranked
from unseen.records import Estimate
from unseen.study import Study

_SLOPES_BYTES = 86_000
_IN_CAPTION = 40
_MOST_SPOKEN = 12
_LONGEST_SPOKEN = 24


class Picture(NamedTuple):
    """An ``<svg>`` element, and the sentence under it."""

    svg: str
    caption: str


class Slopes(NamedTuple):
    """ROCs of all known classes together, and of single classes, which stand behind a fold.

    ``note`` names the method that the slopes come from, and counts the classes without a picture.
    """

    together: Picture | None = None
    shown: tuple[Picture, ...] = ()
    note: str = ""


def _picture(display: plots.Display, name: str, title: str, caption: str, numbers: str) -> Picture:
    """A picture whose label has its numbers: the caption is read out anyway."""
    return Picture(plots.to_svg(display.figure_, title, description=numbers, prefix=name), caption)


def shares_picture(study: Study) -> Picture:
    """Shares with intervals, and the shares in training as ticks."""
    estimate = study.estimate
    lines, mark = "", "dot"
    if estimate.intervals is not None:
        lines, mark = ", the line its interval", "line"
    reading = f"Where tick and {mark} stand apart, the share has changed."
    if not estimate.sees_unseen:
        reading += " Unseen classes are not estimated, and have no dot."
    elif estimate.unseen > 0:
        reading += (
            " A known class also falls where unseen rows take its place: the table compares known "
            "rows alone."
        )
    return _picture(
        plots.SharesDisplay.from_estimate(estimate, training=study.training_shares),
        "shares",
        "Share of each class among the new rows",
        f"Each dot is a share of the new rows{lines}, and the tick the share in training. "
        f"{reading}",
        _spoken_shares(estimate),
    )


def _spoken_shares(estimate: Estimate) -> str:
    """The unseen share and the largest known ones, such as "Unseen 30.0%, cat 70.0%"."""
    ends = [""] * (len(estimate.classes) + 1)
    if estimate.intervals is not None:
        ends = [f" ({words.interval(*limits)})" for limits in estimate.intervals]
    said = [f"Unseen {_unseen(estimate)}{ends[-1] if estimate.sees_unseen else ''}"]
    for place in ranked(estimate.proportions, _MOST_SPOKEN):
        name = words.shown(estimate.classes[place], _LONGEST_SPOKEN)
        said.append(f"{name} {words.share(estimate.proportions[place])}{ends[place]}")
    return words.listed(said, _MOST_SPOKEN)


def _unseen(estimate: Estimate) -> str:
    """The unseen share as it is read aloud, where a dash says nothing."""
    return words.unseen_share(estimate) if estimate.sees_unseen else "not estimated"


def gap_picture(study: Study) -> Picture | None:
    """Score densities with the gap shaded; None where the scores were not kept."""
    found = _scored(study)
    if found is None:
        return None
    estimate, label = found
    whose = "known rows" if label is None else f"rows of {words.named(label, _IN_CAPTION)}"
    if estimate.may_be_moved:
        whose = "known rows"
        reading = (
            ". If no known class had moved, the shaded gap between them would be of new classes."
        )
    elif label is None and estimate.sees_unseen and estimate.unseen < words.NO_SHARE:
        reading = ". Nothing is unseen by this estimate: it takes the shaded gap for chance."
    elif label is None:
        reading = ": the shaded gap between them is what no known class accounts for."
    else:
        reading = ": the shaded gap is all that is not of this class."
    return _picture(
        plots.ScoresDisplay.from_estimate(estimate, label),
        "gap",
        "Densities of the scores of new and of known rows",
        f"Scores of the new rows (line) and of {whose} scaled to their share (filled){reading}",
        _spoken_shares(estimate),
    )


def _scored(study: Study) -> tuple[Estimate, Any] | None:
    """An estimate, and the class whose ROC kept its scores: all together, else the largest."""
    estimates = [one for one in (study.estimate, study.slopes) if one is not None]
    labels = [(one, None, one.pooled) for one in estimates]
    labels += [(one, label, one.roc.get(label)) for one in estimates for label in _by_share(one)]
    for estimate, label, evidence in labels:
        if evidence is not None and evidence.thresholds is not None:
            return estimate, label
    return None


def _by_share(estimate: Estimate) -> list[Any]:
    """The classes, the largest share first."""
    return [estimate.classes[place] for place in np.argsort(-estimate.proportions, kind="stable")]


def slope_pictures(study: Study) -> Slopes:
    """The ROC of all known classes together, and of each class, the largest first."""
    estimate, slopes, together = study.estimate, study.slopes, None
    if estimate.may_be_moved:
        return Slopes()  # a slope is a share only where no known class has moved
    if estimate.pooled is not None and len(estimate.classes) > 1:
        together = _slope_picture(estimate, None, estimate)
    if slopes is None:
        return Slopes(together)
    drawn: list[Picture] = []
    for label in _by_share(slopes):
        if sum(len(picture.svg.encode()) for picture in drawn) > _SLOPES_BYTES:
            break
        drawn.append(_slope_picture(slopes, label, estimate))
    notes = []
    if slopes is not estimate:
        notes.append(
            f"The slopes of single classes are those of {words.shown(slopes.method)}, which reads "
            "one class at a time; the answer above weighs all classes together, so the two may "
            "differ."
        )
    if n_missing := len(slopes.classes) - len(drawn):
        notes.append(
            f"The {words.count(n_missing, 'smaller class')} would make this page too large, and "
            "are not drawn."
        )
    return Slopes(together, tuple(drawn), " ".join(notes))


def _slope_picture(estimate: Estimate, label: Any, answer: Estimate) -> Picture:
    """The right end of the ROC of a class, or of all together, beside the answer of the page."""
    display = plots.RocDisplay.from_estimate(estimate, label)
    slope = words.share(min(max(display.evidence.right_slope, 0.0), 1.0))
    if label is None:
        number, name = "all", "all known classes together"
        caption = (
            f"The dashed line has the estimated share of all known classes together, {slope}, for "
            "its slope, and the curve should end along it. Known rows count here as often as "
            "their classes are estimated to occur."
        )
    else:
        number, name = str(estimate.classes.index(label)), words.named(label, _IN_CAPTION)
        caption = f"This slope is the share: {slope} of the new rows for {name}."
        if estimate is not answer:
            caption = (
                f"{words.shown(estimate.method)} alone would say {slope} for {name}; this page "
                f"says {words.share(answer[label])}."
            )
    title = f"Right end of the ROC of {name}"
    return _picture(display, f"slope-{number}", title, caption, f"Slope {slope}")


def groups_picture(explanation: Explanation) -> Picture:
    """Shares of the groups of unseen rows."""
    return _picture(
        plots.GroupsDisplay.from_explanation(explanation),
        "groups",
        "Share of each group of unseen rows",
        "Each mark is the share of a group, the line its interval. A full mark is a clump of its "
        "own; an open one may be no class of its own.",
        explanation.sentence(),
    )


def history_picture(timeline: Timeline) -> Picture:
    """Shares over windows; the unseen shares of the latest windows are read aloud."""
    changed = timeline.changed | timeline.changed_unseen
    reference = words.shown(timeline.reference_name)
    verdict = f"no window differs clearly from {reference}"
    if changed.any():
        marked = f"{words.count(int(changed.sum()), 'window')} marked ▼"
        differ = "differs" if changed.sum() == 1 else "differ"
        verdict = f"{marked} {differ} from {reference} beyond chance"
    thick = "The thick line is the unseen share, and bands are intervals"
    if not timeline.estimates[0].sees_unseen:
        thick = (
            "The thick line is the unseen share, which is not estimated and stands at 0 whatever "
            "the data, and bands are intervals"
        )
    elif all(one.has_moved_far for one in timeline.estimates):
        thick = "Known classes moved too far to draw an unseen share or an interval"
    first = max(0, len(timeline) - _MOST_SPOKEN)
    which = f" in the latest {_MOST_SPOKEN} windows" if first else ""
    spoken = [
        f"{words.shown(shown_key(timeline.windows[place]), _LONGEST_SPOKEN)} "
        f"{_unseen(timeline.estimates[place])}{' (changed)' if changed[place] else ''}"
        for place in range(first, len(timeline))
    ]
    numbers = f"Unseen share{which}: {', '.join(spoken)}"
    display = plots.TimelineDisplay.from_timeline(timeline)
    return _picture(display, "history", "Shares over time", f"{thick}: {verdict}.", numbers)


def labelling_picture(value: LabellingValue) -> Picture:
    """The value of labels; the half-widths with each number of labels are read aloud."""
    spoken = [
        f"{size:,.0f} labels: ± {words.points(alone)} alone, ± {words.points(both)} together"
        for size, alone, both in zip(value.sizes, value.labels_alone, value.together, strict=True)
    ]
    return _picture(
        plots.LabellingDisplay.from_value(value),
        "labelling",
        "Half-width of the interval of the unseen share against rows labelled by hand",
        "Where the dashed line of labels alone meets the dotted one, that many labels say as much "
        "as this estimate; the thick line has both together.",
        "; ".join(spoken[:_MOST_SPOKEN]),
    )


def tolerance_picture(tolerance: Tolerance) -> Picture:
    """The share that must be new against the factor that known classes changed by."""
    spoken = [f"{factor:g} times: {words.share(tolerance.must(factor))}" for factor in (1, 2, 3, 5)]
    return _picture(
        plots.ToleranceDisplay.from_tolerance(tolerance),
        "tolerance",
        "How much must be new even if known classes changed",
        "Where the line meets the bottom, all new rows might be of known classes.",
        f"At least: {', '.join(spoken)}",
    )


def baselines_picture(found: Mapping[str, Estimate]) -> Picture:
    """Shares of the new rows by this method and by others."""
    spoken = [f"{words.shown(name, _LONGEST_SPOKEN)} {_unseen(one)}" for name, one in found.items()]
    return _picture(
        plots.ComparisonDisplay.from_comparison(found),
        "baselines",
        "Shares by several methods",
        "Each bar shares out the same new rows: the hatched part is unseen, and methods that "
        "cannot see it give it to the known classes.",
        f"Unseen share: {', '.join(spoken)}",
    )
