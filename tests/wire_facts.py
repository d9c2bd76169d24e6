"""What a record of model calls must say: the parser over the wire that the model server kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph import Event
from stenograph.formats.base import Context
from stenograph.formats.registry import formats
from stenograph.model import MessagePayload, ToolPayload

SCAFFOLD = ("run.started", "run.completed", "step.started", "step.completed")
Fact = tuple[str, Any]


def over_the_wire(records: Iterable[dict[str, Any]], format_name: str = "openai_chat") -> list[Fact]:
    """What the format says about the records."""
    parser = formats()[format_name].open(Context(run_id="550e8400-e29b-41d4-a716-446655440000", keep_raw=False))
    return facts([event for record in records for event in parser.feed_object(record)])


def facts(events: Iterable[Event]) -> list[Fact]:
    """Types and payloads, without a run's own beginning and end."""
    return [(event.type, msgspec.to_builtins(event.payload)) for event in events if event.type not in SCAFFOLD]


def as_the_wire_has_it(event: Event) -> Event:
    """A prompt or a tool event of our seam without what only the seam knows."""
    payload = event.payload
    if event.type == "message.user" and isinstance(payload, MessagePayload):
        blocks = tuple(replace(block, fidelity="agent_emitted") for block in payload.blocks)
        return replace(event, payload=replace(payload, blocks=blocks))
    if not isinstance(payload, ToolPayload):
        return event
    name = "" if event.type == "tool.result" else payload.name
    return replace(event, payload=replace(payload, name=name, fidelity="agent_emitted", error=None, duration_ms=None))
