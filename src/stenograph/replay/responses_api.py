"""OpenAI's Responses API: reads requests, writes recorded answers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from stenograph.export.wording import json_text
from stenograph.fold.exchange import Call
from stenograph.fold.usage import Usage
from stenograph.model.block import TextBlock, ThinkingBlock
from stenograph.replay.body import content_parts, dicts, part_text, text
from stenograph.replay.recording import Answer, Part
from stenograph.replay.request import Answered, Asked, Request, Returned

_ID = re.compile(r"resp_steno_(\d+)_(\d+)")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call")


def read(body: dict[str, Any]) -> Request:
    """The content of a request."""
    user_input = body.get("input")
    messages = [{"role": "user", "content": user_input}] if isinstance(user_input, str) else dicts(user_input)
    found = _ID.fullmatch(text(body, "previous_response_id"))
    return Request(
        items=tuple(item for each in messages for item in _items(each)),
        model=text(body, "model"),
        is_streamed=body.get("stream") is True,
        has_tools=bool(body.get("tools")),
        after=None if found is None else (int(found[1]), int(found[2])),
    )


def _items(item: dict[str, Any]) -> Iterator[Asked | Answered | Returned]:
    kind = item.get("type") or "message"
    if kind in ("message", "agent_message"):
        message_text = part_text(item.get("content"))
        if item.get("role") == "assistant":
            yield Answered(text=message_text)
        elif item.get("role") == "user" or kind == "agent_message":
            yield Asked(texts=tuple(part_text([part]) for part in content_parts(item.get("content"))))
    elif kind in _CALLS:
        yield Answered(call_ids=(text(item, "call_id"),))
    elif isinstance(kind, str) and kind.endswith("_output"):
        yield Returned(call_id=text(item, "call_id"), text=part_text(item.get("output")))


def write(answer: Answer, request: Request) -> dict[str, Any]:
    """A recorded answer, not streamed."""
    output: list[dict[str, Any]] = []
    for place, part in enumerate(answer.parts):
        item = _item(part, "{}_{}_{}".format(*answer.key, place))
        if output and item["type"] == "reasoning" == output[-1]["type"] and item["id"] == output[-1]["id"]:
            output[-1]["summary"] += item["summary"]
        else:
            output.append(item)
    is_cut = answer.turn.stop_reason in ("max_tokens", "length", "max_output_tokens")
    return {
        "id": "resp_steno_{}_{}".format(*answer.key),
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if is_cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "model": request.model or answer.turn.model or "recorded",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(answer.turn.usage or Usage(output_tokens=1)),
    }


def canned(words: str, request: Request) -> dict[str, Any]:
    """An answer to a request that is not part of the recorded conversations."""
    return {
        "id": "resp_steno_aside",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": request.model,
        "output": [_message("msg_steno_aside", words)],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(Usage(output_tokens=1)),
    }


def refusal(why: str) -> dict[str, Any]:
    """An error in the API's form."""
    return {"error": {"message": why, "type": "invalid_request_error", "param": None, "code": "steno_replay"}}


def events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An answer as a stream."""
    numbers = itertools.count()

    def event(type: str, **more: Any) -> dict[str, Any]:
        return {"type": type, "sequence_number": next(numbers), **more}

    begun = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(response["output"]):
        yield from (event(name, output_index=index, **more) for name, more in _pieces(item))
        yield event("response.output_item.done", output_index=index, item=item)
    ended = "response.incomplete" if response["status"] == "incomplete" else "response.completed"
    yield event(ended, response=response)


def _pieces(item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """An item at its start, and the deltas that complete it."""
    place = {"item_id": item["id"]}
    match item["type"]:
        case "message":
            (part,) = item["content"]
            yield "response.output_item.added", {"item": {**item, "status": "in_progress", "content": []}}
            yield "response.content_part.added", {**place, "content_index": 0, "part": {**part, "text": ""}}
            yield "response.output_text.delta", {**place, "content_index": 0, "delta": part["text"], "logprobs": []}
            yield "response.output_text.done", {**place, "content_index": 0, "text": part["text"], "logprobs": []}
            yield "response.content_part.done", {**place, "content_index": 0, "part": part}
        case "reasoning":
            yield "response.output_item.added", {"item": {**item, "summary": []}}
            for number, part in enumerate(item["summary"]):
                where = {**place, "summary_index": number}
                yield "response.reasoning_summary_part.added", {**where, "part": {**part, "text": ""}}
                yield "response.reasoning_summary_text.delta", {**where, "delta": part["text"]}
                yield "response.reasoning_summary_text.done", {**where, "text": part["text"]}
                yield "response.reasoning_summary_part.done", {**where, "part": part}
        case "function_call":
            yield "response.output_item.added", {"item": {**item, "status": "in_progress", "arguments": ""}}
            yield "response.function_call_arguments.delta", {**place, "delta": item["arguments"]}
            done = {"arguments": item["arguments"], "name": item["name"]}
            yield "response.function_call_arguments.done", {**place, **done}
        case _:
            yield "response.output_item.added", {"item": {**item, "status": "in_progress", "input": ""}}
            yield "response.custom_tool_call_input.delta", {**place, "delta": item["input"]}
            yield "response.custom_tool_call_input.done", {**place, "input": item["input"]}


def _item(part: Part, key: str) -> dict[str, Any]:
    match part:
        case TextBlock(text=words):
            return _message(f"msg_steno_{key}", words)
        case ThinkingBlock():
            summary = [{"type": "summary_text", "text": part.thinking}] if part.thinking else []
            item: dict[str, Any] = {"id": part.id or f"rs_steno_{key}", "type": "reasoning", "summary": summary}
            return item | ({"encrypted_content": part.encrypted_content} if part.encrypted_content else {})
        case Call():
            return _call(part, key)


def _message(identity: str, words: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": words, "annotations": [], "logprobs": []}]
    return {"id": identity, "type": "message", "role": "assistant", "status": "completed", "content": content}


def _call(call: Call, key: str) -> dict[str, Any]:
    common = {"status": "completed", "call_id": call.call_id, "name": call.name}
    common |= {"namespace": call.namespace} if call.namespace else {}
    if call.kind == "custom" and isinstance(call.input, str):
        return {"id": f"ctc_steno_{key}", "type": "custom_tool_call", **common, "input": call.input}
    arguments = call.input if isinstance(call.input, str) else json_text(call.arguments)
    return {"id": f"fc_steno_{key}", "type": "function_call", **common, "arguments": arguments}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cache_read_input_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_output_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
