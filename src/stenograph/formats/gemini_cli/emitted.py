"""Remembers what was emitted: Gemini rewrites its chat file, and nothing may be emitted twice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stenograph.formats.gemini_cli.content import squeezed
from stenograph.formats.shared.digest import digest_of
from stenograph.model.block import AttachmentBlock, Block, TextBlock, ThinkingBlock, ToolUseBlock
from stenograph.model.payload import UsagePayload


@dataclass(slots=True)
class _Message:
    keys: set[int] = field(default_factory=set)
    """The keys of its blocks."""
    usage: UsagePayload | None = None


class Emitted:
    """Blocks by message and by file, answers to calls, usage, and which messages the agent's history holds now."""

    def __init__(self) -> None:
        self._messages: dict[str, _Message] = {}
        self._keys: set[int] = set()
        """The keys of all blocks in this file."""
        self._in_history: set[int] = set()
        """Keys of the current history, emitted for later ones: one history may hold equal messages."""
        self._answered: set[str] = set()
        self._history: dict[str, None] = {}

    def knows(self, message_id: str) -> bool:
        """Whether the message had any block before."""
        message = self._messages.get(message_id)
        return message is not None and bool(message.keys)

    def new_blocks(self, message_id: str, role: str, blocks: list[Block]) -> list[Block]:
        """The blocks that the message did not have before; they are remembered."""
        if not blocks:
            return []
        before = self._message(message_id).keys
        keys = [_key(role, block) for block in blocks]
        fresh = [block for block, key in zip(blocks, keys, strict=True) if key not in before]
        for block in fresh:
            # A provider may reuse the id of a call; then its result is new again.
            if isinstance(block, ToolUseBlock) and _key(role, block) in self._keys:
                self._answered.discard(block.tool_id)
        before.update(keys)
        self._keys.update(keys)
        return fresh

    def new_blocks_of_history(self, message_id: str, role: str, blocks: list[Block]) -> list[Block]:
        """The blocks of a message of a rewritten history that no message had before, under any id."""
        fresh = []
        for block in blocks:
            key = _key(role, block)
            is_old = key in self._keys or (isinstance(block, ToolUseBlock) and key in self._in_history)
            if not is_old:
                fresh.append(block)
            self._in_history.add(key)
            self._message(message_id).keys.add(key)
        return fresh

    def is_unanswered(self, call_id: str) -> bool:
        """Whether a call's result was not emitted yet; it is remembered."""
        if call_id in self._answered:
            return False
        self._answered.add(call_id)
        return True

    def is_new_usage(self, message_id: str, usage: UsagePayload) -> bool:
        """Whether a message's usage is new or changed; it is remembered."""
        message = self._message(message_id)
        if message.usage == usage:
            return False
        message.usage = usage
        return True

    def add_to_history(self, message_id: str) -> None:
        """Add a message to the agent's history."""
        self._history[message_id] = None

    def replace_history(self, message_ids: Iterable[str]) -> int:
        """Replace the agent's history; return how many messages were dropped."""
        self._keys |= self._in_history
        self._in_history = set()
        before, self._history = self._history, dict.fromkeys(message_ids)
        return len(before.keys() - self._history.keys())

    def rewind_history(self, message_id: str) -> int:
        """Drop this message and all after it from the history (all messages when it is unknown); return how many."""
        ids = list(self._history)
        kept = ids[: ids.index(message_id)] if message_id in self._history else []
        return self.replace_history(kept)

    def _message(self, message_id: str) -> _Message:
        message = self._messages.get(message_id)
        if message is None:
            message = self._messages[message_id] = _Message()
        return message


def _key(role: str, block: Block) -> int:
    """A block as a number: role and text without blanks; a call by its id."""
    match block:
        case TextBlock(text=text):
            return digest_of(role, squeezed(text))
        case ThinkingBlock(thinking=text):
            return digest_of("thinking", squeezed(text))
        case ToolUseBlock(tool_id=call_id):
            return digest_of("call", call_id)
        case AttachmentBlock(sha256=digest):
            return digest_of("attachment", digest)
    return digest_of(role, repr(block))
