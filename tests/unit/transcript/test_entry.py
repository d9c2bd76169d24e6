"""TranscriptEntry as the design documents show it."""

from __future__ import annotations

import dataclasses
import inspect
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args
from uuid import UUID

import pytest

from stenograph.model.ids import entry_id
from stenograph.transcript import EntryType, Role, TranscriptEntry
from stenograph.transcript.entry import ROLES

NOON = datetime(2026, 6, 8, 12, tzinfo=UTC)
ENVELOPE = ["prompt_name", "adapter", "entry_type", "sequence_number", "source", "timestamp"]


def _entry(**fields: Any) -> TranscriptEntry:
    given = dict(zip(ENVELOPE, ("review", "claude_code", "assistant_message", 3, "main", NOON), strict=True))
    return TranscriptEntry(**(given | fields))


def test_the_constructor_is_the_newest_documents() -> None:
    """Six fields in this order, then session_id, detail and raw, which may be left out."""
    parameters = list(inspect.signature(TranscriptEntry).parameters.values())
    assert [each.name for each in parameters[:9]] == [*ENVELOPE, "session_id", "detail", "raw"]
    assert [each.name for each in parameters if each.default is inspect.Parameter.empty] == ENVELOPE
    entry = TranscriptEntry("review", "claude_code", "thinking", 3, "main", NOON)
    assert (entry.session_id, entry.detail, entry.raw) == (None, {}, None)


def test_an_entry_is_a_frozen_dataclass_with_slots() -> None:
    """Nobody changes what was recorded, and nobody adds to it."""
    entry = _entry()
    assert dataclasses.is_dataclass(entry)
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.content = "else"  # type: ignore[misc]
    assert not hasattr(entry, "__dict__")


def test_two_entries_do_not_share_their_detail() -> None:
    """Each has a dict of its own."""
    one, other = _entry(), _entry()
    one.detail["x"] = 1
    assert other.detail == {}


@pytest.mark.parametrize("entry_type", get_args(EntryType))
def test_the_role_follows_from_the_entry_type(entry_type: str) -> None:
    """All nine have one; a role that is given wins; a foreign type is the system's."""
    assert _entry(entry_type=entry_type).role == ROLES[entry_type]
    assert ROLES[entry_type] in get_args(Role)
    assert _entry(entry_type=entry_type, role="user").role == "user"
    assert _entry(entry_type="hologram").role == "system"


def test_created_at_and_sequence_are_the_oldest_documents_names() -> None:
    """The same facts under both names."""
    entry = _entry()
    assert (entry.created_at, entry.sequence) == (entry.timestamp, entry.sequence_number) == (NOON, 3)


def test_a_time_without_a_zone_is_utc() -> None:
    """Entries can always be compared by time, however they were built; a zone that is given stays."""
    naive = datetime(2026, 6, 8, 12)  # the point
    assert _entry(timestamp=naive).timestamp == NOON
    assert TranscriptEntry.message(role="user", content="x", created_at=naive).timestamp == NOON
    east = datetime(2026, 6, 8, 14, tzinfo=timezone(timedelta(hours=2)))
    assert _entry(timestamp=east).timestamp.utcoffset() == timedelta(hours=2)


def test_an_entry_without_an_id_derives_one() -> None:
    """From run or session, source and number, not from what was said; one that is given stays."""
    entry = _entry(session_id="s-1", run_id="r-1", content="a")
    assert entry.entry_id == _entry(session_id="s-2", run_id="r-1", content="b").entry_id
    assert entry.entry_id == entry_id("r-1", "main", "#3")
    assert _entry(session_id="s-1").entry_id == entry_id("s-1", "main", "#3")
    assert _entry(entry_id=UUID(int=7)).entry_id == UUID(int=7)


def test_every_message_has_an_id_of_its_own() -> None:
    """Messages that a host makes are told apart whatever they say, also where nothing but the text is given."""
    made = [TranscriptEntry.message(role="user", content="x", created_at=NOON) for _ in range(3)]
    assert len({entry.entry_id for entry in made}) == 3
    assert made[0] == made[1]
    assert TranscriptEntry.message(role="user", content="x", created_at=NOON, run_id="r-1").run_id == "r-1"


def test_where_an_entry_was_read_is_no_part_of_what_it_says() -> None:
    """Entries are equal whichever run, id or spelling of the time they came with."""
    assert _entry(run_id="r-1", timestamp_text="noon", entry_id=UUID(int=1)) == _entry()
    assert _entry(content="x") != _entry()


@pytest.mark.parametrize(
    ("role", "tool_name", "entry_type"),
    [
        ("system", None, "user_message"),
        ("user", None, "user_message"),
        ("assistant", None, "assistant_message"),
        ("assistant", "Read", "tool_use"),
        ("tool", "Read", "tool_result"),
        ("tool", None, "tool_result"),
    ],
)
def test_a_message_has_the_type_of_who_speaks(role: Role, tool_name: str | None, entry_type: str) -> None:
    """Built from the oldest document's fields alone: role, content and time suffice."""
    entry = TranscriptEntry.message(role=role, content="x", created_at=NOON, tool_name=tool_name)
    assert (entry.entry_type, entry.role, entry.content, entry.created_at) == (entry_type, role, "x", NOON)
    assert (entry.source, entry.sequence, entry.adapter, entry.prompt_name) == ("main", 0, "stenograph", "")


def test_a_message_takes_every_field_of_the_oldest_document() -> None:
    """Each is readable under the name it was given by."""
    given: dict[str, Any] = {
        "role": "assistant",
        "content": "{}",
        "created_at": NOON,
        "tool_name": "Read",
        "tool_call_id": "c-1",
        "tool_input": {"path": "a"},
        "metadata": {"model": "m"},
        "entry_id": UUID(int=7),
        "source": "subagent:a",
        "sequence": 4,
    }
    entry = TranscriptEntry.message(**given)
    assert {name: getattr(entry, name) for name in given} == given


def test_as_dict_has_the_envelope_and_what_is_set() -> None:
    """Required fields, role and content always; the rest only when there is something."""
    assert _entry().as_dict() == {
        "prompt_name": "review",
        "adapter": "claude_code",
        "entry_type": "assistant_message",
        "sequence_number": 3,
        "source": "main",
        "timestamp": "2026-06-08T12:00:00+00:00",
        "role": "assistant",
        "content": "",
        "entry_id": str(entry_id("", "main", "#3")),
    }
    full = {
        "run_id": "r-1",
        "session_id": "s-1",
        "detail": {"of": 1},
        "raw": "{}",
        "tool_name": "Read",
        "tool_call_id": "c-1",
        "tool_input": {},
        "metadata": {"error": "x"},
    }
    told = _entry(**full, timestamp_text="noon", entry_id=UUID(int=7)).as_dict()
    assert told == _entry().as_dict() | full | {"timestamp": "noon", "entry_id": str(UUID(int=7))}
    assert _entry(detail={}, metadata={}).as_dict() == _entry().as_dict()
