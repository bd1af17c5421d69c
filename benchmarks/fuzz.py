"""Damaged and hostile inputs by the thousand: every one must give an answer or one clear error.

    python benchmarks/fuzz.py                     # a minute, all targets
    python benchmarks/fuzz.py --seconds 300 --save
    python benchmarks/fuzz.py feather load        # two targets

Each input is a seed file, or a file of `corpus/`, with a few mutations: bytes changed, cut, doubled
or moved, numbers and words replaced by nasty ones, and for saved models the same inside the zip. A
process of its own tries them, under a memory limit, with the input at hand on disk, so that even
an input that ends the process is found. What was found goes to `corpus/`, and so is tried for ever.

A finding is a signal (a crash), an exception that no caller is told to expect, a message of several
lines, a NaN among encoded numbers, or 20 seconds of CPU time for one input.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _common import write_csv

CORPUS = Path(__file__).parent / "corpus"
TARGETS = ("csv", "tsv", "csv.gz", "jsonl", "parquet", "feather", "load", "fail_if")
_MEMORY = 8 << 30
# pyarrow loses a block of memory for each gzip file that it cannot read.
_INPUTS_EACH = 4000
_SECONDS_EACH = 20
_NASTY = (
    b"null", b"NaN", b"-inf", b"1e400", b"1e-320", b"-0", b"999999999999999999999", b"\x00",
    b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"\r\n", b",,,,", b"{", b"[[[[[[[[", b"}", b"true",
    b"2024-02-31", b"\x1b[2J", b"=1+1", b"\xff\xff\xff\x7f", b"\x80", b"",
)  # fmt: skip
_EXPECTED = (ValueError, TypeError, OSError, MemoryError)


# --- seeds -----------------------------------------------------------------------------------


def _table() -> Any:
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(0)
    kinds = ["ant", "bee", "wasp"]
    return pa.table(
        {
            "y": [kinds[i % 3] for i in range(45)],
            "size": rng.normal(size=45).round(3),
            "legs": pa.array([None if i % 7 == 0 else i % 5 for i in range(45)], pa.int32()),
            "colour": pa.array([["red", "blue", None][i % 3] for i in range(45)]),
            "day": pa.array([18_000 + i for i in range(45)], pa.date32()),
            "spots": pa.array([[1, 2], [], None] * 15),
        }
    )


def seeds(target: str, folder: Path) -> list[bytes]:
    """Good inputs of a kind, as bytes."""
    from unseen.tables import RowWriter

    if target == "fail_if":
        texts = ["unseen.low > 0.05", "cat <= 5%", "drift.verdict == moved", " a.b.high>=1e-3 "]
        return [text.encode() for text in texts]
    if target == "load":
        return _saved(folder)
    file = folder / f"seed.{target}"
    table = _table().drop_columns(["spots"]) if target != "jsonl" else _table()
    with RowWriter(file) as writer:
        writer.write(table)
    found = [file.read_bytes()]
    if target == "feather":
        import pyarrow as pa
        import pyarrow.feather as feather

        words = table.set_column(0, "y", table["y"].dictionary_encode())
        for one in (table, words):
            feather.write_feather(one, file, compression="uncompressed")
            found.append(file.read_bytes())
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, words.schema) as stream:
            stream.write_table(words)
        found.append(sink.getvalue().to_pybytes())
    return found


def _saved(folder: Path) -> list[bytes]:
    import numpy as np
    from scipy import sparse

    import unseen

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), ["a", "b"] * 15
    fitted = [
        unseen.MPEIncomplete(random_state=0).fit(X, y),
        unseen.MPEIncomplete(random_state=0).fit(sparse.csr_array(X), y),
        {"shares": [0.5, 0.5], "classes": ("a", 1)},
    ]
    found = []
    for one in fitted:
        unseen.save(one, folder / "seed.skops")
        found.append((folder / "seed.skops").read_bytes())
    return found


# --- mutations -------------------------------------------------------------------------------


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """The data with one to four changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = _changed(data, others, rng)
    return data


def _changed(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    length = min(rng.choice((1, 1, 2, 4, 8, 64, 1024)), len(data) - place)
    end = place + length
    kind = rng.randrange(8)
    if kind <= 2 and length:
        changed = bytearray(data)
        changed[place] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        return bytes(changed)
    if kind == 3:
        return data[:place] + data[end:]
    if kind == 4:
        return data[:place] + data[place:end] * rng.choice((2, 3, 200)) + data[end:]
    if kind == 5:
        return data[:place] + rng.choice(_NASTY) + data[end if rng.random() < 0.5 else place :]
    if kind == 6:
        other = rng.choice(others)
        start = rng.randrange(len(other) + 1)
        return data[:place] + other[start : start + 200] + data[end:]
    words = [*re.finditer(rb"[\w.+-]+", data)]
    if not words:
        return data + rng.choice(_NASTY)
    word = rng.choice(words)
    return data[: word.start()] + rng.choice(_NASTY) + data[word.end() :]


def mutated_zip(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """A saved model changed inside one member, so that the zip itself stays whole."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # an earlier finding need not be a zip
        return mutated(data, others, rng)
    chosen = rng.choice(["schema.json", "schema.json", *members])
    members[chosen] = mutated(members.get(chosen, b"{}"), list(members.values()), rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


# --- targets ---------------------------------------------------------------------------------


def try_table(file: Path) -> None:
    """Read a table, learn its columns and encode them: all numbers must be finite."""
    import numpy as np

    from unseen.tables import Columns, Source, read_labelled

    sample = read_labelled(Source.find(file), "y", 40, seed=0)
    columns = Columns(label="y").fit(sample.table)
    encoded, _ = columns.transform_new(sample.table)
    if not np.isfinite(encoded).all():
        raise AssertionError("a NaN came through")


def try_load(file: Path) -> None:
    """Load a model: what came may lie, but nothing in it may have run."""
    import unseen

    unseen.load(file)


def try_condition(file: Path) -> None:
    """Read a condition; click's error is the expected one."""
    import click

    from unseen.cli.failif import parse_condition

    try:
        parse_condition(file.read_bytes().decode("utf-8", "replace"))
    except click.BadParameter:
        raise ValueError("refused") from None


def trial(target: str) -> Callable[[Path], None]:
    """The function that takes an input of this kind."""
    return {"load": try_load, "fail_if": try_condition}.get(target, try_table)


# --- one process -----------------------------------------------------------------------------


def child(target: str, seed: int, seconds: float, folder: Path) -> None:
    """Try inputs until the time is over; counts go to a file after each hundred."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGVTALRM, _too_long)
    warnings.simplefilter("ignore")
    suffix = "skops" if target == "load" else target
    rng, counts, attempt = random.Random(seed), Counter[str](), trial(target)
    good = [*seeds(target, folder), *(f.read_bytes() for f in sorted(CORPUS.glob(f"*.{suffix}")))]
    file = folder / f"input.{suffix}"
    end = time.process_time() + seconds
    while time.process_time() < end and counts["tried"] < _INPUTS_EACH:
        mutate = mutated_zip if target == "load" and rng.random() < 0.7 else mutated
        # First all as they are: what was found once must not come back.
        whole = good[counts["tried"]] if counts["tried"] < len(good) else None
        file.write_bytes(mutate(rng.choice(good), good, rng) if whole is None else whole)
        outcome = _outcome(attempt, file)
        counts["tried"] += 1
        counts[outcome if outcome in ("answered", "refused") else "found"] += 1
        if outcome not in ("answered", "refused"):
            _keep(file, suffix, outcome)
        if counts["tried"] % 20 == 0:
            (folder / "counts.json").write_text(json.dumps(counts))
    (folder / "counts.json").write_text(json.dumps(counts))


def _outcome(attempt: Callable[[Path], None], file: Path) -> str:
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS_EACH)
    try:
        attempt(file)
    except _EXPECTED as error:
        # Arrow's and the system's own errors must have become ours: with no number, and one line.
        return "refused" if "\n" not in str(error).strip() else f"lines: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return "answered"


def _too_long(*_: Any) -> None:
    raise RuntimeError(f"took more than {_SECONDS_EACH} s")


def _keep(file: Path, suffix: str, why: str) -> None:
    data = file.read_bytes()
    kept = CORPUS / f"{hashlib.sha256(data).hexdigest()[:12]}.{suffix}"
    kept.write_bytes(data)
    print(f"{kept.name}: {why[:200]}", file=sys.stderr, flush=True)


# --- all of them -----------------------------------------------------------------------------


def hunt(target: str, seconds: float, seed: int) -> dict[str, Any]:
    """Try inputs of one kind for so many CPU seconds, in one process after the other."""
    total, crashes, left = Counter[str](), 0, seconds
    suffix = "skops" if target == "load" else target
    while left > 0.5:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            arguments = ["--child", target, str(seed), str(left), scratch]
            done = subprocess.run([sys.executable, __file__, *arguments], check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            counts = folder / "counts.json"
            total.update(json.loads(counts.read_text()) if counts.exists() else {})
            seed, left = seed + 1000, left - max(used, 1.0)
            if done.returncode != 0:
                crashes += 1
                _keep(folder / f"input.{suffix}", suffix, f"ended with {done.returncode}")
    return {"target": target, **{name: total[name] for name in ("tried", "answered", "refused")},
            "found": total["found"], "crashes": crashes}  # fmt: skip


def main() -> None:
    """Hunt in all targets; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60, help="CPU time of all targets")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", action="store_true", help="write results/fuzz.csv")
    given = parser.parse_args()
    given.targets = given.targets or list(TARGETS)
    if unknown := set(given.targets) - set(TARGETS):
        parser.error(f"targets must be among {', '.join(TARGETS)}; got {', '.join(unknown)}")
    CORPUS.mkdir(exist_ok=True)
    rows = []
    for target in given.targets:
        rows.append(hunt(target, given.seconds / len(given.targets), given.seed))
        print(rows[-1], flush=True)
    if given.save:
        write_csv("fuzz.csv", rows, f"--seconds {given.seconds:g} --seed {given.seed}")
    print(f"{sum(row['tried'] for row in rows):,} inputs tried")
    sys.exit(any(row["found"] or row["crashes"] for row in rows))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), Path(sys.argv[5]))
    else:
        main()
