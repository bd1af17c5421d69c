"""The records that the library hands back, and the small protocol behind them.

A record is frozen, holds no raw rows, and knows how to print itself. Nothing here computes
an estimate; nothing here draws a picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from os import PathLike
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unseen._text import html_table, text_table

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = Any  # rows by features, dense or scipy.sparse


# What the warning of every closed-set method says.
BLIND = "cannot see unseen classes"
# A share below this reads as none.
_NO_SHARE = 0.0005


class UnseenWarning(UserWarning):
    """The data look wrong in a way that the user must know about, such as a leak."""


@dataclass(frozen=True, eq=False)
class RocEvidence:
    """The empirical ROC of one pair (F against H) and the slope read off its right end.

    Parameters
    ----------
    false_alarm, detection : ndarray
        Vertices of the empirical ROC, thinned to at most a few hundred.
    right_slope : float
        Slope at the right end: the mixture proportion before any clipping or projection.
    n_unlabelled, n_labelled : int
        Rows of F and of H behind the curve.
    parameters : dict
        Parameters of the fitted curve by the paper's names; empty where no curve was fitted.
    thresholds : ndarray or None
        The score at each vertex, falling: between two neighbours lie the scores of the rows that
        are counted between these vertices. None where the scores were not kept.
    """

    false_alarm: FloatArray
    detection: FloatArray
    right_slope: float
    n_unlabelled: int
    n_labelled: int
    parameters: dict[str, float] = field(default_factory=dict)
    thresholds: FloatArray | None = None

    def __post_init__(self) -> None:
        _freeze(self, "false_alarm")
        _freeze(self, "detection")
        if self.thresholds is not None:
            _freeze(self, "thresholds", self.false_alarm.shape)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy is as frozen as the original."""
        self.__dict__.update(state)
        self.__post_init__()


@dataclass(frozen=True, eq=False)
class MixtureEstimate:
    """Estimate of ν in ``F = (1 - ν) G + ν H``, Eq. (3).

    Parameters
    ----------
    proportion : float
        The estimate, in [0, 1].
    method : str
        Name of the estimator that made it.
    roc : RocEvidence or None
        The ROC behind it, where the method has one.
    warnings : tuple of str
        What a person should know before trusting the number, in plain words.

    Examples
    --------
    >>> from unseen.base import MixtureEstimate
    >>> print(MixtureEstimate(0.25, "ROCSlope"))
    0.250 of the unlabelled rows look like the labelled sample (ROCSlope)
    """

    proportion: float
    method: str
    roc: RocEvidence | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{self.proportion:.3f} of the unlabelled rows look like the labelled sample "
            f"({self.method})"
        ]
        return "\n".join(lines + [f"warning: {message}" for message in self.warnings])


@dataclass(frozen=True)
class UpperBound:
    """A bound on ν* that holds with probability at least ``1 - delta``; not an estimate.

    Parameters
    ----------
    upper : float
        ν* is at most this, with probability at least ``1 - delta``.
    delta : float
        The probability of error that was allowed.
    form : str
        Which inequality gave it: ``"vc"``, ``"dkw"`` or ``"clopper-pearson"``.
    vacuous : bool
        True when ``upper`` is 1, so that the bound says nothing at this sample size.

    Examples
    --------
    >>> from unseen.base import UpperBound
    >>> print(UpperBound(0.31, 0.05, "dkw", False))
    at most 0.310 with probability >= 0.95 (dkw)
    """

    upper: float
    delta: float
    form: str
    vacuous: bool

    def __str__(self) -> str:
        if self.vacuous:
            return f"says nothing at this sample size: the bound is 1 ({self.form})"
        return f"at most {self.upper:.3f} with probability >= {1 - self.delta:g} ({self.form})"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Shares of the known classes in unlabelled rows, and the share of unseen classes.

    Parameters
    ----------
    classes : tuple
        Labels of the known classes, sorted.
    proportions : ndarray of shape (K,)
        Share of each known class, in the order of ``classes``; sums to at most 1.
    unseen : float
        Share of rows from classes that training never saw.
    method : str
        Name of the estimator that made it.
    n_labelled : dict
        Labelled rows of each class.
    n_unlabelled : int
        Unlabelled rows.
    intervals : ndarray of shape (K + 1, 2) or None
        Lower and upper ends, for each class and then for unseen.
    confidence : float or None
        Level of the intervals.
    unseen_certified : float or None
        A lower bound on the unseen share that holds without assumptions on the classes.
    roc : dict
        The ROC evidence of each class, for plots.
    pooled : RocEvidence or None
        The ROC of the new rows against all known classes together, in the estimated shares; its
        slope at the right end is the share of all known classes.
    diagnostics : dict
        Numbers by which the estimate can be judged; plain types.
    warnings : tuple of str
        What a person should know before trusting the numbers, in plain words.
    seed : int or None
        As ``random_state``, this gives the same estimate again.
    versions : dict
        Versions of this library and of those under it.

    Examples
    --------
    >>> from unseen.base import Estimate
    >>> estimate = Estimate(("cat", "dog"), [0.5, 0.2], 0.3, "MPEIncomplete",
    ...                     n_labelled={"cat": 80, "dog": 90}, n_unlabelled=400)
    >>> print(estimate)
    class   share  labelled rows
    cat     0.500             80
    dog     0.200             90
    unseen  0.300              -
    MPEIncomplete, 400 unlabelled rows
    >>> float(estimate["cat"])
    0.5
    """

    classes: tuple[Any, ...]
    proportions: FloatArray
    unseen: float
    method: str
    n_labelled: dict[Any, int]
    n_unlabelled: int
    intervals: FloatArray | None = None
    confidence: float | None = None
    unseen_certified: float | None = None
    roc: dict[Any, RocEvidence] = field(default_factory=dict)
    pooled: RocEvidence | None = None
    diagnostics: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seed: int | None = None
    versions: dict[str, str] = field(default_factory=lambda: library_versions())

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(_plain(label) for label in self.classes))
        n_classes = len(self.classes)
        _freeze(self, "proportions", (n_classes,))
        if self.intervals is not None:
            _freeze(self, "intervals", (n_classes + 1, 2))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy is as frozen as the original."""
        self.__dict__.update(state)
        self.__post_init__()

    def __getitem__(self, label: Any) -> float:
        """Share of one known class."""
        if label not in self.classes:
            known = ", ".join(map(repr, self.classes))
            raise KeyError(f"no class {label!r}; the known classes are {known}.")
        return float(self.proportions[self.classes.index(label)])

    def __str__(self) -> str:
        return text_table(self._table(), self._remarks())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._table(), self._remarks())

    def sentence(self) -> str:
        """The answer about unseen classes in one plain sentence.

        Examples
        --------
        >>> from unseen.base import Estimate
        >>> rows = {"n_labelled": {"cat": 80}, "n_unlabelled": 400}
        >>> Estimate(("cat",), [0.7], 0.3, "m", intervals=[[0.65, 0.75], [0.25, 0.35]],
        ...          **rows).sentence()
        'About 30% of the new rows (25% to 35%) come from classes that training never saw.'
        >>> Estimate(("cat",), [0.9], 0.1, "m", intervals=[[0.7, 1.0], [0.0, 0.3]],
        ...          **rows).sentence()
        'Perhaps 10% of the new rows come from classes that training never saw: it may be none, ...'
        >>> Estimate(("cat",), [1.0], 0.0, "m", **rows).sentence()
        'No sign of classes that training never saw.'
        """
        never_seen = "classes that training never saw"
        if any(BLIND in message for message in self.warnings):
            return f"{self.method} {BLIND}: it takes every new row for one of a known class."
        if self.unseen < _NO_SHARE:
            if self.intervals is None or self.intervals[-1, 1] < _NO_SHARE:
                return f"No sign of {never_seen}."
            most = _percent(self.intervals[-1, 1])
            return f"No sign of {never_seen}: at most {most} of the new rows."
        interval = ""
        if self.intervals is not None:
            lower, upper = map(_percent, self.intervals[-1])
            if self.intervals[-1, 0] < _NO_SHARE:
                guess = _percent(self.unseen)
                return (
                    f"Perhaps {guess} of the new rows come from {never_seen}: "
                    f"it may be none, and at most {upper}."
                )
            interval = f" ({lower} to {upper})"
        return f"About {_percent(self.unseen)} of the new rows{interval} come from {never_seen}."

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON; ``format`` counts changes of layout."""
        return {
            "format": 1,
            "method": self.method,
            "classes": list(self.classes),
            "proportions": self.proportions.tolist(),
            "unseen": float(self.unseen),
            "intervals": _plain(self.intervals),
            "confidence": _plain(self.confidence),
            "unseen_certified": _plain(self.unseen_certified),
            "n_labelled": [int(self.n_labelled[label]) for label in self.classes],
            "n_unlabelled": int(self.n_unlabelled),
            "roc": [
                {"class": label, **_plain(vars(self.roc[label]))}
                for label in self.classes
                if label in self.roc
            ],
            "pooled": None if self.pooled is None else _plain(vars(self.pooled)),
            "diagnostics": _plain(self.diagnostics),
            "warnings": list(self.warnings),
            "seed": _plain(self.seed),
            "versions": dict(self.versions),
        }

    def to_frame(self) -> Any:
        """A pandas DataFrame: one row per known class, and a last row for unseen.

        The column ``known`` is False in the last row only, so that a class which happens to
        be called "unseen" is not mistaken for it. Where labels are numbers, ``class`` is missing
        there.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                'to_frame needs pandas, which is not installed. Try: pip install "unseen[io]"'
            ) from error
        is_text = all(isinstance(label, str) for label in self.classes)
        labels = pd.Series([*self.classes, "unseen" if is_text else None])
        columns: dict[str, Any] = {
            # Numbers beside text in one column could not be written to a file.
            "class": labels if is_text else labels.astype(object).convert_dtypes(),
            "share": [*self.proportions.tolist(), float(self.unseen)],
            "known": [True] * len(self.classes) + [False],
            "labelled_rows": [*(self.n_labelled[label] for label in self.classes), 0],
        }
        if self.intervals is not None:
            columns |= {"lower": self.intervals[:, 0], "upper": self.intervals[:, 1]}
        return pd.DataFrame(columns)

    def plot(self, **options: Any) -> Any:
        """Draw the shares with their intervals; ``options`` are those of SharesDisplay.

        Returns
        -------
        unseen.plots.SharesDisplay
        """
        return _above("plots").SharesDisplay.from_estimate(self, **options)

    def report(self, path: str | PathLike[str]) -> None:
        """Write one self-contained HTML page about this estimate.

        Parameters
        ----------
        path : str or path
            Where to; an existing file is replaced only by a whole new one.
        """
        _above("report").write_report(_above("study").Study(self), path)

    def _table(self) -> list[list[str]]:
        """Header and rows, as text."""
        labels = [*map(str, self.classes), "unseen"]
        shares = [*self.proportions, self.unseen]
        counts = [*(str(self.n_labelled[label]) for label in self.classes), "-"]
        header = ["class", "share", "labelled rows"]
        rows = [
            [label, f"{share:.3f}", count]
            for label, share, count in zip(labels, shares, counts, strict=True)
        ]
        if self.intervals is not None:
            header.insert(2, "interval")
            for row, (lower, upper) in zip(rows, self.intervals, strict=True):
                row.insert(2, f"{lower:.3f} to {upper:.3f}")
        return [header, *rows]

    def _remarks(self) -> list[str]:
        """What stands under the table."""
        remarks = [f"{self.method}, {self.n_unlabelled} unlabelled rows"]
        if self.unseen_certified is not None:
            remarks.append(f"certified: the unseen share is at least {self.unseen_certified:.3f}")
        return remarks + [f"warning: {message}" for message in self.warnings]


def library_versions() -> dict[str, str]:
    """Versions that an estimate depends on."""
    import platform

    import scipy
    import sklearn

    from unseen._version import __version__

    return {
        "unseen": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }


class EstimatesMixture(Protocol):
    """Reads ν off out-of-fold scores of F and H; high scores look like F."""

    def from_scores(self, scores_F: ArrayLike, scores_H: ArrayLike) -> MixtureEstimate:
        """Estimate the share of H in F."""
        ...


def _above(module: str) -> Any:
    """A module that draws records: those stand above, and are loaded only when called upon."""
    return import_module(f"unseen.{module}")


def _percent(share: float) -> str:
    """A share as people say it; below ten per cent the first digit after the point matters."""
    return f"{share:.0%}" if share >= 0.0995 or share < _NO_SHARE else f"{share:.1%}"


def _freeze(record: Any, name: str, shape: tuple[int, ...] | None = None) -> None:
    """Keep a read-only copy of an array, so that a record stays what it was."""
    array = np.array(getattr(record, name), dtype=np.float64)
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; got {array.shape}.")
    array.flags.writeable = False
    object.__setattr__(record, name, array)


def _plain(value: Any) -> Any:
    """The same value in types that JSON and every reader know."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
