"""A headless Chromium without a network, driven through its debugging pipe."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

#: Names of the command on different systems.
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
#: Time limit of one answer, s.
PATIENCE_S = 60

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)

# The browser reads from descriptor 3 and writes to descriptor 4.
LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find() -> str | None:
    """Path of a Chromium, or None."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One tab, with its console messages and its network requests."""

    def __init__(self, path: str, profile: Path) -> None:
        ours, its = _pipe(), _pipe()
        self._in, self._out = os.fdopen(ours[1], "wb"), os.fdopen(its[0], "rb")
        command = [sys.executable, "-c", LAUNCH, str(ours[0]), str(its[1])]
        self._process = subprocess.Popen(
            [*command, path, *FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(ours[0], its[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours[0])
        os.close(its[1])
        self._count = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        self._in.close()
        self._process.terminate()
        self._process.wait(timeout=PATIENCE_S)
        self._out.close()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command and wait for its answer."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._in.write(json.dumps(message).encode() + b"\0")
        self._in.flush()
        while True:
            message = self._receive()
            if message.get("id") == self._count:
                assert "error" not in message, message
                return dict(message["result"])

    def open(self, path: Path, width: int = 1200, height: int = 900, *, dark: bool = False) -> None:
        """Show a file in a window of this many pixels, and wait until it has been drawn."""
        self.complaints.clear()
        self.requests.clear()
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media="", features=[scheme])
        self.send("Page.navigate", url=path.as_uri())
        end = time.monotonic() + PATIENCE_S
        while self.evaluate("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < end, "the page does not finish loading"
            time.sleep(0.02)
        self.settle()

    def settle(self) -> None:
        """Wait until pending changes have been painted."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def evaluate(self, expression: str) -> Any:
        """Value of a JavaScript expression on the page."""
        answer = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, clicks: int = 1) -> None:
        """One mouse event: moved, pressed or released."""
        button = {"moved": "none"}.get(kind, "left")
        self.send(
            "Input.dispatchMouseEvent",
            type=f"mouse{kind.capitalize()}",
            x=x,
            y=y,
            button=button,
            clickCount=clicks,
        )
        self.settle()

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Screenshot of the whole page, or of the window."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _receive(self) -> dict[str, Any]:
        """The next message; notifications are searched for complaints."""
        text = bytearray()
        while (byte := self._out.read(1)) != b"\0":
            assert byte, "the browser has gone"
            text += byte
        message = json.loads(text)
        about = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(about["exceptionDetails"]))
        elif message.get("method") == "Runtime.consoleAPICalled":
            self.complaints.append(f"{about['type']}: {about['args']}")
        elif message.get("method") == "Log.entryAdded":
            self.complaints.append(str(about["entry"]))
        elif message.get("method") == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        return dict(message)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends avoid the descriptors of the browser."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]
