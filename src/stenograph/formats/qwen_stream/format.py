"""qwen_stream: what `qwen -p … --output-format stream-json` prints.

Theory of operation. The lines have the shape of Claude's stream with other meanings: input tokens include what was
cached, and each block of an answer is a separate message, of which only the last has the answer's tokens. They are
joined under the id of the first. A failed model call is an answer in brackets, and the end of a background task comes
under the role of the user: neither is a message. Of subagents only their task is printed; what they do, the tokens of
thoughts and the prompts are in the session's file (`qwen_code`).
"""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from stenograph.formats.base import Context
from stenograph.formats.claude_code.message import text_of
from stenograph.formats.claude_code.record import ClaudeMessage, StreamRecord, Usage
from stenograph.formats.claude_stream.format import ClaudeStreamFormat
from stenograph.formats.shared.loose import a_str, string, tokens
from stenograph.model.block import Block, TextBlock
from stenograph.model.payload import ErrorPayload, UsagePayload

_NOTICE = re.compile(r'Background \w+ ".*" \w+')
"""The text about the end of a background task."""
_FAILURE = re.compile(r"\[API Error: ((?:(\d{3})\b)?.*)\]", re.DOTALL)
"""The text that replaces an answer when the model call failed."""


class QwenStreamFormat(ClaudeStreamFormat):
    """The stream of one process."""

    name = "qwen_stream"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._replies: dict[str, str] = {}
        """The id of each source's current answer, by the call that spawned it."""

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
        """Emit the events of a line, as a part of the answer that it belongs to."""
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
        """The tokens: input includes what was read from a cache, output includes reasoning."""
        return UsagePayload(
            scope=facts.get("scope", "call"),
            input_tokens=tokens(usage.input_tokens) or 0,
            output_tokens=tokens(usage.output_tokens) or 0,
            cache_read_input_tokens=tokens(usage.cache_read_input_tokens),
            cache_creation_input_tokens=tokens(usage.cache_creation_input_tokens),
            model=string(facts.get("model")),
            message_id=string(facts.get("message_id")),
        )
