"""Rows of model calls with the tools they asked for: those of `fold.model_calls`, across batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import msgspec

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.run_row import RunRow
from stenograph.fold.model_calls import MODEL_CALL_TYPES, ModelCall, ModelCalls
from stenograph.model.event import Event

_CALL = "INSERT OR REPLACE INTO model_calls VALUES (?, ?, ?, ?)"
_MESSAGE = "INSERT INTO model_call_messages VALUES (?, ?, ?)"
_SOURCE = "INSERT OR REPLACE INTO model_call_sources VALUES (?, ?, ?)"
_SHARED = "UPDATE usage SET tools = ? WHERE run = ? AND model_call = ?"
_COLUMNS = "calls.number, calls.tools, calls.is_over"


def as_json(names: list[str]) -> str:
    """Names of tools as the columns store them."""
    return msgspec.json.encode(names).decode()


@dataclass(slots=True)
class _RunCalls:
    """The model calls of one run."""

    calls: ModelCalls
    last: int
    """The number of the last call that earlier batches wrote."""
    newest: dict[str, int] = field(default_factory=dict)
    """The newest call of each source, as earlier batches wrote it."""


class ModelCallRows:
    """The model calls that one batch touches."""

    def __init__(self, index: IndexWriter) -> None:
        self._index = index
        self._runs: dict[int, _RunCalls] = {}

    def add(self, run: RunRow, event: Event, tool: str | None, message_id: str | None) -> ModelCall | None:
        """Add an event; returns the model call that it belongs to, if any."""
        if event.type not in MODEL_CALL_TYPES:
            return None
        known = self._runs.get(run.id)
        if known is None:
            known = self._runs[run.id] = self._load(run)
        return known.calls.add(event.source, event.type, tool or "", message_id)

    def _load(self, run: RunRow) -> _RunCalls:
        if run.is_new:
            return _RunCalls(ModelCalls(), 0)
        last = self._index.written("SELECT coalesce(max(number), 0) FROM model_calls WHERE run = ?", (run.id,))[0][0]
        query = f"""
            SELECT newest.source, {_COLUMNS} FROM model_call_sources AS newest
            JOIN model_calls AS calls ON calls.run = newest.run AND calls.number = newest.number WHERE newest.run = ?
        """
        calls: dict[int, ModelCall] = {}
        current: dict[str, ModelCall] = {}
        for source, number, tools, is_over in self._index.written(query, (run.id,)):
            current[source] = calls.setdefault(number, _call(number, tools, is_over))
        newest = {source: call.number for source, call in current.items()}
        return _RunCalls(ModelCalls(last, current, partial(self._of_message, run.id)), last, newest)

    def _of_message(self, run: int, message_id: str) -> ModelCall | None:
        query = f"""
            SELECT {_COLUMNS} FROM model_call_messages AS named
            JOIN model_calls AS calls ON calls.run = named.run AND calls.number = named.number
            WHERE named.run = ? AND named.message_id = ?
        """
        found = self._index.written(query, (run, message_id))
        return _call(*found[0]) if found else None

    def write(self) -> None:
        """Write all rows; usage that earlier batches reported is divided again where its call asked for more tools."""
        for run, known in self._runs.items():
            changed = known.calls.changed.values()
            self._index.add(_CALL, *((run, each.number, as_json(each.tools), int(each.is_over)) for each in changed))
            self._index.add(_MESSAGE, *((run, name, call.number) for name, call in known.calls.messages.items()))
            current = known.calls.current.items()
            moved = ((run, name, call.number) for name, call in current if known.newest.get(name) != call.number)
            self._index.add(_SOURCE, *moved)
            grown = (call for call in changed if call.number <= known.last)
            self._index.add(_SHARED, *((as_json(call.shares), run, call.number) for call in grown))


def _call(number: int, tools: str, is_over: int) -> ModelCall:
    return ModelCall(number, msgspec.json.decode(tools, type=list[str]), bool(is_over))
