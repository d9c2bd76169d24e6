"""What must always hold of a journal, whatever is written into it and however it is cut."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from stenograph import Event, InvalidEvent, Recorder, entries, follow, format_transcript, read_events, verify_journal
from stenograph.cli.options import wants_color
from stenograph.journal.lines import LineReader
from stenograph.journal.tree import tree_of
from stenograph.jsonable import jsonable
from stenograph.model import EVENT_TYPES
from stenograph.render.terminal import TerminalRenderer
from strategies import PATIENT, examples

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"

texts = st.text(st.characters(), max_size=20)
"""Any code points, lone surrogates and control characters included."""
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
payloads = st.one_of(
    st.tuples(st.just("system.event"), st.fixed_dictionaries({"subtype": texts, "text": texts, "data": values})),
    st.tuples(st.just("error"), st.fixed_dictionaries({"message": texts}, optional={"code": texts, "data": values})),
    st.tuples(st.just("unknown"), st.fixed_dictionaries({"value": values})),
    st.tuples(
        st.just("message.user"),
        st.fixed_dictionaries(
            {
                "role": st.just("user"),
                "blocks": st.lists(
                    st.fixed_dictionaries(
                        {
                            "type": st.just("text"),
                            "fidelity": st.sampled_from(["router", "agent_emitted"]),
                            "text": texts,
                        }
                    ),
                    max_size=3,
                ),
            }
        ),
    ),
    st.tuples(
        st.sampled_from(["tool.call", "tool.result"]),
        st.fixed_dictionaries(
            {"name": texts, "call_id": texts, "input": values, "output": values, "fidelity": st.just("router")}
        ),
    ),
)
places = st.fixed_dictionaries(
    {},
    optional={
        "path": texts,
        "iteration": st.integers(0, 2**40),
        "timestamp": texts,
        "raw": texts | st.binary(max_size=20),
    },
)


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@given(st.lists(st.tuples(payloads, places), max_size=12), st.integers(1, 4))
@PATIENT
def test_live_is_stored_is_replayed(recorded: list[tuple[tuple[str, Any], dict[str, Any]]], buffer: int) -> None:
    """Returned, read, replayed and followed events are the same values, in the same order, numbered 1, 2, 3 …"""
    with folder() as root:
        with Recorder(root, run_id=RUN_ID, buffer=buffer) as recorder:
            replay = recorder.subscribe(from_seq=1)
            returned = [recorder.record(*said, **place) for said, place in recorded]
        stored = list(read_events(recorder.path))
        assert stored == returned
        assert list(replay) == returned
        assert [event.seq for event in stored] == list(range(1, len(recorded) + 1))
        assert recorder.path.read_bytes().count(b"\n") == len(recorded)
        if recorded:
            following = iter(follow(recorder.path))
            assert [next(following) for _ in recorded] == returned


@given(st.sampled_from([*EVENT_TYPES, "nonsense"]), values, st.dictionaries(texts, values, max_size=2))
@PATIENT
def test_what_does_not_fit_leaves_nothing(type: str, value: Any, fields: dict[str, Any]) -> None:
    """Any payload is either recorded, and then read back equal, or refused, and then nothing happened."""
    with folder() as root, Recorder(root) as recorder:
        for payload in (value, fields):
            before = recorder.path.read_bytes()
            try:
                event = recorder.record(type, payload)
            except InvalidEvent:
                assert recorder.path.read_bytes() == before
            else:
                assert list(read_events(recorder.path))[-1] == event
        stats = recorder.stats()
        assert stats.events + stats.failed == 2
        assert stats.seq == stats.events


@given(st.lists(payloads, min_size=1, max_size=5), st.data())
@PATIENT
def test_any_cut_leaves_a_prefix_and_a_writable_file(recorded: list[tuple[str, Any]], data: st.DataObject) -> None:
    """Cut once, go on, cut again: what was whole stays, what was torn is set aside, numbers never skip."""
    with folder() as root:
        aside = b""
        for _ in range(2):
            with Recorder(root, run_id=RUN_ID) as recorder:
                for said in recorded:
                    recorder.record(*said)
            whole = recorder.path.read_bytes()
            cut = whole[: data.draw(st.integers(0, len(whole)))]
            recorder.path.write_bytes(cut)
            torn = cut[cut.rfind(b"\n") + 1 :]
            aside += torn + b"\n" if torn else b""
            with Recorder(root, run_id=RUN_ID) as recorder:
                assert recorder.stats().seq == cut.count(b"\n")
                assert recorder.stats().torn_bytes == len(torn)
            assert recorder.path.read_bytes() == cut[: len(cut) - len(torn)]
            kept = recorder.path.with_name(recorder.path.name + ".torn")
            assert (kept.read_bytes() if kept.exists() else b"") == aside
        assert [event.seq for event in read_events(recorder.path)] == list(range(1, recorder.stats().seq + 1))


json_lines = st.dictionaries(
    st.sampled_from(
        ["seq", "run_id", "type", "path", "iteration", "timestamp", "payload", "origin", "child_run_id", "raw"]
    )
    | texts,
    values | st.sampled_from(EVENT_TYPES) | st.integers(0, 5),
    max_size=8,
).map(lambda value: msgspec.json.encode(_clean(value)))


def _clean(value: Any) -> Any:
    """Without lone surrogates, which JSON text can only hold as escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value


garbage = st.lists(st.binary(max_size=40) | json_lines, max_size=8).map(b"\n".join)


@given(garbage)
@examples(120)
def test_any_bytes_can_be_read_checked_shown_and_gone_on_with(data: bytes) -> None:
    """Garbage in a journal never raises anything but our own errors, and never stops recording."""
    with folder() as root:
        path = root / "transcripts" / f"{RUN_ID}.jsonl"
        path.parent.mkdir(mode=0o700)
        path.write_bytes(data)
        events = list(read_events(path))
        assert len(events) == sum(1 for line in data.split(b"\n")[:-1] if line.strip())
        format_transcript(entries(events))
        renderer = TerminalRenderer(color=wants_color())
        assert all(isinstance(renderer.render(event), str) for event in events)
        report = verify_journal(path)
        assert report.lines == data.count(b"\n")
        tree_of(path)
        highest = _last_seq(events)
        with Recorder(root, run_id=RUN_ID) as recorder:
            event = recorder.record("system.event", {"subtype": "on"})
            assert event.seq == highest + 1
            assert list(read_events(path))[-1] == event


def _last_seq(events: list[Event]) -> int:
    return next((event.seq for event in reversed(events) if event.seq > 0), 0)


@given(st.lists(st.binary(max_size=12), max_size=12), st.integers(1, 9))
@PATIENT
def test_lines_come_out_whole_however_the_file_grows(pieces: list[bytes], step: int) -> None:
    """Reading after every few bytes gives the same lines as reading at the end."""
    data = b"\n".join(pieces)
    with folder() as root:
        path = root / "file"
        path.touch()
        fd = os.open(path, os.O_RDONLY)
        try:
            reader = LineReader(fd)
            got: list[bytes] = []
            for start in range(0, len(data), step):
                with path.open("ab") as file:
                    file.write(data[start : start + step])
                got += reader.read()
            assert got == data.split(b"\n")[:-1]
            assert os.fstat(fd).st_size - reader.offset == len(data.split(b"\n")[-1])
        finally:
            os.close(fd)


odd_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | texts
    | st.binary(max_size=5)
    | st.just(object())
    | st.uuids(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(texts | st.integers() | st.tuples(st.integers()), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(odd_values)
@examples(200)
def test_whatever_a_host_has_can_be_recorded(value: Any) -> None:
    """`jsonable` never raises, and what it gives is stored and read back equal."""
    with folder() as root, Recorder(root) as recorder:
        event = recorder.record("system.event", {"subtype": "x", "data": jsonable(value)})
        assert list(read_events(recorder.path)) == [event]
