"""Curves and regions that are drawn are those of the record."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unseen.drift import Tolerance
from unseen.labelling import LabellingValue
from unseen.plots import LIGHT, LabellingDisplay, RegionsDisplay, RiskDisplay, ToleranceDisplay
from unseen.rejection import RejectionTree, label_regions, risk_curve
from unseen.rejection.risk import open_risk
from unseen.rejection.sample import labels_at

TOLERANCE = Tolerance(np.array([0.05, 0.2]), np.array([0.3, 0.5]))


def test_the_curve_of_labels_crosses_the_estimate_at_its_worth() -> None:
    value = LabellingValue(None, 0.3, 0.04, 0.95, np.array([10.0, 100.0, 1000.0]))
    alone, level, together, _, mark = LabellingDisplay.from_value(value).ax_.lines
    assert_allclose(mark.get_xydata(), [[value.worth, 4.0]])
    assert_allclose(np.interp(value.worth, *alone.get_xydata().T), 4.0, rtol=1e-2)
    assert (together.get_ydata() < np.minimum(alone.get_ydata(), level.get_ydata()[0])).all()


@pytest.mark.parametrize("half_width", [0.02, 0.05, 0.1, 0.2, 0.3])
def test_no_line_crosses_the_name_of_the_estimate(half_width) -> None:
    value = LabellingValue(None, 0.3, half_width, 0.95, np.array([10.0, 20.0, 50.0, 100.0, 200.0]))
    ax = LabellingDisplay.from_value(value).ax_
    ax.figure.draw_without_rendering()
    (name,) = (text for text in ax.texts if text.get_text() == "this estimate alone")
    room = name.get_window_extent()
    for line in ax.lines:
        assert not line.get_transform().transform_path(line.get_path()).intersects_bbox(room, False)


def test_an_exact_estimate_is_worth_any_number_of_labels() -> None:
    value = LabellingValue(None, 0.3, 0.0, 0.95, np.array([10.0, 100.0]))
    title = LabellingDisplay.from_value(value).ax_.get_title("left")
    assert title == "This estimate is worth any number of labelled rows"


def test_an_estimate_that_is_worth_no_label_is_drawn_all_the_same() -> None:
    value = LabellingValue(None, 0.5, 0.9, 0.95, np.array([10.0, 100.0]))
    *_, together, marks = LabellingDisplay.from_value(value).ax_.lines
    assert_allclose(np.interp(10.0, *together.get_xydata().T), 100 * value.together[0], rtol=1e-2)
    assert_allclose(marks.get_xdata(), value.sizes)


def test_regions_are_what_the_rule_says(fitted) -> None:
    rule, X, labels = fitted
    regions = label_regions(rule, X, labels, n_across=25)
    for row, column in ((0, 0), (24, 12), (12, 24)):
        (said,) = rule.predict([[regions.x[column], regions.y[row]]])
        assert regions.names[regions.codes[row, column]] == said
    assert regions.unseen == 2
    hatched = [area.get_hatch() for area in RegionsDisplay.from_regions(regions).ax_.collections]
    assert hatched == [None, None, "///"]
    assert len(regions.points) == 300


def test_points_of_other_labels_are_drawn_as_unlabelled(fitted) -> None:
    rule, X, _ = fitted
    regions = label_regions(rule, X[:4], ["left", "nine", "right", "unseen"], n_across=9)
    assert regions.point_codes.tolist() == [0, -1, 1, 2]
    drawn = {
        line.get_color(): line.get_marker() for line in RegionsDisplay(regions).plot().ax_.lines
    }
    assert drawn[LIGHT.ink] == "."
    assert len(drawn) == 4


def test_regions_need_two_features(fitted) -> None:
    with pytest.raises(ValueError, match=r"X must have two columns; got shape \(3, 1\)"):
        label_regions(fitted[0], np.zeros((3, 1)))


def test_risk_at_each_threshold_is_that_of_the_threshold(fitted) -> None:
    rule = fitted[0]
    curve = risk_curve(rule, 5)
    held_out = rule.out_of_fold_
    found = open_risk(
        labels_at(held_out.labelled, 0.25), held_out.codes, labels_at(held_out.new, 0.25),
        rule.shares_.known,
    )  # fmt: skip
    assert_allclose(curve.risks[1], found.risk)
    assert_allclose(curve.standard_errors[1], found.standard_error)
    assert_allclose(curve.risks[2], rule.risk_.risk)  # the threshold in use is one half
    line, _, mark = RiskDisplay.from_curve(curve).ax_.lines
    assert_allclose(line.get_ydata(), curve.risks)
    assert_allclose(mark.get_xydata(), [[0.5, rule.risk_.risk]])


def test_risk_needs_new_rows() -> None:
    rule = RejectionTree(random_state=0).fit(np.arange(40.0)[:, None], np.repeat(["a", "b"], 20))
    with pytest.raises(ValueError, match="fitted with X_new"):
        risk_curve(rule)


def test_the_curve_of_what_must_be_new_is_that_of_the_record_and_ends_at_gamma() -> None:
    ax = ToleranceDisplay.from_tolerance(TOLERANCE).ax_
    curve, end = ax.lines
    factors, must = curve.get_data()
    assert_allclose(must, [TOLERANCE.must(factor) for factor in factors])
    assert_allclose([factors[0], must[0]], [1.0, TOLERANCE.must(1.0)])
    assert_allclose(end.get_xdata(), TOLERANCE.gamma)
    assert (must[factors > TOLERANCE.gamma] == 0).all()
    nothing = ToleranceDisplay.from_tolerance(Tolerance(np.zeros(0), np.zeros(0))).ax_
    assert_allclose(nothing.lines[0].get_ydata(), 0.0)
    assert len(nothing.lines) == 1
