"""Counts conversations of OpenHands 1 with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_NAMES = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "cached_tokens": "cache_read_tokens",
    "reasoning_tokens": "reasoning_tokens",
}


def count(path: Path) -> dict[str, Any]:
    """What the conversation of a folder holds, by its events in the order of their times, and by its state."""
    uses, results, failed, text, thinking = [], [], [], [], []
    events = [json.loads(file.read_text("utf-8")) for file in path.rglob("event-*.json")]
    for event in sorted(events, key=lambda event: event["timestamp"]):
        said = event.get("llm_message", event)
        if event["source"] == "agent" and event["kind"] in ("ActionEvent", "MessageEvent"):
            thinking.append(said.get("reasoning_content") or "")
            text += [part["text"] for part in said.get("thought", said.get("content", []))]
        if event["kind"] == "ActionEvent":
            uses.append(event["tool_call"]["id"])
        if event["kind"] == "ObservationEvent":
            results.append(event["tool_call_id"])
            failed += [event["tool_call_id"]] if event["observation"]["is_error"] else []
    states = [json.loads(file.read_text("utf-8")) for file in path.rglob("base_state.json")]
    metrics = [each for state in states for each in state["stats"]["usage_to_metrics"].values()]
    usages = [usage for each in metrics for usage in each["token_usages"]]
    tokens = {ours: {each["response_id"]: each[theirs] for each in usages} for ours, theirs in _NAMES.items()}
    return {
        "tool_uses": uses,
        "tool_results": results,
        "failed_results": failed,
        "text": "".join(text),
        "thinking": "".join(thinking),
        **tokens,
    }
