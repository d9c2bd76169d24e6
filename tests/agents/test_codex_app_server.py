"""`codex app-server` speaks, we read: one turn, in both directions, compared with the rollout that it wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents import app_server, programs, scenario, session
from agents.reading import Reading, assert_all_read, assert_counted, read, read_stream
from agents.session import Session
from stenograph.fold.usage import usage_totals

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs

NAMES = {
    "exec_command": "commandExecution",
    "apply_patch": "fileChange",
    "spawn_agent": "spawnAgent",
    "wait_agent": "wait",
    "close_agent": "closeAgent",
}
"""Tools as the rollout and as the protocol call them."""
KEPT_AS_UNKNOWN = frozenset({"turn/started", "turn/completed", "turn/diff/updated"})
"""Notifications that the contract wants as `unknown` events."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A turn that was asked for over stdio; `both.jsonl` and `server.jsonl` in its place are what was said."""
    with session.codex(programs.CODEX[0], tmp_path_factory.mktemp("app-server")) as found:
        lines = app_server.one_turn(found, scenario.PROMPT)
    (found.place / "both.jsonl").write_bytes(b"".join(line for _, line in lines))
    (found.place / "server.jsonl").write_bytes(b"".join(line for who, line in lines if who == "in"))
    return found


@pytest.fixture(scope="module")
def rollouts(served: Session) -> Reading:
    """What the server wrote to disk meanwhile."""
    return read(served.transcripts)


@pytest.mark.parametrize("name", ["both.jsonl", "server.jsonl"])
def test_the_protocol_agrees_with_the_rollouts(served: Session, rollouts: Reading, name: str) -> None:
    """Threads, prompts, calls, failures and words are those of the rollouts, from one direction or from both."""
    path = served.place / name
    recording = read(path)
    assert_all_read(recording, [path], unknown=KEPT_AS_UNKNOWN)
    assert recording.files[0].format == "codex_app_server"
    runs = {event.run_id for event in rollouts.events}
    assert len(runs) == 2
    assert {event.run_id for event in recording.events} == runs
    for run_id in runs:
        ours, theirs = recording.calls(run_id), rollouts.calls(run_id)
        assert [(pair.call_id, pair.name) for pair in ours] == [(pair.call_id, NAMES[pair.name]) for pair in theirs]
        assert [pair.error for pair in ours] == [pair.error for pair in theirs]
        assert all(pair.call is not None and pair.result is not None for pair in ours)
        assert recording.prompts(run_id) == rollouts.prompts(run_id)
        assert recording.texts(run_id) == rollouts.texts(run_id)
        assert recording.thoughts(run_id) == rollouts.thoughts(run_id)
    main = served.main_file.stem[-36:]
    (child,) = runs - {main}
    assert recording.prompts(main) == [scenario.PROMPT]
    assert recording.texts(child) == [scenario.CHILD_TEXT, scenario.CHILD_ANSWER]
    said = [event for event in recording.events if event.run_id == child and event.type.startswith(("mess", "tool"))]
    assert {event.parent_run_id for event in said} == {main}
    total, answers = usage_totals(recording.events).total, served.model.answers
    assert (total.records, total.output_tokens) == (len(answers), sum(answers.values()))


def test_the_rollouts_are_read(served: Session, rollouts: Reading) -> None:
    """What the server writes to disk is read as well as what `codex exec` writes."""
    assert_all_read(rollouts, served.files)


def test_the_protocol_is_read_from_a_pipe(served: Session) -> None:
    """`steno convert -` gives what reading the file gives."""
    path: Path = served.place / "both.jsonl"
    assert_counted(path, "codex_app_server")
    piped = read_stream(path)
    assert [event.payload for event in piped.events] == [event.payload for event in read(path).events]
