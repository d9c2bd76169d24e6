"""Canonical events as rows of the table `events`.

Pure: a line and what is known about its run give the same row on every machine. What the views need from several
events at once, such as a call with its result, they find by these columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from stenograph.archive.index.words import event_text
from stenograph.fleet.lake.tables import schema_of
from stenograph.fold.usage import UsageKeys
from stenograph.model import mend
from stenograph.model.codec import REFUSALS, decode, encode
from stenograph.model.event import Event
from stenograph.model.ids import is_unique
from stenograph.model.moment import milliseconds_of
from stenograph.model.payload import (
    TOKEN_COUNTS,
    ErrorPayload,
    MessagePayload,
    SystemPayload,
    ToolPayload,
    UsagePayload,
)

if TYPE_CHECKING:
    import pyarrow

_ROLES = {"tool.call": "assistant", "tool.result": "tool"}
_MOST_TOKENS = 1 << 40
"""More tokens than any call uses; keeps sums of garbage from overflowing."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_DAY = "1970-01-01"
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_000
_decode_fields = msgspec.json.Decoder(dict[str, Raw]).decode


class RunFacts(Struct, frozen=True, kw_only=True):
    """What a row holds about its run."""

    agent: str | None = None
    format: str | None = None
    cwd: str | None = None
    project: str | None = None


NOTHING_KNOWN = RunFacts()


class EventRows:
    """Rows of one archive and generation, by column, until they are taken as an Arrow table."""

    def __init__(self, archive: str, generation: str, facts: Mapping[str, RunFacts]) -> None:
        self._archive = archive
        self._generation = generation
        self._facts = facts
        self._rows: list[tuple[Any, ...]] = []
        self._day = _NO_DAY
        self._moment: tuple[str, int | None] = ("", None)
        self.bytes = 0
        """Of texts and payloads."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, line: bytes, block: int = 0, revision: int = 0) -> None:
        """Take an event by its canonical line."""
        event, payload, envelope = _parts(line)
        ms = self._ms_of(event.timestamp)
        if ms is not None:
            self._day = _day_of(ms)
        fields = _PayloadColumns(self._archive, event, ms)
        facts = self._facts.get(event.run_id, NOTHING_KNOWN)
        text = event_text(event) or None
        self.bytes += len(payload) + len(text or "")
        self._rows.append(
            (
                self._archive,
                self._generation,
                event.run_id,
                event.parent_run_id,
                event.child_run_id,
                event.source,
                event.seq,
                None if ms is None else ms * 1000,
                event.told_at or None,
                facts.agent,
                facts.format,
                facts.cwd,
                facts.project,
                event.type,
                *fields.columns,
                text,
                payload,
                envelope,
                block,
                revision,
                self._day,
            )
        )

    def _ms_of(self, timestamp: str) -> int | None:
        if timestamp != self._moment[0]:
            ms = milliseconds_of(timestamp)
            self._moment = timestamp, ms if ms is not None and _FIRST_MS <= ms <= _LAST_MS else None
        return self._moment[1]

    def take(self) -> pyarrow.Table:
        """The rows so far as a table, in their order; starts over."""
        rows, self._rows, self.bytes = self._rows, [], 0
        return table_of("events", rows)


def table_of(table: str, rows: list[tuple[Any, ...]]) -> pyarrow.Table:
    """Rows as an Arrow table. Times are numbers: anything else would load pandas, which is slow."""
    import pyarrow as pa

    schema = schema_of(table)
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [_array(pa, values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(pa: Any, values: Iterable[Any], kind: Any) -> Any:
    if pa.types.is_timestamp(kind):
        return pa.array(values, type=pa.int64()).cast(kind)
    return pa.array(values, type=kind)


class _PayloadColumns:
    """What the payload of one event puts into columns, from `role` to `known_by`."""

    __slots__ = ("columns",)

    def __init__(self, archive: str, event: Event, ms: int | None) -> None:
        payload = event.payload
        role = _ROLES.get(event.type, "system")
        name = call_id = message_id = subtype = error = model = fidelity = known_by = None
        duration: float | None = None
        usage: tuple[Any, ...] = _NO_USAGE
        is_error = event.type == "error"
        match payload:
            case MessagePayload():
                role, message_id = payload.role, payload.message_id
                subtype, model = "chunk" if payload.is_chunk else None, payload.model
            case ToolPayload():
                name, call_id, error = payload.name or None, payload.call_id, payload.error
                is_error |= error is not None
                fidelity, duration = payload.fidelity, payload.duration_ms
                known_by = _known_by(event, payload, ms)
            case UsagePayload():
                message_id, model, usage = payload.message_id, payload.model, _usage(archive, event, payload, ms)
            case SystemPayload():
                subtype = payload.subtype
            case ErrorPayload():
                error = payload.message
        general = (role, name, call_id, message_id, subtype, is_error, error, model)
        self.columns = (*general, *usage, fidelity, duration, known_by)


_NO_USAGE = (None,) * (len(TOKEN_COUNTS) + 6)


def _usage(archive: str, event: Event, payload: UsagePayload, ms: int | None) -> tuple[Any, ...]:
    counts = (min(getattr(payload, name) or 0, _MOST_TOKENS) for name in TOKEN_COUNTS)
    key = report = number_of(f"{archive} {UsageKeys().key(event, payload, ms, event.seq)}")
    if payload.scope != "total" and payload.message_id and not is_unique(payload.message_id):
        report = number_of(f"{archive} {event.run_id} {payload.scope} {payload.message_id}")
    terms = (payload.speed, payload.service_tier, payload.cost_usd)
    return (payload.scope, *counts, *terms, key, report)


def number_of(key: str) -> int:
    """A key as a number of 64 bits: texts as keys make sums over many events slow."""
    return int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def _known_by(event: Event, payload: ToolPayload, ms: int | None) -> str | None:
    """What identifies the same call in another run: its `id`, or its id, name and `time`; None if nothing does."""
    if event.type != "tool.call" or not payload.call_id:
        return None
    if is_unique(payload.call_id):
        return "id"
    return "time" if ms is not None and (event.origin is None or event.origin.time is None) else None


def _parts(line: bytes) -> tuple[Event, str, str]:
    """The event, its payload, and the rest of its line; both as JSON."""
    event = decode(line)
    try:
        fields = _decode_fields(line)
        payload = fields.pop("payload")
        return event, bytes(payload).decode(), msgspec.json.encode(fields).decode()
    except (*REFUSALS, KeyError):  # a line in another form than ours: use what the codec made of it
        fields = _decode_fields(encode(mend.without_surrogates(event)[0]))
        payload = fields.pop("payload", Raw(b"null"))
        return event, bytes(payload).decode(), msgspec.json.encode(fields).decode()


def line_of(payload: str, envelope: str) -> bytes:
    """The canonical line of an event, by the two columns that hold it."""
    fields = _decode_fields(envelope)
    place = list(fields)
    after = place.index("raw") if "raw" in place else len(place)
    ordered = {name: fields[name] for name in place[:after]}
    ordered["payload"] = Raw(payload.encode())
    ordered |= {name: fields[name] for name in place[after:]}
    return msgspec.json.encode(ordered)


def events_of(rows: Iterable[tuple[str, str]]) -> Iterator[Event]:
    """Events by the columns `payload` and `envelope` of their rows."""
    return (decode(line_of(payload, envelope)) for payload, envelope in rows)


def _day_of(ms: int) -> str:
    return (_EPOCH + timedelta(milliseconds=ms)).date().isoformat()
