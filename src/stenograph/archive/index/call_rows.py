"""Rows of tool calls with their results: the pairs of `fold.calls`, across batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.run_row import RunRow
from stenograph.fold.calls import CallPairs, PairState
from stenograph.model.event import Event
from stenograph.model.ids import is_unique
from stenograph.model.payload import ToolPayload

_WRITTEN = """
    SELECT id, source, name, call, result, witnesses, started_ms, duration_ms, error,
      (SELECT timestamp FROM events WHERE events.id = calls.call)
    FROM calls WHERE run = ? AND call_id = ? ORDER BY id
"""
_NEW = """
    INSERT INTO calls (run, source, call_id, name, call, result, witnesses, started_ms, duration_ms, error, copy_of)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (
      SELECT first.run FROM calls AS first WHERE first.call_id = ? AND first.run <> ? AND first.copy_of IS NULL
        AND CASE ? WHEN 'id' THEN 1 WHEN 'time' THEN first.name = ? AND first.started_ms = ? END
      ORDER BY first.id LIMIT 1
    ))
"""
_CHANGED = """
    UPDATE calls SET source = ?, name = ?, call = ?, result = ?, witnesses = ?, started_ms = ?, duration_ms = ?,
      error = ?
    WHERE id = ?
"""
_SUM = """
    UPDATE runs SET
      (tools, failed_calls, open_calls) = (
        SELECT coalesce(sum(calls), 0), coalesce(sum(failed), 0), coalesce(sum(calls) - sum(answered), 0)
        FROM calls_sums WHERE run = ?
      ),
      (copied_calls, copied_errors, errors) = (
        SELECT count(call), count(error), ? - count(error) FROM calls WHERE run = ? AND copy_of IS NOT NULL
      )
    WHERE id = ?
"""


@dataclass(slots=True)
class CallRow:
    """One pair with the columns of `calls` that the fold does not have. Its marks are ids of events."""

    pair: PairState
    run: int
    id: int | None = None
    started_ms: int | None = None
    began_ms: int | None = None
    """When it was called, if the source says so."""
    ended_ms: int | None = None
    """When its result came, if it came in this batch and the source says so."""
    duration_ms: float | None = None
    known_by: str | None = None
    """What identifies the call in another run: its `id` alone, or its id, name and `time`; None where nothing does."""

    def values(self) -> tuple[object, ...]:
        """The parameters of `_CHANGED` for a row that has an id, else of `_NEW`."""
        pair = self.pair
        columns = (pair.name, pair.call, pair.result, pair.witnesses, self.started_ms, self.duration_ms, pair.error)
        if self.id is not None:
            return pair.source, *columns, self.id
        same = (pair.call_id, self.run, self.known_by, pair.name, self.started_ms)
        return self.run, pair.source, pair.call_id, *columns, *same

    def take(self, event: Event, payload: ToolPayload, ms: int | None) -> None:
        """Note the times of the call or the result that counts; a time that we gave ourselves says no duration."""
        told_ms = ms if event.told_at else None
        if event.type == "tool.call":
            self.started_ms, self.began_ms = ms, told_ms
        else:
            self.ended_ms, self.duration_ms = told_ms, payload.duration_ms
        if self.duration_ms is None and self.began_ms is not None and self.ended_ms is not None:
            self.duration_ms = float(max(0, self.ended_ms - self.began_ms))


class CallRows:
    """The pairs that one batch touches."""

    def __init__(self, index: IndexWriter) -> None:
        self._index = index
        self._pairs = CallPairs(self._written)
        self._runs: dict[str, RunRow] = {}
        self._rows: dict[int, CallRow] = {}
        """By the identity of the pair, in order."""

    def add(self, run: RunRow, event: Event, payload: ToolPayload, id_: int, ms: int | None) -> str:
        """Add a call or a result, whose event has this id and time; returns the tool's name."""
        self._runs[run.run_id] = run
        joined = self._pairs.add(event, id_)
        if joined is None:
            return payload.name
        if joined.begins:
            self._rows[id(joined.pair)] = CallRow(joined.pair, run.id, known_by=_known_by(event, payload, ms))
        if joined.counts:
            self._rows[id(joined.pair)].take(event, payload, ms)
        run.tools += joined.change.calls
        run.failed_calls += joined.change.failed
        run.open_calls += joined.change.open
        run.errors += joined.change.errors
        return joined.pair.name

    def _written(self, run_id: str, call_id: str) -> Iterator[PairState]:
        """The pairs with a call id that earlier batches wrote."""
        run = self._runs[run_id]
        if run.is_new:
            return
        for number, source, name, call, result, witnesses, started, took, error, told in self._index.written(
            _WRITTEN, (run.id, call_id)
        ):
            pair = PairState(
                run_id=run_id,
                source=source,
                call_id=call_id,
                name=name,
                call=call,
                result=result,
                error=error,
                witnesses=witnesses,
            )
            began = started if told else None
            self._rows[id(pair)] = CallRow(pair, run.id, number, started_ms=started, began_ms=began, duration_ms=took)
            yield pair

    def write(self) -> None:
        """Write all rows, in order."""
        rows = self._rows.values()
        self._index.add(_NEW, *(row.values() for row in rows if row.id is None))
        self._index.add(_CHANGED, *(row.values() for row in rows if row.id is not None))


def sum_calls(index: IndexWriter, run: RunRow) -> None:
    """Write the run's own calls into its row. A call belongs to the run that reported it first; a copy counts there."""
    index.add(_SUM, (run.id, run.errors, run.id, run.id))


def _known_by(event: Event, payload: ToolPayload, ms: int | None) -> str | None:
    """An id that is unique by itself identifies a call everywhere; another one only together with name and time."""
    if not payload.call_id or is_unique(payload.call_id):
        return "id" if payload.call_id else None
    has_time = ms is not None and (event.origin is None or event.origin.time is None)
    return "time" if has_time and event.type == "tool.call" else None
