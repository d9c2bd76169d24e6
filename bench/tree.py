"""A tree of agents' files as people have them: Claude Code sessions with subagents, Codex threads, about 300 MB."""

from __future__ import annotations

import json
import random
import re
import sysconfig
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

SIZE = 300_000_000
SESSIONS = 400
_IS_ODD = re.compile(r"(^|/)(site-packages|test|tests|idlelib|lib2to3|encodings|pydoc_data|turtledemo)/")
"""What is there on some machines only, or is no text: tables of characters, tests."""
_START = datetime(2026, 1, 1, tzinfo=UTC)


def make_tree(home: Path, size: int = SIZE, sessions: int = SESSIONS, seed: int = 7) -> int:
    """Fill a home folder; how many bytes it came to."""
    chance = random.Random(seed)
    lines = real_lines()
    total = 0
    for number in range(sessions):
        wanted = int(size / sessions * chance.choice((0.1, 0.3, 0.5, 1.0, 1.5, 2.6)))
        at = _START + timedelta(minutes=97 * number)
        make = _claude if number % 5 < 3 else _codex
        total += make(home, Text(chance, lines), at, wanted, chance)
    return total


@cache
def real_lines() -> list[str]:
    """Lines of text that people wrote: the modules of Python's own library, whose words and names are real ones."""
    folder = Path(sysconfig.get_path("stdlib"))
    modules = sorted(each for each in folder.rglob("*.py") if not _IS_ODD.search(each.relative_to(folder).as_posix()))
    return [line for each in modules for line in each.read_text("utf-8", "replace").splitlines() if line.strip()]


class Text:
    """Texts of a session, in which much is said again: files are read twice, outputs look alike."""

    def __init__(self, chance: random.Random, lines: list[str]) -> None:
        self._chance = chance
        self._lines = lines
        self._said: list[str] = []

    def __call__(self, length: int) -> str:
        if self._said and self._chance.random() < 0.35:
            return self._chance.choice(self._said)[:length]
        at = self._chance.randrange(len(self._lines))
        text = "\n".join(self._lines[at : at + length // 8 + 1])[:length]
        self._said.append(text)
        return text


def _uuid(chance: random.Random) -> str:
    return str(UUID(int=chance.getrandbits(128), version=4))


def _claude(home: Path, text: Text, at: datetime, wanted: int, chance: random.Random) -> int:
    session = _uuid(chance)
    folder = home / ".claude" / "projects" / f"-home-user-project{chance.randrange(12)}"
    folder.mkdir(parents=True, exist_ok=True)
    main = wanted * 4 // 5
    total = _write(folder / f"{session}.jsonl", _claude_lines(session, text, at, chance), main)
    agents = folder / session / "subagents"
    agents.mkdir(parents=True)
    for number in range(2):
        name = f"agent-{number}{session[:8]}"
        lines = _claude_lines(session, text, at, chance, name.removeprefix("agent-"))
        total += _write(agents / f"{name}.jsonl", lines, (wanted - main) // 2)
        (agents / f"{name}.meta.json").write_text('{"agentType":"general-purpose","description":"look"}')
    return total


def _claude_lines(
    session: str, text: Text, at: datetime, chance: random.Random, agent: str | None = None
) -> Iterator[dict[str, Any]]:
    parent = None
    turn = 0
    while True:
        turn += 1
        call = f"toolu_{chance.getrandbits(96):024x}"
        message: dict[str, Any] = {
            "id": f"msg_{chance.getrandbits(96):024x}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "stop_reason": "tool_use",
            "usage": {
                "input_tokens": 4,
                "cache_creation_input_tokens": chance.randrange(4000),
                "cache_read_input_tokens": 15000 + turn * 300,
                "output_tokens": chance.randrange(20, 900),
                "service_tier": "standard",
            },
        }
        use = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": f"/home/user/{text(30)}"}}
        result = text(chance.choice((200, 1500, 4000, 9000)))
        outcome = {"type": "tool_result", "tool_use_id": call, "content": result}
        contents: list[dict[str, Any]] = [
            {**message, "content": [{"type": "text", "text": text(chance.choice((80, 300, 900)))}]},
            {**message, "content": [use]},
            {"role": "user", "content": [outcome]},
        ]
        if turn % 8 == 1:
            contents.insert(0, {"role": "user", "content": text(200)})
        for content in contents:
            at += timedelta(seconds=chance.uniform(0.5, 9))
            uuid = _uuid(chance)
            record = {
                "parentUuid": parent,
                "isSidechain": agent is not None,
                "userType": "external",
                "cwd": "/home/user/project",
                "sessionId": session,
                "version": "2.1.197",
                "gitBranch": "main",
                "type": content["role"],
                "message": content,
                "uuid": uuid,
                "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z",
            }
            if content.get("content", [{}])[0] is outcome:
                record["toolUseResult"] = {"type": "text", "file": {"content": result, "numLines": result.count("\n")}}
            parent = uuid
            yield record | ({} if agent is None else {"agentId": agent})


def _codex(home: Path, text: Text, at: datetime, wanted: int, chance: random.Random) -> int:
    thread = _uuid(chance)
    folder = home / ".codex" / "sessions" / at.strftime("%Y/%m/%d")
    folder.mkdir(parents=True, exist_ok=True)
    name = f"rollout-{at:%Y-%m-%dT%H-%M-%S}-{thread}.jsonl"
    return _write(folder / name, _codex_lines(thread, text, at, chance), wanted)


def _codex_lines(thread: str, text: Text, at: datetime, chance: random.Random) -> Iterator[dict[str, Any]]:
    meta = {"id": thread, "cwd": "/home/user/other", "originator": "codex_cli_rs", "cli_version": "0.166.0"}
    yield {"timestamp": _iso(at), "type": "session_meta", "payload": meta}
    total = {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    turn = 0
    while True:
        turn += 1
        call = f"call_{chance.getrandbits(96):024x}"
        last = {"input_tokens": 9000 + turn, "cached_input_tokens": 8000, "output_tokens": chance.randrange(900)}
        last["total_tokens"] = last["input_tokens"] + last["output_tokens"]
        total = {key: total[key] + last[key] for key in total}
        records: list[tuple[str, dict[str, Any]]] = []
        if turn % 8 == 1:
            context = {"turn_id": _uuid(chance), "model": "gpt-5.2-codex", "cwd": "/home/user/other"}
            records.append(("turn_context", context))
            records.append(("response_item", _said("user", "input_text", text(200))))
        records += [
            ("response_item", _said("assistant", "output_text", text(chance.choice((80, 300))))),
            ("response_item", _codex_call(call, text(60))),
            ("response_item", {"type": "function_call_output", "call_id": call, "output": text(5000)}),
            ("event_msg", {"type": "token_count", "info": {"total_token_usage": total, "last_token_usage": last}}),
        ]
        for kind, payload in records:
            at += timedelta(seconds=chance.uniform(0.5, 9))
            yield {"timestamp": _iso(at), "type": kind, "payload": payload}


def _said(role: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _codex_call(call: str, command: str) -> dict[str, Any]:
    arguments = json.dumps({"command": ["bash", "-lc", command]})
    return {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call}


def _iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def _write(path: Path, records: Iterator[dict[str, Any]], wanted: int) -> int:
    total = 0
    with path.open("wb") as file:
        while total < wanted:
            total += file.write(json.dumps(next(records), separators=(",", ":")).encode() + b"\n")
    return total
