"""Counts trajectories of SWE-agent with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds: its history, else its steps; a call without an id is a call of the shell, by its number."""
    counts = Counts()
    shells = 0

    def shell() -> str:
        nonlocal shells
        shells += 1
        return "bash" if shells == 1 else f"bash#{shells}"

    for run in records(path):
        waiting: list[str] = []
        for item in run.get("history") or []:
            if item.get("is_demo"):
                continue
            if item["role"] == "assistant":
                counts.text.append(item["content"] or "")
                counts.thinking += [each["thinking"] for each in item.get("thinking_blocks") or []]
                waiting = [call["id"] for call in item.get("tool_calls") or []]
                if not waiting and (item.get("action") or "").strip():
                    waiting = [shell()]
                counts.uses += waiting
            elif item["role"] == "tool" or (item.get("message_type") == "observation" and waiting):
                counts.results.append((item.get("tool_call_ids") or waiting)[0])
                waiting = waiting[1:]
        for step in [] if run.get("history") else run["trajectory"]:
            counts.text.append(step["response"])
            if step["action"].strip():
                counts.uses.append(shell())
                counts.results.append(counts.uses[-1])
    return counts.found()
