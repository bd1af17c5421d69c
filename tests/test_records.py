"""The records: what they print, what they refuse, and that they stay as they are."""

import json
import pickle
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from unseen.records import Estimate, MixtureEstimate, Notice, RocEvidence


def an_estimate(**changes) -> Estimate:
    fields = {
        "classes": np.array(["cat", "dog"]),
        "proportions": np.array([0.5, 0.2]),
        "unseen": 0.3,
        "method": "MPEIncomplete",
        "n_labelled": {"cat": np.int64(80), "dog": 9},
        "n_new": 400,
        "roc": {
            "cat": RocEvidence(np.array([0.0, 1]), np.array([0.0, 1]), 0.5, 400, 80, {"mu": 1})
        },
        "diagnostics": {"slope_total": np.float64(0.7), "grid": np.arange(2)},
        "seed": 7,
    }
    return Estimate(**(fields | changes))


def test_prints_an_aligned_table() -> None:
    assert str(an_estimate(notices=(Notice("few_rows", "look twice"),))).splitlines() == [
        "class   share  labelled rows",
        "cat     0.500             80",
        "dog     0.200              9",
        "unseen  0.300              -",
        "MPEIncomplete, 400 new rows",
        "warning: look twice",
    ]


def test_prints_intervals_and_the_certified_bound_when_there() -> None:
    intervals = [[0.4, 0.6], [0.1, 0.3], [0.25, 0.35]]
    lines = str(an_estimate(intervals=intervals, unseen_certified=0.21)).splitlines()
    assert lines[0] == "class   share        interval  labelled rows"
    assert lines[3] == "unseen  0.300  0.250 to 0.350              -"
    assert lines[5] == "certified: the unseen share is at least 0.210"


def test_a_method_that_cannot_see_the_unseen_prints_a_dash_for_it() -> None:
    intervals = [[0.4, 0.6], [0.1, 0.3], [0.0, 0.0]]
    closed = {"unseen": 0.0, "sees_unseen": False}
    assert str(an_estimate(**closed)).splitlines()[3] == "unseen      -              -"
    line = str(an_estimate(**closed, intervals=intervals)).splitlines()[3]
    assert line.split() == ["unseen", "-", "-", "-"]
    assert str(an_estimate(unseen=0.0)).splitlines()[3] == "unseen  0.000              -"


def test_the_sentence_says_how_sure_the_share_is() -> None:
    sure = an_estimate(intervals=[[0.4, 0.6], [0.1, 0.3], [0.25, 0.35]]).sentence()
    assert sure.startswith("About 30% of the new rows (25% to 35%) come from classes that ")
    unsure = an_estimate(intervals=[[0.4, 0.6], [0.1, 0.3], [0.0, 0.5]]).sentence()
    assert unsure.startswith("Perhaps 30% of the new rows come from classes that training never")
    assert unsure.endswith("any share from none to 50% is possible.")


def test_html_escapes_labels_and_notices() -> None:
    page = an_estimate(
        classes=("<b>", "dog"),
        n_labelled={"<b>": 1, "dog": 2},
        notices=(Notice("few_rows", "1 < 2 & 3"),),
    )._repr_html_()
    assert "<td>&lt;b&gt;</td><td>0.500</td>" in page
    assert "<b>" not in page
    assert "<p>warning: 1 &lt; 2 &amp; 3</p>" in page
    assert page.count("<tr>") == 4


@pytest.mark.parametrize("labels", [["cat", "dog"], [3, 7], [False, True]])
def test_dict_survives_json(labels) -> None:
    classes = np.array(labels)
    evidence = RocEvidence(np.array([0.0, 1]), np.array([0.0, 1]), 0.5, 400, 80, {"mu": 1.0})
    estimate = an_estimate(
        classes=classes,
        n_labelled=dict(zip(labels, [80, 9], strict=True)),
        roc={classes[0]: evidence},
    )
    plain = json.loads(json.dumps(estimate.to_dict()))
    assert plain == estimate.to_dict()
    assert plain["format"] == 2
    assert plain["classes"] == labels
    assert plain["n_labelled"] == [80, 9]
    assert plain["roc"][0]["class"] == labels[0]
    assert plain["roc"][0]["right_slope"] == 0.5
    assert plain["diagnostics"] == {"slope_total": 0.7, "grid": [0, 1]}
    assert set(plain["versions"]) == {"unseen", "numpy", "scipy", "scikit-learn", "python"}


def test_frame_has_one_row_per_class_and_one_for_unseen() -> None:
    frame = an_estimate(classes=("unseen", "dog"), n_labelled={"unseen": 4, "dog": 9}).to_frame()
    assert frame["class"].tolist() == ["unseen", "dog", "unseen"]
    assert frame["known"].tolist() == [True, True, False]
    assert frame["share"].tolist() == [0.5, 0.2, 0.3]
    assert frame["labelled_rows"].tolist() == [4, 9, 0]
    assert "lower" not in frame
    with_intervals = an_estimate(intervals=np.array([[0, 1], [0.1, 1], [0.2, 1]])).to_frame()
    assert with_intervals["lower"].tolist() == [0, 0.1, 0.2]


def test_frame_without_pandas_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "unseen\[io\]"'):
        an_estimate().to_frame()


def test_share_by_label() -> None:
    estimate = an_estimate()
    assert estimate["dog"] == 0.2
    assert an_estimate(classes=[1, 2], n_labelled={1: 1, 2: 2}, roc={})[np.int64(2)] == 0.2
    with pytest.raises(KeyError, match="no class 'cow'; the known classes are 'cat', 'dog'"):
        estimate["cow"]


def test_record_cannot_be_changed() -> None:
    shares = np.array([0.5, 0.2])
    estimate = an_estimate(proportions=shares)
    with pytest.raises(FrozenInstanceError):
        estimate.unseen = 0.0
    with pytest.raises(ValueError, match="read-only"):
        estimate.proportions[0] = 1.0
    shares[0] = 9.0
    assert_array_equal(estimate.proportions, [0.5, 0.2])


def test_evidence_cannot_be_changed() -> None:
    false_alarm = np.array([0.0, 1.0])
    evidence = RocEvidence(false_alarm, [0, 1], 0.5, 400, 80)
    for array in (evidence.false_alarm, evidence.detection):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    false_alarm[0] = 9.0
    assert_array_equal(evidence.false_alarm, [0.0, 1.0])


def test_records_with_arrays_compare_and_hash_as_themselves() -> None:
    evidence = [RocEvidence(np.arange(3.0), np.arange(3.0), 0.5, 400, 80) for _ in range(2)]
    records = [*evidence, *(MixtureEstimate(0.5, "ROCSlope", roc) for roc in evidence)]
    assert [records.index(record) for record in records] == [0, 1, 2, 3]
    assert len(set(records)) == 4


def test_record_survives_pickle() -> None:
    estimate = an_estimate(intervals=np.zeros((3, 2)), notices=(Notice("few_rows", "w"),))
    assert pickle.loads(pickle.dumps(estimate)).to_dict() == estimate.to_dict()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"proportions": [0.5]}, r"proportions must have shape \(2,\); got \(1,\)\."),
        ({"intervals": [[0, 1], [0, 1]]}, r"intervals must have shape \(3, 2\); got \(2, 2\)\."),
    ],
)
def test_arrays_must_fit_the_classes(changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        an_estimate(**changes)
