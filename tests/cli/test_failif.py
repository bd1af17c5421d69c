"""Conditions say what they say, of the share and of either end of its interval."""

from time import process_time

import click
import numpy as np
import pytest

from unseen.cli.failif import Condition
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
    assert Condition.parse(text).holds(estimate) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unseen.must > 4%", True),  # at factor 3: (0.1 - 0.06) / (1 - 0.06)
        ("unseen.must > 4.3%", False),
        ("unseen.must(1) > 8%", True),
        ("unseen.must( 5 ) <= 0", True),
    ],
)
def test_what_must_be_unseen_is_compared_at_a_factor(text, expected) -> None:
    drift = Drift("moved", 0.9, Tolerance(np.array([0.02]), np.array([0.1])), 0.8)
    estimate = Estimate(("cat",), [0.7], 0.3, "m", n_labelled={"cat": 8}, n_new=9, drift=drift)
    assert Condition.parse(text).holds(estimate) == expected


@pytest.mark.parametrize("text", ["unseen.must(0.5) > 0.1", "unseen.must(x) > 0.1"])
def test_a_factor_below_one_is_refused(text) -> None:
    with pytest.raises(click.BadParameter, match="factor of at least 1"):
        Condition.parse(text)


@pytest.mark.parametrize("text", ["drift.verdict == gone", "drift.verdict > moved"])
def test_a_verdict_that_does_not_exist_is_refused(text) -> None:
    with pytest.raises(click.BadParameter, match=r"drift\.verdict == moved"):
        Condition.parse(text)


def test_a_method_without_a_verdict_is_an_error_of_use() -> None:
    estimate = Estimate(("cat",), [0.7], 0.3, "m", n_labelled={"cat": 8}, n_new=9)
    with pytest.raises(click.UsageError, match="m lacks"):
        Condition.parse("drift.verdict == moved").holds(estimate)


def test_what_must_be_unseen_has_no_ends() -> None:
    """The share that must be unseen is an end already: no condition forgets half of its words."""
    with pytest.raises(click.UsageError, match="must name unseen or a known class"):
        Condition.parse("unseen.must.low > 0.02").holds(ESTIMATE)


def test_a_class_named_like_an_end_is_found_by_its_whole_name() -> None:
    assert Condition.parse("dog.low > 0.15").holds(ESTIMATE)
    assert not Condition.parse("dog.low > 0.2").holds(ESTIMATE)


@pytest.mark.parametrize("text", ["unseen > 1_0%", "unseen > 0_1", "> 0.1", " < 5%", ""])
def test_no_name_and_numbers_of_programmers_are_refused(text) -> None:
    with pytest.raises(click.BadParameter, match="must look like"):
        Condition.parse(text)


@pytest.mark.parametrize(
    "text", ["a>" + " " * 200_000 + "\0=", " " * 200_000 + ">" * 200_000, ">=" * 200_000 + "5"]
)
def test_no_text_takes_long(text) -> None:
    begin = process_time()
    with pytest.raises(click.BadParameter):
        Condition.parse(text)
    assert process_time() - begin < 2
