"""Copilot CLI's session files, as events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.fold.calls import pair_calls
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context, Report
from stenograph.formats.copilot_cli import SPEC
from stenograph.model import AttachmentBlock, Event, TextBlock, ThinkingBlock, ToolUseBlock, encode
from stenograph.redact import default_masker
from stenograph.sources.layouts import layout_of

SESSION = "5fad63ac-fb72-4149-8b2c-adad10323ba2"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
AGENT = "96538580-d1b8-4c5c-a98c-53607650b46d"


def record(type: str, agent: str | None = None, at: Any = "2026-11-15T19:12:42.738Z", **data: Any) -> dict[str, Any]:
    """One line of the file."""
    named = {} if agent is None else {"agentId": agent}
    return {"type": type, "data": data, **named, "id": "e", "timestamp": at, "parentId": None}


def wish(id: str, name: str = "bash", arguments: Any = None) -> dict[str, Any]:
    return {"toolCallId": id, "name": name, "arguments": arguments or {"command": "ls"}, "type": "function"}


def answer(*wishes: dict[str, Any], content: str = "", agent: str | None = None, **data: Any) -> dict[str, Any]:
    return record("assistant.message", agent, content=content, toolRequests=list(wishes), **data)


def result(id: str, text: str = "out", **data: Any) -> dict[str, Any]:
    return record("tool.execution_complete", **{"toolCallId": id, "success": True, "result": {"content": text}, **data})


def usage(id: str, out: int = 27, **more: Any) -> dict[str, Any]:
    told = {"model": "gpt-4.1", "inputTokens": 1100, "outputTokens": out, "cacheReadTokens": 400, "apiCallId": id}
    return record("session.usage_record", usage={**told, **more})


def read(*records: Any) -> tuple[list[Event], Report]:
    parser = SPEC.open(Context(run_id=SESSION))
    events = parser.feed(b"".join(json.dumps(each).encode() + b"\n" for each in records)) + parser.finish()
    assert parser.report.failed == 0
    assert {event.origin.line for event in events if event.origin} == set(range(1, len(records) + 1))
    return events, parser.report


def types(*records: Any) -> list[str]:
    """Event types; system events by their subtype."""
    events = read(*records)[0]
    return [f"<{event.payload.subtype}>" if event.type == "system.event" else event.type for event in events]


def payloads(*records: Any) -> list[Any]:
    return [event.payload for event in read(*records)[0]]


def test_an_answer_is_one_message_with_its_calls() -> None:
    """Thinking, text and tool_use in one event, in that order, then each call."""
    events, _ = read(answer(wish("c1"), wish("c2"), content="Look.", reasoningText="Hm.", model="gpt-4.1"))
    assert [event.type for event in events] == ["message.assistant", "tool.call", "tool.call"]
    assert [type(block) for block in events[0].payload.blocks] == [
        ThinkingBlock, TextBlock, ToolUseBlock, ToolUseBlock
    ]  # fmt: skip
    assert [event.payload.call_id for event in events[1:]] == ["c1", "c2"]


def test_a_call_that_starts_is_told_once() -> None:
    """The start of a call adds nothing to the message that asked for it, unless its input was changed."""
    start = record("tool.execution_start", toolCallId="c1", toolName="bash", arguments={"command": "ls"})
    changed = record("tool.execution_start", toolCallId="c1", toolName="bash", arguments={"command": "ls -l"})
    assert types(answer(wish("c1")), start, result("c1")) == [
        "message.assistant", "tool.call", "<tool.execution_start>", "tool.result"
    ]  # fmt: skip
    assert payloads(answer(wish("c1")), start)[-1].data == {"toolCallId": "c1", "toolName": "bash"}
    assert payloads(answer(wish("c1")), changed)[-1].data["arguments"] == {"command": "ls -l"}


def test_a_call_that_nobody_asked_for_is_told_when_it_starts() -> None:
    """A command that the user runs, or a start before its message, gives the call; the message gives none again."""
    start = record("tool.execution_start", toolCallId="c1", toolName="bash", arguments={"command": "ls"})
    asked = record("tool.user_requested", toolCallId="c1", toolName="bash", arguments={"command": "ls"})
    assert types(asked, start, result("c1")) == ["tool.call", "<tool.execution_start>", "tool.result"]
    assert types(start, answer(wish("c1")), result("c1")) == ["tool.call", "message.assistant", "tool.result"]


def test_an_id_that_was_answered_may_be_used_again() -> None:
    """Small local providers count their calls from the beginning in every answer."""
    events, _ = read(answer(wish("c1")), result("c1", "one"), answer(wish("c1")), result("c1", "two"))
    pairs = pair_calls(events)
    assert [pair.result.payload.output for pair in pairs if pair.result] == ["one", "two"]
    assert all(pair.call is not None for pair in pairs)


def test_only_a_failed_tool_is_an_error() -> None:
    """`success: false` is one, with the reason as output where there is no other; an exit code is not."""
    exit_3 = result("c1", "err\n<shellId: 0 completed with exit code 3>", shellExecution={"exitCode": 3})
    failed = record(
        "tool.execution_complete", toolCallId="c1", success=False, error={"message": "denied it", "code": "denied"}
    )
    spoken = result("c1", "what it said", success=False)
    (fine, refused, said) = (payloads(answer(wish("c1")), each)[-1] for each in (exit_3, failed, spoken))
    assert (fine.error, fine.name) == (None, "bash")
    assert "exit code 3" in fine.output
    assert (refused.error, refused.output) == ("denied it", "denied it")
    assert (said.error, said.output) == ("what it said", "what it said")


def test_a_result_may_be_plain_text() -> None:
    """Some public files have a string where 1.0.102 has an object."""
    payload = payloads(record("tool.execution_complete", toolCallId="c1", success=True, result="File created"))[0]
    assert (payload.output, payload.error, payload.name) == ("File created", None, "")


def test_media_in_a_result_are_blocks() -> None:
    """A picture that a tool shows is an attachment beside the text; a terminal's exit is no medium."""
    parts = [{"type": "shell_exit", "exitCode": 0}, {"type": "image", "data": PIXEL, "mimeType": "image/png"}]
    shown = payloads(result("c1", result={"content": "a picture", "contents": parts}))[0]
    assert [type(block) for block in shown.blocks] == [TextBlock, AttachmentBlock]
    assert payloads(result("c1", result={"content": "text", "contents": parts[:1]}))[0].output == "text"


def test_a_prompt_is_what_was_typed() -> None:
    """Not what was sent, which has the date before it; attachments are blocks."""
    blob = {"type": "blob", "data": PIXEL, "mimeType": "image/png"}
    events, _ = read(
        record("user.message", content="Hi", transformedContent="<date>\nHi", messageId="m", attachments=[blob])
    )
    assert events[0].type == "message.user"
    assert [type(block) for block in events[0].payload.blocks] == [TextBlock, AttachmentBlock]
    assert events[0].payload.blocks[0].text == "Hi"


@pytest.mark.parametrize("more", [{"source": "skill-pdf"}, {"isAutopilotContinuation": True}, {"source": "agent-x"}])
def test_what_the_harness_says_is_no_prompt(more: dict[str, Any]) -> None:
    """Skills, autopilot and agents that write to the main one speak under the user's type."""
    assert types(record("user.message", content="go on", **more)) == ["<user.message>"]


def test_a_subagent_is_a_source() -> None:
    """Its records name it; its task is its prompt; the link to the spawning call is on every one of them."""
    events, _ = read(
        answer(wish("t1", "task")),
        record("subagent.started", AGENT, toolCallId="t1", agentName="general-purpose"),
        record("user.message", AGENT, content="SUBTASK", source=f"agent-{SESSION}"),
        answer(wish("c1"), agent=AGENT, parentToolCallId="t1"),
        result("t1", "done"),
    )
    inner = [event for event in events if event.source == f"subagent:{AGENT}"]
    assert [event.type for event in inner] == ["system.event", "message.user", "message.assistant", "tool.call"]
    assert {(event.origin.parent_source, event.origin.parent_call_id) for event in inner if event.origin} == {
        ("main", "t1")
    }
    assert events[-1].source == "main"


def test_an_agent_of_an_agent_is_below_it() -> None:
    """The source that made the spawning call is the parent."""
    events, _ = read(
        answer(wish("t1", "task")),
        answer(wish("t2", "task"), agent="a1", parentToolCallId="t1"),
        answer(content="deep", agent="a2", parentToolCallId="t2"),
    )
    assert events[-1].origin is not None
    assert (events[-1].source, events[-1].origin.parent_source) == ("subagent:a2", "subagent:a1")


def test_a_subagent_without_an_id_is_named_by_its_call() -> None:
    """Some public files name the call that spawned an agent, and no agent."""
    events, _ = read(answer(wish("t1", "task")), answer(content="in it", parentToolCallId="t1"))
    assert events[-1].source == "subagent:t1"


def test_usage_is_normal_already() -> None:
    """Input has what was cached, output what was thought; the id is the answer's, which its message shares."""
    events, _ = read(usage("a1", reasoningTokens=7, finishReason="stop"), answer(content="Hi", apiCallId="a1"))
    used, said = (event.payload for event in events)
    assert (used.scope, used.input_tokens, used.cache_read_input_tokens, used.output_tokens) == ("call", 1100, 400, 27)
    assert (used.reasoning_output_tokens, used.message_id, said.message_id) == (7, "a1", "a1")
    assert said.stop_reason == "stop"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 1000)), max_size=12))
def test_usage_adds_up_whatever_the_ids(told: list[tuple[str, int]]) -> None:
    """Every record is one model call, also where a provider uses its ids again."""
    events, _ = read(*(usage(answer_id, out) for answer_id, out in told))
    total = usage_totals(events).total
    assert (total.records, total.output_tokens) == (len(told), sum(out for _, out in told))


def test_chunks_of_an_answer_share_its_id() -> None:
    """An answer that was split at its thoughts is one message; an id that is merely used again is not."""
    chunks = [answer(content=text, apiCallId="a1", messageId=text, chunkCount=2) for text in ("one", "two")]
    again = answer(content="three", apiCallId="a1", messageId="three")
    assert [payload.message_id for payload in payloads(*chunks, again)] == ["a1", "a1", "three"]


def test_the_end_of_a_process_tells_the_total() -> None:
    """Over all models; a resumed session tells it again, and calls count where they are told."""

    def shutdown(*counts: int) -> dict[str, Any]:
        each = [{"usage": {"inputTokens": 10 * count, "outputTokens": count}} for count in counts]
        return record("session.shutdown", modelMetrics={f"m{number}": one for number, one in enumerate(each)})

    resumed = [shutdown(5), record("session.resume"), shutdown(5, 8)]
    assert types(*resumed)[:2] == ["<session.shutdown>", "token.usage"]
    assert usage_totals(read(*resumed)[0]).total.output_tokens == 13
    assert usage_totals(read(usage("a1", 27), *resumed)[0]).total.output_tokens == 27
    assert types(record("session.shutdown", modelMetrics={"m": {"requests": 2}})) == ["<session.shutdown>"]


def test_a_thought_is_told_once() -> None:
    """Alone before its message, alone after it, or in two messages that think alike."""
    alone = record("assistant.reasoning", reasoningId="r", content="Hm.")
    said = answer(content="So.", reasoningText="Hm.")

    def thoughts(*records: Any) -> int:
        blocks = [block for event in read(*records)[0] for block in getattr(event.payload, "blocks", None) or ()]
        return sum(isinstance(block, ThinkingBlock) for block in blocks)

    assert (thoughts(alone, said), thoughts(said, alone), thoughts(said, said)) == (1, 1, 2)
    assert types(said, alone)[-1] == "<repeated>"


def test_a_thought_keeps_what_its_provider_needs() -> None:
    """Anthropic's is opaque, OpenAI's is encrypted; also when the words were told alone before."""

    def opaque(*records: Any) -> list[Any]:
        blocks = [block for event in read(*records)[0] for block in getattr(event.payload, "blocks", None) or ()]
        thoughts = [block for block in blocks if isinstance(block, ThinkingBlock)]
        return [(block.thinking, block.signature, block.encrypted_content) for block in thoughts]

    assert opaque(answer(reasoningOpaque="x")) == [("", "x", None)]
    assert opaque(answer(reasoningText="Hm.", encryptedContent="y")) == [("Hm.", None, "y")]
    alone = record("assistant.reasoning", reasoningId="r", content="Hm.")
    assert opaque(alone, answer(reasoningText="Hm.", reasoningOpaque="x")) == [("Hm.", None, None), ("", "x", None)]


def test_errors_and_compactions() -> None:
    """What ends a turn is an error; a compaction that failed is none of ours."""
    error = record("session.error", errorType="query", message="500 from the model", statusCode=500)
    assert (payloads(error)[0].message, payloads(error)[0].code) == ("500 from the model", "query")
    done = record("session.compaction_complete", success=True, summaryContent="So far.", preCompactionTokens=9)
    assert types(done, record("session.compaction_complete", success=False, error="no")) == [
        "<compaction>",
        "<session.compaction_complete>",
    ]
    assert (payloads(done)[0].text, payloads(done)[0].data["preCompactionTokens"]) == ("So far.", 9)


def test_only_types_nobody_knows_are_unknown() -> None:
    """A type of the program's schema is a system event; another is kept whole and counted."""
    events, report = read(record("hook.start", hookType="preToolUse"), record("session.brand_new", x=1), [1], "text")
    assert [event.type for event in events] == ["system.event", "unknown", "unknown", "unknown"]
    assert report.unknown_types["session.brand_new"] == 1


def test_a_time_may_be_milliseconds() -> None:
    """Some public files have a number where 1.0.102 has text."""
    events, _ = read(record("user.message", at=1751968800000, content="Hi"))
    assert events[0].timestamp == "2025-07-08T10:00:00.000Z"


def test_a_key_that_the_file_holds_raw_is_masked() -> None:
    """Copilot masks its provider's key in what it prints, and not in its file; a mask of ours finds it everywhere."""
    key = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2
    command = {"command": f"curl -H 'Authorization: Bearer {key}' https://example.test"}
    events, _ = read(
        record("user.message", content=f"My key is {key}", transformedContent=f"<date>\nMy key is {key}"),
        answer(wish("c1", arguments=command), content=f"Using {key}", reasoningText=f"They gave {key}."),
        record("tool.execution_start", toolCallId="c1", toolName="bash", arguments=command),
        result("c1", f"COPILOT_PROVIDER_API_KEY={key}\n"),
        record("session.error", message=f"401: wrong key {key}"),
    )
    mask = default_masker()
    assert all(key.encode() in encode(event) for event in events if event.raw is not None)
    assert [event for event in events if key.encode() in encode(mask(event))] == []


def test_sessions_are_found(tmp_path: Path) -> None:
    """Every session of the folder, by its id, also where COPILOT_HOME moves it."""
    layout = layout_of("copilot_cli")
    (root,) = layout.roots({"COPILOT_HOME": str(tmp_path)}, Path("/nowhere"))
    assert layout.roots({}, tmp_path) == [tmp_path / ".copilot" / "session-state"]
    path = root / SESSION / "events.jsonl"
    path.parent.mkdir(parents=True)
    assert (list(layout.sessions(root)), layout.find(root, SESSION)) == ([], None)
    path.write_text("")
    assert (list(layout.sessions(root)), layout.find(root, SESSION)) == ([path], path)
    assert layout.find(root, "..") is None


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (f"/home/user/.copilot/session-state/{SESSION}/events.jsonl", SESSION),
        (f"{SESSION}.jsonl", SESSION),
        ("renamed.jsonl", "inside"),
    ],
)
def test_the_folder_names_the_session(path: str, found: str) -> None:
    """Its name, else what the first line says."""
    assert SPEC.identify([record("session.start", sessionId="inside")], path).native_id == found


def test_a_record_without_the_envelope_hides_no_session() -> None:
    """A new version may write some; most must be Copilot's."""
    known = [record("session.start", sessionId="s"), record("user.message", content="Look.")]
    other = {"type": "unheard.of"}
    assert SPEC.detect([*known, other], "events.jsonl")
    assert not SPEC.detect([*known, other, other], "events.jsonl")
