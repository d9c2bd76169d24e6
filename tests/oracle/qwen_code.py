"""Counts a session file of Qwen Code with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

_PEOPLE = (None, "mid_turn_user_message", "realtime_message")


def count(path: Path) -> dict[str, Any]:
    """What one file holds: ids of calls and results, texts, tokens by answer, non-empty lines."""
    lines = [line for line in Path(path).read_bytes().split(b"\n") if line.strip()]
    records = []
    for line in lines:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    records = [each for each in records if isinstance(each, dict)]
    answers = [each for each in records if each["type"] == "assistant"]
    results = [each for each in records if each["type"] == "tool_result"]
    parts = [part for each in answers for part in each["message"]["parts"]]
    bills = {
        each["uuid"]: each["usageMetadata"] for each in answers if "promptTokenCount" in each.get("usageMetadata", {})
    }
    names = {each["uuid"] for each in answers}  # records with one id are one message
    people = [each for each in records if each["type"] == "user" and each.get("subtype") in _PEOPLE]
    return {
        "tool_uses": [part["functionCall"]["id"] for part in parts if "functionCall" in part],
        "tool_results": [_id(each) for each in results],
        "failed_results": [_id(each) for each in results if _has_failed(each)],
        "text": "".join(part["text"] for part in parts if "text" in part and not part.get("thought")),
        "thinking": "".join(part["text"] for part in parts if "text" in part and part.get("thought")),
        "input_tokens": {name: bill["promptTokenCount"] for name, bill in bills.items()},
        "output_tokens": {name: _output(bill) for name, bill in bills.items()},
        "cached_tokens": {name: bill.get("cachedContentTokenCount") or 0 for name, bill in bills.items()},
        "reasoning_tokens": {name: bill.get("thoughtsTokenCount") or 0 for name, bill in bills.items()},
        "messages": {"user": len(people), "assistant": len(names) - len(_second_halves(records))},
        "lines": len(lines),
    }


def _id(record: dict[str, Any]) -> str:
    responses = [part["functionResponse"] for part in record["message"]["parts"] if "functionResponse" in part]
    return responses[0]["id"] if responses else record["toolCallResult"]["callId"]  # type: ignore[no-any-return]


def _has_failed(record: dict[str, Any]) -> bool:
    """By its status; a subagent's file has none, and an error in place of an output."""
    status = record.get("toolCallResult", {}).get("status")
    if status is not None:
        return status in ("error", "cancelled")
    return any("error" in part["functionResponse"]["response"] for part in record["message"]["parts"])


def _output(bill: dict[str, Any]) -> int:
    """The thoughts are inside, unless the total needs them beside the rest."""
    thoughts, output = bill.get("thoughtsTokenCount") or 0, bill.get("candidatesTokenCount") or 0
    beside = bill.get("totalTokenCount", 0) - bill["promptTokenCount"] - output
    return int(output + (thoughts if beside == thoughts else 0))


def _second_halves(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls of a subagent, which follow the words of the same answer in a record of their own."""
    return [
        after
        for before, after in pairwise(records)
        if after.get("agentId") and before["type"] == after["type"] == "assistant" and not after.get("usageMetadata")
    ]
