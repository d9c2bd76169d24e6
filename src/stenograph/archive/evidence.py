"""Whether a run is running, finished or failed, by what its main source said last."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.model.block import TextBlock, ToolUseBlock
from stenograph.model.event import Event
from stenograph.model.payload import LifecyclePayload, MessagePayload, SystemPayload

RUNNING, FINISHED, FAILED = "running", "finished", "failed"
_TURN_BEGINS = {"task_started", "turn_started"}
_TURN_ENDS = {"task_complete", "turn_complete", "turn_aborted"}
_INTERRUPTED = "[Request interrupted by user"


class Evidence(Struct, omit_defaults=True):
    """What was seen of a run's end so far."""

    last: str = ""
    """`working`, `answered`, `error` or `ended`: the main source's last word."""
    has_turns: bool = False
    """The agent says when a turn ends, so an answer alone is no end."""
    lifecycle: str = ""
    """The status by `run.started` and `run.completed`, where there are any: it decides."""

    @property
    def status(self) -> str:
        """What it comes to."""
        if self.lifecycle:
            return self.lifecycle
        if self.last == "error":
            return FAILED
        return FINISHED if self.last == "ended" or (self.last == "answered" and not self.has_turns) else RUNNING

    def add(self, event: Event) -> None:
        """Take the next event of the run into account."""
        payload = event.payload
        if event.type == "run.started":
            self.lifecycle = RUNNING
        elif event.type == "run.completed":
            failed = isinstance(payload, LifecyclePayload) and payload.error
            self.lifecycle = FAILED if failed else FINISHED
        elif (event.origin is None or event.origin.source is None) and not _is_task(event):
            self._listen(event.type, payload)

    def _listen(self, type: str, payload: Any) -> None:
        if isinstance(payload, MessagePayload):
            self.last = _message(payload)
        elif type in ("tool.call", "tool.result"):
            self.last = "working"
        elif type == "error":
            self.last = "error"
        elif isinstance(payload, SystemPayload) and payload.subtype in _TURN_BEGINS:
            self.has_turns, self.last = True, "working"
        elif isinstance(payload, SystemPayload) and payload.subtype in _TURN_ENDS:
            self.has_turns, self.last = True, "error" if self.last == "error" else "ended"


def _is_task(event: Event) -> bool:
    """Whether this is a task of Claude Code, which is a subagent's, and not a turn as Codex calls it."""
    adapter = event.origin.adapter if event.origin is not None else None
    return (adapter or "").startswith("claude") and isinstance(event.payload, SystemPayload)


def _message(payload: MessagePayload) -> str:
    texts = [block.text for block in payload.blocks if isinstance(block, TextBlock)]
    if payload.role == "user":
        return "ended" if texts and texts[0].startswith(_INTERRUPTED) else "working"
    is_calling = any(isinstance(block, ToolUseBlock) for block in payload.blocks)
    return "working" if is_calling or not texts or payload.stop_reason == "tool_use" else "answered"
