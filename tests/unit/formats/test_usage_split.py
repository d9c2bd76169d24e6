"""What a price depends on is kept in the source's own words, in every format whose source tells it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stenograph.formats.base import Context
from stenograph.formats.registry import formats
from stenograph.model import Event, UsagePayload

RUN = "83caaddb-cd38-4e8f-bea2-7f079d64162c"
AT = "2026-11-15T19:13:00.800Z"
SPLIT = {"ephemeral_1h_input_tokens": 26_900, "ephemeral_5m_input_tokens": 100}
USAGE = {
    "input_tokens": 10,
    "output_tokens": 20,
    "cache_read_input_tokens": 5,
    "cache_creation_input_tokens": 27_000,
    "cache_creation": SPLIT,
    "speed": "fast",
    "service_tier": "batch",
}
HOUR = {"cache_creation_input_tokens": 27_000, "cache_creation_1h_input_tokens": 26_900}
TERMS = {**HOUR, "speed": "fast", "service_tier": "batch"}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m-1",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "end_turn",
    "usage": USAGE,
}
CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "gpt-5",
    "service_tier": "flex",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 2},
}
CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-5"}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-5",
    "status": "completed",
    "service_tier": "priority",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}],
    "usage": {"input_tokens": 10, "output_tokens": 2},
}
COUNT = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}


def _usages(format: str, *records: Any) -> list[UsagePayload]:
    parser = formats()[format].open(Context(run_id=RUN))
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    events: list[Event] = parser.feed(data) + parser.finish()
    return [event.payload for event in events if isinstance(event.payload, UsagePayload)]


def _stream(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "stream_event", "session_id": RUN, "event": {"type": kind, **fields}}


def _rollout(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


@pytest.mark.parametrize(
    ("format", "records", "told"),
    [
        ("claude_code", [{"type": "assistant", "timestamp": AT, "sessionId": RUN, "message": MESSAGE}], TERMS),
        (
            "claude_code",
            [{"type": "assistant", "timestamp": AT, "sessionId": RUN, "message": MESSAGE, "costUSD": 0.25}],
            {"cost_usd": 0.25},
        ),
        ("claude_stream", [{"type": "assistant", "session_id": RUN, "message": MESSAGE}], TERMS),
        (
            "claude_stream",
            [_stream("message_start", message=MESSAGE), _stream("message_delta", delta={}, usage={"output_tokens": 9})],
            {**TERMS, "output_tokens": 9},
        ),
        ("anthropic_messages", [MESSAGE], TERMS),
        ("anthropic_messages", [{**MESSAGE, "usage": {"input_tokens": 1, "cache_creation": SPLIT}}], HOUR),
        (
            "anthropic_messages",
            [
                {"type": "message_start", "message": {**MESSAGE, "content": []}},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
                {"type": "message_stop"},
            ],
            {**TERMS, "output_tokens": 9},
        ),
        ("openai_chat", [CHAT], {"service_tier": "flex", "cost_usd": None}),
        ("openai_chat", [{**CHAT, "usage": {**CHAT["usage"], "cost": 0.004}}], {"cost_usd": 0.004}),
        (
            "openai_chat",
            [
                {**CHUNK, "choices": [{"index": 0, "delta": {"content": "hi"}}]},
                {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                {
                    **CHUNK,
                    "service_tier": "flex",
                    "choices": [],
                    "usage": {"prompt_tokens": 10, "completion_tokens": 2},
                },
            ],
            {"service_tier": "flex", "input_tokens": 10},
        ),
        (
            "openai_chat",
            [{"litellm_call_id": "1", "messages": [], "response": CHAT, "response_cost": 0.0125, "status": "success"}],
            {"cost_usd": 0.0125, "service_tier": "flex"},
        ),
        ("openai_responses", [RESPONSE], {"service_tier": "priority"}),
        (
            "codex_rollout",
            [
                _rollout("session_meta", id=RUN),
                _rollout("event_msg", type="thread_settings_applied", thread_settings={"service_tier": "flex"}),
                _rollout("token_usage_record", response_id="resp_1", usage=COUNT),
            ],
            {"service_tier": "flex"},
        ),
        (
            "opencode_stream",
            [
                {
                    "type": "step_finish",
                    "timestamp": 1763234000000,
                    "sessionID": "ses_1",
                    "part": {
                        "id": "prt_1",
                        "messageID": "msg_1",
                        "sessionID": "ses_1",
                        "type": "step-finish",
                        "reason": "stop",
                        "tokens": {"input": 10, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}},
                        "cost": 0.000958,
                    },
                }
            ],
            {"cost_usd": 0.000958},
        ),
    ],
)
def test_the_split_is_kept(format: str, records: list[Any], told: dict[str, Any]) -> None:
    """One-hour cache writes, speed, service tier and cost."""
    found = _usages(format, *records)[-1]
    assert {name: getattr(found, name) for name in told} == told


@pytest.mark.parametrize("amount", [0, 0.0, -1, None, "1", True, float("1e30")])
def test_only_an_amount_of_money_is_a_cost(amount: Any) -> None:
    """Zero is what agents say where they know no price."""
    line = {"type": "assistant", "timestamp": AT, "sessionId": RUN, "message": MESSAGE, "costUSD": amount}
    assert _usages("claude_code", line)[0].cost_usd is None


def test_the_cost_of_a_turn_is_what_the_total_grew_by() -> None:
    """Claude's stream tells the dollars of its process so far at the end of each turn."""
    turns = [{"type": "result", "session_id": RUN, "usage": USAGE, "total_cost_usd": total} for total in (0.5, 0.75)]
    assert [usage.cost_usd for usage in _usages("claude_stream", *turns)] == [0.5, 0.25]


def test_a_count_of_codex_with_the_last_call_only_is_counted() -> None:
    """A few files have no totals; the same numbers again are a repetition, zeros are nothing."""
    counts = [
        _rollout("event_msg", type="token_count", info={"last_token_usage": last})
        for last in (COUNT, COUNT, {**COUNT, "output_tokens": 3}, {"input_tokens": 0, "output_tokens": 0}, None)
    ]
    found = _usages("codex_rollout", _rollout("session_meta", id=RUN), *counts)
    assert [(usage.scope, usage.input_tokens, usage.output_tokens) for usage in found] == [
        ("call", 10, 2),
        ("call", 10, 3),
    ]


def test_zeros_of_litellm_are_unknown_not_nothing() -> None:
    """A stream that was not asked for its usage is logged with zeros; no event is better than a wrong one."""
    zeros = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    logged = {"litellm_call_id": "1", "messages": [], "response": {**CHAT, "usage": zeros}, "status": "success"}
    assert _usages("openai_chat", logged) == []


@pytest.mark.parametrize("count", [12, 12.0])
def test_whole_numbers_count_however_they_are_written(count: float) -> None:
    """Some languages write every number with a point."""
    message = {**MESSAGE, "usage": {"input_tokens": count, "output_tokens": count}}
    (usage,) = _usages("claude_code", {"type": "assistant", "timestamp": AT, "sessionId": RUN, "message": message})
    assert repr((usage.input_tokens, usage.output_tokens)) == "(12, 12)"
    numbers = {"input_tokens": count, "output_tokens": count, "total_tokens": count * 2}
    (usage,) = _usages("codex_rollout", _rollout("token_usage_record", response_id="resp_1", usage=numbers))
    assert repr((usage.input_tokens, usage.output_tokens)) == "(12, 12)"


@pytest.mark.parametrize("count", [10**30, 1 << 40, -1, True, 0.5, "12", None])
@pytest.mark.parametrize("format", ["claude_code", "openai_chat", "gptme"])
def test_what_cannot_be_a_number_of_tokens_counts_nothing(format: str, count: Any) -> None:
    """An archive holds no more than it can add up; the file itself says the same."""
    message = {**MESSAGE, "usage": {"input_tokens": count, "output_tokens": 7}}
    answer = {**CHAT, "usage": {"prompt_tokens": count, "completion_tokens": 7}}
    said = {"role": "assistant", "content": "hi", "timestamp": "2026-11-16T13:20:06.934344"}
    record = {
        "claude_code": {"type": "assistant", "timestamp": AT, "sessionId": RUN, "message": message},
        "openai_chat": answer,
        "gptme": {**said, "metadata": {"model": "m", "usage": {"input_tokens": count, "output_tokens": 7}}},
    }[format]
    (usage,) = _usages(format, record)
    assert (usage.input_tokens, usage.output_tokens) == (0, 7)
