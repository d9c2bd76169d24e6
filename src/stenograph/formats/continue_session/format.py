"""A session's document, or the lines that it is cut into, as events.

Theory of operation. A line is the document without its history, one item of the history, or the session's sums. An item
is a message with the states of its calls inside, results included; it comes again when a state has changed, or when the
user went back and wrote another message instead. Items have no times.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import Context
from stenograph.formats.continue_session.detection import is_document
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.digest import digest_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str, a_time, dicts, first_str, time_text
from stenograph.formats.shared.message_format import MessageFormat, use_of
from stenograph.formats.shared.model_api.parts import blocks_of, plain_text, thinking_block
from stenograph.formats.shared.model_api.usage import openai_usage
from stenograph.model.block import Block

_FAILED = {"errored": "failed", "canceled": "canceled"}
_FACTS = ("sessionId", "title", "workspaceDirectory", "mode", "chatModelTitle")


class ContinueFormat(MessageFormat):
    """One session of Continue."""

    name = "continue_session"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._said: dict[int, int] = {}
        """Digests of the items' messages, by the items' numbers."""
        self._session = context.session_id or ""

    def _map(self, record: Any) -> None:
        if is_document(record):
            self._document(record)
        elif isinstance(record, dict) and isinstance(record.get("number"), int):
            self._place()
            self._item(record, record["number"])
        elif isinstance(record, dict) and isinstance(record.get("usage"), dict):
            self._place()
            self._emit_changes("session_usage", record["usage"])

    def _document(self, document: dict[str, Any]) -> None:
        self._place(_began(document.get("dateCreated")))
        self._session = self._session or document["sessionId"]
        facts = {name: document[name] for name in _FACTS if document.get(name) is not None}
        self._emit_changes("session", facts, first_str(document, "title"))
        for number, item in enumerate(a_list(document["history"]), 1):
            self._item(a_dict(item), number)
        if isinstance(document.get("usage"), dict):
            self._emit_changes("session_usage", document["usage"])

    def _item(self, item: dict[str, Any], number: int) -> None:
        message = a_dict(item.get("message"))
        before = len(self._out)
        said = digest_of("message", repr((message.get("role"), message.get("content"))))
        is_new = self._said.get(number) != said
        if is_new and number in self._said:
            self._note("rewritten", data={"number": number})
        self._said[number] = said
        self._message(message, f"{self._session}/{number}", is_new)
        for state in dicts(item.get("toolCallStates")):
            self._state(state)
        if is_new and (names := [a_str(each.get("name")) for each in dicts(item.get("contextItems"))]):
            self._note("context", ", ".join(names), item["contextItems"])
        summary = first_str(item, "conversationSummary")
        if summary is not None and self._is_first("summary", summary):
            self._note("compaction", summary, {"part": "summary"})
        if len(self._out) == before:
            self._unknown(item, "item") if not message else self._note("repeated", data={"number": number})

    # Messages.

    def _message(self, message: dict[str, Any], message_id: str, is_new: bool) -> None:
        role, content = message.get("role"), message.get("content")
        if role == "assistant":
            self._answered(message, message_id, is_new)
        elif not is_new:
            return
        elif role == "user":
            self._user(blocks_of(content), message_id)
        elif role == "thinking":
            words = plain_text(content)
            thought = thinking_block(words, {**message, "encrypted_content": message.get("redactedThinking")})
            self._answer([thought], message_id=message_id)
        elif role == "tool":
            self._emit_result(a_str(message.get("toolCallId")), content, "")
        elif isinstance(role, str):
            self._note("system_prompt" if role == "system" else role, plain_text(content))

    def _answered(self, message: dict[str, Any], message_id: str, is_new: bool) -> None:
        usage = a_dict(message.get("usage"))
        model = first_str(usage, "model")
        blocks: list[Block] = blocks_of(message.get("content")) if is_new else []
        for call in dicts(message.get("toolCalls")):
            function = a_dict(call.get("function"))
            call_id = a_str(call.get("id"))
            if self._is_first("call", call_id):
                tool_input = arguments_of(function.get("arguments"))
                blocks.append(use_of(call_id, a_str(function.get("name")), tool_input))
        if blocks or is_new:
            self._answer(blocks, model=model, message_id=message_id)
        taken = openai_usage(usage, model, message_id)
        if taken is not None and self._is_first("usage", f"{message_id} {usage}"):
            self._usage(taken)

    # Results.

    def _state(self, state: dict[str, Any]) -> None:
        """Emit the result in a call's state, once the call has ended."""
        status = a_str(state.get("status"))
        name = a_str(a_dict(a_dict(state.get("toolCall")).get("function")).get("name"))
        call_id = first_str(state, "toolCallId") or a_str(a_dict(state.get("toolCall")).get("id"))
        if status in ("done", *_FAILED):
            output = "\n".join(a_str(each.get("content")) for each in dicts(state.get("output")))
            error = None if status == "done" else output or _FAILED[status]
            self._emit_result(call_id, output, name, error)
        elif self._is_first("state", f"{call_id} {status}"):
            self._note("tool_call", status, {"call_id": call_id, "status": status})

    def _emit_result(self, call_id: str, content: Any, name: str, error: str | None = None) -> None:
        if self._is_first("result", call_id):
            self._result(call_id, content, name=name, error=error)


def _began(stamp: Any) -> str | None:
    """When a session began: milliseconds in a text, or a time."""
    return time_text(int(stamp)) if isinstance(stamp, str) and stamp.isdecimal() and len(stamp) < 16 else a_time(stamp)
