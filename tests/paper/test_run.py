"""A run of the protocol: what it makes, and that a kill in the middle changes nothing."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paper import CellStore, Plan, reproduce
from paper.methods import METHODS
from paper.run import run
from paper.trial import OURS, PAPER, SETTINGS, Block, Trial
from unseen.datasets import load_dataset

SMALL = Plan(datasets=("thyroid",), permutations=(0,), proportions=(0.1, 0.5))
# For what has nothing to do with the methods.
FEW = tuple(method for method in METHODS if method.name in {"EM-KLR", "L2", "KL"})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    store = CellStore(tmp_path_factory.mktemp("whole"))
    timing = run(SMALL, store, n_jobs=1)
    return store, timing


def test_every_cell_of_the_plan_is_made_once(whole):
    store, timing = whole
    cells = store.read().values()
    observed = [cell for cell in cells if cell.setting == "observed"]
    assert {cell.method for cell in observed} == {method.name for method in METHODS}
    assert len(cells) == timing.n_cells == 2 * (len(METHODS) + len(METHODS) - 3)
    assert all(SMALL.holds(cell) for cell in cells)


def test_shares_are_finite_and_closed_methods_sum_to_one(whole):
    for cell in whole[0].read().values():
        assert np.isfinite(cell.shares).all()
        assert len(cell.shares) == len(cell.truth) == 2
        assert sum(cell.truth) == pytest.approx(1)
        raw_slopes = cell.setting == "observed" and cell.method == "MPE-Incomplete"
        left_over = cell.method in {"MPE-Incomplete*", "BBE", "DEDPUL", "OpenSet"}
        if not raw_slopes and not left_over:
            assert sum(cell.shares) == pytest.approx(1)


def test_closed_methods_give_a_single_known_class_everything(whole):
    for cell in whole[0].read().values():
        if cell.setting == "unobserved" and cell.method in {"EM-KLR", "L2", "KL", "baseline"}:
            assert cell.error == pytest.approx(2 * cell.truth[-1])


def test_only_methods_with_intervals_have_limits(whole):
    with_limits = {
        (cell.setting, cell.method) for cell in whole[0].read().values() if cell.lower is not None
    }
    both = {(setting, name) for setting in SETTINGS for name in ("MPE-Incomplete*", "OpenSet")}
    assert with_limits == {("observed", "MPE-Incomplete"), *both}
    for cell in whole[0].read().values():
        if cell.lower is not None:
            assert len(cell.lower) == len(cell.upper) == len(cell.truth)
            assert (np.array(cell.lower) <= np.array(cell.upper)).all()


def copied(plan, store, folder):
    """A new store with those cells that belong to a plan."""
    made = CellStore(folder)
    with made.writer() as write:
        for cell in store.read().values():
            if plan.holds(cell):
                write(cell)
    return made


def test_a_second_run_makes_nothing_and_a_larger_plan_makes_the_rest(whole, tmp_path):
    store, _ = whole
    assert run(SMALL, store, n_jobs=1).n_cells == 0
    plan = replace(SMALL, methods=FEW)
    parts = copied(replace(plan, proportions=(0.5,)), store, tmp_path / "parts")
    expected = copied(plan, store, tmp_path / "expected").read()
    assert run(plan, parts, n_jobs=2).n_cells == len(expected) / 2 > 0
    assert parts.read() == expected


def test_progress_rises_to_one_and_other_plans_make_the_same_cells(whole, tmp_path):
    plan = Plan(("thyroid",), (0, 1), settings=("unobserved",), proportions=(0.5,), methods=FEW)
    seen, made = [], CellStore(tmp_path)
    run(plan, made, n_jobs=1, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    assert len(seen) == 2
    common = {key: cell for key, cell in made.read().items() if SMALL.holds(cell)}
    assert common == {key: cell for key, cell in whole[0].read().items() if plan.holds(cell)}


@pytest.mark.skipif(os.name != "posix", reason="kills a process group")
def test_a_killed_run_is_taken_up_to_the_bit(whole, tmp_path):
    """SIGKILL to every process in the middle of a run; the same call then ends the same."""
    plan = Plan(("thyroid",), permutations=(0,), settings=("observed",), proportions=(0.1,))
    expected = copied(plan, whole[0], tmp_path / "whole" / "cells")
    assert reproduce("table1", tmp_path / "whole", plan)[0].n_cells == 0
    code = "import sys; from paper import Plan, reproduce; "
    code += "plan = Plan(('thyroid',), permutations=(0,), proportions=(0.1,)); "
    code += "reproduce('table1', sys.argv[1], plan, n_jobs=1)"
    command = [sys.executable, "-c", code, str(tmp_path / "killed")]
    killed = subprocess.Popen(command, cwd=Path(__file__).parents[2], start_new_session=True)
    store = CellStore(tmp_path / "killed" / "cells")
    while not store.read():
        assert killed.poll() is None, "the run ended before it could be killed"
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    n_left = len(store.read())
    assert not (tmp_path / "killed" / "table1.txt").exists()
    reproduce("table1", tmp_path / "killed", plan, n_jobs=1)
    assert 0 < n_left < len(store.read())
    assert (tmp_path / "whole" / "table1.txt").exists()
    for file in (tmp_path / "whole").glob("*.*"):
        assert file.read_bytes() == (tmp_path / "killed" / file.name).read_bytes(), file.name
    assert store.read() == expected.read()


def test_class_M_is_nowhere_in_training_when_it_is_not_observed():
    data = load_dataset("thyroid")
    block = Block(data, 0, "unobserved")
    assert block.known == (-1,)
    rows = {row.tobytes() for row in data.X[data.y == 1]}
    assert not any(row.tobytes() in rows for row in block.X)


def test_both_settings_test_on_the_same_rows():
    data = load_dataset("thyroid")
    one, other = (Trial(Block(data, 3, setting), 0.3) for setting in ("observed", "unobserved"))
    assert (one.places == other.places).all()
    assert one.seed == other.seed != Trial(one.block, 0.4).seed


def test_tuning_of_the_paper_is_chosen_once_a_permutation():
    block = Block(load_dataset("thyroid"), 0, "observed")
    assert block.classifier(PAPER) is block.classifier(PAPER)
    assert block.classifier(PAPER).scoring == "accuracy"
    assert block.classifier(OURS).scoring == "neg_log_loss"
    trial = Trial(block, 0.5)
    assert trial.pair_scores(PAPER) is trial.pair_scores(PAPER)
    posteriors = block.posteriors(OURS)
    assert len(posteriors.of_labelled) == len(block.X)
    assert posteriors.n_new == len(block.split.pool)
    assert trial.posteriors(OURS).n_new == block.split.test_size


def test_an_unknown_target_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"target must be one of table1, table2, .*; got 'table9'"):
        reproduce("table9", tmp_path)
