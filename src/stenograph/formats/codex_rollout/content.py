"""Codex's reasoning and outputs as blocks, and the names of its tools."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.content import blocks_of, text_of_part
from stenograph.formats.shared.loose import string
from stenograph.model.block import Block, TextBlock, ThinkingBlock


def thinking_of(*parts: Any, id: Any = None, encrypted: Any = None) -> tuple[Block, ...]:
    """Reasoning as blocks, part by part; one empty block when all of it is encrypted."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, list):
            texts += [text for text in map(text_of_part, part) if text is not None]
    return tuple(
        ThinkingBlock(
            fidelity="agent_emitted",
            thinking=text,
            id=string(id),
            encrypted_content=None if number else string(encrypted),
        )
        for number, text in enumerate(texts or [""])
    )


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
    """The name of a tool, the same with and without namespaces (0.144): `mcp__<server>__<tool>`, others unprefixed."""
    bare = string(name) or ""
    return f"{namespace}__{bare}" if isinstance(namespace, str) and namespace.startswith("mcp__") else bare
