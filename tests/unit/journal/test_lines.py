"""Complete lines of a growing file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stenograph.journal import lines
from stenograph.journal.lines import LineReader, last_newline


@pytest.fixture
def file(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    path = tmp_path / "file"
    path.touch()
    fd = os.open(path, os.O_RDONLY)
    yield fd, path
    os.close(fd)


def test_only_complete_lines_are_handed_out(file: tuple[int, Path]) -> None:
    """A half line is read again when more has come, so that it may be taken back in between."""
    fd, path = file
    reader = LineReader(fd)
    assert reader.read() == []
    path.write_bytes(b"a\nhal")
    assert reader.read() == [b"a"]
    assert reader.read() == []
    path.write_bytes(b"a\nother\n\n")
    assert reader.read() == [b"other", b""]
    assert reader.offset == path.stat().st_size


def test_a_limit_is_not_read_beyond(file: tuple[int, Path]) -> None:
    """For readers that must stop where the publisher is."""
    fd, path = file
    path.write_bytes(b"one\ntwo\nthree\n")
    reader = LineReader(fd)
    assert reader.read(limit=8) == [b"one", b"two"]
    assert reader.read(limit=8) == []
    assert reader.read(limit=3) == []
    assert reader.read(limit=14) == [b"three"]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
def test_any_chunk_gives_the_same_lines(file: tuple[int, Path], chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines across the borders of reads, and longer than several of them, are whole."""
    fd, path = file
    expected = [b"", b"a", b"bb", b"c" * 30, b"", b"\r", b"d" * 5]
    path.write_bytes(b"".join(line + b"\n" for line in expected) + b"tail")
    monkeypatch.setattr(lines, "CHUNK", chunk)
    reader = LineReader(fd)
    assert [line for found in iter(reader.read, []) for line in found] == expected


def test_the_last_newline_is_found_from_the_end(file: tuple[int, Path]) -> None:
    """Also behind megabytes that have none."""
    fd, path = file
    assert last_newline(fd, 0) == 0
    for head, tail in [
        (b"", b"x"),
        (b"a\n", b""),
        (b"a\nb\n", b"ccc"),
        (b"a\n", b"x" * 1_000_000),
        (b"", b"x" * 300_000),
    ]:
        path.write_bytes(head + tail)
        assert last_newline(fd, len(head + tail)) == len(head)
    path.write_bytes(b"a\nb\nc\n")
    assert [last_newline(fd, end) for end in range(7)] == [0, 0, 2, 2, 4, 4, 6]
