"""The precision that k more rows labelled by hand would bring.

With Jeffreys' prior, k labels of randomly drawn new rows leave a share with a Beta distribution of
variance v_k; labels and estimate are combined by inverse variance. The estimate is worth the k at
which v_k equals its own variance. docs/theory.md, "What labels are worth", has the equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import norm

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen._wording import text_table
from unseen.records import Estimate


@dataclass(frozen=True, eq=False, repr=False)
class LabellingValue(Frozen):
    """Half-widths of intervals with k labels, with the estimate, and with both.

    Parameters
    ----------
    label : label or None
        The class; None for the unseen classes.
    share : float
        The estimated share p of the class.
    half_width : float
        Half-width of the interval of the estimate.
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
    This estimate is worth about 98 labelled rows (0.500 ± 0.098)
    labelled rows  labels alone  with the estimate
              100       ± 0.097            ± 0.069
    """

    label: Any
    share: float
    half_width: float
    confidence: float
    sizes: FloatArray

    @property
    def worth(self) -> float:
        """Number of labelled rows that would be as precise as the estimate; may be infinite."""
        variance = (self.half_width / self._quantile) ** 2
        if variance == 0:
            return float("inf")
        if variance >= _label_variance(self.share, 0.0):
            return 0.0
        # A share of one half needs the most labels: 1 / (4 variance).
        most = 0.25 / variance
        return float(brentq(lambda size: _label_variance(self.share, size) - variance, 0.0, most))

    @property
    def sentence(self) -> str:
        """The worth in words, to two digits."""
        worth, rows = self.worth, "any number of labelled rows"
        if worth < 1.5:
            rows = "hardly one labelled row"
        elif np.isfinite(worth):
            digits = 1 - int(np.floor(np.log10(worth)))
            rows = f"about {round(worth, digits):,.0f} labelled rows"
        return f"This estimate is worth {rows}"

    @property
    def labels_alone(self) -> FloatArray:
        """Half-width with labels alone, for each of ``sizes``."""
        return self.half_width_alone(self.sizes)

    @property
    def together(self) -> FloatArray:
        """Half-width with labels and the estimate, for each of ``sizes``."""
        return self.half_width_together(self.sizes)

    def half_width_alone(self, sizes: ArrayLike) -> FloatArray:
        """Half-width of the interval from each number of labels."""
        variance = _label_variance(self.share, np.asarray(sizes, dtype=np.float64))
        return np.asarray(self._quantile * np.sqrt(variance))

    def half_width_together(self, sizes: ArrayLike) -> FloatArray:
        """Half-width of the interval from each number of labels and the estimate."""
        alone = self.half_width_alone(sizes)
        return np.asarray(self.half_width * alone / np.hypot(self.half_width, alone))

    @property
    def _quantile(self) -> float:
        return float(norm.ppf((1 + self.confidence) / 2))

    def __str__(self) -> str:
        numbers = zip(self.sizes, self.labels_alone, self.together, strict=True)
        rows = [[f"{k:.0f}", f"± {a:.3f}", f"± {b:.3f}"] for k, a, b in numbers]
        table = [["labelled rows", "labels alone", "with the estimate"], *rows]
        head = f"{self.sentence} ({self.share:.3f} ± {self.half_width:.3f})"
        return f"{head}\n{text_table(table, n_names=0)}"

    __repr__ = __str__


def labelling_value(
    estimate: Estimate, sizes: Sequence[int] | None = None, label: Any = None
) -> LabellingValue:
    """The precision that labelling k more rows would add to an estimate.

    Parameters
    ----------
    estimate : Estimate
        An estimate with intervals.
    sizes : sequence of int or None, default=None
        Numbers of rows that might be labelled; None is 10, 20, 50, 100, ... up to the number of
        new rows.
    label : label or None, default=None
        The class whose share is wanted; None for the share of the unseen classes.

    Returns
    -------
    LabellingValue

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.labelling import labelling_value
    >>> estimate = Estimate(("cat",), [0.7], 0.3, "made", n_labelled={"cat": 90}, n_new=400,
    ...                     intervals=[[0.65, 0.75], [0.25, 0.35]], confidence=0.95)
    >>> round(labelling_value(estimate).worth)
    321
    """
    if estimate.intervals is None or estimate.confidence is None:
        raise ValueError(
            "estimate must have intervals, which confidence=0.95 asks for; got an estimate without."
        )
    if label is not None and label not in estimate.classes:
        known = ", ".join(map(repr, estimate.classes))
        raise ValueError(f"label must be None or one of {known}; got {label!r}.")
    chosen = default_sizes(estimate.n_new) if sizes is None else sizes
    numbers = np.atleast_1d(np.asarray(chosen, dtype=np.float64))
    if numbers.size == 0 or not (numbers >= 1).all() or not np.isfinite(numbers).all():
        raise ValueError(f"sizes must be numbers of rows, each at least 1; got {list(chosen)}.")
    place = len(estimate.classes) if label is None else estimate.classes.index(label)
    lower, upper = estimate.intervals[place]
    return LabellingValue(
        label=label,
        share=estimate.unseen if label is None else estimate[label],
        half_width=float(upper - lower) / 2,
        confidence=estimate.confidence,
        sizes=numbers,
    )


def default_sizes(n_rows: int) -> tuple[int, ...]:
    """10, 20, 50, 100, ... up to the number of rows; the number itself if it is below 10."""
    sizes = (m * 10**power for power in range(1, len(str(n_rows)) + 1) for m in (1, 2, 5))
    return tuple(size for size in sizes if size <= n_rows) or (n_rows,)


def _label_variance(share: float, sizes: Any) -> Any:
    """Variance v_k of the share after k labels, for each k of ``sizes``."""
    mean = (sizes * share + 0.5) / (sizes + 1)
    return mean * (1 - mean) / (sizes + 2)
