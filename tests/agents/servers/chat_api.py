"""A fake Chat Completions API (OpenAI and its imitators): enough of it for OpenCode."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from agents.servers.loopback import Reply
from agents.servers.script import Call, Part, Scripts, Text, Thinking, answer, marked

INPUT, CACHED, THOUGHTS = 1000, 400, 7
"""Tokens that every answer reports; those of its words differ."""


class ChatApi:
    """Plays scripts; `tokens` has what the words of each scripted answer took, `told` what tools gave, by call."""

    def __init__(self, scripts: Scripts) -> None:
        self.tokens: list[int] = []
        self.told: dict[str, str] = {}
        self._scripts = scripts

    def play(self, scripts: Scripts) -> None:
        """Takes more scripts."""
        self._scripts = {**self._scripts, **scripts}

    def __call__(self, path: str, body: dict[str, Any]) -> Reply:
        """The answer to one request; those without tools are the program's own (a title)."""
        name, step = _place(body["messages"])
        if not body.get("tools"):
            return _chunks(body, [Text("A title")], 1)
        self.told |= {each["tool_call_id"]: each["content"] for each in body["messages"] if each["role"] == "tool"}
        self.tokens.append(20 + len(self.tokens))
        return _chunks(body, answer(self._scripts, name, step), self.tokens[-1])


def _place(messages: list[dict[str, Any]]) -> tuple[str | None, int]:
    """The script that the conversation plays, and how far it has come: answers since the prompt."""
    step = 0
    for message in reversed(messages):
        if message["role"] == "assistant":
            step += 1
        elif message["role"] == "user" and (name := marked(json.dumps(message["content"], ensure_ascii=False))):
            return name, step
    return None, 0


def _chunks(body: dict[str, Any], parts: Any, tokens: int) -> Iterator[dict[str, Any]]:
    common = {"id": f"chatcmpl-{uuid4().hex}", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}

    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
        return {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}

    yield chunk({"role": "assistant", "content": ""})
    for number, part in enumerate(parts):
        yield chunk(_delta(part, number))
    yield chunk({}, "tool_calls" if any(isinstance(part, Call) for part in parts) else "stop")
    yield {
        **common,
        "choices": [],
        "usage": {
            "prompt_tokens": INPUT,
            "completion_tokens": tokens + THOUGHTS,
            "total_tokens": INPUT + tokens + THOUGHTS,
            "prompt_tokens_details": {"cached_tokens": CACHED},
            "completion_tokens_details": {"reasoning_tokens": THOUGHTS},
        },
    }


def _delta(part: Part, number: int) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"content": text}
        case Thinking(text):
            return {"reasoning_content": text}
        case Call(name, arguments):
            function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            call = {"index": number, "id": f"call_{uuid4().hex[:12]}", "type": "function", "function": function}
            return {"tool_calls": [call]}
