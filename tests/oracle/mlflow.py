"""Counts traces of MLflow with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds: the outputs of its model calls, and its tools in their order."""
    counts = Counts()
    for trace in records(path):
        asked: list[str] = []
        for span in trace["data"]["spans"]:
            facts = {name: json.loads(value) for name, value in span["attributes"].items()}
            key = base64.b64decode(span["span_id"]).hex()
            if facts["mlflow.spanType"] in ("CHAT_MODEL", "LLM"):
                calls = _answer(facts, counts)
                asked += calls
                counts.uses += calls
                usage = facts["mlflow.chat.tokenUsage"]
                counts.inputs[key], counts.outputs[key] = usage["input_tokens"], usage["output_tokens"]
            elif facts["mlflow.spanType"] == "TOOL":
                counts.results.append(asked.pop(0))
                counts.failed += counts.results[-1:] if span["status"]["code"] == "STATUS_CODE_ERROR" else []
    return counts.found()


def _answer(facts: dict[str, Any], counts: Counts) -> list[str]:
    if "mlflow.spanOutputs" in facts:
        message = facts["mlflow.spanOutputs"]["choices"][0]["message"]
        counts.text.append(message["content"])
        return [call["id"] for call in message.get("tool_calls", [])]
    said = {name: value for name, value in facts.items() if name.startswith("llm.output_messages.")}
    for name, value in said.items():
        if name.endswith("message_content.type"):
            text = said[name.replace(".type", ".text")]
            (counts.thinking if value == "reasoning" else counts.text).append(text)
    return [value for name, value in said.items() if name.endswith("tool_call.id")]
