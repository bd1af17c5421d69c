"""What differs until rejection, monitoring and proportions hold notices and declare their kind."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from unseen.records import Notice
from unseen.rejection.learning import threshold as cut

if TYPE_CHECKING:
    from unseen.monitoring import Timeline

__all__ = [
    "at_threshold",
    "labels_at",
    "out_of_fold",
    "rule_notices",
    "sees_unseen",
    "timeline_dict",
    "timeline_notices",
    "timeline_with",
]

# ``from unseen.rejection.learning.threshold import labels_at``
labels_at: Any = getattr(cut, "labels_at", getattr(cut, "decide", None))


def rule_notices(rule: Any) -> tuple[Notice, ...]:
    """``rule.notices_``."""
    given = rule.notices_ if hasattr(rule, "notices_") else rule.warnings_
    return tuple(one if isinstance(one, Notice) else Notice("rule", one) for one in given)


def at_threshold(rule: Any, threshold: dict[str, Any]) -> Any:
    """``rule.with_threshold(**threshold)``."""
    move = rule.with_threshold if hasattr(rule, "with_threshold") else rule.set_threshold
    return move(**threshold)


def out_of_fold(rule: Any) -> Any:
    """``rule.out_of_fold_``."""
    return rule.out_of_fold_ if hasattr(rule, "out_of_fold_") else rule.held_out_


def timeline_notices(timeline: Timeline) -> tuple[Notice, ...]:
    """``timeline.notices``."""
    given = (*getattr(timeline, "warnings", ()), *getattr(timeline, "notices", ()))
    return tuple(one if isinstance(one, Notice) else Notice("windows", str(one)) for one in given)


def timeline_with(timeline: Timeline, notices: tuple[Notice, ...]) -> Timeline:
    """``replace(timeline, notices=notices)``."""
    names = {field.name for field in fields(timeline)}
    changed: dict[str, Any] = {"warnings": ()} if "warnings" in names else {}
    changed["notices" if "notices" in names else "warnings"] = notices
    return replace(timeline, **changed)


def timeline_dict(timeline: Timeline) -> dict[str, Any]:
    """``timeline.to_dict()``."""
    record = timeline.to_dict()
    record.pop("warnings", None)
    notices = [notice.to_dict() for notice in timeline_notices(timeline)]
    return {**record, "format": 2, "notices": notices}


def sees_unseen(kind: type) -> bool:
    """``kind.sees_unseen``."""
    if hasattr(kind, "sees_unseen"):
        return bool(kind.sees_unseen)
    try:
        kind().fit([[0.0], [1.0]], ["known", "known"])
    except ValueError:
        return False
    return True
