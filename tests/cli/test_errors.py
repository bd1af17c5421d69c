"""Whatever goes wrong: one clear line, exit code 1 or 2, no traceback, nothing half-written."""

import os
import re
import stat
from pathlib import Path

import pytest

from reference.small_tables import write_csv

LABEL = ["--label", "kind"]


def bad_tables(folder: Path, tables: Path) -> dict[str, str]:
    """Files that are wrong in every way that we know of."""
    lines = (tables / "train.csv").read_text().splitlines()
    new = (tables / "new.csv").read_text().splitlines()

    def without_length(line: str) -> str:
        first, _, *others = line.split(",")
        return ",".join([first, "", *others])

    texts = {
        "empty.csv": "",
        "header.csv": "id,length,width,colour\n",
        "other.csv": "id,weight\n1,2\n",
        "gaps.csv": "\n".join([new[0], *map(without_length, new[1:])]),
        "words.csv": "\n".join([new[0], "r,long,1,red,2024-05-01", *new[2:]]),
        "ragged.csv": "\n".join([*new[:5], "1,2,3", *new[5:]]),
        "twice.csv": "length,length\n1,2\n",
        "one.csv": "\n".join([lines[0], *(line for line in lines if line.endswith("ant"))]),
        "few.csv": "\n".join([*lines, "r,1,1,red,dodo"]),
        "new.csv": "\n".join([lines[0], *(line.rpartition(",")[0] + "," for line in lines[1:])]),
        "nine.csv": "\n".join(new[:10]),
        "table.xyz": "a,b\n1,2\n",
        "damaged.skops": "not a zip",
    }
    for name, text in texts.items():
        (folder / name).write_text(text + ("\n" if text else ""))
    (folder / "copy.csv").write_text("\n".join(new) + "\n")
    (folder / "garbage.csv").write_bytes(bytes(range(256)) * 50)
    (folder / "garbage.parquet").write_bytes(os.urandom(4000))
    write_csv(folder / "sixty.csv", ["kind", "x"], [[f"k{i % 60}", i % 7] for i in range(3000)])
    write_csv(folder / "many.csv", ["kind", "x"], [[f"k{i}", i % 7] for i in range(3000)])
    return texts


CASES = {
    "missing file": (["absent.csv", "new.csv", *LABEL], "absent.csv does not exist"),
    "address for TRAIN": (
        ["https://example.org/train.csv", "new.csv", *LABEL],
        "'TRAIN': must name a file on this machine.*got 'https://example.org/train.csv'",
    ),
    "address for NEW": (["train.csv", "s3://b/new.csv", *LABEL], "'NEW': .*got 's3://b/new.csv'"),
    "address to write to": (
        ["train.csv", "new.csv", *LABEL, "--report", "gs://b/x.html"],
        "'--report': must name a file on this machine.*got 'gs://b/x.html'",
    ),
    "empty NEW": (["train.csv", "", *LABEL], "'NEW': must name a file; got an empty text"),
    "empty control": (
        ["train.csv", "new.csv", *LABEL, "--control", ""],
        "'--control': must name a file; got an empty text",
    ),
    "two labels": (
        ["train.csv", "new.csv", *LABEL, "-y", "length"],
        "--label must be given once; got 'kind' and 'length'",
    ),
    "two seeds": (
        ["train.csv", "new.csv", *LABEL, "--seed", "1", "--seed=2"],
        "--seed must be given once; got '1' and '2'",
    ),
    "no match": (["train.csv", "zz*.csv", *LABEL], r"zz\*.csv must match at least one file"),
    "wrong label": (["train.csv", "new.csv", "--label", "sort"], "'sort'.*'kind'"),
    "no label given": (["train.csv", "new.csv"], "--label must name"),
    "misspelt method": (
        ["train.csv", "new.csv", "--label", "kind", "--method", "mpeincomplte"],
        "Did you mean MPEIncomplete?",
    ),
    "different columns": (["train.csv", "B/other.csv", *LABEL], "'length'"),
    "all missing": (["train.csv", "B/gaps.csv", *LABEL], "'length'"),
    "text for a number": (["train.csv", "B/words.csv", *LABEL], "'length'.*'long'"),
    "empty": (["train.csv", "B/empty.csv", *LABEL], "empty.csv must have rows"),
    "header only": (["train.csv", "B/header.csv", *LABEL], "header.csv must have rows"),
    "control without rows": (
        ["train.csv", "new.csv", *LABEL, "--control", "B/header.csv"],
        "--control is read as NEW is: .*header.csv must have rows",
    ),
    "NEW as control": (
        ["train.csv", "new.csv", *LABEL, "--control", "new.csv"],
        "control must hold other rows than the new ones; it holds all of them",
    ),
    "garbage": (["train.csv", "B/garbage.csv", *LABEL], "garbage.csv"),
    "garbage parquet": (["train.csv", "B/garbage.parquet", *LABEL], "garbage.parquet"),
    "ragged": (["train.csv", "B/ragged.csv", *LABEL], "ragged.csv"),
    "column twice": (["train.csv", "B/twice.csv", *LABEL], "twice.csv must .* 'length' occurs"),
    "unknown suffix": (["train.csv", "B/table.xyz", *LABEL], "table.xyz"),
    "no labels": (["B/new.csv", "new.csv", *LABEL], "'kind' must not be missing"),
    "too few rows": (
        ["B/sixty.csv", "B/sixty.csv", *LABEL, "--rows", "200"],
        "at least 10 rows of each",
    ),
    "too few new rows": (
        ["train.csv", "B/nine.csv", *LABEL],
        "at least 10 rows to estimate shares",
    ),
    "a number for a label": (["train.csv", "new.csv", "--label", "length"], "number or an id"),
    "too many classes": (["B/many.csv", "B/many.csv", *LABEL], "at most 1000 distinct values"),
    "one class, closed set": (
        ["B/one.csv", "new.csv", *LABEL, "--method", "SaerensEM"],
        "one class|single class|two classes|at least 2",
    ),
    "unknown method": (["train.csv", "new.csv", *LABEL, "--method", "magic"], "OpenSetEstimator"),
    "condition": (["train.csv", "new.csv", *LABEL, "--fail-if", "unseen!"], "must look like"),
    "condition on none": (["train.csv", "new.csv", *LABEL, "--fail-if", "dodo > 0"], "'dodo'"),
    "share above one": (["train.csv", "new.csv", *LABEL, "--fail-if", "ant > 5"], r"in \[0, 1\]"),
    "confidence": (["train.csv", "new.csv", *LABEL, "--confidence", "95"], "95"),
    "unknown device": (["train.csv", "new.csv", *LABEL, "--device", "gpu"], "--device must be"),
    "no card": (
        ["train.csv", "new.csv", *LABEL, "--device", "cuda:7"],
        "--device='cuda:7' needs (torch|a CUDA GPU)",
    ),
    "column to drop": (["train.csv", "new.csv", *LABEL, "--drop", "size"], "'size'"),
    **{
        f"misspelt {option}": (
            ["train.csv", "new.csv", *LABEL, option, name],
            f"Did you mean {means}",
        )
        for option, name, means in (
            ("--drop", "Widht", "'width'"),
            ("--drop", "dy", "'day'"),
            ("--keep", "colr", "'colour'"),
            ("--group", "lenght", "'length'"),
            ("--fail-if", "ante > 0", "'ant'"),
            ("--method", "openset", "OpenSetEstimator"),
        )
    },
    "by": (["train.csv", "new.csv", *LABEL, "--by", "hour"], "'hour'"),
    "by the hour of no dates": (["train.csv", "new.csv", *LABEL, "--by", "colour:day"], "dates"),
    "both from standard input": (["-", "-", *LABEL], "only one of TRAIN, NEW"),
    "rows without a report": (["train.csv", "new.csv", *LABEL, "--show-rows", "3"], "--report"),
    "saved file damaged": (["B/damaged.skops", "new.csv"], "damaged.skops"),
    "separator of lines": (["train.csv", "new.csv", *LABEL, "--sep", "\n"], "must be one letter"),
    "no code of text": (
        ["train.csv", "new.csv", *LABEL, "--encoding", "hex"],
        "text in hex; 'hex'",
    ),
    "seed of too many digits": (["train.csv", "new.csv", *LABEL, "--seed", "9" * 40], "--seed"),
    "save suffix": (["train.csv", "new.csv", *LABEL, "--save", "B/x.pickle"], ".skops"),
    "a blind method asked": (
        ["train.csv", "new.csv", *LABEL, "--method", "SaerensEM", "--fail-if", "unseen > 0"],
        "SaerensEM cannot see",
    ),
    "report over a table": (
        ["train.csv", "B/copy.csv", *LABEL, "--report", "B/copy.csv"],
        "is a table",
    ),
    "two files, one name": (
        ["train.csv", "new.csv", *LABEL, "--report", "B/x.skops", "--save", "B/x.skops"],
        "written twice",
    ),
    "settled when saved": (["B/damaged.skops", "new.csv", *LABEL], "that was settled when TRAIN"),
    "columns beside scores": (
        ["train.csv", "new.csv", *LABEL, "--scores", "p_*", "--unit-rows"],
        "--scores are the only columns: leave out --unit-rows",
    ),
    "folder for a report": (["train.csv", "new.csv", *LABEL, "--report", "no/x.html"], "no/x.html"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_clear_line_and_nothing_written(name, unseen_command, tables, tmp_path) -> None:
    arguments, message = CASES[name]
    bad_tables(tmp_path, tables)
    given = [argument.replace("B/", f"{tmp_path}/") for argument in arguments]
    written = tmp_path / "out.json"
    before = sorted(file.name for file in tmp_path.iterdir())
    result = unseen_command("estimate", *given, "--json", str(written), input=b"")
    assert result.exit_code in (1, 2), result.output
    error = result.stderr.strip().splitlines()[-1]
    assert error.startswith("Error: ")
    assert len(error) > 25
    assert re.search(message, error), error
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert sorted(file.name for file in tmp_path.iterdir()) == before


def test_json_must_name_a_file(unseen_command) -> None:
    result = unseen_command("estimate", "train.csv", "new.csv", *LABEL, "--json", "")
    assert result.exit_code == 2
    assert "'--json': must name a file; got an empty text" in result.stderr


def test_the_same_value_twice_and_options_that_repeat_are_no_error(unseen_command) -> None:
    given = ["--drop", "colour", "--drop", "size", *LABEL, *LABEL]
    result = unseen_command("estimate", "train.csv", "new.csv", *given)
    assert "--drop must name columns" in result.stderr  # read, and not refused for coming twice


def test_a_folder_that_may_not_be_written_to(unseen_command, tmp_path) -> None:
    # Root may write to any folder of a disk, but not to that of the kernel.
    folder = Path("/proc") if Path("/proc/self").exists() else tmp_path
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    result = unseen_command(
        "estimate", "train.csv", "new.csv", *LABEL, "--json", str(folder / "out.json")
    )
    assert result.exit_code == 1
    assert "out.json cannot be written" in result.stderr


def test_an_unforeseen_error_is_one_line_too(unseen_command, monkeypatch) -> None:
    def explode(*_args, **_kwargs):
        raise RuntimeError("out of\ncheese")

    monkeypatch.setattr("unseen.study.inputs.read_training", explode)
    result = unseen_command("estimate", "train.csv", "new.csv", *LABEL)
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: unforeseen RuntimeError: out of cheese. UNSEEN_TRACEBACK=1 shows where.\n"
    )
    monkeypatch.setenv("UNSEEN_TRACEBACK", "1")
    result = unseen_command("estimate", "train.csv", "new.csv", *LABEL)
    assert isinstance(result.exception, RuntimeError)


@pytest.mark.parametrize("option", ["--json", "--report"])
def test_what_cannot_be_written_is_said_before_the_work(
    unseen_command, monkeypatch, option
) -> None:
    def work(*_args, **_kwargs):
        raise AssertionError("the work has begun")

    monkeypatch.setattr("unseen.study.inputs.read_training", work)
    result = unseen_command("estimate", "train.csv", "new.csv", *LABEL, option, "no/out")
    assert result.exit_code == 1
    assert "no/out cannot be written: its folder does not exist." in result.stderr


@pytest.mark.parametrize(
    ("message", "said", "command"),
    [
        ("labels must be x.", "--labels must be x.", ["estimate"]),
        ("labels must be x.", "--labels must be x.", ["audit", "--labels", "sheet.csv"]),
        ("by must be x.", "--by must be x.", ["monitor", "--by", "day"]),
        ("groups must be x.", "--group must be x.", ["estimate", "--group", "day"]),
        ("x.csv must be y.", "x.csv must be y.", ["estimate"]),
    ],
)
def test_an_argument_is_called_by_its_option(
    unseen_command, monkeypatch, message, said, command
) -> None:
    """Where both are options, --train-labels has the labels of TRAIN, and --labels those of NEW."""

    def refuse(*_args, **_kwargs):
        raise ValueError(message)

    for run in ("run_study", "run_audit"):
        monkeypatch.setattr(f"unseen.study.{run}", refuse)
    result = unseen_command(command[0], "train.csv", "new.csv", *LABEL, *command[1:])
    assert (result.exit_code, result.stderr) == (1, f"Error: {said}\n")
