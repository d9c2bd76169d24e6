"""Feeder: the process that sends runs to a collector, seen from the one that records them.

The process reads from our pipe, so it ends when we end, even if we are killed. We wait for it only at the end.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable

import msgspec

from stenograph.archive.store.home import home_of
from stenograph.export.feeding.feed import FeedSetting
from stenograph.export.feeding.sent import SentSpans

_AGAIN = 10.0
"""Seconds before a process that ended is restarted."""
_LAST_WAIT = 8.0


class Feeder:
    """Starts the process, notifies it when the archive changed, and restarts it if it ended."""

    def __init__(self, setting: FeedSetting, say: Callable[[str], None]) -> None:
        """`say` gets a line when the process ended by itself."""
        self._setting = setting
        self._say = say
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0

    def begin(self) -> None:
        """Note when sending began, and start the process. Raises `StoreError`."""
        home = home_of(self._setting.archive)
        home.make()
        SentSpans(home.sent, self._setting.destination, self._setting.began_ms).close()
        self._start()

    def changed(self) -> None:
        """Notify the process that the archive changed; starts it if it is not running."""
        process = self._process
        if process is not None and process.poll() is not None:
            if time.monotonic() < self._started + _AGAIN:
                return
            self._say(
                f"the process that sends to {self._setting.collector.url} ended ({process.returncode}); restarting it"
            )
            self._let_go()
            process = None
        process = process or self._start()
        assert process.stdin is not None
        # A full pipe already holds a notice; a process that has ended is noticed the next time.
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(process.stdin.fileno(), b".")

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "stenograph.export.feeding.process"]
        process = self._process = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0)
        self._started = time.monotonic()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(msgspec.json.encode(self._setting) + b"\n")
        os.set_blocking(process.stdin.fileno(), False)
        return process

    def close(self) -> None:
        """Let it send what is left for a few seconds, then end it."""
        process = self._process
        if process is None:
            return
        self._let_go()
        try:
            process.wait(_LAST_WAIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _let_go(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None
