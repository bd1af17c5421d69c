"""A download is whole and checked, or leaves nothing behind."""

import hashlib
import os
import subprocess
import sys

import pytest

from unseen.datasets.download import fetch

CONTENT = os.urandom(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.mark.parametrize("length", [None, -1], ids=["stated length", "no length"])
def test_what_is_served_arrives(serve, tmp_path, length) -> None:
    path = tmp_path / "new" / "file.bin"
    assert fetch(serve(CONTENT, length=length), path, SHA256) == SHA256
    assert path.read_bytes() == CONTENT
    assert list(path.parent.iterdir()) == [path]


def test_another_sha256_is_refused(serve, tmp_path) -> None:
    with pytest.raises(ValueError, match=f"must have the sha256 {'0' * 64}; got {SHA256}"):
        fetch(serve(CONTENT), tmp_path / "file.bin", "0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_a_transfer_that_breaks_off_is_refused(serve, tmp_path) -> None:
    url = serve(CONTENT, length=400_000)
    with pytest.raises(ConnectionError, match=r"file\.bin .*(of 400000 bytes|more expected)"):
        fetch(url, tmp_path / "file.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_refused(serve, tmp_path) -> None:
    with pytest.raises(ConnectionError, match="cannot be read: Not Found"):
        fetch(serve(CONTENT) + "x", tmp_path / "file.bin")
    assert list(tmp_path.iterdir()) == []


def test_nobody_listening_is_one_clear_error(unreachable, tmp_path) -> None:
    with pytest.raises(ConnectionError, match=f"{unreachable} cannot be read: .*refused"):
        fetch(unreachable, tmp_path / "file.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_download_leaves_an_older_file_alone(serve, tmp_path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"older")
    with pytest.raises(ConnectionError):
        fetch(serve(CONTENT, length=400_000), path)
    assert path.read_bytes() == b"older"


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://example.org/x", "x"])
def test_only_the_web_is_read(url, tmp_path) -> None:
    with pytest.raises(ValueError, match="url must start with https:// or http://"):
        fetch(url, tmp_path / "file.bin")


def test_a_terminal_shows_a_bar(serve, tmp_path) -> None:
    """In a process whose standard error is a real terminal; elsewhere nothing is printed."""
    pty = pytest.importorskip("pty")
    terminal, side = pty.openpty()
    code = "import sys; from pathlib import Path; from unseen.datasets.download import fetch; "
    code += "fetch(sys.argv[1], Path(sys.argv[2]))"
    command = [sys.executable, "-c", code, serve(CONTENT), str(tmp_path / "data.bin")]
    try:
        subprocess.run(command, check=True, stderr=side, env={**os.environ, "TERM": "xterm"})
        shown = os.read(terminal, 1 << 16)
    finally:
        os.close(side)
        os.close(terminal)
    assert b"data.bin" in shown
    assert b"300.0/300.0 kB" in shown


def test_elsewhere_nothing_is_printed(serve, tmp_path, capfd) -> None:
    fetch(serve(CONTENT), tmp_path / "file.bin")
    assert capfd.readouterr() == ("", "")
