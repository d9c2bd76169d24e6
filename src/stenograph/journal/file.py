"""The journal file: one writer, appended whole lines, a torn tail moved aside.

Theory of operation. An event exists when its line ends in a newline, and a line is written by one `write()` to an
`O_APPEND` descriptor. So a crash leaves at most one half line, at the end; it was never acknowledged, and the next
writer moves it to `<journal>.torn` before it goes on. A full disk leaves a half line too, but then we are alive and
cut it off at once. `flock` keeps other writers out: it belongs to the open file, which forked children and
duplicates share, so `close` releases it explicitly and a child never does.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

from stenograph.disk import sync_data, sync_path, write_all
from stenograph.errors import StoreError, StoreLocked
from stenograph.journal.lines import last_newline
from stenograph.model.codec import decode
from stenograph.model.event import Event

_OPEN_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_PROBES = 20
_PROBE_TIME = 0.005
"""How often, and for how many seconds each, to wait for a lock that a reader holds (`is_being_written`)."""


class JournalFile:
    """An open, locked journal, ready to be appended to."""

    def __init__(self, path: Path) -> None:
        """Open or create the journal; raises `StoreError` or `StoreLocked`."""
        self.path = path
        self.fd = -1
        self._has_half_line = False
        try:
            self._made = _make_private_folders(path.parent)
            self.fd = os.open(path, _OPEN_FLAGS, 0o600)
        except (OSError, ValueError) as error:
            raise _open_error(path, error) from error
        try:
            self._take()
            self.torn_bytes = self._set_torn_tail_aside()
            self.size = os.fstat(self.fd).st_size
            self.last_event = self._find_last_event()
        except OSError as error:
            self.abandon()
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"cannot open {path}: {error.strerror}", str(path)) from error
        except BaseException:
            self.abandon()
            raise

    def append(self, line: bytes | bytearray) -> int:
        """Write one line, whole or not at all, and return the file's size.

        After any other exception than `StoreError`, call `settle`: the line may be there or not.
        """
        if self._has_half_line:
            self.settle()
        try:
            written = os.write(self.fd, line)
        except OSError as error:
            raise self._refusal(error) from error
        if written < len(line):
            self._finish(line, written)
        self.size = size = self.size + len(line)
        return size

    def _finish(self, line: bytes | bytearray, written: int) -> None:
        """Write the rest of a line, or cut off what was written: for a full disk or a size limit."""
        try:
            write_all(self.fd, line[written:])
        except OSError as error:
            self._has_half_line = True
            with suppress(StoreError):  # then it is tried again before the next line
                self.settle()
            raise self._refusal(error) from error

    def settle(self) -> None:
        """Cut off a half line and find the end of the file, after a write that was interrupted."""
        try:
            size = os.fstat(self.fd).st_size
            whole = last_newline(self.fd, size)
            if whole < size:
                os.ftruncate(self.fd, whole)
        except OSError as error:
            raise self._refusal(error) from error
        self.size = whole
        self._has_half_line = False

    def _refusal(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write to {self.path}: {error.strerror or error}; the event was not recorded, and recording "
            "goes on when that is fixed",
            str(self.path),
        )

    def sync(self) -> None:
        """Return when everything written is on disk."""
        try:
            sync_data(self.fd)
        except OSError as error:
            raise StoreError(f"cannot sync {self.path} to disk: {error.strerror}", str(self.path)) from error

    def sync_folder(self) -> None:
        """Return when the file's name is on disk, too, and those of the folders made for it."""
        try:
            for folder in (self.path.parent, *(made.parent for made in self._made)):
                sync_path(folder)
        except OSError as error:
            raise StoreError(f"cannot sync {self.path.parent} to disk: {error.strerror}", str(self.path)) from error

    def close(self) -> None:
        """Close the file and release its lock."""
        if self.fd >= 0:
            fcntl.flock(self.fd, fcntl.LOCK_UN)  # a subscriber may still have a duplicate
            self.abandon()

    def abandon(self) -> None:
        """Close the file without releasing the lock, which may be another process's by now."""
        fd, self.fd = self.fd, -1  # a late write must not reach the file that gets this descriptor next
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.abandon()

    def _take(self) -> None:
        status = os.fstat(self.fd)
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(f"{self.path} is not a regular file; remove it or use another run id", str(self.path))
        for probe in range(_PROBES):
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                holder = _lock_holder(status)
                if holder is not None or probe == _PROBES - 1:
                    raise StoreLocked(str(self.path), holder) from None
            time.sleep(_PROBE_TIME)
        if status.st_mode & 0o077:
            os.fchmod(self.fd, 0o600)

    def _set_torn_tail_aside(self) -> int:
        end = os.fstat(self.fd).st_size
        start = last_newline(self.fd, end)
        if start == end:
            return 0
        aside = torn_path(self.path)
        fd = os.open(aside, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            for offset in range(start, end, 1 << 20):
                write_all(fd, os.pread(self.fd, min(1 << 20, end - offset), offset))
            write_all(fd, b"\n")
            os.fsync(fd)
        finally:
            os.close(fd)
        os.ftruncate(self.fd, start)
        return end - start

    def _find_last_event(self) -> Event | None:
        """The last line that is an event; other lines are skipped."""
        end = self.size
        while end > 0:
            start = last_newline(self.fd, end - 1)
            event = decode(os.pread(self.fd, end - start, start))
            if event.seq > 0:
                return event
            end = start
        return None


def torn_path(path: Path) -> Path:
    """Where the torn tails of a journal are kept."""
    return path.with_name(path.name + ".torn")


def _make_private_folders(folder: Path) -> list[Path]:
    """Create missing folders, readable only by their owner; existing folders keep their mode."""
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        with suppress(FileExistsError):  # another recorder of this root was faster
            each.mkdir(mode=0o700)
    return missing


def _open_error(path: Path, error: OSError | ValueError) -> StoreError:
    if isinstance(error, ValueError):  # a NUL in the path
        return StoreError(f"cannot open {str(path)!r} for writing: {error}; give another root", str(path))
    if error.errno == errno.ELOOP and os.path.islink(path):  # noqa: PTH114  # false, not an error, without permission
        return StoreError(f"{path} is a symbolic link; a journal is never written through one, remove it", str(path))
    return StoreError(
        f"cannot open {path} for writing: {error.strerror}; check the folder and its permissions", str(path)
    )


def _lock_holder(status: os.stat_result) -> int | None:
    """The process that holds the lock; known on Linux only."""
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        locks = Path("/proc/locks").read_text()
    except OSError:
        return None
    found = re.search(rf"FLOCK\s+ADVISORY\s+WRITE\s+(\d+)\s+{device}\s", locks)
    return int(found[1]) if found else None
