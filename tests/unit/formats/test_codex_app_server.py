"""What `codex app-server` and its client say to each other, as events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context, Report
from stenograph.formats.codex_app_server import SPEC
from stenograph.formats.codex_app_server.parser import CodexAppServerFormat
from stenograph.model import Event, TextBlock
from stenograph.transcript import entries

MAIN = "01a1e0a1-21f1-7790-9423-e7257b468317"
CHILD = "01a1e0a1-2258-79e3-a195-048d8a7e105b"
TURN = "01a1e0a1-220d-70c0-aab8-cf1e4c03f0bd"
AT = 1794769974948


def note(method: str, thread: str | None = MAIN, at: int | None = AT, **params: Any) -> dict[str, Any]:
    """A notification of the server."""
    if thread is not None:
        params = {"threadId": thread, "turnId": TURN, **params}
    return {"method": method, "params": params, **({} if at is None else {"emittedAtMs": at})}


def item(state: str, type: str, id: str, thread: str | None = MAIN, **fields: Any) -> dict[str, Any]:
    """An item starts or completes."""
    return note(f"item/{state}", thread, item={"type": type, "id": id, **fields})


def read(*messages: Any, finish: bool = True, **context: Any) -> tuple[list[Event], Report]:
    """The events of messages, line by line and as objects alike."""
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    parser = SPEC.open(Context(run_id=MAIN, **context))
    events = parser.feed(lines)
    events += parser.finish() if finish else []
    assert parser.report.failed == 0
    named = {event.origin.line for event in events if event.origin and event.raw is not None}
    assert len(named) + parser.report.accumulated == len(messages)
    return events, parser.report


def types(*messages: Any, **context: Any) -> list[str]:
    return [event.type for event in read(*messages, **context)[0]]


def payloads(*messages: Any, **context: Any) -> list[Any]:
    return [event.payload for event in read(*messages, **context)[0]]


START = {"id": 3, "method": "turn/start", "params": {"threadId": MAIN, "input": [{"type": "text", "text": "Do it"}]}}
COMMAND = {"command": "ls", "cwd": "/w", "status": "inProgress", "aggregatedOutput": None}
USAGE = {"inputTokens": 1000, "cachedInputTokens": 400, "outputTokens": 50, "reasoningOutputTokens": 20}


def usage(total: int, turn: str = TURN, thread: str = MAIN, **last: int) -> dict[str, Any]:
    tokens = {"total": {**USAGE, "totalTokens": total}, "last": {**USAGE, "totalTokens": 1050, **last}}
    return note("thread/tokenUsage/updated", thread, turnId=turn, tokenUsage=tokens)


# The document's table.


def test_the_documents_table_holds_row_by_row() -> None:
    """Every row of the Codex mapping table gives the entry types it promises."""
    messages = [
        START,
        note("item/agentMessage/delta", itemId="m", delta="Hel"),
        note("item/agentMessage/delta", itemId="m", delta="lo"),
        item("completed", "agentMessage", "m", text="Hello"),
        item("started", "commandExecution", "c", **COMMAND),
        item("completed", "commandExecution", "c", command="ls", status="completed", aggregatedOutput="a\n"),
        {
            "id": 0,
            "method": "item/tool/call",
            "params": {"threadId": MAIN, "callId": "d", "tool": "t", "arguments": {}},
        },
        {"id": 0, "result": {"contentItems": [{"type": "inputText", "text": "ok"}], "success": True}},
        note("item/reasoning/completed", itemId="r", summary="Because."),
        usage(1050),
        note("turn/completed", turn={"id": TURN, "status": "failed", "error": {"message": "no"}}),
        item("completed", "contextCompaction", "k"),
        note("item/somethingNew"),
        note("turn/somethingNew"),
    ]
    events, _ = read(*messages)
    assert [entry.entry_type for entry in entries(events)] == [
        "user_message", "assistant_message", "tool_use", "tool_result", "tool_use", "tool_result", "thinking",
        "token_usage", "error", "system_event", "unknown", "unknown",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["commandExecution", "fileChange", "mcpToolCall", "webSearch"])
def test_every_tool_item_of_the_table_is_a_call_and_a_result(kind: str) -> None:
    """Started is the call, completed the result."""
    assert types(item("started", kind, "c"), item("completed", kind, "c", status="completed")) == [
        "tool.call",
        "tool.result",
    ]


@pytest.mark.parametrize(
    "method", ["turn/started", "turn/diff/updated", "turn/plan/updated", "item/mcpToolCall/progress"]
)
def test_other_items_and_turns_are_unknown(method: str) -> None:
    """The document's last row, verbatim; the report counts them by method."""
    events, report = read(note(method))
    assert [event.type for event in events] == ["unknown"]
    assert report.unknown_types == {method: 1}


def test_a_turn_that_ends_well_is_unknown_too() -> None:
    """Only a failed turn has a row in the table."""
    assert types(note("turn/completed", turn={"id": TURN, "status": "completed"})) == ["unknown"]


def test_the_documents_shapes_of_reasoning_are_read() -> None:
    """`item/reasoning/delta` accumulates, `item/reasoning/completed` gives it whole."""
    events, report = read(
        note("item/reasoning/delta", itemId="r", delta="Think"),
        note("item/reasoning/delta", itemId="r", delta="ing"),
        note("item/reasoning/completed", itemId="r"),
    )
    assert [block.thinking for block in events[0].payload.blocks] == ["Thinking"]
    assert report.accumulated == 2


def test_the_documents_flat_items_are_read() -> None:
    """The document shows the item in place of the params."""
    flat = {"type": "commandExecution", "status": "completed", "command": "ls -la", "aggregatedOutput": "total 42"}
    call, result = payloads({"method": "item/completed", "params": flat})
    assert (call.input, result.output) == ({"command": "ls -la"}, "total 42")


def test_details_carry_the_notification() -> None:
    """The first entry of a record has its params under `detail.notification`."""
    message = item("completed", "agentMessage", "m", text="Hi")
    [entry] = entries(read(message)[0])
    assert entry.detail["notification"] == message["params"]


# What is said.


def test_the_server_repeats_what_the_client_said_and_it_counts_once() -> None:
    """`turn/start` is the user message; the `userMessage` that follows is its echo."""
    content = [{"type": "text", "text": "Do it", "text_elements": []}]
    echo = [item(state, "userMessage", "u", content=content) for state in ("started", "completed")]
    events, report = read(START, *echo)
    assert [event.type for event in events] == ["message.user"]
    assert report.accumulated == 2


def test_without_the_clients_direction_the_echo_is_the_message() -> None:
    """A recording of the server alone still has the prompt, once."""
    content = [{"type": "text", "text": "Do it", "text_elements": []}]
    echo = [item(state, "userMessage", "u", content=content) for state in ("started", "completed")]
    [event] = read(*echo)[0]
    assert (event.type, event.payload.blocks[0].text, event.payload.message_id) == ("message.user", "Do it", "u")


def test_a_steer_that_was_never_consumed_does_not_hide_the_next_prompt() -> None:
    """Echoes are matched by the client's id or their words, not by their number."""
    steer = {
        "id": 4,
        "method": "turn/steer",
        "params": {"threadId": MAIN, "input": [{"type": "text", "text": "Hurry"}]},
    }
    again = {"id": 5, "method": "turn/start", "params": {**START["params"], "clientUserMessageId": "x"}}
    echo = item("completed", "userMessage", "u", clientId="x", content=[{"type": "text", "text": "Do it"}])
    child = item("completed", "userMessage", "u2", CHILD, content=[{"type": "text", "text": "CHILD"}])
    assert types(START, steer, again, echo, child) == ["message.user"] * 4


def test_a_message_waits_for_its_end_and_is_whole() -> None:
    """Deltas give no event of their own; the completed item wins over them."""
    messages = [
        item("started", "agentMessage", "m", text=""),
        note("item/agentMessage/delta", itemId="m", delta="Hel"),
        note("item/agentMessage/delta", itemId="m", delta="lo"),
        item("completed", "agentMessage", "m", text="Hello"),
    ]
    [event], report = read(*messages)
    assert event.payload.message_id == "m"
    assert event.payload.blocks == (TextBlock(fidelity="agent_emitted", text="Hello"),)
    assert event.origin is not None
    assert (event.origin.line, report.accumulated) == (4, 3)


def test_reasoning_has_its_summary_parts_and_its_raw_thoughts() -> None:
    """Part by part, in order."""
    [payload] = payloads(item("completed", "reasoning", "r", summary=["**Plan**", "**Two**"], content=["raw"]))
    assert [block.thinking for block in payload.blocks] == ["**Plan**", "**Two**", "raw"]


def test_encrypted_reasoning_is_one_empty_thought() -> None:
    """That the model thought is a fact, even when nobody may read it."""
    [payload] = payloads(item("completed", "reasoning", "r", summary=[], content=[]))
    assert [block.thinking for block in payload.blocks] == [""]


def test_what_an_interrupted_turn_had_said_is_kept() -> None:
    """It exists only in deltas, and stands under the line of the last one, before the turn's end."""
    messages = [
        item("started", "agentMessage", "m", text=""),
        note("item/agentMessage/delta", itemId="m", delta="Half a sen", at=AT + 5),
        note("turn/completed", turn={"id": TURN, "status": "interrupted"}, at=AT + 9),
    ]
    said, end = read(*messages)[0]
    assert (said.type, said.payload.blocks[0].text) == ("message.assistant", "Half a sen")
    assert said.origin is not None
    assert (said.origin.line, said.timestamp, said.raw) == (2, "2026-11-15T19:12:54.953Z", None)
    assert (end.type, end.timestamp) == ("unknown", "2026-11-15T19:12:54.957Z")
    assert end.raw is not None


def test_what_a_dropped_stream_had_said_comes_before_the_retry() -> None:
    """The abandoned message is never completed; a new one follows under a new id."""
    messages = [
        note("item/agentMessage/delta", itemId="m1", delta="cut in the "),
        note("error", error={"message": "Reconnecting... 1/3", "codexErrorInfo": {"x": {}}}, willRetry=True),
        item("completed", "agentMessage", "m2", text="Again."),
    ]
    events, _ = read(*messages)
    assert [event.type for event in events] == ["message.assistant", "error", "message.assistant"]
    assert (events[1].payload.retryable, events[1].payload.code) == (True, "x")


def test_what_a_dying_server_was_saying_comes_before_its_end() -> None:
    """A recording that tells the end of the process tells that nothing more will come."""
    messages = [note("item/agentMessage/delta", itemId="m", delta="Hel"), {"dir": "exit", "msg": {"returncode": -9}}]
    assert types(*messages) == ["message.assistant", "system.event"]


def test_an_empty_message_that_was_never_completed_says_nothing() -> None:
    """A reviewer's answer is started and then repeated under another id."""
    assert types(item("started", "agentMessage", "m", text=""), note("turn/completed", turn={})) == ["unknown"]


def test_finish_gives_what_never_completed() -> None:
    """The recording ends in the middle of a message, a thought and a command's output."""
    messages = [
        note("item/agentMessage/delta", itemId="m", delta="Hel"),
        note("item/reasoning/summaryTextDelta", itemId="r", delta="Hm", summaryIndex=0),
        note("item/commandExecution/outputDelta", itemId="c", delta="tick\n"),
    ]
    parser = SPEC.open(Context(run_id=MAIN))
    for message in messages:
        assert parser.feed_object(message) == []
    said, thought, output = parser.finish()
    assert (said.payload.blocks[0].text, thought.payload.blocks[0].thinking) == ("Hel", "Hm")
    assert (output.type, output.payload.subtype) == ("system.event", "item/commandExecution/outputDelta")
    assert (output.payload.text, output.payload.data) == ("tick\n", {"itemId": "c"})
    assert parser.finish() == []


def test_images_become_attachments() -> None:
    """A data URL is content; a path on the client's disk is kept as it stands."""
    parts = [
        {"type": "image", "url": "data:image/png;base64,iVBORw0K"},
        {"type": "localImage", "path": "/p.png"},
    ]
    [payload] = payloads({"id": 1, "method": "turn/start", "params": {"threadId": MAIN, "input": parts}})
    image, local = payload.blocks
    assert (image.media_type, image.size, image.data) == ("image/png", 6, "iVBORw0K")
    assert local.extra == {**parts[1], "fidelity": "agent_emitted"}


def test_the_model_comes_from_the_thread() -> None:
    """Items do not name it; the thread, the turn's request or a reroute does."""
    messages = [
        {"id": 2, "result": {"thread": {"id": MAIN}, "model": "gpt-a"}},
        item("completed", "agentMessage", "m1", text="1"),
        note("model/rerouted", fromModel="gpt-a", toModel="gpt-b"),
        item("completed", "agentMessage", "m2", text="2"),
    ]
    models = [payload.model for payload in payloads(*messages) if hasattr(payload, "model")]
    assert models == ["gpt-a", "gpt-b"]


# What is done.


def test_a_command_has_its_words_its_output_and_its_time() -> None:
    """The id of the item is the id of the call."""
    done = {"command": "ls", "status": "completed", "aggregatedOutput": "a\n", "exitCode": 0, "durationMs": 763}
    call, result = payloads(
        item("started", "commandExecution", "c", **COMMAND),
        note("item/commandExecution/outputDelta", itemId="c", delta="lossy"),
        item("completed", "commandExecution", "c", **done),
    )
    assert (call.name, call.call_id, call.input) == ("commandExecution", "c", {"command": "ls", "cwd": "/w"})
    assert (result.call_id, result.output, result.error, result.duration_ms) == ("c", "a\n", None, 763)


@pytest.mark.parametrize("took", [10**30, -1, True, "763", None])
def test_a_duration_that_cannot_be_one_is_left_out(took: Any) -> None:
    """An archive could not hold it, and one such number ended a sync."""
    done = {"command": "ls", "status": "completed", "aggregatedOutput": "a\n", "durationMs": took}
    *_, result = payloads(item("completed", "commandExecution", "c", **done))
    assert result.duration_ms is None


def test_deltas_stand_in_for_an_output_that_is_not_repeated() -> None:
    """They are lossy, so only then."""
    messages = [
        note("item/commandExecution/outputDelta", itemId="c", delta="tick\n"),
        item("completed", "commandExecution", "c", command="ls", status="completed", aggregatedOutput=None),
    ]
    assert payloads(*messages)[1].output == "tick\n"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"type": "commandExecution", "status": "failed", "exitCode": 7, "aggregatedOutput": "x"}, "exit code 7"),
        ({"type": "commandExecution", "status": "completed", "exitCode": 7}, None),
        ({"type": "commandExecution", "status": "declined"}, "declined"),
        ({"type": "fileChange", "status": "declined"}, "declined"),
        ({"type": "mcpToolCall", "status": "failed", "error": {"message": "server exploded"}}, "server exploded"),
        (
            {"type": "mcpToolCall", "status": "failed", "result": {"content": [{"type": "text", "text": "no"}]}},
            "no",
        ),
        (
            {"type": "dynamicToolCall", "status": "failed", "contentItems": [{"type": "inputText", "text": "404"}]},
            "404",
        ),
    ],
)
def test_a_tool_failed_only_when_codex_says_so(fields: dict[str, Any], error: str | None) -> None:
    """In its own words where it has some; an exit code alone says nothing."""
    assert payloads(note("item/completed", item={"id": "c", **fields}))[1].error == error


def test_an_mcp_result_with_a_picture_has_blocks() -> None:
    """Several parts or media are blocks; one text is the output itself."""
    content = [{"type": "text", "text": "a picture"}, {"type": "image", "data": "iVBORw0K", "mimeType": "image/png"}]
    call, result = payloads(
        item("completed", "mcpToolCall", "c", server="tiny", tool="picture", arguments={}, result={"content": content})
    )
    assert call.name == "mcp__tiny__picture"
    assert result.output is None
    assert [type(block).__name__ for block in result.blocks] == ["TextBlock", "AttachmentBlock"]


def test_a_completed_tool_without_its_start_is_a_call_and_a_result() -> None:
    """A recording may begin in the middle."""
    assert types(item("completed", "fileChange", "c", status="completed")) == ["tool.call", "tool.result"]


def test_a_call_without_its_end_is_kept_as_it_is() -> None:
    """An interrupted command or a background one is never completed."""
    assert types(item("started", "commandExecution", "c", **COMMAND)) == ["tool.call"]


def test_ids_that_a_provider_uses_again_are_other_calls() -> None:
    """Two commands with one id are two calls."""
    pair = [item("started", "commandExecution", "same"), item("completed", "commandExecution", "same")]
    assert types(*pair, *pair) == ["tool.call", "tool.result"] * 2


DYNAMIC = {"namespace": "tickets", "tool": "lookup", "arguments": {"id": 1}}
ASKED = {"id": 0, "method": "item/tool/call", "params": {"threadId": MAIN, "turnId": TURN, "callId": "d", **DYNAMIC}}
ANSWERED = {"id": 0, "result": {"contentItems": [{"type": "inputText", "text": "open"}], "success": False}}


def test_the_tools_of_a_client_are_defined_once_their_thread_is_there() -> None:
    """They belong to the thread, which only the answer names."""
    tool = {"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}
    messages = [
        {"id": 1, "method": "thread/start", "params": {"dynamicTools": [tool]}},
        {"id": 1, "result": {"thread": {"id": CHILD}}},
    ]
    found, _ = read(*messages)
    defined = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}
    assert [event.payload.data for event in found if event.payload.subtype == "tool_definitions"] == [
        {"tools": [defined]}
    ]
    assert found[-1].origin.session_id == CHILD


def test_a_bridged_tool_is_told_three_times_and_counts_once() -> None:
    """Its item, the request to the client and its response are one call and one result."""
    messages = [
        item("started", "dynamicToolCall", "d", status="inProgress", **DYNAMIC),
        ASKED,
        ANSWERED,
        item("completed", "dynamicToolCall", "d", status="failed", contentItems=[], success=False, **DYNAMIC),
    ]
    events, report = read(*messages)
    call, result = events
    assert (call.type, call.payload.name, call.payload.input, call.payload.fidelity) == (
        "tool.call", "lookup", {"id": 1}, "agent_emitted",
    )  # fmt: skip
    assert (result.type, result.payload.output, result.payload.error) == ("tool.result", "open", "open")
    assert report.accumulated == 2


def test_a_bridged_tool_is_answered_by_its_item_where_the_client_is_not_heard() -> None:
    """The server's direction alone is enough."""
    done = item("completed", "dynamicToolCall", "d", status="completed", contentItems=[], success=True, **DYNAMIC)
    assert types(ASKED, done) == ["tool.call", "tool.result"]


def test_a_client_that_answers_with_an_error_fails_the_tool() -> None:
    """A JSON-RPC error is the tool's error."""
    refused = {"id": 0, "error": {"code": -1, "message": "no such tool"}}
    assert payloads(START, ASKED, refused)[-1].error == "no such tool"


def test_an_answer_of_the_server_is_not_taken_for_the_clients() -> None:
    """Both number their requests from the beginning, so ids meet."""
    asked = {**ASKED, "id": 4}
    interrupt = {"id": 4, "method": "turn/interrupt", "params": {"threadId": MAIN, "turnId": TURN}}
    events, _ = read(asked, interrupt, {"id": 4, "result": {}}, {**ANSWERED, "id": 4})
    assert [event.type for event in events] == ["tool.call", "system.event", "system.event", "tool.result"]
    assert events[2].payload.subtype == "turn/interrupt/response"


def test_approvals_are_system_events() -> None:
    """The request with what is asked, the response with the decision."""
    asked = {
        "id": 0,
        "method": "item/commandExecution/requestApproval",
        "params": {"threadId": MAIN, "turnId": TURN, "itemId": "c", "command": "touch x", "startedAtMs": AT},
    }
    request, response = read(asked, {"id": 0, "result": {"decision": "cancel"}})[0]
    assert (request.payload.subtype, request.payload.text) == ("item/commandExecution/requestApproval", "touch x")
    assert request.timestamp == "2026-11-15T19:12:54.948Z"
    assert (response.payload.subtype, response.payload.text) == (f"{asked['method']}/response", "cancel")


# Errors.


def test_a_turn_that_fails_is_one_error() -> None:
    """The announcement just before it is a system event."""
    error = {"message": "out of room", "codexErrorInfo": "contextWindowExceeded", "additionalDetails": None}
    announced, failed = read(
        note("error", error=error, willRetry=False),
        note("turn/completed", turn={"id": TURN, "status": "failed", "error": error}),
    )[0]
    assert (announced.type, announced.payload.subtype, announced.payload.text) == (
        "system.event",
        "error",
        "out of room",
    )
    assert (failed.type, failed.payload.message, failed.payload.code) == (
        "error",
        "out of room",
        "contextWindowExceeded",
    )


def test_an_announced_failure_is_an_error_when_the_turn_never_ends() -> None:
    """The server died before it could say so."""
    events, _ = read(note("error", error={"message": "bad"}, willRetry=False))
    assert [event.type for event in events] == ["system.event", "error"]


def test_a_refused_request_is_an_error() -> None:
    """With the method that was refused."""
    refused = {"id": 2, "error": {"code": -32600, "message": "Invalid request"}}
    error = payloads({"id": 2, "method": "thread/start", "params": {}}, refused)[1]
    assert (error.message, error.code, error.data) == ("Invalid request", "-32600", {"method": "thread/start"})


# Tokens.


def test_repeated_usage_counts_once() -> None:
    """After a resume or a compaction the same answer is told again, in a fork under another thread."""
    again = usage(2100, turn="01a1e0a1-1320-7112-899c-eaae0fbbcd57", thread=CHILD)
    first = usage(2100, turn="01a1e0a1-1320-7112-899c-eaae0fbbcd57")
    events, _ = read(usage(1050), usage(1050), first, again)
    assert [event.type for event in events] == ["token.usage"] * 4
    total = usage_totals(events).total
    assert (total.input_tokens, total.output_tokens, total.records) == (2000, 100, 2)
    assert (total.cache_read_input_tokens, total.reasoning_output_tokens) == (800, 40)


def test_the_zeros_after_a_compaction_do_not_erase_an_answer() -> None:
    """The total has not moved, so they would have the key of the last answer; they are told as the total instead."""
    events, _ = read(usage(1050), usage(1050, inputTokens=0, outputTokens=0))
    assert [event.payload.scope for event in events] == ["call", "total"]
    assert usage_totals(events).total.output_tokens == 50


def test_raw_events_name_the_answer() -> None:
    """Its own id is the key, for the usage that follows as well; a mere number is named with its turn."""
    for response_id, key in (("resp_1", f"{TURN}:resp_1"), (f"resp_{TURN}", f"resp_{TURN}")):
        raw = note("rawResponse/completed", responseId=response_id, usage=USAGE)
        events, _ = read(raw, usage(1050), usage(1050), usage(2100))
        assert [event.payload.message_id for event in events] == [key, key, key, f"{TURN}:2100"]


def test_the_oldest_protocol_told_usage_only_in_the_old_way() -> None:
    """0.63 has no `thread/tokenUsage/updated`; its turns are numbers, so the thread is part of the key."""
    counts = {"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050}
    old = {
        "method": "codex/event/token_count",
        "params": {
            "id": "0",
            "msg": {"type": "token_count", "info": {"total_token_usage": counts, "last_token_usage": counts}},
            "conversationId": MAIN,
        },
    }
    events, report = read(note("turn/started", at=None), old, old)
    assert [event.type for event in events] == ["unknown", "token.usage"]
    assert events[1].payload.message_id == f"{MAIN}:0:1050"
    assert report.accumulated == 1


# Threads, time, directions.


def test_child_threads_are_runs_of_their_own() -> None:
    """They share the connection, differ by session, and name their parent once it is known."""
    spawned = {"tool": "spawnAgent", "status": "completed", "model": "gpt-c", "receiverThreadIds": [CHILD]}
    messages = [
        item("started", "collabAgentToolCall", "c", tool="spawnAgent", receiverThreadIds=[], prompt="P"),
        note("thread/status/changed", CHILD, status={"type": "idle"}),
        item("completed", "collabAgentToolCall", "c", **spawned),
        item("completed", "agentMessage", "m", CHILD, text="42"),
        item("completed", "agentMessage", "m", text="Done"),
    ]
    call, early, result, said, done = read(*messages)[0]
    assert (call.payload.name, call.payload.input["prompt"]) == ("spawnAgent", "P")
    assert (early.run_id, early.parent_run_id) == (CHILD, None)
    assert (result.run_id, result.child_run_id) == (MAIN, CHILD)
    assert (said.run_id, said.parent_run_id, said.payload.model) == (CHILD, MAIN, "gpt-c")
    assert said.origin is not None
    assert done.origin is not None
    assert (said.origin.session_id, said.source, done.origin.session_id) == (CHILD, "main", MAIN)
    assert (done.run_id, done.parent_run_id) == (MAIN, None)


def test_the_activity_of_a_subagent_is_unknown_but_tells_the_parent() -> None:
    """The second generation of multi-agent tools has no call item for spawning."""
    started = {"kind": "started", "agentThreadId": CHILD, "agentPath": "/root/one"}
    first, child = read(item("completed", "subAgentActivity", "c", **started), note("turn/started", CHILD))[0]
    assert (first.type, first.child_run_id) == ("unknown", CHILD)
    assert child.parent_run_id == MAIN


def test_a_childs_turn_names_the_root_turn() -> None:
    """Which tells the parent when no item did."""
    messages = [
        note("turn/started", turn={"id": TURN, "rootTurnId": TURN}),
        note("turn/started", CHILD, turn={"id": "t2", "rootTurnId": TURN}),
    ]
    assert [event.parent_run_id for event in read(*messages)[0]] == [None, MAIN]


def test_a_fork_is_a_run_without_a_parent() -> None:
    """It was not spawned by anybody."""
    forked = {"id": 5, "result": {"thread": {"id": CHILD, "forkedFromId": MAIN, "parentThreadId": None}}}
    [main, fork] = read(item("completed", "agentMessage", "m", text="x"), forked)[0]
    assert (main.run_id, fork.run_id, fork.parent_run_id) == (MAIN, CHILD, None)


def test_the_end_of_a_childs_turn_does_not_end_the_parents() -> None:
    """What the parent is saying goes on."""
    messages = [
        note("item/agentMessage/delta", itemId="m", delta="Par"),
        note("turn/completed", CHILD, turn={"id": "t2", "status": "completed"}),
        note("item/agentMessage/delta", itemId="m", delta="ent"),
    ]
    ended, said = read(*messages)[0]
    assert (ended.run_id, said.payload.blocks[0].text) == (CHILD, "Parent")


def test_times_are_the_servers_own_and_inherited_where_it_is_silent() -> None:
    """Requests have no time, nor have the messages of old versions."""
    first, second = read(note("warning", message="w"), ASKED)[0]
    assert first.timestamp == second.timestamp == "2026-11-15T19:12:54.948Z"
    assert first.origin is not None
    assert second.origin is not None
    assert (first.origin.time, second.origin.time) == (None, "inherited")
    [given] = read(note("warning", message="w", at=None), at="2020-01-01T00:00:00Z")[0]
    assert given.origin is not None
    assert (given.timestamp, given.origin.time) == ("2020-01-01T00:00:00Z", "given")


def test_a_message_after_deltas_inherits_their_time() -> None:
    """The line before it is a delta, although that gave no event."""
    said, *_ = read(note("item/agentMessage/delta", itemId="m", delta="x", at=AT + 7), ASKED)[0]
    assert said.timestamp == "2026-11-15T19:12:54.955Z"


def test_old_messages_without_a_thread_belong_to_the_last_one() -> None:
    """0.63 names the thread only when it starts."""
    events, _ = read(
        {"method": "thread/started", "params": {"thread": {"id": MAIN}}},
        {"method": "item/completed", "params": {"item": {"type": "agentMessage", "id": "m", "text": "x"}}},
    )
    assert [event.origin.session_id for event in events if event.origin] == [MAIN, MAIN]


def test_the_old_protocol_beside_the_new_one_adds_nothing() -> None:
    """Until 0.98 every event is sent twice."""
    twin = {"method": "codex/event/agent_message", "params": {"msg": {"type": "agent_message", "message": "x"}}}
    extra = {"method": "codex/event/skills_update_available", "params": {"msg": {"type": "skills_update_available"}}}
    events, report = read(item("completed", "agentMessage", "m", text="x"), twin, extra)
    assert [event.type for event in events] == ["message.assistant", "system.event"]
    assert report.accumulated == 1
    assert types(twin) == ["system.event"]


def test_a_recording_may_wrap_its_messages() -> None:
    """The wrapper tells direction, process and time; ids start again in each process."""
    messages: list[dict[str, Any]] = [
        {"t": 1794769974.5, "proc": 1, "dir": "out", "msg": {**START, "params": {**START["params"]}}},
        {"t": 1794769974.6, "proc": 1, "dir": "in", "msg": ASKED},
        {"t": 1794769974.7, "proc": 2, "dir": "in", "msg": {"id": 0, "result": {"userAgent": "x"}}},
        {"t": 1794769974.8, "proc": 1, "dir": "out", "msg": ANSWERED},
        {"t": 1794769974.9, "proc": 1, "dir": "exit", "msg": {"returncode": -9}},
    ]
    events, _ = read(*messages)
    assert [event.type for event in events] == [
        "message.user", "tool.call", "system.event", "tool.result", "system.event",
    ]  # fmt: skip
    assert events[0].timestamp == "2026-11-15T19:12:54.500Z"
    assert (events[4].payload.subtype, events[4].payload.data) == ("exit", {"returncode": -9})


def test_everything_else_is_a_system_event_with_its_method() -> None:
    """Known families are told by name; a method of no family is unknown."""
    events, report = read(
        note("thread/name/updated", threadName="My thread"),
        note("account/rateLimits/updated", None, rateLimits={}),
        {"method": "initialized"},
        {"method": "zork/blorb", "params": {}},
    )
    assert [event.type for event in events] == ["system.event"] * 3 + ["unknown"]
    assert (events[0].payload.subtype, events[0].payload.text) == ("thread/name/updated", "My thread")
    assert report.unknown_types == {"zork/blorb": 1}


@pytest.mark.parametrize(
    "line",
    [
        b"null", b"[]", b"7", b'"x"', b"{}", b'{"method":[]}', b'{"method":"item/started","params":[]}', b"nope",
        b'{"method":"item/completed","params":{"item":{"type":{},"id":[],"status":{}}}}', b'{"id":[],"result":1}',
        b'{"method":"item/agentMessage/delta","params":7,"emittedAtMs":"x"}', b'{"dir":"in","msg":[]}', b"\xff\xfe",
        b'{"method":"thread/tokenUsage/updated","params":{"tokenUsage":{"last":{"inputTokens":-1}}}}',
        b'{"method":"item/completed","params":{"item":{"tool":"spawnAgent","receiverThreadIds":7}}}',
    ],
)  # fmt: skip
def test_no_line_breaks_the_parser(line: bytes) -> None:
    """Whatever a line holds, it gives an event or is counted."""
    parser = SPEC.open(Context(run_id=MAIN))
    events = parser.feed(line + b"\n") + parser.finish()
    assert parser.report.failed == 0
    assert len(events) + parser.report.accumulated >= 1


def test_any_cut_of_the_bytes_gives_the_same_events() -> None:
    """Byte by byte as in one piece, and as objects but for the lines themselves."""
    messages = [
        START,
        item("started", "agentMessage", "m"),
        note("item/agentMessage/delta", itemId="m", delta="\u2028é"),
    ]
    data = b"".join(json.dumps(message, ensure_ascii=False).encode() + b"\n" for message in messages)
    whole = SPEC.open(Context(run_id=MAIN))
    events = whole.feed(data) + whole.finish()
    single = SPEC.open(Context(run_id=MAIN))
    pieces = [event for byte in data for event in single.feed(bytes([byte]))]
    assert pieces + single.finish() == events


# Detection.


def test_the_protocol_is_told_from_its_cousins() -> None:
    """MCP, ACP and Codex's own other outputs have messages of the same shape."""
    assert SPEC.detect([{"id": 1, "result": {"userAgent": "x/0.98.0"}}, {"id": 2, "error": {}}], "")
    assert SPEC.detect([{"method": "initialized"}, note("turn/started")], "")
    assert SPEC.detect([{"dir": "out", "proc": 1, "t": 1.0, "msg": START}], "")
    assert not SPEC.detect([{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}], "")
    assert not SPEC.detect([{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "x"}}], "")
    assert not SPEC.detect([{"type": "thread.started", "thread_id": MAIN}], "")
    assert not SPEC.detect([note("turn/started"), {"type": "assistant"}], "")


def test_the_first_thread_is_the_run() -> None:
    """Its id is the run's; a thread that was spawned names its parent."""
    started = {"method": "thread/started", "params": {"thread": {"id": CHILD, "parentThreadId": MAIN}}}
    identity = SPEC.identify([{"id": 1, "result": {"userAgent": "x"}}, started], "")
    assert (identity.native_id, identity.session_id, identity.parent_native_id) == (CHILD, CHILD, MAIN)
    assert identity.run_id("codex_app_server", "f") == CHILD
    assert SPEC.identify([], "").native_id == ""


@pytest.mark.parametrize("keep_raw", [True, False])
def test_a_message_is_kept_as_it_was_where_that_is_wanted(keep_raw: bool) -> None:
    """Of a live connection, too, whose messages come decoded."""
    line = json.dumps(START).encode()
    parser = CodexAppServerFormat(Context(run_id=MAIN, keep_raw=keep_raw))
    events = parser.feed_message(START, line=line, direction="out", seconds=AT / 1000, process=1)
    assert [event.raw for event in events] == [line.decode() if keep_raw else None]
