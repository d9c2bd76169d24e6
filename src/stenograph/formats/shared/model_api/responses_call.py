"""Tool items of the Responses API: functions, custom tools, and the tools that the service has itself."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_str, first_str
from stenograph.formats.shared.model_api.media import attachment
from stenograph.formats.shared.model_api.turn import Turn

_INPUTS = ("arguments", "input", "action", "operation")
_NAMED_INPUTS = ("code", "queries", "prompt")
_RESULTS = ("output", "results", "outputs")
_SERVICE_TOOLS = ("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call")
"""Run by the service: the item holds the call and, once it has ended, the result."""


def is_call(kind: str) -> bool:
    """Whether an item of this kind asks for a tool."""
    return kind.endswith("_call")


def is_output(kind: str) -> bool:
    """Whether an item of this kind is a tool's answer."""
    return kind.endswith(("_call_output", "tool_search_output"))


def add_call(turn: Turn, item: dict[str, Any]) -> None:
    """Add a call; with its result, when the service ran the tool itself and it has ended."""
    kind = a_str(item.get("type"))
    call_id = first_str(item, "call_id", "id") or ""
    name = first_str(item, "name") or kind.removesuffix("_call")
    turn.call(call_id, name, _input_of(item), kind=_kind_of(kind), namespace=first_str(item, "namespace"))
    if kind in _SERVICE_TOOLS and item.get("status") not in ("in_progress", "searching", "generating", "interpreting"):
        why = _fault_of(item)
        failed = bool(why) or item.get("status") == "failed"
        turn.result(call_id, _result_of(item), name=name, failed=failed, why=why)


def _kind_of(item_type: str) -> str | None:
    """How a call is run, if it is not a function of the caller's."""
    if item_type == "custom_tool_call":
        return "custom"
    return "server" if item_type in _SERVICE_TOOLS else None


def add_output(turn: Turn, item: dict[str, Any]) -> None:
    """Add a tool's result; failed only when its status says so."""
    content = item.get("output")
    if isinstance(content, dict) and "type" in content:
        content = [content]  # a screenshot
    turn.result(first_str(item, "call_id", "id") or "", content, failed=item.get("status") == "failed")


def _input_of(item: dict[str, Any]) -> Any:
    for name in _INPUTS:
        if name in item:
            return item[name] if item.get("type") == "custom_tool_call" else arguments_of(item[name])
    return {name: item[name] for name in _NAMED_INPUTS if item.get(name) is not None}


def _result_of(item: dict[str, Any]) -> Any:
    if item.get("type") == "image_generation_call" and attachment("", item.get("result")):
        kind = first_str(item, "output_format") or "png"
        return [{"type": "image", "source": {"type": "base64", "media_type": f"image/{kind}", "data": item["result"]}}]
    return next((item[name] for name in _RESULTS if item.get(name) is not None), None)


def _fault_of(item: dict[str, Any]) -> str:
    fault = item.get("error")
    if isinstance(fault, dict):
        return first_str(fault, "message", "type") or "failed"
    return a_str(fault)
