"""Gemini CLI with its fake model, in a home and a folder of its own."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from agents import scenario
from agents.programs import GEMINI, program
from agents.servers.gemini_api import GeminiApi
from agents.servers.loopback import serving
from agents.servers.script import Call, Scripts, Text, Thinking, mark
from agents.session import Session

BIG_PROMPT = f"Please print a lot. {mark('big')}"
BIG_COMMAND = "seq 1 20000"
BIG_TEXT = "That was a lot."
_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "tools": {"shell": {"inactivityTimeout": 1200}},
}


def scripts(folder: Path) -> Scripts:
    """What the model makes Gemini CLI do: the scenario of all agents, under the names of its tools."""

    def shell(command: str) -> Call:
        return Call("run_shell_command", {"command": command, "description": "Run it"})

    def file(name: str) -> Call:
        return Call("read_file", {"file_path": str(folder / name)})

    child = Call("invoke_agent", {"agent_name": "generalist", "prompt": scenario.CHILD_PROMPT})
    done = Call("complete_task", {"result": {"response": scenario.CHILD_ANSWER}})
    return {
        "main": [
            [Thinking(scenario.THOUGHT), Text(scenario.FIRST_TEXT), shell(scenario.COMMAND), file("notes.txt")],
            [Text(scenario.SECOND_TEXT), shell(scenario.FAILING)],
            [file("nothing.txt"), Call("no_such_tool", {"x": 1})],
            [Text(scenario.SPAWN_TEXT), child],
            [Text(scenario.FINAL_TEXT)],
        ],
        "child": [
            [Thinking(scenario.CHILD_THOUGHT), Text(scenario.CHILD_TEXT), shell(scenario.CHILD_COMMAND)],
            [Text(scenario.CHILD_ANSWER), done],
        ],
        "next": [[Text(scenario.NEXT_TEXT)]],
        "slow": [[Text(scenario.SLOW_TEXT), shell(scenario.SLOW_COMMAND)], [Text("Too late.")]],
        "big": [[shell(BIG_COMMAND)], [Text(BIG_TEXT)]],
    }


@contextlib.contextmanager
def gemini(place: Path, *, compacts: bool = False) -> Iterator[Session]:
    """A program that is ready to run; its prompt is its last argument. With `compacts` it does so very soon."""
    for name in ("home/.gemini", "work", "temporary"):
        (place / name).mkdir(parents=True)
    settings = _SETTINGS | ({"model": {"compressionThreshold": 0.0005}} if compacts else {})
    (place / "home" / ".gemini" / "settings.json").write_text(json.dumps(settings), "utf-8")
    (place / "work" / "notes.txt").write_text(scenario.NOTES, "utf-8")
    command = [str(program("gemini", GEMINI)), "-m", "gemini-2.5-flash", "--output-format", "stream-json"]
    model = GeminiApi(scripts(place / "work"))
    with serving(model) as url:
        # As little as will do: no settings, no proxies and no secrets of whoever runs the tests.
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(place / "home"),
            "TMPDIR": str(place / "temporary"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "GEMINI_API_KEY": "fake",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        transcripts = place / "home" / ".gemini" / "tmp"
        yield Session(GEMINI, [*command, "--approval-mode", "yolo"], place, model, transcripts, environment)
