"""A file that is edited before its end: noticed, whether it grows then or not, and whoever reads it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_cases import check_kept, claude_line, rows, session_path, synced, whole_index, written
from stenograph.archive.keep import comparison
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.formats.base import Context
from stenograph.model import Event
from stenograph.sources.detection import format_named
from stenograph.sources.known import digest_of
from stenograph.sources.ranges import RANGE, Ranges, last_range, range_digest, range_digests
from stenograph.sources.tail import FileTail
from strategies import examples

RUN = "550e8400-e29b-41d4-a716-446655440000"
LINE = len(claude_line(1, text="x" * 1000))
LINES = 5 * RANGE // LINE  # some more than four ranges


def session(home: Path) -> Path:
    """A session of a few ranges, with lines of one length."""
    return written(session_path(home), *(claude_line(number, text="x" * 1000) for number in range(1, LINES)))


def edit(path: Path, number: int, letter: str) -> None:
    """Write another line of the same length in its place, in the same file."""
    with path.open("r+b") as file:
        file.seek((number - 1) * LINE)
        file.write(claude_line(number, text=letter * 1000))


def touch(path: Path) -> None:
    """Give a file another time, as any write does some clock ticks later."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 10_000_000))


edits = st.lists(
    st.tuples(st.integers(1, LINES - 1), st.sampled_from("abc"), st.integers(0, 2), st.booleans()),
    min_size=1,
    max_size=4,
)


@given(pieces=st.lists(st.integers(0, 3 * RANGE), max_size=6))
@examples(20)
def test_digests_do_not_depend_on_how_the_bytes_come(pieces: list[int]) -> None:
    """Whole ranges as they become whole, and the last one, are those of the bytes in one piece."""
    data = os.urandom(sum(pieces))
    ranges, made, at = Ranges(), b"", 0
    for size in pieces:
        ranges.feed(data[at : at + size])
        made += ranges.take()
        at += size
    whole = len(data) // RANGE * RANGE
    start, length = last_range(len(data))
    assert made == b"".join(range_digests(data[:whole]))
    assert (ranges.whole, ranges.tail) == (whole // RANGE, range_digest(data[start : start + length]))


@given(history=edits)
@examples(10)
def test_an_edited_line_is_noticed_by_the_next_sync(history: list[tuple[int, str, int, bool]]) -> None:
    """Edited in place, same length, then grown or not: what is kept is what is on disk, and the old version stays."""
    with tempfile.TemporaryDirectory() as folder:
        home, archive = Path(folder) / "home", Path(folder) / "archive"
        path = session(home)
        synced(home, archive)
        for number, letter, more, is_synced in history:
            before = path.read_bytes()
            edit(path, number, letter)
            is_other = path.read_bytes() != before
            written(path, *(claude_line(LINES + each, text="more") for each in range(more)))
            touch(path)
            if is_synced:
                summary = synced(home, archive)
                assert summary.rewritten >= is_other
                check_kept(archive)
        synced(home, archive)
        check_kept(archive)
        maintained = whole_index(archive)
        with Store(home_of(archive), rebuild=True):
            pass
        assert whole_index(archive)["ranges"] == maintained["ranges"]


@given(number=st.integers(1, LINES - 1), grown=st.integers(0, 3), others=st.integers(0, 2))
@examples(8)
def test_a_large_file_is_compared_by_some_syncs(number: int, grown: int, others: int) -> None:
    """It is compared a range at a time, from where the last sync ended; then nothing of it is read any more."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as limits:
        for name, value in (("SMALL", 0), ("RANGES_AT_ONCE", 1), ("LEFT_BYTES", RANGE)):
            limits.setattr(comparison, name, value)
        home, archive = Path(folder) / "home", Path(folder) / "archive"
        path = session(home)
        synced(home, archive)
        for each in range(others):  # so that comparing begins at any range
            written(path, claude_line(LINES + each))
            synced(home, archive)
        edit(path, number, "y")
        written(path, *(claude_line(LINES + 9 + each) for each in range(grown)))
        touch(path)
        summaries = [synced(home, archive) for _ in range(6)]
        assert sum(summary.rewritten for summary in summaries) == 1
        assert summaries[-1].bytes_read == 0
        for summary in summaries:
            assert summary.rewritten or summary.bytes_read <= 3 * RANGE
        check_kept(archive)
        assert rows(archive, "SELECT unchecked FROM files") == [(0,)]


@given(
    history=st.lists(st.tuples(st.integers(1, LINES - 1), st.sampled_from("abc"), st.integers(0, 2)), max_size=4),
    limit=st.sampled_from([1, 3000, 1 << 14]),
    chunk=st.sampled_from([700, 65536]),
)
@examples(20)
def test_an_edited_line_is_noticed_by_a_tail(history: list[tuple[int, str, int]], limit: int, chunk: int) -> None:
    """At the next read when the file has not grown, at the end in any case; lines before it are not repeated."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as limits:
        limits.setattr("stenograph.sources.tail.COMPARED_BYTES", limit)
        path = session(Path(folder))
        tail = FileTail(path, lambda: format_named("claude_code").open(Context(run_id=RUN)), max_read_bytes=chunk)
        before = lines_given(tail.read())
        assert before == [*range(1, LINES)]
        for number, letter, more in history:
            old = path.read_bytes()
            edit(path, number, letter)
            is_other = path.read_bytes() != old
            written(path, *(claude_line(LINES + each, text="more") for each in range(more)))
            touch(path)
            count = path.read_bytes().count(b"\n")
            given = lines_given(tail.read())
            if is_other and not more:
                assert given == [*range(number, count + 1)]
            given += lines_given(tail.finish())
            assert given[-1:] == ([count] if is_other or more else [])
            assert not is_other or number in given
            restarts = tail.restarts
            assert (lines_given(tail.finish()), tail.restarts) == ([], restarts)
        digests = b"".join(map(digest_of, path.read_bytes().split(b"\n")[:-1]))
        assert tail.state().known.digests == digests
        tail.close()


def lines_given(batches: Iterable[list[Event]]) -> list[int]:
    """The numbers of the lines whose events were given out, in the order of that."""
    return [event.origin.line or 0 for batch in batches for event in batch if event.origin is not None]


def test_a_tail_compares_as_many_bytes_as_come(tmp_path: Path) -> None:
    """An edit is noticed without an end, too, before the file is twice as long; each line is compared from then on."""
    path = session(tmp_path)
    tail = FileTail(path, lambda: format_named("claude_code").open(Context(run_id=RUN)))
    list(tail.read())
    edit(path, 7, "y")
    written(path, claude_line(LINES))
    given = lines_given(tail.read())
    for number in range(LINES + 1, 2 * LINES):
        written(path, claude_line(number, text="x" * 1000))
        given += lines_given(tail.read())
    assert tail.restarts == 1
    assert 7 in given
    tail.close()
