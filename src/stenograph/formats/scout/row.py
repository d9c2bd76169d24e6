"""A transcript's row as a log of Inspect with one sample: messages and events are Inspect's own."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str

_JSON = ("messages", "events", "events_data", "timelines", "agent_args", "model_options", "score")
"""Columns that hold JSON as text."""
_INSIDE = ("messages", "events", "events_data")


def is_row(record: Any) -> bool:
    """Whether a record is a row of such a database: an id, and messages or events."""
    row = a_dict(record)
    has_content = any(isinstance(row.get(name), str | list) for name in ("messages", "events"))
    return isinstance(row.get("transcript_id"), str) and has_content


def plain_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its JSON decoded and without empty columns; times as text."""
    plain = {name: arguments_of(value) if name in _JSON else value for name, value in row.items() if value is not None}
    kinds = (str, int, float, bool, list, dict)
    return {name: value if isinstance(value, kinds) else str(value) for name, value in plain.items()}


def log_of(row: dict[str, Any]) -> dict[str, Any]:
    """The row as a log with one sample."""
    row = plain_row(row)
    facts = {name: value for name, value in row.items() if name not in _INSIDE and name != "score"}
    score = row.get("score")
    sample = {
        "id": row.get("task_id"),
        "epoch": row.get("task_repeat"),
        "uuid": a_str(row.get("transcript_id")),
        "messages": a_list(row.get("messages")),
        "events": a_list(row.get("events")),
        "events_data": a_dict(row.get("events_data")),
        "scores": {} if score is None else {"score": {"value": score, "explanation": row.get("score_explanation")}},
        "error": {"message": row["error"]} if a_str(row.get("error")) else None,
        "metadata": facts,
    }
    head = {"task": a_str(row.get("task_set")), "model": a_str(row.get("model")), "dataset": {}}
    created = {"created": row["date"]} if a_str(row.get("date")) else {}
    return {"status": "success", "eval": head | created, "samples": [sample]}
