"""anthropic_messages: what logs of the Messages API give, record by record."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stenograph.formats.anthropic_messages import SPEC
from stenograph.formats.base import Context
from stenograph.model import Event, encode

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
USER = {"role": "user", "content": "hi"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
TEXT = {"type": "text", "text": "look"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "sh", "input": {"cmd": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
USAGE = {"input_tokens": 3, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2, "output_tokens": 7}


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


def request(*messages: Any, **more: Any) -> dict[str, Any]:
    """A request with these messages."""
    return {"model": "claude", "max_tokens": 9, "messages": list(messages), **more}


def answer(*content: Any, **more: Any) -> dict[str, Any]:
    """A message of the assistant."""
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": list(content),
        "stop_reason": "end_turn", "usage": USAGE, **more,
    }  # fmt: skip


def stream(*blocks: tuple[dict[str, Any], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The events of a streamed message."""
    found: list[dict[str, Any]] = [{"type": "message_start", "message": answer(stop_reason=None)}, {"type": "ping"}]
    for index, (block, deltas) in enumerate(blocks):
        found.append({"type": "content_block_start", "index": index, "content_block": block})
        found += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        found.append({"type": "content_block_stop", "index": index})
    end = {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use"},
        "usage": {"output_tokens": 9, "input_tokens": None},
    }
    return [*found, end, {"type": "message_stop"}]


def test_an_answer_is_one_message_with_blocks_in_order() -> None:
    """Thinking, text and call; then the call itself, then the usage."""
    found = brief(answer(THOUGHT, TEXT, USE))
    assert [kind for kind, _ in found] == ["message.assistant", "tool.call", "token.usage"]
    assert [block["type"] for block in found[0][1]["blocks"]] == ["thinking", "text", "tool_use"]
    assert (found[0][1]["message_id"], found[0][1]["stop_reason"]) == ("msg_1", "end_turn")


def test_input_tokens_include_the_cache() -> None:
    """Anthropic counts cached input apart; here it is part of the input."""
    assert brief(answer(TEXT))[-1][1] == {
        "scope": "call", "input_tokens": 10, "output_tokens": 7, "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 2, "model": "claude", "message_id": "msg_1",
    }  # fmt: skip


def test_the_system_prompt_goes_with_the_first_user_message() -> None:
    """A string or text blocks; cache markers on either side say nothing."""
    (event,) = events(
        request(USER, system=[{"type": "text", "text": "a", "cache_control": {}}, {"type": "text", "text": "b"}])
    )
    assert event.payload.system_prompt == "a\nb"


def test_a_request_tells_only_what_is_new() -> None:
    """Cache markers wander, thinking may be dropped and a text may become a block: it is the same history."""
    marked = {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}
    found = types(
        request(USER),
        answer(THOUGHT, TEXT, USE),
        request(marked, {"role": "assistant", "content": [TEXT, USE]}, {"role": "user", "content": [RESULT]}),
    )
    assert found == ["message.user", "message.assistant", "tool.call", "token.usage", "tool.result"]


def test_results_alone_make_no_user_message() -> None:
    """With words beside them they do, blocks in order."""
    alone = {"role": "user", "content": [RESULT]}
    mixed = {"role": "user", "content": [RESULT, {"type": "text", "text": "and?"}]}
    assert types(alone) == ["tool.result"]
    found = brief(mixed)
    assert [kind for kind, _ in found] == ["message.user", "tool.result"]
    assert [block["type"] for block in found[0][1]["blocks"]] == ["tool_result", "text"]


def test_a_tool_failed_only_when_its_result_says_so() -> None:
    """`is_error` makes the content the error."""
    good, bad = events(
        {"role": "user", "content": [{**RESULT, "content": "Error: exit 1"}]},
        {"role": "user", "content": [{**RESULT, "is_error": True, "content": [{"type": "text", "text": "exit 1"}]}]},
    )
    assert good.payload.error is None
    assert (bad.payload.output, bad.payload.error) == ("exit 1", "exit 1")


def test_media_are_attachments_when_their_bytes_are_here() -> None:
    """Images and documents; a link or a file id is kept as it stood."""
    content = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "notes"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
    ]
    blocks = brief(request({"role": "user", "content": content}))[0][1]["blocks"]
    assert [(block["type"], block.get("size")) for block in blocks] == [
        ("attachment", 67), ("attachment", 5), ("image", None),
    ]  # fmt: skip


def test_redacted_thinking_is_thinking_without_words() -> None:
    """There is nothing to read, but it was there, and in its place."""
    block = {"type": "redacted_thinking", "data": "ZmFrZQ=="}
    told = {"type": "thinking", "fidelity": "agent_emitted", "thinking": "", "encrypted_content": "ZmFrZQ=="}
    assert brief(answer(block, TEXT))[0][1]["blocks"][0] == told


def test_thinking_keeps_its_signature() -> None:
    """Without it the provider would not take the thinking back."""
    block = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    assert brief(answer(block, TEXT))[0][1]["blocks"][0] == {**block, "fidelity": "agent_emitted"}


def test_a_streamed_signature_is_put_together() -> None:
    """Signatures come in deltas of their own."""
    deltas = [
        {"type": "thinking_delta", "thinking": "Hm."},
        *({"type": "signature_delta", "signature": s} for s in "ab"),
    ]
    lines = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "message_stop"},
    ]
    (block,) = brief(*lines)[0][1]["blocks"]
    assert (block["thinking"], block["signature"]) == ("Hm.", "ab")


def test_definitions_of_tools_are_told_when_they_are_new_or_changed() -> None:
    """The second request repeats them, the third has one more."""
    tool = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}
    said = [{"role": "user", "content": text} for text in "abc"]
    calls = [
        {"messages": said[: n + 1], "tools": tools} for n, tools in enumerate(([tool], [tool], [tool, {"name": "b"}]))
    ]
    told = [payload for kind, payload in brief(*calls) if payload.get("subtype") == "tool_definitions"]
    assert [each["data"]["tools"] for each in told] == [[tool], [tool, {"name": "b"}]]
    assert told[1]["text"] == "look, b"


def test_tools_of_the_service_are_calls_with_results_in_one_message() -> None:
    """Their results stand in the assistant's message; an error is told by its code."""
    use = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}}
    given = {
        "type": "web_search_tool_result",
        "tool_use_id": "srv_1",
        "content": [{"type": "web_search_result", "url": "u"}],
    }
    failed = {**given, "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}}
    found = brief(answer(use, given, TEXT))
    assert [kind for kind, _ in found] == ["message.assistant", "tool.call", "tool.result", "token.usage"]
    assert found[2][1]["output"] == [{"type": "web_search_result", "url": "u"}]
    assert events(answer(use, failed))[2].payload.error == "max_uses_exceeded"


def test_a_stream_becomes_one_message() -> None:
    """Deltas are accumulated; the end's counts replace the start's, a null leaves them."""
    parser = SPEC.open(Context(run_id="r"))
    records = stream(
        ({"type": "thinking", "thinking": "", "signature": ""}, [
            {"type": "thinking_delta", "thinking": "h"}, {"type": "thinking_delta", "thinking": "m"},
            {"type": "signature_delta", "signature": "s"},
        ]),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "lo"}, {"type": "text_delta", "text": "ok"}]),
        ({**USE, "input": {}}, [
            {"type": "input_json_delta", "partial_json": '{"cmd": '},
            {"type": "input_json_delta", "partial_json": '"ls"}'},
        ]),
    )  # fmt: skip
    found = [event for record in records for event in parser.feed_object(record)]
    assert [event.type for event in found] == ["message.assistant", "tool.call", "token.usage"]
    thinking, text, use = found[0].payload.blocks
    assert (thinking.thinking, text.text, use.tool_input) == ("hm", "look", {"cmd": "ls"})
    assert found[0].payload.stop_reason == "tool_use"
    assert (found[2].payload.input_tokens, found[2].payload.output_tokens) == (10, 9)
    assert parser.report.accumulated == len(records) - 1


def test_a_call_without_arguments_has_an_empty_object() -> None:
    """No delta comes for it."""
    found = events(*stream(({**USE, "input": {}}, [])))
    assert found[1].payload.input == {}


def test_a_stream_that_breaks_off_is_told_at_the_end() -> None:
    """As far as it came: broken arguments as text, no stop reason, the usage of its start."""
    records = stream(({**USE, "input": {}}, [{"type": "input_json_delta", "partial_json": '{"cmd": '}]))[:4]
    message, call, usage = events(*records)
    assert (message.payload.stop_reason, call.payload.input, usage.type) == (None, '{"cmd": ', "token.usage")


def test_an_error_in_a_stream_comes_after_what_was_said() -> None:
    """Overloaded in the middle: the partial message, its usage, then the error."""
    records = stream(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "lo"}]))[:4]
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    found = brief(*records, error)
    assert [kind for kind, _ in found] == ["message.assistant", "token.usage", "error"]
    assert found[2][1]["code"] == "overloaded_error"


def test_named_events_may_come_as_objects() -> None:
    """`{"event", "data"}`, with the data as text or object."""
    records = stream(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "a"}]))
    wrapped = [{"event": record["type"], "data": json.dumps(record)} for record in records]
    assert types(*wrapped) == ["message.assistant", "token.usage"]


def test_sse_lines_are_read_as_they_came() -> None:
    """`event:` and `data:` lines, as curl shows them."""
    records = stream(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "a"}]))
    text = "".join(f"event: {record['type']}\ndata: {json.dumps(record)}\n\n" for record in records)
    parser = SPEC.open(Context(run_id="r"))
    found = parser.feed(text.encode()) + parser.finish()
    assert [event.type for event in found] == ["message.assistant", "token.usage"]
    assert parser.report.unknown_types == {}


def test_an_answer_no_model_gave_has_no_usage() -> None:
    """`<synthetic>` counts nothing."""
    assert types(answer(TEXT, model="<synthetic>")) == ["message.assistant"]


def test_batch_files_are_requests_and_answers() -> None:
    """`params` on the way in, `result` on the way out, an error among them."""
    found = brief(
        {"custom_id": "1", "params": request(USER)},
        {"custom_id": "1", "result": {"type": "succeeded", "message": answer(TEXT)}},
        {"custom_id": "2", "result": {"type": "errored", "error": {"type": "error", "error": {"message": "no"}}}},
    )
    assert [kind for kind, _ in found] == ["message.user", "message.assistant", "token.usage", "error"]
    assert found[3][1]["message"] == "no"


def test_a_pair_may_hold_a_whole_stream() -> None:
    """What an adapter gives when a stream has ended."""
    records = stream(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "a"}]))
    assert types({"request": request(USER), "response": records}) == [
        "message.user", "message.assistant", "token.usage",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "record",
    [
        request(USER, system="s"),
        request(USER, tools=[{"name": "sh", "input_schema": {}}]),
        {"messages": [USER, {"role": "assistant", "content": [USE]}]},
        request(USER),
        answer(TEXT),
        {"type": "message_start", "message": answer()},
        {"type": "ping"},
        {"role": "user", "content": [RESULT]},
        {"kind": "request", "path": "/v1/messages?beta=true", "body": {}},
        {"custom_id": "1", "params": request(USER)},
    ],
)
def test_messages_are_recognized(record: Any) -> None:
    """Each of its shapes alone is enough."""
    assert SPEC.detect([record], "x.jsonl")


@pytest.mark.parametrize(
    "record",
    [
        {"type": "assistant", "message": answer(TEXT), "sessionId": "claude code"},
        {"type": "stream_event", "event": {"type": "message_start", "message": {}}},
        {"type": "message", "id": "pi", "message": {"role": "user", "content": [TEXT]}},
        {"messages": [{"role": "system", "content": "s"}, USER], "max_tokens": 5, "model": "claude"},
        {"messages": [USER]},
        {"type": "ping", "session": "x"},
    ],
)
def test_others_are_not_taken_for_messages(record: Any) -> None:
    """Formats that look like it stay with their own."""
    assert not SPEC.detect([record], "x.jsonl")


def test_the_first_answer_names_the_run() -> None:
    """Also when its stream has only begun."""
    assert SPEC.identify([request(USER), answer(TEXT)], "x").native_id == "msg_1"
    assert SPEC.identify([{"type": "message_start", "message": answer()}], "x").native_id == "msg_1"
    assert SPEC.identify([request(USER)], "x").native_id == ""
