"""OpenHands: a program of Python 3.12; its subagents are conversations below the one that asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import parity
from agents.errand import Tools
from agents.servers.script import Call
from comparison import oracle
from more_agents.installing import Pip
from more_agents.real_agent import Place, RealAgent


def prepare(place: Place) -> list[str]:
    """A model that speaks chat completions, by the environment; nothing is fetched or told to others."""
    place.environment |= {
        "LLM_API_KEY": "sk-fake",
        "LLM_BASE_URL": f"{place.url}/v1",
        "LLM_MODEL": "openai/fake-model",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENHANDS_SUPPRESS_BANNER": "1",
        "OTEL_SDK_DISABLED": "true",
        "DO_NOT_TRACK": "1",
    }
    return [*place.program, "--headless", "--json", "--override-with-envs", "--always-approve", "-t"]


def tools(folder: Path) -> Tools:
    """Its tools; a bare `exit` would end its shell, so the command that fails does so in a shell of its own."""

    def call(name: str, **given: str) -> Call:
        return Call(name, {**given, "security_risk": "LOW"})

    child = {"description": "Count files", "prompt": parity.CHILD_PROMPT, "subagent_type": "general-purpose"}
    return Tools(
        shell=lambda command: call("terminal", command=f"({command})" if "exit" in command else command),
        read=lambda name: call("file_editor", command="view", path=str(folder / name)),
        delegate=(call("task", **child),),
    )


def count(home: Path) -> dict[str, Any]:
    """What the counter finds in the conversation and in that of its subagent."""
    found: dict[str, Any] = oracle("openhands").count(home / ".openhands" / "conversations")
    return found


AGENT = RealAgent(
    format_name="openhands",
    agent_id="openhands",
    program=Pip("openhands", "1.16.0", "openhands", python=12),
    prepare=prepare,
    tools=tools,
    count=count,
)
