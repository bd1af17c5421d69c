"""Tables 1 and 2 from cells whose means, deviations and coverage are known."""

import random
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from paper import published
from paper.cell import Cell
from paper.tables import (
    ErrorRecord,
    IntervalRecord,
    error_records,
    error_table,
    interval_records,
    interval_table,
)
from reference.made_cells import make_cells

AVAILABLE = [key for key in published.DATA_SETS if key not in ("sensit", "opportunity")]
# Errors m - d and m + d in equal numbers have mean m and standard deviation d.
L2 = make_cells("L2", lambda _, permutation, __: 0.2 + 0.1 * (-1) ** permutation, AVAILABLE)
PACC = make_cells("PACC", lambda dataset, *_: 0.05 if dataset == "banana" else 0.3, AVAILABLE)
KL = make_cells("KL", lambda *_: 0.25, AVAILABLE[:13])
CELLS = L2 + PACC + KL


def find(records: tuple[ErrorRecord, ...], method: str, place: str) -> ErrorRecord:
    (found,) = (
        record
        for record in records
        if record.method == method and (record.dataset or record.group) == place
    )
    return found


def line_of(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(name))


def test_mean_and_deviation_of_each_set() -> None:
    for dataset in AVAILABLE:
        record = find(error_records(CELLS), "L2", dataset)
        assert_allclose((record.mean, record.sd), (0.2, 0.1))
        assert record.n_cells == 22
        assert record.paper_mean == published.ERRORS[dataset]["L2"].mean


def test_all_rows_are_over_all_cells() -> None:
    record = find(error_records(CELLS), "PACC", "binary")
    errors = [cell.error for cell in PACC if len(cell.truth) == 2]
    assert_allclose((record.mean, record.sd), ((0.05 + 12 * 0.3) / 13, np.std(errors)))
    assert (record.n_sets, record.n_cells) == (13, 13 * 22)
    assert record.paper_mean is None


def test_the_papers_number_is_over_the_same_sets() -> None:
    record = find(error_records(CELLS), "L2", "multiclass")
    assert_allclose(record.paper_mean, np.mean([0.062, 0.083, 0.139]))
    assert record.printed_mean == 0.109
    text = error_table(CELLS).to_text()
    assert ".200±.10 [.095±.05]" in line_of(text, "All Multiclass, 3 sets")
    assert "[.109±.08]" in line_of(text, "- paper, 5 sets")


def test_the_best_of_each_row_is_marked() -> None:
    best = {(r.group, r.dataset): r.method for r in error_records(CELLS) if r.best}
    assert best["binary", "banana"] == "PACC"
    assert set(best.values()) == {"PACC", "L2"}
    assert sum(method == "PACC" for method in best.values()) == 1
    assert len(best) == 2 + len(AVAILABLE)
    text = error_table(CELLS).to_text()
    assert "*.050±.00" in line_of(text, "Banana (2)")
    assert "{\\bf .050 $\\pm$ .00}" in line_of(error_table(CELLS).to_latex(), "Banana (2)")


def test_what_agrees_up_to_rounding_is_tied() -> None:
    """Closed-set methods on one known class all give it everything, up to the last bit."""
    close = [replace(cell, method="EM-KLR") for cell in L2]
    close = [replace(cell, shares=(cell.shares[0] + 1e-16, *cell.shares[1:])) for cell in close]
    best = [record for record in error_records(L2 + close) if record.best]
    assert len(best) == 2 * (2 + len(AVAILABLE))


def test_a_method_without_cells_is_not_available() -> None:
    assert "n/a" in line_of(error_table(CELLS).to_text(), "DNA (3)")
    assert "n/a" not in line_of(error_table(CELLS).to_text(), "Banana (2)")


def test_an_unfinished_method_is_never_the_best_and_is_named() -> None:
    few = make_cells("BBE", lambda *_: 0.01, ["banana"], permutations=1)
    assert not any(record.best for record in error_records(CELLS + few) if record.method == "BBE")
    notes = error_table(CELLS + few).grids[0].notes
    assert "All Binary: BBE has 11 of 286 cells, on 1 set." in notes
    assert not any("has" in note for note in error_table(CELLS).grids[0].notes)


def test_the_paper_has_no_numbers_where_class_m_is_not_observed() -> None:
    cells = [replace(cell, setting="unobserved") for cell in CELLS]
    records = error_records(cells, "unobserved")
    assert {record.paper_mean for record in records} == {None}
    text = error_table(cells, "unobserved").to_text()
    assert "[" not in text
    assert "paper" not in text


def test_tables_do_not_depend_on_the_order_of_the_cells() -> None:
    shuffled = random.Random(1).sample(CELLS, len(CELLS))
    assert error_table(shuffled).to_csv() == error_table(CELLS).to_csv()
    assert error_table(shuffled).to_text() == error_table(CELLS).to_text()


def test_fifteen_methods_fit_the_width() -> None:
    ours = [
        "MPE-Incomplete*",
        "MPE-Projected*",
        "MPE-Joint*",
        "EM*",
        "ACC",
        "PACC",
        "BBE",
        "DEDPUL",
    ]
    cells = [
        cell
        for place, method in enumerate([*published.METHODS, *ours])
        for cell in make_cells(method, lambda *_, level=place: 0.1 * level)
    ]
    assert max(map(len, error_table(cells).to_text().splitlines())) <= 120


def test_no_cells_no_table() -> None:
    with pytest.raises(ValueError, match="cells must have some of setting 'unobserved'; got none"):
        error_table(CELLS, "unobserved")
    with pytest.raises(ValueError, match=r"cells must have some .* with intervals; got none"):
        interval_table(CELLS)


def with_intervals(dataset: str, inside: int, width: float, method: str) -> list[Cell]:
    """Ten cells whose upper limits are `width` off, and `inside` of which hold every share."""
    cells = make_cells(method, lambda *_: 0.0, [dataset], permutations=1)[:10]
    return [
        replace(
            cell,
            lower=tuple(t if place < inside else t + 1e-6 for t in cell.truth),
            upper=tuple(t + width for t in cell.truth),
        )
        for place, cell in enumerate(cells)
    ]


INTERVALS = [
    *with_intervals("banana", 9, 0.1, "MPE-Incomplete"),
    *with_intervals("dna", 10, 0.1, "MPE-Incomplete"),
    *with_intervals("segment", 5, 0.3, "MPE-Incomplete"),
    *with_intervals("banana", 10, 0.2, "MPE-Incomplete*"),
]


def interval(records: tuple[IntervalRecord, ...], method: str, place: str) -> IntervalRecord:
    (found,) = (
        record
        for record in records
        if record.method == method and (record.dataset or record.group) == place
    )
    return found


def test_coverage_and_deviation_of_each_set() -> None:
    records = interval_records(INTERVALS)
    found = interval(records, "MPE-Incomplete", "banana")
    assert_allclose((found.inside, found.deviation), (0.9, 0.1))
    assert (found.paper_inside, found.paper_deviation) == (0.991, 0.06)
    found = interval(records, "MPE-Incomplete*", "banana")
    assert_allclose((found.inside, found.deviation), (1.0, 0.2))


def test_a_set_counts_once_per_class() -> None:
    """As the paper's "All Multiclass" does: see test_published."""
    found = interval(interval_records(INTERVALS), "MPE-Incomplete", "multiclass")
    assert_allclose(found.inside, (3 * 1.0 + 7 * 0.5) / 10)
    assert_allclose(found.deviation, np.sqrt((3 * 0.1**2 + 7 * 0.3**2) / 10))
    assert_allclose(found.paper_inside, (3 * 0.985 + 7 * 0.949) / 10)
    assert (found.n_shares, found.printed_inside) == (100, 0.972)


def test_a_limit_may_fall_short_too() -> None:
    cell = replace(INTERVALS[0], upper=tuple(t - 0.1 for t in INTERVALS[0].truth))
    record = interval_records([cell])[0]
    assert_allclose((record.inside, record.deviation), (0.0, 0.1))


def test_counts_stand_beside_the_papers() -> None:
    line = line_of(interval_table(INTERVALS, {"banana": (2677, 1200)}).to_text(), "Banana (2)")
    assert line.endswith("2677 [2677]  1200 [1188]")
    assert "train" not in interval_table(INTERVALS).to_text()


def test_only_cells_with_intervals_and_all_classes_observed() -> None:
    hidden = [replace(cell, setting="unobserved", method="MPE-Joint") for cell in INTERVALS[:10]]
    assert interval_records([*INTERVALS, *L2, *hidden]) == interval_records(INTERVALS)
