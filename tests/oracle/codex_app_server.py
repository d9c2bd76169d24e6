"""Counts a recording of `codex app-server`, naively: nothing but `json`, written from the facts of the protocol.

A tool item is a call when it is first seen and a result when it completes; a dynamic tool also by the server's request
and the client's answer. Text counts when its item completes, or as its deltas told it when the answer broke off (an
error, or the end of the turn or of the file). Usage has no id of its answer, so turn and thread total stand for it,
unless raw events name the answer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_TOOLS = {
    "commandExecution", "fileChange", "mcpToolCall", "dynamicToolCall", "collabAgentToolCall", "webSearch", "imageView",
    "imageGeneration",
}  # fmt: skip


def count(path: Path) -> dict[str, Any]:
    """What one file holds: ids of calls and results, texts, tokens by answer, non-empty lines."""
    lines = [line for line in Path(path).read_bytes().split(b"\n") if line.strip()]
    messages = [_message(line) for line in lines]
    text, thinking = _said(messages)
    return {
        **_tools(messages),
        "text": text,
        "thinking": thinking,
        "output_tokens": _tokens(messages),
        "lines": len(lines),
    }


def _message(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    if not isinstance(record, dict):
        return {}
    inner = record.get("msg") if "dir" in record else record
    return inner if isinstance(inner, dict) else {}


def _params(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _tools(messages: list[dict[str, Any]]) -> dict[str, list[str]]:
    uses: list[str] = []
    results: list[str] = []
    failed: list[str] = []
    asked: dict[Any, str] = {}
    for message in messages:
        method, params = message.get("method"), _params(message)
        item = params.get("item") or {}
        if method == "item/tool/call":
            uses.append(params["callId"])
            asked[message["id"]] = params["callId"]
        elif method in ("item/started", "item/completed") and item.get("type") in _TOOLS:
            uses.append(item["id"])
            if method == "item/completed":
                results.append(item["id"])
                if item.get("status") in ("failed", "declined"):
                    failed.append(item["id"])
        elif method is None and isinstance(message.get("result"), dict) and "contentItems" in message["result"]:
            results.append(asked[message["id"]])
            if message["result"].get("success") is False:
                failed.append(asked[message["id"]])
    return {
        "tool_uses": list(dict.fromkeys(uses)),
        "tool_results": list(dict.fromkeys(results)),
        "failed_results": list(dict.fromkeys(failed)),
    }


def _said(messages: list[dict[str, Any]]) -> tuple[str, str]:
    text: list[str] = []
    thinking: list[str] = []
    streaming: dict[tuple[Any, str], list[str]] = {}
    for message in messages:
        method, params = message.get("method"), _params(message)
        item, thread = params.get("item") or {}, params.get("threadId")
        if method == "item/agentMessage/delta":
            streaming.setdefault((thread, params["itemId"]), []).append(params["delta"])
        elif method == "item/completed" and item.get("type") == "agentMessage":
            streaming.pop((thread, item["id"]), None)
            text.append(item["text"])
        elif method == "item/completed" and item.get("type") == "reasoning":
            thinking += [*item["summary"], *item["content"]]
        elif method in ("turn/completed", "error"):
            for key in [key for key in streaming if key[0] == thread]:
                text += streaming.pop(key)
    text += [piece for pieces in streaming.values() for piece in pieces]
    return "".join(text), "".join(thinking)


def _tokens(messages: list[dict[str, Any]]) -> dict[str, int]:
    named: dict[str, int] = {}
    found: dict[str, int] = {}
    thread = None
    for message in messages:
        method, params = message.get("method"), _params(message)
        thread = params.get("threadId") or params.get("conversationId") or thread
        if method == "rawResponse/completed":
            name, turn = params["responseId"], params.get("turnId")
            is_number = len(name) < 16  # as scripted and local servers give; real ids are random and long
            named[f"{turn}:{name}" if is_number and turn else name] = params["usage"]["outputTokens"]
        elif method == "thread/tokenUsage/updated":
            last, total = params["tokenUsage"]["last"], params["tokenUsage"]["total"]
            if last["inputTokens"] or last["outputTokens"]:
                found[_answer(thread, params["turnId"], total["totalTokens"])] = last["outputTokens"]
        elif method == "codex/event/token_count" and params["msg"]["info"]:
            info = params["msg"]["info"]
            answer = _answer(thread, params["id"], info["total_token_usage"]["total_tokens"])
            found.setdefault(answer, info["last_token_usage"]["output_tokens"])
    return named or found


def _answer(thread: Any, turn: str, total: int) -> str:
    """Turns are UUIDs; those of 0.63 and 0.98 are numbers that say little without their thread."""
    return f"{turn}:{total}" if len(turn) == 36 else f"{thread}:{turn}:{total}"
