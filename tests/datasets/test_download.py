"""A download is whole, or an error."""

import contextlib
import os
from urllib.error import URLError

import pytest

from unseen.datasets.download import fetch

CONTENT = os.urandom(300_000)


@pytest.mark.parametrize("length", [None, -1], ids=["stated length", "no length"])
def test_what_is_served_arrives(serve, tmp_path, length) -> None:
    path = tmp_path / "file.bin"
    fetch(serve(CONTENT, length=length), path)
    assert path.read_bytes() == CONTENT


def test_a_transfer_that_breaks_off_is_refused(serve, tmp_path) -> None:
    with pytest.raises(ConnectionError, match="it broke off after 300000 of 400000 bytes"):
        fetch(serve(CONTENT, length=400_000), tmp_path / "file.bin")


def test_a_missing_file_is_refused(serve, tmp_path) -> None:
    with pytest.raises(URLError, match="Not Found"):
        fetch(serve(CONTENT) + "x", tmp_path / "file.bin")


def test_nobody_listening_is_an_error(unreachable, tmp_path) -> None:
    with pytest.raises(URLError, match="refused"):
        fetch(unreachable, tmp_path / "file.bin")


def written_to(terminal: int) -> bytes:
    """All that was written to a terminal whose other side is closed; it may come in pieces."""
    pieces = []
    with contextlib.suppress(OSError):  # the end of a terminal is an error on Linux
        while piece := os.read(terminal, 1 << 16):
            pieces.append(piece)
    return b"".join(pieces)


def test_a_terminal_shows_a_bar(serve, tmp_path, monkeypatch) -> None:
    """Where standard error is a real terminal; elsewhere nothing is printed."""
    pty = pytest.importorskip("pty")
    terminal, side = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    try:
        with open(side, "w", encoding="utf-8") as stderr:
            monkeypatch.setattr("sys.stderr", stderr)
            fetch(serve(CONTENT), tmp_path / "data.bin")
        shown = written_to(terminal)
    finally:
        os.close(terminal)
    assert b"data.bin" in shown
    assert b"300.0/300.0 kB" in shown


def test_elsewhere_nothing_is_printed(serve, tmp_path, capfd) -> None:
    fetch(serve(CONTENT), tmp_path / "file.bin")
    assert capfd.readouterr() == ("", "")
