"""The archive and our journals as the file system shows them: sizes, permissions, locks, torn ends."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from stenograph.archive.store.home import Home
from stenograph.liveness import is_being_written
from stenograph.query.doctor.report import ArchiveState, JournalState

_PRIVATE = ("kept", "transcripts", "collectors")
"""The folders of an archive that hold transcripts."""


def archive_state(home: Home, *, is_readable: bool, runs: int, events: int) -> ArchiveState:
    """The archive's state, except for what only its index knows."""
    synced = _modified(home.write_lock)
    return ArchiveState(
        path=str(home.path),
        is_there=home.index.exists() or home.kept.exists(),
        is_readable=is_readable,
        runs=runs,
        events=events,
        kept_bytes=sum(_size(path) for path in _files(home.kept)),
        index_bytes=sum(_size(path) for path in home.path.glob("index.db*")),
        torn_packs=sum(1 for path in _files(home.kept) if ".torn-" in path.name),
        last_sync_at=None if synced is None else datetime.fromtimestamp(synced, UTC).isoformat(timespec="seconds"),
        last_sync_age_s=None if synced is None else round(max(0.0, time.time() - synced), 3),
        watcher_pid=holder_of(home.watch_lock),
        free_bytes=_free(home.path),
    )


def holder_of(lock: Path) -> int | None:
    """The process that holds a lock of the archive; None when none does."""
    try:
        fd = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.pread(fd, 32, 0).strip()
        if not text.isdigit():  # the lock was released, and this check does not disturb another process
            return None
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(text)
    except OSError:
        return None
    finally:
        os.close(fd)
    return None


def open_to_others(home: Home) -> list[tuple[Path, int]]:
    """The parts of an archive that others can access, with their modes: the folder, its databases, all transcripts."""
    paths = [home.path, *home.path.glob("index.db*")]
    for name in _PRIVATE:
        paths += [home.path / name, *_files(home.path / name)]
    return [(path, mode) for path in paths if (mode := _mode(path)) is not None and mode & 0o077]


def journals_in(folder: Path) -> JournalState:
    """Our journals in a folder; only the last byte of each is read."""
    found = [path for path in _files(folder) if path.suffix == ".jsonl"]
    torn, being_written = [], 0
    for path in found:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            is_live = is_being_written(fd)
            size = os.fstat(fd).st_size
            being_written += is_live
            if not is_live and size > 0 and os.pread(fd, 1, size - 1) != b"\n":
                torn.append(str(path))
        finally:
            os.close(fd)
    return JournalState(
        folder=str(folder),
        journals=len(found),
        bytes=sum(map(_size, found)),
        being_written=being_written,
        torn=tuple(torn),
    )


def _files(folder: Path) -> list[Path]:
    return sorted(_regular(folder))


def _regular(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            yield from (Path(entry.path) for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None


def _modified(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _free(path: Path) -> int:
    while not path.exists() and path != path.parent:
        path = path.parent
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return 0
