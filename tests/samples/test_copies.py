"""Copied rows are pointed out; rows that repeat by chance are not."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from unseen import Notice, ROCSlope, UnseenWarning, mixture_proportion
from unseen.samples.clusters import are_distinct, row_keys
from unseen.samples.oddities import copy_notices


def notices(X, X_new) -> list[Notice]:
    return copy_notices(X, X_new, "X", "X_new")


def said(X, X_new) -> list[str]:
    return [notice.text for notice in notices(X, X_new)]


def rate(draw, n_draws: int = 60) -> float:
    """How often anything at all is said."""
    rng = np.random.default_rng(0)
    return float(np.mean([bool(said(*draw(rng))) for _ in range(n_draws)]))


def normal(rng, n_rows: int, centre: float = 0.0, n_columns: int = 2):
    return rng.normal(centre, 1, (n_rows, n_columns))


# --- from one sample to the other ------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("n_rows", "n_new", "n_leaked"), [(60, 50, 6), (100, 5000, 100)])
def test_leaked_rows_are_counted(kind, n_rows, n_new, n_leaked) -> None:
    rng = np.random.default_rng(0)
    X = normal(rng, n_rows)
    (remark,) = said(kind(X), kind(np.vstack([X[:n_leaked], normal(rng, n_new - n_leaked)])))
    assert remark.startswith(
        f"{n_leaked} of {n_new} new rows are also among the labelled rows, value for value."
    )
    assert remark.endswith("take them out: they pull the shares towards their classes.")


def test_leak_is_seen_though_the_new_rows_were_drawn_with_replacement() -> None:
    rng = np.random.default_rng(0)
    X = normal(rng, 300)
    assert (
        "900 of 900 new rows are also among the labelled rows"
        in said(X, X[rng.integers(0, 300, 900)])[0]
    )


def test_leak_is_seen_among_coarse_rows() -> None:
    rng = np.random.default_rng(0)
    X, clean = rng.integers(0, 2000, (2, 500, 1)).astype(float)
    assert said(X, clean) == []
    assert (
        "new rows are also among the labelled rows" in said(X, np.vstack([clean[:250], X[:250]]))[0]
    )


def test_minus_zero_is_zero() -> None:
    X = np.column_stack([np.zeros(8), np.arange(8.0) ** 1.5])
    assert "8 of 8 new rows" in said(X, X * [-1.0, 1.0])[0]


def test_rows_agree_across_precisions() -> None:
    X = np.arange(16.0).reshape(8, 2)
    assert "8 of 8 new rows" in said(X, X.astype(np.float32))[0]


def cells(rng, n_rows: int, n_new: int, n_cells: int):
    return tuple(rng.integers(0, n_cells, (n, 1)).astype(float) for n in (n_rows, n_new))


@pytest.mark.parametrize(
    "sizes",
    [
        (100, 10000, 2000),
        (100, 1000, 500),
        (500, 5000, 1000),
        (1000, 1000, 1000),
        (100, 100, 10000),
        (100, 1000, 20000),
        (1000, 100, 20000),
        (300, 300, 30000),
    ],
    ids=str,
)
def test_chance_is_no_leak_whichever_sample_is_larger(sizes) -> None:
    assert rate(lambda rng: cells(rng, *sizes)) <= 0.05


def test_a_coarse_class_is_no_leak_beside_a_fine_one() -> None:
    def draw(rng, coarse_first: bool):
        coarse, wide = rng.integers(0, 50, (360, 1)), rng.integers(100, 10**7, (240, 1))
        mixed = np.vstack([coarse[300:], wide]).astype(float)
        pair = (coarse[:300].astype(float), mixed)
        return pair if coarse_first else pair[::-1]

    assert rate(partial(draw, coarse_first=True)) == rate(partial(draw, coarse_first=False)) == 0


# --- within a sample -------------------------------------------------------------------------


OVERSAMPLED = {
    "every row twice": lambda rng: np.repeat(normal(rng, 150), 2, axis=0),
    "one column": lambda rng: np.repeat(normal(rng, 150, n_columns=1), 2, axis=0),
    "three decimals": lambda rng: np.repeat(normal(rng, 150), 2, axis=0).round(3),
    "a rare class": lambda rng: np.vstack(
        [normal(rng, 270), normal(rng, 30, 4)[rng.integers(0, 30, 270)]]
    ),
}


@pytest.mark.parametrize("case", OVERSAMPLED)
def test_oversampling_is_pointed_out_in_either_sample(case) -> None:
    rng = np.random.default_rng(0)
    copied, clean = OVERSAMPLED[case](rng), normal(rng, 300)[:, : 1 if case == "one column" else 2]
    n_copies = len(copied) - len(np.unique(copied, axis=0))
    (remark,) = said(copied, clean)
    assert remark.startswith(
        f"{n_copies} of {len(copied)} labelled rows repeat other ones, value for value, but few "
        "of them are among the new rows."
    )
    (remark,) = said(clean, copied)
    assert "new rows repeat other ones" in remark
    assert rate(lambda rng: (OVERSAMPLED[case](rng), clean)) == 1


def rounded(rng, centre: float, n_columns: int, width: float):
    return tuple((width * normal(rng, 300, place, n_columns)).round(1) for place in (0.0, centre))


def one_hot(rng):
    weight = np.arange(1, 9) ** 2 / 204
    return tuple(
        np.hstack([np.eye(8)[rng.choice(8, 300, p=share)] for _ in range(2)])
        for share in (weight, weight[::-1])
    )


INNOCENT = {
    "fine": lambda rng: (normal(rng, 300), normal(rng, 300)),
    "integers": lambda rng: tuple(rng.integers(0, 3, (2, 500, 3)).astype(float)),
    "answers, shifted": lambda rng: tuple(
        rng.integers(low, 6, (400, 4)).astype(float) for low in (1, 3)
    ),
    "ages, other people": lambda rng: tuple(
        np.column_stack([rng.integers(low, low + 22, 300), rng.integers(0, 2, 300)]).astype(float)
        for low in (18, 40)
    ),
    "logarithms of counts, shifted": lambda rng: tuple(
        np.log1p(rng.poisson(mean, (500, 1))) for mean in (5, 50)
    ),
    "one-hot, shifted": one_hot,
    **{
        f"one decimal, {n_columns} columns, width {width}, new at {centre}": partial(
            rounded, centre=centre, n_columns=n_columns, width=width
        )
        for n_columns in (1, 2)
        for width in (0.2, 1)
        for centre in (2, 20)
    },
}


@pytest.mark.parametrize("case", INNOCENT)
def test_natural_repeats_are_no_oversampling(case) -> None:
    assert rate(INNOCENT[case], 100) < 0.02


def test_the_user_hears_of_copies_that_spoil_the_estimate() -> None:
    F, H = np.repeat(np.random.default_rng(0).normal(size=(2, 100, 2)), 2, axis=1)
    with pytest.warns(UnseenWarning, match=r"rows of (H|F) repeat other ones") as caught:
        estimate = mixture_proportion(F, H, ROCSlope(), random_state=0)
    told = [notice.text for notice in estimate.notices if notice.code == "copied_rows"]
    assert [str(warning.message) for warning in caught] == told


def test_only_rows_that_all_differ_count_as_distinct() -> None:
    rng = np.random.default_rng(0)
    fine = rng.normal(size=(200, 3))
    coarse = np.column_stack([rng.integers(2, size=(200, 2)), fine[:, 0]])
    assert are_distinct(fine[:100], fine[100:])
    assert not are_distinct(fine, fine[7:8])
    # The first columns cannot tell these apart, and nothing is claimed.
    assert not are_distinct(coarse)
    assert len(np.unique(row_keys(coarse))) == 200
    assert not are_distinct(sparse.csr_array(fine))
