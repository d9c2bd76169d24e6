"""Reads the bodies of requests, which may hold anything: values of a wrong type count as missing."""

from __future__ import annotations

from typing import Any

from stenograph.replay.recording import ATTACHMENT

_TEXTS = ("text", "input_text", "output_text", "refusal", "summary_text")


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text(holder: dict[str, Any], name: str) -> str:
    """A text of an object; empty where there is none."""
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def content_parts(content: Any) -> list[dict[str, Any]]:
    """The parts of a message, whose content may be a text alone."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else dicts(content)


def part_text(content: Any) -> str:
    """The text of the parts of a message or of a result; a mark stands for each attachment."""
    texts = []
    for part in content_parts(content):
        if part.get("type") in _TEXTS:
            texts.append(text(part, "text") or text(part, "refusal"))
        elif part.get("type") == "encrypted_content":  # Codex sends the task of a subagent in such a part
            texts.append(text(part, "encrypted_content"))
        else:
            texts.append(ATTACHMENT)
    return "\n".join(texts)
