"""Records stay what they are: arrays and mappings are read-only, in copies too."""

import copy
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen._frozen import frozen, plain
from unseen.monitoring import monitor
from unseen.proportions import OpenSetEstimator
from unseen.records import Estimate, RocEvidence
from unseen.scores import (
    OpenScorer,
    OpenScores,
    PairScorer,
    PairScores,
    Posteriors,
    PosteriorScorer,
    RawScorer,
    RowScores,
    Scores,
    TwoClassScorer,
    TwoClassScores,
)
from unseen.scores.base import Distances, RatioScores

SCORERS = [
    PairScorer(GaussianNB(), 3),
    TwoClassScorer(GaussianNB(), 3),
    PosteriorScorer(GaussianNB(), 3),
    OpenScorer(n_folds=3),
    RawScorer(),
]
COPIES = {
    "itself": lambda record: record,
    "pickled": lambda record: pickle.loads(pickle.dumps(record)),
    "copied": copy.copy,
    "deep-copied": copy.deepcopy,
}


def rows_of(samples) -> tuple[Any, np.ndarray]:
    X, y, X_new = samples
    return unseen.SaerensEM().fit(X, y).labelled_, X_new


def made_records(samples) -> dict[str, Any]:
    """One record of every kind, as the library makes it."""
    X, y, X_new = samples
    labelled, new = rows_of(samples)
    records = {type(one).__name__: one.score(labelled, new) for one in SCORERS}
    bayes = unseen.SaerensEM(classifier=GaussianNB(), n_folds=3)
    slopes = unseen.MPEIncomplete(classifier=GaussianNB(), n_folds=3, random_state=0)
    estimate = slopes.fit(X, y).estimate(X_new, confidence=0.9)
    by = np.repeat(["a", "b"], len(X_new) // 2)
    return records | {
        "Estimate": estimate,
        "Comparison": unseen.compare(X, y, X_new, [bayes, slopes], random_state=0),
        "Timeline": monitor(X, y, X_new, by, estimator=bayes, random_state=0),
        "Reading": slopes.read(records["PairScorer"]),
        "open Reading": OpenSetEstimator().read(records["OpenScorer"]),
    }


@pytest.fixture(scope="module")
def records() -> dict[str, Any]:
    from conftest import blobs

    return made_records(blobs(60, 50, 100))


KINDS = [type(one).__name__ for one in SCORERS] + ["Estimate", "Comparison", "Timeline"]
MADE_BY_HAND = [
    "PairScores",
    "TwoClassScores",
    "RowScores",
    "Posteriors",
    "Distances",
    "RatioScores",
    "OpenScores",
    "RocEvidence",
    "Estimate",
]
# The replicates of a reading are a function inside another, which cannot be pickled.
READINGS = ["Reading", "open Reading"]


def inside(value: Any) -> Iterator[np.ndarray | Mapping]:
    """Every array and mapping in a record, at any depth."""
    if isinstance(value, np.ndarray | Mapping):
        yield value
    for item in items_of(value):
        yield from inside(item)


def items_of(value: Any) -> list[Any]:
    if is_dataclass(value):
        return [getattr(value, one.name) for one in fields(value)]
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def assert_read_only(record: Any) -> None:
    found = list(inside(record))
    assert found
    for part in found:
        if isinstance(part, np.ndarray):
            assert not part.flags.writeable
            assert part.base is None or not getattr(part.base, "flags", part.flags).writeable
        else:
            with pytest.raises(TypeError, match="does not support item assignment"):
                part["new"] = 1
    with pytest.raises(FrozenInstanceError):
        setattr(record, fields(record)[0].name, None)


def test_values_are_frozen_at_any_depth_and_plain_for_json() -> None:
    value = {1: np.arange(2), "b": [np.float64(0.5), (True, None)]}
    made = frozen(value)
    assert made["b"] == (0.5, (True, None))
    assert not made[1].flags.writeable
    with pytest.raises(TypeError, match="does not support item assignment"):
        made["b"] = 1
    assert plain(made) == plain(value) == {"1": [0, 1], "b": [0.5, [True, None]]}


def lists_inside(value: Any) -> bool:
    return isinstance(value, list) or any(map(lists_inside, items_of(value)))


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_and_mappings_of_a_record_and_its_copies_are_read_only(records, kind, way) -> None:
    record = COPIES[way](records[kind])
    assert type(record) is type(records[kind])
    assert_read_only(record)
    assert not lists_inside(record)


@pytest.mark.parametrize("kind", READINGS)
def test_a_reading_is_read_only(records, kind) -> None:
    assert_read_only(records[kind])


def test_what_a_timeline_derives_is_read_only(records) -> None:
    for way in COPIES.values():
        timeline = way(records["Timeline"])
        for name in ("shares", "differences", "p_values", "p_values_unseen"):
            assert not getattr(timeline, name).flags.writeable
        # Once derived the arrays are kept, and travel with a copy.
        for name in ("shares", "differences", "p_values", "p_values_unseen"):
            assert not getattr(pickle.loads(pickle.dumps(timeline)), name).flags.writeable


def score_records(arrays: dict[str, Any]) -> dict[str, Scores | RatioScores | Distances]:
    """Records that a user makes from arrays, lists and dicts of their own."""
    new, known, codes, wide = (arrays[name] for name in ("new", "known", "codes", "wide"))
    pair = new[:, 0], known[:2, 0]
    distances = Distances(new, known)
    ratios = RatioScores(new, known, arrays["loss"], distances)
    posteriors = Posteriors(("a", "b"), codes, known, new, prior=arrays["prior"])
    return {
        "PairScores": PairScores(("a", "b"), [pair, list(pair)]),
        "TwoClassScores": TwoClassScores(("a", "b"), (pair, pair), between=(known[:2, 0],) * 2),
        "RowScores": RowScores(("a", "b"), codes, wide, wide),
        "Posteriors": posteriors,
        "Distances": distances,
        "RatioScores": ratios,
        "OpenScores": OpenScores(
            ("a", "b"), codes, posteriors, ratios, arrays["prior"], arrays["prior"]
        ),
        "RocEvidence": RocEvidence(arrays["loss"], arrays["loss"], 0.5, 4, 4, arrays["numbers"]),
        "Estimate": Estimate(
            ("a", "b"),
            arrays["prior"],
            0.0,
            "m",
            n_labelled=arrays["counts"],
            n_new=4,
            diagnostics=arrays["numbers"],
        ),
    }


@pytest.mark.parametrize("as_view", [False, True], ids=["own arrays", "read-only views"])
@pytest.mark.parametrize("kind", MADE_BY_HAND)
def test_changing_what_was_handed_in_changes_no_record(kind, as_view) -> None:
    half = np.full((4, 2), 0.5)
    owned = {
        "new": half.copy(),
        "known": half.copy(),
        "wide": half.copy(),
        "codes": np.array([0, 0, 1, 1]),
        "loss": np.array([0.0, 1.0]),
        "prior": np.array([0.5, 0.5]),
    }
    given: dict[str, Any] = dict(owned)
    if as_view:
        given = {name: array.view() for name, array in owned.items()}
        for view in given.values():
            view.flags.writeable = False
    given |= {"numbers": {"mu": 1.0}, "counts": {"a": 2, "b": 2}}
    record = score_records(given)[kind]
    before = [np.array(part) for part in inside(record) if isinstance(part, np.ndarray)]
    for array in owned.values():
        array[...] = 1
    given["numbers"]["mu"] = given["counts"]["a"] = 9
    after = [part for part in inside(record) if isinstance(part, np.ndarray)]
    for old, part in zip(before, after, strict=True):
        assert_array_equal(part, old)
    assert_read_only(record)
    assert 9 not in [
        item for part in inside(record) if isinstance(part, Mapping) for item in part.values()
    ]


def test_scores_that_cannot_change_give_the_same_shares_again(records) -> None:
    scores = records["OpenScorer"]
    first = OpenSetEstimator().from_scores(scores)
    with pytest.raises(ValueError, match="read-only"):
        scores.ratios.new[:] = 0
    assert OpenSetEstimator().from_scores(scores).to_dict() == first.to_dict()
