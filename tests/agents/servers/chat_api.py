"""A fake Chat Completions API (OpenAI and its imitators), streamed or whole, for the agents that can talk to one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

from agents.servers.loopback import Reply
from agents.servers.script import Call, Part, Scripts, Text, Thinking, answer, marked

INPUT, CACHED, THOUGHTS = 1000, 400, 7
"""Tokens that every answer reports; those of its words differ."""


class ChatApi:
    """Plays scripts; `tokens` has what the words of each scripted answer took, `told` what tools gave, by call.

    A request without tools is the program's own (a title) and gets a word, unless the agent works `without_tools`: it
    then writes its calls into the text, and a request is scripted when it names a script.
    """

    models = ("fake-model",)
    """What `GET /models` lists."""

    def __init__(self, scripts: Scripts, *, without_tools: bool = False) -> None:
        self.tokens: list[int] = []
        self.told: dict[str, str] = {}
        self._scripts = scripts
        self._without_tools = without_tools

    @property
    def totals(self) -> dict[str, int]:
        """What all scripted answers took, under the names of `steno stats`."""
        answers = len(self.tokens)
        return {
            "input_tokens": INPUT * answers,
            "cache_read_input_tokens": CACHED * answers,
            "output_tokens": sum(self.tokens) + THOUGHTS * answers,
            "reasoning_output_tokens": THOUGHTS * answers,
        }

    def play(self, scripts: Scripts) -> None:
        """Takes more scripts."""
        self._scripts = {**self._scripts, **scripts}

    def __call__(self, path: str, body: dict[str, Any]) -> Reply:
        """The answer to one request."""
        name, step = _place(body["messages"])
        if name is None if self._without_tools else not body.get("tools"):
            return _reply(body, [Text("A title")], 1)
        self.told |= {each["tool_call_id"]: each["content"] for each in body["messages"] if each["role"] == "tool"}
        self.tokens.append(20 + len(self.tokens))
        return _reply(body, answer(self._scripts, name, step), self.tokens[-1])


def _place(messages: list[dict[str, Any]]) -> tuple[str | None, int]:
    """The script that the conversation plays, and how far it has come: answers since the prompt."""
    step = 0
    for message in reversed(messages):
        if message["role"] == "assistant":
            step += 1
        elif message["role"] == "user" and (name := marked(json.dumps(message["content"], ensure_ascii=False))):
            return name, step
    return None, 0


def _reply(body: dict[str, Any], parts: Sequence[Part], tokens: int) -> Reply:
    return _chunks(body, parts, tokens) if body.get("stream") else _whole(body, parts, tokens)


def _chunks(body: dict[str, Any], parts: Sequence[Part], tokens: int) -> Iterator[dict[str, Any]]:
    common = {"id": f"chatcmpl-{uuid4().hex}", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}

    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
        return {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}

    yield chunk({"role": "assistant", "content": ""})
    for number, part in enumerate(parts):
        yield chunk(_delta(part, number))
    yield chunk({}, _reason(parts))
    yield {**common, "choices": [], "usage": _usage(tokens)}


def _whole(body: dict[str, Any], parts: Sequence[Part], tokens: int) -> dict[str, Any]:
    """The same answer for a program that does not stream."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    for number, part in enumerate(parts):
        for name, value in _delta(part, number).items():
            message[name] = value if message.get(name) is None else message[name] + value
    choice = {"index": 0, "message": message, "finish_reason": _reason(parts)}
    common = {"id": f"chatcmpl-{uuid4().hex}", "object": "chat.completion", "created": 1, "model": body["model"]}
    return {**common, "choices": [choice], "usage": _usage(tokens)}


def _reason(parts: Sequence[Part]) -> str:
    return "tool_calls" if any(isinstance(part, Call) for part in parts) else "stop"


def _usage(tokens: int) -> dict[str, Any]:
    return {
        "prompt_tokens": INPUT,
        "completion_tokens": tokens + THOUGHTS,
        "total_tokens": INPUT + tokens + THOUGHTS,
        "prompt_tokens_details": {"cached_tokens": CACHED},
        "completion_tokens_details": {"reasoning_tokens": THOUGHTS},
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
