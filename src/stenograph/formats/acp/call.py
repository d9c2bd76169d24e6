"""A tool call, assembled from the messages about it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.formats.shared.content import blocks_of
from stenograph.formats.shared.loose import small, string
from stenograph.model.block import AttachmentBlock, Block, TextBlock
from stenograph.model.payload import ToolPayload

ENDED = {"completed", "failed"}


class Call(Struct):
    """What is known of one call so far; each update replaces the fields it has."""

    id: str
    name: str = ""
    title: str = ""
    kind: str = ""
    status: str = "pending"
    locations: Any = None
    content: Any = None
    input: Any = None
    output: Any = None
    agent_id: str | None = None
    """The subagent that made it, if the agent says so."""
    is_emitted: bool = False
    """Whether its `tool.call` was emitted."""
    is_done: bool = False
    """Whether its `tool.result` was emitted."""

    def take(self, update: dict[str, Any]) -> None:
        """Take an update from the agent: its fields replace the earlier ones."""
        for name, field in _FIELDS.items():
            value = update.get(field)
            if value is not None and not (name in _STRINGS and not isinstance(value, str)):
                setattr(self, name, value)
        for meta in _metas(update):
            self.name = string(meta.get("toolName")) or self.name
            self.agent_id = string(meta.get("agentId")) or self.agent_id

    def fill(self, described: dict[str, Any]) -> None:
        """Take a description from a request for permission. It is worded for people, so it only fills empty fields."""
        known = {field for name, field in _FIELDS.items() if getattr(self, name)}
        self.take({field: value for field, value in described.items() if field not in known})

    @property
    def is_begun(self) -> bool:
        """Whether it runs or its input is known; OpenCode first announces a call with the folder alone."""
        fields = self.input if isinstance(self.input, dict) else {}
        return self.status != "pending" or bool(fields.keys() - {"cwd"})

    def call(self) -> ToolPayload:
        """The call. If the agent does not send its input, the text for people replaces it."""
        arguments = self.input
        if arguments is None:
            shown = (("title", self.title), ("locations", self.locations), ("content", self.content))
            arguments = small((name, value or None) for name, value in shown)
        return ToolPayload(name=self.tool_name, call_id=self.id, input=arguments, output=None, fidelity="agent_emitted")

    def result(self) -> ToolPayload:
        """The result: the tool's own output if the agent sends it, else what it shows."""
        blocks = _blocks(self.content)
        text = "\n".join(block.text for block in blocks if isinstance(block, TextBlock))
        is_text = bool(blocks) and all(isinstance(block, TextBlock) for block in blocks)
        output = self.output
        if output is None:
            output = text if is_text else self.content or None
        has_media = any(isinstance(block, AttachmentBlock) for block in blocks)
        return ToolPayload(
            name=self.tool_name,
            call_id=self.id,
            input=None,
            output=None if has_media and self.output is None else output,
            error=(_reason(self.output) or text or "failed") if self.status == "failed" else None,
            fidelity="agent_emitted",
            blocks=blocks if has_media else None,
        )

    @property
    def tool_name(self) -> str:
        """The tool's name if the agent sends it, else its kind; the protocol has no field for it."""
        return self.name or (self.kind if self.kind != "other" else "") or self.title


_FIELDS = {
    "title": "title",
    "kind": "kind",
    "status": "status",
    "locations": "locations",
    "content": "content",
    "input": "rawInput",
    "output": "rawOutput",
}
_STRINGS = {"title", "kind", "status"}


def _metas(update: dict[str, Any]) -> list[dict[str, Any]]:
    """What agents send beyond the protocol, each under a name of its own."""
    meta = update.get("_meta")
    return [meta, *(each for each in meta.values() if isinstance(each, dict))] if isinstance(meta, dict) else []


def _blocks(content: Any) -> tuple[Block, ...]:
    """What a call shows: its content blocks are wrapped once more, diffs and terminals are not."""
    parts = content if isinstance(content, list) else []
    return blocks_of([_unwrapped(part) for part in parts])


def _unwrapped(part: Any) -> Any:
    return part.get("content") if isinstance(part, dict) and part.get("type") == "content" else part


def _reason(output: Any) -> str | None:
    if isinstance(output, dict):
        return string(output.get("message")) or string(output.get("error"))
    return string(output)
