"""Run the paper's protocol: blocks side by side, every cell kept as soon as it is done."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from paper.cell import Cell
from paper.methods import METHODS, Answer, Method
from paper.store import CellStore, Key
from paper.trial import PROPORTIONS, SETTINGS, Block, Trial
from unseen._team import one_blas_thread
from unseen.datasets import Dataset, available_datasets, load_dataset
from unseen.records import UnseenWarning

__all__ = ["Plan", "Timing", "run"]

# Raise it when a change makes other cells: old ones must not be mixed with new ones.
PROTOCOL = 3
_QUICK_SETS = ("breast_cancer", "ionosphere", "saheart", "thyroid", "dna", "segment")

BlockKey = tuple[str, int, str]


@dataclass(frozen=True)
class Plan:
    """Which cells to make.

    Parameters
    ----------
    datasets : tuple of str
        Names of data sets; by default all that need no download.
    permutations : tuple of int
        Permutations of each, 0 to 9 by default.
    settings : tuple of str
        By default both.
    proportions : tuple of float
        Prescribed shares of class M.
    methods : tuple of Method
        By default all.

    Examples
    --------
    >>> from paper import Plan
    >>> len(Plan(datasets=("thyroid", "dna"), permutations=(0, 1)).blocks())
    8
    """

    datasets: tuple[str, ...] = field(default_factory=available_datasets)
    permutations: tuple[int, ...] = tuple(range(10))
    settings: tuple[str, ...] = SETTINGS
    proportions: tuple[float, ...] = PROPORTIONS
    methods: tuple[Method, ...] = METHODS

    @classmethod
    def quick(cls) -> Plan:
        """Two permutations of small data sets."""
        return cls(datasets=_QUICK_SETS, permutations=(0, 1))

    def in_settings(self, settings: tuple[str, ...]) -> Plan:
        """A copy of the plan with these settings."""
        return replace(self, settings=settings)

    def blocks(self) -> list[BlockKey]:
        """Data set, permutation and setting of every block."""
        return list(product(self.datasets, self.permutations, self.settings))

    def holds(self, cell: Cell) -> bool:
        """Whether a cell belongs to the plan."""
        return (
            cell.dataset in self.datasets
            and cell.permutation in self.permutations
            and cell.setting in self.settings
            and cell.proportion in self.proportions
            and cell.method in {method.name for method in self.methods}
        )


@dataclass(frozen=True)
class Timing:
    """How long a run took.

    Parameters
    ----------
    wall_seconds, cpu_seconds : float
        Time by the clock, and the time of all processors together.
    n_cells : int
        Cells that were made, not found.
    """

    wall_seconds: float
    cpu_seconds: float
    n_cells: int


def run(
    plan: Plan,
    store: CellStore,
    *,
    n_jobs: int | None = None,
    progress: Callable[[float], Any] | None = None,
) -> Timing:
    """Make the cells of a plan that a store lacks, and append each to it when it is done.

    A run that was killed is taken up by the same call; the store then holds what it would have
    held without the interruption, bit for bit.

    Parameters
    ----------
    plan : Plan
    store : CellStore
    n_jobs : int or None, default=None
        Blocks side by side, as joblib counts them; does not change the cells.
    progress : callable or None, default=None
        Called with the share of the work that is done, as blocks end.
    """
    start = time.perf_counter()
    data = {name: load_dataset(name) for name in plan.datasets}
    store.agree({"protocol": PROTOCOL, **{f"{one.name}": _checksum(one) for one in data.values()}})
    done = store.read().keys()
    effort = {block: _effort(data[block[0]], block[2]) for block in plan.blocks()}
    # The largest first: none of them is then left to a single worker at the end.
    order = sorted(effort, key=lambda block: (-effort[block], *block))
    keys = {
        (name, permutation, setting): frozenset(
            key for key in done if key[:3] == (setting, name, permutation)
        )
        for name, permutation, setting in order
    }
    to_do = [block for block in order if not _is_done(plan, data[block[0]], block, keys[block])]
    blocks = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_run_block)(plan, data[block[0]], block, store, keys[block]) for block in to_do
    )
    left, total, cpu_seconds, n_cells = sum(effort[b] for b in to_do), sum(effort.values()), 0.0, 0
    for block, seconds, made in blocks:
        left, cpu_seconds, n_cells = left - effort[block], cpu_seconds + seconds, n_cells + made
        if progress is not None:
            progress(1 - left / total)
    return Timing(time.perf_counter() - start, cpu_seconds, n_cells)


def _run_block(
    plan: Plan, data: Dataset, block_key: BlockKey, store: CellStore, done: Collection[Key]
) -> tuple[BlockKey, float, int]:
    """Make the missing cells of a block; its key, processor time and number of cells."""
    start = time.process_time()
    _, permutation, setting = block_key
    n_cells = 0
    # With as many threads as a machine happens to have, sums would differ in their last bits.
    with one_blas_thread(), store.writer() as write, warnings.catch_warnings():
        # Rows that some sets hold twice are as the paper had them.
        warnings.simplefilter("ignore", UnseenWarning)
        block = Block(data, permutation, setting)
        for proportion in plan.proportions:
            trial = Trial(block, proportion)
            for method in plan.methods:
                key = (setting, data.name, permutation, proportion, method.name)
                if key not in done and method.applies(trial):
                    write(_cell(trial, method.name, method(trial)))
                    n_cells += 1
    return block_key, time.process_time() - start, n_cells


def _is_done(plan: Plan, data: Dataset, block: BlockKey, done: Collection[Key]) -> bool:
    """Whether no cell of a block is missing; methods are asked with its first test sample."""
    trial = Trial(Block(data, *block[1:]), plan.proportions[0])
    n_methods = sum(method.applies(trial) for method in plan.methods)
    wanted = {method.name for method in plan.methods}
    found = [key for key in done if key[3] in plan.proportions and key[4] in wanted]
    return len(found) == n_methods * len(plan.proportions)


def _cell(trial: Trial, method: str, answer: Answer) -> Cell:
    shares, limits = np.append(answer.shares, answer.unseen), answer.limits
    if trial.block.setting == "observed":
        # As in the paper: what a method leaves to unseen classes is not counted.
        shares, limits = shares[:-1], None if limits is None else limits[:-1]
    lower, upper = (None, None) if limits is None else (tuple(one.tolist()) for one in limits.T)
    return Cell(
        setting=trial.block.setting,
        dataset=trial.block.data.name,
        permutation=trial.block.permutation,
        proportion=trial.proportion,
        method=method,
        truth=tuple(trial.truth.tolist()),
        shares=tuple(shares.tolist()),
        lower=lower,
        upper=upper,
    )


def _effort(data: Dataset, setting: str) -> float:
    """About how long a block takes, in units that only compare."""
    n_classes = len(np.unique(data.y)) - (setting == "unobserved")
    return (len(data.y) + 500.0) * (1 + n_classes / 4) * (1 + (setting == "observed"))


def _checksum(data: Dataset) -> str:
    rows = np.ascontiguousarray(data.X).tobytes() + "\n".join(map(str, data.y.tolist())).encode()
    return hashlib.sha256(rows).hexdigest()
