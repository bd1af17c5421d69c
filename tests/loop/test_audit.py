"""Shares by people's labels are valid whatever the model, and their errors are clear."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta

import unseen
from unseen.drift import Drift, Tolerance
from unseen.loop.audit import _corrected
from unseen.loop.sheet import draw_probabilities, draw_rows
from unseen.loop.strata import Stratum, class_strata, share_interval
from unseen.records import Estimate

ROUNDING = 2e-3


def counted(weight: float, x: float, n: float) -> Stratum:
    """The stratum of a uniform draw: x of n labels are of the class."""
    return Stratum(weight, x / n, (x + 0.5, n - x + 0.5))


@pytest.mark.parametrize(("x", "n"), [(3, 30), (29, 30), (11, 40)])
def test_one_stratum_has_the_limits_of_jeffreys(x, n) -> None:
    share, lower, upper = share_interval([counted(1.0, x, n)])
    assert share == x / n
    twin = beta.ppf([0.025, 0.975], x + 0.5, n - x + 0.5)
    assert (lower, upper) == pytest.approx(tuple(twin), abs=ROUNDING)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("split", [0, 12])
def test_a_class_without_labels_has_the_exact_limit_of_none(confidence, split) -> None:
    """All the error is of the upper end: at the limit none of n is drawn with 1 - confidence.

    It hardly changes where a model splits the rows, so two half rows are one whole row.
    """
    nobody, inside = np.zeros(40, bool), np.arange(40) < split
    alike = np.full(40, 1e-9)
    for flip in (False, True):
        strata = class_strata(nobody ^ flip, inside, alike, split / 40)
        share, lower, upper = share_interval(strata, confidence)
        assert share == flip
        found = (1 - lower, 1 - upper) if flip else (upper, lower)
        exact = 1 - (1 - confidence) ** (1 / 40)
        assert found == pytest.approx((exact, 0.0), abs=0.005 if split else ROUNDING)


def test_two_pure_strata_are_no_wider_than_exact_limits_of_both() -> None:
    strata = [counted(0.25, 15, 15), counted(0.75, 0, 45)]
    share, lower, upper = share_interval(strata)
    assert share == 0.25
    assert lower >= 0.25 * beta.ppf(0.025, 15, 1) - ROUNDING
    assert upper <= 0.25 + 0.75 * beta.ppf(0.975, 1, 45) + ROUNDING


def test_all_rows_labelled_leave_no_doubt() -> None:
    truth = np.repeat(["a", "b", "new"], [5, 3, 2])
    found = unseen.audit(np.repeat("a", 10), np.arange(10), truth, known=["a", "b"])
    assert np.allclose(found.corrected.intervals, [[0.5, 0.5], [0.3, 0.3], [0.2, 0.2]])
    assert found.named["new"] == pytest.approx((0.2, 0.2, 0.2))


def test_weights_undo_an_uneven_draw() -> None:
    is_class = np.repeat([True, False], [30, 30])
    probabilities = np.repeat([0.3, 0.1], 30)
    (stratum,) = class_strata(is_class, np.zeros(60, bool), probabilities, 0.0)
    assert stratum.share == pytest.approx((30 / 0.3) / (30 / 0.3 + 30 / 0.1))
    # The variance of a ratio, as of labels that are drawn one by one.
    weights = 1 / probabilities
    residual = weights * (is_class - stratum.share)
    variance = (residual @ residual) / weights.sum() ** 2
    assert beta.var(*stratum.beta) == pytest.approx(variance, rel=0.1)


@pytest.mark.parametrize("x", [0, 1, 7, 19, 20])
def test_equal_weights_make_the_distribution_of_a_count(x) -> None:
    drawn = Stratum.drawn(np.arange(20) < x, np.full(20, 1e-6), 1.0)
    assert_allclose(drawn.beta, counted(1.0, x, 20).beta)


def test_more_labels_of_the_same_kind_are_a_larger_count() -> None:
    assert counted(1.0, 3, 30).with_more(2).beta == counted(1.0, 6, 60).beta


def test_a_class_of_rows_that_are_seldom_drawn_is_not_ruled_out_too_soon() -> None:
    """None of 40 labels is of the class; rows of large weight were drawn only 20 times."""
    probabilities = np.repeat([0.5, 0.01], 20)
    nobody = np.zeros(40, bool)
    _, _, upper = share_interval(class_strata(nobody, nobody, probabilities, 0.0))
    assert upper > 1 - 0.05 ** (1 / 22)


def case(rng, kind: str):
    """Truth and a model's probability of unseen, of kinds that models and drifts can take."""
    m = int(rng.choice([200, 1000, 4000]))
    truth = rng.uniform(size=m) < rng.choice([0.0, 0.03, 0.1, 0.3, 0.7])
    if kind == "copies":
        truth = np.repeat(truth[: m // 10], 10)
    right, wrong = rng.beta(8, 2, len(truth)), rng.beta(2, 8, len(truth))
    eta = {
        "drift": rng.beta(50, 1, len(truth)),
        "hidden": rng.beta(1, 50, len(truth)),
        "wrong": np.where(truth, wrong, right),
    }.get(kind, np.where(truth, right, wrong))
    return truth, eta


def test_intervals_hold_whatever_the_model_and_are_no_wider_than_the_uniform_half() -> None:
    """120 cases of drift, (A) violated, wrong models and copies: 95%, within 3 standard errors."""
    rng, held, widths = np.random.RandomState(0), [], []
    for place in range(120):
        truth, eta = case(rng, ["right", "drift", "hidden", "wrong", "copies"][place % 5])
        n_rows = int(rng.choice([30, 60]))
        posteriors = np.column_stack([1 - eta, eta])
        probabilities = draw_probabilities(posteriors, np.zeros(len(eta), int), n_rows)
        rows = draw_rows(probabilities, rng)
        strata = class_strata(truth[rows], eta[rows] > 0.5, probabilities[rows], np.mean(eta > 0.5))
        _, lower, upper = share_interval(strata)
        held.append(lower - 1e-9 <= truth.mean() <= upper + 1e-9)
        half = rng.choice(len(truth), n_rows // 2, replace=False)
        chance = np.full(len(half), len(half) / len(truth))
        alone = share_interval(class_strata(truth[half], np.zeros(len(half), bool), chance, 0.0))
        widths.append((upper - lower, alone[2] - alone[1]))
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / 120) <= np.mean(held)
    ours, uniform = np.mean(widths, axis=0)
    assert ours <= 0.8 * uniform


def test_people_contradict_an_estimate_that_takes_all_for_new() -> None:
    estimate = Estimate(
        ("cat",), [0.01], 0.99, "m", {"cat": 9}, 1000, [[0.0, 0.02], [0.98, 1.0]], 0.95
    )
    found = unseen.audit(["unseen"] * 1000, np.arange(30), ["cat"] * 30, estimate=estimate)
    assert found.verdict == "too high"
    assert found.called_unseen == (30, 0)
    assert found.sentence().startswith(
        "30 rows labelled, none of a new class: at most 9.3% of the new rows are; the estimate "
        "said 99%."
    )
    assert found.after_more[1] < found.half_width
    assert unseen.audit(["cat"] * 99, [1, 2], ["emu", "emu"], estimate=estimate).verdict == "agrees"


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ((0.1, 0.2), "too low"),
        ((0.2, 0.4), "agrees"),
        ((0.6, 0.8), "agrees"),
        ((0.8, 0.9), "too high"),
    ],
)
def test_an_estimate_agrees_where_its_interval_meets_that_of_the_labels(ends, verdict) -> None:
    """20 of 40 labelled rows are new: 36% to 64%."""
    unseen_share = sum(ends) / 2
    intervals = [[0.0, 1.0], [*ends]]
    shares = [1 - unseen_share], unseen_share
    estimate = Estimate(("cat",), *shares, "m", {"cat": 9}, 400, intervals, 0.95)
    labels = ["cat", "emu"] * 20
    found = unseen.audit(["cat"] * 400, np.arange(40), labels, estimate=estimate)
    assert found.verdict == verdict


def test_shares_that_strata_leave_apart_are_scaled_to_one() -> None:
    found = np.array([[0.3, 0.2, 0.4], [0.3, 0.2, 0.4], [0.6, 0.5, 0.7]])
    corrected = _corrected(found, ("cat", "dog"), np.array(["cat", "emu"]), 400, 0.95)
    assert_allclose([*corrected.proportions, corrected.unseen], [0.25, 0.25, 0.5])
    assert_allclose(corrected.intervals, [[0.2, 0.4], [0.2, 0.4], [0.5, 0.7]])


def test_rows_that_nobody_could_tell_widen_the_interval_both_ways() -> None:
    rows, sure = np.arange(40), ["cat"] * 30 + ["emu"] * 10
    doubtful = [*["cat"] * 25, *["?"] * 5, *["emu"] * 10]
    both = [unseen.audit(["cat"] * 400, rows, labels) for labels in (sure, doubtful)]
    (low, high), (lower, higher) = (one.corrected.intervals[-1] for one in both)
    assert lower <= low < high < higher
    assert both[1].n_not_told == 5


def test_stopping_early_is_a_smaller_draw_and_gaps_are_doubts() -> None:
    guesses, rows = ["cat"] * 400, np.arange(40)
    stopped = unseen.audit(guesses, rows, [*["cat", "emu"] * 10, *[None] * 20])
    smaller = unseen.audit(guesses, rows[:20], ["cat", "emu"] * 10)
    assert np.allclose(stopped.corrected.intervals, smaller.corrected.intervals)
    assert stopped.notices == ()
    gaps = unseen.audit(guesses, rows, ["cat", None] * 20)
    assert [notice.code for notice in gaps.notices] == ["labels_out_of_order"]
    assert gaps.n_not_told == 20


@pytest.mark.parametrize(
    ("rows", "labels", "probabilities", "words"),
    [
        ([0, 1], ["cat"], None, "labels must be as many as rows"),
        ([0, 0], ["cat", "cat"], None, "rows must be different"),
        ([0, 99], ["cat", "cat"], None, "from 0; got 99"),
        ([0, 1], ["cat", "cat"], [0.5, 0.0], "probabilities must be"),
        ([0, 1], [None, "?"], None, "at least one row; got none"),
        ([], [], None, "rows must be different|at least one row"),
    ],
)
def test_bad_labels_get_a_clear_error(rows, labels, probabilities, words) -> None:
    with pytest.raises(ValueError, match=words):
        unseen.audit(["cat"] * 10, rows, labels, probabilities)


def test_other_bad_arguments_are_named() -> None:
    guesses = ["cat"] * 10
    for level in (0, 1, 95):
        with pytest.raises(ValueError, match=f"confidence must lie strictly .*; got {level}"):
            unseen.audit(guesses, [0], ["cat"], confidence=level)
    for strange in ([np.nan] * 10, [guesses], [None, *guesses[1:]]):
        with pytest.raises(ValueError, match="guesses must be one label for each new row"):
            unseen.audit(strange, [0], ["cat"])
    with pytest.raises(TypeError, match=r"labels must hold one label for each row; got \['cat'\]"):
        unseen.audit(guesses, [0], [["cat"]])


@pytest.mark.parametrize(
    "ask",
    [
        lambda labels, known: unseen.audit(known * 10, range(20), labels * 20, known=known),
        lambda labels, known: unseen.promote(range(20), labels * 20, 20, known=known),
    ],
)
def test_a_known_class_in_another_type_or_spelling_is_no_new_class_in_silence(ask) -> None:
    """A sheet that was read as text has "1" for 1; people write "Cat" for "cat"."""
    with pytest.raises(TypeError, match="of the type of the known classes; got '1' for 1"):
        ask(["1"], [1, 2])
    assert [notice.code for notice in ask(["Cat"], ["cat", "dog"]).notices] == ["labels_alike"]
    assert ask(["emu"], ["cat", "dog"]).notices == ()
    assert ask([np.int64(2)], [1, 2]).notices == ()


def test_an_audit_is_plain_types_in_json() -> None:
    import json

    found = unseen.audit([1, 1, 2, -1] * 20, np.arange(9), [1, 2, 7] * 3, unseen_label=-1)
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["corrected"]["classes"] == [1, 2]
    assert [one["name"] for one in record["named"]] == ["7"]
    assert "20 more labels" in str(found)


def test_empty_cells_are_rows_that_nobody_looked_at() -> None:
    """Libraries of tables have NaN for an empty cell: it is no name of a new class."""
    guesses, rows = np.repeat(["cat", "unseen"], [60, 40]), np.arange(20, 80)
    labels = [*np.repeat(["cat", "emu"], [20, 10]), *([None] * 30)]
    wanted = unseen.audit(guesses, rows, labels)
    for empty in (np.nan, "", pd.NA, pd.NaT):
        found = unseen.audit(guesses, rows, [empty if label is None else label for label in labels])
        assert found.to_dict() == wanted.to_dict()


@pytest.mark.parametrize("least", [1e-320, 1e-170, 1e-9])
def test_a_row_that_is_hardly_ever_drawn_leaves_shares_on_the_simplex(least) -> None:
    guesses = np.repeat(["cat", "dog", "unseen"], 10)
    chances = np.append(np.full(19, 0.5), least)
    labels = np.repeat(["cat", "emu"], 10)
    found = unseen.audit(guesses, np.arange(20), labels, chances).corrected
    shares = np.append(found.proportions, found.unseen)
    assert shares.sum() == pytest.approx(1.0)
    assert (found.intervals[:, 0] <= shares).all()
    assert (shares <= found.intervals[:, 1]).all()


def test_an_audit_says_where_an_estimate_overlaps_or_cannot_tell() -> None:
    guesses = np.repeat(["cat", "unseen"], [80, 20])

    def said(unseen_share: float, ends: tuple[float, float], drift: Drift | None = None) -> str:
        known = [1 - unseen_share]
        limits = [[1 - ends[1], 1 - ends[0]], ends]
        given = {"n_labelled": {"cat": 9}, "n_new": 100, "intervals": limits, "drift": drift}
        estimate = Estimate(("cat",), known, unseen_share, "m", confidence=0.95, **given)
        rows, labels = np.arange(0, 100, 2), ["cat"] * 40 + ["dog"] * 10
        return unseen.audit(guesses, rows, labels, estimate=estimate).sentence()

    assert said(0.2, (0.1, 0.3)).endswith("Both agree.")
    assert said(0.0, (0.0, 0.3)).endswith("overlap; the labels' share is the one to use.")
    far = Drift("moved", 0.99, Tolerance(np.zeros(0), np.zeros(0)), 0.9, far=True)
    assert said(0.0, (0.0, 1.0), far).endswith("the estimate could not tell.")
