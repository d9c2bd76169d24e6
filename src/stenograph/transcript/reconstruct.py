"""Log records back to the entries they carry.

A bad record is data. Every record whose `event` is `transcript.entry` gives one entry: a field that is missing or of
the wrong type has its default, and a value of the wrong type is kept in `detail["unread"]`. Other records, and lines
that are not JSON, are not part of a transcript and are skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from stenograph.model import mend
from stenograph.model.codec import REFUSALS
from stenograph.model.moment import moment_of
from stenograph.transcript.entry import ROLES, TranscriptEntry
from stenograph.transcript.project import EPOCH

EVENT = "transcript.entry"

_DEFAULTS: dict[str, tuple[type[Any], Any]] = {
    "prompt_name": (str, ""),
    "adapter": (str, ""),
    "entry_type": (str, "unknown"),
    "sequence_number": (int, 0),
    "source": (str, "main"),
    "run_id": (str, None),
    "session_id": (str, None),
    "raw": (str, None),
    "content": (str, ""),
    "tool_name": (str, None),
    "tool_call_id": (str, None),
    "tool_input": (dict, None),
    "metadata": (dict, None),
}
"""The type of each field, and its default."""

_decode = msgspec.json.Decoder().decode


def reconstruct_transcript(records: Iterable[object]) -> list[TranscriptEntry]:
    """The entries in log records: run by run, evaluation by evaluation, each ordered by (source, sequence_number).

    Runs and the evaluations of a run are in the order in which the records name them first. A record is a dict
    `{event, context, …}`, a line of JSON that holds one, or a `logging.LogRecord` with these two attributes; a whole
    log as one text is taken line by line. Never raises on what a record holds. A timestamp that Python cannot read
    gives the moment of the record before.
    """
    if isinstance(records, str | bytes | bytearray):
        records = records.split("\n" if isinstance(records, str) else b"\n")  # type: ignore[arg-type]  # each its own kind
    moment = EPOCH
    runs: dict[str | None, dict[Any, list[TranscriptEntry]]] = {}
    for record in records:
        event, context = _parts(record)
        if event == EVENT:
            entry = _entry(context, moment)
            moment = entry.timestamp
            runs.setdefault(entry.run_id, {}).setdefault(_evaluation(context), []).append(entry)
    return [
        entry
        for evaluations in runs.values()
        for transcript in evaluations.values()
        for entry in sorted(transcript, key=lambda entry: (entry.source, entry.sequence_number))
    ]


def _evaluation(context: Any) -> str | None:
    """The evaluation that a record names among those of its run; None where it names none."""
    value = context.get("evaluation_id") if isinstance(context, Mapping) else None
    return value if isinstance(value, str) else None


def _parts(record: Any) -> tuple[Any, Any]:
    """The event's name and its context, as far as the record has them."""
    if isinstance(record, str | bytes | bytearray):
        record = _parsed(record)
    if isinstance(record, Mapping):
        return record.get("event"), record.get("context")
    return getattr(record, "event", None), getattr(record, "context", None)


def _parsed(line: str | bytes | bytearray) -> Any:
    data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else bytes(line)
    try:
        return _decode(data)
    except REFUSALS:
        pass
    try:
        return mend.parse_json(data)[0]
    except (ValueError, RecursionError):
        return None


def _entry(context: Any, before: datetime) -> TranscriptEntry:
    unread: dict[str, Any] = {}
    if not isinstance(context, Mapping):
        unread["context"], context = context, {}
    fields: dict[str, Any] = {}
    for name, (kind, default) in _DEFAULTS.items():
        fields[name] = _field(context, name, kind, default, unread)
    role = _field(context, "role", str, None, unread)
    if role is not None and role not in ROLES.values():
        unread["role"], role = role, None
    detail = _field(context, "detail", dict, {}, unread)
    moment, text = _time(context, before, unread)
    entry_id: Any = _id(context, unread)
    if unread:
        detail = {**detail, "unread": unread}
    return TranscriptEntry(**fields, role=role, detail=detail, timestamp=moment, timestamp_text=text, entry_id=entry_id)


def _field(context: Mapping[Any, Any], name: str, kind: type[Any], default: Any, unread: dict[str, Any]) -> Any:
    value = context.get(name)
    if value is None:
        return default
    if isinstance(value, kind) and not isinstance(value, bool):
        return value
    unread[name] = value
    return default


def _time(context: Mapping[Any, Any], before: datetime, unread: dict[str, Any]) -> tuple[datetime, str | None]:
    value = context.get("timestamp")
    if isinstance(value, datetime):
        return value, None
    text = _field(context, "timestamp", str, None, unread)
    return (moment_of(text) if text is not None else None) or before, text


def _id(context: Mapping[Any, Any], unread: dict[str, Any]) -> UUID | None:
    value = context.get("entry_id")
    if value is None or isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except (ValueError, TypeError, AttributeError):
        unread["entry_id"] = value
        return None
