"""TranscriptEmitter: transcript entries as DEBUG records with `event="transcript.entry"`.

The entries of each source are numbered from 1. One lock covers numbering and logging, so a handler gets them in order.
An entry whose handler fails keeps its number: a gap in the numbers shows where an entry was lost.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from stenograph.after_fork import reset_after_fork
from stenograph.errors import InvalidEvent
from stenograph.guard import Guard
from stenograph.jsonable import jsonable
from stenograph.model import ids
from stenograph.model.event import Event
from stenograph.model.moment import moment_of
from stenograph.transcript.entry import ROLES, Role, TranscriptEntry
from stenograph.transcript.project import Projector
from stenograph.transcript.summary import Tally, TranscriptSummary

ENTRY = "transcript.entry"
START = "transcript.start"
STOP = "transcript.stop"
ERROR = "transcript.error"


class TranscriptEmitter:
    """Logs the entries of one evaluation. Safe from any number of threads. Its methods never raise."""

    def __init__(
        self,
        *,
        prompt_name: str,
        adapter: str,
        session_id: str | None = None,
        logger: logging.Logger | None = None,
        emit_raw: bool = True,
        run_id: str | None = None,
    ) -> None:
        """`run_id` is the run in which the entries are recorded; without one, it is the evaluation's id.

        Raises `InvalidEvent` for a logger of another library: it would refuse every record.
        """
        if logger is not None and not isinstance(logger, logging.Logger | logging.LoggerAdapter):
            raise InvalidEvent(f"{logger!r:.80} is not a logging.Logger; give one of the standard library")
        self.prompt_name = prompt_name
        self.adapter = adapter
        self.session_id = session_id
        self.emit_raw = emit_raw
        self.evaluation_id = str(uuid4())
        """Distinguishes the entries of this emitter from those of others that log for the same run."""
        self.run_id = run_id or self.evaluation_id
        self._logger = logger or logging.getLogger(__name__)
        self._guard = Guard(f"transcript of {prompt_name!r}")
        self._lock = threading.RLock()  # protects all that follows, and keeps records in their order
        self._latest = datetime.min.replace(tzinfo=UTC)
        self._numbers: dict[str, int] = {}
        self._tally = Tally()
        reset_after_fork(self)

    @property
    def is_enabled(self) -> bool:
        """Whether the logger is enabled for DEBUG records now."""
        return self._logger.isEnabledFor(logging.DEBUG)

    @property
    def lost(self) -> int:
        """Entries that could not be logged; the log of `stenograph.guard` says why."""
        return self._guard.lost

    def summary(self) -> TranscriptSummary:
        """The summary so far."""
        with self._lock:
            return self._tally.summary()

    def emit(
        self,
        entry_type: str,
        *,
        source: str = "main",
        detail: dict[str, Any] | None = None,
        raw: str | None = None,
        timestamp: str | datetime | None = None,
        session_id: str | None = None,
        role: Role | None = None,
        content: str = "",
        tool_name: str | None = None,
        tool_call_id: str | None = None,
        tool_input: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        entry_id: UUID | None = None,
    ) -> None:
        """Log one entry, at the current time unless `timestamp` is given.

        A type that is not an entry type (`ROLES`) becomes `unknown`, with the given one as `detail.subtype`.
        """

        def build(number: int) -> TranscriptEntry:
            known = isinstance(entry_type, str) and entry_type in ROLES
            moment, text = self._now() if timestamp is None else _moment(timestamp)
            return TranscriptEntry(
                prompt_name=self.prompt_name,
                adapter=self.adapter,
                entry_type=entry_type if known else "unknown",
                sequence_number=number,
                source=source,
                timestamp=moment,
                session_id=session_id or self.session_id,
                detail=jsonable(detail or {}) if known else {"subtype": str(entry_type), **jsonable(detail or {})},
                raw=raw,
                role=role,  # type: ignore[arg-type]  # None means: by entry type
                content=content,
                tool_name=tool_name,
                tool_call_id=tool_call_id,
                tool_input=jsonable(tool_input),
                metadata=jsonable(metadata),
                timestamp_text=text,
                run_id=self.run_id,
                entry_id=entry_id or ids.entry_id(self.evaluation_id, source, f"#{number}"),
            )

        self._guard.call("a log entry", self._emit_built, source, build)

    def emit_entry(self, entry: TranscriptEntry) -> None:
        """Log an existing entry; its number becomes the next one of its source."""
        self._guard.call("a log entry", self._emit, entry)

    def pass_over(self, event: Event, projector: Projector) -> None:
        """Count an event's entries without making or logging them: for a logger that ignores DEBUG records."""
        with self._lock:
            count = projector.pass_over(event, self._tally)
            self._numbers[event.source] = self._numbers.get(event.source, 0) + count

    def start(self, **context: Any) -> None:
        """Log `transcript.start`."""
        self._note(logging.DEBUG, START, "transcript started", context)

    def stop(self, **context: Any) -> TranscriptSummary:
        """Log `transcript.stop` with the summary, which is returned, too."""
        summary = self.summary()
        self._note(logging.DEBUG, STOP, "transcript stopped", {"summary": _plain(summary), **context})
        return summary

    def error(self, message: str, **context: Any) -> None:
        """Log `transcript.error`, a WARNING: something could not be recorded, and the host goes on."""
        self._note(logging.WARNING, ERROR, message, context)

    def note(self, event: str, message: str, **context: Any) -> None:
        """Log any other record about the recording itself, as DEBUG."""
        self._note(logging.DEBUG, event, message, context)

    def _after_fork(self) -> None:
        self._lock = threading.RLock()

    def _emit_built(self, source: str, build: Callable[[int], TranscriptEntry]) -> None:
        with self._lock:
            self._emit(build(self._numbers.get(source, 0) + 1))

    def _now(self) -> tuple[datetime, str]:
        """The current time and its text; never earlier than the last one, also when the clock was set back."""
        self._latest = max(self._latest, datetime.now(UTC))
        return self._latest, self._latest.isoformat(timespec="milliseconds")

    def _emit(self, entry: TranscriptEntry) -> None:
        with self._lock:
            number = self._numbers[entry.source] = self._numbers.get(entry.source, 0) + 1
            if entry.sequence_number != number:
                entry = replace(entry, sequence_number=number)
            self._tally.add(entry)
            if not self.is_enabled:
                return
            context = entry.as_dict()
            context.setdefault("run_id", self.run_id)
            if context["run_id"] != self.evaluation_id:
                context["evaluation_id"] = self.evaluation_id
            if not self.emit_raw:
                context.pop("raw", None)
            self._log(logging.DEBUG, ENTRY, f"transcript entry: {entry.entry_type}", context)

    def _note(self, level: int, event: str, message: str, context: dict[str, Any]) -> None:
        envelope: dict[str, Any] = {"prompt_name": self.prompt_name, "adapter": self.adapter, "run_id": self.run_id}
        if self.run_id != self.evaluation_id:
            envelope["evaluation_id"] = self.evaluation_id
        if self.session_id is not None:
            envelope["session_id"] = self.session_id
        self._guard.attempt(f"the log record {event}", self._log, level, event, message, jsonable(envelope | context))

    def _log(self, level: int, event: str, message: str, context: dict[str, Any]) -> None:
        self._logger.log(level, "%s", message, extra={"event": event, "context": context})


def _moment(timestamp: str | datetime) -> tuple[datetime, str | None]:
    """A moment, and its text in the source."""
    if isinstance(timestamp, str):
        return moment_of(timestamp) or datetime.now(UTC), timestamp
    return timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC), None


def _plain(summary: TranscriptSummary) -> dict[str, Any]:
    times = {
        name: moment.isoformat()
        for name in ("first_timestamp", "last_timestamp")
        if (moment := getattr(summary, name)) is not None
    }
    return asdict(summary) | {"sources": list(summary.sources), "first_timestamp": None, "last_timestamp": None} | times
