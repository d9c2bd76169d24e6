"""Opens agents' files for reading. A caller with other rules, or one that counts bytes, passes its own `Open`."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

Open = Callable[[Path], BinaryIO]
"""Opens a file for reading. Raises `OSError` for a file that cannot be opened."""


def open_file(path: Path) -> BinaryIO:
    """Open a file or pipe that a person named; never a device, which may be endless."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY), "rb")
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        file.close()
        raise OSError(errno.EINVAL, "a device, not a file", str(path))
    return file


def open_regular(path: Path) -> BinaryIO:
    """Open a file that a transcript or a folder named: never a pipe or a device, which may block forever."""
    return os.fdopen(regular_fd(path), "rb")


def regular_fd(path: Path, flags: int = 0) -> int:
    """A file descriptor of a regular file. Raises `OSError` for any other file."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return fd
