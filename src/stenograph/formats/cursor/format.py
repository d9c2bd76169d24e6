"""A transcript of Cursor's agent as events: one message per line, without ids, and mostly without tool results."""

from __future__ import annotations

from typing import Any

from stenograph.formats.cursor.words import prompt_in, time_in
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str
from stenograph.formats.shared.model_api.parts import block_of, plain_text, text_block
from stenograph.model.block import Block

_CALLS = ("tool_use", "tool_call", "tool-call")
_RESULTS = ("tool_result", "tool-result")


class CursorFormat(ImportFormat):
    """One transcript: a session's, or a subagent's."""

    name = "cursor"

    def _record(self, record: dict[str, Any]) -> None:
        role, content = record.get("role"), a_dict(record.get("message")).get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else a_list(content)
        if record.get("type") == "turn_ended":
            self._place()
            self._note("turn_ended", first_str(record, "status"), record)
        elif role == "user":
            self._prompt(parts)
        elif role == "assistant":
            self._place()
            self._answer(self._blocks(parts), model=first_str(record, "model"))

    def _prompt(self, parts: list[Any]) -> None:
        results = [part for part in dicts(parts) if part.get("type") in _RESULTS]
        self._place(time_in(plain_text([part for part in parts if part not in results])))
        said: list[Block] = []
        around: list[str] = []
        for part in parts:
            text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
            if isinstance(text, str):
                typed, context = prompt_in(text)
                said += [text_block(typed)] if typed else []
                around += [context] if context else []
            elif part not in results:
                block = block_of(part)
                said += [] if block is None else [block]
        if around:
            self._note("context", "\n".join(around))
        if said or not (results or around):
            self._user(said)
        for result in results:
            call_id = first_str(result, "tool_use_id", "toolCallId")
            failed = result.get("is_error") is True
            self._result(call_id, result.get("content"), name=a_str(result.get("name")), failed=failed)

    def _blocks(self, parts: list[Any]) -> list[Block]:
        blocks: list[Block] = []
        for part in parts:
            if a_dict(part).get("type") in _CALLS:
                blocks.append(self._use(part.get("id"), a_str(part.get("name")), part.get("input")))
            elif (block := block_of(part)) is not None:
                blocks.append(block)
        return blocks
