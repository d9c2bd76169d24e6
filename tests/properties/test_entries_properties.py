"""What always holds between events and the entries people read."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from typing import get_args

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stenograph.model import Event, decode, encode
from stenograph.transcript import (
    EntryType,
    Projector,
    Role,
    TranscriptEntry,
    entries,
    format_entry,
    format_transcript,
    summarize,
)
from stenograph.transcript.entry import fields_of
from strategies import BRIEF, PATIENT, events, runs

run_lists = st.lists(st.sampled_from(["r-1", "r-2", ""]), min_size=12, max_size=12)


@BRIEF
@given(runs())
def test_numbers_are_gapless_per_source(run: list[Event]) -> None:
    """Whatever the events, each source counts its entries 1, 2, 3 … in file order."""
    numbers = defaultdict(list)
    for entry in entries(run):
        numbers[entry.source].append(entry.sequence_number)
    assert all(each == list(range(1, len(each) + 1)) for each in numbers.values())


@BRIEF
@given(runs(), run_lists)
def test_runs_that_are_mixed_are_numbered_each_for_itself(mixed: list[Event], run_ids: list[str]) -> None:
    """Events of several runs in one stream project as each run alone does."""
    mixed = [replace(event, run_id=run_id) for event, run_id in zip(mixed, run_ids, strict=False)]
    together = list(entries(mixed))
    for run_id in set(run_ids):
        alone = entries([event for event in mixed if event.run_id == run_id])
        assert [entry for entry in together if entry.run_id == run_id] == list(alone)


@BRIEF
@given(runs())
def test_an_encoder_writes_fields_as_the_plain_values(run: list[Event]) -> None:
    """`fields_of` and `as_dict` are the same JSON, in the same order."""
    for entry in entries(run):
        try:
            plain = msgspec.json.encode(entry.as_dict())
        except (UnicodeEncodeError, OverflowError, TypeError):  # broken sources hold what JSON has no form for
            continue
        assert msgspec.json.encode(fields_of(entry)) == plain


@BRIEF
@given(runs())
def test_event_by_event_is_the_same_as_all_at_once(run: list[Event]) -> None:
    """Live and replayed transcripts are equal, ids and texts included."""
    projector = Projector()
    live = [entry for event in run for entry in projector.feed(event)]
    replayed = list(entries(run))
    assert live == replayed
    assert [entry.entry_id for entry in live] == [entry.entry_id for entry in replayed]
    assert [entry.as_dict() for entry in live] == [entry.as_dict() for entry in replayed]


@BRIEF
@given(runs())
def test_entries_are_the_same_after_a_journal(run: list[Event]) -> None:
    """Writing the events and reading them back changes no entry and no id."""
    again = [decode(encode(event)) for event in run]
    assert [(each.entry_id, each.as_dict()) for each in entries(again)] == [
        (each.entry_id, each.as_dict()) for each in entries(run)
    ]


@BRIEF
@given(runs(), st.sets(st.sampled_from(get_args(EntryType))))
def test_filtering_does_not_renumber(run: list[Event], wanted: set[str]) -> None:
    """A filtered transcript keeps the numbers and ids of the whole one."""
    whole = {(entry.source, entry.sequence_number): entry for entry in entries(run)}
    for entry in (each for each in entries(run) if each.entry_type in wanted):
        assert entry == whole[entry.source, entry.sequence_number]
        assert entry.entry_id == whole[entry.source, entry.sequence_number].entry_id


@BRIEF
@given(runs())
def test_ids_differ_within_a_session(run: list[Event]) -> None:
    """No two entries of one session and source share an id."""
    made = [(entry.session_id, entry.entry_id) for entry in entries(run)]
    assert len(set(made)) == len(made)


@BRIEF
@given(runs())
def test_entries_hold_what_their_fields_promise(run: list[Event]) -> None:
    """Canonical types and roles, aware times, plain JSON in `as_dict` with nothing unset in it."""
    for entry in entries(run):
        assert entry.entry_type in get_args(EntryType)
        assert entry.role in get_args(Role)
        assert entry.timestamp.utcoffset() is not None
        fields = entry.as_dict()
        assert msgspec.json.decode(msgspec.json.encode(fields)) == fields
        assert None not in fields.values()


@BRIEF
@given(runs())
def test_times_that_cannot_be_read_are_those_of_the_entry_before(run: list[Event]) -> None:
    """An unreadable timestamp inherits the last readable one, and keeps its own text."""
    before = datetime.fromisoformat("1970-01-01T00:00:00Z")
    for entry in entries(run):
        try:
            expected = datetime.fromisoformat(entry.timestamp_text or "")
        except ValueError:
            expected = before
        assert entry.timestamp.replace(tzinfo=None) == expected.replace(tzinfo=None)
        assert entry.as_dict()["timestamp"] == entry.timestamp_text
        before = entry.timestamp


@BRIEF
@given(runs())
def test_raw_and_of_point_to_the_first_entry_of_a_record(run: list[Event]) -> None:
    """`detail.of` names an earlier entry of the same source, which has none itself; who has `raw` has no `of`."""
    seen: dict[tuple[str, int], TranscriptEntry] = {}
    for entry in entries(run):
        seen[entry.source, entry.sequence_number] = entry
        if "of" in entry.detail:
            assert entry.raw is None
            assert entry.detail["of"] < entry.sequence_number
            assert "of" not in seen[entry.source, entry.detail["of"]].detail


@BRIEF
@given(runs())
def test_every_raw_that_was_kept_is_on_one_entry(run: list[Event]) -> None:
    """A source line is on the first entry it led to, once, wherever its record led to any entry at all."""
    projector = Projector()
    kept: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    for event in run:
        made = projector.feed(event)
        shown.update(entry.raw for entry in made if entry.raw is not None)
        kept.update([event.raw] if event.raw is not None and made else [])
    assert shown >= kept


@PATIENT
@given(events())
def test_any_event_becomes_text(event: Event) -> None:
    """Formatting never fails: a header with time and speaker, then the content."""
    made = list(entries([event]))
    text = format_transcript(made)
    assert text == "\n".join(map(format_entry, made))
    assert all(f"[{entry.timestamp:%H:%M:%S}]" in text for entry in made)


@BRIEF
@given(runs())
def test_a_summary_counts_every_entry_once(run: list[Event]) -> None:
    """Types and sources add up to the total; the times are the earliest and the latest."""
    made = list(entries(run))
    summary = summarize(iter(made))
    assert summary.total_entries == len(made)
    assert summary.entries_by_type == dict(Counter(entry.entry_type for entry in made))
    assert summary.entries_by_source == dict(Counter(entry.source for entry in made))
    assert summary.sources == tuple(dict.fromkeys(entry.source for entry in made))
    assert summary.first_timestamp == min((entry.timestamp for entry in made), default=None)
    assert summary.last_timestamp == max((entry.timestamp for entry in made), default=None)
