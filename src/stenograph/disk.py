"""Syncing a file to disk, as each system does it."""

from __future__ import annotations

import fcntl
import os
import sys


def sync_data(fd: int) -> None:
    """Wait until the bytes of an open file are on disk. Raises `OSError`."""
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # it has no fdatasync, and its fsync ends at the drive's cache
    else:
        os.fdatasync(fd)
