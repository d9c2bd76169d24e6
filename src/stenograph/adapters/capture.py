"""Capture: passes the events of a live agent on, in the same way for every adapter.

Disk first: an event is recorded, then its entries are logged and dispatched, and plain-text transcripts are written
when its unit has ended. These are independent: a failure of one is counted and logged, and affects neither the others
nor the agent.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Iterable
from typing import Any

from stenograph.adapters.following.text_files import TextFiles
from stenograph.adapters.outputs import Outputs
from stenograph.after_fork import reset_after_fork
from stenograph.guard import Guard
from stenograph.journal.recorder import Recorder
from stenograph.logs import TranscriptEmitter
from stenograph.model.event import Event
from stenograph.transcript import Projector, TranscriptSummary


class Capture:
    """Passes events to a recorder, a session and the log, as the caller chose. Never raises."""

    def __init__(
        self, *, prompt_name: str, adapter: str, outputs: Outputs | None = None, parses_raw: bool = True
    ) -> None:
        """With `parses_raw=False`, the entries' detail does not include what is in the raw line."""
        outputs = outputs or Outputs()
        self.prompt_name = prompt_name
        self.adapter = adapter
        self.session_id = outputs.own_session_id
        """The id for events that name no session of the agent: the given one, else the `Session`'s own."""
        self._recorder = outputs.recorder
        self._session = outputs.session
        logger = outputs.logger or logging.getLogger(f"stenograph.adapters.{adapter}")
        self._emitter = TranscriptEmitter(
            prompt_name=prompt_name,
            adapter=adapter,
            run_id=outputs.run_id,
            session_id=self.session_id,
            logger=logger if outputs.log else _SILENT,
            emit_raw=outputs.emit_raw,
        )
        self.run_id = self._emitter.run_id
        """What a format's `Context` gets: the run that is recorded, or the id of the evaluation."""
        self.wire = f"wire:{self._emitter.evaluation_id}"
        """The `origin.file` of what came over a connection: its lines are those of this evaluation alone."""
        self._mask = outputs.masking
        self._guard = Guard(f"capture of {prompt_name!r}")
        self._events_guard = Guard(f"capture of {prompt_name!r}")  # may count an event twice; `_lost` counts it once
        self._lost = 0
        self._projector = Projector(parses_raw=parses_raw)
        self._texts: TextFiles | None = None
        if outputs.text_transcripts is not None:
            self._texts = TextFiles(outputs.text_transcripts, self._guard)
            weakref.finalize(self, self._texts.close)  # for a host that never calls `stop`
        self._children: dict[str, Recorder | None] = {}
        self._lock = threading.RLock()  # protects projector, texts and children, and keeps events in order
        reset_after_fork(self)

    @property
    def lost(self) -> int:
        """Events that could not be recorded, logged or dispatched, each counted once; the log says why."""
        return self._lost + self._guard.lost

    @property
    def summary(self) -> TranscriptSummary:
        """The entries so far, in numbers."""
        return self._emitter.summary()

    def start(self, **context: Any) -> None:
        """Log that recording begins."""
        self._emitter.start(**context)

    def continues(self, events: Iterable[Event]) -> None:
        """Skip what the run's journal already has of the agent's files, so that entry ids continue from there."""
        with self._lock:
            for event in events:
                self._projector.skip(event)

    def events(self, events: Iterable[Event]) -> None:
        """Record events in order."""
        guard, emitter = self._events_guard, self._emitter
        with self._lock:
            # If neither a session nor the log takes entries, they are only counted.
            is_read = self._session is not None or emitter.is_enabled
            for event in events:
                before = guard.lost + emitter.lost
                guard.call("an event", self._take, event, is_read)
                self._lost += guard.lost + emitter.lost > before

    def dispatch(self, value: object) -> None:
        """Dispatch one of the session's own events, which are not entries."""
        if self._session is not None:
            self._guard.call("a session event", self._session.dispatch, value)

    def error(self, message: str, **context: Any) -> None:
        """Log as a WARNING what could not be recorded."""
        self._emitter.error(message, **context)

    def note(self, event: str, message: str, **context: Any) -> None:
        """Log as DEBUG what happens to the recording itself."""
        self._emitter.note(event, message, **context)

    def stop(self, **context: Any) -> TranscriptSummary:
        """Log that recording ended, with the summary and what was lost; close the child runs."""
        with self._lock:
            for child in self._children.values():
                if child is not None:
                    self._guard.attempt("the end of a child run", child.close)
            self._children.clear()
            if self._texts is not None:
                self._texts.close()
        lost = {"lost": self.lost} if self.lost else {}
        return self._emitter.stop(**lost, **context)

    def _after_fork(self) -> None:
        self._lock = threading.RLock()

    def _take(self, event: Event, is_read: bool) -> None:
        guard = self._events_guard
        stored = None
        if self._recorder is not None:
            stored = guard.call("an event", self._record, event)
            guard.lost += stored is None
        if stored is None and self._mask is not None:
            stored = self._mask(event)  # what could not be recorded still goes to the other outputs, masked
        event = stored or event
        if self._texts is not None:
            self._texts.add(event)
        if not is_read:
            self._emitter.pass_over(event, self._projector)
            return
        for entry in self._projector.feed(event):
            self._emitter.emit_entry(entry)
            if self._session is not None:
                guard.call("an entry", self._session.dispatch, entry)

    def _record(self, event: Event) -> Event | None:
        """The event as it was recorded; None if it was not, for which the recorder has logged the reason."""
        recorder = self._recorder
        assert recorder is not None
        if event.run_id == self.run_id:
            return recorder.append(event)
        if event.run_id not in self._children:
            self._children[event.run_id] = None  # a failure is reported once, not for every event
            parent = recorder if isinstance(recorder, Recorder) else recorder.run.recorder
            if parent is not None:
                self._children[event.run_id] = parent.child(event.run_id, event.parent_run_id)
        child = self._children[event.run_id]
        return None if child is None else child.append(event)


_SILENT = logging.Logger("stenograph.silent", logging.CRITICAL + 1)
"""Used when logging is off: never enabled, and not in the tree of loggers."""
