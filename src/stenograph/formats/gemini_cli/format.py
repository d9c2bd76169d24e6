"""The records of a chat file as events; records are distinguished by their fields, not by a type."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.gemini_cli.content import answer_blocks, calls_of, usage_of
from stenograph.formats.gemini_cli.emitted import Emitted
from stenograph.formats.gemini_cli.harness import is_synthetic, subtype_of
from stenograph.formats.gemini_cli.outcome import is_answered, result_of, side_file_of
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.gemini_parts import block_of, parts_of, response_of, response_result, text_of, texts_of
from stenograph.formats.shared.loose import a_dict, first_str
from stenograph.model.block import Block, TextBlock, ToolUseBlock, words_of
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload, ToolPayload

_NOTICES = ("info", "warning")


class GeminiCliFormat(LineFormat):
    """One chat file: a session's, or a subagent's."""

    name = "gemini_cli"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._emitted = Emitted()
        self._session_id = context.session_id
        self._is_history = False
        """Whether the current message is part of a rewritten history."""
        self._rewritten = 0
        """Messages of that history that repeat known ones in other words."""

    def _map(self, record: Any) -> None:
        if not isinstance(record, dict):
            return  # not a record: the base keeps it as unknown
        self._is_history = False
        if isinstance(message_id := record.get("id"), str):
            self._message(record, message_id)
        elif isinstance(patch := record.get("$set"), dict):
            self._patch(patch)
        elif isinstance(message_id := record.get("$rewindTo"), str):
            dropped = self._emitted.rewind_history(message_id)
            self._at(None)
            self._system("rewind", data={"message_id": message_id, "dropped": dropped})
        elif isinstance(session_id := record.get("sessionId"), str):
            self._session_id = self._session_id or session_id
            self._header(record)

    def _at(self, timestamp: Any) -> None:
        self._place(timestamp, session_id=self._session_id)

    def _system(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        self._emit("system.event", SystemPayload(subtype=subtype, text=text or None, data=data))

    # Records that are not messages.

    def _header(self, record: dict[str, Any]) -> None:
        """The beginning of a file, and of every resume; in old files it holds the messages."""
        self._at(record.get("startTime"))
        facts = {name: value for name, value in record.items() if name != "messages"}
        self._system("session", first_str(record, "summary"), facts)
        if isinstance(messages := record.get("messages"), list):
            self._messages(messages)

    def _patch(self, patch: dict[str, Any]) -> None:
        before = len(self._out)
        if isinstance(messages := patch.get("messages"), list):
            self._history(messages, patch.get("lastUpdated"))
        else:
            self._at(patch.get("lastUpdated"))
        facts = {name: value for name, value in patch.items() if name not in ("messages", "lastUpdated")}
        if facts:
            self._system("metadata", first_str(patch, "summary"), facts)
        elif len(self._out) == before:
            self._system("last_updated")

    def _history(self, messages: list[Any], timestamp: Any) -> None:
        """All messages that the agent has now: emit what is new among them, and count what was dropped or rewritten."""
        before = len(self._out)
        self._is_history, self._rewritten = True, 0
        ids = self._messages(messages)
        self._is_history = False
        dropped = self._emitted.replace_history(ids)
        self._at(timestamp)
        if dropped or self._rewritten:
            counts = {"messages": len(messages), "dropped": dropped, "rewritten": self._rewritten}
            self._system("history", data=counts)
        elif len(self._out) == before:
            self._system("repeated", data={"messages": len(messages)})

    # Messages.

    def _messages(self, messages: list[Any]) -> list[str]:
        """Emit all messages of a list; return the ids of those that have one."""
        ids = []
        for message in messages:
            if isinstance(message, dict) and isinstance(message_id := message.get("id"), str):
                ids.append(message_id)
                self._message(message, message_id)
            else:
                self._at(None)
                self._unknown(message, "message")
        return ids

    def _message(self, record: dict[str, Any], message_id: str) -> None:
        before = len(self._out)
        if not self._is_history:
            self._emitted.add_to_history(message_id)
        self._at(record.get("timestamp"))
        kind = record.get("type")
        if kind == "user":
            self._user(record, message_id)
        elif kind == "gemini":
            self._answer(record, message_id)
        elif kind in _NOTICES or kind == "error":
            self._notice(record, message_id, kind)
        else:
            self._unknown(record, kind)
        if len(self._out) == before and not self._is_history:
            self._system("repeated", data={"message_id": message_id})

    def _new_blocks(self, message_id: str, role: str, blocks: list[Block]) -> list[Block]:
        """The new blocks of a message; a known message in a rewritten history has less in it, and is counted."""
        if not self._is_history:
            return self._emitted.new_blocks(message_id, role, blocks)
        is_known = self._emitted.knows(message_id)
        fresh = self._emitted.new_blocks_of_history(message_id, role, blocks)
        calls: list[Block] = [block for block in fresh if isinstance(block, ToolUseBlock)]
        if not is_known:
            return fresh
        self._rewritten += len(calls) < len(fresh)
        return calls

    def _user(self, record: dict[str, Any], message_id: str) -> None:
        parts = parts_of(record.get("content"))
        responses = [part for part in parts if response_of(part) is not None]
        texts = {number: subtype for number, part in enumerate(parts) if (subtype := subtype_of(text_of(part) or ""))}
        said = [block_of(part) for number, part in enumerate(parts) if number not in texts]
        if len(said) > len(responses) and (blocks := self._new_blocks(message_id, "user", said)):
            payload = MessagePayload(role="user", blocks=tuple(blocks), message_id=message_id or None)
            self._emit("message.user", payload)
        for number, subtype in texts.items():
            self._harness(message_id, subtype, text_of(parts[number]) or "")
        for part in responses:
            result = response_result(a_dict(response_of(part)))
            # A response without an id is identified by its content.
            if self._emitted.is_unanswered(result.call_id or repr(part)):
                self._result(result)
        if not parts and not self._is_history:
            self._system("empty_user_message")

    def _harness(self, message_id: str, subtype: str, text: str) -> None:
        """Emit a text of the harness, if the message did not have it before."""
        if self._emitted.new_blocks(message_id, "harness", [TextBlock(fidelity="agent_emitted", text=text)]):
            self._system(subtype, text, {"part": "summary"} if subtype == "compaction" else None)

    def _answer(self, record: dict[str, Any], message_id: str) -> None:
        """A model's message: its new words and calls, its usage, and new results."""
        blocks = answer_blocks(record)
        model = first_str(record, "model")
        usage = usage_of(record.get("tokens"), model, message_id)
        if usage is None and len(blocks) == 1 and is_synthetic(words_of(blocks[0])):
            self._harness(message_id, "synthetic_answer", words_of(blocks[0]))
            return
        is_known = self._emitted.knows(message_id)
        fresh = self._new_blocks(message_id, "assistant", blocks)
        if fresh:
            payload = MessagePayload(
                role="assistant",
                blocks=tuple(fresh),
                model=model,
                message_id=message_id or None,
                replaces=True if is_known and not all(isinstance(block, ToolUseBlock) for block in fresh) else None,
            )
            self._emit("message.assistant", payload)
        for block in fresh:
            if isinstance(block, ToolUseBlock):
                self._emit("tool.call", call_of(block))
        if usage is not None and self._emitted.is_new_usage(message_id, usage):
            self._emit("token.usage", usage)
        self._results(record)
        if not blocks and usage is None and not self._is_history:
            self._system("empty_answer")

    def _results(self, record: dict[str, Any]) -> None:
        for call_id, call in calls_of(record):
            if is_answered(call) and self._emitted.is_unanswered(call_id):
                self._at(call.get("timestamp"))
                self._result(result_of(call_id, call))

    def _result(self, result: ToolPayload) -> None:
        """A result, with the whole output when the CLI stored it in a file that exists."""
        name = side_file_of(result.output)
        if name is not None:
            read = self.context.side_file
            whole = None if read is None else read(name)
            if whole is not None:
                result = replace(result, output=whole)
            elif name not in self.report.wanted_files:
                self.report.wanted_files.append(name)
        self._emit("tool.result", result)

    def _notice(self, record: dict[str, Any], message_id: str, kind: str) -> None:
        """What the CLI showed its user; pictures and other media are kept unchanged."""
        content = record.get("content")
        blocks: list[Block] = [block_of(part) for part in parts_of(content)]
        if blocks and not self._emitted.new_blocks(message_id, kind, blocks):
            return
        text = texts_of(content)
        others = None if all(isinstance(block, TextBlock) for block in blocks) else {"content": content}
        if kind == "error":
            self._emit("error", ErrorPayload(message=text or "Gemini CLI reported an error without words", data=others))
        else:
            self._system(kind, text, others)
