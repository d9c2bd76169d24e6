"""Which lines are events of a journal, and which run they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.registry import formats
from stenograph.formats.shared.loose import a_dict, a_str, first_in_records, first_str
from stenograph.model import mend


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of lines of a journal."""
    return SURE if any(_is_event(record) for record in records) else 0


def _is_event(record: Any) -> bool:
    return isinstance(record, dict) and {"seq", "run_id", "type", "payload"} <= record.keys()


def identify(records: Sequence[Any], path: str) -> Identity:
    """The run that the first event names."""
    events = [record for record in records if _is_event(record)]
    first: dict[str, Any] = events[0] if events else {}
    begun = [a_dict(event.get("payload")) for event in events if event.get("type") == "run.started"]
    agents = _agent_identity(events)
    return Identity(
        native_id=str(first.get("run_id") or ""),
        parent_native_id=first_str(first, "parent_run_id"),
        cwd=first_in_records(begun, "cwd") or agents.cwd,
        branch=agents.branch,
        agent_version=agents.agent_version,
        model=agents.model,
    )


def _agent_identity(events: list[dict[str, Any]]) -> Identity:
    """What the agent's own lines say about the run, in a journal that was recorded from them."""
    adapter = next((name for event in events if (name := a_str(a_dict(event.get("origin")).get("adapter")))), "")
    spec = formats().get(adapter)
    if spec is None or adapter == "exchange":
        return Identity()
    lines = []
    for event in events:
        try:
            lines.append(mend.parse_json(a_str(event.get("raw")).encode("utf-8", "surrogatepass"))[0])
        except (ValueError, RecursionError):
            continue  # no line of the agent, or none that is JSON
    return spec.identify(lines, "") if lines else Identity()
