"""A span processor that keeps what agents do: `provider.add_span_processor(StenographSpanProcessor())`.

It works like `steno receive` without HTTP: the same routing, the same files in the archive, which the next sync (or
`steno watch` or `steno serve`) keeps and indexes. The host never waits for the disk: a thread writes.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from typing import Any

from stenograph.adapters.opentelemetry.span import item_of, request_of
from stenograph.archive.received.run_files import RunFiles
from stenograph.archive.store.home import home_of
from stenograph.formats.otlp.routing import Routed, Routing

MOST_WAITING = 20_000
"""How many spans may wait to be written; further ones are dropped and counted."""
_QUIET = 1.0
_TOGETHER = 512
_EXPIRED = 600.0
log = logging.getLogger("stenograph.adapters.opentelemetry")


class StenographSpanProcessor:
    """Keeps the spans of agents in the archive. It has the methods of OpenTelemetry's `SpanProcessor`."""

    def __init__(self, archive: str | os.PathLike[str] | None = None) -> None:
        """`archive` is the archive's folder: by default `$STENOGRAPH_HOME` or the user's data folder.

        Raises `StoreError` if it cannot be written.
        """
        home = home_of(archive)
        home.make()
        self.dropped = 0
        """Spans that were lost, because they came faster than they could be written, or could not be written."""
        self._files = RunFiles(home.path)
        self._routing = Routing()
        self._queue: queue.Queue[Any] = queue.Queue(MOST_WAITING)
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="steno-spans", daemon=True)
        self._thread.start()

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """A span began: nothing is known about it yet."""

    def _on_ending(self, span: Any) -> None:
        """A span is about to end."""

    def on_end(self, span: Any) -> None:
        """A span ended. Returns at once."""
        if self._is_closed:
            return
        try:
            self._queue.put_nowait(span)
        except queue.Full:
            self.dropped += 1

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Whether everything that ended so far was written within that time."""
        done = threading.Event()
        if not self._thread.is_alive():
            return True
        try:
            self._queue.put(done, timeout=timeout_millis / 1000)
        except queue.Full:
            return False
        return done.wait(timeout_millis / 1000)

    def shutdown(self) -> None:
        """Write what is left, and end. Spans that end after this are not kept."""
        if self._is_closed:
            return
        self._is_closed = True
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            spans, waiting, is_open = self._next()
            routed: Routed = {}
            if spans:
                routed = self._taken(spans)
            if waiting or not spans or not is_open:
                _join(routed, self._routing.settle())
                _join(routed, self._routing.expire(time.monotonic() - _EXPIRED))
            self._write(routed, len(spans))
            for done in waiting:
                done.set()

    def _next(self) -> tuple[list[Any], list[threading.Event], bool]:
        """The next spans, those who wait for them to be written, and whether more will come."""
        spans: list[Any] = []
        try:
            item = self._queue.get(timeout=_QUIET)
            while item is not None:
                if isinstance(item, threading.Event):
                    return spans, [item], True
                spans.append(item)
                if len(spans) == _TOGETHER:
                    return spans, [], True
                item = self._queue.get_nowait()
        except queue.Empty:
            return spans, [], True
        return spans, [], False

    def _taken(self, spans: list[Any]) -> Routed:
        try:
            return self._routing.take(request_of(spans, item_of), now=time.monotonic())
        except Exception:  # the host's spans are not ours to judge
            self.dropped += len(spans)
            log.warning("spans could not be read, and are not kept", exc_info=True)
            return {}

    def _write(self, routed: Routed, spans: int) -> None:
        try:
            if routed:
                self._files.append(routed)
        except Exception:  # our failures must not reach the host
            self.dropped += spans
            log.warning("spans could not be written, and are not kept", exc_info=True)


def _join(routed: Routed, more: Routed) -> None:
    for key, pieces in more.items():
        routed.setdefault(key, []).extend(pieces)
