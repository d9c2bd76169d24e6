"""Counts what `gemini --output-format stream-json` printed, naively: one pass, nothing but `json`.

Usage is told once, for everything, and names no answer, so there are no tokens by answer to count.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def count(path: Path | str) -> dict[str, Any]:
    """What one stream holds, counted by hand."""
    lines = [line for line in Path(path).read_bytes().split(b"\n") if line.strip()]
    records = []
    for line in lines:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    messages, uses, results = (
        [each for each in records if each["type"] == kind] for kind in ("message", "tool_use", "tool_result")
    )
    return {
        "tool_uses": [each["tool_id"] for each in uses],
        "tool_results": [each["tool_id"] for each in results],
        "failed_results": [each["tool_id"] for each in results if each["status"] == "error"],
        "text": "".join(each["content"] for each in messages if each["role"] == "assistant"),
        "thinking": "",
        "output_tokens": {},
        "lines": len(lines),
    }
