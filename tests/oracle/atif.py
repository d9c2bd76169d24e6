"""Counts trajectories with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds: ids of calls and results, texts."""
    counts = Counts()
    for trajectory in records(path):
        _walk(trajectory, counts)
    return counts.found()


def _walk(trajectory: dict[str, Any], counts: Counts) -> None:
    children = {each["trajectory_id"]: each for each in trajectory.get("subagent_trajectories", [])}
    for step in trajectory["steps"]:
        if step.get("is_copied_context"):
            continue
        if step["source"] == "agent":
            message = step["message"]
            parts = [{"text": message}] if isinstance(message, str) else message
            counts.text += [part.get("text") or "" for part in parts]
            counts.thinking.append(step.get("reasoning_content") or "")
            counts.uses += [call["tool_call_id"] for call in step.get("tool_calls", [])]
        for result in step.get("observation", {}).get("results", []):
            for ref in result.get("subagent_trajectory_ref", []):
                if ref.get("trajectory_id") in children:
                    _walk(children.pop(ref["trajectory_id"]), counts)
            extra = result.get("extra", {})
            call_id = result.get("source_call_id") or extra.get("call_id")
            if call_id and "content" in result:
                counts.results.append(call_id)
                counts.failed += [call_id] if extra.get("is_error") else []
    for child in children.values():
        _walk(child, counts)
