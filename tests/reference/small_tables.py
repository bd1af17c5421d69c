"""Two small tables, and how to read one off a terminal screen."""

import csv
import re
from pathlib import Path

import numpy as np

CENTRES = {"ant": (-4, 0), "bee": (4, 0), "cat": (0, 7)}
N_UNSEEN = 60


def write_csv(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def table(counts: dict[str, int], seed: int) -> list[list[object]]:
    """Rows of id, length, width, colour and kind; the colours of ants differ."""
    rng = np.random.default_rng(seed)
    rows: list[list[object]] = []
    for kind, count in counts.items():
        for x, y in rng.normal(CENTRES[kind], 1, (count, 2)).round(4):
            colour = rng.choice(["red", "blue"], p=[0.9, 0.1] if kind == "ant" else [0.3, 0.7])
            rows.append([x, y, colour, kind])
    order = rng.permutation(len(rows))
    return [[f"r{seed}-{number}", *rows[place]] for number, place in enumerate(order)]


def cells_of(output: str, first: str) -> list[str]:
    """The cells of the row that begins with this cell; a wide table is printed in parts."""
    rows = [re.split(r"[│┃]", line)[1:-1] for line in output.splitlines()]
    found = [[cell.strip() for cell in row] for row in rows if row and row[0].strip() == first]
    assert found, output
    return [first, *(cell for row in found for cell in row[1:])]
