"""The conversations in a file of OTLP that others wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from stenograph.formats.layout import StoredSession
from stenograph.formats.otlp.conversation import conversation_in
from stenograph.formats.otlp.detection import identify
from stenograph.formats.otlp.protobuf import Signal, requests_in_file
from stenograph.formats.otlp.routing import Routed, Routing, request_of
from stenograph.formats.shared.loose import dicts
from stenograph.model import mend
from stenograph.model.codec import REFUSALS

_FIRST_LINES = 8


def has_many(line: bytes) -> bool:
    """Whether the file with this first line is one that others wrote, which may hold many conversations."""
    return not conversation_in(_parsed(line))


def requests_of(data: bytes) -> list[dict[str, Any]]:
    """The requests in a file: lines of JSON, one JSON document, or protobuf."""
    if data[:1] in (b"\n", b"\0"):
        return requests_in_file(data, Signal.TRACES)
    try:
        document = msgspec.json.decode(data)
        return dicts(document if isinstance(document, list) else [document])
    except REFUSALS:
        return dicts([_parsed(line) for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")])


def _parsed(line: bytes) -> Any:
    try:
        return mend.parse_json(line)[0] if line.strip() else None
    except (ValueError, RecursionError):
        return None


def conversations_in(data: bytes, path: str) -> list[StoredSession]:
    """The conversations in a file, each as the lines that `steno receive` would have written of it."""
    routing = Routing(traces=1 << 40, size=1 << 60)
    lines: dict[str, list[bytes]] = {}
    for request in requests_of(data):
        _append(lines, routing.take(request))
    _append(lines, routing.settle())
    return [_session(own) for own in lines.values()]


def _append(lines: dict[str, list[bytes]], routed: Routed) -> None:
    for key, pieces in routed.items():
        lines.setdefault(key, []).append(request_of(key, pieces))


def _session(lines: list[bytes]) -> StoredSession:
    def read() -> Iterator[bytes]:
        return iter(lines)

    identity = identify([_parsed(line) for line in lines[:_FIRST_LINES]], "")
    return StoredSession(identity=identity, parent=lambda: (None, None), lines=read, lines_since=lambda _: None)
