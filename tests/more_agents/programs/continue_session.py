"""Continue's terminal program; it has no subagents unless a beta option brings them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agents.errand import Tools
from agents.servers.script import Call
from comparison import oracle
from more_agents.installing import Npm
from more_agents.real_agent import Place, RealAgent

_CONFIG = """\
name: Fake
version: 1.0.0
schema: v1
models:
  - name: Fake
    provider: openai
    model: fake-model
    apiBase: {url}/v1
    apiKey: sk-fake
    useResponsesApi: false
    capabilities: [tool_use]
    roles: [chat]
"""


def prepare(place: Place) -> list[str]:
    """A model that speaks chat completions, in a file of settings."""
    config = place.write(".continue/config.yaml", _CONFIG.format(url=place.url))
    place.environment |= {"CONTINUE_TELEMETRY_ENABLED": "0"}
    return [*place.program, "--config", str(config), "--auto", "-p"]


def tools(folder: Path) -> Tools:
    """Its tools; there are no subagents."""
    return Tools(
        shell=lambda command: Call("Bash", {"command": command}),
        read=lambda name: Call("Read", {"filepath": str(folder / name)}),
        delegate=(),
    )


def count(home: Path) -> dict[str, Any]:
    """What the counter finds in the one document."""
    (document,) = (home / ".continue" / "sessions").glob("*-*.json")
    found: dict[str, Any] = oracle("continue_session").count(document)
    return found


AGENT = RealAgent(
    format_name="continue_session",
    agent_id="continue",
    program=Npm("@continuedev/cli", "1.5.47", ".bin/cn", is_script=False),
    prepare=prepare,
    tools=tools,
    count=count,
)
