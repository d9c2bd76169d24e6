"""Counts what imported events hold, for the loss report of an import."""

from __future__ import annotations

from collections.abc import Iterable

from stenograph.fold.conversation import block_kind
from stenograph.fold.losses import LossReport
from stenograph.model.block import AttachmentBlock
from stenograph.model.event import Event
from stenograph.model.payload import TOOL_DEFINITIONS, MessagePayload, SystemPayload, ToolPayload

_KINDS = {
    "tool.call": "calls",
    "tool.result": "results",
    "token.usage": "usage",
    "error": "errors",
    "system.event": "system events",
}


def carry_events(events: Iterable[Event], report: LossReport) -> None:
    """Add everything in these events to `report.carried`, by its kind; definitions of tools are not counted."""
    for event in events:
        payload = event.payload
        if isinstance(payload, MessagePayload) and event.type.startswith("message."):
            _carry_message(event.type, payload, report)
            continue
        if isinstance(payload, SystemPayload) and payload.subtype == TOOL_DEFINITIONS:
            continue
        is_lifecycle = event.type.startswith(("run.", "step."))
        report.carry("lifecycle events" if is_lifecycle else _KINDS.get(event.type, "unknown events"))
        if event.type == "tool.result" and isinstance(payload, ToolPayload):
            report.carry("attachments", sum(isinstance(block, AttachmentBlock) for block in payload.blocks or ()))


def _carry_message(type: str, payload: MessagePayload, report: LossReport) -> None:
    if payload.is_chunk:
        report.carry("stream chunks")
        return
    report.carry("user messages" if type == "message.user" else "assistant messages")
    report.carry("system prompts", int(payload.system_prompt is not None))
    for block in payload.said:
        if (kind := block_kind(block)) is not None:
            report.carry(kind)
