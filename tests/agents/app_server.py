"""A client of `codex app-server`: one turn over stdin and stdout, every line of both directions kept."""

from __future__ import annotations

import json
import subprocess
import threading
from typing import Any

from agents.session import PATIENCE, Session


def one_turn(session: Session, prompt: str) -> list[tuple[str, bytes]]:
    """Asks for one turn and waits for its end; gives what was said, `out` by us and `in` by the server."""
    with (session.place / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [session.command[0], "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=session.folder,
            env=session.environment,
        )
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    try:
        with process:
            return _Talk(process).turn(prompt, str(session.folder))
    finally:
        timer.cancel()


class _Talk:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._lines: list[tuple[str, bytes]] = []

    def turn(self, prompt: str, folder: str) -> list[tuple[str, bytes]]:
        client = {"name": "stenograph_tests", "title": "Tests", "version": "1"}
        self._ask(1, "initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        self._say({"method": "initialized"})
        thread = self._ask(2, "thread/start", {"cwd": folder})["thread"]["id"]
        self._say({"id": 3, "method": "turn/start", "params": {"threadId": thread, "input": [_text(prompt)]}})
        # The turn of a subagent ends, too; it is not the one we wait for.
        while (message := self._hear()).get("method") != "turn/completed" or message["params"]["threadId"] != thread:
            pass
        assert self._process.stdin is not None
        self._process.stdin.close()
        while self._hear_or_end():
            pass
        return self._lines

    def _ask(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._say({"id": number, "method": method, "params": params})
        while (message := self._hear()).get("id") != number or "method" in message:
            pass
        return dict(message["result"])

    def _say(self, message: dict[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        self._lines.append(("out", line))
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        message = self._hear_or_end()
        assert message, "the server ended before the turn did"
        return message

    def _hear_or_end(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            return {}
        self._lines.append(("in", line))
        return dict(json.loads(line))


def _text(prompt: str) -> dict[str, str]:
    return {"type": "text", "text": prompt}
