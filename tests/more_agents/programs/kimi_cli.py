"""kimi-cli 1, which is at its end: a provider in its settings, and subagents. It needs a newer Python than we do."""

from __future__ import annotations

from pathlib import Path

import parity
from agents import errand
from agents.errand import Tools
from agents.servers.script import Call, Scripts, Text
from more_agents.installing import Pip
from more_agents.real_agent import Place, RealAgent

_SETTINGS = """
default_model = "fake"
default_thinking = true
telemetry = false

[models.fake]
provider = "fake"
model = "fake-model"
max_context_size = 128000
capabilities = ["thinking"]

[providers.fake]
type = "openai_legacy"
base_url = "{url}/v1"
api_key = "sk-fake"
"""


def prepare(place: Place) -> list[str]:
    """No updates, no telemetry; what it prints is text."""
    place.write(".kimi/config.toml", _SETTINGS.format(url=place.url))
    place.environment |= {"KIMI_CLI_NO_AUTO_UPDATE": "1"}
    return [*place.program, "--print", "-p"]


def scripts(folder: Path) -> Scripts:
    """A subagent's answer that is short makes the program ask for more: it gets the same again."""
    tools = Tools(
        shell=lambda command: Call("Shell", {"command": command}),
        read=lambda name: Call("ReadFile", {"path": str(folder / name)}),
        delegate=(Call("Agent", {"description": "Count files", "prompt": parity.CHILD_PROMPT}),),
    )
    told = errand.scripts(tools)
    return {**told, "child_errand": [*told["child_errand"], [Text(parity.CHILD_ANSWER)]]}


AGENT = RealAgent(
    format_name="kimi_cli",
    agent_id="kimi-cli",
    program=Pip("kimi-cli", "1.45.0", "kimi", python=13),  # its dataclasses break on 3.12.1
    prepare=prepare,
    scripts=scripts,
    totals=lambda totals: {name: number for name, number in totals.items() if name != "reasoning_output_tokens"},
    files=lambda home: sorted((home / ".kimi" / "sessions").rglob("wire.jsonl")),
)
