"""What the counters of exchange files share. Knows nothing of stenograph, and nothing of JSON but `json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def records(path: Path) -> list[Any]:
    """The JSON values in a file, line by line, broken lines left out; a list is its items."""
    values = []
    for line in Path(path).read_bytes().split(b"\n"):
        try:
            values.append(json.loads(line))
        except ValueError:
            continue
    return [each for value in values for each in (value if isinstance(value, list) else [value])]


class Counts:
    """What was counted so far."""

    def __init__(self) -> None:
        self.uses: list[str] = []
        self.results: list[str] = []
        self.failed: list[str] = []
        self.text: list[str] = []
        self.thinking: list[str] = []
        self.inputs: dict[str, int] = {}
        self.outputs: dict[str, int] = {}

    def found(self) -> dict[str, Any]:
        """In the terms of the comparison; only what was met is compared by id."""
        told: dict[str, Any] = {
            "tool_uses": list(dict.fromkeys(self.uses)),
            "tool_results": list(dict.fromkeys(self.results)),
            "failed_results": list(dict.fromkeys(self.failed)),
            "text": "".join(self.text),
            "thinking": "".join(self.thinking),
        }
        if self.outputs:
            told |= {"input_tokens": self.inputs, "output_tokens": self.outputs}
        return told
