"""Labels and values that are rarely meant: found where they are, and nowhere else."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.datasets import available_datasets, load_dataset
from unseen.samples.oddities import label_notices, sentinel_notices
from unseen.scores.part import stray_values

RNG = np.random.default_rng(0)
ROWS, NEW = RNG.normal(50, 10, (200, 3)), RNG.normal(50, 10, (100, 3))


@pytest.mark.parametrize("sentinel", [-999.0, 9999.0, -1e6])
def test_a_number_for_missing_is_found_in_new_rows(sentinel) -> None:
    spoilt = NEW.copy()
    spoilt[:15, 1] = sentinel
    (notice,) = sentinel_notices(ROWS, spoilt, ("a", "b", "c"))
    assert (notice.code, notice.severity) == ("sentinel_values", "warning")
    assert f"column 'b' is {sentinel:g} in 15% of the new rows and in 0%" in notice.text


def test_a_number_for_missing_in_both_samples_alike_is_a_note() -> None:
    rows, spoilt = ROWS.copy(), NEW.copy()
    rows[:30, 1] = spoilt[:15, 1] = -999
    (notice,) = sentinel_notices(rows, spoilt)
    assert notice.severity == "note"
    assert notice.text.startswith("column 1 is -999 in 15%")


@pytest.mark.parametrize(
    "column",
    [
        np.repeat([0.0, 1.0, 100.0], [60, 30, 10]),  # codes
        np.append(np.arange(95.0), [-999.0] * 4 + [1.0]),  # four rows are no spike
        np.append(np.arange(90.0), [0.0] * 10),  # a spike at the end, among the others
        np.exp(3 * RNG.normal(size=100)),  # a long tail
    ],
)
def test_other_columns_are_left_alone(column) -> None:
    rows, new = ROWS[:100].copy(), NEW.copy()
    new[:, 0], rows[:, 0] = column, column[column > -1][0]
    rows[: (column > -1).sum(), 0] = column[column > -1]
    assert not sentinel_notices(rows, new)


def test_bundled_sets_have_none() -> None:
    for name in available_datasets():
        X = load_dataset(name).X
        assert not sentinel_notices(X[::2], X[1::2]), name


def test_columns_with_the_same_number_for_missing_share_a_notice() -> None:
    spoilt = NEW.copy()
    spoilt[:15, :2] = -999.0
    spoilt[:20, 1] = -999.0
    (notice,) = sentinel_notices(ROWS, spoilt, ("a", "b", "c"), "give --missing {value}")
    assert notice.about is None
    assert notice.text == (
        "columns 'a', 'b' are -999 in 15% to 20% of the new rows and in 0% of the labelled ones, "
        "far from all other values. If the number stands for a missing value, give --missing -999."
    )


@pytest.mark.parametrize(
    "mark", ["?", "--", " - ", "Unknown", "unlabeled", "-999", "9999", -999, "-9.0"]
)
def test_a_label_that_marks_missing_ones_is_told(mark) -> None:
    (notice,) = label_notices(np.array(["a", mark], dtype=object))
    assert (notice.code, notice.about) == ("label_for_missing", mark)
    assert f"(--missing {mark!r} on the command line)" in notice.text


def test_other_labels_mark_nothing() -> None:
    for labels in (["+", "-"], ["n/a?", "none"], [-1, 1], [9, 99], ["unknown words", "a"]):
        assert not label_notices(np.array(labels))


def test_labels_that_differ_by_case_or_spaces() -> None:
    labels = np.array(["Adelie", "adelie ", "Gentoo", "Chin  strap", "chin strap"], dtype=object)
    notices = label_notices(np.sort(labels))
    assert [notice.code for notice in notices] == ["labels_alike"] * 2
    assert "'Adelie', 'adelie '" in notices[0].text
    assert len(label_notices(np.array(["caf\u00e9", "cafe\u0301"]))) == 1
    assert not label_notices(np.array(["a", "b"]))
    (own,) = label_notices(np.array(["a", "Unseen"]))
    assert own.code == "labels_alike"
    assert own.about == "Unseen"
    assert not label_notices(np.array([1, 2]))


def test_an_estimate_carries_both_notices_with_the_name_of_the_column() -> None:
    spoilt = NEW.copy()
    spoilt[:15, 2] = -999
    y = np.where(np.arange(200) % 2, "Cat", "cat")
    tables = (pd.DataFrame(rows, columns=["x", "y", "weight"]) for rows in (ROWS, spoilt))
    known, new = tables
    estimator = unseen.SaerensEM(classifier=GaussianNB(), n_folds=3)
    estimate = unseen.estimate(known, y, new, estimator=estimator, random_state=0)
    codes = {notice.code: notice for notice in estimate.notices}
    assert codes["sentinel_values"].about == "column 'weight'"
    assert codes["labels_alike"].about == "Cat"


def test_a_draw_of_very_many_rows_finds_numbers_for_missing(monkeypatch) -> None:
    monkeypatch.setattr("unseen.samples.draws._ENOUGH_ROWS", 500)
    rows = np.random.default_rng(0).normal(size=(2000, 1))
    new = rows.copy()
    new[::10] = -999.0
    (found,) = sentinel_notices(rows, new)
    assert found.code == "sentinel_values"
    assert found.severity == "warning"
    stray = stray_values(rows, new)
    assert stray.columns == (0,)
    assert abs(stray.share - 0.1) < 0.04
