"""The errand of `tests/parity.py` for each agent: the same answers of the model, with the names of its own tools."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import parity
from agents import programs
from agents.copilot import copilot
from agents.gemini import gemini
from agents.opencode import database, opencode
from agents.servers.script import Call, Scripts, Text, Thinking
from agents.session import Session, claude, codex


@dataclass(frozen=True)
class Tools:
    """What an agent calls what the errand needs."""

    shell: Callable[[str], Call]
    read: Callable[[str], Call]
    """Takes a name in the folder."""
    delegate: tuple[Call, ...]
    """The calls to have a subagent do something, from asking it to its answer; none where it has no subagents."""
    finish: tuple[Call, ...] = ()
    """What a subagent calls when it is done."""


def _claude(folder: Path) -> Tools:
    child = {"description": "Count files", "prompt": parity.CHILD_PROMPT, "subagent_type": "general-purpose"}
    return Tools(
        shell=lambda command: Call("Bash", {"command": command, "description": "Run it"}),
        read=lambda name: Call("Read", {"file_path": str(folder / name)}),
        delegate=(Call("agent", {**child, "run_in_background": False}),),
    )


def _codex(folder: Path) -> Tools:
    return Tools(
        shell=lambda command: Call("shell", {"command": command}),
        read=lambda name: Call("shell", {"command": f"cat {name}"}),
        delegate=(
            Call("spawn_agent", {"message": parity.CHILD_PROMPT, "agent_type": "default"}),
            Call("wait_agent", {"targets": ["@agent"], "timeout_ms": 600_000}),
        ),
    )


def _gemini(folder: Path) -> Tools:
    return Tools(
        shell=lambda command: Call("run_shell_command", {"command": command, "description": "Run it"}),
        read=lambda name: Call("read_file", {"file_path": str(folder / name)}),
        delegate=(Call("invoke_agent", {"agent_name": "generalist", "prompt": parity.CHILD_PROMPT}),),
        finish=(Call("complete_task", {"result": {"response": parity.CHILD_ANSWER}}),),
    )


def _copilot(folder: Path) -> Tools:
    child = {"name": "counter", "description": "Count files", "agent_type": "general-purpose", "mode": "sync"}
    return Tools(
        shell=lambda command: Call("bash", {"command": command, "description": "Run it"}),
        read=lambda name: Call("view", {"path": str(folder / name)}),
        delegate=(Call("task", {**child, "prompt": parity.CHILD_PROMPT}),),
    )


def opencode_tools(folder: Path) -> Tools:
    """OpenCode's, and those of programs made from it."""
    child = {"description": "Count files", "prompt": parity.CHILD_PROMPT, "subagent_type": "general"}
    return Tools(
        shell=lambda command: Call("bash", {"command": command, "description": "Run it"}),
        read=lambda name: Call("read", {"filePath": str(folder / name)}),
        delegate=(Call("task", child),),
    )


def scripts(tools: Tools) -> Scripts:
    """The errand, answer by answer."""
    ask, more = tools.delegate[:1], tools.delegate[1:]
    return {
        "errand": [
            [Thinking(parity.THOUGHT), Text(parity.FIRST_TEXT), tools.shell(parity.COMMAND)],
            [tools.read("notes.txt")],
            [Text(parity.SECOND_TEXT), tools.shell(parity.FAILING)],
            [tools.read("nothing.txt")],
            *([Text(parity.SPAWN_TEXT), call] for call in ask),
            *([call] for call in more),
            [Text(parity.FINAL_TEXT)],
        ],
        "child_errand": [
            [Thinking(parity.CHILD_THOUGHT), Text(parity.CHILD_TEXT), tools.shell(parity.CHILD_COMMAND)],
            [Text(parity.CHILD_ANSWER), *tools.finish],
        ],
    }


Opening = Callable[[Path], contextlib.AbstractContextManager[Session]]
SESSIONS: Mapping[str, tuple[Opening, Callable[[Path], Tools]]] = {
    "claude_code": (lambda place: claude(programs.CLAUDE[0], place), _claude),
    "codex_rollout": (lambda place: codex(programs.CODEX[0], place), _codex),
    "gemini_cli": (gemini, _gemini),
    "copilot_cli": (lambda place: copilot("responses", place), _copilot),
    "opencode": (opencode, opencode_tools),
}


@contextlib.contextmanager
def errand(format_name: str, place: Path) -> Iterator[Session]:
    """The agent of a format when it has done the errand in a new folder."""
    opened, tools = SESSIONS[format_name]
    with opened(place) as session:
        model = session.model._model if format_name == "copilot_cli" else session.model  # Copilot's is listened to
        model.play(scripts(tools(place / "work")))
        session.run(parity.PROMPT)
        yield session


def left_by(session: Session) -> Path:
    """What to convert: the folder of the session's files, or the database."""
    return database(session) if database(session).exists() else session.transcripts
