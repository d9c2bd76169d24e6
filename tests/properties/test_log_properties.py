"""The seven invariants of structured transcripts, over any run that a journal can hold."""

from __future__ import annotations

import io
import json
import logging
from collections import defaultdict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stenograph import Event, entries, summarize
from stenograph.adapters.capture import Capture
from stenograph.adapters.outputs import Outputs
from stenograph.logs import JsonFormatter, TranscriptEmitter
from stenograph.model import Origin
from stenograph.transcript import TranscriptEntry, reconstruct_transcript
from stenograph.transcript.entry import ROLES
from strategies import BRIEF, json_values, runs

ENVELOPE = {"prompt_name", "adapter", "entry_type", "sequence_number", "source", "timestamp"}
ADAPTERS = ("claude_agent_sdk", "codex_app_server")


def logger(stream: io.StringIO) -> logging.Logger:
    """A logger of its own that writes JSON lines."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    alone = logging.Logger("test.properties", logging.DEBUG)
    alone.addHandler(handler)
    return alone


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().split("\n") if line]


def logged(run: list[Event], adapter: str) -> list[dict[str, Any]]:
    """The log of a run that an adapter took down, as an adapter does: its name and prompt in every origin."""
    stream = io.StringIO()
    capture = Capture(prompt_name="review", adapter=adapter, outputs=Outputs(logger=logger(stream)))
    capture.start()
    for event in run:
        origin = replace(event.origin or Origin(), adapter=adapter, prompt_name="review")
        capture.events([replace(event, run_id=capture.run_id, origin=origin)])
    capture.stop()
    return lines(stream)


@given(runs(), st.sampled_from(ADAPTERS))
@BRIEF
def test_the_seven_invariants(run: list[Event], adapter: str) -> None:
    """Envelope, numbers, vocabulary, no exception, adapter, sources and capture time: as the document says."""
    first, *records, last = logged(run, adapter)
    assert (first["event"], last["event"]) == ("transcript.start", "transcript.stop")
    assert all(record["event"] == "transcript.entry" for record in records)
    contexts = [record["context"] for record in records]
    assert all(set(context) >= ENVELOPE for context in contexts)
    numbers = defaultdict(list)
    for context in contexts:
        numbers[context["prompt_name"], context["source"]].append(context["sequence_number"])
    assert all(series == list(range(1, len(series) + 1)) for series in numbers.values())
    assert {context["entry_type"] for context in contexts} <= set(ROLES)
    assert {context["adapter"] for context in contexts} <= {adapter}
    assert {context["source"] for context in contexts} <= {event.source for event in run}
    times = [record["timestamp"] for record in records]
    assert times == sorted(times)
    assert last["context"]["summary"]["total_entries"] == len(records)


def _facts(entry: TranscriptEntry) -> dict[str, Any]:
    """All but run and id: this log is of an evaluation that is not recorded, and the run is told apart by nothing."""
    told = json.loads(json.dumps(entry.as_dict()))
    return {name: value for name, value in told.items() if name not in ("run_id", "entry_id")}


@given(runs(), st.sampled_from(ADAPTERS))
@BRIEF
def test_a_log_gives_the_transcript_back(run: list[Event], adapter: str) -> None:
    """Reconstructing from the JSON lines gives the very entries of the run, ordered by source and number."""
    origin = [replace(event.origin or Origin(), adapter=adapter, prompt_name="review") for event in run]
    told = [replace(event, run_id=run[0].run_id, origin=each) for event, each in zip(run, origin, strict=True)]
    expected = sorted(entries(told), key=lambda entry: (entry.source, entry.sequence_number))
    found = reconstruct_transcript(logged(run, adapter))
    assert [_facts(each) for each in found] == [_facts(each) for each in expected]
    assert len({each.entry_id for each in found}) == len(found)
    again, before = summarize(found), summarize(expected)
    assert (again.entries_by_type, again.entries_by_source) == (before.entries_by_type, before.entries_by_source)


@given(st.lists(st.tuples(st.text(), st.text(max_size=3), json_values, st.text() | st.none())))
@BRIEF
def test_the_emitter_takes_anything(calls: list[tuple[str, str, Any, str | None]]) -> None:
    """Any type, source, detail and raw give a line each, with gapless numbers and a known type."""
    stream = io.StringIO()
    emitter = TranscriptEmitter(prompt_name="p", adapter="a", logger=logger(stream))
    for entry_type, source, detail, raw in calls:
        emitter.emit(entry_type, source=source, detail={"value": detail}, raw=raw)
    contexts = [record["context"] for record in lines(stream)]
    assert len(contexts) == len(calls)
    counts: dict[str, int] = defaultdict(int)
    for context, (_, source, _, _) in zip(contexts, calls, strict=True):
        counts[source] += 1
        assert context["sequence_number"] == counts[source]
        assert context["entry_type"] in ROLES
    assert emitter.lost == 0
