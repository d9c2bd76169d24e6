"""The agents' programs: installed once, by npm, at pinned versions, under `.cache/agents`."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from one_installer import install_patiently, installing_alone, run_installer

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


def program(name: str, version: str) -> Path:
    """The executable of an agent, installed now unless it was before; a test that cannot have it fails."""
    home = CACHE / f"{name}-{version}"
    with installing_alone(home):
        if not home.exists():
            npm = _npm()
            install_patiently(lambda: _install(npm, name, version, home))
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


def _npm() -> str:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.fail("make agents needs node and npm; install them (Debian: apt-get install npm) and try again", False)
    return npm


def _install(npm: str, name: str, version: str, home: Path) -> None:
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="installing-", ignore_cleanup_errors=True) as scratch:
        place = Path(scratch, "place")
        package = f"{_PACKAGES[name]}@{version}"
        options = ["--no-audit", "--no-fund", "--ignore-scripts"]
        run_installer([npm, "install", "--prefix", str(place), *options, package])
        # npm succeeds also without the part for this platform, which it takes for optional.
        printed = run_installer([str(_executable(name, place)), "--version"], _bare_environment(scratch))
        if version not in printed:
            pytest.fail(f"make agents: npm installed {package}, which calls itself {printed.strip()!r}", False)
        place.rename(home)  # whole or not at all


def unpacked_copilot() -> Path:
    """What Copilot unpacks at its first start, 200 MB: done once, since two processes would do it at the same time."""
    place = CACHE / f"copilot-{COPILOT}-unpacked"
    start = program("copilot", COPILOT)
    with installing_alone(place):
        if not place.exists():
            with tempfile.TemporaryDirectory(dir=CACHE, prefix="installing-", ignore_cleanup_errors=True) as scratch:
                new = Path(scratch, "place")
                run_installer([str(start), "--version"], {**_bare_environment(scratch), "XDG_CACHE_HOME": str(new)})
                new.rename(place)
    return place


def _bare_environment(home: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": home}
