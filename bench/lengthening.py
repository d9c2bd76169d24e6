"""Golden cases are trimmed to about 0.8 KB an entry, real sessions have about 2.4 KB: their texts are repeated."""

from __future__ import annotations

from typing import Any

TEXTS = {"content", "text", "output", "stdout", "thinking", "aggregated_output", "arguments"}


def lengthened(value: Any, key: str = "") -> Any:
    """The same value with its texts at the length of real ones."""
    if isinstance(value, dict):
        return {name: lengthened(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [lengthened(item, key) for item in value]
    if isinstance(value, str) and key in TEXTS and len(value) > 20:
        return value * (1 + 2000 // len(value))
    return value
