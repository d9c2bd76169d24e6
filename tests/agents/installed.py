"""Agents that `steno install` was done for: recorded while they work, and never broken by us."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from agents import scenario
from agents.archived import keep_in_archive, steno
from agents.recorded import STENO, collectors_of, until
from agents.session import PATIENCE, Session
from stenograph import Archive, Event, open_archive
from stenograph.cli.installing.settings_file import our_program
from stenograph.errors import StenographError
from witness_cases import OURS, run_as_told

GONE = "/nowhere/bin/steno"


def assert_recorded_live(
    agent: Session, agent_id: str, *options: str, is_live: bool = True, is_store: bool = False
) -> None:
    """Installed, then run as ever: its words are recorded while it works, and in the end everything is, once.

    An agent that calls us when a turn has ended is not recorded before. `is_store` is for one that keeps a database.
    """
    archive = keep_in_archive(agent)
    told = steno(agent, "install", agent_id)
    assert told["added"]
    assert steno(agent, "install", agent_id)["added"] == []
    started = agent.folder / "started"
    with agent._running(*options, scenario.SLOW_PROMPT) as process:
        until(lambda: started.exists() or process.poll() is not None)
        assert process.poll() is None, (agent.place / "stderr").read_text()
        if is_live:
            until(lambda: _is_told(archive, scenario.SLOW_TEXT))
            assert process.poll() is None
            assert [row["recorded_by"] for row in steno(agent, "install", "--list") if row["agent"] == agent_id] == [
                "install"
            ]
        started.unlink()
        assert process.wait(PATIENCE) == 0, (agent.place / "stderr").read_text()
    until(lambda: _is_told(archive, scenario.SLOW_TEXT))
    _wait_for_collectors(agent, is_live)
    problems = archive / "collectors" / "problems.log"
    assert not problems.exists(), problems.read_text()
    if is_live:
        until(lambda: _runs(archive))  # without any sync: a process of its own indexes what was recorded
    steno(agent, "sync")
    assert_as_files_alone(agent, archive, is_store=is_store)


def _wait_for_collectors(agent: Session, is_live: bool) -> None:
    """Those that were told that the agent ended end by themselves; the others wait for more."""
    if is_live:
        until(lambda: not collectors_of(agent))
        return
    for pid in collectors_of(agent):
        os.kill(pid, 15)
    until(lambda: not collectors_of(agent))


def assert_as_files_alone(agent: Session, archive: Path, *, is_store: bool) -> None:
    """Each run is, to the last event, call, token and word, that of an archive which never saw a journal.

    Of a store that was kept while it changed, the archive has more: what the program told of itself meanwhile.
    """
    left_out = (*OURS, "system.event") if is_store else OURS
    alone = agent.place / "alone"
    steno(agent, "sync", "--archive", str(alone))
    with open_archive(alone) as opened:
        runs = [info.run_id for info in opened.runs()]
    assert runs
    for run_id in runs:
        ours, theirs = (run_as_told(place, run_id, without=left_out) for place in (archive, alone))
        parts = [part for part in theirs if part != "sources" or not is_store]  # the lines have other numbers
        assert {part: ours[part] for part in parts} == {part: theirs[part] for part in parts}


def assert_harmless_when_gone(agent: Session, agent_id: str, *options: str) -> None:
    """Where our program is gone, the agent works as ever and says nothing of it, and the doctor does."""
    keep_in_archive(agent)
    told = steno(agent, "install", agent_id)
    for change in (told, *told["also"]):
        path = Path(change["settings"])
        path.write_text(path.read_text("utf-8").replace(our_program()[0], GONE), "utf-8")
    agent.run(scenario.NEXT_PROMPT, *options)
    assert GONE not in agent.stdout.read_text("utf-8") + (agent.place / "stderr").read_text("utf-8")
    assert collectors_of(agent) == []
    done = subprocess.run([*STENO, "doctor", "--json"], env=agent.environment, capture_output=True, cwd=agent.place)
    findings = [each["message"] for each in json.loads(done.stdout)["findings"] if each["kind"] == "hooks"]
    assert any(GONE in message and agent_id in message for message in findings)


def assert_removable(agent: Session, agent_id: str, files: Callable[[], dict[Path, bytes]], *options: str) -> None:
    """After `--remove` the agent's settings are what they were, and it is not recorded any more."""
    archive = keep_in_archive(agent)
    before = files()
    steno(agent, "install", agent_id)
    assert files() != before
    steno(agent, "install", agent_id, "--remove")
    assert files() == before
    agent.run(scenario.NEXT_PROMPT, *options)
    assert collectors_of(agent) == []
    assert not (archive / "collectors").exists()


def _is_told(archive: Path, text: str) -> bool:
    """Whether a journal or the index has these words by now."""
    journals = list((archive / "transcripts").glob("*.jsonl"))
    if any(text.encode() in path.read_bytes() for path in journals):  # our texts are the same in JSON
        return True
    return any(text in str(event.payload) for events in _runs(archive).values() for event in events)


def _runs(archive: Path) -> dict[str, list[Event]]:
    try:
        with open_archive(archive) as opened:
            return {info.run_id: _events(opened, info.run_id) for info in opened.runs()}
    except StenographError:  # there is none yet, or it is being made
        return {}


def _events(opened: Archive, run_id: str) -> list[Event]:
    with opened.run(run_id) as run:
        return list(run.events())
