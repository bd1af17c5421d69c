"""Where finished cells go: files that are only ever appended to.

Each writer has a file of its own, one line of JSON a cell, so that writers never meet: neither
the workers of one run, nor a worker that outlives a killed run and the run that takes over. A
line cut short by a crash is passed over when the folder is read, and its cell is done again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

from paper.cell import Cell
from unseen._files import write_then_rename

__all__ = ["CellStore", "Key", "key_of", "write_text"]

Key: TypeAlias = tuple[str, str, int, float, str]


class CellStore:
    """A folder of cells.

    Parameters
    ----------
    folder : path
        Made when the first cell is written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from paper.cell import Cell
    >>> from paper.store import CellStore
    >>> with TemporaryDirectory() as folder:
    ...     store = CellStore(folder)
    ...     with store.writer() as write:
    ...         write(Cell("observed", "banana", 0, 0.5, "L2", (0.5, 0.5), (0.25, 0.75)))
    ...     [cell.method for cell in store.read().values()]
    ['L2']
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def read(self) -> dict[Key, Cell]:
        """All whole cells, in an order that does not depend on who wrote them when."""
        files = sorted(self.folder.glob("cells-*.jsonl"))
        found = (cell for file in files for cell in _whole_cells(file))
        # Where two writers made the same cell, either will do: a cell depends on its seed alone.
        cells = {key_of(cell): cell for cell in found}
        return {key: cells[key] for key in sorted(cells)}

    @contextmanager
    def writer(self) -> Iterator[Callable[[Cell], None]]:
        """A function that appends a cell; what it has written outlives the process."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"cells-{uuid4().hex}.jsonl").open("x", encoding="utf-8") as file:

            def write(cell: Cell) -> None:
                file.write(json.dumps(asdict(cell)) + "\n")
                file.flush()

            yield write
            os.fsync(file.fileno())

    def agree(self, terms: Mapping[str, Any]) -> None:
        """Write down what the cells depend on, or check that it is what was written down.

        Parameters
        ----------
        terms : dict
            Names and values; a later run may bring further names.
        """
        file = self.folder / "terms.json"
        agreed = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        for name, value in terms.items():
            if agreed.setdefault(name, value) != value:
                raise ValueError(
                    f"folder must hold cells that this run could have made; {self.folder} was "
                    f"begun with another {name}: {agreed[name]} instead of {value}. Choose "
                    "another folder, or remove this one."
                )
        write_text(file, json.dumps(agreed, indent=1, sort_keys=True) + "\n")


def key_of(cell: Cell) -> Key:
    """The fields that tell a cell from all others."""
    return cell.setting, cell.dataset, cell.permutation, cell.proportion, cell.method


def write_text(file: Path, text: str) -> None:
    """Write a file whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with write_then_rename(file) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


def _whole_cells(file: Path) -> Iterator[Cell]:
    for number, line in enumerate(file.read_bytes().split(b"\n")[:-1], start=1):
        try:
            fields = json.loads(line)
        except ValueError:
            raise ValueError(
                f"{file} must hold one cell a line; line {number} is none. Remove that line."
            ) from None
        for name in ("truth", "shares", "lower", "upper"):
            fields[name] = None if fields[name] is None else tuple(fields[name])
        yield Cell(**fields)
