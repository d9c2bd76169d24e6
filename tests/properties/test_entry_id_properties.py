"""Entry ids: unique in a run, and the same wherever the entry is read, for any events in any order."""

from __future__ import annotations

import io
import json
import logging
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stenograph import Event, Recorder, TranscriptEntry, entries, read_events
from stenograph.adapters.capture import Capture
from stenograph.adapters.outputs import Outputs
from stenograph.bundle import BundleOptions, DebugBundle, create_bundle
from stenograph.logs import JsonFormatter
from stenograph.model import Origin
from stenograph.session import JsonlSliceFactory, Session, SliceFactoryConfig
from stenograph.transcript import reconstruct_transcript
from strategies import BRIEF, PATIENT, runs

_places = st.builds(
    Origin,
    source=st.sampled_from([None, "subagent:a"]),
    file=st.sampled_from([None, "a.jsonl"]),
    line=st.sampled_from([None, 1, 1, 2, 3]),
)


def _ids(told: list[TranscriptEntry]) -> list[str]:
    return [str(entry.entry_id) for entry in told]


@given(runs(max_size=12), st.lists(_places, min_size=12, max_size=12))
@PATIENT
def test_ids_are_unique_in_a_run(run: list[Event], places: list[Origin]) -> None:
    """Whatever lines the events name, in whatever order, and whatever numbers they have, also none or the same."""
    placed = [replace(event, origin=place) for event, place in zip(run, places, strict=False)]
    made = _ids(list(entries(placed)))
    assert len(set(made)) == len(made)
    assert _ids(list(entries(placed))) == made


@given(runs(max_size=8), runs(max_size=8))
@BRIEF
def test_an_id_is_the_same_in_log_session_journal_and_bundle(first: list[Event], second: list[Event]) -> None:
    """Two evaluations at once, recorded by one run: each entry once, under one id, also after the slice's file."""
    with tempfile.TemporaryDirectory() as name:
        folder, stream = Path(name), io.StringIO()
        logger = logging.Logger("test.ids", logging.DEBUG)
        logger.addHandler(handler := logging.StreamHandler(stream))
        handler.setFormatter(JsonFormatter())
        session = Session(slice_config=SliceFactoryConfig(log_factory=JsonlSliceFactory(folder / "slices")))
        with Recorder(folder) as recorder, session:
            captures = [
                Capture(
                    prompt_name="p", adapter="test", outputs=Outputs(recorder=recorder, session=session, logger=logger)
                )
                for _ in range(2)
            ]
            for capture, events in _taking_turns(captures, first, second):
                capture.events(events)
        (folder / "app.jsonl").write_text(stream.getvalue(), "utf-8")
        journal = list(entries(read_events(recorder.path)))
        kept = list(session[TranscriptEntry].all())
        logged = reconstruct_transcript(stream.getvalue())
        made = create_bundle(
            folder / "a.zip",
            read_events(recorder.path),
            logs=folder / "app.jsonl",
            options=BundleOptions(environment=False, page=False),
        )
        bundle = DebugBundle.load(made)
        assert len(set(_ids(journal))) == len(journal)
        assert _ids(bundle.entries) == _ids(journal)
        for sink in (kept, logged, reconstruct_transcript(bundle.logs), reconstruct_transcript(bundle.transcript)):
            assert sorted(_ids(sink)) == sorted(_ids(journal))
        lines = (folder / "slices").glob("*TranscriptEntry.jsonl")
        written = [json.loads(line)["entry_id"] for path in lines for line in path.read_bytes().splitlines()]
        assert written == _ids(kept)


def _taking_turns(
    captures: list[Capture], first: list[Event], second: list[Event]
) -> list[tuple[Capture, list[Event]]]:
    """The events of both evaluations, each over a connection of its own, now one and now the other."""
    turns = []
    for at in range(max(len(first), len(second))):
        for capture, run in zip(captures, (first, second), strict=True):
            turns += [(capture, [_over(capture, event)]) for event in run[at : at + 1]]
    return turns


def _over(capture: Capture, event: Event) -> Event:
    origin = event.origin or Origin()
    file = capture.wire if origin.line is not None else None
    return replace(event, run_id=capture.run_id, origin=replace(origin, file=file))
