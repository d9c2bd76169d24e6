"""Counts calls to Chat Completions with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle import model_api


def count(path: Path) -> dict[str, Any]:
    """What one file holds: ids of calls and results, texts, tokens by message, non-empty lines."""
    return model_api.count(path, "chat")
