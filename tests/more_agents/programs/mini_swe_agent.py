"""mini-swe-agent: one tool, no subagents, and a command by which its model says that it is done."""

from __future__ import annotations

from pathlib import Path

import parity
from agents.servers.script import Call, Scripts, Text, Thinking
from more_agents.installing import Pip
from more_agents.real_agent import Place, RealAgent


def prepare(place: Place) -> list[str]:
    """A model by the environment; nothing is asked and nothing is fetched."""
    place.environment |= {
        "OPENAI_API_BASE": f"{place.url}/v1",
        "OPENAI_API_KEY": "sk-fake",
        "MSWEA_CONFIGURED": "true",
        "MSWEA_COST_TRACKING": "ignore_errors",
        "MSWEA_SILENT_STARTUP": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    return [*place.program, "-y", "--exit-immediately", "-m", "openai/fake-model", "-l", "0", "-t"]


def _shell(command: str) -> Call:
    return Call("bash", {"command": command})


def scripts(folder: Path) -> Scripts:
    """Everything by commands; the last one hands the work in."""
    return {
        "errand": [
            [Thinking(parity.THOUGHT), Text(parity.FIRST_TEXT), _shell(parity.COMMAND)],
            [_shell("cat notes.txt")],
            [Text(parity.SECOND_TEXT), _shell(parity.FAILING)],
            [_shell("cat nothing.txt")],
            [Text(parity.FINAL_TEXT), _shell("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")],
        ]
    }


AGENT = RealAgent(
    format_name="mini_swe_agent",
    agent_id="mini-swe-agent",
    program=Pip("mini-swe-agent", "2.4.6", "mini", more=("mcp",)),
    prepare=prepare,
    scripts=scripts,
    files=lambda home: sorted((home / ".config" / "mini-swe-agent").glob("*.traj.json")),
)
