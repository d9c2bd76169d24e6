"""The one cursor behind `convert`, `collect`, `run` and `sync`: whatever reads a file gets the same events."""

from __future__ import annotations

import pickle
from functools import partial

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from archive_cases import SESSION, claude_line
from stenograph.formats.base import Context
from stenograph.model import Event, encode
from stenograph.sources.cursor import FileCursor
from stenograph.sources.detection import format_named
from stenograph.sources.known import Known, LineCounts, LineSeries, digest_of
from strategies import examples

SPEC = format_named("claude_code")
KINDS = ("user", "assistant", "call", "result")
LINES = [
    *(claude_line(number, KINDS[number % 4]).rstrip() for number in range(1, 9)),
    b"",
    b"not json",
    b'\xef\xbb\xbf{"type": "user"}',
    b"[1, 2]",
    b'{"half',
]
lines = st.lists(st.sampled_from(LINES), max_size=10)
cuts = st.lists(st.integers(1, 400), min_size=1, max_size=8)


def opened() -> FileCursor:
    """A cursor at the beginning of a file of which nothing is known."""
    return FileCursor(partial(SPEC.open, Context(run_id=SESSION)))


def pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    """The bytes in pieces of these sizes, over and over."""
    found, at = [], 0
    while at < len(data):
        found.append(data[at : at + sizes[len(found) % len(sizes)]])
        at += len(found[-1])
    return found


def said(events: list[Event]) -> list[bytes]:
    """Events to be compared: without numbers, by which readers differ."""
    return [encode(replace(event, seq=0, raw=None, raw_b64=None)) for event in events]


@given(content=lines, is_ended=st.booleans(), sizes=cuts)
@examples(60)
def test_any_cut_of_the_bytes_gives_the_same_events(content: list[bytes], is_ended: bool, sizes: list[int]) -> None:
    """Read once to its end, a file gives what its parser makes of it in one piece."""
    data = b"\n".join(content) + (b"\n" if is_ended else b"")
    parser = SPEC.open(Context(run_id=SESSION))
    wanted = parser.feed(data) + parser.finish()
    cursor = opened()
    found = [event for piece in pieces(data, sizes) for event in cursor.feed(piece)] + cursor.finish()
    assert said(found) == said(wanted)
    assert cursor.parser.report == parser.report


@given(content=lines, sizes=cuts, settled=st.sets(st.integers(0, 20)))
@examples(60)
def test_a_cursor_that_is_pickled_goes_on(content: list[bytes], sizes: list[int], settled: set[int]) -> None:
    """Pickled after every piece and settled after some, also before a newline: each line is given out once."""
    data = b"".join(line + b"\n" for line in content)
    cursor, found = opened(), []
    for number, piece in enumerate(pieces(data, sizes)):
        assert cursor.is_continued_by(piece)
        found += cursor.feed(piece)
        if number in settled:
            found += cursor.settle()
        cursor = pickle.loads(pickle.dumps(cursor))
    assert said(found) == said(opened().feed(data))


@given(content=lines, known=st.integers(0, 10), sizes=cuts)
@examples(60)
def test_what_was_given_out_before_is_not_given_out_again(content: list[bytes], known: int, sizes: list[int]) -> None:
    """By the order of lines, as a tail knows them, or by how often each was there, as an archive does."""
    data = b"".join(line + b"\n" for line in content)
    parser = SPEC.open(Context(run_id=SESSION))
    groups = [parser.feed(line + b"\n") for line in content]
    digests = list(map(digest_of, content))
    before = LineCounts(digests[:known])
    new = [group for group, digest in zip(groups, digests, strict=True) if not before.take(digest)]
    for given_before, wanted in (
        (LineSeries(Known(digests=b"".join(digests[:known]))), groups[known:]),
        (LineCounts(digests[:known]), new),
    ):
        cursor = FileCursor(partial(SPEC.open, Context(run_id=SESSION)), given_before)
        found = [event for piece in pieces(data, sizes) for event in cursor.feed(piece)]
        assert said(found) == said([event for group in wanted for event in group])
