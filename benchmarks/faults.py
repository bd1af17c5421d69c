"""Every command that writes, with a fault at any moment: whole files or none, and one clear line.

    python benchmarks/faults.py              # 6 moments for each signal
    python benchmarks/faults.py --moments 2
    python benchmarks/faults.py explain promote --moments 1     # commands whose name begins so

Faults: SIGINT, SIGTERM and SIGKILL at moments spread over the run, limits on the size of files, a
full disk and a disk that may only be read (for root, on Linux), a folder that may not be written to
(with the rights of an ordinary user), a limit on memory, a reader that closes its pipe, a closed
standard output, two writers of one file, a clock that jumps by years to and fro (where a C compiler
can make one). After each every old target must be as it was or new and whole, no file must lie
beside it (SIGKILL may leave a draft), no copy of standard input in the temporary folder, no
traceback on standard error, and the exit code must tell. A run with `--resume` that was stopped is
taken up, and must end with the file of a run that was not. Results: `results/faults.csv`. Linux and
macOS.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
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
MAY_MOUNT = "UNSEEN_FAULTS_MAY_MOUNT"
# Root may write everywhere, unless it gives up that right.
_RIGHTS = "-dac_override,-dac_read_search,-fowner"
_AS_ORDINARY_USER = ["setpriv", "--bounding-set", _RIGHTS] if os.geteuid() == 0 else []
# Every command that writes, with every option that names a file to write: each such file is called
# out.*. NEW comes through standard input.
COMMANDS = {
    "estimate --json": "--json out.json",
    "estimate --save": "--save out.skops",
    "estimate --report": "--report out.html",
    "classify": "-o out.csv",
    "classify --resume": "-o out.csv --resume",
    "classify --save --json": "-o out.parquet --save out.skops --json out.json",
    "explain --sheet --report --json": (
        "--sheet out.csv --sheet-rows 80 --report out.html --json out.json"
    ),
    "audit --json": "--labels sheet.csv --json out.json",
    "promote --rest --json": "--labels sheet.csv -o out.csv --rest out.rest.csv --json out.json",
    "monitor --report --json": "--by day --report out.html --json out.json",
    "compare --json": "--json out.json",
    "diagnose --json": "--json out.json",
}
METHOD = {"estimate", "monitor"}
# Lines of the tables that commands write, with their header: 80 new rows and 60 labelled ones, of
# which ten are promoted.
LINES = {"classify": 81, "explain": 81, "promote": 71}
MAGIC = {".skops": b"PK", ".parquet": b"PAR1"}
# The real time, moved by ten years on every second call.
_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <sys/time.h>
static long jump(void) { static long n; return n++ % 2 ? -315360000L : 315360000L; }
int clock_gettime(clockid_t id, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int found = real(id, now);
    if (id == CLOCK_REALTIME) now->tv_sec += jump();
    return found;
}
int gettimeofday(struct timeval *now, void *zone) {
    struct timespec t; clock_gettime(CLOCK_REALTIME, &t);
    now->tv_sec = t.tv_sec; now->tv_usec = t.tv_nsec / 1000; return 0;
}
time_t time(time_t *out) {
    struct timespec t; clock_gettime(CLOCK_REALTIME, &t);
    if (out) *out = t.tv_sec; return t.tv_sec;
}
"""


class Trial:
    """One command in a folder of its own, with old contents in its targets."""

    def __init__(self, name: str, folder: Path) -> None:
        command, more = name.split()[0], COMMANDS[name].split()
        self.name, self.n_lines, self.folder = name, LINES.get(command, 0), folder
        self.targets = [folder / one for one in more if one.startswith("out.")]
        self.scratch = folder / "tmp"
        self.scratch.mkdir(exist_ok=True)
        for target in self.targets:
            target.write_text(OLD)
            target.chmod(0o600)
        cheap = ["--method", "ClassifyAndCount"] if command in METHOD else []
        self.arguments = [command, "train.csv", "-", "--label", "kind", "--rows", "80", *cheap]
        self.arguments += more
        header = ["id", "length", "width", "colour"]
        write_table(folder / "train.csv", [*header, "kind"], table({"ant": 30, "bee": 30}, 0))
        rows = table({"ant": 40, "bee": 40}, 1)
        rows = [[*row[:-1], f"2024-05-0{1 + i // 40}"] for i, row in enumerate(rows)]
        write_table(folder / "new.csv", [*header, "day"], rows)
        labels = [[str(row + 1), "ant" if row % 2 else "bee"] for row in range(10)]
        write_table(folder / "sheet.csv", ["row", "label"], labels)

    def start(self, prepare: Callable[[], None] | None = None, **options: Any) -> Any:
        """The running process, with the new rows on standard input."""
        environment = {**os.environ, "TMPDIR": str(self.scratch), "OPENBLAS_NUM_THREADS": "1"}
        environment |= options.pop("environment", {})
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
        found = [f"half of {one.name}" for one in self.targets if not self.whole(one)]
        for target in self.targets:
            if target.stat().st_mode & 0o777 != 0o600:
                found.append(f"other permissions of {target.name}")
        known = {"train.csv", "new.csv", "sheet.csv", "tmp", *(one.name for one in self.targets)}
        known |= {".out.csv.kept"} if "--resume" in self.arguments else set()
        left = [file.name for file in self.folder.iterdir() if file.name not in known]
        left += [f"tmp/{file.name}" for file in self.scratch.iterdir()]
        if killed:  # drafts begin with a dot, and the copy of standard input is documented
            left = [name for name in left if not name.startswith((".", "tmp/unseen-stdin-"))]
        return found + [f"left {name}" for name in left if "matplotlib" not in name]

    def whole(self, target: Path) -> bool:
        """Whether a target holds the old text, or a complete new file."""
        data = target.read_bytes()
        if data == OLD.encode():
            return True
        if target.suffix == ".json":
            return data.startswith(b"{") and data.endswith(b"}\n") and bool(json.loads(data))
        if target.suffix == ".csv":
            return data.count(b"\n") == self.n_lines
        magic = MAGIC.get(target.suffix)
        return data.startswith(magic) if magic is not None else b"</html>" in data

    def from_file(self) -> Trial:
        """The same, with the new rows in a file: the first that is written is a target."""
        self.arguments[2] = "new.csv"
        return self


def ended(process: Any, allowed: set[int]) -> list[str]:
    """What is wrong with the way that a process ended."""
    errors = process.communicate(timeout=600)[1].decode(errors="replace")
    found = [] if process.returncode in allowed else [f"ended with {process.returncode}"]
    if "Traceback" in errors or "unforeseen" in errors:
        found.append(f"said {errors.strip().splitlines()[-1][:80]!r}")
    if process.returncode == 1 and "Error: " not in errors and "Aborted" not in errors:
        found.append("said nothing")
    return found


def by_signal(trial: Trial, number: int, after: float) -> list[str]:
    """Send a signal after so many seconds; a run that can be resumed is."""
    process = trial.start()
    time.sleep(after)
    process.send_signal(number)
    # Before the command line is loaded Python itself ends, by the signal and with its own words.
    early = {-number} if number != signal.SIGINT else {-number, 1}
    found = ended(process, {0, 128 + number, *early})
    early_words = process.returncode in early and number == signal.SIGINT
    found = [one for one in found if not (early_words and one.startswith("said"))]
    found += trial.faults(killed=number == signal.SIGKILL)
    return found + taken_up(trial) if "--resume" in trial.arguments else found


def taken_up(trial: Trial) -> list[str]:
    """Run a command that was stopped once more; its file must be that of an undisturbed run."""
    with tempfile.TemporaryDirectory() as scratch:
        undisturbed = Trial(trial.name, Path(scratch))
        found = ended(undisturbed.start(), {0}) + ended(trial.start(), {0})
        expected = [target.read_bytes() for target in undisturbed.targets]
    resumed = [target.read_bytes() for target in trial.targets]
    return found + ([] if resumed == expected else ["resumed to another file"])


def large_files(trial: Trial, limit: int) -> list[str]:
    """No file may grow beyond so many bytes."""

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return ended(trial.start(small), {1}) + trial.faults()


def read_only(trial: Trial) -> list[str]:
    """The folder may not be written to."""
    os.chmod(trial.folder, 0o555)
    try:
        return ended(trial.start(before=_AS_ORDINARY_USER), {1}) + trial.faults()
    finally:
        os.chmod(trial.folder, 0o755)


def full_disk(trial: Trial, free: int) -> list[str]:
    """The disk has so many bytes left; the trial runs on a small disk in memory of its own."""
    run("mount", "-t", "tmpfs", "-o", "size=256k", "none", str(trial.folder))
    try:
        trial = Trial(trial.name, trial.folder).from_file()
        (trial.scratch / "matplotlib").write_bytes(bytes(_free(trial.folder) - free))
        return ended(trial.start(), {1}) + trial.faults()
    finally:
        run("umount", str(trial.folder))


def read_only_disk(trial: Trial) -> list[str]:
    """The disk may only be read, by root too."""
    folder = str(trial.folder)
    run("mount", "--bind", folder, folder)
    run("mount", "-o", "remount,ro,bind", folder)
    try:
        return ended(trial.from_file().start(), {1}) + trial.faults()
    finally:
        run("umount", folder)


def run(*command: str) -> None:
    """Run a command of the system, which must not fail."""
    subprocess.run(command, check=True)


def _free(folder: Path) -> int:
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize


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
    trial.arguments = [one for one in trial.arguments if one not in ("--json", "out.json")]
    trial.arguments += ["--json", "-"]
    return ended(trial.start(lambda: os.close(1)), {1}) + trial.faults()


def two_writers(trial: Trial) -> list[str]:
    """Two processes write to one target."""
    both = [trial.start(), trial.start()]
    return [one for process in both for one in ended(process, {0})] + trial.faults()


def jumping_clock(trial: Trial, library: Path) -> list[str]:
    """The clock of the wall goes to and fro; the answer is the same, and so are the files."""
    process = trial.start(environment={"LD_PRELOAD": str(library)})
    return ended(process, {0}) + trial.faults()


def clock_library(folder: Path) -> Path | None:
    """A library that moves the clock of a process; None where it cannot be made."""
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(_CLOCK)
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        return None
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def all_faults(
    name: str, moments: int, clock: Path | None
) -> dict[str, Callable[[Trial], list[str]]]:
    """Every fault by its name."""
    found: dict[str, Callable[[Trial], list[str]]] = {
        "no file above 1000 bytes": lambda trial: large_files(trial, 1000),
        "no target above 20 bytes": lambda trial: large_files(trial.from_file(), 20),
        "read-only folder": read_only,
        "300 MB of memory": lambda trial: little_memory(trial, 300),
        "900 MB of memory": lambda trial: little_memory(trial, 900),
        "closed pipe": closed_pipe,
        "closed output": closed_output,
        "two writers": two_writers,
    }
    if clock is not None:
        found["jumping clock"] = lambda trial: jumping_clock(trial, clock)
    if MAY_MOUNT in os.environ:
        found["full disk"] = lambda trial: full_disk(trial, 0)
        found["read-only disk"] = read_only_disk
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
        if wrong or any(one.read_bytes() == OLD.encode() for one in trial.targets):
            sys.exit(f"{name} fails without a fault: {wrong}")
        return time.monotonic() - begin


def tried(chosen: list[str], moments: int) -> list[dict[str, Any]]:
    """Every fault of every command, and what was wrong after it."""
    rows = []
    with tempfile.TemporaryDirectory() as home:
        clock = clock_library(Path(home))
        for name in chosen:
            for fault, attempt in all_faults(name, moments, clock).items():
                with tempfile.TemporaryDirectory() as scratch:
                    os.chmod(scratch, 0o755)
                    wrong = "; ".join(attempt(Trial(name, Path(scratch))))
                rows.append({"command": name, "fault": fault, "wrong": wrong})
                if wrong:
                    print(rows[-1], flush=True)
            print(f"{name}: {len(rows)} faults so far", flush=True)
    return rows


def with_own_disks() -> None:
    """Start anew where root may mount disks that no other process sees."""
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", tempfile.gettempdir()]
    may = os.geteuid() == 0 and shutil.which("unshare") is not None
    if MAY_MOUNT in os.environ or not may or subprocess.run(probe, capture_output=True).returncode:
        return
    os.environ[MAY_MOUNT] = "yes"
    os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def main() -> None:
    """Try all faults; the exit code is 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands", nargs="*", help="such as classify; all by default")
    parser.add_argument("--moments", type=int, default=6)
    given = parser.parse_args()
    with_own_disks()
    chosen = [name for name in COMMANDS if name.startswith(tuple(given.commands or [""]))]
    rows = tried(chosen, given.moments)
    said = f"{len(rows)} faults, {sum(bool(row['wrong']) for row in rows)} with something wrong"
    if not given.commands:
        write_csv("faults.csv", rows, f"--moments {given.moments}: {said}")
    print(said)
    sys.exit(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    main()
