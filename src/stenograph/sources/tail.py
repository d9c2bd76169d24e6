"""The events of one growing JSON Lines file: none lost and none twice, whatever happens to the file.

Theory of operation. A `FileCursor` makes events of the bytes, and the tail keeps a digest of every line that it has
emitted. It starts again at 0, with a new cursor, when the file was replaced, was cut, or has other bytes where it was
read before. While the lines from the beginning are known ones, the parser sees them and they are not emitted again; the
first that differs ends this. Resuming works the same way: a parser has a state, so it is fed the known lines first.

Changed bytes are found by comparing: those just before our position at every read; all lines when the file was written
to and has not grown; of a file that grows, as many bytes as have come, each time from where the last comparison ended;
and at the end the rest.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from stenograph.errors import SourceError, unreadable
from stenograph.formats.base import Format
from stenograph.model.event import Event
from stenograph.sources.cursor import FileCursor
from stenograph.sources.known import Known, LineSeries

MAX_READ_BYTES = 65536
COMPARED_BYTES = 16384
"""Bytes of lines that are compared at once, each time this many bytes have come."""
_WINDOW = 1024  # bytes before our position that are compared at every read


class TailState(Struct, frozen=True, kw_only=True):
    """The state of a tail. `known` is what another one needs to go on; the rest is for people."""

    path: str
    file: str | None
    """The file's name relative to the run's main file; None for the main file itself."""
    source: str
    position: int
    inode: int
    partial: str
    """The unfinished line at the end."""
    known: Known


class FileTail:
    """Follows one file, which need not exist yet. For one thread at a time."""

    def __init__(
        self,
        path: Path,
        opening: Callable[[], Format],
        *,
        file: str | None = None,
        known: Known | None = None,
        max_read_bytes: int = MAX_READ_BYTES,
    ) -> None:
        """`opening` makes a new parser whenever the file is read from its beginning; `known` is not emitted again."""
        known = known or Known()
        self.path = path
        self.file = file
        self.source = "main"
        """The source that speaks in the file; set when the parser is opened."""
        self.events = known.events
        """Events emitted, those before a restart included."""
        self.discarded = 0
        """Bytes of unfinished lines that were lost when the file was cut or replaced."""
        self.restarts = 0
        """How often the file was cut, replaced or rewritten."""
        self._opening = opening
        self._max_read_bytes = max_read_bytes
        self._series = LineSeries(known)
        self._flushed = -1  # the number of lines when the parser last emitted what it held back
        self._fd: int | None = None
        self._inode = 0
        self._status = (0, 0)  # size and time when the file was last read to its end
        self._problem = ""
        self._begin()

    def _begin(self) -> None:
        """Go to the beginning of the file; known lines stay known."""
        self._series.begin()
        self._cursor = FileCursor(self._opening, self._series)
        self._cursor.path = str(self.path)
        self._position = 0
        self._before = b""  # the last bytes before the position
        self._lines_end = 0  # where the last whole line ends
        self._came = 0  # bytes that have come, minus those that were compared in turn
        self._unchecked = 0  # bytes of lines that were not compared since the file last changed
        self._next_check = (0, 0)  # where the next comparison begins: the byte, and the number of its line

    @property
    def position(self) -> int:
        """How far the file was read."""
        return self._position

    @property
    def was_found(self) -> bool:
        """Whether there ever was a file under that name."""
        return self._inode != 0

    @property
    def open_bytes(self) -> int:
        """The length of an unfinished line at the end that was not emitted."""
        return len(self._cursor.partial)

    @property
    def lines(self) -> int:
        """Lines emitted."""
        return self._series.lines

    def state(self) -> TailState:
        """Where the tail is now."""
        return TailState(
            path=str(self.path),
            file=self.file,
            source=self.source,
            position=self._position,
            inode=self._inode,
            partial=self._cursor.partial.decode("utf-8", "replace"),
            known=self._series.known(self.events),
        )

    def read(self) -> Iterator[list[Event]]:
        """Everything that is complete now, a chunk of the file at a time.

        Raises `SourceError` for a file that cannot be read, once until that changes; a missing file is not an error.
        """
        try:
            if self._fd is not None and not self._is_current():
                yield from self._drained()  # what was written before the file was moved or deleted
                self.close()
                self._restart()
            if self._open():
                yield from self._drained()
        except OSError as error:
            self.close()
            problem = error if isinstance(error, SourceError) else unreadable(self.path, error)
            if str(problem) != self._problem:
                self._problem = str(problem)
                raise problem from error

    def finish(self) -> Iterator[list[Event]]:
        """Everything that is complete now, a last line that lacks only its newline, and what the parser held back.

        Reading may go on after it.
        """
        yield from self.read()
        if self._is_edited(self._unchecked):
            self._restart()
            yield from self.read()
        events = self._cursor.settle()
        if self._cursor.is_open and self._flushed != self.lines and (held := self._cursor.flush()):
            self._flushed = self.lines
            events += held
        if events:
            self.events += len(events)
            yield events

    def close(self) -> None:
        """Close the file; the next read opens it again."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __del__(self) -> None:
        if getattr(self, "_fd", None) is not None:
            self.close()

    # The file.

    def _is_current(self) -> bool:
        """Whether the open file is the one that has the name now."""
        assert self._fd is not None
        try:
            return os.path.samestat(os.fstat(self._fd), self.path.stat())
        except FileNotFoundError:
            return False

    def _open(self) -> bool:
        if self._fd is not None:
            return True
        try:
            # Not blocking, so that a pipe under that name is refused below and not waited for.
            self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            if self._position:  # it was removed while we had it closed
                self._restart()
            return False
        status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(f"{self.path} is not a regular file; it is not followed", str(self.path))
        if self._position and status.st_ino != self._inode:
            self._restart()
        self._inode = status.st_ino
        self._problem = ""
        return True

    def _drained(self) -> Iterator[list[Event]]:
        if self._is_edited(self._bytes_to_check()):
            self._restart()
        start = self._position
        while chunk := self._next_chunk():
            events = self._taken(chunk)
            self.events += len(events)
            if events:
                yield events
        self._status = self._status_now()
        self._came += max(0, self._position - start) if start else 0

    def _next_chunk(self) -> bytes:
        """The bytes after our position; from the beginning when those before it have changed."""
        assert self._fd is not None
        before = len(self._before)
        data = os.pread(self._fd, before + self._max_read_bytes, self._position - before)
        if not data.startswith(self._before):
            self._restart()
            data, before = os.pread(self._fd, self._max_read_bytes, 0), 0
        return data[before:]

    def _restart(self) -> None:
        self.restarts += 1
        self.discarded += self.open_bytes
        self._begin()

    def _taken(self, chunk: bytes) -> list[Event]:
        """The new events of the next bytes; none where the file has to be read again from its beginning."""
        is_grown_line = self._cursor.is_early and not chunk.startswith(b"\n")
        if is_grown_line:
            self._series.forget_last()
        if is_grown_line or not self._cursor.is_continued_by(chunk):
            self._begin()
            return []
        events = self._cursor.feed(chunk)  # where this raises, no byte has been taken
        if end := chunk.rfind(b"\n") + 1:
            self._lines_end = self._position + end
        self._position += len(chunk)
        self._before = chunk[-_WINDOW:] if len(chunk) >= _WINDOW else (self._before + chunk)[-_WINDOW:]
        return events

    # Edits before our position.

    def _status_now(self) -> tuple[int, int]:
        assert self._fd is not None
        status = os.fstat(self._fd)
        return status.st_size, status.st_mtime_ns

    def _bytes_to_check(self) -> int:
        """How many bytes of lines to compare before reading on."""
        status = self._status_now()
        if status == self._status:
            return 0
        self._unchecked = self._lines_end
        if status[0] == self._position:  # written to, and not grown
            return self._unchecked
        if self._came < COMPARED_BYTES:
            return 0
        self._came -= COMPARED_BYTES
        return COMPARED_BYTES

    def _is_edited(self, most: int) -> bool:
        """Whether lines that were read have changed, judged by comparing about `most` bytes of them."""
        end = max(0, self._unchecked - most)
        while self._fd is not None and self._unchecked > end:
            lines = self._lines_to_check(self._fd, self._unchecked - end)
            at, number = self._next_check
            if not lines or not self._series.has(number, lines):
                return True
            size = sum(map(len, lines)) + len(lines)
            self._next_check = (at + size, number + len(lines))
            self._unchecked = max(0, self._unchecked - size)
        return False

    def _lines_to_check(self, fd: int, most: int) -> list[bytes]:
        """The next lines to compare, of about `most` bytes and at least one; none where no line ends."""
        at, _ = self._next_check
        if at >= self._lines_end:
            at, _ = self._next_check = (0, 0)
        length = min(most, self._max_read_bytes)
        while True:
            length = min(length, self._lines_end - at)
            *lines, _ = os.pread(fd, length, at).split(b"\n")
            if lines or at + length >= self._lines_end:
                return lines
            length *= 4
