"""What frameworks tell through OpenTelemetry, from their golden cases: a table of docs/parity.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from golden_cases import FOLDER
from stenograph.model import Event, TextBlock, ThinkingBlock, decode

NAMES = {
    "pydantic_ai": "Pydantic AI",
    "openai_agents": "OpenAI Agents",
    "langchain": "LangChain",
    "smolagents": "smolagents",
    "crewai": "CrewAI alone",
    "autogen": "AutoGen alone",
    "google_adk": "Google ADK by default",
    "google_adk_semconv": "Google ADK with content",
}
"""The golden cases, by their names for people."""
_TRACE = re.compile("[0-9a-f]{32}")


def _payloads(events: list[Event], type: str) -> list[Any]:
    return [event.payload for event in events if event.type == type]


def _has_block(kind: type) -> Callable[[list[Event]], bool]:
    def told(events: list[Event]) -> bool:
        return any(isinstance(block, kind) for each in _payloads(events, "message.assistant") for block in each.blocks)

    return told


def _usage(field: str) -> Callable[[list[Event]], bool]:
    return lambda events: any(getattr(each, field) is not None for each in _payloads(events, "token.usage"))


def _why(events: list[Event]) -> bool:
    errors = [each.error for each in _payloads(events, "tool.result") if each.error]
    return bool(errors) and not any("redacted" in each or each == "TOOL_ERROR" for each in errors)


def _is_named(events: list[Event]) -> bool:
    """Whether the framework names its conversations: else each is known by its trace, which is one turn."""
    names = {event.origin.session_id or "" for event in events if event.origin is not None}
    return any(not _TRACE.fullmatch(name) for name in names)


FACTS: dict[str, Callable[[list[Event]], bool]] = {
    "prompts": lambda events: bool(_payloads(events, "message.user")),
    "the system prompt": lambda events: any(each.system_prompt for each in _payloads(events, "message.user")),
    "answers": _has_block(TextBlock),
    "thinking, separate from the answer": _has_block(ThinkingBlock),
    "calls of tools": lambda events: bool(_payloads(events, "tool.call")),
    "what a tool was given": lambda events: any(each.input is not None for each in _payloads(events, "tool.call")),
    "what a tool gave": lambda events: any(each.output is not None for each in _payloads(events, "tool.result")),
    "why a tool failed": _why,
    "how long each tool took": lambda events: any(each.duration_ms for each in _payloads(events, "tool.result")),
    "the tokens of every answer": _usage("output_tokens"),
    "cached tokens": _usage("cache_read_input_tokens"),
    "reasoning tokens": _usage("reasoning_output_tokens"),
    "definitions of tools": lambda events: (
        "tool_definitions" in {each.subtype for each in _payloads(events, "system.event")}
    ),
    "a refused request": lambda events: bool(_payloads(events, "error")),
    "several turns as one conversation": _is_named,
}


def table() -> str:
    """The table."""
    told = {case: _events(case) for case in NAMES}
    lines = [f"| what is recorded | {' | '.join(NAMES.values())} |", "| --- |" + " --- |" * len(NAMES)]
    for fact, is_told in FACTS.items():
        cells = " | ".join("yes" if is_told(events) else "no" for events in told.values())
        lines.append(f"| {fact} | {cells} |")
    return "\n".join(lines)


def _events(case: str) -> list[Event]:
    return [decode(line) for line in (FOLDER / "otlp" / case / "expected.jsonl").read_bytes().splitlines()]
