"""Content of ChatGPT's messages: fifteen types, most of them texts under other names."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str
from stenograph.formats.shared.model_api.parts import text_block, thinking_block
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block

_TEXTS = ("text", "result", "content")
"""Where a content without parts has its words."""


def text_of(content: Any) -> str:
    """The words of a content, parts one below the other."""
    parts = a_dict(content).get("parts")
    if isinstance(parts, list):
        return "\n".join(text for part in parts if (text := _text_of_part(part)))
    return first_str(a_dict(content), *_TEXTS) or ""


def _text_of_part(part: Any) -> str:
    return part if isinstance(part, str) else a_str(a_dict(part).get("text"))


def blocks_of(content: Any) -> list[Block]:
    """A content as blocks: thoughts, texts, and pointers to files unchanged."""
    kind, value = a_dict(content).get("content_type"), a_dict(content)
    if kind == "thoughts":
        return [thinking_block(text) for text in _thoughts(value) if text]
    if isinstance(value.get("parts"), list):
        return [block for part in value["parts"] if (block := _block(part)) is not None]
    text = text_of(value)
    return [text_block(text)] if text else []


def _block(part: Any) -> Block | None:
    text = _text_of_part(part)
    if text:
        return text_block(text)
    return None if part in ("", None) else verbatim(part)


def _thoughts(value: dict[str, Any]) -> list[str]:
    """Each thought as its summary and what it says; older exports have plain parts."""
    found = [
        "\n".join(filter(None, (first_str(each, "summary"), first_str(each, "content"))))
        for each in dicts(value.get("thoughts"))
    ]
    return found or [a_str(part) for part in a_list(value.get("parts"))]


def input_of(content: Any) -> Any:
    """What a tool was called with: JSON where the words are JSON, code with its language, else the words."""
    value = a_dict(content)
    if value.get("content_type") == "code":
        tool_input = arguments_of(a_str(value.get("text")))
        if not isinstance(tool_input, str):
            return tool_input
        language = first_str(value, "language")
        return {"code": tool_input} | ({"language": language} if language not in (None, "unknown") else {})
    return arguments_of(text_of(value))
