"""A fake Messages API (Anthropic): enough of it for Claude Code."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from agents.servers.loopback import Refusal, Reply
from agents.servers.script import Call, Part, Scripts, Text, Thinking, answer, marked

SIGNATURE = "RkFLRVNJRw=="


class MessagesApi:
    """Plays scripts; `answers` has every answer's id with its output tokens, `scripted` those of scripts only."""

    def __init__(self, scripts: Scripts) -> None:
        self.refusals = 0
        """So many requests are refused before the next one is answered, as by a server that has too much to do."""
        self.answers: dict[str, int] = {}
        self.scripted: dict[str, int] = {}
        self._scripts = scripts
        self._numbers = itertools.count(1)

    def play(self, scripts: Scripts) -> None:
        """Takes more scripts."""
        self._scripts = {**self._scripts, **scripts}

    def __call__(self, path: str, body: dict[str, Any]) -> Reply:
        """The answer to one request."""
        if path.endswith("/count_tokens"):
            return {"input_tokens": 42}
        if not path.endswith("/messages"):
            return {}
        name, step = _place(body["messages"])
        if name is not None and self.refusals:
            self.refusals -= 1
            return Refusal(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        message = {
            "id": f"msg_{uuid4().hex[:24]}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [_block(part, body) for part in answer(self._scripts, name, step)],
            "stop_sequence": None,
        }
        used_tool = any(block["type"] == "tool_use" for block in message["content"])
        message["stop_reason"] = "tool_use" if used_tool else "end_turn"
        tokens = 50 + next(self._numbers)
        message["usage"] = {
            "input_tokens": 100,
            "cache_creation_input_tokens": 20,
            "cache_read_input_tokens": 3000,
            "output_tokens": tokens,
        }
        self.answers[message["id"]] = tokens
        if name is not None:
            self.scripted[message["id"]] = tokens
        return _events(message) if body.get("stream") else message


def _place(messages: list[dict[str, Any]]) -> tuple[str | None, int]:
    """The script that the conversation plays, and how far it has come."""
    answered = set()  # by their ids: 1.0 sends the same exchange twice
    for message in reversed(messages):
        content = message["content"]
        for block in reversed([] if isinstance(content, str) else content):
            if block["type"] == "tool_result":
                answered.add(block["tool_use_id"])
            elif block["type"] == "text" and message["role"] == "user" and (name := marked(block["text"])):
                return name, len(answered)
        if isinstance(content, str) and message["role"] == "user" and (name := marked(content)):
            return name, len(answered)
    return None, 0


def _block(part: Part, body: dict[str, Any]) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text):
            return {"type": "thinking", "thinking": text, "signature": SIGNATURE}
        case Call(name, arguments):
            tools = {tool["name"]: tool for tool in body.get("tools") or []}
            if name == "agent":
                name = "Agent" if "Agent" in tools else "Task"
            properties = tools.get(name, {}).get("input_schema", {}).get("properties", arguments)
            known = {key: value for key, value in arguments.items() if key in properties}
            return {"type": "tool_use", "id": f"toolu_{uuid4().hex[:24]}", "name": name, "input": known}


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    usage = message["usage"]
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        start, deltas = _pieces(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and what is added to it."""
    match block["type"]:
        case "text":
            middle = len(block["text"]) // 2
            halves = [block["text"][:middle], block["text"][middle:]]
            return {**block, "text": ""}, [{"type": "text_delta", "text": half} for half in halves]
        case "thinking":
            return {**block, "thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case _:
            whole = json.dumps(block["input"], ensure_ascii=False)
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": whole}]
