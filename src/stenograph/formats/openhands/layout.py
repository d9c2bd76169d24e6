"""Where OpenHands keeps its conversations: a folder for each, with its state and a file for each event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from stenograph.formats.base import Identity
from stenograph.formats.layout import Contents, Home, Layout, Parent, StoredSession
from stenograph.formats.openhands.detection import identity_of
from stenograph.formats.shared.collection import run_line
from stenograph.formats.shared.loose import a_dict, a_str, dicts
from stenograph.formats.shared.model_api.parts import plain_text
from stenograph.formats.shared.rewritten import session_of_lines

_RESPONSE = "llm_response_id"
_STATE = "base_state.json"
_SUBAGENTS = "subagents/"


def conversations_in(files: Contents) -> list[StoredSession]:
    """The conversation of a folder, then those of its subagents, which are kept below it."""
    folders = sorted({name.rpartition(_STATE)[0] for name in files.names if name.endswith(f"/{_STATE}")})
    main = _Conversation(files, "", None)
    found = {"": main}
    for folder in folders:
        parent = found.get(folder.rpartition(_SUBAGENTS)[0], main)
        found[folder] = _Conversation(files, folder, parent)
    answers = {answer for each in found.values() for answer in each.answers}
    return [each.stored(answers) for each in found.values()]


class _Conversation:
    """The files of one conversation: its state, then its events in order, each answer with its tokens."""

    def __init__(self, files: Contents, folder: str, parent: _Conversation | None) -> None:
        self.state = a_dict(files.read(f"{folder}{_STATE}" if folder else ""))
        beginning = f"{folder}events/"
        self.events = [files.read(name) for name in files.names if name.startswith(beginning)]
        self.calls = calls_of(self.events)
        self.parent = parent
        """The conversation that spawned it; None for the one that a person began."""

    @property
    def identity(self) -> Identity:
        own = identity_of(self.state)
        if self.parent is None:
            return own
        return replace(own, native_id=self.parent.identity.native_id, source=f"subagent:{own.native_id}")

    @property
    def answers(self) -> set[str]:
        """The ids of its own model answers."""
        return {answer for event in dicts(self.events) if (answer := a_str(event.get(_RESPONSE)))}

    def stored(self, elsewhere: set[str]) -> StoredSession:
        """The session, without the tokens of other conversations' answers: a subagent's are in both states."""
        state = {name: value for name, value in self.state.items() if name != "stats"}
        state["began"] = next((event.get("timestamp") for event in dicts(self.events)), None)
        others = elsewhere - self.answers
        usages = [each for each in usages_of(self.state) if a_str(each.get("response_id")) not in others]
        lines = [run_line(each) for each in (state, *_with_usages(self.events, usages))]
        parent: Parent = (None, None)
        if self.parent is not None:
            its_calls = self.parent.calls.get(prompt_of(self.events))
            parent = (self.parent.identity.source, its_calls.pop(0) if its_calls else None)
        return session_of_lines(self.identity, lines, lambda: parent)


def calls_of(events: list[Any]) -> dict[str, list[str]]:
    """The calls that spawned subagents, by the prompts: nothing else links them."""
    found: dict[str, list[str]] = {}
    for event in dicts(events):
        prompt = a_dict(event.get("action")).get("prompt")
        if isinstance(prompt, str):
            found.setdefault(prompt, []).append(a_str(event.get("tool_call_id")))
    return found


def prompt_of(events: list[Any]) -> str:
    """The text of the first user message."""
    first = next((each for each in dicts(events) if "llm_message" in each and each.get("source") == "user"), {})
    return plain_text(a_dict(first.get("llm_message")).get("content"))


def usages_of(state: dict[str, Any]) -> list[dict[str, Any]]:
    """The tokens of each model call, with the name of the part of OpenHands that made it."""
    metrics = a_dict(a_dict(state.get("stats")).get("usage_to_metrics"))
    calls = {name: dicts(a_dict(value).get("token_usages")) for name, value in metrics.items()}
    return [{"usage_id": name, **each} for name, usages in calls.items() for each in usages]


def _with_usages(events: list[Any], usages: list[dict[str, Any]]) -> Iterator[Any]:
    """The events; after the last one of each answer its tokens, and at the end those without an answer."""
    waiting: dict[str, list[dict[str, Any]]] = {}
    for each in usages:
        waiting.setdefault(a_str(each.get("response_id")), []).append(each)
    answers = [a_str(a_dict(event).get(_RESPONSE)) for event in events]
    last = {answer: number for number, answer in enumerate(answers) if answer}
    for number, (event, answer) in enumerate(zip(events, answers, strict=True)):
        yield event
        if last.get(answer) == number:
            yield from waiting.pop(answer, ())
    for left in waiting.values():
        yield from left


def _folder_name(session_id: str) -> str:
    return session_id.replace("-", "")


_BELOW = ("subagents/*/base_state.json", "subagents/*/events/event-*.json")
"""The files of a subagent; subagents of a subagent are one level deeper."""

LAYOUT = Layout(
    homes=(
        Home(default=".openhands", variable="OPENHANDS_PERSISTENCE_DIR", folder="conversations"),
        Home(default=".openhands/conversations", variable="OPENHANDS_CONVERSATIONS_DIR"),
    ),
    sessions=("{session}/base_state.json",),
    session_in_name=_folder_name,
    runs=conversations_in,
    parts=("events/event-*.json", *_BELOW, *(f"subagents/*/{each}" for each in _BELOW)),
)
