"""The spool: a hidden folder beside the target, in which a bundle grows until it is complete.

A process that is killed leaves its spool and no bundle. A live process holds a lock in its spool, so the next writer
of a bundle in that folder knows which spools are abandoned, and removes them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from stenograph.bundle.zip_file import write_zip
from stenograph.bundle.zip_member import Packed, ZipMember
from stenograph.errors import StoreError

PREFIX = ".stenograph-spool-"
_LOCK = "lock"
_FRESH = 60.0
"""Seconds for which a new spool may be without its lock."""


class Spool:
    """Collects the files of one bundle; raises `StoreError` when the folder cannot be written."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            sweep(folder)
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
            self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as error:
            raise StoreError(
                f"cannot write a bundle in {folder}: {error.strerror}; choose another folder", str(folder)
            ) from error
        self._files: dict[str, Packed] = {}
        self._open: dict[str, ZipMember] = {}
        self._numbers = count()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stenograph-bundle")

    def open(self, name: str) -> ZipMember:
        """A file to write, until `finish`."""
        member = ZipMember(name, self.path / f"{next(self._numbers):06d}", self._worker)
        self._open[name] = member
        return member

    @contextmanager
    def writing(self, name: str) -> Iterator[ZipMember]:
        """A file to write in a `with` block, which ends it; when the block fails, there is no such file."""
        member = self.open(name)
        try:
            yield member
            self.finish(name)
        except BaseException:
            self._open.pop(name, None)
            member.abandon()
            raise

    def add(self, name: str, data: bytes) -> None:
        """A file with this content."""
        with self.writing(name) as member:
            member.write(data)

    def add_same(self, name: str, other: str) -> None:
        """A file with the content of another finished one."""
        self._files[name] = replace(self._files[other], name=name)

    def finish(self, name: str) -> Packed:
        """End a file that was opened."""
        packed = self._files[name] = self._open.pop(name).close()
        return packed

    @property
    def files(self) -> list[Packed]:
        """The finished ones, in the order they have in a bundle."""
        return sorted(self._files.values(), key=lambda file: _place(file.name))

    def publish(self, target: Path, folder: str, at: datetime) -> None:
        """Make the zip of the finished files and give it its name: it is complete, or does not exist."""
        whole = self.path / "bundle.zip"
        try:
            write_zip(whole, folder, self.files, at)
            whole.replace(target)
        except OSError as error:
            raise StoreError(
                f"cannot write the bundle {target}: {error.strerror}; nothing was left there, fix that and try again",
                str(target),
            ) from error

    def discard(self) -> None:
        """Remove the spool. It may be called twice."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        for member in self._open.values():
            member.abandon()
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


_FIRST = ("manifest.json", "README.txt", "error.json", "metrics.json", "transcript.html", "transcript.jsonl")


def _place(name: str) -> tuple[int, str]:
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)


def sweep(folder: Path) -> int:
    """Remove the spools of dead processes; returns their number."""
    return sum(_swept(spool) for spool in folder.glob(f"{PREFIX}*"))


def _swept(spool: Path) -> bool:
    with suppress(OSError):
        if spool.is_symlink() or time.time() - spool.stat().st_mtime < _FRESH:
            return False
        fd = os.open(spool / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(spool)
            return True
        finally:
            os.close(fd)
    return False
