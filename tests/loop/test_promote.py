"""Promoted rows are marked, leave the new rows, and their shares are not lost."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import unseen
from unseen.loop import Explanation
from unseen.loop.explanation import Group
from unseen.records import Estimate


def explanation(group_of_row, weights) -> Explanation:
    groups = tuple(
        Group(n, 0.1, 0.0, 0.2, 9, "scattered", "cat", "cat", 1.0, 1.0, None, (), (), (), ())
        for n in range(1, max(group_of_row) + 1)
    )
    return Explanation(groups, 0.2, (1, 1), np.array(group_of_row), np.array(weights), ())


def test_rows_move_from_new_to_labelled_and_none_is_lost() -> None:
    labels = ["emu"] * 10 + ["cat", "?", None, "unseen"]
    found = unseen.promote(np.arange(14) + 5, labels, 40, known=["cat"])
    X, X_new = np.zeros((3, 1)), np.arange(40.0)[:, None]
    grown, y, rest = found.apply(X, np.repeat("cat", 3), X_new)
    assert grown.shape == (14, 1)
    assert y.tolist() == ["cat"] * 3 + ["emu"] * 10 + ["cat"]
    assert sorted([*grown[3:, 0], *rest[:, 0]]) == list(range(40))
    assert found.counts == {"cat": 1, "emu": 10}
    assert set(found.sources) == {"labelled"}


def test_a_whole_group_is_named_where_sure_and_people_are_not_overruled() -> None:
    group_of_row = [0] * 20 + [1] * 20
    weights = [0.1] * 20 + [0.95] * 15 + [0.6] * 5
    given = unseen.promote(
        [20, 21, 22],
        ["emu", "cat", "?"],
        40,
        known=["cat"],
        spread={1: "emu"},
        explanation=explanation(group_of_row, weights),
    )
    assert given.counts == {"cat": 1, "emu": 13}
    assert 22 not in given.rows
    assert given.sources.tolist().count("spread") == 12
    assert [notice.code for notice in given.notices] == ["mixed_group"]


def test_a_group_without_a_sure_row_says_the_highest_probability_and_what_to_do() -> None:
    given = {
        "known": ["cat"],
        "spread": {1: "emu"},
        "explanation": explanation([0] * 20 + [1] * 20, [0.1] * 20 + [0.899, *[0.6] * 19]),
    }
    found = unseen.promote(range(20, 28), ["emu"] * 7 + ["cat"], 40, **given)
    assert found.counts == {"cat": 1}
    none, few = found.notices
    assert (none.code, none.about) == ("none_spread", "emu")
    assert "the highest is 0.60" in none.text  # the row with 0.899 has a label
    assert "--spread-from 0.6," in none.text
    assert few.code == "few_promoted"
    assert "whole group" not in few.text  # that was done
    found = unseen.promote(range(20, 28), ["emu"] * 7 + ["cat"], 40, spread_from=0.6, **given)
    assert (found.counts, found.notices) == ({"cat": 1, "emu": 19}, ())
    with pytest.raises(ValueError, match=r"none that can be.*the highest is 0\.89"):
        unseen.promote([0], ["?"], 40, **{**given, "known": ["dog"]})
    with pytest.raises(ValueError, match="spread_from must be above 0"):
        unseen.promote([0], ["cat"], 40, spread_from=0.0, **given)


def test_weights_undo_the_draw_within_a_class() -> None:
    chances = np.repeat([0.5, 0.1], 10)
    found = unseen.promote(range(20), ["emu"] * 20, 99, known=["cat"], probabilities=chances)
    assert found.weights.mean() == pytest.approx(1.0)
    assert found.weights[-1] / found.weights[0] == pytest.approx(5.0)


def test_names_of_few_rows_stay_new_and_say_so() -> None:
    labels = ["emu"] * 9 + ["cat"]
    found = unseen.promote(range(10), labels, 40, known=["cat"])
    assert found.counts == {"cat": 1}
    assert [(one.code, one.about) for one in found.notices] == [("few_promoted", "emu")]
    with pytest.raises(ValueError, match="must promote at least one row"):
        unseen.promote(range(9), ["emu"] * 9, 40, known=["cat"])


def test_combined_shares_are_those_of_all_rows() -> None:
    found = unseen.promote(range(10), ["emu"] * 10, 100, known=["cat"])
    ends = [[0.5, 0.7], [0.2, 0.4], [0.0, 0.2]]
    rest = Estimate(("cat", "emu"), [0.6, 0.3], 0.1, "m", {"cat": 9, "emu": 10}, 90, ends, 0.95)
    whole = found.combine(rest)
    assert whole.proportions.sum() + whole.unseen == pytest.approx(1.0)
    assert whole["emu"] == pytest.approx(0.9 * 0.3 + 0.1)
    assert whole.intervals[1] == pytest.approx([0.28, 0.46])
    assert whole.n_new == 100
    assert whole.detection_limit is None
    assert found.combine(replace(rest, detection_limit=0.2)).detection_limit == pytest.approx(0.18)
    with pytest.raises(ValueError, match="it lacks 'emu'"):
        found.combine(Estimate(("cat",), [1.0], 0.0, "m", {"cat": 9}, 90))


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="labels must be as many as rows; got 1 labels"):
        unseen.promote([0, 1], ["cat"], 9, known=["cat"])
    with pytest.raises(ValueError, match="spread must come with explanation"):
        unseen.promote([0], ["cat"], 9, known=["cat"], spread={1: "emu"})
    with pytest.raises(ValueError, match="groups 1 to 1; got group 7"):
        unseen.promote(
            [0], ["cat"], 2, known=["cat"], spread={7: "x"}, explanation=explanation([0, 1], [0, 1])
        )
    for rows, chances, words in (
        ([9], None, "rows must be places of 9 new rows, from 0; got 9"),
        ([-1], None, "rows must be places of 9 new rows, from 0; got -1"),
        ([0.5], None, "rows must be different whole numbers"),
        ([0], [0.0], "probabilities must be one number in"),
        ([0], [0.5, 0.5], "probabilities must be one number in"),
    ):
        with pytest.raises(ValueError, match=words):
            unseen.promote(rows, ["cat"], 9, known=["cat"], probabilities=chances)


def test_groups_get_names_from_a_mapping_and_an_explanation_of_the_same_rows() -> None:
    groups = explanation([0] * 5 + [1] * 15, [0.99] * 20)
    given = {"known": ["cat"], "explanation": groups}
    for name in ("?", "", None, np.nan, "unseen"):
        with pytest.raises(ValueError, match="spread must give group 1 a name; got"):
            unseen.promote([0], ["cat"], 20, spread={1: name}, **given)
    with pytest.raises(TypeError, match="spread must be a mapping from groups to names"):
        unseen.promote([0], ["cat"], 20, spread=["emu"], **given)
    with pytest.raises(ValueError, match="explanation must be of the 30 new rows; got one of 20"):
        unseen.promote([0], ["cat"], 30, spread={1: "emu"}, **given)
    with pytest.raises(TypeError, match=r"n_new must be a whole number; got 20\.5"):
        unseen.promote([0], ["cat"], 20.5, known=["cat"])


def test_rows_of_another_promotion_are_refused_and_sparse_ones_taken() -> None:
    found = unseen.promote([3, 5], ["cat", "cat"], 9, known=["cat"])
    X, y, X_new = np.ones((4, 2)), np.repeat("cat", 4), np.arange(18.0).reshape(9, 2)
    frame = pd.DataFrame(X, columns=["p", "q"])
    for given, words in (
        ((X, y, X_new[:8]), "X_new must hold the 9 rows of the promotion; got 8"),
        ((X, y[:3], X_new), "y must have one label per row of X"),
        ((X, y, X_new[:, :1]), "X_new must have the 2 columns of X; got 1"),
        ((frame, y, pd.DataFrame(X_new, columns=["q", "p"])), "in the same order"),
    ):
        with pytest.raises(ValueError, match=words):
            found.apply(*given)
    wanted = found.apply(X, y, X_new)
    grown, labels, rest = found.apply(csr_array(X), y, csr_array(X_new))
    assert np.array_equal(grown.toarray(), wanted[0])
    assert np.array_equal(labels, wanted[1])
    assert np.array_equal(rest.toarray(), wanted[2])
    with pytest.raises(ValueError, match="of the 7 rows that stayed new; got one of 9 rows"):
        found.combine(Estimate(("cat",), [1.0], 0.0, "m", {"cat": 9}, 9))


def test_empty_cells_of_any_library_promote_nothing() -> None:
    empty = [None, "", float("nan"), np.nan, pd.NA, pd.NaT]
    found = unseen.promote(range(7), ["cat", *empty], 9, known=["cat"])
    assert found.counts == {"cat": 1}


def test_weights_stay_finite_where_a_row_is_hardly_ever_drawn() -> None:
    found = unseen.promote([0, 1], ["cat"] * 2, 9, known=["cat"], probabilities=[1e-320, 0.5])
    assert found.weights == pytest.approx([2.0, 0.0])
