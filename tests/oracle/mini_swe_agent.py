"""Counts trajectories of mini-swe-agent with nothing but `json`, on purpose naively. Knows nothing of stenograph.

Every answer of the model is in some `extra.response`: of its own row, or of the user's row after it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds."""
    counts = Counts()
    cached: dict[str, int] = {}
    reasoning: dict[str, int] = {}
    answers = people = 0
    for run in records(path):
        for row in run["messages"]:
            response = (row.get("extra") or {}).get("response")
            if response:
                answers += 1
                said = response["choices"][0]["message"]
                counts.text.append(said["content"] or "")
                counts.thinking.append(said.get("reasoning_content") or "")
                counts.uses += [call["id"] for call in said["tool_calls"] or []]
                usage = response["usage"]
                counts.inputs[response["id"]] = usage["prompt_tokens"]
                counts.outputs[response["id"]] = usage["completion_tokens"]
                cached[response["id"]] = usage["prompt_tokens_details"]["cached_tokens"]
                reasoning[response["id"]] = usage["completion_tokens_details"]["reasoning_tokens"]
            elif row["role"] == "user":
                people += 1
            elif row["role"] == "tool":
                counts.results.append(row["tool_call_id"])
                counts.failed += [row["tool_call_id"]] if row["extra"]["exception_info"] else []
    told = {"cached_tokens": cached, "reasoning_tokens": reasoning}
    return counts.found() | told | {"messages": {"user": people, "assistant": answers}}
