"""What follows from the SDK's messages while a prompt is evaluated: the answer, usage, tools, and running tasks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from stenograph.errors import AgentError
from stenograph.fold.calls import CallPairs
from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload

_COUNTS = {
    "input_tokens": ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"),
    "output_tokens": ("outputTokens",),
    "cache_read_input_tokens": ("cacheReadInputTokens",),
    "cache_creation_input_tokens": ("cacheCreationInputTokens",),
}
"""Our names for tokens, and those of the SDK that add up to each: our input includes what was cached."""


class Conversation:
    """Follows one evaluation; `on_tool` gets the facts of every tool call that has ended."""

    def __init__(self, on_tool: Callable[[dict[str, Any]], None]) -> None:
        self.text = ""
        """The answer: the last one, since a subagent that ends in the background leads to another."""
        self.session_id: str | None = None
        self.usage: dict[str, int] = {}
        self._on_tool = on_tool
        self._has_result = False
        self._answers_again = False  # a subagent ended after Claude's answer, and Claude will answer again
        self._tasks: set[str] = set()  # subagents that run
        self._pairs = CallPairs()

    @property
    def is_over(self) -> bool:
        """Whether there is an answer, and nothing in the background that leads to another one."""
        return self._has_result and not self._tasks and not self._answers_again

    @property
    def is_due(self) -> bool:
        """Whether another turn must begin at once, if it ever does."""
        return self._has_result and not self._tasks and self._answers_again

    def add(self, message: Any) -> None:
        """Process a message; raises `AgentError` if it says that Claude failed."""
        self.session_id = getattr(message, "session_id", None) or self.session_id
        match type(message).__name__:
            case "ResultMessage":
                self._add_result(message)
            case "TaskStartedMessage" if "agent" in (message.task_type or ""):
                self._tasks.add(message.task_id)
            case "TaskNotificationMessage" if message.task_id in self._tasks:
                self._tasks.remove(message.task_id)
                self._answers_again = self._has_result
            case "SystemMessage" if message.subtype == "init":
                self._has_result = self._answers_again = False
            case "SystemMessage" if message.subtype == "background_tasks_changed":
                if not message.data.get("tasks"):
                    self._tasks.clear()  # the end of a killed task is not reported
            case "AssistantMessage" | "UserMessage" if not isinstance(message.content, str):
                for block in message.content:
                    self._add_block(block)

    def _add_result(self, message: Any) -> None:
        self._has_result, self._answers_again = True, False
        self.text = message.result or ""
        used = (message.model_usage or {}).values()
        self.usage = {
            ours: sum(each.get(name) or 0 for each in used for name in names) for ours, names in _COUNTS.items()
        }
        if message.is_error:
            why = "; ".join(message.errors or []) or message.result or message.subtype
            raise AgentError(f"Claude did not come to an answer ({message.terminal_reason or message.subtype}): {why}")

    def _add_block(self, block: Any) -> None:
        kind = type(block).__name__
        if kind == "ToolUseBlock":
            self._pairs.add(_event("tool.call", block.id), (block, time.monotonic()))
        elif kind == "ToolResultBlock":
            joined = self._pairs.add(_event("tool.result", block.tool_use_id), None)
            if joined is None or not joined.counts or joined.pair.call is None:
                return
            call, began = joined.pair.call
            result = _text(block.content)
            self._on_tool(
                {
                    "name": call.name,
                    "call_id": call.id,
                    "params": call.input,
                    "result": result,
                    "error": (result or "failed") if block.is_error else None,
                    "duration_ms": round((time.monotonic() - began) * 1000, 3),
                }
            )


def _event(type_: str, call_id: str) -> Event:
    """An event with what the fold needs to pair a block."""
    payload = ToolPayload(name="", call_id=call_id, input=None, output=None, fidelity="agent_emitted")
    return Event(seq=0, run_id="", type=type_, path="", iteration=0, timestamp="", payload=payload)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or f"[{part.get('type')}]") for part in content if isinstance(part, dict))
    return "" if content is None else str(content)
