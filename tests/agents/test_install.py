"""`steno install` for real agents: recorded while they work, harmless when we are gone, and removable."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agents import programs, scenario, session
from agents.archived import keep_in_archive, steno
from agents.gemini import gemini
from agents.installed import assert_harmless_when_gone, assert_recorded_live, assert_removable
from agents.opencode import opencode
from agents.recorded import collectors_of, everyone_of, kill, until
from agents.session import Session
from stenograph import open_run

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs


@dataclass(frozen=True)
class Installing:
    """An agent that can be made to call us."""

    opened: Callable[[Path], contextlib.AbstractContextManager[Session]]
    options: tuple[str, ...] = ()
    is_live: bool = True
    """Whether it calls us before a turn has ended."""
    is_store: bool = False
    """Whether it keeps its sessions in a database."""
    agent_id: str = ""


AGENTS: Mapping[str, Installing] = {
    "codex": Installing(
        lambda place: session.codex(programs.CODEX[0], place), options=("--dangerously-bypass-hook-trust",)
    ),
    "codex, hooks not trusted": Installing(
        lambda place: session.codex(programs.CODEX[0], place), is_live=False, agent_id="codex"
    ),
    "gemini": Installing(gemini),
    "opencode": Installing(opencode, is_store=True),
}


@pytest.fixture(params=AGENTS)
def name(request: pytest.FixtureRequest) -> str:
    """Of an agent."""
    return str(request.param)


@pytest.fixture
def agent(name: str, place: Path) -> Iterator[Session]:
    """The agent, ready to run."""
    with AGENTS[name].opened(place) as opened:
        try:
            yield opened
        finally:
            kill(everyone_of(opened))


def _id(name: str) -> str:
    return AGENTS[name].agent_id or name


def test_it_is_recorded_while_it_works(name: str, agent: Session) -> None:
    """From the first prompt, without `steno run`, and each thing once; or, where hooks wait for trust, from its end."""
    given = AGENTS[name]
    assert_recorded_live(agent, _id(name), *given.options, is_live=given.is_live, is_store=given.is_store)


def test_an_agent_is_not_broken_when_we_are_gone(name: str, agent: Session) -> None:
    """It works as ever, and `steno doctor` says what is wrong."""
    assert_harmless_when_gone(agent, _id(name), *AGENTS[name].options)


def test_remove_leaves_nothing(name: str, agent: Session) -> None:
    """The agent's own settings are byte for byte what they were."""

    def files() -> dict[Path, bytes]:
        found = [path for path in agent.home.rglob("*") if path.is_file() and path.suffix in (".json", ".toml", ".js")]
        return {path: path.read_bytes() for path in found if path.read_bytes().strip() not in (b"", b"{}")}

    assert_removable(agent, _id(name), files, *AGENTS[name].options)


def test_a_resumed_session_is_recorded_in_the_file_where_it_goes_on(place: Path) -> None:
    """Gemini CLI makes a second file when it resumes in another minute, and goes on in the first."""
    with gemini(place) as agent:
        archive = keep_in_archive(agent)
        agent.run(scenario.NEXT_PROMPT)
        (first,) = agent.transcripts.rglob("session-*.jsonl")
        moved = first.with_name(first.name.replace(first.name[8:24], "2026-01-01T00-00"))
        first.rename(moved)  # a minute has passed
        steno(agent, "install", "gemini")
        agent.run(scenario.NEXT_PROMPT, "--resume", "latest")
        assert len(list(agent.transcripts.rglob("session-*.jsonl"))) == 2
        until(lambda: not collectors_of(agent))
        (journal,) = (archive / "transcripts").glob("*.jsonl")
        prompts = [event for event in open_run(journal).events() if event.type == "message.user"]
        assert sum(scenario.NEXT_PROMPT in str(event.payload) for event in prompts) == 2
