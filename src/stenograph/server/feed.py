"""Wakes the streams when the archive may have changed.

One thread watches the folder of the archive for all streams. It does not look at what changed: every stream reads the
index from its own cursor, as fast as its client reads. Readers of the index also touch files of the folder, so the
thread asks the index whether there was a commit: otherwise a stream that reads would wake itself forever.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress

from stenograph.archive.index.schema import open_index
from stenograph.archive.store.home import Home
from stenograph.errors import StenographError
from stenograph.watch import Changes, FolderWatch


class Feed:
    """Wakes the streams that wait for the archive."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._wakers: set[Callable[[], None]] = set()
        self._thread = threading.Thread(target=self._run, name="steno-feed", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether the server ends."""
        return self._stop.is_set()

    def waiter(self) -> Waiter:
        """A waiter for changes, for one stream."""
        return Waiter(self)

    def _run(self) -> None:
        watch, index = FolderWatch(self._home.path, self._stop), _Index(self._home)
        try:
            while not self._stop.is_set():
                changes = watch.wait()
                if index.has_changed() or _is_beside(changes, self._home):
                    self._wake()
        finally:
            watch.close()
            index.close()

    def _wake(self) -> None:
        with self._lock:
            wakers = list(self._wakers)
        for wake in wakers:
            wake()

    def add(self, wake: Callable[[], None]) -> None:
        """Call a function at every change, in the thread of the feed."""
        with self._lock:
            self._wakers.add(wake)

    def remove(self, wake: Callable[[], None]) -> None:
        """Stop calling a function."""
        with self._lock:
            self._wakers.discard(wake)

    def close(self) -> None:
        """Stop, and wake all streams a last time; may be called twice, also by a signal handler."""
        self._stop.set()
        threading.Thread(target=self._wake, daemon=True).start()


class _Index:
    """Detects a commit to the index, or a new index in its place."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._connection: sqlite3.Connection | None = None
        self._state: tuple[int, int] | None = None
        self.has_changed()

    def has_changed(self) -> bool:
        """Whether it changed since the last call; True if that cannot be known."""
        try:
            inode = self._home.index.stat().st_ino
            if self._connection is None or self._state is None or self._state[0] != inode:
                self.close()
                self._connection = open_index(self._home.path, readonly=True)
            before = self._state
            self._state = inode, self._connection.execute("PRAGMA data_version").fetchone()[0]
        except (OSError, sqlite3.Error, StenographError):  # there is none yet, or it is being rebuilt
            self.close()
            return True
        return self._state != before

    def close(self) -> None:
        """Close it."""
        connection, self._connection, self._state = self._connection, None, None
        if connection is not None:
            connection.close()


def _is_beside(changes: Changes, home: Home) -> bool:
    """Whether anything but the index changed."""
    return changes is not None and any(not path.startswith(str(home.index)) for path in changes)


class Waiter:
    """Waits for changes in an event loop; a change between two waits is not missed."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._event = asyncio.Event()
        self._has_changed = False
        self._loop = asyncio.get_running_loop()
        feed.add(self._wake)

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._note)

    def _note(self) -> None:
        self._has_changed = True
        self.wake()

    def wake(self) -> None:
        """End the wait, from its event loop, without a change."""
        self._event.set()

    async def wait(self, seconds: float) -> bool:
        """Whether something may have changed since the last wait; ends with a change, by `wake`, or after this time."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)
        self._event.clear()
        changed, self._has_changed = self._has_changed, False
        return changed

    def close(self) -> None:
        """Stop waiting for changes."""
        self._feed.remove(self._wake)
