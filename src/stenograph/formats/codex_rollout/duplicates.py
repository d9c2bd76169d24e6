"""Event messages that repeat a response item or add little: which fields of them to keep."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.formats.codex_rollout.record import EventMessage, TurnItem, loads
from stenograph.formats.shared.loose import string
from stenograph.model.event import Origin

DUPLICATES = {"user_message", "agent_message", "agent_reasoning"}
"""Events that only repeat what a response item says."""
NOTICES = {"Compact task completed"}
"""What Codex writes as the model's message; no response item holds it."""
QUIET_EVENTS = {
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "background_event",
    "collab_agent_interaction_end",
    "collab_close_end",
    "collab_resume_end",
    "collab_waiting_end",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "entered_review_mode",
    "exited_review_mode",
    "guardian_assessment",
    "guardian_warning",
    "hook_completed",
    "hook_started",
    "image_generation_end",
    "item_started",
    "mcp_startup_complete",
    "model_reroute",
    "plan_update",
    "raw_response_item",
    "session_configured",
    "shutdown_complete",
    "stream_error",
    "terminal_interaction",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_rolled_back",
    "turn_diff",
    "undo_completed",
    "undo_started",
    "view_image_tool_call",
    "warning",
}
_FACTS = (
    "turn_id",
    "duration_ms",
    "reason",
    "call_id",
    "status",
    "success",
    "exit_code",
    "kind",
    "agent_thread_id",
    "new_thread_id",
    "receiver_thread_id",
    "num_turns",
    "thread_name",
    "path",
    "query",
)


class WaitingText(Struct, frozen=True):
    """Words of an event that no response item has repeated yet."""

    type: str
    text: str
    origin: Origin | None
    timestamp: str


def squeezed(text: str) -> str:
    """A text without blanks, to compare an event with its response item: blanks differ between the two."""
    return " ".join(text.split())


def event_facts(event: EventMessage) -> tuple[str | None, list[tuple[str, Any]]]:
    """The text of an event that no response item repeats, and its facts."""
    text = string(event.message) or string(event.text) or _review_text(event.review_output)
    return text, [(name, getattr(event, name)) for name in _FACTS]


def item_facts(item: TurnItem) -> tuple[str | None, list[tuple[str, Any]]]:
    """What an item has that no response item has: its text, if that is not repeated, and its facts."""
    facts = [
        ("item", item.type),
        ("id", item.id),
        ("status", item.status),
        ("exit_code", item.exit_code),
        ("tool", item.tool),
        ("kind", item.kind),
        ("agent_thread_id", item.agent_thread_id),
        ("receiver_thread_ids", item.receiver_thread_ids or None),
        ("path", item.path),
        ("query", item.query),
    ]
    text = string(item.text) or _review_text(item.review_output)
    if isinstance(item.id, str) and (item.id.startswith("exec-") or item.source == "user_shell"):
        # Run by a script of code mode, or by the user: there is no call or output for it.
        changes = loads(item.changes)
        facts += [("command", item.command), ("changes", list(changes) if isinstance(changes, dict) else None)]
        text = string(loads(item.aggregated_output)) or text
    return text, facts


def _review_text(review: Any) -> str | None:
    return string(review.get("overall_explanation")) if isinstance(review, dict) else None
