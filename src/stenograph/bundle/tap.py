"""The tap: copies every log record of the process into a file while a bundle is recorded.

Theory of operation. Transcript entries are DEBUG records, and hosts rarely log these. So while a tap is open the logger
`stenograph` accepts everything, but no longer propagates records: a bridge handler passes on to the host exactly
what it would have seen. All other loggers' records come through a handler at the root, at the
levels that the host chose. Any number of taps may be open; the first changes the loggers, the last restores them.
"""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path

from stenograph.guard import Guard
from stenograph.logs.formatter import JsonFormatter

OURS = "stenograph"


class LogTap:
    """A file of JSON lines with every record from `open` to `close`. `lost` counts what could not be written."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb")
        self._guard = Guard("the log of a bundle")
        self._formatter = JsonFormatter()
        self._lock = threading.Lock()  # protects the file
        self._pid = os.getpid()

    @property
    def lost(self) -> int:
        """Records that could not be written."""
        return self._guard.lost

    def open(self) -> None:
        """Start writing log records."""
        _taps.add(self)

    def close(self) -> None:
        """Stop writing, and make sure that everything is in the file."""
        _taps.remove(self)
        with self._lock:
            self._file.close()

    def write(self, record: logging.LogRecord) -> None:
        """Write one record. Those of a forked child are ignored: the file is the parent's."""
        if os.getpid() == self._pid:
            self._guard.call("a log record", self._write, record)

    def _write(self, record: logging.LogRecord) -> None:
        line = self._formatter.format(record).encode("utf-8", "replace") + b"\n"
        with self._lock:
            if not self._file.closed:  # another thread may have closed the tap meanwhile
                self._file.write(line)


class _Taps:
    """The open taps, and the changes to the loggers."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # protects the taps and the loggers' settings
        self._taps: tuple[LogTap, ...] = ()
        self._bridge = _Bridge(self)
        self._listener = _Listener(self)
        self._before = (logging.NOTSET, True)

    def add(self, tap: LogTap) -> None:
        with self._lock:
            self._taps = (*self._taps, tap)
            if len(self._taps) > 1:
                return
            ours = logging.getLogger(OURS)
            self._before = (ours.level, ours.propagate)
            self._bridge.threshold = ours.getEffectiveLevel()
            self._bridge.is_passing = ours.propagate
            ours.addHandler(self._bridge)
            logging.getLogger().addHandler(self._listener)
            ours.propagate = False
            ours.setLevel(logging.DEBUG)

    def remove(self, tap: LogTap) -> None:
        with self._lock:
            if tap not in self._taps:
                return
            self._taps = tuple(each for each in self._taps if each is not tap)
            if self._taps:
                return
            ours = logging.getLogger(OURS)
            level, ours.propagate = self._before
            ours.setLevel(level)
            ours.removeHandler(self._bridge)
            logging.getLogger().removeHandler(self._listener)

    def write(self, record: logging.LogRecord) -> None:
        for tap in self._taps:
            tap.write(record)


class _Bridge(logging.Handler):
    """The handler of our own logger: everything for the taps, and for the host what it would have seen."""

    def __init__(self, taps: _Taps) -> None:
        super().__init__()
        self.threshold = logging.WARNING
        self.is_passing = True
        self._taps = taps

    def handle(self, record: logging.LogRecord) -> bool:
        """Handle a record, without a lock: the host's handlers have their own."""
        self._taps.write(record)
        if self.is_passing and record.levelno >= self.threshold:
            _in_bridge.is_on = True
            try:
                logging.getLogger().callHandlers(record)
            finally:
                _in_bridge.is_on = False
        return True


class _Listener(logging.Handler):
    """The handler of the root logger: the records of all other loggers."""

    def __init__(self, taps: _Taps) -> None:
        super().__init__()
        self._taps = taps

    def handle(self, record: logging.LogRecord) -> bool:
        """Handle a record, unless the bridge has done so."""
        if not _in_bridge.is_on:
            self._taps.write(record)
        return True


class _InBridge(threading.local):
    is_on = False


_in_bridge = _InBridge()
_taps = _Taps()
