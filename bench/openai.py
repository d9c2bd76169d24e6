"""What capturing adds to a model call of the OpenAI SDK."""

from __future__ import annotations

import itertools
import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import Row, stopwatch

CALLS = 50
PAIRS = 15
WORDS = "word and another one, as models write them; "
URL = "http://model/v1/chat/completions"


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    return [_added(folder, stream=False), _added(folder, stream=True)]


def _added(folder: Path, *, stream: bool) -> Row:
    """A conversation, each call with the history of those before, captured and not, in turns.

    Measured below the SDK, at its HTTP client: what the SDK itself takes varies by more than what is measured.
    """
    import openai

    from stenograph import start_run
    from stenograph.adapters.openai import capture_openai

    requests = [json.dumps({"model": "m", "messages": _history(number), "stream": stream}) for number in range(CALLS)]
    client = openai.OpenAI(base_url="http://model/v1", api_key="none", http_client=_service(stream))
    _milliseconds(client, requests)  # a first round for caches, not counted
    added, bare = [], []
    for _ in range(PAIRS):
        bare.append(_milliseconds(client, requests))
        with start_run("bench", root=folder) as run:
            added.append(_milliseconds(capture_openai(client, run), requests) - bare[-1])
        assert run.lost == 0
        assert run.stats().events == 2 + CALLS * (2 if stream else 3)
    client.close()
    cost = statistics.median(added)
    return Row(
        f"added to a model call by `capture_openai`, {'streamed in 100 chunks' if stream else 'not streamed'}"
        f" ({CALLS} calls, history up to {len(requests[-1]) // 1000} KB)",
        "≤ 1 ms",
        f"{cost:.2f} ms",
        f"httpx alone {statistics.median(bare):.2f} ms",
        cost <= 1,
    )


def _history(number: int) -> list[dict[str, str]]:
    said = [
        ({"role": "user", "content": f"{turn}: {WORDS * 10}"}, {"role": "assistant", "content": WORDS * 100})
        for turn in range(number + 1)
    ]
    return [message for turn in said for message in turn][:-1]


def _milliseconds(client: Any, requests: list[str]) -> float:
    """What a call takes on average."""
    http = client._client
    with stopwatch() as took:
        for body in requests:
            with http.stream("POST", URL, content=body) as response:
                for _ in response.iter_bytes():
                    pass
    return took[0] / len(requests) * 1000


def _service(stream: bool) -> Any:
    """The model, in this process: what is measured is neither a network nor a server."""
    import httpx

    chunks = _chunks(stream)
    numbers = itertools.count()

    class Body(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            name = b"chatcmpl-%d" % next(numbers)
            for chunk in chunks:
                yield chunk.replace(b"chatcmpl-0", name)

    class Service(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            kind = "text/event-stream" if stream else "application/json"
            return httpx.Response(200, headers={"content-type": kind}, stream=Body())

    return httpx.Client(transport=Service())


def _chunks(stream: bool) -> list[bytes]:
    head = {"id": "chatcmpl-0", "created": 1, "model": "m"}
    if not stream:
        choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": WORDS * 100}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        body = {**head, "object": "chat.completion", "choices": [{**choice, "finish_reason": "stop"}], "usage": usage}
        return [json.dumps(body).encode()]
    deltas: list[dict[str, Any]] = [{"index": 0, "delta": {"content": WORDS}, "finish_reason": None}] * 100
    deltas.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    lines = [json.dumps({**head, "object": "chat.completion.chunk", "choices": [delta]}) for delta in deltas]
    return [f"data: {line}\n\n".encode() for line in [*lines, "[DONE]"]]
