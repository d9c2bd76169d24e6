"""The Claude adapter: the real SDK, driving a program that behaves like Claude Code."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from stenograph import Event, Recorder, TranscriptEntry, read_events
from stenograph.adapters.claude_agent_sdk import (
    ClaudeAgentSDKAdapter,
    ClaudeAgentSDKClientConfig,
    TranscriptCollectorConfig,
)
from stenograph.adapters.prompt import Prompt
from stenograph.errors import AgentError, AgentTimeout, InvalidTool
from stenograph.fold.calls import pair_calls
from stenograph.model import Origin
from stenograph.session import PromptExecuted, PromptRendered, Session, ToolInvoked
from stenograph.sources import convert
from stenograph.text_transcripts import ThreadTranscripts
from text_files import texts_below, texts_of

sdk = pytest.importorskip("claude_agent_sdk", reason="an extra: pip install '.[claude]'")

PROGRAM = Path(__file__).with_name("claude_program.py")
SESSION = "550e8400-e29b-41d4-a716-446655440000"
QUICK = TranscriptCollectorConfig(quiet_period=0.2)

Adapting = Callable[..., ClaudeAgentSDKAdapter]


@pytest.fixture
def adapting(tmp_path: Path) -> Adapting:
    """`adapting(**config)`: an adapter whose Claude is the program beside this file."""
    program = tmp_path / "claude"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{PROGRAM}" "$@"\n')
    program.chmod(0o755)

    def make(**config: Any) -> ClaudeAgentSDKAdapter:
        environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / "config")}
        options = config.pop("options", {})
        config.setdefault("transcript_collection", QUICK)
        options = sdk.ClaudeAgentOptions(cli_path=str(program), cwd=tmp_path, env=environment, **options)
        return ClaudeAgentSDKAdapter(ClaudeAgentSDKClientConfig(options=options, **config))

    return make


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """The session that the program writes."""
    return tmp_path / "config" / "projects" / "p" / f"{SESSION}.jsonl"


def _said(events: Any) -> list[Event]:
    """Events without what tells who took them down; per source, in their order."""
    said = []
    for event in events:
        origin = replace(event.origin, adapter=None, prompt_name=None)
        said.append(replace(event, seq=0, run_id="", origin=origin))
    return sorted(said, key=lambda event: event.source)


def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b


async def add_later(a: int, b: int) -> int:
    """The sum of two numbers, by and by."""
    await asyncio.sleep(0)
    return a + b


add_later.__name__ = "add"


def add_badly(a: int, b: int) -> int:
    """Nothing."""
    raise OverflowError("too many numbers")


add_badly.__name__ = "add"


def test_an_answer_comes_with_its_session(adapting: Adapting, root: Path, transcript: Path) -> None:
    """The text, the session, the tokens by our names; the journal has what the session's file has."""
    with Recorder(root) as recorder:
        response = adapting().evaluate(Prompt("Say hello.", name="greeting"), recorder=recorder)
    assert (response.text, response.prompt_name, response.session_id) == ("Hello yourself.", "greeting", SESSION)
    assert response.run_id == recorder.run_id
    assert response.usage == {
        "input_tokens": 431,
        "output_tokens": 2,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 400,
    }
    events = list(read_events(recorder.path))
    assert {(event.origin.adapter, event.origin.prompt_name) for event in events if event.origin} == {
        ("claude_agent_sdk", "greeting")
    }
    assert _said(events) == _said(convert(transcript))


def test_a_session_is_told_of_the_prompt_and_no_more(adapting: Adapting) -> None:
    """Entries are opt-in; what was asked and what came of it is told anyway."""
    session = Session()
    adapting().evaluate(Prompt("Say hello.", name="greeting", system="Be brief."), session)
    assert session[TranscriptEntry].all() == ()
    (rendered,), (executed,) = session[PromptRendered].all(), session[PromptExecuted].all()
    assert (rendered.user, rendered.system, rendered.adapter) == ("Say hello.", "Be brief.", "claude_agent_sdk")
    assert (executed.text, executed.error, executed.session_id) == ("Hello yourself.", None, session.session_id)


def test_a_session_gets_the_entries_when_it_wants_them(adapting: Adapting) -> None:
    """With what was written and in which session, subagents included."""
    session = Session()
    adapting(capture_transcript=True).evaluate("Let a subagent count.", session)
    entries = session[TranscriptEntry].all()
    assert {entry.source for entry in entries} == {"main", "subagent:a0123456789abcdef"}
    assert {entry.metadata["claude_session_id"] for entry in entries} == {SESSION}
    assert [entry.metadata["raw_type"] for entry in entries if entry.entry_type == "user_message"] == ["user", "user"]
    for source in ("main", "subagent:a0123456789abcdef"):
        numbers = [entry.sequence for entry in entries if entry.source == source]
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_session_may_do_without_subagents(adapting: Adapting, root: Path) -> None:
    """Then the journal has them still."""
    session = Session()
    adapter = adapting(capture_transcript=True, capture_subagent_transcripts=False)
    with Recorder(root) as recorder:
        adapter.evaluate("Let a subagent count.", session, recorder)
    assert {entry.source for entry in session[TranscriptEntry].all()} == {"main"}
    assert {event.source for event in read_events(recorder.path)} == {"main", "subagent:a0123456789abcdef"}


def test_entries_are_logged(adapting: Adapting, caplog: pytest.LogCaptureFixture) -> None:
    """As DEBUG, by the adapter's logger, between a start and a stop."""
    with caplog.at_level(logging.DEBUG, "stenograph.adapters.claude_agent_sdk"):
        adapting().evaluate("Say hello.")
    told = [record.event for record in caplog.records if hasattr(record, "event")]
    assert told[0] == "transcript.start"
    assert told[-1] == "transcript.stop"
    assert "transcript.collector.path_discovered" in told
    assert told.count("transcript.entry") >= 2


def test_collection_can_be_turned_off(adapting: Adapting, root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Then nothing is logged or recorded, and the answer comes all the same."""
    with caplog.at_level(logging.DEBUG), Recorder(root) as recorder:
        response = adapting(transcript_collection=None).evaluate("Say hello.", recorder=recorder)
    assert (response.text, response.run_id) == ("Hello yourself.", None)
    assert list(read_events(recorder.path)) == []
    assert not [record for record in caplog.records if record.name.startswith("stenograph")]


def test_hooks_of_the_user_are_called(adapting: Adapting, root: Path) -> None:
    """Those in the options and those in the config, beside ours."""
    heard = []

    async def hook(input: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        heard.append(input["hook_event_name"])
        return {}

    matchers = [sdk.HookMatcher(hooks=[hook])]
    adapter = adapting(options={"hooks": {"Stop": matchers}}, hooks={"Stop": matchers, "UserPromptSubmit": matchers})
    with Recorder(root) as recorder:
        adapter.evaluate("Say hello.", recorder=recorder)
    assert heard == ["UserPromptSubmit", "Stop", "Stop"]
    assert recorder.stats().events > 0


@pytest.mark.parametrize("function", [add, add_later], ids=["sync", "async"])
def test_functions_are_tools(adapting: Adapting, root: Path, function: Callable[..., Any]) -> None:
    """Claude calls them in this process; the call is taken down once, as Claude wrote it, and the session is told."""
    session = Session()
    with Recorder(root) as recorder:
        adapting().evaluate(Prompt("Please add.", tools=(function,)), session, recorder)
    (pair,) = pair_calls(read_events(recorder.path))
    assert (pair.name, pair.error) == ("mcp__stenograph__add", None)
    assert pair.result is not None
    assert (pair.result.payload.output, pair.result.payload.fidelity) == ("3", "agent_emitted")
    (told,) = session[ToolInvoked].all()
    assert (told.name, told.params, told.result, told.error) == ("mcp__stenograph__add", {"a": 1, "b": 2}, "3", None)


def test_a_tool_that_fails_is_an_answer(adapting: Adapting, root: Path) -> None:
    """Claude hears what went wrong, and so does the session."""
    session = Session()
    with Recorder(root) as recorder:
        adapting().evaluate(Prompt("Please add.", tools=(add_badly,)), session, recorder)
    (told,) = session[ToolInvoked].all()
    assert told.error == "OverflowError: too many numbers"
    (pair,) = pair_calls(read_events(recorder.path))
    assert pair.error == "OverflowError: too many numbers"


def test_a_function_that_cannot_be_a_tool_is_refused(adapting: Adapting) -> None:
    """Before anything runs."""
    with pytest.raises(InvalidTool):
        adapting().evaluate(Prompt("x", tools=(lambda *numbers: 1,)))


def test_claude_that_fails_is_an_error(adapting: Adapting) -> None:
    """With Claude's own words, for the caller and for the session."""
    session = Session()
    with pytest.raises(AgentError, match=r"did not come to an answer.*Sorry\."):
        adapting().evaluate("Please fail.", session)
    assert "Sorry." in session[PromptExecuted].all()[0].error


def test_claude_that_dies_is_an_error(adapting: Adapting, root: Path) -> None:
    """What it wrote until then is recorded."""
    with Recorder(root) as recorder, pytest.raises(AgentError, match="Claude"):
        adapting().evaluate("Please die.", recorder=recorder)
    told = list(read_events(recorder.path))
    assert [event.type for event in told] == ["message.user", "error"]
    assert told[-1].payload.code == "exit"


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude has the time that it needs to hear of an interruption."""
    monkeypatch.setattr("stenograph.adapters.claude_agent_sdk.adapter._PATIENCE", 60)


@pytest.mark.usefixtures("_patient")
def test_claude_that_hangs_is_given_up(adapting: Adapting, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time it may take it is interrupted; what it then writes is recorded, and at the end the error."""
    really, ends = asyncio.timeout, []

    def timeout(seconds: float | None) -> asyncio.Timeout:
        """The time is over when Claude hangs, however long it takes to begin."""
        if seconds != 1.5:
            return really(seconds)
        limit = really(None)

        async def end() -> None:
            while recorder.stats().events == 0:
                await asyncio.sleep(0.02)
            limit.reschedule(0)

        ends.append(asyncio.create_task(end()))
        return limit

    monkeypatch.setattr(asyncio, "timeout", timeout)
    with Recorder(root) as recorder, pytest.raises(AgentTimeout, match=r"longer than 1\.5 s"):
        adapting(timeout=1.5).evaluate("Please hang.", recorder=recorder)
    assert len(ends) == 1
    *_, word, last = read_events(recorder.path)
    assert "[Request interrupted by user]" in (word.raw or "")
    assert (last.type, last.payload.code) == ("error", "timeout")
    assert "longer than 1.5 s" in last.payload.message
    assert last.origin == Origin(adapter="claude_agent_sdk", prompt_name="prompt")


@pytest.mark.usefixtures("_patient")
def test_cancelling_interrupts(adapting: Adapting, root: Path) -> None:
    """A task that is cancelled ends soon, and the transcript says how."""

    async def main() -> None:
        with Recorder(root) as recorder:
            task = asyncio.create_task(adapting().aevaluate("Please hang.", recorder=recorder))
            while recorder.stats().events == 0:
                await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert "[Request interrupted by user]" in (list(read_events(recorder.path))[-1].raw or "")

    asyncio.run(asyncio.wait_for(main(), 120))


@pytest.mark.usefixtures("_patient")
def test_a_key_interrupts(adapting: Adapting, root: Path) -> None:
    """Ctrl-C in a plain program ends the evaluation, and Claude hears of it."""
    with Recorder(root) as recorder:

        def press() -> None:
            while recorder.stats().events == 0:
                time.sleep(0.02)
            os.kill(os.getpid(), signal.SIGINT)

        pressing = threading.Thread(target=press)
        pressing.start()
        with pytest.raises(KeyboardInterrupt):
            adapting().evaluate("Please hang.", recorder=recorder)
        pressing.join()
    assert "[Request interrupted by user]" in (list(read_events(recorder.path))[-1].raw or "")


def test_evaluate_works_where_a_loop_runs(adapting: Adapting) -> None:
    """It blocks that loop, as a plain function does."""

    async def main() -> str:
        return adapting().evaluate("Say hello.").text

    assert asyncio.run(main()) == "Hello yourself."


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With what to do."""
    options = sdk.ClaudeAgentOptions(cli_path=str(tmp_path / "nothing"))
    with pytest.raises(AgentError, match=r"Claude Code was not found \(.*nothing\); install it"):
        ClaudeAgentSDKAdapter(ClaudeAgentSDKClientConfig(options=options)).evaluate("x")


def test_without_the_sdk_the_extra_is_named(python: Any) -> None:
    """The package loads, the collector works, and only an evaluation says what to install."""
    python("""
        import sys
        sys.modules["claude_agent_sdk"] = None
        from stenograph.adapters.claude_agent_sdk import ClaudeAgentSDKAdapter, TranscriptCollector
        from stenograph.errors import MissingExtra
        assert TranscriptCollector(prompt_name="x").hooks_config()
        try:
            ClaudeAgentSDKAdapter().evaluate("x")
        except MissingExtra as error:
            assert str(error) == "claude-agent-sdk is not installed; in a checkout, run: pip install '.[claude]'"
        else:
            raise AssertionError
    """)


def test_a_timeout_that_is_none_is_refused() -> None:
    """When the config is made, not when it is used."""
    with pytest.raises(AgentError, match="timeout is 0"):
        ClaudeAgentSDKClientConfig(timeout=0)


def test_an_evaluation_is_written_as_plain_text(adapting: Adapting, root: Path, tmp_path: Path) -> None:
    """When it has ended, as `steno text` writes the run."""
    texts = ThreadTranscripts(tmp_path / "texts")
    with Recorder(root) as recorder:
        adapting(text_transcripts=texts).evaluate("Say hello.", recorder=recorder)
    assert texts_below(tmp_path / "texts") == texts_of(recorder.path)
    (text,) = texts_below(tmp_path / "texts").values()
    assert f"\nChat ID: {SESSION}\n" in text
    assert "assistant:\nHello yourself." in text
