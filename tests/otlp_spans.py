"""Spans of the golden cases, and what becomes of them in a parser."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from golden_cases import FOLDER
from stenograph.formats.base import Context
from stenograph.formats.otlp.format import OtlpFormat
from stenograph.formats.otlp.routing import Routing, request_of
from stenograph.model import Event, encode

CASES = sorted(path.parent.name for path in (FOLDER / "otlp").glob("*/input.jsonl"))
RUN_ID = "550e8400-e29b-41d4-a716-446655440000"


def requests_in(case: str) -> list[dict[str, Any]]:
    """The requests of a golden case, one span or log record each."""
    path: Path = FOLDER / "otlp" / case / "input.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def joined(requests: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Several requests as one."""
    found: dict[str, Any] = {}
    for request in requests:
        for name, items in request.items():
            found.setdefault(name, []).extend(items)
    return found


def routed(requests: Iterable[dict[str, Any]]) -> dict[str, list[bytes]]:
    """The lines that each conversation gets of some requests."""
    routing = Routing()
    lines: dict[str, list[bytes]] = {}
    for pieces_by_key in [*map(routing.take, requests), routing.settle()]:
        for key, pieces in pieces_by_key.items():
            lines.setdefault(key, []).append(request_of(key, pieces))
    return lines


def whole(lines: Iterable[bytes], key: str) -> list[bytes]:
    """What a file with these lines tells when it is read at once."""
    parser = OtlpFormat(Context(run_id=RUN_ID, session_id=key, keep_raw=False))
    assert parser.feed(b"".join(lines)) == []
    return bare(parser.finish())


def grown(lines: Iterable[bytes], key: str) -> tuple[list[bytes], int]:
    """What it tells when it grows line by line, and how often all of it had to be told again."""
    context = Context(run_id=RUN_ID, session_id=key, keep_raw=False)
    parser, events, seen, times = OtlpFormat(replace(context, is_growing=True)), [], [], 0
    for line in lines:
        seen.append(line)
        events += parser.feed(line)
        if parser.is_superseded:
            times += 1
            parser = OtlpFormat(context)
            parser.feed(b"".join(seen))
            events = parser.finish()
            parser.go_on()
    return bare(events), times


def bare(events: Iterable[Event]) -> list[bytes]:
    """Events without the number of the line that they come from, which tells when it came."""
    return [encode(replace(event, origin=replace(event.origin, line=None))) for event in events if event.origin]
