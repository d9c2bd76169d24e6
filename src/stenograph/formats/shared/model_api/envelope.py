"""Removes the wrappers in which calls to a model API are logged.

Known: wire logs (`kind`, `path`, `body` or `events`), transport tees (`url`, `body`, `chunks`), request/response pairs,
batch files of both vendors (`custom_id`), LiteLLM's standard logging object, and SSE events as objects. Anything else
has no wrapper.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from stenograph.formats.shared.loose import a_dict, a_list, a_str, a_time, dicts, first_str
from stenograph.formats.shared.model_api.text_chunks import TextChunks
from stenograph.model import mend
from stenograph.model.codec import REFUSALS

_decode = msgspec.json.Decoder().decode

Api = Literal["chat", "responses", "messages"]
Kind = Literal["request", "response", "stream", "error", "other", "bare"]

_PATHS: dict[str, Api] = {
    "/chat/completions": "chat",
    "/completions": "chat",
    "/responses": "responses",
    "/messages": "messages",
}


_WRAPPERS = {
    "kind", "chunks", "custom_id", "litellm_call_id", "standard_logging_object", "request", "response", "event",
}  # fmt: skip
"""A record without any of these has no wrapper; most have none, and this check is fast."""


class Piece(NamedTuple):
    """One side of a call, without its wrapper."""

    kind: Kind
    body: Any
    api: Api | None = None
    """None when the wrapper does not say it; then it is the format's own."""
    time: str | None = None
    status: int | None = None
    session: str | None = None
    call: str | None = None
    """Which request an answer belongs to, if calls may overlap."""


def unwrap(record: Any) -> list[Piece]:
    """The sides of calls that a record holds, in order."""
    if isinstance(record, list):
        return [Piece("stream", record)]
    if not isinstance(record, dict):
        return []
    if not _WRAPPERS.isdisjoint(record):
        for take in (_wire, _tee, _batch, _litellm, _pair, _event):
            pieces = take(record)
            if pieces:
                return pieces
    return [Piece("bare", record, time=_time_in(record) or _time_in(a_dict(record.get("response"))))]


def _time_in(record: dict[str, Any]) -> str | None:
    return a_time(record.get("timestamp") or record.get("created_at") or record.get("created") or record.get("ts"))


def api_of_path(path: Any) -> Api | None:
    """The API behind a URL or path."""
    bare = a_str(path).partition("?")[0].rstrip("/")
    return next((api for end, api in _PATHS.items() if bare.endswith(end)), None)


def api_of_answer(body: Any) -> Api | None:
    """The API that an answer shows by its fields; None when it does not."""
    if not isinstance(body, dict):
        return None
    if body.get("object") == "response":
        return "responses"
    if body.get("type") == "message" and body.get("role") == "assistant" and "usage" in body:
        return "messages"
    return "chat" if isinstance(body.get("choices"), list) else None


def sse_records(text: str) -> list[Any]:
    """The JSON in the `data` of server-sent events; what is not JSON (`[DONE]`) is left out."""
    found: list[Any] = []
    words = TextChunks()
    for block in text.replace("\r\n", "\n").split("\n\n"):
        if "\n" not in block:
            data = block[5:] if block.startswith("data:") else ""
        else:
            data = "\n".join(line[5:].strip() for line in block.split("\n") if line.startswith("data:"))
        if not data or words.take(data):
            continue
        found += words.joined()
        value = _json(data)
        if isinstance(value, dict):
            found.append(value)
    return found + words.joined()


def _json(text: str) -> Any:
    try:
        return _decode(text)
    except (*REFUSALS, UnicodeEncodeError):
        pass
    try:
        return mend.parse_json(text.encode("utf-8", "surrogatepass"))[0]  # unusual JSON
    except (ValueError, RecursionError):
        return text


def _answer(body: Any, api: Api | None, time: str | None, status: Any) -> Piece:
    """A response body: an object, a list of chunks, or the text of either."""
    code = status if isinstance(status, int) else None
    if isinstance(body, str):
        is_stream = body.lstrip().startswith(("data:", "event:", ":"))
        body = sse_records(body) if is_stream else _json(body)
    if code is not None and code >= 400:
        return Piece("error", body, api, time, code)
    if isinstance(body, dict) and body.get("error") and not _is_answer(body):
        return Piece("error", body, api, time, code)
    if isinstance(body, list):
        return Piece("stream", body, api, time)
    return Piece("response", body, api, time) if isinstance(body, dict) else Piece("other", body, api, time, code)


def _wire(record: dict[str, Any]) -> list[Piece] | None:
    kind, path = record.get("kind"), record.get("path")
    if kind not in ("request", "response", "response_sse") or not isinstance(path, str):
        return None
    api, time = api_of_path(path), a_time(record.get("t") or record.get("timestamp"))
    call = first_str(record, "call")
    if api is None:
        return [Piece("other", {"kind": kind, "path": path}, time=time)]
    if kind == "request":
        body = record.get("body")
        return [Piece("request", body if isinstance(body, dict) else {}, api, time, call=call)]
    body = record.get("events") if kind == "response_sse" else record.get("body")
    return [
        _answer(a_list(body) if kind == "response_sse" else body, api, time, record.get("code"))._replace(call=call)
    ]


def _tee(record: dict[str, Any]) -> list[Piece] | None:
    if not isinstance(record.get("url"), str) or not isinstance(record.get("chunks"), list):
        return None
    api = api_of_path(record["url"])
    begun, ended = a_time(record.get("t_req")), a_time(record.get("t_close") or record.get("t_headers"))
    if api is None:
        return [Piece("other", {"path": record["url"]}, time=begun)]
    text = "".join(a_str(chunk[-1]) for chunk in record["chunks"] if isinstance(chunk, list) and chunk)
    request = Piece("request", a_dict(record.get("body")), api, begun)
    return [request, _answer(text, api, ended, record.get("status"))]


def _batch(record: dict[str, Any]) -> list[Piece] | None:
    if not isinstance(record.get("custom_id"), str):
        return None
    if isinstance(record.get("body"), dict):
        return [Piece("request", record["body"], api_of_path(record.get("url")))]
    if isinstance(record.get("params"), dict):
        return [Piece("request", record["params"], "messages")]
    result = a_dict(record.get("result"))
    if isinstance(result.get("message"), dict):
        return [Piece("response", result["message"], "messages")]
    response = a_dict(record.get("response"))
    if "body" in response:
        return [_answer(response["body"], api_of_answer(response["body"]), None, response.get("status_code"))]
    return [Piece("error", record.get("error") or result.get("error") or result)]


def _litellm(record: dict[str, Any]) -> list[Piece] | None:
    log = record.get("standard_logging_object", record)
    if not isinstance(log, dict) or "litellm_call_id" not in log or "messages" not in log:
        return None
    begun, ended = a_time(log.get("startTime")), a_time(log.get("endTime"))
    session = first_str(log, "session_id", "trace_id")
    messages = log["messages"]
    said = messages if isinstance(messages, list) else [{"role": "user", "content": messages}]
    api = api_of_answer(log.get("response"))
    body = {"input" if api == "responses" else "messages": said}
    request = Piece("request", body, api, begun, session=session)
    if log.get("status") == "failure":
        fault = log.get("error_information") or log.get("error_str")
        return [request, Piece("error", fault, time=ended, session=session)]
    return [request, _answer(_with_cost(log), api, ended, None)._replace(session=session)]


def _with_cost(log: dict[str, Any]) -> Any:
    """LiteLLM's answer with its cost, which stands beside it and is 0 for a model without a price."""
    response = log.get("response")
    if not isinstance(response, dict) or not isinstance(response.get("usage"), dict):
        return response
    return {**response, "usage": {"cost": log.get("response_cost"), **response["usage"]}}


def _pair(record: dict[str, Any]) -> list[Piece] | None:
    """`{"request": …, "response": …}`, either of them alone, or a request with its answer beside the messages."""
    if "type" in record or "object" in record:
        return None
    time = a_time(record.get("timestamp") or record.get("created_at") or record.get("t"))
    api = api_of_path(record.get("url") or record.get("path") or record.get("endpoint"))
    request, response = record.get("request"), record.get("response")
    api = api or api_of_answer(response)
    if not isinstance(request, dict) and isinstance(record.get("messages"), list) and isinstance(response, dict):
        request = {name: item for name, item in record.items() if name != "response"}
    pieces = []
    if isinstance(request, dict) and _is_call(request):
        pieces.append(Piece("request", request, api, time))
    if (isinstance(response, dict) and (_is_answer(response) or response.get("error"))) or (
        pieces and response is not None and "messages" not in record
    ):
        pieces.append(_answer(response, api, time, record.get("status") or record.get("status_code")))
    if pieces and record.get("error") and response is None:
        pieces.append(Piece("error", record["error"], api, time))
    return pieces or None


def _is_call(body: dict[str, Any]) -> bool:
    return isinstance(body.get("messages"), list) or isinstance(body.get("input"), list | str)


def _is_answer(body: dict[str, Any]) -> bool:
    return any(isinstance(body.get(name), list) for name in ("choices", "output", "content"))


def _event(record: dict[str, Any]) -> list[Piece] | None:
    """A server-sent event as an object: `{"event": …, "data": …}`."""
    data = record.get("data")
    if "type" in record or not isinstance(record.get("event"), str):
        return None
    value = _json(data) if isinstance(data, str) else data
    return [Piece("bare", value)] if isinstance(value, dict) else None


def chunks_in(body: list[Any]) -> list[dict[str, Any]]:
    """The chunks of a stream that was stored as one value; raw SSE text among them is also read."""
    found = []
    for item in body:
        if isinstance(item, str):
            found += sse_records(item + "\n\n")
        elif isinstance(item, dict):
            found += [a_dict(_json(item["data"]))] if _is_sse(item) else [item]
    return dicts(found)


def _is_sse(item: dict[str, Any]) -> bool:
    return isinstance(item.get("data"), str) and "type" not in item
