"""A client of the Agent Client Protocol: prompts over stdin and stdout, every message of both directions kept."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import Any

from agents.session import PATIENCE, Session


def converse(session: Session, command: Sequence[str], prompts: Sequence[str]) -> list[dict[str, Any]]:
    """Says each prompt and waits for its end; gives what was said, `out` by us and `in` by the agent."""
    with (session.place / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            command,
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
            return _Talk(process).hold(str(session.folder), prompts)
    finally:
        timer.cancel()


class _Talk:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._said: list[dict[str, Any]] = []

    def hold(self, folder: str, prompts: Sequence[str]) -> list[dict[str, Any]]:
        client = {"name": "stenograph_tests", "version": "1"}
        self._ask(0, "initialize", {"protocolVersion": 1, "clientInfo": client})
        session_id = self._ask(1, "session/new", {"cwd": folder, "mcpServers": []})["sessionId"]
        for number, prompt in enumerate(prompts, 2):
            content = [{"type": "text", "text": prompt}]
            self._ask(number, "session/prompt", {"sessionId": session_id, "prompt": content})
        self._process.kill()  # an agent need not end when its client does
        return self._said

    def _ask(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._say({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while (message := self._hear()).get("id") != number or "method" in message:
            if message.get("method") == "session/request_permission":
                options = message["params"]["options"]
                chosen = next(option["optionId"] for option in options if option["kind"].startswith("allow"))
                answer = {"outcome": {"outcome": "selected", "optionId": chosen}}
                self._say({"jsonrpc": "2.0", "id": message["id"], "result": answer})
        return dict(message["result"])

    def _say(self, message: dict[str, Any]) -> None:
        self._said.append({"t": time.time(), "dir": "out", "msg": message})
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self._process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the agent ended before it had answered"
        message = dict(json.loads(line))
        self._said.append({"t": time.time(), "dir": "in", "msg": message})
        return message
