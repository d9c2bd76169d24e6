"""Tool calls with their results as rows, paired across batches by the rules of `fold.pair_calls`."""

from __future__ import annotations

from dataclasses import dataclass

from stenograph.archive.index_writer import IndexWriter
from stenograph.archive.run_draft import RunDraft
from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload

_CALL = {"agent_emitted": 1, "router": 2}
_RESULT = {"agent_emitted": 4, "router": 8}
_COLUMNS = "id, run, source, call_id, name, call, result, witnesses, started_ms, duration_ms, error"
_NEW = """
    INSERT INTO calls (run, source, call_id, name, call, result, witnesses, started_ms, duration_ms, error)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_CHANGED = """
    UPDATE calls SET name = ?, call = ?, result = ?, witnesses = ?, started_ms = ?, duration_ms = ?, error = ?
    WHERE id = ?
"""


@dataclass(slots=True)
class CallRow:
    """One pair; the fields are the columns of `calls`."""

    id: int | None
    run: int
    source: str
    call_id: str
    name: str = ""
    call: int | None = None
    result: int | None = None
    witnesses: int = 0
    started_ms: int | None = None
    duration_ms: float | None = None
    error: str | None = None

    def values(self) -> tuple[object, ...]:
        """As the statements below take them."""
        told = (self.name, self.call, self.result, self.witnesses, self.started_ms, self.duration_ms, self.error)
        return (*told, self.id) if self.id is not None else (self.run, self.source, self.call_id, *told)


class CallRows:
    """The pairs that one batch touches."""

    def __init__(self, index: IndexWriter) -> None:
        self._index = index
        self._rows: dict[tuple[int, str], list[CallRow]] = {}
        self._order: list[CallRow] = []

    def add(self, run: RunDraft, event: Event, payload: ToolPayload, id: int, ms: int | None) -> str:
        """Take a call or a result into account, whose event has this id and moment; the tool's name comes back."""
        rows = self._of(run, payload.call_id)
        is_call = event.type == "tool.call"
        bit = (_CALL if is_call else _RESULT)[payload.fidelity]
        order = rows if is_call else reversed(rows)
        row = next((each for each in order if not each.witnesses & bit), None) if payload.call_id else None
        if row is None:
            row = CallRow(None, run.id, event.source, payload.call_id)
            rows.append(row)
            self._order.append(row)
            run.tools += is_call
        others = row.witnesses & sum((_CALL if is_call else _RESULT).values())
        row.witnesses |= bit
        if others and payload.fidelity != "router":
            return row.name
        row.name = payload.name or row.name
        if is_call:
            row.call, row.started_ms = id, ms
        else:
            row.result, row.error = id, payload.error
            row.duration_ms = payload.duration_ms
        if not is_call and row.duration_ms is None and ms is not None and row.started_ms is not None:
            row.duration_ms = float(max(0, ms - row.started_ms))
        return row.name

    def _of(self, run: RunDraft, call_id: str) -> list[CallRow]:
        key = (run.id, call_id)
        rows = self._rows.get(key)
        if rows is None:
            rows = self._rows[key] = []
            if not run.is_new and call_id:
                query = f"SELECT {_COLUMNS} FROM calls WHERE run = ? AND call_id = ? ORDER BY id"
                rows += [CallRow(*row) for row in self._index.written(query, key)]
                self._order += rows
        return rows

    def write(self) -> None:
        """Write all of them, in the order in which they were met."""
        self._index.add(_NEW, *(row.values() for row in self._order if row.id is None))
        self._index.add(_CHANGED, *(row.values() for row in self._order if row.id is not None))
