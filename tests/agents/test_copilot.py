"""Copilot CLI writes, we read: a scripted session with either API, its stream, and its side of the ACP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents import acp_client, scenario
from agents.copilot import APIS, copilot
from agents.reading import Reading, assert_all_read, assert_counted, read, read_stream
from agents.session import Session
from stenograph.fold.usage import usage_totals

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the program

TEXTS = [scenario.FIRST_TEXT, scenario.SECOND_TEXT, scenario.SPAWN_TEXT, scenario.FINAL_TEXT]
CHILD_TEXTS = [scenario.CHILD_TEXT, scenario.CHILD_ANSWER]
NAMES = ["bash", "view", "bash", "view", "task", "bash"]
"""The tools in the order in which they are called, the subagent's last."""


@pytest.fixture(scope="module", params=APIS)
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Copilot, when it has done what its model asked."""
    with copilot(request.param, tmp_path_factory.mktemp("copilot")) as found:
        found.run(scenario.PROMPT)
    return found


@pytest.fixture(scope="module")
def reading(done: Session) -> Reading:
    """What we read in its session."""
    return _read(done)


def _read(session: Session) -> Reading:
    """The one session; beside it are files of other kinds, for undoing what was edited."""
    (path,) = session.files
    return read(path)


def _run_id(session: Session) -> str:
    return session.main_file.parent.name


def _child(reading: Reading) -> str:
    (source,) = {event.source for event in reading.events} - {"main"}
    return source


def test_every_line_is_read(done: Session, reading: Reading) -> None:
    """The session is read, line by line, and an independent count finds the same in it."""
    assert_all_read(reading, done.files)
    assert {file.format for file in reading.files} == {"copilot_cli"}
    assert {event.run_id for event in reading.events} == {_run_id(done)}


def test_words_are_in_order(done: Session, reading: Reading) -> None:
    """The prompt is one message; thinking and text are there once, in order."""
    assert reading.prompts(_run_id(done)) == [scenario.PROMPT]
    assert reading.texts(_run_id(done)) == TEXTS
    assert reading.thoughts(_run_id(done)) == [scenario.THOUGHT]


def test_calls_pair_with_what_the_model_was_told(done: Session, reading: Reading) -> None:
    """Every call has its result, and where no tool failed that is what the model was told."""
    calls = reading.calls()
    assert [pair.name for pair in calls] == NAMES
    told = done.model.heard()
    assert {pair.call_id for pair in calls} == set(told)
    for pair in calls:
        assert pair.result is not None
        assert pair.error is not None or pair.result.payload.output == told[pair.call_id]


def test_only_a_tool_that_failed_is_an_error(reading: Reading) -> None:
    """A missing file is an error; a command that exits with 3 is a success whose output says so."""
    (failed,) = [pair for pair in reading.calls() if pair.error]
    assert failed.call_id == reading.call("nothing.txt").call_id
    command = reading.call(scenario.FAILING).result
    assert command is not None
    assert "exit code 3" in command.payload.output


def test_usage_is_counted_once(done: Session, reading: Reading) -> None:
    """Every answer of the model counts once and by its id, with cached input as input, whoever the provider is."""
    total, answers = usage_totals(reading.events).total, done.model.answers
    assert (total.records, total.output_tokens) == (len(answers), sum(answers.values()))
    assert total.input_tokens == (1000 if done.model.api == "responses" else 3120) * len(answers)
    told = {event.payload.message_id for event in reading.events if event.type == "token.usage"}
    assert told - {None} == set(answers)


def test_the_subagent_is_linked_to_its_call(done: Session, reading: Reading) -> None:
    """A subagent is a source of its own, spawned by the call that asked for it."""
    run_id, child = _run_id(done), _child(reading)
    assert reading.prompts(run_id, child) == [scenario.CHILD_PROMPT]
    assert reading.thoughts(run_id, child) == [scenario.CHILD_THOUGHT]
    assert reading.texts(run_id, child) == CHILD_TEXTS
    spawn = reading.call(scenario.CHILD_PROMPT)
    origins = [event.origin for event in reading.events if event.source == child]
    assert {(origin.parent_source, origin.parent_call_id) for origin in origins if origin is not None} == {
        ("main", spawn.call_id)
    }


def test_the_stream_agrees_with_the_disk(done: Session, reading: Reading) -> None:
    """What was printed has the same calls, failures and words as the session; it does not tell tokens."""
    assert_counted(done.stdout, "copilot_stream")
    stream = read_stream(done.stdout)
    (stream_id,) = {event.run_id for event in stream.events}
    assert [event for event in stream.events if event.type in {"unknown", "token.usage"}] == []
    ours = [(pair.call_id, pair.name, pair.source, pair.error) for pair in stream.calls()]
    assert ours == [(pair.call_id, pair.name, pair.source, pair.error) for pair in reading.calls()]
    for source, texts in (("main", TEXTS), (_child(reading), CHILD_TEXTS)):
        assert stream.texts(stream_id, source) == texts
        assert stream.prompts(stream_id, source) == reading.prompts(_run_id(done), source)
        assert stream.thoughts(stream_id, source) == reading.thoughts(_run_id(done), source)


def test_a_resumed_session_goes_on(place: Path) -> None:
    """A session that is resumed is the same run with one more prompt, and its tokens are counted once."""
    with copilot("responses", place) as resumed:
        resumed.run(scenario.PROMPT)
        run_id = _run_id(resumed)
        resumed.command.insert(-1, f"--resume={run_id}")
        resumed.run(scenario.NEXT_PROMPT)
    again = _read(resumed)
    assert_all_read(again, resumed.files)
    assert again.prompts(run_id) == [scenario.PROMPT, scenario.NEXT_PROMPT]
    assert again.texts(run_id) == [*TEXTS, scenario.NEXT_TEXT]
    subtypes = [event.payload.subtype for event in again.events if event.type == "system.event"]
    assert subtypes.count("session.shutdown") == 2
    assert usage_totals(again.events).total.output_tokens == sum(resumed.model.answers.values())


def test_a_killed_session_is_read(place: Path) -> None:
    """After kill -9 in the middle of a command, every line is read and the command is a call without a result."""
    with copilot("messages", place) as killed:
        killed.run_and_kill(scenario.SLOW_PROMPT, written=scenario.SLOW_COMMAND)
    left = _read(killed)
    assert_all_read(left, killed.files)
    (run_id,) = {event.run_id for event in left.events}
    assert left.prompts(run_id) == [scenario.SLOW_PROMPT]
    assert left.texts(run_id) == [scenario.SLOW_TEXT]
    assert left.call(scenario.SLOW_COMMAND).result is None
    assert_counted(killed.stdout, "copilot_stream")


def test_the_protocol_agrees_with_the_disk(place: Path) -> None:
    """What `copilot --acp` says has the prompts, words, calls, failures and tokens that it writes to disk meanwhile.

    The protocol has no names of tools, and tells of a subagent's words nothing but the words.
    """
    with copilot("responses", place) as spoken:
        prompts = [scenario.PROMPT, scenario.NEXT_PROMPT]
        said = acp_client.converse(spoken, [spoken.command[0], "--acp"], prompts)
    path = place / "acp.jsonl"
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in said), "utf-8")
    recording, disk = read(path), _read(spoken)
    assert_all_read(recording, [path])
    assert recording.files[0].format == "acp"
    (run_id,) = {event.run_id for event in recording.events}
    assert run_id == _run_id(spoken)
    assert recording.prompts(run_id) == disk.prompts(run_id) == prompts
    words = [*TEXTS[:3], *CHILD_TEXTS, TEXTS[3], scenario.NEXT_TEXT]
    assert recording.texts(run_id) == words
    assert recording.thoughts(run_id) == [scenario.THOUGHT, scenario.CHILD_THOUGHT]
    ours = {pair.call_id: (pair.source, pair.error, pair.result is None) for pair in recording.calls()}
    assert ours == {pair.call_id: (pair.source, pair.error, pair.result is None) for pair in disk.calls()}
    total, answers = usage_totals(recording.events).total, spoken.model.answers
    assert (total.input_tokens, total.output_tokens) == (1000 * len(answers), sum(answers.values()))
