"""Every test has a data directory of its own, and may have a web server of its own."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

Serve = Callable[..., str]


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("UNSEEN_DATA", str(folder))
    return folder


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve some bytes on this machine; a length that is too large breaks the transfer off."""
    servers = []

    def start(content: bytes, name: str = "file.bin", length: int | None = None) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path != f"/{name}":
                    self.send_error(404)
                    return
                self.send_response(200)
                if length != -1:
                    self.send_header("Content-Length", str(length or len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None: ...

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/{name}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def unreachable() -> str:
    """An address where nobody listens: a port that was free a moment ago."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.server_close()
    return f"http://127.0.0.1:{server.server_port}/file.bin"
