"""Following: reads sessions when something changes in their folders, for every collector."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from stenograph.watch import SAFETY_NET, Changes, FolderWatch

Read = Callable[[Changes, bool], int]
"""Reads what is new in the changed paths (None: in all), and may look for new files; returns the number of events."""


class Following:
    """A watch over the folders of some sessions, and the reader of these. For one thread.

    A watch reports only changes after its start. So when the set of folders changes, a new watch is started and
    everything is read once more.
    """

    def __init__(
        self,
        read: Read,
        folders: Callable[[], frozenset[Path]],
        wake: threading.Event,
        *,
        safety_net: float = SAFETY_NET,
        blind_poll: float | None = None,
        discovery_interval: float = 0.0,
    ) -> None:
        """`wake`, once set, ends every wait. After `safety_net` seconds everything is read in any case.

        If the system cannot report changes, everything is read every `blind_poll` seconds, and new files are looked
        for at most every `discovery_interval`.
        """
        self._read = read
        self._folders = folders
        self._wake = wake
        self._safety_net = safety_net
        self._blind_poll = blind_poll
        self._discovery_interval = discovery_interval
        self._watch: FolderWatch | None = None
        self._searched = self._looked = float("-inf")

    @property
    def is_watching(self) -> bool:
        """Whether a folder to watch exists yet."""
        return self._watch is not None

    def look(self, changed: Changes = None) -> int:
        """Read what is new; returns the number of events."""
        now = time.monotonic()
        is_blind = self._watch is None or self._watch.is_blind
        is_due = not is_blind or now - self._searched >= self._discovery_interval
        if is_due:
            self._searched = now
        if changed is None:
            self._looked = now
        count = self._read(changed, is_due)
        while self._watches_anew():
            count += self._read(None, True)
        return count

    def wait(self, timeout: float | None = None) -> Changes:
        """Wait until there may be something new; returns the changed paths, or None for all."""
        if self._watch is None:
            self._wake.wait(timeout)
            return None
        changed = self._watch.wait(timeout)
        is_due = time.monotonic() - self._looked > self._safety_net
        return None if is_due or self._wake.is_set() else changed

    def close(self) -> None:
        """Stop watching."""
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _watches_anew(self) -> bool:
        """Update the watched folders; returns whether they changed."""
        folders = self._folders()
        if not folders or (self._watch is not None and self._watch.folders == folders):
            return False
        self.close()
        self._watch = FolderWatch(folders, self._wake, safety_net=self._safety_net, blind_poll=self._blind_poll)
        return True
