"""qwen_stream: what `qwen -p … --output-format stream-json` prints.

Theory of operation. The lines have the shape of Claude's stream, and other meanings: input tokens include what was
cached, and each block of an answer is a message of its own, of which only the last one has the answer's tokens. They
are joined under the id of the first. A failed call of the model is an answer in brackets, and the end of a background
task is told under the role of the user: neither is anybody's words. Of subagents there is their task only; what they
do, the tokens of thoughts and the prompts are in the session's file (`qwen_code`).
"""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from stenograph.formats.base import Context
from stenograph.formats.claude_code.message import text_of
from stenograph.formats.claude_code.record import ClaudeMessage, StreamRecord, Usage
from stenograph.formats.claude_stream.format import ClaudeStreamFormat
from stenograph.formats.shared.gemini_parts import token_count
from stenograph.formats.shared.loose import a_str, string
from stenograph.model.block import Block, TextBlock
from stenograph.model.payload import ErrorPayload, UsagePayload

_NOTICE = re.compile(r'Background \w+ ".*" \w+')
"""How the end of a background task is told."""
_FAILURE = re.compile(r"\[API Error: ((?:(\d{3})\b)?.*)\]", re.DOTALL)
"""What stands in the place of an answer when the call of the model failed."""


class QwenStreamFormat(ClaudeStreamFormat):
    """The stream of one process."""

    name = "qwen_stream"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._replies: dict[str, str] = {}
        """The id of the answer that each source is in the middle of, by the call that spawned it."""

    def _map(self, record: Any) -> None:
        if isinstance(record, StreamRecord) and record.type in ("user", "result"):
            self._replies.pop(a_str(record.parent_tool_use_id), None)
        super()._map(record)

    def _person(self, blocks: list[Block]) -> None:
        text = next((block.text for block in blocks if isinstance(block, TextBlock)), "")
        if _NOTICE.match(text):
            self._system("notification", text)
        else:
            super()._person(blocks)

    def _assistant(self, record: Any, message: ClaudeMessage) -> None:
        """The events of a line, as a part of the answer that it belongs to."""
        source = a_str(record.parent_tool_use_id)
        failure = _FAILURE.fullmatch(text_of(message.content))
        if failure is not None:
            self._emit("error", ErrorPayload(message=failure[1], code=failure[2]))
            return
        reply = self._replies.get(source) or string(message.id) or ""
        usage = message.usage if isinstance(message.usage, Usage) else None
        is_counted = usage is not None and bool(usage.input_tokens or usage.output_tokens)
        if is_counted:
            self._replies.pop(source, None)
        elif reply:
            self._replies[source] = reply
        super()._assistant(record, replace(message, id=reply or None, usage=usage if is_counted else None))

    def _usage_of(self, usage: Usage, **facts: Any) -> UsagePayload:
        """Input includes what was read from a cache, output what was thought."""
        return UsagePayload(
            scope=facts.get("scope", "call"),
            input_tokens=token_count(usage.input_tokens) or 0,
            output_tokens=token_count(usage.output_tokens) or 0,
            cache_read_input_tokens=token_count(usage.cache_read_input_tokens),
            cache_creation_input_tokens=token_count(usage.cache_creation_input_tokens),
            model=string(facts.get("model")),
            message_id=string(facts.get("message_id")),
        )
