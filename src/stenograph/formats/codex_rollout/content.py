"""Content parts of Codex as blocks, and the names of its tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from stenograph.formats.attachment import attachment
from stenograph.model.block import Block, TextBlock, ThinkingBlock, UnknownBlock
from stenograph.model.value import Extra

_TEXT_PARTS = {"input_text", "output_text", "text", "inputText"}
_THINKING_PARTS = {"reasoning", "reasoning_text", "summary_text"}
_OUR_BLOCKS = {str(kind.__struct_config__.tag) for kind in get_args(Block)}


def blocks_of(content: Any) -> tuple[Block, ...]:
    """The blocks of a message's content: a list of parts, or a plain string in old files."""
    if isinstance(content, str):
        return (TextBlock(fidelity="agent_emitted", text=content),)
    return tuple(_block_of(part) for part in content) if isinstance(content, list) else ()


def _block_of(part: Any) -> Block:
    if not isinstance(part, dict):
        return _unknown(part)
    kind, text = part.get("type"), part.get("text")
    if isinstance(text, str) and isinstance(kind, str):
        if kind in _TEXT_PARTS:
            return TextBlock(fidelity="agent_emitted", text=text)
        if kind in _THINKING_PARTS:
            return ThinkingBlock(fidelity="agent_emitted", thinking=text)
    if kind == "encrypted_content" and _is_readable(part.get("encrypted_content")):
        return TextBlock(fidelity="agent_emitted", text=part["encrypted_content"])
    return _media(part) or _unknown(part)


def _unknown(part: Any) -> UnknownBlock:
    """A part of a type we do not know, under its own name unless that is the name of a block of ours."""
    kind = part.get("type") if isinstance(part, dict) else None
    is_ours = not isinstance(kind, str) or kind in _OUR_BLOCKS
    return UnknownBlock(extra=Extra({"value": part} if is_ours else part))


def _is_readable(text: Any) -> bool:
    """Whether mail between agents was left unencrypted: ciphertext has no blanks, and some providers do not encrypt."""
    return isinstance(text, str) and any(character.isspace() for character in text)


def _media(part: dict[str, Any]) -> Block | None:
    """An image or sound that stands in the part itself, as a data URL or as MCP writes it."""
    for key in ("image_url", "imageUrl", "audio_url", "file_data"):
        url = part.get(key)
        if isinstance(url, dict):
            url = url.get("url")
        if isinstance(url, str) and url.startswith("data:"):
            head, _, data = url[5:].partition(",")
            return attachment(head.partition(";")[0], data)
    if isinstance(part.get("data"), str):
        return attachment(part.get("mimeType") or part.get("mime_type"), part["data"])
    return None


def thinking_of(*parts: Any) -> tuple[Block, ...]:
    """Reasoning as blocks, part by part; one empty block when all of it is encrypted."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, list):
            texts += [text for text in map(text_of_part, part) if text is not None]
    return tuple(ThinkingBlock(fidelity="agent_emitted", thinking=text) for text in texts or [""])


def text_of_part(part: Any) -> str | None:
    """The text of one content part, if it has any."""
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else None


def texts_of(content: Any) -> list[str]:
    """The texts of a message's content, in order."""
    if isinstance(content, str):
        return [content]
    return [text for text in map(text_of_part, content) if text is not None] if isinstance(content, list) else []


def result_of(output: Any) -> tuple[Any, tuple[Block, ...] | None]:
    """A tool's output as `ToolPayload` holds it: the output itself, or blocks where it has several parts or media."""
    if isinstance(output, dict) and output.get("type") == "input_image":
        output = [output]
    if not isinstance(output, list) or not output or not all(isinstance(part, dict) for part in output):
        return output, None
    blocks = blocks_of(output)
    if len(blocks) == 1 and isinstance(blocks[0], TextBlock):
        return blocks[0].text, None
    return None, blocks


def tool_name(name: Any, namespace: Any = None) -> str:
    """The name of a tool, the same with and without namespaces (0.144): `mcp__<server>__<tool>`, others bare."""
    bare = string(name) or ""
    return f"{namespace}__{bare}" if isinstance(namespace, str) and namespace.startswith("mcp__") else bare


def small(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any] | None:
    """The facts that are there, or None when there are none."""
    return {name: value for name, value in pairs if value is not None} or None


def string(value: Any) -> str | None:
    """A string that says something."""
    return value if isinstance(value, str) and value else None
