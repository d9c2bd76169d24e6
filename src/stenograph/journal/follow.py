"""Following a journal that another process writes: what is in it, then what comes, without a gap."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from stenograph.errors import RunNotFound
from stenograph.journal.lines import LineReader
from stenograph.journal.reader import open_source
from stenograph.model.codec import Decoder
from stenograph.model.event import Event
from stenograph.watch import FolderWatch


class Follower:
    """The events of a journal as they come: iterate it, with `for` or `async for`, until `close()`.

    The file need not exist yet. A file that shrank or was replaced is read again from its beginning; events are not
    repeated.
    """

    def __init__(self, path: str | os.PathLike[str], from_seq: int = 1) -> None:
        self.path = Path(path)
        self._next_seq = from_seq
        self._stop = threading.Event()
        self._reader: LineReader | None = None
        self._inode = 0
        self._decoder = Decoder()

    @property
    def malformed(self) -> int:
        """Lines so far that are not JSON; they have no number, so they are left out."""
        return self._decoder.malformed

    @property
    def replaced(self) -> int:
        """Characters so far that UTF-8 cannot hold and that became U+FFFD."""
        return self._decoder.replaced

    def close(self) -> None:
        """Stop following; may be called twice, and from any thread."""
        self._stop.set()

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        for event, _ in self.with_lines():
            yield event

    def with_lines(self) -> Iterator[tuple[Event, bytes]]:
        """Every event with the line it was read from."""
        watch = FolderWatch(self.path.parent, self._stop)
        try:
            while not self._stop.is_set():
                yield from self.new()
                watch.wait()
        finally:
            watch.close()
            self.release()

    async def __aiter__(self) -> AsyncIterator[Event]:
        import asyncio

        watch = FolderWatch(self.path.parent, self._stop)
        try:
            while not self._stop.is_set():
                for event, _ in self.new():
                    yield event
                await asyncio.to_thread(watch.wait)
        finally:
            self._stop.set()  # a wait that was cancelled still runs in its thread; this ends it
            self.release()

    def new(self) -> Iterator[tuple[Event, bytes]]:
        """What has come since the last call, each with its line; for loops that wait in their own way."""
        reader = self._current_reader()
        while reader is not None and (lines := reader.read()):
            for line in lines:
                event = self._decoder.decode(line)
                if self._stop.is_set():
                    return
                if event.seq >= self._next_seq:
                    self._next_seq = event.seq + 1
                    yield event, line

    def _current_reader(self) -> LineReader | None:
        """The reader of the file that has the name now; from its beginning when that is another one, or was cut."""
        try:
            status = self.path.stat()
        except OSError:
            return self._reader  # gone or not readable: what was written before is still in the open file
        reader = self._reader
        if reader is None or status.st_ino != self._inode or status.st_size < reader.offset:
            self.release()
            try:
                self._reader = LineReader(open_source(self.path))
            except RunNotFound:
                return None
            self._inode = status.st_ino
        return self._reader

    def release(self) -> None:
        """Close the file, from the thread that reads; the next read opens it again."""
        if self._reader is not None:
            os.close(self._reader.fd)
            self._reader = None


def follow(path: str | os.PathLike[str], from_seq: int = 1) -> Follower:
    """The events of a journal from a number on: those written, then those to come, until `close()`."""
    return Follower(path, from_seq)
