"""The MCP server by raw lines: what it answers, and that nothing a client sends ends it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.mcp.declared import TOOLS
from stenograph.mcp.server import answer_line, serve


def _echo(name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> tuple[str, bool]:
    return json.dumps([name, arguments, meta]), False


def _asked(request: Any) -> Any:
    line = answer_line(json.dumps(request).encode(), _echo)
    return None if line is None else json.loads(line)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25", "2099-01-01"])
def test_the_version_that_was_asked_for_is_echoed(version: str) -> None:
    """What we use is the same in all versions, so every client gets its own."""
    told = _asked({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": version}})
    assert told["result"]["protocolVersion"] == version
    assert told["result"]["capabilities"] == {"tools": {}}


def test_unknown_methods_are_refused_and_notifications_are_not_answered() -> None:
    """Claude Code asks for server/discover first and goes on when that is refused."""
    assert _asked({"jsonrpc": "2.0", "id": "a", "method": "server/discover"})["error"]["code"] == -32601
    assert _asked({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
    assert _asked({"jsonrpc": "2.0", "id": 5, "result": {}}) is None
    assert _asked({"jsonrpc": "2.0", "id": 7, "method": "ping"}) == {"jsonrpc": "2.0", "id": 7, "result": {}}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"NaN", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"1", -32600),
        (b'{"id": {"a": 1}, "method": "ping"}', -32600),
        (b'{"id": 1}', -32600),
        (b'{"id": 1, "method": "ping", "params": []}', -32602),
        (b'{"id": 1, "method": "tools/call", "params": {"name": "delete_run"}}', -32602),
        (b'{"id": 1, "method": "tools/call", "params": {"name": "list_runs", "arguments": 1}}', -32602),
    ],
)
def test_a_broken_line_is_an_error_with_its_code(line: bytes, code: int) -> None:
    """One line for each, and the server goes on."""
    answer = answer_line(line, _echo)
    assert answer is not None
    assert json.loads(answer)["error"]["code"] == code


def test_a_call_gives_its_arguments_and_meta_to_the_tool() -> None:
    """The text of the tool is the content of the answer."""
    params = {"name": "list_runs", "arguments": {"limit": 3}, "_meta": {"a": "b"}}
    told = _asked({"id": 1, "method": "tools/call", "params": params})
    assert told["result"]["isError"] is False
    assert json.loads(told["result"]["content"][0]["text"]) == ["list_runs", {"limit": 3}, {"a": "b"}]


def test_a_defect_of_a_tool_is_an_error_and_not_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    """The reason goes to standard error with its traceback, and the next request is answered."""

    def broken(*_: object) -> tuple[str, bool]:
        raise ZeroDivisionError("oh")

    lines = [b'{"id": 1, "method": "tools/call", "params": {"name": "list_runs"}}\n', b'{"id": 2, "method": "ping"}\n']
    output = io.BytesIO()
    serve(lines, output, broken)
    first, second = map(json.loads, output.getvalue().splitlines())
    assert first["error"] == {"code": -32603, "message": "ZeroDivisionError: oh"}
    assert second["result"] == {}
    assert "Traceback" in capsys.readouterr().err


def test_the_server_ends_when_nobody_reads() -> None:
    """A client that left is not an error."""

    class Gone(io.BytesIO):
        def write(self, data: Any) -> int:
            raise BrokenPipeError

    serve([b'{"id": 2, "method": "ping"}\n'] * 2, Gone(), _echo)


@given(st.binary(max_size=200))
def test_any_bytes_are_answered_by_one_line_or_none(data: bytes) -> None:
    """Whatever comes in, what goes out is one JSON object on one line."""
    answer = answer_line(data.replace(b"\n", b""), _echo)
    if answer is not None:
        assert answer.count(b"\n") == 1
        assert json.loads(answer)["jsonrpc"] == "2.0"


def test_every_tool_only_reads() -> None:
    """No tool deletes or writes, and each says so; names and first sentences are what agents choose by."""
    assert list(TOOLS) == ["search_history", "list_runs", "read_run", "run_stats", "find_file"]
    for tool in TOOLS.values():
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["inputSchema"]["additionalProperties"] is False
    assert len(json.dumps(list(TOOLS.values()))) < 8_000
