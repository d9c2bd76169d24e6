"""`session/before.jsonl` and `after.jsonl`: what a session held, one value per line with its `__type__`."""

from __future__ import annotations

from typing import Any

from stenograph.errors import InvalidEvent
from stenograph.jsonable import jsonable
from stenograph.logs.formatter import as_json
from stenograph.session.record import TYPE_KEY, Record, type_name
from stenograph.session.session import LOG_TYPES, Session


def session_lines(session: Session) -> bytes:
    """The values of the STATE slices and of the history that every session has, in their order."""
    slices: dict[type[Any], tuple[Any, ...]] = dict(session.snapshot().states)
    for kind in LOG_TYPES:
        slices.setdefault(kind, session[kind].all())
    return b"".join(_line(kind, value) for kind, values in slices.items() for value in values)


def _line(kind: type[Any], value: Any) -> bytes:
    try:
        return Record(kind).line(value)
    except InvalidEvent:  # a value that JSON cannot hold is still useful as text
        return as_json({TYPE_KEY: type_name(kind), "value": jsonable(value)}).encode() + b"\n"
