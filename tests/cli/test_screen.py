"""Records on a terminal: names from the data stay names, and severity decides the order."""

import numpy as np
import pytest

from unseen.cli.screen import plain, print_notices, show_study
from unseen.monitoring import Timeline
from unseen.records import Estimate, Notice
from unseen.study import Study

HOSTILE = "\x1b[31mred [bold]markup[/bold] \u202eabc\nnext"


def made(unseen: float, label: str = "cat", **changes: object) -> Estimate:
    rows = {"n_labelled": {label: 80}, "n_new": 400}
    return Estimate((label,), [1 - unseen], unseen, "made", **rows, **changes)


def test_names_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_study(Study(made(0.3, HOSTILE, notices=(Notice("made", HOSTILE),))), [])
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "\u202e" not in printed
    assert printed.count("[bold]markup[/bold]") == 2
    assert plain("two  spaces") == "two  spaces"


def test_warnings_come_first_and_each_text_is_told_once(capsys) -> None:
    from unseen.cli.screen import console

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
    show_study(Study(made(0.1), timeline=timeline), [])
    printed = capsys.readouterr().out
    (june,) = [line for line in printed.splitlines() if "June" in line]
    cells = [cell.strip() for cell in june.strip("│ ").split("│")]
    assert cells == ["June", "400", "25.0%", "< 0.001*", "cat -25.0", "< 0.001*"]
    assert "Left out, with too few rows for an estimate: 1 window (3 rows)." in printed
