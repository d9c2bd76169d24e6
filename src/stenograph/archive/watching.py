"""A sync that goes on: the archive follows the agents' folders until it is told to stop."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from stenograph.archive.home import Home
from stenograph.archive.lock import Lock
from stenograph.archive.store import Store
from stenograph.archive.summary import Summary
from stenograph.archive.sync import sync
from stenograph.archive.walk import Root
from stenograph.watch import FolderWatch

SAFETY_NET = 60.0
"""Seconds after which we look although nobody told of a change: a look costs a status of every file."""
BREATH = 1.0
"""Seconds between two looks at least; an agent writes many lines in that time."""
_PATIENCE = 60.0


def watch(home: Home, roots: Callable[[], list[Root]], stop: threading.Event, told: Callable[[Summary], None]) -> None:
    """Sync again and again, as soon as something changes, until `stop` is set. `told` hears of every sync.

    `roots` is asked every time, because an agent may be installed meanwhile. The archive is ours only during a sync.
    Raises `ArchiveLocked` when another process watches.
    """
    home.make()
    lock = Lock(home.watch_lock, "steno watch")
    lock.acquire()
    try:
        while not stop.is_set():
            found = roots()
            folders = FolderWatch(_folders(found), stop, safety_net=SAFETY_NET, blind_poll=BREATH)
            try:
                with Store(home, patience=_PATIENCE) as store:
                    summary = sync(store, found)
                told(summary)
                if not stop.wait(BREATH):
                    folders.wait()
            finally:
                folders.close()
    finally:
        lock.release()


def _folders(roots: Iterable[Root]) -> set[Path]:
    """Every folder below the roots, as far as links do not lead elsewhere."""
    return {Path(place) for root in roots for place, _, _ in os.walk(root.path)}
