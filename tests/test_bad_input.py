"""Every function with every kind of bad input: one clear error. Odd but fine: a right answer.

``benchmarks/bad_input.py`` is the whole matrix, with the commands.
"""

import pytest

from reference.bad_inputs import ODD, bad_for, functions, good, outcome

FUNCTIONS = functions()
CHEAP = ("ClassifyAndCount", "RejectionHistogram", "KernelLogisticRegression")
DEAR = ("compare", "estimate, all rows", "estimate, control")


def test_every_public_estimator_is_tried() -> None:
    assert len(FUNCTIONS) > 30


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in DEAR])
def test_a_bad_input_is_one_clear_error(name) -> None:
    ended = {
        what: outcome(FUNCTIONS[name], change(*good())) for what, change in bad_for(name).items()
    }
    assert {what: how for what, how in ended.items() if how != "error"} == {}


@pytest.mark.parametrize("name", CHEAP)
def test_an_odd_input_is_answered(name) -> None:
    ended = {what: outcome(FUNCTIONS[name], change(*good())) for what, change in ODD.items()}
    assert {what: how for what, how in ended.items() if how != "answer"} == {}
