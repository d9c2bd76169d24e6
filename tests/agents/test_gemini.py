"""Gemini CLI writes, we read: a scripted session, compared with what the model's server sent and was sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents import scenario
from agents.gemini import BIG_COMMAND, BIG_PROMPT, BIG_TEXT, gemini
from agents.reading import Reading, assert_all_read, assert_counted, read, read_stream
from agents.servers.gemini_api import CACHED, INPUT, SNAPSHOT, THOUGHTS
from agents.servers.script import Text
from agents.session import Session
from stenograph.fold.usage import usage_totals
from stenograph.model import Event, SystemPayload, UsagePayload

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the program

TEXTS = [scenario.FIRST_TEXT, scenario.SECOND_TEXT, scenario.SPAWN_TEXT, scenario.FINAL_TEXT]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Gemini CLI, when it has done what its model asked."""
    with gemini(tmp_path_factory.mktemp("gemini") / "session") as found:
        found.run(scenario.PROMPT)
    return found


@pytest.fixture(scope="module")
def reading(session: Session) -> Reading:
    """What we read in the session's file and the files that belong to it."""
    return read(session.main_file)


def _run_id(reading: Reading) -> str:
    (run_id,) = {event.run_id for event in reading.events}
    return run_id


def _subtype(event: Event) -> str | None:
    return event.payload.subtype if isinstance(event.payload, SystemPayload) else None


def test_every_line_is_read(session: Session, reading: Reading) -> None:
    """All files of the session are read, line by line, and an independent count finds the same in them."""
    assert_all_read(reading, session.files)
    assert {file.format for file in reading.files} == {"gemini_cli"}
    assert session.main_file.stem.endswith(_run_id(reading)[:8])


def test_a_folder_gives_the_same_as_the_session(session: Session, reading: Reading) -> None:
    """Converted by its folder, a session takes its subagents along and nothing is read twice."""
    assert read(session.transcripts).events == reading.events


def test_the_prompt_is_one_message(reading: Reading) -> None:
    """The prompt is the only message of a user: what Gemini CLI says under that role is not."""
    assert reading.prompts(_run_id(reading)) == [scenario.PROMPT]


def test_words_are_in_order(reading: Reading) -> None:
    """Thinking and text are there once, in order, in every script."""
    assert reading.texts(_run_id(reading)) == TEXTS
    assert reading.thoughts(_run_id(reading)) == [scenario.THOUGHT]


def test_results_are_what_the_model_was_told(session: Session, reading: Reading) -> None:
    """Every call has its result, and its output is what the program sent to the model, word for word."""
    pairs = [pair for pair in reading.calls() if pair.name != "complete_task"]  # whose answer nobody is sent
    assert all(pair.call is not None and pair.result is not None for pair in pairs)
    names = [pair.name for pair in pairs if pair.source == "main"]
    assert names == ["run_shell_command", "read_file", "run_shell_command", "read_file", "no_such_tool", "invoke_agent"]
    sent = [
        (each["name"], each["response"].get("output", each["response"].get("error"))) for each in session.model.told
    ]
    ours = [(pair.name, pair.result.payload.output) for pair in pairs if pair.result]
    assert sorted(ours) == sorted(sent)
    command = reading.call(scenario.COMMAND)
    assert command.result is not None
    assert scenario.OUTPUT in command.result.payload.output


def test_failures_are_errors(reading: Reading) -> None:
    """A missing file and an unknown tool are errors; a command that exits with 3 is none, and says so."""
    failing, file = reading.call(scenario.FAILING), reading.call("nothing.txt")
    assert failing.result is not None
    assert failing.error is None
    assert "Exit Code: 3" in failing.result.payload.output
    assert "File not found" in (file.error or "")
    assert [pair.name for pair in reading.calls() if pair.error] == ["read_file", "no_such_tool"]


def test_usage_is_counted_once(session: Session, reading: Reading) -> None:
    """Every answer of the model counts once, with the tokens that the model said."""
    told = [event.payload for event in reading.events if isinstance(event.payload, UsagePayload)]
    assert sorted(each.output_tokens for each in told) == [each.tokens + THOUGHTS for each in session.model.answers]
    assert {(each.input_tokens, each.cache_read_input_tokens, each.scope) for each in told} == {(INPUT, CACHED, "call")}
    assert usage_totals(reading.events).total.records == len(session.model.answers)


def test_the_subagent_is_linked(reading: Reading) -> None:
    """The subagent speaks under a source of its own, and names the call that spawned it."""
    spawn, child = reading.call(scenario.CHILD_PROMPT), reading.call(scenario.CHILD_COMMAND)
    assert child.source.startswith("subagent:")
    origins = [event.origin for event in reading.events if event.source == child.source and event.origin]
    assert {(origin.parent_source, origin.parent_call_id) for origin in origins} == {("main", spawn.call_id)}
    run_id = _run_id(reading)
    assert reading.prompts(run_id, child.source) == [scenario.CHILD_PROMPT]
    assert reading.thoughts(run_id, child.source) == [scenario.CHILD_THOUGHT]
    assert reading.texts(run_id, child.source) == [scenario.CHILD_TEXT, scenario.CHILD_ANSWER]
    assert spawn.result is not None
    assert scenario.CHILD_ANSWER in spawn.result.payload.output


def test_the_stream_agrees_with_the_disk(session: Session, reading: Reading) -> None:
    """What was printed has the same run, prompt, calls, failures, words and tokens; not the subagent, nor thoughts."""
    assert_counted(session.stdout, "gemini_stream")
    stream, run_id = read_stream(session.stdout), _run_id(reading)
    assert {event.run_id for event in stream.events} == {run_id}
    assert [event for event in stream.events if event.type == "unknown"] == []
    main = [pair for pair in reading.calls() if pair.source == "main"]
    told = [(pair.name, pair.call_id, pair.error is None, pair.result is None) for pair in stream.calls()]
    assert told == [(pair.name, pair.call_id, pair.error is None, False) for pair in main]
    assert stream.prompts(run_id) == [scenario.PROMPT]
    assert stream.texts(run_id) == TEXTS
    ours, theirs = (usage_totals(each.events).total for each in (stream, reading))
    assert (ours.input_tokens, ours.output_tokens) == (theirs.input_tokens, theirs.output_tokens)
    assert (ours.cache_read_input_tokens, ours.reasoning_output_tokens) == (
        theirs.cache_read_input_tokens, theirs.reasoning_output_tokens,
    )  # fmt: skip


def test_a_resumed_session_goes_on_and_repeats_nothing(place: Path) -> None:
    """The history that a resume writes again, poorer, neither adds to what was told nor takes from it."""
    with gemini(place) as resumed:
        resumed.run(scenario.PROMPT)
        before = read(resumed.transcripts)
        resumed.run(scenario.NEXT_PROMPT, "--resume", "latest")
    after = read(resumed.transcripts)
    assert_all_read(after, resumed.files)
    run_id = _run_id(after)
    assert run_id == _run_id(before)
    assert after.prompts(run_id) == [scenario.PROMPT, scenario.NEXT_PROMPT]
    assert after.texts(run_id) == [*TEXTS, scenario.NEXT_TEXT]
    assert after.thoughts(run_id) == before.thoughts(run_id)
    assert [pair.call_id for pair in after.calls()] == [pair.call_id for pair in before.calls()]
    total = usage_totals(after.events).total
    assert total.records == len(resumed.model.answers)
    assert total.output_tokens == sum(each.tokens + THOUGHTS for each in resumed.model.answers)
    stream = read_stream(resumed.stdout)
    assert stream.texts(run_id) == [scenario.NEXT_TEXT]


def test_a_compaction_repeats_nothing(place: Path) -> None:
    """The summary is a system event; the messages that the program keeps, under new ids, are told once."""
    with gemini(place, compacts=True) as compacting:
        compacting.run(scenario.PROMPT)
        compacting.run(scenario.PROMPT, "--resume", "latest")
    reading = read(compacting.transcripts)
    assert_all_read(reading, compacting.files)
    run_id = _run_id(reading)
    compactions = [event.payload.text for event in reading.events if _subtype(event) == "compaction"]
    assert compactions
    assert set(compactions) == {SNAPSHOT}
    assert reading.prompts(run_id) == [scenario.PROMPT] * 2
    assert reading.texts(run_id) == TEXTS * 2
    assert len(reading.calls()) == len({pair.call_id for pair in reading.calls()})
    assert usage_totals(reading.events).total.records == len(compacting.model.answers)


def test_a_parked_output_is_whole(place: Path) -> None:
    """An output that the model saw only in parts is read from the file in which the program kept it."""
    with gemini(place) as big:
        big.run(BIG_PROMPT)
    reading = read(big.transcripts)
    assert_all_read(reading, big.files)
    pair = reading.call(BIG_COMMAND)
    assert pair.result is not None
    assert "\n".join(map(str, range(1, 20_001))) in pair.result.payload.output
    (shown,) = [each["response"]["output"] for each in big.model.told]
    assert len(shown) < len(pair.result.payload.output)
    assert reading.texts(pair.run_id) == [BIG_TEXT]


def test_a_killed_program_leaves_what_it_had_written(place: Path) -> None:
    """Killed while a command runs: the chat file has the words, only the stream has the call, which stays open."""
    with gemini(place) as killed:
        killed.run_and_kill(scenario.SLOW_PROMPT, written=scenario.SLOW_TEXT)
    reading = read(killed.transcripts)
    assert_all_read(reading, killed.files)
    run_id = _run_id(reading)
    assert reading.prompts(run_id) == [scenario.SLOW_PROMPT]
    assert reading.texts(run_id) == [scenario.SLOW_TEXT]
    stream = read_stream(killed.stdout)
    pair = stream.call(scenario.SLOW_COMMAND)
    assert (pair.name, pair.result) == ("run_shell_command", None)
    (said,) = [part.text for each in killed.model.answers for part in each.parts if isinstance(part, Text)]
    assert stream.texts(run_id) == [said]
