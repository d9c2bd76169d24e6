"""The totals of a run: its agent, times, end and numbers; counted event by event, keeping no texts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from stenograph.fold.calls import CallPairs, PairState
from stenograph.fold.span import SpanCounter
from stenograph.fold.status import Life, RunStatus, Verdict
from stenograph.fold.totals import TotalsCounter
from stenograph.fold.usage import UsageCounter
from stenograph.model import ErrorPayload, Event, LifecyclePayload, ToolPayload
from stenograph.model.moment import moment_of
from stenograph.transcript.entry import TranscriptEntry
from stenograph.transcript.summary import Tally


class RunTotals:
    """Counts the events of a run and of those that it called, and the run's entries."""

    def __init__(self) -> None:
        self.run_id = ""
        self.parent_run_id: str | None = None
        self.name = ""
        self.agent = ""
        self._has_failed = False
        self.error: dict[str, Any] | None = None
        """The error of the run, when it failed; else the last reported one."""
        self.session_ids: dict[str, None] = {}
        self.called: dict[str, None] = {}
        """The runs that it called."""
        self.events = self.child_events = 0
        self._types: Counter[str] = Counter()
        self._usage = UsageCounter()
        self._status = RunStatus()
        self._totals = TotalsCounter()
        self._times = SpanCounter()
        self._pairs = CallPairs()
        self._uses: list[PairState] = []
        """Every pair, of all runs; its marks are the times and durations of its events."""
        self._entries = Tally()

    def add(self, event: Event) -> None:
        """Take an event of the run itself."""
        self.events += 1
        self._status.add(event)
        self._totals.add(event)
        self._times.add(event)
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
        elif event.type == "error" and isinstance(event.payload, ErrorPayload) and not self._has_failed:
            self.error = {"message": event.payload.message, "code": event.payload.code, "seq": event.seq}
        self._count(event)

    def verdict(self, life: Life) -> Verdict:
        """The status of the run, by its events and by what is known about its process."""
        return self._status.verdict(life)

    def add_child(self, event: Event) -> None:
        """Take an event of a run that it called."""
        self.child_events += 1
        self._count(event)

    def add_entry(self, entry: TranscriptEntry) -> None:
        """Take an entry of the run."""
        self._entries.add(entry)

    @property
    def entries(self) -> int:
        """How many there were."""
        return self._entries.by_type.total()

    @property
    def started_at(self) -> str | None:
        """The earliest time of the events."""
        first = self._times.moments[0]
        return None if first is None else first.isoformat()

    @property
    def ended_at(self) -> str | None:
        """The latest time of the events."""
        last = self._times.moments[1]
        return None if last is None else last.isoformat()

    def metrics(self) -> dict[str, Any]:
        """Tokens, timings and counts, of the run together with those that it called."""
        summary = self._entries.summary()
        first, last = self._times.moments
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
            "tools": _by_tool(self._uses),
            "totals": self._own_totals(),
        }

    def _note_end(self, event: Event, payload: LifecyclePayload) -> None:
        if event.type == "run.started":
            self.name = payload.name or self.name
            return
        self._has_failed = bool(payload.error)
        self.error = {"message": payload.error, "seq": event.seq} if payload.error else self.error

    def _count(self, event: Event) -> None:
        self._types[event.type] += 1
        if event.child_run_id is not None:
            self.called[event.child_run_id] = None
        payload = event.payload
        if isinstance(payload, ToolPayload):
            joined = self._pairs.add(event, (event.told_at, payload.duration_ms))
            if joined is not None and joined.begins:
                self._uses.append(joined.pair)
        elif event.type == "token.usage":
            self._usage.add(event)

    def _own_totals(self) -> dict[str, Any]:
        """The totals of the run itself, without the runs that it called."""
        totals: dict[str, Any] = msgspec.to_builtins(self._totals.totals())
        usage: dict[str, Any] = totals.pop("usage")["total"]
        return {**totals, **usage}


def _by_tool(pairs: list[PairState]) -> dict[str, dict[str, Any]]:
    tools: dict[str, dict[str, Any]] = {}
    for pair in pairs:
        counts = pair.counts
        if not counts.calls:
            continue
        tool = tools.setdefault(pair.name, {"calls": 0, "failed": 0, "unanswered": 0, "duration_ms": 0.0})
        tool["calls"] += counts.calls
        tool["failed"] += counts.failed
        tool["unanswered"] += counts.open
        tool["duration_ms"] += _took(pair) or 0.0
    return tools


def _took(pair: PairState) -> float | None:
    if pair.result is None or pair.call is None:
        return None
    ended, reported_ms = pair.result
    return call_duration(pair.call[0], ended, reported_ms)


def call_duration(began: str, ended: str, reported_ms: float | None) -> float | None:
    """The duration of a call in milliseconds: as reported, or from its times; None when neither is known.

    A time is empty where the source gives none.
    """
    if reported_ms is not None:
        return reported_ms
    first, last = moment_of(began), moment_of(ended)
    return None if first is None or last is None else max(0.0, (last - first).total_seconds() * 1000)
