"""Kimi Code: a provider in its settings, and subagents."""

from __future__ import annotations

from pathlib import Path

import parity
from agents.errand import Tools
from agents.servers.script import Call
from more_agents.installing import Npm
from more_agents.real_agent import Place, RealAgent

_SETTINGS = """
default_model = "fake"
telemetry = false

[providers.fake]
type = "openai"
base_url = "{url}/v1"
api_key = "sk-fake"

[models.fake]
provider = "fake"
model = "fake-model"
max_context_size = 128000
capabilities = ["thinking"]
"""


def prepare(place: Place) -> list[str]:
    """No updates, no telemetry; what it prints is text."""
    place.write(".kimi-code/config.toml", _SETTINGS.format(url=place.url))
    place.environment |= {"KIMI_CODE_NO_AUTO_UPDATE": "1", "KIMI_DISABLE_TELEMETRY": "1"}
    return [*place.program, "-p"]


def tools(folder: Path) -> Tools:
    """Its tools."""
    return Tools(
        shell=lambda command: Call("Bash", {"command": command}),
        read=lambda name: Call("Read", {"path": str(folder / name)}),
        delegate=(Call("Agent", {"description": "Count files", "prompt": parity.CHILD_PROMPT}),),
    )


AGENT = RealAgent(
    format_name="kimi_code",
    agent_id="kimi-code",
    program=Npm("@moonshot-ai/kimi-code", "2.1.0", ".bin/kimi", is_script=False),
    prepare=prepare,
    tools=tools,
    totals=lambda totals: {name: number for name, number in totals.items() if name != "reasoning_output_tokens"},
    files=lambda home: sorted((home / ".kimi-code" / "sessions").rglob("wire.jsonl")),
)
