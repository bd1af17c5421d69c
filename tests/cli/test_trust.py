"""Labels and file names cannot command the terminal; files keep their permissions."""

import errno
import io
import os
import signal
import stat
import sys

import click
import click.testing
import pytest

from unseen._files import write_then_rename
from unseen.cli import main
from unseen.cli.answer import write_json
from unseen.cli.group import CommandGroup, one_line, stopping_cleanly
from unseen.datasets.catalogue import cache_folder

ESCAPES = "\x1b]0;title\x1b\\\x1b[2J\u202e"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")


def test_an_error_cannot_command_the_terminal() -> None:
    assert not set(ESCAPES[:1]) & set(one_line(ValueError(f"{ESCAPES} does not exist.")))

    @click.group(cls=CommandGroup)
    def group() -> None: ...

    @group.command()
    def refuse() -> None:
        raise click.UsageError(f"must name a known class ({ESCAPES}).")

    result = click.testing.CliRunner().invoke(group, ["refuse"])
    assert result.exit_code == 2
    assert "\x1b" not in result.output
    assert "must name a known class ( ]0;title" in result.output


def test_a_closed_output_is_said_before_the_work(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    tables = ["compare", "train.csv", "new.csv", "--label", "y"]
    with pytest.raises(click.ClickException, match="standard output is closed"):
        main.main([*tables, "--json", "-"], standalone_mode=False)


def test_json_is_utf_8_on_every_terminal(monkeypatch) -> None:
    stream = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream, encoding="ascii"))
    write_json({"label": "Käfer", "file": "o\udcff"}, "-")
    assert stream.getvalue() == '{\n  "label": "Käfer",\n  "file": "o\\udcff"\n}\n'.encode()


def test_letters_that_a_terminal_lacks_are_written_as_numbers(monkeypatch) -> None:
    stream = io.BytesIO()
    ascii_only = io.TextIOWrapper(stream, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", ascii_only)
    main.main(["methods"], standalone_mode=False)
    ascii_only.write("Käfer")
    ascii_only.flush()
    assert stream.getvalue().endswith(rb"K\xe4fer")


@POSIX
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, mode) -> None:
    target = tmp_path / "rows.csv"
    target.write_text("old")
    target.chmod(mode)
    try:
        with write_then_rename(target) as draft:
            assert stat.S_IMODE(draft.stat().st_mode) == mode
            draft.write_bytes(b"new")
    except PermissionError:
        assert mode == 0o444  # nobody but root may write to such a draft
    else:
        assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new", mode)


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path) -> None:
    target = tmp_path / "rows.csv"
    with pytest.raises(OSError, match=r"rows\.csv cannot be written: no space"):  # noqa: SIM117
        with write_then_rename(target):
            raise OSError(errno.ENOSPC, "full")
    assert list(tmp_path.iterdir()) == []


@POSIX
def test_the_cache_never_depends_on_the_current_folder(monkeypatch) -> None:
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert cache_folder().is_absolute()


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_cleanly(tmp_path, capfd, request, number) -> None:
    # Tests that run in the background of a shell inherit that SIGINT is ignored.
    inherited = signal.signal(
        number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    )
    request.addfinalizer(lambda: signal.signal(number, inherited))
    before = signal.getsignal(number)

    def write_until_stopped() -> None:
        with stopping_cleanly("stopped."), write_then_rename(tmp_path / "rows.csv") as draft:
            draft.write_bytes(b"half")
            os.kill(os.getpid(), number)

    with pytest.raises(SystemExit) as ended:
        write_until_stopped()
    assert ended.value.code == 128 + number
    assert capfd.readouterr().err == "\nstopped.\n"
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(number) is before


@POSIX
def test_a_signal_while_a_module_loads_has_the_code_of_the_signal(capfd, request) -> None:
    inherited = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    request.addfinalizer(lambda: signal.signal(signal.SIGTERM, inherited))

    def load_until_stopped() -> None:
        with stopping_cleanly("stopped."):
            try:
                os.kill(os.getpid(), signal.SIGTERM)
            except SystemExit:
                raise ImportError("a library that takes every end for its own") from None

    with pytest.raises(SystemExit) as ended:
        load_until_stopped()
    assert ended.value.code == 128 + signal.SIGTERM


@POSIX
def test_what_nohup_ignores_stays_ignored(monkeypatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopping_cleanly("stopped."):
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_no_command_takes_a_few_new_rows(unseen_command, tables, tmp_path) -> None:
    few = tmp_path / "few.csv"
    few.write_text("".join((tables / "new.csv").read_text().splitlines(True)[:3]))
    commands = {
        "estimate": [],
        "classify": ["-o", str(tmp_path / "out.csv")],
        "compare": [],
        "diagnose": [],
        "monitor": ["--by", "day"],
    }
    for command, more in commands.items():
        result = unseen_command(command, "train.csv", str(few), "--label", "kind", *more)
        assert result.exit_code == 1, command
        assert "few.csv must have at least 10 rows to estimate shares; got 2." in result.stderr
