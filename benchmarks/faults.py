"""Every command that writes, with a fault at any moment: whole files or none, and one clear line.

    python benchmarks/faults.py              # 6 moments for each signal
    python benchmarks/faults.py --moments 2

Faults: SIGINT, SIGTERM and SIGKILL at moments spread over the run, a limit on the size of files (a
full disk), a folder that may not be written to (with the rights of an ordinary user), a limit on
memory, a reader that closes its pipe, a closed standard output, two writers of one file. After each
the old target must be as it was or new and whole, no file must lie beside it (SIGKILL may leave a
draft), no copy of standard input in the temporary folder, no traceback on standard error, and the
exit code must tell. Results: `results/faults.csv`. Linux and macOS.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _common import ROOT, write_csv

sys.path.insert(0, str(ROOT / "tests"))

from reference.small_tables import table
from reference.small_tables import write_csv as write_table

OLD = "old"
# Root may write everywhere, unless it gives up that right.
_RIGHTS = "-dac_override,-dac_read_search,-fowner"
_AS_ORDINARY_USER = ["setpriv", "--bounding-set", _RIGHTS] if os.geteuid() == 0 else []
# The target of each command, and its options; NEW comes through standard input.
COMMANDS: dict[str, tuple[str, list[str]]] = {
    "estimate --json": ("out.json", ["estimate", "--json", "out.json"]),
    "estimate --save": ("out.skops", ["estimate", "--save", "out.skops"]),
    "estimate --report": ("out.html", ["estimate", "--report", "out.html"]),
    "classify": ("out.csv", ["classify", "-o", "out.csv"]),
    "monitor --json": ("out.json", ["monitor", "--by", "day", "--json", "out.json"]),
}
METHOD = {"estimate", "monitor"}


class Trial:
    """One command in a folder of its own, with old contents in its target."""

    def __init__(self, name: str, folder: Path) -> None:
        self.target_name, (command, *more) = COMMANDS[name]
        self.folder, self.target = folder, folder / self.target_name
        self.scratch = folder / "tmp"
        self.scratch.mkdir(exist_ok=True)
        self.target.write_text(OLD)
        self.target.chmod(0o600)
        cheap = ["--method", "ClassifyAndCount"] if command in METHOD else []
        self.arguments = [command, "train.csv", "-", "--label", "kind", "--rows", "60", *cheap]
        self.arguments += more
        header = ["id", "length", "width", "colour"]
        write_table(folder / "train.csv", [*header, "kind"], table({"ant": 30, "bee": 30}, 0))
        rows = table({"ant": 40, "bee": 40}, 1)
        rows = [[*row[:-1], f"2024-05-0{1 + i // 40}"] for i, row in enumerate(rows)]
        write_table(folder / "new.csv", [*header, "day"], rows)

    def start(self, prepare: Callable[[], None] | None = None, **options: Any) -> Any:
        """The running process, with the new rows on standard input."""
        environment = {**os.environ, "TMPDIR": str(self.scratch), "OPENBLAS_NUM_THREADS": "1"}
        with (self.folder / "new.csv").open("rb") as new:
            return subprocess.Popen(
                [*options.pop("before", ()), sys.executable, "-m", "unseen", *self.arguments],
                cwd=self.folder,
                env=environment,
                stdin=new,
                stdout=options.pop("stdout", subprocess.PIPE),
                stderr=subprocess.PIPE,
                preexec_fn=prepare,
                **options,
            )

    def faults(self, *, killed: bool = False) -> list[str]:
        """Everything that should not be: half a target, other permissions, files left behind."""
        found = [] if self.whole() else ["half a target"]
        if self.target.stat().st_mode & 0o777 != 0o600:
            found.append("other permissions")
        known = {"train.csv", "new.csv", "tmp", self.target_name}
        left = [file.name for file in self.folder.iterdir() if file.name not in known]
        left += [f"tmp/{file.name}" for file in self.scratch.iterdir()]
        if killed:  # drafts begin with a dot, and the copy of standard input is documented
            left = [name for name in left if not name.startswith((".", "tmp/unseen-stdin-"))]
        return found + [f"left {name}" for name in left if "matplotlib" not in name]

    def whole(self) -> bool:
        """Whether the target holds the old text, or a complete new file."""
        data = self.target.read_bytes()
        if data == OLD.encode():
            return True
        if self.target.suffix == ".json":
            return "format" in json.loads(data) or bool(json.loads(data))
        if self.target.suffix == ".csv":
            return data.count(b"\n") == 81
        return data.startswith(b"PK") if self.target.suffix == ".skops" else b"</html>" in data


def ended(process: Any, allowed: set[int]) -> list[str]:
    """What is wrong with the way that a process ended."""
    errors = process.communicate(timeout=120)[1].decode(errors="replace")
    found = [] if process.returncode in allowed else [f"ended with {process.returncode}"]
    if "Traceback" in errors or "unforeseen" in errors:
        found.append(f"said {errors.strip().splitlines()[-1][:80]!r}")
    if process.returncode == 1 and "Error: " not in errors and "Aborted" not in errors:
        found.append("said nothing")
    return found


def by_signal(trial: Trial, number: int, after: float) -> list[str]:
    """Send a signal after so many seconds."""
    process = trial.start()
    time.sleep(after)
    process.send_signal(number)
    # Before the command line is loaded Python itself ends, by the signal and with its own words.
    early = {-number} if number != signal.SIGINT else {-number, 1}
    found = ended(process, {0, 128 + number, *early})
    early_words = process.returncode in early and number == signal.SIGINT
    found = [one for one in found if not (early_words and one.startswith("said"))]
    return found + trial.faults(killed=number == signal.SIGKILL)


def full_disk(trial: Trial) -> list[str]:
    """No file may grow beyond a few bytes, as on a full disk; nor may the copy of NEW."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    return ended(trial.start(limit), {1}) + trial.faults()


def read_only(trial: Trial) -> list[str]:
    """The folder may not be written to."""
    os.chmod(trial.folder, 0o555)
    try:
        return ended(trial.start(before=_AS_ORDINARY_USER), {1}) + trial.faults()
    finally:
        os.chmod(trial.folder, 0o755)


def little_memory(trial: Trial, megabytes: int) -> list[str]:
    """A limit on memory; where a library of C++ aborts, nothing may be left half-written."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    process = trial.start(limit)
    found = ended(process, {0, 1, -signal.SIGABRT, -signal.SIGSEGV, 127})
    # Too little to import NumPy is an error of the interpreter, with its own words.
    return [one for one in found if "said" not in one] + trial.faults(killed=process.returncode < 0)


def closed_pipe(trial: Trial) -> list[str]:
    """The reader of the answer goes before it comes."""
    reader, writer = os.pipe()
    process = trial.start(stdout=writer)
    os.close(writer)
    os.close(reader)
    return [one for one in ended(process, {0, 1}) if one != "said nothing"] + trial.faults()


def closed_output(trial: Trial) -> list[str]:
    """Standard output is closed, and JSON is to go there."""
    trial.arguments = [*trial.arguments[: trial.arguments.index("--rows")], "--json", "-"]
    if trial.arguments[0] == "monitor":
        trial.arguments += ["--by", "day"]
    if trial.arguments[0] == "classify":
        trial.arguments += ["-o", "out.csv"]
    return ended(trial.start(lambda: os.close(1)), {1}) + trial.faults()


def two_writers(trial: Trial) -> list[str]:
    """Two processes write to one target."""
    both = [trial.start(), trial.start()]
    return [one for process in both for one in ended(process, {0})] + trial.faults()


def all_faults(name: str, moments: int) -> dict[str, Callable[[Trial], list[str]]]:
    """Every fault by its name."""
    found: dict[str, Callable[[Trial], list[str]]] = {
        "full disk": full_disk,
        "read-only folder": read_only,
        "300 MB of memory": lambda trial: little_memory(trial, 300),
        "900 MB of memory": lambda trial: little_memory(trial, 900),
        "closed pipe": closed_pipe,
        "closed output": closed_output,
        "two writers": two_writers,
    }
    length = _seconds(name)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for moment in range(moments):
            after = length * (moment + 0.5) / moments
            found[f"{number.name} at {(moment + 0.5) / moments:.0%}"] = (
                lambda trial, number=number, after=after: by_signal(trial, number, after)
            )
    return found


def _seconds(name: str) -> float:
    """How long a command takes if nothing happens; its target must be new and whole."""
    with tempfile.TemporaryDirectory() as scratch:
        trial = Trial(name, Path(scratch))
        begin = time.monotonic()
        wrong = ended(trial.start(), {0}) + trial.faults()
        if wrong or trial.target.read_bytes() == OLD.encode():
            sys.exit(f"{name} fails without a fault: {wrong}")
        return time.monotonic() - begin


def main() -> None:
    """Try all faults; the exit code is 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=6)
    given = parser.parse_args()
    rows, n_wrong = [], 0
    for name in COMMANDS:
        for fault, attempt in all_faults(name, given.moments).items():
            with tempfile.TemporaryDirectory() as scratch:
                os.chmod(scratch, 0o755)
                wrong = attempt(Trial(name, Path(scratch)))
            n_wrong += bool(wrong)
            rows.append({"command": name, "fault": fault, "wrong": "; ".join(wrong)})
            if wrong:
                print(rows[-1], flush=True)
        print(f"{name}: {len(rows)} faults so far", flush=True)
    write_csv("faults.csv", rows, f"{len(rows)} faults, {n_wrong} with something wrong")
    print(f"{len(rows)} faults, {n_wrong} with something wrong")
    sys.exit(n_wrong > 0)


if __name__ == "__main__":
    main()
