"""A client that goes through a recorded run again: it asks a replay, and gives the recorded results back.

It reads the run event by event, without what replay itself makes of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from stenograph.model import AttachmentBlock, Event, MessagePayload, TextBlock, ToolUseBlock
from stenograph.model.payload import SystemPayload, ToolPayload
from stenograph.replay.recording import recording_of
from stenograph.replay.session import ReplaySession

Json = dict[str, Any]


@dataclass
class Walk:
    """How far the client came in one conversation."""

    run_id: str
    source: str
    asked: int = 0
    """Requests that were answered as recorded."""
    missed: str = ""
    """Why it could not go on; empty when it came to the end."""
    messages: list[Json] = field(default_factory=list)
    is_waiting: bool = False
    """Whether something was said to the model that it did not answer yet."""
    has_prompt: bool = False
    answer: list[Json] = field(default_factory=list)
    message_id: str | None = None
    """Of the recorded message that the last answer began with: agents write the results of some calls among others."""


def is_counted(events: list[Event]) -> bool:
    """Whether a run counts for reach: each conversation has a prompt before its first answer, and no call id twice."""
    ids = Counter((event.source, event.payload.call_id) for event in events if event.type == "tool.call")
    if any(number > 1 for number in ids.values()):
        return False
    asked: set[str] = set()
    for event in events:
        if event.type == "message.user" and _texts(event):
            asked.add(event.source)
        elif _is_answer(event) and event.source not in asked:
            return False
    return any(map(_is_answer, events))


def walked(events: list[Event]) -> list[Walk]:
    """Every conversation of a run, gone through against a replay of it."""
    session = ReplaySession(recording_of(events), {})
    walks: dict[str, Walk] = {}
    for event in events:
        walk = walks.setdefault(event.source, Walk(event.run_id, event.source))
        if not walk.missed:
            _go(session, walk, event)
    return list(walks.values())


def _go(session: ReplaySession, walk: Walk, event: Event) -> None:
    payload = event.payload
    if event.type == "message.user" and (texts := _texts(event)):
        pictures = [{"type": "image"} for block in payload.said if isinstance(block, AttachmentBlock)]
        _say(walk, "user", [*({"type": "text", "text": text} for text in texts), *pictures])
        walk.is_waiting = True
    elif event.type == "tool.result" and isinstance(payload, ToolPayload):
        content = payload.output if isinstance(payload.output, str) else ""
        _say(walk, "user", [{"type": "tool_result", "tool_use_id": payload.call_id, "content": content}])
        walk.is_waiting = True
    elif isinstance(payload, SystemPayload) and payload.subtype == "compaction" and payload.text:
        if not (isinstance(payload.data, dict) and payload.data.get("part") == "boundary"):
            walk.messages = [{"role": "user", "content": payload.text}]
            walk.is_waiting = True
    elif _is_answer(event):
        wanted, message_id = _wanted(event), payload.message_id
        goes_on = not walk.is_waiting or (message_id is not None and message_id == walk.message_id)
        if not (goes_on and _holds(walk.answer, wanted)):
            _ask(session, walk)
            walk.message_id = message_id
        if not walk.missed and not _holds(walk.answer, wanted):
            walk.missed = f"event {event.seq}: wanted {wanted}, got {walk.answer}"[:300]


def _ask(session: ReplaySession, walk: Walk) -> None:
    body = {"model": "m", "messages": walk.messages, "tools": [{"name": "any"}]}
    reply = session.answer("/v1/messages", body)
    if reply.status != 200:
        walk.missed = reply.document["error"]["message"]
        return
    walk.asked += 1
    walk.answer = reply.document["content"]
    walk.is_waiting = False
    _say(walk, "assistant", walk.answer)


def _say(walk: Walk, role: str, content: list[Json]) -> None:
    walk.messages.append({"role": role, "content": content})


def _texts(event: Event) -> list[str]:
    payload = event.payload
    return [each.text for each in payload.said if isinstance(each, TextBlock) and each.text.strip()]


def _is_answer(event: Event) -> bool:
    payload = event.payload
    if event.type != "message.assistant" or not isinstance(payload, MessagePayload) or payload.is_chunk:
        return False
    return payload.model != "<synthetic>" and bool(_wanted(event))


def _wanted(event: Event) -> set[str]:
    """The texts and the ids of calls that an answer must have."""
    found: set[str] = set()
    for block in event.payload.blocks:
        if isinstance(block, TextBlock) and block.text.strip():
            found.add(block.text)
        elif isinstance(block, ToolUseBlock) and block.kind != "server":
            found.add(block.tool_id)
    return found


def _holds(answer: Iterable[Json], wanted: set[str]) -> bool:
    return wanted <= {part.get(name) for part in answer for name in ("id", "text")}
