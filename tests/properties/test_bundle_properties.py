"""Bundles of any run: they open, verify and give the transcript back; and no byte of one changes unseen."""

from __future__ import annotations

import json
import logging
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stenograph import Event, entries, read_events, start_run
from stenograph.bundle import BundleOptions, DebugBundle, create_bundle, verify_bundle
from stenograph.errors import SourceError
from stenograph.fold.calls import pair_calls
from stenograph.fold.usage import usage_totals
from stenograph.logs import TranscriptEmitter
from stenograph.query.bundle_database import bundle_database
from stenograph.query.sql import run_sql
from stenograph.transcript import TranscriptEntry, reconstruct_transcript
from strategies import BRIEF, PATIENT, RUN_ID, any_lines, examples, runs

BARE = BundleOptions(environment=False, page=False)


def by_source(found: list[TranscriptEntry]) -> list[dict[str, object]]:
    """The entries as JSON has them, in the order of a reconstructed transcript."""
    runs = list(dict.fromkeys(entry.run_id for entry in found))
    ordered = sorted(found, key=lambda entry: (runs.index(entry.run_id), entry.source, entry.sequence_number))
    return [json.loads(json.dumps(entry.as_dict())) for entry in ordered]


def told(found: list[TranscriptEntry]) -> list[dict[str, object]]:
    return [entry.as_dict() for entry in found]


@given(runs())
@BRIEF
def test_a_bundle_of_any_run_gives_it_back(run: list[Event]) -> None:
    """Events are the events, and the log records the very entries, ids included."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = DebugBundle.load(create_bundle(Path(folder) / "a.zip", run, options=BARE))
        assert bundle.verify().ok
        numbers = count(1)
        assert bundle.events == [event if event.seq else replace(event, seq=next(numbers)) for event in run]
        assert told(reconstruct_transcript(bundle.logs)) == by_source(list(entries(bundle.events)))
        assert bundle.manifest.counts.entries == len(bundle.entries)


@given(st.lists(any_lines.map(lambda line: line.replace(b"\n", b"")), max_size=5))
@BRIEF
def test_a_bundle_of_any_journal_gives_it_back(lines: list[bytes]) -> None:
    """Whatever bytes a journal has: they are in the bundle, and it reads them as the journal's reader does."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / f"{RUN_ID}.jsonl"
        journal.write_bytes(b"".join(line + b"\n" for line in lines))
        bundle = DebugBundle.load(create_bundle(Path(folder) / "a.zip", read_events(journal), options=BARE))
        assert bundle.verify().ok
        assert bundle.events == list(read_events(journal))
        assert told(reconstruct_transcript(bundle.logs)) == by_source(list(entries(read_events(journal))))


@given(runs())
@BRIEF
def test_the_tables_count_as_the_folds_do(run: list[Event]) -> None:
    """Rows per event and entry, calls as they are paired, and tokens that are counted once."""
    with tempfile.TemporaryDirectory() as folder:
        path = create_bundle(Path(folder) / "a.zip", run, options=BARE)
        bundle = DebugBundle.load(path)
        with bundle_database(path) as database:
            assert list(run_sql(database, "SELECT count(*) FROM events")) == [(len(bundle.events),)]
            assert list(run_sql(database, "SELECT count(*) FROM entries")) == [(len(bundle.entries),)]
            calls = list(run_sql(database, "SELECT call_id, error FROM tool_calls"))
            pairs = (pair for pair in pair_calls(bundle.events) if pair.call is not None)
            assert calls == [(pair.call_id, pair.error) for pair in pairs]
            counted = "SELECT total(input_tokens), count(*) FROM usage WHERE is_counted"
            total = usage_totals(bundle.events).total
            assert list(run_sql(database, counted)) == [(total.input_tokens, total.records)]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a small bundle."""
    folder = tmp_path_factory.mktemp("small")
    with start_run("x", root=folder) as run:
        run.user("hi")
    return create_bundle(folder / "a.zip", read_events(run.path), options=BARE).read_bytes()


@given(st.data())
@examples(200)
def test_no_byte_changes_unseen(small: bytes, data: st.DataObject) -> None:
    """Flip any bit, cut out, double or add bytes anywhere: `verify` says so, and nothing but our errors is raised."""
    place = data.draw(st.integers(0, len(small) - 1))
    end = min(len(small), place + data.draw(st.integers(0, 40)))
    flipped = bytes([small[place] ^ data.draw(st.integers(1, 255))])
    changed = data.draw(
        st.sampled_from(
            [
                small[:place] + flipped + small[place + 1 :],
                small[:place] + small[max(end, place + 1) :],
                small[:end] + small[place:],
                small[:place] + b"\0" + small[place:],
            ]
        ).filter(lambda found: found != small)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.zip"
        path.write_bytes(changed)
        assert not verify_bundle(path).ok
        try:
            bundle = DebugBundle.load(path)
            assert isinstance(bundle.logs, list)
            assert isinstance(bundle.events, list)
        except SourceError:
            pass


@given(st.binary(max_size=300))
@PATIENT
def test_any_bytes_are_no_bundle(data: bytes) -> None:
    """Garbage is refused with our own error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.zip"
        path.write_bytes(data)
        assert not verify_bundle(path).ok
        with pytest.raises(SourceError):
            DebugBundle.load(path)


@given(runs())
@BRIEF
def test_a_derived_record_is_what_an_emitter_logs(run: list[Event]) -> None:
    """The context of a record in a bundle is that of the same entry when it is logged live, but for the evaluation."""
    seen: list[logging.LogRecord] = []
    logger = logging.Logger("test.bundle", logging.DEBUG)
    handler = logging.Handler()
    handler.emit = seen.append  # type: ignore[method-assign]
    logger.addHandler(handler)
    emitter = TranscriptEmitter(prompt_name="p", adapter="a", logger=logger)
    with tempfile.TemporaryDirectory() as folder:
        bundle = DebugBundle.load(create_bundle(Path(folder) / "a.zip", run, options=BARE))
        logs = bundle.logs
        for entry in entries(bundle.events):
            emitter.emit_entry(entry)
    for record in seen:
        assert record.context.pop("evaluation_id") == emitter.evaluation_id  # type: ignore[attr-defined]
    assert [record["context"] for record in logs] == [json.loads(json.dumps(record.context)) for record in seen]  # type: ignore[attr-defined]
    assert [record["message"] for record in logs] == [record.getMessage() for record in seen]
