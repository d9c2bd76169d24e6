"""Counts sessions of Continue with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def count(path: Path) -> dict[str, Any]:
    """What a session holds; tokens by the place of the item in the history."""
    document = json.loads(path.read_text("utf-8"))
    uses, results, failed, text = [], [], [], []
    tokens: dict[str, dict[str, int]] = {
        "input_tokens": {}, "output_tokens": {}, "cached_tokens": {}, "reasoning_tokens": {},
    }  # fmt: skip
    for number, item in enumerate(document["history"], 1):
        message = item["message"]
        if message["role"] != "assistant":
            continue
        text.append(message["content"])
        uses += [call["id"] for call in message.get("toolCalls", [])]
        for state in item.get("toolCallStates", []):
            results += [state["toolCallId"]] if state["status"] in ("done", "errored", "canceled") else []
            failed += [state["toolCallId"]] if state["status"] in ("errored", "canceled") else []
        if "usage" in message:
            usage, name = message["usage"], f"{document['sessionId']}/{number}"
            tokens["input_tokens"][name] = usage["prompt_tokens"]
            tokens["output_tokens"][name] = usage["completion_tokens"]
            tokens["cached_tokens"][name] = usage["prompt_tokens_details"]["cached_tokens"]
            tokens["reasoning_tokens"][name] = usage["completion_tokens_details"]["reasoning_tokens"]
    return {
        "tool_uses": uses, "tool_results": results, "failed_results": failed, "text": "".join(text), **tokens,
    }  # fmt: skip
