"""One growing JSON Lines file as events: nothing lost, nothing twice, whatever happens to the file.

Theory of operation. The tail keeps a digest of every line it has given out. It starts again at 0 when the file is
another one, was cut, or has other bytes just before the place we had reached. While the lines from the beginning are
those it knows, they are fed to a new parser and not given out again; the first that differs ends what is known. To
resume is the same: a parser has a memory, so it is fed the known lines in silence. A last line that was given out
before its newline came is known, too, and that is all that is special about it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from stenograph.errors import SourceError, unreadable
from stenograph.formats.base import Format
from stenograph.model import mend
from stenograph.model.event import Event
from stenograph.sources.known import ANY, DIGEST, Known, digest_of

MAX_READ_BYTES = 65536
_WINDOW = 1024  # so many bytes before our place are compared at every read


class TailState(Struct, frozen=True, kw_only=True):
    """Where a tail is. `known` is what another one needs to go on; the rest is for people."""

    path: str
    file: str | None
    """The file's name relative to the run's main file; None for the main file itself."""
    source: str
    position: int
    inode: int
    partial: str
    """The unfinished line at the end, as far as it was read."""
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
        """`opening` gives a new parser whenever the file begins (again); `known` is not given out a second time."""
        known = known or Known()
        self.path = path
        self.file = file
        self.source = "main"
        """Whose file it is; whoever opens the parser says so."""
        self.events = known.events
        """Events given out, those before a restart included."""
        self.discarded = 0
        """Bytes of unfinished lines that went away when the file was cut or replaced."""
        self.restarts = 0
        """How often the file was cut, replaced or written anew."""
        self._opening = opening
        self._max_read_bytes = max_read_bytes
        self._digests = bytearray(known.digests)
        self._given = known.given
        self._flushed = -1  # the number of lines at which the parser was asked for what it held back
        self._fd: int | None = None
        self._inode = 0
        self._problem = ""
        self._begin()

    def _begin(self) -> None:
        """Be at the beginning of the file, with everything known still known."""
        self._parser: Format | None = None
        self._position = 0
        self._before = b""  # the last bytes before the position
        self._partial: list[bytes] = []
        self._matched = 0  # lines of the file as it is now that were read
        self._early = 0  # the length of the line after those, when the parser has it before its newline
        self._is_flushed = False  # the parser gave what it held back, and cannot go on

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
        """The length of an unfinished line at the end that was not given out."""
        size = sum(map(len, self._partial))
        return 0 if size == self._early else size

    @property
    def lines(self) -> int:
        """Lines given out."""
        return len(self._digests) // DIGEST

    def state(self) -> TailState:
        """Where the tail is now."""
        return TailState(
            path=str(self.path),
            file=self.file,
            source=self.source,
            position=self._position,
            inode=self._inode,
            partial=b"".join(self._partial).decode("utf-8", "replace"),
            known=Known(digests=bytes(self._digests), given=self._given, events=self.events),
        )

    def read(self) -> Iterator[list[Event]]:
        """Everything that is complete now, a chunk of the file at a time.

        Raises `SourceError` for a file that cannot be read, once until that changes; a missing one is no error.
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
        if self._early and self.open_bytes and _is_record(b"".join(self._partial)):
            self._forget_from_here()  # it has grown since it was given out
            yield from self.read()
        events: list[Event] = []
        if self.open_bytes and _is_record(line := b"".join(self._partial)):
            self._parser = self._parser or self._opening()
            events += self._compared(line, digest_of(line))
            self._matched -= 1  # in the file it is not a line yet
            self._early = len(line)
        if self._parser is not None and self._flushed != self.lines and (held := self._parser.finish()):
            self._flushed, self._is_flushed = self.lines, True
            events += held
        if events:
            self.events += len(events)
            yield events

    def close(self) -> None:
        """Let go of the file; the next read opens it again."""
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
            if self._position:  # it went away while we had let go of it
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
        while chunk := self._next_chunk():
            events = self._taken(chunk)
            self.events += len(events)
            if events:
                yield events

    def _next_chunk(self) -> bytes:
        """The bytes after our place; from the beginning when those before it are not what they were."""
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

    # The lines.

    def _taken(self, chunk: bytes) -> list[Event]:
        if self._is_flushed:  # it grows after all: go on with a parser that was not asked for its rest
            self._begin()
            return []
        if self._parser is None and b"\n" in chunk:
            self._parser = self._opening()  # may raise: nothing has been taken yet
        self._position += len(chunk)
        self._before = chunk[-_WINDOW:] if len(chunk) >= _WINDOW else (self._before + chunk)[-_WINDOW:]
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._partial.append(chunk)
            return []
        block = b"".join((*self._partial, chunk[:end]))
        self._partial = [chunk[end:]] if end < len(chunk) else []
        return self._given_out(block)

    def _given_out(self, block: bytes) -> list[Event]:
        """The events of whole lines, as far as they are new."""
        lines = block.split(b"\n")
        lines.pop()
        if self._matched == self.lines:
            self._digests += b"".join(map(digest_of, lines))
            self._matched += len(lines)
            assert self._parser is not None
            return self._parser.feed(block)
        events: list[Event] = []
        for line in lines:
            digest = digest_of(line)
            if self._early and not self._knows(digest):  # what looked like a line was the beginning of one
                self._forget_from_here()
                break
            events += self._compared(line, digest)
        return events

    def _compared(self, line: bytes, digest: bytes) -> list[Event]:
        """The events of the next line, without those that were given out before."""
        assert self._parser is not None
        at = self._matched * DIGEST
        is_last = self._matched + 1 == self.lines
        is_known = self._knows(digest)
        self._matched += 1
        if not is_known:
            self._digests[at:] = digest
            self._given = None
            return self._parser.feed(line + b"\n")
        self._digests[at : at + DIGEST] = digest
        if self._early:
            self._early = 0
            return []
        events = self._parser.feed(line + b"\n")
        if not is_last or self._given is None:
            return []
        given, self._given = self._given, None
        return events[given:]

    def _forget_from_here(self) -> None:
        """Start again, because the parser has a line that is not in the file."""
        del self._digests[self._matched * DIGEST :]
        self._begin()

    def _knows(self, digest: bytes) -> bool:
        at = self._matched * DIGEST
        return self._digests[at : at + DIGEST] in (digest, ANY)


def _is_record(line: bytes) -> bool:
    """Whether a line without its newline is whole: the beginning of an object or a list never is one."""
    try:
        return isinstance(mend.parse_json(line.removeprefix(b"\xef\xbb\xbf"))[0], dict | list)
    except (ValueError, RecursionError):
        return False
