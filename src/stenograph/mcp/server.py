"""JSON-RPC 2.0 over lines, as in the Model Context Protocol: requests in, answers out, one JSON object per line.

Theory of operation. The client's version of the protocol is echoed, since everything used here is the same in all of
them. A mistake of the client is a JSON-RPC error; a tool that cannot answer returns a result with `isError`, so that
the model reads the reason. Nothing that a client sends ends the server, except the end of its input.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from stenograph.mcp.declared import INSTRUCTIONS, TOOLS
from stenograph.version import __version__

PARSE_ERROR, INVALID_REQUEST, NO_SUCH_METHOD, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
LATEST = "2025-11-25"
"""The version of the protocol for a client that names none."""

CallTool = Callable[[str, dict[str, Any], dict[str, Any]], tuple[str, bool]]
"""Calls a tool with its arguments and the `_meta` of the request: the text of its answer, whether it is an error."""


class _Mistake(Exception):
    """A request that cannot be answered, with its code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def serve(lines: Iterable[bytes], output: BinaryIO, call_tool: CallTool) -> None:
    """Answer the lines until there are no more, or the output is closed."""
    for line in lines:
        answer = answer_line(line, call_tool)
        if answer is None:
            continue
        try:
            output.write(answer)
            output.flush()
        except BrokenPipeError:
            return


def answer_line(line: bytes, call_tool: CallTool) -> bytes | None:
    """The answer to one line, newline included; None for an empty line, a notification or a response."""
    if not line.strip():
        return None
    try:
        request = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return _line({"id": None, "error": {"code": PARSE_ERROR, "message": f"the line is not JSON: {error}"}})
    number = request.get("id") if isinstance(request, dict) else None
    try:
        if not isinstance(request, dict) or not isinstance(number, str | int | float | None):
            raise _Mistake(INVALID_REQUEST, "a request is one JSON object with a method and an id")
        if "method" not in request and ("result" in request or "error" in request):
            return None  # a response: we send the client no requests
        if not isinstance(request.get("method"), str):
            raise _Mistake(INVALID_REQUEST, "the request has no method")
        if "id" not in request:
            return None
        result = _result(request["method"], request.get("params"), call_tool)
    except _Mistake as error:
        number = number if isinstance(number, str | int | float) else None
        return _line({"id": number, "error": {"code": error.code, "message": str(error)}})
    except Exception as error:  # noqa: BLE001  # a defect of ours must not end the server
        traceback.print_exc(file=sys.stderr)
        return _line({"id": number, "error": {"code": INTERNAL_ERROR, "message": f"{type(error).__name__}: {error}"}})
    return _line({"id": number, "result": result})


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _line(message: dict[str, Any]) -> bytes:
    # Escapes carry any text, also half a pair of surrogates.
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def _result(method: str, params: Any, call_tool: CallTool) -> dict[str, Any]:
    params = {} if params is None else params
    if not isinstance(params, dict):
        raise _Mistake(INVALID_PARAMS, "params must be an object")
    if method == "initialize":
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if isinstance(asked, str) else LATEST,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stenograph", "version": __version__},
            "instructions": INSTRUCTIONS,
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": list(TOOLS.values())}
    if method == "tools/call":
        return _called(params, call_tool)
    raise _Mistake(NO_SUCH_METHOD, f"no method {method!r} here")


def _called(params: dict[str, Any], call_tool: CallTool) -> dict[str, Any]:
    name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
    if not isinstance(name, str) or name not in TOOLS:
        raise _Mistake(INVALID_PARAMS, f"no tool {name!r}; tools: {', '.join(TOOLS)}")
    if not isinstance(arguments, dict | None):
        raise _Mistake(INVALID_PARAMS, "arguments must be an object")
    text, is_error = call_tool(name, arguments or {}, meta if isinstance(meta, dict) else {})
    return {"content": [{"type": "text", "text": text}], "isError": is_error}
