"""capture_openai with the real SDK against a real server: for people who have a loop of their own."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import openai
import pytest

from model_server import ModelServer, Turn, model_server
from stenograph import Event, read_events, start_run
from stenograph.adapters.openai import capture_openai
from stenograph.errors import AgentError
from stenograph.text_transcripts import ThreadTranscripts
from text_files import texts_below, texts_of
from wire_facts import facts, over_the_wire

KEY = "sk-a-very-secret-key"
WAYS = [(api, stream, way) for api in ("chat", "responses") for stream in (False, True) for way in ("sync", "async")]
PACKED = [
    ("chat", False, "sync", "deflate"),
    ("chat", True, "sync", "gzip"),
    ("responses", True, "async", "gzip"),
    ("responses", False, "async", "deflate"),
]


def talk(client: Any, api: str, stream: bool) -> list[str]:
    """A loop of somebody's own: a call, its result, the answer; what it heard."""
    heard: list[str] = []
    if api == "chat":
        messages: list[Any] = [{"role": "system", "content": "S"}, {"role": "user", "content": "What?"}]
        for _ in range(2):
            answer = client.chat.completions.create(model="m", messages=messages, stream=stream)
            message = _joined(list(answer)) if stream else answer.choices[0].message.model_dump(exclude_none=True)
            heard.append(message.get("content") or "")
            messages.append(message)
            calls = message.get("tool_calls") or ()
            messages += [{"role": "tool", "tool_call_id": call["id"], "content": "three"} for call in calls]
        return heard
    previous, given = None, "What?"
    for _ in range(2):
        answer = client.responses.create(
            model="m", input=given, stream=stream, previous_response_id=previous, instructions="S"
        )
        response = list(answer)[-1].response if stream else answer
        heard.append(response.output_text)
        previous = response.id
        given = [
            {"type": "function_call_output", "call_id": item.call_id, "output": "three"}
            for item in response.output
            if item.type == "function_call"
        ]
    return heard


def _joined(chunks: list[Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    for chunk in chunks:
        delta = chunk.choices[0].delta if chunk.choices else None
        message["content"] += (delta and delta.content) or ""
        for call in (delta and delta.tool_calls) or ():
            calls = message.setdefault("tool_calls", [])
            if call.id:
                calls.append(
                    {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": ""}}
                )
            calls[-1]["function"]["arguments"] += call.function.arguments
    return message


async def atalk(client: Any, api: str, stream: bool) -> list[str]:
    """The same with an async client."""

    async def sent(create: Any, **request: Any) -> Any:
        answer = await create(**request)
        return [item async for item in answer] if request["stream"] else answer

    class Waiting:
        """A sync face for `talk`, which runs in a thread."""

        def __init__(self, create: Any) -> None:
            self._create = create

        def create(self, **request: Any) -> Any:
            return asyncio.run_coroutine_threadsafe(sent(self._create, **request), loop).result()

    loop = asyncio.get_running_loop()
    chat = type("Chat", (), {"completions": Waiting(client.chat.completions.create)})
    face = type("Client", (), {"chat": chat, "responses": Waiting(client.responses.create)})
    return await asyncio.to_thread(talk, face, api, stream)


LOOP_TURNS = (Turn(text="Hm 日本.", thinking="So.", calls=(("add", {"a": 1, "b": 2}),)), Turn(text="It is three."))


def conversation(server: ModelServer, way: str, api: str, stream: bool, target: Any = None, **more: Any) -> list[str]:
    """A conversation, captured when there is a target."""
    options: dict[str, Any] = {"base_url": server.url, "api_key": KEY, "max_retries": 1}
    if way == "sync":
        with openai.OpenAI(**options) as client:
            return talk(capture_openai(client, target, **more) if target else client, api, stream)

    async def main() -> list[str]:
        async with openai.AsyncOpenAI(**options) as client:
            return await atalk(capture_openai(client, target, **more) if target else client, api, stream)

    return asyncio.run(main())


@pytest.mark.parametrize(("api", "stream", "way", "encoding"), [*((*way, "") for way in WAYS), *PACKED])
def test_a_captured_client_records_what_went_over_the_wire(
    root: Path, api: str, stream: bool, way: str, encoding: str
) -> None:
    """The parser over the wire, nothing twice; the same bytes are sent as without, and the same is heard."""
    with model_server(*LOOP_TURNS, encoding=encoding) as bare:
        heard = conversation(bare, way, api, stream)
    with model_server(*LOOP_TURNS, encoding=encoding) as server, start_run("loop", root=root) as run:
        assert conversation(server, way, api, stream, run) == heard == ["Hm 日本.", "It is three."]
    kept = list(read_events(run.path))
    assert facts(kept) == over_the_wire(server.wire, "openai_chat")
    assert run.lost == 0
    assert server.bodies == bare.bodies
    assert [_headers(sent) for sent in server.headers] == [_headers(sent) for sent in bare.headers]
    kinds = [event.type for event in kept if event.type not in ("token.usage", "run.started", "run.completed")]
    assert kinds == ["message.user", "message.assistant", "tool.call", "tool.result", "message.assistant"]
    assert KEY not in run.path.read_text()


def _headers(sent: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in sent.items() if name.lower() != "host"}


def test_everything_is_kept_when_asked(root: Path) -> None:
    """With `keep_raw` the journal has each request and answer whole, and reading them again gives the same events."""
    with model_server(*LOOP_TURNS) as server, start_run("loop", root=root) as run:
        conversation(server, "sync", "chat", False, run, keep_raw=True)
    kept = list(read_events(run.path))
    lines = [json.loads(event.raw) for event in kept if event.raw]
    assert [line["body"] for line in lines] == [record["body"] for record in server.wire]
    assert over_the_wire(lines) == facts(kept)
    assert KEY not in run.path.read_text()


def test_a_retry_is_a_call_of_its_own(root: Path) -> None:
    """A 500 and then the answer: an error, a repeated request, the answer; the caller sees only the answer."""
    with (
        model_server(Turn(status=500), Turn(text="Here.")) as server,
        start_run("retry", root=root) as run,
        openai.OpenAI(base_url=server.url, api_key=KEY, max_retries=1) as client,
    ):
        captured = capture_openai(client, run)
        captured.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello?"}])
    kept = [event for event in read_events(run.path) if event.type != "token.usage"]
    assert [event.type for event in kept][1:-1] == ["message.user", "error", "system.event", "message.assistant"]
    assert kept[2].payload.data["status"] == 500
    assert kept[3].payload.subtype == "repeated"


def test_a_server_that_is_not_there_is_an_error(root: Path) -> None:
    """No answer at all: the caller has the SDK's exception, the record the reason."""
    with start_run("nobody", root=root) as run, openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key=KEY) as client:
        captured = capture_openai(client.with_options(max_retries=0), run)
        with pytest.raises(openai.APIConnectionError):
            captured.responses.create(model="m", input="Hello?")
    kept = list(read_events(run.path))
    assert [event.type for event in kept][1:-1] == ["message.user", "error"]
    assert "refused" in kept[2].payload.message


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_stream_left_half_way_is_recorded_as_far_as_it_came(root: Path, encoding: str) -> None:
    """What was not read is not there; what was, is, also when nobody closed the stream."""
    with (
        model_server(Turn(text="one two three four"), encoding=encoding) as server,
        start_run("left", root=root) as run,
        openai.OpenAI(base_url=server.url, api_key=KEY) as client,
    ):
        captured = capture_openai(client, run)
        stream = captured.responses.create(model="m", input="Count.", stream=True)
        for event in stream:
            if event.type == "response.output_text.delta":
                break
        del stream, event
        gc.collect()
    kept = [event for event in read_events(run.path) if event.type == "message.assistant"]
    assert len(kept) == 1
    assert "one two three four".startswith(kept[0].payload.blocks[0].text)


def test_other_endpoints_are_none_of_our_business(root: Path) -> None:
    """Models and embeddings work through a captured client and leave nothing."""
    with (
        model_server() as server,
        start_run("other", root=root) as run,
        openai.OpenAI(base_url=server.url, api_key=KEY) as client,
    ):
        captured = capture_openai(client, run)
        assert list(captured.models.list()) == []
        assert captured.embeddings.create(model="e", input="x", encoding_format="float").data[0].embedding == [0.5]
    assert [event.type for event in read_events(run.path)] == ["run.started", "run.completed"]


def test_calls_at_the_same_time_do_not_mix(root: Path) -> None:
    """Six conversations in threads, chained by response ids: each told once, each with its own system prompt."""
    gate = threading.Barrier(6)

    def script(body: dict[str, Any]) -> Turn:
        return Turn(text=f"echo {body['input']}")

    with (
        model_server(script=script) as server,
        start_run("crowd", root=root) as run,
        openai.OpenAI(base_url=server.url, api_key=KEY) as client,
    ):
        captured = capture_openai(client, run)

        def converse(number: int) -> None:
            gate.wait()
            previous = None
            for turn in range(4):
                answer = captured.responses.create(
                    model="m",
                    input=f"{number}.{turn}",
                    instructions=f"I am {number}",
                    previous_response_id=previous,
                )
                assert answer.output_text == f"echo {number}.{turn}"
                previous = answer.id

        threads = [threading.Thread(target=converse, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    kept = list(read_events(run.path))
    asked = [event.payload for event in kept if event.type == "message.user"]
    assert sorted(payload.blocks[0].text for payload in asked) == sorted(f"{n}.{t}" for n in range(6) for t in range(4))
    assert sorted(filter(None, (payload.system_prompt for payload in asked))) == [f"I am {n}" for n in range(6)]
    assert not [event for event in kept if event.type in ("system.event", "unknown", "error")]
    assert len([event for event in kept if event.type == "message.assistant"]) == 24


def test_the_given_client_stays_as_it_is(root: Path) -> None:
    """Its own calls are not recorded, and it works when the captured one is gone; so does the other way round."""
    with model_server(script=lambda body: Turn(text="Yes.")) as server, start_run("two", root=root) as run:
        client = openai.OpenAI(base_url=server.url, api_key=KEY)
        captured = capture_openai(client, run)
        ask = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
        captured.chat.completions.create(**ask)
        del captured
        gc.collect()
        client.chat.completions.create(**ask)
        captured = capture_openai(client, run)
        del client
        gc.collect()
        captured.chat.completions.create(**{**ask, "model": "n"})
        captured.close()
        with pytest.raises(openai.APIConnectionError):
            captured.chat.completions.create(**ask)
    assert [event.type for event in read_events(run.path)].count("message.assistant") == 2


class Seen(httpx.BaseTransport):
    """Somebody's own transport."""

    def __init__(self) -> None:
        self.inner = httpx.HTTPTransport()
        self.timeouts: list[Any] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.timeouts.append(request.extensions["timeout"]["read"])
        return self.inner.handle_request(request)

    def close(self) -> None:
        self.inner.close()


def test_the_settings_of_an_http_client_are_kept(root: Path) -> None:
    """Transport, mounts, timeouts, hooks that read the answer, headers and the client's own class."""

    class Mine(httpx.Client):
        sent = 0

        def send(self, *args: Any, **more: Any) -> httpx.Response:
            type(self).sent += 1
            return super().send(*args, **more)

    Mine.sent = 0
    hooked: list[bytes] = []
    transport = Seen()
    http = Mine(
        mounts={"http://127.0.0.1": transport},
        timeout=7.5,
        headers={"x-mine": "1"},
        event_hooks={"response": [lambda response: hooked.append(response.read())]},
    )
    with (
        model_server(Turn(text="Yes."), encoding="gzip") as server,
        start_run("mine", root=root) as run,
        openai.OpenAI(base_url=server.url, api_key=KEY, http_client=http) as client,
    ):
        captured = capture_openai(client, run)
        captured.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])
    assert transport.timeouts == [7.5]
    assert b"Yes." in hooked[0]
    assert server.headers[0]["x-mine"] == "1"
    assert Mine in type(captured._client).__mro__
    assert facts(read_events(run.path)) == over_the_wire(server.wire)


def test_the_end_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """However many transports the client has, as it does with proxies, and however often it is closed."""
    caplog.set_level(logging.DEBUG, logger="stenograph")
    http = httpx.Client(mounts={"http://one": Seen(), "http://two": Seen()})
    captured = capture_openai(openai.OpenAI(base_url="http://nowhere", api_key=KEY, http_client=http))
    captured.close()
    captured.close()
    told = [getattr(record, "event", None) for record in caplog.records]
    assert told == ["transcript.start", "transcript.stop"]


def test_the_successor_of_httpx_is_taken_as_well(root: Path) -> None:
    """The SDK takes clients of httpx2, and its next major version has nothing else."""
    with (
        model_server(*LOOP_TURNS) as server,
        start_run("two", root=root) as run,
        openai.OpenAI(base_url=server.url, api_key=KEY, http_client=httpx2.Client()) as client,
    ):
        talk(capture_openai(client, run), "responses", True)
    assert facts(read_events(run.path)) == over_the_wire(server.wire)


def test_something_else_is_no_client() -> None:
    """A mistake that one notices at once is said at once."""
    with pytest.raises(AgentError, match="str is not a client of the OpenAI SDK"):
        capture_openai("client", None)


def test_a_step_can_be_the_target(root: Path) -> None:
    """What is said inside a step carries its path."""
    with (
        model_server(Turn(text="Yes.")) as server,
        start_run("steps", root=root) as run,
        run.step("review") as step,
        openai.OpenAI(base_url=server.url, api_key=KEY) as client,
    ):
        capture_openai(client, step).responses.create(model="m", input="?")
    spoken = [event for event in read_events(run.path) if event.type.startswith("message.")]
    assert {event.path for event in spoken} == {"review"}
    assert len(spoken) == 2


@contextmanager
def no_room() -> Iterator[None]:
    """No file may grow any further; not for longer than needed, for what pytest prints may go to a file, too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize(("api", "stream", "way"), WAYS[::3])
def test_a_closed_run_costs_the_caller_nothing(root: Path, api: Any, stream: bool, way: str) -> None:
    """The answer arrives unchanged, and what was lost is counted."""
    run = start_run("closed", root=root)
    run.complete()
    with model_server(*LOOP_TURNS) as server:
        assert conversation(server, way, api, stream, run) == ["Hm 日本.", "It is three."]
    assert run.lost == len(over_the_wire(server.wire))


@pytest.mark.usefixtures("lenient")
def test_a_full_disk_costs_the_caller_nothing(root: Path) -> None:
    """The answer arrives, the lost events are counted, and the journal has whole lines only."""
    with model_server(*LOOP_TURNS) as server, start_run("full", root=root) as run:
        size = run.path.stat().st_size
        with no_room():
            assert conversation(server, "sync", "chat", True, run) == ["Hm 日本.", "It is three."]
        assert run.lost >= 5
        assert run.path.stat().st_size == size


@pytest.mark.usefixtures("lenient")
def test_a_broken_mask_and_a_broken_handler_cost_the_caller_nothing(root: Path) -> None:
    """Whatever of ours or around us fails, the answer arrives."""

    def broken(event: Event) -> Event:
        raise RuntimeError("no")

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError("no")

    logger = logging.Logger("broken", logging.DEBUG)
    logger.addHandler(Handler())
    with model_server(*LOOP_TURNS) as server, start_run("mask", root=root, mask=broken) as run:
        assert conversation(server, "sync", "chat", True, run, logger=logger) == ["Hm 日本.", "It is three."]
    assert run.lost >= 5


def test_capturing_holds_nothing_back(root: Path) -> None:
    """The first words of a stream are there long before its end."""
    arrived: list[str] = []
    gate = threading.Event()

    class Slow(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            class Stream(httpx.SyncByteStream):
                def __iter__(self) -> Iterator[bytes]:
                    for word in ("one", "two"):
                        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
                        choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
                        yield f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode()
                        assert gate.wait(60)

            return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Stream())

    with start_run("slow", root=root) as run:
        http = httpx.Client(transport=Slow())
        with openai.OpenAI(base_url="http://model/v1", api_key=KEY, http_client=http) as client:
            captured = capture_openai(client, run)
            stream = captured.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "?"}], stream=True
            )
            for chunk in stream:
                arrived.append(chunk.choices[0].delta.content)
                gate.set()
    assert arrived == ["one", "two"]
    assert [event.payload.blocks[0].text for event in read_events(run.path) if event.type == "message.assistant"] == [
        "onetwo"
    ]


@pytest.mark.parametrize(("api", "stream", "way"), WAYS[::3])
def test_a_captured_conversation_is_written_as_plain_text(
    root: Path, tmp_path: Path, api: str, stream: bool, way: str
) -> None:
    """When nobody has the client any more, as `steno text` writes the run."""
    texts = ThreadTranscripts(tmp_path / "texts")
    with model_server(*LOOP_TURNS) as server, start_run("loop", root=root) as run:
        conversation(server, way, api, stream, run, text_transcripts=texts)
        gc.collect()
    assert len(texts_below(tmp_path / "texts")) == 1
    assert _said(texts_below(tmp_path / "texts")) == _said(texts_of(run.path))


def _said(texts: dict[str, str]) -> dict[str, str]:
    """Without the times: the run ends after the conversation does."""
    return {name: text.partition("Agent Mode")[2] for name, text in texts.items()}
