"""claude_code: session files of Claude Code, one behaviour each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stenograph.fold.calls import pair_calls
from stenograph.formats.base import Context, Report
from stenograph.formats.claude_code import SPEC
from stenograph.formats.claude_code.detection import detect, identify
from stenograph.formats.claude_code.layout import agent_links, agent_meta
from stenograph.model import (
    AttachmentBlock,
    Event,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
)

RUN = "83caaddb-cd38-4e8f-bea2-7f079d64162c"
UUID = [f"5e1f0c44-2d0b-4c1e-9a55-0d7a61c3b2f{number}" for number in range(5)]
AT = "2026-11-15T19:13:00.800Z"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="


def parsed(*records: Any, **context: Any) -> tuple[list[Event], Report]:
    parser = SPEC.open(Context(run_id=RUN, **context))
    data = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in records)
    return parser.feed(data.encode() + b"\n") + parser.finish(), parser.report


def events(*records: Any, **context: Any) -> list[Event]:
    return parsed(*records, **context)[0]


def types(*records: Any, **context: Any) -> list[str]:
    return [event.type for event in events(*records, **context)]


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "timestamp": AT,
        "sessionId": RUN,
        "message": {"role": "user", "content": content},
        **fields,
    }


def assistant(*content: Any, usage: Any = None, id: Any = "msg_1", model: str = "m-1", **fields: Any) -> dict[str, Any]:
    message = {"id": id, "role": "assistant", "model": model, "content": list(content), "stop_reason": "tool_use"}
    if usage is not None:
        message["usage"] = usage
    return {"type": "assistant", "timestamp": AT, "sessionId": RUN, "message": message, **fields}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(id: str, name: str = "Bash", **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **fields}


def usage(out: int, into: int = 10, read: int = 3000, created: int = 20) -> dict[str, Any]:
    return {
        "input_tokens": into,
        "output_tokens": out,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": created,
    }


# Messages.


def test_one_line_is_one_message_its_calls_and_its_usage_in_order() -> None:
    """Several blocks on one line (the non-streaming fallback) stay one message with its blocks in order."""
    got = events(assistant({"type": "thinking", "thinking": "hm"}, text("a"), call("t1"), call("t2"), usage=usage(7)))
    assert [event.type for event in got] == ["message.assistant", "tool.call", "tool.call", "token.usage"]
    assert [type(block) for block in got[0].payload.blocks] == [ThinkingBlock, TextBlock, ToolUseBlock, ToolUseBlock]
    assert (got[0].payload.message_id, got[0].payload.model, got[0].payload.stop_reason) == ("msg_1", "m-1", "tool_use")
    assert [event.payload.call_id for event in got[1:3]] == ["t1", "t2"]
    assert got[0].raw is not None
    assert all(event.raw is None for event in got[1:])


def test_usage_is_given_once_per_message_and_again_when_it_changes() -> None:
    """The lines of a message repeat its usage; older versions first write what message_start said."""
    got = events(
        assistant(text("a"), usage=usage(1)),
        assistant(text("b"), usage=usage(1)),
        assistant(call("t1"), usage=usage(182)),
        assistant(text("c"), usage=usage(5), id="msg_2"),
    )
    counted = [event.payload for event in got if event.type == "token.usage"]
    assert [(each.message_id, each.output_tokens) for each in counted] == [("msg_1", 1), ("msg_1", 182), ("msg_2", 5)]


def test_input_tokens_include_what_was_cached() -> None:
    """The API counts cached input apart; the wire format does not."""
    payload = events(assistant(text("a"), usage=usage(7)))[-1].payload
    assert (payload.input_tokens, payload.cache_read_input_tokens, payload.cache_creation_input_tokens) == (
        3030,
        3000,
        20,
    )


def test_a_block_nobody_knows_is_kept_as_it_stood() -> None:
    """A block of a type we have no name for survives, with who vouches for it."""
    (block,) = events(assistant({"type": "hologram", "data": "eA=="}))[0].payload.blocks
    assert isinstance(block, UnknownBlock)
    assert block.extra == {"type": "hologram", "fidelity": "agent_emitted", "data": "eA=="}


def test_thinking_keeps_what_its_provider_needs() -> None:
    """A signature, or all of it as ciphertext: replay has to give both back."""
    signed = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    blocks = events(assistant(signed, {"type": "redacted_thinking", "data": "eA=="}))[0].payload.blocks
    assert blocks == (
        ThinkingBlock(fidelity="agent_emitted", thinking="Hm.", signature="c2ln"),
        ThinkingBlock(fidelity="agent_emitted", thinking="", encrypted_content="eA=="),
    )


def test_a_tool_of_the_api_is_a_call_of_the_server() -> None:
    """Its kind tells it from the functions that the agent runs."""
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    message, asked = events(assistant(use, call("t1")))[:2]
    assert [block.kind for block in message.payload.blocks] == ["server", None]
    assert asked.payload.kind == "server"


def test_definitions_of_tools_are_told_once() -> None:
    """The shape of a request and the snapshot of a prompt hold the same ones."""
    tool = {"name": "Bash", "description": "Runs.", "input_schema": {"type": "object"}}
    snapshot = {"type": "prompt_snapshot", "tools": [{"name": "Bash", "description": "Runs.", "schema": tool}]}
    shape = {"type": "api-request-shape", "sessionId": RUN, "shapeHash": "a", "shape": {"tools": [tool]}}
    found = events(shape, {"type": "attachment", "attachment": snapshot}, shape)
    told = [event.payload for event in found if event.payload.subtype == "tool_definitions"]
    assert [(each.text, each.data) for each in told] == [("Bash", {"tools": [tool]})]


def test_an_api_error_in_the_guise_of_an_answer_is_also_an_error() -> None:
    """The synthetic line keeps its text, an error follows, and no model is charged for it."""
    record = assistant(
        text("API Error: 500"), model="<synthetic>", usage=usage(0), isApiErrorMessage=True, apiErrorStatus=500,
        error="server_error",
    )  # fmt: skip
    got = events(record)
    assert [event.type for event in got] == ["message.assistant", "error"]
    assert (got[1].payload.message, got[1].payload.code) == ("API Error: 500", "500")
    assert got[1].payload.data == {"error": "server_error"}


def test_a_synthetic_answer_that_is_no_error_is_none() -> None:
    """A resumed session inserts "No response requested.", and says itself that it is no error."""
    record = assistant(text("No response requested."), model="<synthetic>", usage=usage(0), isApiErrorMessage=False)
    assert types(record) == ["message.assistant"]


@pytest.mark.parametrize("content", ["hello", [text("hello")]])
def test_a_prompt_is_a_user_message(content: Any) -> None:
    """As a string or as blocks."""
    (event,) = events(user(content, promptSource="typed", origin={"kind": "human"}))
    assert event.type == "message.user"
    assert event.payload.blocks == (TextBlock(fidelity="agent_emitted", text="hello"),)


def test_an_image_in_a_prompt_is_an_attachment() -> None:
    """Media type, size and digest are those of the picture, not of its base64."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    picture, words = events(user([image, text("what is this?")]))[0].payload.blocks
    assert isinstance(picture, AttachmentBlock)
    assert (picture.media_type, picture.size, picture.sha256[:8]) == ("image/png", 67, "eaa4a94e")
    assert words.text == "what is this?"


def test_an_image_that_is_not_base64_is_kept_as_it_stood() -> None:
    """Nothing is made up for a picture that somebody redacted."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "[redacted]"}}
    (block,) = events(user([image]))[0].payload.blocks
    assert isinstance(block, UnknownBlock)
    assert block.extra["source"] == image["source"]


# What the harness says in the user's name.


@pytest.mark.parametrize(
    ("record", "subtype"),
    [
        (user("<task-notification>\n<task-id>a1</task-id></task-notification>"), "task_notification"),
        (user("done", origin={"kind": "task-notification"}), "task_notification"),
        (user("<command-name>/x</command-name>\n  <command-args></command-args>"), "command"),
        (user("<local-command-stdout>a </local-command-stdout> b</local-command-stdout>"), "local_command_output"),
        (user("<local-command-stdout>cut off here"), "local_command_output"),
        (user("<local-command-caveat>Caveat</local-command-caveat>", isMeta=True), "local_command_caveat"),
        (user("Caveat: The messages below were generated by the user", isMeta=True), "local_command_caveat"),
        (user("<bash-input>ls</bash-input>"), "bash_input"),
        (user("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"), "bash_output"),
        (user([text("[Request interrupted by user]")]), "interrupted"),
        (user([text("[Request interrupted by user for tool use]")]), "interrupted"),
        (user("<system-reminder>be brief</system-reminder>"), "system_reminder"),
        (user("Continue from where you left off.", isMeta=True), "resume"),
        (user("Output token limit hit. Resume directly", isMeta=True), "max_tokens"),
        (user("anything else", isMeta=True), "meta"),
        (user("second task", isMeta=True, origin={"kind": "coordinator"}), "coordinator_message"),
    ],
)
def test_harness_text_under_role_user_is_a_system_event(record: dict[str, Any], subtype: str) -> None:
    """It has a subtype that tells what it is, and its text."""
    (event,) = events(record)
    content = record["message"]["content"]
    assert event.type == "system.event"
    assert event.payload.subtype == subtype
    assert event.payload.text == (content if isinstance(content, str) else content[0]["text"])


@pytest.mark.parametrize(
    "said",
    [
        "Before\n<system-reminder>x</system-reminder>\nAfter",
        "<system-reminder>x</system-reminder>\nplease do it\n<system-reminder>y</system-reminder>",
        "<command-name>review</command-name>\n<command-args>a.ts</command-args>\nExtra context",
        "<div>fix this</div>",
        "[1, 2, 3] is a list",
    ],
)
def test_a_text_that_holds_anything_a_person_said_is_theirs(said: str) -> None:
    """Tags of the harness around it do not take it away."""
    (event,) = events(user(said))
    assert event.type == "message.user"
    assert event.payload.blocks[0].text == said


def test_blocks_of_the_harness_are_told_apart_from_those_of_the_person() -> None:
    """One line, one message with the person's blocks, and a system event for the rest."""
    got = events(user([text("<ide_opened_file>a.py</ide_opened_file>"), text("fix it")]))
    assert [event.type for event in got] == ["message.user", "system.event"]
    assert [block.text for block in got[0].payload.blocks] == ["fix it"]
    assert got[1].payload.subtype == "ide_context"


def test_a_deep_pile_of_tags_takes_no_time() -> None:
    """Telling harness text apart is linear: a hostile text is no trap."""
    (event,) = events(user("<system-reminder>" * 50_000))
    assert event.payload.subtype == "system_reminder"


def test_a_prompt_typed_while_the_agent_was_busy_is_a_user_message() -> None:
    """It is written as an attachment and nowhere else."""
    attachment = {"type": "queued_command", "commandMode": "prompt", "prompt": "also run the tests"}
    (event,) = events({"type": "attachment", "timestamp": AT, "attachment": attachment})
    assert (event.type, event.payload.blocks[0].text) == ("message.user", "also run the tests")


def test_a_notification_while_the_agent_was_busy_is_a_system_event() -> None:
    """Whether the main loop was busy or idle, a notification is called the same."""
    attachment = {
        "type": "queued_command",
        "commandMode": "task-notification",
        "prompt": "<task-notification>x</task-notification>",
    }
    (event,) = events({"type": "attachment", "timestamp": AT, "attachment": attachment})
    assert (event.type, event.payload.subtype) == ("system.event", "task_notification")


# Tool results.


def test_a_line_of_results_gives_only_results() -> None:
    """No message.user, and the raw line is on the first of them."""
    got = events(user([result("t1", "one"), result("t2", "two", is_error=False)], toolUseResult={"durationMs": 5}))
    assert [(event.type, event.payload.output, event.payload.error) for event in got] == [
        ("tool.result", "one", None),
        ("tool.result", "two", None),
    ]
    assert [event.raw is None for event in got] == [False, True]
    assert got[0].payload.duration_ms == 5


def test_a_failed_result_says_why() -> None:
    """Only when the agent says that it failed: an exit code in the text is not enough."""
    failed, fine = events(user([result("t1", "Exit code 3", is_error=True)]), user([result("t2", "Exit code 3")]))
    assert (failed.payload.output, failed.payload.error) == ("Exit code 3", "Exit code 3")
    assert fine.payload.error is None


def test_a_failed_result_without_words_still_has_an_error() -> None:
    """`error` is never blank."""
    assert events(user([result("t1", "", is_error=True)]))[0].payload.error == "The tool failed."


def test_a_result_of_one_text_is_that_text() -> None:
    """One text block reads as plain output."""
    payload = events(user([result("t1", [text("42 files")])]))[0].payload
    assert (payload.output, payload.blocks) == ("42 files", None)


def test_a_result_with_media_or_several_parts_has_blocks() -> None:
    """They keep their order."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    payload = events(user([result("t1", [text("shot"), image])]))[0].payload
    assert payload.output is None
    assert [type(block) for block in payload.blocks] == [TextBlock, AttachmentBlock]


def test_words_beside_a_result_are_a_message_before_it() -> None:
    """A mixed line is one message with its blocks in order, then the result."""
    got = events(user([result("t1", "one"), text("no, do it otherwise")]))
    assert [event.type for event in got] == ["message.user", "tool.result"]
    assert [type(block) for block in got[0].payload.blocks] == [ToolResultBlock, TextBlock]


PARKED = (
    "<persisted-output>\nOutput too large (340.7KB). Full output saved to: /home/u/.claude/projects/p/s/tool-results/"
    "b1.txt\n\nPreview (first 2KB):\n1\n2"
)


def test_a_parked_output_is_joined_when_its_file_is_there() -> None:
    """The file is asked for by its name inside the session's folder, wherever the agent says that was."""
    asked: list[str] = []
    got, report = parsed(user([result("t1", PARKED)]), side_file=lambda name: asked.append(name) or "all of it")
    assert (got[0].payload.output, asked, report.wanted_files) == ("all of it", ["tool-results/b1.txt"], [])


def test_a_parked_output_is_named_when_its_file_is_not_there() -> None:
    """The preview stays the output."""
    got, report = parsed(user([result("t1", PARKED)]), user([result("t1", PARKED)]))
    assert got[0].payload.output == PARKED
    assert report.wanted_files == ["tool-results/b1.txt"]


def test_a_tool_that_runs_on_the_side_of_the_api_is_called_and_answered() -> None:
    """server_tool_use and its result are one message, a call and a result."""
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "x", "url": "u"}]}
    assert types(assistant(search, found)) == ["message.assistant", "tool.call", "tool.result"]


# Subagents.


def sidechain(kind: dict[str, Any], uuid: str, parent: str | None) -> dict[str, Any]:
    return {**kind, "isSidechain": True, "uuid": uuid, "parentUuid": parent}


def test_inline_sidechains_are_subagents_of_the_calls_with_their_prompts() -> None:
    """1.0 writes them between the lines of the session; nothing but the prompt joins them to a call."""
    one, two = "11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"
    got = events(
        assistant(call("t1", "Task", prompt="count"), call("t2", "Task", prompt="list")),
        sidechain(user("list"), two, None),
        sidechain(user("count"), one, None),
        sidechain(assistant(text("b"), id="m2"), "u3", two),
        sidechain(assistant(text("a"), id="m3"), "u4", one),
        sidechain(user([result("x", "r")]), "u5", "u4"),
        user([result("t1", "done")]),
    )
    placed = [(event.source, event.origin and event.origin.parent_call_id) for event in got[3:]]
    assert placed == [
        ("subagent:22222222", "t2"),
        ("subagent:11111111", "t1"),
        ("subagent:22222222", "t2"),
        ("subagent:11111111", "t1"),
        ("subagent:11111111", "t1"),
        ("main", None),
    ]
    assert got[3].origin is not None
    assert got[3].origin.parent_source == "main"


def test_two_calls_with_the_same_prompt_get_a_sidechain_each() -> None:
    """In the order in which they were made."""
    got = events(
        assistant(call("t1", "Task", prompt="same"), call("t2", "Task", prompt="same")),
        sidechain(user("same"), "u1", None),
        sidechain(user([text("same")]), "u2", None),
    )
    assert [event.origin and event.origin.parent_call_id for event in got[-2:]] == ["t1", "t2"]


def test_the_file_of_one_subagent_has_the_source_and_parent_of_its_context() -> None:
    """Its lines are all sidechain; the opener knows whose."""
    (event,) = events(
        sidechain(user("count"), "u1", None),
        source="subagent:a1",
        file=f"{RUN}/subagents/agent-a1.jsonl",
        parent_source="main",
        parent_call_id="t1",
    )
    assert event.source == "subagent:a1"
    assert event.origin is not None
    assert (event.origin.parent_source, event.origin.parent_call_id) == ("main", "t1")


def test_an_agents_lines_without_context_go_by_their_agent_id() -> None:
    """As when a subagent's file comes through a pipe."""
    (event,) = events({**sidechain(user("count"), "u1", None), "agentId": "a1"})
    assert event.source == "subagent:a1"


@pytest.mark.parametrize(
    ("meta", "parent"),
    [
        ({"toolUseId": "t1", "spawnDepth": 1}, ("main", "t1")),
        ({"toolUseId": "t1", "spawnDepth": 2, "parentAgentId": "a9"}, ("subagent:a9", "t1")),
        ({"toolUseId": "t1", "spawnDepth": 2}, (None, "t1")),
        ({}, (None, None)),
    ],
)
def test_a_sidecar_tells_who_spawned_an_agent(meta: dict[str, Any], parent: tuple[str | None, str | None]) -> None:
    """2.1.197 does not say whose agent an agent of an agent is."""
    assert agent_meta(meta) == parent


def test_a_result_line_tells_which_agent_it_answers_for() -> None:
    """All that 2.0 says of the two."""
    assert list(agent_links(user([result("t1", "r")], toolUseResult={"agentId": "63cecbd1"}))) == [("63cecbd1", "t1")]
    assert list(agent_links(user([result("t1", "r")], toolUseResult="Error"))) == []


# Other lines.


def test_a_compaction_has_a_boundary_and_a_summary() -> None:
    """Both are called compaction, and say which half they are."""
    boundary = {
        "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "timestamp": AT,
        "parentUuid": None, "compactMetadata": {"trigger": "auto", "preTokens": 990604, "preservedSegment": {}},
    }  # fmt: skip
    got = events(boundary, user("This session is being continued …", isCompactSummary=True))
    assert [event.payload.subtype for event in got] == ["compaction", "compaction"]
    assert got[0].payload.data == {"part": "boundary", "trigger": "auto", "preTokens": 990604}
    assert (got[1].payload.text, got[1].payload.data) == ("This session is being continued …", {"part": "summary"})


@pytest.mark.parametrize(
    ("record", "subtype", "said", "data"),
    [
        ({"type": "custom-title", "customTitle": "mine"}, "custom-title", "mine", None),
        ({"type": "queue-operation", "operation": "enqueue", "content": "hi"}, "queue-operation", "hi",
         {"operation": "enqueue"}),
        ({"type": "atis-latch", "atis": ""}, "atis-latch", None, None),
        ({"type": "attachment", "attachment": {"type": "date", "date": "2026-11-15"}}, "attachment/date", "2026-11-15",
         None),
        ({"type": "progress", "data": {"type": "hook_progress", "hookName": "Stop"}}, "progress/hook_progress", None,
         {"hookName": "Stop"}),
        ({"type": "system", "subtype": "api_error", "error": {"formatted": "529 Overloaded", "status": 529}},
         "api_error", "529 Overloaded", {"status": 529}),
        ({"type": "system", "event": "compacting", "details": {"a": 1}}, "compacting", None, {"details": {"a": 1}}),
        ({"type": "pr-link", "prUrl": "https://x"}, "pr-link", "https://x", None),
    ],
)  # fmt: skip
def test_known_lines_are_system_events_named_by_their_type(
    record: dict[str, Any], subtype: str, said: str | None, data: Any
) -> None:
    """What they say in a few words is kept; the rest is in the raw line."""
    (event,) = events(record)
    assert event.type == "system.event"
    assert (event.payload.subtype, event.payload.text, event.payload.data) == (subtype, said, data)


def test_a_type_nobody_knows_is_unknown_and_counted() -> None:
    """With all of its value."""
    got, report = parsed({"type": "hologram", "x": 1, "timestamp": AT})
    assert (got[0].type, got[0].payload.value["x"], got[0].timestamp) == ("unknown", 1, AT)
    assert report.unknown_types == {"hologram": 1}


def test_lines_that_are_no_records_are_unknown() -> None:
    """Numbers, lists, broken JSON and messages of no shape at all; our mapping never breaks on them."""
    got, report = parsed("42", "[1]", '{"type":"us', '{"type":"user","message":5}', "\x00")
    assert {event.type for event in got} == {"unknown"}
    assert (len(got), report.malformed, report.failed) == (5, 2, 0)


def test_a_field_of_another_shape_costs_only_itself() -> None:
    """The rest of the line is mapped as ever."""
    record = assistant(text("a"), usage=usage(7), attachment=[], compactMetadata=True, toolUseResult=[1])
    assert types(record) == ["message.assistant", "token.usage"]
    assert types({**record, "message": {**record["message"], "usage": "lots"}}) == ["unknown"]


def test_line_separators_inside_strings_do_not_cut_lines() -> None:
    """U+2028 and U+0085 stand raw in Claude's lines."""
    (event,) = events('{"type":"user","message":{"content":"a\u2028b\u0085c"}}')
    assert event.payload.blocks[0].text == "a\u2028b\u0085c"


def test_a_lone_surrogate_is_replaced_and_counted() -> None:
    """Claude cuts emoji in two; raw keeps the escape."""
    got, report = parsed('{"type":"user","message":{"content":"cut \\ud83c"}}')
    assert got[0].payload.blocks[0].text == "cut \ufffd"
    assert report.replaced == 1
    assert got[0].raw is not None
    assert "\\ud83c" in got[0].raw


def test_a_line_without_a_time_inherits_the_one_before() -> None:
    """Before any, it is the file's."""
    first, _, last = events({"type": "mode", "mode": "normal"}, user("hi"), {"type": "mode", "mode": "plan"}, at="T0")
    assert first.origin is not None
    assert last.origin is not None
    assert (first.timestamp, first.origin.time) == ("T0", "given")
    assert (last.timestamp, last.origin.time) == (AT, "inherited")


def test_the_session_of_the_file_wins_over_that_of_its_lines() -> None:
    """2.0 forks keep the old session id inside the new file."""
    assert events(user("hi"), session_id="s-new")[0].origin.session_id == "s-new"  # type: ignore[union-attr]
    assert events(user("hi"))[0].origin.session_id == RUN  # type: ignore[union-attr]


# The flat shapes of the design documents.


def test_the_flat_shapes_of_the_documents_are_read() -> None:
    """tool_use, tool_result, thinking and summary as records of their own."""
    got = events(
        {"type": "thinking", "thinking": "hm", "timestamp": AT, "session_id": "s-1"},
        {"type": "tool_use", "tool_use_id": "t1", "tool_name": "Read", "input": {"path": "a"}},
        {"type": "tool_result", "tool_use_id": "t1", "tool_name": "Read", "content": "text"},
        {"type": "summary", "summary": "so far", "dropped_count": 12},
        {"type": "user", "content": "hello"},
        {"type": "assistant", "content": [text("hi")]},
        {"type": "assistant", "message": {"content": "I'll analyze", "tool_use": {"id": "t2", "name": "Bash"}}},
    )
    assert [event.type for event in got] == [
        "message.assistant", "message.assistant", "tool.call", "tool.result", "system.event", "message.user",
        "message.assistant", "message.assistant", "tool.call",
    ]  # fmt: skip
    assert (got[2].payload.name, got[2].payload.call_id, got[2].payload.input) == ("Read", "t1", {"path": "a"})
    assert (got[3].payload.name, got[3].payload.output) == ("Read", "text")
    assert (got[4].payload.subtype, got[4].payload.text) == ("compaction", "so far")
    assert got[4].payload.data == {"part": "summary", "dropped_count": 12}
    assert got[0].origin is not None
    assert got[0].origin.session_id == "s-1"


# What a file is.


def test_a_session_is_known_by_the_name_of_its_file() -> None:
    """Whatever its lines say."""
    found = identify([user("hi", sessionId="other")], f"/home/u/.claude/projects/p/{RUN}.jsonl")
    assert (found.native_id, found.session_id, found.source) == (RUN, RUN, "main")


def test_a_renamed_session_is_known_by_its_lines() -> None:
    """The name of a copy says nothing."""
    assert identify(["x", user("hi")], "copy.jsonl").native_id == RUN


@pytest.mark.parametrize(
    "path",
    [
        f"p/{RUN}/subagents/agent-a1.jsonl",
        f"p/{RUN}/subagents/workflows/w1/agent-a1.jsonl",
        "p/agent-a1.jsonl",
        "11111111-0000-4000-8000-000000000000/p/agent-a1.jsonl",
    ],
)
def test_a_subagents_file_belongs_to_its_session(path: str) -> None:
    """By the folder it is in (2.1) or by its lines (2.0)."""
    found = identify([{**user("count"), "isSidechain": True, "agentId": "a1"}], path)
    assert (found.native_id, found.source) == (RUN, "subagent:a1")


def test_a_renamed_subagents_file_is_known_by_its_first_line() -> None:
    """Only a subagent's file begins with a sidechain."""
    assert identify([{**user("count"), "isSidechain": True, "agentId": "a1"}], "x.jsonl").source == "subagent:a1"


@pytest.mark.parametrize(
    "record",
    [
        user("hi"),
        {"type": "summary", "summary": "x", "leafUuid": "u"},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": RUN},
        {"type": "tool_result", "tool_use_id": "t1", "content": "x", "timestamp": AT},
        {"type": "user", "message": {"role": "user", "content": "lean"}},
    ],
)
def test_session_lines_are_detected(record: dict[str, Any]) -> None:
    """Lean and flat ones, too."""
    assert detect([record], "x.jsonl")


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user", "message": {"role": "user", "content": "x"}, "session_id": "s", "parent_tool_use_id": None},
        {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "parts": [{"text": "x"}]}},
        {**user("hi"), "sessionId": "session-5de701fc-7454-4858-a249-95cac4fd3b51"},
        {"type": "tool_use", "tool_name": "x", "tool_id": "t", "parameters": {}},
        {"type": "user", "id": "1", "content": "gemini"},
        {"role": "user", "message": {"content": "cursor"}},
        {"type": "session", "version": 3, "id": "pi"},
    ],
)
def test_streams_and_imitators_are_not(record: dict[str, Any]) -> None:
    """The stream of claude -p, Qwen Code, iFlow, Gemini, Cursor, Pi."""
    assert not detect([record], "x.jsonl")


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user", "content": "Hi", "session_id": "S1", "timestamp": AT},
        {"type": "assistant", "content": "Hello"},
        {"type": "tool_result", "tool_use_id": "t1", "content": "x"},
        {"type": "thinking", "content": "Hm."},
    ],
)
def test_flat_records_are_known_by_their_place(record: dict[str, Any]) -> None:
    """The shapes of the documents are common JSON; where Claude keeps its sessions they can be nothing else."""
    assert detect([record], "/home/user/.claude/projects/p/transcripts/s.jsonl")
    assert not detect([{**record, "timestamp": None} if "session_id" in record else record], "/home/user/x.jsonl")


def test_blocks_are_not_lines_of_a_session() -> None:
    """A list of a message's blocks, the API's or ours, is no session."""
    blocks = [call("t1"), result("t1", "x"), {"type": "thinking", "thinking": "Hm."}]
    assert not detect(blocks, "golden.json")
    assert not detect([{**block, "fidelity": "agent_emitted", "timestamp": AT} for block in blocks], "golden.json")


def test_an_api_error_has_the_providers_reason() -> None:
    """It stands in the provider's answer, inside the client's error."""
    answer = {"type": "error", "error": {"type": "server_error", "message": "the plan does not support this model"}}
    record = {"type": "system", "subtype": "api_error", "error": {"status": 500, "error": answer}, "retryAttempt": 1}
    (event,) = events(record)
    assert event.payload.text == "the plan does not support this model"
    assert event.payload.data["status"] == 500


# Subagents in progress lines (2.1.12 to 2.1.81).


def progress(inner: dict[str, Any], agent: str = "a1b2c3d", call_id: str = "t1", **data: Any) -> dict[str, Any]:
    """A progress line as 2.1.63 writes it: the subagent's record without its session."""
    message = {name: inner[name] for name in ("type", "message", "timestamp", "toolUseResult") if name in inner}
    return {
        "type": "progress",
        "parentToolUseID": call_id,
        "toolUseID": "agent_msg_1",
        "timestamp": AT,
        "sessionId": RUN,
        "data": {
            "message": {**message, "uuid": f"uuid of {json.dumps(message)}"},
            "normalizedMessages": [],
            "type": "agent_progress",
            "prompt": "",
            "agentId": agent,
            **data,
        },
    }


TASK = assistant(call("t1", "Task", prompt="Count."), id="msg_0")
SPOKEN = [
    user([text("Count.")]),
    assistant(text("I count."), id="msg_2"),
    assistant(call("t2", command="wc"), usage=usage(7), id="msg_2"),
    user([result("t2", "3 lines")]),
]


def test_a_subagent_in_progress_lines_speaks_for_itself() -> None:
    """Its messages, calls, results and usage are the subagent's, and the call that spawned it is known."""
    found = events(TASK, *map(progress, SPOKEN))[2:]
    assert [event.type for event in found] == [
        "message.user", "message.assistant", "message.assistant", "tool.call", "token.usage", "tool.result",
    ]  # fmt: skip
    origins = {(event.source, event.origin.parent_source, event.origin.parent_call_id) for event in found}
    assert origins == {("subagent:a1b2c3d", "main", "t1")}
    assert [event.origin.line for event in found if event.raw is not None] == [2, 3, 4, 5]


def test_a_progress_line_that_repeats_itself_is_a_sign_of_life() -> None:
    """The same record twice, and a line with no record in it."""
    first = progress(SPOKEN[1])
    found = events(first, first, progress({}), progress(SPOKEN[1], agent=""))
    assert [event.type for event in found] == ["message.assistant", *["system.event"] * 3]
    assert {event.payload.subtype for event in found[1:]} == {"progress/agent_progress"}


def test_a_subagent_of_a_subagent_in_progress_lines_has_its_parent() -> None:
    """The call that spawned it was made by the subagent."""
    nested = assistant(call("t9", "Agent", prompt="More."), id="msg_9")
    found = events(TASK, progress(nested), progress(SPOKEN[1], agent="b1", call_id="t9"))
    assert (found[-1].source, found[-1].origin.parent_source) == ("subagent:b1", "subagent:a1b2c3d")


def test_progress_lines_are_left_to_a_subagents_own_file() -> None:
    """The file leads: the main file's lines are signs of life then."""
    found = events(TASK, *map(progress, SPOKEN), separate=frozenset({"subagent:a1b2c3d"}))[2:]
    assert {event.payload.subtype for event in found} == {"progress/agent_progress"}


def test_what_a_command_wrote_as_an_error_is_kept_where_the_model_did_not_see_it() -> None:
    """Mostly it is in the result; else it is an event of its own."""
    shown = user([result("t1", "out\nno such file")], toolUseResult={"stdout": "out", "stderr": "no such file"})
    hidden = user([result("t1", "out")], toolUseResult={"stdout": "out", "stderr": "no such file"})
    assert types(shown) == ["tool.result"]
    assert [(event.type, getattr(event.payload, "text", None)) for event in events(hidden)] == [
        ("tool.result", None),
        ("system.event", "no such file"),
    ]


def test_a_result_before_its_call_is_its_answer() -> None:
    """Parallel tools may answer before the line with their call is written."""
    found = events(user([result("t1", "x")]), assistant(call("t1")))
    assert [event.type for event in found] == ["tool.result", "message.assistant", "tool.call"]
    (pair,) = pair_calls(found)
    assert (pair.call is None, pair.result is None) == (False, False)


def test_what_a_resume_writes_again_counts_once() -> None:
    """Some resumes copy the beginning of a session into its file: same uuids, other circumstances."""
    usage = {"input_tokens": 5, "output_tokens": 2}
    said = [
        user("Look.", uuid=UUID[1], parentUuid=None),
        assistant(call("toolu_1"), usage=usage, uuid=UUID[2]),
        user([result("toolu_1", "no", is_error=True)], uuid=UUID[3]),
        {
            "type": "attachment",
            "timestamp": AT,
            "uuid": UUID[4],
            "attachment": {"type": "queued_command", "prompt": "Hurry."},
        },
    ]
    copies = [{**each, "slug": "three-small-words", "version": "2.1.99"} for each in said]
    found = events(*said, *copies)
    first = types(*said)
    assert [event.type for event in found] == [*first, *["system.event"] * 4]
    assert [event.payload.subtype for event in found[len(first) :]] == ["repeated"] * 4
    assert len(pair_calls(found)) == 1


def test_a_uuid_that_is_used_again_for_other_words_hides_nothing() -> None:
    """A copy may report other tokens, and redacted files have the same texts everywhere: all of it is emitted."""
    assert types(*[user("[redacted]", uuid="[redacted]")] * 2) == ["message.user"] * 2
    assert types(user("Look.", uuid=UUID[1]), user("Listen.", uuid=UUID[1])) == ["message.user"] * 2
    later = user("Look.", uuid=UUID[1], timestamp="2026-11-15T19:14:00.000Z")
    assert types(user("Look.", uuid=UUID[1]), later) == ["message.user"] * 2
    answer = [assistant(text("Yes."), usage={"input_tokens": 5, "output_tokens": out}, uuid=UUID[2]) for out in (1, 9)]
    *_, repeated, usage = events(*answer)
    assert repeated.payload.subtype == "repeated"
    assert usage.payload.output_tokens == 9
