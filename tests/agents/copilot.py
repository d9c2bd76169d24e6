"""Copilot CLI with a fake model of either API that it speaks to, and what the model is to make it do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agents import scenario
from agents.programs import COPILOT, program, unpacked_copilot
from agents.servers.loopback import Reply, serving
from agents.servers.messages_api import MessagesApi
from agents.servers.responses_api import ResponsesApi
from agents.servers.script import Call, Scripts, Text, Thinking
from agents.session import Session, _environment

APIS = ("responses", "messages")
"""OpenAI's and Anthropic's; the program keeps what they answer in different ways."""


class Model:
    """A fake model that remembers what it was told."""

    def __init__(self, api: str, scripts: Scripts) -> None:
        self.api = api
        self._model: Any = ResponsesApi(scripts) if api == "responses" else MessagesApi(scripts)
        self._requests: list[dict[str, Any]] = []

    def __call__(self, path: str, body: dict[str, Any]) -> Reply:
        """The answer to one request."""
        self._requests.append(body)
        reply: Reply = self._model(path, body)
        return _with_output(reply) if self.api == "responses" and not isinstance(reply, dict) else reply

    @property
    def answers(self) -> dict[str, int]:
        """The output tokens of every answer by its id."""
        return dict(self._model.answers)

    def heard(self) -> dict[str, str]:
        """What the model was told that its tools answered, by the call."""
        found: dict[str, str] = {}
        for request in self._requests:
            for item in request.get("input", []):
                if item.get("type") == "function_call_output":
                    found[item["call_id"]] = _text(item["output"])
            for message in request.get("messages", []):
                content = message["content"] if isinstance(message["content"], list) else []
                found |= {part["tool_use_id"]: _text(part["content"]) for part in content if "tool_use_id" in part}
        return found


def _with_output(events: Iterable[Any]) -> Iterator[Any]:
    """The events of a stream whose end repeats all of its items: Copilot looks nowhere else."""
    items = []
    for event in events:
        if event["type"] == "response.output_item.done":
            items.append(event["item"])
        elif event["type"] == "response.completed":
            event = {**event, "response": {**event["response"], "output": items}}
        yield event


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def scripts(folder: Path) -> Scripts:
    """The scripts for Copilot at work in a folder."""

    def bash(command: str) -> Call:
        return Call("bash", {"command": command, "description": "Run it"})

    def view(name: str) -> Call:
        return Call("view", {"path": str(folder / name)})

    child = {"name": "counter", "description": "Count files", "agent_type": "general-purpose", "mode": "sync"}
    return {
        "main": [
            [Thinking(scenario.THOUGHT), Text(scenario.FIRST_TEXT), bash(scenario.COMMAND)],
            [view("notes.txt")],
            [Text(scenario.SECOND_TEXT), bash(scenario.FAILING)],
            [view("nothing.txt")],
            [Text(scenario.SPAWN_TEXT), Call("task", {**child, "prompt": scenario.CHILD_PROMPT})],
            [Text(scenario.FINAL_TEXT)],
        ],
        "child": [
            [Thinking(scenario.CHILD_THOUGHT), Text(scenario.CHILD_TEXT), bash(scenario.CHILD_COMMAND)],
            [Text(scenario.CHILD_ANSWER)],
        ],
        "next": [[Text(scenario.NEXT_TEXT)]],
        "slow": [[Text(scenario.SLOW_TEXT), bash(scenario.SLOW_COMMAND)], [Text("Too late.")]],
    }


@contextlib.contextmanager
def copilot(api: str, place: Path) -> Iterator[Session]:
    """Copilot with its fake model; it needs no account for one of its user's own."""
    command = [str(program("copilot", COPILOT)), "--output-format", "json", "--allow-all-tools", "--allow-all-paths"]
    model = Model(api, scripts(place / "work"))
    with serving(model) as url:
        transcripts = place / "home" / ".copilot" / "session-state"
        session = Session(COPILOT, [*command, "-p"], place, model, transcripts, _environment(place))
        session.environment |= {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_MODEL": "gpt-5.5" if api == "responses" else "claude-sonnet-4.6",
            "COPILOT_PROVIDER_API_KEY": "sk-fake",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1" if api == "responses" else url,
            "COPILOT_PROVIDER_TYPE": "openai" if api == "responses" else "anthropic",
            "COPILOT_PROVIDER_WIRE_API": "responses",
            "XDG_CACHE_HOME": str(unpacked_copilot()),  # it would unpack 200 MB in every new home
        }
        yield session
