"""What a chat file has told so far, so that nothing is told twice."""

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
    """What it said, each block by its key."""
    usage: UsagePayload | None = None


class Told:
    """Blocks by message and by file, answers to calls, usage, and which messages the agent's history holds now."""

    def __init__(self) -> None:
        self._messages: dict[str, _Message] = {}
        self._keys: set[int] = set()
        """What anybody said in this file."""
        self._retold: set[int] = set()
        """What the history at hand says: told from the next one on, for people do say things twice."""
        self._answered: set[str] = set()
        self._history: dict[str, None] = {}

    def knows(self, message_id: str) -> bool:
        """Whether the message has said anything before."""
        message = self._messages.get(message_id)
        return message is not None and bool(message.keys)

    def news(self, message_id: str, role: str, blocks: list[Block]) -> list[Block]:
        """Those blocks that the message did not have before; from now on it has them."""
        if not blocks:
            return []
        before = self._message(message_id).keys
        keys = [_key(role, block) for block in blocks]
        fresh = [block for block, key in zip(blocks, keys, strict=True) if key not in before]
        for block in fresh:
            # A provider may use the id of a call again; then an answer is due again.
            if isinstance(block, ToolUseBlock) and _key(role, block) in self._keys:
                self._answered.discard(block.tool_id)
        before.update(keys)
        self._keys.update(keys)
        return fresh

    def news_of_history(self, message_id: str, role: str, blocks: list[Block]) -> list[Block]:
        """The same for a message of a rewritten history: those blocks that nobody said, under whichever id."""
        fresh = []
        for block in blocks:
            key = _key(role, block)
            is_old = key in self._keys or (isinstance(block, ToolUseBlock) and key in self._retold)
            if not is_old:
                fresh.append(block)
            self._retold.add(key)
            self._message(message_id).keys.add(key)
        return fresh

    def is_unanswered(self, call_id: str) -> bool:
        """Whether a call's result was not told yet; from now on it is."""
        if call_id in self._answered:
            return False
        self._answered.add(call_id)
        return True

    def is_new_usage(self, message_id: str, usage: UsagePayload) -> bool:
        """Whether a message's usage was not told yet, or was another; from now on it is this one."""
        message = self._message(message_id)
        if message.usage == usage:
            return False
        message.usage = usage
        return True

    def add_to_history(self, message_id: str) -> None:
        """The agent has one message more."""
        self._history[message_id] = None

    def replace_history(self, message_ids: Iterable[str]) -> int:
        """The agent has these messages now; how many it has no longer."""
        self._keys |= self._retold
        self._retold = set()
        before, self._history = self._history, dict.fromkeys(message_ids)
        return len(before.keys() - self._history.keys())

    def rewind_history(self, message_id: str) -> int:
        """The agent has forgotten this message and all after it, or all when it knows no such; how many they are."""
        ids = list(self._history)
        kept = ids[: ids.index(message_id)] if message_id in self._history else []
        return self.replace_history(kept)

    def _message(self, message_id: str) -> _Message:
        message = self._messages.get(message_id)
        if message is None:
            message = self._messages[message_id] = _Message()
        return message


def _key(role: str, block: Block) -> int:
    """A block as a number: who says what, blind to blanks; a call goes by its id."""
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
