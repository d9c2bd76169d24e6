"""Archives what is received: files that grew are synced as soon as there is time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import RECEIVED, Root, received_in
from stenograph.archive.keep.watching import PAUSE, SHORTEST_PAUSE
from stenograph.archive.store.home import Home
from stenograph.archive.writer import Store
from stenograph.errors import StenographError
from stenograph.evidence.after_sync import checkpoint_after

_PATIENCE = 60.0
_SHARE = 2
"""The pause after a sync, as a multiple of its duration, so that there is time to receive."""


class ReceivedSync:
    """Syncs received files in its own thread. Another process may sync them, too: each is kept once."""

    def __init__(self, home: Home, failed: Callable[[str], None]) -> None:
        """`failed` is called with what could not be kept; it is tried again."""
        self._home = home
        self._failed = failed
        self._root = Root(received_in(home.path).resolve(), RECEIVED)
        self._wake = threading.Condition()  # protects the two below
        self._changed: set[str] | None = None
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="steno-receive-sync", daemon=True)

    def start(self) -> None:
        """Begin with what was received before."""
        self._thread.start()

    def changed(self, paths: set[str]) -> None:
        """Note that files grew."""
        with self._wake:
            if self._changed is not None:
                self._changed |= paths
            self._wake.notify()

    def close(self) -> None:
        """Sync what is left, and end."""
        with self._wake:
            self._is_closing = True
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            with self._wake:
                while self._changed == set() and not self._is_closing:
                    self._wake.wait()
                changed, self._changed = self._changed, set()
                is_open = not self._is_closing
            begun = time.monotonic()
            if changed != set() and not self._sync(changed):
                with self._wake:
                    self._changed = None  # check everything the next time
            if is_open:
                self._rest(time.monotonic() - begun)

    def _rest(self, took: float) -> None:
        with self._wake:
            self._wake.wait_for(lambda: self._is_closing, min(PAUSE, max(SHORTEST_PAUSE, _SHARE * took)))

    def _sync(self, changed: set[str] | None) -> bool:
        try:
            with Store(self._home, patience=_PATIENCE) as store:
                summary = sync(store, [self._root], only=changed)
            checkpoint_after(self._home, summary)
        except StenographError as error:
            self._failed(str(error))
            return False
        for problem in summary.problems:
            self._failed(problem)
        return True
