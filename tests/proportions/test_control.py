"""Rows of the same place without anything new tell classes that moved from new ones."""

import numpy as np
import pytest

import unseen
from unseen.proportions.held_out import estimate_against_control, rows_of_control

MOVE = np.array([2.0, 0.0, 1.0, 0.0, 0.0, 1.0])
NEW_CLASS = np.array([6.0, -6.0, 6.0, -6.0, 6.0, -6.0])
CENTRES = {"left": -2.0, "right": 2.0}


def drawn(rng, counts: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    rows = [rng.normal(CENTRES[label], 1, (count, 6)) for label, count in counts.items()]
    return np.vstack(rows), np.repeat(list(counts), list(counts.values()))


@pytest.fixture(scope="module")
def here() -> dict[str, np.ndarray]:
    """Training, and a control and new rows of a place where all classes moved by MOVE."""
    rng = np.random.default_rng(0)
    X, y = drawn(rng, {"left": 150, "right": 150})
    control = drawn(rng, {"left": 60, "right": 90})[0] + MOVE
    known = drawn(rng, {"left": 80, "right": 40})[0] + MOVE  # in other shares than the control
    new = rng.normal(NEW_CLASS, 1, (40, 6))
    return {"X": X, "y": y, "control": control, "known": known, "new": np.vstack([known, new])}


def test_a_control_too_far_off_does_not_tell_its_classes_apart(here) -> None:
    asked = {"control": 100 * here["control"], "confidence": 0.95, "random_state": 0}
    found = unseen.estimate(here["X"], here["y"], 100 * here["known"], **asked)
    assert found.control.far
    assert found.control.sentence().endswith("training alone can say nothing.")
    assert found.intervals[:-1].tolist() == [[0.0, 1.0]] * 2
    assert found.intervals[-1, 1] < 1
    said = [one.code for one in found.notices if one.code.endswith(("control", "control_far"))]
    assert said == ["control_far"]


def test_known_classes_are_taken_as_they_look_in_the_control(here) -> None:
    asked = {"confidence": 0.95, "random_state": 0}
    found = unseen.estimate(here["X"], here["y"], here["new"], control=here["control"], **asked)
    assert found.drift.verdict == "still"
    low, high = found.intervals[-1]
    assert 0.1 < low < 0.25 < high < 0.4
    assert found["left"] == pytest.approx(0.5, abs=0.05)
    assert found.control.verdict != "still"
    assert found.control.n_rows == 150
    assert dict(found.n_labelled) == {"left": 150, "right": 150}
    assert found.sentence().endswith("unseen.")
    assert "control" in found.sentence()


def test_where_nothing_is_new_nothing_is_claimed(here) -> None:
    found = unseen.estimate(
        here["X"],
        here["y"],
        here["known"],
        control=here["control"],
        confidence=0.95,
        random_state=0,
    )
    assert found.unseen < 0.01
    assert found.intervals[-1, 0] == 0
    assert found.intervals[-1, 1] < 0.2


def test_rows_of_the_control_take_the_place_of_labelled_ones(here) -> None:
    fitted = unseen.OpenSetEstimator(random_state=0).fit(here["X"], here["y"])
    sample, notices = rows_of_control(fitted, here["control"])
    assert np.array_equal(sample.rows, here["control"])
    assert notices == ()
    assert sample.counts.tolist() == pytest.approx([60, 90], abs=3)


def test_a_class_that_the_control_lacks_keeps_its_labelled_rows(here) -> None:
    fitted = unseen.OpenSetEstimator(random_state=0).fit(here["X"], here["y"])
    sample, notices = rows_of_control(fitted, here["control"][60:])
    assert [(one.code, one.about) for one in notices] == [("class_not_in_control", "left")]
    assert sample.counts.tolist() == pytest.approx([150, 90], abs=3)


def test_one_known_class_needs_no_sorting(here) -> None:
    X, control = here["X"][::3], here["control"][::2]
    known = ["known"] * len(X)
    found = unseen.estimate(X, known, here["new"], control=control, random_state=0, confidence=None)
    assert found.unseen == pytest.approx(0.25, abs=0.1)


def test_errors_name_the_argument(here) -> None:
    X, y, new = here["X"], here["y"], here["new"]
    with pytest.raises(ValueError, match=r"control must have at least 20 rows; got 5"):
        unseen.estimate(X, y, new, control=here["control"][:5])
    with pytest.raises(ValueError, match=r"control must have the 6 columns of X; got 2"):
        unseen.estimate(X, y, new, control=here["control"][:, :2])
    with pytest.raises(ValueError, match=r"confidence must lie strictly between .*; got 95"):
        unseen.estimate(X, y, new, control=here["control"], confidence=95)
    with pytest.raises(ValueError, match=r"sees the unseen; got SaerensEM"):
        unseen.estimate(X, y, new, control=here["control"], estimator=unseen.SaerensEM())


def test_a_control_that_is_no_control_is_told(here) -> None:
    X, y, new, control = here["X"], here["y"], here["new"], here["control"]
    with pytest.raises(ValueError, match="control must hold other rows than the new ones"):
        unseen.estimate(X, y, new, control=np.vstack([control, new]))
    assert _told(here, np.vstack([control, new[:30]])) == (
        "30 of 160 new rows are also among the rows of the control, value for value. Take them out "
        "of the control: whatever is there counts as known."
    )
    assert _told(here, X) == (
        "300 of 300 rows of the control are also among the labelled rows, value for value. They do "
        "not show how known classes look where the new rows come from."
    )


def _told(here, control) -> str:
    classifier = unseen.KernelLogisticRegression(bandwidth=2.0, C=1.0)
    method = unseen.MPEIncomplete(classifier=classifier, n_folds=2, random_state=0)
    fitted = method.fit(here["X"], here["y"])
    with pytest.warns(unseen.UnseenWarning) as heard:
        found = estimate_against_control(fitted, here["new"], control)
    told = [one.text for one in found.notices if one.code == "rows_in_both"]
    assert told == [str(one.message) for one in heard]
    return told[0]
