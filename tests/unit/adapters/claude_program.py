"""A stand-in for the `claude` program: speaks to the real SDK over stdin and stdout, and writes a session as it does.

The words of the prompt say what happens. Run by `test_claude_adapter.py` as a process of its own.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

SESSION = "550e8400-e29b-41d4-a716-446655440000"
AGENT = "a0123456789abcdef"
VERSION = "2.1.325"

_numbers = itertools.count(1)


class Program:
    """One process: a session file, and the talk with the SDK."""

    def __init__(self) -> None:
        self.path = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "p" / f"{SESSION}.jsonl"
        self.hooks: dict[str, list[str]] = {}

    def say(self, **message: Any) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def hear(self) -> dict[str, Any]:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        return dict(json.loads(line))

    def ask(self, **request: Any) -> dict[str, Any]:
        """Ask the SDK for something, and wait for its answer."""
        number = f"ours-{next(_numbers)}"
        self.say(type="control_request", request_id=number, request=request)
        while True:
            message = self.hear()
            if message["type"] == "control_response" and message["response"]["request_id"] == number:
                return dict(message["response"]["response"])

    def write(self, type: str, path: Path | None = None, **fields: Any) -> None:
        path = path or self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        stamp = f"2026-11-16T00:00:{next(_numbers) % 60:02}.000Z"
        common = {
            "uuid": f"u{next(_numbers)}",
            "timestamp": stamp,
            "sessionId": SESSION,
            "cwd": "/",
            "version": "2.1.0",
        }
        with path.open("a") as file:
            file.write(json.dumps({"type": type, **common, **fields}) + "\n")

    def hook(self, event: str) -> None:
        for callback in self.hooks.get(event, []):
            given = {"hook_event_name": event, "transcript_path": str(self.path), "session_id": SESSION, "cwd": "/"}
            self.ask(subtype="hook_callback", callback_id=callback, input=given, tool_use_id=None)

    def run(self) -> None:
        while True:
            message = self.hear()
            if message["type"] == "control_request":
                self.control(message)
            elif message["type"] == "user":
                self.turn(message["message"]["content"])

    def control(self, message: dict[str, Any]) -> None:
        request = message["request"]
        for event, matchers in (request.get("hooks") or {}).items():
            self.hooks[event] = [number for matcher in matchers for number in matcher["hookCallbackIds"]]
        if request["subtype"] == "interrupt":  # written first: whoever has the answer may end us
            self.write(
                "user", message={"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}
            )
        answer = {"subtype": "success", "request_id": message["request_id"], "response": {"commands": []}}
        self.say(type="control_response", response=answer)

    def turn(self, prompt: str) -> None:
        self.hook("UserPromptSubmit")
        self.say(type="system", subtype="init", session_id=SESSION, claude_code_version=VERSION)
        self.write("user", message={"role": "user", "content": prompt})
        if "die" in prompt:
            sys.stderr.write("no strength left\n")
            sys.exit(3)
        if "hang" in prompt:
            return
        if "add" in prompt:
            self.use_tool()
        if "subagent" in prompt:
            self.subagent()
        self.hook("Stop")
        self.answer("Sorry." if "fail" in prompt else "Hello yourself.", failed="fail" in prompt)

    def answer(self, text: str, *, failed: bool = False) -> None:
        self.blocks("assistant", [{"type": "text", "text": text}])
        usage = {
            "m": {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 30, "cacheCreationInputTokens": 400}
        }
        common = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "session_id": SESSION, "total_cost_usd": 0.0}
        self.say(type="result", subtype="success", is_error=failed, result=text, usage={}, modelUsage=usage, **common)

    def blocks(self, role: str, content: list[dict[str, Any]], path: Path | None = None) -> None:
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{next(_numbers)}", "model": "m", "usage": {"input_tokens": 1, "output_tokens": 2}}
        if path is None:
            self.say(type=role, message=message, session_id=SESSION, parent_tool_use_id=None, uuid="u")
        time.sleep(0.05)  # the file comes later than the word
        self.write(role, path, message=message)

    def use_tool(self) -> None:
        call = {"type": "tool_use", "id": "toolu_1", "name": "mcp__stenograph__add", "input": {"a": 1, "b": 2}}
        self.blocks("assistant", [call])
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        self.tell_server("initialize", client)
        given = self.tell_server("tools/call", {"name": "add", "arguments": call["input"]})
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": given["content"]}
        self.blocks("user", [{**result, "is_error": given.get("isError", False)}])

    def tell_server(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": next(_numbers), "method": method, "params": params}
        answer = self.ask(subtype="mcp_message", server_name="stenograph", message=message)["mcp_response"]
        assert "result" in answer, answer
        return dict(answer["result"])

    def subagent(self) -> None:
        path = self.path.with_suffix("") / "subagents" / f"agent-{AGENT}.jsonl"
        self.write("user", path, isSidechain=True, agentId=AGENT, message={"role": "user", "content": "Count."})
        self.blocks("assistant", [{"type": "text", "text": "Three."}], path)


if __name__ == "__main__":
    Program().run()
