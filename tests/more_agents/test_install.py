"""`steno install` for further real agents: recorded while they work, harmless when we are gone, and removable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents import scenario
from agents.installed import assert_harmless_when_gone, assert_recorded_live, assert_removable
from agents.recorded import everyone_of, kill
from agents.servers.script import Call, Text
from agents.session import Session
from more_agents.real_agent import opened, real_agents
from stenograph.cli.installing.ways import agents_that_call
from stenograph.formats.registry import formats

pytestmark = [pytest.mark.more_agents, pytest.mark.timeout(1800)]  # the first test installs the programs
FIRST = ("opencode",)
"""Agents that `make agents` does this for."""
PATIENT = {name: {"timeout": 600_000} for name in ("kilo", "qwen_code")}
"""What lets a command run for as long as it takes: these agents end it after two minutes."""
REAL = {name: agent for name, agent in real_agents().items() if agent.agent_id in agents_that_call()}


@pytest.fixture(params=[name for name in REAL if name not in FIRST])
def name(request: pytest.FixtureRequest) -> str:
    """Of an agent that can be made to call us."""
    return str(request.param)


@pytest.fixture
def agent(name: str, tmp_path: Path) -> Iterator[Session]:
    """The agent, ready to run, with a model that plays a slow script and a short one."""
    real = REAL[name]
    assert real.tools is not None
    with opened(real, tmp_path / "session") as session:
        shell = real.tools(session.folder).shell(scenario.SLOW_COMMAND)
        slow = Call(shell.name, {**shell.input, **PATIENT.get(name, {})})
        scripts = {
            "slow": [[Text(scenario.SLOW_TEXT), slow], [Text(scenario.NEXT_TEXT)]],
            "next": [[Text(scenario.NEXT_TEXT)]],
        }
        session.model.play(scripts)
        try:
            yield session
        finally:
            kill(everyone_of(session))


def test_it_is_recorded_while_it_works(name: str, agent: Session) -> None:
    """From the first prompt, without `steno run`, and each thing once."""
    is_store = formats()[REAL[name].format_name].kind == "database"
    assert_recorded_live(agent, REAL[name].agent_id, is_store=is_store)


def test_an_agent_is_not_broken_when_we_are_gone(name: str, agent: Session) -> None:
    """It works as ever, and `steno doctor` says what is wrong."""
    assert_harmless_when_gone(agent, REAL[name].agent_id)


def test_remove_leaves_nothing(name: str, agent: Session) -> None:
    """The agent's own settings are byte for byte what they were."""

    def files() -> dict[Path, bytes]:
        found = [path for path in agent.home.rglob("*") if path.is_file() and path.suffix in (".json", ".js", ".ts")]
        return {path: path.read_bytes() for path in found}

    assert_removable(agent, REAL[name].agent_id, files)
