"""Events into the index, one batch at a time.

The same events in the same batches give the same rows, ids included: that is what makes an index that was maintained
equal to one that is made again. So nothing here reads a clock, a file or anything that is not in the packs.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import force_setattr

from stenograph.archive.block import BLOCK_BYTES, bare, packed
from stenograph.archive.call_rows import CallRows
from stenograph.archive.event_ids import EventIds
from stenograph.archive.index_writer import IndexWriter
from stenograph.archive.pack import About
from stenograph.archive.run_draft import RunDraft, Runs
from stenograph.archive.tables import MS_PER_ID
from stenograph.archive.usage_rows import UsageRows, sum_tokens
from stenograph.archive.words import event_text
from stenograph.model.event import Event
from stenograph.model.moment import moment_of
from stenograph.model.payload import MessagePayload, SystemPayload, ToolPayload, UsagePayload

_LAST_SEQ = 1 << 53
_ROLES = {"tool.call": "assistant", "tool.result": "tool"}
_AGENTS = {"exchange": "stenograph"}
_EVENT = f"INSERT INTO events VALUES ({', '.join('?' * 15)})"
_BLOCK = "INSERT INTO blocks VALUES (?, ?, ?, ?, ?)"


def agent_of(format: str) -> str:
    """The agent that writes a format: `claude`, `codex`, …; `stenograph` for journals of ours."""
    return _AGENTS.get(format) or format.partition("_")[0]


class Indexer:
    """Adds events to the index."""

    def __init__(self, index: IndexWriter) -> None:
        self._index = index
        self.events: int = index.written("SELECT coalesce(max(value), 0) FROM facts WHERE name = 'events'")[0][0]
        """Events indexed, ever."""
        self._blocks: int = index.written("SELECT coalesce(max(id), 0) FROM blocks")[0][0]
        self._ids = EventIds(index)
        self._runs = Runs(index)

    def index(self, events: Iterable[Event], abouts: Iterable[About]) -> int:
        """Index the merged events of one batch, all in one format; how many were left to the run's other witness."""
        batch = _Batch(self._index, self._runs)
        left = 0
        files = {about.run_id: about for about in abouts if about.main is None}
        name = next((about.format for about in abouts), "")
        for event in events:
            run = batch.run(event.run_id, name, files)
            if run.format == name:
                self._add(batch, run, event)
            else:
                left += 1
        for run in batch.runs.values():
            self._close_block(run)
        batch.write()
        self._index.note("events", self.events)
        return left

    def _add(self, batch: _Batch, run: RunDraft, event: Event) -> None:
        if not run.last_seq < event.seq < _LAST_SEQ:
            force_setattr(event, "seq", run.last_seq + 1)
        event, line = bare(event)
        ms = batch.ms_of(event.timestamp)
        self.events += 1
        event_id = run.last_id = self._ids.take(ms, run.last_id)
        payload = event.payload
        role, name, call_id, message_id, subtype, error = _ROLES.get(event.type, "system"), None, None, None, None, 0
        if isinstance(payload, MessagePayload):
            role, message_id, subtype = payload.role, payload.message_id, "chunk" if payload.is_chunk else None
        elif isinstance(payload, ToolPayload):
            name, call_id = batch.calls.add(run, event, payload, event_id, ms), payload.call_id
            error = int(payload.error is not None)
        elif isinstance(payload, UsagePayload):
            message_id = payload.message_id
            batch.usage.add(run, event, payload, event_id, event_id * MS_PER_ID if ms is None else ms)
        elif isinstance(payload, SystemPayload):
            subtype = payload.subtype
        error |= event.type == "error"
        run.errors += event.type == "error"  # a failed call is counted with its pair
        block, number = self._in_block(run, event.seq, line)
        told = (event_id, run.id, event.seq, event.source, event.type, role, event.told_at)
        row = (*told, name, call_id, message_id, subtype, error, event.child_run_id, block, number)
        self._index.add(_EVENT, row)
        if text := event_text(event):
            self._index.add_words(event_id, text)
        run.add(event, ms)
        if self._index.is_full:
            self._index.flush()
            self._ids.forget()

    def _in_block(self, run: RunDraft, seq: int, line: bytes) -> tuple[int, int]:
        """Put a line into the run's block; the block's id, and the line's number in it."""
        if run.lines and run.size + len(line) > BLOCK_BYTES:
            self._close_block(run)
        if not run.lines:
            self._blocks += 1
            run.block, run.block_first = self._blocks, seq
        run.lines.append(line)
        run.size += len(line)
        return run.block, len(run.lines) - 1

    def _close_block(self, run: RunDraft) -> None:
        if run.lines:
            self._index.add(_BLOCK, (run.block, run.id, run.block_first, run.last_seq, packed(run.lines)))
            run.lines, run.size = [], 0


class _Batch:
    """What one batch gathers beside its events."""

    def __init__(self, index: IndexWriter, runs: Runs) -> None:
        self._index = index
        self._runs = runs
        self.runs: dict[str, RunDraft] = {}
        self.calls = CallRows(index)
        self.usage = UsageRows(index)
        self._text = ""
        self._ms: int | None = None

    def run(self, run_id: str, format: str, files: dict[str, About]) -> RunDraft:
        run = self.runs.get(run_id)
        if run is None:
            run = self.runs[run_id] = self._runs.load(run_id, format, agent_of(format))
            if run_id in files and run.format == format:
                run.know(files[run_id])
        return run

    def ms_of(self, timestamp: str) -> int | None:
        if timestamp != self._text:
            self._text = timestamp
            moment = moment_of(timestamp)
            self._ms = None if moment is None else int(moment.timestamp() * 1000)
        return self._ms

    def write(self) -> None:
        self.calls.write()
        self.usage.write()
        for run in self.runs.values():
            run.write(self._index)
            if run.has_usage:
                sum_tokens(self._index, run)
