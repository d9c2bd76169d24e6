"""Counts the stream of Qwen Code with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def count(path: Path) -> dict[str, Any]:
    """What one stream holds: ids of calls and results, texts, tokens by answer."""
    lines = [line for line in Path(path).read_bytes().split(b"\n") if line.strip()]
    records = [json.loads(line) for line in lines]
    records = [each for each in records if not _is_failure(each)]
    blocks = [block for each in records if each["type"] == "assistant" for block in each["message"]["content"]]
    said = [block for each in records if each["type"] == "user" for block in each["message"]["content"]]
    results = [block for block in said if block["type"] == "tool_result"]
    tasks = [block for block in said if block["type"] == "text" and not block["text"].startswith("Background agent ")]
    answers = _answers(records)
    bills = {answer[0]["message"]["id"]: answer[-1]["message"]["usage"] for answer in answers}
    bills = {name: bill for name, bill in bills.items() if bill["input_tokens"]}
    return {
        "tool_uses": [block["id"] for block in blocks if block["type"] == "tool_use"],
        "tool_results": [block["tool_use_id"] for block in results],
        "failed_results": [block["tool_use_id"] for block in results if block["is_error"]],
        "text": "".join(block["text"] for block in blocks if block["type"] == "text"),
        "thinking": "".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
        "input_tokens": {name: bill["input_tokens"] for name, bill in bills.items()},
        "output_tokens": {name: bill["output_tokens"] for name, bill in bills.items()},
        "cached_tokens": {name: bill.get("cache_read_input_tokens") or 0 for name, bill in bills.items()},
        "messages": {"user": len(tasks), "assistant": len(answers)},
        "lines": len(lines),
    }


def _is_failure(record: dict[str, Any]) -> bool:
    """Whether a line stands in the place of an answer that never came."""
    blocks = record["message"]["content"] if record["type"] == "assistant" else []
    return any(block.get("text", "").startswith("[API Error: ") for block in blocks)


def _answers(records: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The lines of each answer: up to the one that has its tokens, or until something else is said."""
    answers: list[list[dict[str, Any]]] = []
    is_open = False
    for each in records:
        if each["type"] == "assistant":
            if not is_open:
                answers.append([])
            answers[-1].append(each)
            is_open = not each["message"]["usage"]["input_tokens"]
        elif each["type"] in ("user", "result"):
            is_open = False
    return answers
