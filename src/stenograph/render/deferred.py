"""Parts of a page that are filled over time, and the anchors of a page."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from msgspec import Struct

from stenograph.model.event import Event


class DeferredText:
    """A part of a page that is filled over time."""

    __slots__ = ("holds_flows", "is_closed", "parts")

    def __init__(self, *, holds_flows: bool = False) -> None:
        self.parts: deque[str | DeferredText] = deque()
        self.is_closed = False
        self.holds_flows = holds_flows
        """Whether it belongs to a source, or holds one."""

    def drain(self) -> Iterator[str]:
        """The text that is no longer behind anything open."""
        parts = self.parts
        while parts:
            first = parts[0]
            if isinstance(first, str):
                yield parts.popleft()  # type: ignore[misc]  # the first is that string
                continue
            yield from first.drain()
            if not first.is_closed:
                return
            parts.popleft()

    def close(self) -> None:
        """Close it and everything inside: nothing more will come."""
        self.is_closed = True
        for part in self.parts:
            if isinstance(part, DeferredText):
                part.close()


class Anchors:
    """The permalink of each event: `seq-41`; in further runs of the same page `run-2-seq-41`."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}

    def of(self, event: Event) -> str:
        """The anchor; empty for an event without a number of its own."""
        run = self._runs.get(event.run_id)
        if run is None:
            run = self._runs[event.run_id] = _Run(f"run-{len(self._runs) + 1}-" if self._runs else "")
        if event.seq <= run.last:
            return ""
        run.last = event.seq
        return f"{run.prefix}seq-{event.seq}"


class _Run(Struct):
    prefix: str
    last: int = 0
