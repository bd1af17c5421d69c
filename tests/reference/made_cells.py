"""Cells of the paper's experiments whose errors are what a test says they are."""

from collections.abc import Callable, Iterable

from paper.cell import Cell
from paper.published import DATA_SETS

PROPORTIONS = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
ErrorRule = Callable[[str, int, float], float]


def make_cells(
    method: str,
    error: ErrorRule,
    datasets: Iterable[str] = ("banana", "image", "dna"),
    setting: str = "observed",
    permutations: int = 2,
) -> list[Cell]:
    """Cells with the l1 error that the rule gives from data set, permutation and proportion."""
    return [
        _cell(
            error(dataset, permutation, proportion),
            setting,
            dataset,
            permutation,
            proportion,
            method,
        )
        for dataset in datasets
        for permutation in range(permutations)
        for proportion in PROPORTIONS
    ]


def _cell(
    error: float, setting: str, dataset: str, permutation: int, proportion: float, method: str
) -> Cell:
    """The first share is too small and the last too large, each by half the error."""
    n_classes = DATA_SETS[dataset].n_classes
    rest = (1 - proportion) / (n_classes - 1)
    truth = (rest,) * (n_classes - 1) + (proportion,)
    shares = (rest - error / 2, *truth[1:-1], proportion + error / 2)
    return Cell(setting, dataset, permutation, proportion, method, truth, shares)
