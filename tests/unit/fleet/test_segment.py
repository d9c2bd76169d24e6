"""Event segments and keys: what goes in comes out."""

from __future__ import annotations

import json

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from stenograph.errors import SourceError
from stenograph.fleet.store.keys import Generation, generation_of, piece_key, start_of
from stenograph.fleet.store.segment import SegmentHeader, SentBlock, packed_segment, read_segment

lines = st.lists(st.binary(min_size=1, max_size=40).map(lambda data: data.replace(b"\n", b"")), min_size=1, max_size=4)


def header(blocks: list[list[bytes]]) -> SegmentHeader:
    """A header of blocks with so many lines."""
    sent = tuple(
        SentBlock(id=number, run_id="r", revision=0, first_seq=1, last_seq=len(block), lines=len(block))
        for number, block in enumerate(blocks, 1)
    )
    return SegmentHeader(
        archive="a", generation="g", program="p", schema=7, first=1, last=9, goal=9, made_at="t", blocks=sent
    )


@given(st.lists(lines, max_size=4))
@settings(max_examples=50)
def test_a_segment_comes_back_as_it_was(blocks: list[list[bytes]]) -> None:
    """Header and lines, block by block, whatever the lines hold."""
    head = header(blocks)
    segment = read_segment(packed_segment(head, [zstandard.compress(b"\n".join(block)) for block in blocks]))
    assert segment.header == head
    assert [found for _, found in segment.by_block()] == blocks


def test_any_program_reads_a_segment() -> None:
    """`zstd -dc` of two segments in a row gives lines of JSON, the header first."""
    blocks = [[b'{"seq":1}', b'{"seq":2}'], [b'{"seq":3}']]
    data = packed_segment(header(blocks), [zstandard.compress(b"\n".join(block)) for block in blocks])
    text = zstandard.ZstdDecompressor().stream_reader(data + data, read_across_frames=True).read()
    read = [json.loads(line) for line in text.splitlines()]
    assert [each.get("seq") for each in read] == [None, 1, 2, 3] * 2
    assert read[0]["archive"] == "a"


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_segment_that_is_cut_is_refused(cut: int) -> None:
    """A part of a segment is not taken for a whole one."""
    data = packed_segment(header([[b"{}"]]), [zstandard.compress(b"{}")])
    with pytest.raises(SourceError, match="segment v1/x"):
        read_segment(data[:-cut], "v1/x")


def test_a_segment_of_a_newer_program_is_refused() -> None:
    """With what to do about it."""
    data = zstandard.compress(b'{"version":2,"surprise":1}') + zstandard.compress(b"\n")
    with pytest.raises(SourceError, match="newer Stenograph; update"):
        read_segment(data, "v1/x")


@given(st.lists(st.integers(0, 10**15), min_size=2))
@settings(max_examples=50)
def test_keys_sort_as_numbers_do(starts: list[int]) -> None:
    """A list of a store, which sorts texts, is in the right order; and a key says where its piece begins."""
    keys = [piece_key("f/", start) for start in starts]
    assert [start_of(key) for key in sorted(keys)] == sorted(starts)


@given(st.integers(1, 10**6 - 1), st.integers(1, 2**31 - 1), st.booleans())
@settings(max_examples=50)
def test_a_generation_is_known_by_its_name(number: int, index: int, is_masked: bool) -> None:
    """And what is not one is not taken for one."""
    generation = Generation(number, f"{index:08x}", is_masked)
    assert generation_of(generation.name) == generation
    assert generation_of(f"x{generation.name}") is None
    assert generation_of(f"{generation.name}-more") is None
