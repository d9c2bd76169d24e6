"""A sync that goes on: the archive follows the agents' folders until `stop` is set.

Theory of operation. The kernel names the files that changed, and only those are read: the cost of a change does not
depend on the number of files. When folders appear, disappear or move, when the kernel lost events, and after
`SAFETY_NET` seconds, all folders are searched. The watch is made before that search, so no change is missed between.

A file that changed will change again soon. So what a sync needs stays in memory for a while: the index, and the parsers
of the files that changed last. If another process writes between two syncs, everything is opened again. A parser that
is in memory is not in the index, so after a crash the file is read again from what is kept.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root, folders_below, transcript_of
from stenograph.archive.store.home import Home
from stenograph.archive.store.lock import Lock
from stenograph.archive.writer import Store
from stenograph.watch import Changes, FolderWatch

SAFETY_NET = 60.0
"""Seconds after which all folders are searched without a reported change: that costs a status of every file."""
PAUSE = 1.0
"""Seconds between two searches at most; where the system reports no changes, the interval of the searches."""
SHORT_PAUSE = 0.1
"""Seconds between two syncs of single files at most: a reader waits for these."""
SHORTEST_PAUSE = 0.02
_SHARE = 4
"""The pause is this many times the processor time of the last sync, so that syncs take a fifth of one core at most."""
_PATIENCE = 60.0
_IN_MEMORY = 16
"""The number of files whose parsers stay in memory."""
_IDLE = 60.0
"""Seconds after the last change until what is in memory is written to the archive."""


def watch(
    home: Home, roots: Callable[[], list[Root]], stop: threading.Event, on_sync: Callable[[Summary], None]
) -> None:
    """Sync whenever something changes, until `stop` is set. Calls `on_sync` with the summary of every sync.

    `roots` is called before each search of all folders; it may name folders that do not exist yet. The archive is
    locked only during a sync. Raises `ArchiveLocked` when another process watches.
    """
    home.make()
    lock = Lock(home.watch_lock, "steno watch")
    lock.acquire()
    writer = Writer(home)
    try:
        while not stop.is_set():
            _watch_folders(writer, roots(), stop, on_sync)
        writer.save_and_close()
    finally:
        writer.close()
        lock.release()


class Writer:
    """The archive to write to, in memory from sync to sync; the lock on it is held during a sync only."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._store: Store | None = None
        self._used = 0.0

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """The store, for one sync. Raises `ArchiveLocked` where another process does not stop writing."""
        store, self._store = self._store, None
        if store is None or not store.resume(_PATIENCE):
            store = Store(self.home, patience=_PATIENCE)
            store.keep_in_memory(_IN_MEMORY)
        try:
            yield store
            store.pause()
        except BaseException:
            store.close()
            raise
        self._store = store
        self._used = time.monotonic()

    @property
    def patience(self) -> float | None:
        """Seconds until it should be saved and closed; None when it is."""
        return None if self._store is None else max(0.0, self._used + _IDLE - time.monotonic())

    def save_and_close(self) -> None:
        """Write what is only in memory, and close the archive."""
        if self._store is not None:
            with self.writing() as store:
                store.save_parsers()
            self.close()

    def close(self) -> None:
        """Close the archive."""
        store, self._store = self._store, None
        if store is not None:
            store.close()


def _watch_folders(
    writer: Writer, roots: list[Root], stop: threading.Event, on_sync: Callable[[Summary], None]
) -> None:
    """Search all folders, then sync what changes, until it is time to search all folders again."""
    folders = FolderWatch(_folders(roots), stop, safety_net=SAFETY_NET, blind_poll=PAUSE)
    end = time.monotonic() + SAFETY_NET
    changed: Changes = None
    try:
        while True:
            begun = time.process_time()
            if changed != set():
                with writer.writing() as store:
                    summary = sync(store, roots, only=changed)
                on_sync(summary)
            longest = PAUSE if changed is None else SHORT_PAUSE
            if stop.wait(min(longest, max(SHORTEST_PAUSE, _SHARE * (time.process_time() - begun)))):
                return
            changed = _transcripts(folders.wait(writer.patience), folders.folders, writer.home.path)
            if writer.patience == 0:
                writer.save_and_close()
            if stop.is_set() or changed is None or time.monotonic() > end:
                return
    finally:
        folders.close()


def _transcripts(changes: Changes, folders: Iterable[Path], archive: Path) -> Changes:
    """The transcripts among the paths that changed; None when a folder is among them: search all folders.

    The archive's own files change with every sync: they are never a reason for the next one.
    """
    if changes is None or any(os.path.isdir(path) or Path(path) in folders for path in changes):  # noqa: PTH112  # text
        return None
    own = {str(archive), str(archive.resolve())}
    outside = (change for change in changes if os.path.dirname(change) not in own)  # noqa: PTH120  # text
    return {path for change in outside if (path := transcript_of(change)) is not None}


def _folders(roots: Iterable[Root]) -> set[Path]:
    """Every folder below the roots, without following links.

    For a root that does not exist yet, the nearest existing folder above it.
    """
    folders: set[Path] = set()
    for root in roots:
        if root.path.is_dir():
            folders |= set(folders_below(root))
        else:
            folders.add(next(folder for folder in root.path.parents if folder.is_dir()))
    return folders
