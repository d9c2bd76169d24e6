"""The recorder: number an event, write it, publish it, in one critical section.

Theory of operation. Python may run a signal handler or a finalizer between any two steps of that section, in the very
thread that is inside it. If that raises (Ctrl-C), it is in doubt whether the line was written: the next call reads the
file, and what is there counts. If it records, it is refused: the lock is reentrant so that it can be; at a plain lock,
the thread would wait for itself forever.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import uuid4

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import force_setattr, replace

from stenograph.clock import utc_now, utc_text
from stenograph.closing import Closing
from stenograph.errors import InvalidEvent, SourceError, StoreClosed, StoreError
from stenograph.journal.fanout import FanOut, SubscriberStats
from stenograph.journal.file import JournalFile
from stenograph.journal.group_commit import GroupCommit
from stenograph.journal.line_tree import LineTree
from stenograph.journal.lines import LineReader
from stenograph.journal.place import DEFAULT_ROOT, Root, journal_path, storage_root
from stenograph.journal.reader import open_source
from stenograph.journal.subscription import Subscription
from stenograph.model import mend
from stenograph.model.codec import decode, encode_into, fit_payload
from stenograph.model.event import PAYLOAD_TYPES, Event, Origin
from stenograph.model.ids import check_run_id
from stenograph.model.payload import LifecyclePayload
from stenograph.model.value import Value

log = logging.getLogger("stenograph.journal")

Durability = Literal["os", "disk"]
Mask = Callable[[Event], Event]

_READY, _BUSY, _IN_DOUBT = range(3)
_CLOSED = "is closed; open another one to go on with the run"


class RecorderStats(Struct, frozen=True, kw_only=True):
    """What a recorder has done so far."""

    run_id: str
    seq: int = 0
    """The last number given out; the length of the series."""
    events: int = 0
    """Events recorded by this recorder since it was opened."""
    bytes: int = 0
    """The size of the journal."""
    failed: int = 0
    """Calls of `record` that raised."""
    dropped: int = 0
    """Events dropped for slow subscribers, all together; the journal has them."""
    replaced: int = 0
    """Characters that UTF-8 cannot hold, recorded as U+FFFD."""
    torn_bytes: int = 0
    """Bytes of a torn tail that were set aside when the journal was opened."""
    subscribers: tuple[SubscriberStats, ...] = ()


class Recorder(Closing):
    """Writes one run: `record()` returns when the event is in the journal; then subscribers see it.

    Safe to use from any number of threads. Raises what is wrong (`InvalidEvent`, `StoreError`), and then nothing was
    written, nothing published and no number used up; only an event whose sync to disk failed may be in the file.
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
        event before anything is written or published. `buffer` is how many events a subscriber may lag behind.
        """
        if durability not in ("os", "disk"):
            raise InvalidEvent(f"durability is {durability!r}; it must be 'os' or 'disk'")
        if not isinstance(buffer, int) or buffer < 1:
            raise InvalidEvent(f"buffer is {buffer!r}; it must be a whole number from 1")
        if mask is not None and not callable(mask):
            raise InvalidEvent(f"mask is {mask!r}; it must be a function from event to event")
        self.run_id = str(uuid4()) if run_id is None else check_run_id(run_id)
        parent_run_id = None if parent_run_id is None else check_run_id(parent_run_id)
        self.path: Path = journal_path(storage_root(root), self.run_id)
        self._mask = mask
        self._buffer = buffer
        self._lock = threading.RLock()  # protects everything below, the file and the mailboxes
        self._file = JournalFile(self.path)
        last = self._file.last_event
        self._seq = last.seq if last is not None else 0
        self._parent_run_id = parent_run_id or (last.parent_run_id if last is not None else None)
        self._line = bytearray()
        self._fan_out = FanOut(self._lock, self._file.size)
        try:
            self._commits = GroupCommit(self._file, self._fan_out) if durability == "disk" else None
        except BaseException:
            self._file.close()
            raise
        self._state = _READY
        self._closed = ""  # the reason for errors, once it is closed
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

    @property
    def mask(self) -> Mask | None:
        """What sees every event before anything is written or published."""
        return self._mask

    def child(self, run_id: str, parent_run_id: str | None = None) -> Recorder:
        """A recorder for a run that this one (or the one named) started: beside it, with the same settings."""
        return Recorder(
            self.path.parent.parent,
            run_id=run_id,
            parent_run_id=parent_run_id or self.run_id,
            durability="os" if self._commits is None else "disk",
            mask=self._mask,
            buffer=self._buffer,
        )

    def record(
        self,
        type: str,
        payload: Value | Mapping[str, Any] | None = None,
        *,
        path: str = "",
        iteration: int = 0,
        iterations: tuple[int, ...] | None = None,
        origin: Origin | Mapping[str, Any] | None = None,
        child_run_id: str | None = None,
        timestamp: str | datetime | None = None,
        raw: str | bytes | None = None,
    ) -> Event:
        """Append one event and return it as it was stored.

        `payload` is a value of `stenograph.model` or a plain dict. `timestamp` is the present moment unless given.
        `raw` is the source line it came from. `iterations` has the iteration of each step around it, if they differ.
        """
        try:
            if path.__class__ is not str or iteration.__class__ is not int or iteration < 0:
                raise _misplaced(path, iteration)
            if iterations is not None:
                iterations = _iterations(iterations, iteration)
            event = Event(
                seq=0,
                run_id=self.run_id,
                parent_run_id=self._parent_run_id,
                child_run_id=None if child_run_id is None else check_run_id(child_run_id),
                type=type,
                path=path,
                iteration=iteration,
                iterations=iterations,
                timestamp=utc_now() if timestamp is None else _stamp(timestamp),
                origin=None if origin is None else _origin(origin),
                payload=fit_payload(type, payload),
            )
            if raw is not None:
                event = _with_raw(event, raw)
            return self._store(event)
        except BaseException:
            self._failed += 1
            raise

    def append(self, event: Event) -> Event:
        """Append an event that a format or another journal gave, and return it as it was stored.

        It gets the next number and the run of this journal, and keeps everything else.
        """
        try:
            if not isinstance(event, Event):
                raise InvalidEvent(f"{event.__class__.__name__} is not an Event; `record` makes one from its parts")
            event = _checked_event(event, "the event", is_typed=_is_typed(event))
            return self._store(replace(event, run_id=self.run_id, parent_run_id=self._parent_run_id))
        except BaseException:
            self._failed += 1
            raise

    def subscribe(self, from_seq: int | None = None) -> Subscription:
        """Listen: to what comes from now on, or, with `from_seq`, to every event from that number on, none dropped."""
        if from_seq is None:
            return Subscription(self._fan_out, buffer=self._buffer)
        if not isinstance(from_seq, int) or from_seq < 1:
            raise InvalidEvent(f"from_seq is {from_seq!r}; it must be a whole number from 1")
        with self._lock:
            journal = self._open_to_read()
        return Subscription(self._fan_out, buffer=self._buffer, journal=journal, from_seq=from_seq)

    def stats(self) -> RecorderStats:
        """What was recorded, and everything that was lost or repaired on the way."""
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
        try:
            self._finish()
        except BaseException:  # the disk failed, or a signal handler raised: subscribers must not wait for ever
            self._release()
            raise

    def _finish(self) -> None:
        with self._lock:
            if self._closed:
                return
        try:
            self._store_held(None)
        finally:
            self._end()

    def _end(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = _CLOSED
            self._settle()
        if self._commits is not None:
            self._commits.wait(self._seq)
        self._release()

    def _release(self) -> None:
        """Close the file and end the subscriptions; may be called again."""
        with self._lock:
            self._closed = self._closed or _CLOSED
        self._file.close()
        self._fan_out.end_all()

    def __del__(self) -> None:
        if hasattr(self, "_failed"):  # it was opened: a recorder without a reference ends like a closed one
            with suppress(Exception):
                self.close()

    def _store(self, event: Event) -> Event:
        """Number, write and (unless a sync must come first) publish, in one critical section."""
        if self._mask is not None:
            self._store_held(event)
            event = self._masked(event)
        if event.type == "run.completed" and isinstance(event.payload, LifecyclePayload):
            with closing(LineTree(self._open_for_tree())) as tree:
                tree.read()  # nearly all of it, while others may still record
                return self._write(event, tree)
        return self._write(event)

    def _store_held(self, event: Event | None) -> None:
        """Store pieces of streams that the mask held back: those that come before an event or, for None, all."""
        held = getattr(self._mask, "held", None)
        for each in held(event, self.run_id) if held is not None else ():
            self._write(each)

    def _open_for_tree(self) -> int:
        with self._lock:
            if self._closed:
                self._make_ready()  # raises
            return self._open_to_read()

    def _write(self, event: Event, tree: LineTree | None = None) -> Event:
        """Write an event; with `tree`, one that holds the Merkle root of the lines so far."""
        commits = self._commits
        with self._lock:
            if self._closed or self._state != _READY:
                self._make_ready()
            if commits is not None:
                commits.check()
            self._state = _BUSY
            try:
                if tree is not None:
                    event = replace(event, payload=replace(event.payload, evidence=tree.evidence(self._file.size)))
                seq = self._seq + 1
                # The event is ours alone until it is published, so its number may be filled in.
                force_setattr(event, "seq", seq)
                line = self._line
                try:
                    encode_into(event, line)
                except UnicodeEncodeError:
                    event, replaced = mend.without_surrogates(event)
                    encode_into(event, line)
                    self._replaced += replaced
                line += b"\n"
                size = self._file.append(line)
                self._seq = seq
                self._events += 1
                if commits is None:
                    self._fan_out.publish(event, size)
                else:
                    commits.enqueue(event, size)
            except BaseException:
                self._state = _IN_DOUBT
                raise
            self._state = _READY
        if commits is not None:
            commits.wait(seq)
        if self._fan_out.crowded or self._fan_out.overdue:
            self._attend()
        return event

    def _masked(self, event: Event) -> Event:
        assert self._mask is not None
        masked = getattr(self._mask, "streamed", self._mask)(event)
        if masked is event:
            return event
        if not isinstance(masked, Event):
            raise InvalidEvent(f"the mask returned {masked.__class__.__name__}; it must return an Event")
        if any(getattr(masked, name) != getattr(event, name) for name in _IDENTITY):
            raise InvalidEvent(f"the mask changed one of {', '.join(_IDENTITY)}; it may change what an event says only")
        return _checked_event(masked, "what the mask returned", is_typed=_is_typed(event))

    def _make_ready(self) -> None:
        """Settle what is in doubt, or raise when nothing can be recorded now."""
        if self._closed:
            raise StoreClosed(f"the recorder of run {self.run_id} {self._closed}", str(self.path))
        if self._state == _BUSY:
            raise StoreError(
                f"run {self.run_id} is being recorded by this very thread, below the signal handler or finalizer that "
                "records now; the event was not recorded, do it from elsewhere",
                str(self.path),
            )
        self._settle()

    def _settle(self) -> None:
        """After an interruption (see the beginning of this module): what is in the file counts, and is published."""
        if self._state != _IN_DOUBT:
            return
        self._file.settle()
        end = self._fan_out.end if self._commits is None else self._commits.end
        for line in LineReader(self._file.fd, end).read():
            event = decode(line)
            if event.run_id != self.run_id or not self._seq <= event.seq <= self._seq + 1:
                continue  # not the line in doubt: another program has written here, too
            self._events += event.seq - self._seq
            self._seq = event.seq
            if self._commits is None:
                self._fan_out.publish_again(event, self._file.size)
            else:
                self._commits.enqueue(event, self._file.size)
        self._state = _READY

    def _open_to_read(self) -> int:
        """A descriptor for reading, opened by the journal's name; if it was moved, a duplicate that shares its lock."""
        if self._closed:
            return open_source(self.path)
        own = self._file.fd
        with suppress(SourceError):
            fd = open_source(self.path)
            if os.path.samestat(os.fstat(fd), os.fstat(own)):
                return fd
            os.close(fd)
        return os.dup(own)

    def _attend(self) -> None:
        """Let crowded subscribers run and log drops, outside the lock."""
        if self._fan_out.crowded:
            self._fan_out.step_aside()
        if self._fan_out.overdue:
            self._warn_of_drops()

    def _warn_of_drops(self) -> None:
        """Log drops; outside the lock, because a log handler may be slow, or record into this run."""
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
        """In a forked child the journal belongs to the parent: close our copy without releasing its lock."""
        self._lock = threading.RLock()  # a thread of the parent may have held the old one
        if not self._closed:
            self._closed = "belongs to the parent process; open one with another run id here"
            self._file.abandon()
        self._fan_out.abandon(self._lock)


def _is_typed(event: Event) -> bool:
    """Whether the payload is a value of its type; what a newer or a broken writer wrote is plain JSON."""
    kind = PAYLOAD_TYPES.get(event.type) if event.type.__class__ is str else None
    return kind is not None and (event.payload is None or isinstance(event.payload, kind))


def _checked_event(event: Event, what: str, *, is_typed: bool) -> Event:
    """Check an event that the caller built: the constructor itself takes any value."""
    try:
        msgspec.convert({name: getattr(event, name) for name in _CHECKED}, _CheckedFields)
        origin = None if event.origin is None else _origin(event.origin)
        payload = fit_payload(event.type, event.payload) if is_typed else _unshared(event.payload)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise error if isinstance(error, InvalidEvent) else InvalidEvent(f"{what} does not fit: {error}") from error
    return replace(event, seq=0, origin=origin, payload=payload)


def _unshared(payload: Any) -> Any:
    """Plain JSON as a reader will see it."""
    return msgspec.json.decode(msgspec.json.encode(payload))


class _CheckedFields(Struct):
    """The fields of an event that a caller may set, with their types, except origin and payload."""

    type: str
    child_run_id: str | None
    path: str
    iteration: Annotated[int, Meta(ge=0)]
    iterations: tuple[Annotated[int, Meta(ge=0)], ...] | None
    timestamp: str
    raw: str | None
    raw_b64: str | None


_CHECKED = _CheckedFields.__struct_fields__
_IDENTITY = ("run_id", "parent_run_id", "child_run_id", "type")
_EMPTY_ORIGIN = Origin()


def _misplaced(path: object, iteration: object) -> InvalidEvent:
    if not isinstance(path, str):
        return InvalidEvent(f"path is {path!r}; it must be a string of step names joined by dots")
    return InvalidEvent(f"iteration is {iteration!r}; it must be a whole number from 0")


def _iterations(given: object, iteration: int) -> tuple[int, ...] | None:
    """The iterations of the steps as they are written: None where they are all the same."""
    if (
        not isinstance(given, tuple | list)
        or not all(each.__class__ is int and each >= 0 for each in given)
        or (given and given[-1] != iteration)
    ):
        raise InvalidEvent(
            f"iterations is {given!r}; give one whole number per step, the last is iteration {iteration}"
        )
    return tuple(given) if len(set(given)) > 1 else None


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


def _origin(value: Origin | Mapping[str, Any]) -> Origin | None:
    """The origin, checked; None when it is empty, as on the wire."""
    if value.__class__ is Origin and _is_sound(value):
        return value
    try:
        origin = msgspec.convert(mend.plain(value), Origin)
        return None if origin == _EMPTY_ORIGIN else origin
    except msgspec.ValidationError as error:
        raise InvalidEvent(f"origin does not fit: {error}; see docs/reference/events.md") from error


def _is_sound(origin: Origin) -> bool:
    """Whether an origin is surely valid: a fast check of every field, because formats make origins by the million."""
    if (
        origin.extra is not None
        or origin.adapter.__class__ is not str
        or origin.time not in (None, "inherited", "given")
    ):
        return False
    if any(number is not None and number.__class__ is not int for number in (origin.line, origin.seq)):
        return False
    texts = (
        origin.source,
        origin.session_id,
        origin.prompt_name,
        origin.file,
        origin.parent_source,
        origin.parent_call_id,
    )
    return all([text is None or text.__class__ is str for text in texts])  # noqa: C419  # a generator costs twice as much


_open_recorders: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _after_fork() -> None:
    for recorder in list(_open_recorders):
        recorder._abandon_after_fork()


os.register_at_fork(after_in_child=_after_fork)
