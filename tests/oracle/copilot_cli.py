"""Counts a session file of Copilot CLI with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def count(path: Path) -> dict[str, Any]:
    """What one file holds: ids of calls and results, texts, tokens by answer, non-empty lines."""
    lines = [line for line in Path(path).read_bytes().split(b"\n") if line.strip()]
    records = records_of(lines)
    told = {(_agent(each), _body(each).get("reasoningText")) for each in _of(records, "assistant.message")}
    speaking = _of(records, "assistant.message")
    speaking += [each for each in _of(records, "assistant.reasoning") if _thought(each, told)]
    answers = {(_agent(each), _name(each) or id(each)) for each in speaking}
    people = [each for each in _of(records, "user.message") if not _body(each).get("source") or _agent(each)]
    messages = {"user": len(people), "assistant": len(answers)}
    return {**count_records(records), "messages": messages, "lines": len(lines)}


def records_of(lines: list[bytes]) -> list[dict[str, Any]]:
    """The lines that are records: objects with a type and a body."""
    found = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and isinstance(record.get("data"), dict):
            found.append(record)
    return found


def count_records(records: list[dict[str, Any]]) -> dict[str, Any]:
    """What the whole records hold."""
    thoughts = {(_agent(each), _body(each).get("reasoningText")) for each in _of(records, "assistant.message")}
    bills = [_body(each)["usage"] for each in _of(records, "session.usage_record")]
    return {
        "tool_uses": list(dict.fromkeys(_calls(records))),
        "tool_results": list(dict.fromkeys(each["toolCallId"] for each in _results(records))),
        "failed_results": list(
            dict.fromkeys(each["toolCallId"] for each in _results(records) if each.get("success") is False)
        ),
        "text": "".join(_body(each).get("content") or "" for each in _of(records, "assistant.message")),
        "thinking": "".join(_thought(each, thoughts) for each in records),
        "input_tokens": {bill["apiCallId"]: bill["inputTokens"] for bill in bills},
        "output_tokens": {bill["apiCallId"]: bill["outputTokens"] for bill in bills},
        "cached_tokens": {bill["apiCallId"]: bill.get("cacheReadTokens", 0) for bill in bills},
        "reasoning_tokens": {bill["apiCallId"]: bill.get("reasoningTokens", 0) for bill in bills},
    }


def _body(record: dict[str, Any]) -> dict[str, Any]:
    return record["data"]  # type: ignore[no-any-return]


def _of(records: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [record for record in records if record.get("type") == kind]


def _calls(records: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for record in records:
        if record["type"] == "assistant.message":
            found += [wish["toolCallId"] for wish in _body(record).get("toolRequests") or []]
        elif record["type"] in ("tool.execution_start", "tool.user_requested"):
            found.append(_body(record)["toolCallId"])
    return found


def _results(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_body(record) for record in _of(records, "tool.execution_complete")]


def _name(record: dict[str, Any]) -> str | None:
    return _body(record).get("messageId") or _body(record).get("reasoningId")


def _agent(record: dict[str, Any]) -> str | None:
    return record.get("agentId") or _body(record).get("parentToolCallId")


def _thought(record: dict[str, Any], in_messages: set[tuple[str | None, str | None]]) -> str:
    """The thought of a message, or one that stands alone and in no message of the same agent."""
    if record["type"] == "assistant.message":
        return _body(record).get("reasoningText") or ""
    alone = _body(record).get("content") if record["type"] == "assistant.reasoning" else None
    return alone if isinstance(alone, str) and (_agent(record), alone) not in in_messages else ""
