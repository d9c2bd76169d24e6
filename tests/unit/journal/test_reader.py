"""Reading a journal: every complete line gives an event, and what is odd is counted."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from stenograph import Recorder, RunNotFound, SourceError, read_events
from stenograph.model import Event, encode

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
LINE = (
    b'{"seq":%d,"run_id":"550e8400-e29b-41d4-a716-446655440000","type":"error","path":"","iteration":0,'
    b'"timestamp":"2026-06-08T08:14:42.123456Z","payload":{"message":"m"}}'
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / f"{RUN_ID}.jsonl"


def read(path: Path, data: bytes) -> list[Event]:
    path.write_bytes(data)
    return list(read_events(path))


def test_complete_lines_are_events_and_the_rest_is_torn(path: Path) -> None:
    """What follows the last newline is counted, not shown, however whole it looks."""
    reader_of = LINE % 1 + b"\n" + LINE % 2 + b"\n" + LINE % 3
    path.write_bytes(reader_of)
    reader = read_events(path)
    assert [event.seq for event in reader] == [1, 2]
    assert (reader.lines, reader.torn_bytes, reader.malformed) == (2, len(LINE % 3), 0)


def test_a_line_that_is_not_json_is_an_unknown_event_and_counted(path: Path) -> None:
    """It has its text, its line number, and the run and time of its neighbours."""
    path.write_bytes(LINE % 1 + b"\nnot json \xe2\x80\xa8 at all\n" + LINE % 2 + b"\n")
    reader = read_events(path)
    first, odd, last = reader
    assert reader.malformed == 1
    assert (first.seq, odd.seq, last.seq) == (1, 0, 2)
    assert (odd.type, odd.payload.text, odd.raw) == ("unknown", "not json \u2028 at all", "not json \u2028 at all")
    assert (odd.run_id, odd.timestamp) == (first.run_id, first.timestamp)
    assert odd.origin is not None
    assert (odd.origin.line, odd.origin.time) == (2, "inherited")


def test_json_that_is_no_event_is_an_unknown_event(path: Path) -> None:
    """Nothing is left out, and it is not malformed."""
    path.write_bytes(b'[1,2]\n{"a":1}\n"text"\nnull\n')
    reader = read_events(path)
    assert [event.payload.value for event in reader] == [[1, 2], {"a": 1}, "text", None]
    assert reader.malformed == 0


def test_blank_lines_say_nothing(path: Path) -> None:
    """They give no event, count as lines, and are not malformed."""
    path.write_bytes(b"\n" + LINE % 1 + b"\n\n  \t\n\r\n" + LINE % 2 + b"\n")
    reader = read_events(path)
    assert [event.seq for event in reader] == [1, 2]
    assert (reader.lines, reader.malformed) == (6, 0)


def test_crlf_is_read_like_lf(path: Path) -> None:
    """A journal that passed through Windows is still one."""
    assert [event.seq for event in read(path, LINE % 1 + b"\r\n" + LINE % 2 + b"\r\n")] == [1, 2]


def test_only_lf_ends_a_line(path: Path) -> None:
    """U+2028, U+0085, form feeds and lone CRs inside a string do not break it."""
    text = "a\u2028b\u2029c\x85d"
    line = (LINE % 1).replace(b'"m"', f'"{text}"'.encode())
    (event,) = read(path, line + b"\n")
    assert event.payload.message == text


def test_invalid_utf8_is_replaced_and_counted(path: Path) -> None:
    """The event is there, typed, with U+FFFD where bytes were no text."""
    path.write_bytes((LINE % 1).replace(b'"m"', b'"\xff\xfe"') + b"\n")
    reader = read_events(path)
    (event,) = reader
    assert (event.seq, event.payload.message) == (1, "\ufffd\ufffd")
    assert (reader.replaced, reader.malformed) == (2, 0)


def test_bytes_that_are_neither_json_nor_utf8_are_kept(path: Path) -> None:
    """`raw_b64` has the exact line."""
    (event,) = read(path, b"\xff\x00\n")
    assert (event.type, event.raw, event.raw_b64) == ("unknown", None, "/wA=")


def test_deep_nesting_is_kept_as_text(path: Path) -> None:
    """Deeper than the decoder goes: an unknown event with its raw line, and reading goes on."""
    deep = b'{"seq":1,"type":"x","payload":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    first, second = read(path, deep + b"\n" + LINE % 2 + b"\n")
    assert first.type == "unknown"
    assert (first.raw or "").encode() == deep
    assert second.seq == 2


def test_reading_twice_gives_the_same_events_and_counts(path: Path) -> None:
    """A reader may be iterated again; nothing is counted double."""
    path.write_bytes(LINE % 1 + b"\nnot json\n\n\xff\n" + LINE % 2)
    reader = read_events(path)
    first = list(reader), reader.malformed, reader.replaced, reader.lines, reader.torn_bytes
    second = list(reader), reader.malformed, reader.replaced, reader.lines, reader.torn_bytes
    assert first == second
    assert reader.malformed == 2


def test_a_reader_hands_out_the_very_line(path: Path) -> None:
    """Copying a journal copies its bytes, odd spacing and unknown fields included."""
    odd = b'{ "seq": 1, "type": "error", "new": [1 ,2], "payload": {"message":"\\u0041"} }'
    path.write_bytes(odd + b"\n" + LINE % 2 + b"\n")
    reader = read_events(path)
    assert [reader.line for _ in reader] == [odd, LINE % 2]


def test_a_big_journal_is_read_in_pieces(path: Path) -> None:
    """Lines across the borders of a read, and one longer than a read, come out whole."""
    sizes = [10, 1_048_400, 300_000, 900_000, 5_000_000, 3]
    with path.open("wb") as file:
        for seq, size in enumerate(sizes, 1):
            file.write((LINE % seq).replace(b'"m"', b'"' + b"y" * size + b'"') + b"\n")
    assert [len(event.payload.message) for event in read_events(path)] == sizes


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    """RunNotFound is a SourceError and a LookupError and names the path, at once and not at the first event."""
    with pytest.raises(RunNotFound, match="does not exist") as missing:
        read_events(tmp_path / "x.jsonl")
    assert missing.value.path == str(tmp_path / "x.jsonl")
    assert isinstance(missing.value, SourceError | LookupError)


def test_what_is_no_file_is_a_source_error(tmp_path: Path) -> None:
    """A folder, a pipe, a path that cannot be one: said, not hung on."""
    os.mkfifo(tmp_path / "pipe")
    for path, message in [
        (tmp_path, "not a regular file"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / ("x" * 300), "File name too long"),
        (Path("a\0b"), "null"),
    ]:
        with pytest.raises(SourceError, match=message):
            read_events(path)


def test_an_empty_journal_has_no_events(path: Path) -> None:
    """And no flaws."""
    path.touch()
    reader = read_events(path)
    assert list(reader) == []
    assert (reader.lines, reader.torn_bytes, reader.malformed, reader.replaced) == (0, 0, 0, 0)


def test_a_journal_can_be_read_while_it_is_written(root: Path) -> None:
    """A reader sees what is there when it gets there."""
    with Recorder(root) as recorder:
        events = [recorder.record("error", {"message": "m"}) for _ in range(3)]
        reading = iter(read_events(recorder.path))
        assert next(reading) == events[0]
        events.append(recorder.record("error", {"message": "late"}))
        assert list(reading) in (events[1:], events[1:3])


def test_a_reader_closes_its_file_when_it_is_dropped(path: Path) -> None:
    """No descriptor stays."""
    path.write_bytes(LINE % 1 + b"\n")
    gc.collect()  # what tests before this one left open
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    readers = [read_events(path) for _ in range(5)]
    assert len(os.listdir("/proc/self/fd")) == before + 5  # noqa: PTH208
    del readers
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_unknown_types_and_fields_survive(path: Path) -> None:
    """A newer writer's event keeps its type, its payload and its fields, and is written back the same."""
    line = (
        b'{"seq":1,"run_id":"r","type":"agent.dreamed","path":"","iteration":0,"timestamp":"t",'
        b'"payload":{"of":["sheep"]},"mood":"calm"}'
    )
    (event,) = read(path, line + b"\n")
    assert (event.type, event.payload, event.extra) == ("agent.dreamed", {"of": ["sheep"]}, {"mood": "calm"})
    assert encode(event) == line
