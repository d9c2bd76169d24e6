"""The agents' programs: installed once, by npm, at pinned versions, under `.cache/agents`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from one_installer import installing_alone

CACHE = Path(__file__).parents[2] / ".cache" / "agents"

CLAUDE = ("2.1.325", "2.1.197", "2.0.30", "1.0.60")
"""The newest, an older release of the same line, and one version of each older way to keep subagents."""
CODEX = ("0.166.0", "0.42.0")
"""The newest, and the oldest that we read."""

COPILOT = "1.0.102"
GEMINI = "0.61.0"
OPENCODE = "1.18.33"

_PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "copilot": "@github/copilot",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}
_PATIENCE = 300


def program(name: str, version: str) -> Path:
    """The executable of an agent, installed now unless it was before; a test that cannot have it fails."""
    home = CACHE / f"{name}-{version}"
    with installing_alone(home):
        if not home.exists():
            _install(name, version, home)
    return _executable(name, home)


def _executable(name: str, home: Path) -> Path:
    # Claude Code is a package with a script until 2.0, and a program in a package per platform since.
    # OpenCode is a program in a package per platform, and a script of the package's would link it; none is run.
    found = [
        *home.glob("node_modules/@anthropic-ai/claude-code-*/claude"),
        *sorted(home.glob("node_modules/opencode-*-*/bin/opencode")),
        home / "node_modules" / ".bin" / name,
    ]
    return found[0]


def _install(name: str, version: str, home: Path) -> None:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.fail("make agents needs node and npm; install them (Debian: apt-get install npm) and try again", False)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="installing-") as scratch:
        place = Path(scratch, "place")
        package = f"{_PACKAGES[name]}@{version}"
        _run([npm, "install", "--prefix", str(place), "--no-audit", "--no-fund", "--ignore-scripts", package])
        # npm succeeds also without the part for this platform, which it takes for optional.
        told = _run([str(_executable(name, place)), "--version"], {"PATH": os.environ["PATH"], "HOME": scratch})
        if version not in told:
            pytest.fail(f"make agents: npm installed {package}, which calls itself {told.strip()!r}", False)
        place.rename(home)  # whole or not at all


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.fail(f"make agents cannot run {' '.join(command)}: {error}", False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it does not say why"]
        reason = next((line for line in lines if "error" in line.lower()), lines[0])  # npm begins with warnings
        pytest.fail(f"make agents cannot run {' '.join(command)}: {reason}", False)
    return done.stdout
