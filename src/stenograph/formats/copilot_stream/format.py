"""copilot_stream: what `copilot -p … --output-format json` prints.

The records of the session file without its first line, the context around prompts and the token counts, and with what
the file lacks: pieces of messages while they are streamed, and everything that a command printed. Pieces are held and
dropped when the whole comes; what never comes whole (a failed call, a killed process) is emitted under the line of its
last piece.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from stenograph.formats.base import Context
from stenograph.formats.copilot_cli.content import requests_of
from stenograph.formats.copilot_cli.format import CopilotFormat
from stenograph.formats.copilot_cli.record import Data, Record, Result
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import small, string
from stenograph.model.block import Block, TextBlock, ThinkingBlock, ToolUseBlock
from stenograph.model.event import Origin
from stenograph.model.payload import SystemPayload

_TOO_LARGE = "Output too large to read at once"
"""The beginning of a result that holds only a preview of what a command printed."""
_ENDS = {"assistant.turn_end", "assistant.turn_retry", "assistant.idle", "model.call_failure", "session.error"}
"""Record types after which a streamed message will not come whole."""


class Where(Struct, frozen=True):
    """Line and time of a piece."""

    origin: Origin | None
    timestamp: str


class Partial(Struct):
    """The streamed parts of one source, by their ids, in the order of their first pieces."""

    thoughts: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    calls: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """The names of the tools that are being called."""
    where: Where | None = None
    """The line of the last piece."""

    def drop(self, data: Data) -> None:
        """Drop what a whole message repeats."""
        self.texts.pop(string(data.message_id) or "", None)
        whole = string(data.reasoning_text) or ""
        self.thoughts = {key: pieces for key, pieces in self.thoughts.items() if "".join(pieces) not in whole}
        for request in requests_of(data):
            self.calls.pop(request.tool_id, None)

    def blocks(self) -> list[Block]:
        """The blocks that no whole message has repeated."""
        blocks: list[Block] = []
        blocks += [ThinkingBlock(fidelity="agent_emitted", thinking="".join(each)) for each in self.thoughts.values()]
        blocks += [TextBlock(fidelity="agent_emitted", text="".join(each)) for each in self.texts.values()]
        blocks += [
            ToolUseBlock(
                fidelity="agent_emitted",
                tool_name=self.names.get(call_id, ""),
                tool_id=call_id,
                tool_input=arguments_of("".join(pieces)),
            )
            for call_id, pieces in self.calls.items()
        ]
        return blocks


class CopilotStreamFormat(CopilotFormat):
    """The stream of one process."""

    name = "copilot_stream"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._partials: dict[str, Partial] = {}
        """By source."""
        self._printed: dict[str, tuple[list[str], Where]] = {}
        """What commands printed so far, by call, with the line of the last piece."""

    def _map(self, record: Record | None) -> None:
        if record is not None and record.type == "result" and record.data is None:
            self._end(record)
            return
        if record is None or record.type.__class__ is not str or not isinstance(record.data, Data):
            return  # not a record: the base keeps it as unknown
        piece = _PIECES.get(record.type)
        if piece is not None:
            self._locate(record, record.data, record.type)
            piece(self, record.data)
            self._accumulate()
            return
        if record.type in _ENDS:
            self._locate(record, record.data, record.type)
            self._flush(self._source)
        super()._map(record)

    def _end(self, record: Record) -> None:
        for source in list(self._partials):
            self._flush(source)
        self._session_id = string(record.session_id) or self._session_id
        time = record.timestamp if isinstance(record.timestamp, str) else None
        self._place(time, session_id=self._session_id)
        data = small((("exitCode", record.exit_code), ("usage", record.usage)))
        self._emit("system.event", SystemPayload(subtype="result", data=data))

    # Wholes.

    def _assistant(self, data: Data) -> None:
        partial = self._partials.get(self._source)
        if partial is not None:
            partial.drop(data)
        super()._assistant(data)

    def _reasoning(self, data: Data) -> None:
        partial = self._partials.get(self._source)
        if partial is not None:
            partial.thoughts.pop(string(data.reasoning_id) or "", None)
        super()._reasoning(data)

    def _repeated(self, kind: str) -> None:
        self._accumulate()

    def _streamed(self, data: Data) -> str | None:
        pieces, _ = self._printed.pop(string(data.tool_call_id) or "", ([], None))
        shown = data.result.content if isinstance(data.result, Result) else None
        is_preview = isinstance(shown, str) and shown.startswith(_TOO_LARGE)
        return "".join(pieces) if pieces and is_preview else None

    # Pieces.

    def _partial(self) -> Partial:
        partial = self._partials.get(self._source)
        if partial is None:
            partial = self._partials[self._source] = Partial()
        partial.where = self._here()
        return partial

    def _here(self) -> Where:
        return Where(self._origin, self._timestamp)

    def _text_piece(self, data: Data) -> None:
        key = string(data.message_id) or ""
        self._partial().texts.setdefault(key, []).append(string(data.delta_content) or "")

    def _thought_piece(self, data: Data) -> None:
        key = string(data.reasoning_id) or ""
        self._partial().thoughts.setdefault(key, []).append(string(data.delta_content) or "")

    def _call_piece(self, data: Data) -> None:
        key, partial = string(data.tool_call_id) or "", self._partial()
        partial.names.setdefault(key, string(data.tool_name) or "")
        partial.calls.setdefault(key, []).append(string(data.input_delta) or "")

    def _printed_piece(self, data: Data) -> None:
        key = string(data.tool_call_id) or ""
        pieces, _ = self._printed.get(key, ([], None))
        pieces.append(string(data.text) or "")
        self._printed[key] = pieces, self._here()

    def _nothing(self, data: Data) -> None:
        """Ignore a piece that other pieces also hold."""

    # What never came whole.

    def _flush(self, source: str) -> None:
        partial = self._partials.pop(source, None)
        blocks = [] if partial is None else partial.blocks()
        if partial is None or partial.where is None or not blocks:
            return
        before = self._leave_for(partial.where)
        self._say(blocks, next((key for key in partial.texts if key), None))
        self._source = source
        for block in blocks:
            if isinstance(block, ToolUseBlock):
                self._call(block)
        self._return_to(before)

    def _leave_for(self, where: Where) -> tuple[Where, bytes | None]:
        """Emit something under the line of a piece, which then counts as having an event."""
        self.report.accumulated -= 1
        before = self._here(), self._raw
        self._origin, self._timestamp, self._raw = where.origin, where.timestamp, None
        return before

    def _return_to(self, before: tuple[Where, bytes | None]) -> None:
        here, self._raw = before
        self._origin, self._timestamp = here.origin, here.timestamp

    def _finish(self) -> None:
        for source in list(self._partials):
            self._flush(source)
        for call_id, (pieces, where) in self._printed.items():
            before = self._leave_for(where)
            data = small([("toolCallId", call_id or None)])
            self._emit("system.event", SystemPayload(subtype="tool.shell_output", text="".join(pieces), data=data))
            self._return_to(before)
        self._printed = {}


_PIECES: dict[str, Callable[[CopilotStreamFormat, Data], None]] = {
    "assistant.message_delta": CopilotStreamFormat._text_piece,
    "assistant.reasoning_delta": CopilotStreamFormat._thought_piece,
    "assistant.tool_call_delta": CopilotStreamFormat._call_piece,
    "tool.shell_output": CopilotStreamFormat._printed_piece,
    "assistant.message_start": CopilotStreamFormat._nothing,
    "assistant.streaming_delta": CopilotStreamFormat._nothing,
    "tool.execution_partial_result": CopilotStreamFormat._nothing,
}
