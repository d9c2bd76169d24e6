"""Group commit: one sync to disk for all threads that wait."""

from __future__ import annotations

import threading
from collections import deque

from stenograph.errors import StoreError
from stenograph.journal.fanout import FanOut
from stenograph.journal.file import JournalFile
from stenograph.model.event import Event

_LOOK_AGAIN = 1.0
"""Seconds after which a waiting thread looks again: the thread that was to wake it may have been interrupted."""


class GroupCommit:
    """One fdatasync for all threads that wait: a thread that finds the disk free syncs for all events before it.

    Events are published after the sync that made them durable, by the thread that synced, so in file order. They stay
    pending until then, so that a thread that is interrupted leaves them to the next one.
    """

    def __init__(self, file: JournalFile, fan_out: FanOut) -> None:
        self._file = file
        self._fan_out = fan_out
        self._lock = threading.RLock()  # protects the turn
        self._syncer: int | None = None
        """The thread whose turn it is."""
        self._turn = threading.Lock()
        """Held while a thread has its turn; a new one for each turn."""
        self._synced = 0
        self._failure: StoreError | None = None
        self._pending: deque[tuple[Event, int]] = deque()  # protected by the recorder's lock
        file.sync_folder()

    @property
    def end(self) -> int:
        """The offset up to which events are published or pending; read with the recorder's lock held."""
        return self._pending[-1][1] if self._pending else self._fan_out.end

    def check(self) -> None:
        """Raise when a sync has failed: the system may have dropped pages, so no later sync can be trusted."""
        if self._failure is not None:
            raise StoreError(f"{self._failure}; open the run again to go on", self._failure.path) from self._failure

    def enqueue(self, event: Event, end: int) -> None:
        """Queue an event to be published, once; call with the recorder's lock held."""
        if not self._pending or self._pending[-1][0].seq < event.seq:
            self._pending.append((event, end))

    def wait(self, seq: int) -> None:
        """Return when the event with that number is on disk and published."""
        me = threading.get_ident()
        while True:
            try:
                if not self._take_turn(seq, me):
                    return
                self._sync(seq)
            finally:  # nothing is called before the turn is over, so no signal handler can come before that
                if self._syncer == me:
                    self._syncer = None
                    self._turn.release()

    def _sync(self, seq: int) -> None:
        with self._fan_out.lock:
            newest = self._pending[-1][0].seq if self._pending else seq
        try:
            self._file.sync()
        except StoreError as error:
            self._failure = self._failure or error
            return
        self._publish_up_to(newest)
        if newest > self._synced:
            self._synced = newest

    def _publish_up_to(self, seq: int) -> None:
        with self._fan_out.lock:
            pending = self._pending
            while pending and pending[0][0].seq <= seq:
                first = pending[0]
                self._fan_out.publish_again(*first)
                if pending and pending[0] is first:
                    pending.popleft()

    def _take_turn(self, seq: int, me: int) -> bool:
        """Wait for this thread's turn; False when another thread's sync covered the event.

        It is also the turn of a signal handler or finalizer that records while its own thread syncs.
        """
        while True:
            with self._lock:
                if self._synced >= seq:
                    return False
                self.check()
                if self._syncer == me:
                    return True
                if self._syncer is None:
                    self._turn = threading.Lock()
                    self._turn.acquire()
                    self._syncer = me
                    return True
                turn = self._turn
            if turn.acquire(timeout=_LOOK_AGAIN):
                turn.release()  # for the next thread that waits
