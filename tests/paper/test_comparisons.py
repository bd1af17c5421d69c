"""Slopes of known lines, and the signed-rank test where its answer is known."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from paper.comparisons import (
    PairRecord,
    signed_rank_records,
    signed_rank_table,
    slope_records,
    slope_table,
)
from reference.made_cells import make_cells

STEEPNESS = {"banana": 1.0, "image": 2.0, "german": 3.0, "dna": 2.0}


def line_cells(method: str = "L2", intercept: float = 0.1) -> list:
    return make_cells(
        method,
        lambda dataset, permutation, p: (
            intercept + STEEPNESS[dataset] * p + 0.05 * (-1) ** permutation
        ),
        STEEPNESS,
        "unobserved",
    )


def test_slopes_and_their_standard_error() -> None:
    binary, multiclass = slope_records(line_cells())
    assert_allclose((binary.slope, binary.intercept), (2, 0.1))
    assert_allclose(binary.standard_error, 1 / np.sqrt(3))
    assert_allclose(binary.linearity, 1)
    assert (binary.n_sets, multiclass.n_sets) == (3, 1)
    assert multiclass.standard_error is None


def test_the_slope_of_the_mean_line_is_the_mean_slope() -> None:
    rng = np.random.default_rng(0)
    cells = make_cells("L2", lambda *_: rng.uniform(), ["banana", "image", "german"], "unobserved")
    shares = np.array([cell.proportion for cell in cells])
    line = np.polyfit(shares, [cell.error for cell in cells], 1)
    assert_allclose(slope_records(cells)[0].slope, line[0])


def test_closed_set_methods_grow_by_twice_the_share() -> None:
    """All mass on the known class: p too much there, p too little on the unseen one."""
    cells = [replace(cell, shares=(1.0, 0.0)) for cell in line_cells() if cell.dataset == "banana"]
    record = slope_records(cells)[0]
    assert_allclose((record.slope, record.linearity), (2, 1))
    assert_allclose(record.intercept, 0, atol=1e-12)


def test_a_flat_line_has_no_slope() -> None:
    cells = make_cells("MPE-Incomplete", lambda *_: 0.25, ["banana", "image"], "unobserved")
    record = slope_records(cells)[0]
    assert_allclose((record.slope, record.standard_error), (0, 0), atol=1e-12)


def test_slopes_in_text() -> None:
    kl = [cell for cell in line_cells("KL") if len(cell.truth) == 2]
    text = slope_table(line_cells() + kl).to_text()
    l2_line, kl_line = (
        next(line for line in text.splitlines() if line.startswith(name)) for name in ("L2", "KL")
    )
    assert l2_line.split() == ["L2", "2.000±.577", ".100", "1.00", "2.000±n/a", ".100", "1.00"]
    assert kl_line.split()[-3:] == ["n/a"] * 3


def test_no_slope_without_two_shares() -> None:
    one = [cell for cell in line_cells() if cell.proportion == 0.5]
    with pytest.raises(ValueError, match="cells must have two unseen shares"):
        slope_records(one)


def pair(records: tuple[PairRecord, ...], first: str, second: str) -> PairRecord:
    (found,) = (r for r in records if (r.first, r.second) == (first, second))
    return found


def two_methods(gap: float, spread: float = 0.0) -> list:
    """The errors of the second are larger by the gap, up to noise; one binary set."""
    rng = np.random.default_rng(3)
    level = make_cells("L2", lambda *_: 0.3, ["banana"])
    return level + make_cells(
        "KL", lambda *_: 0.3 + gap + spread * rng.standard_normal(), ["banana"]
    )


def test_always_better_is_the_least_possible_p_value() -> None:
    """Of the 2^11 signs of 11 distinct differences, two are as one-sided as this."""
    cells = make_cells("L2", lambda *_: 0.1, ["banana"]) + make_cells(
        "KL", lambda _, __, p: 0.2 + p / 10, ["banana"]
    )
    records = signed_rank_records(cells)
    assert_allclose(pair(records, "L2", "KL").p_value, 2 / 2**11)
    assert pair(records, "L2", "KL").verdict == "<"
    assert pair(records, "KL", "L2").verdict == ">"
    assert_allclose(
        pair(records, "KL", "L2").difference, 0.1 + np.mean([c.proportion for c in cells]) / 10
    )


def test_pairs_are_means_over_permutations() -> None:
    cells = make_cells("L2", lambda *_: 0.1, permutations=4) + make_cells(
        "EM-KLR", lambda _, permutation, __: 0.1 + 0.05 * (-1) ** permutation, permutations=4
    )
    records = signed_rank_records(cells)
    assert {(r.group, r.n_pairs) for r in records} == {("binary", 22), ("multiclass", 11)}
    assert {(r.p_value, r.verdict) for r in records} == {(1.0, "=")}


def test_rounding_errors_are_not_ranked() -> None:
    cells = make_cells("L2", lambda *_: 0.1, ["banana"])
    same = [
        replace(cell, method="KL", shares=(cell.shares[0] - 1e-16, *cell.shares[1:]))
        for cell in cells
    ]
    assert pair(signed_rank_records(cells + same), "L2", "KL").p_value == 1.0


def test_noise_is_not_a_difference() -> None:
    assert pair(signed_rank_records(two_methods(0.0, 0.05)), "L2", "KL").verdict == "="
    assert pair(signed_rank_records(two_methods(0.2, 0.05)), "L2", "KL").verdict == "<"


def test_the_level_decides() -> None:
    cells = two_methods(0.2, 0.05)
    p_value = pair(signed_rank_records(cells), "L2", "KL").p_value
    strict = signed_rank_records(cells, level=p_value / 2)
    assert pair(strict, "L2", "KL").verdict == "="
    with pytest.raises(ValueError, match=r"level must be between 0 and 1; got 5\."):
        signed_rank_records(cells, level=5.0)


def test_only_common_pairs_are_compared() -> None:
    cells = two_methods(0.2)
    kept = [cell for cell in cells if cell.method == "L2" or cell.proportion < 0.45]
    assert pair(signed_rank_records(kept), "L2", "KL").n_pairs == 5


def test_the_matrix_in_text() -> None:
    table = signed_rank_table(two_methods(0.2, 0.05))
    assert [line.split() for line in table.to_text().splitlines()[4:6]] == [
        ["1", "L2", "<"],
        ["2", "KL", ">"],
    ]
    assert "The paper: all its methods differ, except MPE-Projected" in table.to_text()
    assert "$<$" in table.to_latex()


def test_one_method_has_nobody_to_be_compared_with() -> None:
    with pytest.raises(ValueError, match="cells must have two methods of setting 'observed'"):
        signed_rank_records(two_methods(0.1)[:22])
