"""A plain chat as events. Nothing is guessed: calls without ids are identified by the names of their tools."""

from __future__ import annotations

from typing import Any

from stenograph.formats.chat_json.shape import facts_of, role_of, time_of, turns_of, words_of
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_str, dicts, first_str
from stenograph.formats.shared.model_api.chat import thoughts_of
from stenograph.formats.shared.model_api.parts import blocks_of, plain_text
from stenograph.model.block import Block


class ChatJsonFormat(ImportFormat):
    """One chat per record."""

    name = "chat_json"

    def _map(self, record: Any) -> None:
        turns = turns_of(record)
        if not turns and isinstance(record, list):
            super()._map(record)  # a list of chats
            return
        self._chat(record, turns)

    def _record(self, record: dict[str, Any]) -> None:
        self._chat(record, turns_of(record))

    def _chat(self, record: Any, turns: list[dict[str, Any]]) -> None:
        if not turns:
            return
        self._place(time_of(a_dict(record)) or time_of(turns[0]))
        facts = facts_of(record)
        if facts:
            self._note("chat", first_str(facts, "title", "name", "summary"), facts)
        tools = arguments_of(facts.get("tools"))
        self._define(tools)
        for turn in turns:
            self._place(time_of(turn))
            self._turn(turn, first_str(facts, "model"))
        self._emit_system()

    def _turn(self, turn: dict[str, Any], model: str | None) -> None:
        role, words = role_of(turn), words_of(turn)
        message_id = first_str(turn, "id", "message_id", "uuid")
        if role == "user":
            self._user(blocks_of(words), message_id=message_id)
        elif role == "system":
            self._system_prompt(plain_text(words))
        elif role == "tool":
            name = a_str(turn.get("name"))
            self._result(first_str(turn, "tool_call_id", "call_id"), words, name=name)
        else:
            blocks: list[Block] = [*thoughts_of(turn), *(blocks_of(words) if role == "assistant" else ())]
            calls = dicts(turn.get("tool_calls")) if role == "assistant" else [a_dict(arguments_of(words))]
            blocks += [self._called(call) for call in calls]
            named = first_str(turn, "model") or model
            self._answer(blocks, model=named, message_id=message_id)

    def _called(self, call: dict[str, Any]) -> Block:
        inner = a_dict(call.get("function")) or call
        arguments = inner.get("arguments", inner.get("parameters", inner.get("input")))
        return self._use(call.get("id"), a_str(inner.get("name")), arguments_of(arguments))
