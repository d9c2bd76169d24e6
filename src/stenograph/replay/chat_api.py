"""OpenAI's Chat Completions API, and the many compatible ones: reads requests, writes recorded answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stenograph.export.wording import json_text, text_of, thinking_of
from stenograph.fold.exchange import Call
from stenograph.fold.usage import Usage
from stenograph.replay.body import content_parts, dicts, part_text, text
from stenograph.replay.recording import Answer
from stenograph.replay.request import Answered, Asked, Request, Returned

_REASONS = {"max_tokens": "length", "length": "length", "refusal": "content_filter", "content_filter": "content_filter"}


def read(body: dict[str, Any]) -> Request:
    """The content of a request."""
    items: list[Asked | Answered | Returned] = []
    for message in dicts(body.get("messages")):
        match message.get("role"):
            case "user":
                items.append(Asked(texts=tuple(part_text([part]) for part in content_parts(message.get("content")))))
            case "assistant":
                ids = tuple(text(call, "id") for call in dicts(message.get("tool_calls")))
                items.append(Answered(text=part_text(message.get("content")), call_ids=ids))
            case "tool":
                returned = part_text(message.get("content"))
                items.append(Returned(call_id=text(message, "tool_call_id"), text=returned))
    return Request(
        items=tuple(items),
        model=text(body, "model"),
        is_streamed=body.get("stream") is True,
        has_tools=bool(body.get("tools") or body.get("functions")),
    )


def write(answer: Answer, request: Request) -> dict[str, Any]:
    """A recorded answer, not streamed."""
    turn = answer.turn
    message: dict[str, Any] = {"role": "assistant", "content": text_of(turn.blocks) or None, "refusal": None}
    if thinking := thinking_of(turn.blocks):
        message["reasoning_content"] = thinking  # the field that most servers of this API use
    calls = [_call(part) for part in answer.parts if isinstance(part, Call)]
    if calls:
        message["tool_calls"] = calls
    reason = "tool_calls" if calls else _REASONS.get(turn.stop_reason or "", "stop")
    identity = turn.message_id or "chatcmpl-steno-{}-{}".format(*answer.key)
    return _completion(identity, request, message, reason, turn.usage or Usage(output_tokens=1))


def canned(words: str, request: Request) -> dict[str, Any]:
    """An answer to a request that is not part of the recorded conversations."""
    message = {"role": "assistant", "content": words, "refusal": None}
    return _completion("chatcmpl-steno-aside", request, message, "stop", Usage(output_tokens=1))


def refusal(why: str) -> dict[str, Any]:
    """An error in the API's form."""
    return {"error": {"message": why, "type": "invalid_request_error", "param": None, "code": "steno_replay"}}


def events(completion: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An answer as a stream of chunks."""
    head = {"id": completion["id"], "created": completion["created"], "model": completion["model"]}
    choice = completion["choices"][0]
    message = choice["message"]

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]
        return {**head, "object": "chat.completion.chunk", "choices": choices}

    yield chunk({"role": "assistant", "content": ""})
    if message.get("reasoning_content"):
        yield chunk({"reasoning_content": message["reasoning_content"]})
    if message["content"]:
        yield chunk({"content": message["content"]})
    for index, call in enumerate(message.get("tool_calls", [])):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, choice["finish_reason"])
    yield {**head, "object": "chat.completion.chunk", "choices": [], "usage": completion["usage"]}


def _call(call: Call) -> dict[str, Any]:
    if call.kind == "custom" and isinstance(call.input, str):
        return {"id": call.call_id, "type": "custom", "custom": {"name": call.name, "input": call.input}}
    function = {
        "name": call.name,
        "arguments": call.input if isinstance(call.input, str) else json_text(call.arguments),
    }
    return {"id": call.call_id, "type": "function", "function": function}


def _completion(identity: str, request: Request, message: dict[str, Any], reason: str, usage: Usage) -> dict[str, Any]:
    return {
        "id": identity,
        "object": "chat.completion",
        "created": 0,
        "model": request.model or "recorded",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read_input_tokens},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning_output_tokens},
        },
    }
