"""What labelling k more rows by hand would buy.

Draw k of the new rows at random, label them, and count: the share p of a class is then known with
standard deviation ``sqrt(p (1 - p) / k)``. An estimate without labels has standard deviation s,
read off its interval: half its width over z. The two are combined by inverse variance,

    1 / sd^2 = 1 / s^2 + k / (p (1 - p)),

and an estimate is worth the number of labels that would give its own precision,
``W = p (1 - p) / s^2``.

This takes the two as independent, and the centre of the interval as unbiased. Where condition (A)
fails the estimate is biased, labels are not, and W says too much. Of a share of exactly 0 or 1 the
binomial would say that one label is enough, so p is pulled in by Jeffreys' half row:
``p = (m share + 1/2) / (m + 1)`` for m unlabelled rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from unseen.base import Estimate, FloatArray

__all__ = ["LabellingValue", "labelling_value"]


@dataclass(frozen=True, eq=False, repr=False)
class LabellingValue:
    """Half-widths of intervals with k labels, with the estimate, and with both.

    Parameters
    ----------
    label : label or None
        The class; None is unseen ones.
    share : float
        Its estimated share, pulled in by Jeffreys' half row.
    half_width : float
        Of the interval of the estimate.
    confidence : float
        Level of all intervals.
    sizes : ndarray of shape (n,)
        Numbers of labelled rows, k.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.labelling import LabellingValue
    >>> value = LabellingValue(None, 0.5, 0.098, 0.95, np.array([100]))
    >>> print(value)
    This estimate is worth about 100 labelled rows (0.500 ± 0.098)
    labelled rows  labels alone  with the estimate
              100       ± 0.098            ± 0.069
    """

    label: Any
    share: float
    half_width: float
    confidence: float
    sizes: FloatArray

    @property
    def worth(self) -> float:
        """Labelled rows that would be as precise as the estimate, W; may be infinite."""
        if self.half_width == 0:
            return float("inf")
        return self.share * (1 - self.share) * (self._quantile / self.half_width) ** 2

    @property
    def sentence(self) -> str:
        """The worth in words."""
        return f"This estimate is worth about {_rounded(self.worth)} labelled rows"

    @property
    def labels_alone(self) -> FloatArray:
        """Half-width with k labels alone, for each of ``sizes``."""
        return self.half_width_alone(self.sizes)

    @property
    def together(self) -> FloatArray:
        """Half-width with k labels and the estimate, for each of ``sizes``."""
        return self.half_width_together(self.sizes)

    def half_width_alone(self, sizes: ArrayLike) -> FloatArray:
        """Half-width of the interval from so many labels."""
        spread = np.sqrt(self.share * (1 - self.share) / np.asarray(sizes, dtype=np.float64))
        return np.asarray(self._quantile * spread)

    def half_width_together(self, sizes: ArrayLike) -> FloatArray:
        """Half-width of the interval from so many labels and the estimate."""
        alone = self.half_width_alone(sizes)
        return np.asarray(self.half_width * alone / np.hypot(self.half_width, alone))

    @property
    def _quantile(self) -> float:
        return float(norm.ppf((1 + self.confidence) / 2))

    def __str__(self) -> str:
        lines = [
            f"{self.sentence} ({self.share:.3f} ± {self.half_width:.3f})",
            "labelled rows  labels alone  with the estimate",
        ]
        rows = zip(self.sizes, self.labels_alone, self.together, strict=True)
        lines += [f"{k:13.0f}  {f'± {a:.3f}':>12}  {f'± {b:.3f}':>17}" for k, a, b in rows]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def labelling_value(
    estimate: Estimate, sizes: Sequence[int] | None = None, label: Any = None
) -> LabellingValue:
    """What labelling k more rows would add to an estimate.

    Parameters
    ----------
    estimate : Estimate
        With intervals.
    sizes : sequence of int or None, default=None
        Numbers of rows that might be labelled; None is 10, 20, 50, 100, ... up to the number of
        unlabelled rows.
    label : label or None, default=None
        The class whose share is wanted; None is unseen ones.

    Returns
    -------
    LabellingValue

    Examples
    --------
    >>> from unseen.base import Estimate
    >>> from unseen.labelling import labelling_value
    >>> estimate = Estimate(("cat",), [0.7], 0.3, "made", n_labelled={"cat": 90}, n_unlabelled=400,
    ...                     intervals=[[0.65, 0.75], [0.25, 0.35]], confidence=0.95)
    >>> round(labelling_value(estimate).worth)
    323
    """
    if estimate.intervals is None or estimate.confidence is None:
        raise ValueError(
            "estimate must have intervals, which confidence=0.95 asks for; got an estimate without."
        )
    place = len(estimate.classes) if label is None else _place(estimate, label)
    share = estimate.unseen if label is None else float(estimate.proportions[place])
    lower, upper = estimate.intervals[place]
    n_rows = estimate.n_unlabelled
    return LabellingValue(
        label=label,
        share=(n_rows * share + 0.5) / (n_rows + 1),
        half_width=float(upper - lower) / 2,
        confidence=estimate.confidence,
        sizes=_checked_sizes(default_sizes(n_rows) if sizes is None else sizes),
    )


def default_sizes(n_rows: int) -> tuple[int, ...]:
    """10, 20, 50, 100, ... up to the number of rows; all of them where they are fewer.

    Examples
    --------
    >>> default_sizes(120), default_sizes(7)
    ((10, 20, 50, 100), (7,))
    """
    sizes = (m * 10**power for power in range(1, len(str(n_rows)) + 1) for m in (1, 2, 5))
    return tuple(size for size in sizes if size <= n_rows) or (n_rows,)


def _place(estimate: Estimate, label: Any) -> int:
    if label not in estimate.classes:
        known = ", ".join(map(repr, estimate.classes))
        raise ValueError(f"label must be None or one of {known}; got {label!r}.")
    return estimate.classes.index(label)


def _checked_sizes(sizes: Sequence[int]) -> FloatArray:
    checked = np.atleast_1d(np.asarray(sizes, dtype=np.float64))
    if checked.size == 0 or not (checked >= 1).all() or not np.isfinite(checked).all():
        raise ValueError(f"sizes must be numbers of rows, each at least 1; got {list(sizes)}.")
    return checked


def _rounded(rows: float) -> str:
    """Two digits are more than enough."""
    if not np.isfinite(rows):
        return "any number of"
    digits = 1 - int(np.floor(np.log10(max(rows, 1.0))))
    return f"{round(rows, digits):.0f}"
