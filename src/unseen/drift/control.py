"""The record of a control: what training alone would claim where nothing is new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unseen._wording import NO_SHARE, short_share

__all__ = ["Control"]


@dataclass(frozen=True)
class Control:
    """Rows of the same place as the new ones, believed to hold no new class.

    Parameters
    ----------
    n_rows : int
        Rows of the control.
    unseen : float
        Share of the control that training alone would call unseen: a false claim.
    interval : tuple of (float, float) or None, default=None
        Lower and upper end of that share.
    verdict : {"still", "moved", "unclear"} or None, default=None
        Whether the known classes have moved between training and the control; None where the
        method does not ask.

    Examples
    --------
    >>> from unseen.drift import Control
    >>> print(Control(200, 0.4, (0.3, 0.5), "moved").sentence())  # doctest: +NORMALIZE_WHITESPACE
    Known classes are taken as they look in the control, of which training alone would call 40%
    (30% to 50%) unseen.
    """

    n_rows: int
    unseen: float
    interval: tuple[float, float] | None = None
    verdict: str | None = None

    def sentence(self) -> str:
        """What the new rows were compared with, and what training alone would have claimed."""
        ends = (
            "" if self.interval is None else " ({} to {})".format(*map(short_share, self.interval))
        )
        share = "none" if self.unseen < NO_SHARE else short_share(self.unseen)
        return (
            "Known classes are taken as they look in the control, of which training alone would "
            f"call {share}{ends} unseen."
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        return {
            "n_rows": self.n_rows,
            "unseen": self.unseen,
            "interval": None if self.interval is None else list(self.interval),
            "verdict": self.verdict,
        }
