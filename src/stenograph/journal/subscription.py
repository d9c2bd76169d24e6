"""A subscription: the live events of a run, for one consumer."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from operator import length_hint
from typing import TYPE_CHECKING

from stenograph.journal.fanout import FanOut
from stenograph.journal.lines import LineReader
from stenograph.journal.mailbox import Mailbox
from stenograph.model.codec import Decoder
from stenograph.model.event import Event

if TYPE_CHECKING:
    import asyncio

_NAPS = 3
_NAP = 0.001
_LONG_NAP = 0.004
"""After a full handful: a writer that is that fast rouses us before the mailbox is full."""
_NOTHING: tuple[Event, ...] = ()


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
        self._is_pressed = False
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
            if ready is _NOTHING:
                self._rest()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (ready := self._ready()) is not None:
            for event in ready:
                yield event
            if ready is _NOTHING:
                await self._rest_async()

    def _ready(self) -> Iterable[Event] | None:
        """What can be handed out now; None when nothing will come any more."""
        ended = self._hub.ended  # looked at first: an event published before the end is then seen below
        box = self._box
        if box.closed:
            return None
        if length_hint(self._hand):  # a loop was left early
            return self._hand
        # A handful at once costs a third of one by one; a small part of the buffer, so that drops stay exact.
        handful = box.take(self._handful)
        if handful:
            self._naps = 0
            self._is_pressed = self._is_pressed or len(handful) == self._handful
            self._hand = iter(self._wanted(handful) if self._from_seq else handful)
            return self._hand
        if box.behind is not None:
            self._naps = 0
            return self._replay(box.behind)
        self._hub.relieve(box)
        return None if ended else _NOTHING

    def _wanted(self, events: list[Event]) -> list[Event]:
        wanted = [event for event in events if event.seq >= self._from_seq]
        self._from_seq = max(self._from_seq, events[-1].seq + 1)
        return wanted

    def _replay(self, offset: int) -> Iterator[Event]:
        assert self._journal is not None
        box = self._box
        reader = LineReader(self._journal, offset)
        decode = Decoder().decode
        while not box.closed:
            end, is_cut = self._hub.end, False
            lines = reader.read(end)
            if not lines and reader.offset < end:
                lines = reader.read()  # another program has written here, too, so our lines are further on
                is_cut = not lines  # or has cut the file
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
                if is_cut:
                    self._hub.go_live(box)
                elif reader.offset >= self._hub.end:  # it may have moved meanwhile
                    self._hub.go_live(box, self._from_seq)
                if box.behind is None:
                    return

    def _is_idle(self) -> bool:
        box = self._box
        return box.is_empty and not box.closed and not self._hub.ended and box.behind is None

    def _rest(self) -> None:
        self._naps += 1
        if self._naps <= _NAPS:
            self._box.dozing.acquire(timeout=_LONG_NAP if self._is_pressed else _NAP)
            self._is_pressed = False
            return
        bell = threading.Lock()  # not an Event: a signal handler that raises inside its `set` leaves it locked for good
        bell.acquire()

        def ring() -> None:
            with suppress(RuntimeError):  # rung already
                bell.release()

        with self._parked(ring):
            if self._is_idle():
                bell.acquire()

    async def _rest_async(self) -> None:
        import asyncio

        self._naps += 1
        self._box.can_be_roused = False
        if self._naps <= _NAPS:
            await asyncio.sleep(_NAP)
            return
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()

        def ring() -> None:
            with suppress(RuntimeError):  # the loop is closed, so no task waits any more
                loop.call_soon_threadsafe(_set_once, woken)

        with self._parked(ring):
            if self._is_idle():
                await woken

    @contextmanager
    def _parked(self, ring: Callable[[], object]) -> Iterator[None]:
        """Within it, `ring` is called at the next event; look for events first, then wait."""
        self._box.park(ring)
        try:
            yield
        finally:
            self._box.unpark(ring)


def _set_once(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


def _dispose(box: Mailbox, journal: int | None) -> None:
    box.close()
    if journal is not None:
        os.close(journal)
