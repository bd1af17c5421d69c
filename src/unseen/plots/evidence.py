"""Which ROC of an estimate a display draws: that of one class, or that of all known ones."""

from __future__ import annotations

from typing import Any

from unseen.records import Estimate, RocEvidence

__all__ = ["chosen_evidence"]


def chosen_evidence(estimate: Estimate, label: Any = None) -> RocEvidence:
    """The ROC of one known class, or of all together where ``label`` is None.

    Parameters
    ----------
    estimate : Estimate
    label : label or None, default=None

    Returns
    -------
    RocEvidence

    Raises
    ------
    ValueError
        When the estimate has no such ROC; says which there are.
    """
    found = estimate.pooled if label is None else estimate.roc.get(label)
    if found is not None:
        return found
    wanted = "of all known classes together" if label is None else f"of class {label!r}"
    there = [repr(known) for known in estimate.roc]
    if estimate.pooled is not None:
        there.append("None (all together)")
    raise ValueError(
        f"estimate must hold the ROC {wanted}; {estimate.method} gave one for "
        f"{', '.join(there) or 'nothing'}."
    )
