"""Further real agents: what the harness has to know of each, and one errand that it runs.

To add an agent, write `tests/more_agents/programs/NAME.py` with `AGENT = RealAgent(...)`; it is found there, and every
test of `test_real_agents.py` runs it. `programs/opencode.py` is the example. The tables about what it reports are those
of `tests/parity.py`: add it to `AGENTS`, `UNREPORTED`, and where it needs them to `DETOURS` and `LEFT_OUT`
(`without_subagent(reason)` for an agent that has none). Run one agent with

    .venv/bin/pytest -q -m more_agents -k NAME --basetemp=/tmp/somewhere tests/more_agents

which leaves its home in `/tmp/somewhere/NAME0` (`home`, `work`, `archive`, `stdout.jsonl`, `stderr`), from where a
golden case named `parity` can be made.

The model (`ChatApi`) plays `errand.scripts(tools)`: the agent's own tool names go into `tools`. An agent that writes
its calls into plain text gives `scripts` instead and sets `without_tools`. An agent that needs another protocol gives
`model` (`agents/servers` has Messages, Responses and Gemini, too).
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import parity
from agents import errand, scenario
from agents.archived import keep_in_archive, steno
from agents.recorded import under_run
from agents.servers.chat_api import ChatApi
from agents.servers.loopback import serving
from agents.servers.script import Scripts
from agents.session import Session
from more_agents.installing import NODE, Npm, Program, installed, node
from stenograph import Event, open_archive

PROGRAMS = Path(__file__).parent / "programs"


@dataclass
class Place:
    """The folder of one session, while it is prepared."""

    folder: Path
    url: str
    """Where the model listens; chat completions are below `{url}/v1`."""
    program: list[str]
    """What starts the agent's program."""
    environment: dict[str, str] = field(default_factory=dict)
    """What the program finds; to be added to."""

    @property
    def home(self) -> Path:
        """The home folder."""
        return self.folder / "home"

    @property
    def work(self) -> Path:
        """Where the agent works."""
        return self.folder / "work"

    def write(self, path: str, text: str) -> Path:
        """Write a file below the home folder."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file


@dataclass(frozen=True)
class RealAgent:
    """A program that can do the errand of `tests/parity.py`."""

    format_name: str
    """The format of what it leaves on disk; also its name in `parity.AGENTS`."""
    agent_id: str
    """What `steno ls` calls it."""
    program: Program
    prepare: Callable[[Place], list[str]]
    """Writes settings and adds to the environment; gives the command, whose last argument will be the prompt."""
    tools: Callable[[Path], errand.Tools] | None = None
    """The names of its tools, for the folder it works in."""
    scripts: Callable[[Path], Scripts] | None = None
    """The errand in its own words, instead of `tools`."""
    without_tools: bool = False
    """Whether it writes its calls into the text of its answers."""
    model: Callable[[Scripts], Any] | None = None
    """The model's API, where it is not chat completions; it has `totals` like `ChatApi`."""
    totals: Callable[[Mapping[str, int]], Mapping[str, int]] = dict
    """What `steno stats` must say, from what the model counted; leave out what the agent does not report."""
    files: Callable[[Path], list[Path]] | None = None
    """From its home, the files that the independent counter (`tests/oracle`) reads, each by itself."""
    count: Callable[[Path], dict[str, Any]] | None = None
    """From its home, what the independent counter finds in all of it, where that is a database or a folder."""


@dataclass(frozen=True)
class Played:
    """What is there after the errand was run under `steno run` and synced."""

    agent: RealAgent
    session: Session
    archive: Path

    def events(self) -> list[Event]:
        """Of all runs of the agent in the archive."""
        return [event for events in self.runs().values() for event in events]

    def runs(self) -> dict[str, list[Event]]:
        """The agent's runs, the oldest first."""
        with open_archive(self.archive) as opened:
            found: dict[str, list[Event]] = {}
            for info in sorted(opened.runs(), key=lambda info: info.started_at or ""):
                with opened.run(info.run_id) as run:
                    found[info.run_id] = list(run.events())
            return found


def real_agents() -> dict[str, RealAgent]:
    """By the name of its module."""
    names = sorted(path.stem for path in PROGRAMS.glob("[a-z]*.py"))
    return {name: importlib.import_module(f"more_agents.programs.{name}").AGENT for name in names}


def play(agent: RealAgent, folder: Path) -> Played:
    """Run the errand under `steno run`, then `steno sync`."""
    with opened(agent, folder) as session:
        archive = keep_in_archive(session)
        under_run(session).run(parity.PROMPT)
        steno(session, "sync")
        return Played(agent, session, archive)


@contextlib.contextmanager
def opened(agent: RealAgent, folder: Path) -> Iterator[Session]:
    """A program that is ready to run; its prompt is its last argument."""
    for name in ("home", "work", "temporary"):
        (folder / name).mkdir(parents=True)
    (folder / "work" / "notes.txt").write_text(scenario.NOTES, "utf-8")
    model = _model(agent, folder / "work")
    with serving(model) as url:
        place = Place(folder, url, installed(agent.program), _environment(folder, agent.program))
        command = agent.prepare(place)
        yield Session(agent.program.version, command, folder, model, place.home, place.environment)


def _model(agent: RealAgent, work: Path) -> Any:
    if agent.scripts is not None:
        scripts = agent.scripts(work)
    else:
        assert agent.tools is not None, "an agent has tools or scripts"
        scripts = errand.scripts(agent.tools(work))
    if agent.model is not None:
        return agent.model(scripts)
    return ChatApi(scripts, without_tools=agent.without_tools)


def _environment(folder: Path, program: Program) -> dict[str, str]:
    """As little as will do: no settings, no proxies and no secrets of the person who runs the tests; a newer node."""
    newer = node(program.node if isinstance(program, Npm) else NODE)
    return {
        "PATH": os.pathsep.join([str(newer.parent), os.environ["PATH"]]),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "temporary"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TZ": "UTC",
    }
