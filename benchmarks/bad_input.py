"""Every public function and command with every kind of bad and odd input.

    python benchmarks/bad_input.py            # all: functions, then commands
    python benchmarks/bad_input.py --bad      # without the odd but fine inputs, which take longest

A cell is `error` (one clear line that names an argument or a file), `answer` (finite numbers and
shares on the simplex), or what is wrong. Bad inputs must be errors and odd ones answers, else the
exit code is 1. Results: `results/bad_input.csv`, one row per input.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from _common import ROOT, write_csv

sys.path.insert(0, str(ROOT / "tests"))

import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
from click.testing import CliRunner

from reference.bad_inputs import bad_for, functions, good, odd_for, outcome
from reference.small_tables import table
from reference.small_tables import write_csv as write_table
from unseen.cli import main as unseen_main

COMMANDS: dict[str, list[str]] = {
    "estimate": ["--json", "out.json"],
    "classify": ["-o", "out.csv"],
    "monitor": ["--by", "day", "--json", "out.json"],
    "compare": ["--json", "out.json"],
    "diagnose": ["--json", "out.json"],
    "explain": ["--sheet", "out.csv"],
    "audit": ["--labels", "sheet.csv", "--json", "out.json"],
    "promote": ["--labels", "sheet.csv", "-o", "out.csv"],
}
# Sheets that people fill: what is wrong, and the text.
SHEETS = {
    "no row column": "label\nant\n",
    "no label": "row,label\n1,\n2,\n",
    "row 0": "row,label\n0,ant\n",
    "row 61": "row,label\n61,ant\n",
    "row 1.5": "row,label\n1.5,ant\n",
    "row inf": "row,label\ninf,ant\n",
    "row one": "row,label\none,ant\n",
    "a row twice": "row,label\n1,ant\n1,bee\n",
    "another table": "row,label,check\n1,ant,0123456789ab\n",
    "probability 0": "row,label,probability\n1,ant,0\n",
    "probability nan": "row,label,probability\n1,ant,nan\n",
    "group inf": "row,label,group\n1,ant,\n,wasp,inf\n",
    "draw nan": "row,label,draw\n1,ant,nan\n2,ant,1\n",
}


def cells_of_functions(odd: bool) -> list[dict[str, Any]]:
    """One row per input, one column per function."""
    rows: dict[str, dict[str, Any]] = {}
    for name, function in functions().items():
        print(name, flush=True)
        for kind, changes in (("bad", bad_for(name)), ("odd", odd_for(name) if odd else {})):
            for what, change in changes.items():
                row = rows.setdefault(what, {"input": what, "kind": kind})
                row[name] = outcome(function, change(*good()))
    return list(rows.values())


def bad_files(folder: Path) -> dict[str, str]:
    """Tables that are wrong, written to a folder: what is wrong, and the name of the file."""
    header = ["id", "length", "width", "colour", "day"]
    new = [[*row[:-1], f"2024-05-0{1 + i % 2}"] for i, row in enumerate(table({"ant": 40}, 1))]
    lines = [",".join(map(str, row)) for row in (header, *new)]
    texts = {
        "empty.csv": "",
        "header alone.csv": lines[0],
        "nine rows.csv": "\n".join(lines[:10]),
        "other columns.csv": "a,b\n" + "1,2\n" * 20,
        "words for numbers.csv": "\n".join([lines[0], "r,long,1,red,2024-05-01", *lines[2:]]),
        "one row short.csv": "\n".join([*lines[:5], "1,2", *lines[5:]]),
        "quotation mark left open.csv": "\n".join([*lines[:5], '"1,2,3,4,5', *lines[5:]]),
        "column twice.csv": "length,length\n" + "1,2\n" * 20,
        "all missing.csv": "\n".join([lines[0], *("r,,,,2024-05-01" for _ in lines)]),
        "key twice.jsonl": '{"length": 1, "length": 2}\n' * 20,
        "types change.jsonl": '{"length": 1}\n{"length": "1"}\n' * 20,
        "null.jsonl": "null\n" * 20,
        "numbers.jsonl": "7\n" * 20,
        "deep.jsonl": '{"p":' * 20_000 + "1" + "}" * 20_000,
        "array.json": "[" + ",".join('{"length": 1}' for _ in range(20)) + "]",
        "text.parquet": "\n".join(lines),
        "text.feather": "\n".join(lines),
        "not gzip.csv.gz": "\n".join(lines),
        "unknown suffix.xyz": "\n".join(lines),
        "no model.skops": "\n".join(lines),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "bytes.csv").write_bytes(bytes(range(256)) * 20)
    (folder / "no text.jsonl").write_bytes(b'{"length": "\xff"}\n' * 20)
    (folder / "half.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode())[:200])
    twice = pa.Table.from_arrays([pa.array([1.0] * 20)] * 2, names=["length", "length"])
    pa_parquet.write_table(twice, folder / "parquet twice.parquet")
    pa_feather.write_feather(twice, folder / "feather twice.feather")
    (folder / "a folder.csv").mkdir(exist_ok=True)
    (folder / "broken link.csv").unlink(missing_ok=True)
    (folder / "broken link.csv").symlink_to("nowhere.csv")
    written = ["bytes.csv", "no text.jsonl", "half.csv.gz", "parquet twice.parquet"]
    written += ["feather twice.feather", "a folder.csv", "broken link.csv"]
    names = [*texts, *written, "absent.csv"]
    return {name.partition(".")[0]: name for name in names}


def cells_of_commands(folder: Path) -> list[dict[str, Any]]:
    """One row per bad file, as TRAIN and as NEW, one column per command."""
    os.chdir(folder)
    header = ["id", "length", "width", "colour"]
    write_table(folder / "train.csv", [*header, "kind"], table({"ant": 40, "bee": 30}, 0))
    new = [[*row[:-1], f"2024-05-0{1 + i % 2}"] for i, row in enumerate(table({"ant": 60}, 1))]
    write_table(folder / "new.csv", [*header, "day"], new)
    (folder / "sheet.csv").write_text("row,label\n1,ant\n2,bee\n")
    rows = []
    for what, file in bad_files(folder).items():
        for place, pair in (("TRAIN", (file, "new.csv")), ("NEW", ("train.csv", file))):
            row: dict[str, Any] = {"input": f"{place}: {what}", "kind": "bad"}
            label = [] if pair[0].endswith(".skops") else ["--label", "kind"]
            for command, more in COMMANDS.items():
                row[f"unseen {command}"] = _ending(folder, [command, *pair, *label, *more])
            rows.append(row)
    return rows + _cells_of_sheets(folder)


def _cells_of_sheets(folder: Path) -> list[dict[str, Any]]:
    """One row per bad sheet: tables that are none, and sheets that are filled wrongly."""
    for what, text in SHEETS.items():
        (folder / f"{what}.csv").write_text(text)
    (folder / "deep tasks.json").write_text("[" * 100_000)
    (folder / "no tasks.json").write_text('[1, {"data": 3}]')
    files = {what: f"{what}.csv" for what in SHEETS} | bad_files(folder)
    files |= {"deep tasks": "deep tasks.json", "no tasks": "no tasks.json"}
    rows = []
    for what, file in files.items():
        row: dict[str, Any] = {"input": f"--labels: {what}", "kind": "bad"}
        for command, more in (("audit", []), ("promote", ["-o", "out.csv"])):
            tables = ["train.csv", "new.csv", "--label", "kind", "--labels", file]
            row[f"unseen {command}"] = _ending(folder, [command, *tables, *more])
        rows.append(row)
    return rows


def _ending(folder: Path, arguments: list[str]) -> str:
    before = sorted(folder.iterdir())
    result = CliRunner().invoke(unseen_main, arguments)
    lines = result.stderr.strip().splitlines()
    if sorted(folder.iterdir()) != before:
        return "left a file behind"
    if result.exit_code not in (1, 2) or not lines or not lines[-1].startswith("Error: "):
        return f"ended with {result.exit_code}: {result.output[-100:]!r}"
    return "unforeseen" if "unforeseen" in lines[-1] else "error"


def main() -> None:
    """Fill the matrix, write it, and count the cells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bad", action="store_true", help="leave out odd but fine inputs")
    given = parser.parse_args()
    rows = cells_of_functions(odd=not given.bad)
    with tempfile.TemporaryDirectory() as scratch:
        rows += cells_of_commands(Path(scratch))
        os.chdir(ROOT)
    wanted, counts, wrong = {"bad": "error", "odd": "answer"}, Counter[str](), 0
    for row in rows:
        for name, cell in row.items():
            if name in ("input", "kind"):
                continue
            counts[cell if cell in ("error", "answer") else "other"] += 1
            if cell != wanted[row["kind"]]:
                wrong += 1
                print(f"{name}, {row['input']}: {cell}")
    write_csv("bad_input.csv", rows, f"cells: {dict(counts)}; not as they must be: {wrong}")
    print(dict(counts), f"{wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
