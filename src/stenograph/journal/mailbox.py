"""A mailbox: the events that wait for one subscriber.

Theory of operation. Published events are on pages, which are linked and shared: a subscriber that keeps up is only a
position on one of them, and costs the publisher nothing per event. Pages that all subscribers have left are freed. A
subscriber that lags by its whole buffer leaves the pages with a queue of the events it has not had; the publisher
offers every event to the queue, which takes what it has room for, and when it is empty its owner follows the pages
again.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from stenograph.model.event import Event

WARN_EVERY = 1.0
_LARGE = 64


class Page:
    """Events that follow each other."""

    __slots__ = ("after", "before", "events", "full_at", "look_at", "next")

    def __init__(self, before: int = 0, after: int = 0, full_at: int = 0) -> None:
        self.events: list[Event] = []
        self.next: Page | None = None
        """The following page; set when this one is complete."""
        self.before = before
        """The number of events on earlier pages."""
        self.after = after
        """The number of the last event on the page before."""
        self.full_at = full_at
        """The offset in the file with which the page ends."""
        self.look_at = 0
        """With this many events on the page, a mailbox may be half full."""

    @property
    def last_seq(self) -> int:
        """The number of the last event that was published."""
        return self.events[-1].seq if self.events else self.after


class Mailbox:
    """The events that wait for one subscriber: on the pages, in a queue of its own, or in the file."""

    __slots__ = (
        "_buffer",
        "_calls",
        "_index",
        "_page",
        "behind",
        "can_be_roused",
        "closed",
        "dozing",
        "dropped",
        "is_slow",
        "lock",
        "lossless",
        "number",
        "queue",
        "room",
        "taken",
        "wakes",
        "warned",
        "warned_at",
    )

    def __init__(self, number: int, buffer: int, calls: deque[Callable[[], object]]) -> None:
        self.number = number
        self.queue: deque[Event] = deque()
        self.room = self._buffer = buffer
        """How many events may wait; 0 while it takes none."""
        self.lossless = False
        self.behind: int | None = None
        """Where in the file to go on reading; None while everything is on the pages or in the queue."""
        self.taken = 0
        """The number of the last event that the subscriber took out."""
        self.dropped = 0
        self.warned = 0
        self.warned_at = -WARN_EVERY
        self.closed = False
        self.can_be_roused = True
        """Whether a thread empties it; the sleep of a task cannot be ended early."""
        self.is_slow = False
        """It was not emptied in time when the writer waited for it, nor since."""
        self.wakes: deque[Callable[[], object]] = deque()
        """Functions that wake waiting consumers: one, unless several loops share the subscription."""
        self.dozing = threading.Lock()
        """Held, so that its release wakes the thread that sleeps on it."""
        self.dozing.acquire()
        self.lock = threading.Lock()
        """Protects the position: a consumer waits for it, the publisher never does."""
        self._calls = calls
        self._page: Page | None = None
        self._index = 0

    # What the publisher does, with the recorder's lock.

    @property
    def is_following(self) -> bool:
        """Whether it is a position on the pages."""
        return self._page is not None

    def follow(self, page: Page, index: int) -> None:
        """Go on with the pages, from the event at that place on."""
        self._index = index
        self._page = page
        if self.closed:  # meanwhile
            self._page = None

    def waiting(self, published: int) -> int:
        """How many events wait, given the number of events that were published on pages."""
        page = self._page
        return len(self.queue) if page is None else published - page.before - self._index

    @property
    def crowd(self) -> int:
        """How many events make it half full; for a small buffer, the whole buffer."""
        return self.room // 2 if self.room >= _LARGE else self.room

    def leave_pages(self, but: int) -> bool:
        """Move waiting events into the queue, except the newest `but`; False while its owner is taking some."""
        held: list[bool] = []
        try:
            held += map(self.lock.acquire, (False,))  # one step: no signal handler between taking it and knowing that
            if not held[0]:
                return False
            page, index = self._page, self._index
            waiting: list[Event] = []
            while page is not None:
                waiting += page.events[index:]
                page, index = page.next, 0
            leaving = len(waiting) - but
            self._page = None  # from here on nothing is called: no signal handler leaves it in both places, or in none
            self.queue += waiting[:leaving]
        finally:
            if held and held[0]:
                self.lock.release()
        return True

    def has_had(self, seq: int) -> bool:
        """Whether the event with that number went into the queue already; call before a later one could have."""
        try:
            return self.queue[-1].seq >= seq
        except IndexError:
            return self.taken >= seq

    def fall_behind(self, offset: int) -> None:
        """Take no more events; the subscriber reads the file from the offset."""
        self.lossless = True
        self.behind = offset
        self.room = 0

    def catch_up(self) -> None:
        """Take events again: the file has been read up to the last one published."""
        self.behind = None
        self.room = 0 if self.closed else self._buffer

    def rouse(self) -> None:
        """End the subscriber's nap, or the next one."""
        with suppress(RuntimeError):  # roused already
            self.dozing.release()

    def ring(self) -> None:
        """Wake the subscriber if it is parked; once too often does no harm."""
        for wake in tuple(self.wakes):
            wake()

    # What the subscriber does.

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be taken now; the file aside."""
        page = self._page
        return not self.queue and (page is None or (self._index >= len(page.events) and page.next is None))

    def take(self, most: int) -> list[Event]:
        """The next events, at most `most`."""
        with self.lock:
            taken = self._from_queue(most) if self.queue else self._from_pages(most)
            if taken:
                self.taken = taken[-1].seq
        return taken

    def _from_queue(self, most: int) -> list[Event]:
        return [self.queue.popleft() for _ in range(min(len(self.queue), most))]

    def _from_pages(self, most: int) -> list[Event]:
        page = self._page
        while page is not None:
            next_page = page.next  # looked at first: with it, the page is as long as it gets
            taken = page.events[self._index : self._index + most]
            if taken:
                self._index += len(taken)
                return taken
            if next_page is None:
                break
            self._index = 0
            self._page = page = None if self.closed else next_page
        return []

    def park(self, ring: Callable[[], object]) -> None:
        """Have `ring` called at the next event; look for events after this and before sleeping."""
        self.wakes.append(ring)
        self._calls.append(ring)

    def unpark(self, ring: Callable[[], object]) -> None:
        """Do not have `ring` called any more."""
        with suppress(ValueError):  # interrupted before it was parked
            self.wakes.remove(ring)
        with suppress(ValueError):  # already rung
            self._calls.remove(ring)

    def close(self) -> None:
        """Take no more events. Takes no lock, since a garbage collection may call it anywhere."""
        self.closed = True
        self.room = 0
        self._page = None
        self._calls.append(self.ring)
        self.ring()
