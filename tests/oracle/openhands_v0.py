"""Counts trajectories of OpenHands V0 with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds; an answer of the model counts once, however many of its actions repeat it."""
    counts = Counts()
    answers: set[str] = set()
    for record in records(path):
        metadata = record.get("tool_call_metadata") or {}
        answer = metadata.get("model_response")
        if "action" in record and answer and answer["id"] not in answers:
            answers.add(answer["id"])
            message = answer["choices"][0]["message"]
            counts.text.append(message["content"] or "")
            counts.uses += [call["id"] for call in message["tool_calls"]]
            counts.inputs[answer["id"]] = answer["usage"]["prompt_tokens"]
            counts.outputs[answer["id"]] = answer["usage"]["completion_tokens"]
        elif record["source"] == "agent" and "action" in record and not answer:
            counts.text.append(record["args"].get("thought") or record["args"].get("content") or "")
            counts.uses += [str(record["id"])] if record["action"] != "message" else []
        call_id = metadata.get("tool_call_id") or str(record.get("cause"))
        if "observation" in record and call_id in counts.uses:
            counts.results.append(call_id)
            counts.failed += [call_id] if record["observation"] == "error" else []
    return counts.found()
