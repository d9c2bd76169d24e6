"""Secrets that a stream cut in two: chunks are looked at together, and the mark stands where the secret began.

Theory of operation. Chunks are held back until their speaker says something else, and whatever comes meanwhile waits
behind them, so that the order stays. A stream of any length is held in parts that overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TypeVar

from msgspec.structs import replace

from stenograph.model import Event, MessagePayload, StreamBlock
from stenograph.redact.event import EventMask
from stenograph.redact.span import MARK_START, Span
from stenograph.redact.text import TextMask

T = TypeVar("T")
_MOST = 4096
"""Events that are held back."""
_Speaker = tuple[str, str, str, int, tuple[int, ...] | None]


def mask_events(events: Iterable[tuple[Event, T]], mask: EventMask) -> Iterator[tuple[Event, T]]:
    """The events masked, each with what was given with it."""
    held: list[tuple[Event, T]] = []
    speakers: set[_Speaker] = set()
    for event, more in events:
        is_chunk = _is_chunk(event)
        if held and not is_chunk and _speaker(event) in speakers:
            yield from _released(held, len(held), mask)
            speakers.clear()
        if not held and not is_chunk:
            yield mask.event(event), more
            continue
        held.append((event, more))
        if is_chunk:
            speakers.add(_speaker(event))
        if len(held) >= _MOST:
            yield from _released(held, len(held) // 2, mask)
    yield from _released(held, len(held), mask)


def _released(held: list[tuple[Event, T]], count: int, mask: EventMask) -> Iterator[tuple[Event, T]]:
    """The first of what is held back, masked; all chunks are looked at."""
    streams: dict[_Speaker, list[int]] = {}
    for number, (event, _) in enumerate(held):
        if _is_chunk(event):
            streams.setdefault(_speaker(event), []).append(number)
    for numbers in streams.values():
        texts = masked_chunks([_text(held[number][0]) for number in numbers], mask.texts)
        for number, text in zip(numbers, texts, strict=True):
            held[number] = (_with_text(held[number][0], text), held[number][1])
    released = held[:count]
    del held[:count]
    yield from ((mask.event(event), more) for event, more in released)


def masked_chunks(chunks: list[str], texts: TextMask) -> list[str]:
    """The chunks of one text, as many as before, without the secrets in what they say together."""
    starts = list(accumulate(map(len, chunks), initial=0))
    spans = texts.find(None, "".join(chunks))
    if not spans:
        return chunks
    return [_cut(chunk, start, spans) for chunk, start in zip(chunks, starts, strict=False)]


def _cut(chunk: str, start: int, spans: list[Span]) -> str:
    pieces: list[str] = []
    done, end = start, start + len(chunk)
    for span in spans:
        if span.end <= start or span.start >= end:
            continue
        if span.start >= start:
            pieces += (chunk[done - start : span.start - start], MARK_START, span.kind, "]")
        done = min(span.end, end)
    return "".join((*pieces, chunk[done - start :]))


def _is_chunk(event: Event) -> bool:
    payload = event.payload
    return (
        isinstance(payload, MessagePayload) and len(payload.blocks) == 1 and isinstance(payload.blocks[0], StreamBlock)
    )


def _speaker(event: Event) -> _Speaker:
    return event.run_id, event.source, event.path, event.iteration, event.iterations


def _text(event: Event) -> str:
    text: str = event.payload.blocks[0].text
    return text


def _with_text(event: Event, text: str) -> Event:
    (block,) = event.payload.blocks
    return (
        event
        if block.text == text
        else replace(event, payload=replace(event.payload, blocks=(replace(block, text=text),)))
    )
