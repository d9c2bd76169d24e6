"""What must hold for every session: files and memory are the same, crashes cost a half line, garbage costs itself."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stenograph.session import Session, SlicePolicy, Snapshot, append_all, replace_latest, upsert_by
from stenograph.session.record import Record
from stenograph.session.slices import JsonlSlice, JsonlSliceFactory, SliceFactoryConfig
from stenograph.transcript import Role, TranscriptEntry
from stenograph.transcript.entry import ROLES
from strategies import BRIEF, PATIENT, json_values, texts


def _with_plain_offset(moment: datetime) -> datetime:
    """Python calls an hour that a zone has twice, or not at all, unequal to itself in any other zone."""
    offset = moment.utcoffset()
    assert offset is not None
    return moment.replace(tzinfo=timezone(offset))


_maybe_texts = st.none() | texts
_maybe_objects = st.none() | st.dictionaries(texts, json_values, max_size=2)
transcript_entries = st.builds(
    TranscriptEntry,
    prompt_name=texts,
    adapter=texts,
    entry_type=st.sampled_from([*ROLES, "memory_saved"]),
    sequence_number=st.integers(-(10**20), 10**20),
    source=st.sampled_from(["main", "subagent:a1", "sub\x1bagent"]),
    # Years whose moments exist in every zone.
    timestamp=st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.timezones()).map(_with_plain_offset),
    session_id=_maybe_texts,
    detail=st.dictionaries(texts, json_values, max_size=2),
    raw=_maybe_texts,
    role=st.none() | st.sampled_from(Role.__args__),  # type: ignore[attr-defined]
    content=texts,
    tool_name=_maybe_texts,
    tool_call_id=_maybe_texts,
    tool_input=_maybe_objects,
    metadata=_maybe_objects,
    timestamp_text=_maybe_texts,
    run_id=_maybe_texts,
    entry_id=st.none() | st.uuids(),
)
"""Whole entries, with everything that one can hold."""


@dataclass(frozen=True)
class Note:
    key: int
    value: str


@dataclass(frozen=True)
class Step(Note):
    pass


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@given(transcript_entries)
@PATIENT
def test_an_entry_goes_through_a_line_and_comes_back(entry: TranscriptEntry) -> None:
    """Equal, with the same id, and the same as JSON."""
    record = Record(TranscriptEntry)
    again = record.value(record.line(entry)[:-1])
    assert again == entry
    assert again.entry_id == entry.entry_id
    assert (again.timestamp_text, again.run_id) == (entry.timestamp_text, entry.run_id)
    assert record.replaced == 0


_values = st.builds(Note, st.integers(0, 3), texts) | st.builds(Step, st.integers(0, 3), texts)
_actions = st.lists(_values | st.sampled_from(["snapshot", "restore", "reopen"]), max_size=12)
_reducers = st.sampled_from([append_all, replace_latest, upsert_by(lambda note: note.key)])


def _expected(reducer: Any, actions: list[Any]) -> tuple[list[Note], list[Step]]:
    """The same by hand: notes are a STATE under the reducer, steps a LOG."""
    notes: list[Note] = []
    steps: list[Step] = []
    saved: list[Note] = []
    for action in actions:
        if isinstance(action, Step):
            steps.append(action)
        elif isinstance(action, Note):
            if reducer is append_all or all(note.key != action.key for note in notes):
                notes = [*([] if reducer is replace_latest else notes), action]
            elif reducer is replace_latest:
                notes = [action]
            else:
                notes = [action if note.key == action.key else note for note in notes]
        elif action == "snapshot":
            saved = notes
        elif action == "restore":
            notes = saved
    return notes, steps


def _session(folder: Path | None, reducer: Any) -> Session:
    files = None if folder is None else JsonlSliceFactory(base_dir=folder)
    session = Session(slice_config=files and SliceFactoryConfig(state_factory=files, log_factory=files))
    session.set_policy(Step, SlicePolicy.LOG)
    session[Note].register(Note, reducer)
    return session


def _done(folder: Path | None, reducer: Any, actions: list[Any]) -> Session:
    """A session after the actions; in files it is left and opened again now and then."""
    session = _session(folder, reducer)
    saved: Snapshot = session.snapshot()
    for action in actions:
        if isinstance(action, Note):
            session.dispatch(action)
        elif action == "snapshot":
            saved = session.snapshot()
        elif action == "restore":
            session.restore(saved)
        elif folder is not None:
            states = session.snapshot()
            session.close()
            session = _session(folder, reducer)
            assert session[Note].all() == states.states.get(Note, ())
            saved = Snapshot(session_id=session.session_id, states={Note: (), **saved.states})
    return session


@given(_reducers, _actions)
@BRIEF
def test_memory_and_files_hold_what_a_list_would(reducer: Any, actions: list[Any]) -> None:
    """Any dispatching, going back and reopening: STATE slices roll back, LOG slices keep all, wherever they are."""
    notes, steps = _expected(reducer, actions)
    with _folder() as folder:
        for session in (_done(None, reducer, actions), _done(folder, reducer, actions)):
            for kind, expected in ((Note, notes), (Step, steps)):
                held = session[kind]
                assert held.all() == tuple(expected)
                assert held.latest() == (expected[-1] if expected else None)
                assert held.is_empty == (not expected)
                assert held.where(lambda note: note.key > 1) == tuple(note for note in expected if note.key > 1)
            assert session.stats().unreadable == session.stats().torn == 0
            session.close()


@given(st.lists(st.builds(Note, st.integers(), texts), max_size=4), st.data())
@PATIENT
def test_a_file_cut_anywhere_is_a_prefix_and_goes_on(notes: list[Note], data: st.DataObject) -> None:
    """Whole lines stay, a half one is counted and set aside, and the next value is read back after them."""
    record = Record(Note)
    lines = [record.line(note) for note in notes]
    whole = b"".join(lines)
    end = data.draw(st.integers(0, len(whole)))
    kept = whole[:end].count(b"\n")
    is_torn = not whole[:end].endswith(b"\n") and end > 0
    with _folder() as folder:
        held = JsonlSlice(Note, folder)
        held.path.write_bytes(whole[:end])
        assert list(held) == notes[:kept]
        assert held.latest() == (notes[kept - 1] if kept else None)
        assert held.stats().torn == is_torn
        held.append(Note(7, "after"))
        assert list(held) == [*notes[:kept], Note(7, "after")]
        assert held.stats().torn == is_torn
        torn = folder / f"{held.path.name}.torn"
        assert torn.exists() == is_torn
        if is_torn:
            assert torn.read_bytes() == whole[:end].rpartition(b"\n")[2] + b"\n"
        held.close()


_lines = st.binary(max_size=30) | st.builds(
    lambda note: Record(Note).line(note)[:-1], st.builds(Note, st.integers(), texts)
)


@given(st.lists(_lines, max_size=6), st.booleans())
@PATIENT
def test_garbage_costs_only_itself(lines: list[bytes], is_ended: bool) -> None:
    """Any bytes in the file: what is readable is read, the rest counted, and the three ways of asking agree."""
    data = b"\n".join(lines) + (b"\n" if is_ended else b"")
    record = Record(Note)
    whole = data.split(b"\n")[:-1]
    expected = [note for note in map(record.value, whole) if note is not None]
    with _folder() as folder:
        held = JsonlSlice(Note, folder)
        held.path.write_bytes(data)
        assert list(held) == expected
        assert held.latest() == (expected[-1] if expected else None)
        assert held.stats().unreadable == len(whole) - len(expected)
        held.append(Note(1, "after"))
        assert list(held) == [*expected, Note(1, "after")]
        held.close()
