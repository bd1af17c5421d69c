"""Held-out groups: what is claimed where nothing is new, and what is left of a claim."""

import numpy as np
import pytest

import unseen
from unseen.drift import HeldOut, Tolerance, calibrated, group_tolerance
from unseen.drift.held_out import less_false
from unseen.proportions.held_out import _group_notices, held_out_parts
from unseen.records import Estimate
from unseen.scores.distances import between_groups

NO_LIMITS = Tolerance(np.zeros(0), np.zeros(0))
ROWS = {"n_labelled": {"a": 30, "b": 10}, "n_new": 100}


def found(unseen_share, interval, **more) -> Estimate:
    known = (1 - unseen_share) * np.array([0.75, 0.25])
    limits = [[0.0, 0.8 - interval[0]], [0.0, 0.2], interval]
    return Estimate(
        ("a", "b"), known, unseen_share, "m", intervals=limits, confidence=0.95, **ROWS, **more
    )


def test_a_false_share_is_taken_off_as_it_came_on() -> None:
    for true in (0.0, 0.2, 0.9):
        for false in (0.0, 0.3, 0.8):
            assert less_false(true + (1 - true) * false, false) == pytest.approx(true)


def test_the_share_loses_the_median_and_the_lower_end_the_largest_claim() -> None:
    held_out = HeldOut(("p", "q", "r"), (100,) * 3, [0.0, 0.1, 0.4], [0.5] * 3, NO_LIMITS)
    odds = {"probability_unseen": 0.999, "bayes_factor": 1e4, "probability_moved": 0.1}
    result = calibrated(found(0.55, (0.46, 0.6), diagnostics=odds), held_out)
    assert result.unseen == pytest.approx((0.55 - 0.1) / 0.9)
    assert result.intervals[-1].tolist() == pytest.approx([0.1, 0.6])
    assert result.proportions.sum() + result.unseen == pytest.approx(1.0)
    assert result.proportions[0] / result.proportions[1] == pytest.approx(3.0)
    assert (result.intervals[:-1, 1] <= 0.9 + 1e-12).all()
    assert result.intervals[0, 1] > 0.34
    assert [one.code for one in result.notices] == ["held_out_claims"]
    # Nothing is left that says more than the interval.
    assert dict(result.diagnostics) == {"probability_moved": 0.1}
    assert "0% to 40% is called unseen" in result.sentence()


def test_without_claims_nothing_changes() -> None:
    held_out = HeldOut(("p", "q"), (90, 90), [0.0, 0.0], [0.5, 1.0], NO_LIMITS)
    before = found(0.3, (0.2, 0.4), diagnostics={"probability_unseen": 0.999})
    after = calibrated(before, held_out)
    assert after.unseen == before.unseen
    assert after.diagnostics == before.diagnostics
    assert np.array_equal(after.intervals, before.intervals)
    assert after.notices == ()


def test_the_lower_end_is_not_below_what_must_be_new() -> None:
    limits = Tolerance(np.array([0.1]), np.array([0.4]))
    held_out = HeldOut(("p", "q"), (90, 90), [0.0, 0.0], [0.5, 2.0], limits)
    assert held_out.must == pytest.approx(0.25)
    result = calibrated(found(0.1, (0.0, 0.2)), held_out)
    assert result.unseen == pytest.approx(0.25)
    assert result.intervals[-1].tolist() == pytest.approx([0.25, 0.25])


def test_small_parts_are_named() -> None:
    held_out = HeldOut(("p", "q"), (10, 12), [0.0, 0.0], [1.0, 1.0], NO_LIMITS)
    assert [one.code for one in held_out.notices(100)] == ["held_out_small"]


def test_distances_are_to_other_groups() -> None:
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(40, 3)), np.repeat(np.arange(4), 10)
    far = between_groups(X[:1], X, groups, np.random.RandomState(0))
    pairs = np.linalg.norm(X[:, None] - X, axis=2)
    pairs[groups[:, None] == groups] = np.inf
    assert far.labelled[:, 0] == pytest.approx(np.sort(pairs, axis=1)[:, :3].mean(axis=1))
    assert far.new[0, 0] < far.labelled[0, 0]


def test_a_new_group_needs_a_larger_factor_than_all_as_often_as_chance_allows() -> None:
    n_groups, n_rows, n_trials = 9, 60, 300
    rng = np.random.default_rng(1)
    exceeds = claims = 0
    for _ in range(n_trials):
        offsets = rng.normal(0, 1, n_groups + 1)
        scores = rng.normal(0, 1, (n_groups + 1, n_rows)) + offsets[:, None]
        old, groups = scores[:-1].reshape(-1, 1), np.repeat(np.arange(n_groups), n_rows)
        limits, factors = group_tolerance(scores[-1][:, None], old, np.zeros(len(old)), groups)
        shares = (scores[-1][:, None] > np.quantile(old, 1 - limits.alpha)).mean(axis=0)
        exceeds += (shares / limits.alpha).max() > factors.max()
        claims += limits.must(max(1.0, factors.max())) > 0
    chance = n_trials / (n_groups + 1)
    assert exceeds < chance + 3 * np.sqrt(chance)
    assert exceeds > chance - 3 * np.sqrt(chance)
    assert claims <= exceeds


def test_parts_hold_as_many_groups_as_the_new_rows() -> None:
    group = np.repeat(np.arange(40), 50)
    parts = held_out_parts(group, 3, np.random.RandomState(0))
    assert [len(part) for part in parts] == [3] * 10
    assert len(np.unique(np.concatenate(parts))) == 30
    assert len(held_out_parts(np.repeat(np.arange(2), 50), 5, np.random.RandomState(0))) == 2
    small = np.repeat(np.arange(12), 20)  # of 20 rows: two groups make a part
    assert [len(part) for part in held_out_parts(small, 1, np.random.RandomState(0))] == [2] * 6


@pytest.fixture(scope="module")
def persons() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Three persons of 40 rows, two classes, and 50 rows of a new person with a new class."""
    rng = np.random.default_rng(0)
    person, y = np.repeat([0, 1, 2], 40), np.tile([0, 1], 60)
    offsets = rng.normal(0, 0.5, (4, 4))
    X = rng.normal(0, 1, (120, 4)) + 4.0 * y[:, None] + offsets[person]
    known = rng.normal(0, 1, (30, 4)) + 4.0 * np.tile([0, 1], 15)[:, None]
    new = np.vstack([known, rng.normal([12, -12, 12, -12], 1, (20, 4))]) + offsets[3]
    return X, y, person, new


def test_estimate_with_groups(persons) -> None:
    X, y, person, X_new = persons
    heard: list[float] = []
    found = unseen.estimate(
        X, y, X_new, groups=person, confidence=0.95, random_state=0, progress=heard.append
    )
    assert found.held_out.groups
    assert sorted(found.held_out.groups) == ["0", "1", "2"]
    assert found.held_out.n_rows == (40, 40, 40)
    assert found.held_out.chance == 0.25
    assert 0.1 < found.held_out.must <= found.intervals[-1, 0] < 0.4
    assert heard == sorted(heard)
    assert heard[-1] == 1.0
    assert found.to_dict()["held_out"]["must"] == found.held_out.must


def test_errors_name_the_argument(persons) -> None:
    X, y, person, X_new = persons
    with pytest.raises(ValueError, match=r"groups must hold one group per row of X, 120"):
        unseen.estimate(X, y, X_new, groups=person[:5])
    with pytest.raises(ValueError, match=r"groups must hold at least two groups; got only '7'"):
        unseen.estimate(X, y, X_new, groups=np.full(120, 7))
    with pytest.raises(ValueError, match=r"groups must have no missing values; got 1 of 120"):
        unseen.estimate(X, y, X_new, groups=[None, *["p"] * 119])
    with pytest.raises(ValueError, match=r"groups_new must hold one group per row of X_new, 50"):
        unseen.estimate(X, y, X_new, groups=person, groups_new=person)
    with pytest.raises(ValueError, match=r"groups_new needs groups"):
        unseen.estimate(X, y, X_new, groups_new=person)
    with pytest.raises(ValueError, match=r"must not be given together"):
        unseen.estimate(X, y, X_new, groups=person, control=X)
    with pytest.raises(ValueError, match=r"sees the unseen; got SaerensEM"):
        unseen.estimate(X, y, X_new, groups=person, estimator=unseen.SaerensEM())


def test_a_class_in_one_group_is_named(persons) -> None:
    X, _y, person, _ = persons
    fitted = unseen.OpenSetEstimator().fit(X, np.where(person == 2, "late", "early"))
    late, few = _group_notices(fitted.labelled_, person, np.array(["p", "q", "r"]))
    assert (late.code, late.about) == ("class_in_one_group", "late")
    assert "are of group r, so" in late.text
    assert (few.code, few.severity) == ("few_groups", "note")
    assert "so 2 groups make 2 folds" in few.text


@pytest.mark.parametrize("n_new_groups", [1, 2, 3])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_few_groups_leave_models_of_both_samples_in_every_fold(n_groups, n_new_groups) -> None:
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(40 * n_groups, 2)), np.tile(["a", "b"], 20 * n_groups)
    X[y == "b"] += 4
    X_new = np.concatenate([X[:60] + 0.1, rng.normal(9, 1, size=(30, 2))])
    groups, groups_new = np.arange(len(X)) // 40, np.arange(90) % n_new_groups
    answer = unseen.estimate(X, y, X_new, groups=groups, groups_new=groups_new, random_state=0)
    assert len(answer.held_out.groups) == n_groups
    assert answer.unseen == pytest.approx(1 / 3, abs=0.1)


def test_classes_in_one_group_each_cannot_be_held_out() -> None:
    X, y = np.random.RandomState(0).normal(size=(60, 2)), np.repeat(["a", "b", "c"], 20)
    with pytest.raises(ValueError, match=r"some class in two groups.*got 3 groups, and each"):
        unseen.estimate(X, y, X + 0.1, groups=y)
