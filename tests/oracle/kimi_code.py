"""Counts a `wire.jsonl` of Kimi Code with nothing but `json`, on purpose naively. Knows nothing of stenograph.

Words and calls are taken from the copies that the program writes at the end of a turn (`agent.message.appended`), which
no other code of the project reads; results, which come as tools end, and tokens from the log itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds."""
    counts = Counts()
    step, cached = "", {}
    people, steps = 0, set()
    for record in records(path):
        event = record.get("event") or {}
        if record["type"] == "agent.message.appended":
            message = record["message"]["message"]
            if message["role"] == "assistant":
                for part in message["content"]:
                    counts.text.append(part.get("text", ""))
                    counts.thinking.append(part.get("think", ""))
                counts.uses += [call["id"] for call in message["toolCalls"]]
            people += message["role"] == "user"
        elif event.get("type") == "step.begin":
            step = event["uuid"]
        elif event.get("type") in ("content.part", "tool.call"):
            steps.add(event["stepUuid"])
        elif event.get("type") == "tool.result":
            counts.results.append(event["toolCallId"])
            counts.failed += [event["toolCallId"]] if event["result"].get("isError") else []
        elif record["type"] == "usage.record":
            usage = record["usage"]
            cached[step] = usage["inputCacheRead"]
            counts.inputs[step] = usage["inputOther"] + usage["inputCacheRead"] + usage["inputCacheCreation"]
            counts.outputs[step] = usage["output"]
    told = counts.found()
    told |= {"cached_tokens": cached, "messages": {"user": people, "assistant": len(steps)}}
    return told
