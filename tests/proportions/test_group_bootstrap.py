"""Intervals where whole persons are drawn: as wide as the number of persons says, not of rows."""

import numpy as np
import pytest

from unseen.mixture.placement import Candidates
from unseen.proportions.bootstrap import (
    bootstrap_means,
    drawn_groups,
    em_replicates,
    labelled_noise,
)
from unseen.samples import Clusters
from unseen.scores import Posteriors

N_GROUPS, SIZE, DRAWS = 12, 25, 4000


def test_means_of_groups_have_the_variance_of_group_sums() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(N_GROUPS), SIZE)
    rows = rng.normal(size=(N_GROUPS, 2))[groups] + rng.normal(size=(N_GROUPS * SIZE, 2))
    means = bootstrap_means(rows, 20_000, rng, groups)
    by_group = rows.reshape(N_GROUPS, SIZE, 2).mean(axis=1)
    assert means.var(axis=0) == pytest.approx(by_group.var(axis=0, ddof=1) / N_GROUPS, rel=0.05)
    assert means.mean(axis=0) == pytest.approx(rows.mean(axis=0), abs=0.02)


@pytest.fixture(scope="module")
def record() -> Posteriors:
    """Classes that nothing confuses; all new rows of a person are of one class."""
    new = np.repeat(np.arange(N_GROUPS) < N_GROUPS // 3, SIZE)
    codes = np.tile([0, 1], 60)
    sure = np.column_stack([new, ~new]).astype(float)
    return Posteriors((0, 1), codes, np.eye(2)[codes], sure)


def with_groups(record: Posteriors, labelled, new) -> Posteriors:
    own = np.arange(len(record.codes)), np.arange(1000, 1000 + record.n_new)
    clusters = Clusters(*own, (labelled, new))
    return Posteriors(record.classes, record.codes, record.labelled, record.new, clusters=clusters)


def test_groups_are_drawn_whole_unless_most_rows_are_alone(record) -> None:
    in_pairs, alone = np.repeat(np.arange(60, 0, -1), 2), np.arange(record.n_new)
    found = with_groups(record, in_pairs, alone)
    assert drawn_groups(found, 0).tolist() == np.repeat(np.arange(59, -1, -1), 2).tolist()
    assert drawn_groups(found, 1) is None
    assert drawn_groups(record, 0) is None


def test_shares_vary_as_persons_do(record) -> None:
    shares, alone = np.array([1 / 3, 2 / 3]), np.arange(120)
    persons = np.repeat(np.arange(500, 500 + N_GROUPS), SIZE)
    rows = em_replicates(record, shares, DRAWS, np.random.default_rng(0))
    drawn = em_replicates(
        with_groups(record, alone, persons), shares, DRAWS, np.random.default_rng(0)
    )
    spread = 1 / 3 * 2 / 3
    assert rows[:, 0].var() == pytest.approx(spread / (N_GROUPS * SIZE + 1), rel=0.08)
    assert drawn[:, 0].var() == pytest.approx(spread / (N_GROUPS - 1), rel=0.08)


def test_labelled_persons_move_all_their_classes_at_once() -> None:
    """The tilt of a person's weight is linear: its variance is that of sums over persons."""
    rng = np.random.default_rng(1)
    person, codes = np.repeat(np.arange(N_GROUPS), SIZE), np.tile([0, 1], N_GROUPS * SIZE // 2)
    log_odds = 2.0 * codes - 1 + rng.normal(0, 1.5, N_GROUPS)[person]
    second = 1 / (1 + np.exp(-log_odds))
    given = Posteriors((0, 1), codes, np.column_stack([1 - second, second]), np.eye(2))
    found = with_groups(given, person, np.array([70, 71]))
    shares = np.array([0.4, 0.6])
    noise = labelled_noise(found, shares, 20_000, rng)
    ratios = given.labelled / given.prior
    slopes = (ratios / (ratios @ shares)[:, None])[:, 0]
    means = np.array([slopes[codes == code].mean() for code in (0, 1)])
    pull = (shares * 2)[codes] * (slopes - means[codes])
    by_person = pull.reshape(N_GROUPS, SIZE).mean(axis=1)
    assert noise[:, 0].std() == pytest.approx(by_person.std(ddof=1) / np.sqrt(N_GROUPS), rel=0.03)
    assert noise[:, 0].std() > 2 * labelled_noise(given, shares, 2000, rng)[:, 0].std()


def test_rows_of_persons_weigh_as_many_rows_as_they_are_worth() -> None:
    rng = np.random.default_rng(2)
    person, n_new = np.repeat(np.arange(40), 5), 100
    scores = np.repeat(rng.normal(size=40), 5)[:, None]  # all rows of a person are alike
    new = rng.normal(size=(n_new, 1))
    alone = Clusters(np.arange(200), np.arange(200, 300))
    groups = Clusters(alone.labelled, alone.new, (person, np.arange(100, 200)))
    masses = [
        Candidates(new, scores, np.zeros(1), clusters).cells().labelled.sum()
        for clusters in (None, alone, groups)
    ]
    assert masses[0] == pytest.approx(masses[1])
    assert masses[2] == pytest.approx(masses[0] / 5)
