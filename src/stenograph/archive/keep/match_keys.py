"""Keys by which the same event is found in the reports of two witnesses.

Both name the same line of the same file; or the same time and content; or the same call, or the same block of the same
message; or they have the same words. A program that prints its calls with ids of its own also words them differently:
then the words have to overlap.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph.archive.index.chunk import line_of
from stenograph.archive.index.words import event_text
from stenograph.formats.registry import formats
from stenograph.model.block import Block, TextBlock, ThinkingBlock, ToolUseBlock
from stenograph.model.event import Event, Origin
from stenograph.model.payload import MessagePayload, ToolPayload, UsagePayload

Key = tuple[Any, ...]
_WORD = re.compile(r"\w+")
_MOST_WORDS = 64
_ENOUGH = 0.5
_FEW = 2
"""A call with at most this many words, the tool's name among them, says nothing about its input."""
_FOLDER = re.compile(r"[^\s'\"=(,]*/")


def content_of(event: Event) -> bytes:
    """A digest of an event without its numbers."""
    origin = None if event.origin is None else replace(event.origin, seq=None)
    return _digest(line_of(replace(event, seq=0, origin=None if origin == Origin() else origin)))


def time_of(event: Event) -> str:
    """The event's time as its source gave it; empty where the source had none."""
    return "" if event.origin is not None and event.origin.time == "given" else event.timestamp


def adapter_of(event: Event) -> str | None:
    """Who reported it first: the agent's format, or an adapter of ours."""
    return None if event.origin is None else event.origin.adapter


def place_of(event: Event) -> Key | None:
    """The line of an agent's own file that the event comes from."""
    origin = event.origin
    if origin is None or origin.line is None or not _has_files(origin.adapter or ""):
        return None
    return ("place", origin.adapter, origin.file, origin.line, event.type, time_of(event), _id_of(event.payload))


def moment_key(event: Event) -> Key | None:
    """By time and content."""
    time = time_of(event)
    return ("moment", event.source, event.type, time, _payload(event)) if time else None


def id_key(event: Event) -> Key | None:
    """By the agent's id of a call, of its result, or of the usage of a model call."""
    payload = event.payload
    if isinstance(payload, ToolPayload) and payload.call_id:
        return (event.type, payload.call_id, payload.fidelity)
    if isinstance(payload, UsagePayload) and payload.message_id:
        return (event.type, payload.message_id, payload.scope)
    return None


def block_keys(event: Event) -> list[Key]:
    """One key for each block of a message that has an id."""
    payload = event.payload
    if not isinstance(payload, MessagePayload) or not payload.message_id:
        return []
    return [("block", payload.role, payload.message_id, *_block(block)) for block in payload.blocks]


def words_key(event: Event) -> Key:
    """By source, type and words. Of a message, text and thinking count; of any other event, the whole payload."""
    payload = event.payload
    if isinstance(payload, MessagePayload):
        texts = (_text(block) for block in payload.blocks)
        if words := _plain(" ".join(texts)):
            return ("words", *_speaker(event), words)
    return ("words", *_speaker(event), _payload(event))


def block_words(event: Event) -> list[Key]:
    """One key by words for each block of a message: the first line of thinking, the id of a call, else the text."""
    payload = event.payload
    if not isinstance(payload, MessagePayload):
        return []
    keys: list[Key] = []
    for block in payload.blocks:
        text = block.tool_id if isinstance(block, ToolUseBlock) else _text(block).strip()
        if not text:
            return []
        kind = block.__class__.__name__
        words = _first_line(text) if isinstance(block, ThinkingBlock) else text
        keys.append(("block words", *_speaker(event), kind, _plain(words)))
    return keys


def call_words(event: Event) -> frozenset[str]:
    """The words in the input of a call, or of a message that is only a call; empty for everything else."""
    payload = event.payload
    if isinstance(payload, ToolPayload) and event.type == "tool.call":
        return _words(payload.name, payload.input)
    if isinstance(payload, MessagePayload) and event.type == "message.assistant":
        uses = [block for block in payload.blocks if isinstance(block, ToolUseBlock)]
        if len(uses) == len(payload.blocks) == 1:
            return _words(uses[0].tool_name, uses[0].tool_input)
    return frozenset()


def called_ids(event: Event) -> list[str]:
    """The calls that an event is about."""
    payload = event.payload
    if isinstance(payload, ToolPayload):
        return [payload.call_id]
    if isinstance(payload, MessagePayload):
        return [block.tool_id for block in payload.blocks if isinstance(block, ToolUseBlock)]
    return []


def overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """How similar two calls are by their words, at most 2; 0 where they are not the same call.

    Most words of the shorter one must be in the other; where it has no words of its own, the tool must be the same.
    """
    common = len(first & second)
    shorter = min(len(first), len(second))
    has_same_tool = any(word.startswith("tool ") for word in first & second)
    if shorter <= _FEW and has_same_tool:
        return common / len(first | second)
    shorter, common = shorter - 1, common - has_same_tool
    share = common / shorter if shorter else 0.0
    return 0.0 if share < _ENOUGH else share + common / len(first | second)


def _speaker(event: Event) -> Key:
    """The type, and whether it is the main source: programs name their subagents in different ways."""
    return event.type, event.source == "main"


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _plain(text: str) -> bytes:
    return b"" if not text.strip() else _digest(" ".join(text.split()).encode("utf-8", "surrogatepass"))


def _words(name: str, input: Any) -> frozenset[str]:
    text = event_text(
        Event(
            seq=0,
            run_id="",
            type="tool.call",
            path="",
            iteration=0,
            timestamp="",
            payload=ToolPayload(name="", call_id="", input=input, output=None, fidelity="agent_emitted"),
        )
    )
    found = (match[0] for match in _WORD.finditer(_FOLDER.sub("", text).lower()))
    return frozenset({*islice(found, _MOST_WORDS), f"tool {name}"})


def _block(block: Block) -> Key:
    if isinstance(block, ToolUseBlock):
        return ("tool_use", block.tool_id)
    return (block.__class__.__name__, _digest(msgspec.json.encode(_text(block) or block)))


def _text(block: Block) -> str:
    if isinstance(block, TextBlock):
        return block.text
    return block.thinking if isinstance(block, ThinkingBlock) else ""


def _id_of(payload: Any) -> str | None:
    if isinstance(payload, ToolPayload):
        return payload.call_id
    return payload.message_id if isinstance(payload, MessagePayload | UsagePayload) else None


def _payload(event: Event) -> bytes:
    return _digest(line_of(replace(event, seq=0, run_id="", parent_run_id=None, timestamp="", origin=None)))


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()


@cache
def _has_files(adapter: str) -> bool:
    spec = formats().get(adapter)
    return spec is not None and spec.is_placed
