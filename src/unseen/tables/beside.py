"""Labels in a file of their own, beside the rows that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from unseen._wording import quoted
from unseen.tables._arrow import Array, Batch, arrow, join
from unseen.tables.source import Source

__all__ = ["LABEL", "WithLabels"]

LABEL = "label"


class WithLabels(Source):
    """Rows of one source with the labels of another, in the column ``label``.

    Parameters
    ----------
    rows : Source
        The rows, such as those of ``X.npy``.
    labels : Source
        As many labels, in one column, in the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from unseen.tables import Source, WithLabels
    >>> with TemporaryDirectory() as folder:
    ...     X, y = Path(folder, "X.npy"), Path(folder, "y.npy")
    ...     np.save(X, [[0.0, 1.0], [2.0, 3.0]])
    ...     np.save(y, ["cat", "dog"])
    ...     source = WithLabels(Source.find(X), Source.find(y))
    ...     print(source.columns(), next(source.batches())["label"].to_pylist())
    ['X', 'label'] ['cat', 'dog']
    """

    def __init__(self, rows: Source, labels: Source) -> None:
        super().__init__((*rows.parts, *labels.parts), rows.name)
        self.rows = rows
        self.labels = labels

    @cached_property
    def _names(self) -> list[str]:
        names, own = self.rows.columns(), self.labels.columns()
        if len(own) != 1:
            raise ValueError(
                f"{self.labels.name} must have one column, the labels; it has {quoted(own)}."
            )
        if LABEL in names:
            raise ValueError(
                f"{self.name} must have no column {LABEL!r}, as labels come from "
                f"{self.labels.name}."
            )
        return [*names, LABEL]

    @cached_property
    def _labels(self) -> Array:
        (column,) = join(list(self.labels.batches())).columns
        return column.combine_chunks()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """Yield the rows with their labels, batch by batch."""
        wanted = self.columns() if columns is None else list(columns)
        first = 0
        for batch in self.rows.batches([name for name in wanted if name != LABEL]):
            labels = self._labels.slice(first, batch.num_rows)
            first += batch.num_rows
            self._check_number(first <= len(self._labels), f"at least {first}")
            added = arrow().RecordBatch.from_arrays(
                [*batch.columns, labels], names=[*batch.schema.names, LABEL]
            )
            yield added.select(wanted)
        self._check_number(first == len(self._labels), str(first))

    def _check_number(self, is_right: bool, n_rows: str) -> None:
        if not is_right:
            raise ValueError(
                f"{self.labels.name} must have a label for each row of {self.name}; it has "
                f"{len(self._labels)} for {n_rows} rows."
            )
