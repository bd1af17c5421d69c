"""What the page says by the verdict on drift, and by columns out of range."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reference import example_studies
from reference.example_studies import believed, made_estimate, made_timeline
from unseen.drift import Drift, Tolerance
from unseen.records import Estimate, Notice
from unseen.report import render
from unseen.report.pictures import baselines_picture, gap_picture
from unseen.report.sentences import certainty, to_do
from unseen.report.tables import baselines_table, shares_table, side_by_side, tolerance_table
from unseen.study import Study


def test_a_page_on_classes_that_moved_calls_no_share_certain() -> None:
    drift = Drift("moved", 0.9, Tolerance(np.zeros(0), np.zeros(0)), 0.9, far=True)
    rich = example_studies.rich()
    study = replace(rich, estimate=replace(rich.estimate, drift=drift), timeline=None)
    page = render(study)
    found = side_by_side(study)
    assert study.labelling is None
    assert baselines_table(found, len(found)).rows[0].cells[2] == "cannot tell"
    assert f"Unseen share: {study.estimate.method} cannot tell" in baselines_picture(found).svg
    for claim in ("What labels would buy", "The slope is the share", "almost certain", "favour"):
        assert claim not in page
    assert "Known classes look nearly the same in both tables." in page
    assert "moved or new" in page
    assert "assumes that no class moved" in page
    assert "cannot tell" in page


def test_what_to_do_follows_the_verdict_and_warnings_are_counted_on_top() -> None:
    limits = Tolerance(np.zeros(0), np.zeros(0))
    moved = Drift("moved", 0.99, limits, 0.98, far=True, columns=(("s3", 0.4),))
    given = {"n_labelled": {"cat": 80, "dog": 80}, "n_new": 400}
    given |= {"notices": (Notice("made", "beware"),)}
    cases = {"found": (0.3, None), "none": (0.0, None), "far": (0.0, moved)}
    said = {"found": "unseen promote", "none": "Use the shares:", "far": "first in s3"}
    for name, (share, drift) in cases.items():
        known = [0.7 - share, 0.3]
        page = render(Study(Estimate(("cat", "dog"), known, share, "made", drift=drift, **given)))
        assert page.index("Warnings (1)") < page.index("beware") < page.index("<nav")
        assert [case for case, text in said.items() if text in page] == [name]
        assert ("cannot tell" in page[page.index("<svg") :]) == (name == "far")


def test_columns_out_of_range_come_before_the_claim_that_classes_are_new() -> None:
    outside = Notice("column_out_of_range", "Outside the range that TRAIN shows: 'x'.")
    changes = {"diagnostics": believed(0.999, 0.1), "detection_limit": 0.04}
    calm, wandered = (
        Study(made_estimate("ab", 0.6, notices=notices, **changes)) for notices in ((), (outside,))
    )
    assert "come from classes that training never saw" in calm.sentence()
    assert "would show from a share of 4% on" in " ".join(certainty(calm.estimate))
    assert "look unlike training. They are of new classes, or columns have" in wandered.sentence()
    assert certainty(wandered.estimate) == [
        "Intervals should hold the true share 95 times in 100, if no column changed."
    ]
    respelt = Notice("new_category", "Column 'b' holds a category that ...")
    assert "look unlike training" in made_estimate("ab", 0.3, notices=(respelt,)).sentence()
    few = Notice("new_category", "Column 'b' holds a category that ...", "note")
    assert "look unlike" not in made_estimate("ab", 0.3, notices=(few,)).sentence()
    assert to_do(calm)[0].startswith("Look at the rows")
    assert to_do(wandered)[0].startswith("See whether a sensor, a unit")
    assert (calm.labelling is None, wandered.labelling is None) == (False, True)
    nothing = Study(made_estimate("ab", 0.0, notices=(outside,), **changes))
    assert to_do(nothing)[0].startswith("Use the shares")


def test_shares_come_largest_first_and_a_class_that_vanished_is_listed() -> None:
    names = [f"c{place}" for place in range(90)]
    now = np.full(90, 0.7 / 89)
    now[[5, 7]] = 0.0005, 2 * now[0] - 0.0005
    training = dict.fromkeys(names, 10) | {"c5": 1000}
    estimate = Estimate(tuple(names), now, 0.3, "made", n_labelled=training, n_new=4000)
    listed = [row.cells[0] for row in shares_table(Study(estimate)).rows]
    assert (listed[0], listed[-2], len(listed)) == ("c7", "c5", 81)


def test_the_first_thing_to_do_names_the_sign_of_drift_that_was_found() -> None:
    limits = Tolerance(np.zeros(0), np.zeros(0))
    given = {"n_labelled": {"cat": 80, "dog": 80}, "n_new": 400}

    def first(timeline=None, columns=(("s1", 0.4),), **signs) -> str:
        drift = Drift("unclear", 0.7, limits, 0.5, columns=columns, **signs)
        estimate = Estimate(("cat", "dog"), [0.7, 0.3], 0.0, "made", drift=drift, **given)
        return to_do(Study(estimate, timeline=timeline))[0]

    assert first().endswith("changed, first in s1.")
    assert "rows that look most like class dog" in first(moved_class="dog")
    assert first(part=0.5).endswith("each of its values: `--by COLUMN`.")
    windows = example_studies.rich().timeline
    assert first(windows, part=0.5).startswith("See which windows moved")
    stray = first(stray=0.2, stray_columns=("s3", "s4"))
    assert stray.startswith("Look at the odd values in s3, s4: ")
    assert all(option in stray for option in ("--missing", "--drop"))
    # A few odd values are not why the rows look unlike training if another column moved far.
    far = (("s1", 3.0), ("s3", 0.4))
    assert first(columns=far, stray=0.2, stray_columns=("s3",)).endswith(
        "changed, first in s1, s3."
    )
    assert "odd values in s3:" in first(columns=far, stray=0.3, stray_columns=("s3",))
    assert "odd values in s1:" in first(columns=far, stray=0.2, stray_columns=("s1",))


def test_windows_that_moved_too_far_claim_no_share() -> None:
    """Neither the sentence, nor a verdict, nor the picture speaks of what is unseen."""
    far = Drift("moved", 0.99, Tolerance(np.zeros(0), np.zeros(0)), 0.98, far=True)
    made = made_timeline(("a", "b"), 3)
    estimates = tuple(replace(one, drift=far) for one in made.estimates)
    p_values = [np.nan, 0.6, 1e-4]
    timeline = replace(made, windows=(1, 2, 3), estimates=estimates, raw_p_values_unseen=p_values)
    assert timeline.verdict(2)[0] == "changed: moved or new"
    assert timeline.sentence().startswith("The new rows look different in window 2: moved or new;")
    drawn = timeline.plot()
    assert np.isnan(drawn.shares[:, -1]).all()
    assert np.isnan(drawn.intervals).all()


def test_a_gap_that_nothing_unseen_makes_is_chance() -> None:
    captions = {
        share: gap_picture(Study(made_estimate("ab", share, slopes=True))).caption
        for share in (0.0, 0.3)
    }
    assert "takes the shaded gap for chance" in captions[0.0]
    assert "what no known class accounts for" in captions[0.3]


def test_a_page_on_classes_that_moved_too_far_lists_nothing_that_must_be_new() -> None:
    def listed(far: bool) -> bool:
        limits = Tolerance(np.full(1, 0.01), np.full(1, 0.95))
        drift = Drift("moved", 0.99, limits, 0.95, far=far)
        given = {"n_labelled": {"cat": 80, "dog": 80}, "n_new": 400}
        estimate = Estimate(("cat", "dog"), [0.7, 0.3], 0.0, "made", drift=drift, **given)
        return tolerance_table(Study(estimate)) is not None

    assert (listed(far=False), listed(far=True)) == (True, False)
