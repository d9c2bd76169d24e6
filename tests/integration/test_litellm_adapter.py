"""LiteLLMAdapter and StenographLogger with the real LiteLLM against a real server."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from litellm_quiet import quiet_litellm
from model_server import ModelServer, Turn, model_server
from stenograph import Recorder, TranscriptEntry, read_events, start_run
from stenograph.adapters.litellm import LiteLLMAdapter, LiteLLMModelConfig
from stenograph.adapters.prompt import Prompt, Response
from stenograph.errors import MissingExtra
from stenograph.session import PromptExecuted, PromptRendered, Session, ToolInvoked
from stenograph.text_transcripts import ThreadTranscripts
from text_files import texts_below, texts_of
from wire_facts import as_the_wire_has_it, facts, over_the_wire

KEY = "sk-a-very-secret-key"
WAYS = [(stream, way) for stream in (False, True) for way in ("sync", "async")]
TURNS = (
    Turn(
        text="Let me see. 日本",
        thinking="Hm, two numbers.",
        calls=(("add", {"a": 1, "b": 2}), ("gone", {}), ("add", {"a": "x"})),
    ),
    Turn(text="It is 3."),
)
pytestmark = pytest.mark.filterwarnings("ignore")  # its own, see `quiet_litellm`


@pytest.fixture(autouse=True)
def litellm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The library, without anybody's callbacks; it has the time that it needs to deliver."""
    monkeypatch.setattr("stenograph.adapters.litellm.deliveries.HOLD", 120)
    with quiet_litellm() as library:
        yield library
        assert library.callbacks == []


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


PROMPT = Prompt("What is 1 + 2?", name="sum", system="Be brief.", tools=(add,))


def settings(server: ModelServer) -> dict[str, Any]:
    return {"api_base": server.url, "api_key": KEY, "num_retries": 0, "max_retries": 0}


def evaluate(server: ModelServer, way: str, prompt: Prompt | str = PROMPT, **more: Any) -> Response:
    """One evaluation, in a thread or in an event loop."""
    options = {"parameters": settings(server), **more.pop("config", {})}
    adapter = LiteLLMAdapter("openai/m", model_config=LiteLLMModelConfig(**options))
    if way == "sync":
        return adapter.evaluate(prompt, **more)
    return asyncio.run(adapter.aevaluate(prompt, **more))


@pytest.mark.parametrize(("stream", "way"), WAYS)
def test_an_evaluation_is_recorded_as_it_went_over_the_wire(root: Path, stream: bool, way: str) -> None:
    """Every message, call, result and usage; each call once, as the router's; and no key."""
    with model_server(*TURNS) as server, Recorder(root) as recorder:
        response = evaluate(server, way, recorder=recorder, config={"stream": stream})
        kept = list(read_events(recorder.path))
    assert response.text == "It is 3."
    assert response.usage["input_tokens"] == 201
    assert facts(map(as_the_wire_has_it, kept)) == over_the_wire(server.wire)
    assert {event.payload.fidelity for event in kept if event.type.startswith("tool.")} == {"router"}
    assert {event.origin.adapter for event in kept if event.origin} == {"litellm"}
    assert KEY not in recorder.path.read_text()


def test_a_session_gets_entries_only_when_asked() -> None:
    """As with every adapter: its own events always, the entries with `capture_transcript`."""
    for captured in (True, False):
        session = Session()
        with model_server(*TURNS) as server:
            evaluate(server, "sync", session=session, config={"capture_transcript": captured})
        assert len(session[TranscriptEntry].all()) == (14 if captured else 0)
        assert [len(session[kind].all()) for kind in (PromptRendered, ToolInvoked, PromptExecuted)] == [1, 3, 1]


def test_an_error_is_recorded_and_raised_as_it_is(root: Path, litellm: Any) -> None:
    """LiteLLM's own exception reaches the caller; the record has what the service said."""
    with model_server(Turn(status=429)) as server, Recorder(root) as recorder:
        with pytest.raises(litellm.RateLimitError):
            evaluate(server, "sync", recorder=recorder)
        kept = list(read_events(recorder.path))
    assert [event.type for event in kept] == ["message.user", "system.event", "error"]
    assert kept[1].payload.subtype == "tool_definitions"
    assert "the model is busy" in kept[2].payload.message
    assert kept[2].payload.data["status"] == 429


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module imports without LiteLLM; using it says what to install."""
    monkeypatch.setitem(sys.modules, "litellm", None)
    monkeypatch.delitem(sys.modules, "stenograph.adapters.litellm.logger", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[litellm\]'"):
        LiteLLMAdapter("m").evaluate("x")
    with pytest.raises(MissingExtra, match=r"pip install '\.\[litellm\]'"):
        from stenograph.adapters.litellm import StenographLogger  # noqa: F401  # asking for it is the point
    with pytest.raises(ImportError, match="cannot import name"):
        from stenograph.adapters.litellm import Nothing  # type: ignore[attr-defined]  # noqa: F401  # as above


# The callback, for people who have a loop of their own.


def talk(litellm: Any, server: ModelServer, stream: bool, **more: Any) -> list[str]:
    """A loop of somebody's own; what it heard."""
    messages: list[Any] = [{"role": "system", "content": "S"}, {"role": "user", "content": "What?"}]
    heard = []
    for _ in range(2):
        answer = litellm.completion("openai/m", messages=messages, stream=stream, **settings(server), **more)
        if stream:
            answer = litellm.stream_chunk_builder(list(answer))
        message = answer.choices[0].message
        heard.append(message.content)
        messages.append(message.model_dump(exclude_none=True))
        calls = message.tool_calls or ()
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "three"} for call in calls]
    return heard


async def atalk(litellm: Any, server: ModelServer, stream: bool) -> list[str]:
    """The same with `acompletion`."""
    messages: list[Any] = [{"role": "system", "content": "S"}, {"role": "user", "content": "What?"}]
    heard = []
    for _ in range(2):
        answer = await litellm.acompletion("openai/m", messages=messages, stream=stream, **settings(server))
        if stream:
            answer = litellm.stream_chunk_builder([chunk async for chunk in answer])
        message = answer.choices[0].message
        heard.append(message.content)
        messages.append(message.model_dump(exclude_none=True))
        calls = message.tool_calls or ()
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "three"} for call in calls]
    return heard


LOOP_TURNS = (Turn(text="Hm 日本.", thinking="So.", calls=(("add", {"a": 1, "b": 2}),)), Turn(text="It is three."))
SPOKEN = ["message.user", "message.assistant", "tool.call", "tool.result", "message.assistant"]


@pytest.mark.parametrize(("stream", "way"), WAYS)
def test_the_callback_records_every_call_once(root: Path, litellm: Any, stream: bool, way: str) -> None:
    """What went over the wire, in the order of the calls, however LiteLLM delivers it; nothing twice, and no key."""
    from stenograph.adapters.litellm import StenographLogger

    with model_server(*LOOP_TURNS) as server, start_run("loop", root=root) as run:
        if way == "sync":
            with StenographLogger(run):
                heard = talk(litellm, server, stream)
        else:

            async def main() -> list[str]:
                async with StenographLogger(run):
                    return await atalk(litellm, server, stream)

            heard = asyncio.run(main())
    assert heard == ["Hm 日本.", "It is three."]
    assert run.lost == 0
    kept = list(read_events(run.path))
    wire = [fact for fact in over_the_wire(server.wire) if fact[0] != "token.usage"]
    assert [fact for fact in facts(kept) if fact[0] != "token.usage"] == wire
    assert [event.type for event in kept if event.type in SPOKEN] == SPOKEN
    # LiteLLM logs zeros for a stream that was not asked for its usage: that is unknown.
    assert [event.type for event in kept].count("token.usage") == (0 if stream else 2)
    assert KEY not in run.path.read_text()


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_stream_without_usage_has_unknown_usage_and_not_none(root: Path, litellm: Any, way: str) -> None:
    """LiteLLM says 0 and 0 for what it could not count; that is not recorded, and what was counted is."""
    from stenograph.adapters.litellm import StenographLogger

    def said(more: dict[str, Any]) -> dict[str, Any]:
        message = {"role": "user", "content": "What?"}
        return {"model": "openai/m", "messages": [message], "stream": True, **settings(server), **more}

    async def main() -> None:
        async with StenographLogger(run):
            for more in options:
                [chunk async for chunk in await litellm.acompletion(**said(more))]

    options = [{}, {"stream_options": {"include_usage": True}}]
    with model_server(Turn(text="One."), Turn(text="Two.")) as server, start_run("loop", root=root) as run:
        if way == "sync":
            with StenographLogger(run):
                for more in options:
                    list(litellm.completion(**said(more)))
        else:
            asyncio.run(main())
    kept = list(read_events(run.path))
    assert [event.type for event in kept].count("message.assistant") == 2
    counted = [(event.payload.message_id, event.payload.input_tokens) for event in kept if event.type == "token.usage"]
    assert counted == [("chatcmpl-1", 101)]


def test_the_responses_api_is_recorded_as_well(root: Path, litellm: Any) -> None:
    """`litellm.responses` delivers in the same way; its words are those of the other API."""
    from stenograph.adapters.litellm import StenographLogger

    with model_server(*LOOP_TURNS) as server, start_run("responses", root=root) as run, StenographLogger(run):
        litellm.responses("What?", "openai/m", instructions="S", **settings(server))
    kept = [event for event in read_events(run.path) if event.type in SPOKEN]
    assert [event.type for event in kept] == SPOKEN[:3]
    assert kept[2].payload.input == {"a": 1, "b": 2}


def test_a_failed_call_is_an_error_in_the_record(root: Path, litellm: Any) -> None:
    """Sync and async failures are recorded once each, and raised as they are."""
    from stenograph.adapters.litellm import StenographLogger

    async def main() -> None:
        async with StenographLogger(run):
            messages = [{"role": "user", "content": "Two?"}]
            with pytest.raises(litellm.InternalServerError):
                await litellm.acompletion("openai/m", messages=messages, **settings(server))

    with model_server(Turn(status=500), Turn(status=500)) as server, start_run("fails", root=root) as run:
        with StenographLogger(run), pytest.raises(litellm.InternalServerError):
            litellm.completion("openai/m", messages=[{"role": "user", "content": "One?"}], **settings(server))
        asyncio.run(main())
    kept = list(read_events(run.path))
    assert [event.type for event in kept][1:-1] == ["message.user", "error", "message.user", "error"]
    assert all("busy" in event.payload.message for event in kept if event.type == "error")
    assert KEY not in run.path.read_text()


def test_conversations_with_a_name_have_histories_of_their_own(root: Path, litellm: Any) -> None:
    """The same words in two sessions are said twice; each event carries the session's name."""
    from stenograph.adapters.litellm import StenographLogger

    with model_server(*LOOP_TURNS, *LOOP_TURNS) as server, start_run("named", root=root) as run, StenographLogger(run):
        for name in ("one", "two"):
            talk(litellm, server, False, metadata={"session_id": name})
    spoken = [event for event in read_events(run.path) if event.type in SPOKEN]
    assert [event.type for event in spoken] == [*SPOKEN, *SPOKEN]
    assert [event.origin.session_id for event in spoken if event.origin] == ["one"] * 5 + ["two"] * 5


def test_a_stream_left_half_way_is_counted(root: Path, litellm: Any, caplog: pytest.LogCaptureFixture) -> None:
    """LiteLLM never delivers it; the logger says so instead of waiting for ever."""
    from stenograph.adapters.litellm import StenographLogger

    with model_server(Turn(text="one two three")) as server, start_run("left", root=root) as run:
        logger = StenographLogger(run)
        litellm.callbacks.append(logger)
        messages = [{"role": "user", "content": "Count."}]
        stream = litellm.completion("openai/m", messages=messages, stream=True, **settings(server))
        next(iter(stream))
        assert logger.settle(timeout=0.2) is False
        with logger:
            litellm.callbacks.remove(logger)
    assert logger.lost == 1
    assert "did not deliver 1 calls" in caplog.text


def test_calls_of_many_threads_are_all_there(root: Path, litellm: Any) -> None:
    """Eight conversations at once: every question and answer once, and answers after their questions."""
    from stenograph.adapters.litellm import StenographLogger

    def script(body: dict[str, Any]) -> Turn:
        return Turn(text=f"echo {body['messages'][-1]['content']}")

    def converse(number: int) -> None:
        messages: list[Any] = []
        for turn in range(3):
            messages.append({"role": "user", "content": f"{number}.{turn}"})
            answer = litellm.completion("openai/m", messages=messages, **settings(server))
            messages.append({"role": "assistant", "content": answer.choices[0].message.content})

    with model_server(script=script) as server, start_run("crowd", root=root) as run, StenographLogger(run):
        threads = [threading.Thread(target=converse, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    said = [event.payload.blocks[0].text for event in read_events(run.path) if event.type.startswith("message.")]
    numbers = [f"{number}.{turn}" for number in range(8) for turn in range(3)]
    assert sorted(said) == sorted([*numbers, *(f"echo {number}" for number in numbers)])
    for number in range(8):
        mine = [text for text in said if text.removeprefix("echo ").startswith(f"{number}.")]
        assert mine == [text for turn in range(3) for text in (f"{number}.{turn}", f"echo {number}.{turn}")]


@pytest.mark.usefixtures("lenient")
def test_a_closed_run_costs_the_caller_nothing(root: Path, litellm: Any) -> None:
    """The answers arrive unchanged, and what was lost is counted."""
    from stenograph.adapters.litellm import StenographLogger

    run = start_run("closed", root=root)
    run.complete()
    with model_server(*LOOP_TURNS) as server, StenographLogger(run) as logger:
        assert talk(litellm, server, True) == ["Hm 日本.", "It is three."]
    assert run.lost == logger.lost == 5
    with model_server(*TURNS) as server:
        assert evaluate(server, "async", recorder=run).text == "It is 3."
    assert run.lost > 5


def test_evaluations_and_conversations_are_written_as_plain_text(root: Path, tmp_path: Path, litellm: Any) -> None:
    """By the adapter and by the callback, when they have ended."""
    from stenograph.adapters.litellm import StenographLogger

    texts = ThreadTranscripts(tmp_path / "texts")
    with model_server(*TURNS) as server, Recorder(root) as recorder:
        evaluate(server, "sync", recorder=recorder, config={"text_transcripts": texts})
    assert texts_below(tmp_path / "texts") == texts_of(recorder.path)
    with model_server(*LOOP_TURNS) as server, StenographLogger(text_transcripts=texts):
        talk(litellm, server, stream=True)
    assert len(texts_below(tmp_path / "texts")) == 2
    assert any(text.endswith("assistant:\nIt is three.\n") for text in texts_below(tmp_path / "texts").values())
