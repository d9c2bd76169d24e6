"""The use of a tool, from its span."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.formats.otlp.genai import parsed
from stenograph.formats.otlp.span import Span
from stenograph.formats.shared.loose import a_dict, a_str, first_str

_NAMES = ("gen_ai.tool.name", "tool.name", "tool_name", "traceloop.entity.name")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_arguments", "input.value", "traceloop.entity.input")
_RESULTS = ("gen_ai.tool.call.result", "tool_response", "output.value", "traceloop.entity.output")


class ToolUse(Struct, frozen=True, kw_only=True):
    """What a span says of a tool that ran."""

    name: str
    call_id: str
    """The id of the call; empty where the span has none."""
    input: Any
    """None when the span does not have it; also for `output`."""
    output: Any
    error: str | None
    """Why it failed; None when it did not."""
    duration_ms: float


def tool_use(span: Span) -> ToolUse:
    """The tool use in a span."""
    facts = span.attributes
    output = parsed(_first(facts, _RESULTS))
    message = _langchain_message(output)
    if message is not None:
        output = message.get("content")
    return ToolUse(
        name=first_str(facts, *_NAMES) or span.name.removeprefix("execute_tool "),
        call_id=first_str(facts, "gen_ai.tool.call.id", "tool_call.id") or a_str(a_dict(message).get("tool_call_id")),
        input=_input(parsed(_first(facts, _ARGUMENTS))),
        output=output,
        error=failure_of(span) if span.failure is not None else None,
        duration_ms=max(span.end - span.start, 0) / 1_000_000,
    )


def failure_of(span: Span) -> str:
    """Why a span failed: what its exception says, else its status."""
    text = a_str(span.exception.get("exception.message")) or (span.failure or "").partition("Traceback (most recent")[0]
    return (
        text.strip()
        or a_str(span.exception.get("exception.type"))
        or a_str(span.attributes.get("error.type"))
        or "failed"
    )


def _first(facts: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((facts[name] for name in names if facts.get(name) is not None), None)


def _langchain_message(output: Any) -> dict[str, Any] | None:
    """The message in LangChain's output, with the id of the call in it; None when it is not one."""
    value = a_dict(output)
    inner = a_dict(value.get("data")) or a_dict(value.get("kwargs"))
    return inner if "tool_call_id" in inner and "content" in inner else None


def _input(value: Any) -> Any:
    if isinstance(value, dict) and {"args", "kwargs"} <= value.keys() and isinstance(value["kwargs"], dict):
        return value["kwargs"] or value["args"]  # smolagents
    return value


def match_score(use: ToolUse, name: str, input: Any) -> int:
    """How well a use matches a call without its id: 0 not at all, 1 by the name of the tool, 2 also by its input."""
    if use.name != name:
        return 0
    if use.input is None:
        return 1
    if use.input == input:
        return 2
    values = list(a_dict(input).values())
    return 2 if len(values) == 1 and values[0] == use.input else 1
