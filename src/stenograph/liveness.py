"""Whether the process that writes a run is still alive: the one place that reads a clock and asks the system.

Signs of life are a file written within the last hour, a journal whose lock is held, and, on Linux only, a file that
another process has open for writing.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from stenograph.fold.status import Life

RECENT = 3600.0
"""Seconds."""
_PROC = "/proc"
_File = tuple[int, int]
"""Device and number."""


class Liveness:
    """What is known about the writers of files, at one moment. Open files are listed once, when first needed."""

    def __init__(self, now: float | None = None) -> None:
        self._now = time.time() if now is None else now
        self._open: dict[_File, list[str]] | None = None

    def of(self, paths: Iterable[str | os.PathLike[str]], *, is_journal: bool = False) -> Life:
        """What is known about the process that writes these files; files that do not exist count for nothing."""
        is_recent = has_process = False
        for path in paths:
            try:
                status = Path(path).stat()
            except (OSError, ValueError):
                continue
            is_recent = is_recent or self.is_recent(status.st_mtime)
            if is_journal:  # its writer holds the lock, so open files need not be listed
                has_process = has_process or _is_locked(path)
            else:
                has_process = has_process or self._is_written((status.st_dev, status.st_ino))
        return Life(is_recent=is_recent, has_process=has_process)

    def is_recent(self, moment: float) -> bool:
        """Whether a moment, in seconds since 1970, is within the last hour, or in the future."""
        return self._now - moment < RECENT

    def _is_written(self, file: _File) -> bool:
        if self._open is None:
            self._open = _open_files()
        return any(map(_is_for_writing, self._open.get(file, ())))


def is_being_written(fd: int) -> bool:
    """Whether some recorder holds the lock of the journal behind this descriptor."""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def _is_locked(path: str | os.PathLike[str]) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return is_being_written(fd)
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(fd)


def _open_files() -> dict[_File, list[str]]:
    """Regular files that other processes of this user have open, with the paths in /proc of their descriptors."""
    own = str(os.getpid())
    found: dict[_File, list[str]] = {}
    with suppress(OSError):  # there is no /proc
        for process in os.scandir(_PROC):
            if process.name.isdigit() and process.name != own:
                with suppress(OSError):  # another user's process, or it has ended
                    for each in os.scandir(f"{process.path}/fd"):
                        with suppress(OSError):  # it was closed meanwhile
                            status = each.stat()
                            if stat.S_ISREG(status.st_mode):
                                place = f"{process.path}/fdinfo/{each.name}"
                                found.setdefault((status.st_dev, status.st_ino), []).append(place)
    return found


def _is_for_writing(place: str) -> bool:
    """Whether a descriptor may be written to; not when it was closed meanwhile."""
    try:
        flags = Path(place).read_bytes().partition(b"flags:")[2].split()[0]
        return bool(int(flags, 8) & (os.O_WRONLY | os.O_RDWR))
    except (OSError, ValueError, IndexError):
        return False
