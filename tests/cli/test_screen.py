"""Records on a terminal: names from the data stay names, and severity decides the order."""

import numpy as np
import pytest

from reference.small_tables import cells_of
from unseen.api import Comparison
from unseen.cli.screen import (
    console,
    plain,
    print_notices,
    show_comparison,
    show_study,
    unseen_style,
)
from unseen.drift import Drift, Tolerance
from unseen.monitoring import Timeline
from unseen.records import Estimate, Notice
from unseen.study import MethodComparison, Study

HOSTILE = "\x1b[31mred [bold]markup[/bold] \u202eabc\nnext"


def made(unseen: float, label: str = "cat", **changes: object) -> Estimate:
    rows = {"n_labelled": {label: 80}, "n_new": 400}
    return Estimate((label,), [1 - unseen], unseen, "made", **rows, **changes)


def test_names_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_study(Study(made(0.3, HOSTILE, notices=(Notice("made", HOSTILE),))))
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "\u202e" not in printed
    assert printed.count("[bold]markup[/bold]") == 2
    assert plain("two  spaces") == "two  spaces"


def test_warnings_come_first_and_each_text_is_told_once(capsys) -> None:
    notices = [Notice("a", "done", "note"), Notice("b", "beware"), Notice("c", "beware")]
    print_notices(notices, console())
    assert capsys.readouterr().out.splitlines() == ["warning: beware", "note: done"]


def test_windows_say_what_moved_and_which_were_left_out(capsys) -> None:
    estimates = (made(0.0), made(0.25))
    p_values = [np.nan, 1e-5]
    timeline = Timeline(
        ("May", "June"), estimates, [True, False], estimates[0], p_values, p_values,
        skipped=(("July", 3),),
    )  # fmt: skip
    show_study(Study(made(0.1), timeline=timeline))
    printed = capsys.readouterr().out
    cells = ["June", "400", "25.0%", "changed, unseen too", "< 0.001", "cat: -25.0"]
    assert cells_of(printed, "June") == cells
    assert "Left out, with too few rows for an estimate: 1 window (3 rows)." in printed
    assert printed.startswith("About 10% of the new rows")


def test_over_time_the_change_and_the_latest_window_come_first(capsys) -> None:
    estimates = (made(0.0), made(0.25), made(0.4))
    p_values = [np.nan, 1e-5, 1e-5]
    timeline = Timeline(
        ("May", "June", "July"), estimates, [True, False, False], estimates[0], p_values, p_values
    )
    show_study(Study(made(0.1), timeline=timeline, over_time=True))
    printed = capsys.readouterr().out
    assert printed.startswith(
        "The unseen share rose in June, from 0.0% to 25.0%; 2 of 2 windows differ from May. Latest "
        "window, July: About 40%"
    )
    assert printed.index("June") < printed.index("in training")
    assert cells_of(printed, "unseen")[2] == "40.0%"
    assert "All windows together: 10.0% unseen." in printed


def comparison_of(n_classes: int) -> Comparison:
    names = tuple(f"class number {place}" for place in range(n_classes))
    rows = {"n_labelled": dict.fromkeys(names, 9), "n_new": 9}
    shares = np.linspace(0.01, 0.02, n_classes)
    made = {
        name: Estimate(names, shares, 1 - shares.sum(), name, sees_unseen=sees, **rows)
        for name, sees in (("Closed", False), ("Open", True))
    }
    return Comparison(made)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_screen_is_too_narrow_for_a_value(width, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    show_comparison(MethodComparison(comparison_of(12)))
    printed = capsys.readouterr().out.partition("Methods below")[0]
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= width
    assert cells_of(printed, "Open")[:3] == ["Open", "yes", "82.0%"]
    assert cells_of(printed, "Closed")[3:] == [
        f"{share:.1%}" for share in comparison_of(12)["Closed"].proportions
    ]
    assert printed.index("Open") < printed.index("Closed")


def test_no_probability_stands_beside_classes_that_may_have_moved(capsys) -> None:
    drift = Drift("moved", 0.9, Tolerance(np.zeros(0), np.zeros(0)), 0.9)
    for found, is_told in ((None, True), (drift, False)):
        show_study(Study(made(0.3, drift=found, diagnostics={"probability_unseen": 0.97})))
        assert ("Probability that anything is unseen" in capsys.readouterr().out) == is_told


def test_colours_tell_unseen_shares_from_doubt() -> None:
    assert unseen_style(made(0.3)) == "bold red"
    assert unseen_style(made(0.0)) == "bold"


def test_a_method_that_cannot_see_the_unseen_has_dashes_there(capsys) -> None:
    limits = [[1.0, 1.0], [0.0, 0.0]]
    closed = made(0.0, sees_unseen=False, intervals=limits, confidence=0.95)
    p_values = [np.nan, 0.5]
    timeline = Timeline(("May", "June"), (closed,) * 2, [True, False], closed, p_values, p_values)
    show_study(Study(closed, timeline=timeline, over_time=True))
    printed = capsys.readouterr().out
    assert cells_of(printed, "unseen") == ["unseen", "", "-", "-"]
    assert cells_of(printed, "June")[2:4] == ["-", "-"]
    assert "All windows together" not in printed
