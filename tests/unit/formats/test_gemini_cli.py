"""The chat files of Gemini CLI, as events."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.fold.calls import pair_calls
from stenograph.fold.messages import count_messages, messages
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context, Report
from stenograph.formats.gemini_cli import SPEC
from stenograph.formats.registry import detect
from stenograph.model import AttachmentBlock, Event, TextBlock, ToolResultBlock
from strategies import examples

SESSION = "1c5e5105-b458-494c-b098-0a0e142cf399"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
HEADER = {"sessionId": SESSION, "projectHash": "00d6", "startTime": "T0", "lastUpdated": "T0", "kind": "main"}
SUBAGENT = {**HEADER, "sessionId": "a31b", "kind": "subagent"}
LAST_CHANCE = "You have one final chance to complete the task with a short grace period."
TOKENS = {"input": 1100, "output": 21, "cached": 400, "thoughts": 8, "tool": 5, "total": 1134}


def user(id: str, content: Any, at: str = "T1") -> dict[str, Any]:
    return {"id": id, "timestamp": at, "type": "user", "content": content}


def gemini(id: str, content: Any = "", at: str = "T2", **more: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": at, "type": "gemini", "content": content, **more}


def answer(call_id: str, **response: Any) -> dict[str, Any]:
    """A part that answers a call."""
    return {"functionResponse": {"id": call_id, "name": "shell", "response": response}}


def call(call_id: str, *result: dict[str, Any], status: str = "success", **more: Any) -> dict[str, Any]:
    """A call as it is recorded, with its result."""
    known = {"id": call_id, "name": "shell", "args": {"command": "ls"}, "status": status, "timestamp": "T3"}
    return {**known, "result": list(result) or [answer(call_id, output="out")], **more}


def history(*held: dict[str, Any]) -> dict[str, Any]:
    return {"$set": {"messages": list(held), "lastUpdated": "T9"}}


def read(*records: Any, **context: Any) -> tuple[list[Event], Report]:
    parser = SPEC.open(Context(run_id=SESSION, **context))
    events = parser.feed(b"".join(json.dumps(record).encode() + b"\n" for record in records)) + parser.finish()
    assert parser.report.failed == 0
    assert {event.origin.line for event in events if event.origin} == set(range(1, len(records) + 1))
    return events, parser.report


def types(*records: Any) -> list[str]:
    """Event types; system events by their subtype."""
    events = read(*records)[0]
    return [f"<{event.payload.subtype}>" if event.type == "system.event" else event.type for event in events]


def payloads(*records: Any) -> list[Any]:
    return [event.payload for event in read(*records)[0]]


def test_a_message_told_again_gives_what_is_new() -> None:
    """The CLI writes an answer, then the same with its calls: words and usage once, the call and its result later."""
    first = gemini("m", "Let me look.", thoughts=[{"subject": "S", "description": "D"}], tokens=TOKENS, model="flash")
    records = [first, {**first, "toolCalls": [call("c")]}, user("u", [answer("c", output="out")])]
    assert types(*records) == [
        "message.assistant", "token.usage", "message.assistant", "tool.call", "tool.result", "<repeated>",
    ]  # fmt: skip
    [message] = messages(read(*records)[0])
    assert [block.__class__.__name__ for block in message.blocks] == ["ThinkingBlock", "TextBlock", "ToolUseBlock"]
    assert message.blocks[0].thinking == "**S**\n\nD"


def test_tokens_are_those_of_the_wire_format() -> None:
    """Input includes what was cached and what tools added, output includes thoughts."""
    usage = payloads(gemini("m", tokens=TOKENS, model="flash"))[0]
    assert (usage.scope, usage.input_tokens, usage.output_tokens) == ("call", 1105, 29)
    assert (usage.cache_read_input_tokens, usage.reasoning_output_tokens, usage.model) == (400, 8, "flash")
    assert (usage.message_id, usage.input_tokens + usage.output_tokens) == ("m", TOKENS["total"])


def test_usage_that_comes_later_counts_once() -> None:
    """A message is written without tokens, then with them, then with others: the last ones count."""
    events, _ = read(
        gemini("m", "x"), gemini("m", "x", tokens=TOKENS), gemini("m", "x", tokens={**TOKENS, "output": 1})
    )
    assert [event.type for event in events] == ["message.assistant", "token.usage", "token.usage"]
    total = usage_totals(events).total
    assert (total.records, total.output_tokens) == (1, 9)


def test_a_result_has_its_own_time() -> None:
    """A call is told with its message, its result when the tool had ended."""
    events, _ = read(gemini("m", toolCalls=[call("c")]))
    assert [(event.type, event.timestamp) for event in events] == [
        ("message.assistant", "T2"), ("tool.call", "T2"), ("tool.result", "T3"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("recorded", "output", "error"),
    [
        (call("c", answer("c", output="Exit Code: 3")), "Exit Code: 3", None),
        (call("c", answer("c", error="File not found"), status="error"), "File not found", "File not found"),
        (call("c", answer("c", error="[Cancelled]"), status="cancelled"), "[Cancelled]", "[Cancelled]"),
        (call("c", answer("c", error="no", exitCode=1), status="error"), {"error": "no", "exitCode": 1}, "no"),
        (call("c", answer("c", output="x", error="(none)")), {"output": "x", "error": "(none)"}, None),
        (call("c", answer("c", weather={"t": 3})), {"weather": {"t": 3}}, None),
        ({**call("c"), "result": None, "resultDisplay": "shown"}, "shown", None),
        ({**call("c", status="error"), "result": None}, None, "The tool ended as error."),
        (call("c", answer("other", output="not mine"), answer("c", output="mine")), "mine", None),
    ],
)  # fmt: skip
def test_a_result_is_what_the_model_got(recorded: dict[str, Any], output: Any, error: str | None) -> None:
    """The status alone tells a failure; an exit code is none."""
    result = payloads(gemini("m", toolCalls=[recorded]))[-1]
    assert (result.name, result.output, result.error) == ("shell", output, error)


def test_a_call_that_has_not_ended_has_no_result() -> None:
    """It gets one when a later record has it."""
    waiting = {"id": "c", "name": "shell", "args": {}, "status": "executing"}
    records = [gemini("m", toolCalls=[waiting]), gemini("m", toolCalls=[call("c")])]
    assert types(records[0]) == ["message.assistant", "tool.call"]
    assert types(*records) == ["message.assistant", "tool.call", "tool.result"]


def test_an_answer_that_only_a_person_s_record_holds_is_a_result() -> None:
    """It has failed when it has an error and no output."""
    fine, failed = payloads(user("u", [answer("a", output="x"), answer("b", error="no")]))
    assert (fine.call_id, fine.output, fine.error) == ("a", "x", None)
    assert (failed.call_id, failed.output, failed.error) == ("b", "no", "no")


def test_an_id_that_a_provider_uses_again_is_another_call() -> None:
    """Two messages with the same call id are two calls with a result each."""
    events, _ = read(gemini("m1", toolCalls=[call("c")]), gemini("m2", toolCalls=[call("c", answer("c", output="2"))]))
    pairs = pair_calls(events)
    assert [pair.result.payload.output for pair in pairs if pair.result] == ["out", "2"]


def test_media_of_a_result_are_blocks() -> None:
    """A picture beside the response or inside it becomes an attachment."""
    picture = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
    inside = {"functionResponse": {"id": "c", "response": {"output": "seen"}, "parts": [picture]}}
    for parts in ([answer("c", output="seen"), picture], [inside]):
        result = payloads(gemini("m", toolCalls=[{**call("c"), "result": parts}]))[-1]
        assert result.output is None
        text, attachment = result.blocks
        assert (text.text, attachment.media_type, attachment.size) == ("seen", "image/png", 67)


@pytest.mark.parametrize(
    ("text", "subtype"),
    [
        ("<session_context>\nThis is the Gemini CLI.", "session_context"),
        ("This is the Gemini CLI. We are setting up the context for our chat.\nToday", "session_context"),
        ("<hook_context>x</hook_context>", "hook_context"),
        ("<state_snapshot>\n…", "compaction"),
        (f"You have exceeded the time limit. {LAST_CHANCE} You MUST", "last_chance"),
    ],
)  # fmt: skip
def test_the_harness_is_no_user(text: str, subtype: str) -> None:
    """What the CLI says under role user is a system event, alone or beside a person's words."""
    assert types(user("u", [{"text": text}])) == [f"<{subtype}>"]
    assert types(user("u", text)) == [f"<{subtype}>"]
    events, _ = read(user("u", [{"text": text}, {"text": "And you?"}]))
    assert [event.type for event in events] == ["message.user", "system.event"]
    assert [block.text for block in events[0].payload.blocks] == ["And you?"]


def test_a_person_speaks_in_parts() -> None:
    """Words, a picture, a tool's answer among them, and parts that nobody knows."""
    parts = [
        "a",
        {"text": "b"},
        {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
        answer("c", output="x"),
        {"fileData": 1},
    ]
    events, _ = read(user("u", parts))
    assert [event.type for event in events] == ["message.user", "tool.result"]
    first, second, picture, response, unknown = events[0].payload.blocks
    assert (first.text, second.text, unknown.extra["value"]) == ("a", "b", {"fileData": 1})
    assert isinstance(picture, AttachmentBlock)
    assert isinstance(response, ToolResultBlock)


def test_notices_are_system_events_and_errors_are_errors() -> None:
    """What the CLI tells its user; the same notice again is a repetition."""
    notice = {"id": "i", "timestamp": "T", "type": "info", "content": "Update available"}
    records = [notice, {**notice, "id": "w", "type": "warning"}, {**notice, "id": "e", "type": "error"}, notice]
    assert types(*records) == ["<info>", "<warning>", "error", "<repeated>"]
    assert payloads(records[2])[0].message == "Update available"


def test_a_resume_that_rewrites_history_poorer_loses_nothing_and_repeats_nothing() -> None:
    """Thoughts flattened into parts, calls without results, answers told twice more: all of it is known."""
    thoughts = [{"subject": "Listing", "description": "First\nthis."}]
    whole = gemini("m", "Let me\nlook.", thoughts=thoughts, tokens=TOKENS, toolCalls=[call("c")])
    parts = [
        {"text": "**Listing** First this.", "thought": True},
        {"text": "Let me look. "},
        {"functionCall": {"id": "c", "name": "shell", "args": {"command": "ls"}}},
    ]
    poorer = [user("u", "Go"), gemini("m", parts), user("m_response", [answer("c", output="out")])]
    assert types(user("u", "Go"), whole, HEADER, history(*poorer))[-2:] == ["<session>", "<repeated>"]
    events, _ = read(user("u", "Go"), whole, HEADER, history(*poorer))
    [_, message] = messages(events)
    assert message.blocks[1] == TextBlock(fidelity="agent_emitted", text="Let me\nlook.")
    assert usage_totals(events).total.output_tokens == 29


def test_a_compaction_gives_old_messages_new_ids() -> None:
    """The snapshot is a system event, as is the answer that the CLI gives itself; what was said stays said once."""
    kept = [user("new-u", "Go"), gemini("new-m", [{"text": "Going. "}, {"functionCall": {"id": "c", "name": "shell"}}])]
    snapshot = [user("s", [{"text": "<state_snapshot>…"}]), gemini("s2", "Got it. Thanks for the additional context!")]
    records = [user("u", "Go"), gemini("m", "Going.", toolCalls=[call("c")]), history(*snapshot, *kept)]
    assert types(*records)[-3:] == ["<compaction>", "<synthetic_answer>", "<history>"]
    assert payloads(*records)[-1].data == {"messages": 4, "dropped": 2, "rewritten": 0}
    assert types(*records, history(*snapshot, *kept))[-1] == "<repeated>"
    assert count_messages(read(*records)[0]) == 2


def test_a_history_may_hold_what_nobody_told() -> None:
    """A file that begins with a history: everything in it is new, also what people say twice."""
    held = [user("a", "yes"), gemini("b", [{"text": "ok"}]), user("c", "yes"), gemini("d", [{"text": "ok"}])]
    assert types(history(*held)) == ["message.user", "message.assistant"] * 2
    assert types(history(*held), history(*held))[-1] == "<repeated>"


def test_a_known_message_in_other_words_is_counted() -> None:
    """A history has no say about what a message said, but what it makes of it is counted."""
    records = [
        user("u", "Go"),
        gemini("m", "A long answer."),
        history(user("u", "Go"), gemini("m", [{"text": "Short."}])),
    ]
    assert payloads(*records)[-1].data == {"messages": 2, "dropped": 0, "rewritten": 1}
    assert count_messages(read(*records)[0]) == 2


def test_the_richest_version_of_a_message_wins() -> None:
    """A message that is written again with more words has those, once."""
    [message] = messages(read(gemini("m", "Hello"), gemini("m", "Hello world"))[0])
    assert [block.text for block in message.blocks] == ["Hello world"]


def test_a_rewind_drops_and_takes_nothing_back() -> None:
    """What the agent forgot has been said all the same."""
    said = [user("u1", "one"), gemini("m1", "re one"), user("u2", "two"), gemini("m2", "re two")]
    events, _ = read(*said, {"$rewindTo": "u2"}, {"$rewindTo": "nobody"})
    assert [event.payload.data for event in events[-2:]] == [
        {"message_id": "u2", "dropped": 2}, {"message_id": "nobody", "dropped": 2},
    ]  # fmt: skip
    assert count_messages(events) == 4


def test_metadata_are_system_events() -> None:
    """The time of the last change, a summary, and whatever comes next."""
    patches = [{"$set": {"lastUpdated": "T5"}}, {"$set": {"summary": "All of it", "memoryScratchpad": {"version": 1}}}]
    events, _ = read(HEADER, *patches)
    assert [event.payload.subtype for event in events] == ["session", "last_updated", "metadata"]
    assert (events[1].timestamp, events[2].payload.text) == ("T5", "All of it")
    assert events[2].payload.data["memoryScratchpad"] == {"version": 1}


def test_a_file_of_old_is_one_record() -> None:
    """Before there were lines, a session was one JSON document with all its messages."""
    old = {**HEADER, "messages": [user("a", "yes"), gemini("b", "ok"), user("c", "yes"), {"id": "s", "type": "system"}]}
    events, report = read(old)
    assert [event.type for event in events] == [
        "system.event", "message.user", "message.assistant", "message.user", "unknown",
    ]  # fmt: skip
    assert report.unknown_types == {"system": 1}
    assert "messages" not in events[0].payload.data
    found = detect(json.dumps(old).encode())
    assert found is SPEC


def test_a_parked_output_is_read_from_its_file() -> None:
    """The preview is replaced by the whole; without the file it stays, and the report names what was wanted."""
    preview = (
        "Output too large. Showing first 8,000 and last 32,000 characters. "
        "For full output see: /home/user/.gemini/tmp/proj/tool-outputs/session-1c5e/shell__1.txt\nbeginning"
    )
    record = gemini("m", toolCalls=[call("c", answer("c", output=preview))])
    name = "tool-outputs/session-1c5e/shell__1.txt"
    files: Callable[[str], str | None] = {name: "all of it"}.get
    events, report = read(record, side_file=files)
    assert (events[-1].payload.output, report.wanted_files) == ("all of it", [])
    for context in ({}, {"side_file": {}.get}):
        events, report = read(record, **context)
        assert (events[-1].payload.output, report.wanted_files) == (preview, [name])


def test_records_nobody_knows_are_unknown() -> None:
    """Types, records without a type, and what is no record."""
    events, report = read(history("no message"), {"id": "x", "type": "later", "content": 1}, {"$unset": 1}, ["list"])
    assert [event.type for event in events] == ["unknown"] * 4
    assert report.unknown_types == {"later": 1, "(none)": 2, "message": 1}


def test_messages_without_words_still_give_an_event() -> None:
    """Nothing is without a line of its own."""
    assert types(user("u", ""), user("v", None), gemini("m", "")) == [
        "<empty_user_message>", "<empty_user_message>", "<empty_answer>",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "header", "expected"),
    [
        ("/h/chats/session-2026-11-15T19-11-1c5e5105.jsonl", HEADER, (SESSION, "main")),
        (f"/h/chats/{SESSION}/a31b.jsonl", SUBAGENT, (SESSION, "subagent:a31b")),
        ("moved.jsonl", SUBAGENT, ("a31b", "subagent:a31b")),
        (f"C:\\h\\chats\\{SESSION}\\a31b.jsonl", {"$set": {}}, (SESSION, "subagent:a31b")),
        ("x.jsonl", {"$set": {}}, ("", "main")),
    ],
)  # fmt: skip
def test_a_file_belongs_to_its_session(path: str, header: dict[str, Any], expected: tuple[str, str]) -> None:
    """The header names it; a subagent's file is in the folder of its session."""
    identity = SPEC.identify([header], path)
    assert (identity.native_id, identity.source) == expected


@pytest.mark.parametrize(
    "record",
    [
        {"sessionId": SESSION, "type": "user", "message": {"role": "user"}, "uuid": "1", "timestamp": "T"},
        {"id": "evt", "type": "session.start", "timestamp": "T", "data": {}, "parentId": None},
        {"type": "init", "session_id": SESSION, "model": "x", "timestamp": "T"},
        {"id": "m1", "type": "user", "content": "x", "timestamp": "T"},
    ],
)
def test_records_of_others_are_not_ours(record: dict[str, Any]) -> None:
    """Detection wants a header, a patch or an answer of Gemini's."""
    assert not SPEC.detect([record], "chats/session-x.jsonl")


_words = st.sampled_from(["a", "b", "a b", "", "<session_context>x"])
_ids = st.sampled_from(["m1", "m2", "m3"])
_calls = st.lists(st.builds(call, st.sampled_from(["c1", "c2"])), max_size=2, unique_by=lambda each: str(each["id"]))
_parts = st.lists(st.builds(lambda text: {"text": text}, _words), max_size=2)
_plain = st.builds(user, _ids, _words | _parts) | st.builds(
    gemini, _ids, _words, tokens=st.none() | st.just(TOKENS), toolCalls=_calls
)
_rewinds = st.builds(lambda message_id: {"$rewindTo": message_id}, _ids)
_records = st.lists(_plain | st.builds(history, _plain, _plain) | st.just(HEADER) | _rewinds, max_size=8)


@given(records=_records)
@examples(150)
def test_telling_it_all_again_adds_nothing(records: list[dict[str, Any]]) -> None:
    """Whatever a file holds: told a second time, as a resume may do, it gives no message, call, result or usage."""
    once, _ = read(*records)
    direct = [record for record in records if "id" in record]
    twice, _ = read(*records, *direct[-1:], history(*direct))
    added = [event.type for event in twice[len(once) :]]
    assert set(added) <= {"system.event"}
