"""OpenClaw: a program of node 24; its subagents are sessions that its gateway runs, so none is asked for."""

from __future__ import annotations

import json
from pathlib import Path

from agents.errand import Tools
from agents.servers.script import Call
from comparison import oracle
from more_agents.installing import Npm
from more_agents.real_agent import Place, RealAgent

_MODEL = {
    "id": "fake-model",
    "name": "Fake",
    "reasoning": True,
    "input": ["text"],
    "contextWindow": 128_000,
    "maxTokens": 8_000,
    "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 0},
}


def prepare(place: Place) -> list[str]:
    """A provider of its own, and the folder of the errand as the agent's workspace.

    Plugins and the search of memories are off: loading them takes half of a turn's 26 seconds of processor time.
    """
    api = {"baseUrl": f"{place.url}/v1", "api": "openai-completions", "apiKey": "sk-fake", "models": [_MODEL]}
    defaults = {"model": {"primary": "fake/fake-model"}, "workspace": str(place.work), "skipBootstrap": True}
    settings = {
        "models": {"mode": "merge", "providers": {"fake": api}},
        "agents": {"defaults": defaults},
        "plugins": {"enabled": False},
        "memory": {"search": {"enabled": False}},
    }
    place.write(".openclaw/openclaw.json", json.dumps(settings))
    return [*place.program, "agent", "--local", "--agent", "main", "--json", "--message"]


def tools(folder: Path) -> Tools:
    """Its tools."""
    return Tools(
        shell=lambda command: Call("exec", {"command": command}),
        read=lambda name: Call("read", {"path": str(folder / name)}),
        delegate=(),
    )


AGENT = RealAgent(
    format_name="openclaw",
    agent_id="openclaw",
    program=Npm("openclaw", "2026.9.6", ".bin/openclaw", is_script=False, node="24.21.0"),
    prepare=prepare,
    tools=tools,
    count=lambda home: oracle("openclaw").count_database(
        home / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    ),
)
