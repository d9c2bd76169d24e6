"""A sync that goes on: the archive follows the agents' folders until it is told to stop.

Theory of operation. The kernel names the files that changed, and only those are looked at: what a change costs does not
depend on how many files there are. Folders that come, go or move, and a kernel that lost count, make us look
everywhere; so does the time, now and then. A watch is made before everything is looked at, so nothing falls between.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root, transcript_of
from stenograph.archive.store.home import Home
from stenograph.archive.store.lock import Lock
from stenograph.archive.writer import Store
from stenograph.watch import Changes, FolderWatch

SAFETY_NET = 60.0
"""Seconds after which we look everywhere although nobody told of a change: that costs a status of every file."""
BREATH = 1.0
"""Seconds between two looks at most; where the system tells of no change, we look this often."""
SHORTEST_BREATH = 0.02
_SHARE = 4
"""We rest this many times as long as the last look took, so that a sync costs a fifth of one processor at most."""
_PATIENCE = 60.0


def watch(home: Home, roots: Callable[[], list[Root]], stop: threading.Event, told: Callable[[Summary], None]) -> None:
    """Sync again and again, as soon as something changes, until `stop` is set. `told` hears of every sync.

    `roots` is asked whenever we look everywhere; it may name folders that are not there yet. The archive is ours only
    during a sync. Raises `ArchiveLocked` when another process watches.
    """
    home.make()
    lock = Lock(home.watch_lock, "steno watch")
    lock.acquire()
    try:
        while not stop.is_set():
            _watch_folders(home, roots(), stop, told)
    finally:
        lock.release()


def _watch_folders(home: Home, roots: list[Root], stop: threading.Event, told: Callable[[Summary], None]) -> None:
    """Look everywhere, then at what changes, until it is time to look everywhere again."""
    folders = FolderWatch(_folders(roots), stop, safety_net=SAFETY_NET, blind_poll=BREATH)
    end = time.monotonic() + SAFETY_NET
    changed: Changes = None
    try:
        while True:
            begun = time.monotonic()
            if changed != set():
                with Store(home, patience=_PATIENCE) as store:
                    summary = sync(store, roots, only=changed)
                told(summary)
            if stop.wait(min(BREATH, max(SHORTEST_BREATH, _SHARE * (time.monotonic() - begun)))):
                return
            changed = _transcripts(folders.wait(), folders.folders)
            if stop.is_set() or changed is None or time.monotonic() > end:
                return
    finally:
        folders.close()


def _transcripts(changes: Changes, folders: Iterable[Path]) -> Changes:
    """The transcripts among the paths that changed; None when a folder is among them: look everywhere."""
    if changes is None or any(os.path.isdir(path) or Path(path) in folders for path in changes):  # noqa: PTH112  # text
        return None
    return {path for change in changes if (path := transcript_of(change)) is not None}


def _folders(roots: Iterable[Root]) -> set[Path]:
    """Every folder below the roots, as far as links do not lead elsewhere.

    For a root that is not there yet, the nearest folder in which it, or one that leads to it, will be made.
    """
    folders: set[Path] = set()
    for root in roots:
        if root.path.is_dir():
            folders |= {Path(place) for place, _, _ in os.walk(root.path)}
        else:
            folders.add(next(folder for folder in root.path.parents if folder.is_dir()))
    return folders
