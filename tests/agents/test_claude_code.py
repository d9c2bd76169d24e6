"""Claude Code writes, we read: a scripted session of every pinned version."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents import programs, scenario, session
from agents.reading import Reading, assert_all_read, assert_counted, read, read_stream
from agents.session import Session
from stenograph.fold.usage import usage_totals
from stenograph.model import ToolPayload

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs

TEXTS = [scenario.FIRST_TEXT, scenario.SECOND_TEXT, scenario.SPAWN_TEXT, scenario.FINAL_TEXT]


def _run_id(session: Session) -> str:
    return session.main_file.stem


def test_every_line_is_read(claude: Session, claude_reading: Reading) -> None:
    """All files of the session are read, line by line, and an independent count finds the same in them."""
    assert_all_read(claude_reading, claude.files)
    assert {file.format for file in claude_reading.files} == {"claude_code"}
    assert {event.run_id for event in claude_reading.events} == {_run_id(claude)}


def test_a_folder_gives_the_same_as_the_session(claude: Session, claude_reading: Reading) -> None:
    """Converted by its folder, a session takes its subagents along and nothing is read twice."""
    assert read(claude.transcripts).events == claude_reading.events


def test_the_prompt_is_one_message(claude: Session, claude_reading: Reading) -> None:
    """The prompt is the only message of a user: what Claude Code says under that role is not."""
    assert claude_reading.prompts(_run_id(claude)) == [scenario.PROMPT]


def test_words_are_in_order(claude: Session, claude_reading: Reading) -> None:
    """Thinking and text are there once, in order, in every script."""
    assert claude_reading.texts(_run_id(claude)) == TEXTS
    assert claude_reading.thoughts(_run_id(claude)) == [scenario.THOUGHT]


def test_calls_pair_with_their_results(claude: Session, claude_reading: Reading) -> None:
    """Every call has its result; that of the command is what it printed, that of the file what is in it."""
    pairs = claude_reading.calls()
    assert all(pair.call is not None and pair.result is not None for pair in pairs)
    agent = "Agent" if claude.version.startswith("2.1") else "Task"
    names = [pair.name for pair in pairs if pair.source == "main"]
    assert names == ["Bash", "Read", "Bash", "Read", agent]
    command, file = claude_reading.call(scenario.COMMAND), claude_reading.call("notes.txt")
    assert command.result is not None
    assert command.result.payload.output == scenario.OUTPUT
    assert file.result is not None
    assert "第二行" in file.result.payload.output


def test_failures_are_errors(claude_reading: Reading) -> None:
    """A command that fails and a file that is not there are errors, with what was said; nothing else is one."""
    command, file = claude_reading.call(scenario.FAILING), claude_reading.call("nothing.txt")
    assert "out-text" in (command.error or "")
    assert "does not exist" in (file.error or "")
    assert [pair.call_id for pair in claude_reading.calls() if pair.error] == [command.call_id, file.call_id]


def test_usage_is_counted_once(claude: Session, claude_reading: Reading) -> None:
    """Every answer of the model counts once, however many lines repeat it, with the tokens that the model said."""
    told = {
        event.payload.message_id: event.payload.output_tokens
        for event in claude_reading.events
        if event.type == "token.usage"
    }
    assert set(claude.model.scripted) <= set(told) <= set(claude.model.answers)  # 2.0 warms up with calls of its own
    assert usage_totals(claude_reading.events).total.records == len(told)
    if claude.version.startswith("2.1"):  # before, lines may hold the tokens of the answer's beginning
        assert told == claude.model.scripted


def test_the_subagent_is_linked(claude: Session, claude_reading: Reading) -> None:
    """The subagent speaks under a source of its own, and names the call that spawned it."""
    spawn = next(pair for pair in claude_reading.calls() if pair.name in ("Agent", "Task"))
    child = claude_reading.call(scenario.CHILD_COMMAND)
    assert child.source.startswith("subagent:")
    events = [event for event in claude_reading.events if event.source == child.source]
    links = {(event.origin.parent_source, event.origin.parent_call_id) for event in events if event.origin}
    assert links == {("main", spawn.call_id)}
    run_id = _run_id(claude)
    assert claude_reading.prompts(run_id, child.source) == [scenario.CHILD_PROMPT]
    assert claude_reading.thoughts(run_id, child.source) == [scenario.CHILD_THOUGHT]
    assert claude_reading.texts(run_id, child.source) == [scenario.CHILD_TEXT, scenario.CHILD_ANSWER]
    assert child.result is not None
    assert isinstance(child.result.payload, ToolPayload)
    assert child.result.payload.output == "from-the-child"
    assert spawn.result is not None
    told = spawn.result.payload  # 2.1.197 answers in two parts
    assert scenario.CHILD_ANSWER in str(told.output if told.blocks is None else told.blocks)


def test_the_stream_agrees_with_the_disk(claude: Session, claude_reading: Reading) -> None:
    """What was printed has the same run, calls, results and words as the files.

    The stream does not report the prompt, what the subagent said and thought, and its last call to the model.
    """
    assert_counted(claude.stdout, "claude_stream")
    stream, run_id = read_stream(claude.stdout), _run_id(claude)
    assert {event.run_id for event in stream.events} == {run_id}
    assert [event for event in stream.events if event.type == "unknown"] == []

    def told(reading: Reading) -> list[tuple[str, str, object, str | None]]:
        pairs = reading.calls()
        assert all(pair.call is not None and pair.result is not None for pair in pairs)
        return [(pair.name, pair.call_id, pair.result and pair.result.payload.output, pair.error) for pair in pairs]

    assert told(stream) == told(claude_reading)
    assert stream.texts(run_id) == TEXTS
    assert stream.thoughts(run_id) == [scenario.THOUGHT]
    assert stream.prompts(run_id) == []
    spawn, child = next(pair for pair in stream.calls() if pair.name in ("Agent", "Task")), scenario.CHILD_COMMAND
    first = stream.call(child).call
    assert first is not None
    assert first.origin is not None
    assert (first.origin.parent_source, first.origin.parent_call_id) == ("main", spawn.call_id)


def test_a_background_agent_is_linked(place: Path) -> None:
    """What a subagent does in the background is its own, and the notice of its end is no message of a user.

    Read from the disk and from a stream with partial messages, which has the last word on the main thread's tokens.
    """
    with session.claude(programs.CLAUDE[0], place) as team:
        team.run(scenario.TEAM_PROMPT, "--include-partial-messages")
    disk, stream = read(team.transcripts), read_stream(team.stdout)
    assert_all_read(disk, team.files)
    assert_counted(team.stdout, "claude_stream")
    (run_id,) = {event.run_id for event in [*disk.events, *stream.events]}
    assert disk.prompts(run_id) == [scenario.TEAM_PROMPT]
    for reading in (disk, stream):
        # The model says the same again when it is told that the subagent is done, unless it hears of it in time.
        assert list(dict.fromkeys(reading.texts(run_id))) == [scenario.SPAWN_TEXT, scenario.FINAL_TEXT]
        spawn, child = (reading.call(words) for words in (scenario.CHILD_PROMPT, scenario.CHILD_COMMAND))
        assert spawn.result is not None
        assert child.result is not None
        origins = [event.origin for event in reading.events if event.source == child.source and event.origin]
        assert {(origin.parent_source, origin.parent_call_id) for origin in origins} == {("main", spawn.call_id)}
        assert reading.texts(run_id, child.source) == [scenario.CHILD_TEXT, scenario.CHILD_ANSWER]
    assert _tokens(disk, "") == team.model.scripted
    assert _tokens(disk, "main") == _tokens(stream, "main")


def _tokens(reading: Reading, source: str) -> dict[str, int]:
    """By answer, the last word on its output tokens, of one source or of all."""
    events = [event for event in reading.events if event.type == "token.usage" and source in ("", event.source)]
    calls = [event.payload for event in events if event.payload.scope == "call"]
    return {payload.message_id: payload.output_tokens for payload in calls}


def test_a_resumed_session_goes_on(place: Path) -> None:
    """A session that is resumed is the same run, with one more prompt and one more answer."""
    with session.claude(programs.CLAUDE[0], place) as resumed:
        resumed.run(scenario.PROMPT)
        run_id = _run_id(resumed)
        resumed.run(scenario.NEXT_PROMPT, "--resume", run_id)
    reading = read(resumed.transcripts)
    assert_all_read(reading, resumed.files)
    assert {event.run_id for event in reading.events} == {run_id}
    assert reading.prompts(run_id) == [scenario.PROMPT, scenario.NEXT_PROMPT]
    assert reading.texts(run_id) == [*TEXTS, scenario.NEXT_TEXT]
    assert _tokens(reading, "") == resumed.model.scripted
    assert {event.run_id for event in read_stream(resumed.stdout).events} == {run_id}


@pytest.mark.parametrize("version", programs.CLAUDE)
def test_a_killed_session_is_read(version: str, place: Path) -> None:
    """After kill -9 in the middle of a command, every line is read and the command is a call without a result."""
    with session.claude(version, place) as killed:
        killed.run_and_kill(scenario.SLOW_PROMPT, written=scenario.SLOW_COMMAND)
    reading = read(killed.transcripts)
    assert_all_read(reading, killed.files)
    pair = reading.call(scenario.SLOW_COMMAND)
    assert (pair.name, pair.result) == ("Bash", None)
    assert reading.prompts(pair.run_id) == [scenario.SLOW_PROMPT]
    assert reading.texts(pair.run_id) == [scenario.SLOW_TEXT]
