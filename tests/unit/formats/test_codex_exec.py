"""What `codex exec --json` prints, as events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context, Report
from stenograph.formats.codex_exec import SPEC
from stenograph.model import AttachmentBlock, Event, TextBlock, ThinkingBlock

THREAD = "01a1e09e-94e5-75f2-b1da-bd7dee1fb8b5"
CHILD = "01a1e0a0-48e7-7f60-bd73-e7039d78c98c"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
STARTED = {"type": "thread.started", "thread_id": THREAD}


def item(phase: str, type: str, id: str | None = "item_0", **fields: Any) -> dict[str, Any]:
    """An item starts, moves or completes."""
    named = {} if id is None else {"id": id}
    return {"type": f"item.{phase}", "item": {**named, "type": type, **fields}}


def command(phase: str, id: str | None = "item_0", **fields: Any) -> dict[str, Any]:
    return item(phase, "command_execution", id, command="/bin/bash -lc ls", **fields)


def old(type: str, id: str = "0", **fields: Any) -> dict[str, Any]:
    """An event in the shape of 0.42."""
    return {"id": id, "msg": {"type": type, **fields}}


def read_lines(data: bytes, **context: Any) -> tuple[list[Event], Report]:
    parser = SPEC.open(Context(run_id=THREAD, **context))
    events = parser.feed(data) + parser.finish()
    assert parser.report.failed == 0
    return events, parser.report


def read(*records: Any, **context: Any) -> tuple[list[Event], Report]:
    events, report = read_lines(b"".join(json.dumps(record).encode() + b"\n" for record in records), **context)
    assert len({event.origin.line for event in events if event.origin}) + report.accumulated == len(records)
    return events, report


def types(*records: Any) -> list[str]:
    """Event types; system events by their subtype."""
    events = read(*records)[0]
    return [f"<{event.payload.subtype}>" if event.type == "system.event" else event.type for event in events]


def payloads(*records: Any) -> list[Any]:
    return [event.payload for event in read(*records)[0]]


def test_a_command_is_called_when_it_starts_and_answers_when_it_completes() -> None:
    """Message, call, result, joined by the item's id."""
    records = [
        command("started", aggregated_output="", status="in_progress"),
        command("completed", aggregated_output="a\n"),
    ]
    assert types(*records) == ["message.assistant", "tool.call", "tool.result"]
    _, call, result = payloads(*records)
    assert (call.name, call.call_id, call.input) == ("command_execution", "item_0", {"command": "/bin/bash -lc ls"})
    assert (result.call_id, result.output, result.error) == ("item_0", "a\n", None)


def test_an_item_that_only_completes_is_call_and_result() -> None:
    """Old versions do not tell when a file change starts."""
    change = item("completed", "file_change", changes=[{"path": "a", "kind": "add"}], status="completed")
    assert types(change) == ["message.assistant", "tool.call", "tool.result"]
    assert payloads(change)[1].input == {"changes": [{"path": "a", "kind": "add"}]}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"status": "failed", "exit_code": 3}, "exit code 3"),
        ({"status": "declined", "exit_code": None}, "declined"),
        ({"status": "completed", "exit_code": 3}, None),
        ({"status": "completed", "exit_code": 0}, None),
    ],
)
def test_a_command_failed_when_its_status_says_so(fields: dict[str, Any], error: str | None) -> None:
    """An exit code alone is no error."""
    assert payloads(command("completed", aggregated_output="", **fields))[-1].error == error


def test_mcp_results_are_text_or_blocks_and_errors_have_their_words() -> None:
    """One text is the output; pictures are attachments; `isError` has its answer as the error."""

    def result(**fields: Any) -> Any:
        return payloads(item("completed", "mcp_tool_call", server="tiny", tool="echo", arguments={}, **fields))[-1]

    text = {"type": "text", "text": "hi"}
    assert result(result={"content": [text]}, status="completed").output == "hi"
    image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    blocks = result(result={"content": [text, image]}, status="completed").blocks
    assert [type(block) for block in blocks] == [TextBlock, AttachmentBlock]
    assert result(result={"content": [text]}, status="failed").error == "hi"
    assert result(result=None, error={"message": "exploded"}, status="failed").error == "exploded"
    assert result(result={"content": [], "structured_content": {"a": 1}}, status="completed").output == {"a": 1}
    assert result(result=None, status="completed").name == "mcp__tiny__echo"


def test_a_web_search_has_the_second_of_its_two_ids() -> None:
    """The line holds the key `id` twice; every version since 0.98 writes it so."""
    line = (
        b'{"type":"item.%s","item":{"id":"item_0","type":"web_search","id":"ws_1",'
        b'"query":"q","action":{"type":"other"}}}\n'
    )
    events, _ = read_lines(line % b"started" + line % b"completed")
    assert [event.payload.call_id for event in events[1:]] == ["ws_1", "ws_1"]
    assert events[-1].payload.output == {"query": "q", "action": {"type": "other"}}


def test_a_spawned_agent_is_a_child_run() -> None:
    """Its thread is known when the call completes."""
    fields = {"tool": "spawn_agent", "prompt": "compute 42", "agents_states": {}}
    events, _ = read(
        item("started", "collab_tool_call", receiver_thread_ids=[], **fields),
        item("completed", "collab_tool_call", receiver_thread_ids=[CHILD], status="completed", **fields),
    )
    assert [(event.type, event.child_run_id) for event in events[1:]] == [("tool.call", None), ("tool.result", CHILD)]
    assert events[1].payload.name == "spawn_agent"


def test_text_and_reasoning_are_messages_without_an_id() -> None:
    """`item_N` starts anew in every process: after a resume it would join two messages."""
    message, thought = payloads(
        item("completed", "agent_message", text="Done."), item("completed", "reasoning", "item_1", text="**Plan**")
    )
    assert message.blocks == (TextBlock(fidelity="agent_emitted", text="Done."),)
    assert thought.blocks == (ThinkingBlock(fidelity="agent_emitted", thinking="**Plan**"),)
    assert message.message_id is None


def test_a_plan_is_a_system_event_every_time_it_changes() -> None:
    """Ticked off as people do."""
    steps = [{"text": "look", "completed": True}, {"text": "do", "completed": False}]
    records = [item(phase, "todo_list", items=steps) for phase in ("started", "updated", "completed")]
    assert types(*records) == ["<todo_list>"] * 3
    assert payloads(records[0])[0].text == "[x] look\n[ ] do"


def test_errors_are_progress_until_the_turn_fails() -> None:
    """Retries and warnings are system events; turn.failed repeats what ended the turn."""
    failed = {"type": "turn.failed", "error": {"message": "no room"}}
    records = [{"type": "error", "message": "Reconnecting... 1/3"}, item("completed", "error", message="odd"), failed]
    assert types(*records) == ["<error>", "<error>", "error"]
    assert payloads(*records)[2].message == "no room"


def test_usage_is_the_threads_total() -> None:
    """A resumed thread tells its total again: only the last one counts."""
    turns = [{"type": "turn.completed", "usage": {"input_tokens": 1000 * n, "output_tokens": 50 * n}} for n in (1, 2)]
    events = [event for turn in turns for event in read(STARTED, turn)[0]]
    assert [event.payload.scope for event in events if event.type == "token.usage"] == ["total", "total"]
    assert usage_totals(events).total.output_tokens == 100


def test_lines_have_no_time_of_their_own() -> None:
    """They take the file's, and the thread is their session."""
    events, _ = read(STARTED, {"type": "turn.started"}, at="2026-11-15T19:10:51.666Z")
    assert {event.timestamp for event in events} == {"2026-11-15T19:10:51.666Z"}
    assert {(event.origin.time, event.origin.session_id) for event in events if event.origin} == {("given", THREAD)}


def test_progress_of_a_command_is_accumulated() -> None:
    """Its completion repeats it whole."""
    records = [
        command("started"),
        command("updated", aggregated_output="a"),
        command("completed", aggregated_output="ab"),
    ]
    events, report = read(*records)
    assert (report.accumulated, events[-1].payload.output) == (1, "ab")


def test_items_without_ids_are_joined_by_kind_in_order() -> None:
    """The first streams had `item_type` and no ids."""
    bare = [
        {"type": f"item.{phase}", "item": {"item_type": "command_execution", "command": name}}
        for phase, name in (("started", "a"), ("started", "b"), ("completed", "a"), ("completed", "b"))
    ]
    ids = [payload.call_id for payload in payloads(*bare) if hasattr(payload, "call_id")]
    assert ids == ["command_execution_1", "command_execution_2", "command_execution_1", "command_execution_2"]
    assert types({"type": "item.completed", "item": {"item_type": "assistant_message", "text": "x"}}) == [
        "message.assistant"
    ]


# 0.42.


def test_the_old_shape_has_settings_a_prompt_and_events() -> None:
    """The prompt is what the caller said; the settings name the model."""
    records = [{"model": "gpt-5-codex", "workdir": "/w", "provider": "openai"}, {"prompt": "Do it"}]
    answer = [old("agent_reasoning", text="**Plan**"), old("agent_message", message="Done.")]
    assert types(*records, *answer) == ["<config>", "message.user", "message.assistant", "message.assistant"]
    assert payloads(*records, *answer)[-1].model == "gpt-5-codex"


def test_old_calls_begin_and_end() -> None:
    """Commands, patches and MCP; output deltas are repeated by the end."""
    begin = old("exec_command_begin", call_id="c1", command=["ls"], cwd="/w")
    delta = old("exec_command_output_delta", call_id="c1", chunk="YQ==")
    end = old("exec_command_end", call_id="c1", aggregated_output="a", exit_code=1, duration={"secs": 1, "nanos": 0})
    _, call, result = payloads(begin, delta, end)
    assert (call.name, call.input) == ("exec_command", {"command": ["ls"], "cwd": "/w"})
    assert (result.output, result.error, result.duration_ms) == ("a", None, 1000.0)
    patch = old("patch_apply_end", call_id="c2", success=False, stdout="", stderr="refused")
    assert payloads(patch)[-1].error == "refused"
    invocation = {"server": "tiny", "tool": "fail", "arguments": {"why": "x"}}
    answer = {"Ok": {"content": [{"type": "text", "text": "bad"}], "isError": True}}
    failed = payloads(old("mcp_tool_call_end", call_id="c3", invocation=invocation, result=answer))
    assert (failed[1].name, failed[1].input, failed[2].error) == ("mcp__tiny__fail", {"why": "x"}, "bad")


def test_an_old_total_is_told_when_it_moves() -> None:
    """The same count comes twice."""
    info = {"total_token_usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}
    assert types(old("token_count", info=None), old("token_count", info=info), old("token_count", info=info)) == [
        "<token_count>", "token.usage", "<token_count>",
    ]  # fmt: skip


def test_an_old_error_ends_the_turn_and_a_compaction_is_no_answer() -> None:
    """There is no turn.failed yet; the compaction announces itself as an agent message."""
    records = [old("stream_error", message="retrying"), old("error", message="gone")]
    assert types(*records) == ["<stream_error>", "error"]
    assert types(old("agent_message", id="auto-compact-0", message="Compact task completed")) == ["<compaction>"]


# What nobody knows.


def test_unknown_types_are_counted_by_name() -> None:
    """Kept whole, whatever they are."""
    events, report = read({"type": "future"}, item("completed", "future_item"), old("future_event"), [1], {})
    assert [event.type for event in events] == ["unknown"] * 5
    assert dict(report.unknown_types) == {
        "future": 1, "item.completed/future_item": 1, "msg/future_event": 1, "(none)": 2,
    }  # fmt: skip


def test_a_stream_is_known_by_its_first_line_and_named_by_its_thread() -> None:
    """The thread is the one of the rollout; 0.42 names none."""
    settings = [{"model": "m", "workdir": "/w", "provider": "p"}, {"prompt": "Do it"}]
    assert all(SPEC.detect(head, "") for head in ([STARTED], [command("started")], settings))
    assert not any(SPEC.detect(head, "") for head in ([settings[0]], [{"type": "item.started"}], [[1]]))
    assert (SPEC.identify([STARTED], "").native_id, SPEC.identify(settings, "").native_id) == (THREAD, "")
