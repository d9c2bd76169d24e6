"""Opening agents' files to read them. Who needs other rules, or wants to count, passes an `Open` of its own."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

Open = Callable[[Path], BinaryIO]
"""Opens a file to be read. Raises `OSError` for what cannot be opened."""


def open_file(path: Path) -> BinaryIO:
    """A file or pipe that a person named; never a device, which may go on for ever."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY), "rb")
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        file.close()
        raise OSError(errno.EINVAL, "a device, not a file", str(path))
    return file


def open_regular(path: Path) -> BinaryIO:
    """A file that a transcript or a folder named: never a pipe or a device, which may keep us waiting for ever."""
    return os.fdopen(regular_fd(path), "rb")


def regular_fd(path: Path, flags: int = 0) -> int:
    """The descriptor of a regular file. Raises `OSError` for anything else."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return fd
