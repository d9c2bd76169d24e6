"""Capture: one event to the recorder, the session and the log."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conftest import Python
from stenograph import Event, Recorder, TranscriptEntry, entries, read_events, start_run, summarize
from stenograph.adapters.capture import Capture
from stenograph.adapters.outputs import Outputs
from stenograph.model import MessagePayload, Origin, TextBlock
from stenograph.session import PromptRendered, Session
from stenograph.text_transcripts import ThreadTranscripts
from strategies import BRIEF, runs

CHILD = "11111111-2222-4333-8444-555555555555"


def events(capture: Capture, count: int = 3) -> list[Event]:
    return [
        Event(
            seq=0,
            run_id=capture.run_id,
            type="message.assistant",
            path="",
            iteration=0,
            timestamp=f"2026-01-01T00:00:0{number}Z",
            origin=Origin(adapter="claude_agent_sdk", session_id="s", prompt_name="p", line=number + 1),
            payload=MessagePayload(role="assistant", blocks=(TextBlock(fidelity="agent_emitted", text=f"t{number}"),)),
            raw=f'{{"type":"assistant","n":{number}}}',
        )
        for number in range(count)
    ]


def contexts(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    records: list[Any] = caplog.records
    return [record.context for record in records if getattr(record, "event", "") == "transcript.entry"]


def test_one_event_reaches_all_three(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The journal's entries, the session's and the log's are the same ones."""
    caplog.set_level(logging.DEBUG, logger="stenograph")
    session = Session()
    with Recorder(root) as recorder:
        capture = Capture(
            prompt_name="p", adapter="claude_agent_sdk", outputs=Outputs(recorder=recorder, session=session)
        )
        capture.events(events(capture))
        capture.stop()
    kept = list(entries(read_events(recorder.path)))
    assert len(kept) == 3
    assert kept == list(session[TranscriptEntry].all())
    (evaluation,) = {context["evaluation_id"] for context in contexts(caplog)}
    assert contexts(caplog) == [entry.as_dict() | {"evaluation_id": evaluation} for entry in kept]
    assert [entry.as_dict() for entry in kept] == [entry.as_dict() for entry in session[TranscriptEntry].all()]
    assert caplog.records[0].name == "stenograph.adapters.claude_agent_sdk"


def test_nothing_is_lost_from_the_journal_without_debug(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A host that configured no DEBUG logging gets everything on disk and nothing in its log."""
    caplog.set_level(logging.INFO, logger="stenograph")
    with Recorder(root) as recorder:
        capture = Capture(prompt_name="p", adapter="test", outputs=Outputs(recorder=recorder))
        capture.start()
        capture.events(events(capture))
        capture.stop()
    assert len(list(read_events(recorder.path))) == 3
    assert caplog.records == []


def test_log_false_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Who wants no logs gets none, not even the start."""
    caplog.set_level(logging.DEBUG)
    capture = Capture(prompt_name="p", adapter="test", outputs=Outputs(log=False))
    capture.start()
    capture.events(events(capture))
    assert capture.stop().total_entries == 3
    assert caplog.records == []


def test_emit_raw_false_concerns_the_log_alone(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The journal and the session keep the raw line."""
    caplog.set_level(logging.DEBUG, logger="stenograph")
    session = Session()
    with Recorder(root) as recorder:
        capture = Capture(
            prompt_name="p", adapter="claude", outputs=Outputs(recorder=recorder, session=session, emit_raw=False)
        )
        capture.events(events(capture, 1))
    assert "raw" not in contexts(caplog)[0]
    assert session[TranscriptEntry].all()[0].raw == '{"type":"assistant","n":0}'
    assert next(iter(read_events(recorder.path))).raw == '{"type":"assistant","n":0}'


def test_a_step_gets_what_happened_in_it(root: Path) -> None:
    """A run or a step is as good a target as a recorder, and gives the events their place."""
    with start_run("r", root=root) as run, run.step("review", "agent") as step:
        capture = Capture(prompt_name="p", adapter="test", outputs=Outputs(recorder=step))
        assert capture.run_id == run.run_id
        capture.events(events(capture, 1))
    (event,) = [event for event in read_events(run.path) if event.type == "message.assistant"]
    assert (event.path, event.run_id) == ("review", run.run_id)


def test_events_of_another_run_go_to_a_child(root: Path) -> None:
    """A child thread is a run beside ours, linked to it; the log has one series."""
    session = Session()
    with Recorder(root) as recorder:
        capture = Capture(
            prompt_name="p", adapter="codex_app_server", outputs=Outputs(recorder=recorder, session=session)
        )
        mine, other = events(capture, 2)
        capture.events([mine, replace(other, run_id=CHILD, parent_run_id=recorder.run_id)])
        capture.stop()
    (child,) = read_events(root / "transcripts" / f"{CHILD}.jsonl")
    assert (child.seq, child.run_id, child.parent_run_id) == (1, CHILD, recorder.run_id)
    assert [entry.sequence_number for entry in session[TranscriptEntry].all()] == [1, 2]
    with Recorder(root, run_id=CHILD) as again:  # stop() has let go of the child's journal
        assert again.record("system.event", {"subtype": "x"}).seq == 2


def test_a_closed_recorder_costs_only_the_journal(root: Path, lenient: None, caplog: pytest.LogCaptureFixture) -> None:
    """What cannot be recorded is counted and told; session and log get it all the same."""
    caplog.set_level(logging.DEBUG, logger="stenograph")
    session = Session()
    recorder = Recorder(root)
    capture = Capture(prompt_name="p", adapter="test", outputs=Outputs(recorder=recorder, session=session))
    recorder.close()
    capture.events(events(capture))
    assert capture.lost == 3
    assert len(session[TranscriptEntry].all()) == len(contexts(caplog)) == 3
    assert "is closed" in caplog.text
    capture.stop()
    assert caplog.records[-1].context["lost"] == 3  # type: ignore[attr-defined]


def test_a_closed_session_costs_only_the_session(root: Path, lenient: None) -> None:
    """The journal is written whatever the session does."""
    session = Session()
    session.close()
    with Recorder(root) as recorder:
        capture = Capture(prompt_name="p", adapter="test", outputs=Outputs(recorder=recorder, session=session))
        capture.events(events(capture))
    assert len(list(read_events(recorder.path))) == 3
    assert capture.lost == 3


def test_a_run_that_could_not_be_opened_is_counted(tmp_path: Path, lenient: None) -> None:
    """With no journal at all, the entries still reach the session."""
    (tmp_path / "file").write_text("")
    session = Session()
    with start_run("r", root=tmp_path / "file") as run:
        capture = Capture(prompt_name="p", adapter="test", outputs=Outputs(recorder=run, session=session))
        capture.events(events(capture))
        other = replace(events(capture, 1)[0], run_id=CHILD)
        capture.events([other, other])
    assert len(session[TranscriptEntry].all()) == 5
    assert capture.lost == 5  # and not what the run lost beside: its start and its end
    assert run.lost == 5


def test_an_event_that_is_lost_everywhere_is_lost_once(root: Path, lenient: None) -> None:
    """A closed journal, a broken handler, a closed session and a broken mask: three events are three losses."""

    def fail(event: Event) -> Event:
        raise ValueError("broken mask")

    class Broken(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise OSError("broken handler")

    logger = logging.Logger("broken", logging.DEBUG)
    logger.addHandler(Broken())
    for mask in (None, fail):
        session = Session()
        session.close()
        recorder = Recorder(root)
        recorder.close()
        options = {"recorder": recorder, "session": session, "logger": logger, "mask": mask}
        capture = Capture(prompt_name="p", adapter="test", outputs=Outputs(**options))
        capture.events(events(capture))
        assert capture.lost == 3


def test_losses_are_those_of_the_capture(tmp_path: Path, lenient: None) -> None:
    """A run that lost something before, or by somebody else, is not a loss of ours."""
    (tmp_path / "file").write_text("")
    with start_run("r", root=tmp_path / "file") as run:
        first, second = (Capture(prompt_name="p", adapter="test", outputs=Outputs(recorder=run)) for _ in range(2))
        first.events(events(first))
        assert (first.lost, second.lost) == (3, 0)


def test_the_mask_covers_every_way_out(root: Path, lenient: None, caplog: pytest.LogCaptureFixture) -> None:
    """Whether it was recorded or not, what the mask hides is in no log and no session."""
    caplog.set_level(logging.DEBUG, logger="stenograph")

    def hide(event: Event) -> Event:
        return replace(event, payload=MessagePayload(role="assistant", blocks=()), raw=None)

    for recorder in (Recorder(root, mask=hide), None):
        session = Session()
        capture = Capture(
            prompt_name="p", adapter="claude", outputs=Outputs(recorder=recorder, session=session, mask=hide)
        )
        capture.events(events(capture, 1))
        if recorder is not None:
            recorder.close()
            capture.events(events(capture, 1))
        assert all("t0" not in entry.content and entry.raw is None for entry in session[TranscriptEntry].all())
    assert all("t0" not in str(context) for context in contexts(caplog))


def test_a_mask_that_fails_lets_nothing_through(lenient: None, caplog: pytest.LogCaptureFixture) -> None:
    """Rather lost and counted than told in clear."""

    def fail(event: Event) -> Event:
        raise ValueError("broken mask")

    session = Session()
    capture = Capture(prompt_name="p", adapter="test", outputs=Outputs(session=session, mask=fail))
    capture.events(events(capture))
    assert capture.lost == 3
    assert session[TranscriptEntry].is_empty
    assert "broken mask" in caplog.text


def test_session_events_go_beside_the_entries() -> None:
    """What an adapter dispatches reaches the session; without one it is nothing."""
    session = Session()
    rendered = PromptRendered(prompt_name="p", adapter="test", user="hi", created_at=datetime.now(UTC))
    Capture(prompt_name="p", adapter="test", outputs=Outputs(session=session)).dispatch(rendered)
    Capture(prompt_name="p", adapter="test").dispatch(rendered)
    assert session[PromptRendered].latest() == rendered


@given(runs(), st.data())
@BRIEF
def test_entries_that_nobody_reads_are_counted_all_the_same(run: list[Event], data: st.DataObject) -> None:
    """Whenever logging is turned on, the numbers are those that they would have been, and so is the summary."""
    logger = logging.Logger("test.capture", logging.DEBUG)
    kept: list[Any] = []
    logger.addHandler(handler := logging.Handler())
    handler.emit = kept.append  # type: ignore[method-assign]
    capture = Capture(prompt_name="p", adapter="test", outputs=Outputs(logger=logger))
    told = [replace(event, run_id=capture.run_id) for event in run]
    expected = list(entries(told))
    for event in told:
        logger.setLevel(logging.DEBUG if data.draw(st.booleans()) else logging.INFO)
        capture.events([event])
    logged = [record.context for record in kept]
    assert all(
        context in [entry.as_dict() | {"entry_id": str(entry.entry_id)} for entry in expected] for context in logged
    )
    assert capture.summary == summarize(expected)


NEVER_STOPPED = """
    import os, sys
    from stenograph.adapters.capture import Capture
    from stenograph.adapters.outputs import Outputs
    from stenograph.model import Event, MessagePayload, TextBlock
    from stenograph.text_transcripts import ThreadTranscripts

    outputs = Outputs(text_transcripts=ThreadTranscripts(sys.argv[1], thread_id="t"))
    capture = Capture(prompt_name="p", adapter="a", outputs=outputs)
    payload = MessagePayload(role="user", blocks=(TextBlock(fidelity="router", text="hello"),))
    place = {"seq": 0, "run_id": capture.run_id, "path": "", "iteration": 0, "timestamp": "2026-01-01T00:00:00Z"}
    capture.events([Event(**place, type="message.user", payload=payload)])
    child = os.fork()
    if child == 0:
        del capture
        sys.exit()  # as a child that runs to its end, finalizers included
    os.waitpid(child, 0)
    assert not list(ThreadTranscripts(sys.argv[1]).root.rglob("*.txt"))
"""


def test_a_capture_that_nobody_stops_is_written_as_text_when_the_program_ends(tmp_path: Path, python: Python) -> None:
    """By the process that made it, and not by a forked child."""
    python(NEVER_STOPPED, tmp_path)
    (file,) = tmp_path.rglob("*.txt")
    assert "<user_query>\nhello\n</user_query>" in file.read_text()


def test_every_unit_is_written_as_text_when_it_has_ended(root: Path, tmp_path: Path) -> None:
    """Masked as the journal is, the child runs' in threads of their own, and what comes after the end, too."""
    texts = ThreadTranscripts(tmp_path / "texts", zone=UTC)
    with Recorder(root, mask=lambda event: event) as recorder:
        capture = Capture(prompt_name="p", adapter="a", outputs=Outputs(recorder=recorder, text_transcripts=texts))
        first, second, third = (
            replace(event, type="message.user", payload=replace(event.payload, role="user"))
            for event in events(capture)
        )
        capture.events([first])
        assert not (tmp_path / "texts").exists()
        capture.events([second, replace(third, run_id=CHILD, parent_run_id=capture.run_id)])
        assert [path.name for path in texts.folder(capture.run_id).iterdir()] == ["20260101-0000-t0.txt"]
        capture.stop()
        assert len(list(texts.folder(capture.run_id).iterdir())) == 2
        assert [path.name for path in texts.folder(CHILD).iterdir()] == ["20260101-0000-t2.txt"]
        capture.events([third])
        capture.stop()
    assert len(list(texts.folder(capture.run_id).iterdir())) == 3
    assert capture.lost == 0
