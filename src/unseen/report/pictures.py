"""The pictures of the page: each an SVG and one sentence that says what to see in it.

A page must stay small whatever the data. Pictures have a size that hardly depends on the data, and
only as many ROCs, one per class, are drawn as fit a budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from unseen import _wording as words
from unseen.plots import (
    ComparisonDisplay,
    Display,
    GroupsDisplay,
    LabellingDisplay,
    RocDisplay,
    ScoresDisplay,
    SharesDisplay,
    TimelineDisplay,
    to_svg,
)
from unseen.plots.timeline import reference_name
from unseen.records import Estimate
from unseen.report.spoken import (
    spoken_comparison,
    spoken_labelling,
    spoken_shares,
    spoken_timeline,
)
from unseen.report.tables import labelling_value, side_by_side
from unseen.study import Study
from unseen.study.thumbnails import Thumbnail

__all__ = [
    "Picture",
    "Slopes",
    "baselines_picture",
    "gap_picture",
    "groups_picture",
    "history_picture",
    "labelling_picture",
    "shares_picture",
    "slope_pictures",
    "thumbnails",
]

_SLOPES_BYTES = 80_000
_IN_CAPTION = 40
_MOST_THUMBNAILS = 80


@dataclass(frozen=True)
class Picture:
    """An ``<svg>`` element, and the sentence under it."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Slopes:
    """ROCs of all known classes together, and of single classes, which stand behind a fold.

    ``note`` names the method that the slopes come from, and counts the classes without a picture.
    """

    together: Picture | None = None
    shown: tuple[Picture, ...] = ()
    note: str = ""


def _picture(display: Display, name: str, title: str, caption: str, numbers: str) -> Picture:
    """A picture whose label has its numbers: the caption is read out anyway."""
    return Picture(to_svg(display.figure_, title, description=numbers, prefix=name), caption)


def shares_picture(study: Study) -> Picture:
    """Shares with intervals, and the shares in training as ticks."""
    estimate = study.estimate
    lines, mark = "", "dot"
    if estimate.intervals is not None:
        lines, mark = ", the line its interval", "line"
    reading = f"Where tick and {mark} stand apart, the share has changed."
    if not estimate.sees_unseen:
        reading += " Unseen classes are not estimated: their dot stands at 0 whatever the data."
    elif estimate.unseen > 0:
        reading += (
            " A known class also falls where unseen rows take its place: the table compares known "
            "rows alone."
        )
    return _picture(
        SharesDisplay.from_estimate(estimate, training=study.training_shares),
        "shares",
        "Share of each class among the new rows",
        f"Each dot is a share of the new rows{lines}, and the tick the share in training. "
        f"{reading}",
        spoken_shares(estimate),
    )


def gap_picture(study: Study) -> Picture | None:
    """Score densities with the gap shaded; None where the scores were not kept."""
    found = _scored(study)
    if found is None:
        return None
    estimate, label = found
    if estimate.is_in_doubt:
        caption = (
            "Scores of the new rows (line) and of known rows scaled to their share (filled). If no "
            "known class had moved, the shaded gap between them would be of new classes."
        )
    elif label is None:
        caption = (
            "Scores of the new rows (line) and of known rows scaled to their share (filled): the "
            "shaded gap between them is what no known class accounts for."
        )
    else:
        name = words.named(label, _IN_CAPTION)
        caption = (
            f"Scores of the new rows (line) and of rows of {name} scaled to their share (filled): "
            "the shaded gap is all that is not of this class."
        )
    title = "Densities of the scores of new and of known rows"
    display = ScoresDisplay.from_estimate(estimate, label)
    return _picture(display, "gap", title, caption, spoken_shares(estimate))


def _scored(study: Study) -> tuple[Estimate, Any] | None:
    """An estimate, and the class whose ROC kept its scores: all together, else the largest."""
    estimates = [one for one in (study.estimate, study.slopes) if one is not None]
    labels = [(one, None, one.pooled) for one in estimates]
    labels += [(one, label, one.roc.get(label)) for one in estimates for label in _by_share(one)]
    for estimate, label, evidence in labels:
        if evidence is not None and evidence.thresholds is not None:
            return estimate, label
    return None


def slope_pictures(study: Study) -> Slopes:
    """The ROC of all known classes together, and of each class, the largest first."""
    estimate, slopes = study.estimate, study.slopes
    if estimate.is_in_doubt:
        return Slopes(None)  # a slope is a share only where no known class has moved
    together = None
    if estimate.pooled is not None and len(estimate.classes) > 1:
        together = _slope_of_all(estimate)
    if slopes is None:
        return Slopes(together)
    drawn: list[Picture] = []
    for label in _by_share(slopes):
        if sum(len(picture.svg.encode()) for picture in drawn) > _SLOPES_BYTES:
            break
        drawn.append(_slope_of_class(slopes, label, estimate))
    note = _note_on_slopes(study, len(slopes.classes) - len(drawn))
    return Slopes(together, tuple(drawn), note)


def _slope_of_all(estimate: Estimate) -> Picture:
    display = RocDisplay.from_estimate(estimate)
    return _picture(
        display,
        "slope-all",
        "Right end of the ROC of all known classes together",
        "The dashed line has the estimated share of all known classes together, "
        f"{_slope(display)}, for its slope, and the curve should end along it. Known rows count "
        "here as often as their classes are estimated to occur.",
        f"Slope {_slope(display)}",
    )


def _slope_of_class(slopes: Estimate, label: Any, answer: Estimate) -> Picture:
    display = RocDisplay.from_estimate(slopes, label)
    name = words.named(label, _IN_CAPTION)
    caption = f"This slope is the share: {_slope(display)} of the new rows for {name}."
    if slopes is not answer:
        caption = (
            f"{words.shown(slopes.method)} alone would say {_slope(display)} for {name}; this page "
            f"says {words.share(answer[label])}."
        )
    number = slopes.classes.index(label)
    title = f"Right end of the ROC of {name}"
    return _picture(display, f"slope-{number}", title, caption, f"Slope {_slope(display)}")


def _slope(display: RocDisplay) -> str:
    return words.share(min(max(display.evidence.right_slope, 0.0), 1.0))


def _note_on_slopes(study: Study, n_missing: int) -> str:
    slopes, sentences = study.slopes, []
    if slopes is not None and slopes is not study.estimate:
        sentences.append(
            f"The slopes of single classes are those of {words.shown(slopes.method)}, which reads "
            "one class at a time; the answer above weighs all classes together, so the two may "
            "differ."
        )
    if n_missing:
        sentences.append(
            f"The {words.count(n_missing, 'smaller class')} would make this page too large, and "
            "are not drawn."
        )
    return " ".join(sentences)


def _by_share(estimate: Estimate) -> list[Any]:
    """The classes, the largest share first."""
    return [estimate.classes[place] for place in np.argsort(-estimate.proportions, kind="stable")]


def groups_picture(study: Study) -> Picture | None:
    """Shares of the groups of unseen rows; None where nothing was explained, or nothing unseen."""
    explanation = study.explanation
    if explanation is None or not explanation.groups:
        return None
    return _picture(
        GroupsDisplay.from_explanation(explanation),
        "groups",
        "Share of each group of unseen rows",
        "Each mark is the share of a group, the line its interval. A full mark is a clump of its "
        "own; an open one may be no class of its own.",
        explanation.sentence(),
    )


def thumbnails(study: Study) -> list[tuple[int, list[Thumbnail]]]:
    """Small pictures of the example rows, group by group."""
    shown = study.thumbnails[:_MOST_THUMBNAILS]
    return [(number, list(one)) for number, one in groupby(shown, key=lambda one: one.group)]


def history_picture(study: Study) -> Picture | None:
    """Shares over windows; None without a timeline."""
    timeline = study.timeline
    if timeline is None:
        return None
    n_changed = int((timeline.changed | timeline.changed_unseen).sum())
    reference = reference_name(timeline.in_reference)
    verdict = f"no window differs clearly from {reference}"
    if n_changed:
        differ = "differs" if n_changed == 1 else "differ"
        verdict = (
            f"{words.count(n_changed, 'window')} marked ▼ {differ} from {reference} beyond chance"
        )
    thick = "The thick line is the unseen share, the bands are intervals"
    if not timeline.estimates[0].sees_unseen:
        thick = (
            "The thick line is the unseen share, which is not estimated and stands at 0 whatever "
            "the data, the bands are intervals"
        )
    elif all(one.has_moved_far for one in timeline.estimates):
        thick = "Known classes moved too far to draw an unseen share or an interval"
    return _picture(
        TimelineDisplay.from_timeline(timeline),
        "history",
        "Shares over time",
        f"{thick}: {verdict}.",
        spoken_timeline(timeline),
    )


def labelling_picture(study: Study) -> Picture | None:
    """The value of labels; None where it cannot be said."""
    value = labelling_value(study)
    if value is None:
        return None
    return _picture(
        LabellingDisplay.from_value(value),
        "labelling",
        "Half-width of the interval of the unseen share against rows labelled by hand",
        "Where the dashed line of labels alone meets the dotted one, so many labels say as much "
        "as this estimate; the thick line is both together.",
        spoken_labelling(value),
    )


def baselines_picture(study: Study) -> Picture | None:
    """Shares of the new rows by other methods; None without baselines."""
    found = side_by_side(study)
    if found is None:
        return None
    return _picture(
        ComparisonDisplay.from_comparison(found),
        "baselines",
        "Shares by several methods",
        "Each bar shares out the same new rows: the hatched part is unseen, and methods that "
        "cannot see it give it to the known classes.",
        spoken_comparison(found),
    )
