"""Time and memory of `unseen estimate` and `unseen classify` on tables larger than a memory.

Tables are made in a temporary folder: ten number columns and one of text, three known classes, and
new rows of which 30% are unseen. Each command runs in a process of its own, with one BLAS thread;
its peak memory is the peak resident size that the kernel counted. The machine is shared: wall
seconds depend on its other users, CPU seconds hardly.

    python benchmarks/big_data.py                 a csv of 1 GB, a Parquet file of 50 million rows
    python benchmarks/big_data.py --csv-mb 100 --parquet-rows 1000000 --out mine.csv

Parts: `estimate` of the two large tables; `estimate` with several values of --rows, for time,
memory and the width of the interval of the unseen share; `classify`, which reads every row twice
and writes each once. Needs 3 GB of disk, which it gives back. Writes results/big_data.csv.
"""

from __future__ import annotations

from _common import RESULTS  # isort: skip

import argparse
import csv
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

N_NUMBERS = 10
KINDS = ("ant", "bee", "cat", "unknown")
COLOURS = np.array(["red", "green", "blue"])
NOW = (0.45, 0.2, 0.05, 0.3)
BATCH = 250_000
N_LABELLED = 6_000
ROWS = (2_000, 5_000, 10_000, 20_000, 50_000)
OTHER_ROWS = 100_000


@dataclass(frozen=True)
class Measured:
    """One command: what it was given, and what it needed."""

    command: str
    table: str
    table_mb: int
    table_rows: int
    rows: int
    wall_seconds: float
    cpu_seconds: float
    peak_mb: int
    unseen: float | None = None
    width: float | None = None


def rows_of(codes: np.ndarray, rng: np.random.Generator) -> pa.Table:
    """Gaussian classes 3 standard deviations apart, with a colour that hangs on the class."""
    numbers = rng.normal(size=(len(codes), N_NUMBERS))
    numbers[np.arange(len(codes)), codes] += 3.0
    columns = {f"x{place}": pa.array(numbers[:, place].round(4)) for place in range(N_NUMBERS)}
    colours = COLOURS[
        np.where(rng.random(len(codes)) < 0.7, codes % 3, rng.integers(3, size=len(codes)))
    ]
    return pa.table({**columns, "colour": pa.array(colours)})


def new_rows(n_rows: int, seed: int = 1) -> Iterator[pa.Table]:
    """Batches of new rows."""
    rng = np.random.default_rng(seed)
    for first in range(0, n_rows, BATCH):
        yield rows_of(rng.choice(4, size=min(BATCH, n_rows - first), p=NOW), rng)


def make_labelled(path: Path, n_rows: int = N_LABELLED) -> None:
    """A table of labelled rows, equally many of each class."""
    codes = np.arange(n_rows) % 3
    table = rows_of(codes, np.random.default_rng(0))
    labels = pa.array(np.array(KINDS)[codes])
    pyarrow.parquet.write_table(table.append_column("kind", labels), path)


def make_csv(path: Path, n_bytes: int) -> None:
    """New rows as text, until the file is that large."""
    with path.open("wb") as file:
        writer = None
        for table in new_rows(n_bytes):  # more than enough
            writer = writer or pyarrow.csv.CSVWriter(file, table.schema)
            writer.write(table)
            if file.tell() >= n_bytes:
                break
        assert writer is not None
        writer.close()


def make_parquet(path: Path, n_rows: int) -> None:
    """So many new rows, in single precision."""
    single = pa.schema(
        [*((f"x{place}", pa.float32()) for place in range(N_NUMBERS)), ("colour", pa.string())]
    )
    with pyarrow.parquet.ParquetWriter(path, single) as writer:
        for table in new_rows(n_rows):
            writer.write_table(table.cast(single))


def make(maker: object, *arguments: object) -> None:
    """Make a table in another process: peak memory of a child counts from its parent's."""
    process = multiprocessing.get_context("spawn").Process(target=maker, args=arguments)
    process.start()
    process.join()
    assert process.exitcode == 0


def measure(command: str, train: Path, new: Path, rows: int = 20_000) -> Measured:
    """Run a command, and ask the kernel what it needed."""
    out = new.with_name("out.parquet" if command == "classify" else "out.json")
    output = "--out" if command == "classify" else "--json"
    arguments = [command, train, new, "--label", "kind", "--rows", rows, "-q", output, out]
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "unseen", *map(str, arguments)])
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    n_rows, unseen, width = counted(out)
    out.unlink()
    return Measured(
        command,
        new.suffix.lstrip("."),
        round(new.stat().st_size / 1e6),
        n_rows,
        rows,
        round(wall, 1),
        round(usage.ru_utime + usage.ru_stime, 1),
        round(usage.ru_maxrss / 1024),
        unseen,
        width,
    )


def counted(out: Path) -> tuple[int, float | None, float | None]:
    """Rows of the table, and the unseen share with the width of its interval."""
    if out.suffix == ".parquet":
        return pyarrow.parquet.ParquetFile(out).metadata.num_rows, None, None
    record = json.loads(out.read_text())
    low, high = record["estimate"]["intervals"][-1]
    return record["new_rows"], round(record["estimate"]["unseen"], 4), round(high - low, 4)


def runs(folder: Path, csv_mb: int, parquet_rows: int) -> Iterator[Measured]:
    """Each part in turn; a table goes as soon as it is not needed."""
    train, many = folder / "train.parquet", folder / "many.parquet"
    make(make_labelled, train)
    make(make_labelled, many, 150_000)

    text = folder / "new.csv"
    make(make_csv, text, csv_mb * 10**6)
    yield measure("estimate", train, text)
    text.unlink()

    binary = folder / "new.parquet"
    make(make_parquet, binary, parquet_rows)
    yield measure("estimate", train, binary)
    binary.unlink()

    make(make_parquet, binary, OTHER_ROWS)
    for rows in ROWS:
        yield measure("estimate", many, binary, rows)
    for rows in (2_000, 5_000):
        yield measure("classify", train, binary, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv-mb", type=int, default=1000)
    parser.add_argument("--parquet-rows", type=int, default=50_000_000)
    parser.add_argument("--out", type=Path, default=RESULTS / "big_data.csv")
    given = parser.parse_args()
    with (
        TemporaryDirectory(prefix="unseen-big-") as folder,
        given.out.open("w", newline="") as file,
    ):
        names = list(Measured.__dataclass_fields__)
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for measured in runs(Path(folder), given.csv_mb, given.parquet_rows):
            writer.writerow(asdict(measured))
            file.flush()
            print(measured, flush=True)


if __name__ == "__main__":
    main()
