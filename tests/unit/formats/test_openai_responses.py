"""openai_responses: what logs of the Responses API give, record by record."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stenograph.formats.base import Context
from stenograph.formats.openai_responses import SPEC
from stenograph.model import Event, encode

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
USER = {"role": "user", "content": "hi"}
REASONING = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
SAID = {
    "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "look", "annotations": []}],
}  # fmt: skip
CALL = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "sh", "arguments": '{"cmd": "ls"}'}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}


def events(*records: Any) -> list[Event]:
    """The events of a file with these records, one per line."""
    parser = SPEC.open(Context(run_id="r", keep_raw=False))
    found = parser.feed("".join(json.dumps(record) + "\n" for record in records).encode()) + parser.finish()
    assert parser.report.failed == 0
    return found


def brief(*records: Any) -> list[tuple[str, Any]]:
    """Type and payload of each event, as written."""
    return [(event.type, json.loads(encode(event))["payload"]) for event in events(*records)]


def types(*records: Any) -> list[str]:
    """The types of the events."""
    return [event.type for event in events(*records)]


def request(*items: Any, **more: Any) -> dict[str, Any]:
    """A request with these items."""
    return {"model": "m", "input": list(items), **more}


def answer(*output: Any, id: str = "resp_1", **more: Any) -> dict[str, Any]:
    """A complete response."""
    return {"id": id, "object": "response", "status": "completed", "model": "m", "output": list(output), **more}


def test_an_answer_is_one_message_with_blocks_in_order() -> None:
    """Reasoning, text and call; then the call itself, then the usage, which includes cached and reasoning."""
    usage = {
        "input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 2},
    }  # fmt: skip
    found = brief(answer(REASONING, SAID, CALL, usage=usage))
    assert [kind for kind, _ in found] == ["message.assistant", "tool.call", "token.usage"]
    message = found[0][1]
    assert [block["type"] for block in message["blocks"]] == ["thinking", "text", "tool_use"]
    assert (message["message_id"], message["stop_reason"]) == ("resp_1", "completed")
    assert found[1][1]["call_id"] == "call_1"
    assert found[1][1]["input"] == {"cmd": "ls"}
    assert found[2][1] == {
        "scope": "call", "input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 4,
        "reasoning_output_tokens": 2, "model": "m", "message_id": "resp_1",
    }  # fmt: skip


def test_output_items_that_come_back_are_history() -> None:
    """Also with other keys and in another order of them; instructions are told once."""
    again = {key: SAID[key] for key in reversed(SAID) if key != "id"}
    found = events(
        request(USER, instructions="Be kind."),
        answer(REASONING, SAID, CALL),
        request(USER, REASONING, again, CALL, RESULT, instructions="Be kind."),
    )
    assert [event.type for event in found] == ["message.user", "message.assistant", "tool.call", "tool.result"]
    assert found[0].payload.system_prompt == "Be kind."


def test_after_a_previous_response_everything_is_new() -> None:
    """The service keeps the history; the same words again are said again."""
    more = {"role": "user", "content": "continue"}
    found = events(
        request(more, instructions="s"),
        answer(SAID, id="resp_1"),
        request(more, previous_response_id="resp_1", instructions="s"),
        answer(SAID, id="resp_2"),
        request(more, previous_response_id="resp_2", instructions="s"),
    )
    assert [event.type for event in found] == [
        "message.user", "message.assistant", "message.user", "message.assistant", "message.user",
    ]  # fmt: skip
    assert [event.payload.system_prompt for event in found[::2]] == ["s", None, None]


def test_a_retry_after_a_previous_response_is_repeated() -> None:
    """The same request once more says nothing new."""
    asked = request(USER, previous_response_id="resp_0")
    assert types(asked, asked) == ["message.user", "system.event"]


def test_in_a_conversation_the_same_words_are_said_again() -> None:
    """With `conversation`, the service keeps the history under that id, which names the run."""
    asked = request(USER, conversation={"id": "conv_1"})
    assert types(asked, asked) == ["message.user", "message.user"]
    assert SPEC.identify([asked], "x").native_id == "conv_1"


def test_adjacent_items_of_the_model_are_one_message() -> None:
    """Also when only requests were logged."""
    found = events(request(USER, REASONING, SAID, CALL, RESULT, SAID))
    assert [event.type for event in found] == [
        "message.user", "message.assistant", "tool.call", "tool.result", "message.assistant",
    ]  # fmt: skip
    assert len(found[1].payload.blocks) == 3


def test_a_plain_string_is_the_users_message() -> None:
    """`input` may be a string."""
    assert events({"model": "m", "input": "hi"})[0].payload.blocks[0].text == "hi"


def test_developer_items_are_part_of_the_system_prompt_only_at_the_start() -> None:
    """Later they are system events."""
    asked = request(
        {"role": "developer", "content": "d"}, USER, {"role": "developer", "content": "e"}, instructions="i"
    )
    found = brief(asked)
    assert found[0][1]["system_prompt"] == "i\nd"
    assert found[1] == ("system.event", {"subtype": "developer_message", "text": "e"})


def test_stream_events_are_told_by_the_last_one() -> None:
    """Everything before is accumulated."""
    stream = [
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "look"},
        {"type": "response.completed", "response": answer(SAID, created_at=1794770412)},
    ]
    parser = SPEC.open(Context(run_id="r"))
    found = [event for record in stream for event in parser.feed_object(record)]
    assert [event.type for event in found] == ["message.assistant"]
    assert found[0].timestamp == "2026-11-15T19:20:12.000000Z"
    assert parser.report.accumulated == 2


def test_items_count_when_the_last_event_has_none() -> None:
    """Some servers send the output only item by item."""
    found = events(
        {"type": "response.output_item.done", "output_index": 1, "item": CALL},
        {"type": "response.output_item.done", "output_index": 0, "item": SAID},
        {"type": "response.completed", "response": {"id": "resp_1", "usage": {"input_tokens": 1, "output_tokens": 2}}},
    )
    assert [event.type for event in found] == ["message.assistant", "tool.call", "token.usage"]


def test_a_stream_that_breaks_off_is_told_from_its_deltas() -> None:
    """Text, reasoning and arguments as far as they came; nobody said why it stopped."""
    found = events(
        {"type": "response.created", "response": {"id": "resp_1", "model": "m", "status": "in_progress"}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "lo"},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "ok"},
        {"type": "response.output_item.added", "output_index": 2, "item": {**CALL, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"cmd": '},
    )
    assert [event.type for event in found] == ["message.assistant", "tool.call"]
    assert found[0].payload.message_id == "resp_1"
    assert found[0].payload.stop_reason is None
    assert [getattr(block, "text", None) for block in found[0].payload.blocks] == [None, "look", None]
    assert found[1].payload.input == '{"cmd": '


def test_a_failed_answer_is_an_error() -> None:
    """What it said before it failed comes first."""
    failed = answer(SAID, status="failed", error={"code": "server_error", "message": "no"})
    found = brief({"type": "response.failed", "response": failed})
    assert [kind for kind, _ in found] == ["message.assistant", "error"]
    assert found[1][1]["code"] == "server_error"
    assert types({"type": "error", "code": "x", "message": "y", "sequence_number": 1}) == ["error"]


def test_an_incomplete_answer_says_why() -> None:
    """The reason is the stop reason."""
    (event,) = events(answer(SAID, status="incomplete", incomplete_details={"reason": "max_output_tokens"}))
    assert event.payload.stop_reason == "max_output_tokens"


def test_an_answer_under_way_waits() -> None:
    """Polling a background response tells its output once, when it is complete."""
    found = brief(answer(SAID, status="in_progress"), answer(SAID, CALL), answer(SAID, CALL))
    assert [kind for kind, _ in found] == ["system.event", "message.assistant", "tool.call", "system.event"]
    assert [payload["subtype"] for kind, payload in found if kind == "system.event"] == [
        "response.in_progress", "repeated",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("item", "name", "input", "output", "error"),
    [
        (
            {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}},
            "web_search", {"type": "search", "query": "q"}, None, None,
        ),
        (
            {"type": "file_search_call", "id": "w", "status": "completed", "queries": ["q"], "results": [{"f": 1}]},
            "file_search", {"queries": ["q"]}, [{"f": 1}], None,
        ),
        (
            {"type": "code_interpreter_call", "id": "w", "status": "failed", "code": "1", "outputs": None},
            "code_interpreter", {"code": "1"}, None, "failed",
        ),
        (
            {"type": "mcp_call", "id": "w", "name": "n", "arguments": "{}", "output": None, "error": "denied"},
            "n", {}, None, "denied",
        ),
    ],
)  # fmt: skip
def test_tools_of_the_service_are_calls_with_results(
    item: dict[str, Any], name: str, input: Any, output: Any, error: str | None
) -> None:
    """The item holds both; it failed only when it says so."""
    message, call, result = events(answer(item))
    assert (call.payload.name, call.payload.call_id, call.payload.input) == (name, "w", input)
    assert (result.payload.output, result.payload.error) == (output, error)
    assert message.payload.blocks[0].tool_id == "w"


def test_a_search_under_way_has_no_result_yet() -> None:
    """Only its call is told."""
    assert types(answer({"type": "web_search_call", "id": "w", "status": "searching"})) == [
        "message.assistant", "tool.call",
    ]  # fmt: skip


def test_generated_images_are_attachments_of_the_result() -> None:
    """The base64 in `result` is the image itself."""
    item = {"type": "image_generation_call", "id": "i", "status": "completed", "result": PNG, "prompt": "a dot"}
    result = events(answer(item))[2].payload
    assert (result.output, result.blocks[0].media_type, result.blocks[0].size) == (None, "image/png", 67)


def test_results_may_have_parts_and_screenshots() -> None:
    """Text and images become blocks of the result."""
    parts = [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}]
    shot = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
    found = events(
        request(USER, {**RESULT, "output": parts}, {"type": "computer_call_output", "call_id": "c", "output": shot})
    )
    assert (found[1].payload.output, len(found[1].payload.blocks)) == (None, 2)
    assert found[2].payload.blocks[0].size == 67


def test_custom_tools_keep_their_input_as_text() -> None:
    """Even when it reads like JSON."""
    call = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "{}"}
    assert events(answer(call))[1].payload.input == "{}"


def test_hidden_reasoning_is_thinking_without_words() -> None:
    """There is nothing to read, but it was there."""
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "ZmFrZQ=="}
    told = {"id": "rs_1", "type": "thinking", "thinking": "", "encrypted_content": "ZmFrZQ=="}
    assert brief(answer(item))[0][1]["blocks"] == [{**told, "fidelity": "agent_emitted"}]


def test_a_call_has_its_namespace_and_its_kind() -> None:
    """Custom tools take free text, tools of the service run there; a function says neither."""
    items = [
        {"type": "function_call", "call_id": "c1", "name": "look", "namespace": "tickets", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "***"},
        {"type": "web_search_call", "id": "c3", "status": "in_progress", "action": {"query": "q"}},
    ]
    found = brief(answer(*items))
    calls = [(each.get("namespace"), each.get("kind")) for kind, each in found if kind == "tool.call"]
    assert calls == [("tickets", None), (None, "custom"), (None, "server")]
    assert [(each.get("namespace"), each.get("kind")) for each in found[0][1]["blocks"]] == calls


def test_tools_are_defined_by_the_answer_where_no_request_is_kept() -> None:
    """An answer repeats the tools that it was given; those of the service have no name but their type."""
    tools = [{"type": "function", "name": "look", "parameters": {"type": "object"}}, {"type": "web_search"}]
    found = brief({**answer({"type": "reasoning", "summary": [{"text": "Hm."}]}), "tools": tools})
    told = [payload for kind, payload in found if payload.get("subtype") == "tool_definitions"]
    assert [each["data"]["tools"] for each in told] == [
        [{"name": "look", "input_schema": {"type": "object"}}, {"name": "web_search"}]
    ]


def test_refusals_are_text() -> None:
    """What the model said instead."""
    item = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I won't."}]}
    assert events(answer(item))[0].payload.blocks[0].text == "I won't."


def test_items_one_per_line_are_told_as_they_stand() -> None:
    """A dump of items is a transcript as well."""
    assert types(USER, REASONING, CALL, RESULT) == [
        "message.user", "message.assistant", "message.assistant", "tool.call", "tool.result",
    ]  # fmt: skip


def test_items_nobody_knows_survive() -> None:
    """As blocks of an answer, and as unknown events of a request."""
    odd = {"type": "hologram", "x": 1}
    assert brief(answer(odd))[0][1]["blocks"] == [{**odd, "fidelity": "agent_emitted"}]
    assert brief(request(USER, odd))[1] == ("unknown", {"value": odd})


@pytest.mark.parametrize(
    "record",
    [
        {"model": "m", "input": "hi"},
        {"input": [RESULT], "previous_response_id": "resp_1"},
        answer(SAID),
        {"type": "response.created", "response": {}, "sequence_number": 0},
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"kind": "request", "path": "/v1/responses", "body": {}},
        {"custom_id": "1", "url": "/v1/responses", "body": {}},
    ],
)
def test_responses_are_recognized(record: Any) -> None:
    """Each of its shapes alone is enough."""
    assert SPEC.detect([record], "x.jsonl")


@pytest.mark.parametrize(
    "record",
    [
        {"type": "response_item", "payload": {"type": "message", "role": "user"}},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old codex"}]},
        {"t": 1.0, "input": {"session_id": "a hook"}},
        {"type": "response.created"},
        {"messages": [USER]},
        {"type": "tool_result", "output": "x"},
    ],
)
def test_others_are_not_taken_for_responses(record: Any) -> None:
    """Formats that look like it stay with their own."""
    assert not SPEC.detect([record], "x.jsonl")


def test_the_first_answer_names_the_run() -> None:
    """Also when it is only announced by its stream."""
    created = {"type": "response.created", "response": {"id": "resp_1"}}
    assert SPEC.identify([request(USER), answer(SAID)], "x").native_id == "resp_1"
    assert SPEC.identify([created], "x").native_id == "resp_1"
    assert SPEC.identify([request(USER)], "x").native_id == ""
