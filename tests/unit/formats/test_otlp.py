"""Spans as events: every vocabulary, and what is said twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otlp_spans import CASES, RUN_ID, requests_in, routed
from stenograph.formats.base import Context, run_id_of
from stenograph.formats.otlp.conversation import native_id_of
from stenograph.formats.otlp.format import OtlpFormat
from stenograph.formats.otlp.kind import TOOL, framework_of, kind_of
from stenograph.formats.otlp.routing import Routing
from stenograph.formats.otlp.span import spans_in, value_of
from stenograph.formats.registry import formats
from stenograph.model import Event


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": _pairs(value)}}
    return {"stringValue": value}


def _pairs(facts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in facts.items()]


def span(number: int, facts: dict[str, Any], *, parent: int = 0, trace: int = 1, **more: Any) -> dict[str, Any]:
    """A span that ends at second `number`."""
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        **({"parentSpanId": f"{parent:016x}"} if parent else {}),
        "name": "a span",
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + number * 1_000_000_000 - 500_000_000),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + number * 1_000_000_000),
        "attributes": _pairs(facts),
        **more,
    }


def log(number: int, name: str, body: Any, *, trace: int = 1, **facts: Any) -> dict[str, Any]:
    """A log record of the span with that number."""
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        "eventName": name,
        "body": _value(body),
        "attributes": _pairs(facts),
        "observedTimeUnixNano": str(1_700_000_000_000_000_000 + number),
    }


def told(spans: list[dict[str, Any]], logs: list[dict[str, Any]] | None = None) -> list[Event]:
    """The events of a file with these."""
    request: dict[str, Any] = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}
    if logs:
        request["resourceLogs"] = [{"resource": {}, "scopeLogs": [{"scope": {}, "logRecords": logs}]}]
    parser = OtlpFormat(Context(run_id=RUN_ID, keep_raw=False))
    parser.feed(json.dumps(request).encode() + b"\n")
    events = parser.finish()
    assert parser.report.failed == 0
    return events


def lines(events: list[Event]) -> list[str]:
    """What the events say, a line each."""
    found = []
    for event in events:
        payload: Any = event.payload
        if event.type.startswith("message"):
            words = [getattr(block, "text", None) or getattr(block, "thinking", "") for block in payload.said]
            found.append(f"{payload.role}: {' | '.join(word for word in words if word)}")
        elif event.type.startswith("tool"):
            said = payload.input if event.type == "tool.call" else payload.error or payload.output
            found.append(f"{event.type} {payload.call_id} {payload.name}: {said}")
        elif event.type == "token.usage":
            found.append(f"usage {payload.input_tokens}+{payload.output_tokens}")
        else:
            found.append(f"{event.type} {getattr(payload, 'subtype', '') or getattr(payload, 'message', '')}")
    return found


CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
CALL = {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"command": "ls"}'}}
SAID = [
    "user: Hello",
    "assistant: Let me look.",
    "tool.call c1 shell: {'command': 'ls'}",
    "tool.result c1 shell: a b",
    "assistant: Two files.",
]
USER = {"role": "user", "content": "Hello"}
ASKED = {"role": "assistant", "content": "Let me look.", "tool_calls": [CALL]}
RESULT = {"role": "tool", "id": "c1", "tool_call_id": "c1", "name": "shell", "content": "a b"}


def _flat(prefix: str, messages: list[dict[str, Any]], *, message: str, call: str, function: str) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for number, item in enumerate(messages):
        start = f"{prefix}.{number}.{message}"
        facts |= {f"{start}{name}": item[name] for name in ("role", "content", "tool_call_id") if name in item}
        for place, each in enumerate(item.get("tool_calls", [])):
            inner = f"{start}tool_calls.{place}.{call}"
            facts |= {f"{inner}id": each["id"]}
            facts |= {f"{inner}{function}{name}": each["function"][name] for name in ("name", "arguments")}
    return facts


def _in_events(messages: list[dict[str, Any]], answer: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    given = [(f"gen_ai.{item['role']}.message", item) for item in messages]
    return [*given, ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": answer})]


def _openinference(number: int, messages: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
    words = {"message": "message.", "call": "tool_call.", "function": "function."}
    facts = _flat("llm.input_messages", messages, **words) | _flat("llm.output_messages", [answer], **words)
    return span(number, {"openinference.span.kind": "LLM", **facts})


def _openllmetry(number: int, messages: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
    words = {"message": "", "call": "", "function": ""}
    facts = _flat("gen_ai.prompt", messages, **words) | _flat("gen_ai.completion", [answer], **words)
    return span(number, {"llm.request.type": "chat", **facts})


def _span_events(number: int, messages: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
    events = [
        {"name": name, "attributes": _pairs({"gen_ai.event.content": json.dumps(body)})}
        for name, body in _in_events(messages, answer)
    ]
    return span(number, CHAT, events=events)


def _content_events(number: int, messages: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
    told = {
        "gen_ai.content.prompt": ("gen_ai.prompt", messages),
        "gen_ai.content.completion": ("gen_ai.completion", [answer]),
    }
    events = [{"name": name, "attributes": _pairs({key: json.dumps(said)})} for name, (key, said) in told.items()]
    return span(number, CHAT, events=events)


def _listed_events(number: int, messages: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
    events = [{**body, "event.name": name} for name, body in _in_events(messages, answer)]
    return span(number, {**CHAT, "events": json.dumps(events)})


def _parts(item: dict[str, Any]) -> dict[str, Any]:
    if item["role"] == "tool":
        return {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": item["id"], "response": item["content"]}],
        }
    calls = [
        {"type": "tool_call", "id": call["id"], "name": call["function"]["name"], "arguments": {"command": "ls"}}
        for call in item.get("tool_calls", [])
    ]
    return {"role": item["role"], "parts": [{"type": "text", "content": item["content"]}, *calls]}


def _structured(number: int, messages: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
    given, said = [_parts(item) for item in messages], [_parts(answer)]
    return span(number, {**CHAT, "gen_ai.input.messages": given, "gen_ai.output.messages": said})


def _strings(number: int, messages: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
    given, said = json.dumps([_parts(item) for item in messages]), json.dumps([_parts(answer)])
    return span(number, {**CHAT, "gen_ai.input.messages": given, "gen_ai.output.messages": said})


VOCABULARIES = [
    _openinference, _openllmetry, _span_events, _content_events, _listed_events, _structured, _strings,
]  # fmt: skip


@pytest.mark.parametrize("worded", VOCABULARIES)
def test_every_vocabulary_tells_the_same_conversation(worded: Any) -> None:
    """Messages as attributes or as events, in old names and new ones: prompt, call, result and answer, each once."""
    answer = {"role": "assistant", "content": "Two files."}
    events = told([worded(1, [USER], ASKED), worded(2, [USER, ASKED, RESULT], answer)])
    assert lines(events) == SAID


def test_log_records_tell_what_the_span_does_not() -> None:
    """Messages that were sent as log records belong to the span that they name."""
    answer = {"role": "assistant", "content": "Two files."}
    logs = [log(1, name, body) for name, body in _in_events([USER], ASKED)]
    logs += [log(2, name, body) for name, body in _in_events([USER, ASKED, RESULT], answer)]
    assert lines(told([span(1, CHAT), span(2, CHAT)], logs)) == SAID
    details = {"gen_ai.input.messages": [_parts(USER)], "gen_ai.output.messages": [_parts(answer)]}
    record = log(1, "gen_ai.client.inference.operation.details", "", **details)
    assert lines(told([span(1, CHAT)], [record])) == ["user: Hello", "assistant: Two files."]


def test_usage_is_that_of_model_calls_and_never_a_sum() -> None:
    """Counts on an agent's span add up those of its calls, and are not counted again."""
    usage = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 3}
    old = {"gen_ai.usage.prompt_tokens": 20, "gen_ai.usage.completion_tokens": 4}
    sums = {"openinference.span.kind": "AGENT", "llm.token_count.prompt": 30, "llm.token_count.completion": 7}
    events = told([span(1, CHAT | usage, parent=3), span(2, CHAT | old, parent=3), span(3, sums)])
    assert [line for line in lines(events) if line.startswith("usage")] == ["usage 10+3", "usage 20+4"]


def test_a_model_call_inside_of_another_one_is_the_same_call() -> None:
    """Where a framework and the library below it both send a span, the one that says more is told."""
    answer = {"role": "assistant", "content": "Two files."}
    inner, outer = _strings(1, [USER], answer), span(2, CHAT)
    inner["parentSpanId"] = outer["spanId"]
    assert lines(told([inner, outer])) == ["user: Hello", "assistant: Two files."]
    outer = _strings(2, [USER], answer)
    inner = span(1, CHAT, parent=2)
    assert lines(told([inner, outer])) == ["user: Hello", "assistant: Two files."]


def test_an_agent_inside_of_a_tool_is_a_subagent() -> None:
    """What a model said inside of a tool belongs to a source of its own, which knows the call that began it."""
    delegating = {**ASKED, "tool_calls": [{**CALL, "function": {"name": "task", "arguments": "{}"}}]}
    tool = span(
        5, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "task", "gen_ai.tool.call.result": "x"}
    )
    inner = _strings(3, [{"role": "user", "content": "Inner"}], {"role": "assistant", "content": "Done"})
    inner["parentSpanId"] = span(4, {})["spanId"]
    agent = span(4, {"gen_ai.operation.name": "invoke_agent"}, parent=5)
    events = told([inner, agent, tool, _strings(1, [USER], delegating)])
    inside = [event for event in events if event.source != "main"]
    assert lines(inside) == ["user: Inner", "assistant: Done"]
    origin = inside[0].origin
    assert origin is not None
    assert (origin.source, origin.parent_source, origin.parent_call_id) == ("subagent:0000000000000005", "main", "c1")
    assert lines(events)[-1] == "tool.result c1 task: x"


def test_a_conversation_that_a_tool_of_another_one_began_is_its_child() -> None:
    """A nested agent with a conversation of its own is a run of its own, which names its parent."""
    tool = span(3, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "task", "gen_ai.conversation.id": "a"})
    inner = span(2, {**CHAT, "gen_ai.conversation.id": "b"}, parent=3)
    outer = span(1, {**CHAT, "gen_ai.conversation.id": "a"})
    events = told([inner, tool, outer])
    by_run = {event.run_id: event.parent_run_id for event in events}
    assert by_run == {RUN_ID: None, run_id_of("otlp", native_id_of("b")): run_id_of("otlp", native_id_of("a"))}


def test_a_conversation_over_several_traces_is_one_run() -> None:
    """The conversation names the run, and what a later trace repeats of it is not told again."""
    more = {"role": "user", "content": "More?"}
    answer = {"role": "assistant", "content": "Two files."}
    first, second = _strings(1, [USER], answer), _strings(2, [USER, answer, more], answer)
    second["traceId"] = f"{2:032x}"
    for each in (first, second):
        each["attributes"] += _pairs({"session.id": "talk"})
    events = told([first, second])
    assert {event.run_id for event in events} == {RUN_ID}
    assert lines(events) == ["user: Hello", "assistant: Two files.", "user: More?", "assistant: Two files."]


def test_a_failed_tool_says_why() -> None:
    """The text of the exception, without its stack; what the model was told in its place is kept, too."""
    failed = span(
        2,
        {"openinference.span.kind": "TOOL", "tool.name": "shell", "input.value": '{"command": "ls"}'},
        status={"code": 2, "message": "boomTraceback (most recent call last):\n  File x"},
    )
    said = {**RESULT, "content": "It failed, try again"}
    events = told([_strings(1, [USER], ASKED), failed, _strings(3, [USER, ASKED, said], {**USER, "role": "assistant"})])
    assert "tool.result c1 shell: boom" in lines(events)
    assert "system.event tool_response" in lines(events)


@pytest.mark.parametrize("case", CASES)
def test_every_use_of_a_tool_is_told_once_with_its_duration(case: str) -> None:
    """As many results with a duration as there are spans of tools, failed ones among them."""
    spans = [each for request in requests_in(case) for each in spans_in(request) if kind_of(each) == TOOL]
    events: list[Event] = []
    for key, each in routed(requests_in(case)).items():
        parser = OtlpFormat(Context(run_id=RUN_ID, session_id=key, keep_raw=False))
        parser.feed(b"".join(each))
        events += parser.finish()
    results: list[Any] = [event.payload for event in events if event.type == "tool.result"]
    assert sum(each.duration_ms is not None for each in results) == len(spans)
    assert sum(each.error is not None for each in results) == sum(each.failure is not None for each in spans)
    calls = [event.payload.call_id for event in events if event.type == "tool.call"]
    assert {each.call_id for each in results} <= set(calls)


def test_ids_times_and_numbers_are_read_as_senders_write_them() -> None:
    """Hexadecimal and base64 ids, numbers in strings, names of enumerations."""
    import base64

    item = span(1, {})
    item |= {
        "traceId": base64.b64encode(bytes(15) + b"\1").decode(),
        "spanId": base64.b64encode(bytes(7) + b"\1").decode(),
    }
    (found,) = spans_in({"resourceSpans": [{"scopeSpans": [{"spans": [item]}]}]})
    assert (found.trace_id, found.span_id) == (f"{1:032x}", f"{1:016x}")
    assert found.end == 1_700_000_001_000_000_000
    assert value_of({"kvlistValue": {"values": [{"key": "a", "value": {"intValue": 7}}]}}) == {"a": 7}


def test_what_waits_for_a_model_call_is_bounded() -> None:
    """Traces of which nothing was heard for long are let go of: an agent's is a run, any other is counted."""
    routing = Routing(traces=3)
    use = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "shell"}
    spans = [span(1, use if trace == 1 else {}, trace=trace) for trace in range(1, 6)]
    runs: dict[str, int] = {}
    for each in spans:
        request = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [each]}]}]}
        runs |= {key: len(pieces) for key, pieces in routing.take(request, now=1.0).items()}
    assert runs == {f"{1:032x}": 1}
    assert routing.ignored == 1
    assert routing.expire(2.0) == {}
    assert routing.ignored == 4


def test_the_agent_of_a_run_is_its_framework() -> None:
    """By the name of the library that made the spans."""
    assert framework_of("openinference.instrumentation.openai_agents") == "openai-agents"
    assert framework_of("gcp.vertex.agent") == "google-adk"
    identity = formats()["otlp"].identify(requests_in("pydantic_ai"), "")
    assert (identity.agent, identity.agent_version, identity.model) == ("pydantic-ai", "2.66.0", "fake-model")
