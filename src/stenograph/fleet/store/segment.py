"""Event segments: numbered events as they are sent, some blocks of an index at a time.

A segment is a series of zstd frames that together give lines: a header as JSON, then the canonical events without their
raw text. So `zstd -dc` of one, or of many in a row, is a text that any program can read. The frames of the blocks are
those of the index, nothing is compressed again.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
import zstandard
from msgspec import Struct

from stenograph.archive.index.chunk import Chunk, unpacked
from stenograph.errors import SourceError
from stenograph.model.codec import decode
from stenograph.model.event import Event

_REMEDY = "rebuild the index of that archive (steno sync --rebuild) and push it again"


class SentBlock(Struct, frozen=True, kw_only=True):
    """One block of a segment: events of one run, one after the other."""

    id: int
    run_id: str
    revision: int
    """Rows of this run with a lower revision are void: its events were renumbered."""
    first_seq: int
    last_seq: int
    lines: int
    """How many lines of the segment are its events."""


class SegmentHeader(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first line of a segment."""

    version: int = 1
    archive: str
    generation: str
    """Its name, as in the key."""
    program: str
    """The version of Stenograph that sent it."""
    schema: int
    """The number of the index's tables."""
    first: int
    """The number of the block at which it begins, as in the key."""
    last: int
    """The number of the block with which it ends; the next segment begins with the one after. Blocks may be missing in
    between, because they were removed."""
    goal: int
    """The number of the index's last block when this was sent: with `last` = `goal`, everything was sent."""
    made_at: str
    masked: bool = False
    """Secrets were masked in events and runs."""
    blocks: tuple[SentBlock, ...] = ()
    runs: tuple[dict[str, Any], ...] = ()
    """The rows of the index's table `runs` that these blocks belong to, as they were when this was sent: by column."""


class Segment(Struct, frozen=True):
    """A segment as it was read."""

    header: SegmentHeader
    lines: list[bytes]
    """The events' lines."""

    def by_block(self) -> Iterator[tuple[SentBlock, list[bytes]]]:
        """The lines of each block."""
        at = 0
        for block in self.header.blocks:
            yield block, self.lines[at : at + block.lines]
            at += block.lines

    def events(self) -> Iterator[tuple[SentBlock, Event]]:
        """Each event with its block."""
        for block, lines in self.by_block():
            for line in lines:
                yield block, decode(line)


def sent_block(block: Chunk, lines: int | None = None) -> SentBlock:
    """What a header says of a block."""
    return SentBlock(
        id=block.id,
        run_id=block.run_id,
        revision=block.revision,
        first_seq=block.first_seq,
        last_seq=block.last_seq,
        lines=len(unpacked(block.data)) if lines is None else lines,
    )


def packed_segment(header: SegmentHeader, blocks: Sequence[bytes]) -> bytes:
    """A segment from its header and the compressed lines of each of its blocks."""
    pieces = [_compress(msgspec.json.encode(header))]
    for data in blocks:
        pieces += [_newline(), data]
    return b"".join((*pieces, _newline()))


def read_segment(data: bytes, key: str = "") -> Segment:
    """A segment of a store. Raises `SourceError` for one that cannot be read, or that a newer Stenograph wrote."""
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True) as reader:
            head, *lines = reader.read().split(b"\n")
        if msgspec.json.decode(head, type=_Version).version > 1:
            raise SourceError(f"the segment {key} was written by a newer Stenograph; update", key)
        header = msgspec.json.decode(head, type=SegmentHeader)
    except (zstandard.ZstdError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SourceError(f"the segment {key} cannot be read: {error}; {_REMEDY}", key) from error
    if lines.pop() != b"" or len(lines) != sum(block.lines for block in header.blocks):
        raise SourceError(f"the segment {key} is not whole; {_REMEDY}", key)
    return Segment(header, lines)


class _Version(Struct):
    version: int = 1


def _compress(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=1).compress(data)


@cache
def _newline() -> bytes:
    return _compress(b"\n")
