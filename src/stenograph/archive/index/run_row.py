"""A run while events are added to it: its row in the index, its sources, and the chunk that is being filled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.keep.walk import JOURNALS
from stenograph.archive.keep.witness import agent_of, agent_of_adapter
from stenograph.archive.store.pack import About
from stenograph.fold.agent_tables import tables_of
from stenograph.fold.messages import MessageCounter, MessageKey
from stenograph.fold.status import RunStatus
from stenograph.fold.units import begins_unit
from stenograph.model.block import TextBlock
from stenograph.model.event import Event
from stenograph.model.payload import LifecyclePayload, MessagePayload, SystemPayload, UsagePayload

PROMPT_LENGTH = 500
_REMEMBERED = 16
"""The number of runs whose messages are remembered from batch to batch."""
_COLUMNS = [
    "parent_run_id",
    "forked_from",
    "agent",
    "format",
    "cwd",
    "project",
    "agent_version",
    "name",
    "first_prompt",
    "model",
    "started_at",
    "ended_at",
    "started_ms",
    "ended_ms",
    "status",
    "events",
    "turns",
    "tools",
    "errors",
    "has_calls",
    "has_turns",
    "last_seq",
    "last_id",
    "evidence",
    "branch",
    "revision",
    "messages",
    "failed_calls",
    "open_calls",
    "status_reason",
]
_RUN = f"""
    INSERT INTO runs (id, run_id, {", ".join(_COLUMNS)}) VALUES ({", ".join("?" * (len(_COLUMNS) + 2))})
    ON CONFLICT (id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS)}
"""
_MESSAGES = """
    SELECT DISTINCT source, type, message_id FROM events
    WHERE run = ? AND type IN ('message.user', 'message.assistant') AND message_id <> '' AND subtype IS NULL
"""
_SOURCE = """
    INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET events = events + excluded.events, last_seq = excluded.last_seq,
      parent_source = coalesce(parent_source, excluded.parent_source),
      parent_call_id = coalesce(parent_call_id, excluded.parent_call_id)
"""


@dataclass(slots=True)
class SourceRow:
    """A source of a run, by the events of this batch."""

    first_seq: int
    last_seq: int = 0
    events: int = 0
    parent_source: str | None = None
    parent_call_id: str | None = None


@dataclass(slots=True)
class RunRow:
    """One run. The fields are the columns of `runs`."""

    id: int
    run_id: str
    format: str
    agent: str
    is_new: bool = True
    """Nothing of it was indexed before this batch."""
    parent_run_id: str | None = None
    forked_from: str | None = None
    cwd: str | None = None
    project: str | None = None
    agent_version: str | None = None
    name: str | None = None
    first_prompt: str | None = None
    model: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    started_ms: int | None = None
    ended_ms: int | None = None
    status: str = "unknown"
    events: int = 0
    turns: int = 0
    tools: int = 0
    errors: int = 0
    has_calls: int = 0
    has_turns: int = 0
    last_seq: int = 0
    last_id: int = 0
    evidence: str = "{}"
    branch: str | None = None
    revision: int = 0
    """How often it was renumbered."""
    messages: int = 0
    failed_calls: int = 0
    open_calls: int = 0
    status_reason: str = ""
    proof: RunStatus = field(default_factory=RunStatus)
    said: MessageCounter = field(default_factory=MessageCounter)
    sources: dict[str, SourceRow] = field(default_factory=dict)
    lines: list[bytes] = field(default_factory=list)
    """The lines of the chunk that is being filled."""
    size: int = 0
    chunk: int = 0
    chunk_first: int = 0
    has_usage: bool = False
    """This batch reported tokens."""

    def take_about(self, about: About, *, takes_over: bool = False) -> None:
        """Take over what is kept of a main file; with `takes_over`, its facts replace those that are known."""
        self.cwd = (about.cwd or self.cwd) if takes_over else (self.cwd or about.cwd)
        if about.format == self.format:
            self.agent_version = about.agent_version or self.agent_version
        else:
            self.agent_version = self.agent_version or about.agent_version
        self.branch = (about.branch or self.branch) if takes_over else (self.branch or about.branch)
        self.model = self.model or about.model
        self.agent = about.agent or self.agent
        if self.cwd:
            self.project = self.cwd.replace("\\", "/").rstrip("/").rpartition("/")[2] or self.cwd

    def emptied(self) -> RunRow:
        """The run without its events, to be filled again: only the facts of its files stay."""
        return RunRow(
            self.id,
            self.run_id,
            self.format,
            self.agent,
            cwd=self.cwd,
            project=self.project,
            agent_version=self.agent_version,
            branch=self.branch,
            revision=self.revision + 1,
        )

    def add(self, event: Event, ms: int | None) -> None:
        """Count one event, which has its number in the run."""
        self.events += 1
        self.last_seq = event.seq
        self.parent_run_id = self.parent_run_id or event.parent_run_id
        if self.format == JOURNALS and event.origin is not None and self.agent == agent_of(JOURNALS):
            self.agent = agent_of_adapter(event.origin.adapter) or self.agent
        self._count_source(event)
        if ms is not None and event.told_at:
            if self.started_ms is None or ms < self.started_ms:
                self.started_ms, self.started_at = ms, event.timestamp
            if self.ended_ms is None or ms >= self.ended_ms:
                self.ended_ms, self.ended_at = ms, event.timestamp
        self.proof.add(event)
        self.turns += begins_unit(event)
        self.messages += self.said.is_new(event)
        payload = event.payload
        if isinstance(payload, MessagePayload):
            self._message(event, payload)
        elif isinstance(payload, UsagePayload):
            self.model = self.model or payload.model
        elif isinstance(payload, LifecyclePayload) and event.type == "run.started":
            self.name = payload.name
        elif isinstance(payload, SystemPayload) and self.forked_from is None:
            self.forked_from = _fork_of(event, payload)

    def _count_source(self, event: Event) -> None:
        source = event.source
        row = self.sources.get(source)
        if row is None:
            row = self.sources[source] = SourceRow(event.seq)
        row.events += 1
        row.last_seq = event.seq
        if event.origin is not None:
            row.parent_source = row.parent_source or event.origin.parent_source
            row.parent_call_id = row.parent_call_id or event.origin.parent_call_id

    def _message(self, event: Event, payload: MessagePayload) -> None:
        if event.source != "main":
            return
        if event.type == "message.assistant":
            self.model = payload.real_model or self.model
            return
        if self.first_prompt is None:
            texts = [block.text for block in payload.said if isinstance(block, TextBlock)]
            self.first_prompt = "\n".join(texts)[:PROMPT_LENGTH] or None

    def write(self, index: IndexWriter) -> None:
        """Write the row of the run, and those of its sources."""
        self.status, self.status_reason = msgspec.structs.astuple(self.proof.verdict())
        self.evidence = msgspec.json.encode(self.proof).decode()
        values: list[Any] = [getattr(self, name) for name in _COLUMNS]
        index.add(_RUN, (self.id, self.run_id, *values))
        for name, each in self.sources.items():
            values = [each.parent_source, each.parent_call_id, each.events, each.first_seq, each.last_seq]
            index.add(_SOURCE, (self.id, name, *values))


class Runs:
    """The runs of the index."""

    def __init__(self, index: IndexWriter) -> None:
        self._index = index
        self._known: set[str] | None = None
        self._rows: dict[str, RunRow] = {}
        self._last = 0

    def load(self, run_id: str, format: str, agent: str) -> RunRow:
        """The run with that id from the index; a new one of that format where there is none."""
        if self._known is None:
            self._known = {known for (known,) in self._index.written("SELECT run_id FROM runs")}
            self._last = self._index.written("SELECT coalesce(max(id), 0) FROM runs")[0][0]
        if run_id not in self._known:
            self._known.add(run_id)
            self._last += 1
            return self._latest(RunRow(self._last, run_id, format, agent))
        query = f"SELECT id, copied_errors, {', '.join(_COLUMNS)} FROM runs WHERE run_id = ?"
        row = self._index.execute(query, (run_id,)).fetchone()
        values = dict(zip(_COLUMNS, row[2:], strict=True))
        values["errors"] += row[1]  # while events are added, all count; `sum_calls` subtracts the copied ones
        proof = msgspec.json.decode(values["evidence"], type=RunStatus)
        said = MessageCounter(self._keys(row[0], run_id, values["last_seq"]))
        return self._latest(RunRow(id=row[0], run_id=run_id, is_new=False, proof=proof, said=said, **values))

    def _latest(self, row: RunRow) -> RunRow:
        """Remember a run: most batches continue the run of the batch before."""
        self._rows.pop(row.run_id, None)
        self._rows[row.run_id] = row
        if len(self._rows) > _REMEMBERED:
            del self._rows[next(iter(self._rows))]
        return row

    def _keys(self, run: int, run_id: str, last_seq: int) -> set[MessageKey]:
        """The messages with an id that the index has of a run; from memory, when nothing came between."""
        before = self._rows.get(run_id)
        if before is not None and (before.id, before.last_seq) == (run, last_seq):
            return before.said.keys
        rows = self._index.execute(_MESSAGES, (run,))
        return {(run_id, source, kind, message_id) for source, kind, message_id in rows}


def _fork_of(event: Event, payload: SystemPayload) -> str | None:
    """The run whose history this one continues, where the agent's format says so."""
    fork = tables_of(None if event.origin is None else event.origin.adapter).fork
    if fork is None or payload.subtype != fork[0] or not isinstance(payload.data, dict):
        return None
    origin = payload.data.get(fork[1])
    return origin if isinstance(origin, str) else None
