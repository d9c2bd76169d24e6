"""Counts what `opencode run --format json` printed, naively: one pass, nothing but `json`.

A line of a tool is its call and its result. What the harness says in the user's name is printed as text, too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def count(path: Path | str) -> dict[str, Any]:
    """What one stream holds, counted by hand."""
    records = []
    lines = 0
    for line in Path(path).read_bytes().split(b"\n"):
        lines += bool(line.strip())
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    parts = [record["part"] for record in records if "part" in record]
    tools = [part for part in parts if part["type"] == "tool"]
    said = [part for part in parts if not part.get("synthetic")]
    steps = [part for part in parts if part["type"] == "step-finish"]
    return {
        "tool_uses": list(dict.fromkeys(part["callID"] for part in tools)),
        "tool_results": list(dict.fromkeys(part["callID"] for part in tools)),
        "failed_results": [part["callID"] for part in tools if part["state"]["status"] == "error"],
        "text": "".join(part["text"] for part in said if part["type"] == "text"),
        "thinking": "".join(part["text"] for part in said if part["type"] == "reasoning"),
        "output_tokens": {part["messageID"]: part["tokens"]["output"] + part["tokens"]["reasoning"] for part in steps},
        "lines": lines,
    }
