"""Metrics against scikit-learn where it has them, and against pairs counted one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from unseen.rejection.metrics import (
    known_accuracy,
    novelty_auc,
    open_auc,
    open_macro_f1,
    unseen_precision,
    unseen_recall,
)

KNOWN = ["a", "b"]


def labels(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(["a", "b", "unseen"], 60)
    predicted = np.where(rng.random(60) < 0.6, truth, rng.choice(["a", "b", "unseen"], 60))
    return truth, predicted, rng.random(60).round(1)


@pytest.mark.parametrize("seed", range(3))
def test_agree_with_scikit_learn(seed) -> None:
    truth, predicted, score = labels(seed)
    unseen, known = truth == "unseen", truth != "unseen"
    called = predicted == "unseen"
    assert_allclose(
        open_macro_f1(truth, predicted),
        f1_score(truth, predicted, average="macro", labels=[*KNOWN, "unseen"]),
    )
    assert_allclose(
        known_accuracy(truth, predicted), accuracy_score(truth[known], predicted[known])
    )
    assert_allclose(unseen_precision(truth, predicted), precision_score(unseen, called))
    assert_allclose(unseen_recall(truth, predicted), recall_score(unseen, called))
    assert_allclose(novelty_auc(truth, score), roc_auc_score(unseen, score))


@pytest.mark.parametrize("seed", range(3))
def test_open_auc_counts_pairs(seed) -> None:
    truth, _, score = labels(seed)
    best = np.random.default_rng(seed).choice(KNOWN, 60)
    unseen = truth == "unseen"
    wins = [
        (best[i] == truth[i]) * ((score[i] < score[j]) + 0.5 * (score[i] == score[j]))
        for i in np.flatnonzero(~unseen)
        for j in np.flatnonzero(unseen)
    ]
    assert_allclose(open_auc(truth, best, score), np.mean(wins))
    right = np.where(unseen, "a", truth)
    assert_allclose(open_auc(truth, right, score), novelty_auc(truth, score))
    assert open_auc(truth, best, score) <= accuracy_score(truth[~unseen], best[~unseen])


@pytest.mark.parametrize("metric", [open_macro_f1, known_accuracy, unseen_precision, unseen_recall])
def test_other_names_of_unseen_classes_and_kinds_of_labels_change_nothing(metric) -> None:
    truth, predicted, _ = labels(0)
    expected = metric(truth, predicted)
    animals = np.random.default_rng(0).choice(["yak", "zebra"], 60)
    named = np.where(truth == "unseen", animals, truth)
    assert metric(named, predicted, known=KNOWN) == expected
    numbers = {"a": 4, "b": 9, "unseen": -1}
    as_numbers = [[numbers[label] for label in side] for side in (truth, predicted)]
    assert metric(*as_numbers) == expected
    renamed = [np.where(side == "unseen", "?", side) for side in (truth, predicted)]
    assert metric(*renamed, unseen_label="?") == expected


def test_edges() -> None:
    assert np.isnan(known_accuracy(["unseen"], ["unseen"]))
    assert unseen_precision(["a", "unseen"], ["a", "a"]) == 0.0
    with pytest.raises(ValueError, match="known and of unseen classes; got 0 unseen of 2"):
        novelty_auc(["a", "b"], [0.1, 0.2])
    with pytest.raises(ValueError, match="of one length; got shapes"):
        open_macro_f1(["a", "b"], ["a"])
