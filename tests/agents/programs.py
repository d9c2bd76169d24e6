"""The agents' programs: installed once, by npm, at pinned versions, under `.cache/agents`."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[2] / ".cache" / "agents"

CLAUDE = ("2.1.325", "2.0.30", "1.0.60")
"""One version of each way in which Claude Code kept its subagents; the newest first."""
CODEX = ("0.166.0", "0.42.0")
"""The newest, and the oldest that we read."""

_PACKAGES = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex"}
_PATIENCE = 300


def program(name: str, version: str) -> Path:
    """The executable of an agent, installed now unless it was before; a test that cannot have it fails."""
    home = CACHE / f"{name}-{version}"
    if not home.exists():
        _install(f"{_PACKAGES[name]}@{version}", home)
    found = [*home.glob("node_modules/@anthropic-ai/claude-code-*/claude"), home / "node_modules" / ".bin" / name]
    return found[0]


def _install(package: str, home: Path) -> None:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.fail("make agents needs node and npm; install them (Debian: apt-get install npm) and try again", False)
    CACHE.mkdir(parents=True, exist_ok=True)
    # Renamed when it is complete: what was interrupted is never taken for an installed program.
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="installing-") as place:
        command = [npm, "install", "--prefix", place, "--no-audit", "--no-fund", "--ignore-scripts", package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, cwd=place)
            problem = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["npm failed"])[-1]
        except subprocess.TimeoutExpired:
            problem = f"npm took more than {_PATIENCE} s"
        if problem:
            pytest.fail(f"make agents cannot install {package}: {problem}", False)
        Path(place).rename(home)
        Path(place).mkdir()  # for whoever removes it
