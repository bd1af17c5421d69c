"""The record of shares over windows of time, and of which windows differ from the reference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from unseen._frozen import frozen_array
from unseen._types import BoolArray, FloatArray
from unseen._wording import count, p_value, points, share
from unseen.records import Estimate, Notice, Tabled


@dataclass(frozen=True, eq=False, repr=False)
class Timeline(Tabled):
    """Shares in each window, and whether they differ from those of the reference.

    Parameters
    ----------
    windows : tuple
        Keys of the windows that have an estimate, in order.
    estimates : tuple of Estimate
        One per window, all with the same classes.
    in_reference : ndarray of bool of shape (W,)
        Windows whose rows make the reference, which are not tested against themselves; all False
        where the labelled rows are the reference.
    reference_estimate : Estimate
        Estimate for all rows of the reference, or the shares of the labels.
    raw_p_values, raw_p_values_unseen : ndarray of shape (W,)
        P-values of "nothing has changed since the reference" and of "the unseen share has not",
        before the adjustment for the number of windows; NaN in windows of the reference.
    alpha : float, default=0.05
        Probability allowed for one false alarm or more, over all windows together, of each of the
        two tests; at least one of the two errs with up to twice this probability.
    skipped : tuple of (key, rows)
        Windows with too few rows for an estimate.
    n_missing : int
        New rows without a key, which belong to no window.
    notices : tuple of Notice
        Facts that a person should know before trusting the numbers.
    seed : int or None
        The ``random_state`` that gives the same record again.

    Examples
    --------
    >>> from unseen.records import Estimate, Notice, Tabled
    >>> from unseen.monitoring import Timeline
    >>> rows = {"n_labelled": {"cat": 80, "dog": 90}, "n_new": 400}
    >>> may = Estimate(("cat", "dog"), [0.7, 0.3], 0.0, "m", **rows)
    >>> june = Estimate(("cat", "dog"), [0.5, 0.2], 0.3, "m", **rows)
    >>> timeline = Timeline(("May", "June"), (may, june), [True, False], may,
    ...                     [float("nan"), 0.001], [float("nan"), 0.002])
    >>> print(timeline)
    window  rows    cat    dog  unseen  p (any change)  p (unseen)
    May      400  0.700  0.300   0.000       reference   reference
    June     400  0.500  0.200   0.300          0.001*      0.002*
    m; * changed since May (p at most 0.05, adjusted for 1 window)
    >>> timeline.differences[1].round(1), timeline.changed
    (array([-0.2, -0.1,  0.3]), array([False,  True]))
    >>> timeline.sentence()  # doctest: +NORMALIZE_WHITESPACE
    'The unseen share rose in June, from 0.0% to 30.0%; 1 of 1 window differs from May. Latest
    window, June: About 30% of the new rows come from classes that training never saw.'
    """

    windows: tuple[Any, ...]
    estimates: tuple[Estimate, ...]
    in_reference: BoolArray
    reference_estimate: Estimate
    raw_p_values: FloatArray
    raw_p_values_unseen: FloatArray
    alpha: float = 0.05
    skipped: tuple[tuple[Any, int], ...] = ()
    n_missing: int = 0
    notices: tuple[Notice, ...] = ()
    seed: int | None = None

    _array_types: ClassVar = {
        "in_reference": np.bool_,
        "raw_p_values": np.float64,
        "raw_p_values_unseen": np.float64,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (*self._array_types, "estimates"):
            found, wanted = len(getattr(self, name)), len(self.windows)
            if found != wanted:
                raise ValueError(f"{name} must have one value per window, {wanted}; got {found}.")
        kinds = {one.classes for one in (self.reference_estimate, *self.estimates)}
        if len(kinds) > 1:
            raise ValueError(f"estimates must share their classes; got {sorted(kinds, key=str)}.")

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels of the known classes."""
        return self.reference_estimate.classes

    @property
    def reference(self) -> int | None:
        """Place of the reference among the windows; None for several windows or labelled rows."""
        places = np.flatnonzero(self.in_reference)
        return int(places[0]) if len(places) == 1 else None

    @cached_property
    def shares(self) -> FloatArray:
        """Share of each known class and then of unseen, one row per window: shape (W, K + 1)."""
        return frozen_array([[*one.proportions, one.unseen] for one in self.estimates], float)

    @cached_property
    def differences(self) -> FloatArray:
        """Shares minus those of the reference, of shape (W, K + 1)."""
        reference = self.reference_estimate
        return frozen_array(self.shares - [*reference.proportions, reference.unseen])

    @cached_property
    def p_values(self) -> FloatArray:
        """P-values of "nothing has changed", adjusted for the number of windows by Holm's method.

        They are compared with ``alpha``, and of shape (W,), as those of the unseen share are.
        """
        return frozen_array(holm(self.raw_p_values))

    @cached_property
    def p_values_unseen(self) -> FloatArray:
        """P-values of "the unseen share has not changed", adjusted for the number of windows."""
        return frozen_array(holm(self.raw_p_values_unseen))

    @property
    def changed(self) -> BoolArray:
        """Windows in which something has changed: their adjusted p-value is at most ``alpha``."""
        return self.p_values <= self.alpha

    @property
    def changed_unseen(self) -> BoolArray:
        """Windows in which the unseen share has changed."""
        return self.p_values_unseen <= self.alpha

    @property
    def reference_name(self) -> str:
        """The name, within a sentence, of the rows that windows are compared with."""
        if self.reference is not None:
            return _window_name(self.windows[self.reference])
        return "the reference windows" if self.in_reference.any() else "training"

    def sentence(self) -> str:
        """When the shares changed, and the answer for the latest window."""
        latest = f"{shown_key(self.windows[-1])}: {self.estimates[-1].sentence()}"
        return f"{self._first_change()} Latest window, {latest}"

    def verdict(self, place: int) -> tuple[str, str]:
        """Which shares of a window have changed, and the p-value of the test that says so."""
        if self.in_reference[place]:
            return "reference", "-"
        anything, unseen = self.changed[place], self.changed_unseen[place]
        tested = self.p_values if anything or not unseen else self.p_values_unseen
        value = p_value(tested[place])
        if (anything or unseen) and self.estimates[place].is_in_doubt:
            return "changed: moved or new", value
        if anything:
            return "changed, unseen too" if unseen else "changed", value
        return "unseen changed" if unseen else "no clear change", value

    def _first_change(self) -> str:
        changed = self.changed | self.changed_unseen
        n_changed, n_tested = int(changed.sum()), int(np.isfinite(self.raw_p_values).sum())
        if not n_changed:
            return f"No window differs clearly from {self.reference_name}."
        differ = "differs" if n_changed == 1 else "differ"
        others = f"{n_changed} of {count(n_tested, 'window')} {differ} from {self.reference_name}."
        # The tests look at the rows; an estimate that sees nothing unseen stays where it was.
        before = self.reference_estimate.unseen
        sure = self.changed_unseen & [
            not estimate.is_in_doubt and share(estimate.unseen) != share(before)
            for estimate in self.estimates
        ]
        first = int(sure.argmax() if sure.any() else changed.argmax())
        window, now = _window_name(self.windows[first]), self.estimates[first].unseen
        if sure.any():
            moved = f"{'rose' if now > before else 'fell'} in {window}"
            return f"The unseen share {moved}, from {share(before)} to {share(now)}; {others}"
        if self.estimates[first].has_moved_far:
            return f"The new rows look different in {window}: moved or new; {others}"
        place = int(abs(self.differences[first]).argmax())
        move = self.differences[first, place]
        if points(move) == points(0.0):
            return f"The new rows look different in {window}, their shares alike; {others}"
        name = [*map(str, self.classes), "unseen"][place]
        moved = f"{'up' if move > 0 else 'down'} {points(move)}"
        return f"Shares changed in {window}, most of all that of {name}, {moved}; {others}"

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, window: Any) -> Estimate:
        """Estimate of one window, by its key."""
        if window not in self.windows:
            raise KeyError(f"no window {window!r}; there are {', '.join(map(repr, self.windows))}.")
        return self.estimates[self.windows.index(window)]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON; ``format`` counts changes of layout.

        Dates become text; a p-value that does not exist becomes None.
        """
        return {
            "format": 2,
            "windows": [_plain_key(window) for window in self.windows],
            "estimates": [estimate.to_dict() for estimate in self.estimates],
            "in_reference": self.in_reference.tolist(),
            "reference_estimate": self.reference_estimate.to_dict(),
            "differences": self.differences.tolist(),
            "p_values": _plain_numbers(self.p_values),
            "p_values_unseen": _plain_numbers(self.p_values_unseen),
            "raw_p_values": _plain_numbers(self.raw_p_values),
            "raw_p_values_unseen": _plain_numbers(self.raw_p_values_unseen),
            "changed": self.changed.tolist(),
            "changed_unseen": self.changed_unseen.tolist(),
            "alpha": float(self.alpha),
            "skipped": [{"window": _plain_key(key), "rows": int(n)} for key, n in self.skipped],
            "n_missing": int(self.n_missing),
            "notices": [notice.to_dict() for notice in self.notices],
            "seed": self.seed,
        }

    def to_frame(self) -> Any:
        """A pandas DataFrame in long form: a row for each window and class, unseen last.

        The rows of one window are those of its own ``Estimate.to_frame``, with the window's key,
        its rows, the difference to the reference, and the adjusted p-values of the window.
        """
        frames = [estimate.to_frame() for estimate in self.estimates]
        import pandas as pd

        for place, frame in enumerate(frames):
            frame.insert(0, "window", [self.windows[place]] * len(frame))
            frame["rows"] = self.estimates[place].n_new
            frame["reference"] = bool(self.in_reference[place])
            frame["difference"] = self.differences[place]
            frame["p_value"] = self.p_values[place]
            frame["p_value_unseen"] = self.p_values_unseen[place]
        return pd.concat(frames, ignore_index=True)

    def plot(self, **options: Any) -> Any:
        """Draw the shares over the windows; needs matplotlib.

        ``options``, such as ``ax``, are those of :meth:`unseen.plots.TimelineDisplay.plot`.
        """
        return import_module("unseen.plots").TimelineDisplay.from_timeline(self, **options)

    def _table(self) -> tuple[list[list[str]], list[str]]:
        header = ["window", "rows", *map(str, self.classes), "unseen"]
        table = [[*header, "p (any change)", "p (unseen)"]]
        for place, estimate in enumerate(self.estimates):
            tested = ["reference"] * 2
            if not self.in_reference[place]:
                both = self.p_values[place], self.p_values_unseen[place]
                # Without a star stands a space, so that a column lines up.
                tested = [p_value(one) + ("*" if one <= self.alpha else " ") for one in both]
            shares = [f"{one:.3f}" for one in self.shares[place]]
            table.append([shown_key(self.windows[place]), str(estimate.n_new), *shares, *tested])
        n_tested = int(np.isfinite(self.raw_p_values).sum())
        below = [
            f"{self.estimates[0].method}; * changed since {self.reference_name} "
            f"(p at most {self.alpha:g}, adjusted for {n_tested} window{'s' * (n_tested != 1)})"
        ]
        if self.skipped:
            named = ", ".join(f"{shown_key(key)} ({rows} rows)" for key, rows in self.skipped)
            below.append(f"skipped, too few rows: {named}")
        if self.n_missing:
            below.append(f"{self.n_missing} rows without a key belong to no window")
        return table, [*below, *map(str, self.notices)]


def holm(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """Holm's adjustment: some true hypothesis gets a value <= alpha with probability <= alpha.

    The j-th smallest of m values is multiplied by ``m - j + 1``, and none is let fall below the
    one before it. NaN values are no hypotheses and stay NaN.
    """
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return adjusted


def shown_key(key: Any) -> str:
    """A key as text; a date without a time of day is shown without one: 2024-05-01."""
    shown = key.isoformat() if isinstance(key, date) else str(key)
    return re.sub(r"T00:00(:00(\.0+)?)?$", "", shown)


def _window_name(key: Any) -> str:
    """A window within a sentence; a number alone would look like a result."""
    name = shown_key(key)
    return f"window {name}" if name.isdigit() else name


def _plain_numbers(values: Iterable[float]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _plain_key(key: Any) -> Any:
    """A key in types that JSON knows; any other type becomes text."""
    if isinstance(key, np.generic) and not isinstance(key, np.datetime64 | np.timedelta64):
        key = key.item()
    return key if isinstance(key, str | int | float) else shown_key(key)
