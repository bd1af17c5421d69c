"""One file from the web, whole or not at all."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, Protocol
from urllib.request import urlopen

__all__ = ["fetch"]

_CHUNK = 1 << 16
_TIMEOUT_SECONDS = 30.0


class _Advance(Protocol):
    def __call__(self, n_bytes: int) -> None: ...


def fetch(url: str, path: Path, sha256: str | None = None) -> str:
    """Download a file, check it, and only then give it its name.

    Parameters
    ----------
    url : str
        Where it is; http or https.
    path : Path
        Where it goes. Nothing appears there unless all went well.
    sha256 : str or None, default=None
        What its sha256 must be; None accepts any.

    Returns
    -------
    str
        The sha256 of what was downloaded.

    Raises
    ------
    ConnectionError
        When the server cannot be reached, refuses, or breaks off.
    ValueError
        When the url has another scheme, or the file another sha256.
    """
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"url must start with https:// or http://; got {url!r}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as stream:
        part = Path(stream.name)
    try:
        with part.open("wb") as stream:
            digest = _stream(url, stream, path.name)
        if sha256 is not None and digest != sha256:
            raise ValueError(f"{url} must have the sha256 {sha256}; got {digest}.")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return digest


def _stream(url: str, target: IO[bytes], name: str) -> str:
    digest = hashlib.sha256()
    try:
        with urlopen(url, timeout=_TIMEOUT_SECONDS) as response:
            expected = _length(response)
            with _progress(name, expected) as advance:
                received = 0
                while chunk := response.read(_CHUNK):
                    target.write(chunk)
                    digest.update(chunk)
                    received += len(chunk)
                    advance(len(chunk))
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise ConnectionError(f"{url} cannot be read: {reason}") from error
    if expected is not None and received != expected:
        raise ConnectionError(f"{url} broke off after {received} of {expected} bytes")
    return digest.hexdigest()


def _length(response: HTTPResponse) -> int | None:
    stated = response.headers.get("Content-Length")
    return int(stated) if stated is not None and stated.isdigit() else None


@contextmanager
def _progress(name: str, total: int | None) -> Iterator[_Advance]:
    """A bar on a terminal; silence elsewhere."""
    if not sys.stderr.isatty():
        yield lambda n_bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns: list[Any] = [TextColumn(name), BarColumn(), DownloadColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=total)
        yield lambda n_bytes: bar.advance(task, n_bytes)
