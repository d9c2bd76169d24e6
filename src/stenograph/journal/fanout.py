"""Live events for subscribers, without making the writer wait for a slow one.

Theory of operation. `publish` runs inside the recorder's critical section, so every subscriber sees the file's order.
It puts an event on the last page (see `mailbox`) and looks at the mailboxes only now and then: when one may be half
full, when the page is full, or when a subscriber parked or left. A full mailbox drops the newest event and counts it,
or, when its subscriber asked for every event (`from_seq`), stops taking any and notes where in the file to go on: the
subscriber empties the box, reads the file up to what has been published, and goes live again under the same lock.

Nobody is woken per event: to wake a thread on another core costs more than to write an event. Sleeping subscribers are
woken together when a mailbox is half full, and the writer then steps aside until they have emptied theirs, so that they
need not contend with it for the interpreter. That takes a moment at most: a subscriber that is not done by then is
slow, and the writer does not wait for it again before it has caught up.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from stenograph.journal.mailbox import WARN_EVERY, Mailbox, Page
from stenograph.model.event import Event

_PAGE_BYTES = 1 << 18
_STEP_ASIDE = 0.0005
"""Seconds; four subscribers on two cores take half of that for half a mailbox."""
_NEVER = 1 << 62


class SubscriberStats(Struct, frozen=True, kw_only=True):
    """What one subscriber got and missed."""

    number: int
    waiting: int
    """Events in its buffer now."""
    dropped: int


class FanOut:
    """The mailboxes of one recorder. `lock` is the recorder's: it guards the list and everything published."""

    def __init__(self, lock: threading.RLock, end: int) -> None:
        self.lock = lock
        self.end = end
        """The offset up to which the file has been published."""
        self.ended = False
        self.overdue: list[Mailbox] = []
        """Mailboxes whose drops have not been logged yet."""
        self.crowded: list[Mailbox] = []
        """Mailboxes that became half full; the recording thread lets their subscribers run, outside the lock."""
        self._waited_for: set[Mailbox] = set()
        self._relief = threading.Lock()
        """Held, so that its release wakes the thread that waits for mailboxes to be emptied."""
        self._relief.acquire()
        self._calls: deque[Callable[[], object]] = deque()
        """How to wake the subscribers that are parked; and some that do nothing, of subscribers that are gone."""
        self._boxes: list[Mailbox] = []
        self._page = Page()
        self._number = 0
        self._dropped_before = 0

    def publish(self, event: Event, end: int) -> None:
        """Hand an event to every mailbox; call with the lock held."""
        if self._boxes:
            page = self._page
            events = page.events
            events.append(event)
            if end >= page.full_at or len(events) >= page.look_at or self._calls:
                self._look(event, end)
        self.end = end

    def publish_again(self, event: Event, end: int) -> None:
        """Publish after an interruption: a subscriber that has the event already does not get it again."""
        if self._boxes:
            while self._page.next is not None:  # interrupted while it was turned
                self._page = self._page.next
            if self._page.last_seq < event.seq:
                self._page.events.append(event)
            self._look(event, end)
        self.end = end

    def _look(self, event: Event, end: int) -> None:
        """Update the mailboxes after an event was put on the last page."""
        page = self._page
        published = page.before + len(page.events)
        look_at = _NEVER
        for box in self._boxes:
            if box.is_following:
                waiting = box.waiting(published)
                if waiting <= box.room:
                    if waiting > box.crowd and box.can_be_roused and not box.is_slow:
                        self.crowded.append(box)
                    ahead = box.crowd if waiting < box.crowd else box.room
                    look_at = min(look_at, published - waiting + ahead + 1)
                    continue
                if not box.leave_pages(but=1):
                    look_at = 0
                    continue
            look_at = min(look_at, self._offer(box, event, published))
        for ring in tuple(self._calls):
            ring()  # before it is removed: after an interruption the next event rings
            with suppress(ValueError):  # the woken subscriber has removed it
                self._calls.remove(ring)
        page.look_at = look_at - page.before
        if end >= page.full_at and page.events:
            self._turn_page(event.seq, end, published, look_at)

    def _offer(self, box: Mailbox, event: Event, published: int) -> int:
        """Give an event to a mailbox that is not on the pages; returns when to look at it again."""
        if box.closed:
            self._retire(box)
            return _NEVER
        if box.room and not box.has_had(event.seq):
            if not box.queue:
                box.follow(self._page, max(0, len(self._page.events) - 1))
                return published
            if len(box.queue) < box.room:
                box.queue.append(event)
            else:
                self._overflow(box)
        return 0 if box.room else _NEVER

    def _turn_page(self, seq: int, end: int, published: int, look_at: int) -> None:
        page = Page(published, seq, end + _PAGE_BYTES)
        page.look_at = look_at - published
        self._page.next = page
        self._page = page

    def _overflow(self, box: Mailbox) -> None:
        if box.lossless:
            box.fall_behind(self.end)
            return
        box.dropped += 1
        now = time.monotonic()
        if now - box.warned_at >= WARN_EVERY:
            box.warned_at = now
            self.overdue.append(box)

    def step_aside(self) -> None:
        """Let the subscribers of crowded mailboxes have the interpreter for a moment; call without the lock."""
        crowded, self.crowded = self.crowded, []
        waited_for = self._waited_for = set(crowded)
        for box in crowded:
            box.rouse()
        if not self._relief.acquire(timeout=_STEP_ASIDE):
            for box in waited_for.copy():
                box.is_slow = True

    def relieve(self, box: Mailbox) -> None:
        """Its subscriber has emptied a mailbox."""
        box.is_slow = False
        waited_for = self._waited_for
        if box in waited_for:
            waited_for.discard(box)
            if not waited_for:
                with suppress(RuntimeError):  # no thread waits any more
                    self._relief.release()

    def open_box(self, buffer: int, behind: int | None) -> Mailbox:
        """A new mailbox, from this moment on."""
        with self.lock:
            self._number += 1
            box = Mailbox(self._number, buffer, self._calls)
            if behind is None:
                self._follow(box, len(self._page.events))
            else:
                box.fall_behind(behind)
            self._boxes.append(box)
        return box

    def go_live(self, box: Mailbox, from_seq: int = _NEVER) -> None:
        """The subscriber has read the file up to what has been published; call with the lock held.

        An event from `from_seq` on stands on the page already when its publishing was interrupted.
        """
        box.catch_up()
        events = self._page.events
        index = len(events)
        while index > 0 and events[index - 1].seq >= from_seq:
            index -= 1
        self._follow(box, index)

    def _follow(self, box: Mailbox, index: int) -> None:
        self._page.look_at = 0
        box.follow(self._page, index)

    def _retire(self, box: Mailbox) -> None:
        """Forget a closed mailbox; its drops stay in the total."""
        self._boxes = [each for each in self._boxes if each is not box]
        self._dropped_before += box.dropped
        if not self._boxes:
            self._page = Page()

    def end_all(self) -> None:
        """Nothing more will come: subscribers end when they have read what there is."""
        with self.lock:
            self.ended = True
            boxes = list(self._boxes)
        for box in boxes:
            box.ring()

    def abandon(self, lock: threading.RLock) -> None:
        """In a forked child: wake no subscriber, because the waiting threads are the parent's."""
        self.lock = lock
        self.ended = True
        for box in self._boxes:
            box.lock = threading.Lock()  # a thread of the parent may have held it

    def stats(self) -> tuple[SubscriberStats, ...]:
        """One line per subscriber; call with the lock held."""
        published = self._page.before + len(self._page.events)
        return tuple(
            SubscriberStats(number=box.number, waiting=box.waiting(published), dropped=box.dropped)
            for box in self._boxes
            if not box.closed
        )

    @property
    def dropped(self) -> int:
        """Events dropped for any subscriber, gone ones included."""
        return self._dropped_before + sum(box.dropped for box in self._boxes)
