"""One run of an agent's program, in a home and a folder of its own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import scenario
from agents.programs import program
from agents.servers.loopback import serving
from agents.servers.messages_api import MessagesApi
from agents.servers.responses_api import ResponsesApi

PATIENCE = 600
"""Seconds after which an agent hangs; nothing is measured by it."""

_CODEX_CONFIG = """\
model = "gpt-5.5"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
model_reasoning_summary = "detailed"
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
[features]
apps = false
plugins = false
shell_snapshot = false
multi_agent_v2 = {has_teams}
[analytics]
enabled = false
"""

_PATIENT_CLAUDE = {
    "BASH_DEFAULT_TIMEOUT_MS": "600000",
    "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "60000",  # it ends hooks after 1.5 seconds
    "MCP_CONNECTION_NONBLOCKING": "0",  # it asks the model before it knows the tools of a server that starts slowly
    "MCP_CONNECT_TIMEOUT_MS": "300000",
    "MCP_TIMEOUT": "300000",
}
"""Claude Code's own limits, so that it does on a slow machine what it does on others."""

_HOOK = re.compile(rb"\bhook[ \0]")


@dataclass
class Session:
    """A program that is ready to run, and what it left when it has."""

    version: str
    command: list[str]
    """The program with its options; more of them and the prompt follow."""
    place: Path
    model: Any
    """The fake model: what it answered is in it."""
    transcripts: Path
    """The folder for what it writes about itself."""
    environment: dict[str, str]

    @property
    def home(self) -> Path:
        """The agent's home folder; nobody else's."""
        return self.place / "home"

    @property
    def folder(self) -> Path:
        """Where it works."""
        return self.place / "work"

    @property
    def stdout(self) -> Path:
        """What it printed."""
        return self.place / "stdout.jsonl"

    @property
    def main_file(self) -> Path:
        """The transcript of the session itself, whose prompt was ours."""
        return self.main_file_of(scenario.PROMPT)

    def main_file_of(self, prompt: str) -> Path:
        """The transcript of the session with this prompt."""
        (found,) = [path for path in self.files if prompt.encode() in path.read_bytes()]
        return found

    @property
    def files(self) -> list[Path]:
        """Every transcript it wrote."""
        return sorted(self.transcripts.rglob("*.jsonl"))

    def run(self, prompt: str, *options: str) -> None:
        """Runs to the end, which must be a good one."""
        with self._running(*options, prompt) as process:
            code = process.wait(PATIENCE)
        assert code == 0, (self.place / "stderr").read_text("utf-8", "replace") + self.stdout.read_text("utf-8")

    def run_and_kill(self, prompt: str, *, written: str) -> None:
        """Runs until its slow command runs and its transcript holds these words, then kills it."""
        started = self.folder / "started"
        with self._running(prompt) as process:
            deadline = time.monotonic() + PATIENCE
            while not (started.exists() and any(written.encode() in path.read_bytes() for path in self.files)):
                assert time.monotonic() < deadline, "what was waited for never came"
                assert process.poll() is None, "it ended by itself"
                time.sleep(0.05)
        started.unlink()  # which ends the command, should it have outlived the agent

    @contextlib.contextmanager
    def _running(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        with self.stdout.open("wb") as out, (self.place / "stderr").open("wb") as err:
            process = subprocess.Popen(
                [*self.command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.folder,
                env=self.environment,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            if process.poll() is not None:  # it may have called our hook as its last act, without waiting for it
                _wait_for_hooks(process.pid)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


def _wait_for_hooks(group: int) -> None:
    """Wait until no process of the group is a call of our hook."""
    deadline = time.monotonic() + PATIENCE
    while any(_HOOK.search(line) for line in _lines_of(group)):
        assert time.monotonic() < deadline, "a hook does not end"
        time.sleep(0.05)


def _lines_of(group: int) -> Iterator[bytes]:
    """The command lines of a group of processes."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (process / "stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[2]) == group:
                yield (process / "cmdline").read_bytes()


@contextlib.contextmanager
def claude(version: str, place: Path) -> Iterator[Session]:
    """Claude Code with its fake model."""
    command = [str(program("claude", version)), "-p", "--output-format", "stream-json", "--verbose"]
    command += ["--allowedTools", "Bash,Read,Task,Agent", "--max-turns", "30"]
    model = MessagesApi(scenario.claude(place / "work"))
    with serving(model) as url:
        session = Session(version, command, place, model, place / "home" / ".claude" / "projects", _environment(place))
        session.environment |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-ant-fake", "IS_SANDBOX": "1"}
        session.environment |= _PATIENT_CLAUDE
        quiet = ["DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER"]
        session.environment |= dict.fromkeys([*quiet, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"], "1")
        yield session


@contextlib.contextmanager
def codex(version: str, place: Path, *, has_teams: bool = False) -> Iterator[Session]:
    """Codex with its fake model, and with subagents of the first or the second kind."""
    command = [str(program("codex", version)), "exec", "--json", "--skip-git-repo-check"]
    model = ResponsesApi(scenario.codex(has_agents=version != "0.42.0"))
    with serving(model) as url:
        session = Session(version, command, place, model, place / "home" / "sessions", _environment(place))
        session.environment |= {"CODEX_HOME": str(session.home), "FAKE_KEY": "sk-fake"}
        (session.home / "config.toml").write_text(
            _CODEX_CONFIG.format(url=url, has_teams=str(has_teams).lower()), "utf-8"
        )
        yield session


def _environment(place: Path) -> dict[str, str]:
    """As little as will do: no settings, no proxies and no secrets of whoever runs the tests."""
    for name in ("home", "work", "temporary"):
        (place / name).mkdir(parents=True)
    (place / "work" / "notes.txt").write_text(scenario.NOTES, "utf-8")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "temporary"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }
