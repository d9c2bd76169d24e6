"""Comparing what we read with an independent count: `tests/oracle/<format>.py` counts with nothing but `json`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from stenograph.fold.messages import messages
from stenograph.formats.base import Context, FormatSpec, Report
from stenograph.model import Event, MessagePayload, TextBlock, ThinkingBlock, ToolPayload, UsagePayload

_ORACLES = Path(__file__).parent / "oracle"


def parsed(spec: FormatSpec, path: Path) -> tuple[list[Event], Report]:
    """The events of one file by itself."""
    parser = spec.open(Context(run_id="550e8400-e29b-41d4-a716-446655440000"))
    events = parser.feed(path.read_bytes())
    return events + parser.finish(), parser.report


def count(events: list[Event], report: Report) -> dict[str, Any]:
    """What a conversion holds, in the counter's terms."""
    counted: dict[str, Any] = {
        "tool_uses": {}, "tool_results": {}, "failed_results": {}, "text": [], "thinking": [],
        "input_tokens": {}, "output_tokens": {}, "cached_tokens": {}, "reasoning_tokens": {},
        "messages": {role: sum(each.role == role for each in messages(events)) for role in ("user", "assistant")},
        "lines": report.lines - len(report.blank_lines),
    }  # fmt: skip
    for event in events:
        payload = event.payload
        if event.type == "message.assistant" and isinstance(payload, MessagePayload):
            counted["text"] += [block.text for block in payload.blocks if isinstance(block, TextBlock)]
            counted["thinking"] += [block.thinking for block in payload.blocks if isinstance(block, ThinkingBlock)]
        elif event.type == "tool.call" and isinstance(payload, ToolPayload):
            counted["tool_uses"].setdefault(payload.call_id)
        elif event.type == "tool.result" and isinstance(payload, ToolPayload):
            counted["tool_results"].setdefault(payload.call_id)
            if payload.error is not None:
                counted["failed_results"].setdefault(payload.call_id)
        elif event.type == "token.usage" and isinstance(payload, UsagePayload) and payload.message_id:
            counted["input_tokens"][payload.message_id] = payload.input_tokens
            counted["output_tokens"][payload.message_id] = payload.output_tokens
            counted["cached_tokens"][payload.message_id] = payload.cache_read_input_tokens or 0
            counted["reasoning_tokens"][payload.message_id] = payload.reasoning_output_tokens or 0
    for name in ("tool_uses", "tool_results", "failed_results"):
        counted[name] = list(counted[name])
    counted["text"], counted["thinking"] = "".join(counted["text"]), "".join(counted["thinking"])
    return counted


def oracle(name: str) -> Any:
    """The counter of a format."""
    spec = importlib.util.spec_from_file_location(f"oracle_{name}", _ORACLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def different(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """What the two counts do not agree on."""
    return [key for key, value in ours.items() if key in theirs and theirs[key] != value]


def lines_without_event(events: list[Event], report: Report, data: bytes) -> int:
    """Non-empty lines that nothing names, those aside whose words another line repeats."""
    named = {event.origin.line for event in events if event.origin is not None}
    full = {number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()}
    return max(0, len(full - named) - report.accumulated)
