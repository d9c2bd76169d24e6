"""Secrets that a stream splits: chunks are searched together, and the mark is put where the secret began.

Theory of operation. Chunks are held back until their speaker sends something else, and everything that comes meanwhile
waits behind them, so that the order stays. A stream of any length is held in parts that overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TypeVar

from msgspec.structs import replace

from stenograph.model import Event, MessagePayload, StreamBlock
from stenograph.redact.event import EventMask
from stenograph.redact.span import MARK_START, Span

T = TypeVar("T")
_MOST = 4096
"""Events that are held back."""
Speaker = tuple[str, str, str, int, tuple[int, ...] | None]


def mask_events(events: Iterable[tuple[Event, T]], mask: EventMask) -> Iterator[tuple[Event, T]]:
    """The events masked, each with the value that came with it."""
    held: list[tuple[Event, T]] = []
    speakers: set[Speaker] = set()
    for event, more in events:
        in_stream = is_chunk(event)
        if held and not in_stream and speaker_of(event) in speakers:
            yield from _released(held, len(held), mask)
            speakers.clear()
        if not held and not in_stream:
            yield mask.event(event), more
            continue
        held.append((event, more))
        if in_stream:
            speakers.add(speaker_of(event))
        if len(held) >= _MOST:
            yield from _released(held, len(held) // 2, mask)
    yield from _released(held, len(held), mask)


def _released(held: list[tuple[Event, T]], count: int, mask: EventMask) -> Iterator[tuple[Event, T]]:
    """The first held events, masked; all chunks are searched."""
    streams: dict[Speaker, list[int]] = {}
    for number, (event, _) in enumerate(held):
        if is_chunk(event):
            streams.setdefault(speaker_of(event), []).append(number)
    for numbers in streams.values():
        texts = masked_chunks([text_of_chunk(held[number][0]) for number in numbers], mask)
        for number, text in zip(numbers, texts, strict=True):
            held[number] = (with_text(held[number][0], text), held[number][1])
    released = held[:count]
    del held[:count]
    yield from ((mask.event(event), more) for event, more in released)


def masked_chunks(chunks: list[str], mask: EventMask) -> list[str]:
    """The chunks of one text, as many as before, without the secrets in their joined text."""
    starts = list(accumulate(map(len, chunks), initial=0))
    spans = mask.texts.find(None, "".join(chunks))
    if not spans:
        return chunks
    if mask.counts is not None:
        mask.counts.update(span.kind for span in spans)
    return [cut_chunk(chunk, start, spans) for chunk, start in zip(chunks, starts, strict=False)]


def cut_chunk(chunk: str, start: int, spans: list[Span]) -> str:
    """A chunk that begins at `start` of a text, without the spans of that text; a mark is put where a span begins."""
    pieces: list[str] = []
    done, end = start, start + len(chunk)
    for span in spans:
        if span.end <= start or span.start >= end:
            continue
        if span.start >= start:
            pieces += (chunk[done - start : span.start - start], MARK_START, span.kind, "]")
        done = min(span.end, end)
    return "".join((*pieces, chunk[done - start :]))


def is_chunk(event: Event) -> bool:
    """Whether an event is a piece of a stream."""
    payload = event.payload
    return (
        isinstance(payload, MessagePayload) and len(payload.blocks) == 1 and isinstance(payload.blocks[0], StreamBlock)
    )


def speaker_of(event: Event) -> Speaker:
    """The stream that a chunk belongs to."""
    return event.run_id, event.source, event.path, event.iteration, event.iterations


def text_of_chunk(event: Event) -> str:
    """The text of a chunk."""
    text: str = event.payload.blocks[0].text
    return text


def with_text(event: Event, text: str) -> Event:
    """The chunk with another text."""
    (block,) = event.payload.blocks
    return (
        event
        if block.text == text
        else replace(event, payload=replace(event.payload, blocks=(replace(block, text=text),)))
    )
