"""The recorder: number an event, write it, publish it, in one critical section."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from stenograph.errors import InvalidEvent, StoreClosed, StoreError
from stenograph.journal.clock import utc_now, utc_text
from stenograph.journal.fanout import FanOut, SubscriberStats, Subscription
from stenograph.journal.file import JournalFile
from stenograph.journal.place import DEFAULT_ROOT, Root, journal_path, storage_root
from stenograph.model import mend
from stenograph.model.codec import encode_into, fit_payload
from stenograph.model.event import Event, Origin
from stenograph.model.ids import check_run_id
from stenograph.model.value import Value

log = logging.getLogger("stenograph.journal")

Durability = Literal["os", "disk"]
Mask = Callable[[Event], Event]


class RecorderStats(Struct, frozen=True, kw_only=True):
    """What a recorder has done so far."""

    run_id: str
    seq: int
    """The last number given out; the length of the series."""
    events: int
    """Events recorded by this recorder since it was opened."""
    bytes: int
    """The size of the journal."""
    failed: int
    """Calls of `record` that raised."""
    dropped: int
    """Events dropped for slow subscribers, all together; the journal has them."""
    replaced: int
    """Characters that UTF-8 cannot hold, recorded as U+FFFD."""
    torn_bytes: int
    """Bytes of a torn tail that were set aside when the journal was opened."""
    subscribers: tuple[SubscriberStats, ...]


class Recorder:
    """Writes one run: `record()` returns when the event is in the journal; then subscribers see it.

    Safe to use from any number of threads. Raises what is wrong (`InvalidEvent`, `StoreError`), and then nothing was
    written, nothing published and no number used up.
    """

    def __init__(
        self,
        root: Root = DEFAULT_ROOT,
        *,
        run_id: str | None = None,
        parent_run_id: str | None = None,
        durability: Durability = "os",
        mask: Mask | None = None,
        buffer: int = 256,
    ) -> None:
        """Open the journal of a run, a new one or one to go on with.

        `durability="os"` survives the death of the process, `"disk"` also that of the machine. `mask` sees every
        event before anything is written or published. `buffer` is what each subscriber may lag behind.
        """
        if durability not in ("os", "disk"):
            raise InvalidEvent(f"durability is {durability!r}; it must be 'os' or 'disk'")
        if buffer < 1:
            raise InvalidEvent(f"buffer is {buffer}; it must be at least 1")
        self.run_id = str(uuid4()) if run_id is None else check_run_id(run_id)
        self.path: Path = journal_path(storage_root(root), self.run_id)
        self._mask = mask
        self._buffer = buffer
        self._lock = threading.Lock()  # protects everything below, the file and the mailboxes
        self._file = JournalFile(self.path)
        last = self._file.last_event
        self._seq = last.seq if last is not None else 0
        self._parent_run_id: str | None = last.parent_run_id if last is not None else None
        if parent_run_id is not None:
            self._parent_run_id = check_run_id(parent_run_id)
        self._line = bytearray()
        self._fan_out = FanOut(self._lock, self._file.size)
        self._commits = _GroupCommit(self._file, self._fan_out) if durability == "disk" else None
        self._closed = ""  # why, once it is
        self._events = self._failed = self._replaced = 0
        _open_recorders.add(self)
        if self._file.torn_bytes:
            log.warning(
                "%s ended in %d bytes of an unfinished line; they were set aside in %s.torn",
                self.path,
                self._file.torn_bytes,
                self.path.name,
            )

    @property
    def parent_run_id(self) -> str | None:
        """The run that started this one; on every event."""
        return self._parent_run_id

    def record(
        self,
        type: str,
        payload: Value | Mapping[str, Any] | None = None,
        *,
        path: str = "",
        iteration: int = 0,
        origin: Origin | Mapping[str, Any] | None = None,
        child_run_id: str | None = None,
        timestamp: str | datetime | None = None,
        raw: str | bytes | None = None,
    ) -> Event:
        """Append one event and return it as it was stored.

        `payload` is a value of `stenograph.model` or a plain dict. `timestamp` is the present moment unless given.
        `raw` is the source line it came from.
        """
        try:
            if path.__class__ is not str or iteration.__class__ is not int or iteration < 0:
                raise _misplaced(path, iteration)
            event = Event(
                seq=0,
                run_id=self.run_id,
                parent_run_id=self._parent_run_id,
                child_run_id=None if child_run_id is None else check_run_id(child_run_id),
                type=type,
                path=path,
                iteration=iteration,
                timestamp=utc_now() if timestamp is None else _stamp(timestamp),
                origin=None if origin is None else _origin(origin),
                payload=fit_payload(type, payload),
            )
            if raw is not None:
                event = _with_raw(event, raw)
            if self._mask is not None:
                event = self._masked(event)
            event, ticket = self._append(event)
            if self._commits is not None:
                self._commits.wait(ticket)
        except BaseException:
            self._failed += 1
            raise
        if self._fan_out.overdue:
            self._warn_of_drops()
        return event

    def subscribe(self, from_seq: int | None = None) -> Subscription:
        """Listen: to what comes from now on, or, with `from_seq`, to every event from that number on, none dropped."""
        if from_seq is None:
            return Subscription(self._fan_out, buffer=self._buffer)
        with self._lock:
            # While it is open we read through our own descriptor: the path may have been moved or unlinked.
            journal = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC) if self._closed else os.dup(self._file.fd)
        return Subscription(self._fan_out, buffer=self._buffer, journal=journal, from_seq=from_seq)

    def stats(self) -> RecorderStats:
        """What was recorded, and everything that was lost or mended on the way."""
        with self._lock:
            return RecorderStats(
                run_id=self.run_id,
                seq=self._seq,
                events=self._events,
                bytes=self._file.size,
                failed=self._failed,
                dropped=self._fan_out.dropped,
                replaced=self._replaced,
                torn_bytes=self._file.torn_bytes,
                subscribers=self._fan_out.stats(),
            )

    def close(self) -> None:
        """Finish: subscribers end when they have read what there is. May be called twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = "is closed; open another one to go on with the run"
        try:
            if self._commits is not None:
                self._commits.wait(self._seq)
        finally:
            self._file.close()
            self._fan_out.end_all()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _masked(self, event: Event) -> Event:
        assert self._mask is not None
        masked = self._mask(event)
        if masked is event:
            return event
        if not isinstance(masked, Event):
            raise InvalidEvent(f"the mask returned {masked.__class__.__name__}; it must return an Event")
        if (masked.run_id, masked.type) != (event.run_id, event.type):
            raise InvalidEvent("the mask changed run_id or type; it may change what an event says, not what it is")
        return replace(masked, seq=0, payload=fit_payload(masked.type, masked.payload))

    def _append(self, event: Event) -> tuple[Event, int]:
        """Number, write and (unless a sync must come first) publish: the critical section."""
        with self._lock:
            if self._closed:
                raise StoreClosed(f"the recorder of run {self.run_id} {self._closed}", str(self.path))
            seq = self._seq + 1
            # The event is ours alone until it is published, so its number may be filled in.
            force_setattr(event, "seq", seq)
            line = self._line
            try:
                encode_into(event, line)
            except UnicodeEncodeError:
                event, replaced = mend.without_surrogates(event)
                self._replaced += replaced
                encode_into(event, line)
            line += b"\n"
            self._file.append(line)
            self._seq = seq
            self._events += 1
            if self._commits is None:
                self._fan_out.publish(event, self._file.size)
            else:
                self._commits.enqueue(event, self._file.size)
        return event, seq

    def _warn_of_drops(self) -> None:
        """Tell about drops, outside the lock: a log handler may be slow, or record into this very run."""
        with self._lock:
            boxes, self._fan_out.overdue = self._fan_out.overdue, []
        for box in boxes:
            dropped, box.warned = box.dropped - box.warned, box.dropped
            log.warning(
                "subscriber %d of run %s is too slow: %d events dropped for it (%d in all); the journal has them",
                box.number,
                self.run_id,
                dropped,
                box.dropped,
            )

    def _abandon_after_fork(self) -> None:
        """In a forked child the journal belongs to the parent: let go of our copy without touching its lock."""
        self._lock = threading.Lock()  # the old one may have been held by a thread that is not here
        self._fan_out.lock = self._lock
        if not self._closed:
            self._closed = "belongs to the parent process; open one with another run id here"
            self._file.close()
            self._fan_out.end_all()


class _GroupCommit:
    """One fdatasync for everyone who waits: whoever comes while the disk is free syncs for all before it.

    Events are published after the sync that made them durable, by the thread that synced, so in file order.
    """

    def __init__(self, file: JournalFile, fan_out: FanOut) -> None:
        self._file = file
        self._fan_out = fan_out
        self._turn = threading.Condition()  # protects the three below
        self._syncing = False
        self._synced = 0
        self._failure: StoreError | None = None
        self._pending: list[tuple[Event, int]] = []  # protected by the recorder's lock
        file.sync_folder()

    def enqueue(self, event: Event, end: int) -> None:
        """Remember what to publish; call with the recorder's lock held."""
        self._pending.append((event, end))

    def wait(self, seq: int) -> None:
        """Return when the event with that number is on disk and published."""
        while self._must_sync(seq):
            with self._fan_out.lock:
                batch, self._pending = self._pending, []
            failure = None
            try:
                self._file.sync()
            except StoreError as error:
                # After a failed sync the system may have thrown the pages away: nothing later can be trusted.
                failure = error
            else:
                with self._fan_out.lock:
                    for event, end in batch:
                        self._fan_out.publish(event, end)
            with self._turn:
                self._syncing = False
                self._failure = failure
                if batch:
                    self._synced = batch[-1][0].seq
                self._turn.notify_all()

    def _must_sync(self, seq: int) -> bool:
        """Wait for one's turn; False when someone else's sync covered the event."""
        with self._turn:
            while True:
                if self._failure is not None:
                    raise self._failure
                if self._synced >= seq:
                    return False
                if not self._syncing:
                    self._syncing = True
                    return True
                self._turn.wait()


def _misplaced(path: object, iteration: object) -> InvalidEvent:
    if not isinstance(path, str):
        return InvalidEvent(f"path is {path!r}; it must be a string of step names joined by dots")
    return InvalidEvent(f"iteration is {iteration!r}; it must be a whole number from 0")


def _stamp(moment: str | datetime) -> str:
    if isinstance(moment, datetime):
        return utc_text(moment)
    if not isinstance(moment, str):
        raise InvalidEvent(f"timestamp is {moment!r}; give a string or a datetime")
    return moment


def _with_raw(event: Event, raw: str | bytes) -> Event:
    if isinstance(raw, bytes):
        text, encoded = mend.raw_fields(raw)
        return replace(event, raw=text, raw_b64=encoded)
    if not isinstance(raw, str):
        raise InvalidEvent(f"raw is a {raw.__class__.__name__}; give the source line as str or bytes")
    return replace(event, raw=raw)


def _origin(value: Origin | Mapping[str, Any]) -> Origin:
    try:
        return msgspec.convert(mend.plain(value), Origin)
    except msgspec.ValidationError as error:
        raise InvalidEvent(f"origin does not fit: {error}; see docs/reference/events.md") from error


_open_recorders: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _after_fork() -> None:
    for recorder in list(_open_recorders):
        recorder._abandon_after_fork()


os.register_at_fork(after_in_child=_after_fork)
