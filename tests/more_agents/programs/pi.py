"""pi: no subagents, and a model of its own in its settings."""

from __future__ import annotations

import json
from pathlib import Path

from agents.errand import Tools
from agents.servers.script import Call
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
    """A provider of its own, and nothing is fetched."""
    api = {"baseUrl": f"{place.url}/v1", "api": "openai-completions", "apiKey": "sk-fake", "models": [_MODEL]}
    place.write(".pi/agent/models.json", json.dumps({"providers": {"fake": api}}))
    place.write(".pi/agent/settings.json", json.dumps({"enableInstallTelemetry": False}))
    place.environment |= {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}
    return [*place.program, "--provider", "fake", "--model", "fake-model", "--thinking", "low", "--mode", "json", "-p"]


def tools(folder: Path) -> Tools:
    """Its tools; there are no subagents."""
    return Tools(
        shell=lambda command: Call("bash", {"command": command}),
        read=lambda name: Call("read", {"path": str(folder / name)}),
        delegate=(),
    )


AGENT = RealAgent(
    format_name="pi",
    agent_id="pi",
    program=Npm("@earendil-works/pi-coding-agent", "0.87.1", ".bin/pi", is_script=False),
    prepare=prepare,
    tools=tools,
    files=lambda home: sorted((home / ".pi" / "agent" / "sessions").rglob("*.jsonl")),
)
