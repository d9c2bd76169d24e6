"""Chats that agents print, one message of Chat Completions per line: answers with calls, and results."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_str, dicts
from stenograph.formats.shared.model_api.chat import thoughts_of
from stenograph.formats.shared.model_api.parts import blocks_of, plain_text


class PrintedChat(ImportFormat):
    """The printed chat of one process. Subclasses set `name`, and may say which results failed."""

    def _record(self, record: dict[str, Any]) -> None:
        role, content = record.get("role"), record.get("content")
        self._place()
        if role == "assistant":
            calls = [
                self._use(call.get("id"), a_str(function.get("name")), arguments_of(function.get("arguments")))
                for call in dicts(record.get("tool_calls"))
                for function in [a_dict(call.get("function"))]
            ]
            self._answer([*thoughts_of(record), *blocks_of(content), *calls])
        elif role == "tool":
            self._result(record.get("tool_call_id"), content, error=self._failure(plain_text(content)))
        elif role == "user":
            self._user(blocks_of(content))
        elif role == "meta":
            facts = {name: value for name, value in record.items() if name not in ("role", "type", "content")}
            self._note(a_str(record.get("type")) or "meta", a_str(content), facts)

    def _failure(self, text: str) -> str | None:
        """Why a call failed, from the text of its result; None when it did not."""
        return None
