"""The file of a slice: whole lines, appended; any number of sessions and processes may share it.

Theory of operation. A line exists when its newline does, and it is written by one `write()` to an `O_APPEND`
descriptor while an advisory lock is held, for that moment only. So a half line that is seen under the lock was left by
a crash or a full disk; it goes to `<file>.torn` before anything is written behind it. Readers take no lock: they open
the file by its name, and see whole lines only.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stenograph.after_fork import reset_after_fork
from stenograph.disk import write_all
from stenograph.errors import StoreError, unreadable
from stenograph.journal.lines import LineReader, last_newline

_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_REWRITE = os.O_WRONLY | os.O_TRUNC | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class SliceFile:
    """The lines of a file, which is made with the first line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn = 0
        """Half lines that were moved aside."""
        self._fd = -1
        reset_after_fork(self)

    def append(self, line: bytes) -> None:
        """Write one line, whole or not at all; raises `StoreError`."""
        try:
            with self._alone() as (fd, end):
                try:
                    write_all(fd, line)
                except BaseException:
                    with suppress(OSError):  # where this fails, it is moved aside before the next line
                        os.ftruncate(fd, end)
                    raise
        except StoreError:
            raise
        except (OSError, ValueError) as error:
            raise self._refusal(error) from error

    def replace(self, lines: Iterable[bytes]) -> None:
        """Hold these lines instead, all or none; raises `StoreError`."""
        fresh = self.path.with_name(f"{self.path.name}.new")
        try:
            _make_private(self.path.parent)
            fd = os.open(fresh, _REWRITE, 0o600)
            try:
                write_all(fd, b"".join(lines))
            finally:
                os.close(fd)
            fresh.replace(self.path)
        except (OSError, ValueError) as error:
            with suppress(OSError, ValueError):
                fresh.unlink()
            raise self._refusal(error) from error

    def lines(self) -> Iterator[bytes]:
        """Every whole line without its newline, in order; raises `SourceError`."""
        with self._reading() as fd:
            reader = LineReader(fd)
            while fd >= 0 and (lines := reader.read()):
                yield from lines

    def lines_back(self) -> Iterator[bytes]:
        """Every whole line from the last to the first, reading no more than is needed; raises `SourceError`."""
        with self._reading() as fd:
            end = last_newline(fd, os.fstat(fd).st_size) if fd >= 0 else 0
            while end > 0:
                start = last_newline(fd, end - 1)
                yield os.pread(fd, end - 1 - start, start)
                end = start

    def has_half_line(self) -> bool:
        """Whether the file ends in half a line now."""
        with self._reading() as fd:
            return fd >= 0 and _has_half_line(fd, os.fstat(fd).st_size)

    def close(self) -> None:
        """Close the file; the next line opens it again."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()

    def _after_fork(self) -> None:
        self.close()  # the lock belongs to the open file, so parent and child would share it

    @contextmanager
    def _alone(self) -> Iterator[tuple[int, int]]:
        """The open file, locked and without a half line at the end, and its size."""
        while True:
            if self._fd < 0:
                self._open()
            fd = self._fd
            fcntl.flock(fd, fcntl.LOCK_EX)
            try:
                status = os.fstat(fd)
                if status.st_nlink > 0:
                    yield fd, self._without_half_line(fd, status.st_size)
                    return
            finally:
                fcntl.flock(fd, fcntl.LOCK_UN)
            self.close()  # deleted or replaced since it was opened, so a line written here would be lost

    def _open(self) -> None:
        _make_private(self.path.parent)
        self._fd = os.open(self.path, _APPEND, 0o600)
        mode = os.fstat(self._fd).st_mode
        if not stat.S_ISREG(mode):
            self.close()
            raise StoreError(f"{self.path} is not a regular file; remove it or use another folder", str(self.path))
        if mode & 0o077:
            os.fchmod(self._fd, 0o600)

    def _without_half_line(self, fd: int, size: int) -> int:
        if not _has_half_line(fd, size):
            return size
        start = last_newline(fd, size)
        aside = os.open(f"{self.path}.torn", _REWRITE & ~os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            write_all(aside, os.pread(fd, size - start, start) + b"\n")
        finally:
            os.close(aside)
        os.ftruncate(fd, start)
        self.torn += 1
        return start

    @contextmanager
    def _reading(self) -> Iterator[int]:
        """The file open for reading; -1 when there is none."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            yield -1
            return
        except OSError as error:
            raise unreadable(self.path, error) from error
        try:
            yield fd
        except OSError as error:
            raise unreadable(self.path, error) from error
        finally:
            os.close(fd)

    def _refusal(self, error: OSError | ValueError) -> StoreError:
        why = getattr(error, "strerror", None) or error
        return StoreError(
            f"cannot write to {self.path}: {why}; the value was not kept, fix that and go on",
            str(self.path),
        )


def _has_half_line(fd: int, size: int) -> bool:
    return size > 0 and os.pread(fd, 1, size - 1) != b"\n"


def _make_private(folder: Path) -> None:
    """Create missing folders, readable only by their owner."""
    for each in (*reversed(folder.parents), folder):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)
