"""The numbers of a picture in words, for readers who cannot see it.

A table beside the picture has them too where there are few; here they are part of the picture, cut
to what can be listened to.
"""

from __future__ import annotations

from unseen import _wording as words
from unseen.api import Comparison
from unseen.labelling import LabellingValue
from unseen.monitoring import Timeline
from unseen.monitoring.windows import shown_key
from unseen.plots.canvas import largest
from unseen.records import Estimate

__all__ = ["spoken_comparison", "spoken_labelling", "spoken_shares", "spoken_timeline"]

_MOST = 12
_LONGEST = 24


def spoken_shares(estimate: Estimate) -> str:
    """The unseen share and the largest known ones.

    Examples
    --------
    >>> spoken_shares(Estimate(("cat",), [0.7], 0.3, "m", n_labelled={"cat": 9}, n_new=9))
    'Unseen 30.0%, cat 70.0%'
    """
    ends = estimate.intervals

    def one(name: str, place: int, value: str) -> str:
        limits = "" if ends is None else f" ({words.interval(*ends[place])})"
        return f"{name} {value}{limits}"

    unseen = ["Unseen not estimated"]
    if estimate.sees_unseen:
        unseen = [one("Unseen", -1, _unseen(estimate))]
    known = [
        one(
            words.shown(estimate.classes[place], _LONGEST),
            place,
            words.share(estimate.proportions[place]),
        )
        for place in largest(estimate.proportions, _MOST)
    ]
    return words.listed([*unseen, *known], _MOST)


def _unseen(estimate: Estimate) -> str:
    return "cannot be told" if estimate.has_moved_far else words.share(estimate.unseen)


def spoken_timeline(timeline: Timeline) -> str:
    """The unseen share of the latest windows, and which of them changed."""
    first = max(0, len(timeline) - _MOST)
    changed = timeline.changed | timeline.changed_unseen
    parts = [
        f"{words.shown(shown_key(timeline.windows[place]), _LONGEST)} "
        f"{_unseen(timeline.estimates[place])}{' (changed)' * bool(changed[place])}"
        for place in range(first, len(timeline))
    ]
    which = "" if first == 0 else f" in the latest {len(parts)} windows"
    return f"Unseen share{which}: {', '.join(parts)}"


def spoken_labelling(value: LabellingValue) -> str:
    """Half-widths by the number of labels."""
    numbers = zip(value.sizes, value.labels_alone, value.together, strict=True)
    parts = [
        f"{size:,.0f} labels: ± {words.points(alone)} alone, ± {words.points(both)} together"
        for size, alone, both in numbers
    ]
    return "; ".join(parts[:_MOST])


def spoken_comparison(comparison: Comparison) -> str:
    """The unseen share by each method."""
    parts = [
        f"{words.shown(name, _LONGEST)} "
        f"{words.share(one.unseen) if one.sees_unseen else 'cannot say'}"
        for name, one in comparison.items()
    ]
    return f"Unseen share: {', '.join(parts)}"
