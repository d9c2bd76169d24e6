"""Real agents at work: each version plays its scenario once, and the tests look at what it left."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents import programs, scenario, session
from agents.reading import Reading, read
from agents.session import Session


@pytest.fixture(scope="session", params=programs.CLAUDE)
def claude(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Claude Code, when it has done what its model asked."""
    with session.claude(request.param, tmp_path_factory.mktemp("claude")) as found:
        found.run(scenario.PROMPT)
    return found


@pytest.fixture(scope="session", params=programs.CODEX)
def codex(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Codex, when it has done what its model asked."""
    with session.codex(request.param, tmp_path_factory.mktemp("codex")) as found:
        found.run(scenario.PROMPT)
    return found


@pytest.fixture(scope="session")
def claude_reading(claude: Session) -> Reading:
    """What we read in Claude Code's session and the files that belong to it."""
    return read(claude.main_file)


@pytest.fixture(scope="session")
def codex_reading(codex: Session) -> Reading:
    """What we read in Codex's folder: a subagent's rollout is a run of its own."""
    return read(codex.transcripts)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder for one session."""
    return tmp_path / "session"
