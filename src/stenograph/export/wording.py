"""Values as the formats write them: JSON, texts of results, attachments, definitions of tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from stenograph.fold.exchange import Call, Exchange, Notice, Turn
from stenograph.fold.losses import LossReport
from stenograph.model import mend
from stenograph.model.block import AttachmentBlock, Block, TextBlock, ThinkingBlock
from stenograph.model.moment import moment_of
from stenograph.transcript.content import payload_text

_encode = msgspec.json.encode
IMAGES = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}
"""The image types that model APIs take, and the suffixes of their files."""


def json_bytes(value: Any) -> bytes:
    """JSON; a lone surrogate, which UTF-8 cannot hold, becomes U+FFFD."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _encode(mend.scrub(mend.plain(value))[0])


_LINE_ENDS = {"\u2028": b"\\u2028", "\u2029": b"\\u2029", "\x85": b"\\u0085"}
"""Characters that some readers of JSON Lines wrongly take for the end of a line."""


def json_line(value: Any) -> bytes:
    """A line of JSON that stays one line even for readers that split at every Unicode line break."""
    line = json_bytes(value)
    for sign, escaped in _LINE_ENDS.items():
        line = line.replace(sign.encode(), escaped)
    return line + b"\n"


def json_text(value: Any) -> str:
    """JSON as text."""
    return json_bytes(value).decode()


def text_of(blocks: Iterable[Block]) -> str:
    """The texts of a message, joined by line breaks."""
    return "\n".join(block.text for block in blocks if isinstance(block, TextBlock))


def thinking_of(blocks: Iterable[Block]) -> str:
    """The thinking of a message, blocks joined by line breaks."""
    return "\n".join(block.thinking for block in blocks if isinstance(block, ThinkingBlock) and block.thinking)


def result_text(call: Call) -> str:
    """What a tool returned, as text, without attachments."""
    if call.output is None and call.blocks:
        return "\n".join(
            block.text if isinstance(block, TextBlock) else json_text(mend.plain(block))
            for block in call.blocks
            if not isinstance(block, AttachmentBlock)
        )
    if call.output is None:
        return call.error or ""
    return call.output if isinstance(call.output, str) else json_text(call.output)


def pictures_of(blocks: Iterable[Block]) -> list[AttachmentBlock]:
    """The attachments among the blocks."""
    return [block for block in blocks if isinstance(block, AttachmentBlock)]


def data_url(block: AttachmentBlock) -> str:
    """An attachment as a `data:` URL."""
    return f"data:{block.media_type};base64,{block.data}"


def notice_text(notice: Notice) -> str:
    """An event that is not a message, as text."""
    return payload_text(notice.event.payload)


def function_tools(exchange: Exchange) -> list[dict[str, Any]] | None:
    """The definitions of tools as OpenAI's functions; None if the run has none."""
    if exchange.tools is None:
        return None
    return [{"type": "function", "function": _function(tool)} for tool in exchange.tools]


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    schema = tool.get("input_schema")
    function: dict[str, Any] = {"name": tool["name"]}
    if tool.get("description"):
        function["description"] = tool["description"]
    function["parameters"] = schema if isinstance(schema, dict) else {"type": "object"}
    return function


def report_unknown_tools(turns: Iterable[Turn], report: LossReport) -> None:
    """Report that tools are called whose definitions the run does not have."""
    first = min((call.seq for turn in turns for call in turn.calls), default=None)
    if first is not None:
        report.change("tool definitions unknown", first)


def definitions_for(exchange: Exchange, turns: Iterable[Turn], report: LossReport) -> list[dict[str, Any]]:
    """The tools that a request must define: those that the run defines, and those that its calls name."""
    known = {tool["name"]: tool for tool in exchange.tools or ()}
    for turn in turns:
        for call in turn.calls:
            if call.name not in known:
                known[call.name] = {"name": call.name}
                report.change("tool definitions made from names", call.seq)
    return list(known.values())


def milliseconds(text: str | None) -> int:
    """A time in milliseconds since 1970; 0 if it is not known."""
    moment = None if text is None else moment_of(text)
    return 0 if moment is None else int(moment.timestamp() * 1000)
