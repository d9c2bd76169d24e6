"""Plain chats: the field names for turns, speaker, words and time."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_dict, a_list, a_str, a_time

_LISTS = (
    "conversations", "conversation", "messages", "chat", "chat_history", "history", "dialogue", "dialog", "turns",
    "trajectory", "transcript",
)  # fmt: skip
_SPEAKERS = ("role", "from", "sender", "author", "speaker")
_WORDS = ("content", "value", "text", "message", "body")
_TIMES = ("timestamp", "created_at", "create_time", "createdAt", "date", "time", "ts")
_ROLES = {
    **dict.fromkeys(("user", "human", "prompter", "me", "you"), "user"),
    **dict.fromkeys(("assistant", "gpt", "ai", "bot", "model", "chatgpt", "claude", "gemini", "agent"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "observation", "function_response", "ipython", "environment"), "tool"),
    "function_call": "call",
}


def turns_of(record: Any) -> list[dict[str, Any]]:
    """The turns of a chat: of a list, or of an object that has one; none for anything else."""
    if isinstance(record, list):
        return _turns(record)
    chat = a_dict(record)
    return next((turns for name in _LISTS if (turns := _turns(chat.get(name)))), [])


def _turns(value: Any) -> list[dict[str, Any]]:
    turns = a_list(value)
    are_turns = turns and all(role_of(each) and has_words(each) for each in turns)
    is_chat = are_turns and any(role_of(each) in ("user", "assistant") for each in turns)
    return turns if is_chat else []


def role_of(turn: Any) -> str:
    """`user`, `assistant`, `system`, `tool` or `call`; empty when the speaker is unknown."""
    for name in _SPEAKERS:
        speaker = a_dict(turn).get(name)
        if isinstance(speaker, dict):
            speaker = speaker.get("role") or speaker.get("name")
        if isinstance(speaker, str):
            return _ROLES.get(speaker.strip().lower(), "")
    return ""


def has_words(turn: dict[str, Any]) -> bool:
    """Whether a turn has words or a call."""
    return isinstance(words_of(turn), str | list) or isinstance(turn.get("tool_calls"), list)


def words_of(turn: dict[str, Any]) -> Any:
    """What is said: a text, or a list of parts."""
    return next((turn[name] for name in _WORDS if isinstance(turn.get(name), str | list)), None)


def time_of(turn: dict[str, Any]) -> str | None:
    """When it was said."""
    return next((time for name in _TIMES if (time := a_time(turn.get(name)))), None)


def facts_of(record: Any) -> dict[str, Any]:
    """The fields of a chat besides its turns."""
    turns = turns_of(record)
    return {name: value for name, value in a_dict(record).items() if value is not turns and value != turns}


def id_of(record: Any) -> str:
    """The chat's own id."""
    names = ("id", "conversation_id", "chat_id", "session_id", "uuid", "instance_id")
    return next((text for name in names if (text := a_str(a_dict(record).get(name)))), "")
