"""Events into the index, one batch at a time.

The same events in the same batches give the same rows, ids included: that is what makes an index that was maintained
equal to one that is made again. So nothing here reads a clock, a file or anything that is not in the packs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from msgspec.structs import force_setattr

from stenograph.archive.block import BLOCK_BYTES, bare, packed
from stenograph.archive.call_rows import CallRows
from stenograph.archive.pack import About
from stenograph.archive.run_draft import RunDraft, load_run
from stenograph.archive.usage_rows import UsageRows, sum_tokens
from stenograph.archive.words import event_text, searchable
from stenograph.model.event import Event
from stenograph.model.moment import moment_of
from stenograph.model.payload import MessagePayload, SystemPayload, ToolPayload, UsagePayload

MS_PER_ID = 4
"""An event's id is its time in milliseconds over this, or the next that is free."""
_LAST_ID = 1 << 40
_PAGE = 1 << 20
_PAGES = 8
_LAST_SEQ = 1 << 53
_WAITING_ROWS = 4000
_WAITING_TEXT = 1 << 22
_ROLES = {"tool.call": "assistant", "tool.result": "tool"}
_AGENTS = {"exchange": "stenograph"}


def agent_of(format: str) -> str:
    """The agent that writes a format: `claude`, `codex`, …; `stenograph` for journals of ours."""
    return _AGENTS.get(format) or format.partition("_")[0]


class Indexer:
    """Writes events through a connection whose transactions are somebody else's."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.events = _fact(connection, "events")
        """Events indexed, ever."""
        found = connection.execute("SELECT coalesce(max(id), 0) FROM blocks").fetchone()
        self._blocks: int = found[0]
        self._event_rows: list[tuple[Any, ...]] = []
        self._word_rows: list[tuple[int, str]] = []
        self._ids = _Ids(connection)
        self._waiting_text = 0

    def index(self, events: Iterable[Event], abouts: Iterable[About]) -> int:
        """Index the merged events of one batch, all in one format; how many were left to the run's other witness."""
        batch = _Batch(self._connection)
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
        self._flush()
        batch.write()
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES ('events', ?)", (self.events,))
        return left

    def _add(self, batch: _Batch, run: RunDraft, event: Event) -> None:
        if not run.last_seq < event.seq < _LAST_SEQ:
            force_setattr(event, "seq", run.last_seq + 1)
        event, line = bare(event)
        ms = batch.ms_of(event.timestamp)
        event_id = self._id(run, ms)
        payload = event.payload
        role, name, call_id, message_id, subtype, error = _ROLES.get(event.type, "system"), None, None, None, None, 0
        if isinstance(payload, MessagePayload):
            role, message_id = payload.role, payload.message_id
        elif isinstance(payload, ToolPayload):
            name, call_id = batch.calls.add(run, event, payload, event_id, ms), payload.call_id
            error = int(payload.error is not None)
        elif isinstance(payload, UsagePayload):
            message_id = payload.message_id
            batch.usage.add(run, event, payload, event_id, event_id * MS_PER_ID if ms is None else ms)
        elif isinstance(payload, SystemPayload):
            subtype = payload.subtype
        error |= event.type == "error"
        run.errors += error
        block, number = self._in_block(run, event.seq, line)
        told = (event_id, run.id, event.seq, event.source, event.type, role, event.timestamp)
        row = (*told, name, call_id, message_id, subtype, error, event.child_run_id, block, number)
        self._event_rows.append(row)
        run.add(event, ms)
        if text := event_text(event):
            self._word_rows.append((event_id, searchable(text)))
            self._waiting_text += len(text)
        if len(self._event_rows) >= _WAITING_ROWS or self._waiting_text >= _WAITING_TEXT:
            self._flush()

    def _id(self, run: RunDraft, ms: int | None) -> int:
        """The first free id from the event's time on that is higher than that of the run's event before."""
        self.events += 1
        wanted = min(max((ms or 0) // MS_PER_ID, 0), _LAST_ID)
        found = self._ids.take(max(wanted, run.last_id + 1))
        run.last_id = found
        return found

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
            row = (run.block, run.id, run.block_first, run.last_seq, packed(run.lines))
            self._connection.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?)", row)
            run.lines, run.size = [], 0

    def _flush(self) -> None:
        marks = ", ".join("?" * 15)
        self._connection.executemany(f"INSERT INTO events VALUES ({marks})", self._event_rows)
        self._connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", self._word_rows)
        self._event_rows, self._word_rows, self._waiting_text = [], [], 0
        self._ids.forget()


class _Ids:
    """Which ids are taken, looked up a page at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._pages: dict[int, dict[int, int]] = {}

    def take(self, wanted: int) -> int:
        """The first free id from `wanted` on; it is taken then."""
        passed = []
        while True:
            after = self._page(wanted).get(wanted)
            if after is None:
                break
            passed.append(wanted)
            wanted = after
        for each in passed:  # the next one who comes this way need not ask at every door
            self._page(each)[each] = wanted + 1
        self._page(wanted)[wanted] = wanted + 1
        return wanted

    def forget(self) -> None:
        """Let go of pages that may not be needed again; everything that was taken must be in the table by now."""
        if len(self._pages) > _PAGES:
            self._pages.clear()

    def _page(self, number: int) -> dict[int, int]:
        """The taken ids around one, each with where to go on looking."""
        first = number - number % _PAGE
        page = self._pages.get(first)
        if page is None:
            query = "SELECT id FROM events WHERE id >= ? AND id < ?"
            page = {taken: taken + 1 for (taken,) in self._connection.execute(query, (first, first + _PAGE))}
            self._pages[first] = page
        return page


class _Batch:
    """What one batch gathers beside its events."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.runs: dict[str, RunDraft] = {}
        self.calls = CallRows(connection)
        self.usage = UsageRows(connection)
        self._text = ""
        self._ms: int | None = None

    def run(self, run_id: str, format: str, files: dict[str, About]) -> RunDraft:
        run = self.runs.get(run_id)
        if run is None:
            run = self.runs[run_id] = load_run(self._connection, run_id, format, agent_of(format))
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
            run.write(self._connection)
            if run.has_usage:
                sum_tokens(self._connection, run)


def _fact(connection: sqlite3.Connection, name: str) -> int:
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return 0 if row is None else int(row[0])
