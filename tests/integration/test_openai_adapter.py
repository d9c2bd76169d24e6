"""OpenAIAdapter with the real SDK against a real server."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from model_server import ModelServer, Turn, model_server
from stenograph import Recorder, TranscriptEntry, read_events, start_run
from stenograph.adapters.openai import OpenAIAdapter, OpenAIModelConfig
from stenograph.adapters.prompt import Prompt, Response
from stenograph.errors import AgentError, InvalidTool, MissingExtra
from stenograph.model import ToolPayload
from stenograph.session import PromptExecuted, PromptRendered, Session, ToolInvoked
from stenograph.text_transcripts import ThreadTranscripts
from text_files import texts_below, texts_of
from wire_facts import as_the_wire_has_it, facts, over_the_wire

KEY = "sk-a-very-secret-key"
WAYS = [(api, stream, way) for api in ("chat", "responses") for stream in (False, True) for way in ("sync", "async")]
TURNS = (
    Turn(
        text="Let me see. 日本",
        thinking="Hm, two numbers.",
        calls=(("add", {"a": 1, "b": 2}), ("look", {"where": "über"}), ("gone", {}), ("add", {"a": "x"}), ("add", "{")),
    ),
    Turn(text="It is 3.", thinking="Done."),
)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def look(where: str) -> str:
    """Look somewhere."""
    await asyncio.sleep(0)
    raise FileNotFoundError(f"nothing {where}")


PROMPT = Prompt("What is 1 + 2?", name="sum", system="Be brief.", tools=(add, look))


def evaluate(server: ModelServer, way: str, prompt: Prompt | str = PROMPT, **more: Any) -> Response:
    """One evaluation, in a thread or in an event loop."""
    config = more.pop("config", OpenAIModelConfig())
    options: dict[str, Any] = {"base_url": server.url, "api_key": KEY, "max_retries": 0}
    if way == "sync":
        with openai.OpenAI(**options) as client:
            return OpenAIAdapter("m", model_config=config, client=client).evaluate(prompt, **more)

    async def main() -> Response:
        async with openai.AsyncOpenAI(**options) as client:
            return await OpenAIAdapter("m", model_config=config, client=client).aevaluate(prompt, **more)

    return asyncio.run(main())


@pytest.mark.parametrize(("api", "stream", "way"), WAYS)
def test_an_evaluation_is_recorded_as_it_went_over_the_wire(root: Path, api: Any, stream: bool, way: str) -> None:
    """Every message, call, result and usage in the order of the capture points; each call once, as the router's."""
    config = OpenAIModelConfig(api=api, stream=stream)
    with model_server(*TURNS) as server, Recorder(root) as recorder:
        response = evaluate(server, way, recorder=recorder, config=config)
        kept = list(read_events(recorder.path))
    assert response.text == "It is 3."
    assert response.run_id == recorder.run_id
    assert response.usage["input_tokens"] == 201
    assert facts(map(as_the_wire_has_it, kept)) == over_the_wire(server.wire, f"openai_{api}")
    called, given = [[event for event in kept if event.type == kind] for kind in ("tool.call", "tool.result")]
    assert [event.type for event in kept] == [
        "message.user", "system.event", "message.assistant", *["tool.call"] * 5, "token.usage", *["tool.result"] * 5,
        "message.assistant", "token.usage",
    ]  # fmt: skip
    payloads = [event.payload for event in (*called, *given)]
    assert all(isinstance(payload, ToolPayload) and payload.fidelity == "router" for payload in payloads)
    errors = [event.payload.error for event in given]
    assert errors[0] is None
    assert [error.partition(":")[0] for error in errors[1:]] == [
        "FileNotFoundError", "LookupError", "ValidationError", "ValueError",
    ]  # fmt: skip
    assert all(event.payload.duration_ms >= 0 for event in given)
    assert KEY not in recorder.path.read_text()


@pytest.mark.parametrize("captured", [True, False])
def test_a_session_gets_entries_only_when_asked_and_its_own_events_always(root: Path, captured: bool) -> None:
    """`capture_transcript` is about entries; what was rendered, invoked and executed is told anyway."""
    session = Session()
    with model_server(*TURNS) as server, Recorder(root) as recorder:
        config = OpenAIModelConfig(capture_transcript=captured)
        evaluate(server, "sync", session=session, recorder=recorder, config=config)
    kinds = [entry.entry_type for entry in session[TranscriptEntry].all()]
    spoken = [
        "user_message",
        "user_message",
        "system_event",
        "thinking",
        "assistant_message",
        *["tool_use"] * 5,
        "token_usage",
    ]
    spoken += [*["tool_result"] * 5, "thinking", "assistant_message", "token_usage"]
    assert kinds == (spoken if captured else [])
    rendered, executed = session[PromptRendered].latest(), session[PromptExecuted].latest()
    assert rendered is not None
    assert (rendered.prompt_name, rendered.system, rendered.user) == ("sum", "Be brief.", "What is 1 + 2?")
    assert executed is not None
    assert (executed.text, executed.error) == ("It is 3.", None)
    invoked = session[ToolInvoked].all()
    assert [(tool.name, tool.success) for tool in invoked][:3] == [("add", True), ("look", False), ("gone", False)]
    assert (invoked[0].params, invoked[0].result) == ({"a": 1, "b": 2}, "3")


def test_the_log_has_the_entries_without_being_asked(caplog: pytest.LogCaptureFixture) -> None:
    """Logs are on by default: start, every entry, stop with the summary; nothing else needs to be given."""
    caplog.set_level(logging.DEBUG, logger="stenograph.adapters.openai")
    with model_server(Turn(text="Yes.")) as server:
        response = evaluate(server, "sync", "Well?")
    ours: list[Any] = [record for record in caplog.records if record.name == "stenograph.adapters.openai"]
    assert [record.event for record in ours] == ["transcript.start", *["transcript.entry"] * 3, "transcript.stop"]
    assert ours[-1].context["summary"]["entries_by_type"]["assistant_message"] == 1
    assert (response.text, response.run_id) == ("Yes.", None)


@pytest.mark.parametrize(("status", "kind"), [(429, openai.RateLimitError), (500, openai.InternalServerError)])
def test_an_error_of_the_api_is_recorded_and_raised_as_it_is(root: Path, status: int, kind: type[Exception]) -> None:
    """The SDK's own exception reaches the caller; the record and the session have it, too."""
    session = Session()
    with model_server(Turn(status=status)) as server, Recorder(root) as recorder:
        with pytest.raises(kind) as raised:
            evaluate(server, "sync", recorder=recorder, session=session)
        kept = list(read_events(recorder.path))
    assert raised.value.status_code == status  # type: ignore[attr-defined]
    assert facts(map(as_the_wire_has_it, kept)) == over_the_wire(server.wire)
    assert kept[-1].type == "error"
    executed = session[PromptExecuted].latest()
    assert executed is not None
    assert executed.error is not None
    assert kind.__name__ in executed.error


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_stream_that_breaks_off_is_recorded_as_far_as_it_came(root: Path, api: Any) -> None:
    """Half an answer, then the error that the caller gets."""
    with model_server(Turn(text="one two three four", breaks_after=3)) as server, Recorder(root) as recorder:
        with pytest.raises((openai.OpenAIError, httpx.HTTPError)):
            evaluate(server, "sync", "Count.", recorder=recorder, config=OpenAIModelConfig(api=api, stream=True))
        kept = list(read_events(recorder.path))
    assert [event.type for event in kept] == ["message.user", "message.assistant", "error"]
    said = kept[1].payload.blocks[0].text
    assert said
    assert "one two three four".startswith(said)


def test_a_model_that_never_answers_is_left(root: Path) -> None:
    """`max_turns` model calls, then an AgentError that is in the record."""
    with (
        model_server(script=lambda body: Turn(calls=(("add", {"a": 1, "b": 1}),))) as server,
        Recorder(root) as recorder,
    ):
        with pytest.raises(AgentError, match="raise max_turns"):
            evaluate(server, "sync", recorder=recorder, config=OpenAIModelConfig(max_turns=3))
        kept = list(read_events(recorder.path))
    assert len([record for record in server.wire if record["kind"] == "request"]) == 3
    assert [event.type for event in kept].count("tool.result") == 2
    assert "max_turns" in kept[-1].payload.message


def test_a_page_is_no_answer(root: Path) -> None:
    """A server that gives something else entirely is named, not crashed on, and what it gave is recorded."""
    with model_server(Turn(page="<h1>Welcome</h1>")) as server, Recorder(root) as recorder:
        with pytest.raises(AgentError, match=r"Welcome.*is not an answer of a model"):
            evaluate(server, "sync", "x", recorder=recorder)
        kept = list(read_events(recorder.path))
    assert kept[-1].payload.data == "<h1>Welcome</h1>"


def test_a_client_of_the_other_kind_is_refused() -> None:
    """An OpenAI cannot be awaited, and an AsyncOpenAI cannot be waited for."""
    with openai.OpenAI(api_key=KEY) as client, pytest.raises(AgentError, match="class AsyncOpenAI; this one is OpenAI"):
        asyncio.run(OpenAIAdapter("m", client=client).aevaluate("x"))
    with pytest.raises(AgentError, match="class OpenAI; this one is AsyncOpenAI"):
        OpenAIAdapter("m", client=openai.AsyncOpenAI(api_key=KEY)).evaluate("x")


@pytest.mark.parametrize("way", ["sync", "async"])
def test_without_a_client_the_sdk_makes_one(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """The SDK's own environment variables say where the model is; the client is closed again."""
    with model_server(Turn(text="Yes.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        adapter = OpenAIAdapter("m", model_config=OpenAIModelConfig(temperature=0.5, max_tokens=9, parameters={"n": 1}))
        assert (adapter.evaluate("?") if way == "sync" else asyncio.run(adapter.aevaluate("?"))).text == "Yes."
    body = server.wire[0]["body"]
    assert (body["temperature"], body["max_completion_tokens"], body["n"]) == (0.5, 9, 1)


def test_tools_are_checked_before_anything_is_sent() -> None:
    """A function that cannot be a tool, and an async one where no loop can run it, are refused at once."""

    async def main() -> None:
        OpenAIAdapter("m").evaluate(PROMPT)

    with pytest.raises(AgentError, match="await aevaluate"):
        asyncio.run(main())
    with pytest.raises(InvalidTool, match="does not accept"):
        OpenAIAdapter("m").evaluate(Prompt("x", tools=(print,)))


def test_a_tool_may_be_interrupted(root: Path) -> None:
    """Ctrl-C inside a tool ends the evaluation; the call has its result and the host its exception."""

    def slow() -> None:
        raise KeyboardInterrupt

    with model_server(Turn(calls=(("slow", {}),))) as server, Recorder(root) as recorder:
        with pytest.raises(KeyboardInterrupt):
            evaluate(server, "sync", Prompt("x", tools=(slow,)), recorder=recorder)
        kept = list(read_events(recorder.path))
    assert kept[-1].type == "tool.result"
    assert kept[-1].payload.error == "KeyboardInterrupt"


def test_a_tool_that_stops_iteration_does_not_stop_the_loop(root: Path) -> None:
    """An asyncio future cannot carry a StopIteration; the model is told all the same."""

    def tired() -> int:
        return next(iter(()))

    with model_server(Turn(calls=(("tired", {}),)), Turn(text="I see.")) as server:
        assert evaluate(server, "async", Prompt("x", tools=(tired,))).text == "I see."
    assert "StopIteration" in json.dumps(server.wire[2]["body"])


def test_the_missing_sdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module imports without the SDK; using it says what to install."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[openai\]'"):
        OpenAIAdapter("m").evaluate("x")


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize(("api", "stream", "way"), WAYS[::3])
def test_a_closed_run_and_a_closed_session_cost_the_caller_nothing(
    root: Path, api: Any, stream: bool, way: str
) -> None:
    """The answer arrives unchanged, and what was lost is counted."""
    run, session = start_run("closed", root=root), Session()
    run.complete()
    session.close()
    with model_server(*TURNS) as server:
        config = OpenAIModelConfig(api=api, stream=stream, capture_transcript=True)
        assert evaluate(server, way, recorder=run, session=session, config=config).text == "It is 3."
    assert run.lost == len(over_the_wire(server.wire, f"openai_{api}"))


@pytest.mark.parametrize(("api", "stream", "way"), WAYS[::3])
def test_an_evaluation_is_written_as_plain_text(root: Path, tmp_path: Path, api: Any, stream: bool, way: str) -> None:
    """When it has ended, as `steno text` writes the run."""
    config = OpenAIModelConfig(api=api, stream=stream, text_transcripts=ThreadTranscripts(tmp_path / "texts"))
    with model_server(*TURNS) as server, Recorder(root) as recorder:
        evaluate(server, way, recorder=recorder, config=config)
    assert texts_below(tmp_path / "texts") == texts_of(recorder.path)
    (text,) = texts_below(tmp_path / "texts").values()
    assert "Tool Calls: 5\n---\n\nuser:\n<user_query>\nWhat is 1 + 2?\n</user_query>\n" in text
    assert text.endswith("\n\nassistant:\nIt is 3.\n")


def test_evaluations_that_ask_the_same_are_files_of_their_own(tmp_path: Path) -> None:
    """Also in the same second, where nothing is recorded, and when they fail."""
    texts = ThreadTranscripts(tmp_path, thread_id="t", chat_id="c")
    with model_server(script=lambda _: Turn(status=500)) as server:
        for _ in range(3):
            with pytest.raises(openai.InternalServerError):
                evaluate(server, "sync", "hi", config=OpenAIModelConfig(text_transcripts=texts))
    found = texts_below(tmp_path)
    assert len(found) == 3
    assert all("[Error]" in text for text in found.values())


@pytest.mark.usefixtures("lenient")
def test_texts_that_cannot_be_written_cost_the_caller_nothing(
    root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer and the record are there, and the log says once what is not."""
    (tmp_path / "file").touch()
    config = OpenAIModelConfig(text_transcripts=ThreadTranscripts(tmp_path / "file"))
    with model_server(*TURNS) as server, Recorder(root) as recorder:
        assert evaluate(server, "sync", recorder=recorder, config=config).text == "It is 3."
    assert len(list(read_events(recorder.path))) > 10
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(told) == 1
    assert "text transcript" in told[0]
    assert "cannot write" in told[0]
