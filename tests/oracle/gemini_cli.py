"""Counts a chat file of Gemini CLI with nothing but `json`, on purpose naively. Knows nothing of stenograph.

First everything is laid out flat: each message as often as the file holds it, and in which history (`$set`), if it did
not stand by itself. Then words count at their first sight; a history has no say about a message
that is known, nor about words that were said before.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

Told = tuple[int, dict[str, Any]]
"""A message with the number of the history that it stood in; 0 for one that was told by itself."""

_BEGINNINGS = ["<session_context>", "This is the Gemini CLI. We are setting up", "<hook_context>", "<state_snapshot>"]
_OF_THE_HARNESS = ["Got it. Thanks for the additional context!", "Binary content received. Proceeding with analysis."]


def count(path: Path | str) -> dict[str, Any]:
    """What one file holds: ids of calls and results, texts, tokens by message, non-empty lines."""
    data = Path(path).read_bytes()
    lines = [line for line in data.split(b"\n") if line.strip()]
    told: list[Told] = []
    for number, record in enumerate(_records(data, lines)):
        if isinstance(record, dict) and isinstance(record.get("id"), str):
            told.append((0, record))
        elif isinstance(record, dict):
            history = number if "$set" in record else 0
            told += [(history, message) for message in record.get("$set", record).get("messages") or []]

    answers = [(history, message) for history, message in told if message.get("type") == "gemini"]
    said, thought = _words(answers)
    uses, results, failed = _calls(told)
    tokens = {message["id"]: Counter(message["tokens"]) for _, message in answers if message.get("tokens")}
    return {
        "tool_uses": uses,
        "tool_results": results,
        "failed_results": failed,
        "text": "".join(said),
        "thinking": "".join(thought),
        "input_tokens": {name: each["input"] + each["tool"] for name, each in tokens.items()},
        "output_tokens": {name: each["output"] + each["thoughts"] for name, each in tokens.items()},
        "cached_tokens": {name: each["cached"] for name, each in tokens.items()},
        "reasoning_tokens": {name: each["thoughts"] for name, each in tokens.items()},
        "messages": {"user": len(_people(_first_hand(told))), "assistant": len(_models(_first_hand(answers)))},
        "lines": len(lines),
    }


def _records(data: bytes, lines: list[bytes]) -> list[Any]:
    found: list[Any] = []
    if lines and lines[0].strip() == b"{":  # a file of old: one document, printed over many lines
        return [json.loads(data)]
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def _parts(message: dict[str, Any]) -> list[Any]:
    content = message.get("content") or []
    parts = content if isinstance(content, list) else [content]
    return [{"text": part} if isinstance(part, str) else part for part in parts]


def _thought(thought: dict[str, Any]) -> str:
    heading = f"**{thought['subject']}**\n\n" if thought.get("subject") else ""
    return heading + thought.get("description", "")


def _words(answers: list[Told]) -> tuple[list[str], list[str]]:
    said: list[str] = []
    thought: list[str] = []
    known: list[tuple[int, str, str]] = []
    for history, message in answers:
        text = "".join(part["text"] for part in _parts(message) if "text" in part and not part.get("thought"))
        thoughts = [_thought(each) for each in message.get("thoughts") or []]
        parts = [part["text"] for part in _parts(message) if "text" in part and part.get("thought")]
        thoughts += [words for words in parts if _flat(words) not in [_flat(each) for each in thoughts]]
        if not message.get("tokens") and text in _OF_THE_HARNESS:
            continue
        own = [words for _, name, words in known if name == message["id"]]
        before = [words for other, _, words in known if other != history] if history else own
        if not (history and own):
            said += [text] if _flat(text) not in before else []
            thought += [words for words in thoughts if _flat(words) not in before]
        known += [(history or -1, message["id"], _flat(words)) for words in [text, *thoughts] if words]
    return said, thought


def _first_hand(told: list[Told]) -> list[Told]:
    """Those that a history did not make up: a compaction gives old messages new ids."""
    return [(history, message) for history, message in told if not history]


def _people(told: list[Told]) -> set[str]:
    """The messages in which a person says something."""
    return {
        message["id"]
        for _, message in told
        if message.get("type") == "user"
        and any("functionResponse" not in part and not _is_of_the_harness(part) for part in _parts(message))
    }


def _is_of_the_harness(part: dict[str, Any]) -> bool:
    text = str(part.get("text", "")).lstrip()
    return text.startswith(tuple(_BEGINNINGS)) or "You have one final chance to complete the task" in text


def _models(answers: list[Told]) -> set[str]:
    """The messages in which a model says, thinks or wants something."""
    return {
        message["id"]
        for _, message in answers
        if (message.get("content") or message.get("thoughts") or message.get("toolCalls"))
        and (message.get("tokens") or message.get("content") not in _OF_THE_HARNESS)
    }


def _flat(text: str) -> str:
    return " ".join(text.split())


def _calls(told: list[Told]) -> tuple[list[str], list[str], list[str]]:
    uses: list[str] = []
    results: list[str] = []
    failed: list[str] = []
    for _, message in told:
        for number, part in enumerate(_parts(message)):
            if isinstance(part, dict) and "functionCall" in part:
                uses.append(part["functionCall"].get("id") or f"{message['id']}:{number}")
        for number, call in enumerate(message.get("toolCalls") or []):
            name = call.get("id") or f"{message['id']}:call-{number}"
            uses.append(name)
            if call.get("result") is None and call.get("status") not in ("success", "error", "cancelled"):
                continue
            if name not in results and call.get("status") in ("error", "cancelled"):
                failed.append(name)
            results.append(name)
        for part in _parts(message) if message.get("type") == "user" else []:
            if isinstance(part, dict) and "functionResponse" in part:
                response = part["functionResponse"]
                answer = response.get("response") or {}
                if response["id"] not in results and "error" in answer and "output" not in answer:
                    failed.append(response["id"])
                results.append(response["id"])
    return [list(dict.fromkeys(names)) for names in (uses, results, failed)]  # type: ignore[return-value]
