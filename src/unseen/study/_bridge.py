"""Names of the rejection rules, as they are before and after their own renaming."""

from __future__ import annotations

from typing import Any

from unseen.records import Notice
from unseen.rejection.learning import threshold as cut

__all__ = ["at_threshold", "labels_at", "out_of_fold", "rule_notices"]

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
