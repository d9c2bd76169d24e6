"""The types of Kimi Code's records: those that 2.1.0 writes to a session's file, and those found there."""

from __future__ import annotations

LOOP_EVENT = "context.append_loop_event"

_FAMILIES = {
    "agent": "message.appended turn.started turn.ended",
    "config": "update",
    "context": "append_loop_event append_message apply_compaction clear undo",
    "cron": "add cursor delete",
    "file_history": "checkpoint tracked",
    "full_compaction": "begin cancel complete",
    "goal": "clear create update",
    "interaction": "request resolved",
    "interruptionReminder": "recorded",
    "llm": "request tools_snapshot",
    "mcp": "tools_discovered",
    "permission": "record_approval_result set_mode",
    "plan": "revision",
    "plan_mode": "cancel enter exit",
    "plugin": "session_start",
    "profile": "bind",
    "prompt": "aborted completed steered",
    "runtime": "set_binding",
    "subagent": "cancelled completed failed spawned started",
    "swarm_mode": "enter exit",
    "task": "started terminated waitDelivered",
    "token_counting": "measured rebased truncated turn_recorded",
    "tools": "register_user_tool reset_active_tools set_active_tools unregister_user_tool update_store",
    "tower_mode": "enter exit",
    "turn": "cancel ended prompt steer step.interrupted step.retrying",
    "usage": "record",
}

KNOWN_TYPES = frozenset(
    {"metadata", "forked", *(f"{family}.{name}" for family, names in _FAMILIES.items() for name in names.split())}
)
"""A type that is not here is `unknown`."""
