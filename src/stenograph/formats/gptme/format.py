"""The messages of a conversation as events.

Theory of operation. There are three roles: `system` is a prompt, the result of a tool, or a message of the program. A
result names its call by `call_id` if the model calls tools natively; if calls are written in the text, the next visible
message of the program answers the oldest open call.
"""

from __future__ import annotations

import re
from typing import Any

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.gptme.detection import is_message
from stenograph.formats.gptme.words import Call, Thought, pieces_of
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.call_ids import CallIds
from stenograph.formats.shared.loose import FAR, a_dict, a_list, a_str, first_str, small
from stenograph.formats.shared.usage import UsageFields
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block, TextBlock, ThinkingBlock, ToolUseBlock
from stenograph.model.payload import MessagePayload, SystemPayload, ToolPayload

_USAGE = UsageFields(
    input=("usage.input_tokens",),
    output=("usage.output_tokens",),
    cache_read=("usage.cache_read_tokens",),
    cache_write=("usage.cache_creation_tokens",),
    reasoning=("usage.reasoning_tokens",),
    cost=("cost",),
    input_has_cache=False,
)
_FAILURES = re.compile(r"\A(?:Error executing tool '|Tool '[^'\n]*' is not available)")
_HARNESS = re.compile(r"\A<system>(.*)</system>\s*\Z", re.DOTALL)
_DONE = "complete"
"""The tool by which a model ends a session without a person."""


class GptmeFormat(LineFormat):
    """One `conversation.jsonl`."""

    name = "gptme"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._ids = CallIds()
        self._open: dict[str, tuple[str, float | None]] = {}
        """Calls without a result: their tools, and how long each took."""
        self._written: list[str] = []
        """Open calls without an id that a result could name."""
        self._has_begun = False

    def _map(self, record: Any) -> None:
        if not is_message(record):
            return
        self._place(record["timestamp"])
        role = record["role"]
        if role == "assistant":
            self._answer(record)
        elif role == "user":
            self._user(record)
        else:
            self._system(record)

    # What people and models say.

    def _user(self, record: dict[str, Any]) -> None:
        self._has_begun = True
        content = record["content"]
        if harness := _HARNESS.match(content):
            self._note("reminder", harness[1])
            return
        self._emit("message.user", MessagePayload(role="user", blocks=(_text(content), *_files(record))))

    def _answer(self, record: dict[str, Any]) -> None:
        self._has_begun = True
        facts = a_dict(record.get("metadata"))
        model = first_str(facts, "served_model", "model")
        blocks: list[Block] = []
        for piece in pieces_of(record["content"]):
            if isinstance(piece, Call):
                blocks.append(self._use(piece))
            elif isinstance(piece, Thought):
                blocks.append(ThinkingBlock(fidelity="agent_emitted", thinking=piece.text))
            else:
                blocks.append(_text(piece))
        blocks += _files(record)
        self._emit("message.assistant", MessagePayload(role="assistant", blocks=tuple(blocks), model=model))
        calls = [block for block in blocks if isinstance(block, ToolUseBlock)]
        for call in calls:
            self._emit("tool.call", call_of(call))
        self._expect(calls, a_dict(a_dict(facts.get("timings")).get("tool_ms_by_name")))
        if (usage := _USAGE.read(facts, model=model)) is not None:
            self._emit("token.usage", usage)

    def _use(self, call: Call) -> ToolUseBlock:
        call_id = self._ids.of_call(call.call_id, call.tool)
        if call.call_id is None:
            self._written.append(call_id)
        return ToolUseBlock(fidelity="agent_emitted", tool_name=call.tool, tool_id=call_id, tool_input=call.input)

    def _expect(self, calls: list[ToolUseBlock], durations: dict[str, Any]) -> None:
        """Remember calls; durations are listed by tool name, so they are known only for a tool that was called once."""
        names = [call.tool_name for call in calls]
        for call in calls:
            took = durations.get(call.tool_name) if names.count(call.tool_name) == 1 else None
            self._open[call.tool_id] = call.tool_name, _milliseconds(took)

    # What the program says.

    def _system(self, record: dict[str, Any]) -> None:
        content, call_id = record["content"], a_str(record.get("call_id"))
        is_shown = not (record.get("hide") or record.get("pinned") or record.get("ui_only"))
        if call_id or record["role"] == "tool" or (self._written and is_shown):
            self._result(call_id or self._oldest(a_dict(record.get("metadata")).get("tool")), record)
        elif not self._has_begun and record.get("pinned"):
            self._note("system_prompt", content)
        else:
            facts = small((name, record.get(name)) for name in ("hide", "pinned", "ui_only", "files"))
            self._note("context" if record.get("hide") else "notice", content, facts)

    def _oldest(self, tool: Any) -> str:
        """The oldest open call without an id; of this tool, if one is named."""
        found = next((each for each in self._written if tool in (None, self._open.get(each, ("", None))[0])), "")
        return found or (self._written[0] if self._written else "")

    def _result(self, call_id: str, record: dict[str, Any]) -> None:
        content = record["content"]
        tool, took = self._open.pop(call_id, (a_str(a_dict(record.get("metadata")).get("tool")), None))
        if call_id in self._written:
            self._written.remove(call_id)
        files = _files(record)
        self._emit(
            "tool.result",
            ToolPayload(
                name=tool,
                call_id=call_id,
                input=None,
                output=None if files else content,
                error=content if _FAILURES.match(content) else None,
                fidelity="agent_emitted",
                duration_ms=took,
                blocks=(_text(content), *files) if files else None,
            ),
        )
        if tool == _DONE:
            self._note("complete")

    def _note(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        self._emit("system.event", SystemPayload(subtype=subtype, text=text or None, data=data))


def _text(text: str) -> TextBlock:
    return TextBlock(fidelity="agent_emitted", text=text)


def _files(record: dict[str, Any]) -> list[Block]:
    """The paths of files that go with a message; their content is not in the file."""
    paths = (path for path in a_list(record.get("files")) if isinstance(path, str))
    return [verbatim({"type": "file", "path": path}) for path in paths]


def _milliseconds(value: Any) -> float | None:
    is_time = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < FAR
    return float(value) if is_time else None
