"""Counts the things of each kind that a run has, to check the loss reports of exporters.

Events are counted one by one, without `fold.exchange`, which exporters use, so that a mistake there is found. Only the
pairing of calls with results (`fold.calls`) is the same code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from stenograph.fold.calls import pair_calls
from stenograph.fold.losses import LossReport
from stenograph.model import (
    AttachmentBlock,
    CommandBlock,
    Event,
    MessagePayload,
    StreamBlock,
    SystemPayload,
    TextBlock,
    ThinkingBlock,
    ToolPayload,
    ToolResultBlock,
    ToolUseBlock,
    UsagePayload,
)

_BLOCKS = {
    TextBlock: "texts",
    ThinkingBlock: "thinking",
    AttachmentBlock: "attachments",
    CommandBlock: "commands",
    StreamBlock: "stream chunks",
}
_NOTICES = {"system.event": "system events", "error": "errors"}


def counted(events: Iterable[Event]) -> Counter[str]:
    """The things of a run by their kind, as a loss report counts them."""
    events = list(events)
    counts: Counter[str] = Counter(subagents=len({event.source for event in events} - {"main"}))
    users: set[tuple[str, str]] = set()
    reports: set[tuple[str, object]] = set()
    for place, event in enumerate(events):
        payload = event.payload
        if isinstance(payload, MessagePayload) and event.type.startswith("message."):
            _count_message(event, payload, counts, users)
        elif isinstance(payload, ToolPayload) and event.type.startswith("tool."):
            pass  # counted by pairs, below
        elif isinstance(payload, UsagePayload) and event.type == "token.usage":
            # Reports on one message are one thing, and so are those of the whole run; any other report is its own.
            key = "" if payload.scope == "total" else place
            reports.add((payload.scope, payload.message_id or key))
        elif isinstance(payload, SystemPayload) and payload.subtype == "tool_definitions":
            pass  # not part of the transcript, so no report counts them; some formats hold them
        elif event.type.startswith(("run.", "step.")):
            counts["lifecycle events"] += 1
        else:
            counts["results" if event.type == "tool.result" else _NOTICES.get(event.type, "unknown events")] += 1
    counts["usage"] += len(reports)
    counts.update(_tools(events))
    return counts


def _count_message(event: Event, payload: MessagePayload, counts: Counter[str], users: set[tuple[str, str]]) -> None:
    if payload.is_chunk:
        counts["stream chunks"] += 1
        return
    is_new = True
    if event.type == "message.user":
        key = (event.source, payload.message_id or "")
        is_new = not payload.message_id or key not in users
        users.add(key)
        counts["user messages"] += is_new
    has_prompt = is_new and payload.system_prompt is not None and event.type == "message.user"
    counts["system prompts"] += has_prompt
    for block in payload.said if has_prompt else payload.blocks:
        if not isinstance(block, ToolUseBlock | ToolResultBlock):
            counts[_BLOCKS.get(type(block), "other blocks")] += 1


def _tools(events: list[Event]) -> Counter[str]:
    counts: Counter[str] = Counter()
    requested = Counter(
        block.tool_id
        for event in events
        if isinstance(event.payload, MessagePayload)
        and event.type.startswith("message.")
        and not event.payload.is_chunk
        for block in event.payload.blocks
        if isinstance(block, ToolUseBlock)
    )
    called: Counter[str] = Counter()
    for pair in pair_calls(events):
        called[pair.call_id] += pair.call is not None
        counts["results"] += pair.result is not None
        if pair.result is not None and pair.call is not None:
            blocks = pair.result.payload.blocks or ()
            counts["attachments"] += sum(isinstance(block, AttachmentBlock) for block in blocks)
    counts["calls"] += sum((called | requested).values())  # a call and the block that asks for it are one
    return counts


def accounted(report: LossReport) -> Counter[str]:
    """Carried and dropped things together, by kind."""
    found = Counter(report.carried)
    for line in report.dropped:
        found[line["what"].partition(":")[0]] += line["count"]
    return found
