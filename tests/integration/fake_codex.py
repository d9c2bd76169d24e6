"""A `codex app-server` of our own: speaks the protocol over stdio, and does what the prompt's first word names.

Every message that it takes or gives is kept in the file that `FAKE_CODEX_LOG` names, so that tests can compare.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

THREAD = "01a1e0a1-1b95-7f11-b7fd-b300beba516d"
CHILD = "01a1e0a1-1c09-7182-ac6c-925147d0e669"
TURN = "01a1e0a1-1bb0-7250-82fa-694ac87505f3"


class Server:
    """One connection."""

    def __init__(self) -> None:
        self._asked = -1
        self._log = Path(os.environ["FAKE_CODEX_LOG"]).open("a", encoding="utf-8")  # noqa: SIM115  # as long as we are

    def serve(self) -> None:
        while (message := self.hear()) is not None:
            method, params = message.get("method"), message.get("params", {})
            if os.environ.get("FAKE_CODEX_MUTE") == method:
                continue
            if method == "initialize":
                self.answer(message, {"userAgent": "fake/0"})
            elif method in ("thread/start", "thread/resume"):
                if params.get("model") == "nonsense":
                    self.say({"id": message["id"], "error": {"code": -32600, "message": "no such model"}})
                    continue
                thread = {"id": params.get("threadId", THREAD), "model": "gpt-fake", "status": {"type": "idle"}}
                self.answer(message, {"thread": thread, "model": "gpt-fake"})
                self.note("thread/started", thread=thread)
            elif method == "turn/start":
                self.answer(message, {"turn": {"id": TURN, "status": "inProgress"}})
                self.note("turn/started", threadId=THREAD, turn={"id": TURN, "rootTurnId": TURN})
                text = params["input"][0]["text"]
                PLAYS[text.split()[0]](self, text)

    # What the plays are made of.

    def hear(self) -> dict[str, Any] | None:
        line = sys.stdin.readline()
        if not line:
            return None
        self._log.write(line)
        self._log.flush()
        return dict(json.loads(line))

    def hear_until(self, method: str) -> dict[str, Any]:
        while (message := self.hear()) is None or message.get("method") != method:
            if message is None:
                sys.exit(0)
        return message

    def say(self, message: dict[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False) + "\n"
        self._log.write(line)
        self._log.flush()
        sys.stdout.write(line)
        sys.stdout.flush()

    def answer(self, request: dict[str, Any], result: dict[str, Any]) -> None:
        self.say({"id": request["id"], "result": result})

    def note(self, method: str, **params: Any) -> None:
        self.say({"method": method, "params": params, "emittedAtMs": int(time.time() * 1000)})

    def item(self, moment: str, kind: str, id: str, *, thread: str = THREAD, **more: Any) -> None:
        self.note(f"item/{moment}", threadId=thread, turnId=TURN, item={"type": kind, "id": id, **more})

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the client, and wait for its answer: a result, or an error."""
        self._asked += 1
        self.say({"id": self._asked, "method": method, "params": {"threadId": THREAD, "turnId": TURN, **params}})
        while (message := self.hear()) is not None:
            if message.get("id") == self._asked and "method" not in message:
                return message
        sys.exit(0)

    def call(self, id: str, tool: str, arguments: Any) -> dict[str, Any]:
        """A dynamic tool from beginning to end; what the client answered."""
        call = {"namespace": None, "tool": tool, "arguments": arguments}
        self.item("started", "dynamicToolCall", id, status="inProgress", **call)
        answer = self.ask("item/tool/call", callId=id, **call)
        result = answer.get("result", {})
        status = "completed" if result.get("success") else "failed"
        self.item("completed", "dynamicToolCall", id, status=status, durationMs=1, **call, **result)
        return answer

    def tell(self, text: str, id: str = "m1") -> None:
        """A message of the agent, in pieces and whole."""
        self.item("started", "agentMessage", id, text="")
        for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
            self.note("item/agentMessage/delta", threadId=THREAD, turnId=TURN, itemId=id, delta=piece)
        self.item("completed", "agentMessage", id, text=text)

    def end(self, status: str = "completed", error: Any = None) -> None:
        usage = {"totalTokens": 110, "inputTokens": 100, "cachedInputTokens": 40, "outputTokens": 10}
        counts = {"total": usage, "last": usage}
        self.note("thread/tokenUsage/updated", threadId=THREAD, turnId=TURN, tokenUsage=counts)
        turn = {"id": TURN, "rootTurnId": TURN, "items": [], "status": status, "error": error}
        self.note("turn/completed", threadId=THREAD, turn=turn)


# The plays.


def work(server: Server, text: str) -> None:
    """Thinks, runs a command, and answers."""
    server.item("completed", "userMessage", "u1", content=[{"type": "text", "text": text}])
    server.item("completed", "reasoning", "r1", summary=["Hm. 考え中"], content=[])
    command = {"command": "ls", "cwd": "/"}
    server.item("started", "commandExecution", "c1", status="inProgress", **command)
    server.item(
        "completed", "commandExecution", "c1", status="completed", aggregatedOutput="a\n", exitCode=0, **command
    )
    server.tell("Done. 完了")
    server.end()


def tools(server: Server, text: str) -> None:
    """Calls the tool that the prompt names, with the JSON after it; tells what came back."""
    _, name, arguments = text.split(maxsplit=2)
    answer = server.call("d1", name, json.loads(arguments))
    server.tell(answer["result"]["contentItems"][0]["text"])
    server.end()


def two_tools(server: Server, text: str) -> None:
    """Calls a slow and a fast tool at once."""
    for number, name in enumerate(("slow", "fast")):
        call = {"threadId": THREAD, "turnId": TURN, "callId": f"d{number}", "tool": name, "arguments": {}}
        server.item("started", "dynamicToolCall", f"d{number}", status="inProgress", tool=name, arguments={})
        server.say({"id": number, "method": "item/tool/call", "params": call})
    heard = [server.hear() or {} for _ in range(2)]
    server.tell(" then ".join(answer["result"]["contentItems"][0]["text"] for answer in heard))
    server.end()


def approval(server: Server, text: str) -> None:
    """Asks for leave with the method that the prompt names; tells what it was answered."""
    answer = server.ask(text.split()[1], itemId="c1", command="rm -rf /", permissions={"network": {"enabled": True}})
    server.tell(json.dumps(answer.get("result")))
    server.end()


def strange(server: Server, text: str) -> None:
    """Asks what nobody knows."""
    server.tell(json.dumps(server.ask("strange/request")["error"]))
    server.end()


def failing(server: Server, text: str) -> None:
    """The turn fails."""
    error = {"message": "the model is out", "codexErrorInfo": "usageLimitExceeded"}
    server.note("error", threadId=THREAD, turnId=TURN, willRetry=False, error=error)
    server.end("failed", error)


def slow(server: Server, text: str) -> None:
    """Works until it is interrupted."""
    server.item("started", "agentMessage", "m1", text="")
    server.note("item/agentMessage/delta", threadId=THREAD, turnId=TURN, itemId="m1", delta="I was just")
    server.answer(server.hear_until("turn/interrupt"), {})
    server.end("interrupted")


def deaf(server: Server, text: str) -> None:
    """Works, and does not listen."""
    time.sleep(600)


def dying(server: Server, text: str) -> None:
    """Dies in the middle of a command."""
    server.item("started", "commandExecution", "c1", status="inProgress", command="ls")
    sys.stderr.write("thread 'main' panicked: out of luck\n")
    sys.stderr.flush()
    os._exit(3)


def closing(server: Server, text: str) -> None:
    """Ends while something that it started holds its stdout open."""
    orphan = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdin=subprocess.DEVNULL)
    Path("orphan").write_text(str(orphan.pid), "utf-8")
    os._exit(4)


def chatter(server: Server, text: str) -> None:
    """Says what is no message: text, a blank line, other JSON; and an answer to nothing."""
    sys.stdout.write("warning: not JSON\n\n[1, 2]\n")
    server.say({"id": 99, "result": {}})
    work(server, text)


def big(server: Server, text: str) -> None:
    """Gives back a prompt of megabytes, without reading anything meanwhile."""
    server.tell(text)
    server.end()


def endless(server: Server, text: str) -> None:
    """Begins a line and never ends it, until nobody reads any more."""
    with contextlib.suppress(BrokenPipeError):
        while True:
            os.write(1, b"x" * 65536)


def family(server: Server, text: str) -> None:
    """A subagent works in a thread of its own, and ends its turn first."""
    spawn = {"tool": "spawnAgent", "senderThreadId": THREAD, "prompt": "count"}
    server.item("started", "collabAgentToolCall", "s1", status="inProgress", receiverThreadIds=[], **spawn)
    server.item("completed", "collabAgentToolCall", "s1", status="completed", receiverThreadIds=[CHILD], **spawn)
    server.note("turn/started", threadId=CHILD, turn={"id": "t2", "rootTurnId": TURN})
    server.item("completed", "agentMessage", "m2", thread=CHILD, text="42 files")
    server.note("turn/completed", threadId=CHILD, turn={"id": "t2", "status": "completed"})
    server.tell("The child counted.")
    server.end()


PLAYS = {name: play for name, play in globals().items() if callable(play) and not isinstance(play, type)}

if __name__ == "__main__":
    assert sys.argv[1] == "app-server"
    Server().serve()
