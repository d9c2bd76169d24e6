"""gptme: its model calls tools by itself (`--tool-format tool`), and one of them ends the session."""

from __future__ import annotations

from pathlib import Path

import parity
from agents.servers.script import Call, Scripts, Text, Thinking
from more_agents.installing import Pip
from more_agents.real_agent import Place, RealAgent


def prepare(place: Place) -> list[str]:
    """A local model by the environment; no person is there to be asked."""
    place.write(".config/gptme/config.toml", "[prompt]\n[env]\n")
    place.environment |= {
        "OPENAI_BASE_URL": f"{place.url}/v1",
        "OPENAI_API_KEY": "sk-fake",
        "LOCAL_API_KEY": "sk-fake",
        "GPTME_CHAT_HISTORY": "false",
        "GPTME_TELEMETRY_ENABLED": "false",
        "GPTME_CHECK": "false",
    }
    options = ["--non-interactive", "--model", "local/fake-model", "--name", "errand", "--tool-format", "tool"]
    return [*place.program, *options, "--tools", "shell,read,save,complete"]


def scripts(folder: Path) -> Scripts:
    """The last call ends the session: without it, the program asks its model to go on."""

    def shell(command: str) -> Call:
        return Call("shell", {"command": command})

    def read(name: str) -> Call:
        return Call("read", {"path": str(folder / name)})

    return {
        "errand": [
            [Thinking(parity.THOUGHT), Text(parity.FIRST_TEXT), shell(parity.COMMAND)],
            [read("notes.txt")],
            [Text(parity.SECOND_TEXT), shell(f"({parity.FAILING})")],
            [read("nothing.txt")],
            [Text(parity.FINAL_TEXT), Call("complete", {})],
        ]
    }


AGENT = RealAgent(
    format_name="gptme",
    agent_id="gptme",
    program=Pip("gptme", "0.35.1", "gptme"),
    prepare=prepare,
    scripts=scripts,
    files=lambda home: sorted((home / ".local" / "share" / "gptme" / "logs").glob("*/conversation.jsonl")),
)
