"""Counts a session of pi with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def count(path: Path) -> dict[str, Any]:
    """What one file holds: ids of calls and results, texts, tokens by entry, non-empty lines."""
    lines = [line for line in Path(path).read_bytes().split(b"\n") if line.strip()]
    records = []
    for line in lines:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return {**count_entries(records), "lines": len(lines)}


def count_entries(records: list[Any]) -> dict[str, Any]:
    """What the entries of a session hold."""
    entries = [each for each in records if isinstance(each, dict)]
    spoken = [(each.get("id"), each["message"]) for each in entries if each["type"] == "message"]
    answers = [(name, message) for name, message in spoken if message["role"] == "assistant"]
    parts = [part for _, message in answers for part in message["content"]]
    results = [message for _, message in spoken if message["role"] == "toolResult"]
    typed = [(name, message) for name, message in spoken if message["role"] == "bashExecution"]
    failed = [message["toolCallId"] for message in results if message.get("isError")]
    failed += [name for name, message in typed if message.get("exitCode") or message.get("cancelled")]
    bills = {name: message["usage"] for name, message in answers if message.get("usage")}
    bills |= {each.get("id"): each["usage"] for each in entries if isinstance(each.get("usage"), dict)}
    bills = {name: bill for name, bill in bills.items() if name and _input(bill) + bill["output"]}
    said = [message for _, message in answers if message["content"] or message.get("stopReason") not in _FAILED]
    order = {name: number for number, name in enumerate(_names(spoken))}
    return {
        "tool_uses": sorted({*_calls(parts), *(name for name, _ in typed)}, key=order.__getitem__),
        "tool_results": sorted({_result(name, message) for name, message in spoken} - {None}, key=order.__getitem__),
        "failed_results": sorted(set(failed), key=order.__getitem__),
        "text": "".join(part["text"] for part in parts if part["type"] == "text"),
        "thinking": "".join(part["thinking"] for part in parts if part["type"] == "thinking"),
        "input_tokens": {name: _input(bill) for name, bill in bills.items()},
        "output_tokens": {name: bill["output"] for name, bill in bills.items()},
        "cached_tokens": {name: bill.get("cacheRead") or 0 for name, bill in bills.items()},
        "reasoning_tokens": {
            name: bill.get("reasoning") or bill.get("reasoningTokens") or 0 for name, bill in bills.items()
        },
        "messages": {"user": sum(message["role"] == "user" for _, message in spoken), "assistant": len(said)},
    }


_FAILED = ("error", "aborted")


def _input(bill: dict[str, Any]) -> int:
    """What was cached stands beside the rest."""
    return int(bill["input"]) + int(bill.get("cacheRead") or 0) + int(bill.get("cacheWrite") or 0)


def _calls(parts: list[dict[str, Any]]) -> list[str]:
    return [part["id"] for part in parts if part["type"] == "toolCall"]


def _result(name: str | None, message: dict[str, Any]) -> str | None:
    if message["role"] == "toolResult":
        return message["toolCallId"]  # type: ignore[no-any-return]
    return name if message["role"] == "bashExecution" else None


def _names(spoken: list[tuple[str | None, dict[str, Any]]]) -> list[str]:
    """Every id of a call, in the order in which it is first met."""
    found: list[str] = []
    for name, message in spoken:
        if message["role"] == "assistant":
            found += _calls(message["content"])
        elif (result := _result(name, message)) is not None:
            found.append(result)
    return list(dict.fromkeys(found))
