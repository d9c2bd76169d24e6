"""Stands in for `claude`, `codex` and `tiny` on the pages: works on `stats.py` here, and writes its session as they do.

Asked with a model's address in the environment, it asks that model instead, as an agent does.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

OLD = "return sum(values) / len(values)"
NEW = "return sum(values) / len(values) if values else 0.0"
ANSWER = "mean([]) divided by zero (零除). It gives 0.0 now, and the tests pass."
CLAUDE, CODEX = "claude-opus-4-5", "gpt-5.1-codex"


class Session:
    """Lines with a time each, a moment apart."""

    def __init__(self) -> None:
        self.id = str(uuid4())
        self.lines: list[str] = []
        self._time = datetime.now(UTC)

    def add(self, record: dict[str, Any]) -> None:
        self._time += timedelta(milliseconds=20)
        self.lines.append(json.dumps({"timestamp": self.now, **record}, separators=(",", ":")))

    @property
    def now(self) -> str:
        return self._time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line + "\n" for line in self.lines))


def work() -> list[tuple[str, dict[str, str], str, bool]]:
    """What the agent does: tool, input, output, whether it failed."""
    file = Path.cwd() / "stats.py"
    if file.exists() and NEW not in file.read_text():
        file.write_text(file.read_text().replace(OLD, NEW))
    failed = "Exit code 1\nE   ZeroDivisionError: division by zero"
    return [
        ("Bash", {"command": "pytest -q", "description": "Run the tests"}, failed, True),
        ("Edit", {"file_path": str(file), "old_string": OLD, "new_string": NEW}, f"{file} has been updated.", False),
        ("Bash", {"command": "pytest -q", "description": "Run the tests"}, "2 passed", False),
    ]


def claude(prompt: str) -> None:
    session = Session()
    before: str | None = None

    def add(kind: str, message: dict[str, Any], **more: Any) -> None:
        nonlocal before
        about = {
            "type": kind,
            "uuid": str(uuid4()),
            "parentUuid": before,
            "sessionId": session.id,
            "isSidechain": False,
        }
        session.add(
            about | {"cwd": str(Path.cwd()), "version": "2.1.325", "gitBranch": "main", "message": message, **more}
        )
        before = about["uuid"]

    def answer(number: int, block: dict[str, Any], stop: str) -> None:
        usage = {"input_tokens": 1200 + 300 * number, "cache_read_input_tokens": 1000, "output_tokens": 80}
        message = {"id": f"msg_{session.id}_{number}", "type": "message", "role": "assistant", "model": CLAUDE}
        add("assistant", message | {"content": [block], "stop_reason": stop, "usage": usage})

    add("user", {"role": "user", "content": prompt})
    for number, (name, given, output, failed) in enumerate(work()):
        call = f"toolu_{number}"
        answer(number, {"type": "tool_use", "id": call, "name": name, "input": given}, "tool_use")
        result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
        add("user", {"role": "user", "content": [result]})
    answer(9, {"type": "text", "text": ANSWER}, "end_turn")
    folder = "".join(letter if letter.isalnum() else "-" for letter in str(Path.cwd()))
    session.write(Path.home() / ".claude" / "projects" / folder / f"{session.id}.jsonl")


def codex(prompt: str) -> None:
    session = Session()

    def item(**payload: Any) -> None:
        session.add({"type": "response_item", "payload": payload})

    def text(role: str, words: str) -> None:
        kind = "input_text" if role == "user" else "output_text"
        item(type="message", role=role, content=[{"type": kind, "text": words}])

    about = {"id": session.id, "timestamp": session.now, "cwd": str(Path.cwd()), "originator": "codex_exec"}
    session.add({"type": "session_meta", "payload": about | {"cli_version": "0.166.0", "source": "exec"}})
    session.add({"type": "turn_context", "payload": {"cwd": str(Path.cwd()), "model": CODEX}})
    text("user", prompt)
    session.add({"type": "event_msg", "payload": {"type": "user_message", "message": prompt}})
    for number, (_, given, output, failed) in enumerate(work()):
        if "command" in given:
            command = json.dumps({"command": ["bash", "-lc", given["command"]]})
            item(type="function_call", name="shell", arguments=command, call_id=f"call_{number}")
            ended = json.dumps({"output": output, "metadata": {"exit_code": int(failed)}})
            item(type="function_call_output", call_id=f"call_{number}", output=ended)
    text("assistant", ANSWER)
    session.add({"type": "event_msg", "payload": {"type": "agent_message", "message": ANSWER}})
    used = {"input_tokens": 2400, "cached_input_tokens": 1000, "output_tokens": 160, "total_tokens": 2560}
    info = {"total_token_usage": used, "last_token_usage": used}
    session.add({"type": "event_msg", "payload": {"type": "token_count", "info": info}})
    day = session.now[:10].replace("-", "/")
    name = f"rollout-{session.now[:19].replace(':', '-')}-{session.id}.jsonl"
    session.write(Path.home() / ".codex" / "sessions" / day / name)


def tiny(prompt: str) -> None:
    """The agent of the page that adds a format."""
    session = Session()
    session.lines.append(
        json.dumps({"role": "user", "content": "Count the files.", "ts": session.now, "cwd": str(Path.cwd())})
    )
    session.write(Path.home() / ".tiny" / "sessions" / f"{session.id}.jsonl")


def ask(address: str, prompt: str) -> str:
    """What the model behind the address answers."""
    body = {"model": CLAUDE, "max_tokens": 1000, "messages": [{"role": "user", "content": prompt}]}
    with urllib.request.urlopen(f"{address}/v1/messages", json.dumps(body).encode()) as reply:
        return "".join(block.get("text", "") for block in json.load(reply)["content"])


def main() -> None:
    name, *given = sys.argv[1:]
    if given in (["--version"], ["-v"]):
        print("2.1.325 (Claude Code)" if name == "claude" else "codex-cli 0.166.0")
        return
    prompt = next((word for word in given if " " in word), "Review stats.py.")
    address = os.environ.get("ANTHROPIC_BASE_URL")
    if address:
        print(ask(address, prompt))
        return
    {"claude": claude, "codex": codex, "tiny": tiny}[name](prompt)
    print(ANSWER)


main()
