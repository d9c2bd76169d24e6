"""A run that has everything a page can show: made up, small, and the same every time."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from stenograph.model import (
    AttachmentBlock,
    ErrorPayload,
    Event,
    MessagePayload,
    Origin,
    SystemPayload,
    TextBlock,
    ThinkingBlock,
    ToolPayload,
    UsagePayload,
)

RUN_ID = "7d0c8a34-52f1-4a86-9e0b-6f1f0e7f2c11"
BEGAN = datetime(2026, 6, 8, 8, 14, 2, tzinfo=UTC)
SUBAGENT = Origin(adapter="claude_code", source="subagent:a61a78", parent_source="main", parent_call_id="call-task")
MAIN = Origin(adapter="claude_code")

SAID = """The retry loop never resets its delay. After one slow minute every later request waits **30 seconds**.

1. `Client.send` doubles `self.delay` on each failure
2. nothing sets it back after a success

| case | before | after |
|---|---|---|
| first retry | 0.5 s | 0.5 s |
| first retry after a success | 30 s | 0.5 s |

I will reset it where a response arrives, and add a test that fails without it. See
[RFC 9110](https://www.rfc-editor.org/rfc/rfc9110#name-retry-after) for `Retry-After`."""

TESTS = (
    "\x1b[1m============================= test session starts ==============================\x1b[0m\n"
    "collected 42 items\n\n"
    "tests/test_client.py \x1b[32m.\x1b[0m\x1b[32m.\x1b[0m\x1b[31mF\x1b[0m                   [  7%]\n\n"
    "\x1b[31m\x1b[1m______________________ test_delay_is_reset_after_a_success ______________________\x1b[0m\n"
    "    \x1b[94mdef\x1b[39;49;00m \x1b[92mtest_delay_is_reset_after_a_success\x1b[39;49;00m():\n"
    ">       \x1b[94massert\x1b[39;49;00m client.delay == \x1b[94m0.5\x1b[39;49;00m\n"
    "\x1b[31mE       assert 30.0 == 0.5\x1b[0m\n"
    "\x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m in 0.31s"
)
LISTING = "\n".join(f"src/client/module_{number:02}.py" for number in range(1, 61))


def picture() -> str:
    """A small PNG in base64: a chart of delays."""
    width, height = 320, 90
    rows = b"".join(b"\0" + b"".join(_pixel(x, y, height) for x in range(width)) for y in range(height))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 9))]
    data = b"\x89PNG\r\n\x1a\n"
    for name, body in [*chunks, (b"IEND", b"")]:
        data += struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return base64.b64encode(data).decode()


def _pixel(x: int, y: int, height: int) -> bytes:
    bar = min(height - 12, 6 + 9 * (x // 40) ** 2 // 3)
    is_bar = 8 < x % 40 < 34 and height - y < bar
    return b"\x4f\x46\xe5" if is_bar else b"\xf4\xf2\xec"


def events() -> Iterator[Event]:
    """The events of the run, numbered and dated."""
    for seq, (after, kind, payload, origin) in enumerate(_facts(), 1):
        moment = (BEGAN + timedelta(seconds=after)).isoformat(timespec="microseconds").replace("+00:00", "Z")
        yield Event(
            seq=seq, run_id=RUN_ID, type=kind, path="", iteration=0, timestamp=moment, origin=origin, payload=payload
        )


def _facts() -> Iterator[tuple[float, str, Any, Origin]]:
    yield 0, "system.event", SystemPayload(subtype="init", data={"cwd": "/home/ada/http-client", "tools": 14}), MAIN
    yield from _first_unit()
    yield from _second_unit()


def _first_unit() -> Iterator[tuple[float, str, Any, Origin]]:
    yield 1, "message.user", _user("Requests get slower and slower after one outage. Find out why, and fix it."), MAIN
    thought = (
        "The delay only ever grows. Where is it reset?\nLet me look at the client and have somebody map the callers."
    )
    yield 4, "message.assistant", _assistant(ThinkingBlock(fidelity="agent_emitted", thinking=thought)), MAIN
    yield 5, "tool.call", _call("Grep", "call-grep", {"pattern": "self\\.delay", "path": "src"}), MAIN
    yield 5.2, "tool.result", _result("call-grep", "src/client/http.py:41:  self.delay *= 2", took=180), MAIN
    yield 6, "token.usage", _usage("msg-1", 18_420, 310, 16_000), MAIN
    asked = "List every module that calls Client.send."
    task = {"description": "Map the callers", "prompt": asked, "subagent_type": "Explore"}
    yield 7, "tool.call", _call("Task", "call-task", task), MAIN
    yield 8, "message.user", _user(asked), SUBAGENT
    yield 9, "tool.call", _call("Bash", "call-ls", {"command": "git ls-files src | sort"}), SUBAGENT
    yield 9.4, "tool.result", _result("call-ls", LISTING, took=41), SUBAGENT
    yield 15, "message.assistant", _assistant(_text("60 modules; **12** of them call `Client.send`.")), SUBAGENT
    yield 16, "tool.result", _result("call-task", "60 modules; 12 of them call Client.send.", took=9_000), MAIN
    yield 20, "message.assistant", _assistant(_text(SAID)), MAIN
    edit = {
        "file_path": "src/client/http.py",
        "old_string": "        response = self._once(request)\n        return response\n",
        "new_string": "        response = self._once(request)\n        self.delay = FIRST\n        return response\n",
    }
    yield 22, "tool.call", _call("Edit", "call-edit", edit), MAIN
    yield 22.1, "tool.result", _result("call-edit", "The file src/client/http.py has been updated.", took=12), MAIN
    command = {"command": "pytest -q tests/test_client.py", "description": "Run the client's tests"}
    yield 24, "tool.call", _call("Bash", "call-test", command), MAIN
    yield 25, "tool.result", _result("call-test", TESTS, error="exit code 1", took=1_310), MAIN
    yield 27, "token.usage", _usage("msg-2", 21_004, 1_240, 18_420), MAIN


def _second_unit() -> Iterator[tuple[float, str, Any, Origin]]:
    image = AttachmentBlock(
        fidelity="agent_emitted", media_type="image/png", size=len(picture()) * 3 // 4, sha256="", data=picture()
    )
    yield 60, "message.user", _user("This is how the delays look now. Is it the jitter?", image), MAIN
    yield 62, "error", ErrorPayload(message="Overloaded", code="529", retryable=True), MAIN
    yield 66, "message.assistant", _assistant(_text("Yes. Each bar is one retry; they double without end.")), MAIN
    patch = "*** Begin Patch\n*** Update File: src/client/http.py\n@@\n-JITTER = 0\n+JITTER = 0.1\n*** End Patch"
    yield 68, "tool.call", _call("apply_patch", "call-patch", {"input": patch}), MAIN
    yield 69, "tool.result", _result("call-patch", "Success. Updated src/client/http.py", took=15), MAIN
    yield 75, "message.assistant", _assistant(_text("Done: the delay is reset, and retries are spread.")), MAIN
    yield 76, "token.usage", _usage("msg-3", 22_950, 402, 21_000), MAIN


def _text(words: str) -> TextBlock:
    return TextBlock(fidelity="agent_emitted", text=words)


def _user(words: str, *more: AttachmentBlock) -> MessagePayload:
    return MessagePayload(role="user", blocks=(_text(words), *more))


def _assistant(*blocks: Any) -> MessagePayload:
    return MessagePayload(role="assistant", blocks=blocks, model="claude-sonnet-4-5")


def _call(name: str, call_id: str, given: dict[str, Any]) -> ToolPayload:
    return ToolPayload(name=name, call_id=call_id, input=given, output=None, fidelity="agent_emitted")


def _result(call_id: str, output: str, *, took: float, error: str | None = None) -> ToolPayload:
    return ToolPayload(
        name="", call_id=call_id, input=None, output=output, error=error, fidelity="agent_emitted", duration_ms=took
    )


def _usage(message_id: str, given: int, written: int, cached: int) -> UsagePayload:
    return UsagePayload(
        scope="call",
        input_tokens=given,
        output_tokens=written,
        cache_read_input_tokens=cached,
        model="claude-sonnet-4-5",
        message_id=message_id,
    )
