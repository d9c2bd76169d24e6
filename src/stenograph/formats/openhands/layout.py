"""Where OpenHands keeps its conversations: a folder for each, with its state and a file for each event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stenograph.formats.layout import Contents, Home, Layout, StoredSession
from stenograph.formats.openhands.detection import identity_of
from stenograph.formats.shared.collection import run_line
from stenograph.formats.shared.loose import a_dict, a_str, dicts
from stenograph.formats.shared.rewritten import session_of_lines

_RESPONSE = "llm_response_id"


def conversation_in(files: Contents) -> list[StoredSession]:
    """The conversation of a folder: its state, then its events in order, each answer with what it took."""
    state = a_dict(files.read(""))
    events = [files.read(name) for name in files.names if name]
    told = {name: value for name, value in state.items() if name != "stats"}
    lines = [run_line(each) for each in (told, *_with_usages(events, usages_of(state)))]
    return [session_of_lines(identity_of(state), lines)]


def usages_of(state: dict[str, Any]) -> list[dict[str, Any]]:
    """What each call of a model took, with the name of the part of OpenHands that made it."""
    metrics = a_dict(a_dict(state.get("stats")).get("usage_to_metrics"))
    return [
        {"usage_id": name, **each} for name, value in metrics.items() for each in dicts(a_dict(value)["token_usages"])
    ]


def _with_usages(events: list[Any], usages: list[dict[str, Any]]) -> Iterator[Any]:
    """The events; behind the last of each answer what it took, and at the end what belongs to none."""
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


LAYOUT = Layout(
    homes=(
        Home(default=".openhands", variable="OPENHANDS_PERSISTENCE_DIR", folder="conversations"),
        Home(default=".openhands/conversations", variable="OPENHANDS_CONVERSATIONS_DIR"),
    ),
    sessions=("{session}/base_state.json",),
    session_in_name=_folder_name,
    runs=conversation_in,
    parts=("events/event-*.json",),
)
