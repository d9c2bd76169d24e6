"""Reading a journal from its file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from stenograph.errors import SourceError, unreadable
from stenograph.journal.lines import LineReader
from stenograph.model import mend
from stenograph.model.codec import Decoder
from stenograph.model.event import Event, Origin


class JournalReader:
    """The events of a journal, in file order: iterate it. Every complete line gives one event.

    A line that is not an event gives an `unknown` event with its text and line number; `malformed` counts them. What
    follows the last newline is not an event yet; `torn_bytes` is its length, once the end was reached.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.lines = 0
        self.line = b""
        """The line of the event that was returned last."""
        self.torn_bytes = 0
        self._blank = 0
        self._decoder = Decoder()
        self._fd = open_source(self.path)
        self._run_id = self.path.stem
        self._timestamp = ""

    @property
    def malformed(self) -> int:
        """Lines that are not JSON; blank lines are skipped."""
        return self._decoder.malformed - self._blank

    @property
    def replaced(self) -> int:
        """Characters that UTF-8 cannot hold and that became U+FFFD."""
        return self._decoder.replaced

    def __iter__(self) -> Iterator[Event]:
        reader = LineReader(self._fd)
        self._decoder = Decoder()
        decode = self._decoder.decode
        self.lines = self._blank = 0
        while lines := reader.read():
            for line in lines:
                self.lines += 1
                self.line = line
                event = decode(line)
                if event.seq > 0:
                    self._run_id, self._timestamp = event.run_id, event.timestamp
                    yield event
                elif line.strip():
                    yield self.placed(event, self.lines)
                else:
                    self._blank += 1
        self.torn_bytes = os.fstat(self._fd).st_size - reader.offset

    def placed(self, event: Event, line: int) -> Event:
        """An event without a number, with the run and time of the event before it and its line."""
        origin = event.origin or Origin()
        if not event.timestamp:
            origin = replace(origin, time="inherited")
        return mend.filled(
            event,
            run_id=event.run_id or self._run_id,
            timestamp=event.timestamp or self._timestamp,
            origin=replace(origin, line=line),
        )

    def __del__(self) -> None:
        fd = getattr(self, "_fd", None)
        if fd is not None:
            os.close(fd)


def read_events(path: str | os.PathLike[str]) -> JournalReader:
    """The events of a journal; raises `SourceError` when the file cannot be read."""
    return JournalReader(path)


def open_source(path: Path) -> int:
    """A file descriptor for reading. Raises `SourceError`."""
    try:
        # Not blocking, so that a pipe under that name is refused below and not waited for.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except ValueError as error:  # a NUL in the path
        raise SourceError(f"cannot read {str(path)!r}: {error}; check the path", str(path)) from error
    except OSError as error:
        raise unreadable(path, error) from error
    if not os.path.isfile(path):  # noqa: PTH113  # also for paths that are not text
        os.close(fd)
        raise SourceError(f"{path} is not a regular file; give a journal", str(path))
    return fd
