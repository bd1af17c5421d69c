"""Damaged and hostile inputs by the thousand: every one must give an answer or one clear error.

    python benchmarks/fuzz.py                             # a minute, all targets
    python benchmarks/fuzz.py feather load                # two targets
    python benchmarks/fuzz.py --inputs 1000000 --save     # most of an hour, and can go on

Each input is a seed file, or a file of `corpus/`, with a few mutations: bytes changed, cut, doubled
or moved, numbers and words replaced by nasty ones, and for archives the same inside a member. A
process of its own tries thousands of them, under a memory limit, with the input at hand on disk, so
that even an input that ends the process is found. What was found goes to `corpus/`, and so is tried
for ever.

A finding is a signal (a crash), an exception that no caller is told to expect, a message of several
lines, a NaN among encoded numbers, shares off the simplex, or 20 seconds of CPU time for one input.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import json
import math
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from _common import RESULTS, write_csv
from _fuzz_targets import TARGETS, WEIGHTS, ZIPPED, seeds, suffix, trial

CORPUS = Path(__file__).parent / "corpus"
NAME = "fuzz.csv"
_MEMORY = 8 << 30
# Writing a small file to a disk takes longer than reading it; None is the usual folder.
_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
# pyarrow loses a block of memory for each gzip file that it cannot read. The time that HDF5 takes,
# in a process of its own, is known when that ends.
_INPUTS_EACH = {"csv.gz": 4_000, "h5ad": 50}
_INPUTS_OF_OTHERS = 40_000
_SECONDS_EACH = 20
_NASTY = (
    b"null", b"NaN", b"-inf", b"1e400", b"1e-320", b"-0", b"999999999999999999999", b"\x00",
    b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"\r\n", b",,,,", b"{", b"[[[[[[[[", b"}", b"true",
    b"2024-02-31", b"\x1b[2J", b"=1+1", b"\xff\xff\xff\x7f", b"\x80", b"",
)  # fmt: skip
_EXPECTED = (ValueError, TypeError, OSError, MemoryError)


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


def mutant(target: str, good: list[bytes], rng: random.Random) -> bytes:
    """A changed input; in archives mostly one whose outside is whole, which readers look into."""
    data = rng.choice(good)
    if rng.random() < 0.7:
        if target in ZIPPED:
            return mutated_zip(data, ZIPPED[target], good, rng)
        if target == "csv.gz":
            return mutated_gzip(data, good, rng)
    return mutated(data, good, rng)


def mutated_zip(data: bytes, steers: str, others: list[bytes], rng: random.Random) -> bytes:
    """An archive changed inside one member, so that the archive itself stays whole."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # an earlier finding need not be a zip
        return mutated(data, others, rng)
    chosen = rng.choice([steers, steers, *members])
    members[chosen] = mutated(members.get(chosen, b"{}"), list(members.values()), rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def mutated_gzip(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Compressed text changed before it is compressed."""
    try:
        return gzip.compress(mutated(gzip.decompress(data), others, rng), 1)
    except Exception:  # an earlier finding need not be compressed
        return mutated(data, others, rng)


# --- one process -----------------------------------------------------------------------------


def child(target: str, seed: int, seconds: float, inputs: int, folder: Path) -> None:
    """Try inputs until the time or their number is over; counts go to a file now and then."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGVTALRM, _too_long)
    warnings.simplefilter("ignore")
    rng, counts, attempt = random.Random(seed), Counter[str](), trial(target)
    found = sorted(CORPUS.glob(f"*.{suffix(target)}"))
    good = [*seeds(target, folder), *(file.read_bytes() for file in found)]
    file = folder / f"input.{suffix(target)}"
    kinds: set[str] = set()
    end = time.process_time() + seconds
    while time.process_time() < end and counts["tried"] < inputs:
        # First all as they are: what was found once must not come back.
        whole = good[counts["tried"]] if counts["tried"] < len(good) else None
        file.write_bytes(mutant(target, good, rng) if whole is None else whole)
        outcome = _outcome(attempt, file)
        counts["tried"] += 1
        counts[outcome if outcome in ("answered", "refused") else "found"] += 1
        kind = re.sub(r"[^a-zA-Z ]", "", outcome)[:40]
        if outcome not in ("answered", "refused") and kind not in kinds:
            kinds.add(kind)  # one input of a kind is enough to keep
            _keep(file, target, outcome)
        if counts["tried"] % 20 == 0:
            (folder / "counts.json").write_text(json.dumps(counts))
    (folder / "counts.json").write_text(json.dumps(counts))


def _outcome(attempt: Callable[[Path], None], file: Path) -> str:
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS_EACH)
    # Code that never comes back to Python is ended with its process.
    signal.setitimer(signal.ITIMER_PROF, 2 * _SECONDS_EACH)
    try:
        attempt(file)
    except _EXPECTED as error:
        # Arrow's and the system's own errors must have become ours: with no number, and one line.
        return "refused" if "\n" not in str(error).strip() else f"lines: {error}"
    except (Exception, _TooLong) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "answered"


class _TooLong(BaseException):
    """Not an Exception, which a reader of damaged files may take for damage."""


def _too_long(*_: Any) -> None:
    raise _TooLong(f"took more than {_SECONDS_EACH} s")


def _keep(file: Path, target: str, why: str) -> None:
    if not file.exists():
        sys.exit(f"{target} has no inputs: its process {why}")
    data = file.read_bytes()
    kept = CORPUS / f"{hashlib.sha256(data).hexdigest()[:12]}.{suffix(target)}"
    kept.write_bytes(data)
    print(f"{kept.name}: {why[:200]}", file=sys.stderr, flush=True)


# --- all of them -----------------------------------------------------------------------------


def hunt(row: dict[str, Any], seconds: float, inputs: int, seed: int) -> Iterator[None]:
    """Try so many more inputs of one kind, or for so many CPU seconds; the row counts them.

    After each process the counts can be saved.
    """
    target, spent = row["target"], 0.0
    goal = row["tried"] + inputs
    while spent < seconds - 0.5 and row["tried"] < goal:
        with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as scratch:
            folder, before = Path(scratch), _children_seconds()
            # Each process has its own seed, and one that goes on begins where the last one ended.
            own = str(seed + 1000 * row["processes"])
            most = min(goal - row["tried"], _INPUTS_EACH.get(target, _INPUTS_OF_OTHERS))
            arguments = ["--child", target, own, str(seconds - spent), str(most), scratch]
            done = subprocess.run([sys.executable, __file__, *arguments], check=False)
            used, counts = _children_seconds() - before, folder / "counts.json"
            tried = json.loads(counts.read_text()) if counts.exists() else {}
            if done.returncode != 0:
                row["crashes"] += 1
                _keep(folder / f"input.{suffix(target)}", target, f"ended with {done.returncode}")
        row["processes"] += 1
        row["seconds"] = round(row["seconds"] + used, 1)
        spent += max(used, 1.0)
        for name in ("tried", "answered", "refused", "found"):
            row[name] += tried.get(name, 0)
        yield


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def new_row(target: str) -> dict[str, Any]:
    """Counts of a kind of which nothing has been tried."""
    counts = dict.fromkeys(("tried", "answered", "refused", "found", "crashes", "processes"), 0)
    return {"target": target, **counts, "seconds": 0.0}


def saved_rows(comment: str) -> dict[str, dict[str, Any]]:
    """Counts of the same command as far as it came; empty where another command wrote the file."""
    file = RESULTS / NAME
    first, *lines = file.read_text().splitlines() if file.exists() else [""]
    if first != f"# {comment}":
        return {}
    rows = csv.DictReader(lines)
    return {
        row["target"]: {
            name: value if name == "target" else float(value) if "." in value else int(value)
            for name, value in row.items()
        }
        for row in rows
    }


def main() -> None:
    """Hunt in all targets; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60, help="CPU time of all targets")
    parser.add_argument("--inputs", type=int, help="inputs of all targets, whatever time they take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", action="store_true", help="write results/fuzz.csv, or go on")
    given = parser.parse_args()
    chosen = given.targets or list(TARGETS)
    if unknown := set(chosen) - set(TARGETS):
        parser.error(f"targets must be among {', '.join(TARGETS)}; got {', '.join(unknown)}")
    CORPUS.mkdir(exist_ok=True)
    amount = f"--inputs {given.inputs}" if given.inputs else f"--seconds {given.seconds:g}"
    comment = " ".join([*given.targets, amount, f"--seed {given.seed}"])
    rows = {target: new_row(target) for target in chosen}
    if given.save and given.inputs:
        rows |= saved_rows(comment)
    points = sum(WEIGHTS.get(target, 1) for target in chosen)
    for target, row in rows.items():
        quota = math.ceil((given.inputs or 0) * WEIGHTS.get(target, 1) / points)
        limits = (
            (math.inf, quota - row["tried"]) if given.inputs else (given.seconds / len(rows), 10**9)
        )
        for _ in hunt(row, *limits, given.seed):
            if given.save:
                write_csv(NAME, rows.values(), comment)
        print(row, flush=True)
    print(f"{sum(row['tried'] for row in rows.values()):,} inputs tried")
    sys.exit(any(row["found"] or row["crashes"] for row in rows.values()))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:2] == ["--child"]:
        target, seed, seconds, inputs, folder = sys.argv[2:]
        child(target, int(seed), float(seconds), int(inputs), Path(folder))
    else:
        main()
