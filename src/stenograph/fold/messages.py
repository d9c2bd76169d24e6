"""Messages put together again: the records over which an agent spread one message become one `Message`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec import Struct

from stenograph.model.block import Block, words_of
from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload

_ROLES = {"message.user": "user", "message.assistant": "assistant"}
MessageKey = tuple[str, str, str, str]


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One whole message of a user or an agent."""

    run_id: str
    source: str
    role: str
    message_id: str | None = None
    blocks: tuple[Block, ...]
    """Of all its records, in order; where one record repeats a text of another and continues it, the longer text."""
    model: str | None = None
    stop_reason: str | None = None
    """The last one reported: the agent knows it only at the end."""
    system_prompt: str | None = None
    started_at: str
    ended_at: str
    seqs: tuple[int, ...]
    """The events that it was spread over."""


@dataclass(slots=True)
class _Draft:
    first: Event
    parts: list[tuple[Event, MessagePayload]]

    def message(self) -> Message:
        payloads = [payload for _, payload in self.parts]
        return Message(
            run_id=self.first.run_id,
            source=self.first.source,
            role=_ROLES[self.first.type],
            message_id=payloads[0].message_id,
            blocks=merged_blocks(payloads),
            model=next((payload.model for payload in payloads if payload.model is not None), None),
            stop_reason=next((payload.stop_reason for payload in reversed(payloads) if payload.stop_reason), None),
            system_prompt=payloads[0].system_prompt,
            started_at=self.first.timestamp,
            ended_at=self.parts[-1][0].timestamp,
            seqs=tuple(event.seq for event, _ in self.parts),
        )


def merged_blocks(payloads: list[MessagePayload]) -> tuple[Block, ...]:
    """The blocks of all records; of two versions of one text, in a rewritten message, the longer."""
    blocks: list[Block] = []
    for payload in payloads:
        earlier = len(blocks)
        for block in payload.blocks:
            versions = (number for number in range(earlier) if _is_version(blocks[number], block))
            number = next(versions, None) if payload.replaces else None
            if number is None:
                blocks.append(block)
            elif len(words_of(block)) > len(words_of(blocks[number])):
                blocks[number] = block
    return tuple(blocks)


def _is_version(one: Block, other: Block) -> bool:
    """Whether one of two texts is the beginning of the other. Equal ones are not: a message may say a thing twice."""
    if type(one) is not type(other):
        return False
    shorter, longer = sorted((words_of(one), words_of(other)), key=len)
    return bool(shorter.strip()) and len(shorter) < len(longer) and longer.startswith(shorter)


def messages(events: Iterable[Event]) -> list[Message]:
    """The messages of one or several runs, in the order in which they began.

    Records of one source with the same `message_id` are one message, whatever is between them. A record without an
    id is a message of its own. A chunk of a streamed reply is not part of any message.
    """
    drafts: list[_Draft] = []
    open_drafts: dict[MessageKey, _Draft] = {}
    for event in events:
        payload = event.payload
        if not is_message(event):
            continue
        key = message_key(event)
        draft = None if key is None else open_drafts.get(key)
        if draft is None:
            draft = _Draft(event, [])
            drafts.append(draft)
            if key is not None:
                open_drafts[key] = draft
        draft.parts.append((event, payload))
    return [draft.message() for draft in drafts]


def count_messages(events: Iterable[Event]) -> int:
    """How many messages there are, without keeping what they say."""
    counter = MessageCounter()
    return sum(counter.is_new(event) for event in events)


class MessageCounter:
    """Counts messages, event by event. `keys` is its state: the messages with an id so far."""

    def __init__(self, keys: set[MessageKey] | None = None) -> None:
        self.keys: set[MessageKey] = set() if keys is None else keys

    def is_new(self, event: Event) -> bool:
        """Whether the next event begins a message; false for a further record of one, and for all other events."""
        if not is_message(event):
            return False
        key = message_key(event)
        if key is None:
            return True
        if key in self.keys:
            return False
        self.keys.add(key)
        return True


def is_message(event: Event) -> bool:
    """Whether an event is a message or a part of one; chunks of a stream are not."""
    return event.type in _ROLES and isinstance(event.payload, MessagePayload) and not event.payload.is_chunk


def message_key(event: Event) -> MessageKey | None:
    """Run, source, type and message id, which the records of one message share; None for a record without an id."""
    if not event.payload.message_id:
        return None
    return event.run_id, event.source, event.type, event.payload.message_id
