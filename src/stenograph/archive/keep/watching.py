"""A sync that goes on: the archive follows the agents' folders until it is told to stop.

Theory of operation. The kernel names the files that changed, and only those are looked at: what a change costs does not
depend on how many files there are. Folders that come, go or move, and a kernel that lost count, make us look
everywhere; so does the time, now and then. A watch is made before everything is looked at, so nothing falls between.

A file that changed will change again soon. So what a sync needs stays in memory for a while: the index, and the parsers
of the files that changed last. Others may write between two syncs; then everything is opened anew. A parser that is in
memory is not in the index, so after a crash the file is read again from what is kept.
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
"""Seconds after which we look everywhere although nobody told of a change: that costs a status of every file."""
BREATH = 1.0
"""Seconds between two looks at most; where the system tells of no change, we look this often."""
SHORT_BREATH = 0.1
"""The same between two looks at single files, for which a reader waits."""
SHORTEST_BREATH = 0.02
_SHARE = 4
"""We rest this many times as long as the last look kept a processor busy, so that it has a fifth of one at most."""
_PATIENCE = 60.0
_AT_HAND = 16
"""Files whose parsers stay in memory."""
_IDLE = 60.0
"""Seconds after the last change until what is in memory is put away."""


def watch(home: Home, roots: Callable[[], list[Root]], stop: threading.Event, told: Callable[[Summary], None]) -> None:
    """Sync again and again, as soon as something changes, until `stop` is set. `told` hears of every sync.

    `roots` is asked whenever we look everywhere; it may name folders that are not there yet. The archive is ours only
    during a sync. Raises `ArchiveLocked` when another process watches.
    """
    home.make()
    lock = Lock(home.watch_lock, "steno watch")
    lock.acquire()
    writer = Writer(home)
    try:
        while not stop.is_set():
            _watch_folders(writer, roots(), stop, told)
        writer.put_away()
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
        """The store, for one sync. Raises `ArchiveLocked` where another process writes all the time."""
        store, self._store = self._store, None
        if store is None or not store.resume(_PATIENCE):
            store = Store(self.home, patience=_PATIENCE)
            store.keep_at_hand(_AT_HAND)
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
        """Seconds until it should be put away; None when it is."""
        return None if self._store is None else max(0.0, self._used + _IDLE - time.monotonic())

    def put_away(self) -> None:
        """Write what only is in memory, and let go of the archive."""
        if self._store is not None:
            with self.writing() as store:
                store.put_away()
            self.close()

    def close(self) -> None:
        """Let go of the archive."""
        store, self._store = self._store, None
        if store is not None:
            store.close()


def _watch_folders(writer: Writer, roots: list[Root], stop: threading.Event, told: Callable[[Summary], None]) -> None:
    """Look everywhere, then at what changes, until it is time to look everywhere again."""
    folders = FolderWatch(_folders(roots), stop, safety_net=SAFETY_NET, blind_poll=BREATH)
    end = time.monotonic() + SAFETY_NET
    changed: Changes = None
    try:
        while True:
            begun = time.process_time()
            if changed != set():
                with writer.writing() as store:
                    summary = sync(store, roots, only=changed)
                told(summary)
            longest = BREATH if changed is None else SHORT_BREATH
            if stop.wait(min(longest, max(SHORTEST_BREATH, _SHARE * (time.process_time() - begun)))):
                return
            changed = _transcripts(folders.wait(writer.patience), folders.folders, writer.home.path)
            if writer.patience == 0:
                writer.put_away()
            if stop.is_set() or changed is None or time.monotonic() > end:
                return
    finally:
        folders.close()


def _transcripts(changes: Changes, folders: Iterable[Path], archive: Path) -> Changes:
    """The transcripts among the paths that changed; None when a folder is among them: look everywhere.

    The archive's own files change with every sync: they are never a reason for the next one.
    """
    if changes is None or any(os.path.isdir(path) or Path(path) in folders for path in changes):  # noqa: PTH112  # text
        return None
    own = {str(archive), str(archive.resolve())}
    told = (change for change in changes if os.path.dirname(change) not in own)  # noqa: PTH120  # text
    return {path for change in told if (path := transcript_of(change)) is not None}


def _folders(roots: Iterable[Root]) -> set[Path]:
    """Every folder below the roots, as far as links do not lead elsewhere.

    For a root that is not there yet, the nearest folder in which it, or one that leads to it, will be made.
    """
    folders: set[Path] = set()
    for root in roots:
        if root.path.is_dir():
            folders |= set(folders_below(root))
        else:
            folders.add(next(folder for folder in root.path.parents if folder.is_dir()))
    return folders
