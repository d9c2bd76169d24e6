"""Claude Code at work, taken down while it works: by its hooks, through its SDK, and under `steno run`.

What was taken down live must equal what the files say afterwards, source by source, and hold every answer of the model.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agents import programs, scenario, session
from agents.copilot import copilot
from agents.gemini import gemini
from agents.opencode import opencode
from agents.reading import Reading
from agents.recorded import STENO, collectors_of, hooked, until
from agents.session import PATIENCE, Session
from stenograph import Event, Recorder, TranscriptEntry, entries, read_events
from stenograph.adapters.claude_agent_sdk import (
    ClaudeAgentSDKAdapter,
    ClaudeAgentSDKClientConfig,
    TranscriptCollector,
)
from stenograph.adapters.prompt import Prompt
from stenograph.model import encode
from stenograph.session import Session as Memory
from stenograph.session import ToolInvoked
from stenograph.sources import convert

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs

NEWEST = programs.CLAUDE[0]
SPAWNING = {"Agent", "Task"}


# Comparing.


def by_source(events: Iterable[Event], *, linked: bool = True) -> dict[str, list[Event]]:
    """Events without what tells who took them down and when a file began, source by source."""
    found: dict[str, list[Event]] = {}
    for event in events:
        assert event.origin is not None
        origin = replace(event.origin, adapter=None, prompt_name=None)
        if not linked:
            origin = replace(origin, parent_source=None, parent_call_id=None)
        stamp = "" if origin.time == "given" else event.timestamp
        found.setdefault(event.source, []).append(replace(event, seq=0, run_id="", timestamp=stamp, origin=origin))
    return found


def entries_by_source(events: Iterable[Event]) -> dict[str, list[dict[str, Any]]]:
    """The same for entries."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in entries(list(events)):
        told = entry.as_dict()
        for name in ("run_id", "prompt_name", "adapter", "entry_id", "timestamp"):
            told.pop(name, None)
        found.setdefault(entry.source, []).append(told)
    return found


def assert_taken_down(journal: Path, claude: Session, *, unwritten: bool = False) -> Reading:
    """The journal holds what the files hold, in events and in entries, and every answer of the model's scripts.

    Claude itself leaves `unwritten` what the model answered when it was asked to compact.
    """
    recorded = list(read_events(journal))
    (main,) = [path for path in claude.files if b'"isSidechain":true' not in path.read_bytes().split(b"\n")[0]]
    written = list(convert(main))
    linked = claude.version == NEWEST  # before, only the end of a subagent tells which call spawned it
    assert by_source(recorded, linked=linked) == by_source(written, linked=linked)
    assert entries_by_source(recorded) == entries_by_source(written)
    told = {
        event.payload.message_id: event.payload.output_tokens
        for event in recorded
        if event.type == "token.usage" and event.payload.scope == "call"
    }
    assert unwritten or set(claude.model.scripted) <= set(told)
    if claude.version == NEWEST:
        assert set(told.items()) <= set(claude.model.answers.items())
    return Reading(recorded, [])


# By hooks.


def collected(claude: Session) -> Path:
    """The journal of the session, when whoever collected it has ended."""
    until(lambda: not collectors_of(claude))
    problems = claude.place / "storage" / "collectors" / "problems.log"
    assert not problems.exists(), problems.read_text()
    (journal,) = (claude.place / "storage" / "transcripts").glob("*.jsonl")
    return journal


@pytest.mark.parametrize("version", programs.CLAUDE[:3])  # 1.0 takes no settings with hooks that it does not know
def test_a_session_is_recorded_by_its_hooks(version: str, place: Path) -> None:
    """Tools that work, tools that fail, a subagent in each way of keeping it."""
    with hooked(version, place) as claude:
        claude.run(scenario.PROMPT)
        journal = collected(claude)
    reading = assert_taken_down(journal, claude)
    run_id = claude.main_file.stem
    assert journal.stem == run_id
    assert reading.prompts(run_id) == [scenario.PROMPT]
    assert reading.texts(run_id)[-1] == scenario.FINAL_TEXT
    assert "out-text" in (reading.call(scenario.FAILING).error or "")
    assert reading.call(scenario.CHILD_COMMAND).source.startswith("subagent:")


@pytest.mark.parametrize(
    ("prompt", "sources"),
    [(scenario.PARALLEL_PROMPT, 1), (scenario.TEAM_PROMPT, 2), (scenario.NESTED_PROMPT, 3)],
    ids=["parallel tools", "background subagent", "nested subagents"],
)
def test_scenarios_are_recorded_by_hooks(prompt: str, sources: int, place: Path) -> None:
    """Results out of order, agents that outlive the turn, agents of agents."""
    with hooked(NEWEST, place) as claude:
        claude.run(prompt)
        journal = collected(claude)
    reading = assert_taken_down(journal, claude)
    assert len({event.source for event in reading.events}) == sources
    assert all(pair.call is not None and pair.result is not None for pair in reading.calls())


def test_a_retry_is_recorded(place: Path) -> None:
    """An overloaded server is asked again: the errors are there, and each answer once."""
    with hooked(NEWEST, place) as claude:
        claude.model.refusals = 2
        claude.run(scenario.NEXT_PROMPT)
        journal = collected(claude)
    reading = assert_taken_down(journal, claude)
    assert claude.model.refusals == 0
    assert [_subtype(event) for event in reading.events].count("api_error") == 2
    assert reading.texts(journal.stem) == [scenario.NEXT_TEXT]


def test_a_compacted_and_resumed_session_is_one_run(place: Path) -> None:
    """Three processes, one session: each is recorded where the one before ended."""
    with hooked(NEWEST, place) as claude:
        claude.run(scenario.PROMPT)
        run_id = collected(claude).stem
        claude.run("/compact keep it short", "--resume", run_id)
        claude.run(scenario.NEXT_PROMPT, "--resume", run_id)
        journal = collected(claude)
    reading = assert_taken_down(journal, claude, unwritten=True)
    assert journal.stem == run_id
    assert [event for event in reading.events if event.payload and _subtype(event) == "compaction"]
    assert reading.texts(run_id)[-1] == scenario.NEXT_TEXT


def _subtype(event: Event) -> str:
    return str(getattr(event.payload, "subtype", ""))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_a_session_that_is_cut_short_is_recorded(number: signal.Signals, place: Path) -> None:
    """In the middle of a command: what is on disk then is recorded, and the collecting process outlives the agent."""
    with hooked(NEWEST, place) as claude:
        with claude._running(scenario.SLOW_PROMPT) as process:
            until(lambda: (claude.folder / "started").exists() and _is_written(claude, scenario.SLOW_COMMAND))
            process.send_signal(number)
            if number == signal.SIGINT:
                process.wait(PATIENCE)
        (claude.folder / "started").unlink(missing_ok=True)
        transcripts = place / "storage" / "transcripts"
        until(lambda: any(transcripts.glob("*.jsonl")))  # who collects may have begun only just before the end
        (journal,) = transcripts.glob("*.jsonl")
        until(lambda: len(list(read_events(journal))) == len(list(convert(claude.files[0]))))
        reading = assert_taken_down(journal, claude)
        pair = reading.call(scenario.SLOW_COMMAND)
        assert (pair.name, reading.prompts(journal.stem)) == ("Bash", [scenario.SLOW_PROMPT])
        until(lambda: not collectors_of(claude))  # no hook reports that an agent was killed


def _is_written(claude: Session, words: str) -> bool:
    return any(words.encode() in path.read_bytes() for path in claude.files)


# Through the SDK.


def _options(claude: Session, **more: Any) -> Any:
    from claude_agent_sdk import ClaudeAgentOptions

    return ClaudeAgentOptions(
        cli_path=claude.command[0],
        env=claude.environment,
        cwd=claude.folder,
        allowed_tools=["Bash", "Read", "Agent"],
        setting_sources=[],
        **more,
    )


@pytest.mark.parametrize(
    ("prompt", "sources"),
    [
        (scenario.PROMPT, 2),
        (scenario.PARALLEL_PROMPT, 1),
        (scenario.TEAM_PROMPT, 2),
        (scenario.NESTED_PROMPT, 3),
        (scenario.NEXT_PROMPT, 1),
    ],
    ids=["everything", "parallel tools", "background subagent", "nested subagents", "unicode"],
)
def test_the_adapter_takes_everything_down(prompt: str, sources: int, place: Path) -> None:
    """The journal and the session have what the files have; the answer is the model's last word."""
    memory = Memory()
    with session.claude(NEWEST, place) as claude, Recorder(place / "storage") as recorder:
        config = ClaudeAgentSDKClientConfig(capture_transcript=True, options=_options(claude))
        response = ClaudeAgentSDKAdapter(config).evaluate(Prompt(prompt, name="live"), memory, recorder)
    reading = assert_taken_down(recorder.path, claude)
    assert response.text == (scenario.NEXT_TEXT if prompt == scenario.NEXT_PROMPT else scenario.FINAL_TEXT)
    assert response.usage["output_tokens"] == sum(claude.model.scripted.values())
    assert len({event.source for event in reading.events}) == sources
    stored = memory[TranscriptEntry].all()
    assert [entry.content for entry in stored] == [entry.content for entry in entries(reading.events)]
    assert {entry.adapter for entry in stored} == {"claude_agent_sdk"}
    assert {told.call_id for told in memory[ToolInvoked].all()} <= {pair.call_id for pair in reading.calls()}


def test_a_python_tool_is_called_by_the_real_program(place: Path) -> None:
    """Through the server in this process; the transcript has the call once."""

    def count_files(folder: str) -> int:
        """How many files there are in a folder."""
        return len(list(Path(folder).iterdir()))

    with session.claude(NEWEST, place) as claude, Recorder(place / "storage") as recorder:
        from agents.servers.script import Call, Text, mark

        call = Call("mcp__stenograph__count_files", {"folder": str(claude.folder)})
        claude.model._scripts = {**claude.model._scripts, "tool": [[call], [Text("One. 一")]]}
        adapter = ClaudeAgentSDKAdapter(ClaudeAgentSDKClientConfig(options=_options(claude)))
        response = adapter.evaluate(Prompt(f"Count. {mark('tool')}", tools=(count_files,)), recorder=recorder)
    reading = assert_taken_down(recorder.path, claude)
    (pair,) = [pair for pair in reading.calls() if "count_files" in pair.name]
    assert response.text == "One. 一"
    assert pair.result is not None
    assert str(pair.result.payload.output) == "1"


def test_a_collector_takes_an_interrupted_turn_down(place: Path) -> None:
    """The SDK driven by hand, as in the documentation, and interrupted in the middle of a command."""
    from claude_agent_sdk import ClaudeSDKClient

    async def main(claude: Session, recorder: Recorder) -> TranscriptCollector:
        collector = TranscriptCollector(prompt_name="live", recorder=recorder)
        options = _options(claude, hooks=collector.hooks_config())
        async with collector.run(), ClaudeSDKClient(options=options) as client:
            await client.query(scenario.SLOW_PROMPT)

            async def interrupt() -> None:
                while not (claude.folder / "started").exists():
                    await asyncio.sleep(0.05)
                await client.interrupt()

            interrupting = asyncio.create_task(interrupt())
            async for _ in client.receive_response():
                pass
            await interrupting
        return collector

    with session.claude(NEWEST, place) as claude, Recorder(place / "storage") as recorder:
        collector = asyncio.run(main(claude, recorder))
    reading = assert_taken_down(recorder.path, claude)
    assert collector.main_entry_count == collector.total_entries > 0
    assert reading.call(scenario.SLOW_COMMAND).result is not None
    assert any("[Request interrupted by user" in (event.raw or "") for event in reading.events)


# Under `steno run`.


def _alike(stdout: bytes) -> list[str]:
    """What was printed, by its kind: ids, times and costs differ between any two runs."""
    import json

    return [f"{record.get('type')}/{record.get('subtype')}" for record in map(json.loads, stdout.splitlines())]


def test_claude_under_steno_run(place: Path) -> None:
    """It prints what it prints without us, and the journal is what its files say."""
    with session.claude(NEWEST, place / "bare") as bare:
        bare.run(scenario.NEXT_PROMPT)
    with session.claude(NEWEST, place / "run") as claude:
        claude.environment["STENOGRAPH_STORAGE"] = str(claude.place / "storage")
        claude.command = [*STENO, "run", "--", *claude.command]
        claude.run(scenario.NEXT_PROMPT)
    assert _alike(claude.stdout.read_bytes()) == _alike(bare.stdout.read_bytes())
    assert (claude.place / "stderr").read_bytes() == (bare.place / "stderr").read_bytes()
    (journal,) = (claude.place / "storage" / "transcripts").glob("*.jsonl")
    assert_taken_down(journal, claude)


@pytest.mark.parametrize("version", programs.CLAUDE)
def test_claude_that_prints_plain_text_under_steno_run(version: str, place: Path) -> None:
    """To the byte what it prints without us; the session is found by its folder."""
    printed = []
    for name, prefix in (("bare", []), ("run", [*STENO, "run", "--"])):
        with session.claude(version, place / name) as claude:
            claude.environment["STENOGRAPH_STORAGE"] = str(claude.place / "storage")
            claude.command = [
                *prefix,
                claude.command[0],
                "-p",
                "--allowedTools",
                "Bash,Read,Task,Agent",
                "--max-turns",
                "30",
            ]
            claude.run(scenario.PROMPT)
        printed.append(claude.stdout.read_bytes())
    assert printed[0] == printed[1] == f"{scenario.FINAL_TEXT}\n".encode()
    (journal,) = (claude.place / "storage" / "transcripts").glob("*.jsonl")
    assert_taken_down(journal, claude)


def test_claude_without_files_under_steno_run(place: Path) -> None:
    """What it printed is recorded, by the format of what it prints."""
    with session.claude(NEWEST, place) as claude:
        claude.environment["STENOGRAPH_STORAGE"] = str(claude.place / "storage")
        claude.command = [*STENO, "run", "--", *claude.command, "--no-session-persistence"]
        claude.run(scenario.PROMPT)
    assert claude.files == []
    (journal,) = (claude.place / "storage" / "transcripts").glob("*.jsonl")
    recorded, printed = list(read_events(journal)), list(convert(claude.stdout))
    assert [(event.type, event.payload, event.raw) for event in recorded] == [
        (event.type, event.payload, event.raw) for event in printed
    ]


@pytest.mark.parametrize("options", [(), ("--ephemeral",)], ids=["with files", "without"])
def test_codex_under_steno_run(options: tuple[str, ...], place: Path) -> None:
    """Its threads are recorded from their files, children as runs of their own; without files, what it printed is."""
    with session.codex(programs.CODEX[0], place) as codex:
        codex.environment["STENOGRAPH_STORAGE"] = str(place / "storage")
        codex.command = [*STENO, "run", "--", *codex.command]
        codex.run(scenario.PROMPT, *options)
    journals = sorted((place / "storage" / "transcripts").glob("*.jsonl"))
    if options:
        assert codex.files == []
        assert [journal.stem for journal in journals] == [next(iter(convert(codex.stdout))).run_id]
        return
    assert [journal.stem for journal in journals] == sorted(path.stem[-36:] for path in codex.files)
    assert len(journals) == 2
    for path in codex.files:
        journal = place / "storage" / "transcripts" / f"{path.stem[-36:]}.jsonl"
        assert journal.read_bytes() == b"".join(encode(event) + b"\n" for event in convert(path))


@pytest.mark.parametrize(
    "opening", [gemini, lambda place: copilot("responses", place), opencode], ids=["gemini", "copilot", "opencode"]
)
def test_other_agents_under_steno_run(opening: Callable[[Path], Any], place: Path) -> None:
    """By the same mechanism: the id they print leads to the session they wrote, which is recorded, and only that."""
    with opening(place) as agent:
        agent.environment["STENOGRAPH_STORAGE"] = str(place / "storage")
        agent.command = [*STENO, "run", "--", *agent.command]
        agent.run(scenario.PROMPT)
        (journal,) = (place / "storage" / "transcripts").glob("*.jsonl")
        recorded = list(read_events(journal))
        session_file = next(path for path in _sessions(agent) if not path.name.endswith(("-wal", "-shm")))
        written = [event for event in convert(session_file) if event.run_id == journal.stem]
    assert by_source(recorded, linked=False) == by_source(written, linked=False)
    assert {event.run_id for event in recorded} == {journal.stem}
    assert scenario.FINAL_TEXT in Reading(recorded, []).texts(journal.stem)


def _sessions(agent: Session) -> list[Path]:
    found = [path for path in agent.transcripts.rglob("*") if path.suffix in (".jsonl", ".db") and path.is_file()]
    return [path for path in found if path.suffix == ".db" or scenario.PROMPT.encode() in path.read_bytes()]
