"""Blocks: the canonical events of a run as the index holds them, a few hundred kilobytes at a time."""

from __future__ import annotations

from functools import cache

import zstandard
from msgspec import Struct
from msgspec.structs import replace

from stenograph.model import mend
from stenograph.model.codec import decode, encode
from stenograph.model.event import Event, Origin

BLOCK_BYTES = 1 << 18
"""A block is closed when it holds this much."""
LAST_BLOCK = """
    SELECT max((SELECT coalesce(max(id), 0) FROM blocks),
               (SELECT coalesce(max(value), 0) FROM facts WHERE name = 'blocks'))
"""
"""The highest number that a block ever had."""
_LEVEL = 1


class Block(Struct, frozen=True):
    """A block, and the events of which run it holds."""

    id: int
    run_id: str
    revision: int
    """How often the run was numbered anew before; its blocks of other revisions are removed."""
    first_seq: int
    last_seq: int
    data: bytes


def bare(event: Event) -> tuple[Event, bytes]:
    """The event as the index holds it, with its line: without its raw text, which is in the packs, and in UTF-8."""
    if event.raw is not None or event.raw_b64 is not None:
        event = replace(event, raw=None, raw_b64=None)
    try:
        return event, encode(event)
    except UnicodeEncodeError:
        event = mend.without_surrogates(event)[0]
        return event, encode(event)


def unnumbered(event: Event) -> Event:
    """The event to be numbered anew; one that no source line tells the place of keeps its number in its journal."""
    origin = event.origin or Origin()
    if event.seq > 0 and origin.line is None and origin.seq is None:
        return replace(event, seq=0, origin=replace(origin, seq=event.seq))
    return replace(event, seq=0)


def line_of(event: Event) -> bytes:
    """The line of an event in the index."""
    return bare(event)[1]


def packed(lines: list[bytes]) -> bytes:
    """Lines as a block."""
    return _compressor().compress(b"\n".join(lines))


def unpacked(block: bytes) -> list[bytes]:
    """The lines of a block."""
    return _decompressor().decompress(block).split(b"\n")


def events_of(block: bytes) -> list[Event]:
    """The events of a block."""
    return [decode(line) for line in unpacked(block)]


@cache
def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=_LEVEL)


@cache
def _decompressor() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor()
