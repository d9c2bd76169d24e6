"""Dumps of messages as events: a list, a state that holds one, or one message per line."""

from __future__ import annotations

from typing import Any

from stenograph.formats.langchain.message import calls_of, fields_of, messages_in, model_of
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_list, a_str, first_str
from stenograph.formats.shared.model_api.chat import thoughts_of
from stenograph.formats.shared.model_api.media import attachment
from stenograph.formats.shared.model_api.parts import block_of, plain_text, text_block
from stenograph.formats.shared.usage import UsageFields
from stenograph.model.block import Block

_USAGE = UsageFields(
    input=("input_tokens",),
    output=("output_tokens",),
    cache_read=("input_token_details.cache_read",),
    cache_write=("input_token_details.cache_creation",),
    reasoning=("output_token_details.reasoning",),
)
_CALLS = ("tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta")
"""Parts of a content that `tool_calls` repeats."""


class LangChainFormat(ImportFormat):
    """One conversation."""

    name = "langchain"

    def _record(self, record: dict[str, Any]) -> None:
        self._place()
        messages = messages_in(record)
        if not messages:
            self._message(record)
            return
        facts = {name: value for name, value in record.items() if name != "messages"}
        if facts:
            self._note("state", None, facts)
        for message in messages:
            self._message(message)
        self._emit_system()

    def _message(self, message: dict[str, Any]) -> None:
        role, fields = fields_of(message)
        content, name = fields.get("content"), a_str(fields.get("name"))
        if role == "system":
            self._system_prompt(plain_text(content))
        elif role == "user":
            self._user(self._blocks(content), message_id=first_str(fields, "id"))
        elif role == "assistant":
            self._assistant(fields)
        elif role == "tool":
            self._drop("artifacts", int(bool(fields.get("artifact"))))
            failed = fields.get("status") == "error"
            self._result(first_str(fields, "tool_call_id"), content, name=name, failed=failed)
        elif role == "chat":
            self._chat(fields)
        elif role:
            self._note(role, plain_text(content), fields)

    def _chat(self, fields: dict[str, Any]) -> None:
        """A message with a role that the program chose itself."""
        role = a_str(fields.get("role"))
        if role in ("user", "human"):
            self._user(self._blocks(fields.get("content")), message_id=first_str(fields, "id"))
        elif role in ("assistant", "ai"):
            self._assistant(fields)
        else:
            self._note("chat_message", plain_text(fields.get("content")), fields)

    def _assistant(self, fields: dict[str, Any]) -> None:
        blocks = [*thoughts_of(a_dict(fields.get("additional_kwargs"))), *self._blocks(fields.get("content"))]
        for call in calls_of(fields):
            if call.get("error"):
                self._drop("calls: why they could not be read")
            blocks.append(self._use(call.get("id"), a_str(call.get("name")), call.get("args")))
        metadata = a_dict(fields.get("response_metadata"))
        model, message_id = model_of(fields), first_str(fields, "id")
        stop = first_str(metadata, "finish_reason", "stop_reason")
        self._answer(blocks, model=model, message_id=message_id, stop_reason=stop)
        self._usage(_USAGE.read(fields.get("usage_metadata"), model=model, message_id=message_id))

    def _blocks(self, content: Any) -> list[Block]:
        if isinstance(content, str):
            return [text_block(content)] if content else []
        parts = [part for part in a_list(content) if a_dict(part).get("type") not in _CALLS]
        return [block for part in parts if (block := _block(part)) is not None]


def _block(part: Any) -> Block | None:
    data = a_dict(part).get("base64") or (a_dict(part).get("data") if a_dict(part).get("source_type") else None)
    found = attachment(part.get("mime_type"), data) if isinstance(data, str) else None
    return found or block_of(part)
