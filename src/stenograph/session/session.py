"""Session: dispatched values go through reducers into slices, then to the subscribers of the bus."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar
from uuid import UUID, uuid4

from msgspec import Struct

from stenograph.after_fork import reset_after_fork
from stenograph.closing import Closing
from stenograph.errors import InvalidEvent, StoreClosed
from stenograph.session.bus import Bus
from stenograph.session.events import PromptExecuted, PromptRendered, ToolInvoked
from stenograph.session.record import is_record
from stenograph.session.reducers import Append, Reducer, Replace, append_all
from stenograph.session.slice import Slice, SlicePolicy, SliceView
from stenograph.session.slices import SliceFactoryConfig
from stenograph.session.snapshot import Snapshot
from stenograph.transcript.entry import TranscriptEntry

T = TypeVar("T")

LOG_TYPES = (TranscriptEntry, PromptRendered, ToolInvoked, PromptExecuted)
"""Types whose slices are LOG from the start; every other type is STATE unless `set_policy` says otherwise."""


class SessionStats(Struct, frozen=True, kw_only=True):
    """What a session stored, and what was lost."""

    dispatched: int
    """Values that were stored."""
    failed_subscribers: int
    """How often a subscriber of its bus raised."""
    torn: int
    """Half lines in files of slices, left by a crash."""
    unreadable: int
    """Lines that the last full reading of each slice had to leave out."""
    replaced: int
    """Characters that UTF-8 cannot hold and that became U+FFFD."""


@dataclass(slots=True)
class _OpenSlice:
    """A slice in use."""

    policy: SlicePolicy
    slice: Slice[Any]
    initial: tuple[Any, ...]
    """The values of a STATE slice before this session."""
    is_fixed: bool = False
    """Whether a dispatched value is in it; then its policy can no longer change."""


class Session(Closing):
    """Keeps values by their type. Safe from any number of threads.

    A LOG slice appends every value of its type unless it has a reducer for that type. A STATE slice does so only while
    no slice has a reducer for that type.
    """

    def __init__(
        self, bus: Bus | None = None, slice_config: SliceFactoryConfig | None = None, *, session_id: UUID | None = None
    ) -> None:
        """Slices are in memory unless `slice_config` says otherwise."""
        self.bus = Bus() if bus is None else bus
        self._id = session_id or uuid4()
        self._config = slice_config or SliceFactoryConfig()
        self._policies: dict[type[Any], SlicePolicy] = dict.fromkeys(LOG_TYPES, SlicePolicy.LOG)
        self._reducers: dict[type[Any], dict[type[Any], Reducer]] = {}
        self._open_slices: dict[type[Any], _OpenSlice] = {}
        self._unpublished: deque[object] = deque()
        self._is_publishing = False
        self._dispatched = 0
        self._is_closed = False
        # Protects changes of everything above and of slices. Never held while subscribers run.
        self._lock = threading.RLock()
        reset_after_fork(self)

    @property
    def session_id(self) -> UUID:
        """This session's own id."""
        return self._id

    def __getitem__(self, kind: type[T]) -> SliceAccessor[T]:
        """The slice of a type, to read it and to register reducers for it."""
        return SliceAccessor(self, _checked(kind))

    def set_policy(self, kind: type[Any], policy: SlicePolicy) -> None:
        """Say whether a type is LOG or STATE, before its first value is dispatched."""
        if not isinstance(policy, SlicePolicy):
            raise InvalidEvent(f"{policy!r:.80} is not a policy; give SlicePolicy.LOG or SlicePolicy.STATE")
        with self._lock:
            self._check_open()
            opened = self._open_slices.get(_checked(kind))
            if opened is not None and opened.policy is not policy:
                if opened.is_fixed:
                    raise InvalidEvent(
                        f"the {opened.policy.name} slice of {kind.__name__} has values already; set its policy before "
                        "the first is dispatched"
                    )
                self._open_slices.pop(kind).slice.close()
            self._policies[kind] = policy

    def dispatch(self, value: object) -> None:
        """Store a value by the reducers of its type, then publish it on the bus.

        All reducers run before anything is stored. Subscribers get values in the order in which they were stored: if
        another thread is calling them now, that thread publishes this value, too, and this call does not wait for it.
        """
        if not is_record(value):
            raise InvalidEvent(
                f"{value!r:.80} cannot be dispatched; give an instance of a dataclass or a msgspec Struct"
            )
        with self._lock:
            self._check_open()
            for kind, operation in self._reduced(value):
                self._apply(kind, operation)
            self._dispatched += 1
            self._unpublished.append(value)
        self._publish()

    def snapshot(self) -> Snapshot:
        """The STATE slices as they are."""
        with self._lock:
            states = {
                kind: tuple(opened.slice)
                for kind, opened in self._open_slices.items()
                if opened.policy is SlicePolicy.STATE
            }
        return Snapshot(session_id=self._id, states=MappingProxyType(states))

    def restore(self, snapshot: Snapshot) -> None:
        """Set the STATE slices back to a snapshot; LOG slices keep everything."""
        with self._lock:
            self._check_open()
            for kind in {**snapshot.states, **self._open_slices}:
                opened = self._open_slice(kind)
                if opened.policy is SlicePolicy.STATE:
                    opened.slice.replace(snapshot.states.get(kind, opened.initial))

    def stats(self) -> SessionStats:
        """What was stored and what was lost so far."""
        with self._lock:
            losses = [opened.slice.stats() for opened in self._open_slices.values()]
            return SessionStats(
                dispatched=self._dispatched,
                failed_subscribers=self.bus.failed,
                torn=sum(loss.torn for loss in losses),
                unreadable=sum(loss.unreadable for loss in losses),
                replaced=sum(loss.replaced for loss in losses),
            )

    def close(self) -> None:
        """Close the files. Reading still works, dispatching does not. May be called twice."""
        with self._lock:
            self._is_closed = True
            for opened in self._open_slices.values():
                opened.slice.close()

    def _register(self, kind: type[Any], event: type[Any], reducer: Reducer) -> None:
        with self._lock:
            self._reducers.setdefault(_checked(event), {})[kind] = reducer

    def _open_slice(self, kind: type[Any]) -> _OpenSlice:
        opened = self._open_slices.get(kind)  # without the lock: readers do not wait for writers
        return self._make_slice(kind) if opened is None else opened

    def _make_slice(self, kind: type[Any]) -> _OpenSlice:
        with self._lock:
            if kind not in self._open_slices:
                policy = self._policies.get(kind, SlicePolicy.STATE)
                made = self._config.factory(policy).create(kind)
                initial = tuple(made) if policy is SlicePolicy.STATE else ()
                self._open_slices[kind] = _OpenSlice(policy, made, initial)
            return self._open_slices[kind]

    def _reduced(self, value: object) -> list[tuple[type[Any], Append[Any] | Replace[Any]]]:
        """What the reducers of a value's type do, by slice; appending it to its own slice by default comes first."""
        own = type(value)
        reducers = self._reducers.get(own, {})
        if not reducers or (own not in reducers and self._open_slice(own).policy is SlicePolicy.LOG):
            reducers = {own: append_all, **reducers}
        operations = []
        for kind, reducer in reducers.items():
            opened = self._open_slice(kind)
            operation = reducer(SliceView(lambda opened=opened: opened.slice), value)  # type: ignore[misc]  # bound now
            if isinstance(operation, Replace) and opened.policy is SlicePolicy.LOG:
                raise InvalidEvent(
                    f"the LOG slice of {kind.__name__} is append-only and its reducer for {own.__name__} gave Replace; "
                    "give Append, or set SlicePolicy.STATE"
                )
            if operation is not None:
                operations.append((kind, operation))
        return operations

    def _apply(self, kind: type[Any], operation: Append[Any] | Replace[Any]) -> None:
        opened = self._open_slice(kind)
        if isinstance(operation, Append):
            opened.slice.append(operation.value)
        else:
            opened.slice.replace(operation.values)
        opened.is_fixed = True

    def _publish(self) -> None:
        with self._lock:
            if self._is_publishing:
                return
            self._is_publishing = True
        try:
            while (value := self._next_unpublished()) is not None:
                self.bus.publish(value)
        except BaseException:  # an interrupt: the rest is published with the next value
            self._is_publishing = False
            raise

    def _next_unpublished(self) -> object | None:
        with self._lock:
            if self._unpublished:
                return self._unpublished.popleft()
            self._is_publishing = False
            return None

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._unpublished.clear()  # the parent publishes them
        self._is_publishing = False

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreClosed(f"session {self._id} is closed; use a new one")


class SliceAccessor(SliceView[T], Generic[T]):
    """`session[T]`: the slice of a type, and its reducers."""

    def __init__(self, session: Session, kind: type[T]) -> None:
        super().__init__(lambda: session._open_slice(kind).slice)
        self._session = session
        self._kind = kind

    def register(self, event: type[Any], reducer: Reducer) -> None:
        """Register the reducer that changes this slice when a value of type `event` is dispatched; one per type."""
        self._session._register(self._kind, event, reducer)


def _checked(kind: type[T]) -> type[T]:
    if not isinstance(kind, type):
        raise InvalidEvent(f"{kind!r:.80} is not a type; a session keeps values by their class")
    return kind
