"""Tells the streams when the archive may have changed.

One thread watches the folder of the archive for all streams. What changed is not its business: every stream reads the
index from its own cursor, as fast as its reader takes it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from stenograph.archive.store.home import Home
from stenograph.watch import FolderWatch


class Feed:
    """Wakes whoever waits for the archive."""

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
        """Something to wait for changes with; for one stream."""
        return Waiter(self)

    def _run(self) -> None:
        watch = FolderWatch(self._home.path, self._stop)
        try:
            while not self._stop.is_set():
                if watch.wait() != set():
                    self._wake()
        finally:
            watch.close()

    def _wake(self) -> None:
        with self._lock:
            wakers = list(self._wakers)
        for wake in wakers:
            wake()

    def add(self, wake: Callable[[], None]) -> None:
        """Call this at every change, in the thread of the feed."""
        with self._lock:
            self._wakers.add(wake)

    def remove(self, wake: Callable[[], None]) -> None:
        """No longer."""
        with self._lock:
            self._wakers.discard(wake)

    def close(self) -> None:
        """Stop, and wake everybody a last time; may be called twice, also by a signal handler."""
        self._stop.set()
        threading.Thread(target=self._wake, daemon=True).start()


class Waiter:
    """Waits for changes in an event loop; a change between two waits is not missed."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._event = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        feed.add(self._wake)

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self, seconds: float) -> bool:
        """Whether something may have changed within this time."""
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return False
        self._event.clear()
        return True

    def close(self) -> None:
        """Wait no longer."""
        self._feed.remove(self._wake)
