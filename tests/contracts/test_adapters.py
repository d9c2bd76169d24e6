"""One operation on every live adapter: the model calls a tool, the tool answers, the model answers.

What is told of it is the same everywhere, but for the types that a comparison ignores. The agents and servers are real
processes and real SDKs; only the model is ours.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from litellm_quiet import quiet_litellm
from model_server import Turn, model_server
from parity import IGNORED
from stenograph import Event, Run, TranscriptEntry, read_events, start_run
from stenograph.adapters.claude_agent_sdk import (
    ClaudeAgentSDKAdapter,
    ClaudeAgentSDKClientConfig,
    TranscriptCollectorConfig,
)
from stenograph.adapters.claude_agent_sdk.collector import TranscriptCollector
from stenograph.adapters.codex_app_server import (
    CodexAppServerAdapter,
    CodexAppServerClientConfig,
    CodexTranscriptEmitter,
)
from stenograph.adapters.litellm import LiteLLMAdapter, LiteLLMModelConfig
from stenograph.adapters.openai import OpenAIAdapter, OpenAIModelConfig, capture_openai
from stenograph.adapters.prompt import Prompt
from stenograph.archive import IndexReader, home_of
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.writer import Store
from stenograph.bundle import DebugBundle, create_bundle
from stenograph.fold.calls import pair_calls
from stenograph.logs import JsonFormatter
from stenograph.query.bundle_database import bundle_database
from stenograph.query.sql import run_sql
from stenograph.session import Session
from stenograph.transcript import TranscriptSummary, entries, reconstruct_transcript, summarize

TESTS = Path(__file__).parents[1]
PATIENCE = 120
QUICK = TranscriptCollectorConfig(quiet_period=0.1)
INPUT = {"a": 1, "b": 2}
TURNS = (Turn(calls=(("add", INPUT),)), Turn(text="It is 3."))
SPOKEN = ["user_message", "tool_use", "tool_result", "assistant_message"]
KEY = "sk-fake"


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


PROMPT = Prompt(f"tools add {json.dumps(INPUT)}", name="sum", tools=(add,))
"""The stand-ins for Codex and Claude do what its words say."""


@dataclass(frozen=True)
class Place:
    """Where one operation goes: the run that records it, the session, the log, and a folder for whatever it needs."""

    run: Run
    session: Session
    logger: logging.Logger
    folder: Path

    def sinks(self, recorder: str = "recorder") -> dict[str, Any]:
        return {recorder: self.run, "session": self.session}

    def program(self, name: str, script: str) -> str:
        """A command that runs one of our stand-ins."""
        path = self.folder / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{TESTS / script}" "$@"\n', "utf-8")
        path.chmod(0o755)
        return str(path)


def by_openai(place: Place, **config: Any) -> None:
    import openai

    settings = OpenAIModelConfig(capture_transcript=True, **config)
    with model_server(*TURNS) as server, openai.OpenAI(base_url=server.url, api_key=KEY) as client:
        adapter = OpenAIAdapter("m", model_config=settings, client=client, logger=place.logger)
        assert adapter.evaluate(PROMPT, **place.sinks()).text == "It is 3."


def by_openai_async(place: Place, **config: Any) -> None:
    import openai

    async def main(url: str) -> None:
        settings = OpenAIModelConfig(capture_transcript=True, **config)
        async with openai.AsyncOpenAI(base_url=url, api_key=KEY) as client:
            adapter = OpenAIAdapter("m", model_config=settings, client=client, logger=place.logger)
            assert (await adapter.aevaluate(PROMPT, **place.sinks())).text == "It is 3."

    with model_server(*TURNS) as server:
        asyncio.run(main(server.url))


def by_litellm(place: Place, **config: Any) -> None:
    with quiet_litellm(), model_server(*TURNS) as server:
        parameters = {"api_base": server.url, "api_key": KEY}
        settings = LiteLLMModelConfig(capture_transcript=True, parameters=parameters, **config)
        adapter = LiteLLMAdapter("openai/m", model_config=settings, logger=place.logger)
        assert adapter.evaluate(PROMPT, **place.sinks()).text == "It is 3."


def by_codex(place: Place) -> None:
    config = CodexAppServerClientConfig(
        codex_bin=place.program("codex", "integration/fake_codex.py"),
        cwd=place.folder,
        env={"FAKE_CODEX_LOG": str(place.folder / "said.jsonl"), "PYTHONUTF8": "1"},
        capture_transcript=True,
    )
    adapter = CodexAppServerAdapter(client_config=config, logger=place.logger)
    assert adapter.evaluate(PROMPT, **place.sinks()).text == "3"


def by_claude(place: Place) -> None:
    import claude_agent_sdk

    options = claude_agent_sdk.ClaudeAgentOptions(
        cli_path=place.program("claude", "unit/adapters/claude_program.py"),
        cwd=place.folder,
        env={"CLAUDE_CONFIG_DIR": str(place.folder / "config")},
    )
    config = ClaudeAgentSDKClientConfig(options=options, transcript_collection=QUICK, capture_transcript=True)
    assert ClaudeAgentSDKAdapter(config, logger=place.logger).evaluate(PROMPT, **place.sinks()).text


# Those who have a loop, a client or a session of their own.


def by_captured_openai(place: Place) -> None:
    import openai

    with model_server(*TURNS) as server, openai.OpenAI(base_url=server.url, api_key=KEY) as client:
        captured = capture_openai(client, logger=place.logger, prompt_name=PROMPT.name, **place.sinks("run"))
        _talk(lambda messages: captured.chat.completions.create(model="m", messages=messages))


def by_litellm_callback(place: Place) -> None:
    from stenograph.adapters.litellm import StenographLogger

    callback = StenographLogger(logger=place.logger, prompt_name=PROMPT.name, **place.sinks("run"))
    with quiet_litellm() as litellm, model_server(*TURNS) as server, callback:
        settings = {"api_base": server.url, "api_key": KEY}
        _talk(lambda messages: litellm.completion("openai/m", messages=messages, **settings))


def _talk(complete: Callable[[list[Any]], Any]) -> None:
    """A tool loop as people write it."""
    messages: list[Any] = [{"role": "user", "content": PROMPT.text}]
    message = complete(messages).choices[0].message
    (call,) = message.tool_calls
    given = str(add(**json.loads(call.function.arguments)))
    answer = {"role": "tool", "tool_call_id": call.id, "content": given}
    assert complete([*messages, message.model_dump(exclude_none=True), answer]).choices[0].message.content == "It is 3."


def by_codex_emitter(place: Place) -> None:
    emitter = CodexTranscriptEmitter(prompt_name=PROMPT.name, logger=place.logger, **place.sinks())
    here = {"threadId": "01a1e0a1-1b95-7f11-b7fd-b300beba516d", "turnId": "t"}
    call = {**here, "callId": "d1", "tool": "add", "arguments": INPUT}
    item = {"type": "dynamicToolCall", "id": "d1", "tool": "add", "arguments": INPUT}
    given = {"contentItems": [{"type": "inputText", "text": str(add(**INPUT))}], "success": True}
    emitter.start()
    emitter.on_user_message(PROMPT.text)
    emitter.on_notification("item/started", {**here, "item": {**item, "status": "inProgress"}})
    emitter.on_tool_call(call)
    emitter.on_tool_result(call, given)
    emitter.on_notification("item/completed", {**here, "item": {**item, **given, "status": "completed"}})
    emitter.on_notification("item/completed", {**here, "item": {"type": "agentMessage", "id": "m", "text": "It is 3."}})
    emitter.stop()


def by_collector(place: Place) -> None:
    path = place.folder / "projects" / "p" / f"{uuid4()}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    collector = TranscriptCollector(prompt_name=PROMPT.name, config=QUICK, logger=place.logger, **place.sinks())

    async def main() -> None:
        async with collector.run():
            await collector.hook_callback({"hook_event_name": "UserPromptSubmit", "transcript_path": str(path)})
            for number, line in enumerate(_claude_lines(path.stem), 1):
                with path.open("a", encoding="utf-8") as file:
                    file.write(line)
                end = time.monotonic() + PATIENCE
                while collector.total_entries < number:
                    assert time.monotonic() < end, "it never came"
                    await asyncio.sleep(0.005)

    asyncio.run(main())


def _claude_lines(session_id: str) -> Iterator[str]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": INPUT}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": str(add(**INPUT))}
    said: list[tuple[str, Any]] = [
        ("user", PROMPT.text),
        ("assistant", [call]),
        ("user", [result]),
        ("assistant", [{"type": "text", "text": "It is 3."}]),
    ]
    for number, (role, content) in enumerate(said):
        common = {"type": role, "sessionId": session_id, "timestamp": f"2026-01-01T00:00:0{number}.000Z"}
        yield json.dumps({**common, "message": {"role": role, "content": content}}) + "\n"


def by_run(place: Place) -> None:
    place.run.user(PROMPT.text)
    with place.run.tool("add", INPUT) as call:
        call.output = str(add(**INPUT))
    place.run.assistant("It is 3.")


def by_wrapped_tool(place: Place) -> None:
    place.run.user(PROMPT.text)
    place.run.wrap_tool(add)(**INPUT)
    place.run.assistant("It is 3.")


Operation = Callable[[Place], None]
OWNERS: dict[str, Operation] = {
    **{
        f"openai {api}{' streamed' if stream else ''}{' async' if way is by_openai_async else ''}": (
            lambda place, way=way, api=api, stream=stream: way(place, api=api, stream=stream)
        )
        for api in ("chat", "responses")
        for stream in (False, True)
        for way in (by_openai, by_openai_async)
    },
    "litellm": by_litellm,
    "litellm streamed": lambda place: by_litellm(place, stream=True),
    "codex app server": by_codex,
    "codex emitter": by_codex_emitter,
    "run": by_run,
    "wrapped tool": by_wrapped_tool,
}
"""Adapters at whose seam the tool runs."""
LISTENERS: dict[str, Operation] = {
    "claude agent sdk": by_claude,
    "claude collector": by_collector,
    "captured openai client": by_captured_openai,
    "litellm callback": by_litellm_callback,
}
"""Adapters that are told of a tool by whoever runs it."""
OPERATIONS = {**OWNERS, **LISTENERS}
WITHOUT_SINKS = {"run", "wrapped tool"}
"""What writes a journal and nothing else."""


@dataclass(frozen=True)
class Told:
    """What came of an operation."""

    events: list[Event]
    session: list[TranscriptEntry]
    logged: list[TranscriptEntry]

    @property
    def journal(self) -> list[TranscriptEntry]:
        return list(entries(self.events))


# LiteLLM warns about its own types, in its own threads too, and leaves sockets to the garbage collector.
_PARAMS = [
    pytest.param(name, marks=[pytest.mark.filterwarnings("ignore")] if "litellm" in name else []) for name in OPERATIONS
]


@pytest.fixture(scope="module", params=_PARAMS)
def name(request: pytest.FixtureRequest) -> str:
    """Every adapter in turn."""
    return str(request.param)


@pytest.fixture(scope="module")
def told(name: str, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The operation, done once by the adapter."""
    folder, session, log = tmp_path_factory.mktemp("operation"), Session(), _Log()
    with pytest.MonkeyPatch.context() as patch, start_run(PROMPT.name, root=folder / "storage") as run:
        patch.setenv("STENOGRAPH_STRICT", "1")
        OPERATIONS[name](Place(run, session, log.logger, folder))
    assert run.lost == 0
    return Told(list(read_events(run.path)), list(session[TranscriptEntry].all()), reconstruct_transcript(log.records))


class _Log(logging.Handler):
    """A logger of nobody else's, and what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.logger = logging.Logger("contract.adapters", logging.DEBUG)
        self.logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


def _compared(told: list[TranscriptEntry]) -> list[TranscriptEntry]:
    return [entry for entry in told if entry.entry_type not in IGNORED]


def test_the_same_operation_gives_the_same_entries(name: str, told: Told) -> None:
    """The prompt, the call, its result, the answer: in the journal, and in the log and the session where there are."""
    sinks = [told.journal] if name in WITHOUT_SINKS else [told.journal, told.session, told.logged]
    for sink in sinks:
        compared = _compared(sink)
        assert [entry.entry_type for entry in compared] == SPOKEN
        _, use, result, _ = compared
        assert use.tool_call_id
        assert (use.tool_input, result.content, result.tool_call_id) == (INPUT, "3", use.tool_call_id)
        assert str(use.tool_name).endswith("add")
        assert result.tool_name == use.tool_name


def test_summaries_can_be_compared(told: Told) -> None:
    """Without the ignored types, the name of the adapter and the times, one summary is as good as another."""
    summary = summarize(_compared(told.journal))
    assert replace(summary, adapter="", first_timestamp=None, last_timestamp=None) == TranscriptSummary(
        total_entries=4,
        entries_by_type=dict.fromkeys(SPOKEN, 1),
        entries_by_source={"main": 4},
        sources=("main",),
        adapter="",
        prompt_name=PROMPT.name,
        first_timestamp=None,
        last_timestamp=None,
    )
    assert summary.adapter
    assert summary.first_timestamp is not None
    assert summary.last_timestamp is not None
    assert summary.first_timestamp <= summary.last_timestamp


def test_a_call_is_recorded_once_and_by_who_saw_it(name: str, told: Told) -> None:
    """One call, one result; they are the router's where the tool ran at our seam, and the agent's word where not."""
    tools = [event for event in told.events if event.type in ("tool.call", "tool.result")]
    assert [event.type for event in tools] == ["tool.call", "tool.result"]
    assert {event.payload.fidelity for event in tools} == {"router" if name in OWNERS else "agent_emitted"}
    assert len(pair_calls(told.events)) == 1


def test_a_prompt_that_an_adapter_sent_is_the_routers(name: str, told: Told) -> None:
    """We sent it, so it is not the agent's word for it; Claude's is read from Claude's own file, and so is a host's."""
    (prompt,) = [event for event in told.events if event.type == "message.user"]
    assert {block.fidelity for block in prompt.payload.blocks} == {"router" if name in OWNERS else "agent_emitted"}


@dataclass(frozen=True)
class Twice:
    """What came of two operations that one run recorded, in every place where entries are read."""

    journal: list[TranscriptEntry]
    session: list[TranscriptEntry]
    log: list[logging.LogRecord]
    bundle: DebugBundle
    archived: list[TranscriptEntry]

    @property
    def logged(self) -> list[TranscriptEntry]:
        return reconstruct_transcript(self.log)

    def queried(self, sql: str) -> list[Any]:
        with bundle_database(self.bundle.path) as database:
            return [row[0] for row in run_sql(database, sql)]


@pytest.fixture(scope="module")
def twice(name: str, tmp_path_factory: pytest.TempPathFactory) -> Twice:
    """The operation done by the adapter two times, recorded by one run."""
    folder, session, log = tmp_path_factory.mktemp("twice"), Session(), _Log()
    with pytest.MonkeyPatch.context() as patch, start_run(PROMPT.name, root=folder / "storage") as run:
        patch.setenv("STENOGRAPH_STRICT", "1")
        for _ in range(2):
            OPERATIONS[name](Place(run, session, log.logger, folder))
    log_file = folder / "app.jsonl"
    log_file.write_text("".join(f"{JsonFormatter().format(record)}\n" for record in log.records), "utf-8")
    made = create_bundle(folder / "a.zip", read_events(run.path), logs=log_file)
    with Store(home_of(folder / "archive")) as store:
        sync(store, [Root(folder / "storage", None)])
    with IndexReader(folder / "archive") as archive:
        archived = list(entries(archive.events(archive.find_run(run.run_id)[0])))
    return Twice(
        list(entries(read_events(run.path))),
        list(session[TranscriptEntry].all()),
        log.records,
        DebugBundle.load(made),
        archived,
    )


def _ids(told: list[TranscriptEntry]) -> list[str]:
    return [str(entry.entry_id) for entry in told]


def _said(entry: TranscriptEntry) -> dict[str, Any]:
    """An entry but for the numbers, which count per evaluation in a log and per run in a journal."""
    told: dict[str, Any] = json.loads(json.dumps(entry.as_dict()))
    told.pop("sequence_number")
    told.get("detail", {}).pop("of", None)
    return told


def test_an_entry_has_one_id_wherever_it_is_read(name: str, twice: Twice) -> None:
    """Unique in journal, session and log; the same there and in the bundle and the archive, for the same words."""
    journal = {str(entry.entry_id): _said(entry) for entry in twice.journal}
    assert len(journal) == len(twice.journal)
    assert _ids(twice.archived) == _ids(twice.bundle.entries) == list(journal)
    for sink in [] if name in WITHOUT_SINKS else [twice.session, twice.logged]:
        assert len(set(_ids(sink))) == len(sink) == len(twice.journal) - 2, "all but the run's own beginning and end"
        assert [_said(entry) for entry in sink] == [journal[each] for each in _ids(sink)]


def test_every_part_of_a_bundle_has_the_same_entries(twice: Twice) -> None:
    """Entries, `transcript.jsonl`, logs and SQL: what was logged as it was, and what nobody logged."""
    bundle = twice.bundle
    expected = sorted(_ids(bundle.entries))
    assert sorted(_ids(reconstruct_transcript(bundle.transcript))) == expected
    assert sorted(_ids(reconstruct_transcript(bundle.logs))) == expected
    assert sorted(twice.queried("SELECT entry_id FROM entries")) == expected
    assert bundle.manifest.counts.entries == bundle.manifest.counts.log_entries == len(expected)


def test_two_evaluations_of_one_run_do_not_interleave(name: str, twice: Twice) -> None:
    """A reconstructed transcript tells the first whole, then the second, each with numbers from 1."""
    if name in WITHOUT_SINKS:
        return
    numbers = [entry.sequence_number for entry in twice.logged]
    second = numbers.index(1, 1)
    assert numbers == [*range(1, second + 1), *range(1, len(numbers) - second + 1)]
    assert [entry.entry_type for entry in _compared(twice.logged)] == SPOKEN * 2
    assert {entry.run_id for entry in twice.logged} == {twice.bundle.manifest.run_id}
    assert _ids(twice.logged) == _ids(twice.session)


def test_every_entry_of_a_session_names_one(name: str, twice: Twice) -> None:
    """The agent's own session where it has one, else the `Session` that was given."""
    assert bool(twice.session) != (name in WITHOUT_SINKS)
    assert all(entry.session_id for entry in twice.session)
