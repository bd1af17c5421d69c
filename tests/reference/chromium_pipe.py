"""Chromium without a window, driven over a pipe by its DevTools protocol; standard library only.

Messages are JSON, each ended by a zero byte: commands go in at descriptor 3, answers and events
come out at descriptor 4.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
)
_OFFLINE = ("--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9")
_SECONDS = 60.0


def chromium_starts(folder: Path) -> bool:
    """Whether the browser can show an empty page here; nothing of ours takes part in that."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        *_FLAGS,
        *_OFFLINE,
        f"--user-data-dir={folder}",
        "--dump-dom",
        "about:blank",
    ]
    try:
        shown = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return b"<html" in shown.stdout


class Page:
    """One page of a browser: give it commands, read what it told."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._pending, self._last = b"", 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give a command and wait for its answer."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, file: Path) -> None:
        """Open a file, and wait until all of it is loaded."""
        self.open_address(file.as_uri())

    def open_address(self, address: str) -> None:
        """Open an address, and wait until all of it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def wait_for(self, method: str) -> None:
        """Wait for an event."""
        while not self.told(method):
            self.events.append(self._next())

    def told(self, method: str) -> list[dict[str, Any]]:
        """What came with each event of a kind since the page was opened."""
        return [event["params"] for event in self.events if event.get("method") == method]

    def value(self, expression: str) -> Any:
        """What an expression gives within the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def look(self, width: int, scheme: str = "light", medium: str = "screen") -> None:
        """Change width, colour scheme and medium."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=800,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=medium, features=features)

    def screenshot(self, file: Path) -> None:
        """The whole page as PNG."""
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(picture["data"]))

    def print_to(self, file: Path) -> None:
        """The page on paper, whatever medium was looked at before."""
        self.call("Emulation.clearDeviceMetricsOverride")
        self.call("Emulation.setEmulatedMedia", media="", features=[])
        paper = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
        file.write_bytes(base64.b64decode(paper["data"]))

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _SECONDS
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._answers], [], [], end - time.monotonic())
            received = os.read(self._answers, 1 << 20) if ready else b""
            if not received:
                raise TimeoutError("the browser said nothing for a minute, or has ended.")
            self._pending += received
        message, _, self._pending = self._pending.partition(b"\0")
        return json.loads(message)


@contextmanager
def browser_page(folder: Path, *, offline: bool = True) -> Iterator[Page]:
    """A page of a new browser that reaches no network, or this machine; it ends with the block."""
    assert CHROMIUM is not None
    commands_out, commands_in = os.pipe()
    answers_out, answers_in = os.pipe()
    # Numbers 3 and 4 are fixed by the protocol; the shell puts the pipes there.
    redirect = f'exec "$@" 3<&{commands_out} 4>&{answers_in}'
    flags = (*_FLAGS, *(_OFFLINE if offline else ()))
    browser = [CHROMIUM, *flags, "--remote-debugging-pipe", f"--user-data-dir={folder}"]
    process = subprocess.Popen(
        ["bash", "-c", redirect, "bash", *browser],
        pass_fds=(commands_out, answers_in),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(commands_out)
    os.close(answers_in)
    try:
        yield Page(commands_in, answers_out)
    finally:
        os.close(commands_in)
        os.close(answers_out)
        process.terminate()
        process.wait(timeout=30)
