"""Whatever goes over the connection: nothing raises, and what is taken down is the parser over the wire log."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import codex_wire
from stenograph.adapters.codex_app_server import CodexTranscriptEmitter, wire
from stenograph.adapters.codex_app_server.wire import wire_message, wrapped
from stenograph.formats.base import LineFormat
from stenograph.session import Session
from stenograph.transcript import TranscriptEntry

IDS = st.sampled_from(["t1", "t2", "01a1e0a1-1b95-7f11-b7fd-b300beba516d", "", None, 0])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)
ITEMS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["agentMessage", "reasoning", "dynamicToolCall", "commandExecution", "userMessage"]),
        "id": st.sampled_from(["a", "b", "c"]),
    },
    optional={
        "text": st.text(max_size=9), "tool": st.just("lookup"), "status": st.sampled_from(["completed", "failed"]),
        "contentItems": VALUES, "summary": VALUES, "content": VALUES,
    },
)  # fmt: skip
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "threadId": IDS, "turnId": IDS, "item": ITEMS | VALUES, "itemId": st.sampled_from(["a", "b"]),
        "delta": st.text(max_size=5), "callId": st.sampled_from(["a", "b"]), "tool": st.just("lookup"),
        "arguments": VALUES, "turn": VALUES | st.fixed_dictionaries({"id": IDS, "status": st.just("failed")}),
        "thread": st.fixed_dictionaries({"id": IDS}), "input": VALUES, "developerInstructions": st.text(max_size=5),
        "error": VALUES, "willRetry": st.booleans(), "tokenUsage": VALUES,
    },
)  # fmt: skip
METHODS = st.sampled_from(
    ["item/started", "item/completed", "item/agentMessage/delta", "item/tool/call", "turn/start", "turn/completed",
     "turn/started", "thread/start", "thread/started", "error", "thread/tokenUsage/updated", "strange"]
)  # fmt: skip
MESSAGES = st.one_of(
    st.fixed_dictionaries({"method": METHODS, "params": PARAMS | VALUES}, optional={"id": st.integers(0, 2)}),
    st.fixed_dictionaries({"id": st.integers(0, 2), "result": PARAMS | VALUES}),
    st.fixed_dictionaries({"id": st.integers(0, 2), "error": VALUES}),
    VALUES,
)
ODD = st.sampled_from(
    ["NaN", "Infinity", "-Infinity", "1e999", "-1e400", '{"a": NaN}', '"\\ud800"', ' "x" ', "01", "{", "1" * 400]
)
"""JSON that Python reads and strict decoders refuse, and text that is almost JSON."""
LINES = st.one_of(
    MESSAGES.map(lambda message: json.dumps(message, ensure_ascii=False)),
    MESSAGES.map(json.dumps),
    st.text(max_size=9).filter(lambda text: "\n" not in text),
    st.tuples(MESSAGES.map(json.dumps), ODD).map(
        lambda pair: f'{{"method": "strange", "params": [{pair[0]}, {pair[1]}]}}'
    ),
    ODD,
)
TALK = st.lists(st.tuples(st.sampled_from(["in", "out", "exit"]), LINES), max_size=12)


@given(talk=TALK)
def test_what_is_taken_down_is_the_wire(talk: list[tuple[Any, str]]) -> None:
    """The entries are those of the parser over the log, for any messages in any order, and none of them is lost."""
    with TemporaryDirectory() as folder:
        log, session = Path(folder, "wire.jsonl"), Session()
        emitter = CodexTranscriptEmitter(prompt_name="any", session=session, wire_log=log)
        for direction, line in talk:
            emitter.on_line(direction, line.encode("utf-8", "backslashreplace"))
        emitter.stop()
        events = codex_wire.events_of(log, emitter.run_id, "any", session.session_id)
        assert emitter.lost == 0
        taken, expected = list(session[TranscriptEntry].all()), codex_wire.entries_of(events)
        assert [_facts(entry) for entry in taken] == [_facts(entry) for entry in expected]


def _facts(entry: TranscriptEntry) -> tuple[Any, ...]:
    """All but the time, which a log that begins with no message does not have."""
    return (
        entry.entry_type, entry.sequence_number, entry.source, entry.session_id, entry.detail, entry.raw, entry.role,
        entry.content, entry.tool_name, entry.tool_call_id, entry.tool_input, entry.metadata,
    )  # fmt: skip


def test_a_line_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client, the format and the wire log share what one decoding gave."""
    decoded: list[bytes] = []
    decode = wire._decode

    def counted(line: bytes) -> Any:
        decoded.append(line)
        return decode(line)

    monkeypatch.setattr(wire, "_decode", counted)
    monkeypatch.setattr(LineFormat, "_line", lambda *_: pytest.fail("the format decodes a line that it was given"))
    lines = [b'{"method":"turn/started","params":{"threadId":"t"}}', b'{"id":1,"result":{}}', b"[1]"]
    emitter = CodexTranscriptEmitter(prompt_name="any", session=(session := Session()))
    for line in lines:
        emitter.on_line("in", line)
    assert (decoded, emitter.lost) == (lines, 0)
    assert [entry.raw for entry in session[TranscriptEntry].all()] == [line.decode() for line in lines]


@given(method=st.text() | st.none() | st.integers(), params=PARAMS | VALUES, result=VALUES)
def test_any_values_may_be_told(method: Any, params: Any, result: Any) -> None:
    """What a client hands over need not be a message; it is kept, and nothing raises even when we are strict."""
    emitter = CodexTranscriptEmitter(prompt_name="any")
    emitter.on_notification(method, params)
    if isinstance(params, dict):
        emitter.on_tool_call(params)
        emitter.on_tool_result(params, result)
    emitter.stop()
    assert emitter.lost == 0
    assert emitter.summary.total_entries <= 4


@given(line=LINES, seconds=st.floats(0, 4e9))
def test_a_wrapped_line_holds_the_line(line: str, seconds: float) -> None:
    """Byte for byte; what is no JSON is not wrapped."""
    data = line.encode("utf-8", "backslashreplace")
    message = wire_message("in", data)
    kept = wrapped(message, seconds, 7)
    assert kept.endswith(b"\n")
    assert kept.count(b"\n") == 1
    if message.is_json:
        assert kept.startswith(b'{"dir":"in","proc":7,"t":')
        assert kept.endswith(b',"msg":' + data + b"}\n")
    else:
        assert kept == data + b"\n"
