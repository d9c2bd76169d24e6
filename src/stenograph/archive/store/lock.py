"""A lock that one process of the machine holds; it is released when the process ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

from stenograph.errors import ArchiveLocked, StoreError

_NAP = 0.05


class Lock:
    """An advisory lock on a file that names its holder."""

    def __init__(self, path: Path, who: str) -> None:
        """`who` names the commands that hold this lock, for the error message."""
        self._path = path
        self._who = who
        self._fd: int | None = None

    def acquire(self, patience: float = 0.0) -> None:
        """Take it, waiting for `patience` seconds at most. Raises `ArchiveLocked` with the holder's pid."""
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            message = f"cannot open {self._path}: {error.strerror}; check its permissions"
            raise StoreError(message, str(self._path)) from error
        end = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() < end:
                    time.sleep(_NAP)
                    continue
                pid = _pid_in(fd)
                os.close(fd)
                raise ArchiveLocked(str(self._path), pid, self._who) from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._fd = fd

    def release(self) -> None:
        """Release it."""
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None


def _pid_in(fd: int) -> int | None:
    text = os.pread(fd, 32, 0).strip()
    return int(text) if text.isdigit() else None
