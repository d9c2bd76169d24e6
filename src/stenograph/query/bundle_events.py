"""Events as rows: one for each line, and those of calls, errors and usage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Raw, Struct

from stenograph.bundle.run_totals import call_duration
from stenograph.fold.calls import pair_calls
from stenograph.fold.usage import UsageCounter
from stenograph.logs.formatter import as_json
from stenograph.model import Event, Fidelity, Origin, ToolPayload, UsagePayload, decode, mend
from stenograph.model.codec import REFUSALS

Cells = tuple[Any, ...]
_LARGEST = 1 << 63


class _Origin(Struct):
    source: str | None = None
    adapter: str | None = None
    session_id: str | None = None
    time: str | None = None


class _Event(Struct):
    """An event whose payload has not been decoded."""

    seq: int
    run_id: str
    type: str
    path: str
    iteration: int
    timestamp: str
    payload: Raw
    parent_run_id: str | None = None
    child_run_id: str | None = None
    origin: Raw = Raw(b"null")
    raw: str | None = None


class _Tool(Struct):
    """The short fields of a tool's payload."""

    name: str
    call_id: str
    fidelity: Fidelity
    error: str | None = None
    duration_ms: float | None = None


class _Failure(Struct):
    """An error's fields, in an error event or at the end of a step or run."""

    message: str | None = None
    error: str | None = None


_decode_event = msgspec.json.Decoder(_Event).decode
_decode_origin = msgspec.json.Decoder(_Origin | None).decode
_decode_tool = msgspec.json.Decoder(_Tool | None).decode
_decode_usage = msgspec.json.Decoder(UsagePayload | None).decode
_decode_failure = msgspec.json.Decoder(_Failure | None).decode
_ENDS = {"run.completed": "run", "step.completed": "step", "step.call_workflow.completed": "step"}


class EventRows:
    """Takes lines in order; `calls`, `errors` and `usage` are complete at the end."""

    def __init__(self) -> None:
        self.errors: list[Cells] = []
        self._count = 0
        self._tools: list[Event] = []
        self._ids: dict[int, int] = {}
        """The row of each event in `_tools`, by identity."""
        self._usage: list[tuple[Event, UsagePayload]] = []

    def row(self, line: bytes, run_id: str) -> Cells:
        """The row of an event; a line that names no run belongs to the given one."""
        self._count += 1
        try:
            event = _decode_event(line)
            origin = _decode_origin(event.origin) or _Origin()
            self._note(event, origin.source or "main")
        except REFUSALS:
            event = _mended(line)
            origin = _lenient_origin(event.origin)
            with suppress(*REFUSALS):  # then there is nothing to add beyond its row
                self._note(event, origin.source or "main")
        where = bytes(event.origin)
        return (
            self._count,
            event.run_id or run_id,
            _number(event.seq),
            origin.source or "main",
            event.timestamp,
            event.type,
            event.path,
            _number(event.iteration),
            origin.adapter,
            origin.session_id,
            event.parent_run_id,
            event.child_run_id,
            bytes(event.payload).decode(),
            None if where == b"null" else where.decode(),
            event.raw,
        )

    def calls(self) -> Iterator[Cells]:
        """The rows of `call_facts`."""
        for pair in pair_calls(self._tools):
            call, result = pair.call, pair.result
            if call is None:
                continue
            yield (
                pair.run_id,
                pair.source,
                pair.name,
                pair.call_id,
                _number(call.seq),
                None if result is None else _number(result.seq),
                call.timestamp,
                None if result is None else result.timestamp,
                None if result is None else call_duration(call.told_at, result.told_at, result.payload.duration_ms),
                pair.error,
                self._ids[id(call)],
                None if result is None else self._ids[id(result)],
            )

    def usage(self) -> Iterator[Cells]:
        """The rows of `usage`; a report counts as `fold.usage` counts it."""
        counter = UsageCounter()
        for event, _ in self._usage:
            counter.add(event)
        counted = {id(usage) for usage in counter.counting()}
        for event, usage in self._usage:
            yield (
                event.run_id,
                _number(event.seq),
                event.source,
                event.timestamp,
                usage.scope,
                usage.model,
                usage.message_id,
                _number(usage.input_tokens),
                _number(usage.output_tokens),
                _number(usage.cache_read_input_tokens),
                _number(usage.cache_creation_input_tokens),
                _number(usage.reasoning_output_tokens),
                int(id(usage) in counted),
                _number(usage.cache_creation_1h_input_tokens),
                usage.speed,
                usage.service_tier,
                usage.cost_usd,
            )

    def _note(self, event: _Event, source: str) -> None:
        """Collect what an event adds to the other tables."""
        if event.type in ("tool.call", "tool.result"):
            self._note_tool(event, source, _decode_tool(event.payload))
        elif event.type == "token.usage":
            usage = _decode_usage(event.payload)
            if usage is not None:
                self._usage.append((_bare(event, source, usage), usage))
        elif event.type == "error":
            failure = _decode_failure(event.payload) or _Failure()
            self._fail("error", event, source, failure.message or "")
        elif event.type in _ENDS:
            failure = _decode_failure(event.payload) or _Failure()
            if failure.error:
                self._fail(_ENDS[event.type], event, source, failure.error)

    def _note_tool(self, event: _Event, source: str, tool: _Tool | None) -> None:
        if tool is None:
            return
        if tool.error is not None:
            self._fail("tool", event, source, tool.error)
        payload = ToolPayload(
            name=tool.name,
            call_id=tool.call_id,
            input=None,
            output=None,
            error=tool.error,
            fidelity=tool.fidelity,
            duration_ms=tool.duration_ms,
        )
        kept = _bare(event, source, payload)
        self._tools.append(kept)
        self._ids[id(kept)] = self._count

    def _fail(self, kind: str, event: _Event, source: str, message: str) -> None:
        detail = bytes(event.payload).decode()
        self.errors.append((kind, event.run_id, _number(event.seq), source, event.timestamp, message, detail))


def _bare(event: _Event, source: str, payload: Any) -> Event:
    """The event with a payload of only the fields that are counted."""
    is_given = _lenient_origin(event.origin).time == "given"
    return Event(
        seq=event.seq,
        run_id=event.run_id,
        type=event.type,
        path=event.path,
        iteration=event.iteration,
        timestamp=event.timestamp,
        origin=Origin(source=None if source == "main" else source, time="given" if is_given else None),
        payload=payload,
    )


def _lenient_origin(origin: Raw) -> _Origin:
    try:
        return _decode_origin(origin) or _Origin()
    except REFUSALS:
        return _Origin()


def _mended(line: bytes) -> _Event:
    """An event that does not have our shape, as the codec reads it."""
    event = decode(line)
    return _Event(
        seq=event.seq,
        run_id=event.run_id,
        type=event.type,
        path=event.path,
        iteration=event.iteration,
        timestamp=event.timestamp,
        payload=Raw(as_json(mend.plain(event.payload)).encode()),
        parent_run_id=event.parent_run_id,
        child_run_id=event.child_run_id,
        origin=Raw(b"null" if event.origin is None else as_json(mend.plain(event.origin)).encode()),
        raw=event.raw,
    )


def _number(value: int | None) -> int | str | None:
    """A number that SQLite can hold; a larger one as text."""
    return value if value is None or abs(value) < _LARGEST else str(value)
