"""A session's document, or the lines that it is cut into, as events.

Theory of operation. A line is the document without its messages, the facts that Cline keeps about the session in
another file, or one message. A message comes again when it was changed (a compaction shortens old ones): what was
emitted stays, a note says that it was rewritten, and calls, results and tokens that are new in it are emitted.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.cline.detection import began, is_document
from stenograph.formats.cline.layout import is_facts
from stenograph.formats.cline.results import outcome_of
from stenograph.formats.cline.words import COMPACTION, is_compaction, notice_in, prompt_in, subtype_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str, time_text
from stenograph.formats.shared.message_format import MessageFormat, use_of
from stenograph.formats.shared.model_api.parts import block_of, plain_text, text_block
from stenograph.formats.shared.usage import UsageFields
from stenograph.model.block import Block, TextBlock, ToolUseBlock

_USAGE = UsageFields(
    input=("inputTokens",),
    output=("outputTokens",),
    cache_read=("cacheReadTokens",),
    cache_write=("cacheWriteTokens",),
    cost=("cost", "totalCost"),
)
_FACTS = ("status", "title", "provider", "model", "cwd", "started_at", "ended_at", "exit_code", "interactive", "source")


class ClineFormat(MessageFormat):
    """One session of Cline, or one of its subagents."""

    name = "cline"

    def _map(self, record: Any) -> None:
        if is_document(record):
            self._document(record)
        elif isinstance(record, dict) and isinstance(record.get("role"), str):
            self._message(record)
        elif isinstance(record, dict) and is_facts(record):
            self._session(record)

    def _document(self, record: dict[str, Any]) -> None:
        """The beginning of the session; a document that was not split into lines also holds the messages."""
        self._place(began(record["sessionId"]))
        origin = a_dict(record.get("origin"))
        names = ("version", "agent", "sessionId", "taskType")
        facts = {name: record[name] for name in names if name in record} | {"origin": origin}
        said = [record["agent"], *(origin[name] for name in ("source", "version") if isinstance(origin.get(name), str))]
        self._emit_changes("document", facts, ", ".join(said))
        prompt = a_str(record.get("system_prompt"))
        if prompt and self._is_first("system_prompt", prompt):
            self._note("system_prompt", prompt)
        for message in a_list(record.get("messages")):
            if isinstance(message, dict) and isinstance(message.get("role"), str):
                self._message(message)
            else:
                self._place()
                self._unknown(message, "message")

    def _session(self, record: dict[str, Any]) -> None:
        is_first = "session" not in self._facts
        self._place(first_str(record, "started_at") if is_first else first_str(record, "ended_at"))
        title = first_str(a_dict(record.get("metadata")), "title")
        facts = {name: record[name] for name in _FACTS if record.get(name) is not None}
        self._emit_changes("session", {**facts, **({} if title is None else {"title": title})}, title)

    # Messages.

    def _message(self, message: dict[str, Any]) -> None:
        self._place(time_text(message.get("ts")))
        content = message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else a_list(content)
        message_id = a_str(message.get("id"))
        before = len(self._out)
        is_first = self._is_first("message", message_id)
        subtype = subtype_of(message, plain_text(parts))
        if subtype is not None:
            self._own_note(subtype, message, parts, is_first)
        elif message["role"] == "assistant":
            self._said(message, parts, message_id, is_first)
        elif message["role"] == "user":
            self._asked(message, parts, message_id, is_first)
        else:
            self._unknown(message, message["role"])
        if len(self._out) == before:
            self._note("empty_message" if is_first else "rewritten", data={"message_id": message_id})

    def _own_note(self, subtype: str, message: dict[str, Any], parts: list[Any], is_first: bool) -> None:
        """Emit what Cline wrote itself: an error, a summary of earlier messages, or a note to the model."""
        if not is_first:
            return
        text, metadata = plain_text(parts), a_dict(message.get("metadata"))
        if subtype == "error":
            self._error(text, data=metadata)
        elif subtype == COMPACTION:
            self._note(COMPACTION, text, {**metadata, "part": "summary"})
        else:
            self._note(subtype, text, metadata or None)

    def _said(self, message: dict[str, Any], parts: list[Any], message_id: str, is_first: bool) -> None:
        model = first_str(a_dict(message.get("modelInfo")), "id")
        found = [self._block(part) for part in parts]
        blocks = [block for block in found if block is not None]
        uses = [block for block in blocks if isinstance(block, ToolUseBlock)]
        fresh: list[Block] = [block for block in uses if self._is_first("call", block.tool_id)]
        said = (
            [block for block in blocks if not isinstance(block, ToolUseBlock) or block in fresh] if is_first else fresh
        )
        if said:
            self._answer(said, model=model, message_id=message_id or None)
        usage = _USAGE.read(message.get("metrics"), model=model, message_id=message_id or None)
        if usage is not None and self._is_first("usage", message_id):
            self._usage(usage)

    def _block(self, part: Any) -> Block | None:
        if a_dict(part).get("type") == "tool_use":
            return use_of(a_str(part.get("id")), a_str(part.get("name")), part.get("input"))
        return block_of(part)

    def _asked(self, message: dict[str, Any], parts: list[Any], message_id: str, is_first: bool) -> None:
        """Emit a message of the user's side: what was typed, what Cline added to it, and results of tools."""
        notices = [text for part in parts if (text := notice_in(part)) is not None]
        results = [part for part in dicts(parts) if part.get("type") == "tool_result"]
        others = [part for part in parts if part not in results and notice_in(part) is None]
        blocks = [block for part in others if (block := block_of(part)) is not None]
        if blocks and is_first:
            self._prompt(blocks, message_id)
        for part in results:
            call_id = a_str(part.get("tool_use_id"))
            if self._is_first("result", call_id):
                output, error = outcome_of(part)
                self._result(call_id, output, name=a_str(part.get("name")), error=error)
        for text in notices:
            if self._is_first("notice", f"{message_id} {text}"):
                self._note("notice", text)
        if is_compaction(message) and self._is_first("compaction", message_id):
            self._note(COMPACTION, data=message["metadata"])

    def _prompt(self, blocks: list[Block], message_id: str) -> None:
        mode = None
        if isinstance(blocks[0], TextBlock):
            words, mode = prompt_in(blocks[0].text)
            blocks = [text_block(words), *blocks[1:]]
        self._user(blocks, message_id or None)
        if mode is not None and self._facts.get("mode") != {"mode": mode}:
            self._emit_changes("mode", {"mode": mode}, mode)
