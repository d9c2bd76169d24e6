"""Following one file: what the system and the agent may do to it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from stenograph.errors import SourceError
from stenograph.formats.base import Context, Format
from stenograph.model import Event, UnknownPayload
from stenograph.sources.detection import format_named
from stenograph.sources.known import Known, known_lines
from stenograph.sources.tail import FileTail

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
SPEC = format_named("claude_code")


def line(text: str) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}, ensure_ascii=False) + "\n"


def opened() -> Format:
    return SPEC.open(Context(run_id=RUN_ID))


def texts(events: list[Event]) -> list[str]:
    return [
        event.payload.text if isinstance(event.payload, UnknownPayload) else event.payload.blocks[0].text
        for event in events
    ]


def read(tail: FileTail) -> list[str]:
    return texts([event for batch in tail.read() for event in batch])


def finish(tail: FileTail) -> list[str]:
    return texts([event for batch in tail.finish() for event in batch])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def append(path: Path, text: str | bytes) -> None:
    with path.open("ab") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def test_a_file_that_appears_late_is_read_from_its_beginning(path: Path) -> None:
    """A missing file is no error; what comes then is given out once."""
    tail = FileTail(path, opened)
    assert read(tail) == []
    append(path, line("a") + line("b"))
    assert read(tail) == ["a", "b"]
    assert read(tail) == []


def test_a_partial_line_waits_for_its_end(path: Path) -> None:
    """Only whole lines are given out, whatever a read happens to see."""
    tail = FileTail(path, opened)
    append(path, line("a") + line("b")[:10])
    assert read(tail) == ["a"]
    assert tail.open_bytes == 10
    append(path, line("b")[10:])
    assert read(tail) == ["b"]
    assert tail.open_bytes == 0


def test_a_character_across_read_boundaries_stays_whole(path: Path) -> None:
    """Read byte by byte and written byte by byte, every character arrives."""
    tail = FileTail(path, opened, max_read_bytes=1)
    got = []
    for byte in line("漢字 🎉 \u2028 é").encode():
        append(path, bytes([byte]))
        got += read(tail)
    assert got == ["漢字 🎉 \u2028 é"]


def test_a_rotated_file_is_read_to_its_end_first(path: Path) -> None:
    """What was written just before the file got another name is not lost, and the new one begins at 0."""
    tail = FileTail(path, opened)
    append(path, line("a"))
    assert read(tail) == ["a"]
    append(path, line("b"))
    path.rename(path.with_suffix(".1"))
    append(path, line("c"))
    assert read(tail) == ["b", "c"]
    assert tail.restarts == 1


def test_another_file_of_that_name_is_read_from_its_beginning(path: Path) -> None:
    """Also when it took the place while nobody looked, is longer, and begins with the same lines."""
    tail = FileTail(path, opened)
    append(path, line("a"))
    assert read(tail) == ["a"]
    tail.close()
    other = path.with_suffix(".new")
    append(other, line("a") + line("b"))
    other.replace(path)
    assert read(tail) == ["b"]
    assert tail.restarts == 1


def test_a_truncated_file_repeats_nothing(path: Path) -> None:
    """A line that is still there is not given out again, and what follows the cut is."""
    tail = FileTail(path, opened)
    append(path, line("a") + line("b") + line("c"))
    assert read(tail) == ["a", "b", "c"]
    os.truncate(path, len(line("a")))
    assert read(tail) == []
    append(path, line("x"))
    assert read(tail) == ["x"]


@pytest.mark.parametrize("more", ["", line("more")])
def test_a_rewrite_in_place_is_seen_though_the_file_did_not_shrink(path: Path, more: str) -> None:
    """Same inode, same size or larger: the bytes just before our place tell."""
    tail = FileTail(path, opened)
    append(path, line("same") + line("old"))
    read(tail)
    with path.open("r+b") as file:
        file.write((line("same") + line("new") + more).encode())
    assert read(tail) == ["new", *(["more"] if more else [])]


def test_a_deleted_file_that_comes_back_is_continued(path: Path) -> None:
    """Its old lines are known, its new ones are not."""
    tail = FileTail(path, opened)
    append(path, line("a"))
    read(tail)
    append(path, line("b"))
    path.unlink()
    assert read(tail) == ["b"]
    assert read(tail) == []
    append(path, line("a") + line("b") + line("c"))
    assert read(tail) == ["c"]


def test_a_file_replaced_by_a_link_is_followed_through_it(path: Path) -> None:
    """The link's target is another file: the unchanged beginning is not repeated."""
    tail = FileTail(path, opened)
    append(path, line("a"))
    read(tail)
    target = path.with_name("target.jsonl")
    append(target, line("a") + line("b"))
    path.unlink()
    path.symlink_to(target)
    assert read(tail) == ["b"]


def test_what_is_no_regular_file_is_said_once_and_survived(path: Path) -> None:
    """A pipe is not waited for; when a file takes its place, reading goes on."""
    tail = FileTail(path, opened)
    os.mkfifo(path)
    with pytest.raises(SourceError, match="is not a regular file; it is not followed"):
        read(tail)
    assert read(tail) == []
    path.unlink()
    append(path, line("a"))
    assert read(tail) == ["a"]


def test_a_file_that_may_not_be_read_is_said_and_read_later(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the system's refusal is played here."""
    append(path, line("a"))
    tail = FileTail(path, opened)

    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("stenograph.sources.tail.os.open", refused)
        with pytest.raises(SourceError, match="Permission denied; check the path and its permissions"):
            read(tail)
    assert read(tail) == ["a"]


def test_finish_gives_a_line_that_lacks_only_its_newline_and_never_again(path: Path) -> None:
    """Finished files grow again: the newline may still come, and so may other lines."""
    tail = FileTail(path, opened)
    append(path, line("a") + line("b").rstrip("\n"))
    assert finish(tail) == ["a", "b"]
    assert (finish(tail), tail.open_bytes) == ([], 0)
    append(path, "\n" + line("c"))
    assert read(tail) == ["c"]


def test_finish_leaves_an_unfinished_line_and_says_so(path: Path) -> None:
    """What is not whole JSON is still being written."""
    tail = FileTail(path, opened)
    append(path, line("a")[:-3])
    assert finish(tail) == []
    assert tail.open_bytes == len(line("a")) - 3
    append(path, line("a")[-3:])
    assert read(tail) == ["a"]


def test_an_early_line_that_was_only_the_beginning_is_given_as_it_became(path: Path) -> None:
    """It looked whole and was not: the line as it stands in the end is given out, too."""
    tail = FileTail(path, opened)
    append(path, line("a").rstrip("\n"))
    assert finish(tail) == ["a"]
    append(path, " {}\n")
    assert read(tail) == [line("a").rstrip("\n") + " {}"]


def test_an_unfinished_line_that_goes_away_is_counted(path: Path) -> None:
    """Nothing is lost silently."""
    tail = FileTail(path, opened)
    append(path, line("a") + '{"half')
    read(tail)
    os.truncate(path, len(line("a")))
    read(tail)
    assert tail.discarded == len('{"half')


def test_a_large_backlog_is_read_to_its_end_in_bounded_pieces(path: Path) -> None:
    """20 MB at 64 KiB a piece in one read: the piece bounds the memory, not how far a read goes."""
    count, text = 10_000, "x" * 2000
    path.write_bytes(line(text).encode() * count)
    sizes = [len(batch) for batch in FileTail(path, opened).read()]
    assert sum(sizes) == count
    assert max(sizes) <= 65536 // 2000 + 1


def test_one_line_longer_than_many_pieces_is_whole(path: Path) -> None:
    """There is no limit to a line."""
    append(path, line("x" * 1_000_000))
    assert read(FileTail(path, opened, max_read_bytes=1000)) == ["x" * 1_000_000]


def test_a_state_tells_where_a_tail_is(path: Path) -> None:
    """Path, source, position, inode, partial line and count, by the documents' names."""
    tail = FileTail(path, opened)
    append(path, line("a") + '{"ha')
    read(tail)
    state = tail.state()
    assert (state.path, state.source, state.partial) == (str(path), "main", '{"ha')
    assert (state.position, state.inode, state.known.events) == (len(line("a")) + 4, path.stat().st_ino, 1)


def test_a_restart_where_the_file_changed_meanwhile_begins_at_the_change(path: Path) -> None:
    """The known lines are compared, not counted."""
    tail = FileTail(path, opened)
    append(path, line("a") + line("b") + line("c"))
    read(tail)
    path.write_text(line("a") + line("B") + line("c"))
    assert read(FileTail(path, opened, known=tail.state().known)) == ["B", "c"]


def test_a_journal_with_masked_lines_is_trusted_by_their_numbers(path: Path) -> None:
    """Masked raw text is not what the file says; with `verbatim=False` that does not matter."""
    append(path, line("secret") + line("b"))
    events = [event for batch in FileTail(path, opened).read() for event in batch]
    masked = [
        Event(**{name: getattr(event, name) for name in event.__struct_fields__} | {"raw": "***"}) for event in events
    ]
    assert read(FileTail(path, opened, known=known_lines(masked)[None])) == ["secret", "b"]
    append(path, line("c"))
    assert read(FileTail(path, opened, known=known_lines(masked, verbatim=False)[None])) == ["c"]


def test_a_garbage_journal_says_nothing_about_lines() -> None:
    """Numbers that no file has are passed over."""
    from stenograph.model import Origin

    def event(number: int) -> Event:
        origin = Origin(line=number)
        return Event(
            seq=1,
            run_id=RUN_ID,
            type="unknown",
            path="",
            iteration=0,
            timestamp="",
            origin=origin,
            payload=None,
            raw_b64="!",
        )

    assert known_lines([event(0), event(-3), event(10**15)]) == {}
    assert known_lines([event(1)]) == {None: Known(digests=bytes(8), emitted=1, events=1)}
