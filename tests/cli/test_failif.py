"""Conditions say what they say, of the share and of either end of its interval."""

import click
import numpy as np
import pytest

from unseen.cli.failif import Condition, parse_condition
from unseen.drift import Drift, Tolerance
from unseen.records import Estimate

ESTIMATE = Estimate(
    ("cat", "dog.low"),
    [0.5, 0.2],
    0.3,
    "m",
    n_labelled={"cat": 80, "dog.low": 90},
    n_new=400,
    intervals=[[0.4, 0.6], [0.1, 0.3], [0.25, 0.35]],
)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("unseen > 0.29", True),
        ("unseen > 0.3", False),
        ("unseen >= 30%", True),
        ("unseen.low > 0.26", False),
        ("unseen.low > 0.24", True),
        ("unseen.high > 0.34", True),
        ("unseen.high > 0.36", False),
        ("cat<0.5", False),
        ("cat <= 0.5", True),
        ("  cat.high < 61 %  ", True),
        ("dog.low.high < 0.2", False),
    ],
)
def test_a_condition_holds(text: str, holds: bool) -> None:
    assert Condition.parse(text).holds(ESTIMATE) is holds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("drift.verdict == moved", True),
        ("drift.verdict==still", False),
        (" drift.verdict != still ", True),
    ],
)
def test_a_verdict_is_compared_with_a_word(text, expected) -> None:
    limits = Tolerance(np.zeros(0), np.zeros(0))
    drift = Drift("moved", 0.9, limits, 0.8)
    estimate = Estimate(("cat",), [0.7], 0.3, "m", n_labelled={"cat": 8}, n_new=9, drift=drift)
    assert parse_condition(text).holds(estimate) == expected


@pytest.mark.parametrize("text", ["drift.verdict == gone", "drift.verdict > moved"])
def test_a_verdict_that_does_not_exist_is_refused(text) -> None:
    with pytest.raises(click.BadParameter, match=r"drift\.verdict == moved"):
        parse_condition(text)


def test_a_method_without_a_verdict_is_an_error_of_use() -> None:
    estimate = Estimate(("cat",), [0.7], 0.3, "m", n_labelled={"cat": 8}, n_new=9)
    with pytest.raises(click.UsageError, match="m lacks"):
        parse_condition("drift.verdict == moved").holds(estimate)
