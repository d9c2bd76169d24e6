"""The Agent Client Protocol, as events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.fold.calls import pair_calls
from stenograph.formats.acp import SPEC
from stenograph.formats.base import Context, Report
from stenograph.formats.registry import detect_records
from stenograph.model import AttachmentBlock, Event

RUN = "335637c4-f500-41e6-bd54-5c7670731855"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="


def update(what: str, session: str = RUN, **fields: Any) -> dict[str, Any]:
    params = {"sessionId": session, "update": {"sessionUpdate": what, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def text(words: str, what: str = "agent_message_chunk", **fields: Any) -> dict[str, Any]:
    return update(what, content={"type": "text", "text": words}, **fields)


def thought(words: str) -> dict[str, Any]:
    return text(words, "agent_thought_chunk")


def call(id: str = "c1", status: str = "pending", **fields: Any) -> dict[str, Any]:
    return update("tool_call", toolCallId=id, title="run it", kind="execute", status=status, **fields)


def progress(id: str = "c1", **fields: Any) -> dict[str, Any]:
    return update("tool_call_update", toolCallId=id, **fields)


def request(id: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def prompt(id: int, *parts: Any, session: str = RUN) -> dict[str, Any]:
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return request(id, "session/prompt", sessionId=session, prompt=content)


def response(id: int, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def hello(agent: str) -> list[dict[str, Any]]:
    info = {"name": agent, "version": "1"}
    return [request(0, "initialize", protocolVersion=1), response(0, agentCapabilities={}, agentInfo=info)]


def read(*records: Any) -> tuple[list[Event], Report]:
    parser = SPEC.open(Context(run_id=RUN))
    events = parser.feed(b"".join(json.dumps(each).encode() + b"\n" for each in records)) + parser.finish()
    assert parser.report.failed == 0
    named = {event.origin.line for event in events if event.origin}
    assert len(named) + parser.report.accumulated == len(records)
    return events, parser.report


def types(*records: Any) -> list[str]:
    """Event types; system events by their subtype."""
    events = read(*records)[0]
    return [f"<{event.payload.subtype}>" if event.type == "system.event" else event.type for event in events]


def said(*records: Any, role: str = "assistant") -> list[list[str]]:
    """The blocks of every message of a role, as plain text."""
    found = [event.payload for event in read(*records)[0] if event.type == f"message.{role}"]
    return [[getattr(block, "text", getattr(block, "thinking", "")) for block in each.blocks] for each in found]


@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=8))
def test_chunks_are_one_message(pieces: list[str]) -> None:
    """However the words were cut."""
    assert said(prompt(1, "Hi"), *map(text, pieces), response(1, stopReason="end_turn")) == [["".join(pieces)]]


def test_a_call_separates_messages() -> None:
    """So does its end; thoughts and words before it are one message."""
    records = [
        thought("Hm."),
        text("Look."),
        call(rawInput={"command": "ls"}),
        progress(status="completed"),
        text("So"),
    ]
    assert said(*records) == [["Hm.", "Look."], ["So"]]
    assert types(*records) == ["message.assistant", "tool.call", "tool.result", "message.assistant"]


def test_an_id_separates_messages_too() -> None:
    """Where chunks have one, another one is another message."""
    assert said(text("a", messageId="1"), text("b", messageId="1"), text("c", messageId="2")) == [["ab"], ["c"]]


def test_the_end_of_the_turn_is_the_stop_reason() -> None:
    """It stands on the last message and in the answer to the prompt."""
    events, _ = read(prompt(1, "Hi"), text("Hello"), response(1, stopReason="end_turn"))
    assert [event.type for event in events] == ["message.user", "message.assistant", "system.event"]
    assert (events[1].payload.stop_reason, events[2].payload.data) == ("end_turn", {"stopReason": "end_turn"})


def test_a_call_waits_for_its_input() -> None:
    """One that is announced without is given when it begins; one that never begins, at the end."""
    announced, begun = call(rawInput={"cwd": "/"}), progress(status="in_progress", rawInput={"command": "ls"})
    events, _ = read(announced, begun, begun, progress(status="completed", rawOutput={"output": "x"}))
    assert [event.type for event in events] == ["tool.call", "tool.result"]
    assert events[0].payload.input == {"command": "ls"}
    (left,) = read(announced)[0]
    assert (left.type, left.payload.name) == ("tool.call", "execute")


def test_input_that_changes_is_told() -> None:
    """A call is given once; what comes later is a system event with what is new."""
    records = (call(rawInput={"command": "l"}), progress(rawInput={"command": "ls"}))
    assert types(*records) == ["tool.call", "<tool_call_update>"]
    assert read(*records)[0][1].payload.data["rawInput"] == {"command": "ls"}


def test_a_request_for_permission_begins_a_call() -> None:
    """Gemini announces some calls in no other way; their words for people are the input."""
    described = {"toolCallId": "c1", "title": "echo hi", "kind": "execute", "status": "pending"}
    asked = request(0, "session/request_permission", sessionId=RUN, toolCall=described, options=[])
    events, _ = read(asked, response(0, outcome={"outcome": "selected", "optionId": "yes"}), progress(status="failed"))
    assert [event.type for event in events] == ["tool.call", "system.event", "system.event", "tool.result"]
    assert events[0].payload.input == {"title": "echo hi"}
    assert events[2].payload.data == {"outcome": "selected", "optionId": "yes"}
    assert events[3].payload.error == "failed"


def test_a_request_for_permission_does_not_reword_a_call() -> None:
    """Its description is for people; what the agent told of the call counts."""
    described = {"toolCallId": "c1", "title": "Create file", "rawInput": {"diff": "…"}}
    asked = request(0, "session/request_permission", sessionId=RUN, toolCall=described, options=[])
    events, _ = read(call(rawInput={"path": "x"}), asked, progress(status="completed"))
    assert [event.payload.input for event in events if event.type == "tool.call"] == [{"path": "x"}]


def test_results_are_what_the_tool_said() -> None:
    """Its own output with the exit code inside, else what is shown; a failure has its reason."""
    shown = [{"type": "content", "content": {"type": "text", "text": "hi"}}]
    image = [{"type": "content", "content": {"type": "image", "data": PIXEL, "mimeType": "image/png"}}]
    diff = [{"type": "diff", "path": "x", "newText": "y"}]

    def answered(**fields: Any) -> Any:
        return read(call(rawInput={"x": 1}), progress(**{"status": "completed", **fields}))[0][-1].payload

    exit_3 = {"output": "hi", "metadata": {"exit": 3}}
    assert (answered(rawOutput=exit_3).output, answered(rawOutput=exit_3).error) == (exit_3, None)
    assert answered(content=shown).output == "hi"
    assert answered(content=diff).output == diff
    assert [type(block) for block in answered(content=image).blocks] == [AttachmentBlock]
    assert answered(status="failed", rawOutput={"message": "no such path", "code": "failure"}).error == "no such path"
    assert answered(status="failed", content=shown).error == "hi"


def test_an_update_after_the_end_is_told_or_repeated() -> None:
    """What is new is kept, what is not is named as such; an id may be used again."""
    done = progress(status="completed", rawOutput={"output": "x"})
    late = progress(status="completed", rawOutput={"output": "y"})
    begun = call(rawInput={"x": 1})
    assert types(begun, done, done, late)[2:] == ["<repeated>", "<tool_call_update>"]
    assert len(pair_calls(read(begun, done, begun, done)[0])) == 2
    assert types(begun, done, prompt(1, "And?"), late)[2:] == ["message.user", "<tool_call_update>"]


@pytest.mark.parametrize(
    ("agent", "given", "scope", "into", "out"),
    [
        ("Copilot", {"inputTokens": 3300, "outputTokens": 87, "totalTokens": 3387, "thoughtTokens": 24,
                     "cachedReadTokens": 800, "cachedWriteTokens": 0}, "total", 3300, 87),
        ("OpenCode", {"inputTokens": 800, "outputTokens": 22, "totalTokens": 1231, "thoughtTokens": 9,
                      "cachedReadTokens": 400}, "call", 1200, 31),
    ],
)  # fmt: skip
def test_usage_is_normalized(agent: str, given: dict[str, int], scope: str, into: int, out: int) -> None:
    """The total tells whether cached input and thoughts stand inside the other numbers or beside them."""
    events, _ = read(*hello(agent), prompt(3, "Hi"), response(3, stopReason="end_turn", usage=given))
    used = events[-1].payload
    assert (used.scope, used.input_tokens, used.output_tokens) == (scope, into, out)
    assert used.cache_read_input_tokens == given["cachedReadTokens"]


def test_gemini_counts_the_prompt() -> None:
    """In a place of its own, with the model."""
    counts = {"input_tokens": 3300, "output_tokens": 63}
    quota = {"token_count": counts, "model_usage": [{"model": "gemini-2.5-flash", "token_count": counts}]}
    used = read(prompt(3, "Hi"), response(3, stopReason="end_turn", _meta={"quota": quota}))[0][-1].payload
    assert (used.scope, used.input_tokens, used.model) == ("turn", 3300, "gemini-2.5-flash")


def test_notes_of_the_harness_are_not_the_models_words() -> None:
    """Each agent has its own; the same words of another agent are its words."""
    assert said(*hello("Copilot"), text("Info: /x/out.txt"), text("Done")) == [["Done"]]
    assert types(*hello("Copilot"), text("Error: 500 from the model"))[-1] == "error"
    assert said(*hello("gemini-cli"), text("[MODE_UPDATE] autoEdit"), text("Done")) == [["Done"]]
    assert said(*hello("OpenCode"), text("Info: this is"), text(" fine")) == [["Info: this is fine"]]


def test_an_echo_of_the_prompt_is_no_second_prompt() -> None:
    """What a loaded session replays is one."""
    echo = text("Hi", "user_message_chunk")
    assert said(prompt(1, "Hi"), echo, text("Hello"), role="user") == [["Hi"]]
    load = request(1, "session/load", sessionId=RUN, cwd="/")
    assert said(load, echo, text("Hello"), response(1), role="user") == [["Hi"]]


def test_a_response_finds_its_request() -> None:
    """Both sides count from 0: the shape tells whose answer it is, and an error is one."""
    asked = request(0, "session/request_permission", sessionId=RUN, toolCall={"toolCallId": "c1"}, options=[])
    answered = response(0, outcome={"outcome": "cancelled"})
    failed = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32603, "message": "broken"}}
    events = read(prompt(0, "Hi"), asked, answered, failed)[0]
    assert events[-2].payload.subtype == "session/request_permission/response"
    assert (events[-1].payload.message, events[-1].payload.code) == ("broken", "-32603")
    assert events[-1].payload.data == {"method": "session/prompt"}


def test_each_session_is_a_run() -> None:
    """The first is the one that the context names."""
    events, _ = read(text("one"), update("agent_message_chunk", "other", content={"type": "text", "text": "two"}))
    first, second = (event.run_id for event in events)
    assert first == RUN
    assert second != RUN
    assert [event.origin.session_id for event in events if event.origin] == [RUN, "other"]


def test_a_subagents_call_has_its_source() -> None:
    """Copilot tells whose call it is, beyond the protocol; Claude's adapter tells its name."""
    meta = {"github.com/copilot": {"agentId": "a1"}}
    events, _ = read(call(rawInput={"x": 1}, _meta=meta), progress(status="completed"))
    assert {event.source for event in events} == {"subagent:a1"}
    assert read(call(rawInput={"x": 1}, _meta={"claudeCode": {"toolName": "Bash"}}))[0][0].payload.name == "Bash"


@pytest.mark.parametrize(
    "wrapper",
    [
        lambda message: {"t": 1794786396.2417, "dir": "a2c", "line": json.dumps(message)},
        lambda message: {"ts": 1794786396242, "dir": "in", "msg": message},
        lambda message: {"ts": "2026-11-15T23:46:36.242Z", "dir": "agent", "msg": message},
    ],
)
def test_wrappers_tell_the_time(wrapper: Any) -> None:
    """Seconds, milliseconds or text; without one the file's own time is given."""
    (event,) = read(wrapper(text("Hi")))[0]
    assert event.timestamp == "2026-11-15T23:46:36.242Z"
    assert event.origin is not None
    assert event.origin.time is None
    (plain,) = read(text("Hi"))[0]
    assert plain.origin is not None
    assert plain.origin.time == "given"


def test_what_nobody_knows_is_counted() -> None:
    """Updates and methods by their name; what is no message at all is kept, too."""
    events, report = read(update("brand_new"), request(5, "foo/bar"), {"t": 1, "dir": "in", "line": "{broken"})
    assert [event.type for event in events] == ["unknown"] * 3
    assert report.unknown_types == {"session/update/brand_new": 1, "foo/bar": 1, "(none)": 1}


def test_other_protocols_of_the_same_shape_are_not_taken() -> None:
    """MCP begins alike, with a date as its version."""
    mcp = [request(0, "initialize", protocolVersion="2025-06-18"), request(1, "tools/list")]
    assert detect_records(mcp) is None
    assert getattr(detect_records([text("Hi")]), "name", None) == "acp"
