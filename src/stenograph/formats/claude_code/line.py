"""The lines of a session file that are not messages: the subtype of each as a system event, and the fields to keep as
data."""

from __future__ import annotations

from typing import Any

from stenograph.formats.claude_code.record import Attachment, CompactMetadata, Fields, Progress, SessionRecord
from stenograph.formats.shared.loose import a_str, string

Described = tuple[str, str | None, dict[str, Any] | None]
"""Subtype, text and data of a system event."""

LINE_TYPES: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "agent-color": (None, ()),
    "agent-name": ("agent_name", ()),
    "agent-setting": (None, ()),
    "ai-title": ("ai_title", ()),
    "api-request": (None, ("request_id", "query_source", "shape_hash")),
    "api-request-blob": (None, ()),
    "api-request-shape": (None, ("shape_hash",)),
    "artifact-autoreact-ledger": (None, ()),
    "artifact-comment-monitor": (None, ()),
    "atis-latch": (None, ()),
    "attribution-snapshot": (None, ()),
    "bridge-session": (None, ()),
    "content-replacement": (None, ()),
    "continued-in": (None, ()),
    "cost-state": (None, ("total_cost_usd", "model_usage")),
    "custom-title": ("custom_title", ()),
    "data-flow-incomplete": (None, ()),
    "data-flow-records": (None, ()),
    "derived-from": (None, ()),
    "dev-mods": (None, ()),
    "ended-by-model": (None, ()),
    "file-history-delta": ("tracking_path", ()),
    "file-history-snapshot": (None, ()),
    "fork-context-ref": (None, ()),
    "frame-link": ("frame_url", ()),
    "history-suppression": (None, ()),
    "isolation-latch": (None, ()),
    "last-prompt": ("last_prompt", ("leaf_uuid",)),
    "memory-mode": ("mode", ()),
    "mode": ("mode", ()),
    "observer-ref": (None, ()),
    "permission-mode": ("permission_mode", ()),
    "pr-link": ("pr_url", ()),
    "progress": (None, ("parent_tool_use_id",)),
    "queue-operation": ("content", ("operation",)),
    "relocated": ("relocated_cwd", ()),
    "repl-mode": ("mode", ()),
    "resume-head-vouch": (None, ()),
    "session-owner": (None, ()),
    "summary": ("summary", ("leaf_uuid", "dropped_count")),
    "tag": ("tag", ()),
    "tools-used": (None, ("tools",)),
    "worktree-state": (None, ()),
}
"""Known line types: the field with the text, and the small fields to keep as data."""

_LINE_DATA = {kind: Fields(SessionRecord, *names) for kind, (_, names) in LINE_TYPES.items() if names}
_SYSTEM_DATA = Fields(
    SessionRecord,
    "level",
    "duration_ms",
    "message_count",
    "retry_attempt",
    "max_retries",
    "retry_in_ms",
    "hook_count",
    "hook_errors",
    "prevented_continuation",
    "trigger",
    "original_model",
    "fallback_model",
    "command_run",
    "details",
)
_COMPACTION_DATA = Fields(CompactMetadata, "trigger", "pre_tokens", "post_tokens", "duration_ms")
_PROGRESS_DATA = Fields(
    Progress, "hook_event", "hook_name", "command", "elapsed_time_seconds", "total_lines", "agent_id"
)
_ATTACHMENT_DATA = Fields(
    Attachment,
    "command_mode",
    "hook_name",
    "hook_event",
    "exit_code",
    "snapshot",
    "identity",
    "item_count",
    "skill_count",
    "task_id",
    "status",
    "used",
    "total",
    "remaining",
)


def system_event(record: SessionRecord) -> Described:
    """A `system` line; a compaction is its boundary here and its summary on a later line."""
    subtype = a_str(record.subtype) or a_str(record.event) or "system"
    text = string(record.content)
    if subtype == "compact_boundary":
        metadata = record.compact_metadata
        facts = _COMPACTION_DATA.of(metadata) if isinstance(metadata, CompactMetadata) else None
        return "compaction", text, {"part": "boundary", **(facts or {})}
    data = _SYSTEM_DATA.of(record) or {}
    if isinstance(record.error, dict):
        text = text or string(record.error.get("formatted")) or _reason(record.error)
        if (status := record.error.get("status")) is not None:
            data["status"] = status
    return subtype, text, data or None


def _reason(error: dict[str, Any]) -> str | None:
    """A provider's message about a failed call: its error may be nested inside the client's, several levels deep."""
    inner: Any = error
    for _ in range(_DEEPEST_ERROR):
        if not isinstance(inner, dict):
            return string(inner)
        if (message := string(inner.get("message"))) is not None:
            return message
        inner = inner.get("error") or inner.get("cause")
    return None


_DEEPEST_ERROR = 6


def line_event(record: SessionRecord, kind: str) -> Described:
    """A line of any other known type."""
    text_field, _ = LINE_TYPES[kind]
    value = None if text_field is None else getattr(record, text_field)
    fields = _LINE_DATA.get(kind)
    data = None if fields is None else fields.of(record)
    if value is not None and not isinstance(value, str):
        data = {**(data or {}), "value": value}
    subtype = kind
    if kind == "summary":  # documented as a compaction's; in 1.0 the title of an earlier session
        subtype, data = "compaction", {"part": "summary", **(data or {})}
    elif isinstance(record.data, Progress) and kind == "progress":
        subtype = _under(kind, record.data.type)
        data = {**(data or {}), **(_PROGRESS_DATA.of(record.data) or {})} or None
    return subtype, string(value), data


def attachment_event(attachment: Attachment | None) -> Described:
    """What the harness showed the model; the raw line holds all of it."""
    if attachment is None:
        return "attachment", None, None
    subtype = _under("attachment", attachment.type)
    texts = (attachment.text, attachment.prompt, attachment.filename, attachment.path, attachment.date)
    text = next((found for each in texts if (found := string(each)) is not None), None)
    if text is None and isinstance(attachment.type, str) and attachment.type.startswith("hook_"):
        text = _hook_text(attachment)
    return subtype, text, _ATTACHMENT_DATA.of(attachment)


def _hook_text(attachment: Attachment) -> str | None:
    blocked = attachment.blocking_error
    if isinstance(blocked, dict):
        return string(blocked.get("blockingError"))
    content = attachment.content
    if isinstance(content, list):
        content = "\n".join(each for each in content if isinstance(each, str))
    return string(content) or string(attachment.stderr) or string(attachment.stdout)


def _under(kind: str, subkind: Any) -> str:
    return f"{kind}/{subkind}" if isinstance(subkind, str) and subkind else kind
