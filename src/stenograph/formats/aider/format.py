"""The pieces of a history as events.

Theory of operation. A session is read as lines of JSON, one for each piece (`detection.sessions_in`); a history that
arrives as a stream is cut into the same pieces. Only a session's beginning has a time. Tokens of a call are written as
text, rounded from a thousand on: then a note says so, with that text.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph.formats.aider.detection import MODEL as MODEL_NAME
from stenograph.formats.aider.pieces import MODEL, PROGRAM, START, USER, Piece, Pieces
from stenograph.formats.base import Context, LineFormat
from stenograph.formats.shared.loose import dollars, tokens
from stenograph.model.block import Block, TextBlock, ThinkingBlock
from stenograph.model.codec import REFUSALS
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload, UsagePayload

_NUMBER = r"([\d.]{1,12}[kM]?)"
_TOKENS = re.compile(
    rf"Tokens: {_NUMBER} sent(?:, {_NUMBER} cache write)?(?:, {_NUMBER} cache hit)?, {_NUMBER} received\."
    r"(?:\s+Cost: \$([\d.]{1,12}) message)?"
)
_ERROR = re.compile(r"\A(?:litellm\.)?(\w*(?:Error|Exception))\b:?\s*")
_THINKING = re.compile(r"\A(?:-+\n)?► \*\*THINKING\*\*\n(.*?)\n(?:-+\n)?► \*\*ANSWER\*\*\n", re.DOTALL)
_NOTES = {
    "applied_edit": re.compile(r"\AApplied edit to (.+)\Z"),
    "commit": re.compile(r"\ACommit ([0-9a-f]+) "),
    "edit_failed": re.compile(r"\AThe LLM did not conform to the edit format"),
}
_UNITS = {"k": 1000, "M": 1_000_000}
_PIECE = b'{"kind":'


class AiderFormat(LineFormat):
    """One session, piece by piece, or a whole history."""

    name = "aider"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._cutting = Pieces()
        self._model: str | None = None

    def _decode(self, line: bytes) -> Any:
        """A piece as `sessions_in` wrote it, else a line of a history, as text."""
        if line.startswith(_PIECE):
            try:
                return msgspec.json.decode(line, type=Piece)
            except REFUSALS:
                pass
        text = line.decode("utf-8", "replace")
        self.report.replaced += text.count("\ufffd")
        return text

    def _convert(self, value: Any) -> Any:
        try:
            return msgspec.convert(value, Piece)
        except msgspec.ValidationError:
            return value

    def _line(self, line: bytes) -> None:
        super()._line(line)
        if not line.strip():  # it is part of an answer, or ends a prompt
            self._raw = self._origin = None
            self._emit_pieces(self._cutting.add(line.decode("utf-8", "replace")))

    def _map(self, record: Any) -> None:
        if isinstance(record, Piece):
            self._place()
            self._emit_piece(record)
        elif isinstance(record, str):
            pieces = self._cutting.add(record)
            if not any(piece.line == self.report.lines for piece in pieces):
                self._accumulate()
            self._emit_pieces(pieces)

    def _finish(self) -> None:
        self._emit_pieces(self._cutting.end())

    def _emit_pieces(self, pieces: list[Piece]) -> None:
        """Emit pieces of a history: each when it is complete, under its first line."""
        raw, self._raw = self._raw, None
        for piece in pieces:
            self._place()
            assert self._origin is not None
            self._origin = replace(self._origin, line=piece.line)
            self._raw = raw if piece.line == self.report.lines else None
            self._emit_piece(piece)
        self._raw = None

    def _emit_piece(self, piece: Piece) -> None:
        if piece.kind == START:
            self._begin(piece.text)
        elif piece.kind == USER:
            self._emit("message.user", MessagePayload(role="user", blocks=(_text(piece.text),)))
        elif piece.kind == MODEL:
            self._answer(piece.text)
        elif piece.kind == PROGRAM:
            self._said(piece.text)
        else:
            self._unknown(piece.text, piece.kind)

    def _note(self, subtype: str, text: str, data: Any = None) -> None:
        self._emit("system.event", SystemPayload(subtype=subtype, text=text or None, data=data))

    def _begin(self, started: str) -> None:
        """A session; its time is local and has no zone."""
        line = None if self._origin is None else self._origin.line
        self._place(started)
        if self._origin is not None:
            self._origin = replace(self._origin, line=line)
        self._note("session", started)

    def _answer(self, text: str) -> None:
        blocks: list[Block] = []
        if (thought := _THINKING.match(text)) is not None:
            blocks.append(ThinkingBlock(fidelity="agent_emitted", thinking=thought[1].strip("\n")))
            text = text[thought.end() :].strip("\n")
        payload = MessagePayload(role="assistant", blocks=(*blocks, _text(text)), model=self._model)
        self._emit("message.assistant", payload)

    def _said(self, text: str) -> None:
        """Words of the program: tokens, errors, edits, commits, its version and model, questions with their answers."""
        if (model := MODEL_NAME.match(text)) is not None:
            self._model = model[1]
        if (counts := _TOKENS.match(text)) is not None:
            self._count(text, counts)
        elif (error := _ERROR.match(text)) is not None:
            self._emit("error", ErrorPayload(message=text, code=error[1]))
        else:
            found = ((name, match) for name, pattern in _NOTES.items() if (match := pattern.match(text)))
            name, match = next(found, ("console", None))
            self._note(name, text, {"what": match[1]} if match is not None and match.lastindex else None)

    def _count(self, text: str, match: re.Match[str]) -> None:
        sent, written, read, received = (_number(match[group]) for group in range(1, 5))
        if any(match[group] and match[group][-1] in _UNITS for group in range(1, 5)):
            self._note("rounded_tokens", text)
        usage = UsagePayload(
            scope="call",
            input_tokens=sent or 0,
            output_tokens=received or 0,
            cache_read_input_tokens=read,
            cache_creation_input_tokens=written,
            cost_usd=dollars(float(match[5])) if match[5] and match[5].count(".") <= 1 and match[5] != "." else None,
            model=self._model,
        )
        self._emit("token.usage", usage)


def _text(text: str) -> TextBlock:
    return TextBlock(fidelity="agent_emitted", text=text)


def _number(text: str | None) -> int | None:
    """A number of tokens: `27`, or `1.0k`, which is rounded."""
    if not text:
        return None
    unit = _UNITS.get(text[-1], 1)
    try:
        return tokens(round(float(text.rstrip("kM")) * unit))
    except (ValueError, OverflowError):
        return None
