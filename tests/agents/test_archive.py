"""Real agents in trouble, then `steno sync`: the archive holds what the agents' own files hold, once, and all of it."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from agents import programs, scenario, session
from agents.archived import assert_archive_is_files, files_by_run, keep_in_archive, steno
from agents.recorded import agents_of, collectors_of, everyone_of, install_hooks, kill, runs_of, under_run, until
from agents.servers.script import Call, Part, Text, mark
from agents.session import PATIENCE, Session

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs

NEWEST = programs.CLAUDE[0]


def _resuming(agent_name: str, run_id: str) -> list[str]:
    return ["--resume", run_id] if agent_name == "claude" else ["resume", run_id]


@contextlib.contextmanager
def opened(agent_name: str, version: str, place: Path) -> Iterator[tuple[Session, Path]]:
    """An agent, and the archive in which its journals are."""
    opening = session.claude if agent_name == "claude" else session.codex
    with opening(version, place) as agent:
        archive = keep_in_archive(agent)
        try:
            yield agent, archive
        finally:
            kill(everyone_of(agent))  # who collects waits ten minutes for more, when no hook said that it is over


# Resumed without us.


@pytest.mark.parametrize(
    ("agent_name", "version"),
    [*(("claude", version) for version in programs.CLAUDE[:3]), ("codex", programs.CODEX[0])],
)
def test_a_session_that_was_recorded_and_resumed_without_us_is_whole(
    agent_name: str, version: str, place: Path
) -> None:
    """`steno run`, then the plain program with the same session, then a sync; and again, in turns."""
    with opened(agent_name, version, place) as (agent, archive):
        under_run(agent).run(scenario.PROMPT)
        runs = files_by_run(agent, agent_name)
        (run_id,) = [run for run, files in runs.items() if agent.main_file in files.values()]
        agent.run(scenario.NEXT_PROMPT, *_resuming(agent_name, run_id))
        assert_archive_is_files(agent, archive, agent_name=agent_name)
        hits = steno(agent, "search", scenario.NEXT_TEXT)
        assert {hit["run_id"] for hit in hits} == {run_id}
        under_run(agent).run(scenario.NEXT_PROMPT, *_resuming(agent_name, run_id))
        agent.run(scenario.PROMPT, *_resuming(agent_name, run_id))
        assert_archive_is_files(agent, archive, agent_name=agent_name)


@pytest.mark.parametrize("version", programs.CLAUDE[:3])
def test_a_session_whose_hooks_were_removed_is_whole(version: str, place: Path) -> None:
    """Recorded by hooks, resumed when there are none, synced, and recorded by hooks again."""
    with opened("claude", version, place) as (claude, archive):
        settings = claude.home / ".claude" / "settings.json"
        install_hooks(claude)
        claude.run(scenario.PROMPT)
        run_id = claude.main_file.stem
        hooks = settings.read_bytes()
        settings.unlink()
        claude.run(scenario.NEXT_PROMPT, "--resume", run_id)
        assert_archive_is_files(claude, archive, agent_name="claude")
        settings.write_bytes(hooks)
        claude.run(scenario.NEXT_PROMPT, "--resume", run_id)
        assert_archive_is_files(claude, archive, agent_name="claude")


# Killed at random moments.

Victim = Callable[[Session], list[int]]
KILLS = {
    "claude under run": ("claude", False, agents_of, 10),
    "steno run of claude": ("claude", False, runs_of, 10),
    "claude with hooks": ("claude", True, agents_of, 8),
    "collector of hooks": ("claude", True, collectors_of, 12),
    "codex under run": ("codex", False, agents_of, 5),
    "steno run of codex": ("codex", False, runs_of, 5),
}
"""Whom to kill, and how often: fifty times in all."""


@pytest.mark.parametrize("name", KILLS)
def test_what_was_killed_is_whole_after_a_sync(name: str, place: Path) -> None:
    """Killed at a moment drawn by lot, in new sessions and resumed ones, with a sync after some of them."""
    agent_name, is_hooked, victim, wanted = KILLS[name]
    lot = Random(name)
    version = NEWEST if agent_name == "claude" else programs.CODEX[0]
    with opened(agent_name, version, place) as (agent, archive):
        if is_hooked:
            install_hooks(agent)
        recorded = agent if is_hooked else under_run(agent)
        killed = 0
        for _ in range(20 * wanted):  # one that ended by itself before its moment does not count
            options = _next_session(agent, agent_name, lot)
            killed += _killed(recorded, options, victim, lot)
            if lot.random() < 0.3:
                steno(agent, "sync")
            if killed == wanted:
                break
        assert killed == wanted
        assert files_by_run(agent, agent_name), "no session was begun"
        assert_archive_is_files(agent, archive, agent_name=agent_name)
        kill(collectors_of(agent))
        assert_archive_is_files(agent, archive, agent_name=agent_name)


def _next_session(agent: Session, agent_name: str, lot: Random) -> list[str]:
    """The options for a session that is resumed, or for a new one."""
    begun = [run for run, files in files_by_run(agent, agent_name).items() if _has_answer(files)]
    return _resuming(agent_name, lot.choice(sorted(begun))) if begun and lot.random() < 0.6 else []


def _has_answer(files: dict[str, Path]) -> bool:
    """Whether there is a conversation to resume."""
    return "main" in files and scenario.FIRST_TEXT[:10].encode() in files["main"].read_bytes()


def _killed(agent: Session, options: list[str], victim: Victim, lot: Random) -> bool:
    """Whether a process was there to be killed, so many answers of the model after the beginning and a moment."""
    answers, moment = lot.randrange(8), lot.uniform(0, 0.25)
    before = len(agent.model.answers)
    with agent._running(*options, scenario.PROMPT) as process:
        until(lambda: process.poll() is not None or (len(agent.model.answers) - before >= answers and victim(agent)))
        time.sleep(moment)
        was_there = kill(victim(agent)) > 0
        until(lambda: not {*agents_of(agent), *runs_of(agent)})
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
    return was_there


# Two at once.


@pytest.mark.parametrize("ends_first", ["first", "second"])
@pytest.mark.parametrize("is_hooked", [False, True], ids=["run and run", "hooks and run"])
def test_two_at_once_on_one_session_are_whole(is_hooked: bool, ends_first: str, place: Path) -> None:
    """Two programs go on with one session, each recorded, and whoever writes the journal ends before or after."""
    with opened("claude", NEWEST, place) as (claude, archive), contextlib.ExitStack() as both:
        claude.model.play({name: _waiting("Bash", name) for name in ("first", "second")})
        under_run(claude).run(scenario.NEXT_PROMPT)
        (run_id,) = files_by_run(claude, "claude")
        if is_hooked:
            install_hooks(claude)
        running = {}
        for name, program in (("first", claude if is_hooked else under_run(claude)), ("second", under_run(claude))):
            running[name] = both.enter_context(_waiting_program(program, name, ["--resume", run_id]))
        for name in sorted(running, key=lambda name: name != ends_first):
            (claude.folder / name).unlink()
            assert running[name].wait(PATIENCE) == 0, (claude.place / "stderr").read_text()
            steno(claude, "sync")
        assert_archive_is_files(claude, archive, agent_name="claude")
        assert {hit["run_id"] for hit in steno(claude, "search", "waited")} == {run_id}


def test_a_second_codex_on_one_thread_leaves_the_first_whole(place: Path) -> None:
    """Codex refuses to go on with a thread that another Codex goes on with; that it tried is a run of its own."""
    with opened("codex", programs.CODEX[0], place) as (codex, archive):
        codex.model.play({"first": _waiting("shell", "first")})
        under_run(codex).run(scenario.NEXT_PROMPT)
        (run_id,) = files_by_run(codex, "codex")
        with _waiting_program(under_run(codex), "first", ["resume", run_id]) as first:
            with under_run(codex)._running("resume", run_id, scenario.NEXT_PROMPT) as second:
                assert second.wait(PATIENCE) == 1
            steno(codex, "sync")
            (codex.folder / "first").unlink()
            assert first.wait(PATIENCE) == 0
        assert_archive_is_files(codex, archive, agent_name="codex")
        assert {row["agent"] for row in steno(codex, "ls") if row["run_id"] != run_id} == {"stenograph"}


@contextlib.contextmanager
def _waiting_program(agent: Session, name: str, options: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A program in the middle of its script: it waits for a file to go."""
    with agent._running(*options, f"Wait, please. {mark(name)}") as process:
        until(lambda: (agent.folder / name).exists() or process.poll() is not None)
        assert process.poll() is None, (agent.place / "stderr").read_text()
        yield process


def _waiting(shell: str, name: str) -> list[list[Part]]:
    """A script that waits until a file is gone, and then does something more."""
    command = f"touch {name}; while [ -e {name} ]; do sleep 0.05; done"
    calls = [Call(shell, {"command": each}) for each in (command, scenario.COMMAND)]
    return [[Text(f"The {name} waits."), calls[0]], [calls[1]], [Text(f"The {name} waited.")]]
