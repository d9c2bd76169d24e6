"""Waiting for changes in folders, with a poll as the safety net.

The file system reports changes; in case it misses one, a wait ends after `SAFETY_NET` seconds, and where it cannot
report (no such folder yet, no watches left) after `BLIND_POLL` seconds. A watch remembers every change since it was
made, so the order is always: make the watch, read to the end, wait.

On Linux we use inotify directly: `watchfiles` wakes up every few milliseconds also while nothing happens, which costs
more than an idle follower may. On other systems we use `watchfiles`.
"""

from __future__ import annotations

import errno
import os
import select
import struct
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

SAFETY_NET = 5.0
BLIND_POLL = 0.1
_GLANCE = 0.05  # how long a stop may go unnoticed while we wait for the kernel
_GATHER = 0.002  # a burst of writes is reported once
_SPARE = 8  # file descriptors that a watch leaves to the process: reading needs them more than watching
_STEP_MS = 5  # watchfiles: a change is reported after one quiet step …
_DEBOUNCE_MS = 20  # … or after this long, when they keep coming

Changes = set[str] | None
"""The paths that changed, or None when any path may have changed."""


class FolderWatch:
    """Waits for changes in one or several folders, which need not exist yet."""

    def __init__(
        self,
        folders: Path | Iterable[Path],
        stop: threading.Event,
        *,
        safety_net: float | None = None,
        blind_poll: float | None = None,
    ) -> None:
        """Setting `stop` ends every wait. Folders inside the folders are not watched."""
        self.folders = frozenset([folders] if isinstance(folders, Path) else folders)
        self._stop = stop
        self._safety_net = safety_net
        self._blind_poll = blind_poll
        self._notify = _watch(self.folders)

    @property
    def is_blind(self) -> bool:
        """Whether the system reports no changes now, so that waits end after `BLIND_POLL`."""
        return self._notify is None

    def wait(self, timeout: float | None = None) -> Changes:
        """The paths that changed, or None when any path may have; an empty set when stopped or after `timeout`."""
        net = SAFETY_NET if self._safety_net is None else self._safety_net
        if self._notify is None:
            poll = BLIND_POLL if self._blind_poll is None else self._blind_poll
            self._stop.wait(poll if timeout is None else min(poll, timeout))
            self._notify = _watch(self.folders)
            return None
        limit = net if timeout is None else min(net, timeout)
        changes = self._notify.wait(limit, self._stop)
        # A folder that was removed may have been made again: then the old watch sees nothing.
        if self._notify.is_over or not all(os.path.isdir(folder) for folder in self.folders):  # noqa: PTH112  # as below
            self.close()
            return None
        return None if changes == set() and limit == net and not self._stop.is_set() else changes

    def close(self) -> None:
        """Close the watch; a later wait makes a new one."""
        notify, self._notify = self._notify, None  # forgotten first: an interrupted close must not be repeated
        if notify is not None:
            notify.close()


def _watch(folders: Iterable[Path]) -> _Inotify | _Watchfiles | None:
    """A watch of the folders; None while the system gives none: no such folder, no watches left."""
    paths = [str(folder) for folder in folders]
    if not all(os.path.isdir(path) for path in paths):  # noqa: PTH112  # false, not an error, without permission
        return None
    try:
        return _Inotify(paths) if sys.platform == "linux" else _Watchfiles(paths)
    except OSError:
        return None


class _Inotify:
    """A watch by inotify."""

    # The numbers of <sys/inotify.h>: modify, attributes, moved from and to, create, delete; the folder itself too.
    _MASK = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
    _OVERFLOW = 0x4000
    _IGNORED = 0x8000
    _HEADER = struct.Struct("iIII")

    def __init__(self, folders: list[str]) -> None:
        import ctypes
        import resource

        libc = ctypes.CDLL(None, use_errno=True)
        self._fd = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        self._folders: dict[int, str] = {}
        self.is_over = False
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "no watch is left")
        if self._fd + _SPARE >= resource.getrlimit(resource.RLIMIT_NOFILE)[0] != resource.RLIM_INFINITY:
            self.close()
            raise OSError(errno.EMFILE, "too few descriptors are left for a watch")
        for folder in folders:
            number = libc.inotify_add_watch(self._fd, os.fsencode(folder), self._MASK)
            if number < 0:
                self.close()
                raise OSError(ctypes.get_errno(), "no watch is left", folder)
            self._folders[number] = folder
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)

    def wait(self, timeout: float, stop: threading.Event) -> Changes:
        """The paths that changed; an empty set when the time is up or `stop` is set."""
        end = time.monotonic() + timeout
        while not stop.is_set() and (left := end - time.monotonic()) > 0:
            if self._poll.poll(min(left, _GLANCE) * 1000):
                stop.wait(_GATHER)
                return self._read_changes()
        return set()

    def _read_changes(self) -> Changes:
        data = os.read(self._fd, 1 << 20)
        paths: set[str] = set()
        everywhere = False
        at = 0
        while at < len(data):
            number, kind, _, length = self._HEADER.unpack_from(data, at)
            at += self._HEADER.size + length
            self.is_over |= bool(kind & self._IGNORED)
            everywhere |= bool(kind & self._OVERFLOW)
            name = data[at - length : at].rstrip(b"\0")
            if name:
                paths.add(os.path.join(self._folders[number], os.fsdecode(name)))  # noqa: PTH118  # hot, and text
        return None if everywhere else paths

    def close(self) -> None:
        os.close(self._fd)


class _Watchfiles:
    """A watch by watchfiles. The paths that it reports differ from ours, so any path may have changed."""

    is_over = False

    def __init__(self, folders: list[str]) -> None:
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

        try:
            self._notify = RustNotify(folders, False, False, 300, False, True)
        except WatchfilesRustInternalError as error:
            raise OSError(str(error)) from error

    def wait(self, timeout: float, stop: threading.Event) -> Changes:
        """None when something changed; an empty set when the time is up or `stop` is set."""
        result = self._notify.watch(_DEBOUNCE_MS, _STEP_MS, max(1, int(timeout * 1000)), stop)
        if result == "signal":
            raise KeyboardInterrupt
        return set() if isinstance(result, str) else None

    def close(self) -> None:
        self._notify.close()
