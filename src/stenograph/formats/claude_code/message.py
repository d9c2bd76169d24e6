"""What the session files and the stream of Claude have in common: user and assistant messages as events."""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.claude_code.content import (
    EMITTED,
    block_of,
    blocks_of,
    is_result,
    result_of,
    side_file_of,
    usage_of,
)
from stenograph.formats.claude_code.harness import subtype_of_meta, subtype_of_origin, subtype_of_text
from stenograph.formats.claude_code.record import ClaudeMessage, SessionRecord, StreamRecord, ToolUseResult, Usage
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.loose import a_str, string
from stenograph.formats.shared.tool_definitions import ToolDefinitions
from stenograph.model.block import Block, TextBlock, ToolUseBlock, words_of
from stenograph.model.payload import SYNTHETIC, ErrorPayload, MessagePayload, SystemPayload, UsagePayload

_REMEMBERED = 4096
"""How many messages' usage is remembered: the lines of one message are never far apart."""


class ClaudeFormat(LineFormat):
    """Maps messages; the formats decide the kind and the source of a line."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._usages: dict[str, UsagePayload] = {}
        self._tools = ToolDefinitions()

    def _system(self, subtype: str, text: Any = None, data: Any = None) -> None:
        self._emit("system.event", SystemPayload(subtype=subtype, text=string(text), data=data))

    def _define(self, tools: Any) -> None:
        """Emit the tools that the model may call, when they are new or changed."""
        definitions = self._tools.changed(tools)
        if definitions is not None:
            self._emit("system.event", definitions)

    # The user's side: prompts, tool results, and what the harness writes under the user's role.

    def _user(self, content: Any, result: Any = None, *, is_harness: bool = False, origin: Any = None) -> None:
        """Emit the events of a user line; `result` is the agent's structured copy of a tool result."""
        if isinstance(content, str):
            self._said(content, is_harness, origin)
        elif isinstance(content, list) and content:
            items = [item for item in content if not (isinstance(item, dict) and is_result(item.get("type")))]
            if items:
                self._said_in_blocks(content, items, is_harness, origin)
            if len(items) < len(content):
                self._results(content, result)
        elif isinstance(content, dict):
            self._user([content], result, is_harness=is_harness, origin=origin)
        else:
            self._system("empty_user_message")

    def _said(self, text: str, is_harness: bool, origin: Any) -> None:
        subtype = _harness_subtype(text, is_harness, origin)
        if subtype is not None:
            self._system_text(subtype, text)
        else:
            self._person([TextBlock(fidelity=EMITTED, text=text)])

    def _said_in_blocks(self, content: list[Any], items: list[Any], is_harness: bool, origin: Any) -> None:
        """A prompt in blocks: the harness's texts among them are separated from the person's."""
        harness: list[tuple[str, str]] = []
        rest: list[Any] = []
        for item in items:
            text = item.get("text") if isinstance(item, dict) else item
            subtype = _harness_subtype(text, is_harness, origin) if isinstance(text, str) else None
            if subtype is None:
                rest.append(item)
            else:
                harness.append((subtype, str(text)))
        if rest and (is_harness or subtype_of_origin(origin) is not None):
            # Pictures and other media that the harness shows the model; no person sent them.
            self._system(harness[0][0] if harness else "meta", _joined(harness), {"content": content})
        elif rest:
            self._person([block_of(item) for item in content if _is_kept(item, rest)])
            for subtype, text in harness:
                self._system_text(subtype, text)
        else:
            self._system_text(harness[0][0], _joined(harness) or "")

    def _person(self, blocks: list[Block]) -> None:
        self._emit("message.user", MessagePayload(role="user", blocks=tuple(blocks)))

    def _system_text(self, subtype: str, text: str) -> None:
        self._system(subtype, text, {"part": "summary"} if subtype == "compaction" else None)

    def _results(self, content: list[Any], result: Any) -> None:
        duration = None
        if isinstance(result, ToolUseResult):
            duration = result.duration_ms if result.total_duration_ms is None else result.total_duration_ms
        for item in content:
            if isinstance(item, dict) and is_result(item.get("type")):
                self._result(item, duration_ms=duration)
        self._stderr(content, result)

    def _stderr(self, content: list[Any], result: Any) -> None:
        """What a command wrote to stderr, if the model was not shown it."""
        stderr = a_str(result.stderr).strip() if isinstance(result, ToolUseResult) else ""
        shown = [block_of(part) for item in content for part in _parts(item)] if stderr else []
        if stderr and not any(stderr in words_of(block) for block in shown):
            self._system("stderr", stderr)

    def _result(self, item: dict[str, Any], *, duration_ms: Any = None, name: Any = None) -> None:
        """One tool result, with the whole output when the agent stored it in a file that exists."""
        payload = result_of(self._joined_side_file(item), duration_ms=duration_ms, name=name)
        self._emit("tool.result", payload)

    def _joined_side_file(self, item: dict[str, Any]) -> dict[str, Any]:
        name = side_file_of(item.get("content"))
        if name is None:
            return item
        read = self.context.side_file
        whole = None if read is None else read(name)
        if whole is not None:
            return {**item, "content": whole}
        if name not in self.report.wanted_files:
            self.report.wanted_files.append(name)
        return item

    # The assistant's side.

    def _assistant(self, record: SessionRecord | StreamRecord, message: ClaudeMessage) -> None:
        """Emit the events of an assistant line: the message, its calls, an API error, its usage."""
        blocks = blocks_of(message.content)
        if message.tool_use is not None:
            calls = message.tool_use if isinstance(message.tool_use, list) else [message.tool_use]
            blocks += [block_of({"type": "tool_use", **call}) for call in calls if isinstance(call, dict)]
        self._answer(blocks, message)
        if _is_error(record, message):
            self._api_error(record, blocks)
        else:
            self._message_usage(record, message)

    def _message_usage(self, record: SessionRecord | StreamRecord, message: ClaudeMessage) -> None:
        """Emit the usage of the call that a model answered, unless it is known."""
        if message.usage is not None and message.model != SYNTHETIC and not _is_error(record, message):
            self._call_usage(message.usage, message.model, message.id, getattr(record, "cost_usd", None))

    def _answer(self, blocks: list[Block], message: ClaudeMessage) -> None:
        payload = MessagePayload(
            role="assistant",
            blocks=tuple(blocks),
            model=string(message.model),
            message_id=string(message.id),
            stop_reason=string(message.stop_reason),
        )
        self._emit("message.assistant", payload)
        for block in blocks:
            if isinstance(block, ToolUseBlock):
                self._called(block)
        if isinstance(message.content, list):
            for item in message.content:  # results of tools that run on the API's side are inside the message
                if isinstance(item, dict) and is_result(item.get("type")):
                    self._result(item)

    def _called(self, block: ToolUseBlock) -> None:
        self._emit("tool.call", call_of(block))

    def _api_error(self, record: SessionRecord | StreamRecord, blocks: list[Block]) -> None:
        text = "\n".join(block.text for block in blocks if isinstance(block, TextBlock))
        status = record.api_error_status
        code = str(status) if isinstance(status, int) else string(status) or string(record.error)
        data = {
            name: value
            for name, value in (("error", record.error), ("type", record.api_error_type))
            if value is not None
        }
        self._emit("error", ErrorPayload(message=text or code or "API error", code=code, data=data or None))

    def _usage_of(self, usage: Usage, **facts: Any) -> UsagePayload:
        """The tokens of a call or a turn; a subclass for another program may count differently."""
        return usage_of(usage, **facts)

    def _call_usage(self, usage: Usage, model: Any, message_id: Any, cost_usd: Any = None) -> bool:
        """Usage of one model call, when it is new or has changed."""
        payload = self._usage_of(usage, model=model, message_id=message_id, cost_usd=cost_usd)
        key = payload.message_id
        if key is not None:
            if self._usages.get(key) == payload:
                return False
            if len(self._usages) >= _REMEMBERED:
                del self._usages[next(iter(self._usages))]
            self._usages[key] = payload
        self._emit("token.usage", payload)
        return True


def _parts(item: Any) -> list[Any]:
    content = item.get("content") if isinstance(item, dict) else None
    return content if isinstance(content, list) else [content]


def message_of(record: SessionRecord | StreamRecord) -> ClaudeMessage:
    """The message of a record, in each shape that holds one."""
    message = record.message
    if isinstance(message, ClaudeMessage):
        return message
    return ClaudeMessage(content=record.content if message is None else message)


def _harness_subtype(text: str, is_harness: bool, origin: Any) -> str | None:
    subtype = subtype_of_origin(origin)
    if subtype is not None:
        return subtype
    return subtype_of_meta(text) if is_harness else subtype_of_text(text)


def _joined(harness: list[tuple[str, str]]) -> str | None:
    return "\n".join(text for _, text in harness) or None


def _is_kept(item: Any, rest: list[Any]) -> bool:
    """Whether a block stays in the person's message: all but the harness's texts."""
    return any(item is each for each in rest) or (isinstance(item, dict) and is_result(item.get("type")))


def _is_error(record: SessionRecord | StreamRecord, message: ClaudeMessage) -> bool:
    """Whether an answer reports an API error. Not every synthetic answer does ("No response requested.")."""
    if record.is_api_error_message is not None:
        return record.is_api_error_message is True
    if message.model != SYNTHETIC:
        return False
    return record.error is not None or text_of(message.content).startswith("API Error")


def text_of(content: Any) -> str:
    """The text in a message's content."""
    return "\n".join(block.text for block in blocks_of(content) if isinstance(block, TextBlock))
