"""Hermes Agent: its subagents work in the background, so none is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agents.errand import Tools
from agents.servers.script import Call
from comparison import oracle
from more_agents.installing import Pip
from more_agents.real_agent import Place, RealAgent

_CONFIG = """\
model:
  default: fake-model
  provider: custom
  base_url: {url}/v1
  api_key: sk-fake
"""


def prepare(place: Place) -> list[str]:
    """A model that speaks chat completions, in a file of settings."""
    place.write(".hermes/config.yaml", _CONFIG.format(url=place.url))
    place.environment |= {
        "OPENAI_API_KEY": "sk-fake",
        "OPENAI_BASE_URL": f"{place.url}/v1",
        "HERMES_YOLO_MODE": "1",
    }
    return [*place.program, "chat", "--yolo", "-Q", "-q"]


def tools(folder: Path) -> Tools:
    """Its tools."""
    return Tools(
        shell=lambda command: Call("terminal", {"command": command}),
        read=lambda name: Call("read_file", {"path": str(folder / name)}),
        delegate=(),
    )


def count(home: Path) -> dict[str, Any]:
    """What the counter finds in the database."""
    found: dict[str, Any] = oracle("hermes_agent").count_database(home / ".hermes" / "state.db")
    return found


AGENT = RealAgent(
    format_name="hermes_agent",
    agent_id="hermes-agent",
    program=Pip("hermes-agent", "0.19.0", "hermes"),
    prepare=prepare,
    tools=tools,
    count=count,
)
