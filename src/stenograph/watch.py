"""Waking up when something changes in a folder, with a poll as the safety net.

The file system tells us (`watchfiles`); where it forgets to, we look again after `SAFETY_NET` seconds, and where it
cannot (no such folder yet, no watches left) every `BLIND_POLL` seconds. A watch remembers every change since it was
made, so the order is always: make the watch, read to the end, wait.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

SAFETY_NET = 5.0
BLIND_POLL = 0.1
_STEP_MS = 5  # a change is told after one quiet step …
_DEBOUNCE_MS = 20  # … or after this long, when they keep coming


class FolderWatch:
    """Tells when something may have changed in a folder, which need not exist yet."""

    def __init__(self, folder: Path, stop: threading.Event) -> None:
        """`stop`, once set by anyone, ends every wait."""
        self._folder = folder
        self._stop = stop
        self._notify = _watch(folder)

    def wait(self) -> None:
        """Return when there may be something new, or when it is time to look anyway."""
        if self._notify is None:
            self._stop.wait(BLIND_POLL)
            self._notify = _watch(self._folder)
            return
        told = self._notify.watch(_DEBOUNCE_MS, _STEP_MS, int(SAFETY_NET * 1000), self._stop)
        if told == "signal":
            raise KeyboardInterrupt
        if not self._folder.is_dir():  # removed, and perhaps made anew: the old watch is blind
            self.close()

    def close(self) -> None:
        """Let go of the watch; a later wait makes a new one."""
        if self._notify is not None:
            self._notify.close()
            self._notify = None


def _watch(folder: Path) -> RustNotify | None:
    """A watch of the folder, or none while the system gives none: no such folder, no watches left."""
    from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

    if not os.path.isdir(folder):  # noqa: PTH112  # false, not an error, where we may not look
        return None
    try:
        return RustNotify([str(folder)], False, False, 300, False, True)
    except (OSError, WatchfilesRustInternalError):
        return None
