"""TranscriptCollector: from hooks to entries, while files grow, in a thread of its own."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from stenograph import Recorder, TranscriptEntry, entries, read_events
from stenograph.adapters.claude_agent_sdk.collector import TranscriptCollector
from stenograph.adapters.claude_agent_sdk.collector_config import TranscriptCollectorConfig
from stenograph.adapters.claude_agent_sdk.sdk_hooks import HOOKS
from stenograph.adapters.following.following import Following
from stenograph.errors import InvalidEvent
from stenograph.session import Session
from stenograph.sources import convert
from stenograph.sources.known import known_lines

SESSION = "11111111-2222-4333-8444-555555555555"
PATIENCE = 120
QUICK = TranscriptCollectorConfig(quiet_period=0.05)


def line(text: str, kind: str = "user", **more: object) -> str:
    content: object = text if kind == "user" else [{"type": "text", "text": text}]
    record = {"type": kind, "sessionId": SESSION, "timestamp": "2026-01-01T00:00:00.000Z"}
    return json.dumps(record | {"message": {"role": kind, "content": content}} | more) + "\n"


def called(call_id: str) -> str:
    block = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {}}
    return line("", "assistant", message={"role": "assistant", "content": [block]})


def append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def agent_file(main: Path, name: str) -> Path:
    return main.with_suffix("") / "subagents" / f"agent-{name}.jsonl"


@pytest.fixture
def main(tmp_path: Path) -> Path:
    return tmp_path / "projects" / "p" / f"{SESSION}.jsonl"


@pytest.fixture
def logs(caplog: pytest.LogCaptureFixture) -> Callable[[str], list[Any]]:
    """The log records of an event, such as `transcript.stop`."""
    caplog.set_level(logging.DEBUG, logger="stenograph.adapters")
    return lambda event: [record for record in caplog.records if getattr(record, "event", "") == event]


async def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came"
        await asyncio.sleep(0.005)


def collect(collector: TranscriptCollector, body: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        async with collector.run():
            await body()

    asyncio.run(run())


async def hook(collector: TranscriptCollector, path: object, event: str = "UserPromptSubmit", **more: object) -> None:
    given = {"hook_event_name": event, "transcript_path": str(path), "session_id": SESSION} | more
    assert await collector.hook_callback(given, None, {"signal": None}) == {}


def test_entries_are_logged_recorded_and_dispatched_while_the_files_grow(main: Path, root: Path, logs: Any) -> None:
    """The first hook comes before the file, the folder and the subagents; all of it arrives, once, in order."""
    recorder, session = Recorder(root), Session()
    collector = TranscriptCollector(prompt_name="review", config=QUICK, recorder=recorder, session=session)

    async def body() -> None:
        await hook(collector, main)
        await asyncio.sleep(0.05)
        append(main, line("go"))
        await until(lambda: collector.main_entry_count == 1)
        append(agent_file(main, "a1"), line("task", agentId="a1", isSidechain=True))
        await until(lambda: collector.subagent_count == 1)
        append(agent_file(main, "a1"), line("found it", "assistant"))
        append(main, line("done", "assistant"))
        await until(lambda: collector.total_entries == 4)

    collect(collector, body)
    recorder.close()
    assert (collector.main_entry_count, collector.subagent_count, collector.total_entries) == (2, 1, 4)
    assert collector.transcript_paths == (main, agent_file(main, "a1"))
    contexts = [record.context for record in logs("transcript.entry")]
    said = [context for context in contexts if context["source"] == "main"]
    assert [(context["sequence_number"], context["entry_type"], context["content"]) for context in said] == [
        (1, "user_message", "go"),
        (2, "assistant_message", "done"),
    ]
    envelopes = {(context["prompt_name"], context["adapter"], context["session_id"]) for context in contexts}
    assert envelopes == {("review", "claude_agent_sdk", SESSION)}
    assert contexts[0]["raw"] == line("go").rstrip("\n")
    assert len(list(read_events(recorder.path))) == len(list(convert(main)))
    assert len(session[TranscriptEntry].all()) == 4
    (found,) = logs("transcript.collector.path_discovered")
    assert (found.levelno, found.context["path"]) == (logging.DEBUG, str(main))
    (found,) = logs("transcript.collector.subagent_discovered")
    assert (found.levelno, found.context["source"]) == (logging.DEBUG, "subagent:a1")
    (stop,) = logs("transcript.stop")
    assert stop.context["summary"]["total_entries"] == 4
    assert collector.lost == 0


class Clock:
    """The time that a collector sees at the end of a session; it passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.is_asked = False

    def monotonic(self) -> float:
        now = self.now
        self.is_asked = True
        return now


def test_the_last_message_that_comes_after_the_end_is_taken(main: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reaches the file up to 150 ms after the last hook; a last line may lack its newline."""
    clock = Clock()
    monkeypatch.setattr("stenograph.adapters.claude_agent_sdk.collector.time", clock)
    assert TranscriptCollectorConfig().quiet_period > 0.15
    collector = TranscriptCollector(prompt_name="p", config=TranscriptCollectorConfig(drain_timeout=PATIENCE))

    async def write_late() -> None:
        await until(lambda: clock.is_asked)
        clock.now = 0.15
        append(main, line("late", "assistant").rstrip("\n"))
        clock.now = 1.0

    async def run() -> None:
        async with collector.run():
            append(main, line("go"))
            await hook(collector, main)
            await hook(collector, main, "Stop")
            task = asyncio.create_task(write_late())
        await task

    asyncio.run(run())
    assert collector.main_entry_count == 2


def test_the_end_is_bounded_when_an_agent_never_stops(main: Path) -> None:
    """A background agent may write on for hours; we leave after `drain_timeout`."""
    config = TranscriptCollectorConfig(drain_timeout=0.4, quiet_period=PATIENCE)
    collector = TranscriptCollector(prompt_name="p", config=config)

    async def write_on() -> None:
        while True:
            append(main, line("more"))
            await asyncio.sleep(0.02)

    async def run() -> float:
        async with collector.run():
            await hook(collector, main)
            task = asyncio.create_task(write_on())
            await until(lambda: collector.total_entries)
            begun = time.monotonic()
        task.cancel()
        return time.monotonic() - begun

    assert asyncio.run(run()) >= 0.4


def test_stop_says_what_was_still_open(main: Path, logs: Any) -> None:
    """An unfinished line, a call without its result, a subagent whose sidecar does not say that it ended."""
    collector = TranscriptCollector(prompt_name="p", config=QUICK)

    async def body() -> None:
        append(main, called("toolu_1") + '{"type":"us')
        for name, finished in (("a1", False), ("b2", True)):
            meta = {"toolUseId": "toolu_1", "requestShape": "background"} | ({"finished": True} if finished else {})
            append(agent_file(main, name).with_suffix(".meta.json"), json.dumps(meta))
            append(agent_file(main, name), line("task"))
        await hook(collector, main)

    collect(collector, body)
    (stop,) = logs("transcript.stop")
    assert stop.context["open_lines"] == {str(main): len('{"type":"us')}
    assert stop.context["open_calls"] == ["Bash (toolu_1)"]
    assert stop.context["open_subagents"] == ["subagent:a1"]


def test_the_loop_goes_on_while_reads_hang(main: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk hangs until the loop has gone round 100 times."""
    really = os.pread
    hung: list[bool] = []
    goes_on = threading.Event()

    def slow(*args: Any) -> bytes:
        if not hung:
            hung.append(True)
            assert goes_on.wait(60), "the loop waits for the disk"
        return really(*args)

    monkeypatch.setattr("stenograph.sources.tail.os.pread", slow)
    append(main, line("go"))
    collector = TranscriptCollector(prompt_name="p", config=QUICK)

    async def body() -> None:
        await hook(collector, main)
        await until(lambda: hung)
        for _ in range(100):
            await asyncio.sleep(0.001)
        assert collector.total_entries == 0
        goes_on.set()
        await until(lambda: collector.total_entries == 1)

    collect(collector, body)


def test_a_read_that_never_comes_back_does_not_hold_the_host(
    main: Path, logs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end is said, with a warning, and nothing is handed over after it."""
    back = threading.Event()

    def hanging(*_: object) -> bytes:
        back.wait(PATIENCE)
        return b""

    monkeypatch.setattr("stenograph.adapters.claude_agent_sdk.collector._PATIENCE", 0.1)
    monkeypatch.setattr("stenograph.sources.tail.os.pread", hanging)
    append(main, line("go"))
    collector = TranscriptCollector(prompt_name="p", config=TranscriptCollectorConfig(drain_timeout=0.1))

    async def body() -> None:
        await hook(collector, main)
        await asyncio.sleep(0.1)

    collect(collector, body)
    back.set()
    (error,) = logs("transcript.error")
    assert (error.levelno, "hangs" in error.getMessage()) == (logging.WARNING, True)
    (stop,) = logs("transcript.stop")
    assert stop.context["is_complete"] is False


def test_a_backlog_is_read_to_its_end_however_long_that_takes(main: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end is bounded for a session that never stops, not for lines that are there already."""
    really, really_wait = os.pread, asyncio.wait
    is_late = threading.Event()

    def slow(*args: Any) -> bytes:
        assert is_late.wait(PATIENCE)  # nothing is read before the time to drain is over
        time.sleep(0.01)
        return really(*args)

    async def wait(ended: set[asyncio.Future[None]], *, timeout: float) -> object:
        """Each time that it may take to go on is over as soon as it has gone on."""
        if timeout != PATIENCE:
            return await really_wait(ended, timeout=timeout)
        before = collector._progress()
        is_late.set()
        await until(lambda: collector._progress() != before or all(each.done() for each in ended))
        return None

    monkeypatch.setattr("stenograph.adapters.claude_agent_sdk.collector._PATIENCE", PATIENCE)
    monkeypatch.setattr("stenograph.sources.tail.os.pread", slow)
    monkeypatch.setattr(asyncio, "wait", wait)
    append(main, line("x" * 1000) * 40)
    config = TranscriptCollectorConfig(drain_timeout=0.1, quiet_period=0.05, max_read_bytes=1000)
    collector = TranscriptCollector(prompt_name="p", config=config)

    async def body() -> None:
        await hook(collector, main)

    collect(collector, body)
    assert collector.total_entries == 40


def test_a_file_that_cannot_be_read_is_a_warning(main: Path, logs: Any) -> None:
    """And collecting goes on: the file is read when it can be."""
    main.parent.mkdir(parents=True)
    os.mkfifo(main)
    collector = TranscriptCollector(prompt_name="p", config=QUICK)

    async def body() -> None:
        await hook(collector, main)
        await until(lambda: logs("transcript.error"))
        main.unlink()
        append(main, line("go"))
        await until(lambda: collector.total_entries == 1)

    collect(collector, body)
    (error,) = logs("transcript.error")
    assert (error.levelno, error.context["path"]) == (logging.WARNING, str(main))


def test_a_subagents_file_that_a_hook_names_is_followed_wherever_it_is(main: Path, tmp_path: Path, root: Path) -> None:
    """As that subagent's, once, also by another name and when it comes late; the session's own are found anyway."""
    recorder = Recorder(root)
    collector = TranscriptCollector(prompt_name="review", config=QUICK, recorder=recorder)
    elsewhere, late, own = tmp_path / "a" / "one.jsonl", tmp_path / "b" / "late.jsonl", agent_file(main, "a3")

    async def body() -> None:
        append(main, line("go"))
        append(elsewhere, line("task one"))
        append(own, line("task three", agentId="a3", isSidechain=True))
        for path, name in (
            (elsewhere, "a1"),
            (late, "a2"),
            (own, "a3"),
            (tmp_path / "b" / ".." / "a" / "one.jsonl", "a1"),
        ):
            await hook(collector, main, "SubagentStop", agent_id=name, agent_transcript_path=str(path))
        await until(lambda: collector.total_entries == 3)
        append(late, line("task two"))
        await until(lambda: collector.total_entries == 4)

    collect(collector, body)
    recorder.close()
    said = {(event.source, event.payload.blocks[0].text) for event in read_events(recorder.path)}
    assert said == {
        ("main", "go"),
        ("subagent:a1", "task one"),
        ("subagent:a2", "task two"),
        ("subagent:a3", "task three"),
    }
    assert set(collector.transcript_paths) == {main, elsewhere, late, own}


@pytest.mark.parametrize("given", [{"agent_transcript_path": 5}, {"agent_id": None}, {"agent_transcript_path": "a\0b"}])
def test_an_odd_subagent_is_passed_over(main: Path, given: dict[str, Any]) -> None:
    """A hook may name anything; the session itself is collected."""
    collector = TranscriptCollector(prompt_name="review", config=QUICK)

    async def body() -> None:
        append(main, line("go"))
        named = {"agent_transcript_path": str(main.with_name("x.jsonl")), "agent_id": "a1"} | given
        await hook(collector, main, "SubagentStop", **named)
        await until(lambda: collector.total_entries == 1)

    collect(collector, body)
    assert collector.lost == 0


def test_a_malformed_line_is_a_warning_with_its_place(main: Path, logs: Any) -> None:
    """It is an entry of type unknown as before; lines around it, and JSON of an unknown kind, are no warning."""
    collector = TranscriptCollector(prompt_name="review", config=QUICK)

    async def body() -> None:
        append(main, line("go") + '{"type": "cut\n' + '{"type": "telepathy"}\n')
        append(agent_file(main, "a1"), line("task", agentId="a1", isSidechain=True) + "garbage\n")
        await hook(collector, main)
        await until(lambda: collector.total_entries == 5)

    collect(collector, body)
    warnings = {
        (record.levelname, record.context["path"], record.context["line"]) for record in logs("transcript.error")
    }
    assert warnings == {("WARNING", str(main), 2), ("WARNING", str(agent_file(main, "a1")), 2)}
    types = [record.context["entry_type"] for record in logs("transcript.entry")]
    assert sorted(types) == ["unknown", "unknown", "unknown", "user_message", "user_message"]


def test_files_that_never_came_are_named_at_the_end(main: Path, tmp_path: Path, logs: Any) -> None:
    """What hooks named and nobody wrote; a file that was there and went away is not among them."""
    collector = TranscriptCollector(prompt_name="review", config=QUICK)
    never, agent, there = main.with_name("never.jsonl"), tmp_path / "agent.jsonl", main

    async def body() -> None:
        append(there, line("go"))
        await hook(collector, there)
        await until(lambda: collector.total_entries == 1)
        there.unlink()
        await hook(collector, never, "SubagentStop", agent_id="a1", agent_transcript_path=str(agent))

    collect(collector, body)
    (stop,) = logs("transcript.stop")
    assert stop.context["missing_files"] == [str(never), str(agent)]


def test_a_subagent_belongs_to_the_session_that_its_hook_names(
    main: Path, tmp_path: Path, logs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the hook comes while the files of the session before are read."""
    collector = TranscriptCollector(prompt_name="review", config=QUICK)
    other, agent = main.with_name("other.jsonl"), tmp_path / "agent.jsonl"
    really = Following.look

    def look(following: Following, changed: Any = None) -> int:
        count = really(following, changed)
        collector._note_hook(
            {"transcript_path": str(other), "agent_id": "a1", "agent_transcript_path": str(agent)} if count else {}
        )
        return count

    monkeypatch.setattr(Following, "look", look)

    async def body() -> None:
        append(main, line("go"))
        await hook(collector, main)
        await until(lambda: collector.total_entries == 1)

    collect(collector, body)
    assert [[tail.path for tail in session.tails] for session in collector._sessions] == [[main], [other, agent]]


def test_a_new_session_after_clear_is_followed_too(main: Path, root: Path) -> None:
    """Nothing of either is lost, and the journal tells their files apart."""
    other = main.with_name("99999999-2222-4333-8444-555555555555.jsonl")
    recorder = Recorder(root)
    collector = TranscriptCollector(prompt_name="p", config=QUICK, recorder=recorder)

    async def body() -> None:
        append(main, line("one"))
        await hook(collector, main)
        append(other, line("two"))
        await hook(collector, other)

    collect(collector, body)
    recorder.close()
    files = [event.origin.file for event in read_events(recorder.path) if event.origin is not None]
    assert sorted(files, key=str) == [other.name, None]
    assert collector.transcript_paths == (main, other)


def test_one_file_by_several_names_is_followed_once(main: Path, root: Path) -> None:
    """A hook may name the session through a link, or in a roundabout way."""
    recorder = Recorder(root)
    collector = TranscriptCollector(prompt_name="p", config=QUICK, recorder=recorder)

    async def body() -> None:
        append(main, line("one"))
        alias = main.parent.with_name("alias")
        alias.symlink_to(main.parent)
        for name in (main, alias / main.name, f"{main.parent}/./{main.name}"):
            await hook(collector, name)

    collect(collector, body)
    recorder.close()
    assert len(list(read_events(recorder.path))) == 1
    assert collector.transcript_paths == (main,)


def test_compaction_keeps_a_snapshot_and_survives_a_file_that_shrank(main: Path, logs: Any) -> None:
    """PreCompact: where each file is; the summary's dropped count is in its entry; what was said is not repeated."""
    collector = TranscriptCollector(prompt_name="p", config=QUICK)
    summary = json.dumps({"type": "summary", "summary": "short", "dropped_count": 7}) + "\n"

    async def body() -> None:
        append(main, line("one") + line("two") + line("three"))
        await hook(collector, main)
        await until(lambda: collector.total_entries == 3)
        await hook(collector, main, "PreCompact")
        await until(lambda: collector.snapshot)
        main.write_text(line("one") + summary)
        await until(lambda: collector.total_entries == 4)

    collect(collector, body)
    (state,) = collector.snapshot
    assert (state.path, state.known.events) == (str(main), 3)
    (note,) = logs("transcript.collector.snapshot")
    assert note.context["files"][0]["position"] == state.position
    last = logs("transcript.entry")[-1].context
    assert (last["entry_type"], last["detail"]["subtype"]) == ("system_event", "compaction")
    assert last["detail"]["sdk_entry"]["dropped_count"] == 7


def test_without_raw_in_the_logs_the_journal_has_it_all_the_same(main: Path, root: Path, logs: Any) -> None:
    """`emit_raw_json=False` concerns the logs only; `emit_raw` is the same setting."""
    config = TranscriptCollectorConfig(emit_raw=False, quiet_period=0.05)
    assert config == TranscriptCollectorConfig(emit_raw_json=False, quiet_period=0.05)
    recorder = Recorder(root)
    collector = TranscriptCollector(prompt_name="p", config=config, recorder=recorder)

    async def body() -> None:
        append(main, line("go"))
        await hook(collector, main)

    collect(collector, body)
    recorder.close()
    (entry,) = logs("transcript.entry")
    assert "raw" not in entry.context
    assert [event.raw for event in read_events(recorder.path)] == [line("go").rstrip("\n")]


def test_without_parsing_each_line_is_one_entry_by_its_type(main: Path, logs: Any) -> None:
    """Envelope and raw, and nothing of what the line says."""
    config = TranscriptCollectorConfig(parse_entries=False, quiet_period=0.05)
    collector = TranscriptCollector(prompt_name="p", config=config)
    lines = [line("go"), called("t1"), line("x", "summary"), "[1]\n", "no json\n"]

    async def body() -> None:
        append(main, "".join(lines))
        await hook(collector, main)

    collect(collector, body)
    contexts = [record.context for record in logs("transcript.entry")]
    assert [context["entry_type"] for context in contexts] == [
        "user_message", "assistant_message", "system_event", "unknown", "unknown",
    ]  # fmt: skip
    assert [context["raw"] for context in contexts] == [each.rstrip("\n") for each in lines]
    assert [context["content"] for context in contexts[:3]] == ["", "", ""]


def test_a_continued_journal_is_not_repeated(main: Path, root: Path) -> None:
    """What the journal has of the session is known to the next collector."""
    run_id = None
    for text in ("one", "two"):
        append(main, line(text))
        with Recorder(root, run_id=run_id) as recorder:
            run_id = recorder.run_id
            known = known_lines(read_events(recorder.path))
            collector = TranscriptCollector(prompt_name="p", config=QUICK, recorder=recorder, known=known)

            async def body(collector: TranscriptCollector = collector) -> None:
                await hook(collector, main)

            collect(collector, body)
    texts = [event.payload.blocks[0].text for event in read_events(recorder.path)]
    assert texts == ["one", "two"]


def _evaluated(path: Path, root: Path, run_id: str, text: str) -> list[TranscriptEntry]:
    """One evaluation that writes a line to a session, recorded in a journal that may go on; the session's entries."""
    session = Session()
    with Recorder(root, run_id=run_id) as recorder:
        collector = TranscriptCollector(prompt_name="p", config=QUICK, recorder=recorder, session=session)

        async def body() -> None:
            append(path, line(text, sessionId=path.stem))
            await hook(collector, path)

        collect(collector, body)
    return list(session[TranscriptEntry].all())


def test_a_session_that_is_resumed_into_its_run_goes_on(main: Path, root: Path) -> None:
    """What an earlier evaluation recorded is not taken down again, and the ids are those of the journal."""
    told = [_evaluated(main, root, SESSION, text) for text in ("one", "two", "three")]
    assert [[entry.content for entry in each] for each in told] == [["one"], ["two"], ["three"]]
    journal = list(entries(read_events(root / "transcripts" / f"{SESSION}.jsonl")))
    assert [entry.entry_id for each in told for entry in each] == [entry.entry_id for entry in journal]


def test_a_second_session_of_a_run_is_named_as_seen_from_the_first(main: Path, root: Path) -> None:
    """Its lines are not taken for lines of the first, by another process either."""
    other = main.with_name("99999999-2222-4333-8444-555555555555.jsonl")
    told = [_evaluated(path, root, SESSION, path.stem[0]) for path in (main, other, main, other)]
    events = list(read_events(root / "transcripts" / f"{SESSION}.jsonl"))
    assert [(event.origin.file, event.origin.line) for event in events if event.origin is not None] == [
        (None, 1),
        (other.name, 1),
        (None, 2),
        (other.name, 2),
    ]
    ids = [entry.entry_id for each in told for entry in each]
    assert ids == [entry.entry_id for entry in entries(events)]
    assert len(set(ids)) == 4


@pytest.mark.parametrize("name", sorted(HOOKS))
def test_any_hook_names_the_session(name: str, main: Path) -> None:
    """Whichever comes first: a session that was resumed may begin with any of them."""
    collector = TranscriptCollector(prompt_name="p", config=QUICK)

    async def body() -> None:
        append(main, line("go"))
        await hook(collector, main, name)
        await until(lambda: collector.total_entries == 1)

    collect(collector, body)
    assert collector.transcript_paths == (main,)


@pytest.mark.parametrize("given", [None, [], "x", {}, {"transcript_path": None}, {"transcript_path": ["x"]}])
def test_a_hook_with_nothing_to_say_is_answered_all_the_same(given: Any) -> None:
    """The answer is always `{}`."""
    collector = TranscriptCollector(prompt_name="p", config=QUICK)

    async def body() -> None:
        assert await collector.hook_callback(given, None, None) == {}

    collect(collector, body)
    assert collector.transcript_paths == ()


@pytest.mark.parametrize("path", ["/x\0y.jsonl", "/x\ud800y.jsonl"], ids=["NUL", "half a surrogate pair"])
def test_a_path_that_no_file_can_have_is_passed_over(path: str) -> None:
    """It is nobody's session, and no reason to break an agent."""
    collector = TranscriptCollector(prompt_name="p", config=QUICK)

    async def body() -> None:
        await hook(collector, path)

    collect(collector, body)
    assert collector.transcript_paths == ()


def test_hooks_are_added_to_the_users_own() -> None:
    """Never replaced: theirs come first, and hooks we do not know stay."""
    sdk = pytest.importorskip("claude_agent_sdk.types")
    mine, other = sdk.HookMatcher(hooks=[]), sdk.HookMatcher(hooks=[])
    collector = TranscriptCollector(prompt_name="p")
    existing = {"Stop": [mine], "Mine": [other]}
    merged = collector.hooks_config(existing)
    assert set(HOOKS) <= set(merged)
    assert "SubagentStart" in merged
    assert merged["Mine"] == [other]
    assert merged["Stop"][0] is mine
    assert merged["Stop"][1].hooks == [collector.hook_callback]
    assert existing == {"Stop": [mine], "Mine": [other]}


def test_without_the_sdk_the_six_hooks_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class works, and what it gives has the SDK's shape."""
    monkeypatch.setitem(sys.modules, "claude_agent_sdk.types", None)
    collector = TranscriptCollector(prompt_name="p")
    config = collector.hooks_config()
    assert tuple(config) == HOOKS
    (matcher,) = config["Stop"]
    assert (matcher.matcher, matcher.hooks, matcher.timeout) == (None, [collector.hook_callback], None)


def test_an_error_in_the_body_is_the_hosts_and_the_rest_is_collected(main: Path) -> None:
    """What the agent wrote before it failed is what one wants to see."""
    collector = TranscriptCollector(prompt_name="p", config=QUICK)

    async def body() -> None:
        append(main, line("go"))
        await hook(collector, main)
        raise LookupError("the host's")

    with pytest.raises(LookupError, match="the host's"):
        collect(collector, body)
    assert collector.total_entries == 1


def test_it_can_run_again_but_not_twice_at_once(main: Path) -> None:
    """A second run goes on where the first one was."""
    collector = TranscriptCollector(prompt_name="p", config=QUICK)

    async def body() -> None:
        append(main, line("go"))
        await hook(collector, main)
        with pytest.raises(InvalidEvent, match="is running already"):
            async with collector.run():
                pass

    collect(collector, body)
    collect(collector, body)
    assert collector.total_entries == 2


def test_where_no_watch_works_it_is_polled(main: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without watches is slower by the poll interval, and nothing is missing."""
    monkeypatch.setattr("stenograph.watch._watch", lambda _: None)
    config = TranscriptCollectorConfig(poll_interval=0.02, subagent_discovery_interval=0.05, quiet_period=0.1)
    collector = TranscriptCollector(prompt_name="p", config=config)

    async def body() -> None:
        await hook(collector, main)
        append(main, line("go"))
        await until(lambda: collector.main_entry_count == 1)
        append(agent_file(main, "a1"), line("task"))
        await until(lambda: collector.subagent_count == 1)

    collect(collector, body)


def test_a_setting_that_makes_no_sense_is_refused() -> None:
    """Said at once, by name."""
    with pytest.raises(InvalidEvent, match="poll_interval is 0; it must be more than 0"):
        TranscriptCollectorConfig(poll_interval=0)
