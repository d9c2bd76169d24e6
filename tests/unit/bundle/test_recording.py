"""Recording a run and its logs together."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from stenograph import Recorder, start_run
from stenograph.adapters.capture import Capture
from stenograph.adapters.evaluations.model_wire import ModelWire
from stenograph.adapters.outputs import Outputs
from stenograph.bundle import BundleOptions, BundleRecording, DebugBundle, debug_bundle
from stenograph.errors import InvalidEvent
from stenograph.logs import TranscriptEmitter
from stenograph.query.bundle_database import bundle_database
from stenograph.query.sql import run_sql
from stenograph.session import Session
from stenograph.transcript import TranscriptEntry, reconstruct_transcript

app = logging.getLogger("host.app")
ours = logging.getLogger("stenograph.some.room")


@dataclass(frozen=True)
class Plan:
    """What a host keeps in its session."""

    steps: int


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    """The host logs from INFO on, and gets its loggers back as they were."""
    app.setLevel(logging.INFO)
    root = logging.getLogger()
    before = (root.level, list(root.handlers), logging.getLogger("stenograph").level)
    yield
    assert (root.level, list(root.handlers), logging.getLogger("stenograph").level) == before
    assert logging.getLogger("stenograph").propagate
    assert logging.getLogger("stenograph").handlers == []


def loaded(recording: BundleRecording) -> DebugBundle:
    assert recording.path is not None
    bundle = DebugBundle.load(recording.path)
    assert bundle.verify().ok
    assert [path.name for path in recording.path.parent.glob(".*")] == []
    return bundle


def test_a_run_and_its_logs_are_one_bundle(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """Records of the host and of ours, at the levels that each has, then the entries, since nobody logged them."""
    with debug_bundle(tmp_path / "a.zip", root=root, name="review", options=bare) as recording:
        recording.run.user("Go.")
        app.info("at %d", 7, extra={"event": "app.at", "context": {"n": 7}})
        app.debug("not logged by the host")
        ours.debug("ours")
    bundle = loaded(recording)
    assert [(record["logger"], record["event"]) for record in bundle.logs[:2]] == [
        ("host.app", "app.at"),
        ("stenograph.some.room", None),
    ]
    assert bundle.logs[0]["message"] == "at 7"
    assert bundle.logs[0]["context"] == {"n": 7}
    assert bundle.manifest.logs == "captured"
    assert bundle.manifest.status == "finished"
    assert [entry.content for entry in reconstruct_transcript(bundle.logs)] == ["review", "Go.", "review"]
    assert reconstruct_transcript(bundle.logs) == bundle.entries


def test_entries_that_were_logged_are_the_transcript(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """An emitter inside the block is heard although the host logs no DEBUG records."""
    with debug_bundle(tmp_path / "a.zip", root=root, options=bare):
        emitter = TranscriptEmitter(prompt_name="p", adapter="a")
        emitter.start()
        emitter.emit("user_message", content="hello")
        emitter.stop()
    bundle = DebugBundle.load(tmp_path / "a.zip")
    assert [record["event"] for record in bundle.logs[:3]] == [
        "transcript.start",
        "transcript.entry",
        "transcript.stop",
    ]
    assert [record["context"]["content"] for record in bundle.transcript] == ["hello", "debug", "debug"]
    assert {entry.entry_id for entry in bundle.entries} == {
        entry.entry_id for entry in reconstruct_transcript(bundle.logs)
    }
    assert bundle.manifest.counts.entries == len(bundle.entries) == len(bundle.transcript) == 3


def test_run_api_and_adapter_are_one_transcript(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """Prompt and tool of the run API, which logs nothing, and an adapter that logs: the same entries everywhere."""
    with debug_bundle(tmp_path / "a.zip", root=root, options=bare) as recording:
        recording.run.user("Go.")
        with recording.run.tool("add", {"a": 1}) as call:
            call.output = 3
        capture = Capture(prompt_name="p", adapter="openai", outputs=Outputs(recorder=recording.run))
        wire = ModelWire(capture, "openai_chat")
        wire.asked("/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "hi"}]})
        wire.answered("/chat/completions", {"choices": [{"message": {"role": "assistant", "content": "hello"}}]})
        capture.stop()
    bundle = loaded(recording)
    contents = [entry.content for entry in bundle.entries]
    assert [contents[1], *contents[-3:-1]] == ["Go.", "hi", "hello"]
    for records in (bundle.transcript, bundle.logs):
        told = {entry.entry_id: entry.content for entry in reconstruct_transcript(records)}
        assert told == {entry.entry_id: entry.content for entry in bundle.entries}
    with bundle_database(bundle.path) as database:
        found = sorted(row[0] for row in run_sql(database, "SELECT entry_id FROM entries"))
    assert found == sorted(str(entry.entry_id) for entry in bundle.entries)
    assert bundle.manifest.counts.entries == len(bundle.entries) == 7


def test_the_host_sees_what_it_would_have_seen(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """The host's own log is the same with and without a bundle around, for any level it has."""

    def log_of(record_it: bool) -> str:
        stream = io.StringIO()
        handler = logging.StreamHandler(stream)
        logging.getLogger().addHandler(handler)
        try:
            if record_it:
                with debug_bundle(tmp_path / "a.zip", root=root, options=bare):
                    say()
            else:
                say()
        finally:
            logging.getLogger().removeHandler(handler)
        return stream.getvalue()

    def say() -> None:
        for logger in (app, ours):
            logger.debug("debug")
            logger.info("info")
            logger.warning("warning")

    assert log_of(record_it=True) == log_of(record_it=False)
    assert log_of(record_it=True).count("warning") == 2


def test_an_error_is_kept_and_raised(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """The block's exception goes on, with its traceback in the bundle; so does an interrupt."""
    with pytest.raises(RuntimeError, match="boom"), debug_bundle(tmp_path / "a.zip", root=root, options=bare):
        raise RuntimeError("boom")
    with pytest.raises(KeyboardInterrupt), debug_bundle(tmp_path / "b.zip", root=root, options=bare):
        raise KeyboardInterrupt
    bundle = DebugBundle.load(tmp_path / "a.zip")
    error = json.loads(bundle.read("error.json"))
    assert (error["type"], error["message"]) == ("RuntimeError", "boom")
    assert "test_recording.py" in error["traceback"]
    assert bundle.manifest.status == DebugBundle.load(tmp_path / "b.zip").manifest.status == "failed"


def test_a_session_is_kept_before_and_after(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """STATE slices and the history, as the session's own files have them; what JSON cannot hold is described."""
    session = Session()
    session.dispatch(Plan(1))
    with debug_bundle(tmp_path / "a.zip", root=root, session=session, options=bare):
        session.dispatch(Plan(2))
        session.dispatch(Plan(object()))  # type: ignore[arg-type]
        session.dispatch(
            TranscriptEntry.message(role="user", content="hi", created_at=datetime(2026, 6, 8, tzinfo=UTC))
        )
    bundle = DebugBundle.load(tmp_path / "a.zip")
    before, after = (
        [json.loads(line) for line in bundle.read(f"session/{when}.jsonl").splitlines()] for when in ("before", "after")
    )
    assert [value["steps"] for value in before] == [1]
    assert [value.get("steps") for value in after[:2]] == [1, 2]
    assert "object" in str(after[2]["value"])
    assert after[3]["content"] == "hi"
    assert after[3]["__type__"] == "stenograph.transcript:TranscriptEntry"


def test_a_run_that_goes_on_may_be_given(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """A run or a recorder of the caller's is packed as it stands, and not ended."""
    with start_run("outer", root=root) as run:
        with debug_bundle(tmp_path / "a.zip", run=run, options=bare) as recording:
            assert recording.run is run
            run.user("one")
        run.user("two")
    assert loaded(recording).manifest.status == "running"
    with Recorder(root) as recorder, debug_bundle(tmp_path / "b.zip", run=recorder, options=bare) as second:
        recorder.record("system.event", {"subtype": "note"})
        with pytest.raises(InvalidEvent):
            _ = second.run
    assert loaded(second).manifest.run_id == recorder.run_id


def test_bundles_may_overlap(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """Two at once, left in another order than entered, each with what was logged while it was open."""
    first = debug_bundle(tmp_path / "a.zip", root=root, options=bare)
    second = debug_bundle(tmp_path / "b.zip", root=root, options=bare)
    first.__enter__()
    app.warning("one")
    second.__enter__()
    app.warning("two")
    first.__exit__(None, None, None)
    app.warning("three")
    second.__exit__(None, None, None)
    found = [
        [record["message"] for record in loaded(each).logs if record["logger"] == "host.app"]
        for each in (first, second)
    ]
    assert found == [["one", "two"], ["two", "three"]]


def test_every_thread_is_heard(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """No record is lost or torn when many log at once."""
    with debug_bundle(tmp_path / "a.zip", root=root, options=bare):
        threads = [
            threading.Thread(target=lambda: [app.warning("x" * n) for n in range(200)])  # type: ignore[func-returns-value]
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    logs = DebugBundle.load(tmp_path / "a.zip").logs
    assert sum(record["logger"] == "host.app" for record in logs) == 800


def test_a_forked_child_makes_no_bundle(tmp_path: Path, python: Callable[..., Any]) -> None:
    """A child that leaves the block, and logs in it, leaves the bundle to its parent."""
    script = """
        import logging, os, sys
        from stenograph.bundle import DebugBundle, debug_bundle
        os.chdir(sys.argv[1])
        try:
            with debug_bundle("a.zip") as recording:
                child = os.fork()
                if child == 0:
                    logging.warning("from the child")
                    raise SystemExit
                assert os.waitpid(child, 0)[1] == 0
                logging.warning("from the parent")
        except SystemExit:
            os._exit(0 if recording.path is None else 1)
        assert DebugBundle.load("a.zip").verify().ok
        print([record["message"] for record in DebugBundle.load("a.zip").logs if record["logger"] == "root"])
    """
    assert python(script, tmp_path).stdout == "['from the parent']\n"


@pytest.mark.usefixtures("lenient")
def test_trouble_with_the_bundle_never_reaches_the_block(
    tmp_path: Path, root: Path, bare: BundleOptions, caplog: pytest.LogCaptureFixture
) -> None:
    """No folder to write in: the block runs, the run is recorded, the log says what is missing."""
    (tmp_path / "file").write_text("in the way")
    with debug_bundle(tmp_path / "file" / "a.zip", root=root, options=bare) as recording:
        recording.run.user("still recorded")
    assert recording.path is None
    assert "was not recorded" in caplog.text
    assert recording.run.path.read_bytes().count(b"\n") == 3


@pytest.mark.usefixtures("lenient")
def test_a_journal_that_is_gone_leaves_the_logs(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """The logs are worth having without the events, and the manifest says what is missing."""
    with debug_bundle(tmp_path / "a.zip", root=root, options=bare) as recording:
        app.warning("told")
        recording.run.path.unlink()
    bundle = loaded(recording)
    assert [record["message"] for record in bundle.logs] == ["told"]
    assert bundle.events == []
    assert "events.jsonl is empty" in bundle.manifest.problems[0]
    assert bundle.manifest.run_id == recording.run.run_id


@pytest.mark.usefixtures("lenient")
def test_a_session_that_cannot_be_read_is_a_problem_told(tmp_path: Path, root: Path, bare: BundleOptions) -> None:
    """What could not be captured is in the manifest."""

    class Broken(Session):
        def snapshot(self) -> object:  # type: ignore[override]
            raise OSError("gone")

    with debug_bundle(tmp_path / "a.zip", root=root, session=Broken(), options=bare) as recording:
        pass
    assert [problem.partition(":")[0] for problem in loaded(recording).manifest.problems] == [
        "session/before.jsonl is missing",
        "session/after.jsonl is missing",
    ]
