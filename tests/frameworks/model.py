"""A fake model on loopback for frameworks: Chat Completions, whole or streamed, and Gemini."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from agents.servers.chat_api import ChatApi
from agents.servers.gemini_api import GeminiApi
from agents.servers.loopback import Refusal, Reply
from agents.servers.script import Call, Scripts, Text, Thinking, mark, marked

PROMPT = f"Please look around, 请仔细看。 {mark('main')}"
NEXT_PROMPT = f"そして？ {mark('next')}"
FAILING_PROMPT = f"Please fail. {mark('fail')}"
THOUGHT = "考え中… first a command."
FIRST_TEXT = "I'll run a command. 見てみます。"
COMMAND = "printf '漢字かな 한국어'"
OUTPUT = "漢字かな 한국어"
FAILING_TEXT = "This will fail."
FAILING_COMMAND = "echo out-text; exit 3"
FINAL_TEXT = "完了しました 🎉 All of it is done."
NEXT_TEXT = "以上です。"
REASON = "the model refuses this on purpose"
SCRIPTS: Scripts = {
    "main": [
        [Thinking(THOUGHT), Text(FIRST_TEXT), Call("shell", {"command": COMMAND})],
        [Text(FAILING_TEXT), Call("shell", {"command": FAILING_COMMAND})],
        [Text(FINAL_TEXT)],
    ],
    "next": [[Text(NEXT_TEXT)]],
}


class Model:
    """Answers both APIs; `told` has what tools gave, as the model was told it."""

    def __init__(self) -> None:
        self._chat = ChatApi(SCRIPTS)
        self._gemini = GeminiApi(SCRIPTS)

    @property
    def told(self) -> list[str]:
        """What tools gave."""
        return [*self._chat.told.values(), *(json.dumps(each["response"]) for each in self._gemini.told)]

    @property
    def tokens(self) -> int:
        """What all answers together took, thoughts included."""
        scripted = [*self._chat.tokens, *(each.tokens for each in self._gemini.answers)]
        return sum(each + 7 for each in scripted)

    def __call__(self, path: str, body: dict[str, Any]) -> Reply:
        """The answer to one request."""
        talk = json.dumps(body.get("messages") or body.get("contents"), ensure_ascii=False)
        if marked(talk) == "fail":
            return Refusal(400, {"error": {"message": REASON, "type": "invalid_request_error", "code": 400}})
        if "messages" not in body:
            return self._gemini(path, body)
        reply = self._chat(path, {**body, "tools": body.get("tools") or [{}]})
        return reply if body.get("stream") or isinstance(reply, dict) else _whole(reply)


def _whole(chunks: Iterable[Any]) -> dict[str, Any]:
    """A stream's answer as one document."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    found: dict[str, Any] = {}
    reason = None
    for chunk in chunks:
        found = {**found, **chunk, "object": "chat.completion"}
        for choice in chunk["choices"]:
            delta = choice["delta"]
            message["content"] += delta.get("content") or ""
            if "reasoning_content" in delta:
                message["reasoning_content"] = delta["reasoning_content"]
            message.setdefault("tool_calls", []).extend(
                {name: each[name] for name in ("id", "type", "function")} for each in delta.get("tool_calls", [])
            )
            reason = choice["finish_reason"] or reason
    if not message["tool_calls"]:
        del message["tool_calls"]
    return {**found, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
