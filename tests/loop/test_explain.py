"""Groups of unseen rows add up to the unseen share, and say what they are."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

import unseen
from unseen.loop import Column
from unseen.loop.clauses import describe, group_differences, rows_kept, top_words
from unseen.loop.explain import _Near, unseen_weights
from unseen.loop.groups import Grouping
from unseen.rejection import OutOfFold, Shares

CLASSES = np.array(["ant", "bee", "unseen"])


class Given:
    """A rule whose probabilities are given: what explain reads of a fitted rule."""

    def __init__(self, codes, eta, share) -> None:
        known = np.column_stack([1 - eta, np.zeros_like(eta), eta])
        self.out_of_fold_ = OutOfFold(np.zeros((len(codes), 3)), codes, known)
        self.shares_ = Shares(np.array([1 - share, 0.0]))
        self.classes_ = CLASSES


@pytest.fixture(scope="module")
def rows():
    """Ants and bees; of 300 new rows 60 are of a clump far away and 40 of another."""
    rng = np.random.RandomState(0)
    y = np.repeat(["ant", "bee"], 100)
    X = rng.normal(size=(200, 3)) + np.where(y == "ant", 0, 6)[:, None] * [1, 0, 0]
    parts = [rng.normal(size=(200, 3)), rng.normal([0, 9, 0], 1, (60, 3))]
    X_new = np.vstack([*parts, rng.normal([0, 0, 12], 1, (40, 3))])
    eta = np.where(np.arange(300) < 200, 0.05, 0.9)
    return X, y, X_new, eta


@pytest.fixture(scope="module")
def found(rows):
    X, y, X_new, eta = rows
    rule = Given(np.searchsorted(CLASSES[:2], y), eta, 0.35)
    names = [Column("size", 10, 2), "length", "mass"]
    texts = ["hum in the sky"] * 200 + ["sing a song"] * 60 + ["dig the ground"] * 40
    return unseen.explain(rule, X, y, X_new, columns=names, texts=texts, random_state=0)


def test_shares_of_groups_sum_to_the_unseen_share(found) -> None:
    assert sum(group.share for group in found.groups) == pytest.approx(0.35)
    assert found.weights.mean() == pytest.approx(0.35)
    assert [group.number for group in found.groups] == [1, 2]
    assert all(group.low < group.share < group.high for group in found.groups)
    assert np.bincount(found.group_of_row).tolist() == [200, 60, 40]


class Shredded(unseen.KnownWidth):
    """Groups the first 60 rows as one, and the others in groups of 8, too small to be one."""

    def group(self, X, *others) -> Grouping:
        labels = np.r_[np.zeros(60, int), 1 + np.arange(40) // 8]
        centres = [X[labels == one].mean(axis=0) for one in range(6)]
        return Grouping(labels, np.array(centres), (6, 6))


def test_small_groups_are_one_group_that_is_called_scattered_however_it_lies(rows) -> None:
    X, y, X_new, eta = rows
    rule = Given(np.searchsorted(CLASSES[:2], y), eta, 0.35)
    found = unseen.explain(rule, X, y, X_new, groups=Shredded(), random_state=0)
    assert np.bincount(found.group_of_row).tolist() == [200, 60, 40]
    assert [group.verdict for group in found.groups] == ["a clump of its own", "scattered"]


def test_neither_order_nor_units_change_the_groups(rows, found) -> None:
    X, y, X_new, eta = rows
    order, columns = np.random.default_rng(0).permutation(300), [2, 0, 1]
    rule = Given(np.searchsorted(CLASSES[:2], y), eta[order], 0.35)
    moved = [sample[:, columns] * 1e6 - 7 for sample in (X, X_new[order])]
    again = unseen.explain(rule, moved[0], y, moved[1], random_state=0)
    assert again.group_of_row.tolist() == found.group_of_row[order].tolist()
    shares = [[group.share for group in one.groups] for one in (found, again)]
    # Rows are drawn for the units, and known rows between the groups count, a little, for either.
    assert shares[1] == pytest.approx(shares[0], abs=1e-3)
    moved = [sample[:, columns] * 1e6 - 7 for sample in (X, X_new)]
    rule = Given(np.searchsorted(CLASSES[:2], y), eta, 0.35)
    again = unseen.explain(rule, moved[0], y, moved[1], random_state=0)
    assert [one.share for one in again.groups] == pytest.approx(shares[0], abs=1e-9)


def test_a_column_of_much_scatter_hides_no_groups_and_widens_no_intervals(rows, found) -> None:
    """k-means in the units given would part rows by the first column, however often drawn."""
    X, y, X_new, eta = rows
    rule = Given(np.searchsorted(CLASSES[:2], y), eta, 0.35)
    X, X_new = X * [9, 1, 1], X_new * [9, 1, 1]
    again = unseen.explain(rule, X, y, X_new, random_state=0)
    assert again.group_of_row.tolist() == found.group_of_row.tolist()
    widths = [[group.high - group.low for group in one.groups] for one in (found, again)]
    assert widths[1] == pytest.approx(widths[0], rel=0.2)


def test_groups_are_clumps_with_their_columns_examples_and_words(found) -> None:
    first, second = found.groups
    assert {first.verdict, second.verdict} == {"a clump of its own"}
    assert first.nearest == second.nearest == "ant"
    assert first.columns[0][0] == 1
    assert second.columns[0][0] == 2
    assert set(first.central) | set(first.borderline) <= set(range(200, 260))
    assert len(set(first.spread)) == 3
    assert first.words[0][0] in {"sing", "song"}
    assert second.words[0][0] in {"dig", "ground"}
    text = first.sentence.text(found.columns)
    assert text.startswith("length > ")
    assert text in str(found)


def only_group(rows, X_unseen, n_copies=1):
    """The group of 20 new rows beside 80 ants, where every ant and bee is labelled so often."""
    X, y, _, _ = rows
    rng = np.random.RandomState(1)
    X, y = np.tile(X, (n_copies, 1)) + rng.normal(0, 0.1, (200 * n_copies, 3)), np.tile(y, n_copies)
    X_new = np.vstack([rng.normal(size=(80, 3)), X_unseen])
    rule = Given(np.searchsorted(CLASSES[:2], y), np.repeat([0.02, 0.9], [80, 20]), 0.2)
    (group,) = unseen.explain(rule, X, y, X_new, random_state=0).groups
    return group


def test_a_group_beside_a_class_is_its_rim_and_one_amid_two_is_between_them(rows) -> None:
    rng = np.random.RandomState(2)
    amid = rng.normal(0, 0.8, (20, 3)) + np.linspace(0, 6, 20)[:, None] * [1, 0, 0]
    rim, between = only_group(rows, rng.normal(0, 1.2, (20, 3))), only_group(rows, amid)
    assert (rim.verdict, rim.nearest, between.verdict) == ("the rim of", "ant", "between")
    assert max(rim.isolation, between.isolation) < 0.5


@pytest.mark.parametrize("n_copies", [1, 10])
def test_a_class_near_another_is_not_its_rim_however_many_rows_are_labelled(rows, n_copies) -> None:
    near = np.random.RandomState(2).normal([0, 2.5, 0], 0.7, (20, 3))
    assert only_group(rows, near, n_copies).verdict == "a clump of its own"


def test_nothing_unseen_has_no_groups(rows) -> None:
    X, y, X_new, eta = rows
    rule = Given(np.searchsorted(CLASSES[:2], y), eta, 0.0)
    found = unseen.explain(rule, X, y, X_new)
    assert found.groups == ()
    assert str(found) == "No rows look unseen, so there are no groups of them."
    assert not found.group_of_row.any()


def test_sparse_rows_are_explained_as_dense_ones(rows, found) -> None:
    X, y, X_new, eta = rows
    rule = Given(np.searchsorted(CLASSES[:2], y), eta, 0.35)
    other = unseen.explain(rule, csr_array(X), y, csr_array(X_new), random_state=0)
    assert np.array_equal(other.group_of_row, found.group_of_row)


def test_an_explanation_is_plain_types_in_json(found) -> None:
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["groups"][0]["columns"][0]["name"] == "length"
    assert min(record["groups"][0]["central"]) > 200


def test_other_rows_than_those_of_the_fit_are_refused(rows) -> None:
    X, y, X_new, eta = rows
    rule = Given(np.searchsorted(CLASSES[:2], y), eta, 0.3)
    with pytest.raises(ValueError, match="must be the rows that rule was fitted to, 200 and 300"):
        unseen.explain(rule, X, y, X_new[:10])
    with pytest.raises(ValueError, match="columns must name 3 columns; got 1"):
        unseen.explain(rule, X, y, X_new, columns=["size"])


def test_a_sentence_names_a_side_of_a_column_once() -> None:
    """A third of the group are strays: two clauses on one side cut them off, and make one."""
    known = np.linspace(-3, 3, 300)[:, None]
    group = np.concatenate([np.linspace(-3, 3, 35), np.linspace(9, 11, 65)])[:, None]
    said = describe(group, known, np.random.RandomState(0))
    assert [(one.column, one.above) for one in said.clauses] == [(0, True)]
    assert said.in_group == pytest.approx(0.65, abs=0.05)
    assert said.in_known < 0.05


def test_a_second_clause_is_named_where_it_tells_more() -> None:
    """Known rows fill a square, and the group one quarter of it."""
    rng = np.random.RandomState(0)
    said = describe(rng.uniform(0, 1, (60, 2)), rng.uniform(-1, 1, (400, 2)), rng)
    assert {(one.column, one.above) for one in said.clauses} == {(0, True), (1, True)}
    assert said.in_known == pytest.approx(0.25, abs=0.05)


def test_a_fifth_of_the_group_is_not_given_up_for_three_tenths_of_the_known_rows() -> None:
    """One row in a hundred of the group counts as two of the known rows."""
    group = np.repeat([0.0, 10.0], [20, 80])[:, None]
    known = np.repeat([-5.0, 5.0], [70, 30])[:, None]
    said = describe(group, known, np.random.RandomState(0))
    assert (said.in_group, said.in_known) == pytest.approx((1.0, 0.3), abs=0.02)


@pytest.mark.parametrize(("own", "verdict"), [(60, "a clump of its own"), (50, "the rim of")])
def test_more_than_half_of_the_neighbours_make_a_clump(own, verdict) -> None:
    """Of 100 neighbours, where two labelled rows stand for one known row among the new ones."""
    counts = 2 * np.array([100 - own, 0])
    near = _Near(np.array([0, 1]), np.array([1.0, 5.0]), counts, own, 0.5)
    assert near.isolation == pytest.approx(own / 100)
    assert near.verdict(is_rest=False, moved=False) == verdict


def test_percentages_of_a_sentence_hold_for_other_rows() -> None:
    """The best of many clauses over 20 columns flatters in-sample by 0.04; here it must not."""
    rng, gaps = np.random.RandomState(0), []
    for _ in range(12):
        shift = np.r_[1.2, np.zeros(19)]
        draw = [rng.normal(size=(n, 20)) + at for n, at in ((60, shift), (300, 0.0))]
        other = [rng.normal(size=(2000, 20)) + at for at in (shift, 0.0)]
        said = describe(*draw, rng)
        true = [said.holds(rows).mean() for rows in other]
        gaps.append([said.in_group - true[0], said.in_known - true[1]])
    assert np.abs(np.mean(gaps, axis=0)).max() < 0.02


def test_percentages_are_those_to_expect_of_the_next_row() -> None:
    """Rule of succession: of 20 rows of 20, and of none of 50, nobody knows the next for sure."""
    rng = np.random.RandomState(0)
    said = describe(rng.normal(50, 1, (20, 1)), rng.normal(size=(50, 1)), rng)
    assert said.in_group <= 21 / 22
    assert said.in_known == pytest.approx(1 / 52)


def test_years_and_prices_are_written_in_full() -> None:
    assert Column("year").clause(1987.4, above=True) == "year > 1987"
    assert Column("price", scale=1000.0).clause(270.31, above=False) == "price ≤ 270310"
    assert Column("size").clause(999.4, above=True) == "size > 999"


def test_weights_keep_their_order_and_reach_any_share() -> None:
    eta = np.linspace(0, 1, 50)
    for share in (0.01, 0.5, 0.97):
        weights = unseen_weights(eta, share)
        assert weights.mean() == pytest.approx(share)
        assert (np.diff(weights) >= 0).all()
    assert unseen_weights(eta, 0.0).tolist() == [0.0] * 50


def test_words_are_those_that_the_group_alone_has_and_texts_without_words_have_none() -> None:
    texts = ["pay the bill"] * 4 + ["fly to the moon"] * 4
    (first, *others) = top_words(texts, np.repeat([0, 1], 4))[1]
    assert first == ("fly", 1.0, 0.0)
    assert {word for word, *_ in others} == {"moon", "to"}
    assert top_words(["", "1 2"], np.array([0, 1])) == {1: ()}


def test_columns_that_set_a_group_apart_are_measured_in_spreads_of_known_rows() -> None:
    group, known = np.array([[5.0, 1.5]]), np.array([[-1.0, 0.0], [1.0, 2.0]])
    assert group_differences(group, known) == [(0, 5.0), (1, 0.5)]


def test_rows_and_texts_that_are_not_those_of_the_rule_are_named(rows) -> None:
    X, y, X_new, eta = rows
    rule = Given(np.repeat([0, 1], 100), eta, 1 / 3)
    with pytest.raises(ValueError, match=r"texts must be one for each of 300 new rows; got 2"):
        unseen.explain(rule, X, y, X_new, texts=["a", "b"])
    with pytest.raises(ValueError, match=r"X and X_new must vary in at least one feature"):
        unseen.explain(rule, np.ones_like(X), y, np.ones_like(X_new))
    with pytest.raises(TypeError, match=r"texts must hold text; got 7"):
        unseen.explain(rule, X, y, X_new, texts=[7] * 300)
    with pytest.raises(ValueError, match=r"rule must be a fitted rejection rule"):
        unseen.explain(unseen.RejectionKernel(), X, y, X_new)
    with pytest.raises(ValueError, match=r"y must hold the classes that rule was fitted to"):
        unseen.explain(rule, X, np.where(y == "ant", "wasp", y), X_new)
    with pytest.raises(ValueError, match=r"X must be finite"):
        unseen.explain(rule, np.where(X > 3, np.nan, X), y, X_new)


@pytest.mark.parametrize("above", [True, False])
def test_rows_above_a_threshold_are_counted_as_one_by_one(above) -> None:
    rows = np.random.default_rng(0).integers(5, size=(300, 4)).astype(float)
    thresholds = np.array([0.0, 1.5, 4.0, -1.0])
    pairs = zip(rows.T, thresholds, strict=True)
    counted = [sum((value > one) == above for value in column) for column, one in pairs]
    assert rows_kept(rows, thresholds, above).tolist() == counted
