"""What a run came to: who, when, how it ended, and its numbers; counted event by event, keeping no texts."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph.fold.calls import CallPair, pair_calls
from stenograph.fold.usage import UsageCounter
from stenograph.model import ErrorPayload, Event, LifecyclePayload, ToolPayload
from stenograph.model.moment import moment_of
from stenograph.transcript.record import EntryRecord
from stenograph.transcript.summary import Tally


class Account:
    """Takes the events of a run, of those that it called, and the run's entries into account."""

    def __init__(self) -> None:
        self.run_id = ""
        self.parent_run_id: str | None = None
        self.name = ""
        self.agent = ""
        self.status = "unknown"
        self.error: dict[str, Any] | None = None
        """The error of the run, when it failed; else the last one that was told."""
        self.session_ids: dict[str, None] = {}
        self.called: dict[str, None] = {}
        """The runs that it called."""
        self.events = self.child_events = 0
        self._types: Counter[str] = Counter()
        self._usage = UsageCounter()
        self._tools: list[Event] = []
        self._entries = Tally()

    def add(self, event: Event) -> None:
        """Take an event of the run itself."""
        self.events += 1
        if self.events == 1:
            self.run_id = event.run_id
        self.parent_run_id = self.parent_run_id or event.parent_run_id
        origin = event.origin
        if origin is not None:
            self.agent = self.agent or origin.adapter or ""
            self.name = self.name or origin.prompt_name or ""
            if origin.session_id:
                self.session_ids[origin.session_id] = None
        if event.type in ("run.started", "run.completed") and isinstance(event.payload, LifecyclePayload):
            self._note_end(event, event.payload)
        elif event.type == "error" and isinstance(event.payload, ErrorPayload) and self.status != "failed":
            self.error = {"message": event.payload.message, "code": event.payload.code, "seq": event.seq}
        self._count(event)

    def add_child(self, event: Event) -> None:
        """Take an event of a run that it called."""
        self.child_events += 1
        self._count(event)

    def add_entry(self, entry: EntryRecord, moment: datetime) -> None:
        """Take an entry of the run."""
        self._entries.count(entry.entry_type, entry.source, moment, entry.adapter, entry.prompt_name)

    @property
    def entries(self) -> int:
        """How many there were."""
        return self._entries.by_type.total()

    @property
    def started_at(self) -> str | None:
        """The earliest time that was told."""
        first = self._entries.summary().first_timestamp
        return None if first is None else first.isoformat()

    @property
    def ended_at(self) -> str | None:
        """The latest time that was told."""
        last = self._entries.summary().last_timestamp
        return None if last is None else last.isoformat()

    def metrics(self) -> dict[str, Any]:
        """Tokens, timings and counts, of the run with those that it called."""
        summary = self._entries.summary()
        first, last = summary.first_timestamp, summary.last_timestamp
        return {
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "duration_seconds": None if first is None or last is None else (last - first).total_seconds(),
            "events": self.events,
            "child_events": self.child_events,
            "events_by_type": dict(self._types),
            "entries": summary.total_entries,
            "entries_by_type": summary.entries_by_type,
            "entries_by_source": summary.entries_by_source,
            "tokens": msgspec.to_builtins(self._usage.totals()),
            "tools": _by_tool(pair_calls(self._tools)),
        }

    def _note_end(self, event: Event, payload: LifecyclePayload) -> None:
        if event.type == "run.started":
            self.name = payload.name or self.name
            self.status = "running"
            return
        self.status = "failed" if payload.error else "completed"
        self.error = {"message": payload.error, "seq": event.seq} if payload.error else self.error

    def _count(self, event: Event) -> None:
        self._types[event.type] += 1
        if event.child_run_id is not None:
            self.called[event.child_run_id] = None
        payload = event.payload
        if isinstance(payload, ToolPayload):
            self._tools.append(_slim(event, payload))
        elif event.type == "token.usage":
            self._usage.add(event)


def _slim(event: Event, payload: ToolPayload) -> Event:
    """A tool event without what was said: enough to pair it."""
    return replace(event, payload=replace(payload, input=None, output=None, blocks=None), raw=None, raw_b64=None)


def _by_tool(pairs: list[CallPair]) -> dict[str, dict[str, Any]]:
    tools: dict[str, dict[str, Any]] = {}
    for pair in pairs:
        tool = tools.setdefault(pair.name, {"calls": 0, "failed": 0, "unanswered": 0, "duration_ms": 0.0})
        tool["calls"] += 1
        tool["failed"] += pair.error is not None
        tool["unanswered"] += pair.result is None
        tool["duration_ms"] += duration_of(pair) or 0.0
    return tools


def duration_of(pair: CallPair) -> float | None:
    """Milliseconds that a call took: as told, or from its times; None when neither says."""
    told = None if pair.result is None else pair.result.payload.duration_ms
    if told is not None or pair.call is None or pair.result is None:
        return told
    began, ended = moment_of(pair.call.timestamp), moment_of(pair.result.timestamp)
    return None if began is None or ended is None else max(0.0, (ended - began).total_seconds() * 1000)
