"""Live events to whoever listens, without ever making the writer wait.

Theory of operation. Each subscriber has a mailbox; `publish` runs inside the recorder's critical section, so mailboxes
see the file's order. A full mailbox drops the newest event and counts it, or, when its subscriber asked for every event
(`from_seq`), stops taking any and leaves a note where in the file to go on: the subscriber empties the box, reads
the file up to what has been published, and goes live again under the same lock. Nobody is woken per event: a subscriber
that finds nothing naps a few times, and only one that has parked for longer is rung up.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from operator import length_hint
from typing import TYPE_CHECKING

from msgspec import Struct

from stenograph.journal.lines import LineReader
from stenograph.model.codec import Decoder
from stenograph.model.event import Event

if TYPE_CHECKING:
    import asyncio

NAP = 0.001
NAPS = 3
WARN_EVERY = 1.0


class SubscriberStats(Struct, frozen=True, kw_only=True):
    """What one subscriber got and missed."""

    number: int
    waiting: int
    """Events in its buffer now."""
    dropped: int


class Mailbox:
    """What the publisher knows of one subscriber."""

    __slots__ = (
        "_buffer",
        "behind",
        "closed",
        "dropped",
        "lossless",
        "number",
        "queue",
        "room",
        "taken",
        "wakes",
        "warned",
        "warned_at",
    )

    def __init__(self, number: int, buffer: int, behind: int | None) -> None:
        self.number = number
        self.queue: deque[Event] = deque()
        self.room = self._buffer = buffer
        """How many events the queue may hold; 0 while it takes none."""
        self.lossless = behind is not None
        self.behind: int | None = None
        """Where in the file to go on reading; None while the queue has it all."""
        if behind is not None:
            self.fall_behind(behind)
        self.taken = 0
        """The number of the last event that the subscriber took out."""
        self.dropped = 0
        self.warned = 0
        self.warned_at = -WARN_EVERY
        self.closed = False
        self.wakes: deque[Callable[[], object]] = deque()
        """How to wake those who are parked: one, unless several loops share the subscription."""

    def fall_behind(self, offset: int) -> None:
        """Take no more; the subscriber reads on in the file, from the offset."""
        self.behind = offset
        self.room = 0

    def catch_up(self) -> None:
        """Take events again: the file has been read up to the last one published."""
        self.behind = None
        self.room = 0 if self.closed else self._buffer

    def has_had(self, seq: int) -> bool:
        """Whether the event with that number went in already; call before a later one could have."""
        try:
            return self.queue[-1].seq >= seq
        except IndexError:
            return self.taken >= seq

    def close(self) -> None:
        """No more for this subscriber. Takes no lock, since a garbage collection may call it anywhere."""
        self.closed = True
        self.room = 0
        self.ring()

    def ring(self) -> None:
        """Wake the subscriber if it is parked."""
        with suppress(IndexError):
            while True:
                self.wakes.popleft()()


class FanOut:
    """The mailboxes of one recorder. `lock` is the recorder's: it guards the list and everything published."""

    def __init__(self, lock: threading.RLock, end: int) -> None:
        self.lock = lock
        self.end = end
        """The offset up to which the file has been published."""
        self.ended = False
        self.overdue: list[Mailbox] = []
        """Mailboxes whose drops nobody has been told about yet."""
        self._boxes: list[Mailbox] = []
        self._number = 0
        self._dropped_before = 0

    def publish(self, event: Event, end: int, boxes: list[Mailbox] | None = None) -> None:
        """Hand an event to every mailbox, or to these; call with the lock held."""
        for box in self._boxes if boxes is None else boxes:
            queue = box.queue
            if len(queue) < box.room:
                queue.append(event)
                if box.wakes:
                    box.ring()
            elif box.room:
                self._overflow(box)
            elif box.closed:
                self._retire(box)
        self.end = end

    def publish_again(self, event: Event, end: int) -> None:
        """The same after an interruption: mailboxes that have the event already are passed over."""
        self.publish(event, end, [box for box in self._boxes if not box.has_had(event.seq)])

    def _overflow(self, box: Mailbox) -> None:
        if box.lossless:
            box.fall_behind(self.end)
            return
        box.dropped += 1
        now = time.monotonic()
        if now - box.warned_at >= WARN_EVERY:
            box.warned_at = now
            self.overdue.append(box)

    def open_box(self, buffer: int, behind: int | None) -> Mailbox:
        """A new mailbox, from this moment on."""
        with self.lock:
            self._number += 1
            box = Mailbox(self._number, buffer, behind)
            self._boxes.append(box)
        return box

    def _retire(self, box: Mailbox) -> None:
        """Forget a closed mailbox; its drops stay in the total."""
        self._boxes = [each for each in self._boxes if each is not box]
        self._dropped_before += box.dropped

    def end_all(self) -> None:
        """Nothing more will come: subscribers end when they have read what there is."""
        with self.lock:
            self.ended = True
            boxes = list(self._boxes)
        for box in boxes:
            box.ring()

    def stats(self) -> tuple[SubscriberStats, ...]:
        """One line per subscriber; call with the lock held."""
        return tuple(
            SubscriberStats(number=box.number, waiting=len(box.queue), dropped=box.dropped)
            for box in self._boxes
            if not box.closed
        )

    @property
    def dropped(self) -> int:
        """Events dropped for any subscriber, gone ones included."""
        return self._dropped_before + sum(box.dropped for box in self._boxes)


class Subscription:
    """Live events of one recorder: iterate it, in a thread with `for` or in a task with `async for`.

    It ends when the recorder is closed and everything was handed out, or at once when it is closed itself. One
    consumer each: two loops over the same subscription share its events.
    """

    def __init__(self, hub: FanOut, *, buffer: int, journal: int | None = None, from_seq: int = 0) -> None:
        """With `journal` (a descriptor that is ours from now on) every event from `from_seq` on, without a drop."""
        self._hub = hub
        self._from_seq = from_seq
        self._journal = journal
        self._hand: Iterator[Event] = iter(())
        self._naps = 0
        self._handful = max(1, buffer // 8)
        self._box = hub.open_box(buffer, None if journal is None else 0)
        weakref.finalize(self, _dispose, self._box, journal).atexit = False

    @property
    def dropped(self) -> int:
        """Events that came while the buffer was full; always 0 with `from_seq`."""
        return self._box.dropped

    def close(self) -> None:
        """Stop listening; may be called twice, and from any thread."""
        self._box.close()
        deque(self._hand, maxlen=0)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        while (ready := self._ready()) is not None:
            yield from ready
            self._rest()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (ready := self._ready()) is not None:
            for event in ready:
                yield event
            await self._rest_async()

    def _ready(self) -> Iterable[Event] | None:
        """What can be handed out now; None when nothing will come any more."""
        ended = self._hub.ended  # looked at first: an event published before the end is then seen below
        box = self._box
        if box.closed:
            return None
        if box.queue or box.behind is not None or length_hint(self._hand):
            self._naps = 0
            return self._take()
        return None if ended else ()

    def _take(self) -> Iterator[Event]:
        box = self._box
        queue = box.queue
        yield from self._hand  # what a loop that was left early had not handed out
        while queue and not box.closed:
            # A handful at once costs a third of one by one; a small part of the buffer, so that drops stay exact.
            self._hand = iter(self._pick(queue))
            yield from self._hand
        if box.behind is not None and not queue:
            yield from self._replay(box.behind)

    def _pick(self, queue: deque[Event]) -> list[Event]:
        handful: list[Event] = []
        with suppress(IndexError):  # another loop over this subscription was faster
            for _ in range(min(len(queue), self._handful)):
                handful.append(queue.popleft())  # noqa: PERF401  # a comprehension would lose them on IndexError
        if handful:
            self._box.taken = handful[-1].seq
            if self._from_seq:
                handful = [event for event in handful if event.seq >= self._from_seq]
                self._from_seq = max(self._from_seq, self._box.taken + 1)
        return handful

    def _replay(self, offset: int) -> Iterator[Event]:
        assert self._journal is not None
        box = self._box
        reader = LineReader(self._journal, offset)
        decode = Decoder().decode
        while not box.closed:
            lines = reader.read(self._hub.end)
            if not lines and reader.offset < self._hub.end:
                lines = reader.read()  # somebody else has written here, too: ours are further on than we think
            for line in lines:
                event = decode(line)
                offset += len(line) + 1
                box.behind = offset  # a loop that is left early goes on from here
                if event.seq >= self._from_seq:
                    box.taken = event.seq
                    self._from_seq = event.seq + 1
                    yield event
                if box.closed:
                    return
            with self._hub.lock:
                if reader.offset >= self._hub.end or not lines:  # none: somebody has cut the file
                    box.catch_up()
                    return

    def _is_idle(self) -> bool:
        box = self._box
        return not (box.queue or box.closed or self._hub.ended or box.behind is not None)

    def _rest(self) -> None:
        self._naps += 1
        if self._naps <= NAPS:
            time.sleep(NAP)
            return
        bell = threading.Event()
        with self._parked(bell.set):
            if self._is_idle():
                bell.wait()

    async def _rest_async(self) -> None:
        import asyncio

        self._naps += 1
        if self._naps <= NAPS:
            await asyncio.sleep(NAP)
            return
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()

        def ring() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_set_once, woken)

        with self._parked(ring):
            if self._is_idle():
                await woken

    @contextmanager
    def _parked(self, ring: Callable[[], object]) -> Iterator[None]:
        """Whoever looks for work after this is rung up when some comes."""
        self._box.wakes.append(ring)
        try:
            yield
        finally:
            with suppress(ValueError):  # already rung
                self._box.wakes.remove(ring)


def _set_once(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


def _dispose(box: Mailbox, journal: int | None) -> None:
    box.close()
    if journal is not None:
        os.close(journal)
