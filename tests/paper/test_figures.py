"""The lines of the figures, and that drawing leaves matplotlib as it was."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from paper.figures import error_lines, figure1, figure2, save_figure
from reference.made_cells import PROPORTIONS, make_cells

matplotlib = pytest.importorskip("matplotlib")

LEVELS = {"banana": 0.1, "image": 0.2, "german": 0.6, "dna": 0.4}
METHODS = ("MPE-Incomplete", "L2", "MPE-Incomplete*", "PACC", "homemade")
CELLS = [
    cell
    for setting in ("observed", "unobserved")
    for method in METHODS
    for cell in make_cells(method, lambda d, _, p: LEVELS[d] + p, LEVELS, setting)
]


def test_lines_are_means_over_sets_with_their_standard_errors() -> None:
    line = error_lines(CELLS, "observed", "binary")[0]
    assert line.proportions == PROPORTIONS
    assert_allclose(line.errors, [0.3 + p for p in PROPORTIONS])
    assert_allclose(line.standard_errors, np.std([0.1, 0.2, 0.6], ddof=1) / np.sqrt(3))
    assert set(line.n_sets) == {3}


def test_one_set_has_no_standard_error() -> None:
    line = error_lines(CELLS, "unobserved", "multiclass")[0]
    assert_allclose(line.errors, [0.4 + p for p in PROPORTIONS])
    assert np.isnan(line.standard_errors).all()


def test_a_set_that_has_not_come_so_far_counts_where_it_is() -> None:
    cells = [c for c in CELLS if not (c.dataset == "german" and c.proportion > 0.45)]
    line = error_lines(cells, "observed", "binary")[0]
    assert line.n_sets == (3,) * 5 + (2,) * 6
    assert_allclose(line.errors[-1], 0.15 + 0.99)


def test_what_is_drawn_is_the_record() -> None:
    (ax,) = figure1(CELLS).axes
    drawn = {line.get_label(): line for line in ax.lines}
    for line in error_lines(CELLS, "observed", "binary"):
        assert_allclose(drawn[line.method].get_xdata(), line.proportions)
        assert_allclose(drawn[line.method].get_ydata(), line.errors)


def test_two_panels_of_figure_2_in_the_same_colours() -> None:
    left, right = figure2(CELLS).axes
    assert left.get_title("left").endswith("3 binary sets")
    assert right.get_title("left").endswith("1 multiclass set")
    styles = [
        {line.get_label(): (line.get_color(), line.get_marker()) for line in ax.lines}
        for ax in (left, right)
    ]
    assert all(styles[0][method] == styles[1][method] for method in METHODS)


def test_the_papers_lines_are_solid_and_others_broken() -> None:
    (ax,) = figure1(CELLS).axes
    style = {line.get_label(): line.get_linestyle() for line in ax.lines}
    assert {style["MPE-Incomplete"], style["L2"]} == {"-"}
    assert "-" not in {style["MPE-Incomplete*"], style["PACC"], style["homemade"]}


def test_the_legend_names_every_method_once() -> None:
    (legend,) = figure2(CELLS).legends
    names = [text.get_text() for text in legend.get_texts()]
    assert [name for name in names if name in METHODS] == [
        "MPE-Incomplete", "L2", "MPE-Incomplete*", "homemade", "PACC",
    ]  # fmt: skip


def test_the_same_bytes_each_time_whatever_the_users_settings(tmp_path: Path) -> None:
    first = save_figure(figure1(CELLS), tmp_path / "first")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "svg.hashsalt": None}):
        second = save_figure(figure1(CELLS[::-1]), tmp_path / "second")
        assert matplotlib.rcParams["font.size"] == 20
    assert [path.suffix for path in first] == [".png", ".svg"]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_size_of_the_png(tmp_path: Path) -> None:
    png, _ = save_figure(figure2(CELLS), tmp_path / "figure2")
    header = png.read_bytes()[16:24]
    assert (int.from_bytes(header[:4]), int.from_bytes(header[4:])) == (1350, 690)


def test_settings_are_left_alone() -> None:
    before = dict(matplotlib.rcParams)
    figure1(CELLS)
    assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "unseen\[plot\]"'):
        figure1(CELLS)


def test_nothing_to_draw() -> None:
    observed = [cell for cell in CELLS if cell.setting == "observed"]
    with pytest.raises(ValueError, match="cells must have some of setting 'unobserved'; got none"):
        figure2(observed)
    multiclass = [cell for cell in observed if cell.dataset == "dna"]
    with pytest.raises(ValueError, match="cells must have some of binary sets"):
        figure1(multiclass)
    with pytest.raises(ValueError, match="group must be 'binary' or 'multiclass'; got 'all'"):
        error_lines(observed, "observed", "all")
