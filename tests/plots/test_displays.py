"""What is drawn is the record: positions, slopes, areas; whatever the classes are called."""

import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from unseen import Explanation
from unseen.drift import Drift, Tolerance
from unseen.labelling import labelling_value
from unseen.loop import Group
from unseen.monitoring import Timeline
from unseen.plots import (
    DARK,
    LIGHT,
    ComparisonDisplay,
    GroupsDisplay,
    LabellingDisplay,
    RegionsDisplay,
    RiskDisplay,
    RocDisplay,
    ScoresDisplay,
    SharesDisplay,
    TimelineDisplay,
    ToleranceDisplay,
)
from unseen.plots.canvas import largest, literal, merge_others, spread
from unseen.plots.roc import binned_masses, squeezed
from unseen.records import Estimate, RocEvidence
from unseen.rejection import label_regions, risk_curve

TOLERANCE = Tolerance(np.array([0.05, 0.2]), np.array([0.3, 0.5]))
NASTY = ["<b>&amp;", "$a$ costs $5", "x" * 200, "two\nlines\x00", "狗"]


def timeline(made, n_windows: int, n_classes: int = 3, reference: tuple[int, ...] = (0,)):
    """The unseen share grows; in the last window something has changed."""
    names = [f"c{place}" for place in range(n_classes)]
    estimates = [made(names, share) for share in np.linspace(0, 0.5, n_windows)]
    places = np.arange(n_windows)
    inside = np.isin(places, reference)
    p_values = np.where(inside, np.nan, np.where(places == n_windows - 1, 1e-9, 0.5))
    windows = tuple(f"week {place}" for place in places)
    no_change = np.where(inside, np.nan, 0.5)
    return Timeline(windows, estimates, inside, estimates[0], p_values, no_change)


@pytest.fixture
def displays(made, evidence, fitted) -> dict[str, Any]:
    """One of each, drawn."""
    estimate = made(["a", "b"], pooled=evidence, roc={"a": evidence})
    return {
        "shares": SharesDisplay.from_estimate(estimate, {"a": 0.5, "b": 0.5}),
        "roc": RocDisplay.from_estimate(estimate),
        "roc of one class": RocDisplay.from_estimate(estimate, "a"),
        "scores": ScoresDisplay.from_estimate(estimate),
        "scores of one class": ScoresDisplay.from_estimate(estimate, "a"),
        "timeline": TimelineDisplay.from_timeline(timeline(made, 5)),
        "labelling": LabellingDisplay.from_value(labelling_value(estimate)),
        "tolerance": ToleranceDisplay.from_tolerance(TOLERANCE),
        "comparison": ComparisonDisplay.from_comparison({"one": estimate}, {"a": 0.5, "b": 0.2}),
        "regions": RegionsDisplay.from_regions(label_regions(*fitted, n_across=30)),
        "risk": RiskDisplay.from_curve(risk_curve(fitted[0], 11)),
    }


def texts(figure: Figure) -> list[str]:
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(mpl.text.Text)]


# Shares


@pytest.mark.parametrize("n_classes", [1, 2, 30])
def test_dots_lines_and_ticks_stand_at_the_shares(made, n_classes) -> None:
    names = [f"c{place}" for place in range(n_classes)]
    estimate = made(names)
    training = dict.fromkeys(names, 1 / n_classes)
    then, *lines = SharesDisplay.from_estimate(estimate, training).ax_.lines
    assert_allclose(then.get_xdata(), [1 / n_classes] * n_classes + [0.0])
    assert_allclose([line.get_xdata() for line in lines[::2]], estimate.intervals)
    dots = np.array([line.get_xydata()[0] for line in lines[1::2]])
    shares = np.append(estimate.proportions, 0.3)
    assert_allclose(dots, np.column_stack([shares, range(n_classes + 1)]))


def test_a_dot_on_the_axis_is_drawn_whole(made) -> None:
    lines = SharesDisplay.from_estimate(made(["a", "b"], unseen=0.0)).ax_.lines
    dots = [line for line in lines if line.get_marker() in ("o", "D")]
    assert dots
    assert not any(line.get_clip_on() for line in dots)


def test_only_unseen_has_its_colour_and_shape_and_is_below_all(made) -> None:
    ax = SharesDisplay.from_estimate(made(["a", "b"])).ax_
    dots = {int(line.get_ydata()[0]): line for line in ax.lines[1::2]}
    assert [dots[row].get_color() == LIGHT.unseen for row in range(3)] == [False, False, True]
    assert [dots[row].get_marker() for row in range(3)] == ["o", "o", "D"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert ax.get_yticklabels()[-1].get_text() == "unseen"


def test_of_many_classes_the_largest_are_kept_and_the_others_add_up(made) -> None:
    estimate = made([f"c{place:02}" for place in range(60)])
    training = dict.fromkeys(estimate.classes, 1 / 60)
    display = SharesDisplay.from_estimate(estimate, training)
    assert display.names == (*estimate.classes[:29], "31 others", "unseen")
    assert_allclose(display.shares.sum(), 1.0)
    assert_allclose(display.shares[-2], estimate.proportions[29:].sum())
    assert_allclose(display.training[-2], 31 / 60)
    assert np.isnan(display.intervals[-2]).all()
    assert_allclose(display.intervals[-1], estimate.intervals[-1])


def test_a_figure_grows_with_its_rows(made) -> None:
    heights = [
        SharesDisplay.from_estimate(made(list(range(n)))).figure_.get_figheight() for n in (2, 30)
    ]
    assert_allclose(np.diff(heights), 28 * 0.27)


def test_without_intervals_none_are_drawn_or_spoken_of(made) -> None:
    estimate = replace(made(["a"]), intervals=None, confidence=None)
    ax = SharesDisplay.from_estimate(estimate).ax_
    assert len(ax.lines) == 2
    assert ax.get_xlabel() == "Share of the new rows"


# ROC and scores


def test_the_fitted_line_ends_in_the_corner_with_the_right_slope(made, evidence) -> None:
    estimate = made(["a", "b"], pooled=replace(evidence, right_slope=0.62))
    display = RocDisplay.from_estimate(estimate)
    for ax in (display.ax_, *display.ax_.child_axes):
        roc, line = ax.lines[:2]
        assert_allclose(
            roc.get_xydata(), np.column_stack([evidence.false_alarm, evidence.detection])
        )
        (x0, y0), (x1, y1) = line.get_xydata()
        assert (x1, y1) == (1.0, 1.0)
        assert_allclose((y1 - y0) / (x1 - x0), 0.62)
    mark = display.ax_.child_axes[0].lines[2]
    assert_allclose(mark.get_xydata(), [[0.0, 0.38]])
    assert "unseen 38%" in texts(display.figure_)


def test_the_main_view_holds_the_right_end_of_curve_and_line(made, evidence) -> None:
    estimate = made(["a"], pooled=evidence)
    ax = RocDisplay.from_estimate(estimate, zoom=0.6).ax_
    low, high = ax.get_ylim()
    inside = evidence.detection[evidence.false_alarm >= 0.6]
    assert low < inside.min()
    assert low < 1 - 0.4 * 0.7
    assert high > 1
    assert_allclose(ax.get_xlim(), (0.6, 1), atol=0.01)


def test_masses_are_those_that_counting_the_scores_gives() -> None:
    rng = np.random.default_rng(1)
    known, new = np.sort(rng.normal(0, 1, 400)), np.sort(rng.normal(1, 1, 500))
    thresholds = np.concatenate([[np.inf], np.linspace(5, -4, 901), [-np.inf]])
    above = [(sample[:, None] > thresholds).mean(axis=0) for sample in (known, new)]
    edges, *masses = binned_masses(RocEvidence(*above, 0.5, 500, 400, thresholds=thresholds), 20)
    for sample, mass in zip((new, known), masses, strict=True):
        counted = np.histogram(np.clip(sample, edges[0], edges[-1]), edges)[0] / len(sample)
        # A score within a hundredth of an edge may be counted on its other side.
        assert_allclose(mass, counted, atol=3.5 / len(sample))
        assert_allclose(mass.sum(), 1.0)


def test_the_gap_is_the_unseen_share_and_lies_where_unseen_rows_score(evidence) -> None:
    edges, new, known = binned_masses(evidence)
    assert_allclose(ScoresDisplay.from_evidence(evidence).gap.sum(), 0.3, atol=1e-12)
    mean = (new - 0.7 * known) @ (edges[1:] + edges[:-1]) / 2 / 0.3
    # Var(new) is 2.89 and Var(known) 1: three standard errors of (new - 0.7 known) / 0.3.
    assert abs(mean - 3.0) < 3 * np.sqrt((2.89 + 0.49) / 3000) / 0.3


def test_curves_are_smoothed_over_neighbouring_bins_and_lose_no_mass() -> None:
    evidence = RocEvidence([0, 0, 1], [0, 0.5, 1], 0.5, 40, 40, thresholds=[2.0, 1.0, 0.0])
    _, new, known = binned_masses(evidence, 4)
    assert_allclose([new, known], [[0.25] * 4, [0.5, 0.5, 0, 0]])
    display = ScoresDisplay.from_evidence(evidence)
    _, new, _ = binned_masses(squeezed(evidence))
    assert len(display.edges) - 1 == len(display.new) == len(new) + 2
    assert_allclose(display.new[2:-2], (new[:-2] + 2 * new[1:-1] + new[2:]) / 4)
    assert_allclose([display.new.sum(), display.known.sum()], 1.0)


def test_the_drawn_gap_has_the_area_of_the_unseen_share(evidence) -> None:
    display = ScoresDisplay.from_evidence(evidence)
    new = display.ax_.lines[0].get_xydata()
    area = np.trapezoid(new[:, 1], new[:, 0])
    known = display.ax_.collections[0].get_paths()[0].vertices
    x, y = known.T
    covered = abs(np.trapezoid(y, x)) if y[0] == y[-1] else np.nan
    assert_allclose(area, 1.0, atol=0.01)
    assert_allclose(covered, 0.7, atol=0.01)


def test_squeezing_scores_moves_no_row_past_another(evidence) -> None:
    thresholds = squeezed(evidence).thresholds
    assert (np.diff(thresholds) < 0).all()
    below = 1 - (evidence.detection + evidence.false_alarm) / 2
    quartiles = np.interp((0.25, 0.5, 0.75), below[::-1], thresholds[::-1])
    assert_allclose(quartiles[1], 0.0, atol=0.01)
    assert_allclose(np.sinh(quartiles[2]) - np.sinh(quartiles[0]), 1.0, atol=0.02)


def test_scores_say_whose_gap_it_is(made, evidence) -> None:
    estimate = made(["$a", "b"], pooled=evidence, roc={"$a": evidence})
    assert "unseen, 30%" in texts(ScoresDisplay.from_estimate(estimate).figure_)
    assert r"not \$a, 30%" in texts(ScoresDisplay.from_estimate(estimate, "$a").figure_)


@pytest.mark.parametrize("kind", [RocDisplay, ScoresDisplay])
def test_a_missing_roc_is_named_with_those_that_are_there(made, evidence, kind) -> None:
    estimate = made(["a", "b"], roc={"a": evidence})
    with pytest.raises(ValueError, match=r"ROC of class 'b'; made gave one for 'a'\."):
        kind.from_estimate(estimate, "b")
    with pytest.raises(ValueError, match="of all known classes together; made gave one for 'a'"):
        kind.from_estimate(estimate)


def test_scores_need_thresholds(made, evidence) -> None:
    estimate = made(["a"], pooled=replace(evidence, thresholds=None))
    with pytest.raises(ValueError, match="must hold the thresholds"):
        ScoresDisplay.from_estimate(estimate)


def test_scores_that_are_all_alike_are_one_heap() -> None:
    evidence = RocEvidence([0, 1], [0, 1], 1.0, 9, 9, thresholds=[2.0, 2.0])
    display = ScoresDisplay.from_evidence(evidence)
    assert_allclose([display.new.sum(), display.known.sum()], 1.0)


# Timeline


def test_lines_and_bands_of_a_timeline_are_the_shares(made) -> None:
    record = timeline(made, 6)
    display = TimelineDisplay.from_timeline(record)
    unseen = display.ax_.lines[3]
    assert unseen.get_color() == LIGHT.unseen
    assert_allclose(unseen.get_xydata()[:, 1], np.linspace(0, 0.5, 6))
    assert len(display.ax_.collections) == 1
    band = display.ax_.collections[-1].get_paths()[0].vertices
    ends = [estimate.intervals[-1] for estimate in record.estimates]
    assert {*np.ravel(ends).round(9)} <= {*band[:, 1].round(9)}
    marks = display.ax_.lines[-1]
    assert marks.get_xdata().tolist() == [5]


def test_of_many_windows_some_are_drawn_and_no_change_is_lost(made) -> None:
    record = timeline(made, 1000, 9)
    display = TimelineDisplay.from_timeline(record)
    assert len(display.windows) == 112
    assert display.changed.tolist() == [False] * 111 + [True]
    assert display.names == ("c0", "c1", "c2", "c3", "c4", "unseen")
    caption = display.ax_.get_xlabel()
    assert "112 of 1000 windows drawn" in caption
    assert "4 classes that changed less not drawn" in caption


def test_a_class_that_changed_is_drawn_before_one_that_is_large() -> None:
    names, still = tuple("abcdefg"), np.array([0.2, 0.2, 0.2, 0.2, 0.15, 0.04, 0.01])
    moved = still + np.array([-0.03, 0.0, 0.0, 0.0, 0.0, -0.02, 0.05])
    given = {"n_labelled": dict.fromkeys(names, 9), "n_new": 9}
    one, two = (Estimate(names, shares, 0.0, "m", **given) for shares in (still, moved))
    p_values = [float("nan"), 0.01]
    record = Timeline(("May", "June"), (one, two), [True, False], one, p_values, p_values)
    assert {"a", "f", "g"} <= {*TimelineDisplay.from_timeline(record).names}


def test_the_largest_share_is_on_top_and_a_class_that_vanished_is_drawn(made) -> None:
    names = tuple(f"c{place}" for place in range(40))
    now = np.full(40, 0.7 / 39)
    now[[3, 9]] = 0.0, now[0] * 2
    given = {"n_labelled": dict.fromkeys(names, 9), "n_new": 9}
    estimate = Estimate(names, now, 0.3 - now.sum() + 0.7, "m", **given)
    training = dict.fromkeys(names, 0.01) | {"c3": 0.6}
    display = SharesDisplay.from_estimate(estimate, training)
    assert display.names[0] == "c9"
    assert display.names[-3:] == ("c3", "11 others", "unseen")
    assert_allclose(display.training[-3], 0.6)


def test_a_change_of_the_unseen_share_alone_is_marked_too(made) -> None:
    record = timeline(made, 5)
    p_values = np.array([np.nan, 0.5, 1e-9, 0.5, 0.5])
    display = TimelineDisplay.from_timeline(replace(record, raw_p_values_unseen=p_values))
    assert display.ax_.lines[-1].get_xdata().tolist() == [2, 4]


@pytest.mark.parametrize(
    ("reference", "caption"),
    [
        ((), "▼ changed since training"),
        ((0,), "▼ changed since week 0 (dotted)"),
        ((0, 2), "▼ changed since the reference windows (dotted)"),
    ],
)
def test_every_window_of_the_reference_is_dotted(made, reference, caption) -> None:
    display = TimelineDisplay.from_timeline(timeline(made, 5, reference=reference))
    dotted = [line for line in display.ax_.lines if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in dotted] == list(reference)
    assert display.ax_.get_xlabel() == caption


def test_without_a_change_the_reference_is_named_all_the_same(made) -> None:
    record = timeline(made, 5)
    display = TimelineDisplay.from_timeline(replace(record, raw_p_values=[np.nan] + [0.5] * 4))
    assert display.ax_.get_xlabel() == "dotted: week 0"


def test_a_line_that_is_nowhere_drawn_is_not_named(made) -> None:
    display = TimelineDisplay.from_timeline(timeline(made, 3))
    assert "unseen" in texts(display.figure_)
    far = display.shares.copy()
    far[:, -1] = np.nan
    assert "unseen" not in texts(replace(display, shares=far).plot().figure_)


def test_one_window_without_intervals_or_reference(made) -> None:
    estimate = replace(made(["a"]), intervals=None)
    first = Timeline((datetime(2024, 5, 1),), (estimate,), [False], estimate, [0.5], [0.5])
    display = TimelineDisplay.from_timeline(first)
    assert display.windows == ("2024-05-01",)
    with pytest.raises(ValueError, match="at least one window"):
        TimelineDisplay.from_timeline(Timeline((), (), [], estimate, [], []))


# Comparison


def test_bars_are_the_shares_and_errors_total_variation(made) -> None:
    open_, closed = made(["a", "b"]), made(["a", "b"], unseen=0.0)
    display = ComparisonDisplay.from_comparison({"open": open_, "closed": closed}, {"a": 0.5})
    widths = np.array([[bar.get_width() for bar in part] for part in display.ax_.containers]).T
    truth = [0.5, 0.0, 0.5]
    assert_allclose(widths, [truth, [*open_.proportions, 0.3], [*closed.proportions, 0.0]])
    assert_allclose(display.errors, np.abs(widths[1:] - truth).sum(axis=1) / 2)
    assert {bar.get_hatch() for bar in display.ax_.containers[-1]} == {"///"}


def test_bars_of_many_classes_still_fill_the_whole(made) -> None:
    display = ComparisonDisplay.from_comparison({"one": made(list(range(60)))})
    widths = [part[0].get_width() for part in display.ax_.containers]
    assert len(widths) == 13
    assert_allclose(sum(widths), 1.0)


def test_bars_name_all_classes_on_the_first_bar_or_below(made) -> None:
    for classes, is_below in ((["a", "b"], False), (["sparrow", "kingfisher", "wren"], True)):
        ax = ComparisonDisplay.from_comparison({"one": made(classes)}).ax_
        on_bar = {text.get_text() for text in ax.texts if text.get_color() == LIGHT.ink}
        assert on_bar == (set() if is_below else {*classes})
        below = f"from the left: {', '.join(classes)}"
        assert (below in " ".join(ax.get_xlabel().split())) == is_below


def test_no_share_is_written_beside_a_method_that_cannot_tell(made) -> None:
    far = Drift("moved", 0.99, Tolerance(np.zeros(0), np.zeros(0)), 0.98, far=True)
    estimates = {"far": replace(made(["a", "b"], unseen=0.0), drift=far), "near": made(["a", "b"])}
    display = ComparisonDisplay.from_comparison(estimates)
    assert [text.get_text() for text in display.ax_.texts if text.get_color() == LIGHT.unseen] == [
        "cannot tell",
        "30%",
    ]
    widths = [[bar.get_width() for bar in part] for part in display.ax_.containers]
    assert_allclose(np.sum(widths, axis=0), 1.0)


def test_a_method_that_cannot_see_the_unseen_has_a_dash_in_place_of_its_share(made) -> None:
    closed = replace(made(["a", "b"], unseen=0.0), sees_unseen=False)
    display = ComparisonDisplay.from_comparison({"open": made(["a", "b"]), "closed": closed})
    numbers = [text.get_text() for text in display.ax_.texts if text.get_color() == LIGHT.unseen]
    assert numbers == ["30%", "-"]
    display = SharesDisplay.from_estimate(closed)
    assert np.isnan(display.shares[-1])
    assert np.isnan(display.intervals[-1]).all()
    assert [text.get_text() for text in display.ax_.texts][-1] == "-"


def test_truth_of_the_wrong_length_is_refused(made) -> None:
    with pytest.raises(
        ValueError, match=r"truth must be 3 shares, unseen last, .* got shape \(2,\)"
    ):
        ComparisonDisplay.from_comparison({"one": made(["a", "b"])}, [0.5, 0.5])


# All of them


def test_every_display_can_be_drawn_again_elsewhere_and_in_the_dark(displays) -> None:
    for display in displays.values():
        figure = Figure()
        ax = figure.add_subplot()
        assert display.plot(ax, theme=DARK) is display
        assert display.ax_ is ax
        assert display.figure_ is figure
        figure.draw_without_rendering()


def test_a_notebook_shows_the_picture_once(displays) -> None:
    assert displays["shares"]._repr_png_().startswith(b"\x89PNG")
    assert displays["shares"]._repr_png_() == displays["shares"]._repr_png_()
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    assert displays["shares"].plot(ax)._repr_png_() is None
    plt.close(figure)


def test_names_are_shown_as_they_are(made) -> None:
    estimate = made(NASTY[:-1])
    figure = SharesDisplay.from_estimate(estimate).figure_
    figure.draw_without_rendering()
    shown = texts(figure)
    assert "<b>&amp;" in shown
    assert r"\$a\$ costs \$5" in shown
    assert "two lines" in shown
    assert max(map(len, shown)) < 60
    for text in figure.findobj(mpl.text.Text):
        assert text._preprocess_math(text.get_text())[1] is not True


def test_settings_of_the_user_are_neither_changed_nor_obeyed(made) -> None:
    with mpl.rc_context({"font.size": 31, "axes.facecolor": "yellow"}):
        before = dict(mpl.rcParams)
        ax = SharesDisplay.from_estimate(made(["a"])).ax_
        assert dict(mpl.rcParams) == before
    assert ax.xaxis.label.get_fontsize() < 31
    assert ax.get_facecolor() == (0, 0, 0, 0)


def test_nothing_imports_pyplot_and_importing_draws_nothing() -> None:
    code = """
import sys
import unseen.plots
import paper.figures
from paper.cell import Cell
from unseen.records import Estimate
assert "matplotlib" not in sys.modules
e = Estimate(("a",), [0.7], 0.3, "m", n_labelled={"a": 1}, n_new=1)
unseen.plots.to_svg(unseen.plots.SharesDisplay.from_estimate(e).figure_, "shares")
paper.figures.figure1([Cell("observed", "banana", 0, 0.5, "L2", (0.5, 0.5), (0.4, 0.6))])
assert "matplotlib.figure" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_without_matplotlib_the_error_says_what_to_install(made, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "unseen\[plot\]"'):
        SharesDisplay.from_estimate(made(["a"]))


def test_themes_have_the_same_roles_and_no_colour_twice() -> None:
    assert LIGHT.variables.keys() == DARK.variables.keys()
    for theme in (LIGHT, DARK):
        assert len(set(theme.variables.values())) == len(theme.variables)


def test_spread_keeps_order_and_distance_and_moves_nothing_without_need() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        wanted = rng.uniform(size=7)
        found = spread(wanted, 0.1)
        assert (np.diff(found[np.argsort(wanted)]) >= 0.1 - 1e-12).all()
        assert_allclose(found.sum(), wanted.sum())
    assert_allclose(spread([0.9, 0.1], 0.1), [0.9, 0.1])
    assert_allclose(spread([0.5, 0.5, 0.9], 0.2), [0.4, 0.6, 0.9])


def test_the_largest_keep_their_order_and_the_others_are_merged_before_unseen() -> None:
    assert largest(np.array([0.1, 0.5, 0.4]), 2) == [1, 2]
    assert_allclose(merge_others(np.array([0.1, 0.5, 0.2, 0.2]), [1]), [0.5, 0.3, 0.2])


@pytest.mark.parametrize("longest", [5, 6, 13])
def test_long_names_keep_both_ends(longest) -> None:
    name = literal("abcdefghijklmnopqrstuvwxyz", longest)
    assert len(name) == longest
    assert (name[0], name[-1]) == ("a", "z")
    assert literal("$5 and\n$6") == r"\$5 and \$6"


def groups_of(n_groups: int) -> Explanation:
    kinds = ("a clump of its own", "between", "scattered")
    groups = tuple(
        Group(place + 1, 0.2 / (place + 1), 0.01, 0.3, 9, kinds[place % 3], NASTY[0], "b", 1.5, 0.9,
              None, (), (), (), ())
        for place in range(n_groups)
    )  # fmt: skip
    return Explanation(groups, 0.3, (1, n_groups), np.ones(9), np.full(9, 0.3), ())


def test_groups_are_where_their_shares_are_and_clumps_are_full() -> None:
    display = groups_of(3).plot()
    lines = display.ax_.get_lines()
    assert_allclose([line.get_xdata()[0] for line in lines[1::2]], display.shares)
    assert_allclose(lines[0].get_xdata(), [0.01, 0.3])
    faces = [line.get_markerfacecolor() for line in lines[1::2]]
    assert faces == [LIGHT.unseen, LIGHT.paper, LIGHT.paper]
    assert len(GroupsDisplay.from_explanation(groups_of(50), theme=DARK).names) == 20


def test_no_group_is_no_picture() -> None:
    with pytest.raises(ValueError, match="at least one group; got none"):
        groups_of(0).plot()
