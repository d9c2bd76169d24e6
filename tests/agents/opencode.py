"""OpenCode with its fake model, in a home and a folder of its own."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from agents import scenario
from agents.programs import OPENCODE, program
from agents.servers.chat_api import ChatApi
from agents.servers.loopback import serving
from agents.servers.script import Call, Scripts, Text, Thinking
from agents.session import PATIENCE, Session


def scripts(folder: Path) -> Scripts:
    """What the model makes OpenCode do: the scenario of all agents, under the names of its tools."""

    def shell(command: str) -> Call:
        return Call("bash", {"command": command, "description": "Run it"})

    def file(name: str) -> Call:
        return Call("read", {"filePath": str(folder / name)})

    # It ends commands after two minutes unless it is told a longer time, in milliseconds.
    slow = Call("bash", {"command": scenario.SLOW_COMMAND, "description": "Run it", "timeout": 600_000})
    child = {"description": "Count files", "prompt": scenario.CHILD_PROMPT, "subagent_type": "general"}
    return {
        "main": [
            [Thinking(scenario.THOUGHT), Text(scenario.FIRST_TEXT), shell(scenario.COMMAND), file("notes.txt")],
            [Text(scenario.SECOND_TEXT), shell(scenario.FAILING)],
            [file("nothing.txt")],
            [Text(scenario.SPAWN_TEXT), Call("task", child)],
            [Text(scenario.FINAL_TEXT)],
        ],
        "child": [
            [Thinking(scenario.CHILD_THOUGHT), Text(scenario.CHILD_TEXT), shell(scenario.CHILD_COMMAND)],
            [Text(scenario.CHILD_ANSWER)],
        ],
        "next": [[Text(scenario.NEXT_TEXT)]],
        "slow": [[Text(scenario.SLOW_TEXT), slow], [Text(scenario.NEXT_TEXT)]],
    }


@contextlib.contextmanager
def opencode(place: Path) -> Iterator[Session]:
    """A program that is ready to run; its prompt is its last argument."""
    for name in ("home", "work", "temporary"):
        (place / name).mkdir(parents=True)
    (place / "work" / "notes.txt").write_text(scenario.NOTES, "utf-8")
    model = ChatApi(scripts(place / "work"))
    with serving(model) as url:
        (place / "work" / "opencode.json").write_text(json.dumps(settings(url)), "utf-8")
        # As little as will do: no settings, no proxies and no secrets of whoever runs the tests.
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(place / "home"),
            "TMPDIR": str(place / "temporary"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }
        quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")
        environment |= {f"OPENCODE_DISABLE_{name}": "1" for name in quiet}
        command = [str(program("opencode", OPENCODE)), "run", "--format", "json"]
        transcripts = place / "home" / ".local" / "share" / "opencode"
        yield Session(OPENCODE, command, place, model, transcripts, environment)


def settings(url: str) -> dict[str, object]:
    """What `opencode.json` must say for a model that listens there."""
    models = {
        "fake-model": {
            "name": "Fake",
            "tool_call": True,
            "reasoning": True,
            "limit": {"context": 200_000, "output": 8_000},
        }
    }
    options = {"baseURL": f"{url}/v1", "apiKey": "sk-fake"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": options, "models": models}
    model = "fake/fake-model"
    return {
        "provider": {"fake": provider},
        "model": model,
        "small_model": model,
        "autoupdate": False,
        "share": "disabled",
    }


def database(session: Session) -> Path:
    """Where everything is."""
    return session.transcripts / "opencode.db"


def watch(session: Session, look: Callable[[], bool], *, then_go_on: bool) -> None:
    """Runs the slow script, and looks again and again until it has seen enough; then lets the command end, or kills."""
    started = session.folder / "started"
    with session._running(scenario.SLOW_PROMPT) as process:
        deadline = time.monotonic() + PATIENCE
        while not look():
            assert time.monotonic() < deadline, "what was waited for never came"
            assert process.poll() is None, session.stdout.read_text("utf-8")
            time.sleep(0.05)
        if then_go_on:
            started.unlink()
            assert process.wait(PATIENCE) == 0
    started.unlink(missing_ok=True)
