"""Deliveries: what LiteLLM's callbacks deliver, put back into the order of the calls.

Theory of operation. LiteLLM calls back twice in the caller's thread, before a call and when the service has answered,
and delivers the whole call later from another thread. So a call that used the answer of another one may be delivered
first. A delivery is held back while an earlier call that was answered is not delivered yet: only such a call can be
the one it builds on. A stream is answered before it is over, and an abandoned one is never delivered, so streams are
not waited for. Nothing is held for more than a moment.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from stenograph.after_fork import reset_after_fork
from stenograph.formats.shared.model_api.recent import Recent

HOLD = 1.0
"""Seconds that a call may be held back."""


class _Delivered(Struct, frozen=True):
    """A call that was delivered and is held back."""

    number: int
    """Its place among the calls, by their beginning."""
    log: dict[str, Any]


class Deliveries:
    """Calls by their ids; `emit` gets each once, in order. Thread-safe."""

    def __init__(self, emit: Callable[[dict[str, Any]], None]) -> None:
        self._emit = emit
        self._lock = threading.RLock()  # protects everything below, and keeps the order of what is emitted
        self._changed = threading.Condition(self._lock)
        self._count = 0
        self._open: dict[str, int] = {}
        """Calls that began and were not delivered, with their numbers."""
        self._answered: set[str] = set()
        self._held: list[_Delivered] = []
        self._known: Recent[str, bool] = Recent()
        self._timer: threading.Timer | None = None
        reset_after_fork(self)

    def began(self, call_id: str) -> None:
        """A call is about to be made; LiteLLM may say so again when it retries."""
        with self._lock:
            if call_id not in self._open and not self._known.get(call_id):
                self._count += 1
                self._open[call_id] = self._count

    def answered(self, call_id: str) -> None:
        """The service has answered, and the call will be delivered."""
        with self._lock:
            if call_id in self._open:
                self._answered.add(call_id)

    def delivered(self, call_id: str, log: dict[str, Any]) -> None:
        """A whole call was delivered; a second delivery is ignored."""
        with self._lock:
            if call_id and self._known.get(call_id):
                return
            self._known.put(call_id, True)
            self._count += 1
            self._held.append(_Delivered(self._open.pop(call_id, self._count), log))
            self._answered.discard(call_id)
            self._release()
            self._changed.notify_all()

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        for calls in (self._open, self._answered, self._held):
            calls.clear()  # they belong to the parent, and so does the timer
        self._timer = None

    @property
    def are_open(self) -> bool:
        """Whether a call began that was not delivered."""
        return bool(self._open)

    def wait(self, timeout: float) -> None:
        """Wait until every call that began is delivered, at most `timeout` seconds."""
        with self._lock:
            self._changed.wait_for(lambda: not self._open, timeout)

    def close(self) -> int:
        """Emit what was held back, and give up on the rest; returns how many calls were not delivered."""
        with self._lock:
            missing = len(self._open)
            self._open.clear()
            self._answered.clear()
            self._release()
            return missing

    def _release(self) -> None:
        """Emit what does not wait for an earlier call."""
        self._held.sort(key=lambda held: held.number)
        first = min((self._open[call] for call in self._answered), default=None)
        while self._held and (first is None or self._held[0].number < first):
            self._emit(self._held.pop(0).log)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held:
            self._timer = threading.Timer(HOLD, self._give_up)
            self._timer.daemon = True
            self._timer.start()

    def _give_up(self) -> None:
        """Emit what was held back for long enough, whatever it waited for."""
        with self._lock:
            self._answered.clear()
            self._release()
