"""OpenCode writes, we read: scripted sessions, beside the running program and after it has ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agents import scenario
from agents.opencode import database, opencode, watch
from agents.reading import Reading, assert_counted, read, read_stream
from agents.servers.chat_api import CACHED, INPUT, THOUGHTS
from agents.session import PATIENCE, Session
from comparison import count, different, oracle
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context, Format, Report
from stenograph.formats.opencode.event_log import EventLog
from stenograph.formats.registry import formats
from stenograph.model import Event
from stenograph.sources.database import reading as reading_database

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the program

TEXTS = [scenario.FIRST_TEXT, scenario.SECOND_TEXT, scenario.SPAWN_TEXT, scenario.FINAL_TEXT]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """OpenCode, when it has done what its model asked."""
    with opencode(tmp_path_factory.mktemp("opencode") / "session") as found:
        found.run(scenario.PROMPT, "--thinking")
    return found


@pytest.fixture(scope="module")
def reading(session: Session) -> Reading:
    """What we read in the database."""
    return read(database(session))


def _run_id(reading: Reading) -> str:
    (run_id,) = {event.run_id for event in reading.events}
    return run_id


def test_every_row_is_read(session: Session, reading: Reading) -> None:
    """All sessions are read, nothing in them is unknown, and plain SQL finds the same tools and tokens."""
    assert {file.source for file in reading.files} == {"main", reading.call(scenario.CHILD_COMMAND).source}
    for file in reading.files:
        report = file.report
        assert (report.failed, report.malformed, dict(report.unknown_types), report.wanted_files) == (0, 0, {}, [])
    ours = count(reading.events, Report())
    ours |= {name: sorted(ours[name]) for name in ("tool_uses", "tool_results", "failed_results")}
    theirs = oracle("opencode").count_database(database(session))
    assert different({key: ours[key] for key in ours if key not in ("text", "thinking")}, theirs) == []


def test_the_prompt_is_one_message(reading: Reading) -> None:
    """The prompt is the only message of a user, with the quotes that `opencode run` puts around several words."""
    assert reading.prompts(_run_id(reading)) == [f'"{scenario.PROMPT}"']


def test_words_are_in_order(reading: Reading) -> None:
    """Thinking and text are there once, in order."""
    assert reading.texts(_run_id(reading)) == TEXTS
    assert reading.thoughts(_run_id(reading)) == [scenario.THOUGHT]


def test_results_are_what_the_model_was_told(session: Session, reading: Reading) -> None:
    """Every call has its result, and its output is what the program sent to the model, word for word."""
    assert [pair.name for pair in reading.calls() if pair.source == "main"] == ["bash", "read", "bash", "read", "task"]
    outputs = {}
    for pair in reading.calls():
        assert pair.result is not None
        output = pair.result.payload.output
        outputs[pair.call_id] = output["output"] if isinstance(output, dict) else output
    assert outputs == session.model.told


def test_only_what_opencode_calls_a_failure_is_one(reading: Reading) -> None:
    """A command that exits with 3 is none, and its exit code is told; a file that is not there is one."""
    failing = reading.call(scenario.FAILING)
    assert failing.result is not None
    assert (failing.error, failing.result.payload.output["exit"]) == (None, 3)
    assert [pair.name for pair in reading.calls() if pair.error] == ["read"]


def test_a_subagent_is_a_source_of_the_run(reading: Reading) -> None:
    """Its session speaks in the run of the session that spawned it, and names the call."""
    spawn, child = reading.call(scenario.CHILD_PROMPT), reading.call(scenario.CHILD_COMMAND)
    origins = [event.origin for event in reading.events if event.source == child.source and event.origin]
    assert {(origin.parent_source, origin.parent_call_id) for origin in origins} == {("main", spawn.call_id)}
    assert reading.texts(_run_id(reading), child.source) == [scenario.CHILD_TEXT, scenario.CHILD_ANSWER]
    assert reading.prompts(_run_id(reading), child.source) == [scenario.CHILD_PROMPT]


def test_tokens_are_those_of_the_server(session: Session, reading: Reading) -> None:
    """Input with what was cached, output with what was thought, for every answer."""
    total, answers = usage_totals(reading.events).total, len(session.model.tokens)
    assert (total.records, total.input_tokens, total.cache_read_input_tokens) == (
        answers, INPUT * answers, CACHED * answers,
    )  # fmt: skip
    assert total.reasoning_output_tokens == THOUGHTS * answers
    assert total.output_tokens == sum(session.model.tokens) + THOUGHTS * answers


def test_the_stream_tells_the_same_of_the_session_itself(session: Session, reading: Reading) -> None:
    """What was printed is the same run: its words, thoughts and calls, without the prompt and the subagent."""
    stream = read_stream(session.stdout)
    assert_counted(session.stdout, "opencode_stream")
    run_id = _run_id(reading)
    assert _run_id(stream) == run_id
    assert (stream.texts(run_id), stream.thoughts(run_id)) == (TEXTS, [scenario.THOUGHT])
    mine = {pair.call_id: pair.result.payload for pair in reading.calls() if pair.source == "main" and pair.result}
    assert {pair.call_id: pair.result.payload for pair in stream.calls() if pair.result} == mine


def _told(events: list[Event]) -> list[tuple[object, ...]]:
    """Everything but what is only about the rows themselves, in no order."""
    told = [event for event in events if event.type != "system.event"]
    return sorted((event.type, event.source, event.timestamp, repr(event.payload)) for event in told)


def test_what_is_followed_is_what_is_read_later(tmp_path: Path) -> None:
    """Read beside the running program, the log gives each event once, and in the end those of the finished database."""
    with opencode(tmp_path / "session") as followed:
        path = database(followed)
        log = EventLog()
        parser = formats()["opencode"].open(Context(run_id="550e8400-e29b-41d4-a716-446655440000"))
        live: list[Event] = []
        seen_running = []

        def look() -> bool:
            if not (followed.folder / "started").exists():
                if path.exists() and path.with_name("opencode.db-wal").exists() and followed.stdout.stat().st_size:
                    live.extend(_fed(log, path, parser))
                return False
            live.extend(_fed(log, path, parser))
            seen_running.extend(pair for pair in read(path).calls() if pair.result is None)
            return bool(seen_running)

        watch(followed, look, then_go_on=True)
        live += _fed(log, path, parser)
    assert [pair.name for pair in seen_running] == ["bash"]
    finished = read(path)
    assert _told(live) == _told(finished.events)
    assert finished.texts(_run_id(finished)) == [scenario.SLOW_TEXT, scenario.NEXT_TEXT]


def _fed(log: EventLog, path: Path, parser: Format) -> list[Event]:
    with reading_database(path) as connection:
        return [event for line in log.read(connection) for event in parser.feed(line)]


def test_a_killed_session_is_read_and_a_continued_one_goes_on(tmp_path: Path) -> None:
    """After kill -9 in the middle of a command it is a call without a result; a new prompt goes on in the same run."""
    with opencode(tmp_path / "session") as killed:
        path = database(killed)
        watch(killed, lambda: (killed.folder / "started").exists() and _is_running(path), then_go_on=False)
        reading = read(path)
        pair = reading.call(scenario.SLOW_COMMAND)
        assert (pair.name, pair.result) == ("bash", None)
        assert reading.texts(pair.run_id) == [scenario.SLOW_TEXT]
        killed.run(scenario.NEXT_PROMPT, "--continue")
        continued = read(path)
        assert _run_id(continued) == pair.run_id
        assert continued.prompts(pair.run_id) == [f'"{scenario.SLOW_PROMPT}"', f'"{scenario.NEXT_PROMPT}"']
        killed.run(scenario.NEXT_PROMPT)
    runs = {event.run_id for event in read(path).events}
    assert len(runs) == 2
    shown = _steno("show", path)
    assert (shown.returncode, shown.stdout) == (3, b"")
    assert b"holds 2 runs" in shown.stderr
    assert _steno("tree", f"{path}#{pair.run_id}").stdout.startswith(f"✓ run {pair.run_id}".encode())


def _is_running(path: Path) -> bool:
    """Whether the database has the command by now, and what was said before it."""
    reading = read(path)
    calls = [pair for pair in reading.calls() if pair.call and scenario.SLOW_COMMAND in str(pair.call.payload.input)]
    return bool(calls) and scenario.SLOW_TEXT in reading.texts(calls[0].run_id)


def _steno(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "stenograph", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=PATIENCE)
