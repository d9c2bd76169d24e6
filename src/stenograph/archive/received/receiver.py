"""From requests to files of conversations: decode, spool, route, write. Nothing that was accepted is lost by a crash.

Theory of operation. `receive` decodes a request, which is refused when that fails, and returns when its bytes are in
the spool on disk. A thread then routes the decoded requests and appends them to the files of their conversations; when
those are on disk, the spool drops them. What was accepted before a crash is decoded again from the spool; lines that
are written twice by that give no second event when the files are read. What waits in memory is bounded: a request that
finds no room waits for a while, and is then refused.
"""

from __future__ import annotations

import queue
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from stenograph.archive.received.run_files import RunFiles
from stenograph.archive.received.spool import Spool
from stenograph.archive.store.lock import Lock
from stenograph.errors import StenographError
from stenograph.formats.otlp.protobuf import NotOtlp, Signal, request_in
from stenograph.formats.otlp.routing import Routed, Routing
from stenograph.formats.otlp.span import REQUEST_FIELDS
from stenograph.model import mend
from stenograph.model.codec import REFUSALS

BODY_BYTES = 16 << 20
"""The largest request, as it is sent; exporters send 512 spans at most, unless they are configured otherwise."""
CONTENT_BYTES = 64 << 20
"""The largest request, unpacked."""
WAITING_BYTES = 128 << 20
"""Unpacked bytes of requests that are not written yet."""
_ROOM_PATIENCE = 10.0
_QUIET = 1.0
"""Seconds without a request after which traces without a model call count as complete."""
_EXPIRED = 600.0
_AGAIN = 1.0
"""Seconds until a failed write is tried again."""
_TOGETHER = 64
"""Requests that are written with one sync to disk, at most."""
JSON, PROTOBUF = "application/json", "application/x-protobuf"


class TooLarge(ValueError):
    """A request is larger than `BODY_BYTES` or `CONTENT_BYTES`."""


class Busy(RuntimeError):
    """Requests come faster than they are written; the sender is to try again."""


def decoded(signal: Signal, kind: str, encoding: str, body: bytes) -> tuple[dict[str, Any], int]:
    """The request in a body, and its size unpacked. Raises `NotOtlp` or `TooLarge`."""
    content = _unpacked(body) if encoding == "gzip" else body
    if kind == PROTOBUF:
        return request_in(content, signal), len(content)
    try:
        request = msgspec.json.decode(content)
    except REFUSALS:
        try:
            request = mend.parse_json(content)[0]
        except (ValueError, RecursionError) as error:
            raise NotOtlp("not JSON") from error
    field = REQUEST_FIELDS[signal is Signal.LOGS]
    if not isinstance(request, dict) or not isinstance(request.get(field, []), list):
        raise NotOtlp(f"not a request with {field}")
    return request, len(content)


def _unpacked(body: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        content = unpacker.decompress(body, CONTENT_BYTES + 1)
    except zlib.error as error:
        raise NotOtlp("not gzip") from error
    if len(content) > CONTENT_BYTES:
        raise TooLarge(f"larger than {CONTENT_BYTES >> 20} MB unpacked")
    if not unpacker.eof:
        raise NotOtlp("gzip that was cut short")
    return content


class Receiver:
    """Receives for one archive. One process at a time."""

    def __init__(self, archive: Path, changed: Callable[[set[str]], None], failed: Callable[[str], None]) -> None:
        """Our thread calls `changed` with the paths of files that grew, `failed` with what could not be written.

        Raises `ArchiveLocked` where another process receives for the archive, `StoreError` where it cannot be written.
        """
        folder = archive / "received"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = Lock(folder / "receive.lock", "steno receive")
        self._lock.acquire()
        self._changed = changed
        self._failed = failed
        self._files = RunFiles(archive)
        self._spool = Spool(folder / "spool")
        self._routing = Routing()
        self._queue: queue.SimpleQueue[tuple[dict[str, Any], int, int] | None] = queue.SimpleQueue()
        self._room = threading.Condition()  # protects the number below
        self._waiting = 0
        self._end = 0
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="steno-receive", daemon=True)

    @property
    def ignored(self) -> int:
        """Spans and log records that are not an agent's."""
        return self._routing.ignored

    def start(self) -> None:
        """Write what was accepted before a crash, and start the thread. Where that raises, nothing is lost."""
        for entry in self._spool.unread():
            signal, kind, encoding = entry.kind.split(" ")
            request, _ = decoded(Signal(signal), kind, encoding, entry.body)
            self._write(self._routing.take(request, place=entry.end, now=time.monotonic()), entry.end)
        self._thread.start()

    def receive(self, signal: Signal, kind: str, encoding: str, body: bytes) -> None:
        """Accept a request: its bytes are on disk on return. Raises `NotOtlp`, `TooLarge`, `Busy` or `StoreError`."""
        request, size = decoded(signal, kind, encoding, body)
        self._wait_for_room(size)
        try:
            end = self._spool.append(f"{signal} {kind} {encoding}", body)
        except BaseException:
            self._make_room(size)
            raise
        self._queue.put((request, size, end))

    def close(self) -> None:
        """Write what was accepted, and end."""
        self._is_closing.set()
        self._queue.put(None)
        self._thread.join()
        self._spool.close()
        self._lock.release()

    def _wait_for_room(self, size: int) -> None:
        end = time.monotonic() + _ROOM_PATIENCE
        with self._room:
            while self._waiting and self._waiting + size > WAITING_BYTES:
                if not self._room.wait(end - time.monotonic()):
                    raise Busy("requests come faster than they can be written; try again")
            self._waiting += size

    def _make_room(self, size: int) -> None:
        with self._room:
            self._waiting -= size
            self._room.notify_all()

    # The thread.

    def _run(self) -> None:
        is_open = True
        while is_open:
            taken, is_open = self._next()
            routed: Routed = {}
            end = 0
            for request, size, end in taken:
                _join(routed, self._routing.take(request, place=end, now=time.monotonic()))
                self._make_room(size)
            if not taken or not is_open:
                _join(routed, self._routing.settle())
                _join(routed, self._routing.expire(time.monotonic() - _EXPIRED))
            self._write(routed, end)

    def _next(self) -> tuple[list[tuple[dict[str, Any], int, int]], bool]:
        """The next requests, at least one unless it is quiet; and whether more will come."""
        found = []
        try:
            item = self._queue.get(timeout=_QUIET)
            while item is not None:
                found.append(item)
                if len(found) == _TOGETHER:
                    return found, True
                item = self._queue.get_nowait()
        except queue.Empty:
            return found, True
        return found, False

    def _write(self, routed: Routed, end: int) -> None:
        """Write to the files, and then drop from the spool what is before `end` and no longer waits."""
        self._end = max(end, self._end)
        while True:
            try:
                if routed:
                    self._changed(self._files.append(routed))
                waiting = self._routing.first_waiting
                self._spool.done(self._end if waiting is None else min(self._end, waiting - 1))
                return
            except StenographError as error:  # senders get `Busy` when memory is full
                self._failed(str(error))
                if self._is_closing.wait(_AGAIN):
                    return  # the spool keeps it: the next start makes the runs


def _join(routed: Routed, more: Routed) -> None:
    for key, pieces in more.items():
        routed.setdefault(key, []).extend(pieces)
