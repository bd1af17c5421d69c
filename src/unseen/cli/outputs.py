"""Files that a command writes: checked before the work, written whole after it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from unseen.study import (
        AfterResult,
        Checks,
        Classification,
        Inputs,
        MethodComparison,
        Study,
    )

__all__ = ["Outputs"]

STANDARD_OUTPUT = "-"


@dataclass(frozen=True)
class Outputs:
    """The files that hold the answer, besides the screen."""

    report: Path | None = None
    json_path: str | None = None
    save: Path | None = None
    rows: Path | None = None
    sheet: Path | None = None
    rest: Path | None = None

    def check(self, inputs: Inputs, *also_read: Path) -> None:
        """Raise before minutes of work where a file cannot be written or would replace a table."""
        from unseen._files import check_writable

        if not self.leaves_screen_free and sys.stdout is None:
            raise OSError("standard output is closed: --json - has nowhere to go.")
        if self.save is not None and self.save.suffix != ".skops":
            raise click.UsageError(f"--save must name a file that ends in .skops; got {self.save}.")
        self._check_formats(inputs)
        taken = inputs.files | {path.resolve() for path in also_read}
        for path in self.files:
            check_writable(path)
            if path.resolve() in taken:
                raise click.UsageError(f"{path} is a table, or is to be written twice.")
            taken.add(path.resolve())
        modules = ("matplotlib", "jinja2") if self.report is not None else ()
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            raise ImportError(
                f"--report needs {' and '.join(missing)}, not installed here. "
                'Try: pip install "unseen[cli]"'
            )

    def _check_formats(self, inputs: Inputs) -> None:
        """Raise where no format has the suffix of a table that is to be written."""
        from unseen.tables import RowWriter

        for rows in (self.rows, self.rest):
            if rows is not None and not inputs.writes_cells(rows):
                RowWriter(rows)
        if self.sheet is not None:
            from unseen.study.sheets import check_sheet_path

            check_sheet_path(self.sheet)

    @property
    def files(self) -> list[Path]:
        """The files, standard output left out."""
        to_file = self.json_path if self.json_path != STANDARD_OUTPUT else None
        paths = (self.report, to_file, self.save, self.rows, self.sheet, self.rest)
        return [Path(path) for path in paths if path is not None]

    @property
    def leaves_screen_free(self) -> bool:
        """Whether standard output is not taken by JSON."""
        return self.json_path != STANDARD_OUTPUT

    def write(
        self,
        record: Study | Classification | MethodComparison | Checks | AfterResult,
        model: Any = None,
    ) -> None:
        """Write what was asked for: a report of a study, JSON, and the model to be saved."""
        if self.report is not None:
            from unseen.report import write_report

            write_report(record, self.report)  # type: ignore[arg-type]  # only studies have one
        if self.json_path is not None:
            _write_json(record.to_dict(), self.json_path)
        if self.save is not None:
            from unseen.persist import save

            save(model, self.save)


def _write_json(record: dict[str, Any], path: str) -> None:
    from unseen._files import write_then_rename

    text = json.dumps(record, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    # JSON is UTF-8 on any terminal; what has no place there, of a file name, is escaped as in JSON.
    data = text.encode("utf-8", "backslashreplace")
    if path == STANDARD_OUTPUT:
        click.echo(data, nl=False)
        return
    with write_then_rename(path) as draft:
        draft.write_bytes(data)
