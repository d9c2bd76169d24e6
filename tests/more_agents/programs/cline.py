"""Cline: a program for this platform, whose model is set by a command of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import parity
from agents.errand import Tools
from agents.servers.script import Call
from agents.session import PATIENCE
from comparison import oracle
from more_agents.installing import Npm
from more_agents.real_agent import Place, RealAgent


def prepare(place: Place) -> list[str]:
    """A provider that speaks chat completions; no process that outlives the program."""
    place.environment |= {"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_NO_AUTO_UPDATE": "1"}
    provider = ["--provider", "openai-compatible", "--modelid", "fake-model"]
    subprocess.run(
        [*place.program, "auth", *provider, "--apikey", "sk-fake", "--baseurl", f"{place.url}/v1"],
        check=True, capture_output=True, timeout=PATIENCE, env=place.environment, cwd=place.work,
    )  # fmt: skip
    return [*place.program, "-P", "openai-compatible", "-m", "fake-model", "--json"]


def tools(folder: Path) -> Tools:
    """Its tools take lists; a subagent is asked for with a system prompt of its own."""
    child = {"task": parity.CHILD_PROMPT, "systemPrompt": "You count files."}
    return Tools(
        shell=lambda command: Call("run_commands", {"commands": [command]}),
        read=lambda name: Call("read_files", {"files": [{"path": str(folder / name)}]}),
        delegate=(Call("spawn_agent", child),),
    )


def count(home: Path) -> dict[str, Any]:
    """What the counter finds in all documents."""
    found: dict[str, Any] = oracle("cline").count(home / ".cline" / "data" / "sessions")
    return found


AGENT = RealAgent(
    format_name="cline",
    agent_id="cline",
    program=Npm("cline", "3.0.65", "@cline/cli-*/bin/cline", is_script=False),
    prepare=prepare,
    tools=tools,
    totals=lambda told: {name: told[name] for name in told if name != "reasoning_output_tokens"},
    count=count,
)
