"""Codex's threads on disk, as events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context, Report
from stenograph.formats.codex_rollout import SPEC
from stenograph.model import AttachmentBlock, Event, TextBlock, ThinkingBlock, ToolPayload, ToolUseBlock, UnknownBlock
from stenograph.model.block import words_of

THREAD = "01a1e0a1-21f1-7790-9423-e7257b468317"
PARENT = "01a1e0a1-0000-7790-9423-e7257b468317"
CHILD = "01a1e0a1-2258-79e3-a195-048d8a7e105b"
TURN = "01a1e0a1-220d-70c0-aab8-cf1e4c03f0bd"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="


def line(type: str, payload: Any, **more: Any) -> dict[str, Any]:
    """A line of a rollout."""
    return {"timestamp": "2026-11-15T19:13:38.841Z", "type": type, "payload": payload, **more}


def meta(**fields: Any) -> dict[str, Any]:
    return line("session_meta", {"id": THREAD, "cli_version": "0.166.0", **fields})


def item(type: str, *, metadata: Any = None, **fields: Any) -> dict[str, Any]:
    more = {} if metadata is None else {"metadata": metadata}
    return line("response_item", {"type": type, **fields}, **more)


def said(role: str, *texts: str, kinds: list[str] | None = None, metadata: Any = None, **fields: Any) -> dict[str, Any]:
    """A message item."""
    part = "output_text" if role == "assistant" else "input_text"
    content = [{"type": part, "text": text} for text in texts]
    if kinds is not None:
        fields["internal_chat_message_metadata_passthrough"] = {"turn_id": TURN, "content_item_kinds": kinds}
    return item("message", role=role, content=content, metadata=metadata, **fields)


def event(type: str, **fields: Any) -> dict[str, Any]:
    return line("event_msg", {"type": type, **fields})


def completed(type: str, id: str, thread: str = THREAD, **fields: Any) -> dict[str, Any]:
    return event("item_completed", thread_id=thread, turn_id=TURN, item={"type": type, "id": id, **fields})


def call(
    id: str = "call_1", name: str = "exec_command", arguments: Any = '{"cmd": "ls"}', **fields: Any
) -> dict[str, Any]:
    return item("function_call", name=name, arguments=arguments, call_id=id, **fields)


def output(given: Any = "ok", id: str = "call_1", **fields: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=id, output=given, **fields)


def count(total: int, last: int = 50, **last_fields: Any) -> dict[str, Any]:
    """A token_count line."""
    numbers = {"input_tokens": 1000, "cached_input_tokens": 400, "output_tokens": last, "reasoning_output_tokens": 20}
    totals = {**numbers, "total_tokens": total}
    return event("token_count", info={"total_token_usage": totals, "last_token_usage": {**numbers, **last_fields}})


def usage_record(id: str = "resp_1") -> dict[str, Any]:
    usage = {"input_tokens": 1000, "cached_input_tokens": 400, "cache_write_input_tokens": 0, "output_tokens": 50}
    return line("token_usage_record", {"response_id": id, "usage": usage, "thread_token_usage": usage})


def read(*records: Any, **context: Any) -> tuple[list[Event], Report]:
    """The events of records, one line each; as objects they give the same."""
    parser = SPEC.open(Context(run_id=THREAD, **context))
    events = parser.feed(b"".join(json.dumps(record).encode() + b"\n" for record in records)) + parser.finish()
    assert parser.report.failed == 0
    assert {event.origin.line for event in events if event.origin} == set(range(1, len(records) + 1))
    assert [event.origin.line for event in events if event.origin and event.raw] == list(range(1, len(records) + 1))
    other = SPEC.open(Context(run_id=THREAD, keep_raw=False, **context))
    objects = [event for record in records for event in other.feed_object(record)]
    assert [(event.type, event.payload) for event in objects] == [(event.type, event.payload) for event in events]
    return events, parser.report


def types(*records: Any, **context: Any) -> list[str]:
    """Event types; system events by their subtype."""
    events = read(*records, **context)[0]
    return [f"<{event.payload.subtype}>" if event.type == "system.event" else event.type for event in events]


def payloads(*records: Any, **context: Any) -> list[Any]:
    return [event.payload for event in read(*records, **context)[0]]


# Who speaks.


def test_a_prompt_is_the_users_and_its_twin_says_nothing_more() -> None:
    """The response item is the message; `item_completed` or `user_message` beside it is no second one."""
    prompt = said("user", "Do it", kinds=["user.text"], id="msg_1")
    assert types(prompt, completed("UserMessage", "other-id")) == ["message.user", "<item_completed>"]
    assert types(said("user", "Do it"), event("user_message", message="Do it")) == ["message.user", "<user_message>"]
    (payload,) = payloads(prompt)
    assert payload.blocks == (TextBlock(fidelity="agent_emitted", text="Do it"),)
    assert payload.message_id == "msg_1"


@pytest.mark.parametrize(
    ("text", "subtype"),
    [
        ("<environment_context>\n<cwd>/w</cwd>", "environment_context"),
        ("<user_instructions>\nbe kind", "user_instructions"),
        ("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>", "user_instructions"),
        ("<turn_aborted>\nThe user interrupted", "turn_aborted_notice"),
        ("<user_shell_command>\n<command>", "user_shell_command"),
        ("<subagent_notification>{}", "subagent_notification"),
        ("<user_action>\n  <context>", "user_action"),
        ("<skill>\n<name>x</name>", "skill"),
    ],
)
def test_harness_text_under_role_user_is_known_by_its_opening(text: str, subtype: str) -> None:
    """Old versions say no kinds: what Codex injects is known by its first words, without waiting for the next line."""
    (payload,) = payloads(said("user", text))
    assert (payload.subtype, payload.text) == (subtype, text)


def test_kinds_decide_where_codex_gives_them() -> None:
    """A kind beats the words; `unknown` says nothing."""
    assert types(said("user", "plain words", kinds=["goals.objective"])) == ["<objective>"]
    assert types(said("user", "<skill> is a tag", kinds=["user.text"])) == ["message.user"]
    assert types(said("user", "<user_action>\n", kinds=["unknown"])) == ["<user_action>"]
    assert types(said("user", "plain words", kinds=["unknown"])) == ["message.user"]


def test_several_injected_parts_are_one_event_and_a_mixed_message_is_the_users() -> None:
    """A message is the harness's only when every part of it is."""
    injected = said("user", "# AGENTS.md instructions for /w", "<environment_context>")
    assert [payload.text for payload in payloads(injected)] == [
        "# AGENTS.md instructions for /w\n<environment_context>"
    ]
    assert types(said("user", "<environment_context>", "And now do it")) == ["message.user"]


def test_developer_messages_are_system_events() -> None:
    """Instructions of the harness have their own role."""
    (payload,) = payloads(said("developer", "<permissions instructions>", "more"))
    assert (payload.subtype, payload.text) == ("developer_message", "<permissions instructions>\nmore")


def test_mail_from_above_is_the_task_and_other_mail_is_news() -> None:
    """A child gets its task as an agent_message; its answer reaches the parent in the same way."""
    content = [
        {"type": "input_text", "text": "Message Type: NEW_TASK"},
        {"type": "encrypted_content", "encrypted_content": "compute 42"},
        {"type": "encrypted_content", "encrypted_content": "gAAAAABciphertext"},
    ]
    task = item("agent_message", author="/root", recipient="/root/child", content=content)
    (payload,) = payloads(task)
    assert [type(block) for block in payload.blocks] == [TextBlock, TextBlock, UnknownBlock]
    answer = item("agent_message", author="/root/child", recipient="/root", content=content[:1])
    assert types(task, answer) == ["message.user", "<inter_agent_message>"]


# What the model says.


def test_an_answer_has_the_model_of_its_turn() -> None:
    """The model's name stands in turn_context alone."""
    turn = line("turn_context", {"turn_id": TURN, "model": "gpt-5.5"})
    _, payload = payloads(turn, said("assistant", "Done.", id="msg_2"))
    assert (payload.model, payload.message_id, payload.blocks[0].text) == ("gpt-5.5", "msg_2", "Done.")


def test_twins_of_the_model_come_before_it_and_add_nothing() -> None:
    """Legacy and paginated twins of text and reasoning are system events without the text."""
    got = payloads(
        event("agent_reasoning", text="**Plan**"),
        completed("Reasoning", "rs_1", summary_text=["**Plan**"]),
        item("reasoning", id="rs_1", summary=[{"type": "summary_text", "text": "**Plan**"}]),
        event("agent_message", message="Done."),
        completed("AgentMessage", "msg_1", content=[{"type": "Text", "text": "Done."}]),
        said("assistant", "Done."),
    )
    assert [getattr(payload, "text", None) for payload in got] == [None] * 6
    assert [getattr(payload, "subtype", "message") for payload in got] == [
        "agent_reasoning", "item_completed", "message", "agent_message", "item_completed", "message",
    ]  # fmt: skip


def test_reasoning_is_its_summary_and_then_its_content() -> None:
    """Every part is a thinking block of its own."""
    reasoning = item(
        "reasoning",
        summary=[{"type": "summary_text", "text": "**A**"}, {"type": "summary_text", "text": "**B**"}],
        content=[{"type": "reasoning_text", "text": "raw"}],
    )
    (payload,) = payloads(reasoning)
    assert [block.thinking for block in payload.blocks] == ["**A**", "**B**", "raw"]


def test_words_that_only_an_event_tells_are_told_when_the_turn_is_over() -> None:
    """The stream broke off before the response item was written; until then it might still come."""
    thought = event("agent_reasoning", text="**About to drop**")
    answer = event("agent_message", message="So far so")
    got, _ = read(thought, answer, event("task_complete"))
    told = [(each.type, each.origin.line) for each in got if each.type.startswith("message")]
    assert told == [("message.assistant", 1), ("message.assistant", 2)]
    assert [words_of(each.payload.blocks[0]) for each in got if each.type.startswith("message")] == [
        "**About to drop**",
        "So far so",
    ]
    parser = SPEC.open(Context(run_id=got[0].run_id))
    assert [each.type for each in parser.feed(json.dumps(answer).encode() + b"\n")] == ["system.event"]
    assert [each.type for each in parser.finish()] == ["message.assistant"]


def test_words_that_an_item_tells_are_told_once() -> None:
    """The event comes a few lines before its response item; blanks differ."""
    thought, answer = event("agent_reasoning", text="Hm. "), event("agent_message", message="Yes.")
    items = [
        item("reasoning", summary=[{"type": "summary_text", "text": "Hm."}]),
        item("message", role="assistant", content=[{"type": "output_text", "text": "Yes."}]),
    ]
    got, _ = read(thought, answer, *items, event("task_complete"))
    assert [each.origin.line for each in got if each.type.startswith("message")] == [3, 4]


def test_a_prompt_that_only_an_event_tells_is_told_once() -> None:
    """A person's words come as an item and then as an event; in some files as an event alone, or before the item."""
    said = item("message", role="user", content=[{"type": "input_text", "text": "Do it"}])
    told = event("user_message", message="Do it")

    def prompts(*records: Any) -> list[int | None]:
        return [each.origin.line for each in read(*records)[0] if each.type == "message.user" and each.origin]

    assert prompts(said, told) == [1]
    assert prompts(told) == [1]
    assert prompts(told, said) == [1]
    assert prompts(said, told, told) == [1, 3]


def test_encrypted_reasoning_is_one_empty_thinking_block() -> None:
    """That the model thought is a fact, also when nobody may read what."""
    (payload,) = payloads(item("reasoning", summary=[], content=None, encrypted_content="xx"))
    assert payload.blocks == (ThinkingBlock(fidelity="agent_emitted", thinking="", encrypted_content="xx"),)


def test_the_parts_of_a_reasoning_item_share_its_id() -> None:
    """What is encrypted stands once, with the first of them."""
    parts = [{"type": "summary_text", "text": each} for each in "ab"]
    (payload,) = payloads(item("reasoning", id="rs_1", summary=parts, encrypted_content="xx"))
    told = [(block.thinking, block.id, block.encrypted_content) for block in payload.blocks]
    assert told == [("a", "rs_1", "xx"), ("b", "rs_1", None)]


def test_a_call_has_its_namespace_and_its_kind() -> None:
    """Custom tools take free text, a web search runs on the API's side; a function says neither."""
    records = [
        item("function_call", call_id="c1", name="look", namespace="tickets", arguments="{}"),
        item("custom_tool_call", call_id="c2", name="apply_patch", input="***"),
        item("web_search_call", id="c3", action={"query": "q"}),
    ]
    calls = [each for each in payloads(*records) if isinstance(each, ToolPayload)]
    assert [(each.namespace, each.kind) for each in calls] == [("tickets", None), (None, "custom"), (None, "server")]


def test_tools_that_a_thread_was_given_are_defined() -> None:
    """A client's own at the beginning, code mode's in an item."""
    tool = {"type": "function", "name": "look", "description": "Looks.", "parameters": {"type": "object"}}
    group = {"type": "namespace", "name": "tickets", "tools": [tool]}
    got = payloads(
        {"type": "session_meta", "payload": {"id": "t", "dynamic_tools": [group]}},
        item("additional_tools", tools=[tool]),
    )
    told = [each.data["tools"] for each in got if each.subtype == "tool_definitions"]
    plain = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}
    assert told == [[{**plain, "namespace": "tickets"}], [plain]]


def test_raw_reasoning_keeps_its_text_in_its_event() -> None:
    """Some versions write raw reasoning nowhere else."""
    (payload,) = payloads(event("agent_reasoning_raw_content", text="thoughts"))
    assert payload.text == "thoughts"


def test_images_become_attachments() -> None:
    """Data URLs are content; other addresses stay as they are."""
    content = [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
        {"type": "input_image", "image_url": "https://example.org/x.png"},
        {"type": "input_image", "image_url": "data:image/png;base64,not base64!"},
    ]
    (payload,) = payloads(item("message", role="user", content=content))
    assert [type(block) for block in payload.blocks] == [TextBlock, AttachmentBlock, UnknownBlock, UnknownBlock]
    assert (payload.blocks[1].media_type, payload.blocks[1].size, payload.blocks[1].data) == ("image/png", 67, PIXEL)


# Tools.


def test_a_call_is_a_message_with_its_wish_and_a_tool_call() -> None:
    """Arguments are JSON inside a string; they become the input."""
    message, payload = payloads(call(id="call_1"))
    assert message.blocks == (
        ToolUseBlock(fidelity="agent_emitted", tool_name="exec_command", tool_id="call_1", tool_input={"cmd": "ls"}),
    )
    assert (payload.name, payload.call_id, payload.input, payload.output) == (
        "exec_command",
        "call_1",
        {"cmd": "ls"},
        None,
    )


def test_arguments_that_are_no_json_stay_what_the_model_wrote() -> None:
    """Nothing is repaired."""
    assert [payloads(call(arguments=given))[1].input for given in ("{not json", "7", None, {"a": 1})] == [
        "{not json", "7", None, {"a": 1},
    ]  # fmt: skip


def test_mcp_tools_have_the_same_name_with_and_without_namespaces() -> None:
    """Since 0.144 the server stands in a namespace; other namespaces are not part of the name."""
    assert payloads(call(name="echo", namespace="mcp__tiny"))[1].name == "mcp__tiny__echo"
    assert payloads(call(name="mcp__tiny__echo"))[1].name == "mcp__tiny__echo"
    assert payloads(call(name="spawn_agent", namespace="collaboration"))[1].name == "spawn_agent"


def test_free_text_tools_keep_their_text() -> None:
    """apply_patch and code mode take text, not JSON."""
    patch = item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="call_1")
    assert payloads(patch)[1].input == "*** Begin Patch"


def test_an_output_is_a_result_and_no_message() -> None:
    """A string stays a string, whatever JSON it holds; one text part is that text."""
    outputs = ["plain", '{"output":"x","metadata":{"exit_code":3}}', [{"type": "input_text", "text": "one"}], {"a": 1}]
    got = [payloads(output(given))[0] for given in outputs]
    assert [payload.output for payload in got] == [*outputs[:2], "one", {"a": 1}]
    assert all(payload.blocks is None and payload.error is None for payload in got)


def test_an_output_of_several_parts_is_blocks() -> None:
    """Media and several texts keep their order."""
    parts = [
        {"type": "input_text", "text": "a picture"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
    ]
    (payload,) = payloads(output(parts))
    assert payload.output is None
    assert [type(block) for block in payload.blocks] == [TextBlock, AttachmentBlock]


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (completed("CommandExecution", "call_1", status="failed", exit_code=3), "exit code 3"),
        (completed("CommandExecution", "call_1", status="declined", exit_code=-1), "declined"),
        (completed("CommandExecution", "call_1", status="completed", exit_code=3), None),
        (completed("FileChange", "call_1", status="failed", stderr="no such file\n"), "no such file"),
        (completed("McpToolCall", "call_1", status="failed", error={"message": "exploded"}), "exploded"),
        (
            completed("McpToolCall", "call_1", status="failed", result={"content": [{"type": "text", "text": "bad"}]}),
            "bad",
        ),
        (completed("DynamicToolCall", "call_1", status="failed", success=False), "failed"),
        (event("patch_apply_end", call_id="call_1", success=False, stderr="refused"), "refused"),
        (event("mcp_tool_call_end", call_id="call_1", result={"Err": "gone"}), "gone"),
        (event("mcp_tool_call_end", call_id="call_1", result={"Ok": {"isError": True, "content": []}}), "failed"),
        (event("mcp_tool_call_end", call_id="call_1", result={"Ok": {"isError": False}}), None),
        (completed("CommandExecution", "call_2", status="failed", exit_code=3), None),
    ],
)
def test_a_result_failed_when_codex_said_so_before(end: dict[str, Any], error: str | None) -> None:
    """The line that reports the end of a call comes before its output; an exit code alone is no error."""
    *_, result = payloads(call(), end, output("Process exited with code 3"))
    assert result.error == error


def test_outcomes_of_parallel_calls_go_to_their_own_outputs() -> None:
    """Items complete in any order; outputs come in the order of the calls."""
    got = payloads(
        call(id="a"),
        call(id="b"),
        completed("CommandExecution", "b", status="failed", exit_code=1, duration={"secs": 1, "nanos": 500_000_000}),
        completed("CommandExecution", "a", status="completed", exit_code=0),
        output("one", id="a"),
        output("two", id="b"),
    )
    assert [(payload.error, payload.duration_ms) for payload in got[-2:]] == [(None, None), ("exit code 1", 1500.0)]


def test_a_failure_that_comes_after_the_output_does_not_reach_the_next_call_of_that_id() -> None:
    """Killed commands are reported turns later, and some providers use one id for everything."""
    late = completed("CommandExecution", "call_1", status="failed", exit_code=-1)
    results = [payload for payload in payloads(call(), output(), late, call(), output()) if hasattr(payload, "error")]
    assert [payload.error for payload in results] == [None] * 4


def test_a_web_search_is_a_call_without_a_result() -> None:
    """Its id stands on it, else on its twin, else on nothing: then the line names it."""
    action = {"type": "search", "query": "q"}
    assert payloads(item("web_search_call", id="ws_1", action=action))[1].call_id == "ws_1"
    end, search = event("web_search_end", call_id="ws_2", query="q"), item("web_search_call", action=action)
    ids = [payload.call_id for payload in payloads(end, search, search) if hasattr(payload, "call_id")]
    assert ids == ["ws_2", "web_search_call_3"]


def test_a_generated_image_is_call_and_result_in_one_line() -> None:
    """Message, call and result, in this order."""
    image = item("image_generation_call", id="ig_1", revised_prompt="a dot", result=PIXEL, status="completed")
    assert types(image) == ["message.assistant", "tool.call", "tool.result"]
    assert payloads(image)[2].blocks[0].size == 67


def test_tool_search_and_the_old_shell_are_calls_too() -> None:
    """Every kind of call that Codex ever wrote has its name."""
    search = item("tool_search_call", call_id="call_1", arguments={"query": "x"})
    found = item("tool_search_output", call_id="call_1", tools=[{"name": "t"}])
    shell = item("local_shell_call", call_id="call_2", action={"type": "exec", "command": ["ls"]})
    got = payloads(search, found, shell)
    assert [payload.name for payload in got if hasattr(payload, "call_id")] == ["tool_search", "", "local_shell"]
    assert got[2].output == [{"name": "t"}]


def test_what_a_script_or_the_user_ran_is_told_by_its_item() -> None:
    """No call stands for a command inside code mode or after `!`, so the event keeps command and output."""
    nested = completed(
        "CommandExecution", "exec-1", command=["ls"], status="failed", exit_code=2, aggregated_output="a\n"
    )
    _, payload = payloads(meta(), nested)
    assert payload.text == "a\n"
    assert payload.data == {
        "item": "CommandExecution", "id": "exec-1", "status": "failed", "exit_code": 2, "command": ["ls"],
    }  # fmt: skip
    shell = completed("CommandExecution", "uuid", source="user_shell", command=["ls"], aggregated_output="b\n")
    assert payloads(shell)[0].text == "b\n"
    twin = completed("CommandExecution", "call_1", command=["ls"], aggregated_output="c\n")
    assert payloads(call(), twin)[-1].text is None


# Tokens.


def test_usage_comes_from_records_and_their_twins_are_not_counted() -> None:
    """One record per answer, named by it; `token_count` repeats it two or three times."""
    events = read(meta(history_mode="paginated"), count(1050), usage_record(), count(1050), count(2100))[0]
    usages = [event.payload for event in events if event.type == "token.usage"]
    assert [(usage.scope, usage.message_id, usage.output_tokens) for usage in usages] == [("call", "resp_1", 50)]
    assert (usages[0].input_tokens, usages[0].cache_read_input_tokens) == (1000, 400)


def test_without_records_a_total_that_moves_is_a_call() -> None:
    """Repetitions, empty counts and the zeros after a compaction are none."""
    zeros = {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0}
    started = event("task_started", turn_id=TURN)
    counts = [event("token_count", info=None), count(1050), count(1050), count(2100), count(3000, **zeros)]
    usages = [payload for payload in payloads(meta(), started, *counts) if hasattr(payload, "scope")]
    assert [(usage.scope, usage.message_id) for usage in usages] == [
        ("call", f"{TURN}:1050"), ("total", None), ("call", f"{TURN}:2100"), ("total", None), ("total", None),
    ]  # fmt: skip


def test_a_copied_history_is_counted_once() -> None:
    """A legacy fork repeats the lines of its parent: same turns, same totals, same calls."""
    history = [event("task_started", turn_id=TURN), count(1050)]
    parent = read(meta(), *history)[0]
    fork = read(meta(id=CHILD, forked_from_id=THREAD), meta(), *history, count(2100))[0]
    assert usage_totals([*parent, *fork]).total.output_tokens == 100


def test_before_turns_a_call_is_named_by_its_thread() -> None:
    """0.42 to 0.98 have no turn ids; without a thread either, nothing names it."""
    assert payloads(meta(), count(1050))[1].message_id == f"{THREAD}::1050"
    assert payloads(count(1050))[0].message_id is None


# Turns, threads, histories.


def test_a_turn_that_failed_is_an_error() -> None:
    """task_complete carries the error; it still ends the turn."""
    ended = event(
        "task_complete", turn_id=TURN, error={"message": "no room", "codex_error_info": "context_window_exceeded"}
    )
    assert types(ended) == ["<task_complete>", "error"]
    assert (payloads(ended)[1].message, payloads(ended)[1].code) == ("no room", "context_window_exceeded")
    info = {"response_stream_disconnected": {"http_status_code": 500}}
    detailed = payloads(event("error", message="gone", codex_error_info=info))[0]
    assert (detailed.code, detailed.data) == ("response_stream_disconnected", info)


def test_an_aborted_turn_is_a_system_event() -> None:
    """An interruption is no failure."""
    (payload,) = payloads(event("turn_aborted", turn_id=TURN, reason="interrupted"))
    assert (payload.subtype, payload.data) == ("turn_aborted", {"turn_id": TURN, "reason": "interrupted"})


def test_a_compaction_has_its_text_and_never_repeats_the_history() -> None:
    """`replacement_history` repeats items that were told before; the summary is no answer."""
    summary = said("assistant", "SUMMARY", metadata={"compaction_output": True})
    compacted = line(
        "compacted", {"message": "Another model …", "replacement_history": [said("user", "Do it")["payload"]]}
    )
    assert types(summary, compacted) == ["<compaction_summary>", "<compaction>"]
    assert [payload.text for payload in payloads(summary, compacted)] == ["SUMMARY", "Another model …"]
    assert payloads(line("compacted", {"message": "", "replacement_history": []}))[0].text is None


def test_a_child_thread_names_its_parent_run() -> None:
    """By parent_thread_id, or by the older thread_spawn; what the opener knows wins."""
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    for fields in ({"parent_thread_id": PARENT}, {"source": spawn}):
        assert {event.parent_run_id for event in read(meta(**fields), said("user", "Do it"))[0]} == {PARENT}
    assert read(meta(parent_thread_id=PARENT), parent_run_id=CHILD)[0][0].parent_run_id == CHILD
    assert read(meta(source={"subagent": "review"}))[0][0].parent_run_id is None


@pytest.mark.parametrize(
    "spawned",
    [
        completed("CollabAgentToolCall", "call_1", tool="spawn_agent", receiver_thread_ids=[CHILD]),
        completed("SubAgentActivity", "call_1", kind="started", agent_thread_id=CHILD),
        event("sub_agent_activity", kind="started", agent_thread_id=CHILD),
        event("collab_agent_spawn_end", call_id="call_1", new_thread_id=CHILD),
    ],
)
def test_a_spawned_thread_is_a_child_run(spawned: dict[str, Any]) -> None:
    """The line that introduces the child links to its run."""
    assert [event.child_run_id for event in read(spawned)[0]] == [CHILD]


def test_only_the_spawning_links_to_the_child() -> None:
    """Waiting for it, or its end, is not another child."""
    waited = completed("CollabAgentToolCall", "call_2", tool="wait", receiver_thread_ids=[CHILD])
    ended = completed("SubAgentActivity", "x", kind="completed", agent_thread_id=CHILD)
    assert [event.child_run_id for event in read(waited, ended)[0]] == [None, None]


def test_the_first_session_meta_says_whose_file_it_is() -> None:
    """A second one with another id was copied by a fork; with the same id it was written again by a resume."""
    events = read(meta(), meta(id=PARENT, parent_thread_id=CHILD), meta(), said("user", "Do it"))[0]
    assert [event.payload.subtype for event in events[:3]] == ["session_meta", "copied_session_meta", "session_meta"]
    assert {(event.origin.session_id, event.parent_run_id) for event in events if event.origin} == {(THREAD, None)}


def test_items_of_a_review_name_the_reviewers_thread() -> None:
    """An inline review writes the reviewer's items into the parent's file."""
    _, payload = payloads(meta(), completed("UserMessage", "u", thread=CHILD))
    assert payload.data["thread_id"] == CHILD


# What nobody knows.


def test_unknown_types_are_counted_by_name() -> None:
    """Lines, items and events of the future are kept whole."""
    events, report = read(line("future_line", {"a": 1}), item("future_item"), event("future_event"), [1], {"type": 3})
    assert [event.type for event in events] == ["unknown"] * 5
    assert dict(report.unknown_types) == {
        "future_line": 1, "response_item/future_item": 1, "event_msg/future_event": 1, "": 2,
    }  # fmt: skip
    assert events[0].payload.value["payload"] == {"a": 1}


def test_known_lines_in_an_odd_shape_are_unknown() -> None:
    """A payload that is no object says nothing."""
    assert (
        types(line("event_msg", [1]), line("response_item", "x"), event("item_completed", item=[])) == ["unknown"] * 3
    )


def test_items_without_an_envelope_are_read_as_before_0_42() -> None:
    """The first rollouts had the session's fields and the items bare on their lines."""
    head = {"id": THREAD, "timestamp": "2025-06-01T09:00:00.000Z", "instructions": None}
    bare = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    assert types(head, bare) == ["<session_meta>", "message.user"]


def test_a_rollout_is_known_by_its_first_line_and_named_by_its_thread() -> None:
    """The id stands in session_meta; without one the file's name has it, also that of a second segment."""
    path = f"/x/rollout-2026-11-15T19-13-38-{CHILD}_{PARENT}.jsonl"
    assert SPEC.detect([meta()], path)
    assert not SPEC.detect([{"type": "user", "payload": {}}], path)
    assert SPEC.detect([{"type": "unheard_of", "payload": {}}, meta()], path)
    assert SPEC.identify([meta(parent_thread_id=PARENT)], path).native_id == THREAD
    assert SPEC.identify([meta(parent_thread_id=PARENT)], path).parent_native_id == PARENT
    assert SPEC.identify([event("token_count")], path).native_id == CHILD
    assert SPEC.identify([meta(id=7)], "x.jsonl").native_id == ""
