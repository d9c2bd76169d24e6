"""Python functions as tools of Claude: an MCP server inside this process.

Claude writes each call and its result into its own transcript, from which they are recorded like those of any tool.
We run the function, but record nothing else about it, so that nothing is counted twice.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stenograph.adapters.tool import Tool, result_text

SERVER = "stenograph"


def tool_names(tools: Mapping[str, Tool]) -> list[str]:
    """What Claude calls the tools."""
    return [f"mcp__{SERVER}__{name}" for name in tools]


def server_of(sdk: Any, tools: Mapping[str, Tool]) -> Any:
    """The server, as the SDK takes it among its `mcp_servers`."""
    offered = [sdk.tool(tool.name, tool.description, tool.parameters)(_calling(tool)) for tool in tools.values()]
    return sdk.create_sdk_mcp_server(SERVER, tools=offered)


def _calling(tool: Tool) -> Callable[[Any], Awaitable[dict[str, Any]]]:
    async def call(arguments: Any) -> dict[str, Any]:
        try:
            bound = tool.bind(arguments)
            result = tool.function(**bound) if tool.is_async else await asyncio.to_thread(tool.function, **bound)
            return _answer(result_text(await result if inspect.isawaitable(result) else result))
        except Exception as error:  # noqa: BLE001  # the model waits for an answer, and gets this one
            return {**_answer(f"{type(error).__name__}: {error}"), "is_error": True}

    return call


def _answer(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}
