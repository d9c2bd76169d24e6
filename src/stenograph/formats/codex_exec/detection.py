"""Which lines `codex exec` prints, and which thread they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import first_in_records, string


def kind_of(item: dict[str, Any]) -> str:
    """The type of an item, under its current name or that of 0.42."""
    return string(item.get("type")) or string(item.get("item_type")) or ""


def detect(records: Sequence[Any], path: str) -> int:
    """Sure if the first line is one that the program prints first, or an item."""
    return SURE if _is_ours(records) else 0


def _is_ours(records: Sequence[Any]) -> bool:
    first = records[0]
    if not isinstance(first, dict):
        return False
    kind = first.get("type")
    if kind in ("item.started", "item.completed"):
        return isinstance(first.get("item"), dict) and kind_of(first["item"]) != ""
    if kind is None and "workdir" in first and "provider" in first:
        return any(isinstance(record, dict) and "prompt" in record for record in records[1:3])
    return kind == "turn.started" or (kind == "thread.started" and "thread_id" in first)


def identify(records: Sequence[Any], path: str) -> Identity:
    begun = [record for record in records if isinstance(record, dict) and record.get("type") == "thread.started"]
    settings = [record for record in records if isinstance(record, dict) and "workdir" in record]  # until 0.42
    thread = first_in_records(begun[:1], "thread_id")
    return Identity(
        native_id=thread or "",
        session_id=thread,
        cwd=first_in_records(settings, "workdir"),
        model=first_in_records(settings, "model"),
    )
