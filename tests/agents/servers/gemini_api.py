"""A fake Gemini API: enough of it for Gemini CLI."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents.servers.loopback import Reply
from agents.servers.script import Call, Part, Scripts, Text, Thinking, answer, marked

INPUT, CACHED, THOUGHTS = 1000, 400, 7
"""Tokens that every answer reports; those of its words differ."""


SNAPSHOT = "<state_snapshot>\n  <overall_goal>見てみる。</overall_goal>\n</state_snapshot>"
"""What it answers when the program asks on its own account, such as for a summary of everything."""


@dataclass(frozen=True)
class Answer:
    """What the model said once."""

    script: str
    parts: tuple[Part, ...]
    tokens: int
    """Of the answer without its thoughts."""


class GeminiApi:
    """Plays scripts; remembers every scripted answer, and what it was told that tools gave."""

    def __init__(self, scripts: Scripts) -> None:
        self.answers: list[Answer] = []
        self.told: list[dict[str, Any]] = []
        """Function responses, each as it was first sent."""
        self._scripts = scripts

    def play(self, scripts: Scripts) -> None:
        """Takes more scripts."""
        self._scripts = {**self._scripts, **scripts}

    def __call__(self, path: str, body: dict[str, Any]) -> Reply:
        """The answer to one request; those without tools are the program's own (a summary, a check)."""
        name, step = _place(body.get("contents") or [])
        if ":countTokens" in path:
            return {"totalTokens": 42}
        if not body.get("tools"):
            return _event([{"text": SNAPSHOT}], 1, "STOP")
        self._listen(body["contents"])
        said = Answer(name or "", tuple(answer(self._scripts, name, step)), 20 + len(self.answers))
        self.answers.append(said)
        if ":streamGenerateContent" in path:
            return _events(said)
        return _event([_part(part) for part in said.parts], said.tokens, "STOP")

    def _listen(self, contents: list[dict[str, Any]]) -> None:
        for part in (part for content in contents for part in content.get("parts") or []):
            response = part.get("functionResponse")
            if response is not None and response not in self.told:
                self.told.append(response)


def _place(contents: list[dict[str, Any]]) -> tuple[str | None, int]:
    """The script that the conversation plays, and how far it has come: answers since the prompt."""
    step = 0
    for content in reversed(contents):
        if content.get("role") == "model":
            step += 1
            continue
        text = "".join(part.get("text") or "" for part in content.get("parts") or [])
        if name := marked(text):
            return name, step
    return None, 0


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"text": text}
        case Thinking(text):
            return {"text": text, "thought": True}
        case Call(name, arguments):
            return {"functionCall": {"name": name, "args": dict(arguments)}}


def _events(said: Answer) -> Iterator[dict[str, Any]]:
    """Thoughts and calls whole, texts in two pieces; the last event has the reason to stop."""
    parts: list[list[dict[str, Any]]] = []
    for part in said.parts:
        if isinstance(part, Text):
            middle = len(part.text) // 2
            parts += [[{"text": part.text[:middle]}], [{"text": part.text[middle:]}]]
        else:
            parts.append([_part(part)])
    for number, each in enumerate(parts, 1):
        yield _event(each, said.tokens, "STOP" if number == len(parts) else None)


def _event(parts: list[dict[str, Any]], tokens: int, reason: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    usage = {
        "promptTokenCount": INPUT,
        "cachedContentTokenCount": CACHED,
        "candidatesTokenCount": tokens,
        "thoughtsTokenCount": THOUGHTS,
        "totalTokenCount": INPUT + tokens + THOUGHTS,
    }
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"}
