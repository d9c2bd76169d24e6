"""What the tee hands on and what it records, for any answer cut anywhere."""

from __future__ import annotations

import gzip
import itertools
import json
import tempfile
import zlib
from collections.abc import Iterator
from typing import Any

import httpx
import openai
from hypothesis import given
from hypothesis import strategies as st

from model_server import Turn, answer, sse_lines
from stenograph import Event, Recorder, read_events
from stenograph.adapters.openai import OpenAIAdapter, OpenAIModelConfig, capture_openai
from stenograph.adapters.prompt import Prompt
from strategies import examples
from wire_facts import as_the_wire_has_it, facts, over_the_wire

quick = examples(40)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
values = st.dictionaries(st.sampled_from(["a", "b", "ü"]), st.one_of(words, st.integers(-9, 9), st.none()), max_size=3)
turns = st.builds(
    Turn, text=words, thinking=words, calls=st.lists(st.tuples(st.just("note"), values), max_size=2).map(tuple)
).filter(lambda turn: bool(turn.text or turn.calls))
packing = {"": lambda data: data, "gzip": gzip.compress, "deflate": zlib.compress}


class Replay(httpx.BaseTransport):
    """A service that gives the same bytes in the same pieces, whatever it is asked."""

    def __init__(self, chunks: list[bytes], headers: dict[str, str]) -> None:
        self.chunks = chunks
        self.headers = headers

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        class Stream(httpx.SyncByteStream):
            def __iter__(stream) -> Iterator[bytes]:  # noqa: N805  # `self` is the transport
                yield from self.chunks

        return httpx.Response(200, headers=self.headers, stream=Stream())


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The data in pieces, none of them empty."""
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def body_of(record: dict[str, Any]) -> bytes:
    """An answer as the bytes that are sent."""
    return b"".join(sse_lines(record)) if "events" in record else json.dumps(record["body"]).encode()


def events_of(chunks: list[bytes], headers: dict[str, str], api: str, stream: bool, wanted: int) -> tuple[Any, Any]:
    """The raw pieces that a caller of a captured client gets, and the events that were recorded."""
    with tempfile.TemporaryDirectory() as folder, Recorder(folder) as recorder:
        http = httpx.Client(transport=Replay(chunks, headers))
        with openai.OpenAI(base_url="http://model/v1", api_key="sk-x", http_client=http) as client:
            captured = capture_openai(client, recorder)
            asked: Any = {"messages": [{"role": "user", "content": "?"}]} if api == "chat" else {"input": "?"}
            door = captured.chat.completions if api == "chat" else captured.responses
            with door.with_streaming_response.create(model="m", stream=stream, **asked) as response:
                got = list(itertools.islice(response.http_response.iter_raw(), wanted))
        return got, list(read_events(recorder.path))


@quick
@given(turn=turns, api=st.sampled_from(["chat", "responses"]), stream=st.booleans(), data=st.data())
def test_any_cut_of_the_bytes_gives_the_caller_the_same_and_us_the_same(
    turn: Turn, api: str, stream: bool, data: st.DataObject
) -> None:
    """The pieces reach the caller as they came, packed or not, and the events are those of the whole."""
    path = "/v1/chat/completions" if api == "chat" else "/v1/responses"
    asked = {"messages" if api == "chat" else "input": [{"role": "user", "content": "?"}]}
    record = answer(path, {"model": "m", "stream": stream, "stream_options": {"include_usage": True}}, turn, 1)
    encoding = data.draw(st.sampled_from(sorted(packing)))
    chunks = cut(packing[encoding](body_of(record)), data.draw(st.lists(st.integers(0, 10_000), max_size=8)))
    headers = {"content-type": "text/event-stream" if stream else "application/json"}
    headers |= {"content-encoding": encoding} if encoding else {}
    got, kept = events_of(chunks, headers, api, stream, len(chunks) + 1)
    assert got == chunks
    assert facts(kept) == over_the_wire([{"kind": "request", "path": path, "body": asked}, record])


@quick
@given(
    turn=turns,
    api=st.sampled_from(["chat", "responses"]),
    places=st.lists(st.integers(0, 10_000), min_size=1, max_size=8),
    packed=st.booleans(),
    data=st.data(),
)
def test_an_abandoned_answer_is_told_as_far_as_it_came(
    turn: Turn, api: str, places: list[int], packed: bool, data: st.DataObject
) -> None:
    """Whenever the caller stops reading, what is recorded is a beginning of the whole, and nothing unknown."""
    path = "/v1/chat/completions" if api == "chat" else "/v1/responses"
    record = answer(path, {"model": "m", "stream": True}, turn, 1)
    chunks = cut(packing["gzip" if packed else ""](body_of(record)), places)
    headers = {"content-type": "text/event-stream"} | ({"content-encoding": "gzip"} if packed else {})
    wanted = data.draw(st.integers(0, len(chunks)))
    got, kept = events_of(chunks, headers, api, True, wanted)
    assert got == chunks[:wanted]
    assert kept[0].type == "message.user"
    assert not {event.type for event in kept} & {"unknown", "error"}
    for block in (block for event in kept[1:] if event.type == "message.assistant" for block in event.payload.blocks):
        whole = {"text": turn.text, "thinking": turn.thinking}
        kind = type(block).__name__.removesuffix("Block").lower()
        assert kind not in whole or whole[kind].startswith(getattr(block, kind))


def test_a_transport_that_has_read_the_answer_already_is_recorded_too() -> None:
    """Caches and test doubles give answers without a stream; packed ones are unpacked by then."""
    record = answer("/v1/chat/completions", {"model": "m"}, Turn(text="Yes."), 1)

    def give(request: httpx.Request) -> httpx.Response:
        headers = {"content-type": "application/json", "content-encoding": "gzip"}
        return httpx.Response(200, headers=headers, content=gzip.compress(body_of(record)))

    with tempfile.TemporaryDirectory() as folder, Recorder(folder) as recorder:
        http = httpx.Client(transport=httpx.MockTransport(give))
        with openai.OpenAI(base_url="http://model/v1", api_key="sk-x", http_client=http) as client:
            captured = capture_openai(client, recorder)
            said = captured.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])
        kept = list(read_events(recorder.path))
    assert said.choices[0].message.content == "Yes."
    assert [event.type for event in kept] == ["message.user", "message.assistant", "token.usage"]


def test_an_answer_that_no_decoder_takes_is_an_error() -> None:
    """Bytes that are not what their header says: an error in the record, and the bytes for the caller."""
    got, kept = events_of([b"not gzip at all"], {"content-encoding": "gzip"}, "chat", False, 9)
    assert got == [b"not gzip at all"]
    assert [event.type for event in kept] == ["message.user", "error"]
    assert "DecodingError" in kept[1].payload.message


def test_odd_json_is_read_as_far_as_the_sdk_reads_it() -> None:
    """Lone surrogates and NaN, streamed or not: what UTF-8 cannot hold becomes U+FFFD, the rest stays."""
    text = '"index": 0, "finish_reason": "stop", "logprobs": NaN, "HOLDER": {"content": "a\\ud800"}'
    whole = '{"id": "c", "choices": [{' + text.replace("HOLDER", "message") + "}]}"
    chunk = 'data: {"id": "c", "choices": [{' + text.replace("HOLDER", "delta") + "}]}\n\n"
    for stream, body in ((False, whole), (True, chunk)):
        headers = {"content-type": "text/event-stream" if stream else "application/json"}
        _, kept = events_of([body.encode()], headers, "chat", stream, 9)
        assert [event.payload.blocks[0].text for event in kept if event.type == "message.assistant"] == ["a\ufffd"]


class Model(httpx.BaseTransport):
    """A service that plays turns and keeps its wire."""

    def __init__(self, script: list[Turn]) -> None:
        self.script = iter(script)
        self.wire: list[dict[str, Any]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        record = answer(request.url.path, body, next(self.script), len(self.wire))
        self.wire += [{"kind": "request", "path": request.url.path, "body": body}, record]
        kind = "text/event-stream" if "events" in record else "application/json"
        return httpx.Response(200, headers={"content-type": kind}, content=body_of(record))


@quick
@given(
    script=st.lists(turns.filter(lambda turn: bool(turn.calls)), max_size=3),
    last=turns.map(lambda turn: Turn(text=turn.text or ".", thinking=turn.thinking)),
    system=st.none() | words.filter(str.strip),
    api=st.sampled_from(["chat", "responses"]),
    stream=st.booleans(),
)
def test_whatever_is_said_the_record_is_the_wire(
    script: list[Turn], last: Turn, system: str | None, api: Any, stream: bool
) -> None:
    """Any conversation, any calls: the adapter's record is the format over the wire, but for what the seam knows."""

    def note(a: str = "", b: int | None = None) -> dict[str, Any]:
        """Take a note."""
        return {"a": a, "b": b}

    model = Model([*script, last])
    with tempfile.TemporaryDirectory() as folder, Recorder(folder) as recorder:
        http = httpx.Client(transport=model)
        with openai.OpenAI(base_url="http://model/v1", api_key="sk-x", http_client=http) as client:
            config = OpenAIModelConfig(api=api, stream=stream)
            prompt = Prompt("What?", system=system, tools=(note,))
            said = OpenAIAdapter("m", model_config=config, client=client).evaluate(prompt, recorder=recorder)
        kept: list[Event] = list(read_events(recorder.path))
    assert said.text == last.text
    assert facts(map(as_the_wire_has_it, kept)) == over_the_wire(model.wire, f"openai_{api}")
    calls = [event.payload for event in kept if event.type == "tool.call"]
    assert len(calls) == sum(len(turn.calls) for turn in script)
