"""Recorded answers, served to the real SDKs: three APIs, streamed or not."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from stenograph.errors import StoreError
from stenograph.replay.loading import load_recording
from stenograph.replay.recording import recording_of
from stenograph.replay.recording_server import Upstreams, WireLog, recording
from stenograph.replay.server import serving
from stenograph.replay.session import ReplaySession
from stenograph.testing import answer, call, make_run

PROMPT = "What is the weather in 東京?"
WANTED = [("", "weather", {"city": "東京"}), ("It is sunny. ☀", "", {})]
RUN = make_run(
    PROMPT,
    answer("", call("weather", {"city": "東京"}, "sunny", call_id="c1"), thinking="I must look."),
    answer("It is sunny. ☀"),
)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
Json = dict[str, Any]
Said = tuple[str, str, Json]


@pytest.fixture
def replay() -> Iterator[tuple[ReplaySession, str]]:
    """A replay of the run, and its address."""
    before = set(threading.enumerate())
    session = ReplaySession(recording_of(RUN), {})
    with serving(session) as url:
        yield session, url
    assert set(threading.enumerate()) <= before, "a thread of the server is left"


def _messages(url: str, *, stream: bool) -> list[Said]:
    client = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)
    tools: Any = [{"name": "weather", "input_schema": SCHEMA}]
    messages: list[Any] = [{"role": "user", "content": PROMPT}]
    said: list[Said] = []
    for _ in range(2):
        request: Any = {"model": "claude-x", "max_tokens": 100, "messages": messages, "tools": tools}
        if stream:
            with client.messages.stream(**request) as events:
                message = events.get_final_message()
        else:
            message = client.messages.create(**request)
        calls = [block for block in message.content if block.type == "tool_use"]
        text = "".join(block.text for block in message.content if block.type == "text")
        said.append((text, calls[0].name if calls else "", calls[0].input if calls else {}))
        results = [{"type": "tool_result", "tool_use_id": each.id, "content": "sunny"} for each in calls]
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    client.close()
    return said


def _chat(url: str, *, stream: bool) -> list[Said]:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)
    tools: Any = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
    messages: list[Any] = [{"role": "user", "content": PROMPT}]
    said: list[Said] = []
    for _ in range(2):
        request: Any = {"model": "gpt-x", "messages": messages, "tools": tools}
        if stream:
            with client.chat.completions.stream(**request) as events:
                message: Any = events.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(**request).choices[0].message
        calls = message.tool_calls or []
        given = json.loads(calls[0].function.arguments) if calls else {}
        said.append((message.content or "", calls[0].function.name if calls else "", given))
        messages.append(
            {
                "role": "assistant",
                "content": message.content,
                "tool_calls": [
                    {"id": each.id, "type": "function", "function": {"name": "weather", "arguments": "{}"}}
                    for each in calls
                ],
            }
        )
        messages += [{"role": "tool", "tool_call_id": each.id, "content": "sunny"} for each in calls]
    client.close()
    return said


def _responses(url: str, *, stream: bool, keeps_history: bool = False) -> list[Said]:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)
    tools: Any = [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}]
    items: list[Any] = [{"role": "user", "content": PROMPT}]
    said: list[Said] = []
    before: Json = {}
    for _ in range(2):
        request: Any = {"model": "gpt-x", "input": items, "tools": tools, **before}
        if stream:
            with client.responses.stream(**request) as events:
                response: Any = events.get_final_response()
        else:
            response = client.responses.create(**request)
        calls = [each for each in response.output if each.type == "function_call"]
        given = json.loads(calls[0].arguments) if calls else {}
        said.append((response.output_text, calls[0].name if calls else "", given))
        results = [{"type": "function_call_output", "call_id": each.call_id, "output": "sunny"} for each in calls]
        if keeps_history:
            before, items = {"previous_response_id": response.id}, results
        else:
            items += [*(each.to_dict() for each in response.output), *results]
    client.close()
    return said


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("speak", [_messages, _chat, _responses])
def test_the_sdks_get_the_recorded_run(replay: tuple[ReplaySession, str], speak: Any, stream: bool) -> None:
    """The six ways: the same texts and calls, and the report is that of an equal run."""
    session, url = replay
    assert speak(url, stream=stream) == WANTED
    assert session.report().is_equal(), session.report().lines()


def test_a_conversation_that_the_server_remembers(replay: tuple[ReplaySession, str]) -> None:
    """With `previous_response_id` only what is new is sent."""
    session, url = replay
    assert _responses(url, stream=False, keeps_history=True) == WANTED
    assert session.report().is_equal()


def test_a_miss_reaches_the_program_as_a_bad_request(replay: tuple[ReplaySession, str]) -> None:
    """At once, with its reason."""
    _, url = replay
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="any")
    with pytest.raises(openai.BadRequestError, match="no recorded prompt matches"):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Other"}], tools=[])
    client.close()


def test_two_replays_at_once(replay: tuple[ReplaySession, str]) -> None:
    """Each has its own port and its own report."""
    session, url = replay
    other = ReplaySession(recording_of(RUN), {})
    with serving(other) as second, ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda each: _messages(each, stream=True), [url, second]))
    assert said == [WANTED, WANTED]
    assert session.report().is_equal()
    assert other.report().is_equal()


def _asked(url: str, data: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(url, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_what_is_not_a_conversation_is_answered(replay: tuple[ReplaySession, str]) -> None:
    """The list of models, probes, websockets, garbage: each at once, none of them a turn."""
    session, url = replay
    assert _asked(f"{url}/v1/models")[0] == 200
    assert _asked(f"{url}/elsewhere")[0] == 404
    assert _asked(f"{url}/v1/responses", Upgrade="websocket")[0] == 426
    assert _asked(f"{url}/v1/messages", b"{broken")[0] == 400
    assert session.report().served_turns == 0
    assert session.report().misses == 0


def test_a_port_that_is_taken_is_named(replay: tuple[ReplaySession, str]) -> None:
    """One line says what to do."""
    session, url = replay
    port = int(url.rpartition(":")[2])
    with pytest.raises(StoreError, match=f"cannot listen on port {port}"), serving(session, port):
        pass


def test_only_this_machine_is_served(replay: tuple[ReplaySession, str]) -> None:
    """The server listens on loopback, and a page of the web cannot ask it under a name of its own."""
    _, url = replay
    assert url.startswith("http://127.0.0.1:")
    body = json.dumps({"messages": [{"role": "user", "content": PROMPT}]}).encode()
    assert _asked(f"{url}/v1/messages", body)[0] == 200
    assert _asked(f"{url}/v1/messages", body, Host=f"rebound.example:{url.rpartition(':')[2]}")[0] == 403


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("speak", [_messages, _chat, _responses])
def test_what_is_recorded_on_the_way_to_a_model_is_replayed(
    replay: tuple[ReplaySession, str], tmp_path: Path, speak: Any, stream: bool
) -> None:
    """Answers pass through unchanged; the recording of them replays the same."""
    _, url = replay
    log = WireLog()
    with recording(log, Upstreams(anthropic=url, openai=f"{url}/v1")) as address:
        assert speak(address, stream=stream) == WANTED
    assert log.calls == 2
    path = tmp_path / "wire.jsonl"
    path.write_bytes(log.written())
    again = ReplaySession(load_recording(path), {})
    with serving(again) as address:
        assert speak(address, stream=stream) == WANTED
    assert again.report().is_equal(), again.report().lines()


def test_a_model_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    """While recording, the program gets an error at once, and nothing is kept."""
    log = WireLog()
    with recording(log, Upstreams(anthropic="http://127.0.0.1:9")) as address:
        status, said = _asked(f"{address}/v1/messages", b"{}")
        assert _asked(f"{address}/v1/messages", b"{broken")[0] == 400
    assert (status, b"cannot reach 127.0.0.1:9" in said, log.calls) == (502, True, 0)
