"""A model's HTTP server on 127.0.0.1: OpenAI's chat completions and responses, streamed or not, by a script.

It keeps what it was sent and what it sent back, as records that the formats of the model APIs read.
"""

from __future__ import annotations

import gzip
import itertools
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One answer of the model."""

    text: str = ""
    thinking: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    """Names and arguments; arguments that are a string are sent as they are, JSON or not."""
    status: int = 200
    """From 400 on, an error instead of an answer."""
    page: str = ""
    """HTML instead of an answer."""
    breaks_after: int | None = None
    """The connection is cut after so many events of the stream."""


Script = Callable[[Json], Turn]


@dataclass
class ModelServer:
    """What a test sees of the server."""

    script: Script
    encoding: str = ""
    """How bodies are packed: empty, `gzip` or `deflate`."""
    url: str = ""
    wire: list[Json] = field(default_factory=list)
    """Requests and answers, in the order in which they came and went."""
    bodies: list[bytes] = field(default_factory=list)
    """The bytes of the requests."""
    headers: list[dict[str, str]] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def model_server(*turns: Turn, script: Script | None = None, encoding: str = "") -> Iterator[ModelServer]:
    """Answers with the turns one after the other, or with what `script` makes of each request."""
    left = iter(turns)
    server = ModelServer(script or (lambda body: next(left, Turn(text="That was all."))), encoding)

    class Handler(_Handler):
        model = server

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    model: ModelServer

    def handle(self) -> None:
        """A client may leave at any moment."""
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""

    def do_GET(self) -> None:
        self._give({"object": "list", "data": []}, 200)

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(data or b"{}")
        model, path = self.model, self.path.partition("?")[0]
        with model.lock:
            model.bodies.append(data)
            model.headers.append(dict(self.headers))
            model.wire.append({"kind": "request", "path": path, "body": body})
            number = next(model.numbers)
            turn = model.script(body) if path.endswith(("/chat/completions", "/responses")) else None
        self._answer(path, body, turn, number)

    def _answer(self, path: str, body: Json, turn: Turn | None, number: int) -> None:
        if turn is None:
            embedding = {"object": "embedding", "index": 0, "embedding": [0.5]}
            self._give({"object": "list", "data": [embedding], "model": "m", "usage": {}}, 200)
            return
        record = answer(path, body, turn, number)
        with self.model.lock:
            self.model.wire.append(record)
        if turn.page:
            self._send(turn.page.encode(), 200, "text/html")
        elif "events" in record:
            self._stream(sse_lines(record), is_whole=turn.breaks_after is None)
        else:
            self._give(record["body"], record["code"])

    def _give(self, document: Json, status: int) -> None:
        # Indented, as OpenAI's own server does it.
        self._send(json.dumps(document, indent=2, ensure_ascii=False).encode(), status, "application/json")

    def _send(self, data: bytes, status: int, kind: str) -> None:
        if self.model.encoding:
            data = gzip.compress(data) if self.model.encoding == "gzip" else zlib.compress(data)
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        if self.model.encoding:
            self.send_header("content-encoding", self.model.encoding)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, lines: list[bytes], *, is_whole: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        if self.model.encoding:
            self.send_header("content-encoding", self.model.encoding)
        self.end_headers()
        bits = zlib.MAX_WBITS | 16 if self.model.encoding == "gzip" else zlib.MAX_WBITS
        packer = zlib.compressobj(wbits=bits) if self.model.encoding else None
        for line in lines:
            self._chunk(packer.compress(line) + packer.flush(zlib.Z_SYNC_FLUSH) if packer else line)
        if not is_whole:
            self.close_connection = True
            return
        if packer:
            self._chunk(packer.flush())
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def answer(path: str, body: Json, turn: Turn, number: int) -> Json:
    """What the model gives to a request, as a record of the wire."""
    if turn.page:
        return {"kind": "response", "path": path, "code": 200, "body": turn.page}
    if turn.status >= 400:
        fault = {"error": {"message": "the model is busy", "type": "server_error", "code": None}}
        return {"kind": "response", "path": path, "code": turn.status, "body": fault}
    speak = _chat if path.endswith("/chat/completions") else _responses
    whole, events = speak(turn, body, number)
    if not body.get("stream"):
        return {"kind": "response", "path": path, "code": 200, "body": whole}
    return {"kind": "response_sse", "path": path, "code": 200, "events": events[: turn.breaks_after]}


def sse_lines(record: Json) -> list[bytes]:
    """The events of a streamed answer as they are sent."""
    events = record["events"]
    if record["path"].endswith("/responses"):
        return [
            f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode() for event in events
        ]
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode() for event in events]
    is_whole = any(choice["finish_reason"] for event in events for choice in event["choices"])
    return [*lines, b"data: [DONE]\n\n"] if is_whole else lines


def _arguments(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _chat(turn: Turn, body: Json, number: int) -> tuple[Json, list[Json]]:
    """The answer whole, and as chunks."""
    head = {"id": f"chatcmpl-{number}", "created": 1_794_770_411 + number, "model": body.get("model")}
    usage = {
        "prompt_tokens": 100 + number,
        "completion_tokens": 10,
        "total_tokens": 110 + number,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    calls = [
        {"id": f"call_{number}_{place}", "type": "function", "function": {"name": name, "arguments": _arguments(given)}}
        for place, (name, given) in enumerate(turn.calls)
    ]
    message: Json = {"role": "assistant", "content": turn.text or None, "refusal": None}
    if turn.thinking:
        message["reasoning_content"] = turn.thinking
    if calls:
        message["tool_calls"] = calls
    finish = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}

    def chunk(delta: Json, reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {**head, "object": "chat.completion.chunk", "choices": [choice]}

    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"reasoning_content": half}) for half in _halves(turn.thinking) if half]
    chunks += [chunk({"content": half}) for half in _halves(turn.text) if half]
    for place, call in enumerate(calls):
        begun = {"index": place, "id": call["id"], "type": "function"}
        chunks.append(chunk({"tool_calls": [{**begun, "function": {**call["function"], "arguments": ""}}]}))
        pieces = _halves(call["function"]["arguments"])
        chunks += [chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]}) for piece in pieces]
    chunks.append(chunk({}, finish))
    if (body.get("stream_options") or {}).get("include_usage"):
        chunks.append({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    return whole, chunks


def _responses(turn: Turn, body: Json, number: int) -> tuple[Json, list[Json]]:
    """The answer whole, and as events."""
    output: list[Json] = []
    if turn.thinking:
        summary = [{"type": "summary_text", "text": turn.thinking}]
        output.append({"id": f"rs_{number}", "type": "reasoning", "summary": summary})
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        common = {"id": f"msg_{number}", "type": "message", "status": "completed", "role": "assistant"}
        output.append({**common, "content": content})
    for place, (name, given) in enumerate(turn.calls):
        call = {"id": f"fc_{number}_{place}", "type": "function_call", "status": "completed", "name": name}
        output.append({**call, "call_id": f"call_{number}_{place}", "arguments": _arguments(given)})
    usage = {
        "input_tokens": 100 + number,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 110 + number,
    }
    whole = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_794_770_411 + number,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": body.get("model"),
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": body.get("previous_response_id"),
        "tool_choice": "auto",
        "tools": body.get("tools") or [],
        "usage": usage,
    }
    return whole, list(_events(whole))


def _events(whole: Json) -> Iterator[Json]:
    numbers = itertools.count()

    def event(type: str, **more: Any) -> Json:
        return {"type": type, "sequence_number": next(numbers), **more}

    yield event("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(whole["output"]):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "reasoning":
            text = item["summary"][0]["text"]
            yield event("response.output_item.added", output_index=index, item={**item, "summary": []})
            yield event("response.reasoning_summary_text.delta", **place, summary_index=0, delta=text)
        elif item["type"] == "message":
            text = item["content"][0]["text"]
            begun = {**item, "status": "in_progress", "content": []}
            yield event("response.output_item.added", output_index=index, item=begun)
            for half in _halves(text):
                yield event("response.output_text.delta", **place, content_index=0, delta=half, logprobs=[])
        else:
            begun = {**item, "status": "in_progress", "arguments": ""}
            yield event("response.output_item.added", output_index=index, item=begun)
            yield event("response.function_call_arguments.delta", **place, delta=item["arguments"])
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)
