"""Codex writes, we read: a scripted thread of every pinned version."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents import programs, scenario, session
from agents.reading import Reading, assert_all_read, assert_counted, read, read_stream
from agents.session import Session
from stenograph.fold.calls import CallPair
from stenograph.fold.usage import usage_totals

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs

IN_STREAM = {
    "exec_command": "command_execution",
    "apply_patch": "file_change",
    "wait_agent": "wait",
}
"""Tools that `exec --json` calls by another name than the rollout does."""


def _is_old(session: Session) -> bool:
    """0.42 has no subagents and no tool for patches, and does not tell that a command failed."""
    return session.version.startswith("0.42")


def _run_id(session: Session) -> str:
    return session.main_file.stem[-36:]


def _texts(session: Session) -> list[str]:
    first = [scenario.FIRST_TEXT, scenario.SECOND_TEXT]
    return [*first, *([] if _is_old(session) else [scenario.SPAWN_TEXT]), scenario.FINAL_TEXT]


def _names(session: Session) -> list[str]:
    if _is_old(session):
        return ["shell"] * 4
    return ["exec_command", "exec_command", "apply_patch", "exec_command", "spawn_agent", "wait_agent", "close_agent"]


def test_every_line_is_read(codex: Session, codex_reading: Reading) -> None:
    """All rollouts are read, line by line, and an independent count finds the same in them."""
    assert_all_read(codex_reading, codex.files)
    assert {file.format for file in codex_reading.files} == {"codex_rollout"}


def test_the_prompt_is_one_message(codex: Session, codex_reading: Reading) -> None:
    """The prompt is the only message of a user: what Codex says under that role is not."""
    assert codex_reading.prompts(_run_id(codex)) == [scenario.PROMPT]


def test_words_are_in_order(codex: Session, codex_reading: Reading) -> None:
    """Thinking and text are there once, in order, in every script, though Codex writes them twice."""
    assert codex_reading.texts(_run_id(codex)) == _texts(codex)
    assert codex_reading.thoughts(_run_id(codex)) == [scenario.THOUGHT]


def test_calls_pair_with_their_results(codex: Session, codex_reading: Reading) -> None:
    """Every call has its result, which holds what the command printed, what is in the file, what was patched."""
    assert [pair.name for pair in codex_reading.calls(_run_id(codex))] == _names(codex)
    assert all(pair.call is not None and pair.result is not None for pair in codex_reading.calls())
    for words, output in [
        (scenario.COMMAND, scenario.OUTPUT),
        ("cat notes.txt", "第二行"),
        ("*** Add File", "新しい.txt"),
        (scenario.FAILING, "out-text"),
    ]:
        result = codex_reading.call(words).result
        assert result is not None
        assert output in result.payload.output


def test_failures_are_errors(codex: Session, codex_reading: Reading) -> None:
    """A command that fails is an error where Codex says so; nothing else is one."""
    failed = [pair for pair in codex_reading.calls() if pair.error]
    expected = [] if _is_old(codex) else [(codex_reading.call(scenario.FAILING).call_id, "exit code 3")]
    assert [(pair.call_id, pair.error) for pair in failed] == expected


def test_usage_is_counted_once(codex: Session, codex_reading: Reading) -> None:
    """Every answer of the model counts once, with the tokens that the model said."""
    total = usage_totals(codex_reading.events).total
    answers = codex.model.answers
    assert (total.records, total.output_tokens) == (len(answers), sum(answers.values()))
    assert (total.input_tokens, total.reasoning_output_tokens) == (1000 * len(answers), 20 * len(answers))
    if not _is_old(codex):  # which names no answer
        told = {event.payload.message_id for event in codex_reading.events if event.type == "token.usage"}
        assert told == set(answers)


def test_the_subagent_is_a_child_run(codex: Session, codex_reading: Reading) -> None:
    """A subagent's thread is a run whose parent is the thread that spawned it."""
    if _is_old(codex):
        assert len(codex.files) == 1
        return
    run_id, child = _run_id(codex), codex_reading.call(scenario.CHILD_COMMAND)
    assert child.run_id != run_id
    assert {event.parent_run_id for event in codex_reading.events if event.run_id == child.run_id} == {run_id}
    assert child.run_id in {event.child_run_id for event in codex_reading.events if event.run_id == run_id}
    assert codex_reading.prompts(child.run_id) == [scenario.CHILD_PROMPT]
    assert codex_reading.thoughts(child.run_id) == [scenario.CHILD_THOUGHT]
    assert codex_reading.texts(child.run_id) == [scenario.CHILD_TEXT, scenario.CHILD_ANSWER]


def test_the_stream_agrees_with_the_disk(codex: Session, codex_reading: Reading) -> None:
    """What was printed has the same calls, failures and words as the rollout, under the stream's names.

    The stream does not report the prompt (except 0.42), the subagent's own doings, and the ids of calls (except 0.42).
    """
    assert_counted(codex.stdout, "codex_exec")
    stream = read_stream(codex.stdout)
    (run_id,) = {event.run_id for event in stream.events}
    assert [event for event in stream.events if event.type == "unknown"] == []
    on_disk, printed = codex_reading.calls(_run_id(codex)), stream.calls()
    if _is_old(codex):
        names = ["exec_command", "exec_command", "apply_patch", "exec_command"]  # it sees the patch in the command
        assert [pair.call_id for pair in printed] == [pair.call_id for pair in on_disk]
        assert stream.prompts(run_id) == [scenario.PROMPT]
    else:
        names = [IN_STREAM.get(name, name) for name in _names(codex)]
        assert run_id == _run_id(codex)
        assert stream.prompts(run_id) == []

    def outcomes(pairs: list[CallPair]) -> list[tuple[bool, str | None]]:
        return [(pair.call is not None and pair.result is not None, pair.error) for pair in pairs]

    assert [pair.name for pair in printed] == names
    assert outcomes(printed) == outcomes(on_disk)
    assert stream.texts(run_id) == _texts(codex)
    assert stream.thoughts(run_id) == [scenario.THOUGHT]
    total = usage_totals(stream.events).total
    assert (
        total.output_tokens
        == usage_totals(event for event in codex_reading.events if event.run_id == _run_id(codex)).total.output_tokens
    )


def test_a_team_is_runs_with_a_parent(place: Path) -> None:
    """Subagents of the second kind are child runs, too; what they report is no prompt of their parent."""
    with session.codex(programs.CODEX[0], place, has_teams=True) as team:
        team.run(scenario.TEAM_PROMPT)
    reading = read(team.transcripts)
    assert_all_read(reading, team.files)
    spawn, child = (reading.call(words) for words in (scenario.CHILD_PROMPT, scenario.CHILD_COMMAND))
    assert (spawn.name, child.name) == ("spawn_agent", "exec_command")
    assert {event.parent_run_id for event in reading.events if event.run_id == child.run_id} == {spawn.run_id}
    assert child.run_id in {event.child_run_id for event in reading.events if event.run_id == spawn.run_id}
    assert reading.prompts(spawn.run_id) == [scenario.TEAM_PROMPT]
    assert scenario.CHILD_PROMPT in reading.prompts(child.run_id)
    assert reading.texts(child.run_id) == [scenario.CHILD_TEXT, scenario.CHILD_ANSWER]
    assert reading.texts(spawn.run_id) == [scenario.FINAL_TEXT]
    assert usage_totals(reading.events).total.output_tokens == sum(team.model.answers.values())


def test_a_resumed_thread_goes_on(place: Path) -> None:
    """A thread that is resumed is the same run with one more prompt; the stream's total is that of all of it."""
    with session.codex(programs.CODEX[0], place) as resumed:
        resumed.run(scenario.PROMPT)
        run_id = _run_id(resumed)
        resumed.run(scenario.NEXT_PROMPT, "resume", run_id)
    reading, stream = read(resumed.transcripts), read_stream(resumed.stdout)
    assert_all_read(reading, resumed.files)
    assert reading.prompts(run_id) == [scenario.PROMPT, scenario.NEXT_PROMPT]
    assert reading.texts(run_id) == [*_texts(resumed), scenario.NEXT_TEXT]
    assert usage_totals(reading.events).total.output_tokens == sum(resumed.model.answers.values())
    assert (stream.events[0].run_id, stream.texts(run_id)) == (run_id, [scenario.NEXT_TEXT])
    ours = [event for event in reading.events if event.run_id == run_id]
    assert usage_totals(stream.events).total.output_tokens == usage_totals(ours).total.output_tokens


@pytest.mark.parametrize("version", programs.CODEX)
def test_a_killed_thread_is_read(version: str, place: Path) -> None:
    """After kill -9 in the middle of a command, every line is read and the command is a call without a result."""
    with session.codex(version, place) as killed:
        # 0.42 writes what the model said together with what the tools answered: there is nothing of it yet.
        written = scenario.SLOW_PROMPT if _is_old(killed) else scenario.SLOW_COMMAND
        killed.run_and_kill(scenario.SLOW_PROMPT, written=written)
    reading = read(killed.transcripts)
    assert_all_read(reading, killed.files)
    (run_id,) = {event.run_id for event in reading.events}
    assert reading.prompts(run_id) == [scenario.SLOW_PROMPT]
    if not _is_old(killed):
        pair = reading.call(scenario.SLOW_COMMAND)
        assert (pair.name, pair.result) == ("exec_command", None)
        assert reading.texts(run_id) == [scenario.SLOW_TEXT]
