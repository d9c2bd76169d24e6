"""Chunks: the canonical events of a run as the index stores them, compressed, a few hundred kilobytes at a time.

The table is called `blocks`; a block is otherwise a piece of a message.
"""

from __future__ import annotations

from functools import cache

import zstandard
from msgspec import Struct
from msgspec.structs import replace

from stenograph.model import mend
from stenograph.model.codec import decode, encode
from stenograph.model.event import Event, Origin

CHUNK_BYTES = 1 << 18
"""Bytes of lines after which a chunk is closed."""
LAST_CHUNK = """
    SELECT max((SELECT coalesce(max(id), 0) FROM blocks),
               (SELECT coalesce(max(value), 0) FROM facts WHERE name = 'blocks'))
"""
"""The highest number that a chunk ever had."""
_LEVEL = 1


class Chunk(Struct, frozen=True):
    """A chunk with the run and the numbers of its events."""

    id: int
    run_id: str
    revision: int
    """How often the run was renumbered before; its chunks of other revisions are removed."""
    first_seq: int
    last_seq: int
    data: bytes


def bare(event: Event) -> tuple[Event, bytes]:
    """The event as the index stores it, with its line: without its raw text, which is in the packs, and in UTF-8."""
    if event.raw is not None or event.raw_b64 is not None:
        event = replace(event, raw=None, raw_b64=None)
    try:
        return event, encode(event)
    except UnicodeEncodeError:
        event = mend.without_surrogates(event)[0]
        return event, encode(event)


def unnumbered(event: Event) -> Event:
    """The event without its number; one that has no line in an agent's file keeps its journal's number in `origin`."""
    origin = event.origin or Origin()
    if event.seq > 0 and origin.line is None and origin.seq is None:
        return replace(event, seq=0, origin=replace(origin, seq=event.seq))
    return replace(event, seq=0)


def line_of(event: Event) -> bytes:
    """The line of an event in the index."""
    return bare(event)[1]


def packed(lines: list[bytes]) -> bytes:
    """The data of a chunk with these lines."""
    return _compressor().compress(b"\n".join(lines))


def unpacked(data: bytes) -> list[bytes]:
    """The lines of a chunk."""
    return _decompressor().decompress(data).split(b"\n")


def events_of(data: bytes) -> list[Event]:
    """The events of a chunk."""
    return [decode(line) for line in unpacked(data)]


@cache
def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=_LEVEL)


@cache
def _decompressor() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor()
