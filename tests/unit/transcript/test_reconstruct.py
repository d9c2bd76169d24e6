"""Log records back to the transcript they carry."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from datetime import UTC, datetime, timezone
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.transcript import TranscriptEntry, entries, reconstruct_transcript, summarize
from stenograph.transcript.entry import ROLES
from strategies import BRIEF, PATIENT, any_lines, json_values, runs, texts, timestamps, wild_json_values

EPOCH = datetime.fromtimestamp(0, UTC)
CONTEXT = {
    "prompt_name": "code-review",
    "adapter": "claude_agent_sdk",
    "entry_type": "assistant_message",
    "sequence_number": 3,
    "source": "main",
    "timestamp": "2024-01-15T10:30:00.123+00:00",
    "session_id": "550e8400-e29b-41d4-a716-446655440000",
    "detail": {"sdk_entry": {"type": "assistant", "message": {"role": "assistant", "content": "I'll analyze"}}},
}


def _record(context: Any, event: str = "transcript.entry") -> dict[str, Any]:
    return {
        "timestamp": "2024-01-15T10:30:00.124+00:00",
        "level": "DEBUG",
        "logger": "stenograph.logs",
        "event": event,
        "message": "transcript entry: assistant_message",
        "context": context,
    }


def _logged(entry: TranscriptEntry) -> dict[str, Any]:
    return _record(entry.as_dict())


def _ordered(transcript: Iterable[TranscriptEntry]) -> list[TranscriptEntry]:
    transcript = list(transcript)
    runs = list(dict.fromkeys(entry.run_id for entry in transcript))
    return sorted(transcript, key=lambda entry: (runs.index(entry.run_id), entry.source, entry.sequence_number))


def _one(**changes: Any) -> TranscriptEntry:
    [entry] = reconstruct_transcript([_record(CONTEXT | changes)])
    return entry


def test_the_example_of_the_document() -> None:
    """The envelope, the detail, and the role that usually speaks that type."""
    entry = _one()
    assert entry == TranscriptEntry(
        prompt_name="code-review",
        adapter="claude_agent_sdk",
        entry_type="assistant_message",
        sequence_number=3,
        source="main",
        timestamp=datetime(2024, 1, 15, 10, 30, 0, 123000, tzinfo=UTC),
        session_id="550e8400-e29b-41d4-a716-446655440000",
        detail=CONTEXT["detail"],  # type: ignore[arg-type]
    )
    assert entry.role == "assistant"
    assert entry.as_dict()["timestamp"] == CONTEXT["timestamp"]


def test_entries_are_ordered_by_source_and_number() -> None:
    """Whatever order the records have; records of equal place stay in theirs."""
    places = [("subagent:a", 2), ("main", 10), ("main", 2), ("subagent:a", 1), ("main", 2)]
    records = [
        _record(CONTEXT | {"source": source, "sequence_number": number, "content": str(at)})
        for at, (source, number) in enumerate(places)
    ]
    found = [(entry.source, entry.sequence_number, entry.content) for entry in reconstruct_transcript(records)]
    assert found == [
        ("main", 2, "2"),
        ("main", 2, "4"),
        ("main", 10, "1"),
        ("subagent:a", 1, "3"),
        ("subagent:a", 2, "0"),
    ]


def test_other_records_are_passed_over() -> None:
    """Only `transcript.entry` counts: not the other events, other libraries' records, or lines that are no JSON."""
    others = [
        _record({}, "transcript.start"),
        _record(CONTEXT, "transcript.collector.entry"),
        {"message": "hello"},
        {},
        [],
        None,
        5,
        logging.makeLogRecord({"msg": "hello"}),
        "Segmentation fault",
        b"\xff",
        b"",
        "[" * 100_000,
        '"transcript.entry"',
    ]
    assert len(reconstruct_transcript([*others, _record(CONTEXT), *others])) == 1


def test_records_may_be_dicts_lines_or_log_records() -> None:
    """The same entry from each, and from a whole log as one text."""
    record = _record(CONTEXT)
    line = json.dumps(record)
    log_record = logging.makeLogRecord({"msg": "transcript entry", "event": record["event"], "context": CONTEXT})
    forms: list[Iterable[object]] = [
        [record],
        iter([line]),
        (line.encode(),),
        [bytearray(line.encode())],
        [log_record],
        f"{line}\n",
        f"{line}\n".encode(),
    ]
    assert [reconstruct_transcript(form) for form in forms] == [[_one()]] * len(forms)


def test_a_line_separator_inside_a_text_is_no_line_end() -> None:
    """A log is cut at newlines only."""
    line = json.dumps(_record(CONTEXT | {"content": "a\u2028b\x85c"}), ensure_ascii=False)
    assert [entry.content for entry in reconstruct_transcript(f"{line}\n{line}")] == ["a\u2028b\x85c"] * 2


def test_an_entry_has_the_id_it_was_logged_with() -> None:
    """As text or as a value."""
    assert _one(entry_id=str(UUID(int=7))).entry_id == UUID(int=7)
    assert _one(entry_id=UUID(int=7)).entry_id == UUID(int=7)


def test_two_evaluations_in_one_log_are_kept_apart() -> None:
    """Two of one prompt at the same time, each with numbers from 1: one after the other, by their runs."""
    records = [
        _record(CONTEXT | {"run_id": run, "sequence_number": number, "content": f"{run}{number}"})
        for number in (1, 2, 3)
        for run in ("b", "a")
    ]
    found = reconstruct_transcript(records)
    assert [entry.content for entry in found] == ["b1", "b2", "b3", "a1", "a2", "a3"]
    assert [entry.run_id for entry in found] == ["b"] * 3 + ["a"] * 3


def test_two_evaluations_of_one_run_are_kept_apart() -> None:
    """They have the run's id, and one each of their own."""
    records = [
        _record(CONTEXT | {"run_id": "r", "evaluation_id": who, "sequence_number": number, "content": f"{who}{number}"})
        for number in (1, 2)
        for who in ("b", "a")
    ]
    assert [entry.content for entry in reconstruct_transcript(records)] == ["b1", "b2", "a1", "a2"]


@pytest.mark.parametrize(
    ("name", "value", "default"),
    [
        ("prompt_name", 5, ""),
        ("adapter", ["a"], ""),
        ("entry_type", {"a": 1}, "unknown"),
        ("sequence_number", "3", 0),
        ("sequence_number", True, 0),
        ("sequence_number", 1.5, 0),
        ("source", 1, "main"),
        ("session_id", 1, None),
        ("raw", {"type": "assistant"}, None),
        ("role", "developer", "assistant"),
        ("role", 5, "assistant"),
        ("content", [1], ""),
        ("tool_name", 1, None),
        ("tool_call_id", 1, None),
        ("tool_input", "ls", None),
        ("metadata", "x", None),
        ("timestamp", 1705314600, EPOCH),
        ("entry_id", "no uuid", _one().entry_id),
        ("entry_id", 5, _one().entry_id),
    ],
)
def test_a_field_of_another_type_is_kept_aside(name: str, value: Any, default: Any) -> None:
    """The entry has the field's default, and `detail.unread` what stood there; absent or null is no fault."""
    entry = _one(**{name: value})
    if name != "session_id":
        assert getattr(entry, name) == default
    assert entry.detail == {**CONTEXT["detail"], "unread": {name: value}}  # type: ignore[dict-item]
    if name != "entry_id":
        blank = _one(**{name: None})
        assert getattr(blank, name) == default
        assert "unread" not in blank.detail


@pytest.mark.parametrize("context", [None, 5, "text", [1]])
def test_a_record_without_a_readable_context_is_an_unknown_entry(context: Any) -> None:
    """It says that an entry was logged, so there is one."""
    [entry] = reconstruct_transcript([_record(context)])
    assert (entry.entry_type, entry.source, entry.sequence_number) == ("unknown", "main", 0)
    assert entry.detail == {"unread": {"context": context}}


def test_a_detail_of_another_type_is_kept_aside() -> None:
    """As with any other field."""
    assert _one(detail=[1]).detail == {"unread": {"detail": [1]}}


def test_an_unreadable_timestamp_gives_the_moment_before() -> None:
    """As entries made from events have it; the text stays as it was."""
    texts = ["yesterday", "2026-06-08T12:00:00Z", ""]
    records = [_record(CONTEXT | {"timestamp": text, "sequence_number": at}) for at, text in enumerate(texts)]
    found = reconstruct_transcript(records)
    noon = datetime(2026, 6, 8, 12, tzinfo=UTC)
    assert [entry.timestamp for entry in found] == [EPOCH, noon, noon]
    assert [entry.timestamp_text for entry in found] == texts


def test_a_moment_may_be_a_datetime() -> None:
    """As other emitters log it; without a zone it is UTC."""
    assert _one(timestamp=datetime(2026, 6, 8, 12)).timestamp == datetime(2026, 6, 8, 12, tzinfo=UTC)


def _check(found: list[TranscriptEntry], logged: list[TranscriptEntry]) -> None:
    assert found == _ordered(logged)
    assert [entry.entry_id for entry in found] == [entry.entry_id for entry in _ordered(logged)]
    assert [entry.as_dict() for entry in found] == [entry.as_dict() for entry in _ordered(logged)]
    assert summarize(found) == summarize(_ordered(logged))


@given(runs())
@BRIEF
def test_the_entries_of_any_run_come_back_from_its_log(events: list[Any]) -> None:
    """Equal entries, ids, JSON and summary, from records and from their lines."""
    logged = list(entries(events))
    records = [_logged(entry) for entry in logged]
    _check(reconstruct_transcript(records), logged)
    _check(reconstruct_transcript("\n".join(map(json.dumps, records))), logged)


def _with_plain_offset(moment: datetime) -> datetime:
    """Python calls an hour that a zone has twice, or not at all, unequal to itself in any other zone."""
    offset = moment.utcoffset()
    assert offset is not None
    return moment.replace(tzinfo=timezone(offset))


_maybe_texts = st.none() | texts
_objects = st.dictionaries(texts, json_values, min_size=1, max_size=2)
_entries = st.builds(
    TranscriptEntry,
    prompt_name=texts,
    adapter=texts,
    entry_type=st.sampled_from([*ROLES, "memory_saved"]),
    sequence_number=st.integers(),
    source=texts,
    timestamp=st.datetimes(timezones=st.timezones()).map(_with_plain_offset),
    session_id=_maybe_texts,
    detail=st.just({}) | _objects,
    raw=_maybe_texts,
    role=st.none() | st.sampled_from(["system", "user", "assistant", "tool"]),
    content=texts,
    tool_name=_maybe_texts,
    tool_call_id=_maybe_texts,
    tool_input=st.none() | st.just({}) | _objects,
    metadata=st.none() | _objects,
    run_id=_maybe_texts,
    entry_id=st.none() | st.uuids(),
)


@given(st.lists(_entries, max_size=4))
@PATIENT
def test_any_entries_come_back_from_their_log(logged: list[TranscriptEntry]) -> None:
    """Whatever an entry holds; what the JSON form leaves out (an empty `metadata`) is the same as not set."""
    _check(reconstruct_transcript(map(_logged, logged)), logged)


_contexts = st.dictionaries(
    st.sampled_from([*CONTEXT, "role", "content", "tool_name", "tool_input", "metadata", "entry_id", "raw"]),
    wild_json_values | timestamps,
    max_size=6,
)


@given(st.lists(_contexts | wild_json_values, max_size=5), st.lists(any_lines, max_size=3))
@PATIENT
def test_any_record_gives_one_entry_and_never_an_exception(contexts: list[Any], lines: list[bytes]) -> None:
    """Bad input is data: as many entries as records that say they are one, in order, ready to be counted."""
    records = [_record(context) for context in contexts]
    found = reconstruct_transcript([*records, *lines])
    assert len(found) == len(records)
    assert found == _ordered(found)
    assert summarize(found).total_entries == len(records)
    assert len(reconstruct_transcript([json.dumps(record) for record in records])) == len(records)
