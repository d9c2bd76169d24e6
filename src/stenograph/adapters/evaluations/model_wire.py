"""ModelWire: requests to a model API and their answers, recorded through the format of that API.

A request is recorded before it is sent, an answer when it is whole. The format knows what a request repeats, so only
what is new becomes an event.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from stenograph.adapters.capture import Capture
from stenograph.after_fork import reset_after_fork
from stenograph.clock import utc_now
from stenograph.formats.base import Context
from stenograph.formats.registry import formats
from stenograph.guard import Guard
from stenograph.journal.tool_call import error_text
from stenograph.jsonable import jsonable
from stenograph.model import mend
from stenograph.model.codec import REFUSALS
from stenograph.model.event import Event

Alter = Callable[[Event], Event | None]
"""Changes an event before it is recorded; None leaves it out."""
_encode = msgspec.json.Encoder().encode


class ModelWire:
    """The calls of one host to one model API, in order. Never raises."""

    def __init__(
        self, capture: Capture, format_name: str, *, keep_raw: bool = False, alter: Alter | None = None
    ) -> None:
        """With `keep_raw` each record is kept, as a line that the format reads again."""
        self.capture = capture
        self._alter = alter
        self._keep_raw = keep_raw
        self._guard = Guard(f"calls of {capture.adapter}")
        self._is_stopped = False
        self._lock = threading.RLock()  # protects the format, and keeps what it gives in the order of its records
        reset_after_fork(self)
        self._format = formats()[format_name].open(
            Context(
                run_id=capture.run_id,
                adapter=capture.adapter,
                session_id=capture.session_id,
                prompt_name=capture.prompt_name or None,
                file=capture.wire,
                at=utc_now(),
                keep_raw=keep_raw,
            )
        )

    @property
    def lost(self) -> int:
        """Records and events that could not be recorded; the log says why."""
        return self._guard.lost + self.capture.lost

    def stop(self) -> None:
        """Log the end once, even if a host closes several connections."""
        with self._lock:
            is_first, self._is_stopped = not self._is_stopped, True
        if is_first:
            self.capture.stop()

    def _after_fork(self) -> None:
        self._lock = threading.RLock()

    def asked(self, path: str, body: Any, call: str | None = None) -> list[Event]:
        """A request is about to be sent; `call` identifies its answer among those of calls at the same time."""
        return self.take({"kind": "request", "path": path, "timestamp": utc_now(), "call": call, "body": body})

    def answered(self, path: str, body: Any, *, status: int | None = None, call: str | None = None) -> list[Event]:
        """An answer came: an object, a list of chunks, or the text of a stream; with a bad status, its body."""
        kind = "response_sse" if isinstance(body, list) else "response"
        payload = {"events": body} if isinstance(body, list) else {"body": body}
        return self.take({"kind": kind, "path": path, "timestamp": utc_now(), "call": call, "code": status, **payload})

    def failed(self, path: str, error: BaseException, *, call: str | None = None) -> list[Event]:
        """An exception came instead of an answer; an SDK's exception holds what the service sent."""
        status, body = getattr(error, "status_code", None), getattr(error, "body", None)
        said = body if isinstance(body, dict) and body else {"message": error_text(error), "type": type(error).__name__}
        return self.answered(path, {"error": said}, status=status if isinstance(status, int) else None, call=call)

    def take(self, record: dict[str, Any]) -> list[Event]:
        """Record the events of one record that the format knows."""
        return self._guard.call("a model call", self._take, record) or []

    def add(self, events: Iterable[Event]) -> None:
        """Record the host's own events among those of the wire."""
        with self._lock:
            self.capture.events(events)

    def _take(self, record: dict[str, Any]) -> list[Event]:
        with self._lock:
            if self._keep_raw:
                events = self._format.feed(_encode(mend.scrub(jsonable(record))[0]) + b"\n")
            else:
                events = self._format.feed_object(record)
            if self._alter is not None:
                events = [altered for event in events if (altered := self._alter(event)) is not None]
            self.capture.events(events)
            return events


def decoded(data: bytes) -> Any:
    """The JSON of a body, even if it is malformed; else its text."""
    try:
        return msgspec.json.decode(data)
    except REFUSALS:
        pass
    try:
        return mend.parse_json(data)[0]
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def plain(value: Any) -> Any:
    """An object of an SDK, or a list of them, as it came over the wire: without fields that were not set."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(mode="json", exclude_unset=True)
