"""Python functions as dynamic tools of Codex: their declaration for a thread, and the answer to a call."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stenograph.adapters.tool import Tool, result_text

Await = Callable[[Awaitable[Any]], Any]
"""Waits for an awaitable from a thread that has no loop."""


def dynamic_tools(tools: Mapping[str, Tool]) -> list[dict[str, Any]]:
    """The tools as `thread/start` takes them."""
    return [
        {"type": "function", "name": tool.name, "description": tool.description, "inputSchema": tool.parameters}
        for tool in tools.values()
    ]


def run(tools: Mapping[str, Tool], params: Mapping[str, Any], wait: Await) -> dict[str, Any]:
    """Call the tool that `item/tool/call` names; the model gets the result or the error."""
    name = params.get("tool")
    tool = tools.get(name) if isinstance(name, str) else None
    if tool is None:
        return _answer(f"unknown tool {name!r}", success=False)
    try:
        result = tool.function(**tool.bind(params.get("arguments")))
        return _answer(result_text(wait(result) if inspect.isawaitable(result) else result), success=True)
    except BaseException as error:  # noqa: BLE001  # also SystemExit: the model waits for an answer, and gets this one
        return _answer(f"{type(error).__name__}: {error}", success=False)


def _answer(text: str, *, success: bool) -> dict[str, Any]:
    return {"contentItems": [{"type": "inputText", "text": text}], "success": success}
