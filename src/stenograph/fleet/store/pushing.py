"""Sends an archive while it is watched, in its own thread, so that the watch does not wait for the store.

Events are sent some seconds after they are indexed; packs and journals less often, in larger pieces. A store that is
out of reach is tried again each time: the archive is the buffer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from stenograph.archive.store.home import Home
from stenograph.errors import StenographError
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.push import Pushed, Sender
from stenograph.fleet.store.sent_packs import PIECE_BYTES

EVENTS_EVERY = 15.0
"""Seconds."""
FILES_EVERY = 300.0
"""Seconds between two times of sending files; sooner if there is enough for a piece."""
_LAST_WORD = 5.0
"""Seconds that `stop` waits for what is being sent."""


class Pushing:
    """Sends what is new, until it is stopped."""

    def __init__(
        self,
        home: Home,
        store: Objects,
        *,
        events_only: bool,
        on_push: Callable[[Pushed], None],
        failed: Callable[[str], None],
        every: float = EVENTS_EVERY,
    ) -> None:
        """`on_push` is called each time something was sent, `failed` with a problem, once while it lasts."""
        self._home = home
        self._sender = Sender(home, store, events_only=events_only)
        self._on_push = on_push
        self._failed = failed
        self._every = every
        self._stop = threading.Event()
        self._new = threading.Event()
        self._thread = threading.Thread(target=self._run, name="steno push", daemon=True)
        self._problem = ""
        self._files_at = float("-inf")
        self._size = -1

    def note(self) -> None:
        """Something is new in the archive. The first call starts with everything that the store lacks."""
        self._new.set()
        if self._thread.ident is None:
            self._thread.start()

    def stop(self) -> bool:
        """Send the rest, and end; False if that took too long or failed, and something is not sent."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(_LAST_WORD)
        return not self._thread.is_alive() and not self._problem

    def _run(self) -> None:
        while not self._stop.is_set():
            self._turn()
            self._stop.wait(self._every)
        self._files_at = float("-inf")
        self._turn()

    def _turn(self) -> None:
        """Send what is new, if anything is."""
        if not self._new.is_set() and self._size == self._kept():
            return
        self._new.clear()
        size = self._kept()
        is_due = time.monotonic() - self._files_at >= FILES_EVERY or size - self._size >= PIECE_BYTES
        try:
            pushed = self._sender.send(with_files=is_due)
        except StenographError as error:
            self._new.set()
            if str(error) != self._problem:
                self._problem = str(error)
                self._failed(self._problem)
            return
        self._problem = ""
        if is_due:
            self._files_at, self._size = time.monotonic(), size
        if pushed.objects or pushed.why or pushed.forgotten:
            self._on_push(pushed)

    def _kept(self) -> int:
        return sum(path.stat().st_size for path in self._home.kept.glob("*.pack"))
