"""The paper's samples: its sizes, exact shares, no row twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper.split import PrescribedSplit

SHARES = (0.01, 0.1, 0.25, 0.5, 0.9, 0.99)


def labels(*counts: int) -> np.ndarray:
    return np.repeat(np.arange(len(counts)), counts)


# Class counts (others, class M) and the sizes of the paper's last table.
@pytest.mark.parametrize(
    ("counts", "training", "test"),
    [
        ((383, 307), 350, 153),
        ((196, 81), 140, 41),
        ((150, 65), 109, 33),
        ((3736, 3664), 3738, 1832),
        ((464, 485, 1051), 1011, 474),
        ((330,) * 7, 1167, 165),
    ],
)
def test_sizes_are_those_the_paper_prints(counts, training, test):
    split = PrescribedSplit.of(labels(*counts), len(counts) - 1, random_state=0)
    assert (len(split.training), split.test_size) == (training, test)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(8, 60), min_size=2, max_size=5),
    st.sampled_from(SHARES),
    st.integers(0, 99),
)
def test_every_test_sample_is_apart_from_training_and_has_the_share(counts, share, seed):
    y = labels(*counts)
    split = PrescribedSplit.of(y, 0, random_state=seed)
    test = split.test(share)
    assert len(test) == split.test_size == len(set(test.tolist()))
    assert not set(test.tolist()) & set(split.training.tolist())
    assert sorted([*split.training, *split.pool]) == list(range(len(y)))
    # One row of rounding, one where a small pool has no row more to give.
    assert abs(split.shares(test)[-1] - share) * split.test_size <= 1 + 1e-9
    assert split.classes[-1] == 0


def test_other_classes_shrink_in_proportion():
    split = PrescribedSplit.of(labels(4000, 2000, 2000), 2, random_state=3)
    in_pool = np.bincount(split.y[split.pool])[:2]
    for share in SHARES:
        got = np.bincount(split.y[split.test(share)])[:2]
        assert np.abs(got - got.sum() * in_pool / in_pool.sum()).max() <= 1


def test_samples_of_one_split_overlap_and_splits_differ():
    y = labels(300, 300)
    first, second = (PrescribedSplit.of(y, 1, random_state=seed) for seed in (0, 1))
    assert set(first.training.tolist()) != set(second.training.tolist())
    few, many = (y[first.test(share)] == 1 for share in (0.1, 0.9))
    assert set(first.test(0.1)[few].tolist()) <= set(first.test(0.9)[many].tolist())


def test_bad_shares_and_classes_are_named():
    y = labels(20, 20)
    with pytest.raises(ValueError, match=r"share must lie between 0.01 and 0.99; got 1.0"):
        PrescribedSplit.of(y, 1, 0).test(1.0)
    with pytest.raises(ValueError, match="last must be one of at least two classes of y; got 7"):
        PrescribedSplit.of(y, 7)
    with pytest.raises(ValueError, match="last must be"):
        PrescribedSplit.of(np.zeros(5), 0)


def test_too_few_rows_to_test_on_are_refused():
    with pytest.raises(ValueError, match=r"at least 3 rows, .* got 1 of 1 and 20 others"):
        PrescribedSplit.of(labels(20, 1), 1)
