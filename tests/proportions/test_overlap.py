"""Slopes that sum to far more than 1: exact densities whose slopes are known, and the notice."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from unseen import OpenSetEstimator
from unseen.mixture.placement import PlacementPosterior, for_intervals
from unseen.proportions.overlap import known_overlap, slope_total
from unseen.scores import OpenScores, Posteriors
from unseen.scores.base import RatioScores

N_ROWS = 1000


def exact_scores(classes, new_law):
    """Scores by true densities of classes that are laws over the stretches 0, 1, 2 ... of a line.

    A little noise that no density knows makes an order within each stretch.
    """
    classes = np.array(classes) + 1e-6
    classes /= classes.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(len(classes)), N_ROWS)
    place = np.concatenate([rng.choice(classes.shape[1], N_ROWS, p=law) for law in classes])
    place_new = rng.choice(classes.shape[1], N_ROWS, p=new_law)
    even = np.full(len(classes), 1 / len(classes))
    posterior = (classes / classes.sum(axis=0)).T
    ratio = np.log(np.maximum(new_law, 1e-9) / (even @ classes))
    noise = 1e-3 * rng.random((len(codes) + N_ROWS, 1))
    labels = tuple(range(len(classes)))
    posteriors = Posteriors(labels, codes, posterior[place], posterior[place_new])
    new, labelled = ratio[place_new, None] + noise[:N_ROWS], ratio[place, None] + noise[N_ROWS:]
    ratios = RatioScores(new, labelled, np.zeros(1))
    return OpenScores(labels, codes, posteriors, ratios, even, even, seed=0)


@pytest.mark.parametrize(
    ("classes", "new", "total"),
    [
        ([[1.0, 0, 0], [0, 1, 0]], [0.3, 0.7, 0], 1.0),
        ([[1.0, 0, 0], [0, 1, 0]], [0.3, 0.3, 0.4], 0.6),
        # The third class is a mixture of the others: new rows of it would do for all three.
        ([[1.0, 0], [0, 1], [0.5, 0.5]], [0.5, 0.5], 2.0),
    ],
    ids=["apart", "something unseen", "one inside the others"],
)
def test_slopes_sum_to_what_the_densities_say(classes, new, total) -> None:
    scores = exact_scores(classes, np.array(new))
    assert slope_total(scores) == pytest.approx(total, abs=0.1)
    overlap, notices = known_overlap(scores)
    assert (overlap > 1) == bool(notices) == (total > 1.5)


def test_the_default_says_so() -> None:
    scores = exact_scores([[1.0, 0], [0, 1], [0.5, 0.5]], np.array([0.5, 0.5]))
    notices = OpenSetEstimator(prior_moved=0).read(scores).notices
    assert [notice.code for notice in notices] == ["overlapping_classes"]
    assert "account for 197%" in notices[0].text


@given(st.floats(0.001, 0.7), st.floats(1.5, 5))
def test_only_the_upper_end_moves_and_stays_a_share(middle, overlap) -> None:
    share = 1 - middle * np.array([1.1, 1.0, 0.9])
    posterior = PlacementPosterior(share, np.full(3, 1 / 3), 0.0, 0.9, np.ones((1, 1)))
    plain, wide = (1 - for_intervals(replace(posterior, overlap=c)).share for c in (1, overlap))
    assert_allclose(wide[1:], plain[1:])
    # The odds of being unseen grow by the overlap.
    assert_allclose(wide[0] / (1 - wide[0]), overlap * plain[0] / (1 - plain[0]))


def test_one_class_overlaps_no_other() -> None:
    ratios = RatioScores(np.zeros((5, 1)), np.zeros((5, 1)), np.zeros(1))
    scores = OpenScores(("a",), np.zeros(5, int), None, ratios, np.ones(1), np.ones(1), seed=0)
    assert slope_total(scores) == 1
    assert known_overlap(scores) == (1, ())


def test_of_very_many_rows_a_draw_holds_every_class(monkeypatch) -> None:
    scores = exact_scores([[1.0, 0], [0, 1], [0.5, 0.5]], np.array([0.5, 0.5]))
    kept = np.append(np.arange(1000), [1000, 2000])  # of two classes a single row
    posteriors = scores.posteriors
    few = replace(
        scores,
        codes=scores.codes[kept],
        posteriors=replace(
            posteriors, codes=posteriors.codes[kept], labelled=posteriors.labelled[kept]
        ),
        ratios=replace(scores.ratios, labelled=scores.ratios.labelled[kept]),
    )
    whole = slope_total(scores)
    monkeypatch.setattr("unseen.samples.draws._ENOUGH_ROWS", 300)
    assert slope_total(scores) == pytest.approx(whole, abs=0.2)
    assert np.isfinite(slope_total(few))
