"""Qwen Code, with the newest of its session files."""

from __future__ import annotations

import json
from pathlib import Path

import parity
from agents.errand import Tools
from agents.servers.script import Call
from more_agents.installing import Npm
from more_agents.real_agent import Place, RealAgent

_SETTINGS = {
    "privacy": {"usageStatisticsEnabled": False},
    "security": {"auth": {"selectedType": "openai"}},
    "general": {"enableAutoUpdate": False},
    "telemetry": {"enabled": False},
}


def prepare(place: Place) -> list[str]:
    """A model that speaks chat completions, by the environment."""
    place.write(".qwen/settings.json", json.dumps(_SETTINGS))
    place.environment |= {
        "OPENAI_API_KEY": "sk-fake",
        "OPENAI_BASE_URL": f"{place.url}/v1",
        "OPENAI_MODEL": "fake-model",
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
    }
    return [*place.program, "--yolo", "--output-format", "stream-json", "-p"]


def tools(folder: Path) -> Tools:
    """Its subagents work in the background unless they are asked not to."""
    child = {"description": "Count files", "prompt": parity.CHILD_PROMPT, "subagent_type": "general-purpose"}
    return Tools(
        shell=lambda command: Call("run_shell_command", {"command": command, "description": "Run it"}),
        read=lambda name: Call("read_file", {"file_path": str(folder / name)}),
        delegate=(Call("agent", {**child, "run_in_background": False}),),
    )


AGENT = RealAgent(
    format_name="qwen_code",
    agent_id="qwen-code",
    program=Npm("@qwen-code/qwen-code", "0.24.4", ".bin/qwen", is_script=False),
    prepare=prepare,
    tools=tools,
    files=lambda home: sorted((home / ".qwen" / "projects").rglob("*.jsonl")),
)
