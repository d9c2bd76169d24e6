"""The process that keeps the archive up to date while the page is served.

It is `python -m stenograph.server.keeping`, which does what `steno watch` does and ends when we do: it reads from our
pipe, which closes even if we are killed. If a `steno watch` is already running, the page follows what that keeps, and
we check now and then whether it still runs.
"""

from __future__ import annotations

import subprocess
import sys
import threading

from stenograph.archive.store.home import Home

_AGAIN = 5.0
"""Seconds before a keeper that ended is restarted."""


class Keeper:
    """Starts the process, and restarts it if it ended."""

    def __init__(self, home: Home, paths: tuple[str, ...] = ()) -> None:
        """`paths`: folders instead of those of the agents."""
        self._arguments = [sys.executable, "-m", "stenograph.server.keeping", str(home.path), *paths]
        self._stop = threading.Event()
        self._lock = threading.Lock()
        """Held while the process is started or ended, so that none is started after the end."""
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name="steno-keeper", daemon=True)
        self.state = "starting"
        """`starting`, `yes`, or `elsewhere` while another process watches the archive; `helping` words each."""

    def start(self) -> None:
        """Begin to keep the archive."""
        self._thread.start()

    def _run(self) -> None:
        while (process := self._started()) is not None:
            assert process.stdout is not None
            for line in process.stdout:
                self.state = line.decode("utf-8", "replace").strip()
            process.wait()
            self._stop.wait(_AGAIN)

    def _started(self) -> subprocess.Popen[bytes] | None:
        """The process; None after the end."""
        with self._lock:
            if self._stop.is_set():
                return None
            self._process = subprocess.Popen(self._arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            return self._process

    def close(self) -> None:
        """End the process, and wait for it."""
        self._stop.set()
        with self._lock:
            process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._thread.is_alive():
            self._thread.join(10)
