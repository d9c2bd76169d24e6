"""openai_chat: what chat logs give, record by record."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stenograph.formats.base import Context
from stenograph.formats.openai_chat import SPEC
from stenograph.formats.registry import formats
from stenograph.model import Event, ThinkingBlock, encode

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
USER = {"role": "user", "content": "hi"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "sh", "arguments": '{"cmd": "ls"}'}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "ok"}


def events(*records: Any) -> list[Event]:
    """The events of a file with these records, one per line."""
    parser = SPEC.open(Context(run_id="r", keep_raw=False))
    found = parser.feed("".join(json.dumps(record) + "\n" for record in records).encode()) + parser.finish()
    assert parser.report.failed == 0
    return found


def brief(found: list[Event]) -> list[tuple[str, Any]]:
    """Type and payload of each event, as written."""
    return [(event.type, json.loads(encode(event))["payload"]) for event in found]


def types(*records: Any) -> list[str]:
    """The types of the events."""
    return [event.type for event in events(*records)]


def answer(message: dict[str, Any], id: str = "c-1", **more: Any) -> dict[str, Any]:
    """A chat completion with one choice."""
    return {
        "id": id, "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **more,
    }  # fmt: skip


def chunk(delta: dict[str, Any], finish: str | None = None, id: str = "c-1", **more: Any) -> dict[str, Any]:
    """A chunk with one choice."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": id, "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}


def test_the_system_prompt_goes_with_the_first_user_message() -> None:
    """Leading system and developer messages are its `system_prompt`, which is also its last block."""
    (event,) = events({"messages": [{"role": "system", "content": "Be kind."}, USER]})
    payload = event.payload
    assert payload.system_prompt == "Be kind."
    assert [block.text for block in payload.blocks] == ["hi", "Be kind."]


def test_a_request_tells_only_what_no_request_had_before() -> None:
    """Requests repeat their conversation; the answer in between is repeated too, in whatever spelling."""
    respelled = {"tool_calls": [CALL], "role": "assistant", "content": "", "refusal": None}
    found = events(
        {"messages": [USER]},
        answer({**ASKED, "reasoning_content": "think"}),
        {"messages": [USER, respelled, RESULT]},
        {"messages": [USER, respelled, RESULT]},
    )
    assert [event.type for event in found] == [
        "message.user", "message.assistant", "tool.call", "tool.result", "system.event",
    ]  # fmt: skip
    assert found[-1].payload.subtype == "repeated"


def test_requests_alone_tell_the_answers_in_their_history() -> None:
    """A log without responses still has every message once."""
    second = {"role": "user", "content": "more"}
    assert types({"messages": [USER]}, {"messages": [USER, ASKED, RESULT, second]}) == [
        "message.user", "message.assistant", "tool.call", "tool.result", "message.user",
    ]  # fmt: skip


def test_interleaved_conversations_are_kept_apart() -> None:
    """Each request continues the conversation whose beginning it has."""
    other = {"role": "user", "content": "other"}
    found = events(
        {"messages": [USER]},
        {"messages": [other]},
        answer({"role": "assistant", "content": "to hi"}, "a"),
        answer({"role": "assistant", "content": "to other"}, "b"),
        {"messages": [USER, {"role": "assistant", "content": "to hi"}, RESULT]},
        {"messages": [other, {"role": "assistant", "content": "to other"}, USER]},
    )
    assert [event.type for event in found[4:]] == ["tool.result", "message.user"]


def test_a_rewritten_history_repeats_no_call_and_no_result() -> None:
    """When a client replaces old results, that is noted, and what came after is still old."""
    later = [{**ASKED, "tool_calls": [{**CALL, "id": "call_2"}]}, {**RESULT, "tool_call_id": "call_2"}]
    cleared = {**RESULT, "content": "[cleared]"}
    found = events({"messages": [USER, ASKED, RESULT, *later]}, {"messages": [USER, ASKED, cleared, *later]})
    assert [event.payload.output for event in found if event.type == "tool.result"] == ["ok", "ok"]
    assert [event.payload.subtype for event in found if event.type == "system.event"] == ["rewritten"]


def test_another_answer_to_the_same_prompt_keeps_its_results() -> None:
    """Datasets reuse call ids: a result whose call is new is new as well."""
    call = {**CALL, "function": {"name": "other", "arguments": "{}"}, "id": "call_1"}
    first = {"messages": [USER, {**ASKED, "content": "a"}, RESULT]}
    second = {"messages": [USER, {**ASKED, "content": "b", "tool_calls": [call]}, {**RESULT, "content": "else"}]}
    assert [event.payload.output for event in events(first, second) if event.type == "tool.result"] == ["ok", "else"]


def test_a_changed_system_prompt_is_told() -> None:
    """The conversation is the same; only the new prompt is news."""
    found = events(
        {"messages": [{"role": "system", "content": "at 1"}, USER]},
        {"messages": [{"role": "system", "content": "at 2"}, USER]},
    )
    assert brief(found)[1:] == [("system.event", {"subtype": "system_prompt", "text": "at 2"})]


def test_a_system_message_amid_the_talk_is_a_system_event() -> None:
    """Only what comes before the first user message is the system prompt."""
    found = brief(events({"messages": [USER, {"role": "developer", "content": "now in French"}]}))
    assert found[1] == ("system.event", {"subtype": "developer_message", "text": "now in French"})


def test_blocks_come_in_order_and_calls_after_the_message() -> None:
    """Thinking, text, calls; then a tool.call each, then the usage."""
    message = {"role": "assistant", "content": "look", "reasoning_content": "hm", "tool_calls": [CALL]}
    usage = {
        "prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }  # fmt: skip
    found = brief(events(answer(message, usage=usage)))
    assert [kind for kind, _ in found] == ["message.assistant", "tool.call", "token.usage"]
    assert [block["type"] for block in found[0][1]["blocks"]] == ["thinking", "text", "tool_use"]
    assert found[0][1] | {"blocks": []} == {
        "role": "assistant", "blocks": [], "model": "m", "message_id": "c-1", "stop_reason": "stop",
    }  # fmt: skip
    assert found[2][1] == {
        "scope": "call", "input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 4,
        "reasoning_output_tokens": 2, "model": "m", "message_id": "c-1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "field",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        {"reasoning": "hm", "reasoning_content": "hm"},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "a"},
            ]
        },
    ],
)
def test_reasoning_has_many_names(field: dict[str, Any]) -> None:
    """Whatever a server calls it, it is told once, before the text."""
    (event,) = events(answer({"role": "assistant", "content": "a", **field}))
    assert [type(block).__name__ for block in event.payload.blocks] == ["ThinkingBlock", "TextBlock"]


def test_reasoning_keeps_what_its_provider_needs() -> None:
    """Signatures and ciphertext stand in details, beside the words that the server also gives flat."""
    details = [
        {"type": "reasoning.text", "text": "hm", "signature": "s"},
        {"type": "reasoning.encrypted", "id": "rs_1", "data": "x"},
    ]
    (event,) = events(answer({"role": "assistant", "content": "a", "reasoning": "hm", "reasoning_details": details}))
    assert event.payload.blocks[:2] == (
        ThinkingBlock(fidelity="agent_emitted", thinking="hm", signature="s"),
        ThinkingBlock(fidelity="agent_emitted", thinking="", id="rs_1", encrypted_content="x"),
    )


def test_streamed_reasoning_is_put_together_until_it_is_signed() -> None:
    """Pieces of one thought are one block; what follows its signature is another."""
    pieces = [("a", None), ("b", "s1"), ("c", None)]
    deltas = [{"thinking_blocks": [{"type": "thinking", "thinking": words, "signature": s}]} for words, s in pieces]
    chunks = [
        {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]} for delta in deltas
    ]
    (event,) = events(*chunks)
    assert [(block.thinking, block.signature) for block in event.payload.blocks] == [("ab", "s1"), ("c", None)]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_custom_tool_is_told_by_its_kind(is_streamed: bool) -> None:
    """Its input is free text."""
    call = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "***"}}
    if is_streamed:
        chunk = {"id": "c", "object": "chat.completion.chunk"}
        found = events({**chunk, "choices": [{"index": 0, "delta": {"tool_calls": [{**call, "index": 0}]}}]})
    else:
        found = events(answer({"role": "assistant", "tool_calls": [call]}))
    assert [(event.payload.kind, event.payload.input) for event in found if event.type == "tool.call"] == [
        ("custom", "***")
    ]


@pytest.mark.parametrize(
    ("given", "told"),
    [('{"a": 1}', {"a": 1}), ('{"a": ', '{"a": '), ("5", "5"), ({"a": 1}, {"a": 1}), ("", "")],
)
def test_arguments_are_parsed_when_they_parse(given: Any, told: Any) -> None:
    """A string of JSON becomes the object; broken or plain strings stay."""
    call = {"id": "x", "function": {"name": "f", "arguments": given}}
    found = events(answer({"role": "assistant", "tool_calls": [call]}))
    assert found[1].payload.input == told


def test_old_function_calls_pair_by_name() -> None:
    """They have no ids: the name stands in, numbered from the second call on."""
    called = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    given = {"role": "function", "name": "f", "content": "1"}
    found = events({"messages": [USER, called, given, called, given]})
    ids = [event.payload.call_id for event in found if event.type.startswith("tool.")]
    assert ids == ["f", "f", "f#2", "f#2"]


def test_custom_tools_have_plain_input() -> None:
    """A custom tool's input is text, not arguments."""
    call = {"id": "x", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    payload = events(answer({"role": "assistant", "tool_calls": [call]}))[1].payload
    assert (payload.name, payload.input) == ("patch", "*** Begin")


def test_images_are_attachments_when_their_bytes_are_here() -> None:
    """A data URL is an attachment; a link is kept as it stood."""
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
    ]
    blocks = brief(events({"messages": [{"role": "user", "content": parts}]}))[0][1]["blocks"]
    assert [block["type"] for block in blocks] == ["text", "attachment", "image_url", "attachment"]
    assert (blocks[1]["media_type"], blocks[1]["size"]) == ("image/png", 67)
    assert blocks[2]["image_url"] == {"url": "https://example.com/a.png"}
    assert blocks[3]["media_type"] == "audio/mpeg"


def test_a_refusal_is_what_the_assistant_said() -> None:
    """It is the text of the message, and the reason to stop."""
    (event,) = events(answer({"role": "assistant", "content": None, "refusal": "I won't."}))
    assert [block.text for block in event.payload.blocks] == ["I won't."]
    assert event.payload.stop_reason == "refusal"


def test_further_choices_are_alternatives() -> None:
    """The first choice is the message; nobody said the others."""
    body = answer({"role": "assistant", "content": "a"})
    body["choices"].append({"index": 1, "message": {"role": "assistant", "content": "b"}, "finish_reason": "stop"})
    found = brief(events(body))
    assert [kind for kind, _ in found] == ["message.assistant", "system.event"]
    assert (found[1][1]["subtype"], found[1][1]["text"]) == ("alternative", "b")


def test_chunks_become_one_message() -> None:
    """Deltas are accumulated; the finish tells the message, and usage that comes later follows."""
    calls = [
        {"index": 0, "id": "x", "function": {"name": "f", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a"'}},
        {"index": 1, "id": "y", "function": {"name": "g", "arguments": "{}"}},
        {"index": 0, "function": {"arguments": ": 1}"}},
    ]
    records = [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "a"}),
        chunk({"content": "b"}),
        *(chunk({"tool_calls": [call]}) for call in calls),
        chunk({}, "tool_calls"),
        {**chunk({}), "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    ]
    parser = SPEC.open(Context(run_id="r"))
    found = [event for record in records for event in parser.feed_object(record)]
    assert [event.type for event in found] == ["message.assistant", "tool.call", "tool.call", "token.usage"]
    assert found[0].payload.blocks[0].text == "ab"
    assert [event.payload.input for event in found[1:3]] == [{"a": 1}, {}]
    assert parser.report.accumulated == len(records) - 2


def test_two_calls_under_one_index_stay_two() -> None:
    """Some servers give every call the index 0; a new id is a new call."""
    calls = [{"index": 0, "id": name, "function": {"name": "f", "arguments": "{}"}} for name in "xy"]
    found = events(*(chunk({"tool_calls": [call]}) for call in calls), chunk({}, "tool_calls"))
    assert [event.payload.call_id for event in found if event.type == "tool.call"] == ["x", "y"]


def test_an_unfinished_stream_is_told_at_the_end() -> None:
    """What was said so far, without a stop reason; usage that was given along the way too."""
    found = events(chunk({"content": "part"}, usage={"prompt_tokens": 3, "completion_tokens": 1}))
    assert [event.type for event in found] == ["message.assistant", "token.usage"]
    assert found[0].payload.stop_reason is None


def test_streams_under_way_at_the_same_time_are_told_apart() -> None:
    """Chunks belong to the answer whose id they carry."""
    found = events(
        chunk({"content": "a1"}, id="a"), chunk({"content": "b1"}, id="b"),
        chunk({"content": "a2"}, "stop", id="a"), chunk({"content": "b2"}, "stop", id="b"),
    )  # fmt: skip
    assert [event.payload.blocks[0].text for event in found] == ["a1a2", "b1b2"]


def test_the_whole_answer_after_its_stream_is_repeated() -> None:
    """An adapter may give both; usage that only the second has is still told."""
    whole = answer({"role": "assistant", "content": "ab"}, usage={"prompt_tokens": 1, "completion_tokens": 2})
    found = events(chunk({"content": "a"}), chunk({"content": "b"}, "stop"), whole)
    assert [event.type for event in found] == ["message.assistant", "system.event", "token.usage"]


def test_sse_lines_are_read_as_they_came() -> None:
    """`data:` holds the chunks, everything else of the framing is accumulated."""
    lines = [b": hello", b"event: x", b"data: " + json.dumps(chunk({"content": "a"})).encode(), b"", b"data: [DONE]"]
    parser = SPEC.open(Context(run_id="r"))
    found = parser.feed(b"\n".join(lines) + b"\n") + parser.finish()
    assert [event.type for event in found] == ["message.assistant"]
    assert parser.report.accumulated == 3
    assert parser.report.malformed == 0


def test_a_torn_sse_line_is_kept() -> None:
    """It is no JSON, and counted as such."""
    parser = SPEC.open(Context(run_id="r"))
    (event,) = parser.feed(b'data: {"id": "c-1", "choi') + parser.finish()
    assert event.raw == 'data: {"id": "c-1", "choi'
    assert parser.report.malformed == 1


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "no", "type": "server_error", "code": None}}, "no", "server_error"),
        ({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, "slow down", "rate_limit_exceeded"),
        ({"error": "plain"}, "plain", None),
    ],
)
def test_error_objects_are_error_events(body: dict[str, Any], message: str, code: str | None) -> None:
    """With the message and the code that the service gave."""
    (event,) = events(body)
    assert (event.type, event.payload.message, event.payload.code) == ("error", message, code)


def test_a_wire_log_says_when_and_with_what_status() -> None:
    """Its times are the events' times; a status from 400 on is an error."""
    wire = {"path": "/v1/chat/completions", "t": 1794770411.5}
    found = events(
        {"kind": "request", **wire, "body": {"messages": [USER]}},
        {"kind": "response", **wire, "code": 503, "body": "<html>"},
        {"kind": "request", "path": "/v1/models", "t": 1794770412},
    )
    assert found[0].timestamp == "2026-11-15T19:20:11.500000Z"
    assert (found[1].type, found[1].payload.message, found[1].payload.code) == ("error", "<html>", "503")
    assert found[2].payload.subtype == "http"


def test_a_stream_that_was_logged_whole_is_told_with_its_record() -> None:
    """The chunks as an array, or their bytes; also when the client left before the finish."""
    chunks = [chunk({"content": "a"})]
    text = "".join(f"data: {json.dumps(item)}\n\n" for item in chunks)
    url = "http://x/v1/chat/completions"
    for record in (
        {"kind": "response_sse", "path": url, "events": chunks},
        {"url": url, "body": {"messages": []}, "chunks": [[1.0, text[:9]], [2.0, text[9:]]], "status": 200},
        {"request": {"messages": [USER]}, "response": chunks},
        chunks,
    ):
        assert types(record)[-1] == "message.assistant"


def test_batch_files_are_requests_and_answers() -> None:
    """Input lines have a body, output lines a response with a body."""
    asked = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [USER]}}
    given = {"id": "b", "custom_id": "1", "response": {"status_code": 200, "body": answer(ASKED)}, "error": None}
    assert types(asked, given) == ["message.user", "message.assistant", "tool.call"]


def test_litellms_log_is_a_call() -> None:
    """Messages and response in one record, the trace as session."""
    record = {
        "id": "c-1", "litellm_call_id": "l", "trace_id": "t", "messages": [USER], "status": "success",
        "response": answer(ASKED), "startTime": 1.0, "endTime": 2.0,
    }  # fmt: skip
    found = events(record)
    assert [event.type for event in found] == ["message.user", "message.assistant", "tool.call"]
    assert found[0].origin is not None
    assert found[0].origin.session_id == "t"
    failed = {**record, "status": "failure", "response": None, "error_str": "down"}
    assert [event.type for event in events(failed)] == ["message.user", "error"]


def test_answers_of_other_apis_are_read_in_their_dialect() -> None:
    """A log of LiteLLM or a proxy mixes them, and an answer says itself what it is."""
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}]
    response = {"object": "response", "id": "resp_1", "output": output}
    message = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "content": [{"type": "text", "text": "b"}],
        "usage": {},
    }
    logged = {"litellm_call_id": "l", "messages": [{"role": "user", "content": "x"}], "response": response}
    assert types(response, message) == ["message.assistant", "message.assistant"]
    assert types(logged, {"request": {"messages": [USER]}, "response": message}) == [
        "message.user", "message.assistant", "message.user", "message.assistant",
    ]  # fmt: skip


def test_one_message_per_line_is_told_as_it_stands() -> None:
    """Chat histories on disk: nothing is history there, and a system line stands alone."""
    found = events(
        {"role": "system", "content": "s", "timestamp": "2026-01-01T00:00:00Z"}, USER, USER,
        {"role": "assistant", "tool_calls": [{"tool": "Read", "input": {"a": 1}, "id": "x", "output": "o"}]}, RESULT,
    )  # fmt: skip
    assert [event.type for event in found] == [
        "system.event", "message.user", "message.user", "message.assistant", "tool.call", "tool.result", "tool.result",
    ]  # fmt: skip
    assert found[0].timestamp == "2026-01-01T00:00:00Z"
    assert found[1].origin is not None
    assert found[1].origin.time == "inherited"


def test_preference_data_has_a_chosen_and_a_rejected_answer() -> None:
    """The chosen one is said, the rejected one is an alternative."""
    record = {
        "input": {"messages": [USER]},
        "preferred_output": [{"role": "assistant", "content": "yes"}],
        "non_preferred_output": [{"role": "assistant", "content": "no"}],
    }
    assert [kind for kind, _ in brief(events(record))] == ["message.user", "message.assistant", "system.event"]


def test_a_role_nobody_knows_is_unknown_and_counted() -> None:
    """The message survives whole."""
    parser = SPEC.open(Context(run_id="r"))
    (event,) = parser.feed_object({"role": "oracle", "content": "42"})
    assert event.payload.value == {"role": "oracle", "content": "42"}
    assert parser.report.unknown_types == {"oracle": 1}


def test_a_text_of_one_part_is_the_output_and_several_are_blocks() -> None:
    """Results are plain where they can be."""
    one = {**RESULT, "content": [{"type": "text", "text": "a"}]}
    two = {**RESULT, "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    first, second = events(one, two)
    assert (first.payload.output, first.payload.blocks) == ("a", None)
    assert second.payload.output is None
    assert len(second.payload.blocks) == 2


class Dumped:
    """Stands for an SDK object."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """What the SDK's objects give."""
        assert options == {"mode": "json", "exclude_unset": True}
        return self.value


def test_sdk_objects_are_taken_like_dicts() -> None:
    """Alone, and inside a record."""
    parser = SPEC.open(Context(run_id="r"))
    found = parser.feed_object({"messages": [USER, Dumped(ASKED)]})  # type: ignore[dict-item]
    found += parser.feed_object(Dumped(answer({"role": "assistant", "content": "a"})))  # type: ignore[arg-type]
    assert [event.type for event in found] == ["message.user", "message.assistant", "tool.call", "message.assistant"]


def test_the_adapter_of_the_context_wins() -> None:
    """A live adapter signs with its own name."""
    parser = SPEC.open(Context(run_id="r", adapter="openai"))
    (event,) = parser.feed_object({"messages": [USER]})
    assert event.origin is not None
    assert event.origin.adapter == "openai"


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [USER]},
        {"model": "claude-x", "messages": [{"role": "system", "content": "s"}, USER], "max_tokens": 5},
        answer(ASKED),
        chunk({"content": "a"}),
        USER,
        {"kind": "request", "path": "/v1/chat/completions", "body": {}},
        {"custom_id": "1", "url": "/v1/chat/completions", "body": {}},
        [USER],
    ],
)
def test_chats_are_recognized(record: Any) -> None:
    """Each of its shapes alone is enough."""
    assert SPEC.detect([record], "x.jsonl")


@pytest.mark.parametrize(
    "record",
    [
        {"role": "user", "message": {"content": [{"type": "text", "text": "cursor"}]}},
        {"role": "_checkpoint", "id": "cp-1"},
        {"type": "message", "role": "user", "content": "gemini"},
        {"type": "agent.start", "messages": []},
        {"id": "m", "sessionID": "s", "role": "assistant", "content": "opencode"},
        {"model": "m", "input": "responses"},
        {"model": "claude-x", "max_tokens": 5, "system": "s", "messages": [USER]},
        {"seq": 1, "run_id": "r", "type": "message.user", "payload": {}},
        5,
        [],
    ],
)
def test_others_are_not_taken_for_chats(record: Any) -> None:
    """Formats that look like it stay with their own."""
    assert not SPEC.detect([record], "x.jsonl")


def test_the_first_answer_names_the_run() -> None:
    """There is no other id; a dataset has none at all."""
    wire = {"kind": "response", "path": "/v1/chat/completions", "body": answer(ASKED)}
    assert SPEC.identify([{"messages": [USER]}, wire], "x").native_id == "c-1"
    assert SPEC.identify([{"messages": [USER]}], "x").native_id == ""


def test_memory_stays_bounded() -> None:
    """Old conversations are forgotten; a log of any length can be read."""
    parser = SPEC.open(Context(run_id="r", keep_raw=False))
    for number in range(5000):
        parser.feed_object({"messages": [{"role": "user", "content": str(number)}]})
    (event,) = parser.feed_object({"messages": [{"role": "user", "content": "4999"}]})
    assert event.payload.subtype == "repeated"
    (event,) = parser.feed_object({"messages": [{"role": "user", "content": "0"}]})
    assert event.type == "message.user"


def test_a_history_that_its_owner_changes_in_place_is_read_anew() -> None:
    """A caller may hand over the same list and the same messages again, with other words in them."""
    parser = SPEC.open(Context(run_id="11111111-2222-4333-8444-555555555555"))
    messages = [{"role": "user", "content": "one"}]
    request = {"model": "m", "messages": messages}
    parser.feed_object(request)
    messages.append({"role": "assistant", "content": "1"})
    messages.append({"role": "user", "content": "two"})
    assert [event.type for event in parser.feed_object(request)][-1] == "message.user"
    messages[2]["content"] = "three"
    (event,) = [event for event in parser.feed_object(request) if event.type == "message.user"]
    assert event.payload.blocks[0].text == "three"


def test_a_message_a_line_keeps_its_time() -> None:
    """Many programs write it as `ts`; none of it is the time of the file."""
    line = b'{"role":"user","content":"Hello.","ts":"2026-01-02T03:04:05Z"}\n'
    parser = formats()["openai_chat"].open(Context(run_id="550e8400-e29b-41d4-a716-446655440000"))
    (event,) = parser.feed(line) + parser.finish()
    assert event.timestamp == "2026-01-02T03:04:05Z"
    assert event.origin is not None
    assert event.origin.time is None
