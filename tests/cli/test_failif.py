"""Conditions say what they say, of the share and of either end of its interval."""

import pytest

from unseen.cli.failif import Condition
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
