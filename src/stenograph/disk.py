"""Writing to files, and syncing them to disk as each system does it."""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path


def sync_data(fd: int) -> None:
    """Wait until the bytes of an open file are on disk. Raises `OSError`."""
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # it has no fdatasync, and its fsync ends at the drive's cache
    else:
        os.fdatasync(fd)


def sync_path(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk. Raises `OSError`."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes | bytearray) -> None:
    """Write all bytes, also where the system takes only a part of them at a time. Raises `OSError`."""
    while data:  # once, unless the disk is full
        data = data[os.write(fd, data) :]
